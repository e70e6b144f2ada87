#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of scripts/bench that runs in the guest.

	driver.py --out DIR --built DIR [--bench A,B] [--tools X,Y] [--rounds N] [--cpus N]
		[--shift N] [--commit ID]

Each workload is one process.  It runs some rounds alone; then for each tool: the tool
attaches, a round while its tables fill, as many rounds with it, it is told to end, and
again as many rounds alone, which are the next tool's first.  One JSON object a line goes
to DIR/results.jsonl.  Where a tool is a launcher, a second process runs under it.

Attached is what Tool.ready in tables.py says; "attach" are the seconds until then, of
which "attach_cpu" are processor time of the tool, which no cold disk changes.
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
import types

import readers
import tables

TRACING = "/sys/kernel/tracing"
SAID = "/usr/local/share/bench"
FLOOR = "/sys/module/bench_floor/parameters/"
PATIENCE = 90


class Absent(Exception):
    """Not here, or does not work here; the sentence says why."""


def put(path, what):
    with open(path, "w") as f:
        f.write(what)


def first_line(path):
    for line in readers.lines(path):
        return line.strip()
    return ""


# Processes

def children(pid):
    found = [pid]
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        for child in readers.text(path).split():
            found += children(int(child))
    return found


def peak_kib(pid):
    """of the whole tree; who did not come to be another program yet has our own memory"""
    ours = readers.text("/proc/self/cmdline")
    return sum(int(n) for p in children(pid)
               if readers.text("/proc/%d/cmdline" % p) != ours
               for n in re.findall(r"VmHWM:\s+(\d+)", readers.text("/proc/%d/status" % p)))


