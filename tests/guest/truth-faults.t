#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Page faults: stacks and counts are those that the program causes, and their
# sum is what the kernel counts for it.
# timeout: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# The kernel's own count of the window, which all paths are below.
rusage() { awk -F '\t' -v field="$1" '$1 == "rusage" { print $field }' "$T/truth"; }
below_worker() { awk '/;wl_worker;/ { n += $NF } END { print n + 0 }' "$T/got"; }

for program in wl_fault wl_fault32; do
	for threads in 1 2 4; do
		what="$program, $threads threads"
		watch minor-fault -- -- "./$program" -t $threads -n 3 -e "$T/truth"
		is "$status" 0 "$what: the program's exit status is passed on"
		truth "$what: minor faults are those it causes" minor-fault "$T/got" "$T/truth"
		is "$(below_worker)" "$(rusage 3)" "$what: their sum is the kernel's ru_minflt"

		watch major-fault -- -- "./$program" -t $threads -f "$T/file" -e "$T/truth"
		if [ "$status" = 77 ]; then
			skip "$what: major faults" "this file system keeps its pages in memory"
			continue
		fi
		truth "$what: major faults are those it causes" major-fault "$T/got" "$T/truth"
		is "$(below_worker)" "$(rusage 4)" "$what: their sum is the kernel's ru_majflt"
	done
done

noise 2
for threads in 1 4; do
	watch minor-fault -- -- ./wl_fault -t $threads -n 5 -e "$T/truth"
	truth "$threads threads beside noise: the same" minor-fault "$T/got" "$T/truth"
	is "$(below_worker)" "$(rusage 3)" "$threads threads beside noise: ru_minflt"
done

watch minor-fault -- -a -- ./wl_fault -t 2 -n 4 -e "$T/truth"
grep '^wl_fault;' "$T/got" > "$T/mine"
truth "system-wide: the same, for who is it" minor-fault "$T/mine" "$T/truth"
ok "system-wide: the noise is there under its own name" grep -q '^wl_noise;.*;wl_fault ' "$T/got"
quiet

# Everything between START and STOP of a process that runs already.
target ./wl_fault -t 2 -n 10
begin fault -p "$pid"
window
end
is $? 0 "SIGINT ends the tool with its report, and status 0"
finish
grep '^minor-fault;' "$T/got" > "$T/minor"
truth "attached to a running process: the same" minor-fault "$T/minor" "$T/truth" count roots
is "$(awk '{ n += $NF } END { print n + 0 }' "$T/got")" "$(($(rusage 3) + $(rusage 4)))" \
	"attached: all faults of the session are ru_minflt + ru_majflt"

run memtap stacks minor-fault -K --by comm --folded --calls --only-kernel -- ./wl_fault -n 8 -e "$T/truth"
kernel=$(awk '/^wl_fault;.*clear_user|^wl_fault;.*read_zero|^wl_fault;.*iov_iter_zero/ { n += $NF }
	END { print n + 0 }' <<< "$out")
is "$kernel" 32 "faults in kernel mode have the kernel's stack, and no others are there"
unlike "$out" 'wl_' "no user frames were asked for"
done_testing
