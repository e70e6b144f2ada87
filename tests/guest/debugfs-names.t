#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names in debugfs come from processes, files and cgroups: no byte of one acts on a terminal,
# and none ends a line.
# guest: -m 640
# dmesg: allow Call Trace
# check: ends
. "$(dirname "$0")/lib.sh"

debug=/sys/kernel/debug/memtap
export LC_ALL=C
# escape sequences, a C1 control alone and as UTF-8, DEL, a line end and what would be a line of
# its own; turned writing; and letters that stay as they are
comm=$'\e]0;P\a\n\x9b\x7fFGED'
path=$'\e[31mX\nFORGED line\x9b\xc2\x9b\x7f\xe2\x80\xae\xff-\xc3\xa4-\\n'

cat > "$T/check" << 'END'
# check FILE...: says what is wrong with their bytes
import sys, unicodedata
for name in sys.argv[1:]:
    raw = open(name, "rb").read()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        print(name, "is not UTF-8:", raw[max(0, e.start - 20):e.end + 20])
        continue
    bad = {c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"))}
    if bad:
        print(name, "has", sorted(map(ascii, bad)))
    for line in text.split("\n"):
        if line.lstrip("?").startswith(("FORGED", "FGED", "GED")):
            print(name, "has a forged line:", ascii(line))
END
cat > "$T/hostile" << 'END'
# hostile COMM [eat]: calls itself so, opens the device, makes events; or eats all memory
import os, sys
open("/proc/self/comm", "wb").write(os.fsencode(sys.argv[1]))
if len(sys.argv) > 2:
    eaten = []
    while True:
        eaten.append(bytearray(os.urandom(1 << 12) * 256))
device = os.open("/dev/memtap", os.O_RDWR)
for i in range(50):
    b = bytearray(1 << 22)
print("ready", flush=True)
sys.stdin.read()
END

root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
# (the kernel takes no line end in a cgroup's name)
group="$root/${path//$'\n'/ }"
mkdir "$group"
echo $((32 << 20)) > "$group/$limit"
[ ! -e "$group/memory.swap.max" ] || echo 0 > "$group/memory.swap.max"

mkdir "$T/programs"
# (it makes its system calls itself, and has frame pointers)
cp ./wl_heap "$T/programs/$path"
ok "(the recorder is on)" sh -c "echo fault,brk,slab > /sys/module/memtap/parameters/watch"
echo 1 > /sys/module/memtap/parameters/stall_ms
"$T/programs/$path" -e /dev/null > /dev/null
mkfifo "$T/end"
exec 7<> "$T/end"
start_until "$T/opener" ready python3 "$T/hostile" "$comm" < "$T/end" 7>&-
opener=$started
memtap stacks "u:$T/programs/$path+0x1000" -d 600 > /dev/null 2> "$T/probe.err" &
tool=$!
memtap stacks fault -d 600 > /dev/null 2>&1 &
other=$!
ready $other
(echo "$BASHPID" > "$group/cgroup.procs"
exec python3 "$T/hostile" "$comm" eat) > /dev/null 2>&1
wait_for 30 grep -q '^OOM kill' $debug/oom
not_hidden() { grep -aq 'FGED' "$debug/oom"; }
ok "(an OOM kill of a process with such a name)" wait_for 30 not_hidden

mkdir "$T/read"
for file in summary hooks sessions oom slab pages reclaim compact swap pressure stacks/brk \
	stacks/minor-fault stacks/mmap; do
	cat "$debug/$file" > "$T/read/${file//\//-}"
done
for file in "$T"/read/*; do
	is "$(python3 "$T/check" "$file")" "" "$(basename "$file"): all bytes are printable"
done
like "$(grep -a 'victim' "$T/read/oom" | head -n 1)" '^  victim \?\]0;P\?\?\?\?FGED \[[0-9]+\]' \
	"oom: each such byte of the victim's name is a '?'"
like "$(grep -ac 'cgroup .*\?\[31mX FORGED line' "$T/read/oom")" '^[1-9]' \
	"oom: the cgroup's name, in one line"
like "$(cat "$T/read/sessions")" '[0-9]+ \?\]0;P\?\?\?\?FGED +new' "sessions: the opener's name"
like "$(cat "$T/read/stacks-brk" "$T/read/stacks-minor-fault")" \
	'programs/\?\[31mX\?FORGED line.*\+0x[0-9a-f]+' "stacks: a file's name"
like "$(cat "$T"/read/*)" $'-\xc3\xa4-\\\\n' "letters, and a backslash, stay as they are"

# the tool's reports of the same process and file
for format in text json folded flame perf-script; do
	case $format in
	json|folded) ask=("--$format") ;;
	flame) ask=(--flame "$T/read/flame" -o /dev/null) ;;
	perf-script) ask=(--format perf-script) ;;
	*) ask=() ;;
	esac
	memtap stacks brk "${ask[@]}" -- "$T/programs/$path" -e /dev/null \
		> "$T/report" 2> "$T/report.err"
	[ $format != flame ] || cp "$T/read/flame" "$T/report"
	like "$(cat "$T/report")" 'FORGED' "memtap stacks, $format: (the name is there)"
	# (a tab is what the formats have of their own)
	tr -d '\t' < "$T/report" > "$T/report.$format"
	is "$(python3 "$T/check" "$T/report.$format" "$T/report.err")" "" \
		"memtap stacks, $format: all bytes are printable"
done

# the kernel's log
not_ok "an event with such a name is refused" \
	sh -c "printf 'a\\033[31mb' > /sys/module/memtap/parameters/watch"
like "$(dmesg | tail -n 3)" "no event 'a\?\[31mb'" "and its name in the log is clean"

exec 7>&-
kill $tool 2> /dev/null
kill -INT $other
wait $opener $tool $other 2> /dev/null
echo > /sys/module/memtap/parameters/watch
echo 0 > /sys/module/memtap/parameters/stall_ms
wait_for 20 rmdir "$group"
probes_clean "nothing is attached"
done_testing
