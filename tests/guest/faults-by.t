#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Page faults by the file that they are in; what a fault tells of itself, and how long it took.
. "$(dirname "$0")/lib.sh"

# on a disk: that there is something to wait for
disk=$(mktemp -d /var/tmp/faults.XXXXXX)
run memtap faults --by file --top 0 --json -o "$T/json" -- ./wl_calls fault "$disk" "$T/truth"
is "$status" 0 "faults by file: exit status"
cat > "$T/compare" << 'END'
import json, sys
d = json.load(open(sys.argv[1]))
got = {}
for row in d["rows"]:
    assert not row["user"] and not row["kernel"], row
    got[row.get("path") or ""] = got.get(row.get("path") or "", 0) + row["sum"]
for line in open(sys.argv[2]):
    pages, path = line.rstrip("\n").split(" ", 1)
    print("ok" if got.get(path) == int(pages) else "not-ok", path, got.get(path), pages)
print("ok" if got.get("", 0) > 10 else "not-ok", "anonymous", got.get(""), "more")
for e in d["events"]:
    whole = e["seen"] == e["counted"] + e["filtered"] and not sum(e["lost"].values())
    print("ok" if whole else "not-ok", e["name"], e["seen"], "accounts")
END
python3 "$T/compare" "$T/json" "$T/truth" > "$T/result" 2>&1
while read -r verdict rest; do
	is "$verdict" ok "$rest"
done < "$T/result"
is "$(wc -l < "$T/result")" 6 "all of them"
run memtap faults --by file -- ./wl_calls fault "$disk" "$T/truth"
like "$out" "^    $disk/shared pages\$" "a file has its path"
like "$out" '^    no file: anonymous memory$' "what is in none says so"
unlike "$out" 'no stack' "and nobody asked for stacks"

# --- what a fault tells of itself
run memtap trace 'fault(addr,inode)' -- ./wl_calls fault "$disk" "$T/truth"
inode=$(stat -c %i "$disk/private")
is "$(grep -c "fault addr=0x[0-9a-f]* inode=$inode value=1 page" <<< "$out")" 23 \
	"each has its address and the file"
unlike "$out" '=\?' "nothing is unknown"
run memtap trace 'fault(addr,huge,value)' --filter 'value == 1 && huge == 0' \
	-- ./wl_calls fault "$disk" "$T/truth"
like "$out" ' minor-fault addr=0x[0-9a-f]+ huge=no value=1$' "what it mapped, and a filter on it"
run memtap trace major-fault -- ./wl_calls major "$disk" 17
inode=$(stat -c %i "$disk/on disk")
each="fault addr=0x[0-9a-f]+ ip=0x[0-9a-f]+ huge=no inode=$inode latency=[1-9][0-9]+ value="
is "$(grep -Ec "$each" <<< "$out")" 17 "those that wait, and for how long"
run memtap stacks major-fault --value latency --hist -U --folded -- ./wl_calls major "$disk" 17
is "$status" 0 "stacks with the time as value: exit status"
run memtap faults --value latency --hist --by none -- ./wl_calls major "$disk" 17
like "$out" '^ +ns : count +distribution$' "histograms of it"
like "$out" '^major-fault: .* ns$' "and its sum"

run memtap faults --major -- ./wl_calls major "$disk" 17
is "$status" 0 "those that wait, alone: exit status"
like "$out" '^    17 calls +[0-9.]+ [mu]?s  \(largest [0-9.]+ [mu]?s\)$' \
	"how often and how long, by stack"
like "$out" '^  majors' "with its stack"
run memtap faults --major --by file -- ./wl_calls major "$disk" 17
like "$out" "^    $disk/on disk\$" "or by file"

# --- by mapping
export WL_SHARED="$disk/shared pages"
run memtap faults --by mapping --top 0 --json -o "$T/json" -- ./wl_calls where "$T/truth"
is "$status" 0 "faults by mapping: exit status"
# what a C library and a shell need of heap and stack is in the same mappings
cat > "$T/compare" << 'END'
import json, sys
got = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    k = (row.get("allowed"), row["path"])
    got[k] = got.get(k, 0) + row["sum"]
for line in open(sys.argv[2]):
    pages, allowed, path = line.rstrip("\n").split(" ", 2)
    n, more = got.get((allowed, path), 0), 0 if path[0] == "/" else 24
    print("ok" if int(pages) <= n <= int(pages) + more else "not-ok", allowed, path, n, pages)
text = [k for k in got if k[0] == "r-xp" and k[1].endswith("/wl_calls")]
print("ok" if text else "not-ok", "the text of a program", sorted(got))
lost = [k for k in got if k[1] == "[unknown mapping]"]
print("ok" if not lost else "not-ok", "all are known", sorted(got))
END
python3 "$T/compare" "$T/json" "$T/truth" > "$T/result" 2>&1
while read -r verdict rest; do
	is "$verdict" ok "mapping: $rest"
done < "$T/result"
is "$(wc -l < "$T/result")" 7 "all of the mappings"
run memtap faults --by mapping -- ./wl_calls where "$T/truth"
like "$out" '^    rw-p \[heap\]$' "a mapping says what is allowed there"
run memtap record -o "$T/file" fault --by file -- ./wl_calls where "$T/truth"
run memtap report "$T/file" --by mapping
is "$status" 2 "a recording that does not tell them apart: exit status"
like "$(memtap hooks)" '^major-fault .*idle$' "nothing is left attached"
probes_clean "nor the probe where faults begin"
rm -rf "$disk"
done_testing
