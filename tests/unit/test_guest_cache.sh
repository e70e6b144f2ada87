#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The guests' cache: what it holds is told, what was not used for longest goes when it is
# too large, and not what somebody may be about to use.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

MEMTAP_CACHE=$(mktemp -d)
export MEMTAP_CACHE
trap 'rm -rf "$MEMTAP_CACHE"' EXIT
# part NAME MIB AGE
part() {
	mkdir -p "$MEMTAP_CACHE/$1"
	head -c "$2M" /dev/zero > "$MEMTAP_CACHE/$1/data"
	touch -d "$3 ago" "$MEMTAP_CACHE/$1"
}
there() { (cd "$MEMTAP_CACHE" && echo */*/); }

part roots/oldest 600 "9 days"
part builds/older 300 "3 days"
part builds/old 300 "3 hours"
part roots/new 100 "1 minute"
scripts/cache | grep -qE '^ +70[0-9] MiB +roots$'
check $? "each kind's size is told"
MEMTAP_CACHE_MAX=2 scripts/cache bound
check $? "a cache that is small enough"
test "$(there)" = "builds/old/ builds/older/ roots/new/ roots/oldest/"
check $? "is left as it is"
MEMTAP_CACHE_MAX=1 scripts/cache bound 2> "$MEMTAP_CACHE.said"
grep -q 'removed roots/oldest, 60[0-9] MiB' "$MEMTAP_CACHE.said"
check $? "one that is too large: it says what goes"
test "$(there)" = "builds/old/ builds/older/ roots/new/"
check $? "what was not used for longest, and no more than that"
part roots/huge 1100 "1 minute"
MEMTAP_CACHE_MAX=1 scripts/cache bound 2> /dev/null
test "$(there)" = "roots/huge/ roots/new/"
check $? "not what was used a minute ago"
! MEMTAP_CACHE_MAX=0 scripts/cache bound 2> "$MEMTAP_CACHE.said" &&
	[ "$(wc -l < "$MEMTAP_CACHE.said")" = 1 ]
check $? "no bound is no number of GiB"
scripts/cache clean | tail -n 1 | grep -qE '^12[0-9][0-9] MiB freed\.$'
check $? "clean says what it frees"
test ! -e "$MEMTAP_CACHE"
check $? "and frees it"
rm -f "$MEMTAP_CACHE.said"
checked
