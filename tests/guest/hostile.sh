# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests with hostile programs:  . "$(dirname "$0")/hostile.sh"  after truth.sh.
#
#	hostile ARGS...		starts it, up to where it waits for SIGUSR1; its process
#				is $pid
#	lives NAME		lets it go on: it ends as it would have
#	tool_begin ARGS...	memtap in the background, when it counts; $tool
#	over NAME		SIGINT to it: it ends, before long, within $most KiB
#	highest PID		how much memory it took, in KiB, to $T/highest; in the
#				background, $watcher
#	bounded NAME STATUS... -- COMMAND...	ends with one of these, in time and in bounds
#	watched NAME FILE...	a process maps them, is recorded, asked what leaks

most=${most:-$((640 << 10))}
patience=${patience:-600}	# seconds

hostile() {
	start_until "$T/said" ready "$@" 2> "$T/said.err" ||
		diag "$* is not ready: $(cat "$T/said.err")"
	pid=$started
}
lives() {
	local rc=0
	kill -USR1 "$pid"
	if ! wait_gone "$patience" "$pid"; then
		diag "it hangs: $(cat "/proc/$pid/stack")"
		kill -KILL "$pid"
	fi
	wait "$pid" 2> /dev/null || rc=$?
	is "$rc" 0 "$1: the program ends as it would have"
	like "$(cat "$T/said")" '^lives [0-9]+' "$1: and computed what it should"
	diag "$(tail -n 1 "$T/said") $(cat "$T/said.err")"
}
highest() {
	local key kib most_seen=0
	while kill -0 "$1" 2> /dev/null; do
		while read -r key kib _; do
			[ "$key" != VmHWM: ] || [ "$kib" -lt "$most_seen" ] || most_seen=$kib
		done < "/proc/$1/status"
		echo "$most_seen" > "$T/highest"
		sleep 0.3
	done 2> /dev/null &
	watcher=$!
}
tool_begin() {
	"$@" > /dev/null 2> "$T/err" &
	tool=$!
	highest $tool
	ready $tool "$patience" || diag "no session: $* $(cat "$T/err")"
}
over() {
	local rc=0
	kill -INT "$tool" 2> /dev/null
	if ! wait_gone "$patience" "$tool"; then
		diag "memtap hangs: $(cat "/proc/$tool/task"/*/stack)"
		kill -KILL "$tool"
	fi
	wait "$tool" 2> /dev/null || rc=$?
	wait "$watcher"
	is "$rc" 0 "$1: memtap reports"
	[ "$rc" = 0 ] || diag "$(cat "$T/err")"
	cmp_ok "$(cat "$T/highest")" -le "$most" "$1: within bounds of memory"
	diag "$(cat "$T/highest") KiB"
}

# hostile_files [small]: makes files that look like programs, in $T/f; the names of the large
# ones in $files, or of the small ones, which are all that are made then
hostile_files() {
	export XDG_CACHE_HOME=$T/cache
	mkdir "$T/f"
	./hostile-elf wl_load_lib.so "$T/f" "$@" > "$T/names"
	mapfile -t files < "$T/names"
	[ $# != 0 ] || mapfile -t files < <(grep ^big- "$T/names")
}

bounded() {
	local name=$1 want=' ' kib
	shift
	while [ "$1" != -- ]; do
		want+="$1 "
		shift
	done
	shift
	status=0
	"$@" > "$T/run.out" 2> "$T/run.err" < /dev/null &
	command=$!
	highest $command
	wait_gone "$patience" $command || kill -KILL $command
	wait $command 2> /dev/null || status=$?
	wait "$watcher"
	kib=$(cat "$T/highest")
	if [[ $want != *" $status "* ]]; then
		fail "$name: exit status$want"
		diag "$status after $kib KiB: $(head -c 500 "$T/run.err")"
	elif [ "$status" = 1 ] && [ ! -s "$T/run.err" ]; then
		fail "$name: a sentence"
	elif [ "$kib" -gt $most ]; then
		fail "$name: within bounds of memory"
		diag "$kib KiB"
	else
		pass "$name"
	fi
}

watched() {
	local name=$1
	shift
	hostile ./wl_hostile files "$@"
	tool_begin memtap record -q -o "$T/r.memtap" fault brk -U --unwind dwarf -p "$pid"
	lives "$name"
	over "$name"
	./wl_load_books "$T/r.memtap" > "$T/books"
	is $? 0 "$name: the accounts add up"
	bounded "$name: the report" 0 -- memtap report "$T/r.memtap" --json --top 0 -o "$T/json"
	hostile ./wl_hostile files "$@"
	tool_begin memtap leaks -o "$T/out" -p "$pid"
	lives "$name, leaks"
	over "$name, leaks"
}
