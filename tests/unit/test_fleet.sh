#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of many hosts: merged they have what each of them has, whatever the order; groups of
# hosts are compared, and odd hosts are named, as the definitions say.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
json_check=$PWD/tests/json-check
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export TZ=UTC
for made in make_snap make_leaks make_fleet; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itests/port -Ictl -Ikmod -Ikmod/core -Iinclude \
		-o "$work/$made" tests/golden/$made.c tests/golden/records.c kmod/core/wire.c
	check $? "the recordings can be made: $made"
done
cd "$work" || exit 1
mkdir f old new quiet same
./make_snap f && ./make_leaks f
./make_fleet old 7 parts=2 own=1
./make_fleet new 7 seed=2 grow=50 odd=5 build=1
./make_fleet quiet 6 seed=3

# says STATUS PATTERN ARGUMENT...: memtap ARGUMENT... prints one line like that, and nothing else
says() {
	local status=$1 pattern=$2 rc=0

	shift 2
	"$tool" "$@" > out 2> err || rc=$?
	[ $rc = "$status" ] && [ ! -s out ] && [ "$(wc -l < err)" = 1 ] && grep -q -- "$pattern" err
	check $? "memtap $(cut -c -60 <<< "$*"): $(head -n 1 err)"
}

# --- what is in the parts is in the whole
"$tool" merge -o all.memtap old > out 2> err && [ ! -s out ] &&
	grep -qx 'memtap: merged 14 recordings of 7 hosts into all.memtap' err
check $? "recordings are merged: $(cat err)"
[ "$(stat -c %a all.memtap)" = 600 ]
check $? "only its owner may read the file"
cat > sums.py <<'PY'
import collections, glob, json, subprocess, sys

tool, merged, files = sys.argv[1], sys.argv[2], sys.argv[3:]

def report(name, *more):
    return json.loads(subprocess.run([tool, 'report', name, '--json', *more], check=True,
                                     capture_output=True, text=True).stdout)

def key(row, host):
    frames = tuple((f.get('name'), f.get('file'), f.get('line'), f.get('inlined'), f.get('mark'))
                   for k in ('kernel', 'user') for f in row[k])
    return row['event'], host, tuple(row['flags']), frames

rows, events = collections.Counter(), collections.Counter()
for name in files:
    r = report(name)
    for row in r['rows']:
        for what in 'count', 'sum':
            rows[key(row, r['session']['host']), what] += row[what]
    for e in r['events']:
        for what in 'seen', 'counted', 'filtered', 'by_memtap':
            events[e['name'], what] += e[what]
        for part in 'lost', 'partial':
            for why, n in e[part].items():
                events[e['name'], part, why] += n
whole = report(merged, '--by', 'host')
for row in whole['rows']:
    for what in 'count', 'sum':
        rows[key(row, row['host']), what] -= row[what]
assert not any(rows.values()), [k for k in rows if rows[k]][:3]
for e in whole['events']:
    assert e['seen'] == e['counted'] + e['filtered'] + sum(e['lost'].values())
    for what in 'seen', 'counted', 'filtered', 'by_memtap':
        events[e['name'], what] -= e[what]
    for part in 'lost', 'partial':
        for why, n in e[part].items():
            events[e['name'], part, why] -= n
