#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls about mappings as they come, each with its arguments and its result: those of the
# program, none missing, in the order of each thread; and those of shared memory.
# check: all
. "$(dirname "$0")/lib.sh"

# Of what is between the program's two marks, COMM and all that follows it.
between() {
	awk -v mark="$1" '$0 ~ mark { n++; next } n == 1' "$2" |
		sed -E -e 's/^ *[0-9.]+ +[0-9]+ +//' -e 's/ +/ /g' -e 's/ $//'
}
# What is said of the lines of $1 where nobody may ask for the path of a call's file in a hook.
without_paths() {
	sed -E -e '/ mmap /s,( 0x[0-9a-f]+| -E[A-Z]+) (/|\.\.\.).*$,\1 ?,' \
		-e 's,file: "/[^"]*",file: "",' "$1"
}
# traced NAME PROGRAM KIND MARK COMMAND...
traced() {
	local name=$1 program=$2 kind=$3 mark=$4
	shift 4
	rm -f "$T/truth"
	run "$@" -o "$T/got" -- "./$program" "$kind" "$T" "$T/truth"
	is "$status" 0 "$name: exit status"
	unlike "$err" 'missing' "$name: nothing is lost"
	between "$mark" "$T/got" > "$T/lines"
	for who in wl_calls other; do
		[ $kind = mmap ] || [ $who = wl_calls ] || continue
		grep "^$who " "$T/lines" > "$T/mine"
		grep "^$who " "$T/truth" > "$T/want"
		if real_time; then
			without_paths "$T/want" > "$T/want.rt"
			mv "$T/want.rt" "$T/want"
		fi
		same_file "$T/mine" "$T/want" "$name: each line of $who, in order"
	done
	is "$(grep -cv -e '^wl_calls ' -e '^other ' "$T/lines")" 0 "$name: and no other"
}
umask 0
unmapped=' munmap +- +- +- +1 -EINVAL +0x1$'
traced "64 bits" wl_calls mmap "$unmapped" memtap mmap --snoop --all
like "$(head -n 1 "$T/got")" \
	'^TIME +PID COMM +CALL +PROT +MAP +OFFS\(KB\) +SIZE\(KB\) RESULT +FILE or ADDRESS$' \
	"a header"
if [ -z "${SMOKE:-}" ]; then
	traced "32 bits" wl_calls32 mmap "$unmapped" memtap mmap --snoop --all
fi
detached=' shmdt +-EINVAL +addr: 0x1$'
traced "shared memory" wl_calls shm "$detached" memtap shm
like "$(head -n 1 "$T/got")" '^TIME +PID COMM +CALL +RESULT +ARGUMENTS$' "a header"
if [ -z "${SMOKE:-}" ]; then
	traced "shared memory, 32 bits" wl_calls32 shm "$detached" memtap shm
fi
run memtap mmap --snoop -T -- ./wl_calls many 3
like "$out" '^TIME +PID COMM +PROT +MAP +OFFS\(KB\) +SIZE\(KB\) RESULT +FILE$' \
	"mmap() alone: a header"
is "$(grep -Ec '^[0-9:]{8}\.[0-9]+ +[0-9]+ wl_calls +R-- +-P-A +0 +0 -EINVAL +\[anonymous\]$' \
	<<< "$out")" 3 "calls that fail, and the time of day"
if real_time; then
	skip "the dynamic linker's, which opened the file" "d_path() may sleep on PREEMPT_RT"
else
	like "$out" ' R-E +-PF?- .* 0x[0-9a-f]+ +/.*/libc' \
		"the dynamic linker's, which opened the file"
fi

# --- the same events for all questions
run memtap trace 'mmap(len,prot,flags,ret)' --filter 'ret < 0 && len == 0' -- ./wl_calls many 2
like "$out" 'mmap len=0 prot=PROT_READ flags=MAP_PRIVATE\|MAP_ANONYMOUS ret=-EINVAL' \
	"trace has the arguments by name"
is "$(grep -c 'mmap len=0' <<< "$out")" 2 "and the filter"
run memtap count mmap --by flags --filter 'ret < 0' -- ./wl_calls many 5
like "$out" '^ +5 +.*MAP_PRIVATE\|MAP_ANONYMOUS$' "count by an argument"
like "$(memtap list mmap)" '^  prot +u32$' "list has them"
run memtap mmap --snoop --flame x.html -- ./wl_calls many 2
is "$status" 2 "a table is no flame graph: exit status"
one_sentence "a sentence"

# --- who holds what
./wl_calls hold "$T/held" &
holder=$!
wait_for 60 test -s "$T/held"
run memtap shm --live
is "$status" 0 "who holds what: exit status"
like "$out" "^sysv +20.0 KiB +12.0 KiB +2  shmid $(< "$T/held"), key 0x4d55, 0600, created by \
wl_calls\[$holder\], last attached or detached by wl_calls\[$holder\]$" "a segment"
like "$(grep -A 1 'key 0x4d55' <<< "$out")" "^ +held by wl_calls\[$holder\] 2 maps 0 fds$" \
	"by two mappings"
like "$(grep -A 1 '^memfd +28.0 KiB +0 B +0  memfd:held$' -E <<< "$out")" \
	"^ +held by wl_calls\[$holder\] 0 maps 1 fd$" "a memfd, by a descriptor"
like "$(grep -A 1 '^posix +36.0 KiB +4.0 KiB +1  /dev/shm/wl_held$' -E <<< "$out")" \
	"^ +held by wl_calls\[$holder\]$" "a file of shm_open()"
kill -KILL $holder
wait $holder 2> /dev/null
is "$(memtap shm --live --json | python3 -c '
import json, sys
print(sorted([s["kind"], s["attached"], s["holders"]] for s in json.load(sys.stdin)["segments"]
	     if s.get("key") == 0x4d55 or s["name"] == "/dev/shm/wl_held"))')" \
	"[['posix', 0, []], ['sysv', 0, []]]" "what nobody holds any more is still there"
ipcrm -M 0x4d55
rm -f /dev/shm/wl_held

# --- ten thousand a second, at the size that rings have
if [ -z "${SMOKE:-}" ]; then
	seconds=$(rounds 3 60)
	run memtap trace 'mmap(len,ret)' --filter 'len == 0' -o "$T/got" \
		-- ./wl_calls rate 10000 "$seconds"
	is "$status" 0 "10000 calls a second: exit status"
	is "$(grep -c ' mmap len=0 ret=-EINVAL' "$T/got")" $((10000 * seconds)) "all are there"
	unlike "$err" 'missing' "nothing is lost"
	ok "in the order of their time" sort -c -n -s -k 1,1 "$T/got"
fi

# --- losses are counted, and calls that end with their program are no riddle
run memtap trace 'mmap(len,ret)' --filter 'len == 0' -o "$T/got" -- ./wl_calls exit
is "$status" 3 "a program that ends in the middle of calls: its exit status"
written=$(grep -c ' mmap len=0' "$T/got")
cmp_ok "$written" -gt 0 "calls are shown"
# (what the tool did not take over in time is another matter: eight threads do nothing else)
unlike "$err" '(no-return|no-entry|missed|left)$|(no-return|no-entry|missed|left),' \
	"and none of those that returned is lost"
probes_clean "nothing is left attached"
done_testing
