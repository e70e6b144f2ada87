# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of several classes, and what gc and sys say of them: for CPython 2.7 and 3.6 to 3.14.

Lines with tabs: what, name, number.  Types of which gc does not track all objects are left out.
"""
import gc
import os
import sys
import time


class Session(object):
    def __init__(self, number):
        self.user = 'user number %d of example.org' % number
        self.buffer = [number, number + 1]


class Slotted(object):
    __slots__ = ('left', 'right')


class OwnDict(dict):
    pass


class OwnList(list):
    pass


class Outer(object):
    class Inner(object):
        pass


session_table = {}
for i in range(2000):
    session_table['session %d' % i] = [Session(i)]
slots = [Slotted() for i in range(300)]
for i in range(300):
    slots[i].left = ['left of %d' % i]
dicts = [OwnDict(a=i) for i in range(100)]
lists = [OwnList([i]) for i in range(150)]
inner = [Outer.Inner() for i in range(70)]
# (gc does not track them: their links are nothing, or before 3.8 what was there before)
numbers = [{i: i} for i in range(400)]
large = bytearray(100000)
# (made before they are counted, so that counting makes nothing that stays)
counts = dict.fromkeys(range(2000), 0)
kinds, name, each, number = {}, None, None, 0


def label(kind):
    own = getattr(kind, '__qualname__', kind.__name__)
    if not kind.__flags__ & 1 << 9:             # made in C: as C calls it
        text = str(kind).split("'")[1]
        return text if '.' in text else own
    return own if kind.__module__ in ('builtins', '__builtin__') else kind.__module__ + '.' + own


def say(what, key, value):
    sys.stdout.write('%s\t%s\t%d\n' % (what, key, value))


def rounded(size):
    least = 16 if sys.version_info >= (3, 8) else 8
    return (size + least - 1) // least * least


for each in gc.get_objects():
    kinds[label(type(each))] = 0
kinds['?'] = 0
gc.collect()
gc.disable()
for each in gc.get_objects():
    kinds[label(type(each))] += 1
    number += 1
each = None
say('version', '%d.%d' % sys.version_info[:2], 0)
# (in 2.7 the arguments of sleep() are a tuple, which gc tracks)
say('tracked', '', number + (sys.version_info < (3,)))
for name in sorted(kinds):
    if kinds[name] and name not in ('tuple', 'dict', 'frame', 'list_iterator', 'cell'):
        say('kind', name, kinds[name])
say('bytes', '__main__.Slotted', sum(rounded(sys.getsizeof(s)) for s in slots))
# (since 3.13 attributes are in the object itself, and sys does not count them)
if sys.version_info < (3, 13):
    say('bytes', '__main__.Session',
        sum(rounded(sys.getsizeof(s[0])) for s in session_table.values()))
    say('bytes', label(Outer.Inner), sum(rounded(sys.getsizeof(s)) for s in inner))
say('holder', 'session_table:__main__.Session', 2000)
say('at', 'session 42', id(session_table['session 42'][0]))
say('holder', 'slots:__main__.Slotted', 300)
say('holder', 'inner:' + label(Outer.Inner), 70)
say('holder', 'numbers:dict', 400)
sys.stdout.write('ready %d\n' % os.getpid())
sys.stdout.flush()
time.sleep(1000)
