# SPDX-License-Identifier: GPL-2.0-or-later
#
# formats.py FORMAT REPORT.json FILE: does FILE, in a format of other programs, say what the
# report says?  It is read by the program that it is for, or as that program does, and what each
# function and each line has must be what the rows of the report have.
import collections
import html
import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree


def fail(text):
    sys.exit(text)


def same(what, got, want):
    if got == want:
        return
    lines = ['%s: %s, not %s' % (key, got.get(key), want.get(key))
             for key in sorted(set(got) | set(want), key=str) if got.get(key) != want.get(key)]
    fail('%s differ\n%s' % (what, '\n'.join(lines[:20])))


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=60, **options)
    if done.returncode:
        fail('%s: exit status %d\n%s' % (command[0], done.returncode, done.stderr))
    return done.stdout


def text_of(frame):
    """What stands for a name, as ctl/report has it."""
    if 'mark' in frame:
        return frame['mark']
    if frame['name'] is not None:
        return frame['name']
    if not frame['object']:
        return '[unknown]'
    if frame['object'].startswith('['):
        return frame['object']
    return '[%s+%s]' % (frame['object'], frame['addr']) if 'addr' in frame else '[kernel]'


class Row:
    def __init__(self, report, row, groups):
        self.event, self.count = row['event'], row['count']
        growth = not set(row.get('flags', [])) & {'read-only', 'reserved'}
        self.unit = {e['name']: e['unit'] for e in report['events']}.get(self.event, 'bytes')
        self.value = max(row['sum'], 0) if growth else 0
        self.weight = self.value if self.unit else self.count
        self.kind = row.get('kind')
        self.frames = row['kernel'] + row['user'] or [{'mark': '[no stack]'}]
        self.label = row.get('comm', '[task not recorded]')
        self.pid, self.comm = row.get('pid'), row.get('comm')
        self.group = self.label if groups > 1 else None


def rows_of(report):
    groups = len({(r.get('comm'), r.get('pid'), r.get('tid')) for r in report['rows']})
    return [Row(report, r, groups) for r in report['rows']]


# ---- callgrind ----

def place(frame):
    if 'mark' in frame:
        return '???', frame['mark']
    return frame.get('file', '???'), text_of(frame)


def columns(row, names):
    """What the row has in the columns of these names."""
    leaks = {'curB': row.value, 'curBk': row.count} if row.event == 'heap' else \
        {'mapB': row.value, 'maps': row.count} if row.event == 'mappings' else {}
    kind = {'definite': 'D', 'indirect': 'I', 'possible': 'P', 'reachable': 'R'}.get(row.kind)
    if leaks and kind and row.event == 'heap':
        leaks.update({kind + 'B': row.value, kind + 'Bk': row.count})
    name = re.sub('[^A-Za-z0-9]', '_', row.event)
    return tuple((leaks or {name: row.count, name + '_' + row.unit: row.value}).get(n, 0)
                 for n in names)


def add(table, key, numbers):
    table[key] = tuple(a + b for a, b in zip(table.get(key, (0,) * len(numbers)), numbers))


def annotated(path, *options):
    """callgrind_annotate's table of functions: {(file, function): numbers}, and its totals."""
    out = run('callgrind_annotate', '--threshold=100', '--show-percs=no', '--auto=no', *options,
              path, cwd='/')
    names = re.search(r'^Events shown: +(.*)$', out, re.M).group(1).split()
    functions, totals = {}, None
    for line in out.split('\n'):
        m = re.match(r'((?: *(?:[0-9][0-9,]*|\.))+)  (.*)', line)
        if not m:
            continue
        numbers = tuple(int(n.replace(',', '').replace('.', '0')) for n in m.group(1).split())
        if m.group(2) == 'PROGRAM TOTALS':
            totals = numbers
        elif len(numbers) == len(names):
            name, _, function = m.group(2).partition(':')
            function = re.sub(r' \[(\[jit\]|[^\[]*)\]$', '', function)
            add(functions, (name.rsplit('/', 1)[-1], function), numbers)
    return names, functions, totals


