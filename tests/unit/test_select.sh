#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording that is filtered: all formats have the same sums, and what cannot be is said.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export TZ=UTC
mkdir "$work/f"
for made in make_snap make_leaks; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itests/port -Ictl -Ikmod -Ikmod/core -Iinclude \
		-o "$work/$made" tests/golden/$made.c tests/golden/records.c kmod/core/wire.c &&
		"$work/$made" "$work/f"
	check $? "the recordings are made: $made"
done

# says STATUS PATTERN ARGUMENT...: memtap report ARGUMENT... prints one line like that
says() {
	local status=$1 pattern=$2 rc=0

	shift 2
	(cd "$work/f" && "$tool" report "$@") > "$work/out" 2> "$work/err" || rc=$?
	[ $rc = "$status" ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/err")" = 1 ] &&
		grep -q -- "$pattern" "$work/err"
	check $? "memtap report $*: $(head -n 1 "$work/err")"
}

# same FILE OPTION...: calls and bytes in all formats, and what was left out and what was not
# are together what there is in the whole recording
same() {
	(cd "$work/f" && python3 - "$tool" "$@" <<'PY'
import json, re, subprocess, sys

tool, name, options = sys.argv[1], sys.argv[2], sys.argv[3:]

def run(*more, only=options):
    return subprocess.run([tool, 'report', name, *only, *more], capture_output=True,
                          text=True, check=True).stdout

report = json.loads(run('--json'))
positive = {}
for row in report['rows']:
    units = {e['name']: e['unit'] for e in report['events']}
    weight = row['sum'] if units.get(row['event'], 'bytes') else row['count']
    if weight > 0:
        positive[row['event']] = positive.get(row['event'], 0) + weight
everything = sum(positive.values())
folded = sum(int(line.rsplit(' ', 1)[1]) for line in run('--folded').splitlines())
perf = sum(int(n) for n in re.findall(r'\d+\.\d+: (\d+) ', run('--format', 'perf-script')))
assert folded == perf == everything, (folded, perf, everything)
whole = {t['event']: t for t in json.loads(run('--json', only=[]))['totals']}
if 'leaks' in report:
    kept = sum(t['sum'] for t in report['totals'])
    assert kept + report['leaks'].get('left_out_bytes', 0) == sum(t['sum'] for t in whole.values())
    sys.exit()
table = run('--top', '0')
for total in report['totals']:
    for key in 'count', 'sum':
        left = total['left_out_' + key] if 'left_out_' + key in total else 0
        assert total[key] + left == whole[total['event']][key], (key, total)
    assert re.search(r'^%s: [\d,]+ stacks?, %s ' % (re.escape(total['event']),
                     f"{total['count']:,}"), table, re.M), table
    if options:
        assert f"left out by the filter: {total['event']}: {total['left_out_count']:,} of" in table
functions = json.loads(run('--json', '--by', 'function'))['functions']
for total in report['totals']:
    own = [f for f in functions if f['event'] == total['event']]
    assert sum(f['self_count'] for f in own) == total['count'], own
    assert sum(f['self_sum'] for f in own) == total['sum'], own
PY
	)
	check $? "$*: all formats have the same sums"
}

same brk.memtap
same brk.memtap --comm 'encr*'
same brk.memtap -p 4712
same brk.memtap --file some_module
same brk.memtap --file replaced.so --comm encryptor
same timed.memtap --between 2,6
same timed.memtap --between 2,6 -p 4711
same leaks.memtap
same leaks.memtap -p 4711
same leaks.memtap --event heap
same leaks.memtap --event mappings
same timed.memtap --between 23:59:53,23:59:58

# csv FILE LIST OPTION...: as many lines as the list has, and the same numbers
csv() {
	(cd "$work/f" && python3 - "$tool" "$@" <<'PY'
import csv, json, re, subprocess, sys

# what has no place in a line is '?' in CSV
def plain(text):
    return re.sub('[^ -~]', '?', text)

tool, name, key, options = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]

def run(*more):
    return subprocess.run([tool, 'report', name, *options, *more], capture_output=True,
                          text=True, check=True).stdout

want = json.loads(run('--json'))[key]
for mark in ',', ';', '\t':
    got = list(csv.DictReader(run('-x', mark).splitlines(), delimiter=mark, strict=True))
    assert len(got) == len(want), (len(got), len(want))
    for line, row in zip(got, want):
        assert None not in line, line
        for field, value in row.items():
            if isinstance(value, (int, str)) and not isinstance(value, bool):
                assert plain(line[field]) == plain(str(value)), (field, value, line)
            if field == 'user':
                names = [f.get('mark') or f['name'] or '[unknown]' for f in value]
                assert plain(line[field]) == plain(';'.join(names)), (line[field], names)
PY
	)
	check $? "$*: CSV has what JSON has"
}

csv brk.memtap rows
csv hostile.memtap rows
csv leaks.memtap rows
csv brk.memtap functions --by function
csv faults.memtap rows minor-fault
says 2 'takes SEPARATOR (one character, no letter or digit' brk.memtap -x ab
says 2 'exclude each other' brk.memtap -x, --folded

says 1 'no event .mmap.; it has: brk' brk.memtap mmap
says 1 'no event .x.; it has: minor-fault, major-fault, pages' faults.memtap --event x
says 1 'nothing in this recording is by --comm no.*it has: encryptor, kworker' brk.memtap --comm no
says 1 'is by these processes; it has: encryptor \[4711\]' brk.memtap -p 1
says 1 'does not tell threads apart' brk.memtap --tid 4711
says 2 'does not tell threads apart' brk.memtap --by thread
says 1 'conditions: --symbol none' brk.memtap --symbol none
says 1 'needs a recording with intervals' brk.memtap --between 1,2
says 1 'no interval of this recording lies there' timed.memtap --between 100,200
says 1 'takes two times, not .a,b.' timed.memtap --between a,b
says 1 'takes two times' timed.memtap --between 25:00:00,26:00:00
says 1 'is not before the second' timed.memtap --between 5,5
says 2 'two marks or times' timed.memtap --between 5
says 2 'takes PERCENT (from 0 to 100), not .101.' brk.memtap --min-percent 101
says 2 'are tables: without --format, or with --json' brk.memtap --by function --folded
says 2 'need stacks: not with --no-stacks' brk.memtap --by dso --no-stacks
says 2 '--sort self and total need --by function' brk.memtap --sort self
says 2 '--sort is self, total, function or dso' brk.memtap --by function --sort count
says 1 'there is no mark .a.' leaks.memtap --between a,b
checked
