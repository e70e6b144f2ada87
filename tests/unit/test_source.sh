#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Source lines and variables, as `memtap list PROGRAM:SOURCE:LINE` has them: the places are those
# that readelf reads in the table of lines, the values those that gdb prints there.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

# (BUILD is that of the tests)
make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
src=$PWD/tests/guest/wl_source.c
skip() {
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

make_form() {
	local name=$1
	shift
	${CC:-cc} -std=gnu11 -g "$@" -o "$work/$name" "$src" 2> /dev/null
}
make_form wl_0 -O0
make_form wl_2 -O2
make_form wl_0_fixed -O0 -no-pie -fno-pie
make_form wl_2_fixed -O2 -no-pie -fno-pie
make_form wl_4 -O2 -gdwarf-4
check $? "programs of each form"
fixed='wl_0_fixed wl_2_fixed'
# where there is a 32-bit libc
make_form wl_0_fixed32 -m32 -O0 -no-pie -fno-pie &&
	make_form wl_2_fixed32 -m32 -O2 -no-pie -fno-pie && fixed+=' wl_0_fixed32 wl_2_fixed32'
# base FORM: where the file is in memory
base() {
	case $1 in
		*fixed32) echo $((0x8048000)) ;;
		*fixed) echo $((0x400000)) ;;
		*) echo 0 ;;
	esac
}

# line=offset of each place, of all lines
by_memtap() {
	local line
	for ((line = 1; line <= $(wc -l < "$src"); line++)); do
		build/memtap list "u:$work/$1:wl_source.c:$line" 2> /dev/null |
			sed -n "s/^  offset 0x\([0-9a-f]*\),.*/$line=\1/p"
	done | sort
}
by_readelf() {
	local base
	base=$(base "$1")
	readelf --debug-dump=decodedline "$work/$1" 2> /dev/null |
		awk '$1 == "wl_source.c" && $NF == "x" { print $2, $3 }' |
		while read -r line at; do
			printf '%d=%x\n' "$line" $((at - base))
		done | sort -u
}
for form in wl_0 wl_2_fixed wl_4; do
	by_memtap $form > "$work/mine"
	by_readelf $form > "$work/theirs"
	[ -s "$work/mine" ] && diff "$work/mine" "$work/theirs" > "$work/diff"
	check $? "$form: the places of all lines, $(wc -l < "$work/mine") of them"
	sed 's/^/# /' "$work/diff"
done

# In words of gdb: what memtap reads, and the variable.
ask_gdb() {
	local form=$1 line=$2 var type more at how

	build/memtap list "u:$work/$form:wl_source.c:$line" | grep -v 'pid tid\|free node' |
		while read -r var type more; do
			case $var in
				offset) at=${type%,}; continue ;;
				wl_*) continue ;;
			esac
			case $type in
				s8) type=char ;; s16) type=short ;; s32) type=int ;;
				s64) type='long long' ;;
				u8) type='unsigned char' ;; u16) type='unsigned short' ;;
				*) continue ;;
			esac
			how=${more##*, }
			# gdb calls registers as the program does
			case $form in *32) how=${how/r/e} ;; esac
			case $how in
				'at '*) how="*($type *)(\$${how#at })" ;;
				'in '*) how="($type)\$${how#in }" ;;
				*) how="($type)(\$${how#equal to })" ;;
			esac
			printf 'break *%#x\nrun\nprint %s == %s\nprint %s\ndelete\nkill\n' \
				$((at + $(base $form))) "$var" "$how" "$var"
		done
}
# Where a function begins, gdb reads what is not stored yet: ask it one instruction later.
by_registers() {
	local at
	at=$(build/memtap list "u:$work/wl_0_fixed:wl_source.c:$1" |
		sed -n 's/^  offset \(0x[0-9a-f]*\),.*/\1/p' | head -1)
	build/memtap list "u:$work/wl_0_fixed:wl_source.c:$1" |
		sed -n 's/^  \(n\|c\) .* in \(r[a-z0-9]*\)$/\1 \2/p' | head -2 |
		while read -r var reg; do
			printf 'break *%#x\nrun\nset $was = $%s\n' $((at + 0x400000)) "$reg"
			printf 'break %d\ncontinue\nprint %s == ($was & %d)\nprint %s\n' \
				$(($1 + 1)) "$var" 255 "$var"
			printf 'delete\nkill\n'
		done
}
if ! command -v gdb > /dev/null || ! gdb -nx -batch -ex 'break main' -ex run \
	--args "$work/wl_0_fixed" /dev/null 2>&1 | grep -q '^Breakpoint 1, main'; then
	skip "values as gdb prints them" "no gdb that may debug here"
else
	entry=$(($(grep -n 'static long work' "$src" | cut -d: -f1) + 1))
	for form in $fixed; do
		for name in INLINE LOOP STRINGS GLOBALS; do
			ask_gdb $form "$(sed -n "/\/\* LINE_$name \*\//=" "$src")"
		done > "$work/words"
		[ $form != wl_0_fixed ] || by_registers $entry >> "$work/words"
		gdb -nx -batch -x "$work/words" --args "$work/$form" /dev/null 3 > "$work/said" 2>&1
		asked=$(grep -c ' == ' "$work/words")
		is=$(grep -c '^\$[0-9]* = 1$' <(awk '/^\$/ && n++ % 2 == 0' "$work/said"))
		[ "$asked" -gt 5 ] && [ "$asked" = "$is" ]
		check $? "$form: $is of $asked values as gdb prints them"
	done
fi

# sentences
says() {
	build/memtap stat "u:$work/$1" 2>&1 | grep -q "$2"
	check $? "$3"
}
line=$(sed -n '/\/\* LINE_LOOP \*\//=' "$src")
says "wl_0:wl_source.c:1" 'line 1 of .* has no code of its own .*nearest line' "no code"
says "wl_0:other.c:1" 'has no source file other.c' "no such file"
says "wl_0:wl_source.c:$line(pair)" 'this is a structure: name a member of it' "a structure"
says "wl_0:wl_source.c:$line(pair.third)" 'the structure has no member third' "no such member"
says "wl_0:wl_source.c:$line(text[16])" 'the array has 16 elements' "no such element"
says "wl_2:wl_source.c:$line(x=pair.second,y=text[4],i)" 'module is not loaded' "members, elements"
says "wl_0:work(x=arg2->len)" 'this is no pointer to a structure' "an argument that is none"
says "wl_0:work(x=arg4->len)" 'the type of this is not known' "an argument that is not there"
says "wl_0:wl_source.c:$line(x)" 'x is no variable that is visible here' "no such variable"
says "wl_2:wl_source.c:$line(c)" 'c is ' "one that was optimized"
strip -o "$work/bare" "$work/wl_0"
says "bare:wl_source.c:$line" 'has no debug information' "no DWARF"
says "wl_0:work(n=nothing)" 'nothing is no variable' "no such argument of a function"
build/memtap stat "u:$work/wl_0:work(n=n,s=name,b=arg3:u8)" 2>&1 | grep -q 'module is not loaded'
check $? "arguments by their names, where a function begins"
checked
