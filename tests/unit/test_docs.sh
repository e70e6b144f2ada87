#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tool's tables, its manual and its completion say the same.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
pages=build/test-man
rm -rf $pages
ctl/man/make-pages $tool $pages
check $? "manual: it can be made"
# what a page of the manual has, without roff's escapes
plain() {
	sed 's/\\-/-/g; s/\\f.//g; s/\\(dq/"/g; s/\\(aq/'"'"'/g; s/\\(ti/~/g; s/\\(ha/^/g
		s/\\(ga/`/g
		s/\\//g' "$@"
}
man=$(plain $pages/man8/*)
commands=$($tool help --words)

for cmd in $commands; do
	short=$($tool "$cmd" --help)
	help=$($tool help -v "$cmd")
	page=$(plain "$pages/man8/memtap-$cmd.8")
	# (a line for each form)
	usage=$(sed -nE "s/^(Usage:|      ) memtap $cmd *//p" <<< "$help")
	summary=$($tool help | sed -n "s/^  $cmd  *\([^- ]\)/\1/p")
	grep -q "^Usage: memtap $cmd" <<< "$help" && [ "$summary" ]
	check $? "$cmd: help prints its usage, and names it"
	grep -Fqx "memtap-$cmd - $summary" <<< "$page"
	check $? "manual: memtap-$cmd(8) has the summary that help has"
	[ "$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/{/^\./!p}' <<< "$page")" = "$usage" ]
	check $? "manual: memtap-$cmd(8) has the usage that help has"
	# --name VALUE, of both
	told=$(sed -nE 's/^  (-., |    )--([a-z-]+)( ([^ ]+))?( .*)?$/--\2 \4/p' <<< "$help" | sort)
	shown=$(sed -n '/^\.SH OPTIONS/,/^\.SH EXAMPLES/p' <<< "$page" | grep -A 1 '^\.TP' |
		grep -oE -- '--[a-z][a-z-]*( [^ ,-][^ ]*)?' |
		sed 's/,$//; s/^\([^ ]*\)$/\1 /' | sort)
	[ "$told" = "$shown" ] || diff <(echo "$told") <(echo "$shown") | sed 's/^/# /'
	[ "$told" = "$shown" ]
	check $? "manual: memtap-$cmd(8) has the options that help has, and their values"
	[ "$(wc -l <<< "$short")" -le 60 ] && ! grep -q '.\{81\}' <<< "$short"
	check $? "$cmd --help: at most 60 lines of 80 columns"
	sed -n '/^Usage:/,/^$/d; /^Examples:$/q; p' <<< "$short" | tr '\n' ' ' | grep -q '\. '
	check $? "$cmd --help: says in sentences what it does"
	wrong=''
	while read -r line; do
		read -ra typed <<< "${line%% -- *}"
		[ "${typed[0]} ${typed[1]}" = "memtap $cmd" ] || [ "$line" = "memtap --version" ] ||
			wrong+=" $line"
		for word in "${typed[@]:2}"; do
			[[ $word != -* ]] || $tool help --words "$cmd" | grep -qx -- "$word" ||
				wrong+=" $word"
		done
	done < <(sed -n '/^Examples:$/,/^$/s/^  //p' <<< "$short")
	[ -z "$wrong" ] && [ "$(sed -n '/^Examples:$/,/^$/p' <<< "$short" | wc -l)" = 4 ]
	check $? "$cmd --help: has two examples with options of this command$wrong"
	! grep -E '^  (-., |    )--.* (list:|not with |leaks: [a-z])' <<< "$help"
	check $? "$cmd --help: says nothing of other commands"
	untold=''
	for word in $($tool help --words "$cmd" | grep -v ' '); do
		grep -q -- "$word\b" <<< "$short$help" || untold+=" $word"
	done
	[ -z "$untold" ]
	check $? "$cmd --help: has all its options$untold"
	plain $pages/man8/memtap.8 | grep -q "^\.BR memtap-$cmd (8)"
	check $? "manual: memtap(8) names memtap-$cmd(8)"
	[ "$(sed -n '/^\.SH EXAMPLES/,/^\.SH/{/^[^.]/p}' <<< "$page" | wc -l)" -gt 2 ]
	check $? "manual: memtap-$cmd(8) has an example with output"
	stale=$(grep -o -- 'memtap-[a-z]* (8)' <<< "$page" | sed 's/memtap-//; s/ .*//' |
		grep -vxF "$commands" | paste -sd' ')
	[ -z "$stale" ]
	check $? "manual: memtap-$cmd(8) names only pages that are there $stale"
done
[ "$(cd $pages/man8 && echo memtap-*)" = "$(for cmd in $commands; do echo "memtap-$cmd.8"; done |
	sort | paste -sd' ')" ]
check $? "manual: there is no page of another command"
unused=''
for f in ctl/man/*.man ctl/man/samples/*; do
	case ${f##*/} in options.man|memtap.man|memtap.file.man|memtap.conf.man) continue ;; esac
	name=${f##*/}
	grep -qx "${name%.man}" <<< "$commands" || unused+=" $f"
done
[ -z "$unused" ]
check $? "manual: each source is of a command$unused"

# the manual has no option that the tool lost: each is a command's, or is said instead of
# one (--version), or that of another program
all=$(for cmd in $commands; do $tool help --words "$cmd"; done)
stale=''
# shellcheck disable=SC2013  # words they are
for word in $(grep -Eo -- '(^|[^-a-z])--[a-z][-a-z]+' <<< "$(grep -v mokutil <<< "$man")" |
	grep -Eo -- '--.*' | sort -u); do
	grep -qx -- "$word" <<< "$all" || $tool "$word" > /dev/null 2>&1 || stale+=" $word"
done
[ -z "$stale" ]
check $? "manual: has no other option$stale"

# memtap(5): all records, with their numbers; memtap.conf(5): all settings
missing=''
while read -r name number; do
	grep -q "^\.BR .*\b$name \" ($number)" $pages/man5/memtap.5 || missing+=" $name ($number)"
done < <(sed -n 's/^#define MEMTAP_REC_\([A-Z_]*\)[[:blank:]]*\([0-9]*\)$/\1 \2/p' \
	include/uapi/memtap.h)
[ -z "$missing" ]
check $? "manual: memtap(5) has all records$missing"
missing=''
for word in $(sed -n 's/^\([A-Z]*\)=.*/\1/p' packaging/etc/memtap.conf) \
	$(sed -n 's/^#options memtap \([a-z_]*\)=.*/\1/p' packaging/etc/modprobe.conf); do
	grep -q "\b$word\b" $pages/man5/memtap.conf.5 || missing+=" $word"
done
[ -z "$missing" ]
check $? "manual: memtap.conf(5) has all settings$missing"
diff <(sed -n 's/^#\(RULE_.*\)/\1/p' packaging/etc/memtap.conf) \
	<(sed -n '/^RULE_/p' tests/guest/incidents.t) >&2
check $? "memtap.conf: its rules are those of tests/guest/incidents.t"

# help: by subject, for a screen
help=$($tool help)
[ "$(wc -l <<< "$help")" -le 75 ] && ! grep -q '.\{81\}' <<< "$help"
check $? "help: at most 75 lines of 80 columns"
for word in "Start here" Processes "Kernel memory" "Pressure and OOM" Events Recordings Module; do
	grep -qx "$word:" <<< "$help"
	check $? "help: has the heading $word"
done
missing=''
for cmd in $commands; do
	[ "$(grep -c "^  $cmd  *[^- ]" <<< "$help")" = 1 ] || missing+=" $cmd"
done
[ -z "$missing" ]
check $? "help: has each command once$missing"
! grep -E '^  [a-z]+  *([a-z]|.*\.$)' <<< "$help"
check $? "help: each command has a sentence that begins with a capital letter"
[ "$($tool | wc -l)" -le 24 ] && $tool | grep -q 'memtap help'
check $? "memtap alone: a short form that names memtap help"
if [ ! -e /sys/module/memtap ]; then
	[ "$($tool help | head -n 1 | grep -c 'not loaded.*memtap load')" = 1 ] &&
		$tool | head -n 1 | grep -q 'not loaded.*memtap load'
	check $? "help: without the module, the first line says so, and what to run"
fi

# the README and docs: short lines, links that lead somewhere, commands that can be typed
[ "$(wc -l < README.md)" -le 150 ] && ! grep -q '.\{101\}' README.md
check $? "README: at most 150 lines of 100 columns"
stale=''
for f in README.md docs/*.md docs/questions/*.md; do
	while read -r link; do
		[ -e "$(dirname $f)/${link%%#*}" ] || [ -z "${link%%#*}" ] || stale+=" $f:$link"
	done < <(grep -oE '\]\([^)]+\)|^\[[^]]+\]: .*' $f |
		sed -E 's/^\]\(//; s/\)$//; s/^\[.*\]: //' | grep -v '^[a-z]*://')
done
[ -z "$stale" ]
check $? "README, docs: each link leads to a file$stale"
untypable() {
	local line word
	while read -r line; do
		line=${line%% -- *}
		read -ra typed <<< "$line"
		grep -qx -- "${typed[1]}" <<< "$commands" || echo "$f: $line"
		for word in "${typed[@]:2}"; do
			[[ $word =~ ^--?[a-zA-Z] ]] || continue
			$tool help --words "${typed[1]}" | grep -qx -- "${word%%=*}" ||
				echo "$f: $line"
		done
	done < <(grep -o '`memtap [a-z][^`]*`' $f | tr -d '`' | grep -v CMD
		grep -o '^# memtap [a-z].*' $f | cut -c 3-)
}
for f in README.md docs/tour.md docs/questions/*.md; do
	untypable > build/untypable
	[ ! -s build/untypable ]
	check $? "$f: commands have the options that are shown $(tr '\n' ' ' < build/untypable)"
done
missing=''
for f in docs/questions/*.md; do
	grep -q "$f" README.md docs/questions/*.md || missing+=" $f"
done
[ -z "$missing" ]
check $? "README: names each page of docs/questions$missing"

# shellcheck source=/dev/null
. ctl/completion/memtap
complete_line() {
	COMP_WORDS=("$tool" "$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_LINE="$tool $*"
	COMP_POINT=${#COMP_LINE}
	_memtap
	printf '%s\n' "${COMPREPLY[@]}"
}
[ "$(complete_line "" | sort)" = "$(sort <<< "$commands")" ]
check $? "completion: offers all commands"
for cmd in $commands; do
	complete_line "$cmd" - | sort > build/offered
	missing=$($tool help --words "$cmd" | grep -- '^-' | grep -v ' ' | sort |
		comm -23 - build/offered)
	[ -z "$missing" ]
	check $? "completion: offers all options of $cmd$missing"
done
words="process thread comm cgroup container program file mapping none "
[ "$(complete_line stacks --by "" | tr '\n' ' ')" = "$words" ]
check $? "completion: offers the words of --by"
[ "$(complete_line report --format "" | head -n 2 | tr '\n' ' ')" = "table folded " ]
check $? "completion: offers the names of formats"
complete_line help "" | grep -qx faults
check $? "completion: offers commands to help"
for line in "leaks --format call callgrind" "leaks --format=call callgrind" \
	"leaks -o README. README.md" "record --output README. README.md" \
	"leaks --suppressions COPY COPYING" "report README. README.md" \
	"metrics --textfile pack packaging" "leaks -- nproc nproc" "list usd usdt"; do
	# shellcheck disable=SC2086
	[ "$(COMP_WORDBREAKS=' =:' complete_line ${line% *} | sort -u)" = "${line##* }" ]
	check $? "completion: ${line% *}: ${line##* }"
done
[ -z "$(complete_line leaks --top COPY)$(complete_line leaks -- true COPY)" ]
check $? "completion: no file where none is wanted"
complete_line faults -p "" | grep -qx $$
check $? "completion: offers processes"
# (as root on a machine with tracefs)
mkdir -p build/fake && cat > build/fake/memtap <<-'EOF'
	#!/bin/bash
	case "$*" in
		'list tracepoints kmem:'*) printf 't:kmem:kmalloc\nt:kmem:kfree\n' ;;
		'list functions vfs_'*) printf 'k:vfs_read\nk:vfs_write\n' ;;
		list*) ;;
		*) exec build/memtap "$@" ;;
	esac
EOF
chmod +x build/fake/memtap
for line in "t:kmem:kma t:kmem:kmalloc" "kmem:kf kmem:kfree" "kr:vfs_w kr:vfs_write" \
	"k:vfs_r k:vfs_read"; do
	# shellcheck disable=SC2086
	got=$(tool=build/fake/memtap COMP_WORDBREAKS=' =' complete_line stacks ${line% *})
	[ "$got" = "${line#* }" ]
	check $? "completion: events: $line"
	# shellcheck disable=SC2086
	got=$(tool=build/fake/memtap COMP_WORDBREAKS=' :' complete_line stacks ${line% *})
	[ "$got" = "${line##*:}" ]
	check $? "completion: events: $line, where a colon ends a word"
done

# zsh's own functions say what they were asked for
if command -v zsh > /dev/null; then
	cat > build/offers.zsh <<-'EOF'
		compadd() { local -a a; a=("$@"); print -l -- ${a[${a[(i)--]}+1,-1]} }
		_files() { print FILES "$@" }
		_pids() { print PIDS }
		_command_names() { print COMMANDS }
		_normal() { print NORMAL $words }
		_message() { print NOTHING }
		words=("$@")
		CURRENT=$#words
		PREFIX=$words[-1]
		source ctl/completion/_memtap
	EOF
	for line in "|triage" "leaks --format|callgrind" "leaks -o|FILES" "leaks -p|PIDS" \
		"leaks --top|NOTHING" "report|FILES" "stacks|t:" "list|usdt" \
		"leaks -- ls|NORMAL ls" \
		"metrics --textfile|FILES -/" "leaks -c|COMMANDS" "help|faults"; do
		# shellcheck disable=SC2086
		zsh build/offers.zsh $tool ${line%|*} "" 2>&1 | grep -qxF -- "${line#*|}"
		check $? "completion, zsh: ${line%|*}: ${line#*|}"
	done
	zsh build/offers.zsh $tool leaks -- | grep -qx -- --gen-suppressions
	check $? "completion, zsh: offers options"
else
	check 0 "completion, zsh # SKIP no zsh"
fi

if command -v groff > /dev/null; then
	for f in "$pages"/man?/*; do
		groff -man -ww -Tutf8 "$f" > /dev/null 2> build/man.log && [ ! -s build/man.log ]
		rc=$?
		sed 's/^/# /' build/man.log
		check $rc "manual: groff has nothing to say of ${f##*/}"
	done
else
	check 0 "manual: groff has nothing to say # SKIP no groff"
fi

# a wrong command line: one sentence, status 2, nothing on standard output
for line in nonsense "stacks" "faults x" "record" "record --leaks -k -o x 2" "report" \
	"list a b c" "help nonsense" "leaks --stacks" "leaks -a" "leaks x -p 1" \
	"record --leaks -o x" \
	"faults --sort age" "leaks -p 1 --trace --json" \
	"leaks --error-exitcode 3 -p 1" "leaks -p 1 --alloc f" \
	"unwind" "unwind a b" "unload x" "load x" "stacks --nonsense fault" \
	"leaks -a -- true" "record -o x --sample-rate 10 fault" \
	"record --leaks -o x -K -p 1" "record --leaks -o x --addresses -p 1" \
	"version x" "selftest x" "load a=b x.ko" "triage x" "triage -p 1" "leaks -k -p 1" \
	"leaks -k x" "leaks -k -- true" "leaks -p 1 --cache x" "faults --by cache" \
	"leaks -k --module x --call-site" "record -o x -k fault" \
	"doctor x" "ps a b" "ps --map 1 -p 1" "ps --csv ab" "ps --numa --by mapping" \
	"slab --call-site" "slab --waste --call-site --cache x" "top x" "top -p 1,2" \
	"leaks --census -p 1" "leaks -k --census -p 1" "leaks -k --census x" \
	"leaks -k --census -- true" "report x --format nonsense" "faults --json --folded" \
	"faults --format callgrind --json" "faults --format callgrind 1" \
	"leaks -p 1 --trace --format folded" "mark" "mark a b" "mark a,b" "rss -p 1 --increased" \
	"leaks -p 1 --between a" "leaks -p 1 --mark a" "record -o x --mark a=b fault" \
	"leaks -p 1 --between a,b --since-mark c" "report x --between a"; do
	# shellcheck disable=SC2086
	out=$($tool $line 2> build/usage.log)
	[ $? = 2 ] && [ -z "$out" ] && [ "$(wc -l < build/usage.log)" = 1 ] &&
		grep -q '^memtap: .*; see .memtap .*.$' build/usage.log
	check $? "memtap $line: a sentence that says where to look, status 2"
done
for line in "list" "unwind" "faults -p 1"; do
	# shellcheck disable=SC2086
	$tool $line "" 2> build/usage.log
	[ $? = 2 ] && grep -q '^memtap: an argument is empty; ' build/usage.log
	check $? "memtap $line '': is refused"
done

# addresses are as objdump has them, with 0x or without
at=$(for f in malloc free calloc realloc printf puts qsort fopen getenv strtol; do
	$tool unwind c --at $f
done | sed -nE 's/^0x([0-9]+)-.*/\1/p' | head -n 1)
[ -n "$at" ] && $tool unwind c --at "$at" | grep -q "^0x$at-" &&
	[ "$($tool unwind c --at "$at")" = "$($tool unwind c --at "0x$at")" ]
check $? "unwind --at: an address is hexadecimal"
[ -z "$($tool unwind "$tool" --json --at no_such_function 2> build/usage.log)" ] &&
	grep -q 'no function' build/usage.log
check $? "unwind --json: nothing is half printed"

# what needs no module is what docs/json.md says
for words in "shm --live" "triage 0.1 1" "leaks -k --census 0.1 1" doctor "unwind $tool" \
	"top 0.1 1" "ps --top 5" "ps --map $$" "ps --by mapping --top 5 0.1 2"; do
	# shellcheck disable=SC2086
	$tool $words --json > build/json.log 2> build/usage.log || true
	[ -s build/json.log ] && tests/json-check build/json.log
	check $? "docs/json.md: $words --json"
done

# a process without a match is no reason to leave out the next one
sleep 1000 &
other=$!
[ -n "$($tool list -p "$other,$$" rl_insert_text)" ]
check $? "list -p: all processes are looked at"
$tool list -p "$other" rl_insert_text 2> build/usage.log
[ $? = 1 ] && grep -q 'no functions or USDT probes match' build/usage.log
check $? "list -p: says that none has a match"
kill $other

$tool > /dev/full 2> /dev/null
check $((! $?)) "a full disk under standard output is a failure"
checked