assert not any(events.values()), events
assert sum(h['recordings'] for h in whole['session']['hosts']) == len(files)
print(len(whole['rows']), 'rows of', len(whole['session']['hosts']), 'hosts')
PY
python3 sums.py "$tool" all.memtap old/*.memtap > said
check $? "rows, events and losses are the sums of those of the recordings: $(cat said)"
[ "$("$tool" report all.memtap --by none --json | python3 -c '
import json, sys
print(len(json.load(sys.stdin)["rows"]))')" = 16 ]
check $? "equal stacks of all hosts are one, wherever they were loaded"

# --- the order is no matter, nor in how many steps
for i in 1 2 3 4; do
	# shellcheck disable=SC2046
	"$tool" merge -q -o again.memtap $(shuf -e old/*.memtap --random-source=<(yes $i)) &&
		cmp all.memtap again.memtap || break
done
check $? "the same bytes in any order of the arguments"
cat > same.py <<'PY'
import json, subprocess, sys

def report(name):
    r = json.loads(subprocess.run([sys.argv[1], 'report', name, '--json', '--by', 'host'],
                                  check=True, capture_output=True, text=True).stdout)
    for e in r['events']:
        del e['id']
    for row in r['rows']:
        for f in row['kernel'] + row['user']:
            if f.get('name'):
                f.pop('addr', None)
    return {k: sorted(json.dumps(x, sort_keys=True) for x in v) if isinstance(v, list) else v
            for k, v in r.items() if k != 'session'}, \
        {k: v for k, v in r['session'].items() if k not in ('hosts', 'command')}, \
        sorted(json.dumps(h) for h in r['session']['hosts'])

a, b = report(sys.argv[2]), report(sys.argv[3])
assert a == b, (a, b)
PY
"$tool" merge -q -o a.memtap old/web-[1-3]*.memtap &&
	"$tool" merge -q -o b.memtap old/web-[4-5]*.memtap &&
	"$tool" merge -q -o again.memtap b.memtap old/web-6*.memtap a.memtap old/web-7*.memtap &&
	python3 same.py "$tool" all.memtap again.memtap
check $? "merged recordings can be merged"
"$tool" merge -q -o again.memtap all.memtap && python3 same.py "$tool" all.memtap again.memtap
check $? "also one alone"
"$tool" merge -o again.memtap old/web-1.memtap ./old/web-1.memtap old/web-2.memtap 2> err &&
	grep -q 'merged 2 recordings of 2 hosts' err && grep -q 'was read already' err
check $? "a recording that is given twice counts once"

# --- all formats, and what a merged recording has not
for format in table folded flame json callgrind perf-script speedscope massif perf-data; do
	"$tool" report all.memtap --format $format > out 2> err && [ -s out ]
	check $? "report --format $format"
done
"$tool" diff all.memtap again.memtap --by host > out 2>&1 && grep -q ' web-3$' out
check $? "diff --by host"
says 2 'does not tell processes' report all.memtap --by process
says 2 'does not tell processes' report all.memtap --by thread
says 1 'does not tell processes' report all.memtap --pid 1
[ "$("$tool" report old/web-1.memtap --by host | grep -c '^    web-1$')" = 10 ]
check $? "--by host of a recording of one host"

# --- each kind of recording
for name in brk faults files mappings hist rss mapped rows one reused; do
	"$tool" merge -q -o again.memtap f/$name.memtap 2> err &&
		"$tool" report f/$name.memtap --json --by none > a &&
		"$tool" report again.memtap --json --by none > b && python3 - <<-'PY'
			import json
			a, b = json.load(open('a')), json.load(open('b'))
			assert a['session']['host'] == b['session']['host']
			for x, y in zip(a['totals'], b['totals']):
			    assert all(x.get(k) == y.get(k) for k in
			               ('event', 'count', 'sum', 'read_only', 'reserved'))
			assert len(a['totals']) == len(b['totals'])
			def rest(rows):
			    # (an id that no file has, of events that are about files alone)
			    gone = {'[malloc]': '[file not recorded]'}
			    return sorted(
			        (r['event'], r['path'] if 'allowed' in r else
			         gone.get(r.get('path'), r.get('path', '')), r.get('hist', []))
			        for r in rows if 'path' in r or 'hist' in r)
			assert rest(a['rows']) == rest(b['rows'])
		PY
	check $? "merge: $name has the same sums, files and histograms$(cat err)"
done
for name in leaks leaks-several leaks-kinds kernel kernel-pages leaks-bytes; do
	"$tool" merge -q -o again.memtap f/$name.memtap 2> err &&
		"$tool" report f/$name.memtap --json --show-reachable --older 0 > a 2>> err &&
		"$tool" report again.memtap --json > b && python3 - <<-'PY'
			import json
			a, b = json.load(open('a')), json.load(open('b'))
			assert all(e['counted'] == e['seen'] for e in b['events'])
			# (estimates of rows are rounded)
			for k in 'count', 'sum':
			    x, y = (sum(t[k] for t in r['totals']) for r in (a, b))
			    assert abs(x - y) <= len(b['rows']), (k, x, y)
		PY
	check $? "merge: live memory of $name is all there$(cat err)"
done
"$tool" merge -q -o a.memtap f/leaks.memtap &&
	"$tool" merge -q -o b.memtap a.memtap f/leaks-several.memtap
check $? "live memory can be added to a merged recording"

"$tool" merge -q -o a.memtap f/brk.memtap && "$tool" report a.memtap > out &&
	grep -q '^  \[encryptor:abcd0102+0x1120\]$' out &&
	grep -q '^  \[replaced.so of golden.example+0x1120\]$' out
check $? "a frame without a name has its file's build ID, or the host"
for by in cgroup container program; do
	"$tool" report all.memtap --by $by > "by-$by" 2>&1 || break
done
grep -q '^    cgroup /system.slice/server.service$' by-cgroup &&
	grep -q '^    server$' by-program &&
	"$tool" report all.memtap --cgroup /system.slice --comm server > out &&
	[ "$(grep -c '^    server$' out)" = "$(grep -c '^    server$' by-program)" ]
check $? "cgroups of all hosts are known by their paths"

# --- what cannot be one
says 2 'histograms.*has not: record all in the same way' merge -o x.memtap f/hist.memtap \
	f/one.memtap
says 2 'has kernel stacks.*rows.memtap has not' merge -o x.memtap old/web-1.memtap f/rows.memtap
says 2 'has events.*live blocks: they cannot be one' merge -o x.memtap f/brk.memtap f/leaks.memtap
./make_fleet same 2 plain=1
says 2 'has the event brk, same/web-1.memtap has not' merge -o x.memtap old/web-2.memtap \
	same/web-1.memtap
"$tool" merge -q -o x.memtap old/web-2.memtap same/web-1.memtap --event minor-fault
check $? "--event chooses what all have"
"$tool" report x.memtap --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert [e["name"] for e in r["events"]] == ["minor-fault"]
assert len(r["session"]["hosts"]) == 2'
check $? "and only that is there"
rm x.memtap
says 2 'where to' merge old
says 2 'which recordings' merge -o x.memtap
says 2 'to be read and written' merge -o all.memtap old all.memtap
mkdir none
says 1 'none has no recordings' merge -o x.memtap none
says 2 '1M at least' merge -o x.memtap old --max-mem 1000
says 2 'is a directory: --outliers' report old
says 2 'max-mem is for --outliers' report all.memtap --max-mem 64M
says 1 'No such file or directory' merge -o nowhere/x.memtap old
[ ! -e x.memtap ]
check $? "nothing was written"

# --- damaged files
cp -r old damaged
head -c 1000 old/web-3.memtap > damaged/web-3.memtap
printf '\377' | dd of=damaged/web-4.memtap bs=1 seek=700 conv=notrunc status=none
echo nothing > damaged/web-5.memtap
rc=0
"$tool" merge -o again.memtap damaged damaged/gone.memtap 2> err || rc=$?
[ $rc = 1 ] && [ "$(grep -c 'left out' err)" = 4 ] && grep -q 'web-3.memtap: it is truncated' err &&
	grep -q 'web-4.memtap: it is damaged' err && grep -q 'web-5.memtap: it is ' err &&
	grep -q 'merged 11 recordings of 7 hosts' err &&
	"$tool" report again.memtap > out &&
	grep -q 'could not be read: 4 of 15 files, first damaged/' out
check $? "damaged files are named and left out, and the result says so"
rm damaged/web-[345].memtap
"$tool" merge -q -o rest.memtap damaged && python3 - "$tool" <<'PY'
import json, subprocess, sys
a, b = (json.loads(subprocess.run([sys.argv[1], 'report', f, '--json'], capture_output=True,
                                  check=True).stdout) for f in ('rest.memtap', 'again.memtap'))
for k in 'rows', 'events', 'totals', 'memory':
    assert a[k] == b[k]
assert a['session']['hosts'] == b['session']['hosts']
PY
check $? "the rest is as without them"
for i in $(seq 30); do echo $i > damaged/bad-$i.memtap; done
rc=0
"$tool" merge -o again.memtap damaged 2> err || rc=$?
[ $rc = 1 ] && [ "$(grep -c 'it is left out' err)" = 10 ] &&
	grep -q '30 of 41 recordings are left out' err
check $? "of many only the first are named"
rm -r none
mkdir none
cp damaged/bad-1.memtap none
rc=0
"$tool" merge -o x.memtap none 2> err || rc=$?
[ $rc = 1 ] && [ ! -e x.memtap ] && grep -q 'no recording that can be read' err
check $? "where all are damaged, nothing is written"

# --- hosts without names, and more arguments than a list has room for
mkdir unnamed
./make_fleet unnamed 1100 names=1 stacks=2
"$tool" merge -o again.memtap unnamed/*.memtap 2> err &&
	grep -q 'merged 1,100 recordings of 1,100 hosts' err &&
	"$tool" report again.memtap --by host --top 0 > out && grep -q '^    web-1099$' out
check $? "1,100 files as arguments; a host without a name is called as its file"

# --- bounded memory
mkdir many
./make_fleet many 60 stacks=40 own=60
"$tool" merge -q -o full.memtap many
"$tool" merge -o bounded.memtap many --max-mem 1M 2> err &&
	grep -q 'not kept for want of memory: the stacks of [0-9,]* rows' err
check $? "rows of least weight lose their stacks: $(tail -n 1 err)"
# shellcheck disable=SC2046
"$tool" merge -q -o again.memtap --max-mem 1M $(shuf -e many/*.memtap --random-source=<(yes 9)) &&
	cmp bounded.memtap again.memtap
check $? "which ones does not depend on the order of the arguments"
"$tool" report full.memtap --json --by host > a &&
	"$tool" report bounded.memtap --json --by host > b
python3 - <<'PY'
import collections, json
a, b = json.load(open('a')), json.load(open('b'))
def sums(r):
    of = collections.Counter()
    for row in r['rows']:
        of[row['event'], row['host'], 'count'] += row['count']
        of[row['event'], row['host'], 'sum'] += row['sum']
    return of
assert sums(a) == sums(b)
mark = [r for r in b['rows'] if any(f.get('mark') == '[stack not recorded]' for f in r['user'])]
assert 0 < len(mark) and len(b['rows']) < len(a['rows'])
for e in b['events']:
    lost = sum(r['count'] for r in mark if r['event'] == e['name'])
    assert e['partial']['stack-not-kept'] == lost, (e['partial'], lost)
def mean(rows):
    n = [r['count'] for r in rows if r['event'] == 'minor-fault' and r not in mark]
    return sum(n) / len(n)
assert mean(b['rows']) > 1.2 * mean(a['rows'])
assert any('not kept for want of memory' in n for n in b['notes'])
PY
check $? "their counts are kept by host and event, and the file says how many they are"

# --- two groups
cat > stats.py <<'PY'
# What `diff --hosts` and `--outliers` say, from the reports of all files by the definitions.
import collections, glob, json, statistics, subprocess, sys

tool, document, groups = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3:]
small = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}

def spread(v):
    m = statistics.median(v)
    mad = statistics.median(abs(x - m) for x in v)
    if mad:
        return 1.4826 * small.get(len(v), len(v) / (len(v) - 0.8)) * mad
    return 1.2533 * sum(abs(x - m) for x in v) / len(v)

def names(row):
    return tuple(f.get('name') for k in ('kernel', 'user') for f in row[k])

hosts, seconds, values = [], collections.Counter(), collections.Counter()
for side, group in enumerate(groups):
    for name in sorted(glob.glob(group + '/*.memtap')):
        r = json.loads(subprocess.run([tool, 'report', name, '--json', '--by', 'program'],
                                      capture_output=True, text=True, check=True).stdout)
        host = side, r['session']['host']
        seconds[host] += (r['session']['now_ns'] - r['session']['start_ns']) / 1e9
        units = {e['name']: e['unit'] for e in r['events']}
        for row in r['rows']:
            n = row['sum' if units[row['event']] else 'count']
            values[host, row['event'], row['comm'], names(row)] += n
            values[host, row['event'], None, ()] += n
things = {k[1:] for k in values}
of = {t: [[values[(h, *t)] / seconds[h] for h in seconds if h[0] == side]
          for side in range(len(groups))] for t in things}

def close(a, b):
    return abs(a - b) <= 0.002 + 1e-6 * abs(b)

def check_spread(told, v):
    assert told['hosts'] == len(v) and told['have'] == sum(x != 0 for x in v)
    assert close(told['median'], statistics.median(v)) and close(told['spread'], spread(v))
    assert close(told['least'], min(v)) and close(told['most'], max(v))

def differ(a, b):
    ma, mb = statistics.median(a), statistics.median(b)
    mid = (ma + mb) / 2
    side = lambda v, m: sum((x > mid) == (m > mid) and x != mid for x in v) * 4 >= 3 * len(v)
    return abs(ma - mb) > 3.5 * max(spread(a), spread(b)) and side(a, ma) and side(b, mb) and \
        abs(ma - mb) >= 0.02 * max(abs(ma), abs(mb))

odd = set()
for t in things:
    for side, v in enumerate(of[t]):
        total = statistics.median(of[t[0], None, ()][side])
        for i, h in enumerate(x for x in seconds if x[0] == side):
            rest = v[:i] + v[i + 1:]
            own = values[(h, t[0], None, ())] / seconds[h]
            apart = abs(v[i] - statistics.median(rest))
            far = max(abs(x - statistics.median(rest)) for x in rest)
            if len(v) >= 4 and apart > 3.5 * spread(rest) and apart > 3 * far and \
               apart >= 0.05 * max(abs(own), abs(total)):
                odd.add((*h, *t))
key = 'odd' if document['document'] == 'hosts_diff' else 'rows'
told = set()
for row in document[key]:
    side = groups.index(row['group'].rstrip('/')) if 'group' in row else 0
    t = row['event'], row.get('comm'), names(row)
    told.add((side, row['host'], *t))
    i = [h for h in seconds if h[0] == side].index((side, row['host']))
    assert close(row['value'], of[t][side][i])
    check_spread(row['others'], of[t][side][:i] + of[t][side][i + 1:])
assert told == odd, (told ^ odd)
if document['document'] == 'hosts_diff':
    told = {(r['event'], r.get('comm'), names(r)) for r in document['rows']}
    assert told == {t for t in things if t[1] and differ(*of[t])}, told
    for row in document['rows'] + document['totals']:
        t = row['event'], row.get('comm'), names(row)
        check_spread(row['before'], of[t][0])
        check_spread(row['after'], of[t][1])
        assert close(row['change'], statistics.median(of[t][1]) - statistics.median(of[t][0]))
    assert document['same'] + len(told) == len([t for t in things if t[1]])
print('%d stacks differ, %d are odd' % (len(document.get('rows', [])), len(odd)))
PY
"$tool" diff --hosts old/*.memtap new/*.memtap --json > diff.json && "$json_check" diff.json &&
	python3 stats.py "$tool" diff.json old new > said
check $? "diff --hosts: as by the definitions: $(cat said)"
"$tool" diff --hosts old new --json > again.json && cmp diff.json again.json
check $? "two directories are the same"
"$tool" diff --hosts new/*.memtap old/*.memtap > out && grep -q '^from new: 7 hosts' out
check $? "the first argument's directory is the older group"
"$tool" diff --hosts old/*.memtap new/*.memtap > out &&
	[ "$(grep -c '^  read_in_chunks$' out)" = 1 ] && grep -q '^  1 stack differs$' out &&
	grep -q '^web-5 (new):$' out && grep -q '^1 odd host$' out
check $? "one stack differs, though one machine has eight times as much; that one is odd"
./make_fleet same 7 seed=4 odd=5
"$tool" diff --hosts quiet same > out && [ "$(grep -c '^  0 stacks differ$' out)" = 2 ] &&
	grep -q '^web-5 (same):$' out
check $? "one odd machine alone is no difference between groups"
"$tool" merge -q -o o.memtap old && "$tool" merge -q -o n.memtap new &&
	"$tool" diff --hosts o.memtap n.memtap --json > again.json && python3 - <<'PY'
import json
a, b = json.load(open('diff.json')), json.load(open('again.json'))
strip = lambda d: sorted(json.dumps({k: v for k, v in x.items() if k != 'group'}) for x in d)
for k in 'rows', 'totals', 'odd':
    assert strip(a[k]) == strip(b[k]), k
PY
check $? "two merged recordings are two groups"
cp new/web-1.memtap w1.memtap && cp new/web-2.memtap w2.memtap
"$tool" diff --hosts old/web-[12]*.memtap -- new/web-[12].memtap > out && grep -q '^to new: 2' out
check $? "-- separates groups"
says 2 'of one directory: put --' diff --hosts old/web-1.memtap old/web-2.memtap old/web-3.memtap
says 2 'more than two directories' diff --hosts old/web-1.memtap new/web-1.memtap \
	quiet/web-1.memtap
says 2 'stand behind --' diff --hosts old/web-1.memtap old/web-2.memtap --
says 2 'stands between two groups' diff --hosts old/web-1.memtap -- new/web-1.memtap -- quiet
says 2 'needs two of each' diff --hosts old/web-1.memtap new/web-1.memtap
says 2 'which recordings' diff --hosts
says 2 'max-mem is for --hosts' diff old/web-1.memtap new/web-1.memtap --max-mem 64M
says 2 'diff compares two files' diff old/web-1.memtap new/web-1.memtap old/web-2.memtap
says 2 'is for --hosts' diff old/web-1.memtap -- new/web-1.memtap
says 2 'says nothing with --hosts' diff --hosts old new --flame x.html
says 2 'not --format massif' diff --hosts old new --format massif
says 2 'by program (default) or none' diff --hosts old new --by cgroup

# --- one group
"$tool" report new --outliers --json > odd.json && "$json_check" odd.json &&
	python3 stats.py "$tool" odd.json new > said
check $? "report --outliers: as by the definitions: $(cat said)"
"$tool" report new --outliers > out && grep -q '^web-5:$' out && grep -q '^1 odd host$' out &&
	grep -A 9 '^web-5:$' out | grep -qx '    read_in_chunks' &&
	grep -q '^ .* 1[0-9][0-9] %  web-5$' out
check $? "an odd host is named, with its part of the others' and the stack"
"$tool" report quiet --outliers > out && grep -q '^0 odd hosts$' out
check $? "no host is odd where all are alike"
"$tool" report quiet/web-[123].memtap --outliers > out &&
	grep -q 'no host is called odd: that takes 4 hosts' out && ! grep -q 'odd hosts' out
check $? "none is called odd among three"
"$tool" report old new --outliers -x, > out && [ "$(wc -l < out)" -gt 1 ] &&
	grep -q '^host,event\|,host,' out
check $? "also as CSV"
"$tool" report f/rss.memtap --outliers > out && grep -q '2,160 pages .*golden.example' out &&
	grep -q VALUE out && ! grep -q 'minor-fault\|/s' out
check $? "resident pages are no rate, and the page faults of that recording are not shown"
says 2 'which recordings' report --outliers
says 2 'says nothing with --outliers' report new --outliers --sort count
printf '\377' | dd of=new/web-2.memtap bs=1 seek=700 conv=notrunc status=none
rc=0
"$tool" report new --outliers > out 2> err || rc=$?
[ $rc = 1 ] && grep -q 'could not be read: 1 of 7 files' out && grep -q 'left out' err
check $? "a damaged recording is named, the others are compared"
checked
