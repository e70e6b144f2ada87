#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tool with CAP_PERFMON alone: stacks and counts work; what needs more says which capability
# is missing, and for what.
# check: once
. "$(dirname "$0")/lib.sh"

command -v python3 > /dev/null || skip_all "no python3"
[ "$(cat /proc/sys/kernel/cap_last_cap)" -ge 39 ] || skip_all "this kernel has no CAP_PERFMON"
cat > "$T/as" << 'END'
# as CAP[,CAP] COMMAND...: uid 65534 with these capabilities and no other
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
caps = sum(1 << int(c) for c in sys.argv[1].split(",") if c)
def must(ret):
    if ret: raise OSError(ctypes.get_errno(), "as")
must(libc.prctl(8, 1, 0, 0, 0))		# PR_SET_KEEPCAPS
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
words = [caps & 0xffffffff] * 3 + [caps >> 32] * 3
must(libc.capset(struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *words)))
for c in range(64):
    if caps >> c & 1:
        must(libc.prctl(47, 2, c, 0, 0))	# PR_CAP_AMBIENT_RAISE
os.execvp(sys.argv[2], sys.argv[2:])
END
PERFMON=38 BPF=39
chmod 666 /dev/memtap
chmod 755 "$T"
cd "$T" || bail_out "$T"
mkdir out && chmod 777 out
here=$OLDPWD
# (wl_heap locks its memory)
ulimit -l unlimited
as() { python3 "$T/as" "$@"; }
home() { HOME=$T/out as "$@"; }

# --- what it may
for caps in $PERFMON $PERFMON,$BPF; do
	exits 0 "$caps: faults" home "$caps" memtap faults -- /bin/true
	like "$out" 'minor-fault' "$caps: faults: there is a report"
	exits 0 "$caps: stacks" home "$caps" memtap stacks brk -- "$here/wl_heap" -e /dev/null
	like "$out" '^brk: [0-9]+ ' "$caps: stacks: there is a report"
	is "$(grep -c 'CAP_BPF' <<< "$out$err")" "$([ $caps = $PERFMON ] && echo 1 || echo 0)" \
		"$caps: stacks: what is missing for whole stacks is said, once, where it is missing"
	exits 0 "$caps: a kernel function" home "$caps" memtap stat k:vfs_read -d 1
	exits 0 "$caps: status" home "$caps" memtap status
done
like "$(home $PERFMON memtap status)" '^rights: +stacks and counts' "status says what it may"
like "$(home $PERFMON,$BPF memtap status)" '^rights: +all' "and with both, everything"
like "$(home $PERFMON memtap doctor 2>&1)" 'CAP_PERFMON alone' "doctor says so, too"

# --- what it may not
refused() {
	local name=$1
	shift
	exits 1 "CAP_PERFMON: $name is refused" home $PERFMON memtap "$1" -q "${@:2}"
	one_sentence "$name: in one sentence"
	like "$err" 'needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN \(root\): ' \
		"$name: which names what is missing, and for what"
}
refused "an argument" trace 'k:vfs_read(n=arg2)' -d 1
refused "a filter by a string" stat 'k:vfs_read' --filter 'arg2 > 1' -d 1
refused "leaks" leaks -d 1 -- /bin/true
refused "--unwind dwarf" stacks brk --unwind dwarf -- /bin/true
exits 1 "without CAP_PERFMON: nothing" home $BPF memtap stacks brk -- /bin/true
like "$err" 'CAP_SYS_ADMIN or CAP_PERFMON' "and it says which"
exits 0 "CAP_PERFMON and CAP_BPF: an argument" home $PERFMON,$BPF \
	memtap stat 'k:vfs_read' --filter 'arg2 > 1' -d 1
chmod 600 /dev/memtap
probes_clean "nothing is attached"
done_testing
