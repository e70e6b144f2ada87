#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that was started locked down takes no module of unknown origin.
# needs: unloaded
# guest: --no-load --append lockdown=integrity
# check: newest
. "$(dirname "$0")/lib.sh"

mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
[ -e /sys/kernel/security/lockdown ] || skip_all "this kernel has no lockdown"
like "$(cat /sys/kernel/security/lockdown)" '\[integrity\]' "(the kernel is locked down)"
exits 1 "the module is refused" memtap load
one_sentence "in one sentence"
like "$err" 'locked down \(integrity\).*signed' "which says why, and what to do"
exits 1 "and there is no device" memtap stacks brk -- true
like "$err" 'not loaded' "which is said"
done_testing
