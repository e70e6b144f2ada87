#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The books, whatever happens to a block, a mapping, a process or a call.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

own=(--alloc wl_leak_books:own_take'(size=arg1,ptr=ret)'
	--alloc wl_leak_books:own_jump'(size=arg1,ptr=ret)'
	--alloc wl_leak_books:own_die'(size=arg1,ptr=ret)'
	--alloc wl_leak_books:own_throw'(size=arg1,ptr=ret)'
	--alloc wl_leak_books:own_deep'(size=arg1,ptr=ret)'
	--free wl_leak_books:own_give'(ptr=arg1)')

# book CASE [OPTION...]: what happens in that case, three times
book() {
	local case=$1
	shift
	rm -f "$T/truth"
	leaks "$case" "$@" -- ./wl_leak_books -f "$case" -n 3 -e "$T/truth"
	[ -s "$T/truth" ] || fail "$case: the program lives"
}
none_lost() {
	is "$(j lost no-return) $(j lost left) $(j lost live-full) $(j lost no-thread)" \
		"0 0 0 0" "$1: nothing is lost"
}

book realloc
leak_truth "realloc in place, moved, to zero, failing: what is there"
fact "a realloc that failed is counted" "$(j call failed realloc)" failed
no_mismatch "realloc: nothing wrong"
none_lost realloc

book aligned
leak_truth "posix_memalign: what is there"
fact "one that failed is counted" "$(j call failed memalign)" failed

book null
is "$(j paths)" "" "NULL and MAP_FAILED are no blocks"
fact "and are counted" "$(j call failed malloc calloc mmap)" failed
no_mismatch "free(NULL) is right"

book maps
leak_truth "mappings: unmapped in part, moved, grown, shrunk, mapped over" map mappings
none_lost maps

# what the kernel refuses to unmap though it is asked well is there, and not known
if echo 8 > /proc/sys/vm/nr_hugepages && [ "$(cat /proc/sys/vm/nr_hugepages)" -ge 6 ]; then
	leak_skip=wl_refused
	book huge
	leak_truth "huge pages: a byte is a whole one" map mappings
	leak_skip=
	is "$(j lost live-full)" 3 "munmap() that is refused: what is not known any more is counted"
	echo 0 > /proc/sys/vm/nr_hugepages
else
	skip "huge pages: a byte is a whole one" "the guest has none"
fi

# processes
book fork
leak_truth "a child's blocks are its own"
no_mismatch "fork: what a child frees of its parent's is right"
book fork --children
sed -i 's/^child\t/leak\t/' "$T/truth"
leak_truth "a child that is followed has books of its own"
no_mismatch "followed: what a child frees of its parent's is right"
book exec
leak_truth "after execve() it is another program"
cmp_ok "$(j space purged execed)" -ge 5 "what the first one had is gone, and counted"
book vfork
leak_truth "the child of a vfork() has its parent's books"
no_mismatch "vfork: nothing wrong"

# our own allocator, and ways out of it
book own "${own[@]}"
leak_truth "an allocator of one's own"
none_lost own
book jump "${own[@]}"
leak_truth "after a longjmp() out of it"
is "$(($(j lost left) + $(j lost no-return)))" 3 "jump: calls that did not return are counted"
book die "${own[@]}"
leak_truth "after a thread ended in it"
is "$(($(j lost left) + $(j lost no-return)))" 3 "die: calls that did not return are counted"
book throw "${own[@]}"
leak_truth "after an exception out of it"
book deep "${own[@]}"
leak_truth "recursion deeper than the kernel's 64 returns: the outermost counts"
fact "deep: those within are counted apart" "$(j call nested own_deep own_take)" inner
is "$(j lost left)" 0 "deep: no call is lost"

# somebody else takes up the kernel's pending returns
memtap stacks -U 'ur:./wl_leak_books:wl_down_there' -o "$T/other" > "$T/other.out" 2>&1 &
other=$!
ready $other || diag "$(cat "$T/other.out")"
book under "${own[@]}"
leak_truth "beside somebody who uses up the returns"
is "$(($(j lost left) + $(j lost no-return)))" 3 \
	"under: calls whose return is not told are counted"
kill -INT $other
wait $other

# many at once
cat > "$T/many" <<SH
for i in 1 2 3 4; do
	./wl_leak_books -f realloc -n \$i -e "$T/many.\$i" &
done
wait
SH
many_truth() {
	awk -F '\t' -v OFS='\t' '$1 == "leak" { n[$2] += $3; s[$2] += $4 }
		END { for (k in n) print "leak", k, n[k], s[k] }' "$T"/many.[1-4] > "$T/truth"
}
leaks "children" --children -- bash "$T/many"
many_truth
leak_truth "children, four at once"

# Of a group of processes what is gone does not count: here each waits to be looked at.
group() {
	local i
	pids=()
	for i in 1 2 3 4; do
		"$@" ./wl_leak_books -s -f realloc -n $i -e "$T/many.$i" -c leak_group &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait_for 300 stopped "$i" || diag "$i does not come to its window"
	done
}
through() {
	kill -CONT "${pids[@]}"
	for i in "${pids[@]}"; do
		wait_for 300 stopped "$i" || diag "$i does not come through its window"
	done
}
over() {
	kill -CONT "${pids[@]}"
	wait "${pids[@]}"
	many_truth
}
group
attach "by name" --comm leak_group
through
detach
over
leak_truth "four of one name"

# probes of another session in processes that are not asked for
rm -f "$T"/many.*
pids=()
for i in 1 2; do
	name=leak_group
	[ $i = 1 ] || name=leak_other
	./wl_leak_books -s -f realloc -n 3 -e "$T/many.$i" -c $name &
	pids+=($!)
done
for i in "${pids[@]}"; do
	wait_for 300 stopped "$i" || diag "$i does not come to its window"
done
memtap stacks -U u:c:malloc u:c:free u:c:realloc u:c:calloc -o "$T/other" > "$T/other.out" 2>&1 &
other=$!
ready $other || diag "$(cat "$T/other.out")"
attach "beside probes everywhere" --comm leak_group
through
detach
kill -INT $other
wait $other
kill -CONT "${pids[@]}"
wait "${pids[@]}"
: > "$T/many.2"
many_truth
leak_truth "only the one of that name, beside probes in all"

cgroup=
for dir in /sys/fs/cgroup/unified /sys/fs/cgroup/memory; do
	[ -z "$cgroup" ] && [ -e "$dir/cgroup.procs" ] && mkdir "$dir/leaks" &&
		cgroup=$dir/leaks
done
in_group() {
	echo "$BASHPID" > "$cgroup/cgroup.procs"
	exec "$@"
}
group in_group
attach "by group" --cgroup "$cgroup"
through
# one is gone before the others
kill -CONT "${pids[0]}"
wait "${pids[0]}"
unset 'pids[0]'
gone=$(awk -F '\t' '$1 == "leak" { n += $3 } END { print n }' "$T/many.1")
detach
over
: > "$T/many.1"
many_truth
leak_truth "a group of four, of which one is gone"
is "$(j space purged exited)" "$gone" "what the one had went with it"
rmdir "$cgroup"

probes_clean "nothing is left attached"
done_testing
