#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that look like programs, and are large or unpack to something large: a report or a
# sentence, before long, and within bounds of memory.
# timeout: 2400
# kernels: 6.1 7.2
# check: long
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/hostile.sh"

hostile_files
cmp_ok "${#files[@]}" -gt 0 "there are large files"
for file in "${files[@]}"; do
	bounded "list $file" 0 1 -- memtap list "$T/f/$file"
	if [[ $file != big-debug* ]]; then	# the same again, and slow
		bounded "unwind $file" 0 1 -- memtap unwind "$T/f/$file" --no-cache
		bounded "a probe in $file" 0 1 -- memtap stacks "u:$T/f/$file:wl_load_sum" -d 0.1
	fi
	watched "$file" "$T/f/$file"
done
probes_clean "nothing is left attached"
done_testing
