#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages that enter shared memory, however they do: as many as the files have, by stack
# and file.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# (the compiler may have made it a part of its callers)
grep -Eq ' shmem_add_to_page_cache(\.[a-z]+\.[0-9]+)?$' /proc/kallsyms ||
	skip_all "this kernel has no shmem_add_to_page_cache()"

mkdir -p "$T/tmpfs" "$T/huge"
mount -t tmpfs none "$T/tmpfs"
huge=
if grep -q never /sys/kernel/mm/transparent_hugepage/shmem_enabled 2> /dev/null; then
	mount -t tmpfs -o huge=always none "$T/huge" && huge=$T/huge
fi
[ -n "$huge" ] || skip "huge=always" "this kernel has none"

huge_pages() { awk '$1 == "thp_file_alloc" { print $2 }' /proc/vmstat; }
had=$(huge_pages)
run memtap shmem --json --top 0 -o "$T/json" -- ./wl_shmem "$T/tmpfs" $huge
is "$status" 0 "a report"
cat > "$T/compare" << 'END'
import json, sys
d = json.load(open(sys.argv[1]))
got = {}
for row in d["rows"]:
    for name in (f.get("name") or "" for f in row["user"]):
        if name.startswith("s_") and name not in ("s_write", "s_touch"):
            g = got.setdefault(name, [0, set()])
            g[0] += row["sum"]
            g[1].add(row["path"])
for line in open(sys.argv[2]):
    name, pages, path = line.rstrip("\n").split(" ", 2)
    want = [int(pages), {path}]
    print("ok" if got.get(name, [0, {"-"}]) == want else "not-ok", name, got.get(name), want)
END
python3 "$T/compare" "$T/json" "$T/run.out" > "$T/result"
while read -r verdict name rest; do
	is "$verdict" ok "$name: $rest"
done < "$T/result"
is "$(wc -l < "$T/result")" $((10 + (${#huge} > 0))) "all of them"
ok "nothing is lost" python3 -c '
import json, sys
e = json.load(open(sys.argv[1]))["events"][0]
assert e["name"] == "shmem" and e["unit"] == "pages", e
assert e["seen"] == e["counted"] + e["filtered"] + sum(e["lost"].values()), e
assert not sum(e["lost"].values()), e' "$T/json"
if [ -n "$huge" ] && [ "$(huge_pages)" = "$had" ]; then
	skip "huge pages count with all their pages, and say so" "the machine had none left"
elif [ -n "$huge" ]; then
	ok "huge pages count with all their pages, and say so" python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["path"].endswith("/huge")]
assert rows and all("huge" in r["flags"] and r["sum"] > r["count"] for r in rows), rows' \
	"$T/json"
fi

# as it is read
rm "$T/tmpfs"/*
run memtap shmem -- ./wl_shmem "$T/tmpfs"
like "$out" "^    $T/tmpfs/mapped file\$" "a file has its path"
like "$out" '^    memfd:frames$' "a memfd its name"
like "$out" '640 pages  2\.5 MiB' "pages, and their size"
like "$out$err" 'Shmem of /proc/meminfo.* grew by (9|10)\.[0-9] MiB' \
	"the foot compares: four files are left"

# by stack alone, with or without --files
run memtap stacks shmem -U --by comm --folded -o "$T/got" -- ./wl_shmem "$T/tmpfs"
is "$(awk '/;s_file;s_write/ { n += $NF } END { print n }' "$T/got")" 640 "stacks shmem"
run memtap stacks shmem --files --top 0 -- ./wl_shmem "$T/tmpfs"
like "$out" "^    $T/tmpfs/written\$" "stacks shmem --files"
run memtap stacks shmem --top 0 -o "$T/got" -- ./wl_shmem "$T/tmpfs"
unlike "$(cat "$T/got")" "tmpfs/written" "and without"

like "$(memtap list events)" '^shmem ' "memtap list events has it"
umount "$T/tmpfs"
[ -z "$huge" ] || umount "$T/huge"
probes_clean "nothing is left attached"
done_testing
