#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap leaks -k`: a module that allocates known numbers of objects in all contexts, and
# frees some in all ways, is found out exactly, while all processors do something else.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
run=/sys/module/kleak/parameters/run
for_this_kernel kleak/kleak.ko || skip_all "kleak.ko was not built for this kernel"
insmod kleak/kleak.ko || bail_out "kleak.ko cannot be loaded"

# sizes of caches are known to who counts first, too
ok "(the module is as after insmod)" bash -c 'rmmod memtap && modprobe memtap'
run memtap stat kmem-cache-alloc --json -- find /usr/share -maxdepth 2 -name nothing
ok "kmem-cache-alloc has bytes from the first event on" python3 -c '
import json, sys
e = json.loads(sys.argv[1].splitlines()[-1])
assert e["value"] > 8 * e["count"] > 0, e' "$out"

# what is counted when a call returns has the stack with which it began
run memtap stacks kmem-cache-alloc page-alloc vmalloc-alloc -K --calls --folded --top 0 \
	-o "$T/folded" -- sh -c "echo leak > $run; echo pages > $run; echo free > $run"
is "$status" 0 "objects that are counted: exit status"
like "$(grep '^kmem-cache-alloc;' "$T/folded")" ';kl_bulk_\[k\];kmem_cache_alloc_bulk' \
	"who asked for objects in bulk"
like "$(grep '^vmalloc-alloc;' "$T/folded")" ';kl_vmalloc_\[k\];' "and for an area"
not_ok "none begins with what probes of returns need" \
	grep -E '(rethook|kretprobe)[^;]* [0-9]+$' "$T/folded"

# noise: files, pipes and processes on all processors, until quiet
noise() {
	touch "$T/noise"
	for _ in $(seq "$(nproc)"); do
		(while [ -e "$T/noise" ]; do find /usr/share /proc/self | head -n 2000; done) \
			> /dev/null 2>&1 &
	done
}
quiet() { rm -f "$T/noise"; }

# until the last of the hooks stands, and its session runs
attached() {
	local last=vunmap
	[[ $* != *--cache* ]] || last=kmem_cache_free_bulk
	[[ $* != *--order* ]] || last=mm_page_free
	wait_for 60 grep -Eq "$last.*attached|attached.*$last" /sys/kernel/debug/memtap/hooks
	sleep 0.5
}
# begin OPTIONS...: memtap leaks -k runs, and hears of objects from here on
begin() {
	memtap leaks -k "$@" > "$T/out" 2> "$T/err" &
	pid=$!
	attached "$@"
	ready $pid
}
end() {
	kill -INT $pid
	status=0
	wait $pid || status=$?
	is "$status" 0 "$1: memtap ends well"
	[ "$status" = 0 ] || diag "$(cat "$T/err")"
}

cat > "$T/compare" << 'END'
import json, os, sys
d = json.load(open(sys.argv[1]))
sizes = {}
for line in open("/proc/slabinfo"):
    w = line.split()
    if len(w) > 4 and w[3].isdigit():
        sizes[w[0]] = int(w[3])
got = {}
for row in d["rows"]:
    names = [f.get("name") or "" for f in row["kernel"]]
    # what areas and percpu memory take beside is of no known number
    if any(row["event"] != what for f, what in (("kl_v", "vmalloc"), ("kl_huge", "vmalloc"),
                                                ("kl_percpu", "percpu"))
           if any(n.startswith(f) for n in names)):
        continue
    # the list of a large area's pages is an area, too, asked for within the call for the other:
    # before Linux 5.15 its stack ends there
    if "kl_huge" in names and row["sum"] < row["count"] << 20:
        continue
    # (and where frame pointers tell the stack, both have one)
    if "kl_huge" in names and row["count"] == 4 and row["sum"] % (1 << 20) == 24576:
        row["count"], row["sum"] = 2, row["sum"] - 24576
    # the allocator's own sheaves, that a cache needed just then (since Linux 6.18); what an
    # interrupt came in between of is further out
    # (debug kernels have a record of their own for each object)
    if (row.get("cache") or "").startswith(("kmemleak_", "debug_objects_cache")):
        continue
    own = next((i for i, n in enumerate(names) if n.startswith("kl_")), len(names))
    inner = names[:own]
    if (row.get("cache") or "").startswith("kmalloc") and (any(
            n.startswith("kmem_cache_") and n.endswith(("_noprof", "_free")) or
            "sheaf" in n or n.startswith("__pcs_") for n in inner) or
            sum(n.startswith("__kmalloc") and n.endswith("_noprof") for n in inner) > 1):
        continue
    for name in names:
        if name.startswith("kl_"):
            g = got.setdefault(name, [0, 0, set()])
            g[0] += row["count"]
            g[1] += row["sum"]
            g[2].add(row.get("cache"))
