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
past_check() {
	local moment when since name pattern

	kill "$past_pid"
	wait "$past_pid"
	is $? 0 "history: it ends in order" || diag "$(cat "$T/history.err")"
	for moment in "${past_moments[@]}"; do
		IFS='|' read -r when since name pattern <<< "$moment"
		if [ -n "$since" ]; then
			run memtap triage --between "$since,$when" --dir "$T/history"
		else
			run memtap triage --at "$when" --dir "$T/history"
		fi
		if [[ $pattern = !* ]]; then
			unlike "$out" "${pattern#!}" "history: $name accuses nobody"
		else
			like "$out" "$pattern" "history: $name is named afterwards"
		fi
		[ "$status" = 0 ] || diag "$err"
	done
}
