#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A function of a module that comes and goes is probed where it is now.  What the kernel's own
# functions resolved to is kept for later sessions.
#
# check: oldest
. "$(dirname "$0")/lib.sh"

run=/sys/module/kleak/parameters/run
for_this_kernel kleak/kleak.ko || skip_all "kleak.ko was not built for this kernel"

# calls OPTION...: events of kl_alike() and of its caller, while that is called once
calls() {
	run memtap stat k:kl_alike "$@" -q -- sh -c "echo alike > $run; echo free > $run"
	is "$status" 0 "a function of a module that is there: $*"
	is "$(awk '$NF ~ /kl_alike$/ { print $2 }' <<< "$out")" 1 "is counted once"
}

for turn in first second; do
	exits 1 "$turn: without the module" memtap stat k:kl_alike -q -- true
	like "$err" 'no kernel function kl_alike' "there is no such function"
	exits 1 "and no return of it" memtap stat kr:kl_alike -q -- true
	insmod kleak/kleak.ko || bail_out "kleak.ko cannot be loaded"
	calls
	calls k:do_exit
	rmmod kleak
done
# what a name resolved to serves later sessions
for hook in k:do_exit k:do_filp_open; do
	run memtap stat "$hook" -q -- sh -c ': < /dev/null'
	cmp_ok "$(awk -v name="${hook#*:}" 'index($NF, name) { print $2 }' <<< "$out")" -ge 1 \
		"$hook, after other sessions"
done

done_testing
