#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap history` and `memtap report --history` of this machine: table, JSON, the page.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make -s ctl > /dev/null || exit 1
memtap=build/memtap
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
# shellcheck source=tests/unit/check.sh
. tests/unit/check.sh

that() {
	local name=$1

	shift
	"$@" > "$T/why" 2>&1
	check $? "$name"
}
record() {
	timeout -s INT "$1" $memtap history start 0.2 --dir "$T/history" 2> "$T/err"
	[ $? = 124 ]
}
that "the service records until it is interrupted" record 2
that "and again" record 1
that "status: how many samples" eval '$memtap history status --dir "$T/history" > "$T/out" &&
	grep -Eq "the service does not run; [0-9]+ samples from" "$T/out"'
that "report --history: a table" eval '$memtap report --history --dir "$T/history" > "$T/out" &&
	grep -q "^ *FIRST *LEAST *MOST *LAST *MOST AT *PROCESS" "$T/out"'
for by in process cgroup cache; do
	that "report --history --by $by --json" eval '$memtap report --history --by '$by' \
		--dir "$T/history" --json --top 3 > "$T/json" && tests/json-check "$T/json" &&
		[ "$(python3 -c "import json; d = json.load(open(\"$T/json\")); print(d[\"by\"],
			len(d[\"rows\"]) <= 3)")" = "'$by' True" ]'
done
# the service starts while its history is read
busy() {
	local i

	(while :; do $memtap history status --dir "$T/history"; done) > "$T/out" 2>&1 &
	for i in 1 2 3 4 5; do
		record 0.4 || break
	done
	kill $!
	[ "$i" = 5 ] && [ ! -s "$T/err" ]
}
that "who reads does not keep the service from starting" busy
that "--page writes a page" $memtap report --history --dir "$T/history" --page "$T/page.html"
cat > "$T/look.py" << 'END'
import json, re, sys
page = open(sys.argv[1]).read()
d = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page,
                         re.S)[1])
assert len(d["moments"]) >= 5, len(d["moments"])
for i, m in enumerate(d["moments"]):
    assert len(m["v"]) == len(d["kinds"]), m
    assert 0.9 * d["total"] < sum(m["v"]) < 1.1 * d["total"], m
    assert m["a"] <= d["total"], m
    assert i == 0 or "g" in m or "memtap triage: " in m["x"], m
assert "://" not in page.replace("http://www.w3.org/2000/svg", ""), "something is fetched"
END
that "it has memory by kind, and the triage of each moment" python3 "$T/look.py" "$T/page.html"
if command -v chromium > /dev/null; then
	that "a browser draws it" eval 'chromium --headless --no-sandbox --disable-gpu --dump-dom \
		"file://$T/page.html" 2> /dev/null > "$T/dom" &&
		grep -q "data-ready=\"1\"" "$T/dom" &&
		[ "$(grep -o "<polygon" "$T/dom" | wc -l)" -ge 8 ] &&
		grep -q "memtap triage: " "$T/dom"'
fi
that "--history with a file is refused" eval '! $memtap report --history x --dir "$T/history" \
	2> "$T/err" && grep -q "needs no FILE" "$T/err"'
that "a directory without a history: one sentence" eval '! $memtap history list --dir "$T/none" \
	2> "$T/err" && [ "$(wc -l < "$T/err")" = 1 ]'
checked
