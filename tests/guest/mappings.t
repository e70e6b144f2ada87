#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What mappings grew by is what /proc/PID/maps says: by what may be written to, whatever
# was mapped there before; what is only reserved, or read, beside it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

run memtap mmap --all -U --json --top 0 -o "$T/json" -- ./wl_maps 4
is "$status" 0 "a report"
cp "$T/run.out" "$T/want"
cat > "$T/compare" << 'END'
import json, sys
d = json.load(open(sys.argv[1]))
sign = {"mmap": 1, "mremap": 1, "mprotect": 1, "munmap": -1}
got = {}
for row in d["rows"]:
    names = [f.get("name") or "" for f in row["user"]]
    for name in (n for n in names if n.startswith("m_")):
        g = got.setdefault(name, [0, 0, 0])
        if "reserved" in row["flags"] or "read-only" in row["flags"]:
            if row["event"] in ("mmap", "mremap"):
                g[1 if "reserved" in row["flags"] else 2] += row["sum"]
        else:
            g[0] += sign[row["event"]] * row["sum"]
        assert "gross" not in row["flags"], row
for line in open(sys.argv[2]):
    name, *want = line.split()
    print("ok" if got.get(name, [0, 0, 0]) == [int(n) for n in want] else "not ok",
          name, got.get(name), want)
total = sum(sign[t["event"]] * t["sum"] for t in d["totals"])
print("ok" if d["mapped"]["write"] == total else "not ok", "sums", d["mapped"], total)
END
python3 "$T/compare" "$T/json" "$T/want" > "$T/result"
while read -r verdict name rest; do
	is "$verdict" ok "$name: $rest"
done < <(sed 's/^not ok/not-ok/' "$T/result")
is "$(wc -l < "$T/result")" 23 "all of them"

# as it is read
run memtap mmap --top 0 -- ./wl_maps
like "$out" '^  m_reserve at ' "what reserves is shown"
like "$out" '\(only reserved\)' "and says that it does no more"
like "$out" '\(not writable\)' "so does what is only read"
like "$out" 'not among these bytes, only reserved: 167,772,160 bytes \(\+160\.0 MiB\)' \
	"the foot of mmap tells it apart"
like "$out" 'can be written to grew by [0-9.]+ MiB \(mmap .*, mremap .*, mprotect .*, munmap -' \
	"and there is one sum of all calls"
like "$out" '^munmap: [0-9]+ stacks' "munmap subtracts"
like "$out" 'not shown \(--all shows them\)' "and is not shown"

# a picture of growth has no address space in it
run memtap mmap -U --by comm --folded -o "$T/got" -- ./wl_maps
unlike "$(cat "$T/got")" 'm_(reserve|read|grow_reserved)[ ;]' "folded: no address space"
like "$(cat "$T/got")" 'mprotect.*;m_protect;.* 1048576$' "folded: mprotect() has its bytes"
like "$err" 'of memory without write permission' "and says what it leaves out"

run memtap stacks mprotect -U --json --top 0 -o "$T/json" -- ./wl_maps
ok "less to write to is growth by less than nothing" python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"]
	if any(f.get("name") == "m_unprotect" for f in r["user"])]
assert len(rows) == 1 and rows[0]["sum"] == -1048576 and rows[0]["count"] == 1, rows
rows = [r for r in json.load(open(sys.argv[1]))["rows"]
	if any(f.get("name") == "m_protect_half" for f in r["user"])]
assert rows[0]["sum"] == 1048576 and "failed" in rows[0]["flags"], rows' "$T/json"
probes_clean "nothing is left attached"
done_testing