def lines_of(path):
    """Our own reading, line by line: {(file, line): numbers} of what lines cost themselves."""
    known, lines, file, calls = {}, {}, None, False
    for line in open(path):
        m = re.match(r'(fl)=\((\d+)\)(?: (.*))?$', line)
        if m:
            if m.group(3) is not None:
                known[m.group(2)] = m.group(3)
            file = known[m.group(2)]
        elif re.match(r'cfi=\((\d+)\) (.*)$', line):
            m = re.match(r'cfi=\((\d+)\) (.*)$', line)
            known[m.group(1)] = m.group(2)
        elif line.startswith('calls='):
            calls = True
        elif re.match(r'\d', line):
            numbers = [int(n) for n in line.split()]
            if not calls:
                add(lines, (file, numbers[0]), tuple(numbers[1:]))
            calls = False
    return lines


def one_function_each(path):
    """A number of a function is one for its readers, whatever object and file stand above."""
    names, functions, at = {}, {}, {}
    with open(path) as f:
        for line in f:
            m = re.match(r'c?(ob|fl|fi|fn)=\((\d+)\)(?: (.*))?$', line.rstrip('\n'))
            if not m:
                continue
            kind, number, name = m.groups()
            kind = 'fl' if kind == 'fi' else kind
            names.setdefault((kind, number), name)
            at[kind] = names[kind, number]
            if kind == 'fn' and functions.setdefault(number, dict(at)) != at:
                fail('(%s) is %s and %s' % (number, functions[number], at))


def opens_with(names, totals):
    """Viewers open a file with its first column."""
    if any(totals) and not totals[0]:
        fail('%s is 0, and stands first: %s, %s' % (names[0], names, totals))


def callgrind(report, path):
    one_function_each(path)
    names, functions, totals = annotated(path)
    opens_with(names, totals or (0,) * len(names))
    inclusive = annotated(path, '--inclusive=yes')[1]
    own, whole, lines, all_of = {}, {}, {}, (0,) * len(names)
    for row in rows_of(report):
        numbers = columns(row, names)
        frames = [place(f) for f in row.frames]
        add(own, (frames[0][0].rsplit('/', 1)[-1], frames[0][1]), numbers)
        add(lines, (frames[0][0], row.frames[0].get('line', 0) if row.frames else 0), numbers)
        if row.group:
            frames.append(('???', row.group))
        for frame in set((f.rsplit('/', 1)[-1], n) for f, n in frames):
            add(whole, frame, numbers)
        all_of = tuple(a + b for a, b in zip(all_of, numbers))

    def some(table):
        return {k: v for k, v in table.items() if any(v) and k[1] != '[outermost]'}
    same('what functions caused themselves', some(functions), some(own))
    same('what was caused while they were on the stack', some(inclusive), some(whole))
    same('what lines caused', some(lines_of(path)), some(lines))
    if (totals or (0,) * len(names)) != all_of:
        fail('totals: %s, not %s' % (totals, all_of))


# ---- perf-script ----

def samples(path):
    """As stackcollapse-perf.pl and Firefox Profiler read it: lines by these patterns."""
    at = None
    for line in open(path):
        line = line.rstrip('\n')
        if line.startswith('#') or not line:
            at = None
            continue
        head = re.match(r'(\S.+?)\s+(\d+)/(\d+)\s+([\d.]+):\s+(\d+)\s+(\S+):\s*$', line)
        frame = re.match(r'\s*(\w+)\s*(.+) \((\S*)\)$', line)
        if head:
            at = [head.group(1), int(head.group(2)), int(head.group(5)), head.group(6), []]
            yield at
        elif frame and at:
            at[4].append((re.sub(r'\+0x[0-9a-f]+$', '', frame.group(2)), frame.group(3)))
        else:
            fail('a line that nobody reads: ' + line)


def perf_object(frame):
    if 'mark' in frame:
        return 'memtap'
    if frame.get('inlined'):
        return 'inlined'
    if frame['object'] in ('kernel', 'some_module') and 'addr' not in frame:
        return '[kernel.kallsyms]' if frame['object'] == 'kernel' else '[some_module]'
    return frame['object'] or '[unknown]'


