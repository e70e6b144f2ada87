#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests start programs and wait until these say that they are ready.
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh
T=$(mktemp -d)
trap 'rm -r "$T"' EXIT

mkfifo "$T/never"
start_until "$T/said" ready sh -c 'echo ready; read -r _ < "$1"' - "$T/never"
check $? "one that says so at once"
first=$started
kill -0 "$first"
check $? "runs on"
# the word of the one before is in the file
start_until "$T/said" ready sh -c 'sleep 0.3; echo second; echo "I am ready"; read -r _ < "$1"' - \
	"$T/never"
check $? "one that takes its time"
grep -q second "$T/said"
check $? "has said it itself"
check $((first == started)) "and is another process"
! start_until "$T/said" ready true 2> "$T/err"
check $? "one that says nothing, and ends"
grep -q "no 'ready' of: true" "$T/err"
check $? "is named"
! start_until "$T/said" '^ready$' sh -c 'echo not ready' 2> /dev/null
check $? "other words are none"
mkdir "$T/group"
start_until "$T/said" ready in_cgroup "$T/group" sh -c 'echo ready; read -r _ < "$1"' - "$T/never"
test "$(cat "$T/group/cgroup.procs")" = "$started"
check $? "in a cgroup"
kill "$first" "$started"
echo > "$T/never" &
wait
checked
