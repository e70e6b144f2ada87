#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who counts, and who does not: each filter, beside the same events of others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

getppid=$(awk '$3 ~ /^(__x64_)?(sys|SyS)_getppid$/ { print $3; exit }' /proc/kallsyms)
outer=u:$PWD/wl_call:wl_outer

# is_times FACTOR EVENT NAME: $T/got is what so many runs of the program do
is_times() {
	folded "$T/got" > "$T/times.got"
	wanted "$T/truth" "$2" | awk -v f="$1" 'f { print $1, $2 * f }' > "$T/times.wanted"
	same_file "$T/times.got" "$T/times.wanted" "$3"
}

# --- -p: two processes of one program, and a probe in one of them
target ./wl_call -n 2
mine=$pid
target ./wl_call -n 2
other=$pid
begin "$outer" -p "$mine"
not_ok "-p: a breakpoint stands in the process" text_clean "$mine"
ok "-p: none stands in its twin" text_clean "$other"
target ./wl_call -n 2
ok "-p: nor in one that starts meanwhile" text_clean "$pid"
kill -KILL "$pid"
for pid in "$other" "$mine"; do
	window
done
end
ok "-p: afterwards none is left" text_clean "$mine"
for pid in "$other" "$mine"; do
	finish
done
is_times 1 outer "-p: only that process counts"

target ./wl_call
first=$pid
target ./wl_call
second=$pid
begin "$outer" "k:$getppid" -p "$first,$second"
for pid in "$first" "$second"; do
	window
done
end
for pid in "$first" "$second"; do
	finish
done
# each event is a root of its own
sed -n '/wl_outer/s/^[^;]*;//p' "$T/got" > "$T/outer"
sed -n '/wl_ppid/s/^[^;]*;//p' "$T/got" > "$T/ppid"
mv "$T/outer" "$T/got"
is_times 2 outer "-p with two processes: both count, user function"
mv "$T/ppid" "$T/got"
is_times 2 getppid "-p with two processes: both count, kernel function"

# --- --children
script="./wl_call -n 2 > /dev/null & ./wl_call -n 2 > /dev/null & wait"
./wl_call -n 2 -e "$T/truth"
watch "k:$getppid" -- -- sh -c "$script"
is_times 0 getppid "without --children: what the shell starts does not count"
# twice: memtap learns which files it takes; on a slow machine their rows come too late first
for _ in 1 2; do
	watch "k:$getppid" -- --children -- sh -c "$script"
done
is_times 2 getppid "--children: what it starts counts, kernel function"
watch "$outer" -- --children -- sh -c "$script"
is_times 2 outer "--children: user function, planted in who was forked"
watch "ur:$PWD/wl_call:wl_inner" -- --children -- sh -c "($script)"
is_times 2 inner "--children: grandchildren too, and returns"
for _ in 1 2; do
	watch brk -- --children -- sh -c './wl_heap -e /dev/null; ./wl_heap32 -e /dev/null'
done
./wl_heap -e "$T/truth"
./wl_heap32 -e "$T/truth32"
cat "$T/truth32" >> "$T/truth"
is_times 1 brk "--children: one after the other, 64 and 32 bits"

# --- execve() by another thread than the first one, which is freed meanwhile
./wl_call -n 2 -e "$T/truth"
for _ in 1 2; do
	watch "k:$getppid" -- -- ./wl_exec ./wl_call -n 2
done
is_times 1 getppid "a process whose second thread executes a program still counts"
watch "$outer" -- --children -- sh -c './wl_exec ./wl_call -n 2 > /dev/null; true'
is_times 1 outer "so does a child"

# --- --tid: threads of one process that all do the same
target ./wl_call -t 4 -n 3
thread=$(basename "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | sort | tail -n 1)")
begin "k:$getppid" --tid "$thread"
window
end
finish
is_times 0.25 getppid "--tid: one thread of four"
target ./wl_call -t 4 -n 3
begin "$outer" --tid "$pid"
window
end
finish
is_times 0.25 outer "--tid: user function, in one thread of four"