def perf_script(report, path):
    if not open(path).readline().startswith('# ========'):
        fail('Firefox Profiler would not know what it is')
    got, want = collections.Counter(), collections.Counter()
    times = collections.Counter()
    for comm, pid, period, event, frames in list(samples(path)):
        got[(comm, pid, event, tuple(frames))] += period
        times[(comm, pid, event, tuple(frames))] += 1
    for row in rows_of(report):
        key = (row.comm or '[task not recorded]').replace(' ', '_')
        frames = tuple((re.sub(r'\+0x[0-9a-f]+$', '', text_of(f)), perf_object(f))
                       for f in row.frames)
        if row.weight > 0:
            want[(key, row.pid or 0, row.event, frames)] += row.weight
    same('samples', got, want)
    # who counts samples sees the same shares, but for what is less than one of a thousand
    total, number = sum(want.values()), sum(times.values())
    for key, weight in want.items():
        if abs(weight / total - times[key] / number) > 0.002 + len(want) / 1000:
            fail('%s: %d of %d samples, %d of %d' % (key, times[key], number, weight, total))


def perf_data(report, path):
    """Sums of periods by task, event and the files of a chain, as perf itself reads them."""
    got, want = collections.Counter(), collections.Counter()
    key = None
    out = run('perf', 'script', '-i', path, '-F', 'comm,pid,event,period,ip,dso',
              env=dict(os.environ, HOME='/nonexistent'))
    for line in out.split('\n') + ['']:
        head = re.match(r'\s*(.*?) +(-?\d+) +(\d+) +(\S+): $', line)
        frame = re.match(r'\t\s*([0-9a-f]+) \((.*)\)$', line)
        if head:
            key, files = [head.group(1), int(head.group(2)), head.group(4)], []
            period = int(head.group(3))
        elif frame:
            files.append(os.path.basename(frame.group(2)))
        elif not line and key:
            got[tuple(key + files)] += period
            key = None
        elif line:
            fail('a line that nobody reads: ' + line)
    for row in rows_of(report):
        files = [f['object'] if f['object'] and 'addr' in f else '[unknown]'
                 for f in row.frames if 'mark' not in f and not f.get('inlined')]
        if row.weight > 0:
            want[tuple([row.comm or ':-1', row.pid or -1, row.event] + files)] += row.weight
    same('samples', got, want)


# ---- pprof ----

def raw(path):
    """Types, and samples with labels and frames, as `go tool pprof` reads them."""
    out = run('go', 'tool', 'pprof', '-raw', path,
              env=dict(os.environ, HOME='/nonexistent', PPROF_TMPDIR='/nonexistent'))
    types, samples_, places, part = [], [], {}, None
    # code without a name: where it is in its file, from what its mapping says
    mapping = (r'^(\d+): 0x([0-9a-f]+)/0x([0-9a-f]+)/0x([0-9a-f]+) (\S+) ([0-9a-f]*) *'
               r'(?:\[|$)')
    mapped = {m[1]: (int(m[2], 16), int(m[3], 16), int(m[4], 16), m[5], m[6])
              for m in re.finditer(mapping, out, re.M)}
    for line in out.split('\n'):
        sample = re.match(r'((?: +-?\d+)+): ([\d ]*)$', line)
        label = re.findall(r'(\w+):\[(.*?)\](?= \w+:\[|$)', line)
        location = re.match(r' +(\d+): 0x[0-9a-f]+ (?:M=(\d+) )?(.*) (\S*):(\d+)(?::\d+)? '
                            r's=\d+(?:\(\))?$', line)
        unnamed = re.match(r' +(\d+): 0x([0-9a-f]+) M=(\d+) $', line)
        inlined = re.match(r' {13,}(.*) (\S*):(\d+)(?::\d+)? s=\d+(?:\(\))?$', line)
        if line in ('Samples:', 'Locations', 'Mappings'):
            part = line
        elif part == 'Samples:' and not types and re.match(r'\S', line):
            types = [t.replace('[dflt]', '').split('/') for t in line.split()]
        elif part == 'Samples:' and sample:
            samples_.append((tuple(map(int, sample.group(1).split())), sample.group(2).split(),
                             {}))
        elif part == 'Samples:' and label:
            samples_[-1][2].update(label)
        elif part == 'Locations' and location:
            last = location.group(1)
            places[last] = [(location.group(3).strip(), location.group(4), location.group(5))]
        elif part == 'Locations' and unnamed:
            start, limit, offset, name, build_id = mapped[unnamed.group(3)]
            at = int(unnamed.group(2), 16)
            if not start or not start <= at < limit or not build_id:
                fail('nobody can name this location: ' + line)
            places[unnamed.group(1)] = [('[%s+0x%x]' % (os.path.basename(name),
                                                       at - start + offset), '', '0')]
        elif part == 'Locations' and inlined:
            places[last].append((inlined.group(1), inlined.group(2), inlined.group(3)))
        elif part == 'Locations' and line.strip():
            fail('a location that is not understood: ' + line)
    if not re.search(r'^\d+: 0x0/0x[0-9a-f]+/0x0 .*/encryptor abcd0102', out, re.M) and \
            'encryptor' in out.split('Mappings')[1]:
        fail('the program has no build-id')
    return types, [(v, [f for i in ids for f in places[i]], labels)
                   for v, ids, labels in samples_]


