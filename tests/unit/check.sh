# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of the tool as a program, in the tree's first directory: . tests/unit/check.sh
#
#	check STATUS NAME	one test: passed if STATUS is 0
#	checked			the last line, and the exit status

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
