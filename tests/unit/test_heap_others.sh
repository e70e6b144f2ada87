#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of jemalloc, tcmalloc and mimalloc: blocks, kinds and holders are those that a
# program says, and sums what the allocator's own statistics say, while it runs and in a file.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh
# shellcheck source=tests/unit/held.sh
. tests/unit/held.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
case=''
trap 'kill $case 2> /dev/null; rm -r "$work"' EXIT

begin() {
	start_until "$work/said" '^ready' "$@"
	case=$started
}
end() {
	kill "$case" 2> /dev/null
	wait "$case" 2> /dev/null
	case=''
}
# look NAME SOURCE...: all of it, as JSON that is described
look() {
	local name=$1

	shift
	"$tool" heap "$@" --retained --json -q --top 0 > "$work/json" 2> "$work/err" &&
		tests/json-check "$work/json"
	check $? "$name"
}
# sums ALLOCATOR: against what the allocator says
sums() {
	python3 - "$work/json" "$work/said" "$1" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		said = {}
		for line in open(sys.argv[2]):
		    word = line.split()
		    said.setdefault(word[0], word[-1])
		def all_of(what):
		    return sum(a[what] for a in d['arenas'])
		def same(name, got, want):
		    print('%s - %s: %d' % ('ok' if got == want else 'not ok', name, want))
		    if got != want:
		        print('#', got)
		used, cached, own = map(all_of, ('used_bytes', 'cached_bytes', 'internal_bytes'))
		print('%s - the allocator is known, and all of it' % (
		    'ok' if d['complete'] and {a['allocator'] for a in d['arenas']} == {sys.argv[3]}
		    else 'not ok'))
		if 'visited' in said:
		    waiting = int(said['waiting']) * int(said['handed'])
		    same('blocks that another thread freed', cached, waiting)
		    same('bytes that it says are in use', used + cached, int(said['visited']))
		elif sys.argv[3] == 'tcmalloc':
		    same('bytes that it says are in use', used, int(said['allocated']))
		    same('bytes that it says are in caches', cached, int(said['cached']))
		else:
		    same('bytes that it says are in use', used + cached + own,
		         int(said['allocated']))
		    same('bytes that it says are in caches', cached, int(said['cached']))
	PY
}
summed() {
	sums "$1" > "$work/sums"
	while read -r line; do
		case $line in
			'ok - '*) check 0 "${line#ok - }" ;;
			'not ok - '*) check 1 "${line#not ok - }" ;;
			*) echo "$line" ;;
		esac
	done < "$work/sums"
}

begin bash -c 'echo ready; sleep 1000'
if ! "$tool" heap "$case" -q > "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
end

gcc -O1 -g -pthread -o "$work/cases" tests/unit/other_cases.c
check $? "a program is made"
for lib in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
	name=${lib#lib}
	name=${name%%[._]*}
	file=$(ls /usr/lib/*/"$lib" 2> /dev/null | head -n 1)
	if [ -z "$file" ]; then
		check 0 "there is no $name here # SKIP no $lib"
		continue
	fi
	begin env LD_PRELOAD="$file" "$work/cases"
	look "of a process with $name" "$case" --max-pause 20000 --save "$work/saved.$name"
	summed "$name"
	# (tcmalloc loses a block of its own)
	[ "$name" != tcmalloc ] || sed -i '/^lost/d' "$work/said"
	heard
	"$tool" heap "$case" -q > "$work/page" 2> "$work/err" &&
		grep -q "^cases\[$case\]: $name, " "$work/page" &&
		grep -q ' 20 \+3,072  ' "$work/page" && ! grep -q 'not walked' "$work/page"
	check $? "the page names it, and what is lost"
	mv "$work/json" "$work/live"
	end
	look "of what was saved" "$work/saved.$name"
	tests/unit/heap_equal.py "$work/live" "$work/json"
	check $? "the same as while it ran"
	[ "$name" != jemalloc ] || continue
	# (jemalloc has no addresses in free blocks)
	begin env LD_PRELOAD="$file" "$work/cases" broken
	"$tool" heap "$case" --retained --json -q --top 0 > "$work/json" 2> "$work/err"
	[ $? = 1 ] && tests/json-check "$work/json" && python3 - "$work/json" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		why = [g['reason'] for g in d['not_walked']] + [d.get('missing', '')]
		assert not d['complete'] and any('of free blocks' in w for w in why), why
		kept = [k['blocks'] for k in d['kinds'] if 'session_operations' in k['kind']]
		assert kept == [5000], kept
	PY
	check $? "a list that was written over is named, and the rest is walked"
	"$tool" heap "$case" -q > "$work/page" 2> "$work/err"
	grep -q 'lists\? of free blocks.* inconsistent' "$work/page"
	check $? "also on the page"
	end
done
checked
