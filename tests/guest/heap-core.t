#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap --core`: a core file of this kernel has the same answers as the process had.
# check: ends
# needs: unloaded
. "$(dirname "$0")/lib.sh"

pattern=$(cat /proc/sys/kernel/core_pattern)
restore() {
	echo "$pattern" > /proc/sys/kernel/core_pattern
}
trap restore EXIT

# same A B: all that does not depend on how it was read
same() {
	python3 - "$1" "$2" <<-'PY'
		import json, sys
		how = ('stopped_ns', 'tries', 'copied_bytes', 'read_bytes', 'method', 'core')
		a, b = ({k: v for k, v in json.load(open(f)).items() if k not in how}
		        for f in sys.argv[1:])
		bad = [k for k in sorted(set(a) | set(b)) if a.get(k) != b.get(k)]
		for k in bad:
		    x, y = ([str(v)[:400] for v in d[k]] if isinstance(d.get(k), list) else
		            [str(d.get(k))] for d in (a, b))
		    print('#', k, [v for v in x if v not in y], [v for v in y if v not in x],
		          '(or their order)')
		sys.exit(bool(bad))
	PY
}

# (not wl_malloc: in cores of 5.10 thread-local memory of its threads is named as their stacks)
programs=(wl_malloc_cxx)
for program in "${programs[@]}"; do
	name=${program%% *}
	ulimit -c unlimited
	# shellcheck disable=SC2086
	start_until "$T/said" '^ready$' ./$program || diag "$program is not ready"
	pid=$started
	rm -f "$T/saved"
	exits 0 "$name: while it runs" memtap heap -q --retained --json --top 0 -o "$T/live" \
		--save "$T/saved" $pid
	echo "$T/core.$name" > /proc/sys/kernel/core_pattern
	kill -ABRT $pid
	wait $pid 2> /dev/null
	restore
	exits 0 "$name: of what was saved" memtap heap -q --retained --json --top 0 \
		-o "$T/json" "$T/saved"
	ok "the same" same "$T/live" "$T/json"
	core=$(echo "$T/core.$name"*)
	exits 0 "$name: of the kernel's core file" memtap heap -q --retained --json --top 0 \
		-o "$T/json" --core "$core"
	ok "the same" same "$T/live" "$T/json"
	head -c $(($(stat -c %s "$core") - 100000)) "$core" > "$T/part"
	exits 1 "without its end" memtap heap --core "$T/part"
	like "$out" '^the file is truncated: [0-9.]+ KiB of memory are missing' "that is said"
done
done_testing