def pprof(report, path):
    types, found = raw(path)
    opens_with(types, [sum(n) for n in zip(*(v for v, _, _ in found))])
    units = {'nanoseconds': 'ns'}
    got, want = {}, {}
    for values, frames, labels in found:
        key = tuple(frames) + tuple(sorted(labels.items()))
        add(got, key, values)
    for row in rows_of(report):
        labels = {'comm': row.comm, 'pid': str(row.pid) if row.pid else None, 'kind': row.kind}
        labels = {k: v for k, v in labels.items() if v and v[0] != '['}
        key = tuple((text_of(f), f.get('file', ''), str(f.get('line', 0))) for f in row.frames)
        values = []
        for name, unit in types:
            of = {'inuse_space': 'heap', 'inuse_objects': 'heap', 'mapped_space': 'mappings',
                  'mapped_objects': 'mappings'}.get(name) or name
            unit = units.get(unit, unit)
            event = re.sub('[^A-Za-z0-9]', '_', row.event)
            if of not in (event, event + '_' + unit):
                values.append(0)
            else:
                values.append(row.count if unit == 'count' else row.value)
        add(want, key + tuple(sorted(labels.items())), tuple(values))
    got = {k: v for k, v in got.items() if any(v)}
    want = {k: v for k, v in want.items() if any(v)}
    same('samples', got, want)


# ---- massif ----

ALLOCATORS = {'malloc', 'calloc', 'realloc', 'free', '__x64_sys_brk', 'do_syscall_64',
              'entry_SYSCALL_64_after_hwframe'}


def callers(row):
    """What an area is drawn for, and what called it: not the functions that allocate."""
    names = [text_of(f) for f in row.frames]
    while len(names) > 1 and (names[0] in ALLOCATORS or names[0].startswith('operator new')):
        del names[0]
    return names


def massif(report, path):
    shown = run('ms_print', '--threshold=1', path)
    want, total = collections.Counter(), 0
    pages = any(e['group'] == 'rss' for e in report['events'])
    for row in rows_of(report):
        if row.unit != ('pages' if pages else 'bytes') or row.event in ('mappings', 'swapped'):
            continue
        value = row.value * (report['session']['page_size'] if pages else 1)
        total += value
        names = callers(row)
        for i in range(len(names)):
            want[tuple(names[:i + 1])] += value
    table = re.search(r'^ +0 +[\d,]+ +([\d,]+) +([\d,]+) +0 +0$', shown, re.M)
    if [int(n.replace(',', '')) for n in table.groups()] != [total, total]:
        fail('ms_print has %s bytes, not %d' % (table.group(1), total))
    got, at, nr = {}, [], 0
    for line in open(path):
        node = re.match(r'( *)n(\d+): (\d+) (?:0x[0-9A-F]+: (.*) \(|(\(memtap)|in \d+ place)', line)
        if not node:
            continue
        nr += 1
        at[len(node.group(1)):] = [node.group(4)]
        if node.group(4):
            key = tuple(at[1:])
            got[key] = got.get(key, 0) + int(node.group(3))
    # two places in one function are two nodes, and each may be too small
    for key, value in got.items():
        if value > want[key] or (want[key] - value) * 100 >= total * 8:
            fail('%s: %d, not %d' % (key, value, want[key]))
    for key, value in want.items():
        if key not in got and value * 100 >= total * 8:
            fail('%s is missing: %d of %d' % (key, value, total))


