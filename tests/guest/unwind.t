#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks through code without frame pointers, frame by frame: what memtap says is
# what libgcc's unwinder said in the program, at the same place.
# timeout: 1500
. "$(dirname "$0")/lib.sh"

events=(fault mmap brk)
export XDG_CACHE_HOME=$T/cache

# taken PROGRAM EVENT...: a session on a run of it, $T/f.memtap and $T/truth
taken() {
	local program=$1
	shift
	rm -f "$T/truth" "$T/f.memtap"
	run memtap record -o "$T/f.memtap" "$@" -U --children -- "./$program" "$T/truth"
	if [ "$status" != 0 ] || [ ! -s "$T/truth" ]; then
		fail "$program: a session on it"
		diag "exit status $status; $(tail -n 5 "$T/run.err")"
		return 1
	fi
}
# verdicts PROGRAM ALLOWED: one test for each place, of all its events; ALLOWED: what
# may be said of it, an expression of awk
verdicts() {
	local place bad
	while read -r place; do
		bad=$(awk -v place="$place" '$2 == place && !('"$2"')' "$T/verdicts")
		if [ -z "$bad" ]; then
			pass "$1: $place"
		else
			fail "$1: $place"
			diag "$(printf '%s' "$bad" | cut -c1-1200)"
		fi
	done < <(awk '!/^(stray|calls)/ && !seen[$2]++ { print $2 }' "$T/verdicts")
}

# frames PROGRAM ALLOWED: twice.  Nothing is known of its files the first time, and
# what a stack lacks then it says; all is known the second time.
frames() {
	local program=$1 wanted
	taken "$program" "$program:wl_stop" "${events[@]}" || return
	./unwind_check "$T/f.memtap" "$T/truth" > "$T/verdicts"
	is "$(grep -E '^(wrong|short|stray)' "$T/verdicts" | cut -c1-400)" '' \
		"$program: whatever is not whole at first says so"
	taken "$program" "$program:wl_stop" "${events[@]}" || return
	./unwind_check "$T/f.memtap" "$T/truth" > "$T/verdicts"
	verdicts "$program" "$2"
	is "$(grep '^stray' "$T/verdicts" | head -n 5 | cut -c1-400)" '' \
		"$program: no other stack was made up"
	wanted=$(awk '/^calls/ { print $3 }' "$T/verdicts")
	is "$(awk '/^calls/ { print $2 }' "$T/verdicts")" "$wanted" "$program: every call is there"
	./unwind_share "$T/f.memtap" > "$T/shares"
	is $? 0 "$program: the accounts add up"
}

# A stack has 127 frames: some of its own, and so many callers.  What is on a stack
# of makecontext() returns to code of libc that has no information of any kind.
# shellcheck disable=SC2016
whole='$1 == "same" || $1 == "cut" && (place == "too-deep" && $4 == "depth" && $5 >= 123 ||
	place == "context" && $4 == "norow" && $5 == $6 ||
	place == "jit-at-first" && $4 == "nomap")'
frames wl_unwind "$whole"
# more of it with --depth, by rows and by frame pointers
taken wl_unwind --depth 1000 wl_unwind:wl_stop "${events[@]}" &&
	./unwind_check "$T/f.memtap" "$T/truth" > "$T/verdicts"
is "$(awk '$2 == "too-deep" { print $1 }' "$T/verdicts" | sort -u)" same \
	"--depth 1000: what was too deep is whole"
