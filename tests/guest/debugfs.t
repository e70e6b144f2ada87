#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The flight recorder, and what cat shows of it, without the tool.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

debug=/sys/kernel/debug/memtap
params=/sys/module/memtap/parameters
# shellcheck disable=SC2120  # some give it parameters
reload() {
	rmmod memtap && modprobe memtap "$@"
}
# The contract's names of MEMTAP_$1_*, each with a blank behind it.
names_of() {
	sed -n "s/.*X(MEMTAP_$1_[A-Z_]*, \"\([a-z-]*\)\".*/\1/p" \
		../../include/uapi/memtap_names.h | tr '\n' ' '
}
account() {
	sed -n "s/^ *$1 *seen \([0-9]*\) .*counted \([0-9]*\), filtered \([0-9]*\)\$/\\$2/p" "$3"
}

for file in summary hooks sessions oom slab pages reclaim compact pressure stacks/minor-fault \
	stacks/major-fault stacks/brk stacks/mmap stacks/mremap stacks/munmap stacks/mprotect \
	stacks/shmem; do
	is "$(stat -c %a $debug/$file)" 444 "$file is read-only, for all who reach it"
	like "$(head -n 1 $debug/$file)" '^#.*no ABI' "$file says that it is no ABI"
done
like "$(cat $debug/hooks)" '^minor-fault .*idle' "hooks: nobody wants one yet"

ok "loads with watch=" reload watch=fault,brk,mmap
like "$(cat $params/watch)" 'fault' "the parameter tells what is watched"
like "$(cat $debug/hooks)" '^brk .*kretprobe +attached' "hooks: brk is attached"
./wl_heap -n 5 -e "$T/truth"
cat $debug/stacks/brk > "$T/brk"
like "$(cat "$T/brk")" 'wl_heap \[[0-9]+\]' "stacks: the program's name and PID"
like "$(cat "$T/brk")" '[/]wl_heap\+0x[0-9a-f]+$' "stacks: user frames are file+0xoffset"
like "$(cat "$T/brk")" '[sS]y[sS]_brk' "stacks: kernel frames have names"
unlike "$(cat "$T/brk")" 'ffff[0-9a-f]{12}' "no kernel address is shown"
like "$(cat $debug/stacks/mremap)" 'does not record' "an event that is not recorded says so"
cat $debug/summary > "$T/summary"
like "$(cat "$T/summary")" '^flight recorder: on for [0-9]+ s' "summary: the recorder is on"
for event in minor-fault brk mmap; do
	like "$(cat "$T/summary")" "^ +$event +seen [0-9]+" "summary: $event"
done
like "$(cat "$T/summary")" 'lost: recursion 0 .*table-full 0' "summary: losses, also when zero"
unlike "$(cat "$T/summary")" '\(null\)|unknown-reason' "summary: each reason has its name"
is "$(sed -n '/lost:/{s/.*lost: //;p;q}' "$T/summary" | sed 's/[0-9 ]\+/ /g')" \
	"$(names_of LOST)" "summary: all that the contract has for losses"
is "$(sed -n '/incomplete:/{s/.*incomplete: //;p;q}' "$T/summary" | sed 's/[0-9 ]\+/ /g')" \
	"$(names_of PART)" "summary: and for incomplete events"

# Offsets are those of the functions: the whole path of one system call.
want=$(nm wl_heap | awk '$3 ~ /^(wl_brk_by|wl_brk_a|wl_brk_top|wl_worker)$/' | wc -l)
is "$want" 4 "(the program has its symbols)"
awk '/[sS]y[sS]_brk/ { on = 1; next }
	on && /wl_heap\+0x/ { sub(/.*\+/, ""); print; next }
	{ on = 0 }' "$T/brk" |
	sort -u | while read -r at; do
		addr2line -if -e wl_heap "$(printf '0x%x' $((at - 1)))"
	done | sort -u > "$T/names"
for name in wl_brk_by wl_brk_a wl_brk_top wl_worker; do
	ok "offsets lead to the functions that called: $name" grep -qx $name "$T/names"
done

# Changed while it runs.
echo mremap > $params/watch
like "$(cat $params/watch)" '^mremap$' "watch can be written at run time"
./wl_heap -n 5 -e "$T/truth"
like "$(cat $debug/stacks/mremap)" 'wl_heap' "from then on the new event is watched"
like "$(cat $debug/stacks/brk)" 'does not record' "the old one is not"
like "$(cat $debug/hooks)" '^brk .*idle' "its hook is gone"