# (what a kernel's unwinder loses within the allocator has no function of ours)
blind = any(r["event"] == "percpu" and r["kernel"][-1].get("name") == "pcpu_alloc"
            for r in d["rows"] if r["kernel"])
# In a kernel with slub_debug an object has red zones, which some kernels' events count, and others
# do not: what is told is no less than was asked for, and no more than the slab takes.
debug = os.path.exists("/sys/kernel/debug/kmemleak")
def fits(g, nr, want):
    if g[1] == want or len(g[2]) != 1 or g[1] % nr:
        return g[1] == want
    most = sizes.get(next(iter(g[2])), 0)
    # (with SLAB an object of kmalloc-96 takes 128)
    if not debug:
        return g[1] == nr * most
    asked = min(want // nr, asked_for(next(iter(g[2])), want // nr))
    return asked <= g[1] // nr <= max(most, want // nr)
def asked_for(cache, otherwise):
    try:
        return int(open("/sys/kernel/slab/%s/object_size" % cache).read())
    except OSError:
        return otherwise
for line in open(sys.argv[2]):
    name, nr, size, cache = line.rstrip("\n").split(" ", 3)
    if name == "kl_percpu" and blind:
        print("blind", name, "this kernel's stacks end in pcpu_alloc()")
        continue
    nr, size = int(nr), int(size)
    g = got.get(name, [0, 0, set()])
    want = nr * sizes[cache] if not size and cache in sizes else g[1] if size < 0 else size
    ok = g[0] == nr and (fits(g, nr, want) if nr else not g[1]) and (
        cache == "-" or g[2] == {cache} or not nr)
    print("ok" if ok else "not-ok", name, g, nr, want, cache)
END

# asked NAME ASSERTION...: not where kmemleak takes an object for each object, by the same stacks
asked() {
	local name=$1
	shift
	if [ -e /sys/kernel/debug/kmemleak ]; then
		skip "$name" "kmemleak has objects of its own"
	else
		"$@" "$name"
	fi
}

# kfree_rcu() collects objects: for 5 seconds since v6.0, until v6.18 gave each processor a sheaf
rcu_done() {
	if kver_ge 6.0 && ! kver_ge 6.18; then
		sleep 6
	else
		sleep 1
	fi
}

# --- all contexts, all ways
noise
begin --json --top 0 --older 0 --percpu
echo leak > $run
echo pages > $run
rcu_done
end "all contexts"
quiet
cp "$T/out" "$T/json"
cat $run > "$T/expected"
# an area in huge pages has more pages than were asked for: as many as the kernel says
read -r areas pages < <(awk '/ kl_huge\+/ {
		for (i = 3; i <= NF; i++)
			if (sub(/^pages=/, "", $i) && $i + 0 > 1024) {
				areas++
				pages += $i
			}
	}
	END { print areas + 0, pages + 0 }' /proc/vmallocinfo)
is "$areas" 2 "(areas of more than a huge page are there)"
diag "kl_huge: $pages pages"
sed -i "s/^kl_huge 2 -1 /kl_huge 2 $((pages * 4096)) /" "$T/expected"
python3 "$T/compare" "$T/json" "$T/expected" > "$T/result"
while read -r verdict name rest; do
	[ "$verdict" != blind ] || { skip "$name" "$rest"; continue; }
	is "$verdict" ok "$name: $rest"
done < "$T/result"
is "$(wc -l < "$T/result")" 27 "all of them"
grep -q ^not-ok "$T/result" && diag "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
print([(e["name"], {k: v for k, v in e["partial"].items() if v}) for e in d["events"]])
for r in d["rows"]:
    if r["interrupt"] or not r["kernel"]:
        print(r["event"], r.get("cache"), r["count"], [f.get("name") for f in r["kernel"]][:12])
' "$T/json" | head -n 40)"
ok "each event's account is whole" python3 -c '
import json, sys
for e in json.load(open(sys.argv[1]))["events"]:
    assert e["seen"] == e["counted"] + e["filtered"] + sum(e["lost"].values()), e
    assert not sum(e["lost"].values()), e' "$T/json"
ok "objects kept are there, were freed, or replaced" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
h = d["leaks"]["heaps"]
kept = sum(x["kept"] - x["frees"] for x in h)
assert kept == (sum(r["count"] for r in d["rows"]) + d["memory"]["replaced"] +
    sum(p["blocks"] for p in d["leaks"]["pages_of"].values())), kept
assert d["memory"]["replaced"] <= 2, d["memory"]' "$T/json"
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["memory"]["replaced"])' \
	"$T/json")" = 0 ] || diag "$(python3 -c '