run memtap record --depth 1001 -o "$T/f.memtap" fault -- true
is $status 2 "--depth 1001: refused"
like "$err" 'at most 1000 frames' "and says how many there can be"
frames wl_unwind_static "$whole"
frames wl_unwind_static_pie "$whole"
frames wl_unwind_dl "$whole"
frames wl_unwind_cxx "$whole"
# What follows was built once for all guests: the same code, the same table.
if not_twice; then
	frames wl_unwind_rust "$whole"
	# musl itself is built without call frame information: a stack goes on where it
	# can, and says so where it cannot, which is at once in its mmap().  Of Go, libgcc
	# knows nothing.
	# shellcheck disable=SC2016
	partly="$whole"' || $1 == "longer" || $1 == "cut" && $4 ~ /norow|depth/ && $5 >= 2'
	# shellcheck disable=SC2016
	frames wl_unwind_musl "$partly"' || $1 == "missing" && $3 == "mmap"'
	frames wl_unwind_go "$partly"

	# Go's own frames, by name
	run memtap faults -U --by comm --folded --calls -o "$T/got" -- ./wl_unwind_go "$T/truth"
	n=$(awk '/;main\.main;main\.goMiddle;main\.goTouch[; ]/ { n += $NF } END { print n + 0 }' \
		"$T/got")
	# (of its stack, too, and of a page that the kernel took away meanwhile)
	ok "wl_unwind_go: faults of Go's code are under its functions' names: $n" \
		[ "$n" -ge 500 -a "$n" -le 505 ]
	run memtap stacks wl_unwind_go:wl_stop -U --by comm --folded --calls -o "$T/got" \
		-- ./wl_unwind_go "$T/truth"
	like "$(cat "$T/got")" \
		'runtime\.asmcgocall.*;wl_c_outer;wl_c_inner;wl_here;wl_stop [0-9]+$' \
		"wl_unwind_go: C that Go called"
fi

# at PROGRAM PLACE NAME OFFSET...: the walk begins at each of these instructions
at() {
	local program=$1 place=$2 name=$3 offset bad
	local -a probes=()
	shift 3
	for offset in "$@"; do
		probes+=("$PWD/$program+0x$offset")
	done
	taken "$program" "${probes[@]}" || return
	./unwind_check -i "$T/f.memtap" "$T/truth" "$place" > "$T/verdicts"
	# some are jumped over, and behind the last is only padding; GCC says of one in a
	# realigned prologue that rbp is saved already, relative to what rbp is not yet
	is "$(grep '^wrong.* whole ' "$T/verdicts" | cut -c1-400)" '' \
		"$program: $name, at each instruction"
	cmp_ok "$(grep -c '^wrong' "$T/verdicts")" -le 1 "$program: $name: and all but one whole"
	cmp_ok "$(grep -c '^same' "$T/verdicts")" -ge 5 "$program: $name: of which many were run"
}
# Offsets of a function's instructions: its code is at the same place in the file
# as in memory, seen from where its segment is. objdump shows the padding behind a
# function as its own: no function covers that, and memtap does not probe it.
offsets_of() {
	local program=$1 delta start size
	read -r start size < <(nm -S "$program" | awk -v fn="$2" '$4 == fn { print $1, $2 }')
	delta=$(readelf -lW "$program" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
	objdump -d --no-show-raw-insn "$program" |
		awk -v fn="<$2>:" '$2 == fn { on = 1; next } /^$/ { on = 0 }
			on { sub(/:$/, "", $1); print $1 }' |
		while read -r address; do
			((0x$address < 0x$start + 0x$size)) || break
			printf '%x\n' $((0x$address + ${delta% *} - ${delta#* }))
		done | head -n "${3:-32}"
}
for function in wl_realign_alloca wl_variable_array wl_realign wl_plain; do
	place=${function/wl_plain/plain}
	place=${place/wl_realign_alloca/realigned-alloca}
	place=${place/wl_variable_array/variable-array}
	place=${place/wl_realign/realigned}
	mapfile -t offsets < <(offsets_of wl_unwind $function)
	at wl_unwind "$place" "$function" "${offsets[@]}"
done

# The stub through which wl_lazy() calls, and the one that all of them go on to.
stub=$(objdump -d --no-show-raw-insn wl_unwind_dl |
	awk '/^[0-9a-f]+ <wl_pick@plt>:/ { print $1 }')
plt=$(readelf -SW wl_unwind_dl |
	sed -n 's/.* \.plt *PROGBITS *\([0-9a-f]*\) *\([0-9a-f]*\).*/\1 \2/p')
if [ -n "$stub" ] && [ -n "$plt" ]; then
	delta=$((0x${plt#* } - 0x${plt% *}))
	mapfile -t offsets < <(for a in 0 6 11; do printf '%x\n' $((0x$stub + a + delta)); done
		for a in 0 6; do printf '%x\n' $((0x${plt% *} + a + delta)); done)
	at wl_unwind_dl lazy-resolver "the stubs of a lazy call" "${offsets[@]}"
else
	fail "wl_unwind_dl: the stubs of a lazy call"
fi

probes_clean "nothing is left attached"
done_testing
