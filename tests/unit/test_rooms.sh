#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rooms of docs/architecture.md: what the tool's objects call lies below them.  (The
# style check reads the includes.)
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

# (BUILD is that of the tests)
make -s -C ctl BUILD=../build > /dev/null 2>&1
check $? "the tool is built"
scripts/rooms --calls build/ctl
check $? "no two of its files call each other in a circle"
scripts/rooms --check
check $? "each room includes those below it only"
checked