import json, sys
print([c for c in json.load(open(sys.argv[1]))["leaks"]["caches"] if c["replaced"]])' "$T/json")"
ok "interrupts are told from tasks" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
def of(fn):
    return [r for r in rows if fn in [f.get("name") for f in r["kernel"]]]
assert all(r["interrupt"] and r["atomic"] for f in ("kl_softirq", "kl_hardirq") for r in of(f))
assert not any(r["interrupt"] or r["atomic"] for f in ("kl_small", "kl_worker") for r in of(f))' \
	"$T/json"
echo free > $run

# --- what is freed leaves nothing; summed up; as it is read
begin --older 0 --by cache --cache 'kleak_*'
echo leak > $run
end "by cache"
like "$(cat "$T/out")" $'^\t[0-9]+ bytes in 92 objects of kleak_ctor' "by cache, those that match"
like "$(cat "$T/out")" $'^\t[0-9]+ bytes in 55 objects of kleak_by_rcu' "and another one"
unlike "$(cat "$T/out")" 'kmalloc' "but no others"
begin --older 0 --by module --module kleak
echo free > $run
echo leak > $run
rcu_done
end "by module"
like "$(cat "$T/out")" $'^\t[0-9]+ bytes in [0-9]+ objects of several caches by \\[kleak\\]$' \
	"by module"
# (since Linux 6.18 some sheaves of the allocator's own, too)
more=; ! kver_ge 6.18 || more='|50[89]|51[0-9]'
asked "exactly those of the module" like "$(cat "$T/out")" "^slab: 1 row, (507$more) objects"
begin --older 0 --by module --module kleak
echo free > $run
echo pages > $run
end "pages by module"
bulk=0; ! kver_ge 5.13 || bulk=30
# (areas may need a page table more)
asked "of pages, too" like "$(cat "$T/out")" \
	"^pages: 1 row, ($((51 + bulk))|$((52 + bulk))|$((53 + bulk))) blocks"
like "$(cat "$T/out")" "^vmalloc: 1 row, 1[02] areas" "and of areas"
if thorough; then
	begin --older 0 --by cache --order 3
	echo free > $run
	echo pages > $run
	end "by order"
	like "$(cat "$T/out")" $'^\t[0-9]+ bytes in [0-9]+ blocks of order-3 pages' "by order"
	unlike "$(cat "$T/out")" 'of order-[4-9]|^slab:|^vmalloc:' \
		"and no others, but what is left of them"
