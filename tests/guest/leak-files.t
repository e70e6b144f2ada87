#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs with more files than may be open at once: their allocators are found, and
# what could not be opened is named.
# check: once
. "$(dirname "$0")/lib.sh"

cat > "$T/mapped.py" << 'EOF'
import mmap, sys, time
kept = []
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        kept.append(mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print("ready", flush=True)
time.sleep(1000)
EOF
mapped() {
	start_until "$T/said" ready python3 "$T/mapped.py" "$@"
	pid=$started
}
limited() {
	local limit=$1
	shift
	bash -c "ulimit $limit; exec \"\$@\"" - "$@"
}

mkdir "$T/plain" "$T/own"
tee "$T"/plain/{1..200}.so < wl_load_lib.so > /dev/null
mapped "$T/plain"/*
for limit in '-Sn 50' '-n 50'; do
	exits 0 "200 files, ulimit $limit" limited "$limit" memtap leaks -p "$pid" -d 0.3
	like "$err" 'functions in 1 file: libc' "libc's allocators are found"
	unlike "$out" 'not opened' "and nothing was left out"
done
kill "$pid"

# Those that have probes are kept open.
mkdir "$T"/own/{1..40}
tee "$T"/own/{1..40}/wl_leak_count.so < wl_leak_count.so > /dev/null
mapped "$T/own"/*/*
exits 0 "40 files with allocators, ulimit -n 30" limited '-n 30' memtap leaks -p "$pid" -d 0.3
like "$out" 'not opened, allocators in them .*wl_leak_count.so \(Too many open files\)' \
	"what was not opened is named"
kill "$pid"

exits 0 "a program that is run" limited '-Sn 50' memtap leaks -- sh -c 'ulimit -Sn; ulimit -Sd'
like "$out" '^50$' "has the limit that memtap was given"
probes_clean "nothing is left attached"
done_testing
