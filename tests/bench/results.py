# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of results.jsonl, for scripts/bench-table and scripts/bench-compare."""
import json


def load(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def clock(r):
    # of a program the machine's time has its waiting in it
    return r["cpu"] if r["group"] == "programs" else r["wall"]


def noise(c):
    """of the difference of two medians: half of what rounds differ by, and the drift"""
    return max(abs(c["drift"]), c["spread"] / 2, c["tool_spread"] / 2)


def right(r):
    made, events = r.get("made"), r.get("events")
    if not made or events is None:
        return "" if events is None else "%d counted" % events
    if "whole" not in r:
        return "all %d" % made if events >= made else "%d OF %d" % (events, made)
    if r["whole"] == made:
        ok = not r["stacks"] or r["whole_stacks"] == r["stacks"]
        return "all %d, %d stacks%s" % (made, r["whole_stacks"],
                                        "" if ok else " OF %d" % r["stacks"])
    if events >= made:
        return "all %d, WHOLE %.0f %%, %d frames" % (made, 100 * r["whole"] / made, r["frames"])
    return "%d OF %d, %d whole, %d stacks" % (events, made, r["whole"], r["whole_stacks"])
