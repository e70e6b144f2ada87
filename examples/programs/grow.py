# SPDX-License-Identifier: GPL-2.0-or-later
# What a request brings is kept for ever.
import sys
import time

seen = []


def fetch_rows(n):
    return [bytes([n % 256]) * 1000 for _ in range(20)]


def handle_request(n):
    seen.append(fetch_rows(n))


for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    handle_request(n)
    time.sleep(0.02)
