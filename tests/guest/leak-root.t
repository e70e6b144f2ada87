#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that begin while they are watched: in another root, where another libc has the same
# path; started by a static program; by a shell that was in their address space before.  What
# they lose is known, or it is said that it is not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

root=$T/root
mkdir -p "$root"
cp wl_leak_roots wl_leak_start "$root"
ldd ./wl_leak_roots | grep -o '/[^ )]*' | while read -r file; do
	mkdir -p "$root${file%/*}"
	cp -L "$file" "$root$file"
done
run chroot "$root" /wl_leak_roots stale
is "$status" 0 "it runs in another root"

forty='definite 40 4000'
held=$(memtap status | grep '^features:.*held at execve')

for way in chroot 'unshare -m chroot'; do
	# shellcheck disable=SC2086
	run memtap leaks "${leak_all[@]}" --error-exitcode 9 -- $way "$root" /wl_leak_roots stale
	if [ "$held" ]; then
		is "$status" 9 "$way: the exit status says so"
		is "$(j kinds_of take_forty)" "$forty" "$way: what it loses is known"
	else
		isnt "$status" 0 "$way: the exit status does not say that nothing leaks"
	fi
done
run memtap leaks --error-exitcode 9 -- chroot "$root" /wl_leak_roots stale
unlike "$out" 'nothing has leaked' "it is not said that nothing has leaked"
[ ! "$held" ] ||
	like "$out" 'take_forty\+0x[0-9a-f]+ \[wl_leak_roots\]' "its functions have names"

# nobody waits: the libc of that root is attached late, or not at all
run memtap leaks --no-pause --error-exitcode 9 -- chroot "$root" /wl_leak_roots stale
isnt "$status" 0 "--no-pause: the exit status says that something is not known"
unlike "$out" 'nothing has leaked' "--no-pause: nor is it said that nothing has leaked"

# a process of which nobody found the allocator
: > "$T/go"
run memtap leaks --children -- sh -c "./wl_leak_start / $T/go /bin/true; true"
like "$out" 'allocator of this process was not followed' "a static program: it is said"
like "$out" 'for 1 of them, it is not known what is lost' "and in the sum of all"

# --- started by a static program
rm -f "$T/go"
./wl_leak_start "$root" "$T/go" /wl_leak_roots stale &
init=$!
memtap leaks "${leak_all[@]}" -p $init --children > /dev/null 2> "$T/err" &
tool=$!
ready $tool
: > "$T/go"
wait $init
is $? 0 "a program that a static one starts"
kill -INT $tool
wait $tool
is $? 0 "-p --children of a static program: followed is what it starts"
[ ! "$held" ] || is "$(j kinds_of take_forty | cut -d' ' -f2-)" '40 4000' "from its beginning"
./wl_leak_start "$root" "$T/never" /wl_leak_roots stale &
init=$!
exits 1 "without --children there is nothing to follow" memtap leaks -p $init -d 1
like "$err" "no allocator was found" "which is said"
kill $init
wait $init

# --- started by a shell, which was in the child's address space until execve()
for shell in 'true; ./wl_leak_roots stale; true' './wl_leak_roots stale; ./wl_leak_roots stale'; do
	leaks "sh -c '$shell'" --children -- sh -c "$shell"
	unlike "$(j kinds_of take_forty)" 'unknown' "sh -c '$shell': the memory was examined"
done
run memtap leaks --children -- sh -c 'true; ./wl_leak_roots stale; true'
like "$out" 'definitely lost: 4,000 bytes in 40 blocks' "the summary says what was lost"
unlike "$out" 'not examined' "all was examined"

probes_clean "nothing is left attached"
done_testing
