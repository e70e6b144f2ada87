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
check "an interval without a file" refused 'needs --textfile' 5
check "no interval" refused 'is not an interval' --textfile "$T/dir" often
check "no directory" refused 'No such file' --textfile "$T/none"
check "a file" refused 'not a directory' --textfile "$T/open"
chmod go+w "$T/dir"
check "a directory that others may write to" refused 'other users may write' --textfile "$T/dir"
echo "1..$count"
