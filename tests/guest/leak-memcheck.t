#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The same programs, small ones and real ones, under Memcheck (when this guest's root
# was filled, see memcheck-of) and under memtap: the same calls, and at exit the same
# blocks and bytes, of each kind.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"
. ./leak-programs

[ -d memcheck.d ] || skip_all "nobody asked Memcheck: build the layer \"memcheck\""
leak_repository
memtap=$(command -v memtap)
mapfile -d '' environment < memcheck.d/environment

# as_memcheck NAME COMMAND...: memtap's numbers, in its form
as_memcheck() {
	local name=$1 fixed=''
	shift
	# where its arenas lie decides whether its map of them needs one block more
	[ "$name" != python3 ] || fixed='setarch -R'
	# shellcheck disable=SC2086
	env -i "${environment[@]}" $fixed "$memtap" leaks "${leak_all[@]}" -- "$@" \
		> "$T/run.out" 2> "$T/run.err" < /dev/null &
	tool=$!
	status=0
	wait $tool || status=$?
	leak_args=(-- "$@")
	leak_books "$name"
	j memcheck > "$T/$name" 2>&1
}
# only_of FILE: what is there to compare of it; of "tables" possibly lost and reachable in one
only_of() {
	local file=$1 name=$2 kinds=$3
	local not='^$' more=0
	case $kinds in
		kinds|tables) ;;
		*) not='definite|indirect|possible|reachable' ;;
	esac
	# those of both programs are in one sum
	[ "$name" != exec ] || not='^(allocs|frees|bytes) '
	# bash keeps the number of who started it, as text: another one, here
	[ "$name" != bash ] || more=$((${#tool} - $(wc -c < memcheck.d/parent) + 1))
	awk -v not="$not" -v more="${4:+$more}" -v kinds="$kinds" '
		$0 ~ not { next }
		/^(live-)?bytes/ { $2 += more }
		kinds == "tables" && /^(possible|reachable)-/ { sub(/.*-/, ""); n[$1] += $2; next }
		{ print }
		END {
			if (kinds == "tables") {
				print "kept-blocks", n["blocks"]
				print "kept-bytes", n["bytes"]
			}
		}' "$file" | sort
}

while read -r name kinds command; do
	# shellcheck disable=SC2086
	as_memcheck "$name" $command
	only_of "memcheck.d/$name" "$name" "$kinds" theirs > "$T/wanted"
	only_of "$T/$name" "$name" "$kinds" > "$T/got"
	same_file "$T/got" "$T/wanted" "$name: as Memcheck says"
	# (nor is a free of a program as it is shipped found to be wrong)
	[ "$kinds" != - ] || no_mismatch "$name: nothing wrong"
done < <(leak_programs)

# What callgrind_annotate shows of both: the same source lines with the same numbers.  Memcheck's
# DB has in it what is indirectly lost through these blocks, of which it says how much (DIB).
library=$(cd ../../examples/library && pwd)
# annotated FILE EVENTS: lines of the source that have a number of one of these.  What a line
# calls stands below it in ours; in Memcheck's it is what the line has.
annotated() {
	local commas=${2//[!,]/}
	(cd "$library" && callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no \
		"--show=$2" --include=. "$1") 2> /dev/null |
		awk -v nr=$((1 + ${#commas})) '
		function put(  i, any, line) {
			for (i = 1; i <= nr; i++) {
				any = any || sum[i]
				line = line sum[i] " "
				sum[i] = 0
			}
			if (any)
				print line text
		}
		/^-- Auto-annotated source: .*library\.cc$/ { on = 1 }
		/^The following files|events annotated/ { on = 0 }
		on && $1 ~ /^[0-9.][0-9,]*$/ {
			if ($(nr + 1) != "=>")
				put()
			for (i = 1; i <= nr; i++) {
				gsub(",", "", $i)
				sum[i] += $i
				$i = ""
			}
			if ($(nr + 1) != "=>") {
				text = $0
				gsub(/^ +/, "", text)
			}
		}
		END { put() }'
}
run memtap leaks --format callgrind -o "$T/library.callgrind" --show-reachable -- \
	"$library/library"
# (that of a thread's own memory only an address inside leads to, Memcheck calls possibly lost)
for events in IB,IBk DBk; do
	annotated "$PWD/memcheck.d/library.xtree" $events > "$T/wanted"
	annotated "$T/library.callgrind" $events > "$T/got"
	same_file "$T/got" "$T/wanted" "callgrind_annotate shows the same lines by $events"
	diag "$(cat "$T/got")"
done
annotated "$PWD/memcheck.d/library.xtree" DB,DIB |
	awk '{ $2 = $1 - $2; $1 = ""; print substr($0, 2) }' | grep -v '^0 ' > "$T/wanted"
annotated "$T/library.callgrind" DB > "$T/got"
same_file "$T/got" "$T/wanted" "and by what is lost itself"
cmp_ok "$(wc -l < "$T/got")" -eq 2 "which are two lines"

# Once here, too: what was said there holds in this guest.
if thorough; then
	./memcheck-of "$T/here" plain
	same_file "$T/here/plain" memcheck.d/plain "Memcheck says the same in the guest"
fi

# A static program with another libc, which Memcheck does not see into: what it asks
# for is the same.
for name in plain fork $(also aligned atexit _exit); do
	leaks "musl: $name" -- ./wl_leak_mem_musl "$name"
	j memcheck > "$T/got"
	same_file "$T/got" "memcheck.d/$name" "musl: $name: as the same program with glibc"
	is "$(j cut)" '' "musl: $name: stacks are whole, to where it calls main()"
done

# Allocators that are preloaded are beyond Memcheck: the workload's own word.  They
# bring libstdc++, which keeps a block; and where they leave addresses in what they hand
# out, one lost block holds another.  tcmalloc leaves some where they keep a block.
lost() {
	awk '/^(definite|indirect)/ { sub(/.*-/, ""); n[$1] += $2 } /^possible/ { print }
		END { print "blocks", n["blocks"]; print "bytes", n["bytes"] }'
}
for lib in libjemalloc.so.2 libtcmalloc.so.4; do
	LD_PRELOAD=/usr/lib/x86_64-linux-gnu/$lib \
		leaks "$lib" -- ./wl_leak -f no-pvalloc -t 2 -n 2 -e "$T/truth"
	leak_truth "$lib: paths, blocks and bytes"
	no_mismatch "$lib: nothing wrong"
	LD_PRELOAD=/usr/lib/x86_64-linux-gnu/$lib leaks "$lib: plain" -- ./wl_leak_mem plain
	j memcheck | lost > "$T/got"
	lost < memcheck.d/plain > "$T/wanted"
	[ $lib = libtcmalloc.so.4 ] ||
		same_file "$T/got" "$T/wanted" "$lib: what is lost, as with glibc"
done

probes_clean "nothing is left attached"
done_testing
