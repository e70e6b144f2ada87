#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# OOM kills, by the limit of a cgroup and by the whole machine: the module has a record of each,
# whoever died, and it says what the kernel's own report says of victim and trigger.
# guest: -m 640
# dmesg: allow Call Trace
# shellcheck disable=SC2154  # python says what r_* is
. "$(dirname "$0")/lib.sh"

debug=/sys/kernel/debug/memtap
export LC_ALL=C

root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
# cgroup MIB: one with that limit
cgroup() {
	mkdir -p "$root/oomtest"
	echo $(($1 << 20)) > "$root/oomtest/$limit"
	[ ! -e "$root/oomtest/memory.swap.max" ] || echo 0 > "$root/oomtest/memory.swap.max"
}
# inside COMMAND...: there; in the background, it becomes the command
inside() {
	echo "$BASHPID" > "$root/oomtest/cgroup.procs"
	exec "$@"
}
leave() { wait_for 20 rmdir "$root/oomtest"; }
relief() { kill "$@" 2> /dev/null; wait "$@" 2> /dev/null; }
# what the module has kept, a JSON document a line (whole a twentieth of a second after the kill)
last() { memtap oom --last 32 --json > "$T/last" 2> "$T/last.err"; }
# (what debugfs says costs no start of the tool)
has_record() {
	grep -q "^  victim wl_oom[a-z_]* \[$1\]" $debug/oom && last &&
		grep -q "\"victim\":{\"comm\":\"wl_oom[a-z_]*\",\"pid\":$1," "$T/last"
}
cat > "$T/facts" << 'END'
# facts FILE PID DMESG: of the first record with that victim, and of the kernel's report of it
import json, re, shlex, sys
r = [json.loads(l) for l in open(sys.argv[1])]
r = [x for x in r if x["victim"]["pid"] == int(sys.argv[2])][0]
out = {
    "trigger": r["trigger"]["pid"], "fate": r["outcome"], "adj": r["victim"]["oom_score_adj"],
    "constraint": r["constraint"], "limited": r["limited"], "cause": r["cause"],
    "diagnosis": r["diagnosis"], "next": r["next"], "order": r["order"],
    "gfp": r["gfp_flags"], "sharing": r["sharing"], "members": r["killed_with_cgroup"],
    "listed": len(r["members"]), "processes": r["processes"], "largest": len(r["largest"]),
    "paths": " ".join([r.get("limit_cgroup", "-"), r["victim"]["cgroup"], r["trigger"]["cgroup"]]),
    "points": r.get("points", "-"), "rounded": r["points_rounded"], "kind": r.get("kind", "-"),
    "held": r["processes_bytes"], "whole": r.get("memcg_stat_complete", "-"),
    "for": json.dumps(r.get("memcg_stat", {})), "memory": json.dumps(r["memory"]),
    "inode": r["victim"]["cgroup_inode"], "allowed": r.get("limit", 0),
    "charged": r.get("charged", 0), "total": r["memory"]["total"],
    "kernel": " ".join(f.get("name", "?") for f in r["kernel_stack"]),
    "user": " ".join(f.get("name", "?") for f in r["user_stack"]),
    "own": " ".join(f.get("name", "?") for f in r["user_stack"]
                    if f["object"] == r["trigger"]["comm"]),
    "complete": r["user_stack_complete"], "rest": r.get("user_stack_rest", "-"),
}
trigger = None
report = {}
for line in open(sys.argv[3], errors="replace"):
    m = re.search(r"CPU: .*PID: (\d+)", line)
    if "invoked oom-killer" in line:
        trigger = None
    elif m and not trigger:
        trigger = m[1]
    m = re.search(r"Killed process %s \(" % sys.argv[2], line)
    if m and not report:
        report = {k: int(v) for k, v in re.findall(r"([a-z-]+):(\d+)kB", line)}
        report["trigger"] = int(trigger)
wrong = [] if report else ["there is no report of it"]
if report.get("trigger") != r["trigger"]["tid"]:
    wrong.append("trigger %s" % report.get("trigger"))
