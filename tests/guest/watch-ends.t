#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How a watching run ends: times that nobody waits for.
# timeout: 300
# check: 6.1 7.2
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# --- times beyond what a clock of 64 bits has
for options in "99999999999" "-d 99999999999"; do
	# shellcheck disable=SC2086
	memtap stat fault $options > "$T/out" 2>&1 &
	tool=$!
	ready $tool
	end
	is $? 0 "stat $options: Ctrl-C ends it"
done
run memtap stat fault 99999999999 -- ./wl_call -n 2
is "$status" 0 "an interval of thousands of years: the program ends it"
probes_clean "nothing is left attached"
done_testing