target ./wl_heap -n 3
echo "$pid" > $params/pid
echo brk > $params/watch
./wl_heap -n 7 -e /dev/null
window
cat $debug/stacks/brk > "$T/brk"
finish
mine=$(awk -F '\t' '$1 == "brk" { n += $3 } END { print n }' "$T/truth")
is "$(account brk 2 "$T/brk")" "$mine" "pid= narrows it: exactly that process's calls"
cmp_ok "$(account brk 3 "$T/brk")" -gt 0 "others are filtered"
is "$(account brk 1 "$T/brk")" "$(($(account brk 2 "$T/brk") + $(account brk 3 "$T/brk")))" \
	"seen is their sum"

# Many rows: a process has rows of its own.
echo 0 > $params/pid
echo fault > $params/watch
for ((i = 0; i < (${SLOW:-1} > 1 ? 60 : 400); i++)); do /bin/true; done
exec 5< $debug/stacks/minor-fault
dd bs=100 count=1 status=none <&5 > "$T/first"
like "$(head -n 1 "$T/first")" '^#.*no ABI' "(one read of a long list)"
# Sorting them takes long, in one system call: beside somebody who has much to do, too.
# (3 to 7 times where nothing lets them; one read on a machine that stands still meanwhile
# can have as few)
sh -c 'while :; do :; done' &
busy=$!
taskset -p -c 0 $busy > "$T/out"
switches() { taskset -c 0 bash -c '
	involuntary() {
		while read -r what n; do
			[ "$what" != nonvoluntary_ctxt_switches: ] || now=$n
		done < /proc/$$/status
	}
	exec 6< '$debug'/stacks/minor-fault
	involuntary
	before=$now
	read -r line <&6
	involuntary
	echo $((now - before))'; }
switches=0
for ((i = 0; i < 5 && switches < 14; i++)); do
	switches=$(switches)
done
kill $busy
# (each that reads it has it sorted again)
cat $debug/stacks/minor-fault > "$T/rows"
rows=$(awk '/ x minor-fault/ { n++ } /smaller ones/ { n += $2 } END { print n + 0 }' "$T/rows")
cmp_ok "$rows" -gt 2000 "(there are many rows)"
cmp_ok "$switches" -ge 14 "who sorts $rows rows lets others run meanwhile: $switches times"
is "$(awk '/ x minor-fault/ { if (last && $1 > last) print; last = $1 }' "$T/rows")" '' \
	"the largest come first"
is "$(grep -c ' x minor-fault' "$T/rows")" 100 "a hundred of them"
like "$(tail -n 1 "$T/rows")" '^  and [0-9]+ smaller ones$' "and how many more"
echo brk > $params/watch
like "$(tail -n 1 <&5)" 'settings changed' "a list that was begun says that the settings changed"
exec 5<&-

not_ok "an event that does not exist is refused" sh -c "echo nonsense > $params/watch"
ok "the recorder can be switched off" sh -c "echo > $params/watch"
like "$(cat $debug/summary)" 'flight recorder: off' "summary says so"
probes_clean "nothing is attached then"

# What the kernel's allocators hand out is followed.
ok "loads with watch=slab,pages" reload watch=slab,pages
like "$(cat $debug/hooks)" '^kmalloc .*tracepoint +attached' "hooks: kmalloc is attached"
for file in slab pages; do
	cat $debug/$file > "$T/$file"
	like "$(cat "$T/$file")" '^objects tracked for [0-9]+ s, tables use' "$file: since when"
	unlike "$(cat "$T/$file")" 'ffff[0-9a-f]{12}' "$file: no kernel address is shown"
done
like "$(cat "$T/slab")" '^ +[0-9]+ +[0-9]+ +-?[0-9]+ .* (kmalloc|dentry)' \
	"slab: by cache"
unlike "$(cat "$T/slab")" 'order-' "slab: no pages"
like "$(cat "$T/pages")" ' order-0 pages$' "pages: by order"
like "$(cat $debug/stacks/kmalloc)" 'tracked .* see the slab file' "stacks: see slab"
like "$(cat $debug/stacks/page-free)" 'tracked .* see the pages file' "stacks: see pages"
like "$(cat $debug/summary)" '^  kmem-cache-free +seen [0-9]+' "summary: its accounts"
# (one event of them is counted like any other)
echo kmalloc > $params/watch
like "$(cat $debug/slab)" 'not tracked; to track' "slab: says that objects are not tracked"
like "$(cat $debug/stacks/kmalloc)" '^  [0-9]+ x kmalloc' "a single event is counted"
echo > $params/watch
probes_clean "nothing is attached when it is off"

# Sessions of the tool are seen, too.
memtap stacks fault -d 600 > /dev/null 2>&1 &
tool=$!
ready $tool
like "$(cat $debug/sessions)" "$tool memtap +running .*minor-fault" \
	"sessions: who, what, in which state"
like "$(cat $debug/hooks)" '^minor-fault .*attached' "hooks: what it uses"
kill -INT $tool
wait $tool
unlike "$(cat $debug/sessions)" "$tool memtap" "sessions: gone when it is closed"
# shellcheck disable=SC2119
reload
done_testing
