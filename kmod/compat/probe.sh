#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# probe.sh one SOURCE FACT COMPILER FLAG...
#	compile a probe with the flags of the kernel's own objects; FACT gets
#	"HAVE_X" if it compiles, nothing if not, FACT.log what the compiler said;
#	nothing, too, where compat/without has a line "x": the other way is tried
# probe.sh all HEADER KERNEL FACT...
#	collect the facts into HEADER, which is touched only if it changes;
#	KERNEL goes into it, so that objects of another kernel are built anew
#
# Run by Kbuild.
set -u

name() {
	basename "$1" | sed 's/\.[^.]*$//' | tr '[:lower:]' '[:upper:]'
}

one() {
	src=$1 fact=$2
	shift 2
	if grep -qsx "$(basename "$src" .c)" "$(dirname "$0")/without"; then
		echo "compat/without has it" > "$fact.log"
		: > "$fact"
		return
	fi
	# a probe is an error where its fact does not hold: warnings, and what
	# the kernel's flags make of them, say nothing
	if "$@" -Wno-error -c -o "$fact.o" "$src" > "$fact.log" 2>&1; then
		echo "HAVE_$(name "$src")" > "$fact"
	else
		: > "$fact"
	fi
	rm -f "$fact.o"
}

fail() {
	echo "memtap: $1" >&2
	tail -n 20 "$2" >&2
	exit 1
}

all() {
	header=$1 kernel=$2
	shift 2
	for fact; do
		case $fact in
		*/always.fact) [ -s "$fact" ] ||
			fail "this kernel tree cannot compile a module:" "$fact.log" ;;
		*/never.fact) [ ! -s "$fact" ] ||
			fail "the probes prove nothing: never.c compiles" "$fact.log" ;;
		esac
	done
	{
		echo "/* Facts about $kernel, found by compat/probe.sh */"
		cat "$@" | sed 's/.*/#define & 1/'
	} > "$header.new"
	if cmp -s "$header.new" "$header"; then
		rm -f "$header.new"
	else
		mv "$header.new" "$header"
	fi
}

"$@"
