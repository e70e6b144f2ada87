#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What --unreachable and heap copy in steps of a process that changes all the time is what it had
# when it was stopped: tests/unit/test_copy.c, with this kernel's soft-dirty bits.
# check: ends
# needs: unloaded
. "$(dirname "$0")/lib.sh"

run ./t_copy "$RANDOM" "$(rounds 8 200)"
while read -r line; do
	case $line in
		'ok '*) pass "${line#* - }" ;;
		'not ok '*) fail "${line#* - }" ;;
		*) diag "$line" ;;
	esac
done <<< "$out"
is "$status" 0 "and that is all" || diag "$err"
if grep -q '^CONFIG_MEM_SOFT_DIRTY=y' "/boot/config-$(uname -r)" 2> /dev/null; then
	unlike "$out" 'all is read again' "the bits work here"
fi
done_testing
