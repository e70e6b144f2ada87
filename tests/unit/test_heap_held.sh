#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap`: what blocks are and what holds them is what a program says that made them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh
# shellcheck source=tests/unit/held.sh
. tests/unit/held.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
case=''
trap 'kill $case 2> /dev/null; rm -r "$work"' EXIT

# look NAME OPTION...: all of it, as JSON that is described
look() {
	local name=$1
	shift
	$tool heap "$case" --retained --json -q --top 0 --max-pause 20000 "$@" > "$work/json" \
		2> "$work/err" && tests/json-check "$work/json"
	check $? "$name"
}
begin bash -c 'exec 2>&1; echo ready; read -r _ <> <(:)'
if ! $tool heap "$case" -o "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
end

${CXX:-c++} -std=c++11 -O1 -g -pthread -o "$work/cases" tests/unit/held_cases.cc
check $? "a program of C++ and C is made"
begin "$work/cases"
look "JSON as it is described"
heard
$tool heap "$case" -q --path shop::Both > "$work/page" 2>&1 &&
	grep -q '^global `both_vector`' "$work/page" &&
	grep -q 'word at +0 -> .*looks like pointers to: shop::Both' "$work/page"
check $? "a path to a kind begins at a variable"
$tool heap "$case" -q --path into_nothing > "$work/page" 2>&1
grep -q 'none: no kind of block has that in its name' "$work/page"
check $? "a kind that is not there is said"
$tool heap "$case" -q --path 'shop::Item' --json > "$work/path" && tests/json-check "$work/path" &&
	python3 -c "import json; d = json.load(open('$work/path'))['path']
assert d[0]['name'] == 'item_table' and d[0]['source'].startswith('held_cases.cc:'), d
assert len(d) == 3 and d[0]['word'] == d[1]['address'] and d[2]['kind'] == 'shop::Item', d"
check $? "a path as JSON"
$tool heap "$case" -q --retained --flame "$work/flame" > "$work/page" 2> "$work/err" &&
	grep -q 'global `item_table`' "$work/flame" && grep -q 'RETAINED' "$work/flame"
check $? "a flame graph, with the table"
$tool heap "$case" -q --retained --max-mem 4K > "$work/page" 2>&1
grep -q 'more than --max-mem' "$work/page" && grep -q 'shop::Item' "$work/page"
check $? "kinds without holders where there is less memory, which is said"
$tool heap "$case" -q --addresses --sort count --top 1 > "$work/page" 2>&1 &&
	grep -q '1,001  looks like text  0x[0-9a-f]* 0x[0-9a-f]*$' "$work/page"
check $? "most blocks first, with addresses"
strip -o "$work/stripped" "$work/cases"

# ---- what threads have ----

end
${CC:-cc} -g -O1 -fPIC -shared -DLIBRARY -o "$work/libheld_tls.so" tests/unit/held_tls.c &&
	${CC:-cc} -g -O1 -pthread -o "$work/tls" tests/unit/held_tls.c -L"$work" -lheld_tls \
		-Wl,-rpath,"$work"
check $? "a program with a library, each with thread-local variables"
begin "$work/tls"
# of each thread, by each variable: its ten blocks
cat > "$work/threads" << 'END'
import json, sys
d = json.load(open(sys.argv[1]))
got = sorted((h["name"], h["object"], h["retained_blocks"]) for h in d["holders"]
             if h["what"] == "thread-local" and h.get("name", "").startswith("of_"))
want = [("of_library", "libheld_tls.so", 10)] * 2 + [("of_program", "tls", 10)] * 2
sys.exit(got != want and print(got) or got != want)
END
look "of libraries, too" --save "$work/saved"
python3 "$work/threads" "$work/json"
check $? "blocks of thread-local variables, by name and thread"
$tool heap "$work/saved" --retained --json -q --top 0 > "$work/json" &&
	python3 "$work/threads" "$work/json"
check $? "also of a process that was saved"
end
begin "$work/cases"

# ---- what grows ----

$tool heap "$case" -q --retained --json --top 0 > "$work/before"
kill -USR1 "$case"
for _ in {1..500}; do
	grep -q '^grown' "$work/said" && break
	sleep 0.02
done
$tool heap "$case" -q --retained --json --top 0 > "$work/after"
$tool diff "$work/before" "$work/after" > "$work/page" 2> "$work/err" &&
	grep -q ' +100 .* 600  shop::Item$' "$work/page" &&
	grep -q ' +101 .* 102  global `grown` in cases (held_cases.cc:[0-9]*)$' "$work/page"
check $? "a kind and what holds it have grown, between two files"
$tool diff "$work/before" "$work/after" --json > "$work/json" && tests/json-check "$work/json" &&
	python3 -c "import json; c = json.load(open('$work/json'))['changes']
assert [x['grown_blocks'] for x in c if x.get('kind') == 'shop::Item'] == [100], c
assert [x['blocks'] for x in c if '\\x60grown\\x60' in x.get('holder', '')] == [102], c"
check $? "as JSON, too"
$tool diff "$work/after" "$work/after" > "$work/page" && grep -q '^no kind changed' "$work/page" &&
	grep -q '^no holder changed' "$work/page"
check $? "nothing grew from one to itself"
$tool heap "$case" -q --json --top 2 > "$work/part"
! $tool diff "$work/part" "$work/after" 2> "$work/err" && grep -q 'not one whole report' "$work/err"
check $? "a report that has not all kinds is refused"
(
	sleep 0.5
	kill -USR1 "$case"
) &
$tool heap "$case" 2 2 -q --retained > "$work/page" 2> "$work/err" &&
	grep -q ' +100 .* 700  shop::Item$' "$work/page" &&
	grep -q ' +100 .* 202  global `grown`' "$work/page"
check $? "the same at an interval"
$tool heap "$case" 0.1 3 -q --json > "$work/lines" 2> "$work/err" &&
	tests/json-check "$work/lines" &&
	[ "$(wc -l < "$work/lines")" = 3 ]
check $? "an interval's JSON is a line for each"
! $tool heap "$case" 1 -o "$work/page" 2> "$work/err" && grep -q 'leave out --output' "$work/err"
check $? "which has no place in one file"
end
begin "$work/stripped"
look "of a program without symbols"
python3 -c "import json; d = json.load(open('$work/json'))
k = {x['kind']: x['blocks'] for x in d['kinds']}
assert k['shop::Item'] == k['shop::Both'] == 500, k
assert any('without a name' in h['holder'] for h in d['holders']), d['holders']" 2> "$work/why"
check $? "classes are known by their type information, variables by their place"
end
# without type information, a class's table has a name all the same
mkdir "$work/no-rtti"
${CXX:-c++} -std=c++11 -O1 -g -pthread -fno-rtti -o "$work/no-rtti/cases" tests/unit/held_cases.cc
begin "$work/no-rtti/cases"
look "of a program without type information"
heard
end
# a static program has no file of libc's: malloc is found by its structure
mkdir "$work/static"
${CXX:-c++} -std=c++11 -O1 -pthread -static -s -o "$work/static/cases" tests/unit/held_cases.cc
begin "$work/static/cases"
look "of a static program without symbols"
grep '^kind.*shop::' "$work/said" > "$work/some"
mv "$work/some" "$work/said"
heard
end
checked
