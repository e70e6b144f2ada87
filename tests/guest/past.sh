# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For guest tests: what the history says afterwards about what was staged.
#
#	past_begin		the service records from now on, each second
#	past_mark NAME REGEXP [SECONDS]
#				for some seconds something has been staged; asked about it
#				later, triage is to say REGEXP.  "!REGEXP": it is not to.
#				With SECONDS: of the time since then
#	past_check		the service ends; `memtap triage --at` of each moment

past_moments=()
past_begin() {
	memtap history start 1 --dir "$T/history" 2> "$T/history.err" &
	past_pid=$!
}
past_mark() {
	local since=${3:+$(date -d "-$3 seconds" '+%F %T')}

	past_moments+=("$(date -d '-1 seconds' '+%F %T')|$since|$1|$2")
}
# past_asks WHEN SINCE: $out
past_asks() {
	if [ -n "$2" ]; then
		run memtap triage --between "$2,$1" --dir "$T/history"
	else
		run memtap triage --at "$1" --dir "$T/history"
	fi
}
past_check() {
	local moment when since name pattern near

	kill "$past_pid"
	wait "$past_pid"
	is $? 0 "history: it ends in order" || diag "$(cat "$T/history.err")"
	for moment in "${past_moments[@]}"; do
		IFS='|' read -r when since name pattern <<< "$moment"
		past_asks "$when" "$since"
		if [[ $pattern = !* ]]; then
			unlike "$out" "${pattern#!}" "history: $name accuses nobody"
			continue
		fi
		# (in a slow guest a sample may have had no time for all processes)
		for near in -1 1 -2; do
			! grep -Eq "$pattern" <<< "$out" || break
			past_asks "$(date -d "@$(($(date -d "$when" +%s) + near))" '+%F %T')" \
				"$since"
		done
		like "$out" "$pattern" "history: $name is named afterwards"
		[ "$status" = 0 ] || diag "$err"
	done
}
