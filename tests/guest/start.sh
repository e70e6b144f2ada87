# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For all tests: programs in the background that say when they are ready.
#
#	start_until FILE WORD COMMAND...
#		start COMMAND in the background, with what it prints in FILE, and return when
#		that has WORD (a basic regular expression).  Its PID is $started, and $!.
#		1: it ended, or did not say it in five minutes ($SLOW times that).
#	in_cgroup DIRECTORY COMMAND...
#		for start_until: COMMAND in that cgroup
#
# (written by hand, "COMMAND > FILE &" empties FILE at some later time, and the word of the
# program before is taken for this one's)

started=''
start_until() {
	local file=$1 word=$2 end=$((SECONDS + 300 * ${SLOW:-1})) over=''

	shift 2
	: > "$file"
	# (what runs in the background reads nothing otherwise)
	"$@" <&0 >> "$file" &
	started=$!
	while ! grep -q -- "$word" "$file"; do
		if [ -n "$over" ]; then
			echo "# no '$word' of: $*" >&2
			return 1
		fi
		# (its last word may have come in between)
		if ! kill -0 $started 2> /dev/null || [ $SECONDS -ge $end ]; then
			over=1
		else
			sleep 0.1
		fi
	done
}
in_cgroup() {
	echo "$BASHPID" > "$1/cgroup.procs" && shift && exec "$@"
}
