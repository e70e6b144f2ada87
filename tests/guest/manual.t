#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The example of each command's manual page is what the command prints: each is run as the
# page has it, and both are as they should be.  PAGES=DIR keeps what was printed, for
# scripts/samples, which makes the pages' examples of it.
# guest: -m 512
# kernels: 6.1
# check: long
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
pages=${PAGES:-$T}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here:$here/../../examples/encryptor:$here/../../examples/library:$PATH
KEY=$(printf '%064d' 7)
manual=$(dirname "$(readlink -f "$(command -v memtap)")")/../share/man/man8
head -c 4M /dev/urandom > "$T/in"
mkdir -p "$pages"
cd "$T" || exit 1
for command in encryptor library; do
	ok "the program $command is there" command -v $command
done

# sample [-n LINES] NAME PATTERN COMMAND...: COMMAND, in which KEY and PID mean what they
# are, prints a line like that, as the page of memtap NAME has it.  At most LINES of it are
# kept, and the others are "...".
done_with=' '
sample() {
	local lines=30 name pattern

	if [ "$1" = -n ]; then
		lines=$2
		shift 2
	fi
	name=$1 pattern=$2
	shift 2
	bash -c "${*//KEY/$KEY}" > "$T/said" 2>&1 < /dev/null
	is $? 0 "$name: $*" || diag "$(cat "$T/said")"
	{
		echo "# $*"
		# (a PID where the command line has PID is left)
		expand "$T/said" | sed "s|$KEY|KEY|g; s|$T/||g; s|$here/||g; s/ *$//" |
			awk -v lines="$lines" 'NR <= lines { print }
				NR == lines + 1 { print " ..." }'
	} >> "$pages/$name"
	ok "$name: it prints /$pattern/" grep -Eq -- "$pattern" "$T/said"
	if [ -e "$manual/memtap-$name.8" ]; then
		# (as roff has it)
		sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\(dq/"/g; s/\\(ga/`/g; s/\\(ha/^/g; s/\\(ti/~/g
			s/\\&//g; s/\\e/\\/g' "$manual/memtap-$name.8" > "$T/page"
		ok "$name: the page has that command" grep -Fqx -- "# $*" "$T/page"
		sed -n '/^\.SH EXAMPLES/,$p' "$T/page" > "$T/example"
		ok "$name: the page's example has such a line" grep -Eq -- "$pattern" "$T/example"
	fi
	done_with+="$name "
}
suffer() {
	start_until "$T/ready" ready with_errors "$@"
	pid=$started
}
with_errors() { exec "$@" 2>&1; }
relief() {
	kill $pid 2> /dev/null
	wait $pid 2> /dev/null
}

# --- the tool, the module
sample version '^memtap [0-9]' "memtap version"
sample -n 12 help '^Usage: memtap leaks ' "memtap help leaks"
sample status '^module' "memtap status"
sample -n 20 hooks 'fault' "memtap hooks"
memtap history start 1 &
pid=$!
wait_for 60 memtap history status
sleep 3
kill -INT $pid
wait $pid
sample -n 4 history 'samples from' "memtap history status"
(sleep 2; exec python3 -c '
import time
kept = [(b"a" * 1000000 + bytes(i), time.sleep(0.1)) for i in range(60)]') &
sample watch 'rule 1: ended' \
	"memtap watch --when 'process python3 grows > 1M/s for 2s' --do heap -d 9 1 2>&1"
wait
rm -r /var/lib/memtap
sample -n 40 doctor 'memtap can run here' "memtap doctor"
sample unload '^memtap [0-9]' "memtap unload; memtap version"
sample load 'brk' "memtap load watch=brk; cat /sys/module/memtap/parameters/watch"
echo '' > /sys/module/memtap/parameters/watch
sample -n 20 list 'minor-fault' "memtap list events"
sample -n 14 list 'prot' "memtap list mmap"
sample -n 8 list 'malloc' "memtap list c malloc"
sample -n 20 unwind 'entries' "memtap unwind c"
sample -n 60 selftest '^ok' "memtap selftest"

# --- programs
sample -n 24 stacks 'secure_alloc' "memtap stacks c:mmap --top 1 -- encryptor KEY in out"
sample -n 40 faults 'process_chunk' "memtap faults --top 2 -- encryptor KEY in out"
sample -n 40 rss 'RSS of 1 process' "memtap rss --top 2 -- encryptor KEY in out"
sample -n 40 brk 'brk: ' "memtap brk --top 2 -- library"
sample -n 40 mmap 'read_in_chunks' "memtap mmap --top 1 -- encryptor KEY in out"
sample shmem 'shm' \
	"memtap shmem --top 1 -- dd if=/dev/zero of=/dev/shm/f bs=64K count=16 status=none"
rm -f /dev/shm/f
sample shm 'shmget|memfd_create' "memtap shm -- wl_calls shm . calls"
sample -n 60 leaks 'LEAK SUMMARY' "memtap leaks --top 1 -- library"
sample stat 'minor-fault' "memtap stat -- encryptor KEY in out"
sample count 'prot' "memtap count 'mmap(prot)' --by prot -- encryptor KEY in out"
sample hist '->' "memtap hist mmap --value len -- encryptor KEY in out"
sample -n 12 trace 'mmap' "memtap trace 'mmap(len,prot,flags,ret)' -- head -n 1 /etc/hostname"
sample record '^memtap: written to' "memtap record -o broken.memtap mmap -U -- encryptor KEY in out"
sample record '^memtap: written to' \
	"memtap record -o repaired.memtap mmap -U -- encryptor-repaired KEY in out"
sample -n 24 report 'read_in_chunks' "memtap report broken.memtap --top 1"
sample -n 40 diff '-[0-9.]+ MiB: ' "memtap diff broken.memtap repaired.memtap --top 1"
sample -n 6 merge '^memtap: merged 2' \
	"memtap merge -o all.memtap broken.memtap repaired.memtap"
sample -n 14 merge ' recordings of 1 host' "memtap report all.memtap --by function --top 2"
sample -n 30 annotate 'secure_alloc' "memtap annotate broken.memtap encryptor.cc --top 3"

mkdir "$T/push"
echo ok > "$T/push/mode"
PORT=4040 python3 "$here/push_receiver.py" "$T/push" &
receiver=$!
wait_for 60 test -s "$T/push/port"
sample push 'message sent' \
	"memtap push --to http://localhost:4040/ingest fault -- encryptor KEY in out"
kill $receiver

suffer wl_leak_live
memtap record --leaks -p $pid -o marks.memtap 2> "$T/recorded" &
recorder=$!
ready $recorder
sample mark 'is marked in 1 session' \
	"memtap mark before; kill -USR1 \$(pidof wl_leak_live); sleep 1; memtap mark after"
kill -INT $recorder
wait $recorder
sample -n 24 mark 'take_' "memtap report marks.memtap --between before,after --top 2"
relief

suffer wl_malloc_cxx
sample heap 'shop::Session' "memtap heap \$(pidof wl_malloc_cxx)"
relief

# --- the kernel's memory
sample -n 10 slab 'kmalloc' "memtap slab 1 1"
sample -n 10 slab 'OTHER CPU' "memtap slab --waste --top 5 1 1"
sample -n 30 ps 'MemTotal, the sum of' "memtap ps --top 5"
sample -n 8 ps 'PROGRAM$' "memtap ps --by program --top 3"
sample -n 30 pages 'order-0' "memtap pages 1 1"
suffer wl_triage leak 150
sample -n 27 metrics '^memtap_memory_bytes' "memtap metrics --top 1"
sample -n 45 triage '^Next: memtap leaks -p' "memtap triage 1 1"
sample -n 22 top 'wl_triage' "memtap top 1 1"
relief
suffer wl_diagnose leak 300
sample -n 40 diagnose 'parse_row' "memtap diagnose -q --deep -d 15"
relief

# --- memory that is short: a cgroup at its limit
dd if=/dev/zero of=/swap bs=1M count=200 status=none
chmod 600 /swap
mkswap /swap > /dev/null && swapon /swap
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2> /dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
elif [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	root=/sys/fs/cgroup limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
mkdir $root/web && echo 12M > $root/web/$limit
suffer bash -c "echo \$\$ > $root/web/cgroup.procs; exec wl_triage cycle 20"
sample -n 12 reclaim '/web' "memtap reclaim -d 2"
sample -n 16 vmscan 'M-RECLAIM' "memtap vmscan 1 2"
sample -n 12 swap 'wl_triage' "memtap swap 1 2"
relief
sample -n 16 compact 'zone' "memtap compact -a -- sh -c 'echo 1 > /proc/sys/vm/compact_memory'"
sample -n 12 migrate 'compaction|PROCESS' \
	"memtap migrate -a -- sh -c 'echo 1 > /proc/sys/vm/compact_memory'"

# --- somebody is killed
swapoff /swap
memtap monitor > "$T/notices" &
pid=$!
sleep 2
bash -c "echo \$\$ > $root/web/cgroup.procs; exec wl_oom eat 30" 2> /dev/null
wait_for 20 grep -q oom-kill "$T/notices"
kill -INT $pid
wait $pid
sample -n 60 oom 'was OOM-killed' "memtap oom --last 1"
ok "monitor: a line for the kill" grep -q '"event":"oom-kill"' "$T/notices"
{
	echo '# memtap monitor'
	# (the line is long)
	cut -c 1-300 "$T/notices" | fold -w 76 | sed '$s/$/ .../'
} > "$pages/monitor"
done_with+="monitor "

left=''
for command in $(memtap help --words); do
	[[ $done_with = *" $command "* ]] || left+=" $command"
done
is "$left" "" "each command has an example"
done_testing