# ---- heaptrack ----

def heaptrack(report, path):
    sums, leaked = {}, collections.Counter()
    for cost in ('allocations', 'temporary', 'peak', 'leaked'):
        folded = path + '.' + cost
        run('heaptrack_print', '-t', '0', path, '--flamegraph-cost-type', cost, '-F', folded)
        sums[cost] = 0
        with open(folded) as f:
            for line in f:
                stack, value = line.rsplit(' ', 1)
                sums[cost] += int(value)
                if cost == 'leaked' and int(value):
                    leaked[stack.rstrip(';')] += int(value)
    # heaptrack_gui ends by a signal where a size is used before the one in front of it was
    used, sizes = 0, 0
    with open(path) as f:
        for line in f:
            sizes += line[0] == 'a'
            if line[0] == '+' and int(line[2:], 16) >= used:
                if int(line[2:], 16) != used:
                    fail('size %d is used first' % int(line[2:], 16))
                used += 1
    same('sizes that are used', used, sizes)
    want = collections.Counter()
    for row in rows_of(report):
        if row.event == 'heap':
            want[';'.join(reversed(callers(row)))] += row.value
    same('stacks that live', leaked, want)
    peak = report['leaks']['peak']
    same('totals', sums, {'allocations': peak['allocated_count'], 'peak': peak['bytes'],
                          'temporary': peak['temporary_count'], 'leaked': sum(want.values())})


# ---- speedscope ----

def speedscope(report, path):
    """The file's schema, as far as there is a profile of samples; then what they say."""
    with open(path) as f:
        file = json.load(f)
    if file['$schema'] != 'https://www.speedscope.app/file-format-schema.json' or \
            set(file) - {'$schema', 'exporter', 'name', 'activeProfileIndex', 'profiles', 'shared'}:
        fail('this is not the schema')
    if any(p['endValue'] for p in file['profiles']) and \
            not file['profiles'][file['activeProfileIndex']]['endValue']:
        fail('the profile that it opens with is empty')
    frames = file['shared']['frames']
    for frame in frames:
        if not isinstance(frame['name'], str) or set(frame) - {'name', 'file', 'line', 'col'}:
            fail('a frame that is none: %s' % frame)
    got, want = collections.Counter(), collections.Counter()
    for profile in file['profiles']:
        if set(profile) != {'type', 'name', 'unit', 'startValue', 'endValue', 'samples',
                            'weights'} \
                or profile['type'] != 'sampled' \
                or len(profile['samples']) != len(profile['weights']) \
                or profile['unit'] not in ('none', 'bytes', 'nanoseconds') \
                or profile['endValue'] != sum(profile['weights']):
            fail('a profile that is none: ' + profile['name'])
        for stack, weight in zip(profile['samples'], profile['weights']):
            got[(profile['name'], tuple(frames[i]['name'] for i in reversed(stack)))] += weight
    for row in rows_of(report):
        stack = tuple(text_of(f) for f in row.frames) + ((row.group,) if row.group else ())
        names = {'heap': ('currently allocated Bytes', 'currently allocated Blocks'),
                 'mappings': ('mapped Bytes', 'Mappings')}
        value, count = names.get(row.event, ('%s, %s' % (row.event, row.unit), row.event))
        want[(count, stack)] += row.count
        if row.unit and row.value:
            want[(value, stack)] += row.value
    same('samples', got, want)


