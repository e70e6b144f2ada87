#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap diagnose` on staged incidents that last: it must name the cause that the stage knows,
# and accuse nobody where nothing is wrong.  docs/diagnose.md has the table.
# guest: -m 648
# limit: 1500
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guest/past.sh
. "$(dirname "$0")/past.sh"

export LC_ALL=C
D=${D:-15}		# seconds of each diagnosis
pages=${PAGES:-$T}
mkdir -p "$pages"
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
# the cgroup MIB: scene puts its workload there
in_group=''
group() {
	in_group=$root/staged
	mkdir -p $in_group
	echo $(($1 << 20)) > $in_group/$limit
}
inside() {
	echo 1000 > "/proc/$BASHPID/oom_score_adj"
	[ -z "$in_group" ] || echo "$BASHPID" > "$in_group/cgroup.procs"
	exec "$@"
}
scene() {
	start_until "$T/ready" ready inside "$@"
	pid=$started
}
relief() {
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ -z "$in_group" ] || wait_for 20 rmdir $in_group
	in_group=''
}
# diagnose NAME [OPTION...]
diagnose() {
	local name=$1
	shift
	# (an emulated processor is slow, and soon above 5 %)
	run memtap diagnose -q --deep -d "$D" "$@"
	printf '%s\n' "$out" "$err" > "$pages/$name.txt"
	is "$status" 0 "$name: it answers" || diag "$err"
	diag "$out"
}
# first PATTERN NAME: the first conclusion says it
first() {
	local said

	said=$(grep -E '^1\. ' <<< "$out")
	like "$said" "$1" "$2"
}
no_accusation() {
	first "$1" "$2: it says so"
	unlike "$out" 'allocated in .* and did not free|At this rate|^[2-9]\. |malloc' \
		"$2: no accusation"
}

past_begin
# --- a quiet machine
sleep 1
if dmesg | grep -q 'Killed process'; then
	skip "quiet" "somebody was killed before"
else
	scene ./wl_diagnose quiet
	diagnose quiet
	no_accusation 'othing grows fast, waits or fails in [0-9.]+ s' quiet
	past_mark quiet '!wl_diagnose|at this pace' 10
	relief
fi

# --- a program that leaks
scene ./wl_diagnose leak 300
diagnose leak -o "$T/kept"
first "rocess wl_diagnose \(pid $pid\) (grows steadily|grew).*of the [0-9.]+ MiB that it \
allocated in [0-9.]+ s and did not free was allocated at parse_row \(wl_diagnose.c:[0-9]+\)" \
	"leak: who, how much, where"
past_mark leak "rocess wl_diagnose \($pid\) grew by"
like "$(grep -oE '[0-9]+ % of the' <<< "$out" | head -1)" '^(9[0-9]|100) %' "leak: nearly all of it"
is "$(cd "$T/kept" && ls -d conclusion.json conclusion.txt triage-after.json triage-before.txt \
	1.memtap 1.html 1.json | wc -l)" 7 "-o: what is kept"
ok "-o: an archive" tar -tzf "$T/kept.tar.gz"
ok "-o: the recording is one" memtap report "$T/kept/1.memtap" --top 1
ok "-o: JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
c = d["conclusions"][0]
assert d["document"] == "diagnosis" and c["pid"] == int(sys.argv[2]), d
assert c["functions"][0]["name"] == "parse_row" and c["percent"] >= 90, c
assert d["questions"][0]["outcome"] in ("done", "detached"), d' "$T/kept/conclusion.json" $pid
not_ok "-o: arguments are not kept" grep -arq 'leak 300\|leak.300' "$T/kept"
run memtap diagnose -d 5 -o "$T/kept"
is "$status" 1 "-o: a directory that is there is refused"
one_sentence "-o: and it says so"
# ^C: what is known so far
memtap diagnose -q -d 100 -p $pid > "$T/early" 2> "$T/err" &
child=$!
sleep 25
kill -INT $child
wait $child
is $? 0 "^C: an answer" || diag "$(cat "$T/err")"
like "$(cat "$T/early")" "Interrupted.*" "^C: it says so"
like "$(cat "$T/early")" "rocess wl_diagnose \(pid $pid\) gr" "^C: what is known" ||
	diag "$(cat "$T/early")"
relief
probes_clean "nothing is attached afterwards"

# --- a program that takes much and gives it back
scene ./wl_diagnose saw 400 20
diagnose saw
no_accusation 'rises and falls|does not grow|othing grows fast' saw
past_mark saw '!wl_diagnose.*grew by.*at this pace' 12
relief

# --- a cgroup near its limit
group 150
scene ./wl_diagnose leak 200
diagnose limit --cgroup /staged
first "rocess wl_diagnose \(pid $pid\) gr.*allocated at parse_row" "limit: who and where"
past_mark limit '/staged'
if grep -q 'grows steadily' <<< "$out"; then
	like "$out" 'At this rate it reaches the limit of its cgroup \(150.0 MiB\) in ' \
		"limit: when it is reached"
else
	skip "limit: when it is reached" "the machine was too slow for steady growth"
fi
relief

if [ "${SMOKE:-}" ]; then
	past_check
	done_testing
	exit
fi

# --- a module that leaks
if for_this_kernel kleak/kleak.ko && insmod kleak/kleak.ko; then
	(for ((i = 0; i < 40; i++)); do
		echo large > /sys/module/kleak/parameters/run
		sleep 0.7
	done) &
	pid=$!
	diagnose module
	like "$out" 'allocated at kl_(blocks|area) \[?\(?[a-z.:0-9]*kleak|at kl_(blocks|area)' \
		"module: the function"
	like "$out" 'kleak' "module: its name"
	relief
	echo free > /sys/module/kleak/parameters/run
	rmmod kleak
else
	skip "module" "kleak.ko was not built for this kernel"
fi

# --- a tmpfs that fills up
mkdir -p "$T/tmpfs"
mount -t tmpfs -o size=300m tmpfs "$T/tmpfs"
scene ./wl_scenes file "$T/tmpfs/file"
diagnose tmpfs
first "he tmpfs $T/tmpfs gr.*from wl_scenes \(pid $pid\) at .*write_file" "tmpfs: who and where"
past_mark tmpfs "$T/tmpfs"
relief
umount "$T/tmpfs"

# --- page tables
scene ./wl_diagnose tables 60
diagnose tables
like "$out" "memory of page tables gr.*came from it at touch_sparse" "tables: what, and where"
like "$out" "page tables, most of them of wl_diagnose \($pid\)" "tables: whose"
past_mark tables "rocess wl_diagnose \\($pid\\) grew|age tables"
relief

# --- files that a cgroup reads again and again, since there is no room for them
home=$(mktemp -d ./diagnose.XXXXXX)
head -c 60M /dev/zero > "$home/file"
# (its pages are to be charged to who reads them)
sync
echo 1 > /proc/sys/vm/drop_caches
group 30
scene ./wl_scenes read "$home/file" 60
diagnose cache
like "$out" 'page cache|pages a second of files are read again' "cache: what"
like "$out" '/staged' "cache: whose"
past_mark cache '/staged'
unlike "$out" 'did not free' "cache: no leak"
relief
rm -r "$home"

past_check
probes_clean "nothing is attached at the end"
ok "no file is left" test -z "$(ls -d /tmp/memtap-diagnose.* 2> /dev/null)"
done_testing
