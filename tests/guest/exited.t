#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that are gone when the report is made: they have their names and those
# of their functions, while their files can still be found; and never others.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

lives=$(rounds 20 100)
getppid=$(awk '$3 ~ /^(__x64_)?(sys|SyS)_getppid$/ { print $3; exit }' /proc/kallsyms)
dir=$PWD
cd "$T" || exit 1
cp "$dir/wl_call" short
./short -e truth
wanted truth getppid | awk -v f="$lives" '{ print $1, $2 * f }' > all.wanted

# many AFTERWARDS: so many short lives, then what becomes of the file.  By frame
# pointers: the first of a program that memtap has not met has no rows yet.
many() {
	cp "$dir/wl_call" short
	watch "k:$getppid" -- --unwind fp --children -- \
		sh -c "for i in $(seq -s ' ' "$lives"); do ./short > /dev/null; done; $1"
	folded got > all.got
}

many :
same_file all.got all.wanted "$lives processes that are gone: every function has its name"
many 'cp short new && mv new short'
same_file all.got all.wanted "the file was replaced by one of the same build: the names are right"

calls=$(awk '{ n += $2 } END { print n }' all.wanted)
counts() { awk '/^short;/ { n += $NF } END { print n + 0 }' got; }
many 'rm short'
is "$(counts)" "$calls" "the file was deleted: every call is there"
unlike "$(cat got)" ';wl_brk|;wl_map|;wl_heap' "and has no wrong name"
like "$(grep '^short;' got)" 'short' "the file is named"

# Another program in its place: its functions are at other addresses.
many "cp $dir/wl_heap new && mv new short"
is "$(counts)" "$calls" "another program in its place: every call is there"
unlike "$(cat got)" ';wl_(brk|map|unmap|remap)' "the other one's functions are in no stack"

# Rows that come too late, because memtap is stopped while the program runs, whose name it
# could not read in the command: each of its stacks is there, and those that end too early
# say so.
cp "$dir/wl_call" late
while_stopped() {
	echo "kill -STOP \$PPID
		while grep -qv ') T ' /proc/\$PPID/task/*/stat; do :; done
		\$(echo ./$1) > /dev/null
		kill -CONT \$PPID"
}
watch "k:$getppid" -- --unwind dwarf --children -- sh -c "$(while_stopped late)"
is "$(awk '/^late;/ { n += $NF } END { print n + 0 }' got)" $((calls / lives)) \
	"rows came too late: every call is there"
is "$(grep '^late;' got | grep -v ';main;' | grep -vc 'stack truncated')" 0 \
	"and no stack is cut without saying so"
cmp_ok "$(grep -c '^late;.*stack truncated: no table yet' got)" -ge 1 "some are, and say why"
cp "$dir/wl_call" later
run memtap stacks "k:$getppid" --children -U --unwind dwarf -- sh -c "$(while_stopped later)"
like "$out" 'without a table yet' "the foot of a table says how many"

# Each process, while it lives and after.
cp "$dir/wl_call" short
run memtap stacks "k:$getppid" --children -U --by process --calls --top 0 -- \
	sh -c './short > /dev/null; ./short > /dev/null; ./short > /dev/null'
is "$status" 0 "a table by process works"
like "$out" 'short' "processes that are gone have their name in it"

# What is saved now is named later, on another day.
run memtap record -o saved.memtap "k:$getppid" -U --unwind fp --children -- \
	sh -c './short > /dev/null'
is "$status" 0 "record works"
run memtap report saved.memtap --by comm --folded --calls
printf '%s\n' "$out" > got
folded got > all.got
wanted truth getppid > all.wanted
same_file all.got all.wanted "a saved file names the functions of who is gone"
cd "$dir" || exit 1
done_testing
