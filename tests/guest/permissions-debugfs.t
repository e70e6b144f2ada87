#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What others than root get to see: no kernel address, whatever the settings; and
# root neither, but in what he keeps to himself.
# check: once
. "$(dirname "$0")/lib.sh"

debug=/sys/kernel/debug/memtap
params=/sys/module/memtap/parameters
# the kernel's half of the addresses, without what is a small negative number
pointer='ffff[89a-f][0-9a-f]{11}'
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
powerless="setpriv --bounding-set=-all --inh-caps=-all"
old_kptr=$(cat /proc/sys/kernel/kptr_restrict)
old_dmesg=$(cat /proc/sys/kernel/dmesg_restrict)
restore() {
	echo "$old_kptr" > /proc/sys/kernel/kptr_restrict
	echo "$old_dmesg" > /proc/sys/kernel/dmesg_restrict
	mount -o remount,mode=700 /sys/kernel/debug
	tap_exit
}
trap restore EXIT

no_pointer() {
	local name=$1
	shift
	if grep -aoE "$pointer" "$@" > "$T/found"; then
		fail "$name"
		diag "$(sort "$T/found" | uniq -c | sort -rn | head -n 5)"
		diag "in: $(grep -alE "$pointer" "$@" | tr '\n' ' ')"
	else
		pass "$name"
	fi
}

# --- file modes
is "$(stat -c '%a %U' /dev/memtap)" "600 root" "/dev/memtap is root's alone"
is "$(stat -c '%a %U' /sys/kernel/debug)" "700 root" "debugfs is root's alone"
for file in watch pid max_mem; do
	is "$(stat -c '%a %U' $params/$file)" "644 root" "$file: root writes, all may read"
done
find /sys/module/memtap -type f -perm /022 > "$T/writable"
is "$(cat "$T/writable")" "" "the module has no file that others than root can write"
# shellcheck disable=SC2086
{
not_ok "nobody writes no parameter" $nobody sh -c "echo fault > $params/watch"
not_ok "root without capabilities neither: watch" \
	$powerless sh -c "echo fault 2>/dev/null > $params/watch"
not_ok "root without capabilities neither: pid" \
	$powerless sh -c "echo 1 2>/dev/null > $params/pid"
not_ok "root without capabilities neither: max_mem" \
	$powerless sh -c "echo 1G 2>/dev/null > $params/max_mem"
is "$(cat $params/watch)" "" "and nothing is watched"

# --- debugfs, where somebody opened it to everybody
mount -o remount,mode=755 /sys/kernel/debug
for who in nobody powerless; do
	for file in summary hooks sessions slab pages stacks/brk; do
		not_ok "a debugfs for all: $file is not for $who" ${!who} cat $debug/$file
	done
done
ok "but for root" cat $debug/summary
mount -o remount,mode=700 /sys/kernel/debug
}

# --- the tool and the files, by each setting
echo fault,brk,mmap,slab > $params/watch
for kptr in 0 $(also 1) 2; do
	echo $kptr > /proc/sys/kernel/kptr_restrict
	mkdir "$T/$kptr"
	(
		cd "$T/$kptr" || exit
		umask 022
		memtap stacks brk -- true > text
		memtap stacks brk --json -- true > json
		memtap stacks brk --folded -- true > folded
		memtap stacks brk --flame flame.html -- true
		memtap record -o kept brk -- true
		memtap report kept -o again
		memtap report kept --json > again.json
		memtap leaks -k --older 0 --top 20 --show-allocs -d 1 > objects
		memtap leaks -k --older 0 --top 20 --show-allocs --json -d 1 > objects.json
		memtap leaks -k --trace --stacks --cache 'kmalloc-64' -d 1 > calls
		memtap hooks > hooks
		memtap status > status
		memtap list > list
		cat $debug/{summary,hooks,sessions,slab,stacks/*} > debugfs
		# shellcheck disable=SC2086
		for command in status hooks "stacks brk -- true" load unload "report kept"; do
			$nobody memtap $command
		done > nobody
	) > "$T/$kptr.err" 2>&1
	like "$(cat "$T/$kptr/text")" '^brk: [0-9]+ stack' "kptr_restrict=$kptr: (a report)"
	is "$(stat -c %a "$T/$kptr/kept")" 600 "kptr_restrict=$kptr: a record is its owner's"
	mv "$T/$kptr/kept" "$T/kept.$kptr"
	no_pointer "kptr_restrict=$kptr: no kernel address in any report or message" \
		-r "$T/$kptr" "$T/$kptr.err"
done
like "$(cat "$T/2/objects")" 'outstanding (objects|memory)' \
	"kptr_restrict=2: (objects of the kernel)"
like "$(cat "$T/0/text")" '[sS]y[sS]_brk' "with names, kernel functions have names"
unlike "$(cat "$T/2/text")" '[sS]y[sS]_brk' "kptr_restrict=2: no names, not even for root,"
like "$(cat "$T/2/text")" '\[kernel\]' "but a word that says what it is,"
like "$(cat "$T/2/text" "$T/2.err")" 'kptr_restrict' "and a line that says why"
memtap stacks brk --addresses -- true > "$T/addresses" 2>/dev/null
ok "who asks for addresses gets them" grep -qE "$pointer" "$T/addresses"
echo > $params/watch

# --- the kernel's log
echo 0 > /proc/sys/kernel/dmesg_restrict
# shellcheck disable=SC2024,SC2086
$nobody dmesg | sed '1,/memtap-test: begin permissions-debugfs$/d' > "$T/dmesg"
dmesg | grep -i memtap >> "$T/dmesg"
no_pointer "no kernel address in the log" "$T/dmesg"
probes_clean "nothing is attached"
done_testing
