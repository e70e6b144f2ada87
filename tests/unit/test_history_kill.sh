#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill -9 of `memtap history start` at random moments: what is read afterwards is what it had
# written.  TIMES=1000 as often as docs/history.md says; SEED=N repeats the choices.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make -s ctl > /dev/null || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
# shellcheck source=tests/unit/check.sh
. tests/unit/check.sh

${CC:-cc} -shared -fPIC -O1 -Iinclude -o "$T/write_log.so" tests/unit/write_log.c 2> "$T/cc"
check $? "the library that logs what is written is built"
python3 tests/unit/history_kill.py build/memtap "$T" "$T/write_log.so" "${TIMES:-25}" \
	"${SEED:-$RANDOM}" > "$T/out" 2>&1
status=$?
sed 's/^\([^#]\)/# \1/' "$T/cc" "$T/out"
check $status "all samples that were written are read, and no other, after ${TIMES:-25} kills"
checked