fi
begin --older 0 --json
echo free > $run
end "all freed"
unlike "$(cat "$T/out")" '"kl_' "what is freed is in no row"

# --- each call, and the other options
begin --trace --stacks --cache 'kleak_by_rcu' --older 0 --by cache
echo leak > $run
echo free > $run
end "trace"
ok "each that came and each that went is a line, and no address" python3 -c '
import re, sys
came, live, went, stacks = 0, set(), 0, 0
for line in open(sys.argv[1]):
    m = re.match(r" *[\d.]+ +\d+ .* kmem-cache-\w+(?: ptr=(\w+))? size=\d+(?: ret=(\w+))?$", line)
    assert not re.search("ffff[0-9a-f]{12}", line), line
    stacks += bool(re.search(r"kl_(by_rcu|none)\b", line))
    if not m:
        continue
    old, new = m.groups()
    if new:
        came += 1
        live.add(new)
    else:
        went += 1
        live.remove(old)
assert (came, went, len(live)) == (1055, 1055, 0), (came, went, len(live))
assert stacks == 1055, stacks' "$T/out" || diag "$(head -n 12 "$T/out"; tail -n 5 "$T/err")"
if thorough; then
	begin --older 0 --sort count --top 3 --min-size 1000 --show-allocs --module kleak
	echo leak > $run
	end "sizes"
	unlike "$(cat "$T/out")" 'of kmalloc-(8|16|32|64|96|192|256|512)( |$)' \
		"--min-size: none is smaller"
	like "$(cat "$T/out")" $'^\tsize = [0-9]+ age = ' "--show-allocs: no address"
	echo free > $run
	begin --older 0 --sample-rate 4 --module kleak --json
	echo leak > $run
	end "sampled"
	ok "a quarter is kept, and counted for four" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
n = sum(r["count"] for r in d["rows"] if r["event"] == "slab")
assert 250 < n < 800, n' "$T/out"
	echo free > $run
	for form in --folded '--format json' '--by process' '--by cgroup' '--by thread'; do
		# shellcheck disable=SC2086
		begin --older 0 $form --cache 'kleak_*'
		echo leak > $run
		end "$form"
		like "$(cat "$T/out")" 'kl_plain|kleak|objects' "$form: there it is"
		echo free > $run
	done
	begin --older 0 --flame "$T/flame.html" --cache 'kleak_*'
	echo leak > $run
	end "--flame"
	like "$(cat "$T/flame.html")" 'kl_plain' "--flame: the functions"
	echo free > $run
	begin --cache 'kleak_*' --older 0 1 2
	echo leak > $run
	wait $pid
	# (two at intervals, and all there is at the end)
	is "$(grep -c 'outstanding objects' "$T/out")" 3 "an interval, and a count" ||
		diag "$(cat "$T/out")"
	echo free > $run
fi

# --- what was there before looks like what leaks now; what becomes of each
echo alike > $run
begin --older 0 --similar --cache kleak_ctor
echo leak > $run
for _ in $(seq 16); do
	echo alike > $run
	sleep 0.2
done
end "similar"
# verdict FUNCTION: what is said below the row that has it
verdict() {
	awk -v fn="$1" '/^\t[0-9]+ bytes/ { its = 0 } index($0, fn) { its = 1 }
		/^\t\t-- / && its { print; exit }' "$T/out"
}
like "$(verdict kl_alike)" '-- growing: \+[0-9.]+ [KM]iB an hour .*; 1[0-6] of 16 parts' \
	"a verdict: what leaks all the time"
like "$(verdict kl_ctor)" '-- (start-up|plateau)' "and what was taken once"
tr -s '\n\t ' ' ' < "$T/out" > "$T/line"
asked "--similar: all that leaked before" like "$(cat "$T/line")" \
	' 64 survivors were compared with .* of kleak_ctor, in [0-9,]+ slabs .*: 100 look like them'
