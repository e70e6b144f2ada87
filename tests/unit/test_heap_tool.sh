#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of programs of this machine: a page, JSON as it is described, refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
mkfifo "$work/never"
start_until "$work/said" ready \
	bash -c 'exec 2>&1; x=$(seq 10000); echo ready; read -r _ <> "$1"' - "$work/never"
pid=$started
trap 'kill $pid ${large:-}; rm -r "$work"' EXIT

if ! $tool heap $pid -o "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
grep -q "^bash\[$pid\]: glibc's malloc" "$work/page" && grep -q '^main ' "$work/page"
check $? "a page of bash"
$tool heap $pid --json --top 3 -q > "$work/json" && tests/json-check "$work/json"
check $? "JSON as it is described"
$tool heap $pid --json --no-reach -q > "$work/json" && tests/json-check "$work/json" &&
	! grep -q reachable "$work/json"
check $? "also without what is reachable"
grep -q '"way":"\(changed\|again\)"' "$work/json"
check $? "of a copy"
# (of an address space that memtap itself may not have)
start_until "$work/said" ready python3 -c 'import mmap, time
m = mmap.mmap(-1, 1 << 32)
print("ready", flush=True)
time.sleep(600)'
large=$started
(ulimit -v 1000000; $tool heap $large --top 1 --max-pause 20000 -q > "$work/page")
grep -q 'read and searched meanwhile: there is no memory for a copy' "$work/page"
check $? "where there is no memory for a copy it is searched while it is stopped, which is said"
kill $large
large=
kill -0 $pid
check $? "and it goes on"
! $tool heap 1 2 2> "$work/err" && grep -q 'one PID only' "$work/err"
check $? "one process only"
! $tool heap x 2> "$work/err" && grep -q 'x is no PID' "$work/err"
check $? "which is a number"
! timeout 10 $tool heap $$ --max-pause 1 -q > "$work/page" 2> "$work/err" || [ -s "$work/page" ]
check $? "a page or a sentence, however short the pause"
checked
