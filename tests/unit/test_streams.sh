#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tool's standard streams: closed ones, pipes that nobody reads, and
# names that a terminal would obey.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itests/port -Ikmod/core -Iinclude -o "$work/make_snap" \
	tests/golden/make_snap.c tests/golden/records.c kmod/core/wire.c &&
	"$work/make_snap" "$work/files" || { echo "Bail out! no file to report on"; exit 1; }
file=$work/files/brk.memtap

# --- closed ones: no file of ours gets their numbers
$tool report --folded "$file" -o "$work/wanted" 2> "$work/err"
grep -q 'not in the folded stacks' "$work/err"
check $? "there is something to say while a report is written"
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	rm -f "$work/got"
	eval "$tool report --folded '$file' -o '$work/got' --flame '$work/flame' $closed"
	check $? "$closed: a report"
	cmp -s "$work/got" "$work/wanted"
	check $? "$closed: it is in its file, and nothing else"
	[ "$(tail -n 1 "$work/flame")" = '</html>' ]
	check $? "$closed: the flame graph, too"
done
$tool report "$file" >&- 2> "$work/err"
[ $? = 1 ] && grep -q '^memtap: ' "$work/err"
check $? "a report for a standard output that is closed is a failure"

# --- a pipe that nobody reads: a sentence, status 1, nothing left
trap - PIPE
exec 7> >(exec true)
wait $!
for line in "help" "help report" "list $tool" "unwind $tool" "report $file" \
	"report --json $file" "report --folded $file"; do
	# shellcheck disable=SC2086
	$tool $line >&7 2> "$work/err"
	status=$?
	[ $status = 1 ] && [ "$(grep -c '^memtap: .*standard output' "$work/err")" = 1 ]
	check $? "memtap ${line//$work\/files\//}: says that nobody reads it"
done
rm -f "$work"/got*
$tool report --folded "$file" -o "$work/got" 2>&7
check $? "nobody reads the sentences: a report all the same"
[ "$(cd "$work" && echo got*)" = got ] && cmp -s "$work/got" "$work/wanted"
check $? "and it is in its file, and no other"
exec 7>&-

# --- names that a terminal would obey
evil=$work/$'evil\033]0;title\a\n\233m\xe2\x80\xae'
# tame LINES NAME: so many lines, without such characters, in $work/said
tame() {
	[ "$(wc -l < "$work/said")" = "$1" ] &&
		! LC_ALL=C grep -q $'[\001-\011\013-\037\177-\237]' "$work/said"
	check $? "$2: nothing that a terminal obeys"
}
cp "$tool" "$evil"
for line in "list" "unwind" "report"; do
	$tool $line "$evil.none" 2> "$work/said"
	tame 1 "$line of a file that is not there"
	$tool "$evil" "$line" 2> "$work/said"
	tame 1 "a command of such a name, $line"
	$tool $line "$work/make_snap" "$evil" "$evil" 2> "$work/said"
	tame 1 "a wrong command line of $line"
done
$tool list "$evil" 'selftest_touch' > "$work/said"
tame 1 "list"
grep -q "^u:$work/evil.*:selftest_touch$" "$work/said"
check $? "list: with its function"
$tool list "$work/make_snap" > "$work/said" && grep -qx "u:$work/make_snap:main" "$work/said"
check $? "list: other names are as they are"
$tool unwind "$evil" > "$work/said"
tame "$(wc -l < "$work/said")" "unwind"
$tool report "$file" -o "$evil" --flame "$evil.html" 2> "$work/said"
tame 1 "what was written where"
long=/$(printf 'long/%.0s' {1..300})
$tool report "$long" 2>&1 | grep -q "^memtap: $long: "
check $? "no name is cut"
checked