# --- --comm
# Programs that nobody knew before and that end at once: by frame pointers, which
# need no table.
./wl_call -n 4 -c chosen -e "$T/truth"
script="./wl_call -n 2 > /dev/null; ./wl_call -n 4 -c chosen > /dev/null; ./wl_call > /dev/null"
begin "k:$getppid" --comm chosen --unwind fp
sh -c "$script"
end
is_times 1 getppid "--comm: only who has that name"

# --- cgroups: the shell moves itself there, and becomes the program
within_cgroup() { sh -c "echo \$\$ > $1/cgroup.procs && exec ./wl_call -n 2 -e $T/truth"; }
for root in /sys/fs/cgroup/unified /sys/fs/cgroup/memory; do
	kind=${root##*/}
	if [ ! -d $root ]; then
		skip "--cgroup, $kind" "this kernel does not have it"
		continue
	fi
	mkdir -p $root/memtap-test/below $root/memtap-other
	for by in path inode; do
		group=$root/memtap-test
		[ $by = path ] || group=$(stat -c %i $group)
		begin "k:$getppid" --cgroup "$group" --unwind fp
		within_cgroup $root/memtap-other
		within_cgroup $root/memtap-test
		within_cgroup $root/memtap-test/below
		end
		is_times 2 getppid "--cgroup, $kind by $by: what is in it and below it"
	done
	rmdir $root/memtap-test/below $root/memtap-test $root/memtap-other
done

# --- what the event is
watch minor-fault -- --only-user -- ./wl_fault -n 3 -e "$T/truth"
folded "$T/got" > "$T/user.got"
wanted "$T/truth" minor-fault | grep -v wl_read_into > "$T/user.wanted"
same_file "$T/user.got" "$T/user.wanted" "--only-user: no faults of system calls"
watch minor-fault -- --only-kernel -- ./wl_fault -n 3 -e "$T/truth"
folded "$T/got" > "$T/kernel.got"
wanted "$T/truth" minor-fault | grep wl_read_into > "$T/kernel.wanted"
same_file "$T/kernel.got" "$T/kernel.wanted" "--only-kernel: no others"
watch mmap -- --min-size 64K -- ./wl_heap -n 3 -e "$T/truth"
folded "$T/got" > "$T/size.got"
wanted "$T/truth" mmap | grep wl_map_a > "$T/size.wanted"
same_file "$T/size.got" "$T/size.wanted" "--min-size: no smaller ones"
watch mmap -- --min-size 8K --max-size 64K -- ./wl_heap -n 3 -e "$T/truth"
folded "$T/got" > "$T/size.got"
wanted "$T/truth" mmap | grep 'wl_map_b;' > "$T/size.wanted"
same_file "$T/size.got" "$T/size.wanted" "--min-size and --max-size: what is between"
watch brk -- --min-size 16K -- ./wl_heap -n 3 -e "$T/truth"
folded "$T/got" > "$T/size.got"
wanted "$T/truth" brk | grep -E 'wl_brk_a;|wl_brk_shrink;' > "$T/size.wanted"
same_file "$T/size.got" "$T/size.wanted" "--min-size: a heap that shrinks by as much counts"

# --- everything is watched, but who watches, unless that is asked for
for _ in 1 2; do
	run memtap faults -a --by comm --top 0 -d 1
done
unlike "$out" '^    memtap' "-a: memtap does not count itself"
like "$out" "filtered \\(([0-9,]+ of them )?memtap's own: --self counts (it|them)\\)" \
	"-a: the foot says how much that was"
run memtap faults -a --self --by comm --top 0 -d 1
like "$out" '^    memtap' "--self: it does"
unlike "$out" "memtap's own" "--self: then it is not left out"
run memtap faults -a --by comm --top 0 -- sh -c 'ls > /dev/null; true'
like "$out" '^    sh' "-a: what memtap runs counts"
exits 2 "--self: not with chosen processes" memtap faults --self -p 1
one_sentence "--self: which a sentence says"

probes_clean "nothing is left attached"
done_testing
