#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --unreachable on programs as people have them: each is stopped, read, and goes on as if nobody had
# come; and what is called lost, nobody touches again.
# check: long
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# lost: where blocks that are called lost begin
lost() {
	python3 - "$T/json" <<-'END'
	import json, sys
	for r in json.load(open(sys.argv[1]))["rows"]:
	    if r.get("kind") in ("definite", "indirect") and r["event"] == "heap":
	        for a in r["allocs"]:
	            print(a["addr"])
	END
}
# places: words of theirs that can be watched, thirty-two at most.  In their middle, since
# functions for strings read on behind their end, and malloc uses what is before it; and the
# last of their page, see t_watch
places() {
	python3 - "$T/json" <<-'END'
	import json, sys
	all = []
	for r in json.load(open(sys.argv[1]))["rows"]:
	    if r.get("kind") in ("definite", "indirect") and r["event"] == "heap":
	        for a in r["allocs"]:
	            at = int(a["addr"], 16)
	            all += [p - 8 for p in range((at | 4095) + 1, at + a["size"], 4096)
	                    if at + 24 <= p - 8 and p + 16 <= at + a["size"]]
	step = max(1, len(all) // 32)
	print(*map(hex, all[::step][:32]))
	END
}
lines() { wait_for 120 test_lines "$1"; }
test_lines() { [ "$(wc -l < "$T/got")" -ge "$1" ]; }
# whose: the stacks of blocks that were touched again, by $T/hits
whose() {
	python3 - "$T/json" "$T/hits" <<-'END'
	import json, sys
	hits = {int(l.split()[0], 16) for l in open(sys.argv[2]) if l.startswith("0x")}
	for r in json.load(open(sys.argv[1]))["rows"]:
	    for a in r.get("allocs", []):
	        at = int(a["addr"], 16)
	        if any(at <= hit < at + a["size"] for hit in hits):
	            print(r["kind"], a, [f.get("name") for f in r["user"]])
	END
}
# talk NAME BLOCKS COMMAND...: it answers the lines of $T/in.1 to $T/in.3, of which the second
# come while memtap follows it; so many blocks are lost then, at least, and what $FORGOTTEN has,
# where it writes that, is all that may be: $each for each line, in their order
talk() {
	local name=$1 least=$2 tool addresses answers bound=20000 rc=0 stopped
	shift 2
	cat "$T"/in.[123] | "$@" > "$T/wanted"
	rm -f "$T/in"
	mkfifo "$T/in"
	rm -f "$T/forgotten"
	FORGOTTEN=$T/forgotten "$@" < "$T/in" > "$T/got" &
	pid=$!
	exec 7> "$T/in"
	cat "$T/in.1" >&7
	lines "$n1"
	# who goes on in the background must not hold its input open
	attach "$name" -p $pid --unreachable --max-pause $bound --show-allocs 7>&-
	cat "$T/in.2" >&7
	lines $((n1 + n2))
	detach 7>&-
	stopped=$(grep -o "process $pid was stopped for [^,]*, [^\"]* of its memory" "$T/json")
	like "$stopped" 'stopped for [0-9.]+ m?s \([0-9]+ threads?\)' "$name: stopped and read"
	ok "$name: for no longer than was allowed" awk -v most=$bound '
		match($0, /for [0-9.]+ m?s/) {
			split(substr($0, RSTART + 4), f, " ")
			good = f[1] * (f[2] == "s" ? 1000 : 1) < 1.1 * most
		}
		END { exit !good }' <<< "$stopped"
	lost > "$T/lost"
	addresses=$(places)
	cmp_ok "$(wc -w <<< "$addresses")" -ge $((least / 100)) "$name: some of it can be watched"
	# and once more, by who dies in the middle of it
	memtap leaks -p $pid --unreachable --max-pause $bound -o "$T/out" 0.1 2> "$T/err" &
	tool=$!
	ready $tool
	wait_for 20 grep -q . "$T/out" || true
	sleep 0.$((RANDOM % 9))
	kill -KILL $tool
	wait $tool 2> /dev/null || true
	if [ -n "$addresses" ]; then
		# shellcheck disable=SC2086  # each is a word
		./t_watch $pid 3 $addresses > "$T/hits" 2> "$T/hits.err" &
		tool=$!
		# it is busy as long as it is watched, and is asked no more than it can answer
		answers=$((n1 + n2))
		while kill -0 $tool 2> /dev/null; do
			cat "$T/in.3" >&7
			cat "$T/in.3" >> "$T/in.more"
			answers=$((answers + n3))
			lines $answers
			sleep 0.1
		done
		wait $tool || rc=$?
		is "$rc $(cat "$T/hits" "$T/hits.err")" "0 watched $(wc -w <<< "$addresses")" \
			"$name: what is called lost is never touched again" || diag "$(whose 2>&1)"
	else
		cat "$T/in.3" >&7
		cp "$T/in.3" "$T/in.more"
	fi
	exec 7>&-
	rc=0
	wait $pid || rc=$?
	is "$rc" 0 "$name: exit status"
	cat "$T/in.1" "$T/in.2" "$T/in.more" | "$@" > "$T/wanted"
	same_file "$T/got" "$T/wanted" "$name: it has answered as without us"
	rm -f "$T/in.more"
	[ -e "$T/forgotten" ] || return 0
	# addresses are used again: of what was forgotten later nothing can be said
	LC_ALL=C sort "$T/lost" > "$T/lost.sorted"
	tail -n +$((n1 * each + 1)) "$T/forgotten" | head -n $((n2 * each)) |
		LC_ALL=C sort > "$T/forgotten.sorted"
	is "$(LC_ALL=C comm -23 "$T/lost.sorted" "$T/forgotten.sorted")" "" \
		"$name: nothing is called lost that it has not forgotten"
	cmp_ok "$(wc -l < "$T/lost.sorted")" -ge "$least" \
		"$name: and of that only what old words still lead to is not"
}

# Does the watching see what is touched, and not what is not?  The second and third words are
# not; and what lies before an unaligned store, that is the third, may seem to be: see t_watch.
cat > "$T/counts.py" <<-'END'
import ctypes, mmap, sys, time
m = mmap.mmap(-1, 4096)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
word, odd = ctypes.c_ulong.from_address(at + 64), ctypes.c_uint.from_address(at + 0x7fd)
print(hex(at + 64), hex(at + 4088), hex(at + 128), flush=True)
for i in range(1000000):
    word.value = odd.value = i
    time.sleep(0.001)
END
python3 "$T/counts.py" > "$T/at" &
counts=$!
wait_for 20 grep -q 0x "$T/at"
read -r touched not before < "$T/at"
if ! ./t_watch $counts 1 "$touched" "$not" "$before" > "$T/hits" 2>&1; then
	diag "$(< "$T/hits")"
	skip_all "no breakpoints on data here"
fi
like "$(cat "$T/hits")" "^$touched [0-9]+ by " "what is touched is seen"
unlike "$(cat "$T/hits")" "$not" "and what is not, is not"
grep -q "$before" "$T/hits" &&
	diag "breakpoints here see unaligned stores behind them: $(grep "$before" "$T/hits")"
kill $counts
wait $counts 2> /dev/null || true

n1=3 n2=20 n3=2 each=40
yes 40 | head -n $n1 > "$T/in.1"
yes 40 | head -n $n2 > "$T/in.2"
yes 20 | head -n 2 > "$T/in.3"
talk "C++, four threads" 790 ./wl_reach_server
talk "python3" 600 python3 ./reach_work.py
if type node > /dev/null 2>&1; then
	# nothing of it is lost, but what V8 forgets itself
	talk "node" 0 node ./reach_work.js
else
	skip "node" "it is not installed here"
fi
if type sqlite3 > /dev/null; then
	n1=1 n3=1
	{
		echo "create table t(a integer primary key, b text);"
		echo "select 1;"
	} > "$T/in.1"
	for ((i = 0; i < n2; i++)); do
		echo "insert into t(b) values (hex(zeroblob($((100 + i * 50)))));"
		echo "select count(*), sum(length(b)) from t where b like '%00%';"
	done > "$T/in.2"
	{
		echo "update t set b = b || 'x' where a % 3 = 1;"
		echo "select count(*), sum(length(b)) from t;"
	} > "$T/in.3"
	# nothing of it is lost; what is said to be is watched
	talk "sqlite3" 0 stdbuf -oL sqlite3 :memory:
fi

probes_clean "nothing is left attached"
done_testing