# pages that threads keep back, and what is touched while the kernel prints
for key, name, kb in (("anon-rss", "anon", 1024), ("file-rss", "file", 1024),
                      ("shmem-rss", "shmem", 1024), ("pgtables", "page_tables", 16)):
    if key in report and abs(report[key] - r["victim"][name] // 1024) > kb:
        wrong.append("%s %d kB, not %d" % (key, report[key], r["victim"][name] // 1024))
out["wrong"] = "; ".join(wrong)
for k, v in out.items():
    print("r_%s=%s" % (k, shlex.quote(str(v))))
END
# killed NAME PID: there is a record of it; its facts
killed() {
	wait_gone 240 "$2"
	if ! wait_for 20 has_record "$2"; then
		fail "$1: it has a record"
		diag "$(cat "$T/last.err"; cut -c -200 "$T/last")"
		return
	fi
	dmesg > "$T/dmesg"
	eval "$(python3 "$T/facts" "$T/last" "$2" "$T/dmesg")"
	is "$r_wrong" "" "$1: victim, trigger and sizes are those of dmesg"
}

# --- nobody yet
like "$(cat $debug/hooks)" '^oom-kill +kprobe +attached +0 +1 ' "the hook is there from insmod on"
like "$(head -n 1 $debug/oom)" '^#.*no ABI' "debugfs: oom says that it is no ABI"
is "$(stat -c %a $debug/oom)" 444 "debugfs: oom is read-only"
run memtap oom --test
is "$status" 0 "--test"
like "$out" 'test record' "--test: says that it is a test record"
like "$out" '  cause +process test-victim \(1234\) alone held' "--test: has a diagnosis"
if not_twice; then
	exits 2 "an argument is refused" memtap oom now
	one_sentence "an argument: in a sentence"
	exits 2 "--last and -d exclude each other" memtap oom --last 1 -d 1
	exits 2 "--last 0 is refused" memtap oom --last 0
fi

# --- the limit of a cgroup: who triggers is not who is killed
cgroup 48
inode=$(stat -c %i "$root/oomtest")
memtap oom -d 100 --json > "$T/live" 2> "$T/live.err" &
live=$!
memtap oom -d 100 > "$T/text" 2> "$T/text.err" &
text=$!
memtap oom -d 100 --comm somebody-else > "$T/other" 2> "$T/other.err" &
other=$!
for who in live text other; do
	wait_for 20 grep -q waiting "$T/$who.err"
done
start_until "$T/ready" ready inside ./wl_oom hold 28
holder=$started
inside ./wl_oom eat 24 > "$T/eater" &
eater=$!
killed "a cgroup's limit" $holder
is "$r_trigger" "$eater" "the trigger is who wanted more"
fate=chosen
! grep -q ' __oom_kill_process$' /proc/kallsyms || fate=killed
is "$r_fate" $fate "it was killed"
is "$r_constraint $r_limited" "memcg True" "out of memory in its cgroup"
is "$r_paths" "/oomtest /oomtest /oomtest" "the cgroups have their paths"
is "$r_inode" "$inode" "and their inodes"
had=' \(usage 4(7\.[0-9]|8\.0) MiB\): '
if kver_ge 4.2; then
	is "$r_allowed" $((48 << 20)) "the limit"
	within "$r_charged" $((48 << 20)) 2 "and what was charged"
else
	skip "the limit, and what was charged" "these are private before v4.2"
	had=': '
fi
# (in thousandths of what was allowed before v5.9, and 3 % less of root's before v4.17)
ok "chosen by what it held, in bytes: $r_points" \
	[ "$r_points" -gt $((26 << 20)) -a "$r_points" -lt $((32 << 20)) ]
run memtap oom --last 1 --json --filter 'points > 27000000'
like "$out" "\"pid\":$holder," "and a filter has bytes, too"
is "$r_cause" process "diagnosis: one process"
like "$r_diagnosis" \
	"^cgroup /oomtest reached its limit of 48.0 MiB$had.*wl_oom \($holder\) alone held" \
	"diagnosis: a sentence"
is "$r_next" 'memtap faults --cgroup /oomtest -d 10' "the command to run next"
is "$r_largest $r_processes" "2 2" "the cgroup's processes, no others"
is "$r_order" 0 "a page was wanted"
if kver_ge 4.6; then
	like "$r_gfp" '(^|\|)GFP_[A-Z]+' "GFP flags by name"
else
	skip "GFP flags by name" "before v4.6 the kernel has no names for them"
fi
# (some kernels kill when the fault has come back from the charge)
like "$r_kernel" '^oom_kill_process[^ ]* .*(charge|mem_cgroup_oom)' "the trigger's kernel stack"
like "$r_user" '^wl_oom_touch .*main' \
	"the trigger's user stack, with its own names"
wait_for 20 test -s "$T/live"
wait_for 20 grep -q '  cgroups' "$T/text"
is "$(head -n 1 "$T/live" | cut -c -60)" \
	"$(grep "\"pid\":$holder," "$T/last" | head -n 1 | cut -c -60)" \
	"who waited was told the same"
like "$(cat "$T/text")" "wl_oom \($holder\) was .*: out of memory in its cgroup /oomtest" \
	"as text"
like "$(cat "$T/text")" '^  slab +[0-9.]+ [KM]iB  [a-zA-Z0-9_-]+ \(read shortly after the kill\)$' \
	"and who held memory besides processes: caches"
like "$(cat "$T/text")" '^ +(cgroups +)?[0-9.]+ [KM]iB  /oomtest, of 48\.0 MiB' "and cgroups"
like "$(cat "$T/live")" \
	'"cgroups_after":\[[^]]*\{"name":"/oomtest","bytes":[0-9]+,"limit":50331648' \
	"in JSON, too"
is "$(wc -c < "$T/other")" 0 "--comm: not of others"
relief $eater $live $text $other
leave
cat $debug/oom > "$T/oom"
like "$(cat "$T/oom")" "^  victim wl_oom \[$holder\], " "debugfs: oom has the victim"
like "$(cat "$T/oom")" "^  trigger wl_oom \[$eater\], " "debugfs: and the trigger"
like "$(cat "$T/oom")" '^    oom_kill_process' "debugfs: and its stack"
unlike "$(cat "$T/oom")" 'ffff[0-9a-f]{12}' "debugfs: no kernel address"

# --- a trigger without frame pointers, which no session followed: its stack is unwound by the
# files' call frame information, from a copy, when the process is gone
cgroup 24
inside ./wl_oom_bare 40 3 > "$T/bare" &
killed "no frame pointers" $!
is "$r_own" "$(cat "$T/bare")" "no frame pointers: the stack is what the program printed"
is "$r_complete $r_rest" "True -" "no frame pointers: the stack is complete"
like "$r_user" ' _start$' "no frame pointers: down to where the program began"
cat $debug/oom > "$T/oom"
like "$(cat "$T/oom")" '^    [0-9]+ bytes of the user stack are kept: memtap oom unwinds them$' \
	"debugfs: says that there is more, and does not show it"
inside ./wl_oom_bare 40 12 > "$T/bare" &
killed "beyond 16 KiB" $!
like "$r_own" '^bare_touch bare_compare bare_sort( bare_deep){4,9}$' \
	"beyond 16 KiB: what was copied is unwound"
is "$r_complete $r_rest" "False beyond-copy" "beyond 16 KiB: why not all of it"
run memtap oom --last 1
like "$out" '\[the rest of the stack is not known: it lies beyond the 16 KiB that are kept\]' \
	"beyond 16 KiB: as text"
leave

# --- who is killed while something is recorded is in the file, with the names of its stacks
if not_twice; then
	cgroup 24
	memtap record -o "$T/kill.memtap" oom -- ./wl_oom hold 1 2> "$T/record.err" &
	recorder=$!
	wait_for 30 pgrep -x wl_oom > /dev/null
	inside ./wl_oom eat 40 > /dev/null &
	eater=$!
	wait_gone 120 $eater
	wait_for 20 has_record $eater
	pkill -x wl_oom
	wait $recorder
	run memtap report "$T/kill.memtap"
	is "$status" 0 "report: exit status"
	like "$out" '^OOM kills during the recording: 1$' "record, report: who was killed"
	like "$out" "wl_oom \($eater\) was .*: out of memory in its cgroup /oomtest" \
		"report: why"
	like "$out" '^ +wl_oom_touch \(wl_oom\)$' "report: where, by names that the file has"
	run memtap report "$T/kill.memtap" --json
	like "$out" "\"victim\":\{\"comm\":\"wl_oom\",\"pid\":$eater," "report --json: has it, too"
	leave
fi

# --- the whole machine, and the tool was killed just before
memtap oom > /dev/null 2> "$T/live.err" &
live=$!
wait_for 20 grep -q waiting "$T/live.err"
kill -9 $live
wait $live 2> /dev/null
probes_clean "the tool was killed: nothing is attached but what always is"
# (what hugetlb has reserved nobody has to touch; caches of earlier tests are no part of it)
echo 3 > /proc/sys/vm/drop_caches
free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
echo $(((free - 100000) / 2048)) > /proc/sys/vm/nr_hugepages
# (kernels before v5.1 refuse what they have not now)
overcommit=$(< /proc/sys/vm/overcommit_memory)
echo 1 > /proc/sys/vm/overcommit_memory
./wl_oom eat 4000 1000 > /dev/null &
eater=$!
killed "the whole machine" $eater
echo "$overcommit" > /proc/sys/vm/overcommit_memory
cat $debug/oom > "$T/oom"
like "$(cat "$T/oom")" "^  victim wl_oom \[$eater\], oom_score_adj 1000," "debugfs: oom has it, too"
is "$r_adj" 1000 "it was the largest; anybody may have wanted more"
is "$r_constraint $r_limited $r_cause" "none False huge-pages" \
	"out of memory on the whole machine, which was reserved"
like "$r_diagnosis" '[0-9.]+ [MG]iB is reserved for huge pages .*[0-9.]+ [MG]iB of it unused' \
	"for huge pages that are unused"
is "$r_next" "memtap triage" "the command to run next"
run $r_next
like "$out" '[0-9]+ huge pages are set aside|huge pages [0-9.]+ MiB' "which shows them"
within "$r_total" "$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo)" 1 "the memory there is"
ok "zones, counters and reclaim add up" python3 -c '
import json, sys
r = json.loads(open(sys.argv[1]).readlines()[-1])
zones = [z for z in r["zones"] if z["name"] != "DMA"]
assert zones and all(z["min"] < z["low"] < z["high"] < z["managed"] for z in zones), zones
assert all(z["free"] < 2 * z["high"] for z in zones), zones
free = sum(z["free"] for z in r["zones"])
assert abs(free - r["memory"]["free"]) < 4 << 20, (free, r["memory"])
blocks = sum(n << 12 + i for z in r["zones"] for i, n in enumerate(z["free_blocks"]))
assert blocks < free + (8 << 20), (blocks, free)
m = r["memory"]
assert 0 < m["slab-unreclaimable"] < m["total"] / 4 and 0 < m["page-tables"] < m["total"] / 20, m
assert 0 < m["kernel-stacks"] < 64 << 20 and m["unaccounted"] < m["total"] / 4, m
assert m["huge-pages"] > m["total"] / 3 and m["huge-pages-free"] > m["total"] / 3, m
assert 64 << 20 < m["anon"] < m["total"] / 2, m
r = r["reclaim"]
vm = dict(l.split() for l in open("/proc/vmstat"))
assert 0 < r["seconds"] < 200, r
# (by zone, until v4.8)
of = lambda name: sum(int(n) for v, n in vm.items() if v.startswith(name))
assert 0 < r["scanned-direct"] <= of("pgscan_direct"), (r, of("pgscan_direct"))
assert r["scanned-kswapd"] <= of("pgscan_kswapd"), r
stalls = of("allocstall")
assert 0 < r["direct-reclaims"] <= stalls, (r, stalls)' "$T/last"
echo 0 > /proc/sys/vm/nr_hugepages
run memtap oom --last 1 --json --comm wl_oom -p $eater
is "$(wc -l <<< "$out")" 1 "-p, --comm: of it"
run memtap oom --last 1 --json -p 1
is "$out" "" "-p: not of another one"
run memtap oom --last 9 --json --cgroup /oomtest
like "$out" "\"pid\":$holder," "--cgroup: of those that were in it"
unlike "$out" "\"pid\":$eater," "--cgroup: not of others"

# --- who asks for memory is killed, whoever holds most (the test itself is not)
if [ ! "${SMOKE:-}" ]; then
	was=$(cat /proc/$$/oom_score_adj)
	echo -1000 > /proc/$$/oom_score_adj
	echo $(((free - 100000) / 2048)) > /proc/sys/vm/nr_hugepages
	echo 1 > /proc/sys/vm/overcommit_memory
	echo 1 > /proc/sys/vm/oom_kill_allocating_task
	./wl_oom eat 4000 1 > /dev/null &
	asker=$!
	killed "who asks is killed" $asker
	echo 0 > /proc/sys/vm/oom_kill_allocating_task
	echo "$overcommit" > /proc/sys/vm/overcommit_memory
	echo 0 > /proc/sys/vm/nr_hugepages
	echo "$was" > /proc/$$/oom_score_adj
	run memtap oom --last 1
	if [ "$r_trigger" = $asker ]; then
		like "$out" 'chosen because it was the process that allocated' \
			"vm.oom_kill_allocating_task: why"
		like "$out" 'vm.oom_kill_allocating_task is set: the kernel killed' \
			"vm.oom_kill_allocating_task: so"
	else
		skip "vm.oom_kill_allocating_task: why" "who asked may not be killed"
		skip "vm.oom_kill_allocating_task: so" "who asked may not be killed"
	fi
fi

# --- the adjustment of Guaranteed pods: the kernel counts below 0 (since v5.9)
cgroup 24
start_until "$T/ready" ready inside ./wl_oom hold 10 -1000
holder=$started
inside ./wl_oom eat 40 -997 > /dev/null &
eater=$!
killed "a low adjustment" $eater
relief $holder
if [ "$r_rounded" = False ]; then
	ok "a low adjustment: points are negative: $r_points" \
		[ "$r_points" -lt 0 -a "$r_points" -gt -$((24 << 20)) ]
	like "$(memtap oom --last 1)" 'OOM score -[0-9.]+ (M|K)iB \(allowed memory: 24.0 MiB\)' \
		"a low adjustment: as text"
	run memtap oom --last 1 --json --filter 'points < 0'
	like "$out" "\"pid\":$eater," "a low adjustment: --filter"
else
	is "$r_points" 0 "a low adjustment: points are 0, where they cannot be less"
fi
leave
like "$(memtap triage 0.1 1)" "ago: wl_oom \($eater\), .*, at the limit of /oomtest" \
	"triage: of whom the module has a record"

if [ "${SMOKE:-}" ]; then
	done_testing
	exit
fi

# --- page tables count: who has them is to blame, not who has more memory
cgroup 40
start_until "$T/ready" ready inside ./wl_oom hold 14
holder=$started
inside ./wl_oom tables 60 > /dev/null &
eater=$!
killed "page tables" $eater
held="alone held 2[0-9.]+ MiB, including 2[0-9.]+ MiB of page tables"
like "$r_diagnosis" "wl_oom \($eater\) $held" \
	"page tables: who has them is to blame"
unlike "$r_diagnosis" 'killed instead' "page tables: nobody was killed for another one"
is "$r_next" 'memtap faults --cgroup /oomtest -d 10' "page tables: the command to run next"
relief $holder
leave

# filled NAME WHAT KIND PATTERN: what a cgroup was charged for, and the command that shows why
filled() {
	local tries=3
	cgroup 24
	while :; do
		inside ./wl_oom "$2" 60 > /dev/null &
		eater=$!
		killed "$1" $eater
		# (who dies before memory.stat is read has given all of it back: that is said)
		[[ $r_diagnosis = *'which of them is unknown'* ]] && [ $((tries -= 1)) -gt 0 ] ||
			break
		diag "$1: the victim was gone before the cgroup was asked; once more"
	done
	if [ -e "$root/oomtest/memory.kmem.usage_in_bytes" ] || ! kver_ge 5.10; then
		ok "$1: it is the kernel's, of a kind that v1 does not say" \
			[ "$r_cause" = kernel-memory ]
	else
		is "$r_cause $r_kind $r_whole" "kernel-memory $3 True" "$1: the kind"
		like "$r_diagnosis" "$4" "$1: a sentence"
	fi
	is "$r_next" "memtap leaks -k -d 10" "$1: the command to run next"
	# it answers when that happens again
	: > "$T/again"
	${r_next% -d 10} -d 60 > "$T/again" 2> "$T/again.err" &
	leaks=$!
	wait_for 60 grep -Eq 'vunmap.*attached|attached.*vunmap' $debug/hooks
	sleep 0.5
	start_until "$T/ready" ready inside ./wl_oom "$2" 8
	eater=$started
	kill -INT $leaks
	wait $leaks
	if [ -e /sys/kernel/debug/kmemleak ]; then
		skip "$1: that command shows the cause" "kmemleak's own objects come first"
	else
		like "$(cat "$T/again")" "$5" "$1: that command shows the cause"
	fi
	relief $eater
	leave
}
if kver_ge 4.15; then
	filled "pipes" pipes other-kernel 'MiB of that was other kernel pages \(pipes' 'pipe_write'
	filled "sockets" sockets slab-unreclaimable \
		'MiB of that was unreclaimable slab' 'unix_dgram_sendmsg'
else
	skip "pipes and sockets that fill a cgroup" \
		"before v4.15 these are not charged, or not to it"
fi

# --- a cgroup that is killed as a whole
if [ $root = /sys/fs/cgroup/unified ]; then
	cgroup 40
	echo 1 > $root/oomtest/memory.oom.group
	start_until "$T/herd" ready inside ./wl_oom herd 3 4
	inside ./wl_oom eat 64 > /dev/null &
	eater=$!
	killed "memory.oom.group" $eater
	is "$r_members $r_listed" "4 4" "memory.oom.group: the others that were killed"
	leave
else
	skip "memory.oom.group" "of cgroup v2"
fi

if thorough; then
	# --- who has the same memory dies, too
	cgroup 32
	inside ./wl_oom share 64 > /dev/null &
	eater=$!
	wait_gone 60 $eater
	# (which of the two is chosen, is the kernel's)
	for ((i = 0; i < 20; i++)); do
		last
		victim=$(tail -n 1 "$T/last" |
			sed 's/.*"victim":{"comm":"wl_oom","pid":\([0-9]*\),.*/\1/')
		[ "$victim" -lt "$eater" ] || break
		sleep 1
	done
	killed "two processes with the same memory" "$victim"
	is "$r_sharing" 1 "the other one is counted"
	within "$r_held" $((32 << 20)) 15 "and their memory once"
	like "$r_diagnosis" "wl_oom \($victim\) alone held" "the victim is to blame"
	unlike "$r_diagnosis" 'killed instead' "not the one that shares its memory"
	leave

	# --- shared memory
	cgroup 48
	inside ./wl_oom shm 80 > /dev/null &
	shm=$!
	killed "shared memory" $shm
	is "$r_cause" shared-memory "shared memory: the diagnosis"
	leave
fi

if thorough; then
	# --- locked memory, while swap is free
	dd if=/dev/zero of=/swap bs=1M count=400 status=none
	chmod 600 /swap
	if mkswap /swap > /dev/null && swapon /swap; then
		start_until "$T/ready" ready ./wl_oom lock 320
		holder=$started
		./wl_oom eat 4000 1000 > /dev/null &
		eater=$!
		killed "locked memory" $eater
		relief $holder
		swapoff /swap
		like "$r_memory" '"locked": 3[0-9]{8}' "locked memory: it is counted"
	else
		skip "locked memory" "no swap file here"
	fi
	rm -f /swap
fi

# --- the module goes, and comes again
ok "the module can be unloaded" rmmod memtap
is "$(cat /sys/kernel/debug/kprobes/list)" "" "and takes its probes along"
exits 1 "without the module: fails" memtap oom --last 1
one_sentence "without the module: in a sentence"
modprobe memtap
exits 0 "loaded again" memtap oom --last 1
like "$err" 'no OOM kill since' "and has no records left"

done_testing
