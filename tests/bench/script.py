# SPDX-License-Identifier: GPL-2.0-or-later
"""A script like others: objects, strings, a dictionary, a sort."""
words = ["%d" % (i * 7919 % 10007) for i in range(20000)]
seen = {}
for word in words:
    seen.setdefault(len(word), []).append(word)
print(sum(len(sorted(v)) for v in seen.values()))
