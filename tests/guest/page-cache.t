#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What enters the page cache, by file and by process, as docs/limits.md says: pages of a file that
# is read the first time, and none the second time.
# guest: -c 2
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
# (a tmpfs has no such pages)
home=$(mktemp -d ./page-cache.XXXXXX)
dd if=/dev/urandom of="$home/file" bs=64K count=16 status=none
sync
inode=$(stat -c %i "$home/file")
event='filemap:mm_filemap_add_to_page_cache(i_ino)'
# entered NAME: how often something of the file did while it was read
entered() {
	run memtap count "$event" --by i_ino --top 0 --json -- cat "$home/file"
	printf '%s\n' "$out" > "$T/$1"
	python3 -c '
import json, sys
n = 0
for line in open(sys.argv[1]):
    if not line.startswith("{"):
        continue
    r = json.loads(line)
    if r.get("final") and str(r.get("key")) in sys.argv[2:]:
        n += r["count"]
print(n)' "$T/$1" "$inode" "$(printf '0x%x' "$inode")"
}
echo 1 > /proc/sys/vm/drop_caches
first=$(entered first)
again=$(entered again)
cmp_ok "$first" -gt 0 "pages of a file that is read enter the cache" ||
	diag "$(head -c 2000 "$T/first")"
is "$again" 0 "they are there at the second time"
echo 1 > /proc/sys/vm/drop_caches
run memtap count "$event" --by process --json -- cat "$home/file"
like "$out" '"comm":"cat"' "by process"
rm -r "$home"
done_testing
