#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whatever can be called on the device, in any order, by several at once: some seconds
# each as a 64-bit and a 32-bit program, or TIMES=N calls.
# check: ends
. "$(dirname "$0")/lib.sh"

if [ -n "${TIMES:-}" ]; then
	set -- -n "$TIMES"
else
	set -- -t "$(rounds 4 10)"
fi
for program in ./t_fuzz ./t_fuzz32; do
	run $program "$@" ${SEED:+-s "$SEED"}
	is "$status" 0 "$program: $(sed -n 's/^ok 1 - //p' "$T/run.out")"
	diag "$out"
	# the long run is one
	[ -z "${TIMES:-}" ] || break
done
probes_clean "nothing is left attached"
done_testing
