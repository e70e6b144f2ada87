#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap metrics` of this machine: the format, sums, files, and what is refused.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make -s ctl > /dev/null || exit 1
memtap=build/memtap
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
count=0
check() {
	local what=ok name=$1
	shift
	count=$((count + 1))
	"$@" > "$T/why" 2>&1 || what='not ok'
	echo "$what $count - $name"
	[ "$what" = ok ] || sed 's/^/# /' "$T/why"
}
refused() {
	local status=0 text=$1
	shift
	$memtap metrics "$@" > "$T/out" 2> "$T/err" || status=$?
	cat "$T/err"
	[ $status = 2 ] && [ ! -s "$T/out" ] && [ "$(wc -l < "$T/err")" = 1 ] &&
		grep -q "$text" "$T/err"
}
cat > "$T/read.py" << 'END'
import re, sys
path, new = sys.argv[1], sys.argv[2] == "openmetrics"
lines = open(path).read().split("\n")
assert lines.pop() == "", "no end of line at the end"
if new:
    assert lines.pop() == "# EOF", "no # EOF"
seen, families, of, value = set(), set(), None, {}
for l in lines:
    m = re.match(r"# (HELP|TYPE|UNIT) (memtap_[a-z_]+) (.*)$", l)
    if m:
        if m[1] == "HELP":
            of = m[2]
            assert of not in families, "twice: " + of
            families.add(of)
        assert m[2] == of, l
        if m[1] == "TYPE":
            kind = m[3]
            assert kind in ("gauge", "counter"), l
            assert not (kind == "counter") or new != of.endswith("_total"), l
        assert m[1] != "UNIT" or (new and of.endswith("_" + m[3])), l
        continue
    m = re.match(r'(memtap_[a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"\})? '
                 r'(-?[0-9]+(?:\.[0-9]+)?)$', l)
    assert m, l
    assert m[1] == (of + "_total" if new and kind == "counter" else of), l
    assert (m[1], m[2]) not in seen, "twice: " + l
    seen.add((m[1], m[2]))
    value[m[1] + (m[2] or "")] = float(m[3])
kinds = [v for k, v in value.items() if k.startswith("memtap_memory_bytes{")]
assert len(kinds) > 8 and sum(kinds) == value["memtap_memory_size_bytes"], kinds
programs = sum(k.startswith("memtap_program_memory_bytes{") for k in value)
assert programs == int(sys.argv[3]), programs
END

$memtap metrics --top 1 > "$T/open"
check "standard output is OpenMetrics, kinds add up" python3 "$T/read.py" "$T/open" openmetrics 1
mkdir "$T/dir"
check "--textfile writes" $memtap metrics --top 2 --textfile "$T/dir" 0.1 2
check "the older format" python3 "$T/read.py" "$T/dir/memtap.prom" text 2
check "and nothing else is there" [ "$(ls -A "$T/dir")" = memtap.prom ]
value() { awk -v name="$1" '$1 == name { print $2 }' "$T/dir/memtap.prom"; }
grown=$(value memtap_growth_seconds)
check "the second sample has growth since the first" [ "${grown:-0}" != 0 ]
grep -q '^memtap_program_growth_bytes{' "$T/dir/memtap.prom"
check "of programs, too" [ $? = 0 ]
if command -v promtool > /dev/null; then
	check "promtool has nothing to say" promtool check metrics < "$T/dir/memtap.prom"
else
	check "promtool has nothing to say # SKIP no promtool" true
fi

# --- growth since the history's sample ----------------------------------------------------
$memtap history start 0.2 --dir "$T/history" 2> "$T/why" &
service=$!
for _ in {1..100}; do
	$memtap history status --dir "$T/history" 2> /dev/null |
		grep -q '; [2-9][0-9]* samples ' && break
	sleep 0.2
done
$memtap metrics --dir "$T/history" > "$T/open"
grep -q '^memtap_growth_seconds ' "$T/open" && grep -q '^memtap_slab_growth_bytes{' "$T/open"
check "one call: growth since a sample of the history" [ $? = 0 ]
! grep -q '^memtap_program_growth_bytes' "$T/open"
check "and none of programs, of which a history leaves some out" [ $? = 0 ]
check "it is OpenMetrics" python3 "$T/read.py" "$T/open" openmetrics \
	"$(grep -c '^memtap_program_memory_bytes{' "$T/open")"
kill $service
wait $service