like "$(cat "$T/line")" 'their common words: kl_alike \[kleak\] at 0, ' "--similar: by a function"
like "$(cat "$T/line")" ', lock \[kleak\] at 16, 7 at 8' "--similar: by data, and a number"
like "$(cat "$T/line")" 'a likeness, not a proof' "--similar: which is a likeness"
echo free > $run

# --- by the second
memtap slab --cache 'kleak_*' --json 1 > "$T/out" 2> "$T/err" &
pid=$!
attached --cache
echo leak > $run
end "slab"
ok "what came, what went, and what is left" python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
last = {r["name"]: r for r in rows if r["final"]}
r = last["kleak_by_rcu"]
assert (r["allocs"], r["frees"], r["grew"]) == (1055, 1000, 55), r
assert last["kleak_ctor"]["grew"] == 92 and set(last) <= {"kleak_by_rcu", "kleak_ctor",
    "kleak_plain"}, last' "$T/out" || diag "$(cat "$T/out")"
memtap pages --json 1 > "$T/out" 2> "$T/err" &
pid=$!
attached --order
echo pages > $run
end "pages"
ok "blocks of pages by order" python3 -c '
import json, sys
last = {r["name"]: r for r in map(json.loads, open(sys.argv[1])) if r["final"]}
assert last["order-3 pages"]["allocs"] >= 6 and "free" in last["order-0 pages"], last' "$T/out" ||
	diag "$(cat "$T/out")"
# (before v5.4 reading it holds up all who want pages: memtap does not, and everybody may)
types="read"
[ "$(stat -c %a /proc/pagetypeinfo)" = 400 ] || types="unread"
ok "by migratetype, asked for and free" python3 -c '
import json, sys
last = [r for r in map(json.loads, open(sys.argv[1])) if r["final"]]
for r in last:
    assert r["unmovable"] + r["reclaimable"] + r["movable"] == r["allocs"], r
of = {r["name"]: r for r in last}
assert of["order-3 pages"]["unmovable"] >= 4 and of["order-0 pages"]["movable"] >= 20, of
free = [f for r in last for f in r["free_in"]]
if sys.argv[2] == "read":
    assert "Movable" in {f["migratetype"] for f in free}, free' "$T/out" "$types" 2> "$T/err" ||
	diag "$(cat "$T/err")"
if thorough; then
	memtap pages --order 3 > "$T/out" 2> "$T/err" &
	pid=$!
	attached --order
	echo free > $run
	echo pages > $run
	end "pages of an order"
	like "$(cat "$T/out")" 'kl_pages \[kleak\]' "who asked for them"
	unlike "$(cat "$T/out")" 'kl_page \[|kl_compound' "and not for others"
fi
echo free > $run

# --- without the tool: what the flight recorder follows
debug=/sys/kernel/debug/memtap
watch=/sys/module/memtap/parameters/watch
# CACHE FILE: allocations, frees, growth, live
of_cache() { awk -v c="$1" '$7 == c && NF == 7 { print $1, $2, $3, $5 }' "$2"; }
echo slab,pages > $watch
echo leak > $run
echo pages > $run
cat $debug/slab > "$T/slab"
cat $debug/pages > "$T/pages"
is "$(of_cache kleak_by_rcu "$T/slab")" "1055 1000 55 55" "debugfs slab: by cache, exactly"
is "$(of_cache kleak_ctor "$T/slab" | cut -d' ' -f 3-)" "92 92" "and what comes in bulk"
like "$(cat "$T/slab")" '^    kl_large\+0x[0-9a-f]+/0x[0-9a-f]+ \[kleak\]' "whose stacks hold most"
like "$(cat "$T/pages")" '^    kl_pages\+0x[0-9a-f]+/0x[0-9a-f]+ \[kleak\]' "of pages, too"
ok "each event's account is whole" awk '
	/ seen / { gsub(/,/, ""); seen = $3; counted = $6; filtered = $8; n++ }
	/lost:/ {
		for (i = 3; i <= NF; i += 2)
			counted += $i
		if (seen != counted + filtered)
			bad++
	}
	END { exit bad || n < 6 }' $debug/summary
