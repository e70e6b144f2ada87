#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap ps: memory of all sorts, as the workload mapped it, by mapping and by process; sums are
# what the kernel counts; what cannot be read is counted.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
thp=/sys/kernel/mm/transparent_hugepage/enabled
if [ -e $thp ]; then
	was=$(grep -o '\[.*\]' $thp | tr -d '[]')
	echo madvise > $thp
fi
pool=$(cat /proc/sys/vm/nr_hugepages 2> /dev/null)
[ -z "$pool" ] || echo $((pool + 2)) > /proc/sys/vm/nr_hugepages
if dd if=/dev/zero of=/swap.owners bs=1M count=8 status=none && chmod 600 /swap.owners &&
	mkswap /swap.owners > /dev/null && swapon /swap.owners; then
	swap=yes
fi

mkfifo "$T/in"
exec 9<> "$T/in"
start_until "$T/said" ready ./wl_owners < "$T/in" 9>&-
read -r _ pid child < <(grep ready "$T/said")
sort "$T/said" | sed 's/^/# /'

cat > "$T/compare" << 'END'
import json, sys
parent, child, all_, said = sys.argv[1:5]
maps = {"parent": json.load(open(parent)), "child": json.load(open(child))}
procs = {r["pid"]: r for r in json.load(open(all_))["rows"]}
pids = {}
for line in open(said):
    f = line.split()
    if f[0] == "ready":
        pids = {"parent": int(f[1]), "child": int(f[2])}
        continue
    at, want = int(f[2], 16), dict(w.split("=") for w in f[3:])
    rows = [r for r in maps[f[0]]["rows"] if int(r["start"], 16) == at]
    got = {k: str(rows[0][k] // 1024) for k in want} if len(rows) == 1 else None
    print("ok" if got == want else "not-ok", f[0], f[1], got, want)
for who, doc in maps.items():
    row, sums = procs[pids[who]], doc["sum"]
    # a mapping's PSS is rounded by itself
    near = all(abs(row[k] - sums[k]) <= 4096 * len(doc["rows"]) for k in ("rss", "pss"))
    same = all(row[k] == sums[k] for k in ("uss", "swap", "huge", "locked", "hugetlb", "anon"))
    print("ok" if near and same else "not-ok", who, "mappings", "add up", row, sums)
    nodes = procs[pids[who]]["nodes"]
    print("ok" if abs(sum(nodes) - row["rss"] - row["hugetlb"]) <= 65536 else "not-ok", who,
          "nodes", "add up", nodes, row)
END
run memtap ps --map "$pid" --json -o "$T/parent"
is "$status" 0 "--map"
memtap ps --map "$child" --json -o "$T/child"
memtap ps --numa --json -o "$T/all"
is $? 0 "all processes"
python3 "$T/compare" "$T/parent" "$T/child" "$T/all" "$T/said" > "$T/result"
while read -r verdict who name rest; do
	is "$verdict" ok "$who: $name: $rest"
done < "$T/result"
cmp_ok "$(grep -c '^ok' "$T/result")" -ge 13 "all of them"
[ -n "${swap:-}" ] && like "$(cat "$T/said")" '^parent swapped ' "some of it is swapped out"
[ ! -e /sys/kernel/mm/hugepages/hugepages-2048kB ] ||
	like "$(cat "$T/said")" '^parent pool ' "some of it is of the pool"

# each page once: by whatever it is grouped, the sum is the same, and the kernel's
for by in process program user cgroup mapping; do
	memtap ps --by $by --json -o "$T/$by"
	is $? 0 "--by $by"
done
cat > "$T/sums" << 'END'
import json, sys
docs = [json.load(open(f)) for f in sys.argv[1:]]
for d in docs:
    by, c, m = d["by"], d["checks"], d["memory"]
    total = sum(v for k, v in m.items() if k != "total")
    print("ok" if total == m["total"] else "not-ok", by, "MemTotal is the sum", m)
    got = sum(r.get("pss", 0) for r in d["rows"])
    print("ok" if got == d["sum"]["pss"] else "not-ok", by, "rows add up", got, d["sum"]["pss"])
    # (before Linux 4.14 and by mapping, PSS is rounded for each mapping)
    less = c["mapped"]["kernel"] - c["mapped"]["processes"]
    print("ok" if abs(less) < 1 << 20 else "not-ok", by, "mapped, as the kernel says", c)
    for k in ("locked", "hugetlb"):
        if k in c:
            less = abs(c[k]["kernel"] - c[k]["processes"])
            print("ok" if less < 1 << 17 else "not-ok", by, k + ", as the kernel says", c)
    print("ok" if not sum(d["not_read"][k] for k in ("permission", "failed", "no_time")) else
          "not-ok", by, "all were read", d["not_read"])
END
python3 "$T/sums" "$T"/{process,program,user,cgroup,mapping} > "$T/result"
while read -r verdict rest; do
	is "$verdict" ok "--by $rest"
done < "$T/result"
cmp_ok "$(wc -l < "$T/result")" -ge 20 "all sums"
run memtap ps wl_owners --by program
like "$out" '^ +1 .* wl_owners$' "a program"
like "$out" '^ +1 .* wl_owners_child$' "a child that has another name"
like "$out" 'sum of all 2 rows' "and a pattern keeps these"
unlike "$out" 'MemTotal' "then nothing is said of the whole"
run memtap ps --map "$pid"
like "$out" ' 512\.0 KiB .*\[anon\]$' "as a table"
run memtap ps -x, -p "$pid" 0.1 2
is "$(wc -l <<< "$out")" 3 "CSV has its head once"

# who may not look is told what is missing
if command -v setpriv > /dev/null; then
	run setpriv --reuid 65534 --clear-groups "$(command -v memtap)" ps --json
	is "$status" 0 "another user"
	echo "$out" > "$T/other"
	ok "it has RSS of what it may not read, and counts it" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
row = [r for r in d["rows"] if r["pid"] == int(sys.argv[2])][0]
assert d["not_read"]["permission"] > 0 and row["not_read"] == 1, d["not_read"]
assert row["rss"] > 8 << 20 and "pss" not in row, row
assert d["not_read_rss"] >= row["rss"], d' "$T/other" "$pid"
	run setpriv --reuid 65534 --clear-groups "$(command -v memtap)" ps --map "$pid"
	is "$status" 1 "its mappings"
	one_sentence "are refused in a sentence"
fi

# processes that end meanwhile
(while [ -e "$T/in" ]; do /bin/true; done) 9>&- &
churn=$!
bad=0
for _ in 1 2 3 4 5 6 7 8; do
	memtap ps --by mapping -o /dev/null || bad=1
	memtap ps -o /dev/null || bad=1
done
is $bad 0 "processes end while they are read"
exec 9>&-
rm "$T/in"
wait $churn
wait_gone 10 "$pid"
run memtap ps -p "$pid"
is "$status" 1 "a process that is gone"
one_sentence "is said so"
run memtap ps -p 2
is "$status" 1 "a thread of the kernel has no memory"

[ -z "${swap:-}" ] || swapoff /swap.owners
rm -f /swap.owners
[ -z "$pool" ] || echo "$pool" > /proc/sys/vm/nr_hugepages
[ -z "${was:-}" ] || echo "$was" > $thp
done_testing
