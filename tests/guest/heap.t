#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap`: what malloc holds is what it says itself, and what nothing leads to is found.
# check: ends
# needs: unloaded
. "$(dirname "$0")/lib.sh"

start() {
	start_until "$T/said" '^ready$' "$@" || diag "$1 is not ready"
	pid=$started
}
finish() {
	kill $pid
	wait $pid 2>/dev/null
}
# (one process answers for all: Python takes a while to start)
compare() {
	python3 - "$T/json" "$T/info" <<-'PY'
		import json, re, sys
		d, info = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
		def ok(good, name, *what):
		    print('%s - %s' % ('ok' if good else 'not ok', name))
		    if not good: print('#', *what)
		line = r'<total type="(fast|rest)" count="(\d+)" size="(\d+)"' \
		       r'|<system type="(current)" size="(\d+)"'
		heaps = [re.findall(line, h)
		         for h in re.split('<heap nr=', info.split('</heap>\n<total')[0])[1:]]
		ok(len(heaps) == len(d['arenas']) and len(heaps) > 1, 'as many arenas', len(heaps))
		# the circle of arenas is in another order than malloc's numbers
		says, found = [], []
		for h in heaps:
		    t = {r[0] or r[3]: (int(r[1] or 0), int(r[2] or r[4])) for r in h}
		    says.append((t['current'][1], t['fast'], t['rest']))
		for a in d['arenas']:
		    found.append((a['system_bytes'], (a['fast_blocks'], a['fast_bytes']),
		                  (a['free_blocks'] + 1, a['free_bytes'] + a['top_bytes'])))
		says.sort(), found.sort()
		ok([s[0] for s in says] == [f[0] for f in found],
		   'bytes of the kernel', says, found)
		# malloc adds the lower bits of what it sums up: one for each that is free
		near = lambda s, f: s[0] == f[0] and f[1] <= s[1] <= f[1] + 8 * s[0]
		ok(all(near(s[1], f[1]) for s, f in zip(says, found)),
		   'small free ones', says, found)
		ok(all(near(s[2], f[2]) for s, f in zip(says, found)),
		   'free ones, with the top', says, found)
		for a in d['arenas']:
		    if a['system_bytes'] != sum(a[k] for k in (
		            'used_bytes', 'cached_bytes', 'fast_bytes', 'free_bytes',
		            'top_bytes', 'overhead_bytes', 'foreign_bytes')):
		        ok(False, 'an arena adds up', a)
		mm = re.search(r'type="mmap" count="(\d+)" size="(\d+)"', info)
		ok((d['mapped_blocks'], d['mapped_system_bytes']) == (int(mm[1]), int(mm[2])),
		   'blocks with mappings of their own', d['mapped_blocks'], mm[0])
		ok(d['complete'] and d['caches'] == 6,
		   'all adds up, and each thread has a cache', d['caches'])
		ok(d['unreachable_blocks'] == 500 and d['definite_blocks'] == 401,
		   'what is lost', d['unreachable_blocks'], d['definite_blocks'])
		ops = [r for r in d['unreachable'] if r.get('what') == 'lost_operations']
		ok(sum(r['blocks'] for r in ops) == 400, 'by the table that it begins with', ops)
		ok(d['maybe_cached_blocks'] == 0, 'no cache is missed', d['maybe_cached_blocks'])
		ok(d['top_pad_bytes'] == 192 << 10, 'what it takes ahead', d['top_pad_bytes'])
		ok(d['possible_blocks'] == 0, 'and nothing else is in doubt', d['possible_blocks'])
	PY
}

start ./wl_malloc "$T/info"
run memtap heap $pid --json --top 0 -o "$T/json"
is "$status" 0 "it answers, without the module"
like "$err" "process $pid will be stopped for about .* read" "the pause is announced"
while read -r line; do
	case $line in
		'ok - '*) pass "${line#ok - }" ;;
		'not ok - '*) fail "${line#not ok - }" ;;
		*) diag "$line" ;;
	esac
