#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""python_equal.py SAID JSON: is what a program of Python says of its objects what memtap says?

One line for each thing, as `ok` or `not ok`.  Counts and bytes are exact.  A word that was left
behind somewhere may hold an object, too, with all below it: of the holders one may have less.
"""
import json
import sys


def below(node, kind):
    """Blocks of this kind that a holder keeps."""
    return sum((k['blocks'] if k['kind'] == kind else 0) + below(k, kind) for k in node['keeps'])


d = json.load(open(sys.argv[2]))
kinds = {k['kind']: k for k in d['kinds'] if k['what'] == 'python'}
none = {'blocks': 0, 'bytes': 0}
bad, compared, less = [], 0, []
for line in open(sys.argv[1]):
    word = line.rstrip('\n').split('\t')
    if len(word) != 3 or word[0] == 'at':
        continue
    what, name, want = word[0], word[1], int(word[2])
    if what == 'version':
        got, want = d['python']['version'], name
    elif what == 'tracked':
        got = d['python'].get('tracked_objects')
    elif what == 'kind':
        compared += 1
        got = kinds.get(name, none)['blocks']
        if got != want:
            bad.append((name, want, got))
        continue
    elif what == 'bytes':
        got = kinds.get(name, none)['bytes']
    else:
        attribute, kind = name.split(':')
        got = sum(below(h, kind) for h in d['holders'] if h['what'] == 'python' and
                  h['name'] == attribute and h['object'] == '__main__')
        if want >= got >= want - max(2, want // 100):
            got = want
        elif got < want and not less:
            less.append((attribute, want, got))
            continue
    print('%s - %s %s: %s' % ('ok' if got == want else 'not ok', what, name, want))
    if got != want:
        print('#', got)
print('%s - %d kinds have as many objects as gc says' % ('not ok' if bad else 'ok', compared))
for each in bad:
    print('#', *each)
lost = sum(h['retained_blocks'] for h in d['holders'] if h['what'] == 'nothing')
print('%s - nearly all blocks have a holder' % ('not ok' if lost > 8 else 'ok'))
if lost > 8:
    print('#', lost)
p = d['python']
print('%s - all pools check' % ('not ok' if p['bad_pools'] or not p['pools_found'] else 'ok'))
