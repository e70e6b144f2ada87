# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of the tool as a program, in the tree's first directory: . tests/unit/check.sh
#
#	check STATUS NAME	one test: passed if STATUS is 0
#	checked			the last line, and the exit status
#
# And what tests/guest/start.sh has: start_until.

# shellcheck source=tests/guest/start.sh
. tests/guest/start.sh

nr=0 failed=0
check() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		failed=1
		echo "not ok $nr - $2"
	fi
}
checked() {
	echo "1..$nr"
	exit $failed
}
