# SPDX-License-Identifier: GPL-2.0-or-later
#
# say.sh: how scripts that take long tell what they do, on stderr.  Sourced.
# shellcheck shell=bash

# say WHO TEXT...: a line, with the time since $MEMTAP_BEGAN (seconds of the epoch)
# where somebody began to count (scripts/try)
say() {
	local who=$1 s
	shift
	if [ -n "${MEMTAP_BEGAN:-}" ]; then
		s=$((EPOCHSECONDS - MEMTAP_BEGAN))
		printf '[%2d:%02d] ' $((s / 60)) $((s % 60)) >&2
	fi
	printf '%s: %s\n' "$who" "$*" >&2
}

# watch_log WHO LOG COMMAND...: runs COMMAND, all that it prints goes to the end of LOG.
# Says what apt is about to fetch and to write; every ten seconds where it has got to.
watch_log() {
	local who=$1 log=$2 rc=0 pid seen=0 beat=0 line
	shift 2
	"$@" >> "$log" 2>&1 < /dev/null &
	pid=$!
	while kill -0 $pid 2> /dev/null; do
		sleep 0.5
		beat=$((beat + 1))
		while IFS= read -r line; do
			seen=$((seen + 1))
			say "$who" "${line%.}"
		done < <(sed -n '/^Need to get [1-9]/p; /^After this operation,/p' "$log" |
			tail -n +$((seen + 1)))
		[ $((beat % 20)) = 0 ] || continue
		line=$(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-68)
		say "$who" "... $line"
	done
	wait $pid || rc=$?
	return $rc
}
