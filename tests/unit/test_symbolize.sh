#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names for a recording from a machine without symbols: `memtap report --symbolize`, and what
# --format pprof says of code without names.  addr2line, and pprof itself, know what is right.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export TZ=UTC
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itests/port -Ictl -Ikmod -Ikmod/core -Iinclude \
	-o "$work/make" tests/unit/symbolize_make.c tests/golden/records.c kmod/core/wire.c ||
	{ echo "Bail out! the recordings cannot be made"; exit 1; }
cd "$work" || exit 1

# --- two programs: one lies in memory as in the file, one does not ----------------------
cat > program.c <<'C'
volatile int sink;
static inline __attribute__((always_inline)) void innermost(int n)
{
	sink += n;
	sink *= 3;
}
static inline __attribute__((always_inline)) void inlined(int n)
{
	sink ^= n;
	innermost(n + 1);
}
static __attribute__((noinline)) void in_file(int n)
{
	inlined(n);
	sink--;
}
int main(int argc, char **argv)
{
	(void)argv;
	in_file(argc);
	in_file(sink);
	return 0;
}
C
# Prints offset and length of the mapping of code, and the address of offset 0.
code_of() {
	readelf -lW "$1" | awk '$1 == "LOAD" && / R E / {
		start = strtonum($2) - strtonum($2) % 4096
		vstart = strtonum($3) - strtonum($3) % 4096
		len = int((strtonum($3) + strtonum($6) - vstart + 4095) / 4096) * 4096
		printf "%d %d %d\n", start, len, vstart - start }'
}
# program NAME OPTION...: NAME.full, NAME.debug, the stripped NAME; $id, $addresses in the file
program() {
	local name=$1
	shift
	gcc -g -O1 -Wl,--build-id "$@" -o "$name.full" program.c
	objcopy --only-keep-debug "$name.full" "$name.debug"
	cp "$name.full" "$name"
	strip --strip-all "$name"
	id=$(readelf -n "$name.full" | sed -n 's/.*Build ID: //p')
	read -r offset len bias < <(code_of "$name.full")
	# (each third byte of two functions, as far as the code goes)
	addresses=$(nm -S "$name.full" | awk -v bias="$bias" '$4 == "in_file" || $4 == "main" {
		for (i = 0; i < strtonum("0x" $2); i += 3) print strtonum("0x" $1) + i - bias }')
}
# The same names and lines as addr2line has, each frame with what is inlined there.
truth() {
	local at
	for at in $addresses; do
		addr2line -fie "$1.full" "$(printf 0x%x $((at + bias)))"
	done | sed 's/ (discriminator [0-9]*)//' | paste - - | sed 's,\t.*/, ,'
}
frames() {
	"$tool" report "$@" --json --verbose 2> "$work/err" | python3 -c '
import json, os, sys
for f in json.load(sys.stdin)["rows"][0]["user"]:
    print(f.get("name") or "?", "%s:%s" % (os.path.basename(f.get("file") or "?"), f.get("line")))'
}
recording() {
	# shellcheck disable=SC2086	# words
	"$work/make" "$work" "$@" $addresses
}
place() {			# place SUFFIX FILE: where debug files are looked for
	mkdir -p "$work/debug/.build-id/${id:0:2}"
	cp "$2" "$work/debug/.build-id/${id:0:2}/${id:2}$1"
}
awk 'BEGIN { exit strtonum("0x10") != 16 }' 2> /dev/null || {
	echo "1..0 # SKIP this awk has no strtonum()"; exit 0; }

for name in pie plain; do
	[ $name = pie ] && flags=(-fPIE -pie) || flags=(-fno-pie -no-pie)
	program $name "${flags[@]}"
	truth $name > truth
	[ "$(wc -l < truth)" -gt 12 ] && grep -q innermost truth
	check $? "$name: there are inlined calls to be found"

	recording $name "/nowhere/$name" "$id" "$offset" "$len" saved
	all=$(wc -w <<< "$addresses")
	[ "$(frames $name.memtap | grep -vc '^?')" = 0 ]
	check $? "$name: without --symbolize nothing has a name"

	for way in "the stripped file, and its debug file" "the debug file alone" \
		"the whole file"; do
		rm -rf debug
		path=/nowhere/$name
		case $way in
			"the stripped"*) place .debug $name.debug; path=$work/$name ;;
			"the debug"*) place .debug $name.debug ;;
			*) place "" $name.full ;;
		esac
		recording x "$path" "$id" "$offset" "$len" saved
		frames x.memtap --symbolize --debug-dir debug > got
		diff truth got
		check $? "$name: by $way: names, lines and inlined calls are addr2line's"
		grep -qx "memtap: named $all of $all addresses without a name" err
		check $? "$name: by $way: $(cat err)"
		"$tool" report x.memtap --symbolize --debug-dir debug -o named.memtap \
			2> err > out && [ ! -s out ] && grep -q 'written to named.memtap' err
		check $? "$name: by $way: a recording is written"
		mv debug debug.away
		frames named.memtap > got
		diff truth got
		check $? "$name: by $way: it has the names where the files are not"
		! "$tool" report named.memtap | grep -q 'shown as offsets'
		check $? "$name: by $way: and no sentence about missing ones"
		"$tool" report x.memtap | grep -q 'shown as offsets'
		check $? "$name: by $way: as the first one had"
		rm -rf debug.away
	done
done

