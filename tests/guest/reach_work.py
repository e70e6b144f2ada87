# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers each number that comes: makes so many things of all kinds, keeps some of them, and
forgets as many blocks of malloc(); at the end $FORGOTTEN has where these were."""
import ctypes
import hashlib
import os
import sys

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
kept, first, where = {}, 0, []
digest = hashlib.sha256()
while True:
    line = sys.stdin.readline()
    if not line:
        break
    for i in range(first, first + int(line)):
        kept[i % 2000] = [str(i) * 20, {i: (i, float(i))}, bytes(range(i % 200))]
        # text, which is nobody's address; a number may be one
        where.append("%#x" % libc.malloc(100 + i % 50))
        digest.update(repr(kept[i % 2000]).encode())
    first += int(line)
    total = sum(len(x[0]) + len(x[2]) for x in kept.values())
    print(first, total, digest.hexdigest(), flush=True)
if "FORGOTTEN" in os.environ:
    with open(os.environ["FORGOTTEN"], "w") as f:
        print(*where, sep="\n", file=f)