# --- HTTP -----------------------------------------------------------------------------------
cat > "$T/http.py" << 'END'
"""ask ADDRESS: requests in turn, and several at once"""
import concurrent.futures, socket, sys, time
address = sys.argv[1]
def ask(request):
    if address[0] == "/":
        s = socket.socket(socket.AF_UNIX)
        s.connect(address)
    else:
        s = socket.create_connection(("::1" if address[0] == "[" else "127.0.0.1",
                                      int(address.split(":")[-1])))
    s.sendall(request.replace("\n", "\r\n").encode())
    s.settimeout(20)
    data = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                break
            data += more
    except ConnectionResetError:
        pass
    head, _, body = data.decode().partition("\r\n\r\n")
    return head.split("\r\n"), body
def get(path="/metrics", method="GET", accept=""):
    return ask("%s %s HTTP/1.1\nHost: x\nConnection: close\n%s\n" % (method, path, accept))
head, body = get()
assert head[0] == "HTTP/1.1 200 OK", head
assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head, head
assert body.startswith("# HELP memtap_") and "# EOF" not in body and "# UNIT" not in body
open(sys.argv[2], "w").write(body)
head, body = get(accept="Accept: application/openmetrics-text; version=1.0.0, text/plain;q=0.5\n")
assert "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8" in head, head
assert body.endswith("# EOF\n")
head, body = get(method="HEAD")
assert head[0] == "HTTP/1.1 200 OK" and not body, (head, body)
assert int([h for h in head if h.startswith("Content-Length")][0].split()[1]) > 5000
for path in "/", "/metrics/", "/metricsx", "/../metrics", "/%2e":
    head, body = get(path)
    assert head[0].startswith("HTTP/1.1 404 "), (path, head)
for method in "POST", "PUT", "DELETE", "OPTIONS", "X":
    head, body = get(method=method)
    assert head[0].startswith("HTTP/1.1 405 ") and "Allow: GET, HEAD" in head, (method, head)
head, body = ask("GET /metrics HTTP/1.1\nHost: x\nX: %s\n\n" % ("y" * 100000))
assert not head[0] or head[0].split()[1][0] == "4", head
# at once, within a second: one sample (it is not twice, even where each takes long)
time.sleep(1.1)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    pages = [body for _, body in pool.map(lambda _: get(), range(24))]
samples = {[l for l in p.split("\n") if l.startswith("memtap_page_faults_total ")][0]
           for p in pages}
print(len(samples))
END
listen() {
	: > "$T/listen"
	$memtap metrics --listen "$1" 2> "$T/listen" &
	server=$!
	for _ in {1..100}; do
		grep -q 'listening on' "$T/listen" && return
		sleep 0.1
	done
}
ended() {
	kill -TERM $server
	wait $server
	check "$1: SIGTERM ends it in order" [ $? = 0 ]
}
listen "unix:$T/socket"
if grep -q 'without libmicrohttpd\|needs libmicrohttpd' "$T/listen"; then
	cat "$T/listen"
	check "--listen # SKIP no libmicrohttpd" true
else
	check "a Unix socket" python3 "$T/http.py" "$T/socket" "$T/body"
	at_once=$(< "$T/why")
	check "24 requests at once: $at_once samples" [ "$at_once" -lt 12 ]
	check "what it answers" python3 "$T/read.py" "$T/body" text \
		"$(grep -c '^memtap_program_memory_bytes{' "$T/body")"
	check "others may not connect" [ "$(stat -c %a "$T/socket")" = 660 ]
	$memtap metrics --listen "unix:$T/socket" > "$T/out" 2> "$T/err"
	[ $? = 1 ] && grep -q 'already in use' "$T/err" && [ -S "$T/socket" ]
	check "a socket where memtap listens is not taken away" [ $? = 0 ]
	kill -KILL $server
	wait $server 2> /dev/null
	listen "unix:$T/socket"
	check "one that nobody listens at is" python3 "$T/http.py" "$T/socket" "$T/body"
	ended "a Unix socket"
	check "and its socket is gone" [ ! -e "$T/socket" ]
	echo mine > "$T/mine"
	$memtap metrics --listen "unix:$T/mine" > "$T/out" 2> "$T/err"
	[ $? = 1 ] && grep -q 'File exists' "$T/err" && [ "$(< "$T/mine")" = mine ]
	check "a file is never taken away" [ $? = 0 ]
	port=$((20000 + $$ % 20000))
	listen 127.0.0.1:$port
	check "a port" python3 "$T/http.py" 127.0.0.1:$port "$T/body"
	$memtap metrics --listen 127.0.0.1:$port > "$T/out" 2> "$T/err"
	[ $? = 1 ] && grep -q 'already in use' "$T/err"
	check "a port that is taken" [ $? = 0 ]
	ended "a port"
	if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
		listen "[::1]:$port"
		check "a port, IPv6" python3 "$T/http.py" "[::1]:$port" "$T/body"
		ended "a port, IPv6"
	fi