def cpu_seconds(pid):
    ticks = 0
    for p in children(pid):
        stat = readers.text("/proc/%d/stat" % p).rpartition(")")[2].split()
        if stat:
            ticks += sum(map(int, stat[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    for p in children(pid):
        for fd in glob.glob("/proc/%d/fd/*" % p):
            try:
                yield p, fd, os.readlink(fd)
            except OSError:
                pass


def hooks_of(pid):
    return sum(1 for _, _, to in open_files(pid)
               if "perf_event" in to or "bpf_link" in to or "bpf-link" in to)


def kernel_bytes(pid):
    """maps of BPF and rings of perf"""
    size = 0
    for p, fd, to in open_files(pid):
        if "bpf-map" in to or "bpf-prog" in to:
            info = readers.text("/proc/%d/fdinfo/%s" % (p, os.path.basename(fd)))
            size += sum(int(n) for n in re.findall(r"memlock:\s+(\d+)", info))
    for p in children(pid):
        for line in readers.lines("/proc/%d/maps" % p):
            if "anon_inode:[perf_event]" in line:
                begin, end = line.split()[0].split("-")
                size += int(end, 16) - int(begin, 16)
    return size


def wait_until(true, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise Absent("%s within %d s" % (what, seconds))
        time.sleep(0.02)


# Workloads

class Server:
    """A bench_work that waits for rounds."""

    def __init__(self, work, built, prefix=(), env=None):
        command = [*prefix, "%s/work_%s" % (built, work.build), work.kind, str(work.threads),
                   str(work.many), str(work.depth)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, bufsize=1,
                                        env=dict(os.environ, **(env or {})))
        self.pid = int(self.answer("READY")[0])

    def answer(self, word):
        for line in self.process.stdout:
            if line.startswith(word + " "):
                return line.split()[1:]
        raise Absent("the workload ended")

    def round(self, n):
        self.process.stdin.write("run %d\n" % n)
        self.process.stdin.flush()
        wall, cpu, events, faults = map(int, self.answer("R"))
        return {"n": n, "wall": wall, "cpu": cpu, "events": events, "faults": faults}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Program:
    """A command, run once a round; its time is that of its whole tree."""
    pid = 0

    def __init__(self, work, built, prefix=(), env=None):
        self.command = work.command.format(bench=os.path.dirname(os.path.abspath(__file__)))
        words, _, self.stdin = self.command.partition(" < ")
        self.words = [*prefix, *words.split()]
        self.env = dict(os.environ, **(env or {}))

    def round(self, n):
        with open(self.stdin or os.devnull) as stdin:
            began = time.monotonic_ns()
            child = subprocess.Popen(self.words, stdin=stdin, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, env=self.env)
            _, status, used = os.wait4(child.pid, 0)
            wall = time.monotonic_ns() - began
        child.returncode = status
        if status:
            raise Absent("%s: status %d" % (self.words[0], os.waitstatus_to_exitcode(status)))
        return {"n": 1, "wall": wall, "cpu": int((used.ru_utime + used.ru_stime) * 1e9),
                "events": 1, "faults": used.ru_minflt}

    def close(self):
        pass


# Tools.  Each has begin(pid), until it is attached, and end(); both add to .facts

class Attached:
    def __init__(self, tool, place, fill):
        self.tool, self.place, self.fill, self.facts = tool, place, fill, {}

    def begin(self, pid):
        command = self.tool.command.format(pid=pid, **self.fill)
        with open(self.place.out, "w") as out, open(self.place.err, "w") as err:
            began = time.monotonic()
            self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err,
                                            env=dict(os.environ, **self.tool.env))
        self.wait_ready(began)
        time.sleep(0.5)

    def wait_ready(self, began):
        kind, _, arg = self.tool.ready.partition(" ")
        test = {"session": self.in_session, "fds": self.has_hooks, "text": self.has_said}[kind]
        self.last, self.since = 0, None
        self.attach_cpu = 0.0

        def ready():
            if self.process.poll() is not None:
                raise Absent("it ended: " + self.last_words())
            return test(arg)
        wait_until(ready, "did not attach")
        now = self.since or time.monotonic()
        self.facts["attach"] = now - began
        self.facts["attach_cpu"] = self.attach_cpu or cpu_seconds(self.process.pid)

    def in_session(self, _):
        return re.search(r"^ *\d+ +%d .* running (?!.*seccomp-experiment)" % self.process.pid,
                         readers.text("/sys/kernel/debug/memtap/sessions"), re.M)

    def has_hooks(self, least):
        """as many, and no more for a second"""
        number = hooks_of(self.process.pid)
        if number != self.last:
            self.last, self.since = number, time.monotonic()
            self.attach_cpu = cpu_seconds(self.process.pid)
        return number >= int(least) and time.monotonic() > self.since + 1

    def has_said(self, words):
        return re.search(words, readers.text(self.place.out) + readers.text(self.place.err))

    def last_words(self):
        said = readers.text(self.place.err).strip() or readers.text(self.place.out).strip()
        return " / ".join(said.splitlines()[-2:])[-200:] or "without a word"

    def wait_report(self, words):
        """one that began after now"""
        def count():
            return len(re.findall(words, readers.text(self.place.out)))
        before = count()
        wait_until(lambda: count() > before, "printed no report", 1000)
        # it is printed as a whole, after all was looked up: until it rests
        worked = None
        while worked != cpu_seconds(self.process.pid):
            worked = cpu_seconds(self.process.pid)
            time.sleep(5)

    def end(self):
        pid = self.process.pid
        kind, _, arg = self.tool.end.partition(" ")
        if kind == "text":
            self.wait_report(arg)
        self.facts["kernel"] = kernel_bytes(pid)
        peak = peak_kib(pid)
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        while self.process.poll() is None:
            peak = max(peak, peak_kib(pid))
            if time.monotonic() > began + PATIENCE:
                self.process.kill()
                self.facts["note"] = "killed, it did not end within %d s" % PATIENCE
            time.sleep(0.02)
        if self.tool.after:
            peak = max(peak, self.report())
        self.facts["rss_kib"] = peak
        self.facts["end"] = time.monotonic() - began

    def report(self):
        """a second command that reads what the first has written"""
        after = subprocess.Popen(["sh", "-c", self.tool.after.format(**self.fill)])
        peak = 0
        while after.poll() is None:
            peak = max(peak, peak_kib(after.pid))
            time.sleep(0.05)
        if after.returncode:
            raise Absent("its report ended with status %d" % after.returncode)
        return peak


class Tracefs:
    """A histogram of the kernel's own."""

    def __init__(self, tool, place, fill):
        self.place, self.facts = place, {}
        self.event, self.trigger = tool.command.split()

    def begin(self, pid):
        began = time.monotonic()
        put("%s/events/%s/trigger" % (TRACING, self.event), self.trigger)
        self.facts["attach"] = time.monotonic() - began

    def end(self):
        began = time.monotonic()
        put(self.place.out, readers.text("%s/events/%s/hist" % (TRACING, self.event)))
        self.facts["end"] = time.monotonic() - began
        put("%s/events/%s/trigger" % (TRACING, self.event), "!" + self.trigger)


class Floor:
    """bench_floor.ko"""

    def __init__(self, tool, place, fill):
        self.mode, self.place, self.fill, self.facts = tool.command, place, fill, {}

    def begin(self, pid):
        if not os.path.exists(FLOOR):
            subprocess.check_call(["insmod", self.fill["built"] + "/floor/bench_floor.ko"])
        put(FLOOR + "pid", str(pid))
        put(FLOOR + "lib", self.fill["libc"])
        for name in ("malloc", "free") if self.mode.startswith("pairs") else ():
            put(FLOOR + name, str(first_push(self.fill["libc"], name)))
        began = time.monotonic()
        put(FLOOR + "mode", self.mode)
        self.facts["attach"] = time.monotonic() - began

    def end(self):
        put(self.place.out, readers.text(FLOOR + "mode"))
        put(FLOOR + "mode", "off")


class Lttng:
    def __init__(self, tool, place, fill):
        self.event, self.place, self.facts = tool.command, place, {}

    def say(self, *words):
        with open(self.place.err, "a") as err:
            return subprocess.call(["lttng", *words], stdout=err, stderr=err)

    def begin(self, pid):
        put(self.place.err, "")
        began = time.monotonic()
        with open(os.devnull, "w") as null:
            self.daemon = subprocess.Popen(["lttng-sessiond"], stdout=null, stderr=null)
        wait_until(lambda: not self.say("list"), "did not answer", 60)
        self.say("create", "bench", "--output=" + self.place.data)
        self.say("enable-channel", "-k", "c", "--subbuf-size=4M", "--num-subbuf=4")
        self.say("enable-event", "-k", "-c", "c", self.event)
        self.say("track", "-k", "--vpid", str(pid))
        if self.say("start"):
            raise Absent(" / ".join(readers.text(self.place.err).splitlines()[-2:]))
        self.facts["attach"] = time.monotonic() - began

    def end(self):
        began = time.monotonic()
        self.facts["rss_kib"] = peak_kib(self.daemon.pid)
        self.say("stop")
        self.say("destroy")
        self.daemon.terminate()
        self.daemon.wait()
        with open(self.place.out, "w") as out:
            subprocess.call("babeltrace2 %s | wc -l" % self.place.data, shell=True, stdout=out)
        self.facts["end"] = time.monotonic() - began


HOW = {"attach": Attached, "tracefs": Tracefs, "floor": Floor, "lttng": Lttng}


def first_push(library, name):
    """where in that function the first register is pushed: the kernel emulates that"""
    table = subprocess.run(["readelf", "-W", "--dyn-syms", library], capture_output=True,
                           text=True, check=True).stdout
    at = int(re.search(r"(\S+) +\d+ FUNC .* %s@@" % name, table).group(1), 16)
    code = subprocess.run(["objdump", "-d", "--start-address=%d" % at,
                           "--stop-address=%d" % (at + 32), library], capture_output=True,
                          text=True, check=True).stdout
    for line in code.splitlines():
        m = re.match(r" *([0-9a-f]+):\t.*\tpush ", line)
        if m:
            return int(m.group(1), 16)
    raise Absent("%s pushes nothing at its begin" % name)


def here(tool, fill):
    """Is what the tool needs?  If not, why?"""
    need = tool.needs
    if not need or shutil.which(need) or need.startswith("/") and os.path.exists(need):
        return
    if need == "bench_floor.ko":
        if os.path.exists(fill["built"] + "/floor/" + need):
            return
        raise Absent("the module does not build: " + why("floor"))
    if need == "bench_faults.ko":
        if os.path.exists(SAID + "/" + need):
            return
        raise Absent("stap does not compile it: " + why("stap_faults"))
    if need == "lttng-modules":
        if subprocess.call("modinfo lttng-tracer > /dev/null 2>&1", shell=True):
            raise Absent("its modules do not build: " + why("lttng"))
        return
    raise Absent(os.path.basename(need) + " is not installed")


def why(name):
    """the first error that building it printed"""
    for line in readers.lines(SAID + "/" + name):
        if re.search(r"error|cannot|unable", line, re.I) and "status" not in line:
            return re.sub(r"^\S*/", "", line.strip())[:120]
    return "no log of that"


# What was right

def whole(names, work):
    """the part of a stack that proves it whole, or None"""
    if work.frames == "many":
        way = [n for n in names if n in ("zero", "one")]
        return tuple(way) if len(way) == work.depth and "main" in names else None
    if work.frames == "path":
        for i, name in enumerate(names):
            m = re.fullmatch(r"(p[a-h])_10([mt]?)", name)
            if m:
                want = ["%s_%d%s" % (m.group(1), k, m.group(2)) for k in range(10, 0, -1)]
                good = list(names[i:i + 10]) == want and "main" in names[i + 10:]
                return tuple(names) if good else None
        return None
    return tuple(names) if work.frames in names and "main" in names else None


def judge(said, work, made):
    facts = {"lost": said.get("lost"), "made": made}
    if said.get("kernel"):
        facts["kernel"] = said["kernel"]
    if said.get("rows") is None:
        facts["events"] = said.get("total")
        return facts
    facts["events"] = sum(n for n, _ in said["rows"])
    facts["rows"] = len(said["rows"])
    facts["frames"] = max((len(f) for _, f in said["rows"]), default=0)
    if work.frames and made is not None:
        good, ways = 0, set()
        for n, names in said["rows"]:
            way = whole(names, work)
            if way:
                good += n
                ways.add(way)
        facts.update(whole=good, whole_stacks=len(ways), stacks=work.stacks)
    return facts


# Measuring

def numbers(before, with_tool, after):
    """per event, by the clock and by processor time, in ns"""
    facts = {}
    for clock in "wall", "cpu":
        first, under, last = ([r[clock] / r["events"] for r in rounds]
                              for rounds in (before, with_tool, after))
        base, tool = statistics.median(first + last), statistics.median(under)
        facts[clock] = {"base": base, "tool": tool, "added": tool - base, "ratio": tool / base,
                        "drift": statistics.median(last) - statistics.median(first),
                        "spread": max(first + last) - min(first + last),
                        "tool_spread": max(under) - min(under)}
    return facts


class Bench:
    def __init__(self, o):
        self.o = o
        libc = subprocess.run(["ldd", "/bin/true"], capture_output=True, text=True).stdout
        self.fill = {"libc": os.path.realpath(re.search(r"\S+/libc\.so\S*", libc).group(0)),
                     "built": o.built, "bench": SAID, "interval": 300}
        self.results = open(o.out + "/results.jsonl", "a", buffering=1)
        self.warmed = set()

    def emit(self, **facts):
        """An instruction takes 2^shift ns; times are shown as if it took one."""
        scale = 1 << self.o.shift
        for clock in "wall", "cpu":
            for what in facts.get(clock, {}):
                if what != "ratio":
                    facts[clock][what] /= scale
        for what in "attach", "attach_cpu", "end":
            if what in facts:
                facts[what] /= scale
        self.results.write(json.dumps(facts, sort_keys=True) + "\n")
        # the host shall have it, also if this guest is stopped
        os.fsync(self.results.fileno())

    def place(self):
        for path in glob.glob("/tmp/bench.*"):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        return types.SimpleNamespace(out="/tmp/bench.out", err="/tmp/bench.err",
                                     data="/tmp/bench.data")

    def warm_files(self, tool):
        """reads the tool from disk, so that attaching is not waiting for that"""
        words = tool.command.format(pid=0, out="", data="", **self.fill).split()
        name = shutil.which(words[0]) if words and tool.how == "attach" else None
        if not name or words[0] in self.warmed:
            return
        self.warmed.add(words[0])
        listed = subprocess.run(["ldd", name], capture_output=True, text=True).stdout
        more = glob.glob("/usr/lib/*/libbcc.so.0") if words[0] == "python3" else []
        for lib in more:
            listed += subprocess.run(["ldd", lib], capture_output=True, text=True).stdout
        for path in [name, *more, *re.findall(r"/\S+", listed)]:
            with open(path, "rb") as f:
                while f.read(1 << 20):
                    pass

    def rounds(self, server, work, nr=None):
        return [server.round(work.n) for _ in range(nr or work.rounds or self.o.rounds)]

    def tools_for(self, work):
        names = {work.name, work.family, work.kind}
        wanted = set(self.o.tools.split(",")) if self.o.tools else None
        best = {}
        for tool in tables.TOOLS:
            fits = names & set(tool.families)
            if fits and (not wanted or wanted & {tool.name, tool.group}):
                # the row for this very workload, or its kind, before that of the family
                rank = 2 if work.name in fits else 1 if work.kind in fits else 0
                if tool.name not in best or rank > best[tool.name][0]:
                    best[tool.name] = rank, tool
        return [tool for _, tool in best.values()]

    def workload(self, work):
        make = Program if work.command else Server
        for command in work.setup:
            subprocess.check_call(["sh", "-c", command.replace("{built}", self.o.built)])
        server = make(work, self.o.built)
        other = make(work, self.o.built) if work.other else None
        self.rounds(server, work, 1)
        before = self.rounds(server, work)
        for tool in self.tools_for(work):
            facts = {"kind": "measured", "work": work.name, "group": work.group,
                     "tool": tool.name, "cpus": os.cpu_count(), "threads": work.threads}
            try:
                here(tool, self.fill)
                self.warm_files(tool)
                if tool.how == "launch":
                    if other:
                        continue
                    before = self.launched(tool, work, make, server, before, facts)
                else:
                    before = self.attached(tool, work, server, other, before, facts)
            except (Absent, OSError, ValueError, KeyError, subprocess.SubprocessError) as e:
                facts = {"kind": "absent", "work": work.name, "group": work.group,
                         "tool": tool.name, "why": str(e)}
                self.clean_up()
                before = self.rounds(server, work)
            self.emit(**facts)
            self.progress(facts)
        server.close()
        if other:
            other.close()

    def attached(self, tool, work, server, other, before, facts):
        place = self.place()
        run = HOW[tool.how](tool, place, dict(self.fill, out=place.out, data=place.data))
        self.run = run
        run.begin((other or server).pid)
        first = [server.round(work.warm)]
        with_tool = self.rounds(server, work)
        run.end()
        self.run = None
        after = self.rounds(server, work)
        made = None
        if work.told:
            made = sum(r["events"] for r in first + with_tool)
        elif work.made and not tool.estimate:
            made = sum(work.made(r["n"]) for r in first + with_tool) * work.threads
        facts.update(judge(getattr(readers, tool.read)(place), work, made))
        facts.update({k: v for k, v in run.facts.items() if k != "kernel" or v})
        facts.update(numbers(before, with_tool, after))
        self.keep(place, work, tool)
        return after

    def launched(self, tool, work, make, server, before, facts):
        place = self.place()
        fill = dict(self.fill, out=place.out, data=place.data)
        began = time.monotonic()
        under = make(work, self.o.built, shlex.split(tool.command.format(pid=0, **fill)),
                     tool.env)
        facts["attach"] = time.monotonic() - began
        first = [under.round(work.warm)] if not work.command else []
        # what it started beside the workload reads symbols first
        time.sleep(10)
        with_tool = self.rounds(under, work)
        if under.pid:
            facts["rss_kib"] = peak_kib(under.process.pid)
        began = time.monotonic()
        under.close()
        if tool.after:
            subprocess.call(["sh", "-c", tool.after.format(**fill)])
        facts["end"] = time.monotonic() - began
        after = self.rounds(server, work)
        made = sum(work.made(r["n"]) for r in first + with_tool) if work.made else None
        facts.update(judge(getattr(readers, tool.read)(place), work, made))
        facts.update(numbers(before, with_tool, after))
        self.keep(place, work, tool)
        return after

    def clean_up(self):
        """after a tool that failed in the middle"""
        run = getattr(self, "run", None)
        self.run = None
        process = getattr(run, "process", None) or getattr(run, "daemon", None)
        if process and process.poll() is None:
            process.kill()
            process.wait()
        if os.path.exists(FLOOR):
            put(FLOOR + "mode", "off")

    def keep(self, place, work, tool):
        """what the tool printed, for people: not all of it"""
        for path in place.out, place.err:
            if os.path.exists(path):
                to = "%s/%s.%s.%s" % (self.o.out, work.name, tool.name, path.rsplit(".", 1)[1])
                with open(path, errors="replace") as f:
                    put(to, f.read(200000))
        if os.path.exists(place.data + ".html"):
            shutil.copy(place.data + ".html", self.o.out + "/flame.html")

    def progress(self, facts):
        if facts["kind"] == "absent":
            print("%-16s %-18s %s" % (facts["work"], facts["tool"], facts["why"]), flush=True)
            return
        print("%-16s %-18s %+9.0f x%.2f attach %.2f end %.2f" % (
            facts["work"], facts["tool"], facts["wall"]["added"], facts["wall"]["ratio"],
            facts.get("attach", 0), facts.get("end", 0)), flush=True)


def packages():
    names = ("bpftrace bpfcc-tools linux-perf systemtap lttng-tools valgrind heaptrack gcc"
             " libgoogle-perftools-dev sqlite3 python3-minimal libc6").split()
    said = subprocess.run(["dpkg-query", "-W", *names], capture_output=True, text=True).stdout
    return dict(line.split("\t") for line in said.splitlines() if line.count("\t") == 1)


def more_processors(nr):
    """those that scripts/bench left out while the kernel booted"""
    for path in sorted(glob.glob("/sys/devices/system/cpu/cpu[0-9]*/online")):
        if os.cpu_count() < nr and first_line(path) == "0":
            put(path, "1")


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--out", required=True)
    p.add_argument("--built", required=True)
    p.add_argument("--bench", default="")
    p.add_argument("--tools", default="")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--cpus", type=int, default=1)
    p.add_argument("--shift", type=int, default=0)
    p.add_argument("--commit", default="")
    o = p.parse_args()
    more_processors(o.cpus)
    bench = Bench(o)
    bench.emit(kind="run", commit=o.commit, kernel=os.uname().release, cpus=os.cpu_count(),
               rounds=o.rounds, shift=o.shift, packages=packages())
    wanted = set(o.bench.split(",")) if o.bench else None
    for work in tables.WORKS:
        if wanted and not wanted & {work.name, work.group}:
            continue
        if (work.cpus or 1) != o.cpus:
            continue
        if work.group != "cpus" and o.cpus > 1:
            continue
        bench.workload(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
