# SPDX-License-Identifier: GPL-2.0-or-later
"""What tools print, read: each function takes the paths that the tool wrote to and gives

	rows    (count, (function, caller, its caller ...)) of each stack, where it has them
	total   events, where it has no stacks
	lost    events that it says it lost
	kernel  bytes of kernel memory, where it says so
"""
import collections
import json
import re


def lines(path):
    try:
        with open(path, errors="replace") as f:
            yield from f
    except OSError:
        return


def text(path):
    return "".join(lines(path))


def bare(name):
    """a name without the offset, the module, or what it was cloned as"""
    return re.sub(r"(\+0x[0-9a-f]+|\+\d+)?( \(.*\)| \[.*\])?$", "", name.strip()).split(".")[0]


def lost_in(what):
    """events that a tool of perf or BPF says were lost"""
    return sum(int(n.replace(",", "")) for n in re.findall(r"[Ll]ost ([\d,]+) (?!chunks)", what))


def none(p):
    return {}


def taken(memory):
    return memory["total"] - memory.get("unwind_size", 0) + memory.get("unwind_used", 0)


def memtap_json(p):
    with open(p.out) as f:
        r = json.load(f)
    rows = []
    for row in r["rows"]:
        way = row["user"] or row["kernel"]
        names = tuple(f.get("name") or "?" for f in way if not f.get("inlined"))
        if row["event"] != "major-fault":
            rows.append((row["count"], names))
    return {"rows": rows, "lost": sum(sum(e["lost"].values()) for e in r["events"]),
            "kernel": taken(r["memory"]), "complete": r.get("user_stacks")}


def memtap_stat(p):
    events = [json.loads(line) for line in lines(p.out)]
    final = [e for e in events if e.get("final")]
    return {"total": sum(e["count"] for e in final),
            "lost": sum(sum(e["lost"].values()) for e in final)}


def memtap_hist(p):
    """the last line of each event"""
    total = re.findall(r'"count": *(\d+)', text(p.out))
    return {"total": int(total[-1]) if total else 0, "lost": 0}


def trace_lines(p):
    """a line for each event, which names the call"""
    return {"total": sum("lseek" in line for line in lines(p.out)),
            "lost": lost_in(text(p.out) + text(p.err))}


def memtap_final(p):
    """the last object of `memtap swap` and `vmscan`, and their histograms"""
    said = [json.loads(line) for line in lines(p.out)]
    rows = [r for r in said if r.get("final") and "hist" not in r and "function" not in r]
    return rows[-1] if rows else {}, [r for r in said if r.get("final") and "hist" in r]


def memtap_swap(p):
    row, _ = memtap_final(p)
    swapped_in = row.get("reads", 0)
    return {"total": swapped_in + row.get("writes", 0), "lost": lost_in(text(p.err))}


def memtap_vmscan(p):
    _, hists = memtap_final(p)
    return {"total": sum(h["count"] for h in hists), "lost": lost_in(text(p.err))}


def pressure_lines(p):
    """a line for each event, with bench_work's name; sums of memtap's are behind a blank line"""
    total = 0
    for line in lines(p.out):
        if not line.strip() and total:
            break
        total += "work_" in line
    return {"total": total, "lost": lost_in(text(p.out) + text(p.err))}


def oom_lines(p):
    return {"total": sum('"oom-kill"' in line or "OOM kill of" in line for line in lines(p.out)),
            "lost": lost_in(text(p.err))}


def per_second(p):
    """swapin.bt: counts by name and process, of each second"""
    return {"total": sum(int(n) for n in re.findall(r"^@\[work_.*\]: (\d+)$", text(p.out), re.M)),
            "lost": lost_in(text(p.err))}