fi
chmod go+w "$T/dir"
for wrong in "0.0.0.0:9184|put a proxy in front" "localhost:9184|put a proxy in front" \
	"[::]:9184|put a proxy in front" ":9184|put a proxy in front" "9184|put a proxy in front" \
	"http://127.0.0.1:9184/|put a proxy in front" "127.0.0.2:9184|put a proxy in front" \
	"127.0.0.1:|from 1 to 65535" "127.0.0.1:0|from 1 to 65535" \
	"127.0.0.1:65536|from 1 to 65535" \
	"[::1]:x|from 1 to 65535" "unix:|absolute path" "unix:run/x|absolute path" \
	"unix:$T/dir/|path of a directory" "unix:$T/none/x|No such file" \
	"unix:$T/open/x|not a directory" "unix:$T/dir/x|other users may write" \
	"unix:/$(printf 'x%.0s' {1..200})|at most 107 bytes"; do
	check "--listen ${wrong%|*}" refused "${wrong#*|}" --listen "${wrong%|*}"
done
check "--listen with a file" refused 'exclude each other' --listen 127.0.0.1:1 --textfile "$T"
check "--listen with an interval" refused 'no interval' --listen 127.0.0.1:1 5
chmod go-w "$T/dir"

# --- the dashboard ----------------------------------------------------------------------------
cat > "$T/dashboard.py" << 'END'
"""It is one as Grafana imports it, and asks for what memtap has."""
import json, re, sys
have = set()
for path in sys.argv[2:]:
    for l in open(path, errors="replace"):
        m = re.match(r"(memtap_[a-z_]+)[{ ]", l)
        if m:
            have.add(m[1])
d = json.load(open(sys.argv[1]))
assert d["title"] and d["uid"] and d["schemaVersion"] >= 36 and "id" not in d
variables = {"$" + v["name"] for v in d["templating"]["list"]}
assert d["templating"]["list"][0]["type"] == "datasource"
asked = re.findall(r"memtap_[a-z_]+", " ".join(v["definition"] for v in d["templating"]["list"]
                                               if v["type"] == "query"))
ids, places = set(), set()
for p in d["panels"]:
    assert p["id"] not in ids and p["title"] and p["description"], p["title"]
    ids.add(p["id"])
    g = p["gridPos"]
    assert g["x"] + g["w"] <= 24, p["title"]
    for x in range(g["x"], g["x"] + g["w"]):
        for y in range(g["y"], g["y"] + g["h"]):
            assert (x, y) not in places, "panels overlap: " + p["title"]
            places.add((x, y))
    assert p["type"] in ("timeseries", "stat")
    refs = [t["refId"] for t in p["targets"]]
    assert refs and len(set(refs)) == len(refs)
    for t in p["targets"]:
        assert t["datasource"]["uid"] == "${datasource}"
        assert set(re.findall(r"\$[a-z]+", t["expr"])) <= variables, t["expr"]
        assert t["expr"].count("(") == t["expr"].count(")")
        asked += re.findall(r"memtap_[a-z_]+", re.sub(r"\{[^}]*\}", "", t["expr"]))
        for label in re.findall(r"\{\{([a-z]+)\}\}", t["legendFormat"]):
            assert label in ("instance", "kind", "by", "direction", "state", "result", "cgroup",
                             "program", "cache"), label
missing = sorted(set(asked) - have)
assert len(asked) > 25 and not missing, missing
END
check "the dashboard asks for metrics that there are" python3 "$T/dashboard.py" \
	packaging/grafana/memtap.json tests/golden/machine/metrics-*.txt
sed 's/memtap_slab_bytes/memtap_slabs_bytes/' packaging/grafana/memtap.json > "$T/wrong.json"
! python3 "$T/dashboard.py" "$T/wrong.json" tests/golden/machine/metrics-*.txt 2> /dev/null
check "(one that does not would be noticed)" [ $? = 0 ]
if command -v promtool > /dev/null; then
	check "promtool: the configuration for Prometheus" \
		promtool check config packaging/prometheus/memtap.yml
fi

# --- mistakes -----------------------------------------------------------------------------------
check "an interval without a file" refused 'needs --textfile' 5
check "no interval" refused 'is not an interval' --textfile "$T/dir" often
check "no directory" refused 'No such file' --textfile "$T/none"
check "a file" refused 'not a directory' --textfile "$T/open"
chmod go+w "$T/dir"
check "a directory that others may write to" refused 'other users may write' --textfile "$T/dir"
echo "1..$count"
