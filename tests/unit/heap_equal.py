#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""heap_equal.py A B: do two documents of `memtap heap --json` say the same of the process?

What differs by how it was read (a process or a file) is left out.  One line for each difference.
"""
import json
import sys

HOW = ('stopped_ns', 'tries', 'copied_bytes', 'read_bytes', 'method', 'core')


def read(path):
    document = json.load(open(path))
    return {key: document[key] for key in document if key not in HOW}


def lines(value):
    return [json.dumps(v, sort_keys=True) for v in value] if isinstance(value, list) else [
        json.dumps(value)]


a, b = read(sys.argv[1]), read(sys.argv[2])
bad = [key for key in sorted(set(a) | set(b)) if a.get(key) != b.get(key)]
for key in bad:
    was, now = lines(a.get(key)), lines(b.get(key))
    for sign, some, others in ('-', was, now), ('+', now, was):
        for line in some:
            if line not in others:
                print('# %s %s: %.300s' % (sign, key, line))
sys.exit(bool(bad))