def in_speedscope(report, path):
    """What the viewer shows of a file, whatever its format: a table of functions, with totals."""
    with open(path) as f:
        lines = re.findall(r'<tr[^>]*>(.*?)</tr>', f.read(), re.S)
    cells = [[html.unescape(re.sub(r'<[^>]+>', '', c)) for c in
              re.findall(r'<td[^>]*>(.*?)</td>', line, re.S)] for line in lines]
    got = {c[2]: re.sub(r' \(.*', '', c[0]).replace(',', '').replace(' B', '')
           for c in cells if len(c) == 3 and '%' in c[0]}
    want = collections.Counter()
    for row in rows_of(report):
        for name in set(text_of(f) for f in row.frames):
            want[name] += row.value
    same('functions in speedscope', {n: got.get(n) for n in want},
         {n: str(v) for n, v in want.items()})


# ---- Memcheck's XML ----

# What stands in an element of protocol 4, in its order.
GRAMMAR = {
    'valgrindoutput': 'protocolversion protocoltool preamble pid ppid tool args status '
                      '(error )*status (error )*errorcounts suppcounts ',
    'preamble': '(line )+', 'args': 'vargv argv ', 'vargv': 'exe (arg )*', 'argv': 'exe (arg )*',
    'status': 'state time ',
    'error': 'unique tid (threadname )?kind (what |xwhat )stack (auxwhat (stack )?)*'
             '(suppression )?',
    'xwhat': 'text leakedbytes leakedblocks ', 'stack': '(frame )+',
    'frame': 'ip (obj )?(fn )?(dir )?(file )?(line )?',
    'suppression': 'sname skind (skaux )?(sframe )+rawtext ', 'sframe': '(fun |obj )',
    'errorcounts': '(pair )*', 'suppcounts': '(pair )*', 'pair': 'count (unique |name )',
}


def by_grammar(element):
    tags = ''.join(child.tag + ' ' for child in element)
    if not re.fullmatch(GRAMMAR.get(element.tag, ''), tags):
        fail('<%s> has: %s' % (element.tag, tags))
    for child in element:
        by_grammar(child)


def memcheck(report, path):
    """One document of protocol 4."""
    root = ElementTree.parse(path).getroot()
    by_grammar(root)
    if (root.findtext('protocolversion'), root.findtext('tool')) != ('4', 'memcheck'):
        fail('not Memcheck\'s protocol 4')
    times = [s.findtext('time').strip() for s in root.findall('status')]
    if not all(re.fullmatch(r'\d\d:\d\d:\d\d:\d\d\.\d{3}', t) for t in times):
        fail('times: %s' % times)
    unique = [e.findtext('unique') for e in root.findall('error')]
    if len(set(unique)) != len(unique) or not all(re.fullmatch('0x[0-9a-f]+', u) for u in unique):
        fail('errors are not told apart: %s' % unique)
    return root


def xml(report, path):
    root = memcheck(report, path)
    kinds = {'definite': 'Leak_DefinitelyLost', 'indirect': 'Leak_IndirectlyLost',
             'possible': 'Leak_PossiblyLost', 'reachable': 'Leak_StillReachable'}
    got, want = collections.Counter(), collections.Counter()
    mismatches = 0
    for error in root.findall('error'):
        kind, frames = error.findtext('kind'), error.find('stack')
        if not kind.startswith('Leak_'):
            mismatches += 1
            continue
        key = (kind, tuple(f.findtext('fn') or '[%s]' % f.findtext('obj').rsplit('/', 1)[-1]
                           for f in frames))
        got[key + ('bytes',)] += int(error.findtext('xwhat/leakedbytes'))
        got[key + ('blocks',)] += int(error.findtext('xwhat/leakedblocks'))
    for row in rows_of(report):
        mapping = row.event == 'mappings'
        if mapping and row.kind in (None, 'unknown', 'reachable'):
            continue
        key = (kinds.get(row.kind, 'Leak_PossiblyLost'),
               tuple(re.sub(r'\+0x[0-9a-f]+\]$', ']', text_of(f)) for f in row.frames))
        want[key + ('bytes',)] += row.value
        want[key + ('blocks',)] += row.count
    same('leaks', got, want)
    if mismatches != len(report['leaks']['mismatches']):
        fail('%d wrong frees' % mismatches)


def main():
    name, report, path = sys.argv[1:]
    with open(report) as f:
        report = json.load(f)
    globals()[name.replace('-', '_')](report, path)


main()
