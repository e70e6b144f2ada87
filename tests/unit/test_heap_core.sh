#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of files: what a program holds is the same while it runs, in what --save wrote, in
# a core file of gdb (where it is installed) and in one of the kernel.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
chmod 755 "$work"
case='' meant=''
trap 'kill $case $meant 2> /dev/null; rm -r "$work"' EXIT

# Does the kernel write core files where we can find them?
read -r pattern < /proc/sys/kernel/core_pattern
ulimit -c unlimited 2> /dev/null || pattern='|'
case $pattern in
	*/* | '|'*) cores='' ;;
	*) cores=1 ;;
esac
gcore=$(command -v gcore)

# begin PROGRAM ARG...: $case is it, $meant the process whose heap it is
begin() {
	start_until "$work/said" '^ready' env -C "$work" "$@"
	case=$started
	disown "$case"
	meant=$(sed -n 's/^ready \([0-9][0-9]*\).*/\1/p' "$work/said")
	meant=${meant:-$case}
}
end() {
	kill $case $meant 2> /dev/null
	case='' meant=''
}
# ask NAME FILE...: all that is known, as JSON in NAME; its exit status
ask() {
	local name=$1

	shift
	"$tool" heap "$@" --retained --json -q --top 0 > "$work/$name" 2> "$work/err"
}
# same NAME STATUS WHAT: as it was while it ran
same() {
	[ "$2" = "$live" ] && tests/unit/heap_equal.py "$work/live" "$work/$1" &&
		tests/json-check "$work/$1"
	check $? "$3: as it was while it ran"
}
# dump: $core is a core file of $meant, which the kernel wrote
dump() {
	local each

	kill -ABRT "$meant"
	# (the first thread may have ended long before)
	while grep -qs '^State:.*[RSDtT] (' "/proc/$meant"/task/*/status; do
		sleep 0.05
	done
	core=
	for each in "$work"/core*; do
		core=$each
	done
}
# look WHAT [gdb]: the same in all ways
look() {
	rm -f "$work"/core* "$work"/gdb* "$work/saved"
	ask live "$meant" --max-pause 20000 --save "$work/saved"
	live=$?
	ask json "$work/saved"
	same json $? "$1, saved"
	if [ -n "${2:-}" ] && [ -n "$gcore" ] &&
		"$gcore" -o "$work/gdb" "$meant" > /dev/null 2>&1; then
		ask json --core "$work/gdb.$meant"
		same json $? "$1, in gdb's core file"
		rm "$work/gdb.$meant"
	fi
	if [ -n "$cores" ]; then
		dump
		ask json "$core"
		same json $? "$1, in the kernel's core file"
	fi
}

begin bash -c 'exec 2>&1; echo ready; read -r _ <> <(:)'
if ! "$tool" heap "$meant" -o "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
end

# ---- the same as of a process ----

${CC:-cc} -O1 -g -pthread -o "$work/heaps" tests/unit/heap_cases.c -ldl &&
	${CXX:-c++} -std=c++11 -O1 -g -pthread -o "$work/cases" tests/unit/held_cases.cc
check $? "programs of C and C++ are made"
for kind in plain fork protected spoiled broken mapped sparse tls main-ended again; do
	begin ./heaps $kind
	case $kind in
		# (64 GiB take gdb long; it leaves out what a program may not touch)
		sparse | protected | main-ended) look $kind ;;
		*) look $kind gdb ;;
	esac
	end
done
if [ -n "$gcore" ]; then
	begin ./heaps protected
	"$gcore" -o "$work/gdb" "$meant" > "$work/page" 2>&1
	! "$tool" heap "$work/gdb.$meant" -q > "$work/page" 2> "$work/err" &&
		grep -q '^4.0 KiB of the heap are not in the file' "$work/page"
	check $? "a page that gdb leaves out is said"
	end
fi
export GLIBC_TUNABLES=glibc.malloc.hugetlb=2
begin ./heaps plain
look "huge pages" gdb
end
unset GLIBC_TUNABLES
if command -v musl-gcc > "$work/page"; then
	musl-gcc -O1 -g -pthread -o "$work/musl" tests/unit/musl_cases.c
	begin ./musl
	look "musl's malloc" gdb
	end
fi
begin ./cases
look "kinds and holders" gdb
cp "$work/saved" "$work/held"
end
mv "$work/live" "$work/live-held"

# ---- what is written ----

begin ./heaps plain
"$tool" heap "$meant" --save "$work/new" --no-unreachable > "$work/page" 2> "$work/err" &&
	[ "$(stat -c %a "$work/new")" = 600 ] && grep -q 'passwords' "$work/err"
check $? "it is its owner's alone, and the sentence says why"
! "$tool" heap "$meant" --save "$work/new" > "$work/page" 2> "$work/err" &&
	grep -q 'exists, and --save writes only a new file' "$work/err"
check $? "no file is overwritten"
ln -s "$work/elsewhere" "$work/link"
! "$tool" heap "$meant" --save "$work/link" > "$work/page" 2> "$work/err" &&
	[ ! -e "$work/elsewhere" ]
check $? "no link is followed"
! "$tool" heap "$meant" --save "$work/none/new" > "$work/page" 2> "$work/err" &&
	grep -q 'No such file' "$work/err"
check $? "where it cannot be written it is said"
end

# ---- what is read ----

"$tool" heap "$work/held" --path shop::Both -q > "$work/page" 2>&1 &&
	grep -q '^global `both_vector`' "$work/page" &&
	"$tool" heap "$work/held" --retained --flame "$work/flame" -q > "$work/page" 2>&1 &&
	grep -q 'global `item_table`' "$work/flame"
check $? "a path and a flame graph"
gunzip < "$work/held" > "$work/plain" && ask json "$work/plain"
tests/unit/heap_equal.py "$work/live-held" "$work/json"
check $? "what was saved is a core file, compressed"
[ -z "$gcore" ] || gdb -batch -ex 'info threads' "$work/cases" "$work/plain" 2>&1 |
	grep -q 'pause'
check $? "which gdb reads"
if [ "$(id -u)" = 0 ]; then
	chmod 644 "$work/plain"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tool" heap "$work/plain" --retained \
		--json -q --top 0 > "$work/json" && tests/unit/heap_equal.py "$work/live-held" \
		"$work/json"
	check $? "any user can read it"
fi

# ---- files that are gone, or others ----

mv "$work/cases" "$work/moved"
"$tool" heap "$work/held" --retained > "$work/page" 2> "$work/err" &&
	grep -q 'cases cannot be opened: No such file.*--exe FILE' "$work/page" &&
	grep -q 'shop::Item' "$work/page" && ! grep -q 'item_table' "$work/page"
check $? "without the program: classes all the same, no variables, and it is said"
ask json --core "$work/held" --exe "$work/moved"
tests/unit/heap_equal.py "$work/live-held" "$work/json"
check $? "--exe says where it is"
${CXX:-c++} -std=c++11 -O0 -g -pthread -o "$work/cases" tests/unit/held_cases.cc
"$tool" heap "$work/held" --retained > "$work/page" 2> "$work/err" &&
	grep -q 'cases is not the file that was mapped' "$work/page" &&
	! grep -q 'item_table' "$work/page"
check $? "another program is not taken for it"
mv "$work/moved" "$work/cases"

# ---- what is missing ----

size=$(stat -c %s "$work/plain")
head -c $((size * 2 / 3)) "$work/plain" > "$work/part"
! "$tool" heap "$work/part" > "$work/page" 2> "$work/err" &&
	grep -Eq 'truncated|not in the file' "$work/page" "$work/err"
check $? "a truncated file says so"
grep -q 'the file is truncated: .* are missing' "$work/page" ||
	grep -q 'of which .* are missing: it is truncated' "$work/err"
check $? "and how much is missing"
size=$(stat -c %s "$work/held")
head -c $((size * 9 / 10)) "$work/held" > "$work/part"
! "$tool" heap "$work/part" > "$work/page" 2> "$work/err" &&
	grep -q 'damaged' "$work/page" "$work/err"
check $? "a file that cannot be decompressed to its end says so"
# refused FILE WORDS: as a sentence
refused() {
	! "$tool" heap --core "$1" > "$work/page" 2> "$work/err" && grep -q "$2" "$work/err" &&
		[ "$(wc -l < "$work/err")" = 1 ]
	check $? "$2"
}
python3 - "$work/plain" "$work/many" <<'PY'
import struct, sys
d = bytearray(open(sys.argv[1], 'rb').read())
nr, = struct.unpack_from('<H', d, 56)
struct.pack_into('<H', d, 56, 0xffff)
struct.pack_into('<Q', d, 40, len(d))
d += struct.pack('<IIQQQQIIQQ', 0, 0, 0, 0, 0, 0, 0, nr, 0, 0)
open(sys.argv[2], 'wb').write(d)
PY
ask json "$work/many"
tests/unit/heap_equal.py "$work/live-held" "$work/json"
check $? "more segments than a header can count"
gzip < "$work/plain" > "$work/zipped" && ask json "$work/zipped"
tests/unit/heap_equal.py "$work/live-held" "$work/json"
check $? "a core file that somebody compressed"
printf '\x28\xb5\x2f\xfd%0100d' 0 > "$work/part"
refused "$work/part" 'compressed by zstd: unpack it first'
refused tests/unit/check.sh 'it is no core file'
refused "$tool" 'a program or library, no core file'
refused "$work" 'it is no regular file'
refused "$work/none" 'No such file'
: > "$work/empty"
refused "$work/empty" 'it is empty'
head -c 30 "$work/plain" > "$work/part"
refused "$work/part" 'it ends in its first header'
head -c 200 "$work/plain" > "$work/part"
refused "$work/part" 'it ends in the list of its segments'
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\4\0\3\0%040d' 0 > "$work/part"
refused "$work/part" 'of a 32-bit program'
! "$tool" heap "$work/held" 1 2> "$work/err" && grep -q 'is no PID' "$work/err"
check $? "no interval of a file"
! "$tool" heap --core "$work/held" --save "$work/new2" 2> "$work/err" &&
	grep -q 'are for a process' "$work/err"
check $? "a file is not saved again"
! "$tool" heap $$ --exe "$work/cases" 2> "$work/err" && grep -q 'give --core' "$work/err"
check $? "--exe needs --core"
checked