echo free > $run
cat $debug/slab > "$T/slab"
is "$(of_cache kleak_by_rcu "$T/slab")" "1055 1055 0 0" "what is freed is not there any more"
if thorough; then
	echo leak > $run
	sleep 11
	like "$(cat $debug/slab)" \
		', [0-9]+ of them for 10 s or longer, the oldest for [1-9][0-9]+ s' \
		"what stays is told"
	echo free > $run
fi
echo > $watch

# --- a module that goes leaves its names behind, in a file, too; who follows it alone says so
memtap leaks -k --module kleak --older 0 > "$T/only" 2>&1 &
only=$!
ready $only
memtap record --leaks -k -o "$T/rec" > "$T/out" 2> "$T/err" &
pid=$!
attached
ready $pid
echo leak > $run
echo pages > $run
rmmod kleak
not_ok "the kernel knows it no more" grep -q kl_small /proc/kallsyms
end "gone"
kill -INT $only
wait $only
like "$(cat "$T/only")" 'kleak was unloaded: only its earlier allocations are shown' \
	"--module: it is not there any more"
run memtap report "$T/rec" --older 0 --top 0
asked "its objects are there" \
	like "$out" $'^\t(9600|12800) bytes in 100 objects of [^ ]+ from stack$'
like "$out" $'^\t\tkl_small\\+0x[0-9a-f]+ \\[kleak\\]$' "with its functions' names"
like "$out" $'^\t\tkl_page\\+0x[0-9a-f]+ \\[kleak\\]$' "those of who asked for pages, too"
unlike "$out" $'^\t\t(\\[kernel\\]|\\[unknown\\])' "no frame is without a name"
run memtap report "$T/rec" --by module --older 0
like "$out" 'by \[kleak\]' "by module, too"

# --- bad input
exits 2 "an unknown cache" memtap leaks -k --cache no_such_cache
one_sentence "one sentence"
exits 2 "an unknown module" memtap leaks -k --module no_such_module
one_sentence "one sentence"
exits 2 "-k with -p" memtap leaks -k -p 1
one_sentence "one sentence"
exits 2 "an order that there is not" memtap leaks -k --order 40
one_sentence "one sentence"
exits 2 "a cache of an order" memtap leaks -k --order 3 --cache dentry
one_sentence "one sentence"

# --- of a single cache everybody else's memory is in the foot, as a sentence
run memtap leaks -k --cache 'kmalloc-*' --older 0 -d 0.1
unlike "$out" 'KiBfree|growfree|[0-9] Bfree' "the foot's last line has its commas"
unlike "$out" '--self' "and no option is named that the command does not have"

# --- a table that is full says so, and what was kept stays true
run memtap leaks -k --trace --max-mem 256K
with=$(sed -n 's/.*take \([0-9.]*\) \([KM]\)iB.*/\1 \2/p' <<< "$err" |
	awk '{ print int($1 * ($2 == "M" ? 1024 : 1)) }')
run memtap leaks -k --max-mem 256K
without=$(sed -n 's/.*take \([0-9.]*\) \([KM]\)iB.*/\1 \2/p' <<< "$err" |
	awk '{ print int($1 * ($2 == "M" ? 1024 : 1)) }')
cmp_ok "$((with - without))" -le $((64 * $(nproc) + 52)) \
	"--max-mem makes the rings of --trace smaller, too"
run memtap leaks -k --older 0 --max-mem 6M -d 2 --json
if [ "$status" = 0 ]; then
	ok "a small table: accounts are whole" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
for e in d["events"]:
    assert e["seen"] == e["counted"] + e["filtered"] + sum(e["lost"].values()), e' "$T/run.out"
else
	like "$err" 'minimum table size' "the smallest tables are larger here"
fi

probes_clean "nothing is left attached"
done_testing