def vmstat(p):
    """its first line is since boot; KiB/s"""
    rows = [line.split() for line in lines(p.out) if line.split() and line.split()[0].isdigit()]
    return {"total": sum(int(r[6]) + int(r[7]) for r in rows[1:]) // 4}


def hist_sums(p):
    """bpftrace's histograms: the counts of all steps"""
    return {"total": sum(int(n) for n in re.findall(r"^\[.*[\])] +(\d+) \|", text(p.out), re.M)),
            "lost": lost_in(text(p.err))}


def bpftrace_swap(p):
    """what SWAP of tables.py prints at its end"""
    return {"total": sum(int(n) for n in re.findall(r"^@(?:reads: count|writes:) (\d+)",
                                                    text(p.out), re.M)),
            "lost": lost_in(text(p.err))}


def memtap_folded(p):
    rows = []
    for line in lines(p.out):
        way, _, count = line.rstrip().rpartition(" ")
        rows.append((int(count), tuple(reversed(way.split(";")[1:]))))
    return {"rows": rows}


def memtap_record(p):
    """both reports of a recording: all stacks, and the accounts"""
    said = memtap_folded(p)
    with open(p.data + ".json") as f:
        r = json.load(f)
    said["lost"] = sum(sum(e["lost"].values()) for e in r["events"])
    said["kernel"] = taken(r["memory"])
    return said


def bpftrace(p):
    """@[stack, ...]: count, @stack[address]: a stack for each block, @: count"""
    rows, frames, inside, total = [], [], None, None
    for line in [*lines(p.out), "\n"]:
        line = line.rstrip("\n")
        if inside and line.startswith(" "):
            frames.append(bare(line))
            continue
        if inside == "value" and frames:
            rows.append((1, tuple(frames)))
        elif inside == "key" and re.match(r"(,.*)?\]: \d+$", line):
            rows.append((int(line.rsplit(" ", 1)[1]), tuple(frames)))
        inside = None
        if re.match(r"@\w*\[$", line):
            inside, frames = "key", []
        elif re.match(r"@stack\[.*\]: *$", line):
            inside, frames = "value", []
        elif re.match(r"@: \d+$", line):
            total = int(line.split()[1])
        elif re.match(r"@\[[^\]]*\]: \d+$", line):
            rows.append((int(line.rsplit(" ", 1)[1]), ()))
    said = {"lost": lost_in(text(p.out) + text(p.err))}
    said.update({"total": total} if total is not None else {"rows": rows})
    return said


def stackcount(p):
    rows, frames = [], []
    for line in lines(p.out):
        word = line.strip()
        if re.fullmatch(r"\d+", word):
            rows.append((int(word), tuple(frames)))
            frames = []
        elif not word:
            frames = []
        elif line.startswith("  "):
            frames.append(bare(word))
    return {"rows": rows}


def memleak(p):
    """the last report"""
    rows = []
    for line in lines(p.out):
        if "Top " in line and " stack" in line:
            rows = []
            continue
        begin = re.match(r"\t\d+ bytes? in (\d+) allocations? from stack", line)
        if begin:
            rows.append([int(begin.group(1)), []])
        elif rows and line.startswith("\t\t"):
            rows[-1][1].append(bare(re.sub(r"^0x[0-9a-f]+\s+", "", line.strip())))
    return {"rows": [(n, tuple(f)) for n, f in rows]}


def perf_script(p):
    """`perf script -F ip,sym`: a paragraph for each event, a line for what was lost"""
    seen, frames, lost = collections.Counter(), [], 0
    for line in lines(p.data + ".txt"):
        gone = re.search(r"PERF_RECORD_LOST\w* +lost (\d+)", line)
        if gone:
            lost += int(gone.group(1))
            continue
        word = line.split(None, 1)
        if word:
            frames.append(bare(word[1]) if len(word) > 1 else "?")
        elif frames:
            seen[tuple(frames)] += 1
            frames = []
    if frames:
        seen[tuple(frames)] += 1
    return {"rows": [(n, f) for f, n in seen.items()],
            "lost": lost or lost_in(text(p.data + ".err") + text(p.err))}


def perf_stat(p):
    m = re.search(r"([\d,]+) +page-faults", text(p.out))
    return {"total": int(m.group(1).replace(",", ""))} if m else {}


def ftrace_hist(p):
    m = re.search(r"Hits: (\d+)", text(p.out))
    d = re.search(r"Dropped: (\d+)", text(p.out))
    return {"total": int(m.group(1)) if m else 0, "lost": int(d.group(1)) if d else 0}


def lttng(p):
    m = re.search(r"\d+", text(p.out))
    d = re.findall(r"discarded (\d+)", text(p.err))
    return {"total": int(m.group(0)) if m else 0, "lost": sum(map(int, d))}


def stap(p):
    rows = []
    for line in lines(p.out):
        m = re.match(r"(\d+) (.*)", line)
        if m:
            rows.append((int(m.group(1)), tuple(bare(f) for f in m.group(2).split())))
    return {"rows": rows}


def floor(p):
    m = re.search(r"events (\d+) frames (\d+)", text(p.out))
    return {"total": int(m.group(1))}


def memcheck(p):
    """blocks that are lost, with the stacks that it prints"""
    rows = []
    for line in lines(p.out):
        line = re.sub(r"^==\d+== ?", "", line.rstrip("\n"))
        begin = re.match(r"[\d,]+ (?:\([^)]*\) )?bytes in ([\d,]+) blocks are .* lost", line)
        if begin:
            rows.append([int(begin.group(1).replace(",", "")), []])
        m = re.match(r" +(?:at|by) 0x[0-9A-F]+: ([^(]*)", line)
        if m and rows:
            rows[-1][1].append(bare(m.group(1)))
    return {"rows": [(n, tuple(f)) for n, f in rows]}
