#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shellcheck disable=SC2154  # (of lib.sh's run)
# Sessions of all kinds are begun, read, stopped and killed at random, while the machine swaps,
# its processes are OOM-killed, and a CPU goes offline and comes back.  TIMES=200: so
# many; SEED=N: those of an earlier run.
# guest: -m 640 -c 2
# check: oldest
# timeout: 1800
# dmesg: allow Call Trace|RIP: 0010
. "$(dirname "$0")/lib.sh"

hog='' cpus=''
ends() {
	[ -z "$hog$cpus" ] || kill $hog $cpus 2> /dev/null
	wait $hog $cpus 2> /dev/null || true
	hog='' cpus=''
	echo 1 2> /dev/null > /sys/devices/system/cpu/cpu1/online || true
}
trap 'ends; tap_exit' EXIT

swaps() {
	dd if=/dev/zero of=/swap.sessions bs=1M count=128 status=none &&
		chmod 600 /swap.sessions && mkswap /swap.sessions > /dev/null &&
		swapon /swap.sessions
}
come_and_go() {
	while sleep 2 && echo 0 > /sys/devices/system/cpu/cpu1/online; do
		sleep 1
		echo 1 > /sys/devices/system/cpu/cpu1/online
	done
}
swaps 2> /dev/null || diag "no swap in this guest"
./wl_hog &
hog=$!
come_and_go 2> /dev/null &
cpus=$!
run ./t_sessions "${TIMES:-$(rounds 30 60)}" "${SEED:-$RANDOM}"
grep '^#' <<< "$out"
# (each of its claims is one of this test's)
while IFS= read -r line; do
	case $line in
		'ok '*) pass "${line#* - }" ;;
		'not ok '*) fail "${line#* - }" ;;
	esac
done <<< "$out"
is "$status" 0 "no claim is wrong"
killed=$(dmesg | grep -c 'Killed process')
cmp_ok "$killed" -gt 0 "processes were OOM-killed meanwhile"
ends
swapoff /swap.sessions 2> /dev/null || true
rm -f /swap.sessions
probes_clean "no probe is left"
ok "the module unloads" rmmod memtap
ok "and loads again" modprobe memtap
done_testing
