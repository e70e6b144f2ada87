# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmark runs: workloads and tools, as data.

A workload is a kind of bench_work (or a command), how much of it a round is, and the
family of events that it makes; a tool says for each family how it is asked for them.
"""


class Work:
    """group      what BENCH= selects
    kind         of bench_work; or None and
    command      a program that is run once a round
    family       what tools have to count: faults, growth, pairs, kernel, events
    n, warm      events of a round, and of the one while tables fill
    build        fp or nofp
    made         of the events that bench_work counts, how many the tools are to count
    stacks       different ones
    frames       marks of a whole stack: "path", "many", a name, or None: nobody knows
    other        the tool watches another process
    rounds       if not those of the command line
    told         how many events there were, the workload says
    setup        commands that have to be done before
    """

    def __init__(self, name, group, family, kind=None, n=0, **more):
        self.name, self.group, self.family, self.kind, self.n = name, group, family, kind, n
        self.build, self.made, self.stacks, self.frames = "fp", lambda n: n, 0, None
        self.threads, self.many, self.depth, self.other = 1, 1, 0, False
        self.command, self.rounds, self.cpus, self.only = None, None, None, None
        self.told, self.setup = False, ()
        self.warm = max(1, n // 4)
        self.__dict__.update(more)


def leaked(n):
    """pairs: each hundredth block, from the 43rd"""
    return max(0, (n + 57) // 100)


FAULTS = {"family": "faults", "frames": "path", "stacks": 4}
# the blocks that are never freed are of two paths
PAIRS = {"family": "pairs", "frames": "path", "stacks": 2, "made": leaked}
KERNEL = {"family": "kernel", "made": None}
MANY = {"family": "faults", "frames": "many", "kind": "many"}
# Where memory is short: swap in memory, a page at a time; cgroups that may have little
ZRAM = ("grep -q zram /proc/swaps || { modprobe zram && echo 256M > /sys/block/zram0/disksize &&"
        " mkswap /dev/zram0 > /dev/null && swapon /dev/zram0; }",
        "echo 0 > /proc/sys/vm/page-cluster", "mkdir -p /sys/fs/cgroup/memory/bench-swap",
        "echo 16M > /sys/fs/cgroup/memory/bench-swap/memory.limit_in_bytes")
OOM = ("mkdir -p /sys/fs/cgroup/memory/bench-oom",
       "echo 16M > /sys/fs/cgroup/memory/bench-oom/memory.limit_in_bytes",
       "echo 0 > /sys/fs/cgroup/memory/bench-oom/memory.swappiness")
FIRE = ("test -e /sys/module/bench_floor || insmod {built}/floor/bench_floor.ko",)
# Some hundreds of instructions an event are seen in that many events.
WORKS = [
    Work("faults", "faults", kind="faults", n=8000, **FAULTS),
    Work("faults-nofp", "faults", kind="faults", n=8000, build="nofp", **FAULTS),
    Work("faults-shallow", "faults", "faults", "shallow", 8000, frames="shallow", stacks=1),
    Work("faults-deep", "faults", kind="deep", n=8000, **FAULTS),
    Work("growth", "growth", "growth", "growth", 400, frames="path", stacks=16,
         made=lambda n: n * 3),
    Work("pairs", "pairs", kind="pairs", n=4000, **PAIRS),
    Work("pairs-nofp", "pairs", kind="pairs", n=4000, build="nofp", **PAIRS),
    Work("pipes", "kernel", kind="pipes", n=400, **KERNEL),
    Work("sockets", "kernel", kind="sockets", n=400, **KERNEL),
    Work("files", "kernel", kind="files", n=400, **KERNEL),
    Work("forks", "kernel", kind="forks", n=40, **KERNEL),
    Work("seeks", "events", "events", "seeks", 40000),
    Work("swapins", "pressure", "pressure", "swapins", 4000, told=True, setup=ZRAM),
    Work("swapping", "pressure", "pressure", "swapping", 3, warm=1, told=True, setup=ZRAM),
    Work("reclaims", "pressure", "pressure", "reclaims", 2000, setup=FIRE),
    Work("shrinks", "pressure", "pressure", "shrinks", 2000, setup=FIRE),
    Work("compactions", "pressure", "pressure", "compactions", 2000, setup=FIRE),
    Work("ooms", "pressure", "pressure", "ooms", 3, warm=1, told=True, setup=OOM),
    Work("idle-faults", "idle", "faults", "faults", 8000, other=True, made=None),
    Work("idle-growth", "idle", "growth", "growth", 400, other=True, made=None),
    Work("idle-pairs", "idle", "pairs", "pairs", 4000, other=True, made=None),
    Work("compile", "programs", "programs", made=None, rounds=1,
         command="gcc -O2 -c -o /dev/null {bench}/bench_work.c -D_GNU_SOURCE"),
    Work("sqlite3", "programs", "programs", made=None, rounds=1,
         command="sqlite3 :memory: < {bench}/insert.sql"),
    Work("python3", "programs", "programs", made=None, rounds=1,
         command="python3 {bench}/script.py"),
    Work("truth-faults", "truth", n=32768, warm=32768, many=32768, stacks=32768, depth=16,
         rounds=1, **MANY),
    Work("truth-mallocs", "truth", "pairs", "many-mallocs", 16384, warm=16384, many=16384,
         stacks=16384, depth=16, rounds=1, frames="many"),
    Work("stacks-1", "stacks", n=4000, many=1, stacks=1, depth=17, **MANY),
    Work("stacks-10", "stacks", n=4000, many=10, stacks=10, depth=17, **MANY),
    Work("stacks-1000", "stacks", n=4000, many=1000, stacks=1000, depth=17, **MANY),
    Work("stacks-100000", "stacks", n=100000, warm=100000, many=100000, stacks=100000, depth=17,
         rounds=1, **MANY),
    Work("report", "report", n=100000, warm=1, many=100000, stacks=100000, depth=28, rounds=1,
         **MANY),
]
for _threads in 1, 2, 4, 8:
    WORKS.append(Work("faults-%dt" % _threads, "cpus", kind="faults", n=1000, threads=_threads,
                      cpus=_threads, **FAULTS))
    WORKS.append(Work("pairs-%dt" % _threads, "cpus", kind="pairs", n=1000, threads=_threads,
                      cpus=_threads, **PAIRS))
    WORKS.append(Work("pipes-%dt" % _threads, "cpus", kind="pipes", n=200, threads=_threads,
                      cpus=_threads, **KERNEL))


class Tool:
    """group      what TOOLS= selects, besides the name
    families     of events, or names of workloads, for which this row is
    how          attach: a command beside the workload; launch: before it; tracefs; floor
    command      {pid}, {out}, {data}, {libc}, {interval}: what they are
    needs        the program or file without which the tool is not here
    ready        session: memtap says so; fds N: so many events of perf or programs of BPF are
                 open, and no more for a while; text RE: it has printed that
    end          int: SIGINT; text RE: SIGINT after it has printed that once more
    read         function of readers.py
    env          variables
    estimate     it samples: its numbers are not those of what was made
    """

    def __init__(self, name, families, how, command, read, **more):
        self.name, self.how, self.command, self.read = name, how, command, read
        self.families = families.split()
        self.group = name.split("-")[0]
        self.needs, self.ready, self.end, self.env = None, "session", "int", {}
        self.after, self.estimate = None, False
        self.__dict__.update(more)


FAULT = "tracepoint:exceptions:page_fault_user"
GROWTH = "tracepoint:syscalls:sys_enter_brk, tracepoint:syscalls:sys_enter_mmap"
SEEK = "tracepoint:syscalls:sys_enter_lseek"
LEAK = ("uprobe:{libc}:malloc /pid == {pid}/ {{ @size[tid] = arg0; }}"
        " uretprobe:{libc}:malloc /@size[tid]/ {{"
        " @stack[retval] = ustack; @bytes[retval] = @size[tid]; delete(@size[tid]); }}"
        " uprobe:{libc}:free /pid == {pid}/ {{ delete(@stack[arg0]); delete(@bytes[arg0]); }}")
ALLOC = "tracepoint:kmem:kmalloc, tracepoint:kmem:kmem_cache_alloc"
KMEM = "-e kmem:kmalloc -e kmem:kmem_cache_alloc"
ROOM = {"BPFTRACE_MAP_KEYS_MAX": "1000000"}
# what vmscan.bt of the book asks (Debian's package does not have it)
TIMED = ("tracepoint:vmscan:{begin} {{{{ @from{n}[tid] = nsecs; }}}} "
         "tracepoint:vmscan:{end} /@from{n}[tid]/ {{{{ $ns = nsecs - @from{n}[tid];"
         " @sum{n} += $ns; @hist{n} = hist($ns); delete(@from{n}[tid]); }}}} ")
VMSCAN = "".join(TIMED.format(n=n, begin="mm_" + what + begin, end="mm_" + what + "_end")
                 for n, what, begin in ((0, "shrink_slab", "_start"),
                                        (1, "vmscan_direct_reclaim", "_begin"),
                                        (2, "vmscan_memcg_reclaim", "_begin")))
VMSCAN += ("tracepoint:vmscan:mm_vmscan_wakeup_kswapd {{ @wakeups++; }} "
           "tracepoint:vmscan:mm_vmscan_write_folio {{ @writes++; }}")
COMPACT = ("tracepoint:compaction:mm_compaction_begin {{ @from[tid] = nsecs; }} "
           "tracepoint:compaction:mm_compaction_end /@from[tid]/ {{"
           " printf(\"%s %d %d %d %d\\n\", comm, pid, args->sync, args->status,"
           " nsecs - @from[tid]); delete(@from[tid]); }}")
# what `memtap vmscan` counts of shrinkers, and `memtap swap`
SHRINKERS = ("tracepoint:vmscan:mm_shrink_slab_start {{ @from[tid] = nsecs; }} "
             "tracepoint:vmscan:mm_shrink_slab_end /@from[tid]/ {{ $ns = nsecs - @from[tid];"
             " @sum[args->shrink] = stats($ns); @max[args->shrink] = max($ns);"
             " @hist[args->shrink] = hist($ns); @freed[args->shrink] = sum(args->retval);"
             " delete(@from[tid]); }}")
WAITED = ("kprobe:{fn} {{{{ @from_{fn}[tid] = nsecs; }}}} kretprobe:{fn} /@from_{fn}[tid]/ {{{{"
          " $ns = nsecs - @from_{fn}[tid]; @{name} = stats($ns); @{name}_max = max($ns);"
          " delete(@from_{fn}[tid]); }}}} ")
SWAP = (WAITED.format(fn="swap_readpage", name="reads") +
        WAITED.format(fn="do_swap_page", name="faults") +
        "kprobe:__swap_writepage {{ @writes = count(); }}")
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
REPORT = "memtap report {data} --folded --calls -o {out} && " \
         "memtap report {data} --json --top 1 -o {data}.json"
FLAME = "perf script -i {data} -s /usr/lib/perf-core/scripts/python/flamegraph.py -- " \
        "--format json -o {data}.json > {data}.txt 2> {data}.err"
SCRIPT = "perf script -i {data} --show-lost-events -F ip,sym > {data}.txt 2> {data}.err"


def memtap(name, families, rest, read="memtap_json", **more):
    return Tool(name, families, "attach", "memtap " + rest, read, needs="memtap", **more)


def bpftrace(name, families, script, fds=1, **more):
    option = "-p {pid} " if "uprobe" in script else ""
    return Tool(name, families, "attach", "bpftrace %s-e '%s'" % (option, script),
                more.pop("read", "bpftrace"), needs="bpftrace", ready="fds %d" % fds, **more)


def bcc(name, families, rest, fds, **more):
    program = rest.split()[0]
    return Tool(name, families, "attach", "python3 -u /usr/sbin/" + rest,
                more.pop("read", program.split("-")[0]), needs="/usr/sbin/" + program,
                ready="fds %d" % fds, **more)


def perf(name, families, rest, after=SCRIPT, read="perf_script"):
    return Tool(name, families, "attach", "perf " + rest, read, needs="perf", ready="fds 1",
                after=after)


def floor(name, families, mode):
    return Tool(name, families, "floor", mode, "floor", needs="bench_floor.ko")


TOOLS = [
    memtap("memtap", "faults", "faults -p {pid} --top 0 --json -o {out}"),
    memtap("memtap-fp", "faults", "faults -p {pid} --unwind fp --top 0 --json -o {out}"),
    # of what it counts, that which is resident at the end
    memtap("memtap-rss", "faults", "rss -p {pid} --top 0 --json -o {out}", estimate=True),
    memtap("memtap-stat", "faults", "stat fault -p {pid} --json -o {out}", "memtap_stat"),
    memtap("memtap", "report", "faults -p {pid} --max-mem 160M --folded --calls -o {out}",
           "memtap_folded"),
    memtap("memtap", "truth-faults stacks-100000", "record -o {data} fault -p {pid}",
           "memtap_record", after=REPORT),
    memtap("memtap-record", "report", "record -o {data} fault -p {pid} --max-mem 160M",
           "memtap_record", after=REPORT),
    memtap("memtap-flame", "report",
           "faults -p {pid} --max-mem 160M --flame {data}.html --folded --calls -o {out}",
           "memtap_folded"),
    memtap("memtap", "growth", "stacks brk mmap -p {pid} --top 0 --json -o {out}"),
    memtap("memtap-stat", "growth", "stat brk mmap -p {pid} --json -o {out}", "memtap_stat"),
    memtap("memtap", "pairs", "leaks -p {pid} --older 0 --top 0 --no-mappings --json -o {out}"),
    memtap("memtap-fp", "pairs",
           "leaks -p {pid} --unwind fp --older 0 --top 0 --no-mappings --json -o {out}"),
    memtap("memtap-free-stacks", "pairs",
           "leaks -p {pid} --free-stacks --older 0 --top 0 --no-mappings --json -o {out}"),
    # the blocks of the peak are some more than those that are left
    memtap("memtap-peak", "pairs", "leaks -p {pid} --peak --top 0 --no-mappings --json -o {out}",
           estimate=True),
    memtap("memtap-sampled", "pairs",
           "leaks -p {pid} --sample-bytes 512K --older 0 --top 0 --no-mappings --json -o {out}",
           estimate=True),
    memtap("memtap", "kernel",
           "stacks kmem:kmalloc kmem:kmem_cache_alloc -K -p {pid} --top 0 --json -o {out}"),
    memtap("memtap-leaks-k", "kernel", "leaks -k --older 0 --top 0 --json -o {out}"),
    memtap("memtap-call-site", "kernel",
           "leaks -k --call-site --older 0 --top 0 --json -o {out}"),
    memtap("memtap", "programs", "faults -a --json -o {out}"),
    memtap("memtap-trace", "events",
           "trace 't:syscalls:sys_enter_lseek(offset,whence)' -p {pid} -o {out}", "trace_lines"),
    memtap("memtap-hist", "events", "hist 't:syscalls:sys_enter_lseek(offset)' --value offset"
           " -p {pid} --json -o {out}", "memtap_hist"),
    Tool("memtap-leaks", "programs", "launch", "memtap leaks --children -q -o {out} --", "none",
         needs="memtap"),

    bpftrace("bpftrace", "faults many", FAULT + " /pid == {pid}/ {{ @[ustack] = count(); }}"),
    bpftrace("bpftrace-sw", "faults",
             "software:page-faults:1 /pid == {pid}/ {{ @[ustack] = count(); }}"),
    bpftrace("bpftrace-count", "faults", FAULT + " /pid == {pid}/ {{ @ = count(); }}"),
    bpftrace("bpftrace-room", "many", FAULT + " /pid == {pid}/ {{ @[ustack] = count(); }}",
             env=ROOM),
    bpftrace("bpftrace", "growth", GROWTH + " /pid == {pid}/ {{ @[ustack] = count(); }}", 2),
    bpftrace("bpftrace", "pairs", LEAK, 3),
    bpftrace("bpftrace-room", "truth-mallocs", LEAK, 3, env=ROOM),
    bpftrace("bpftrace", "kernel", ALLOC + " /pid == {pid}/ {{ @[kstack] = count(); }}", 2),
    bpftrace("bpftrace", "programs", FAULT + " {{ @[ustack, comm] = count(); }}"),

    bpftrace("bpftrace-trace", "events", SEEK + " /pid == {pid}/"
             " {{ printf(\"%s lseek %ld %d\\n\", comm, args->offset, args->whence); }}",
             read="trace_lines"),
    bpftrace("bpftrace-hist", "events", SEEK + " /pid == {pid}/ {{ @ = hist(args->offset); }}",
             read="hist_sums"),

    memtap("memtap-swap", "swapins swapping", "swap --self --by none --json -o {out}",
           "memtap_swap"),
    memtap("memtap-stat", "swapins", "stat k:swap_readpage --self --json -o {out}",
           "memtap_stat"),
    memtap("memtap-reclaim", "reclaims", "reclaim --self -o {out}", "pressure_lines"),
    memtap("memtap-vmscan", "reclaims shrinks", "vmscan --self --json -o {out}",
           "memtap_vmscan"),
    memtap("memtap-compact", "compactions", "compact --self -o {out}", "pressure_lines"),
    Tool("memtap-monitor", "ooms", "attach", "memtap monitor", "oom_lines", needs="memtap",
         ready="text listening"),
    Tool("memtap-oom", "ooms", "attach", "memtap oom --json", "oom_lines", needs="memtap",
         ready="text waiting"),
    Tool("swapin.bt", "swapins", "attach", "swapin.bt", "per_second", needs="swapin.bt",
         ready="fds 2"),
    Tool("vmstat", "swapping", "attach", "vmstat -n 1", "vmstat", needs="vmstat",
         ready="text swpd"),
    bcc("drsnoop", "reclaims", "drsnoop-bpfcc", 2, read="pressure_lines"),
    bpftrace("vmscan.bt", "reclaims shrinks", VMSCAN, 8, read="hist_sums"),
    bpftrace("bpftrace-shrinkers", "shrinks", SHRINKERS, 2, read="hist_sums"),
    bpftrace("bpftrace-swap", "swapins swapping", SWAP, 5, read="bpftrace_swap"),
    bpftrace("bpftrace-compact", "compactions", COMPACT, 2, read="pressure_lines"),
    bcc("compactsnoop", "compactions", "compactsnoop-bpfcc", 3, read="pressure_lines"),
    bcc("oomkill", "ooms", "oomkill-bpfcc", 1, read="oom_lines"),
    Tool("oomkill.bt", "ooms", "attach", "oomkill.bt", "oom_lines", needs="oomkill.bt",
         ready="fds 1"),

    bcc("trace", "events", "trace-bpfcc -p {pid} 't:syscalls:sys_enter_lseek"
        " \"lseek %d %d\", args->offset, args->whence'", 1, read="trace_lines"),
    bcc("argdist", "events", "argdist-bpfcc -p {pid} -i {interval}"
        " -H t:syscalls:sys_enter_lseek():u64:args->offset", 1, read="none"),
    bcc("stackcount", "faults many",
        "stackcount-bpfcc -U -p {pid} t:exceptions:page_fault_user", 1),
    bcc("stackcount", "growth", "stackcount-bpfcc -U -p {pid} t:syscalls:sys_enter_brk", 1),
    bcc("memleak", "pairs", "memleak-bpfcc -p {pid} -o 0 -T 1000000 {interval}", 10,
        end="text Top .* stacks"),
    bcc("memleak", "pipes forks", "memleak-bpfcc -o 0 -T 1000 {interval}", 4,
        end="text Top .* stacks"),

    perf("perf", "faults many", "record -q -e page-faults -c 1 -g -p {pid} -o {data}"),
    perf("perf-flame", "report", "record -q -e page-faults -c 1 -g -p {pid} -o {data}", FLAME,
         "none"),
    perf("perf-dwarf", "faults",
         "record -q -e page-faults -c 1 --call-graph dwarf -p {pid} -o {data}"),
    perf("perf-trace", "events", "trace -e lseek -p {pid} -o {out}", None, "trace_lines"),
    perf("perf-stat", "faults", "stat -e page-faults -p {pid} -o {out}", None, "perf_stat"),
    perf("perf", "growth", "record -q -e syscalls:sys_enter_brk -e syscalls:sys_enter_mmap -g"
         " -p {pid} -o {data}"),
    perf("perf", "kernel", "record -q " + KMEM + " -g -p {pid} -o {data}"),
    perf("perf", "programs", "record -q -a -e page-faults -c 1 -g -o {data}"),

    Tool("ftrace-hist", "faults", "tracefs", "exceptions/page_fault_user hist:keys=common_pid",
         "ftrace_hist", needs="/sys/kernel/tracing/events/exceptions/page_fault_user/trigger"),
    Tool("ftrace-hist", "kernel", "tracefs", "kmem/kmalloc hist:keys=stacktrace:vals=bytes_alloc",
         "ftrace_hist", needs="/sys/kernel/tracing/events/kmem/kmalloc/trigger"),
    Tool("lttng", "faults", "lttng", "x86_exceptions_page_fault_user", "lttng",
         needs="lttng-modules"),
    Tool("systemtap", "faults", "attach", "staprun -x {pid} {bench}/bench_faults.ko", "stap",
         needs="bench_faults.ko", ready="text attached"),

    Tool("memcheck", "pairs", "launch",
         "valgrind --leak-check=full --num-callers=40 --log-file={out}", "memcheck",
         needs="valgrind"),
    Tool("heaptrack", "pairs programs", "launch", "heaptrack -o {data}", "none", needs="heaptrack"),
    Tool("tcmalloc-sampled", "pairs", "launch", "", "none", needs=TCMALLOC,
         env={"LD_PRELOAD": TCMALLOC, "TCMALLOC_SAMPLE_PARAMETER": "524288"}),

    floor("floor-empty", "faults", "fault-empty"),
    floor("floor-walk", "faults", "fault-walk"),
    floor("floor-hash", "faults", "fault-hash"),
    floor("floor-empty", "growth", "growth-empty"),
    floor("floor-walk", "growth", "growth-walk"),
    floor("floor-probes", "growth", "growth-probes"),
    floor("floor-empty", "pairs", "pairs-empty"),
    floor("floor-walk", "pairs", "pairs-walk"),
    floor("floor-empty", "kernel", "kernel-empty"),
    floor("floor-walk", "kernel", "kernel-walk"),
]
