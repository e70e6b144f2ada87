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
	begin env LD_PRELOAD="$file" "$work/cases" churn
	look "of one that allocated and freed much before" "$case" --max-pause 20000
	summed "$name"
	end
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

# a library's own allocator, beside glibc's
file=$(ls /usr/lib/*/libmimalloc.so.2.0 2> /dev/null | head -n 1)
if [ -n "$file" ]; then
	cat > "$work/both.c" <<-'C'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		void *of_mimalloc[100], *of_glibc[300];
		int main(int argc, char **argv)
		{
			void *lib = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
			void *(*get)(size_t) = (void *(*)(size_t))dlsym(lib, "mi_malloc");

			for (int i = 0; i < 100; i++)
				of_mimalloc[i] = get(1000);
			for (int i = 0; i < 300; i++)
				of_glibc[i] = malloc(1000);
			puts("ready");
			fflush(stdout);
			return pause();
		}
	C
	gcc -o "$work/both" "$work/both.c"
	begin "$work/both" "$file"
	look "of a process that has two" "$case" --max-pause 20000
	python3 - "$work/json" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert d['complete']
		assert [a['allocator'] for a in d['arenas']] == ['glibc', 'mimalloc'], d['arenas']
		held = {h['holder'].split('`')[1]: h['retained_blocks'] for h in d['holders']
		        if 'of_' in h['holder']}
		assert held == {'of_mimalloc': 100, 'of_glibc': 300}, held
	PY
	check $? "blocks of both, and what holds them"
	"$tool" heap "$case" -q > "$work/page" 2> "$work/err" &&
		grep -q "^both.*: glibc's malloc, 1 arena, .*; mimalloc, 1 arena$" "$work/page"
	check $? "the page names both"
	end
fi

# one that nobody knows, by the name of one whose structures it does not have
cat > "$work/own.c" <<-'C'
	#include <stddef.h>
	#include <string.h>
	static char memory[1 << 28];
	static size_t used;
	void *malloc(size_t n)
	{
		char *at = memory + __sync_fetch_and_add(&used, (n + 31) & ~15UL);

		*(size_t *)at = n;
		return at + 16;
	}
	void free(void *at) { (void)at; }
	void *calloc(size_t n, size_t size) { return malloc(n * size); }
	void *realloc(void *at, size_t n)
	{
		void *to = malloc(n);

		return at ? memcpy(to, at, ((size_t *)at)[-2] < n ? ((size_t *)at)[-2] : n) : to;
	}
C
gcc -O1 -fno-builtin -shared -fPIC -o "$work/libjemalloc.so.1" "$work/own.c"
begin env LD_PRELOAD="$work/libjemalloc.so.1" "$work/cases"
! "$tool" heap "$case" -q > "$work/page" 2> "$work/err" && [ ! -s "$work/page" ] &&
	grep -q "uses jemalloc (.*), whose heap is not walked: its structures were not recog" \
		"$work/err" && grep -q "; .*memtap leaks -p $case" "$work/err"
check $? "an allocator that is not recognized is named, and what to do"
end
checked
