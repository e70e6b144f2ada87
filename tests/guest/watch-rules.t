#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Rules: who grows in a cgroup is recorded before the limit is reached, and is shown with the OOM
# kill that follows; actions end with memtap, and leave nothing attached.
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2> /dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
mkdir -p $root/rules
echo $((48 << 20)) > $root/rules/$limit
[ ! -e $root/rules/memory.swap.max ] || echo 0 > $root/rules/memory.swap.max
cat > "$T/grow.py" << 'END'
import os, sys, time
kept = []
def grow_cache():
    kept.append(bytearray(b"x" * (1 << 20)))
while True:
    grow_cache()
    # above the rule's value, and below the limit, until it is recorded
    while len(kept) == 25 and not os.path.exists(sys.argv[1]):
        time.sleep(0.1)
    time.sleep(0.05)
END
inside() {
	echo "$BASHPID" > $root/rules/cgroup.procs
	exec "$@"
}

# --- what cannot be, by hand
run memtap watch
is "$status" 2 "no rules: exit status"
one_sentence "no rules"
run memtap watch --when 'cgroup /rules > 50%'
is "$status" 2 "--when without --do: exit status"
run memtap watch --when 'cgroup /rules > 50' --do faults
is "$status" 2 "a rule that is none: exit status"
one_sentence "a rule that is none"
run memtap watch --when 'oom-kill' --do 'run /nonexistent/program' --dir "$T/none" -d 1
is "$status" 1 "a rule that cannot work here: exit status"
like "$err" 'rule 1 cannot work here: /nonexistent/program cannot be run' "and the sentence"

# --- the limit of a cgroup
memtap watch --when 'cgroup /rules > 50%' --do 'faults 60s' --dir "$T/dir" 1 2> "$T/log" &
watch=$!
(inside python3 "$T/grow.py" "$T/go") &
hog=$!
ok "the rule acts before the limit is reached" wait_for 60 grep -q 'memtap faults into' "$T/log"
diag "$(cat "$T/log")"
like "$(cat "$T/log")" 'rule 1: cgroup /rules has [5-9][0-9]\.[0-9]% of its limit; memtap faults' \
	"why"
wait_for 60 pgrep -f 'memtap record' > /dev/null
ready "$(pgrep -n -f 'memtap record')"
touch "$T/go"
wait_for 120 eval '! kill -0 $hog 2> /dev/null'
wait $hog 2> /dev/null
is $? 137 "the cgroup's process is killed"
kill $watch
wait $watch
is $? 0 "watch ends"
is "$(pgrep -c -f 'memtap record')" 0 "and what it began has ended"
file=$(echo "$T"/dir/actions/*.memtap)
ok "there is one recording" test -s "$file"
memtap report "$file" --json > "$T/json"
is "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
pages = sum(r["sum"] for r in d["rows"])
pids = set(r.get("pid") for r in d["rows"])
print(pages > 2000, pids == {int(sys.argv[2])})' "$T/json" $hog)" "True True" \
	"it has the pages of the process that grew, and no other"
run memtap oom --last 1 --dir "$T/dir"
like "$out" 'rule 1 recorded from [0-9:]+ to [0-9:]+, the time of the kill included:' \
	"memtap oom: what was recorded before the kill"
like "$out" 'cgroup /rules' "of whom"
like "$out" "memtap report $file" "where the rest is"
memtap oom --last 1 --dir "$T/dir" --json > "$T/json"
is "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["recordings"])' \
	"$T/json")" "['$file']" "the same as JSON"
wait_for 20 rmdir $root/rules

# --- beside the history; a program
if not_twice; then
	echo 'RULE_any="available < 100% do run '"$T"'/script most 1/d"' > "$T/conf"
	printf '#!/bin/sh\necho "$MEMTAP_RULE: $MEMTAP_WHY"\n' > "$T/script"
	chmod +x "$T/script"
	memtap history start 1 --dir "$T/history" --config "$T/conf" 2> "$T/log" &
	watch=$!
	ok "a program is run" wait_for 60 grep -q 'rule any: ended' "$T/log"
	sleep 3
	kill $watch
	wait $watch
	is $? 0 "history ends"
	like "$(cat "$T"/history/actions/*.txt)" '^any: available memory is' "its output"
	is "$(ls "$T/history/actions" | wc -l)" 1 "once a day"
	is "$(grep -ac 'rule=rule any: available' "$T"/history/*.memtap)" 1 "it is in the history"
fi
done_testing
