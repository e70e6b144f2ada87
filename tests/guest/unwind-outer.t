#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of which only an outer frame is another one: what is remembered of those before
# is taken where it is still true, and only there.  Stacks that begin in clone() or clone3(), which
# have no row behind their system call: they go on to the caller of pthread_create().
# check: all
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$T/cache
verify=/sys/module/memtap/parameters/verify_stacks
events=$(rounds 1000 8000)

# as the program prints it: how often wl_outer_N, wl_middle_N, so many of wl_deep
tally='
/;wl_touch [0-9]+$/ {
	nr = split($0, f, /[; ]/)
	outer = middle = "?"
	deep = 0
	for (i = 1; i < nr; i++) {
		if (f[i] ~ /^wl_outer_/) outer = substr(f[i], 10)
		if (f[i] ~ /^wl_middle_/) middle = substr(f[i], 11)
		deep += f[i] == "wl_deep"
	}
	n[outer " " middle " " deep] += f[nr]
}
END { for (key in n) print key, n[key] }'

# outer WHAT OPTIONS PROGRAM DEPTH
outer() {
	run memtap faults -q -U $2 --folded --calls -o "$T/got" -- "./$3" "$4" "$events"
	is "$(awk "$tally" "$T/got" | sort)" "$(sort <<< "$out")" "$1, $4 frames twice"
	cmp_ok "$(wc -l <<< "$out")" -ge 4 "which are several stacks"
}

echo 1 > "$verify"
for deep in 3 9 28; do
	outer "by rows" "" wl_unwind_outer_bare $deep
	outer "by rows, with frame pointers" "" wl_unwind_outer $deep
	outer "by frame pointers" "--unwind fp" wl_unwind_outer $deep
done
threads=$(rounds 20 200)
for program in wl_unwind_threads wl_unwind_threads_static; do
	run memtap stacks t:sched:sched_process_fork -U --folded --calls -o "$T/got" \
		-- "./$program" "$threads"
	is "$status" 0 "$program: exit status"
	is "$(awk '/;wl_starts_all;wl_starts;(.*;)?[A-Za-z_]*clone3?(@[^;]*)? [0-9]+$/ {
			n += $NF
		}
		END { print n + 0 }' "$T/got")" "$threads" \
		"$program: the caller of pthread_create() is known, each time" ||
		diag "$(cat "$T/got")"
done
read -r _ _ _ _ _ _ user _ user_wrong _ tails _ tails_wrong _ walks _ walks_wrong < "$verify"
echo 0 > "$verify"
diag "$user stacks were found again, $tails in part, $walks walked"
is "$user_wrong $tails_wrong $walks_wrong" "0 0 0" "what is found again is what a slow walk says"
cmp_ok "$user" -gt "$events" "and many are"
probes_clean "nothing is left attached"
done_testing
