# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that are held in all ways that a program of Python has: for CPython 3.7 to 3.14.

Lines with tabs: holder, its name, which class, how many objects of it at least.
"""
import asyncio
import collections
import functools
import os
import queue
import sys
import threading
import time

NR = 200


class Blob(object):
    def __init__(self, tag):
        self.tag = 'tag %s' % tag
        self.data = bytearray(600)


def blobs(tag):
    return [Blob('%s %d' % (tag, k)) for k in range(NR)]


class Registry(object):
    shared = dict(enumerate(blobs('class')))


class Derived(Registry):
    pass


class Owner(object):
    def __init__(self):
        self.cache = dict(enumerate(blobs('instance')))


class Slotted(object):
    __slots__ = ('held', 'other')


def make_closure():
    kept = blobs('closure')

    def inner():
        return kept
    return inner


def with_default(cache=blobs('default')):
    return cache


def with_attribute():
    pass


@functools.lru_cache(maxsize=None)
def cached(number):
    return Blob('lru %d' % number)


def generate():
    mine = blobs('generator')
    for each in mine:
        yield each


def fail():
    in_failed = blobs('traceback')
    raise ValueError(len(in_failed))


def fill():
    for each in blobs('queue'):
        fifo.put(each)
    for number, each in enumerate(blobs('defaultdict')):
        grouped[number % 10].append(each)
    for number in range(NR):
        cached(number)
    next(generator)


def worker():
    local_work = blobs('thread')
    with lock:
        ready.append(len(local_work))
    time.sleep(1000)


async def task(number):
    in_task = blobs('task')
    await asyncio.sleep(1000)
    return in_task, number


async def main():
    tasks = [asyncio.ensure_future(task(k)) for k in range(2)]
    await asyncio.sleep(0.2)
    sys.stdout.write('ready %d\n' % os.getpid())
    sys.stdout.flush()
    time.sleep(1000)
    return tasks


owner = Owner()
children = [Derived() for k in range(50)]
slotted = Slotted()
slotted.held = blobs('slot')
closure = make_closure()
with_attribute.attached = blobs('function')
fifo = queue.Queue()
pieces = collections.deque(blobs('deque'))
ordered = collections.OrderedDict(enumerate(blobs('ordered')))
grouped = collections.defaultdict(list)
generator = generate()
some = set(blobs('set'))
row = tuple(blobs('tuple'))
local = threading.local()
local.stuff = blobs('local')
# (of two names, one alone is needed for nothing)
first_name = {'both': blobs('both')}
second_name = [first_name]
json_like = {'users': [{'name': 'user %d' % k, 'roles': ['a%d' % k]} for k in range(3000)]}
failure = None
try:
    fail()
except ValueError as error:
    failure = error
lock = threading.Lock()
ready = []
fill()
thread = threading.Thread(target=worker)
thread.daemon = True
thread.start()
while not ready:
    time.sleep(0.01)
for holder in ('Registry', 'owner', 'slotted', 'closure', 'with_default', 'with_attribute',
               'cached', 'fifo', 'pieces', 'ordered', 'grouped', 'generator', 'some', 'row',
               'local', 'failure'):
    sys.stdout.write('holder\t__main__\t%s\t__main__.Blob\t%d\n' % (holder, NR))
sys.stdout.write('holder\t__main__\tjson_like\tdict\t3001\n')
sys.stdout.write('holder\tworker\tlocal_work\t__main__.Blob\t%d\n' % NR)
sys.stdout.write('several\t__main__.first_name\t__main__.second_name\t__main__.Blob\t%d\n' % NR)
asyncio.new_event_loop().run_until_complete(main())
