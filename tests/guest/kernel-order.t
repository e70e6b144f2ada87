#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap leaks -k` in a machine whose slabs churn: what holds most bytes comes first, whichever
# allocator it is of; one process, where --by asks for it, has its name; merged caches have all
# of theirs; and no end of memory is forecast from what the kernel takes back.
#
# check: once
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
run=/sys/module/kleak/parameters/run
for_this_kernel kleak/kleak.ko || skip_all "kleak.ko was not built for this kernel"
insmod kleak/kleak.ko || bail_out "kleak.ko cannot be loaded"

# begin OPTIONS...: memtap leaks -k runs, and hears of objects from here on
begin() {
	local last=vunmap
	[[ $* != *--cache* ]] || last=kmem_cache_free_bulk
	memtap leaks -k "$@" > "$T/out" 2> "$T/err" &
	pid=$!
	wait_for 60 grep -Eq "$last.*attached|attached.*$last" /sys/kernel/debug/memtap/hooks
	sleep 0.5
}
end() {
	kill -INT $pid
	status=0
	wait $pid || status=$?
	is "$status" 0 "$1: memtap ends well"
	[ "$status" = 0 ] || diag "$(cat "$T/err")"
}
# rows FILE: the function of the module, or the first one, of each row
rows() {
	awk '/^\t[~0-9]+ bytes? in / { if (n++) print fn; fn = "" }
		/^\t\t[^ -]/ && (fn == "" || $1 ~ /^kl_/) && fn !~ /^kl_/ { fn = $1 }
		END { if (n) print fn }' "$1" | sed 's/+0x.*//'
}

# --- files, sockets and processes that come and go
cat > "$T/churn" << 'EOF'
import os, socket, sys, time
while os.path.exists(sys.argv[1]):
    for i in range(50):
        a, b = socket.socketpair()
        a.send(b"x" * 300)
        b.close()
        a.close()
        fd = os.open("%s-%d" % (sys.argv[1], i), os.O_CREAT | os.O_RDWR)
        os.pipe2(os.O_CLOEXEC)
        os.close(fd)
        os.unlink("%s-%d" % (sys.argv[1], i))
    os.closerange(4, 200)
EOF
touch "$T/noise"
python3 "$T/churn" "$T/noise" &
begin
sleep 1
echo large > $run
sleep 2
end "all allocators"
rm -f "$T/noise"
like "$(head -n 1 "$T/out")" 'Top 10 stacks with outstanding memory' "ten rows of all allocators"
is "$(rows "$T/out" | tail -n 2 | tr '\n' ' ')" "kl_area kl_blocks " \
	"what holds most bytes comes first, pages and areas alike" || diag "$(cat "$T/out")"
like "$(cat "$T/out")" '^slab: [0-9,]+ stacks.*; shown: [0-8] stacks?, ' \
	"slabs have what is left of ten"
echo free > $run

# --- one process
begin --by process --cache kleak_by_rcu
bash -c 'echo leak > '$run'; echo $$' > "$T/pid"
end "one process"
like "$(cat "$T/out")" \
	$'^\t[0-9]+ bytes in 55 objects of kleak_by_rcu.* by bash \\['"$(< "$T/pid")"'\]$' \
	"--by process names the only one" || diag "$(cat "$T/out")"
echo free > $run

# --- caches that the kernel merged
twin=$(readlink /sys/kernel/slab/kleak_twin || true)
if [ -n "$twin" ] && [ "$twin" = "$(readlink /sys/kernel/slab/kleak_plain)" ]; then
	begin --by cache --cache 'kleak_tw*'
	echo leak > $run
	end "merged caches"
	like "$(cat "$T/err")" 'cache kleak_twin is merged with [^ ]+ here' \
		"--cache: a pattern finds a cache by another name of it"
	like "$(cat "$T/out")" $'^\t[0-9]+ bytes in [0-9]+ objects of .*kleak_(plain|twin)' \
		"its objects are kept"
	like "$(cat "$T/out")" $'^\t[0-9]+ bytes in [0-9]+ objects of [^ ]+ \\(also [^)]+\\)$' \
		"and the other names are told" || diag "$(cat "$T/out")"
	echo free > $run
else
	skip "merged caches" "this kernel merges none"
fi
rmmod kleak

# --- what the kernel can take back: names that are not there
cat > "$T/names" << 'EOF'
import os, sys, time
n, end = 0, time.time() + float(sys.argv[1])
while time.time() < end:
    for i in range(40):
        n += 1
        os.path.exists("/usr/lib/not-there-%d" % n)
    time.sleep(0.05)
EOF
begin --cache dentry --by cache
python3 "$T/names" 4
end "dentries"
like "$(cat "$T/out")" 'growing: .* an hour .*; the kernel reclaims .* so no end is' \
	"no end of memory is forecast from what the kernel takes back" || diag "$(cat "$T/out")"
unlike "$(cat "$T/out")" 'at this rate it reaches .* in ' "and none beside that"
probes_clean "nothing is left attached"
done_testing
