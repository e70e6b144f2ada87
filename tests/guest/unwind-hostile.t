#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processes that change under the walk of their stacks: what they write there, what
# they map, how short they live, and who watches them.
# check: oldest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

export XDG_CACHE_HOME=$T/cache

# accounts FILE NAME: everything is counted, and the sums are right
accounts() {
	if ./unwind_share "$1" > "$T/shares"; then
		pass "$2"
		diag "its stacks: $(sed '/^ok/d' "$T/shares" | tr '\n' ' ')"
	else
		fail "$2"
		diag "$(cat "$T/shares")"
	fi
}
# frames_are_right NAME FILE TRUTH: a stack that is wrong says that it is cut
frames_are_right() {
	./unwind_check "$2" "$3" > "$T/verdicts"
	is "$(grep -E '^(wrong|short|stray)' "$T/verdicts" | head -n 5 | cut -c1-500)" '' "$1"
}

# --- a stack that another thread writes to
run memtap record -o "$T/f.memtap" fault -U -- ./wl_unwind_hostile rewrite
is "$status" 0 "a stack that is written to meanwhile: the program ends as it would"
accounts "$T/f.memtap" "and all is accounted for"
cmp_ok "$(awk '$1 == "all" { print $2 }' "$T/shares")" -ge 20000 "and every fault counted"

# --- code that comes, goes, moves, and is replaced
for again in $(seq "$(rounds 1 2)"); do
	run memtap record -o "$T/f.memtap" fault -U -- \
		./wl_unwind_hostile remap "$T/truth" "$(rounds 100 300)"
	is "$status" 0 "code is mapped, moved and replaced ($again)"
	frames_are_right "no stack has frames of what was there before ($again)" \
		"$T/f.memtap" "$T/truth"
	accounts "$T/f.memtap" "and all is accounted for ($again)"
done
bad=$(grep remapped "$T/verdicts" | grep -v ^same)
is "$bad" '' "each such place had stacks that are whole"

# --- many processes, each for a moment
storms=$(rounds 3 8)
storm() {
	local i k
	local -a short
	for ((i = 0; i < storms; i++)); do
		short=()
		for k in 1 2 3 4; do
			/bin/true &
			short+=($!)
			./wl_unwind_static "$T/storm.$k" plain &
			short+=($!)
		done
		wait "${short[@]}"
	done
}
memtap record -q -o "$T/f.memtap" fault mmap brk -U -a &
tool=$!
ready $tool
storm
end
accounts "$T/f.memtap" "a storm of processes, under -a: all is accounted for"
cmp_ok "$(awk '$1 == "all" { print $2 }' "$T/shares")" -ge $((storms * 60)) \
	"and there are many stacks"

# --- the tool is killed meanwhile
memtap record -q -o "$T/gone.memtap" fault mmap brk -U -a &
tool=$!
ready $tool
( sleep 1; kill -KILL $tool ) &
storm
wait $tool 2> /dev/null
ok "killed, the tool leaves no session" wait_for 300 \
	sh -c '! grep -q running /sys/kernel/debug/memtap/sessions'

# --- many sessions at once, each of its own process
declare -a tools=()
for i in 1 2 3 4 5 6; do
	XDG_CACHE_HOME=$T/cache.$((i % 2)) memtap record -q -o "$T/f$i.memtap" \
		wl_unwind:wl_stop fault mmap brk -U --children --max-mem 16M \
		-- ./wl_unwind "$T/truth$i" &
	tools+=($!)
done
failed=0
for pid in "${tools[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
is $failed 0 "six sessions at once"
for i in 1 2 3 4 5 6; do
	frames_are_right "session $i: each stack is right, or says why not" \
		"$T/f$i.memtap" "$T/truth$i"
	accounts "$T/f$i.memtap" "session $i: all is accounted for"
done
probes_clean "nothing is left attached"
done_testing