# --- what must not be named ------------------------------------------------------------
for format in table folded flame json callgrind perf-script massif speedscope; do
	place .debug $name.debug
	"$tool" report x.memtap --symbolize --debug-dir debug --format $format \
		2> /dev/null > in-place
	"$tool" report named.memtap --format $format > of-file 2> err
	[ -s of-file ] && grep -q in_file of-file && cmp in-place of-file
	check $? "--format $format: in place, the same as of the written recording"
done
"$tool" report named.memtap --symbolize --debug-dir debug -o again.memtap 2> err
grep -q '^memtap: all addresses in files have names$' err && cmp named.memtap again.memtap
check $? "a second time changes nothing: $(head -n 1 err)"

# not_named NAME PATTERN: all addresses of x.memtap are without a name, and why is said
not_named() {
	[ "$(frames x.memtap --symbolize --debug-dir debug | grep -vc '^?')" = 0 ] &&
		grep -q "^memtap: named 0 of $all address.*$2" err
	check $? "$1: $(cat err)"
	"$tool" report x.memtap --symbolize --debug-dir debug 2> /dev/null > out
}
cp $name.full here
rm -rf debug
mkdir debug
recording x "$work/here" - "$offset" "$len" saved
not_named "no build ID in the recording" 'in files without a build ID in the recording$'
grep -q "^$work/here has no build ID in the recording, and cannot be compared: " out
check $? "the report says of which file"
recording x "$work/pie" "$id" "$offset" "$len" bare
not_named "another build at the path" 'in files that are not here, or are another build$'
grep -q "^$work/pie, build ID $id, is not on this machine: " out
check $? "the report says which build ID is missing"
place .debug pie.debug
not_named "a debug file of another build under this one's name" 'or are another build$'
place .debug $name.debug
recording x "/nowhere/$name" "$id" "$offset" $((len + 4096)) saved
not_named "a debug file, and a mapping that is not its code" 'where their file has no symbol$'
head -c 3000 $name.debug > cut.debug
recording x "/nowhere/$name" "$id" "$offset" "$len" saved
place .debug cut.debug
not_named "a debug file that is cut short" 'where their file has no symbol$'

# --- pprof: whoever has the file can name it ---------------------------------------------
# (go's own pprof reads no build IDs of files: it shows the profile, and names nothing)
read_by() {
	HOME=$work PPROF_TMPDIR=$work PPROF_BINARY_PATH=$work/binaries "$@" 2> pprof.err
}
if "$tool" report x.memtap --format pprof -o x.pb.gz 2> err && command -v go > /dev/null; then
	for name in pie plain; do
		[ $name = pie ] && flags=(-fPIE -pie) || flags=(-fno-pie -no-pie)
		program $name "${flags[@]}"
		recording x "/nowhere/$name" "$id" "$offset" "$len" saved
		"$tool" report x.memtap --format pprof -o x.pb.gz
		read_by go tool pprof -raw -symbolize=none x.pb.gz > raw
		# file offset = address - start + offset, as the mapping says
		awk '/^Mappings/ { maps = 1; next }
			/^Locations/ { locations = 1; next }
			maps {
				split($2, m, "/")
				start[$1 + 0] = strtonum(m[1])
				off[$1 + 0] = strtonum(m[3])
			}
			locations && !maps {
				id = $3
				sub("M=", "", id)
				at[$1 + 0] = strtonum($2)
				of[$1 + 0] = id + 0
			}
			END {
				for (i = 1; i in at; i++)
					print at[i] - start[of[i]] + off[of[i]]
			}' raw > got
		# shellcheck disable=SC2086
		printf '%s\n' $addresses | diff - got
		check $? "pprof: $name: offsets in the file, by what the mapping says"
		grep -q "^1: 0x[0-9a-f]*/0x[0-9a-f]*/0x[0-9a-f]* /nowhere/$name $id *\$" raw
		check $? "pprof: $name: its mapping has path and build ID, and no functions"
		mkdir -p "binaries/$id"
		cp $name.full "binaries/$id/$name"
		if command -v pprof > /dev/null; then
			read_by pprof -symbolize=local -traces -lines x.pb.gz |
				sed -n 's,^.* \([a-z_]*\) [^ ]*\(program.c:[0-9]*\).*,\1 \2,p' > got
			truth $name | diff - got
			check $? "pprof: $name: pprof finds names and lines by the build ID"
		else
			check 0 "pprof: $name: names # SKIP no pprof but go's"
		fi
	done
else
	cat err
	check 0 "pprof # SKIP no protobuf-c, or no go"
fi

# --- mistakes ------------------------------------------------------------------------------
refused() {
	local pattern=$1 rc=0
	shift
	"$tool" report "$@" > out 2> err || rc=$?
	[ $rc = 2 ] && [ ! -s out ] && [ "$(wc -l < err)" = 1 ] && grep -q -- "$pattern" err
	check $? "memtap report $*: $(head -n 1 err)"
}
refused 'needs --symbolize' x.memtap --debug-dir debug
refused 'No such file' x.memtap --symbolize --debug-dir missing
refused 'not a directory' x.memtap --symbolize --debug-dir program.c
refused 'the whole recording' x.memtap --symbolize -o y.memtap --top 3
refused "the whole recording, not 'brk' alone" x.memtap brk --symbolize -o y.memtap
refused 'has none' --history --symbolize
[ ! -e y.memtap ]
check $? "nothing was written"
checked
