# SPDX-License-Identifier: GPL-2.0-or-later
#
# formats.py FORMAT REPORT.json FILE: does FILE, in a format of other programs, say what the
# report says?  It is read by the program that it is for, or as that program does, and what each
# function and each line has must be what the rows of the report have.
import collections
import json
import os
import re
import subprocess
import sys


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
        self.frames = row['kernel'] + row['user']
        self.label = row.get('comm', '[task not kept]')
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


def callgrind(report, path):
    names, functions, totals = annotated(path)
    inclusive = annotated(path, '--inclusive=yes')[1]
    own, whole, lines, all_of = {}, {}, {}, (0,) * len(names)
    for row in rows_of(report):
        numbers = columns(row, names)
        frames = [place(f) for f in row.frames] or [('???', '[no stack]')]
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
    for comm, pid, period, event, frames in list(samples(path)):
        got[(comm, pid, event, tuple(frames))] += period
    for row in rows_of(report):
        key = (row.comm or '[task not kept]').replace(' ', '_')
        frames = tuple((re.sub(r'\+0x[0-9a-f]+$', '', text_of(f)), perf_object(f))
                       for f in row.frames)
        if row.weight > 0:
            want[(key, row.pid or 0, row.event, frames)] += row.weight
    same('samples', got, want)


def main():
    name, report, path = sys.argv[1:]
    with open(report) as f:
        report = json.load(f)
    globals()[name.replace('-', '_')](report, path)


main()
