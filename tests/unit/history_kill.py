# SPDX-License-Identifier: GPL-2.0-or-later
#
# history_kill.py MEMTAP DIR PRELOAD TIMES SEED: start `memtap history start 0.1` TIMES times, kill
# it at a random moment, and compare what is read then with what it had written (write_log.c):
# all samples that were written, at most the one that was being written, and no other.  Prints one
# line for each difference, and the sums.
import json, os, random, shutil, subprocess, sys, time

memtap, top, preload, times, seed = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
EACH = 25                               # kills in one directory
random.seed(seed)
log = top + "/writes"
env = dict(os.environ, WRITE_LOG=log, LD_PRELOAD=preload, LC_ALL="C")
sums = {"kills": 0, "samples": 0, "during": 0, "whole": 0, "none": 0, "wrong": 0}


def run(*args):
    return subprocess.run([memtap, *args], capture_output=True, text=True)


def writes():
    begun, done = [], []
    if os.path.exists(log):
        for line in open(log).read().split("\n")[:-1]:
            (begun if line[0] == "<" else done).append(int(line[2:]))
    return begun, done


def wrong(words, i):
    sums["wrong"] += 1
    print("kill %d: %s" % (i, words))


# Seconds until there is a sample, and until there are four
def pace(directory):
    service = subprocess.Popen([memtap, "history", "start", "0.1", "--dir", directory], env=env)
    began = time.monotonic()
    first = None
    while len(writes()[1]) < 4:
        if not first and writes()[1]:
            first = time.monotonic() - began
        time.sleep(0.005)
        if time.monotonic() - began > 60 or service.poll() is not None:
            sys.exit("the service takes no samples")
    seconds = time.monotonic() - began
    service.kill()
    service.wait()
    return first or seconds, seconds


def look(directory, i):
    begun, done = writes()
    r = run("report", "--history", "--dir", directory, "--json", "--between", "2000-01-01,-0s")
    if r.returncode:
        shown = {"samples": 0}
        if len(done) > 1 or "Traceback" in r.stderr:
            wrong("it cannot be read: " + r.stderr.strip(), i)
            return
    else:
        shown = json.loads(r.stdout)
    nr = shown["samples"]
    if nr and (nr < len(done) or nr > len(begun)):
        wrong("%d samples are shown; %d were written, %d begun" % (nr, len(done), len(begun)), i)
    elif nr:
        for name, ns in ("from", begun[0]), ("until", begun[nr - 1]):
            if abs(shown[name] - ns / 1e9) > 0.002:
                wrong("%s is %s, and was %s" % (name, shown[name], ns / 1e9), i)
    return nr


def kill(directory, i, first, four):
    was = len(writes()[0]), len(writes()[1])
    how = random.choice(["start", "run", "run", "cut"])
    more = {"WRITE_CUT": "%d,%d" % (random.randint(1, 4), random.getrandbits(30))}
    service = subprocess.Popen([memtap, "history", "start", "0.1", "--dir", directory],
                               env=dict(env, **(more if how == "cut" else {})))
    if how != "cut":
        time.sleep(random.uniform(0, first) if how == "start" else random.uniform(first, four))
        service.kill()
    try:
        service.wait(60)
    except subprocess.TimeoutExpired:
        service.kill()
        wrong("it takes no samples", i)
    begun, done = writes()
    # (of what was begun before, one may not be done)
    open_before = was[0] - was[1]
    sums["kills"] += 1
    sums["samples"] += len(done) - was[1]
    sums["none"] += len(begun) == was[0]
    sums["during"] += len(begun) - len(done) > open_before
    return len(begun) - len(done) - open_before


first, four = pace(top + "/pace")
os.unlink(log)
for at in range(0, times, EACH):
    directory = top + "/history"
    expected = 0
    for i in range(at, min(times, at + EACH)):
        half = kill(directory, i, first, four)
        nr = look(directory, i) or 0
        begun, done = writes()
        # one that was being written is whole, or it is not shown: then it is no more of these
        if half > 0 and nr == len(begun):
            sums["whole"] += 1
            open(log, "a").write("> %d\n" % begun[-1])
        elif half > 0:
            lines = open(log).read().split("\n")
            lines.remove("< %d" % begun[-1])
            open(log, "w").write("\n".join(lines))
    r = run("history", "status", "--dir", directory)
    if r.returncode and len(writes()[1]) > 1:
        wrong("status: " + r.stderr.strip(), i)
    shutil.rmtree(directory, ignore_errors=True)
    if os.path.exists(log):
        os.unlink(log)
print("# %(kills)d kills, %(samples)d samples written before them; %(none)d before the first one "
      "of their run, %(during)d while one was written (%(whole)d of these whole)" % sums)
print("# (seed %d; %.2f s until the first sample, %.2f s until the fourth)" % (seed, first, four))
sys.exit(sums["wrong"] > 0 or sums["kills"] != times or sums["samples"] < times / 5)
