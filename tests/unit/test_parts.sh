#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording in several files, by a program of its own (parts_case.c): it includes the tool's
# session/, where the other unit tests have the module's.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

read -ra link < <(sed -n 's,^/\* LINK: \(.*\) \*/$,\1,p' tests/unit/parts_case.c | tr '\n' ' ')
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined \
	-fno-sanitize-recover=all -Itests/port -Ictl -Ikmod -Ikmod/core -Iinclude -Itests/unit \
	-o "$work/case" tests/unit/parts_case.c "${link[@]}" || {
	echo "Bail out! the program does not build"
	exit 1
}
"$work/case"
