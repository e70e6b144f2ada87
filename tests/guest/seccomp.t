#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes on returns, and programs under a seccomp filter: where the kernel's trampoline
# calls the kernel, they are refused unless it is known that the call passes.
# kernels: 6.1 6.12 7.2
# check: ends
. "$(dirname "$0")/lib.sh"

# A filter that lets everything pass is one, too.
cat > "$T/filtered.py" << 'EOF'
import ctypes, struct, sys, time
libc = ctypes.CDLL(None)
if len(sys.argv) > 1:
    code = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7fff0000))
    prog = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 1, ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog):
        sys.exit("no filter")
print("ready", flush=True)
while True:
    libc.getppid()
    time.sleep(0.01)
EOF
started() {
	start_until "$T/said" ready python3 "$T/filtered.py" "$@"
	pid=$started
}
started filter; filtered=$pid
started; free=$pid
is "$(awk '/^Seccomp:/ { print $2 }' "/proc/$filtered/status")" 2 "(one is under a filter)"

# The experiment opens its own program: one without a name cannot, and knows nothing.
cp "$(command -v memtap)" "$T/blind"
exec 9< "$T/blind"
rm "$T/blind"
blind=/proc/self/fd/9
probe=ur:c:getppid

for who in filtered free; do
	exits 0 "$probe of who is $who" memtap stacks "$probe" -p "${!who}" -d 0.3
	exits 0 "leaks of who is $who" memtap leaks -p "${!who}" -d 0.3
done
exits 0 "$probe of everybody" memtap stacks "$probe" -d 0.3
ok "who is filtered lives" kill -0 "$filtered"

if ! kver_ge 6.11; then
	exits 0 "nothing to be known: $probe of who is filtered" \
		$blind stacks "$probe" -p "$filtered" -d 0.3
	kill "$filtered" "$free"
	done_testing
	exit
fi
refused() {
	local name=$1
	shift
	exits 1 "not known to pass: $name is refused" "$@"
	like "$err" "process [0-9]+ has a seccomp filter" "$name: and it says why"
}
noted() {
	local name=$1
	shift
	exits 0 "not known to pass: $name" "$@"
	like "$err" 'seccomp filter may kill' "$name: what may come is said"
}
refused "$probe of who is filtered" $blind stacks "$probe" -p "$filtered" -d 0.3
refused "$probe of everybody" $blind stacks "$probe" -d 0.3
refused "leaks of who is filtered" $blind leaks -p "$filtered" -d 0.3
exits 0 "entries alone are no danger" $blind stacks u:c:getppid -p "$filtered" -d 0.3
unlike "$err" seccomp "and nothing is said"
noted "$probe of who is free" $blind stacks "$probe" -p "$free" -d 0.3
noted "leaks of who is free" $blind leaks -p "$free" -d 0.3
noted "leaks of who is not there yet" $blind leaks --comm nobody -d 0.3
noted "$probe of a program" $blind stacks "$probe" -- true
noted "leaks of a program" $blind leaks -- true
kill "$filtered" "$free"
done_testing
