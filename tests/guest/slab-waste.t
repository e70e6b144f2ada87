#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap slab --waste: what a module wastes of kmalloc()'s caches; what it frees on another CPU.
# guest: -c 2
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
run=/sys/module/kleak/parameters/run
for_this_kernel kleak/kleak.ko || skip_all "kleak.ko was not built for this kernel"
insmod kleak/kleak.ko || bail_out "kleak.ko cannot be loaded"

# on CPU WORD: to the module, on that CPU
on() { taskset -c "$1" sh -c "echo $2 > $run"; }
# begin OPTION...; end NAME
begin() {
	: > "$T/out"
	memtap slab --waste --json "$@" > "$T/out" 2> "$T/err" &
	pid=$!
	ready $pid
}
end() {
	kill -INT $pid
	status=0
	wait $pid || status=$?
	is "$status" 0 "$1: exit status"
}
# final CODE: of the totals, by cache
final() {
	python3 -c '
import json, sys
of = {r["name"]: r for r in map(json.loads, open(sys.argv[1])) if r["final"]}
exec(sys.argv[2])' "$T/out" "$1"
}

begin
on 0 waste
on 1 free
end "freed on the other CPU"
ok "5000 bytes take 8192" final '
r = next(r for n, r in of.items() if n == "kmalloc-8k" or n == "kmalloc-8192")
assert r["waste_bytes"] >= 200 * 3192, r
# (others that are in this cache meanwhile)
assert r["waste_bytes"] - 200 * 3192 <= 3192 * (r["allocs"] - 200), r
assert r["other_cpu_frees"] >= 200, r'
ok "a cache of its own wastes nothing; all frees were elsewhere" final '
r = of["kleak_plain"]
assert (r["allocs"], r["waste_bytes"]) == (300, 0), r
assert (r["known_frees"], r["other_cpu_frees"]) == (300, 300), r' || diag "$(cat "$T/out")"
ok "waste is a part of what was given, in each" final '
for r in of.values():
    assert 0 <= r["waste_bytes"] <= r["bytes"], r
    assert r["other_cpu_frees"] <= r["known_frees"] <= r["frees"], r'

begin --cache 'kleak_*'
on 1 waste
on 1 free
end "freed where it was allocated"
ok "on the same CPU none counts" final '
r = of["kleak_plain"]
assert (r["known_frees"], r["other_cpu_frees"]) == (300, 0), r
assert not any(n.startswith("kmalloc") for n in of), of' || diag "$(cat "$T/out")"

# as it is read
: > "$T/out"
memtap slab --waste > "$T/out" 2> "$T/err" &
pid=$!
ready $pid
on 0 waste
on 1 free
kill -INT $pid
wait $pid
like "$(cat "$T/out")" 'ALLOCS +ASKED +GIVEN +WASTE +% +FREES +OTHER CPU +% +CACHE' "a table"
like "$(cat "$T/out")" '^ +300 +96\.1 KiB +96\.1 KiB +0 B +0\.0 +300 +300 +100\.0 +kleak_plain$' \
	"a row" || diag "$(cat "$T/out")"

# by caller
: > "$T/out"
memtap slab --waste --call-site --json --top 0 > "$T/out" 2> "$T/err" &
pid=$!
ready $pid
on 0 waste
on 0 free
end "by caller"
ok "who asks for 5000 bytes" python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
mine = [r for r in rows if r["document"] == "caller" and r["object"] == "kleak"]
assert [(r["function"], r["allocs"], r["asked_bytes"], r["given_bytes"], r["waste_bytes"])
        for r in mine] == [("kl_waste", 200, 1000000, 1638400, 638400)], mine
last = [r for r in rows if r["document"] == "callers" and r["final"]][0]
callers = [r for r in rows if r["document"] == "caller"]
for key in "allocs", "asked_bytes", "given_bytes":
    assert sum(r[key] for r in callers) == last[key], (key, last)' "$T/out" ||
	diag "$(head -c 3000 "$T/out")"
exits 2 "--call-site alone" memtap slab --call-site
one_sentence "is refused"
exits 2 "--call-site with --cache" memtap slab --waste --call-site --cache 'k*'
one_sentence "is refused, too"
rmmod kleak
probes_clean "nothing is left attached"
done_testing