done <<< "$(compare)"
run memtap heap -q --no-unreachable -p $pid
unlike "$out" 'pointer leads' "--no-unreachable says nothing of what is lost"
like "$out" '^all +[0-9.]+ MiB' "but all the rest"
exits 1 "an impossible pause" memtap heap --max-pause 1 $pid
one_sentence "is refused"
ok "the process goes on" kill -0 $pid
finish

start ./wl_malloc_cxx
run memtap heap -q -p $pid
# (a register may still have the address of one)
like "$out" ' 1,(400|39[0-9]) +88  shop::Session' "objects that nothing leads to, by their class"
like "$out" ' (300|29[0-9]) +216  shop::Basket' "and those that only they lead to"
unlike "${out##*UNREACHABLE}" 'shop::Thing' "no other"
like "$out" ' 1,900  shop::Session' "what blocks are, lost or not"
run memtap heap -q --retained $pid
like "$out" ' 50[01]  global `kept` in wl_malloc_cxx' "the variable that holds the others"
like "$out" ' 1,[67][0-9][0-9]  nothing: unreachable' "and nothing, the lost ones"
run memtap heap -q --path shop::Session $pid
like "$out" '^global `kept` in wl_malloc_cxx' "a path to one of them"
finish

for lib in libjemalloc.so.2:jemalloc libtcmalloc_minimal.so.4:tcmalloc; do
	file=$(ls /usr/lib/x86_64-linux-gnu/"${lib%:*}" 2> /dev/null) || continue
	LD_PRELOAD=$file start ./wl_malloc "$T/info"
	run memtap heap -q $pid
	# (what sid has is not known: it is named, and nothing is shown for it)
	if [ "$status" = 1 ] && [ "${lib#*:}" = tcmalloc ] && kver_ge 7.0; then
		like "$err" "uses ${lib#*:} .* heap is not walked: its structures were not recog" \
			"${lib#*:} of this release is not known, which is said"
	else
		is "$status" 0 "${lib#*:}"
		like "$out" "^wl_malloc\[$pid\]: ${lib#*:}, [0-9]+ arena" "its heap is read"
		unlike "$out" 'not walked' "all of it"
	fi
	finish
done

# --- of what is swapped out nothing is swapped in, unless that is wanted ---

# 10,000 blocks that a process gives to the swap file itself; where its libc's data is stays
swapped() {
	exec python3 -u -c '
import ctypes, time
keep = [bytearray(b"x" * 2000) for _ in range(10000)]
libc = ctypes.CDLL(None)
for line in open("/proc/self/maps"):
    if line.endswith("[heap]\n"):
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 21)
print("ready")
time.sleep(10000)'
}
in_swap() { sed -n 's/^VmSwap:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/status; }

if fallocate -l 100M /swap && chmod 600 /swap && mkswap /swap > /dev/null && swapon /swap &&
	start swapped && [ "$(in_swap)" -gt 15000 ]; then
	before=$(in_swap)
	exits 1 "a process that is swapped out" memtap heap --json -o "$T/json" $pid
	like "$err" "process $pid has [0-9.]+ MiB swapped out, which will not be read; --swapped" \
		"what will be left out is said before"
	ok "nothing is swapped in" [ "$(in_swap)" -gt $((before - 1000)) ]
	ok "what was not walked is named" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(not (d["unknown_bytes"] > 10 << 20 and d["swapped_out_bytes"] > 10 << 20 and
              any("swapped out" in g["reason"] for g in d["not_walked"])))' "$T/json"
	exits 0 "with --swapped it is walked" memtap heap --swapped $pid
	like "$err" "has [0-9.]+ MiB swapped out, which will be read and thereby swapped in" \
		"and that is said before, too"
	ok "which swaps it in" [ "$(in_swap)" -lt 1000 ]
	finish
else
	skip "a process that is swapped out" "nothing can be swapped out here"
fi
swapoff /swap 2> /dev/null || true
rm -f /swap

exits 1 "a process that is not there" memtap heap 4000000
exits 2 "none at all" memtap heap
done_testing
