#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""python_held.py SAID JSON: is what a program of Python holds below the holders that it says?

One line for each holder, as `ok` or `not ok`.  A word that was left behind somewhere may hold an
object, too: of a table a few may be in another row.
"""
import json
import sys

LEAST = 0.97


def below(node, kind):
    """Blocks of this kind that a holder keeps."""
    return sum((k['blocks'] if k['kind'] == kind else 0) + below(k, kind) for k in node['keeps'])


d = json.load(open(sys.argv[2]))
for line in open(sys.argv[1]):
    word = line.rstrip('\n').split('\t')
    if len(word) != 5:
        continue
    what, first, second, kind, want = word[0], word[1], word[2], word[3], int(word[4])
    if what == 'several':
        name = '%s and %s' % (first, second)
        both = ['`%s`' % each for each in sorted([first, second])]
        rows = [h for h in d['holders'] if h['what'] == 'several' and
                sorted(h['name'].split(', ')) == both]
    else:
        name = '%s of %s' % (second, first)
        rows = [h for h in d['holders'] if h['what'].startswith('python') and
                h.get('object') == first and h.get('name') == second]
    got = sum(below(row, kind) for row in rows)
    good = len(rows) == 1 and want * LEAST <= got <= want + 2
    print('%s - %s %s: %s' % ('ok' if good else 'not ok', what, name, kind))
    if not good:
        print('#', want, got, len(rows))
several = sum(h['retained_bytes'] for h in d['holders'] if h['what'] == 'several')
everything = sum(h['retained_bytes'] for h in d['holders'])
print('%s - few of its bytes have several holders' %
      ('ok' if 5 * several < everything else 'not ok'))
print('#', several, everything)
