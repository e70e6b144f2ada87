#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap diagnose`: what it keeps, its limit of 5 % of a CPU, and ^C.  incidents.t has what it
# concludes of each staged incident.
# guest: -m 652
# limit: 1500
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guest/stages.sh
. "$(dirname "$0")/stages.sh"

D=${D:-$(rounds 9 15)}	# seconds of a diagnosis
# nothing of memtap's runs or is attached any more
no_recording() {
	! pgrep -f 'memtap (record|report)' > /dev/null &&
		! grep -q ' running ' /sys/kernel/debug/memtap/sessions
}

# --- a program that leaks, all that was seen is kept
stage leak
# (an emulated processor is slow, and soon above 5 %)
run memtap diagnose -q --deep -d "$D" -o "$T/kept"
is "$status" 0 "-o: it answers" || diag "$err"
diag "$out"
like "$(grep -E '^1\. ' <<< "$out")" "$first" "leak: who, how much, where"
like "$(grep -oE '[0-9]+ % of the' <<< "$out" | head -1)" '^(9[0-9]|100) %' "leak: nearly all of it"
is "$(cd "$T/kept" && ls -d conclusion.json conclusion.txt triage-after.json triage-before.txt \
	1.memtap 1.html 1.json | wc -l)" 7 "-o: what is kept"
ok "-o: an archive" tar -tzf "$T/kept.tar.gz"
ok "-o: the recording is one" memtap report "$T/kept/1.memtap" --top 1
ok "-o: JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
c = d["conclusions"][0]
assert d["document"] == "diagnosis" and c["pid"] == int(sys.argv[2]), d
assert c["functions"][0]["name"] == "parse_row" and c["percent"] >= 90, c
assert d["questions"][0]["outcome"] in ("done", "detached"), d' "$T/kept/conclusion.json" $pid
not_ok "-o: arguments are not kept" grep -arq 'leak 300\|leak.300' "$T/kept"
run memtap diagnose -d 5 -o "$T/kept"
is "$status" 1 "-o: a directory that is there is refused"
one_sentence "-o: and it says so"

# --- ^C
# early NAME WHEN [PATTERN]: ^C as soon as WHEN is true; the conclusion has PATTERN
early() {
	: > "$T/err"
	memtap diagnose --deep -d "${seconds:-30}" -p $pid > "$T/early" 2>> "$T/err" &
	child=$!
	wait_for 100 "$2" || diag "$1: that moment did not come"
	kill -INT $child
	wait $child
	is $? 0 "^C $1: an answer" || diag "$(cat "$T/err")"
	like "$(cat "$T/early")" '^Interrupted: ' "^C $1: it says so" || diag "$(cat "$T/err")"
	like "$(cat "$T/early")" "^1\. .*${3:-}" "^C $1: what is known" ||
		diag "$(cat "$T/early")"
	ok "^C $1: nothing is attached" no_recording
}
begun() { grep -q 'this takes about' "$T/err"; }
starts() { pgrep -f 'memtap record' > /dev/null; }
records() { starts && has_session "$(pgrep -n -f 'memtap record')"; }
some_time() { records && sleep 3; }
reads() { pgrep -f 'memtap report' > /dev/null; }
if thorough; then
	early "at once" begun
	early "when it attaches" starts
	early "when it is attached" records
fi
early "while it records" some_time "rocess wl_diagnose \(pid $pid\) gr"
# what was recorded is not lost
seconds=6
! thorough || early "when it reads what it recorded" reads 'allocated at parse_row'
if thorough; then
	memtap diagnose -q --deep -d 100 -p $pid > "$T/early" 2> "$T/err" &
	child=$!
	wait_for 100 records
	kill -KILL $child
	wait $child 2> /dev/null
	ok "SIGKILL: the recording ends, and nothing is attached" wait_for 20 no_recording
	rm -rf /tmp/memtap-diagnose.*
fi
relief

# --- 5 % of a CPU
stage busy
run memtap diagnose -q -d 20 -p $pid --json
is "$status" 0 "5 %: it answers" || diag "$err"
relief
diag "$(python3 -c '
import json, sys
d = json.load(sys.stdin)
q = d["questions"][0]
cost = q.get("cpu_percent", 0) * q["seconds"] / 100
print("%s after %.1f s at %.0f %% of a CPU: %.2f s of it, %.1f %% of the time" %
      (q["outcome"], q["seconds"], q.get("cpu_percent", 0), cost, cost * 100 / 20))' <<< "$out")"
ok "5 %: what would take more is detached, and that is said" python3 -c '
import json, sys
d = json.loads(sys.argv[1])
q = d["questions"][0]
assert q["outcome"] == "detached" and q["cpu_percent"] > 5 and q["events"] > 1000, q
assert 0 < q["seconds"] < 13, q
c = d["conclusions"][0]
assert any("% of a CPU, and 5 % are allowed" in why for why in c["evidence"]), c
assert c["confidence"] != "high" and c["functions"][0]["name"] == "parse_row", c' "$out"
ok "5 %: nothing is attached" no_recording
probes_clean "nothing is attached at the end"
ok "no file is left" test -z "$(ls -d /tmp/memtap-diagnose.* 2> /dev/null)"
done_testing
