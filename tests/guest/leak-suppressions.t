#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For those who come from Memcheck and LeakSanitizer: suppressions of both, those that a program
# brings, those that are printed; XML; files named after the process.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# supp FILE LINE...: one of Valgrind's
supp() {
	local file=$1
	shift
	{ printf '{\n  by hand\n'; printf '  %s\n' "$@"; echo '}'; } > "$file"
}
lost() { sed -n 's/.*definitely lost: \([0-9,]* bytes in [0-9]* block\).*/\1/p' <<< "$out"; }

# --- by default the program's own are used
run memtap leaks --gen-suppressions -- ./wl_leak_known
is "$status" 0 "a program with suppressions of its own"
is "$(lost)" "264 bytes in 6 block" "what it does not know of is lost"
like "$out" 'suppressed: 300 bytes in 3 blocks' "what it knows of is suppressed"
like "$out" '^ +3 +300 known_leak$' "and by which line"
like "$out" 'fun:_ZN4shop5ShelfC[12]Ei' "suppressions are printed, with names as in the file"

# --- what was printed is read again
sed -n '/^{$/,/^}$/p' <<< "$out" > "$T/printed"
exits 0 "printed suppressions leave no leak" memtap leaks --error-exitcode 42 \
	--suppressions "$T/printed" -- ./wl_leak_known
is "$(lost)" "0 bytes in 0 block" "nothing is lost"
like "$out" 'suppressed: 564 bytes in 9 blocks' "all is suppressed"
if command -v valgrind > /dev/null; then
	run valgrind --leak-check=full --suppressions="$T/printed" ./wl_leak_known
	like "$err" 'definitely lost: 300 bytes in 3 blocks' "Memcheck reads them, too"
	like "$err" 'suppressed: 264 bytes in 6 blocks' "and means the same"
else
	skip "Memcheck reads them, too" "no valgrind"
fi

# --- by hand, as people have them
supp "$T/hand" Memcheck:Leak 'match-leak-kinds: definite' 'fun:_Zn??' '...' 'fun:main'
run memtap leaks --suppressions "$T/hand" -- ./wl_leak_known
is "$(lost)" "64 bytes in 1 block" "C++, and any frames between"
like "$out" '^ +5 +200 by hand$' "by its name"
supp "$T/hand" Memcheck:Leak 'match-leak-kinds: reachable' 'fun:*' '...' 'fun:main'
run memtap leaks --suppressions "$T/hand" -- ./wl_leak_known
is "$(lost)" "264 bytes in 6 block" "of another kind"
supp "$T/hand" Memcheck:Leak 'fun:malloc' 'obj:*/wl_leak_known' 'fun:main'
run memtap leaks --suppressions "$T/hand" -- ./wl_leak_known
is "$(lost)" "200 bytes in 5 block" "by object"
supp "$T/hand" Memcheck:Leak 'func:malloc'
exits 1 "one that is wrong" memtap leaks --suppressions "$T/hand" -- ./wl_leak_known
like "$err" 'line 4: write fun:NAME' "is refused, with its line"

# --- files, and XML
export WL_NAME=known
run memtap leaks --format xml -o "$T/%q{WL_NAME}.%p.xml" -- ./wl_leak_known
pid=$(head -n 1 <<< "$err$out" | grep -o '^[0-9]*$' || grep -m 1 -x '[0-9]*' <<< "$err"$'\n'"$out")
ok "a file is named after the process" test -s "$T/known.$pid.xml"
is "$(python3 - "$T/known.$pid.xml" <<-'EOF'
	import sys
	from xml.etree import ElementTree
	root = ElementTree.parse(sys.argv[1]).getroot()
	print(*[root.findtext(p) for p in ('pid', 'args/argv/exe', 'suppcounts/pair/count')])
	for e in root.findall('error'):
	    names = [f.findtext('fn') for f in e.find('stack')]
	    print(*[e.findtext(p) for p in ('kind', 'xwhat/leakedbytes', 'xwhat/leakedblocks')],
	          next(n for n in names if n != 'malloc' and not n.startswith('operator new')))
EOF
)" "$pid ./wl_leak_known 3
Leak_DefinitelyLost 64 1 leak_one()
Leak_DefinitelyLost 200 5 shop::Shelf::Shelf(int)" "XML: the same leaks"

# --- a recording keeps the program's own
run memtap record --leaks -o "$T/known.memtap" -- ./wl_leak_known
run memtap report "$T/known.memtap"
is "$(lost)" "264 bytes in 6 block" "recorded: what is lost"
like "$out" 'suppressed: 300 bytes in 3 blocks' "recorded: what is suppressed"
run memtap report --suppressions "$T/printed" "$T/known.memtap"
is "$(lost)" "0 bytes in 0 block" "recorded: names are kept as they are in the file"

# --- a file for each interval
./wl_leak_known stay > "$T/pid" &
stays=$!
run memtap leaks -p $stays -o "$T/n.%n" 0.3 2
is "$status" 0 "intervals"
is "$(cd "$T" && echo n.*)" "n.1 n.2 n.3" "each has a file, and the whole at the end"
exits 2 "no process to name a file after" memtap leaks -p "$stays,1" -o "$T/%p" 1 1
kill $stays
wait $stays
probes_clean "nothing is left attached"
done_testing
