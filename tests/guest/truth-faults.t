#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Page faults: stacks and counts are those that the program causes, and their
# sum is what the kernel counts for it.
# check: all
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# The kernel's own count of the window, below whose function all paths are.
rusage() { awk -F '\t' -v n="$1" '$1 == "rusage" { print $n }' "$T/truth"; }
below() { awk -v re="^$1;.*;wl_worker;" '$0 ~ re { n += $NF } END { print n + 0 }' "$T/got"; }

# faults NAME COMMAND...: both kinds in one session
faults() {
	local what=$1
	shift
	watch fault -- -- "$@" -f "$T/file" -e "$T/truth"
	if [ "$status" = 77 ]; then
		skip "$what: major faults" "this file system keeps its pages in memory"
		watch fault -- -- "$@" -e "$T/truth"
	else
		truth "$what: major faults are those it causes" major-fault major-fault
		is "$(below major-fault)" "$(rusage 4)" "$what: their sum is ru_majflt"
	fi
	is "$status" 0 "$what: the program's exit status is passed on"
	truth "$what: minor faults are those it causes" minor-fault minor-fault
	is "$(below minor-fault)" "$(rusage 3)" "$what: their sum is ru_minflt"
}

for program in wl_fault wl_fault32; do
	for threads in $(also 1 2) 4; do
		faults "$program, $threads threads" "./$program" -t "$threads" -n 3
	done
done
[ -z "${SMOKE:-}" ] || { done_testing; exit; }
noise 2
for threads in $(also 1) 4; do
	faults "$threads threads beside noise" ./wl_fault -t $threads -n 5
done
watch minor-fault -- -a -- ./wl_fault -t 2 -n 4 -e "$T/truth"
ok "system-wide: the noise is there under its own name" grep -q '^wl_noise;.*;wl_fault ' "$T/got"
sed -i '/^wl_noise;/d' "$T/got"
truth "system-wide: the same" minor-fault
quiet

# Everything between START and STOP of a process that runs already.
target ./wl_fault -t 2 -n 10
begin fault -p "$pid"
window
end
is $? 0 "SIGINT ends the tool with its report, and status 0"
finish
truth "attached to a running process: the same" minor-fault minor-fault
is "$(awk '{ n += $NF } END { print n + 0 }' "$T/got")" "$(($(rusage 3) + $(rusage 4)))" \
	"attached: all faults of the session are ru_minflt + ru_majflt"

# Who is not watched: each of its faults is accounted for, by one session and by two.
sleep 600 &
idle=$!
for sessions in 1 2; do
	target ./wl_fault -t 2 -n 10
	declare -a tools=()
	for ((i = 1; i <= sessions; i++)); do
		memtap faults -p $idle --json -o "$T/json$i" 2> "$T/err" &
		tools+=($!)
		ready $! || diag "$(< "$T/err")"
	done
	window
	kill -INT "${tools[@]}"
	wait "${tools[@]}"
	finish
	for ((i = 1; i <= sessions; i++)); do
		is "$(python3 -c '
import json, sys
doc = json.load(open(sys.argv[1]))
of = {e["name"]: e for e in doc["events"]}
for e in of.values():
    assert e["seen"] == e["counted"] + e["filtered"] + sum(e["lost"].values()), e
e = of["minor-fault"]
print(e["counted"], e["filtered"] >= int(sys.argv[2]))' "$T/json$i" "$(rusage 3)" 2>&1)" \
			"0 True" "another process is watched, $sessions sessions: all is filtered"
	done
done
kill $idle

run memtap faults -U --by comm --folded -o "$T/got" -- ./wl_fault -n 2 -e "$T/truth"
truth "memtap faults: in pages" minor-fault minor-fault

# In kernel mode: the kernel's stack, and the user's that led there.
run memtap stacks minor-fault -K --by comm --folded --only-kernel -- ./wl_fault -n 8 -e "$T/truth"
is "$(awk '/^wl_fault;.*sys_read_\[k\];.*(zero|clear_user)/ { n += $NF } END { print n + 0 }' \
	<<< "$out")" 32 "faults in kernel mode have the kernel's stack"
unlike "$out" 'wl_read' "no user frames were asked for"
run memtap stacks minor-fault --by comm --folded --only-kernel -- ./wl_fault -n 8 -e "$T/truth"
like "$out" ';wl_read_top;wl_read_into;.*sys_read_\[k\];' "both are one chain"
probes_clean "nothing is left attached"
done_testing
