/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * memtap: who uses memory, and why it grows.  The contract between the module
 * and whoever opens /dev/memtap or reads a .memtap file.
 *
 * Sessions.  An open file descriptor of /dev/memtap is one session, with its
 * own events, filter, tables and memory budget.  The order of use is
 *
 *	open, MEMTAP_CONFIGURE, MEMTAP_ATTACH*, MEMTAP_START, read*, MEMTAP_STOP,
 *	read, close
 *
 * close() at any point (also by SIGKILL) takes away every probe that nobody
 * else uses, and returns when no handler of the session runs and none will.
 * A session that was stopped keeps its tables for reading and cannot start
 * again.  The calls on one session exclude each other; different sessions do
 * not.
 *
 * Rights.  open(), each command, read() and poll() check the capabilities of their
 * caller in the initial user namespace, also on a descriptor that was passed on.
 * CAP_PERFMON gives stacks and counts: open(), read(), poll(), and each command but
 * those below.  CAP_BPF and CAP_PERFMON gives also what has registers or memory of
 * the kernel or of other processes, or changes how they run:
 *
 *	MEMTAP_TABLE, MEMTAP_HELD, MEMTAP_SIMILAR, MEMTAP_SYMBOL, MEMTAP_AGES
 *	MEMTAP_CONFIGURE with MEMTAP_CFG_DEATHS or MEMTAP_CFG_EXECS
 *	MEMTAP_ATTACH of MEMTAP_ATTACH_HEAP, with MEMTAP_ATTACH_HOLD, with @ref_ctr of an
 *		UPROBE, or with a step ARG, REG, RET, LOAD, TEXT; and FIELD, FIELD_TEXT,
 *		FIELD_LOC unless it is MEMTAP_ATTACH_BUILTIN
 *	each call on a session that was configured or attached in this way
 *
 * CAP_SYS_ADMIN is enough for everything; kernels before 5.8 have no other.
 *
 * Structures.  Each begins with its size, so that old and new programs and
 * modules understand each other: a short structure is extended with zeros, a
 * longer one is accepted while its unknown tail is zero.  There are no
 * pointers, longs, enums, bitfields or implicit padding: a 32-bit program on a
 * 64-bit kernel uses the same bytes.  Reserved fields and unknown flags must
 * be zero.  Nothing branches on a version number: MEMTAP_INFO has feature bits.
 *
 * Errors, the same for every command:
 *	ENOTTY		unknown command
 *	EINVAL		the structure is shorter than when the command was first
 *			released, or a value makes no sense
 *	E2BIG		a field that this module does not know is not zero
 *	EOPNOTSUPP	a flag that this module does not know, or a thing that
 *			this kernel cannot do
 *	EPERM		the caller has not the right, see above; poll() says POLLERR
 *	EFAULT		memory that cannot be read or written; nothing was done
 *	EBUSY		not in this state of the session (for instance CONFIGURE
 *			after START)
 *	ENOMEM		the kernel has no memory for the tables
 *	EDQUOT		the tables would exceed the module's max_mem
 * and what a command says of itself.
 *
 * Time is in ns of CLOCK_MONOTONIC, addresses and sizes are in bytes.
 */
#ifndef _UAPI_MEMTAP_H
#define _UAPI_MEMTAP_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define MEMTAP_DEVICE		"/dev/memtap"

#define MEMTAP_NAME_LEN		128	/* names, with the terminating 0 */
#define MEMTAP_COMM_LEN		16
#define MEMTAP_DEFAULT_DEPTH	127	/* frames in a stack; of the kernel, never more */
#define MEMTAP_MAX_DEPTH	1000	/* in a user stack, where a session wants that */
#define MEMTAP_MAX_EVENTS	1024	/* events in a session; each one past the 48th adds to
					 * @mem_total of CONFIGURE when it is attached */
#define MEMTAP_MAX_LIVE_EVENTS	48	/* with MEMTAP_CFG_LIVE or MEMTAP_CFG_OBJECTS */
#define MEMTAP_MAX_FILTERS	4096	/* items in a session's filter */
#define MEMTAP_HIST_BUCKETS	64

/* What an event's value is. */
#define MEMTAP_UNIT_NONE	0	/* it only counts */
#define MEMTAP_UNIT_BYTES	1	/* signed: growth, where it can be negative */
#define MEMTAP_UNIT_PAGES	2
#define MEMTAP_UNIT_NS		3
#define MEMTAP_UNIT_NUMBER	4	/* an argument that was made the value */
#define MEMTAP_NR_UNIT		5

/*
 * Why an event that happened is missing from the counters.  For each event of
 * a session that is not running: seen == counted + filtered + sum(lost).
 */
#define MEMTAP_LOST_RECURSION	0	/* caused by memtap's own work */
#define MEMTAP_LOST_NMI		1	/* in an NMI that came while memtap was at
					 * work on this CPU */
#define MEMTAP_LOST_TABLE	2	/* the session's counters are full */
#define MEMTAP_LOST_MISSED	3	/* the kernel did not run our probe
					 * (nmissed of kprobes, kretprobes) */
#define MEMTAP_LOST_RETURN	4	/* a call that has not returned, or whose
					 * return the kernel did not report (a
					 * task has 64 pending returns at most) */
#define MEMTAP_LOST_PAIR	5	/* a return whose entry was not kept */
#define MEMTAP_LOST_LIVE	6	/* the table of live blocks is full */
#define MEMTAP_LOST_THREADS	7	/* more threads at once in allocators than
					 * there is room for */
#define MEMTAP_LOST_LEFT	8	/* an allocator was left by longjmp(), an
					 * exception or the thread's end, or the
					 * kernel did not report its return */
#define MEMTAP_LOST_RING	9	/* MEMTAP_CFG_RING: this CPU's ring was full */
#define MEMTAP_NR_LOST		10
#define MEMTAP_LOST_SLOTS	16	/* room for more */

/*
 * What is less than whole in the events that were counted.  These are not
 * losses of events: each is in "counted" too.
 */
#define MEMTAP_PART_STACKS_FULL	0	/* counted under MEMTAP_STACK_LOST */
#define MEMTAP_PART_DEPTH	1	/* stack truncated: more frames than "depth" */
#define MEMTAP_PART_FAULT	2	/* stack truncated: memory not present */
#define MEMTAP_PART_CHAIN	3	/* stack truncated: the frame chain leads nowhere */
#define MEMTAP_PART_TASKS_FULL	4	/* counted under MEMTAP_TASK_LOST */
#define MEMTAP_PART_TRAMPOLINE	5	/* a return trampoline hides a caller */
#define MEMTAP_PART_NOMAP	6	/* stack truncated: in no mapping known by then */
#define MEMTAP_PART_NOTABLE	7	/* stack truncated: its file had no table yet */
#define MEMTAP_PART_NOROW	8	/* stack truncated: code without an unwind entry */
#define MEMTAP_PART_ARGS	9	/* an argument that is shown, or the value, was
					 * not there */
#define MEMTAP_NR_PART		10
#define MEMTAP_PART_SLOTS	16

/**
 * struct memtap_info - MEMTAP_INFO: what this module can do
 * @size:	sizeof(struct memtap_info)
 * @flags:	in, must be 0
 * @features:	out, mask of MEMTAP_FEATURE_*
 * @nr_events:	out, built-in events: ids 0 .. nr_events - 1
 * @nr_hooks:	out, hooks known now, of built-in events and of all sessions
 * @max_depth:	out, frames kept per stack at most
 * @nr_cpus:	out, CPUs for which a session makes tables
 * @max_mem:	out, bytes that one session may take (module parameter)
 * @mem_stacks, @mem_counters, @mem_tasks: out, what 0 means in MEMTAP_CONFIGURE
 * @nr_sessions: out, open sessions, the module's own included
 * @reserved:	0
 * @version:	out, for messages only
 * @release:	out, of the kernel that the module was built for
 * @mem_unwind:	out, what 0 means in MEMTAP_CONFIGURE
 * @mem_live:	out, the same with MEMTAP_CFG_LIVE
 * @mem_objects: out, what 0 means as mem_live with MEMTAP_CFG_OBJECTS
 * @mem_touched: out, the same with MEMTAP_CFG_TOUCHED
 */
struct memtap_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 features;
	__u32 nr_events;
	__u32 nr_hooks;
	__u32 max_depth;
	__u32 nr_cpus;
	__aligned_u64 max_mem;
	__aligned_u64 mem_stacks;
	__aligned_u64 mem_counters;
	__aligned_u64 mem_tasks;
	__u32 nr_sessions;
	__u32 reserved;
	char version[32];
	char release[64];
	__aligned_u64 mem_unwind;
	__aligned_u64 mem_live;
	__aligned_u64 mem_objects;
	__aligned_u64 mem_touched;
};

#define MEMTAP_FEATURE_UREFCTR	(1ULL << 0)	/* USDT semaphores */
#define MEMTAP_FEATURE_TP_PROBE	(1ULL << 1)	/* tracepoints without perf */
#define MEMTAP_FEATURE_CGROUP1	(1ULL << 2)	/* filter: cgroup v1, memory controller */
#define MEMTAP_FEATURE_CGROUP2	(1ULL << 3)	/* filter: cgroup v2 */
#define MEMTAP_FEATURE_ROWS	(1ULL << 4)	/* MEMTAP_CFG_ROWS */
#define MEMTAP_FEATURE_LIVE	(1ULL << 5)	/* MEMTAP_CFG_LIVE */
#define MEMTAP_FEATURE_PUSH	(1ULL << 6)	/* a probe on "push reg" costs one trap,
						 * as those on nop, jmp, jcc and call do
						 * everywhere; others cost two */
#define MEMTAP_FEATURE_URET_SYSCALL (1ULL << 7)	/* probes on returns make the process
						 * call the kernel, which a seccomp
						 * filter may punish */
#define MEMTAP_FEATURE_NOT_SELF	(1ULL << 8)	/* MEMTAP_CFG_NOT_SELF */
#define MEMTAP_FEATURE_DEATHS	(1ULL << 9)	/* MEMTAP_CFG_DEATHS */
#define MEMTAP_FEATURE_EXECS	(1ULL << 33)	/* MEMTAP_CFG_EXECS, and MEMTAP_ATTACH_HOLD
						 * while the session runs */
#define MEMTAP_FEATURE_FILES	(1ULL << 10)	/* MEMTAP_CFG_FILES */
#define MEMTAP_FEATURE_STEPS	(1ULL << 11)	/* arguments: struct memtap_step */
#define MEMTAP_FEATURE_PAIRS	(1ULL << 12)	/* MEMTAP_ATTACH_PAIR */
#define MEMTAP_FEATURE_OOM	(1ULL << 13)	/* MEMTAP_OOM: OOM kills are recorded */
#define MEMTAP_FEATURE_OBJECTS	(1ULL << 14)	/* MEMTAP_CFG_OBJECTS */
#define MEMTAP_FEATURE_FIELDS	(1ULL << 15)	/* MEMTAP_FIELD */
#define MEMTAP_FEATURE_ONCE	(1ULL << 16)	/* MEMTAP_ATTACH_ONCE */
#define MEMTAP_FEATURE_MAPPINGS	(1ULL << 17)	/* MEMTAP_CFG_MAPPINGS */
#define MEMTAP_FEATURE_CALLS	(1ULL << 18)	/* MEMTAP_EVENTS gives MEMTAP_CFG_TRACE's */
#define MEMTAP_FEATURE_OBJECT_CALLS (1ULL << 20) /* MEMTAP_CFG_TRACE with OBJECTS */
#define MEMTAP_FEATURE_PAGES	(1ULL << 21)	/* OBJECTS: events of group "pages", "percpu" and
						 * "vmalloc", too */
#define MEMTAP_FEATURE_TOUCHED	(1ULL << 22)	/* MEMTAP_CFG_TOUCHED */
#define MEMTAP_FEATURE_MARKS	(1ULL << 27)	/* MEMTAP_MARK */
#define MEMTAP_FEATURE_UPROBE32	(1ULL << 24)	/* any probe on a 32-bit program; else
						 * some are refused: ENOEXEC */
#define MEMTAP_FEATURE_AGES	(1ULL << 26)	/* MEMTAP_AGES */
#define MEMTAP_FEATURE_WASTE	(1ULL << 40)	/* records of caches have waste, remote */
#define MEMTAP_FEATURE_EXPRESSIONS (1ULL << 36)	/* steps from MEMTAP_STEP_MUL on,
						 * @by_mask, @text_max */
#define MEMTAP_FEATURE_PEAK	(1ULL << 34)	/* MEMTAP_CFG_PEAK */
#define MEMTAP_FEATURE_OOM_STACK (1ULL << 45)	/* MEMTAP_OOM: @stack_ptr */
#define MEMTAP_FEATURE_ONLY_COUNT (1ULL << 32)	/* the caller may have stacks and counts alone,
						 * see "Rights" above */

/**
 * struct memtap_event_info - MEMTAP_EVENT: enumerate the built-in events
 * @size:	sizeof(struct memtap_event_info)
 * @id:		in, 0 .. nr_events - 1
 * @unit:	out, MEMTAP_UNIT_*
 * @nr_hooks:	out, ways in which it is hooked (for instance one for each ABI)
 * @group:	out, events of one group answer one question: "fault"
 * @name:	out, stable: "minor-fault"
 * @summary:	out, a line for people
 *
 * ENOENT past the last one.
 */
struct memtap_event_info {
	__u32 size;
	__u32 id;
	__u32 unit;
	__u32 nr_hooks;
	char group[16];
	char name[32];
	char summary[80];
};

#define MEMTAP_FIELD_ADDRESS	(1U << 0)	/* an address, or a mask of bits */

/**
 * struct memtap_field - MEMTAP_FIELD: what a built-in event tells of itself, for steps
 * @size:	sizeof(struct memtap_field)
 * @event:	in, id of the event, 0 .. nr_events - 1
 * @index:	in, 0 .. : they have an order for people
 * @offset:	out, where it is in the record
 * @len:	out, bytes that it has there: of a string those that it may have
 * @type:	out, MEMTAP_TYPE_*
 * @flags:	out, MEMTAP_FIELD_*
 * @reserved:	0
 * @name:	out, stable: "prot"
 *
 * Events of a session that has steps for them bring a record, which
 * MEMTAP_STEP_FIELD and MEMTAP_STEP_FIELD_TEXT read.  ENOENT past the last one.
 */
struct memtap_field {
	__u32 size;
	__u32 event;
	__u32 index;
	__u32 offset;
	__u32 len;
	__u32 type;
	__u32 flags;
	__u32 reserved;
	char name[32];
};

#define MEMTAP_HOOK_IDLE	0	/* nobody wants it now */
#define MEMTAP_HOOK_ATTACHED	1
#define MEMTAP_HOOK_FAILED	2	/* wanted, refused with @error */
#define MEMTAP_NR_HOOK		3

#define MEMTAP_WAY_NONE		0
#define MEMTAP_WAY_KPROBE	1
#define MEMTAP_WAY_KRETPROBE	2
#define MEMTAP_WAY_UPROBE	3
#define MEMTAP_WAY_URETPROBE	4
#define MEMTAP_WAY_TRACEPOINT	5	/* a probe of our own */
#define MEMTAP_WAY_PERF_TP	6	/* perf's counter of a tracepoint */
#define MEMTAP_WAY_PERF_SW	7	/* perf's software event */
#define MEMTAP_WAY_PERF		8	/* perf's counter, MEMTAP_ATTACH_PERF */
#define MEMTAP_NR_WAY		9

/**
 * struct memtap_hook_state - MEMTAP_HOOK: enumerate the hooks and what became of each
 * @size:	sizeof(struct memtap_hook_state)
 * @index:	in, 0 .. nr_hooks - 1
 * @state:	out, MEMTAP_HOOK_*
 * @error:	out, errno (positive) of the last attempt, 0 if it worked; ENOEXEC of one that
 *		is attached: 32-bit processes without ASLR are left out, since this kernel
 *		would hang them
 * @way:	out, MEMTAP_WAY_*
 * @users:	out, sessions that use it
 * @hits:	out, times our handler ran, since the module was loaded
 * @missed:	out, times the kernel says that it did not run
 * @event:	out, name of the event it serves
 * @target:	out, what it is attached to: the symbol it took, or FILE+0xOFFSET
 *
 * ENOENT past the last one.
 */
struct memtap_hook_state {
	__u32 size;
	__u32 index;
	__u32 state;
	__u32 error;
	__u32 way;
	__u32 users;
	__aligned_u64 hits;
	__aligned_u64 missed;
	char event[MEMTAP_NAME_LEN];
	char target[MEMTAP_NAME_LEN];
};

#define MEMTAP_FILTER_PID	1	/* @value: a process (with all its threads) */
#define MEMTAP_FILTER_TID	2	/* @value: one thread */
#define MEMTAP_FILTER_COMM	3	/* @comm: exactly this name of a thread */
#define MEMTAP_FILTER_CGROUP1	4	/* @value: inode of the directory in the v1
					 * memory hierarchy; descendants match too */
#define MEMTAP_FILTER_CGROUP2	5	/* @value: the same in the v2 hierarchy */

/**
 * struct memtap_filter_item - one thing that lets an event through
 * @kind:	MEMTAP_FILTER_*
 * @reserved:	0
 * @value:	see @kind; PIDs and TIDs as the caller's PID namespace has them
 * @comm:	see @kind
 *
 * Items of the same kind are alternatives; of different kinds, all must hold
 * (PID and TID are one kind).  No items: everything passes.
 */
struct memtap_filter_item {
	__u32 kind;
	__u32 reserved;
	__aligned_u64 value;
	char comm[MEMTAP_COMM_LEN];
};

#define MEMTAP_CFG_USTACK	(1U << 0)	/* user stacks */
#define MEMTAP_CFG_KSTACK	(1U << 1)	/* kernel stacks */
#define MEMTAP_CFG_THREADS	(1U << 2)	/* tell the threads of a process apart */
#define MEMTAP_CFG_HIST		(1U << 3)	/* keep log2 histograms of the value */
#define MEMTAP_CFG_ADDR		(1U << 4)	/* tell addresses apart, >> addr_shift */
#define MEMTAP_CFG_CHILDREN	(1U << 5)	/* what a matching process forks from
						 * now on matches too */
#define MEMTAP_CFG_ONLY_USER	(1U << 6)	/* filter: caused in user mode */
#define MEMTAP_CFG_ONLY_KERNEL	(1U << 7)	/* filter: caused in kernel mode */
#define MEMTAP_CFG_ROWS		(1U << 8)	/* user stacks by the rows of
						 * MEMTAP_TABLE; else by frame
						 * pointers.  With MEMTAP_CFG_USTACK */
#define MEMTAP_CFG_LIVE		(1U << 9)	/* keep what is allocated and not
						 * freed, see MEMTAP_ATTACH_HEAP */
#define MEMTAP_CFG_KEEP		(1U << 10)	/* LIVE: keep the blocks of a process
						 * that exits (not at execve()) */
#define MEMTAP_CFG_TRACE	(1U << 11)	/* LIVE, OBJECTS: keep each call for
						 * MEMTAP_EVENTS, or MEMTAP_TRACE */
#define MEMTAP_CFG_NOT_SELF	(1U << 12)	/* filter: not what the process does that
						 * calls CONFIGURE (what it forks is
						 * another one) */
#define MEMTAP_CFG_DEATHS	(1U << 13)	/* who is ended by a signal other than SIGKILL
						 * waits for MEMTAP_HELD, at most 30 s, with
						 * its memory, unless somebody traces it or it
						 * has more than 64 threads.
						 * MEMTAP_FEATURE_DEATHS */
#define MEMTAP_CFG_EXECS	(1U << 24)	/* LIVE: who has executed a program waits for
						 * MEMTAP_HELD, at most 2 s, before the first
						 * instruction.  MEMTAP_FEATURE_EXECS */
#define MEMTAP_CFG_FILES	(1U << 14)	/* tell apart the files that events are
						 * about (shmem).  Not with
						 * MEMTAP_CFG_ADDR */
#define MEMTAP_CFG_RING		(1U << 15)	/* keep each event for MEMTAP_EVENTS, not
						 * counters: not with LIVE, HIST, ADDR */
#define MEMTAP_CFG_OOM		(1U << 17)	/* poll() says POLLPRI while there is a record that
						 * MEMTAP_OOM has not given to this descriptor.
						 * MEMTAP_FEATURE_OOM */
#define MEMTAP_CFG_OBJECTS	(1U << 18)	/* of the built-in events of groups "slab",
						 * "pages", "percpu" and "vmalloc": keep what
						 * the kernel has allocated and not freed, not
						 * counters.  Not with USTACK, LIVE, HIST,
						 * ADDR, FILES, RING */
#define MEMTAP_CFG_CALL_SITE	(1U << 19)	/* OBJECTS with KSTACK: of a stack only who
						 * called the allocator, which takes no walk */
#define MEMTAP_CFG_MAPPINGS	(1U << 20)	/* with FILES: tell apart also the kinds of memory
						 * that are in no file, and what is allowed
						 * there (page faults) */
#define MEMTAP_CFG_TOUCHED	(1U << 23)	/* of page faults: remember of each page of an
						 * address space who mapped it last.  With the
						 * event mremap, also when it is moved: it counts
						 * nothing then.  With the event populate also
						 * of what calls bring in ahead.  Not with LIVE,
						 * OBJECTS, RING, nor steps */
#define MEMTAP_CFG_PEAK		(1U << 25)	/* LIVE: PEAKS records of what each stack
						 * allocated, and had when most memory was
						 * allocated.  Takes mem_counters.  Not with
						 * sampling.  MEMTAP_FEATURE_PEAK */

/**
 * struct memtap_config - MEMTAP_CONFIGURE: what the session shall do
 * @size:	sizeof(struct memtap_config)
 * @flags:	mask of MEMTAP_CFG_*
 * @events:	mask of built-in events: 1 << id
 * @depth:	frames kept per stack, 1 .. max_depth; 0: MEMTAP_DEFAULT_DEPTH.  More than that
 *		takes 8 bytes per frame and CPU, in @mem_total
 * @addr_shift:	with MEMTAP_CFG_ADDR, 0 .. 63
 * @mem_stacks:	bytes for interned stacks; 0: default
 * @mem_counters: bytes for counters, shared by all CPUs, or with MEMTAP_CFG_RING for
 *		the CPUs' rings, or with MEMTAP_CFG_PEAK for the stacks of PEAKS records;
 *		0: default
 * @mem_tasks:	bytes for tasks, their mappings and files; 0: default
 * @min_size, @max_size: filter: least and greatest value that counts, for
 *		events that have one; 0 and 0: all.  A negative growth is
 *		compared by its size.
 * @filter_ptr:	address of @filter_nr items
 * @filter_nr:	0 .. MEMTAP_MAX_FILTERS
 * @reserved:	0
 * @mem_total:	out, bytes that the session will take, hash indexes and
 *		everything that is made per CPU included
 * @mem_unwind:	with MEMTAP_CFG_ROWS: bytes that tables of rows and the maps of
 *		processes may take, part of @mem_total; 0: default.  Taken as
 *		they come; a table that other sessions use is charged to each
 * @mem_live:	with MEMTAP_CFG_LIVE: bytes for live blocks and mappings; with
 *		MEMTAP_CFG_TOUCHED: bytes for pages; 0: default
 * @sample_bytes: with MEMTAP_CFG_LIVE: keep a block of n bytes with probability
 *		1 - exp(-n / sample_bytes), as if each byte were chosen with
 *		1 / sample_bytes (a Poisson process); 0: all
 * @sample_rate: with MEMTAP_CFG_LIVE: keep a block with probability
 *		1 / sample_rate; 0 and 1: all.  Not both
 * @reserved2:	0
 *
 * With MEMTAP_CFG_LIVE the built-in events mmap, mremap and munmap keep anonymous
 * mappings as live, too, and min_size and max_size are about blocks handed out.
 * Sampling is about what is kept as live: the accounts count all.
 *
 * With MEMTAP_CFG_OBJECTS all of that is about objects of the kernel.  What is freed is
 * taken out whoever frees it; the filter is about who allocates, where that is a task.
 *
 * May be called again, before any MEMTAP_ATTACH: the last one counts.
 * Nothing is allocated before MEMTAP_START, except the filter, and what
 * MEMTAP_TABLE brings.
 *
 * ESRCH: a PID or TID of the filter does not exist.  ENOENT: an event of
 * @events does not.  EPERM: MEMTAP_CFG_DEATHS needs CAP_BPF and CAP_PERFMON, or
 * CAP_SYS_ADMIN.
 */
struct memtap_config {
	__u32 size;
	__u32 flags;
	__aligned_u64 events;
	__u32 depth;
	__u32 addr_shift;
	__aligned_u64 mem_stacks;
	__aligned_u64 mem_counters;
	__aligned_u64 mem_tasks;
	__aligned_u64 min_size;
	__aligned_u64 max_size;
	__aligned_u64 filter_ptr;
	__u32 filter_nr;
	__u32 reserved;
	__aligned_u64 mem_total;
	__aligned_u64 mem_unwind;
	__aligned_u64 mem_live;
	__aligned_u64 sample_bytes;
	__u32 sample_rate;
	__u32 reserved2;
};

#define MEMTAP_ATTACH_TRACEPOINT 1	/* @name "subsystem:name", @config its perf id */
#define MEMTAP_ATTACH_KPROBE	2	/* @name a kernel function, @offset into it */
#define MEMTAP_ATTACH_UPROBE	3	/* @fd a file, @offset in it, @ref_ctr */
#define MEMTAP_ATTACH_HEAP	4	/* as UPROBE: a function that hands out or
					 * takes back memory.  MEMTAP_CFG_LIVE */
#define MEMTAP_ATTACH_BUILTIN	5	/* @name a built-in event, with steps; joins at
					 * START, as those of MEMTAP_CONFIGURE, and has
					 * its @event then.  Not with MEMTAP_CFG_LIVE */
#define MEMTAP_ATTACH_PAIR	6	/* two tracepoints, @name "SUBSYSTEM:BEGIN..SUBSYSTEM:END",
					 * with steps: seen at the first, counted when the same
					 * task (in an interrupt: the same interrupt) comes to
					 * the second; the stack is the one there.  A begin
					 * whose end does not come before the next one is
					 * MEMTAP_LOST_RETURN, an end without one nothing */

#define MEMTAP_ATTACH_PERF	8	/* each overflow of a counter of perf, on all CPUs: its
					 * type in @offset, its @config; after @ref_ctr
					 * (1 ..), or with @op 1 so often each second.  The
					 * value is what was counted since the last one */

#define MEMTAP_ATTACH_RETURN	(1U << 0)	/* count returns, not entries; the
						 * stack is the one of the entry */
#define MEMTAP_ATTACH_ENTRY	(1U << 1)	/* UPROBE: @offset is the first
						 * instruction of a function (or the
						 * one after its endbr64): the caller
						 * is on top of the stack.  Implied
						 * by MEMTAP_ATTACH_RETURN, and HEAP */
#define MEMTAP_ATTACH_HOLD	(1U << 2)	/* UPROBE, not a return: each thread waits
						 * there for MEMTAP_HELD, at most @hold_ms;
						 * not counted where nobody waits */
#define MEMTAP_ATTACH_FREE_STACK (1U << 3)	/* HEAP: the stack of each call that
						 * frees is taken and remembered, to
						 * be shown should it come again */
#define MEMTAP_ATTACH_MARK	(1U << 6)	/* TRACEPOINT, KPROBE, UPROBE, PERF, without RETURN
						 * and steps; LIVE, OBJECTS: each hit that
						 * passes the filter sets the mark that
						 * MEMTAP_MARK_EVENT gives this event */
#define MEMTAP_ATTACH_ONCE	(1U << 5)	/* HEAP, with @ptr: a call passes @offset
						 * once.  Without it a thread's first one
						 * may do so twice, as glibc 2.43's free():
						 * MEMTAP_FEATURE_ONCE */

/*
 * Steps: how an event's arguments are had, and which events pass.  They are done one
 * after the other, each once, on a stack of MEMTAP_STEPS_DEPTH numbers of 64 bits, and
 * leave it empty.  What cannot be known (memory that is not there, a record that is
 * shorter) makes unknown what is computed from it; && and || know what does not depend
 * on it.  Arguments are kept in MEMTAP_MAX_SLOTS slots, of which the first ones are shown.
 */
#define MEMTAP_MAX_STEPS	96	/* of an event */
#define MEMTAP_STEPS_DEPTH	8
#define MEMTAP_MAX_SHOWN	8	/* arguments of an event */
#define MEMTAP_MAX_SLOTS	12	/* those, and what the filter compares with */
#define MEMTAP_MAX_TEXT		127	/* bytes of a string that are kept, */
#define MEMTAP_SHORT_TEXT	16	/* and that can be, with @text_max */
#define MEMTAP_LONG_TEXT	1023
#define MEMTAP_ALL_TEXT		1920	/* bytes that all strings of an event may have at most,
					 * each with a 0 */
#define MEMTAP_MAX_TEXTS	1024	/* bytes of all strings that are compared with */

#define MEMTAP_STEP_NUMBER	1	/* push @number */
#define MEMTAP_STEP_ARG		2	/* push a function's integer argument @index, 0 .. 5,
					 * as its beginning has them.  KPROBE, UPROBE */
#define MEMTAP_STEP_REG		3	/* push a register by DWARF's number.  KPROBE, UPROBE */
#define MEMTAP_STEP_RET		4	/* push what the function returns.  At the return */
#define MEMTAP_STEP_FIELD	5	/* push what the record has at offset @number, as
					 * @type.  TRACEPOINT, BUILTIN; PAIR: the begin's,
					 * behind @nr_entry the end's */
#define MEMTAP_STEP_FACT	6	/* push MEMTAP_FACT_@index */
#define MEMTAP_STEP_SLOT	7	/* push the number in slot @index */
#define MEMTAP_STEP_LOAD	8	/* pop an address, push what is there, as @type; @index
					 * 1: in the user's memory, 0: in the kernel's */
#define MEMTAP_STEP_CAST	9	/* pop, push the same as @type */
#define MEMTAP_STEP_KEEP	10	/* pop, keep it in slot @index, as @type */
#define MEMTAP_STEP_TEXT	11	/* pop an address, keep the string there in slot @index;
					 * @number 1: in the user's memory, 0: the kernel's */
#define MEMTAP_STEP_FIELD_TEXT	12	/* keep in slot @index the string that the record has
					 * at offset @number, in (@number >> 32) bytes */
#define MEMTAP_STEP_FIELD_LOC	13	/* the same: at offset @number is where it lies: as
					 * __data_loc; @type 1: as __rel_loc */
#define MEMTAP_STEP_COMM	14	/* keep the thread's name in slot @index */
#define MEMTAP_STEP_SAME	15	/* push 1 if the string in slot @index is the one at
					 * @number of the texts, else 0 */
#define MEMTAP_STEP_PASS	16	/* pop: the event counts where that is known and not 0 */
/* Pop b, pop a, push */
#define MEMTAP_STEP_ADD		17	/* a + b */
#define MEMTAP_STEP_SUB		18
#define MEMTAP_STEP_AND		19	/* a & b */
#define MEMTAP_STEP_OR		20
#define MEMTAP_STEP_SHL		21	/* a << (b & 63) */
#define MEMTAP_STEP_EQ		22	/* 1 if a == b, else 0 */
#define MEMTAP_STEP_NE		23
#define MEMTAP_STEP_LT		24	/* 1 if a < b; @type with MEMTAP_TYPE_SIGNED: of signed */
#define MEMTAP_STEP_LE		25
#define MEMTAP_STEP_GT		26
#define MEMTAP_STEP_GE		27
#define MEMTAP_STEP_BOTH	28	/* 1 if neither is 0, else 0 */
#define MEMTAP_STEP_EITHER	29
#define MEMTAP_STEP_NOT		30	/* pop a, push 1 if it is 0, else 0 */
#define MEMTAP_STEP_DIV		31	/* a / b, of signed, rounded down; unknown unless b > 0 */
/* MEMTAP_FEATURE_EXPRESSIONS */
#define MEMTAP_STEP_MUL		32	/* a * b */
#define MEMTAP_STEP_QUOT	33	/* a / b as in C; @type with MEMTAP_TYPE_SIGNED: of
					 * signed; unknown if b is 0 */
#define MEMTAP_STEP_REM		34	/* a % b, likewise */
#define MEMTAP_STEP_SHR		35	/* a >> (b & 63); MEMTAP_TYPE_SIGNED: of a signed a */
#define MEMTAP_STEP_XOR		36	/* a ^ b */
#define MEMTAP_STEP_SELECT	37	/* pop c, pop b, pop a, push a ? b : c; known where a is,
					 * and what it selects */
#define MEMTAP_STEP_LIKE	38	/* push 1 if the string in slot @index matches the pattern
					 * at @number of the texts, else 0: * is any bytes, ?
					 * one byte, \ the byte behind it; unknown where
					 * MEMTAP_LIKE_MOST comparisons do not tell */
#define MEMTAP_STEP_LOG2	39	/* pop a, push the number of its bits without leading zeros;
					 * of a signed a below 0 minus that of -a */
#define MEMTAP_NR_STEP		40

#define MEMTAP_LIKE_MOST	4096	/* comparisons of a byte with one of a pattern */

#define MEMTAP_TYPE_BYTES	0x0f	/* 1, 2, 4 or 8 */
#define MEMTAP_TYPE_SIGNED	0x10
#define MEMTAP_TYPE_TEXT	0x20	/* a string: it has no bytes, and no sign */

#define MEMTAP_FACT_PID		0	/* of the process */
#define MEMTAP_FACT_TID		1
#define MEMTAP_FACT_UID		2
#define MEMTAP_FACT_CPU		3
#define MEMTAP_FACT_VALUE	4	/* built-in events; unknown where there is none */
#define MEMTAP_FACT_LATENCY	5	/* ns since the entry.  At the return, or end */
#define MEMTAP_FACT_FREE	6	/* pages that are free in the machine */
#define MEMTAP_FACT_NODE	7	/* of the CPU */
#define MEMTAP_NR_FACT		8

/**
 * struct memtap_step - one step
 * @op:		MEMTAP_STEP_*
 * @type:	MEMTAP_TYPE_*, where it says so; else 0
 * @index:	see there; else 0
 * @reserved:	0
 * @number:	see there; else 0
 */
struct memtap_step {
	__u8 op;
	__u8 type;
	__u16 index;
	__u32 reserved;
	__aligned_u64 number;
};

/* HEAP: what the function does */
#define MEMTAP_HEAP_ALLOC	1	/* hands out a block: probed at entry and return */
#define MEMTAP_HEAP_FREE	2	/* takes one back: probed at entry */
#define MEMTAP_HEAP_REALLOC	3	/* both; NULL and a size other than 0: neither */
#define MEMTAP_HEAP_ENTER	4	/* calls another of these to do it, always: only
					 * tells @family of what happens inside; at
					 * entry.  With @ptr: takes back, else hands
					 * out; then @size is what is asked for, and
					 * counts, whatever it asks the other for; with
					 * @size2, an alignment, that one has to be asked
					 * for one, too: else, it is another call */
#define MEMTAP_HEAP_UNWIND	5	/* is about to unwind the stack, for an exception
					 * or the end of a thread: return addresses
					 * that return probes replaced are put back,
					 * whoever's they are; at entry, no arguments.
					 * Without it an exception out of a function
					 * with a return probe ends the process */
#define MEMTAP_HEAP_GIVE	6	/* takes one back, as FREE; what it calls before it
					 * returns is its own matter, whatever blocks that
					 * is given: probed at entry and return.  Of a block
					 * that is not known, nothing is told */
#define MEMTAP_NR_HEAP		7

/* HEAP: what must be handed out and taken back alike */
#define MEMTAP_FAMILY_ANY	0	/* goes with all */
#define MEMTAP_FAMILY_MALLOC	1
#define MEMTAP_FAMILY_NEW	2
#define MEMTAP_FAMILY_NEW_ARRAY	3
#define MEMTAP_FAMILY_MMAP	4	/* built-in events */
#define MEMTAP_FAMILY_OWN	16	/* .. 255: the caller's */

/* HEAP: arguments */
#define MEMTAP_ARG_MAX		5	/* 0 .. 5: the function's integer arguments */
#define MEMTAP_ARG_RETURN	254	/* @result: what the function returns */
#define MEMTAP_ARG_NONE		255

/**
 * struct memtap_attach - MEMTAP_ATTACH: count one more thing in this session
 * @size:	sizeof(struct memtap_attach)
 * @kind:	MEMTAP_ATTACH_*
 * @flags:	mask of MEMTAP_ATTACH_RETURN, MEMTAP_ATTACH_ENTRY
 * @fd:		UPROBE: descriptor of the file, open for reading; else 0.  Only
 *		used during the call
 * @offset:	UPROBE: offset in the file.  KPROBE: from the symbol; 0 with
 *		MEMTAP_ATTACH_RETURN
 * @ref_ctr:	UPROBE: offset in the file of a USDT semaphore, or 0
 * @config:	TRACEPOINT: what tracefs shows in events/SUBSYSTEM/NAME/id, or 0
 *		if not known.  PAIR: of the begin.  PERF: see there
 * @event:	out, id of this event in this session's records
 * @way:	out, MEMTAP_WAY_*
 * @name:	see @kind; UPROBE: a name for the reports; HEAP: those of one name
 *		are one event
 * @op:		PERF: see there
 * @op, @family: HEAP: MEMTAP_HEAP_*, MEMTAP_FAMILY_*; all of one name have the same
 *		family
 * @size_arg:	HEAP_ALLOC, HEAP_REALLOC: argument with the size
 * @size2_arg:	what that is multiplied with, or MEMTAP_ARG_NONE
 * @ptr_arg:	HEAP_FREE, HEAP_GIVE, HEAP_REALLOC, HEAP_ENTER: argument with the block,
 *		or MEMTAP_ARG_NONE (HEAP_ENTER)
 * @result_arg:	HEAP_ALLOC, HEAP_REALLOC: MEMTAP_ARG_RETURN, where NULL is a
 *		failure; or the argument that points to where the block's address
 *		is stored when the function returns 0
 * @hold_ms:	with MEMTAP_ATTACH_HOLD: 1 .. 60000
 * @moved:	HEAP_FREE: bytes that the stack pointer went down between the
 *		function's beginning and @offset, below 65536
 * @nr_steps:	not HEAP: 0 .. MEMTAP_MAX_STEPS
 * @steps_ptr:	address of @nr_steps struct memtap_step
 * @texts_ptr:	address of @texts_len bytes, strings that end with 0
 * @texts_len:	0 .. MEMTAP_MAX_TEXTS
 * @nr_entry:	with MEMTAP_ATTACH_RETURN: so many of the first steps are done when the
 *		function is entered, and leave the stack empty; PAIR: at the begin; else 0
 * @nr_shown:	slots that are arguments of the event, 0 .. MEMTAP_MAX_SHOWN
 * @value_slot:	1 + the slot, kept as a number, that is the event's value; 0: none
 * @value_unit:	with @value_slot: MEMTAP_UNIT_*, what the records of the event say
 * @by_slot:	1 + the slot by which events are told apart: the address of a COUNTER is
 *		then its number, or the id of a STACK that is MEMTAP_STACK_TEXT; 0: none
 * @by_mask:	without @by_slot: slots that together tell events apart: the address of a
 *		COUNTER is the id of a STACK that is MEMTAP_STACK_KEYS; 0: none
 * @text_max:	bytes of each string that are kept, MEMTAP_SHORT_TEXT .. MEMTAP_LONG_TEXT;
 *		0: MEMTAP_MAX_TEXT.  With it the length of a string in struct memtap_one
 *		takes two bytes
 * @end_config:	PAIR: of the end, as @config; else 0
 *
 * The probe stands when the call returns, and counts from MEMTAP_START.  It is
 * planted only in processes that the filter lets through.
 *
 * A HEAP probe's calls count once, those within another one's do not: the thread
 * is in the outermost.  Its @offset is an instruction that each call passes, that
 * has the arguments in their registers and the caller on top of the stack.
 *
 * ENOENT: no such tracepoint, symbol, counter of this machine.  EINVAL: the kernel does not
 * let this function be probed.  EBUSY: not before MEMTAP_CONFIGURE or not after
 * MEMTAP_START (HEAP: not after MEMTAP_STOP).  ENOSPC: MEMTAP_MAX_EVENTS (or
 * MEMTAP_MAX_LIVE_EVENTS) are attached.  EDQUOT: another one exceeds the module's max_mem.
 * EOPNOTSUPP: this kernel cannot (semaphores, files on this file
 * system), or this step.  ENOEXEC: this kernel would crash a 32-bit program that hits it.
 * EPERM: the caller's rights, see above; or the kernel is locked down (confidentiality).
 * EBADF: @fd.
 */
struct memtap_attach {
	__u32 size;
	__u32 kind;
	__u32 flags;
	__s32 fd;
	__aligned_u64 offset;
	__aligned_u64 ref_ctr;
	__aligned_u64 config;
	__u32 event;
	__u32 way;
	char name[MEMTAP_NAME_LEN];
	__u32 op;
	__u32 family;
	__u8 size_arg;
	__u8 size2_arg;
	__u8 ptr_arg;
	__u8 result_arg;
	__u32 hold_ms;
	__u32 moved;
	__u32 nr_steps;
	__aligned_u64 steps_ptr;
	__aligned_u64 texts_ptr;
	__u32 texts_len;
	__u32 nr_entry;
	__u32 nr_shown;
	__u16 value_slot;
	__u16 by_slot;
	__u32 value_unit;
	__u16 by_mask;
	__u16 text_max;
	__aligned_u64 end_config;
};

/**
 * struct memtap_run - MEMTAP_START and MEMTAP_STOP
 * @size:	sizeof(struct memtap_run)
 * @flags:	0
 *
 * START allocates the tables and attaches the built-in events; if one of them
 * cannot be attached in any way, nothing is, and the errno is that of its hook.
 * ENXIO: MEMTAP_CFG_ROWS, and this kernel does not tell how mappings change.
 * After STOP has returned, nothing changes any more.
 */
struct memtap_run {
	__u32 size;
	__u32 flags;
};

/**
 * struct memtap_stats - MEMTAP_STATS: one event of this session, now
 * @size:	sizeof(struct memtap_stats)
 * @event:	in, id in this session
 * @seen:	out, times it happened since MEMTAP_START
 * @counted, @filtered: out
 * @lost:	out, by MEMTAP_LOST_*
 * @part:	out, by MEMTAP_PART_*
 * @own:	out, of @filtered: by MEMTAP_CFG_NOT_SELF, and for no other reason
 *
 * While the session runs, the numbers are from slightly different moments.
 * ENOENT: no such event here.
 */
struct memtap_stats {
	__u32 size;
	__u32 event;
	__aligned_u64 seen;
	__aligned_u64 counted;
	__aligned_u64 filtered;
	__aligned_u64 lost[MEMTAP_LOST_SLOTS];
	__aligned_u64 part[MEMTAP_PART_SLOTS];
	__aligned_u64 own;
};

/*
 * Unwinding by rows.  A row says how the caller's frame is found from a place in
 * a file's code to the next row's; what it says is one of the table's rules.
 * This is x86-64's: the CFA is the stack pointer before the call, the return
 * address is just below it.
 *
 * Registers have DWARF's numbers (x86-64 psABI, figure 3.36): 3 rbx, 6 rbp, 7
 * rsp, 8 .. 15.  rbx, rbp and rsp are known in each frame, the others only in
 * the innermost one.
 */
#define MEMTAP_RULE_GAP		0	/* nothing is known of this code: by rbp, where that
					 * leads to a frame's record beyond doubt */
#define MEMTAP_RULE_NONE	1	/* known, but it cannot be expressed here */
#define MEMTAP_RULE_END		2	/* outermost frame */
#define MEMTAP_RULE_CFA		3	/* CFA = reg + cfa */
#define MEMTAP_RULE_DEREF	4	/* CFA = *(reg + cfa) + add */
#define MEMTAP_RULE_PLT		5	/* CFA = rsp + cfa + 8 * ((rip & 15) >= add) */
#define MEMTAP_RULE_SIGNAL	6	/* rsp points to a struct ucontext, which has
					 * the registers of what was interrupted */
#define MEMTAP_RULE_FP		7	/* all of this code keeps frame pointers: CFA
					 * = rbp + 16, rbp below the return address */
#define MEMTAP_NR_RULE		8

#define MEMTAP_RULE_FP_SAVED	(1U << 0)	/* caller's rbp: at CFA + fp */
#define MEMTAP_RULE_FP_AT_FP	(1U << 1)	/* it is at rbp + fp */
#define MEMTAP_RULE_BX_SAVED	(1U << 2)	/* caller's rbx: at CFA + bx */
#define MEMTAP_RULE_BX_AT_FP	(1U << 3)	/* it is at rbp + bx */
#define MEMTAP_RULE_RA_REG	(1U << 4)	/* return address: in register @ra; else
						 * it is at CFA + ra */
#define MEMTAP_RULE_SWITCH	(1U << 5)	/* CFA only: the caller is on another stack,
						 * which may lie anywhere */

/**
 * struct memtap_rule - how to find a caller's frame
 * @kind:	MEMTAP_RULE_*
 * @reg:	CFA, DEREF: register, 0 .. 15
 * @flags:	mask of MEMTAP_RULE_*_*; without those of a register, the caller
 *		has the same value in it.  0 unless CFA, DEREF, PLT
 * @reserved:	0
 * @cfa, @add, @fp, @bx: see there; from -(1 << 30) to 1 << 30
 * @ra:		-8, or the number of a register (0 .. 15)
 */
struct memtap_rule {
	__u8 kind;
	__u8 reg;
	__u8 flags;
	__u8 reserved;
	__s32 cfa;
	__s32 add;
	__s32 fp;
	__s32 bx;
	__s32 ra;
};

#define MEMTAP_MAX_ROWS		(1U << 24)	/* of a table */
#define MEMTAP_MAX_RULES	(1U << 16)

#define MEMTAP_TABLE_VDSO	(1U << 0)	/* of the code that the kernel maps into
						 * 64-bit processes: offsets from its
						 * start; @fd is -1 */

/**
 * struct memtap_table - MEMTAP_TABLE: the rows of one file
 * @size:	sizeof(struct memtap_table)
 * @flags:	MEMTAP_TABLE_VDSO or 0
 * @fd:		the file, open for reading; only used during the call
 * @nr_rows:	1 .. MEMTAP_MAX_ROWS
 * @nr_rules:	1 .. MEMTAP_MAX_RULES
 * @file:	out, id of the file in this session's records, 0 for the vdso
 * @rows_ptr:	address of @nr_rows __u32: offsets in the file where rows begin,
 *		strictly ascending.  A row ends where the next begins, the last
 *		one never; before the first is a gap
 * @kinds_ptr:	address of @nr_rows __u16: index of each row's rule
 * @rules_ptr:	address of @nr_rules struct memtap_rule
 * @bytes:	out, what the session was charged for it
 *
 * After MEMTAP_CONFIGURE, until MEMTAP_STOP; holds from now on in each process
 * that the session sees.  A module keeps one copy of equal tables.
 *
 * EBUSY: not in this state, or configured without MEMTAP_CFG_ROWS.  EEXIST: this
 * file has a table.  EINVAL: a row or a rule breaks what is said above.  EBADF:
 * @fd.  EDQUOT: @mem_unwind is used up.  ENOSPC: no room for another file
 * (@mem_tasks).  EPERM: needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN: with false rows
 * a stack would be words of memory.
 */
struct memtap_table {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 nr_rows;
	__u32 nr_rules;
	__u32 file;
	__aligned_u64 rows_ptr;
	__aligned_u64 kinds_ptr;
	__aligned_u64 rules_ptr;
	__aligned_u64 bytes;
};

/**
 * struct memtap_wanted - MEMTAP_WANTED: a mapped file that has no table yet
 * @size:	sizeof(struct memtap_wanted)
 * @flags:	0
 * @file:	in, the last one's id, 0 to begin; out, id in this session's records
 * @pid:	out, a process that mapped it, in the caller's PID namespace; 0: not
 *		known, or not visible there
 * @start, @end: out, where, as the names in /proc/PID/map_files have it
 * @cut:	out, stacks that ended there for want of it
 * @path_ptr:	address of @path_len bytes, 16 .. 4096
 * @path_len:	in
 * @reserved:	0
 *
 * The path is as the process saw it, cut to @path_len, and ends with 0.  Files
 * come in the order in which they were met.  poll() says POLLPRI when there is
 * one that was not asked for.
 *
 * ENOENT: no more.  EBUSY: the session does not run, or was configured without
 * MEMTAP_CFG_ROWS.
 */
struct memtap_wanted {
	__u32 size;
	__u32 flags;
	__u32 file;
	__s32 pid;
	__aligned_u64 start;
	__aligned_u64 end;
	__aligned_u64 cut;
	__aligned_u64 path_ptr;
	__u32 path_len;
	__u32 reserved;
};

/* What became of a call, in struct memtap_call. */
#define MEMTAP_CALL_FAILED	(1U << 0)	/* nothing was handed out */
#define MEMTAP_CALL_UNKNOWN	(1U << 1)	/* what it freed was not known */
#define MEMTAP_CALL_MISMATCH	(1U << 2)	/* there is a MISMATCH record of it */
#define MEMTAP_CALL_SKIPPED	(1U << 3)	/* not kept: sampling, no room */
#define MEMTAP_CALL_IRQ		(1U << 4)	/* in an interrupt, whomever that came upon */

/**
 * struct memtap_call - MEMTAP_TRACE: one call of an allocator
 * @ns:		when it returned; frees: when it was called
 * @addr:	block handed out, or 0
 * @size:	bytes asked for; frees: of the block, 0 if not known
 * @old:	block taken back, or to be taken back by a call that did not; or 0
 * @flags:	MEMTAP_CALL_*
 */
struct memtap_call {
	__aligned_u64 ns;
	__aligned_u64 addr;
	__aligned_u64 size;
	__aligned_u64 old;
	__s32 pid;
	__s32 tid;
	__u32 event;
	__u32 flags;
	__u32 ustack;
	__u32 cpu;
	char comm[MEMTAP_COMM_LEN];
};

/**
 * struct memtap_trace - MEMTAP_TRACE: calls that were not read yet
 * @size:	sizeof(struct memtap_trace)
 * @nr:		in, room in calls; out, how many there are
 * @calls_ptr:	address of @nr struct memtap_call, in order of @ns on each CPU
 * @lost:	out, calls since START that there was no room for
 *
 * Each call is given once, here or by MEMTAP_EVENTS, which is the same with an order of time
 * and poll().  EBUSY: before START, or without MEMTAP_CFG_TRACE.
 */
struct memtap_trace {
	__u32 size;
	__u32 nr;
	__aligned_u64 calls_ptr;
	__aligned_u64 lost;
};

/**
 * struct memtap_one - one event
 * @len:	bytes, with the arguments; a multiple of 8
 * @event:	its id in the session
 * @known:	mask of the arguments that are shown and were there: they follow, in their
 *		order; a number takes 8 bytes; a string a byte with its length, itself, and
 *		zeros up to a multiple of 8
 * @ns:		when it happened; a RETURN, when it returned
 * @kstack, @ustack, @task: as in a COUNTER
 * @flags:	MEMTAP_KEY_*
 * @reserved:	0
 * @value:	in the event's unit, or that of the argument that was made it; or 0
 *
 * A call of an allocator (MEMTAP_CFG_TRACE) has four numbers as arguments: what struct
 * memtap_call calls @addr, @size, @old and @flags.  Its value is @size.  Of the kernel's
 * objects (OBJECTS) there are those that pass the filter and are handed out, with @kstack,
 * and those of them that were kept and are taken back, without.
 */
struct memtap_one {
	__u32 len;
	__u16 event;
	__u16 known;
	__aligned_u64 ns;
	__s32 pid;
	__s32 tid;
	__u32 kstack;
	__u32 ustack;
	__u32 cpu;
	__u32 flags;
	__u32 task;
	__u32 reserved;
	__s64 value;			/* aligned by its place */
	char comm[MEMTAP_COMM_LEN];
};

/**
 * struct memtap_events - MEMTAP_EVENTS: events that were not read yet
 * @size:	sizeof(struct memtap_events)
 * @room:	in, bytes at @ones_ptr, 4096 at least
 * @ones_ptr:	address of @room bytes, which become struct memtap_one of one CPU after
 *		the other, those of each CPU in the order of @ns
 * @used:	out, bytes
 * @more:	out, 1: there was no room for all
 * @safe_ns:	out, with @more 0: what is read later happened later than this
 *
 * Each event is given once; one that does not fit into its CPU's ring is MEMTAP_LOST_RING.
 * poll() says POLLIN while there are some.  EBUSY: before START, or without MEMTAP_CFG_RING
 * and MEMTAP_CFG_TRACE.
 */
struct memtap_events {
	__u32 size;
	__u32 room;
	__aligned_u64 ones_ptr;
	__u32 used;
	__u32 more;
	__aligned_u64 safe_ns;
};

#define MEMTAP_HELD_REGS	17
#define MEMTAP_HELD_DEATH	0xffffffffU	/* for an event: MEMTAP_CFG_DEATHS */
#define MEMTAP_HELD_EXEC	0xfffffffeU	/* MEMTAP_CFG_EXECS */

/**
 * struct memtap_held - MEMTAP_HELD: a thread that waits at a MEMTAP_ATTACH_HOLD
 * @size:	sizeof(struct memtap_held)
 * @release:	in, a thread that may go on (as @tid was given), or 0
 * @tid, @pid:	out, the one that waits longest, in the caller's PID namespace
 *		(0: not visible there)
 * @event:	out, where it waits: id of the event, or MEMTAP_HELD_*
 * @id:		out, tells waits apart
 * @release_id:	in, its @id
 * @space:	out, its address space, as in SPACE records; 0: it has none there
 * @look:	in, a thread of @pid whose registers are wanted; 0: of @tid
 * @nr_regs:	out, how many of @regs are known, which are the first ones; 0: there is no
 *		such thread, or it is no program's of this machine's own size of words
 * @regs:	out, with what that thread left user mode, by DWARF's numbers (x86-64: 0 to
 *		15, and 16, where it is); what cannot be an address there is 0
 *
 * The registers of a thread that waits or sleeps are what it has, but for those that a
 * kernel before 4.17 does not save at a system call: then they are anything.  Who runs
 * had them when it entered the kernel last.
 *
 * Nobody waits longer than @hold_ms of its probe, nor after STOP, nor when it is
 * to be killed; with MEMTAP_HELD_DEATH, nor when the OOM killer wants its memory.
 * poll() says POLLPRI while somebody waits.
 *
 * ENOENT: nobody waits (any more).  EBUSY: before START.  EPERM: needs CAP_BPF beside
 * CAP_PERFMON, or CAP_SYS_ADMIN.
 */
struct memtap_held {
	__u32 size;
	__u32 release;
	__s32 tid;
	__s32 pid;
	__u32 event;
	__u32 id;
	__u32 release_id;
	__u32 space;
	__s32 look;
	__u32 nr_regs;
	__aligned_u64 regs[MEMTAP_HELD_REGS];
};

/*
 * OOM kills.  From the moment the module is loaded it records each choice of an OOM victim, and
 * keeps the last MEMTAP_OOM_KEPT records, also while no process has the device open.  A record is
 * made in the task whose allocation failed (the trigger), before the victim is signalled, without
 * allocating.  Where the kernel kills no process there is no record:
 * a panic (vm.panic_on_oom), tasks that wait
 * instead
 * (memory.oom_control of cgroup v1), an allocation that merely fails.
 *
 * Sizes are in bytes.  What could not be known is MEMTAP_OOM_UNKNOWN.
 */
#define MEMTAP_OOM_KEPT		32
#define MEMTAP_OOM_FRAMES	64	/* of each stack */
#define MEMTAP_OOM_FILES	12	/* that the user stack is in */
#define MEMTAP_OOM_ZONES	16
#define MEMTAP_OOM_ORDERS	16	/* of free blocks */
#define MEMTAP_OOM_TOP		10	/* largest processes */
#define MEMTAP_OOM_MEMBERS	16	/* of a cgroup that was killed as a whole */
#define MEMTAP_OOM_PATH		128
#define MEMTAP_OOM_LONG_PATH	1024
#define MEMTAP_OOM_UNKNOWN	(~0ULL)

#define MEMTAP_CONSTRAINT_NONE		0	/* the whole machine */
#define MEMTAP_CONSTRAINT_CPUSET	1	/* the nodes of a cpuset */
#define MEMTAP_CONSTRAINT_POLICY	2	/* the nodes of a memory policy */
#define MEMTAP_CONSTRAINT_MEMCG		3	/* the limit of a cgroup */
#define MEMTAP_NR_CONSTRAINT		4

#define MEMTAP_OOM_KILLED	(1U << 0)	/* the victim was sent its signal; else it was
						 * already on its way out */
#define MEMTAP_OOM_UNSEEN	(1U << 1)	/* this kernel does not tell whether it was */
#define MEMTAP_OOM_DONE		(1U << 2)	/* nothing will be added to the record */
#define MEMTAP_OOM_SYSRQ	(1U << 3)	/* somebody asked for it: SysRq f */
#define MEMTAP_OOM_NO_MAPS	(1U << 4)	/* the trigger's mappings were being changed: its
						 * user stack is addresses */
#define MEMTAP_OOM_MADE		(1U << 5)	/* tool: made by hand, to be looked at */
#define MEMTAP_OOM_ALLOCATING	(1U << 6)	/* the trigger had to be the victim:
						 * vm.oom_kill_allocating_task */
#define MEMTAP_OOM_PERMILLE	(1U << 7)	/* this kernel says @points in thousandths of
						 * @allowed, rounded down (before v5.9) */
#define MEMTAP_OOM_TWICE	(1U << 8)	/* more processes share memory than the record has
						 * room for: some of it may be counted twice */
#define MEMTAP_OOM_CHILD	(1U << 9)	/* a child of the victim, @members[0], was killed
						 * in its place (before v5.1) */
#define MEMTAP_OOM_LOGGED	(1U << 10)	/* tool: read from a saved kernel log, which does
						 * not have everything */

/* tool: why the rest of the user stack is not known (@urest) */
#define MEMTAP_OOM_REST_KNOWN	0	/* the stack is complete, or it was not unwound from a copy:
					 * @uflags say why it ends */
#define MEMTAP_OOM_REST_AWAY	1	/* a page of the stack was not in memory (swapped out) */
#define MEMTAP_OOM_REST_BEYOND	2	/* it is beyond the bytes that are copied */
#define MEMTAP_OOM_REST_ELSEWHERE 3	/* it is in another stack, which is not copied */
#define MEMTAP_OOM_REST_NO_MAP	4	/* an address is in no mapping that is known */
#define MEMTAP_OOM_REST_NO_FILE	5	/* a file is gone, was replaced, or cannot be read */
#define MEMTAP_OOM_REST_NO_ROW	6	/* a file says nothing about how to go on */
#define MEMTAP_OOM_REST_CHAIN	7	/* it leads nowhere */
#define MEMTAP_OOM_REST_DEPTH	8	/* there are more than MEMTAP_OOM_FRAMES */
#define MEMTAP_OOM_REST_COMPAT	9	/* a 32-bit program: by frame pointers alone */
#define MEMTAP_OOM_REST_NO_MAPS	10	/* the mappings were being changed: nothing is copied */
#define MEMTAP_NR_OOM_REST	11

#define MEMTAP_OOM_TASK_KTHREAD	(1U << 0)
#define MEMTAP_OOM_TASK_SIZED	(1U << 1)	/* its memory is known */
#define MEMTAP_OOM_TASK_DYING	(1U << 2)	/* it had been killed, or exits */
#define MEMTAP_OOM_TASK_ADMIN	(1U << 3)	/* it has CAP_SYS_ADMIN, for which this kernel may
						 * count 3 % less (before v4.17) */
#define MEMTAP_OOM_TASK_SPARED	(1U << 4)	/* the kernel may not kill it for this: init, or a
						 * process whose cpuset has other nodes */

/** struct memtap_oom_task - a process */
struct memtap_oom_task {
	__s32 pid;			/* the kernel's tgid */
	__s32 tid;			/* of the thread; else as @pid */
	__s32 ns_pid;			/* as @pid, in its own PID namespace */
	__s32 score_adj;
	__u32 uid;
	__u32 flags;			/* MEMTAP_OOM_TASK_* */
	__aligned_u64 start_ns;
	__aligned_u64 virt;
	__aligned_u64 anon;
	__aligned_u64 file;
	__aligned_u64 shmem;
	__aligned_u64 swap;
	__aligned_u64 tables;		/* page tables */
	__aligned_u64 cgroup;		/* inode of the directory in the hierarchy that has the
					 * memory controller; 0: none */
	char comm[MEMTAP_COMM_LEN];
};

/** struct memtap_oom_zone - a zone, when the killer was called */
struct memtap_oom_zone {
	__u32 node;
	__u32 nr_orders;		/* of @blocks */
	char name[16];
	__aligned_u64 managed;
	__aligned_u64 free;
	__aligned_u64 min;		/* its watermarks */
	__aligned_u64 low;
	__aligned_u64 high;
	__aligned_u64 blocks[MEMTAP_OOM_ORDERS];	/* free ones, of 1 << order pages */
};

/** struct memtap_oom_frame - of the user stack, as in a STACK record */
struct memtap_oom_frame {
	__aligned_u64 ip;
	__aligned_u64 offset;		/* in the file */
	__u32 file;			/* 1 + index of @files; 0: not known, or in none */
	__u32 reserved;
};

struct memtap_oom_file {
	__aligned_u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	char path[MEMTAP_OOM_PATH];	/* as the trigger saw it, its end if it is longer; "": not
					 * known */
};

/* What the kernel counts, of the whole machine; bytes */
#define MEMTAP_VM_FREE		0
#define MEMTAP_VM_ANON		1	/* mapped */
#define MEMTAP_VM_FILE		2	/* page cache, with @SHMEM */
#define MEMTAP_VM_SHMEM		3	/* tmpfs, memfd, SysV, anonymous and shared */
#define MEMTAP_VM_DIRTY		4
#define MEMTAP_VM_WRITEBACK	5
#define MEMTAP_VM_UNEVICTABLE	6
#define MEMTAP_VM_SLAB		7	/* that cannot be reclaimed */
#define MEMTAP_VM_SLAB_RECLAIMABLE 8
#define MEMTAP_VM_TABLES	9	/* page tables */
#define MEMTAP_VM_STACKS	10	/* kernel stacks */
#define MEMTAP_VM_SWAP_FREE	11
#define MEMTAP_VM_LOCKED	12	/* mlock(); part of @UNEVICTABLE */
#define MEMTAP_VM_HUGE		13	/* set aside as huge pages of hugetlbfs; this and those
					 * below are read a moment later, @later_ns */
#define MEMTAP_VM_HUGE_FREE	14	/* of them, those that nobody uses */
#define MEMTAP_VM_PERCPU	15
#define MEMTAP_NR_VM		16
#define MEMTAP_VM_SLOTS		24	/* room for more */

/* What a cgroup is charged for, with those below it, as its memory.stat says; bytes */
#define MEMTAP_CHARGED_ANON	0
#define MEMTAP_CHARGED_FILE	1	/* page cache, with @SHMEM */
#define MEMTAP_CHARGED_SHMEM	2	/* tmpfs, memfd, SysV, anonymous and shared */
#define MEMTAP_CHARGED_KERNEL	3	/* all kernel memory; the kinds below are in it */
#define MEMTAP_CHARGED_STACKS	4	/* kernel stacks */
#define MEMTAP_CHARGED_TABLES	5	/* page tables */
#define MEMTAP_CHARGED_PERCPU	6
#define MEMTAP_CHARGED_VMALLOC	7
#define MEMTAP_CHARGED_SLAB	8	/* that cannot be reclaimed */
#define MEMTAP_CHARGED_SLAB_RECLAIMABLE 9
#define MEMTAP_CHARGED_SOCKETS	10	/* buffers of TCP, UDP ...; not in @KERNEL */
#define MEMTAP_CHARGED_UNEVICTABLE 11	/* of ANON and FILE: that cannot be reclaimed */
#define MEMTAP_NR_CHARGED	12
#define MEMTAP_CHARGED_SLOTS	24	/* room for more */

/* What reclaim did; pages, but for STALLS */
#define MEMTAP_RECLAIM_SCAN_KSWAPD	0
#define MEMTAP_RECLAIM_SCAN_DIRECT	1
#define MEMTAP_RECLAIM_STEAL_KSWAPD	2
#define MEMTAP_RECLAIM_STEAL_DIRECT	3
#define MEMTAP_RECLAIM_STALLS		4	/* times that somebody had to reclaim itself */
#define MEMTAP_RECLAIM_SWAP_IN		5
#define MEMTAP_RECLAIM_SWAP_OUT		6
#define MEMTAP_NR_RECLAIM		7
#define MEMTAP_RECLAIM_SLOTS		12

/**
 * struct memtap_oom_record - one OOM kill
 * @size:	bytes of this structure, as the module has it
 * @flags:	MEMTAP_OOM_*
 * @nr:		counts from 1, since the module was loaded
 * @ns, @real_ns: when, CLOCK_MONOTONIC and CLOCK_REALTIME
 * @gfp, @gfp_text: what the trigger asked for, and what the kernel calls that ("": it has no
 *		names)
 * @order:	1 << order pages; -1: with MEMTAP_OOM_SYSRQ
 * @constraint:	MEMTAP_CONSTRAINT_*
 * @nodes:	mask of the first 64 nodes that were allowed; 0: all
 * @points:	of the victim, out of @allowed: bytes by which it was chosen, as the kernel reckons:
 *		anon + file + shmem + swap + page tables + score_adj thousandths of @allowed.
 *		Negative where score_adj is low; before v5.9 MEMTAP_OOM_PERMILLE and 0 at least.
 *		0 with MEMTAP_OOM_ALLOCATING; -1: it had asked to be killed first (swapoff)
 * @allowed:	memory that was allowed, swap included, as the kernel reckons it
 * @limit:	CONSTRAINT_MEMCG: of the cgroup; @usage: what was charged to it
 * @limit_cgroup: its inode, @limit_path: its path
 * @message:	the first words of the kernel's own message
 * @load:	averages over 1, 5 and 15 minutes, by 1000
 * @total:	memory of all zones
 * @page_size, @nr_cpus: of the machine
 * @trigger, @trigger_path, @victim, @victim_path: with the paths of their cgroups
 * @top:	largest processes, of those that could be killed for this (CONSTRAINT_MEMCG:
 *		in the cgroup), by anon + file + shmem + swap + page tables, @nr_top of them; of
 *		several that have the same memory (CLONE_VM) one, the victim if it is among them
 * @members:	others that were killed with the victim (memory.oom.group), the first of
 *		@nr_members
 * @sharing:	other processes that had the victim's memory: killed, too
 * @processes:	looked at, of those; @unread: whose memory could not be asked for at that moment;
 *		@unlooked: not looked at, there were too many
 * @held:	by the processes that were looked at: anon + swap, each page as often as it is
 *		mapped; memory that several of them have (CLONE_VM) once
 * @same:	of them, those that are called as the victim, and @same_held
 * @counters:	by MEMTAP_VM_*, @nr_counters of them
 * @reclaim:	by MEMTAP_RECLAIM_*, in the @reclaim_ms before; 0 ms: not known
 * @zones:	@nr_zones of them; there may have been more
 * @kflags, @uflags: MEMTAP_STACK_*
 * @kstack, @ustack: the trigger's, innermost frame first
 * @urest:	0; tool: MEMTAP_OOM_REST_*
 * @nodes_total, @node_counters: as @total and @counters, of the nodes that were allowed;
 *		CONSTRAINT_CPUSET and CONSTRAINT_POLICY
 * @locked:	of @top: what each has locked (mlock()), whether it was touched or not
 * @charged:	CONSTRAINT_MEMCG: by MEMTAP_CHARGED_*, @nr_charged of them
 * @killed_ns:	from @ns until the victim was sent its signal; 0: that was not seen
 * @later_ns:	from @ns until @charged, or what @counters has from then, was read: the victim
 *		may have given back some; 0: it was not read, @later_errno says why
 * @limit_long:	@limit_path, of any length that there is room for
 */
struct memtap_oom_record {
	__u32 size;
	__u32 flags;
	__aligned_u64 nr;
	__aligned_u64 ns;
	__aligned_u64 real_ns;
	__aligned_u64 gfp;
	__s32 order;
	__u32 constraint;
	__aligned_u64 nodes;
	__s64 points;			/* aligned by its place */
	__aligned_u64 allowed;
	__aligned_u64 limit;
	__aligned_u64 usage;
	__aligned_u64 limit_cgroup;
	__aligned_u64 total;
	__u32 load[3];
	__u32 page_size;
	__u32 nr_cpus;
	__u32 nr_top;
	__u32 nr_members;
	__u32 nr_zones;
	__u32 sharing;
	__u32 processes;
	__u32 unread;
	__u32 unlooked;
	__aligned_u64 held;
	__aligned_u64 same_held;
	__u32 same;
	__u32 nr_counters;
	__u32 nr_reclaim;
	__u32 reclaim_ms;
	__u32 nr_kstack;
	__u32 kflags;
	__u32 nr_ustack;
	__u32 uflags;
	__u32 nr_files;
	__u32 urest;
	char message[64];
	char gfp_text[96];
	char limit_path[MEMTAP_OOM_PATH];
	char trigger_path[MEMTAP_OOM_PATH];
	char victim_path[MEMTAP_OOM_PATH];
	struct memtap_oom_task trigger;
	struct memtap_oom_task victim;
	struct memtap_oom_task top[MEMTAP_OOM_TOP];
	struct memtap_oom_task members[MEMTAP_OOM_MEMBERS];
	struct memtap_oom_zone zones[MEMTAP_OOM_ZONES];
	__aligned_u64 counters[MEMTAP_VM_SLOTS];
	__aligned_u64 reclaim[MEMTAP_RECLAIM_SLOTS];
	__aligned_u64 kstack[MEMTAP_OOM_FRAMES];
	struct memtap_oom_frame ustack[MEMTAP_OOM_FRAMES];
	struct memtap_oom_file files[MEMTAP_OOM_FILES];
	__aligned_u64 nodes_total;
	__aligned_u64 node_counters[MEMTAP_VM_SLOTS];
	__aligned_u64 locked[MEMTAP_OOM_TOP];
	__aligned_u64 charged[MEMTAP_CHARGED_SLOTS];
	__aligned_u64 killed_ns;
	__aligned_u64 later_ns;
	__u32 later_errno;
	__u32 nr_charged;
	char limit_long[MEMTAP_OOM_LONG_PATH];
};

#define MEMTAP_OOM_COPIED	16384	/* bytes of the trigger's user stack that are kept */
#define MEMTAP_OOM_COPY_PAGE	4096	/* they are copied page by page */
#define MEMTAP_OOM_MAPS		48
#define MEMTAP_OOM_MAP_FILES	32
#define MEMTAP_OOM_REGS		20

#define MEMTAP_OOM_COPY_COMPAT	(1U << 0)	/* a 32-bit program */
#define MEMTAP_OOM_COPY_NO_MAPS	(1U << 1)	/* mappings were being changed: nothing is copied */
#define MEMTAP_OOM_COPY_MORE	(1U << 2)	/* there was no room for more mappings or files */
#define MEMTAP_OOM_COPY_ALL	(1U << 3)	/* up to the end of the stack's mapping */

#define MEMTAP_OOM_KNOWN_FP	(1U << 0)	/* known: fp, */
#define MEMTAP_OOM_KNOWN_BX	(1U << 1)	/* bx, */
#define MEMTAP_OOM_KNOWN_ALL	(1U << 2)	/* and all of @regs */

#define MEMTAP_OOM_MAP_VDSO	(~0U)		/* @file: the code that the kernel maps */

/** struct memtap_oom_map - executable, and the copy has an address in it */
struct memtap_oom_map {
	__aligned_u64 start;
	__aligned_u64 end;
	__aligned_u64 offset;		/* of @start in the file */
	__u32 file;			/* 1 + index of @files; 0: no file, or no room for it;
					 * MEMTAP_OOM_MAP_VDSO */
	__u32 reserved;
};

/**
 * struct memtap_oom_stack - the trigger's user registers and the beginning of its user stack
 * @size:	bytes of this structure, as the module has it
 * @flags:	MEMTAP_OOM_COPY_*
 * @nr:		of the record
 * @ip, @sp, @fp, @bx: with which it left user mode; @ip 0: nothing is known
 * @known:	MEMTAP_OOM_KNOWN_*
 * @nr_regs, @regs: by DWARF's numbers; what is no address of user mode is 0
 * @start:	address of @bytes, a bit below @sp
 * @len:	of @bytes
 * @missing:	bit N: the Nth page that they are in was not in memory; its bytes are 0
 * @nr_maps, @maps: in no order; @nr_files, @files: mapped there
 *
 * So that the stack can be unwound by the call frame information of its files when the process
 * is gone.  The copy is made without faults: no page is read from a disk for it.  It has
 * contents of the process's memory: MEMTAP_OOM gives it, and nothing else does.
 */
struct memtap_oom_stack {
	__u32 size;
	__u32 flags;
	__aligned_u64 nr;
	__aligned_u64 ip;
	__aligned_u64 sp;
	__aligned_u64 fp;
	__aligned_u64 bx;
	__u32 known;
	__u32 nr_regs;
	__aligned_u64 regs[MEMTAP_OOM_REGS];
	__aligned_u64 start;
	__u32 len;
	__u32 missing;
	__u32 nr_maps;
	__u32 nr_files;
	struct memtap_oom_map maps[MEMTAP_OOM_MAPS];
	struct memtap_oom_file files[MEMTAP_OOM_MAP_FILES];
	__u8 bytes[MEMTAP_OOM_COPIED];
};

/**
 * struct memtap_oom - MEMTAP_OOM: the next record of an OOM kill
 * @size:	sizeof(struct memtap_oom)
 * @flags:	0
 * @nr:		in, of the last one, 0 to begin; out, of this one
 * @record_ptr:	address of @record_len bytes, which become a struct memtap_oom_record, cut to them
 * @record_len:	in, 8 at least; out, what the whole record takes
 * @reserved:	0
 * @lost:	out, records between the last one and this one that were overwritten
 * @waiting:	out, 1: there is a later one
 * @reserved2:	0
 * @stack_ptr:	address of @stack_len bytes, which become a struct memtap_oom_stack, cut to them.
 *		MEMTAP_FEATURE_OOM_STACK
 * @stack_len:	in, 0: it is not wanted, else 8 at least; out, what all of it takes
 * @reserved3:	0
 *
 * EPERM: @stack_len needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN: contents of a process's
 * memory.
 *
 * In any state of the session.  A record is given when the victim has been sent its signal and
 * nothing more was added for a twentieth of a second, or where that does not happen ten seconds
 * after it was made.  ENOENT: no more, or not yet.
 */
struct memtap_oom {
	__u32 size;
	__u32 flags;
	__aligned_u64 nr;
	__aligned_u64 record_ptr;
	__u32 record_len;
	__u32 reserved;
	__aligned_u64 lost;
	__u32 waiting;
	__u32 reserved2;
	__aligned_u64 stack_ptr;
	__u32 stack_len;
	__u32 reserved3;
};

/*
 * Notices.  The module has a family of generic netlink with one multicast group, in the initial
 * network namespace.  Until v5.12 the kernel lets every process join a group, also one in PID and
 * user namespaces of its own.  So a message has no name and no PID: its command says what
 * happened, its one attribute has the number by which the device tells the rest, to those who may
 * open it.  A listener that does not read loses messages, and netlink tells it so (ENOBUFS).
 */
#define MEMTAP_GENL_NAME	"memtap"
#define MEMTAP_GENL_GROUP	"events"
#define MEMTAP_GENL_VERSION	2

#define MEMTAP_NOTICE_OOM	1	/* NR: for MEMTAP_OOM */
#define MEMTAP_NOTICE_FULL	2	/* a session has no room any more: once for each of its
					 * events.  NR: for MEMTAP_NOTICE */
#define MEMTAP_NOTICE_STALL	3	/* a process waited for reclaim longer than the module's
					 * parameter stall_ms says.  NR: for MEMTAP_NOTICE */
#define MEMTAP_NR_NOTICE	4

#define MEMTAP_NA_NR		1	/* u64 */
#define MEMTAP_NR_NA		2

#define MEMTAP_NOTICES_KEPT	64

/**
 * struct memtap_notice - MEMTAP_NOTICE: what a notice is about
 * @size:	sizeof(struct memtap_notice)
 * @kind:	out, MEMTAP_NOTICE_FULL or STALL
 * @nr:		in, the notice's number
 * @value:	out, FULL: events so far that there was no room for; STALL: ns
 * @dropped:	out, STALL: notices of the kind before it that were dropped, because they came
 *		too fast
 * @session:	out, FULL: number of the session, as debugfs has it
 * @pid:	out, STALL: the process that waited; FULL: the one that opened the session
 * @comm:	out, its name
 * @event:	out, name of the event
 * @reason:	out, FULL: as MEMTAP_LOST_* or MEMTAP_PART_* are called
 *
 * In any state of the session.  ENOENT: there is no such notice (any more): the last
 * MEMTAP_NOTICES_KEPT of all are kept.
 */
struct memtap_notice {
	__u32 size;
	__u32 kind;
	__aligned_u64 nr;
	__aligned_u64 value;
	__aligned_u64 dropped;
	__u32 session;
	__s32 pid;
	char comm[MEMTAP_COMM_LEN];
	char event[MEMTAP_NAME_LEN];
	char reason[32];
};

#define MEMTAP_CACHE_LEN	48	/* names of caches, with the terminating 0 */

#define MEMTAP_RECORDED_WAITS	1	/* @name: an event; its waits since its hook was attached */
#define MEMTAP_RECORDED_WAITER	2	/* the same, of one process */
#define MEMTAP_RECORDED_EVENT	3	/* @name: an event that the flight recorder counts */
#define MEMTAP_RECORDED_OBJECTS	4	/* @name: a cache, or pages; objects that it tracks */

/**
 * struct memtap_recorded_row - sums that only grow, since @since_ns
 * @kind:	MEMTAP_RECORDED_*
 * @unit:	of @sum, MEMTAP_UNIT_*
 * @pid:	WAITER: the process, in the initial PID namespace
 * @reserved:	0
 * @since_ns:	CLOCK_MONOTONIC.  Another value: these sums began anew then
 * @start_ns:	WAITER: when the process began, CLOCK_MONOTONIC
 * @count:	waits that are over, events, or allocations
 * @sum:	of their values: how long, or how much.  Of events it may be negative
 * @freed:	OBJECTS: those that were freed, older ones too,
 * @freed_sum:	and their bytes
 * @lost:	how many more could not be recorded
 * @longest_ns:	the longest wait,
 * @longest_at_ns: and when it was over
 * @comm:	WAITER: the process's name when it waited last
 * @name:	ends with 0
 *
 * For each event that is a wait the 64 processes are kept that waited last.
 */
struct memtap_recorded_row {
	__u32 kind;
	__u32 unit;
	__s32 pid;
	__u32 reserved;
	__aligned_u64 since_ns;
	__aligned_u64 start_ns;
	__aligned_u64 count;
	__s64 sum;			/* aligned by its place */
	__aligned_u64 freed;
	__aligned_u64 freed_sum;
	__aligned_u64 lost;
	__aligned_u64 longest_ns;
	__aligned_u64 longest_at_ns;
	char comm[MEMTAP_COMM_LEN];
	char name[MEMTAP_CACHE_LEN];
};

#define MEMTAP_MAX_RECORDED	1024

/**
 * struct memtap_recorded - MEMTAP_RECORDED: what is summed up without a session of the caller's
 * @size:	sizeof(struct memtap_recorded)
 * @flags:	0
 * @nr:		in, rows there is room for, 1 to MEMTAP_MAX_RECORDED; out, how many there are,
 *		which may be more
 * @reserved:	0
 * @rows_ptr:	address of the rows
 * @now_ns:	out, CLOCK_MONOTONIC before they were read
 *
 * In any state of the session.  Waits are counted while their hook is attached by anybody, the
 * rest by the flight recorder.  What is being started or stopped now is left out.
 */
struct memtap_recorded {
	__u32 size;
	__u32 flags;
	__u32 nr;
	__u32 reserved;
	__aligned_u64 rows_ptr;
	__aligned_u64 now_ns;
};

#define MEMTAP_OBJECTS_MOVABLE	(1U << 0)	/* also pages that may be moved (__GFP_MOVABLE):
						 * nearly all are programs', or of files */

/**
 * struct memtap_objects - MEMTAP_OBJECTS: which objects of the kernel are kept
 * @size:	sizeof(struct memtap_objects)
 * @flags:	MEMTAP_OBJECTS_MOVABLE, or 0
 * @start, @end: those whose stack has an address in [@start, @end), such as a module's
 *		code; 0 and 0: all.  Needs MEMTAP_CFG_KSTACK
 * @cache:	those of caches whose name matches it (* and ?); "": all.  Ends with 0
 * @orders:	of pages, those in blocks of these orders: 1 << order; 0: all
 * @reserved:	0
 *
 * What does not match is filtered.  After CONFIGURE, before START; the last one counts.
 *
 * EBUSY: not in this state, or without MEMTAP_CFG_OBJECTS.
 */
struct memtap_objects {
	__u32 size;
	__u32 flags;
	__aligned_u64 start;
	__aligned_u64 end;
	char cache[MEMTAP_CACHE_LEN];
	__u32 orders;
	__u32 reserved;
};

/* What a word is that objects have in common. */
#define MEMTAP_SIMILAR_SYMBOL	0	/* an address of the kernel's code or data */
#define MEMTAP_SIMILAR_NUMBER	1	/* less than 65 536 */
#define MEMTAP_SIMILAR_OTHER	2	/* what it is is not told */

struct memtap_similar_word {
	__u32 offset;			/* in the object */
	__u32 kind;			/* MEMTAP_SIMILAR_* */
	__aligned_u64 value;		/* of a NUMBER; else 0 */
	char name[MEMTAP_CACHE_LEN];	/* of a SYMBOL: "symbol+0x10 [module]" */
};

#define MEMTAP_SIMILAR_WORDS	8

/**
 * struct memtap_similar - MEMTAP_SIMILAR: objects from before that look like those that are kept
 * @size:	sizeof(struct memtap_similar)
 * @flags:	0
 * @cache:	in, id of a CACHE record of kind MEMTAP_CACHE_SLAB
 * @stack:	in, of the objects that others are compared with; 0: any
 * @budget:	in, pages of the machine that are looked at, at most; 0: 1 048 576
 * @survivors:	out, kept objects that were compared, 64 at most
 * @survivors_alike: out, of them, those that have three quarters of the common words
 * @common:	out, words that three quarters of them have in common, in their first 512 bytes,
 *		but zeros
 * @nr_words:	out, those of @at
 * @reserved:	0
 * @pages:	out, pages that the machine has
 * @looked:	out, of them looked at
 * @slabs:	out, slabs of the cache that were found there,
 * @places:	out, and places for objects in them: that are in use, and that are free
 * @kept:	out, of those what the session keeps
 * @unread:	out, others that could not be read
 * @alike:	out, others that have three quarters of the common words
 * @at:		out, the common words, symbols first
 *
 * A likeness: a place that is free has what its last object was.  Memory is read by copies
 * that do not fault, while all goes on.
 *
 * ENODATA: less than four such objects, or they have nothing in common.  EOPNOTSUPP: what slabs
 * of this kernel look like is not known.  EPERM: needs CAP_BPF
 * beside CAP_PERFMON, or CAP_SYS_ADMIN; or the kernel is locked down (confidentiality).
 * EBUSY: the session does not run, or is without MEMTAP_CFG_OBJECTS.
 */
struct memtap_similar {
	__u32 size;
	__u32 flags;
	__u32 cache;
	__u32 stack;
	__u32 budget;
	__u32 survivors;
	__u32 survivors_alike;
	__u32 common;
	__u32 nr_words;
	__u32 reserved;
	__aligned_u64 pages;
	__aligned_u64 looked;
	__aligned_u64 slabs;
	__aligned_u64 places;
	__aligned_u64 kept;
	__aligned_u64 unread;
	__aligned_u64 alike;
	struct memtap_similar_word at[MEMTAP_SIMILAR_WORDS];
};

#define MEMTAP_SYMBOL_LEN	256

/**
 * struct memtap_symbol - MEMTAP_SYMBOL: what the kernel calls an address of its code
 * @size:	sizeof(struct memtap_symbol)
 * @reserved:	0
 * @addr:	of a return address the one before it
 * @text:	out, "FUNCTION+0xOFFSET/0xSIZE", of a module's " [MODULE]" behind it; cut, and
 *		terminated by 0; empty: it has no name
 *
 * In any state of the session.  For who needs a few names now: the list of all of them
 * (/proc/kallsyms) takes a hundred million instructions to be put together.  EPERM: needs
 * CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN: names tell where the kernel was loaded (KASLR).
 */
struct memtap_symbol {
	__u32 size;
	__u32 reserved;
	__aligned_u64 addr;
	char text[MEMTAP_SYMBOL_LEN];
};

#define MEMTAP_MAX_AGES		64	/* regions that one call tells of */

/*
 * A region of MEMTAP_REGION_PAGES pages, bit by bit.  What is not present has no bit in
 * @touched.
 */
struct memtap_ages_region {
	__aligned_u64 page;		/* the first one's number: address >> 12 */
	__aligned_u64 present[8];
	__aligned_u64 touched[8];	/* since their accessed bits were cleared */
};

#define MEMTAP_AGES_FLUSH	(1U << 0)	/* read nothing: empty all processors' caches of
						 * translations, so that what is used from now
						 * on is marked again */

/**
 * struct memtap_ages - MEMTAP_AGES: which pages a process has, and has used
 * @size:	sizeof(struct memtap_ages)
 * @flags:	0, or MEMTAP_AGES_FLUSH; the rest is 0 then
 * @pid:	whose, as the caller's PID namespace numbers it
 * @nr:		room for so many regions, 1 .. MEMTAP_MAX_AGES; out: so many were told, which
 *		may be none before the end
 * @page:	from this page on; out: from where to go on, 0: that was all
 * @regions_ptr: address of @nr struct memtap_ages_region
 *
 * In any state of the session; nothing is changed.  Who wants to know what is used within
 * some time clears the accessed bits (1 into /proc/PID/clear_refs), flushes, waits, and asks.
 * hugetlbfs and device memory are left out.
 *
 * ESRCH: there is no such process, or it has no memory.  EAGAIN: its mappings were locked for
 * too long.  EPERM: needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN.
 */
struct memtap_ages {
	__u32 size;
	__u32 flags;
	__s32 pid;
	__u32 nr;
	__aligned_u64 page;
	__aligned_u64 regions_ptr;
};

#define MEMTAP_MARK_LEN		32	/* of a name, with the terminating 0 */
#define MEMTAP_MAX_MARKS	64	/* of a session */

#define MEMTAP_MARK_DRAIN	(1U << 0)	/* what is handed out from now on is not kept, but
						 * filtered; only this session.  What a realloc()
						 * moves stays the block that it was */
#define MEMTAP_MARK_OTHERS	(1U << 1)	/* not this session: all others that can have one */
#define MEMTAP_MARK_EVENT	(1U << 2)	/* before START: not this moment, but each at which
						 * @event happens; the mark is where it was last */
#define MEMTAP_MARK_COARSE	(1U << 3)	/* in records: @event came more often than the clock
						 * of births ticks.  What was born some ticks
						 * before it may count as born after it */

/**
 * struct memtap_mark - MEMTAP_MARK: a moment gets a name
 * @size:	sizeof(struct memtap_mark)
 * @flags:	MEMTAP_MARK_*
 * @pid:	OTHERS: only those whose filter names this process; 0: all
 * @marked:	out, sessions that have the mark now,
 * @had:	out, others that had one of this name already, which stays where it was,
 * @full:	out, and those that have no room for it
 * @name:	not empty; ends with 0
 * @event:	EVENT: of ATTACH with MEMTAP_ATTACH_MARK; several may set one mark.  Else 0
 * @reserved:	0
 *
 * OTHERS leaves out sessions that the caller has not the right to use.
 *
 * Of a session that runs and keeps what is allocated (MEMTAP_CFG_LIVE, OBJECTS): whatever
 * was handed out before the call began is born before the mark, whatever is handed out after
 * it returned is not.  Its snapshots have a MARK record.  MEMTAP_FEATURE_MARKS.
 *
 * EBUSY: the session does not run (EVENT: it does), or keeps nothing.  EEXIST: it has a mark of
 * this name.  ENOSPC: it has MEMTAP_MAX_MARKS.  With OTHERS none of these.  ENOENT: it has no such
 * @event.
 */
struct memtap_mark {
	__u32 size;
	__u32 flags;
	__u32 pid;
	__u32 marked;
	__u32 had;
	__u32 full;
	char name[MEMTAP_MARK_LEN];
	__u32 event;
	__u32 reserved;
};

#define MEMTAP_MAX_OTHER_ROWS	65536

#define MEMTAP_OTHER_RUNNING	(1U << 0)	/* it was started, and not stopped */
#define MEMTAP_OTHER_RECORDER	(1U << 1)	/* the module's own: the flight recorder */
#define MEMTAP_OTHER_LIVE	(1U << 2)	/* it keeps live blocks of programs */
#define MEMTAP_OTHER_HIDDEN	(1U << 3)	/* the caller has not the right to use it: its
						 * accounts and rows are 0 */
#define MEMTAP_OTHER_BUSY	(1U << 4)	/* it was in a call: the same, try again */

/**
 * struct memtap_other_row - live blocks of a process, as another session keeps them
 * @blocks:	that are allocated and not freed; of a session that samples, an estimate
 * @bytes:	the same
 * @pid:	the process, in the initial PID namespace
 * @comm:	its name now; empty: it is ending
 */
struct memtap_other_row {
	__aligned_u64 blocks;
	__aligned_u64 bytes;
	__s32 pid;
	__u32 reserved;
	char comm[MEMTAP_COMM_LEN];
};

/**
 * struct memtap_other - MEMTAP_OTHER: enumerate the other sessions, with their accounts
 * @size:	sizeof(struct memtap_other)
 * @nr:		in, the number of the session before, 0: of the first; out, this one's
 * @flags:	out, MEMTAP_OTHER_*
 * @pid:	out, the process that opened it
 * @comm:	out, its name then
 * @nr_rows:	in, room for rows, at most MEMTAP_MAX_OTHER_ROWS; 0: blocks are not summed up,
 *		which takes time for each block.  Out, how many there are: processes that run and
 *		have live blocks
 * @reserved:	0
 * @rows_ptr:	in, where rows go
 * @memory:	out, bytes of its tables
 * @seen, @counted, @filtered, @lost: out, sums of all its events, as in struct memtap_stats
 * @sample_bytes, @sample_rate: out, as it was configured: not both 0 where @blocks and @bytes
 *		of rows are estimates
 *
 * While a session runs, the numbers are from slightly different moments.
 * In any state of the caller's session.  ENOENT: there is no other one after @nr.
 */
struct memtap_other {
	__u32 size;
	__u32 nr;
	__u32 flags;
	__s32 pid;
	char comm[MEMTAP_COMM_LEN];
	__u32 nr_rows;
	__u32 reserved;
	__aligned_u64 rows_ptr;
	__aligned_u64 memory;
	__aligned_u64 seen;
	__aligned_u64 counted;
	__aligned_u64 filtered;
	__aligned_u64 lost[MEMTAP_LOST_SLOTS];
	__aligned_u64 sample_bytes;
	__u32 sample_rate;
	__u32 reserved2;
};

#define MEMTAP_IOC_TYPE		0xB5
#define MEMTAP_INFO		_IO(MEMTAP_IOC_TYPE, 0)
#define MEMTAP_EVENT		_IO(MEMTAP_IOC_TYPE, 1)
#define MEMTAP_HOOK		_IO(MEMTAP_IOC_TYPE, 2)
#define MEMTAP_CONFIGURE	_IO(MEMTAP_IOC_TYPE, 3)
#define MEMTAP_ATTACH		_IO(MEMTAP_IOC_TYPE, 4)
#define MEMTAP_START		_IO(MEMTAP_IOC_TYPE, 5)
#define MEMTAP_STOP		_IO(MEMTAP_IOC_TYPE, 6)
#define MEMTAP_STATS		_IO(MEMTAP_IOC_TYPE, 7)
#define MEMTAP_TABLE		_IO(MEMTAP_IOC_TYPE, 8)
#define MEMTAP_WANTED		_IO(MEMTAP_IOC_TYPE, 9)
#define MEMTAP_TRACE		_IO(MEMTAP_IOC_TYPE, 10)
#define MEMTAP_HELD		_IO(MEMTAP_IOC_TYPE, 11)
#define MEMTAP_EVENTS		_IO(MEMTAP_IOC_TYPE, 12)
#define MEMTAP_OOM		_IO(MEMTAP_IOC_TYPE, 13)
#define MEMTAP_OBJECTS		_IO(MEMTAP_IOC_TYPE, 14)
#define MEMTAP_FIELD		_IO(MEMTAP_IOC_TYPE, 15)
#define MEMTAP_SIMILAR		_IO(MEMTAP_IOC_TYPE, 16)
#define MEMTAP_SYMBOL		_IO(MEMTAP_IOC_TYPE, 17)
#define MEMTAP_MARK		_IO(MEMTAP_IOC_TYPE, 19)
#define MEMTAP_AGES		_IO(MEMTAP_IOC_TYPE, 20)
#define MEMTAP_NOTICE		_IO(MEMTAP_IOC_TYPE, 21)
#define MEMTAP_OTHER		_IO(MEMTAP_IOC_TYPE, 22)
#define MEMTAP_RECORDED		_IO(MEMTAP_IOC_TYPE, 23)

/*
 * read() gives one snapshot of the session: records, the last of which is END.
 * Then it returns 0 once, and the next read() begins a new snapshot.  Any
 * buffer size will do.  Reading disturbs nothing: counters only grow, an
 * interval is the difference of two snapshots.  EBUSY before MEMTAP_START.
 * poll(): POLLIN when events were counted since the last END was read; POLLPRI
 * when some were lost since then, or for MEMTAP_WANTED, MEMTAP_HELD or MEMTAP_OOM; POLLHUP when
 * the session is stopped.
 *
 * Records are multiples of 8 bytes; a reader skips types it does not know and
 * ignores what is longer than it knows.  They may come in any order between
 * HEADER and END; the module sends what refers before what is referred to, so
 * that every id in a snapshot is explained in the same snapshot.
 *
 * A .memtap file is these bytes, followed by records of the tool (types from
 * MEMTAP_REC_TOOL on) and a second END record for them.
 */
struct memtap_rec {
	__u32 type;		/* MEMTAP_REC_* */
	__u32 len;		/* bytes, this header included; multiple of 8 */
};

#define MEMTAP_REC_HEADER	1
#define MEMTAP_REC_EVENT	2
#define MEMTAP_REC_HOOK		3
#define MEMTAP_REC_COUNTER	4
#define MEMTAP_REC_STACK	5
#define MEMTAP_REC_TASK		6
#define MEMTAP_REC_MAP		7
#define MEMTAP_REC_FILE		8
#define MEMTAP_REC_MEMORY	9
#define MEMTAP_REC_BLOCKS	10
#define MEMTAP_REC_HEAP		11
#define MEMTAP_REC_SPACE	12
#define MEMTAP_REC_MISMATCH	13
#define MEMTAP_REC_END		15
#define MEMTAP_REC_PENDING	16
#define MEMTAP_REC_CACHE	19
#define MEMTAP_REC_GONE		20
#define MEMTAP_REC_TOUCHED	21
#define MEMTAP_REC_TOUCHED_SUM	22
#define MEMTAP_REC_MARK		23
#define MEMTAP_REC_PEAKS	24
#define MEMTAP_REC_PEAK		25
#define MEMTAP_REC_TOOL		64
#define MEMTAP_REC_KSYM		65
#define MEMTAP_REC_NOTE		66
#define MEMTAP_REC_USYM		67
#define MEMTAP_REC_REACH	68
#define MEMTAP_REC_OOM		69
#define MEMTAP_REC_SPAN		70
#define MEMTAP_REC_LIVED	71
#define MEMTAP_REC_FIELDS	72
#define MEMTAP_REC_SAMPLE	73
#define MEMTAP_REC_RECORDED	74
#define MEMTAP_REC_HOST		80
#define MEMTAP_REC_HELD		81

#define MEMTAP_MAGIC		0x0a0d50415454454dULL	/* "METTAP\r\n" */

/** struct memtap_rec_header - always first */
struct memtap_rec_header {
	struct memtap_rec rec;
	__aligned_u64 magic;		/* also tells the byte order */
	__u32 flags;			/* MEMTAP_CFG_* of the session */
	__u32 depth;
	__u32 page_size;
	__u32 nr_cpus;
	__u32 machine;			/* ELF's e_machine of the kernel */
	__u32 running;			/* 1: the session was not stopped */
	__aligned_u64 start_ns;		/* MEMTAP_START */
	__aligned_u64 now_ns;		/* of this snapshot, or MEMTAP_STOP */
	__aligned_u64 real_ns;		/* CLOCK_REALTIME at now_ns */
	__u32 addr_shift;
	__u32 reserved;
	char release[64];		/* of the kernel */
	char version[32];		/* of the module */
	char host[64];
	__aligned_u64 sample_bytes;	/* as configured */
	__u32 sample_rate;
	__u32 reserved2;
};

/** struct memtap_rec_event - one event of the session, with its accounts */
struct memtap_rec_event {
	struct memtap_rec rec;
	__u32 id;
	__u32 unit;			/* MEMTAP_UNIT_* */
	__u32 way;			/* MEMTAP_WAY_* of its first hook */
	__u32 flags;			/* MEMTAP_ATTACH_RETURN */
	__aligned_u64 seen;
	__aligned_u64 counted;
	__aligned_u64 filtered;
	__aligned_u64 lost[MEMTAP_LOST_SLOTS];
	__aligned_u64 part[MEMTAP_PART_SLOTS];
	char group[16];
	char name[MEMTAP_NAME_LEN];
	__aligned_u64 own;		/* as in struct memtap_stats */
};

/** struct memtap_rec_hook - one hook that serves the session's events */
struct memtap_rec_hook {
	struct memtap_rec rec;
	__u32 event;			/* id in this session */
	__u32 state;
	__u32 error;
	__u32 way;
	__aligned_u64 hits;
	__aligned_u64 missed;
	char target[MEMTAP_NAME_LEN];
};

/* flags of a counter's key */
#define MEMTAP_KEY_KERNEL	(1U << 0)	/* caused in kernel mode */
#define MEMTAP_KEY_FAILED	(1U << 1)	/* the call returned an error */
#define MEMTAP_KEY_IRQ		(1U << 2)	/* in an interrupt: the task is the
						 * one that was interrupted */
#define MEMTAP_KEY_HUGE		(1U << 3)	/* page faults: mapped huge pages */
#define MEMTAP_KEY_PART		(1U << 4)	/* the value is the least that it can be:
						 * page faults that may have mapped more
						 * than the one page that they count for */
#define MEMTAP_KEY_READONLY	(1U << 5)	/* mappings: of what may be read or executed,
						 * not written */
#define MEMTAP_KEY_RESERVED	(1U << 6)	/* the same, neither: PROT_NONE */
#define MEMTAP_KEY_GROSS	(1U << 7)	/* the value is as the call's arguments say: what
						 * was mapped there before is not known */
#define MEMTAP_KEY_UNKNOWN	(1U << 8)	/* what events are told apart by was not
						 * there */
#define MEMTAP_NR_KEY		9

/**
 * struct memtap_rec_counter - events with the same key, on one CPU
 * The key is (event, flags, task, kstack, ustack, addr).  @sum and @max are of
 * the value, in the event's unit; @max is 0 if none was positive.  With
 * MEMTAP_CFG_HIST, @nr_hist buckets follow: [0] values <= 0, [i] values from
 * 1 << (i - 1) to (1 << i) - 1; trailing zeros are left out.  Behind them, where the
 * record is that long, are the least and the greatest value, signed numbers of 64 bits:
 * MEMTAP_FEATURE_EXPRESSIONS.
 */
struct memtap_rec_counter {
	struct memtap_rec rec;
	__u32 event;
	__u32 flags;			/* MEMTAP_KEY_* */
	__u32 task;
	__u32 kstack;
	__u32 ustack;
	__u32 cpu;
	__aligned_u64 addr;		/* address >> addr_shift; with MEMTAP_CFG_FILES
					 * the id of a FILE record, MEMTAP_FILE_*; with
					 * MEMTAP_CFG_MAPPINGS also MEMTAP_MAPPING_* << 32;
					 * or 0 */
	__aligned_u64 count;
	__s64 sum;			/* aligned by its place */
	__aligned_u64 max;
	__u32 nr_hist;
	__u32 number;			/* MEMTAP_CFG_TOUCHED: by which places name it */
	__aligned_u64 hist[];
};

#define MEMTAP_STACK_NONE	0	/* there is none, or it was not asked for */
#define MEMTAP_STACK_LOST	1	/* the store was full: "stack not kept" */
/* tool: of pages whose fault was not seen (MEMTAP_CFG_TOUCHED): */
#define MEMTAP_STACK_BEFORE	2	/* they were there when the session started */
#define MEMTAP_STACK_UNSEEN	3	/* they came since, and nobody's fault told */
#define MEMTAP_STACK_FIRST	8

#define MEMTAP_STACK_USER	(1U << 0)
#define MEMTAP_STACK_COMPAT	(1U << 1)	/* of a 32-bit task */
#define MEMTAP_STACK_DEPTH	(1U << 2)	/* cut, as in MEMTAP_PART_* */
#define MEMTAP_STACK_FAULT	(1U << 3)
#define MEMTAP_STACK_CHAIN	(1U << 4)
#define MEMTAP_STACK_TRAMPOLINE	(1U << 5)
#define MEMTAP_STACK_ENTRY	(1U << 6)	/* ip[0] is a probed instruction, not
						 * a return address; always so for
						 * user stacks, else see below */
#define MEMTAP_STACK_NOMAP	(1U << 7)	/* cut, as in MEMTAP_PART_* */
#define MEMTAP_STACK_NOTABLE	(1U << 8)
#define MEMTAP_STACK_NOROW	(1U << 9)
#define MEMTAP_STACK_ROWS	(1U << 10)	/* walked by rows: whole, down to where
						 * the thread began, unless it is cut */
#define MEMTAP_STACK_FP		(1U << 11)	/* with MEMTAP_STACK_ROWS: some frames
						 * have frame pointers and no rows */
#define MEMTAP_STACK_TEXT	(1U << 12)	/* no stack: ip[] are the bytes of a
						 * string, zeros behind it */
#define MEMTAP_STACK_KEYS	(1U << 13)	/* no stack: ip[0] is the mask of the slots
						 * that are known, behind it is what they
						 * have, as in struct memtap_one */

/**
 * struct memtap_rec_stack - an interned stack, innermost frame first
 * All frames but the first are return addresses: to name the caller, look up
 * ip - 1.  The first is so too unless MEMTAP_STACK_ENTRY is set.  Where a signal
 * interrupted code, walking by rows puts the address of the next instruction
 * plus 1, so that this holds there, too.
 */
struct memtap_rec_stack {
	struct memtap_rec rec;
	__u32 id;
	__u32 flags;			/* MEMTAP_STACK_* */
	__u32 nr;
	__u32 era;			/* user stacks: see struct memtap_rec_map */
	__aligned_u64 ip[];
};

#define MEMTAP_TASK_NONE	0	/* no task: kernel threads' idle, boot */
#define MEMTAP_TASK_LOST	1	/* the store was full: "task not kept" */
#define MEMTAP_TASK_FIRST	8

#define MEMTAP_TASK_KTHREAD	(1U << 0)
#define MEMTAP_TASK_EXITED	(1U << 1)
#define MEMTAP_TASK_COMPAT	(1U << 2)	/* 32-bit */
#define MEMTAP_TASK_NOMAPS	(1U << 3)	/* its mappings could not be kept:
						 * no room, or too late */

/**
 * struct memtap_rec_task - a process, or with MEMTAP_CFG_THREADS a thread
 * A process that calls execve() is another one afterwards.  @space tells
 * address spaces apart: its value in MAP records are the mappings of this task.
 */
struct memtap_rec_task {
	struct memtap_rec rec;
	__u32 id;
	__u32 flags;			/* MEMTAP_TASK_* */
	__u32 space;
	__s32 pid;			/* of the process: the kernel's tgid */
	__s32 tid;			/* of the thread, or as @pid */
	__s32 ns_pid;			/* the same in its own PID namespace */
	__s32 ns_tid;
	__s32 ppid;
	__u32 uid;
	__u32 exec;			/* execve()s of the task so far */
	__aligned_u64 start_ns;		/* when it was forked */
	__aligned_u64 cgroup1;		/* inodes of its cgroups, or 0 */
	__aligned_u64 cgroup2;
	char comm[MEMTAP_COMM_LEN];
};

#define MEMTAP_MAP_VDSO		(1U << 0)
#define MEMTAP_MAP_GONE		(1U << 1)	/* it was unmapped */
#define MEMTAP_MAP_REUSED	(1U << 2)	/* where it is, or was, other code is known, too */

#define MEMTAP_ERA_LOST		0xffff		/* not known: nothing is, that is or could be
						 * MEMTAP_MAP_REUSED or MEMTAP_MAP_GONE */

/**
 * struct memtap_rec_map - an executable mapping of an address space
 * Other code may have been mapped where it is, before or after.  What an address of
 * a user stack is in: of those of its space that have the address, and no higher @era
 * than the stack, the one with the highest.
 */
struct memtap_rec_map {
	struct memtap_rec rec;
	__u32 space;
	__u32 file;			/* id of a FILE record; 0: anonymous */
	__u32 flags;			/* MEMTAP_MAP_* */
	__u32 era;			/* it is so from then on */
	__aligned_u64 start;
	__aligned_u64 end;
	__aligned_u64 offset;		/* in the file, bytes */
};

#define MEMTAP_FILE_NONE	0	/* the event is about none */
#define MEMTAP_FILE_LOST	1	/* there was no room for it */
/* With MEMTAP_CFG_MAPPINGS, what is in no file: */
#define MEMTAP_FILE_HEAP	2	/* what brk() made */
#define MEMTAP_FILE_STACK	3	/* of the process, not of its other threads */
#define MEMTAP_FILE_ANON	4	/* anonymous memory */
#define MEMTAP_FILE_KERNEL	5	/* what the kernel maps into processes: the vdso */
/* tool: of MEMTAP_FILE_ANON (MEMTAP_CFG_TOUCHED), */
#define MEMTAP_FILE_THREAD	6	/* stacks of threads */
#define MEMTAP_FILE_MALLOC	7	/* what malloc() of glibc mapped: arenas, large blocks */
#define MEMTAP_FILE_FIRST	8

#define MEMTAP_MAPPING_READ	(1U << 0)
#define MEMTAP_MAPPING_WRITE	(1U << 1)
#define MEMTAP_MAPPING_EXEC	(1U << 2)
#define MEMTAP_MAPPING_SHARED	(1U << 3)
#define MEMTAP_MAPPING_KNOWN	(1U << 4)	/* else none of these is */
/* tool: what the pages are (MEMTAP_CFG_TOUCHED), */
#define MEMTAP_MAPPING_HUGE	(1U << 5)	/* in huge pages, mapped as such */
#define MEMTAP_MAPPING_LAZY	(1U << 6)	/* given back by MADV_FREE, and still there */
#define MEMTAP_MAPPING_MERGED	(1U << 7)	/* merged with equal ones by KSM */

/**
 * struct memtap_rec_file - a file that is mapped somewhere, or that an event is about
 * Of the latter (MEMTAP_CFG_FILES) the path begins at the root of its file system, without
 * a slash; "" if it could not be found out.
 */
struct memtap_rec_file {
	struct memtap_rec rec;
	__u32 id;
	__u32 build_id_len;		/* 0: none, or not readable */
	__u32 dev_major;
	__u32 dev_minor;
	__aligned_u64 inode;
	__aligned_u64 inode_gen;
	__u8 build_id[24];
	char path[];			/* as the task saw it; ends with 0, padded */
};

/**
 * struct memtap_rec_pending - a call, or a PAIR, that is under way
 * Of events with steps: the entry was seen and passed, and the return has not come.  A task
 * that died inside stays there.  The stacks are the entry's; a PAIR has none yet.
 */
struct memtap_rec_pending {
	struct memtap_rec rec;
	__u32 event;
	__u32 task;
	__u32 kstack;
	__u32 ustack;
	__aligned_u64 since_ns;
};

/** struct memtap_rec_memory - what the session takes, and what did not fit */
struct memtap_rec_memory {
	struct memtap_rec rec;
	__aligned_u64 total;		/* bytes */
	__aligned_u64 stacks_size;	/* bytes there, and used */
	__aligned_u64 stacks_used;
	__aligned_u64 counters_size;	/* counters there, and used */
	__aligned_u64 counters_used;
	__aligned_u64 tasks_size;
	__aligned_u64 tasks_used;
	__aligned_u64 maps_size;	/* bytes */
	__aligned_u64 maps_used;
	__aligned_u64 maps_lost;	/* mappings or files without room */
	__aligned_u64 spaces_missed;	/* processes gone before their mappings
					 * could be read */
	__aligned_u64 children_lost;	/* forked, but no room in the filter */
	__aligned_u64 cpus_late;	/* times a CPU came online: page faults, and
					 * tracepoints by perf, that happened there
					 * in the first milliseconds were not seen */
	__aligned_u64 unwind_size;	/* MEMTAP_CFG_ROWS: mem_unwind, bytes, */
	__aligned_u64 unwind_used;	/* and what is charged of it */
	__aligned_u64 unwind_lost;	/* tables and maps without room */
	__aligned_u64 tables;		/* files that have a table */
	__aligned_u64 tables_wanted;	/* mapped files that have none */
	__aligned_u64 live_size;	/* MEMTAP_CFG_LIVE: blocks there is room for, */
	__aligned_u64 live_used;	/* and kept, most at one time */
	__aligned_u64 live_maps_size;	/* the same, mappings */
	__aligned_u64 live_maps_used;
	__aligned_u64 threads_size;	/* threads in allocators, */
	__aligned_u64 threads_used;
	__aligned_u64 spaces_lost;	/* processes without room for a SPACE: their
					 * calls are lost by LOST_LIVE */
	__aligned_u64 mismatches_lost;	/* kinds of them without room */
	__aligned_u64 trace_lost;	/* MEMTAP_CFG_TRACE: no room */
	__aligned_u64 live_lost_bytes;	/* MEMTAP_CFG_OBJECTS: of what had no room, */
	__aligned_u64 replaced;		/* objects whose end was not seen: their address */
	__aligned_u64 replaced_bytes;	/* was handed out again */
	__aligned_u64 caches_lost;	/* caches without room for a name of their own */
	__aligned_u64 gone_lost;	/* names of modules' code that were not kept when
					 * they went: no room */
};

#define MEMTAP_BLOCK_MAPPING	(1U << 0)	/* by mmap() or mremap(); may be a part of
						 * what was mapped */
#define MEMTAP_BLOCK_INNER	(1U << 1)	/* mapped by an allocator, for what it
						 * hands out: count the one or the other */
#define MEMTAP_BLOCK_KERNEL	(1U << 2)	/* an object of the kernel: @ustack is its kernel
						 * stack, @space a CACHE record's id */
/* KERNEL: how it was asked for; none of the first three: unmovable */
#define MEMTAP_BLOCK_RECLAIMABLE (1U << 3)	/* __GFP_RECLAIMABLE */
#define MEMTAP_BLOCK_MOVABLE	(1U << 4)	/* __GFP_MOVABLE */
#define MEMTAP_BLOCK_ATOMIC	(1U << 5)	/* where one must not wait */
#define MEMTAP_BLOCK_IRQ	(1U << 6)	/* in an interrupt: it is no task's */

/** struct memtap_block - allocated, and not freed */
struct memtap_block {
	__aligned_u64 addr;
	__aligned_u64 size;		/* bytes, as asked for */
	__aligned_u64 birth_ns;		/* in steps of about a millisecond */
	__u32 ustack;			/* who asked: as in a COUNTER */
	__u32 task;
	__u32 space;			/* as in a SPACE record */
	__u16 event;
	__u16 flags;			/* MEMTAP_BLOCK_* */
};

/**
 * struct memtap_rec_blocks - some of the live blocks, in no order
 * A block that lives while the snapshot is read is there once; one that comes or
 * goes meanwhile may be there or not.  With sampling only those that were kept.
 */
struct memtap_rec_blocks {
	struct memtap_rec rec;
	__u32 nr;
	__u32 reserved;
	struct memtap_block at[];
};

/**
 * struct memtap_rec_heap - what an event of a HEAP function, or of mappings, did
 * All are exact, also with sampling.  A call that both takes back and hands out
 * is in both.
 */
struct memtap_rec_heap {
	struct memtap_rec rec;
	__u32 event;
	__u32 op;			/* MEMTAP_HEAP_* */
	__u32 family;			/* MEMTAP_FAMILY_* */
	__u32 probes;			/* places that are attached */
	__aligned_u64 allocs;		/* blocks handed out, */
	__aligned_u64 bytes;		/* and their sizes */
	__aligned_u64 kept;		/* of them, kept as live, */
	__aligned_u64 kept_bytes;
	__aligned_u64 failed;		/* calls that handed out nothing */
	__aligned_u64 frees;		/* known blocks taken back, */
	__aligned_u64 freed_bytes;
	__aligned_u64 unknown;		/* others taken back, */
	__aligned_u64 null;		/* and free(NULL), where it is seen */
	__aligned_u64 inner;		/* calls within another one: among the
					 * filtered */
};

#define MEMTAP_CACHE_SLAB	1		/* a cache of the slab allocator */
#define MEMTAP_CACHE_LARGE	2		/* kmalloc() of more than its caches have */
#define MEMTAP_CACHE_OTHER	3		/* caches that there was no room for, or whose name
						 * is not known */
#define MEMTAP_CACHE_PAGES	4		/* pages, in blocks of one order.  @addr of a BLOCK
						 * is the physical address */
#define MEMTAP_CACHE_PERCPU	5		/* memory for each processor: the size is that of
						 * all of them */
#define MEMTAP_CACHE_VMALLOC	6
#define MEMTAP_CACHE_VMAP	7		/* no memory, but where some is mapped */
#define MEMTAP_NR_CACHE		7

/**
 * struct memtap_rec_cache - what the kernel's objects are of
 * All are exact, also with sampling, and about what passes the filter.  An object's size
 * is what it takes, where the kernel tells, else what was asked for.
 */
struct memtap_rec_cache {
	struct memtap_rec rec;
	__u32 id;
	__u32 kind;			/* MEMTAP_CACHE_* */
	__aligned_u64 object_size;	/* of the last object, */
	__aligned_u64 allocs;		/* objects handed out, */
	__aligned_u64 bytes;		/* and their sizes */
	__aligned_u64 frees;		/* of those that were kept, taken back, */
	__aligned_u64 freed_bytes;
	__aligned_u64 unknown;		/* others taken back: from before, not kept */
	__aligned_u64 unknown_bytes;
	__aligned_u64 lost;		/* not kept for want of room */
	__aligned_u64 lost_bytes;
	__aligned_u64 replaced;		/* whose end was not seen */
	__aligned_u64 replaced_bytes;
	char name[MEMTAP_CACHE_LEN];
	/* of @allocs, those that the kernel takes from blocks of its own for such pages: its
	 * migratetype; the others are unmovable */
	__aligned_u64 reclaimable;
	__aligned_u64 movable;
	__aligned_u64 waste;		/* of @bytes, beyond what was asked for */
	__aligned_u64 remote;		/* of @frees, those on another CPU than the allocation */
};

/**
 * struct memtap_rec_mark - a moment that has a name: MEMTAP_MARK
 * @ns:		who has this @birth_ns or a later one was born after it; 0: its event has not
 *		happened yet.  Up to a second ahead of the clock when marks follow upon each other
 * @flags:	MEMTAP_MARK_DRAIN, EVENT, COARSE
 * @name:	ends with 0
 */
struct memtap_rec_mark {
	struct memtap_rec rec;
	__aligned_u64 ns;
	__u32 flags;
	__u32 reserved;
	char name[MEMTAP_MARK_LEN];
};

/**
 * struct memtap_rec_gone - name of a kernel address that a stack has, of a module that went
 * As in a KSYM record.
 */
struct memtap_rec_gone {
	struct memtap_rec rec;
	__aligned_u64 addr;
	__aligned_u64 offset;
	char name[];
};

#define MEMTAP_PLACE_PAGES	16U

/**
 * struct memtap_place - some pages of an address space, and who mapped them last
 * @page:	number of the first one, a multiple of MEMTAP_PLACE_PAGES
 * @space:	as in a TASK record
 * @huge:	1: one huge page, of MEMTAP_REGION_PAGES, that lies there, and has @who[0].
 *		Small ones in the same place were mapped later
 * @who:	numbers of COUNTER records; 0: not known
 *
 * Nobody tells when pages go: what is not mapped any more may still be here, and
 * /proc/PID/pagemap says.  A page that is copied because it was shared is still whose it was.
 */
struct memtap_place {
	__aligned_u64 page;
	__u32 space;
	__u32 huge;
	__u32 who[MEMTAP_PLACE_PAGES];
};

/** struct memtap_rec_touched - some places, in no order */
struct memtap_rec_touched {
	struct memtap_rec rec;
	__u32 nr;
	__u32 reserved;
	struct memtap_place at[];
};

#define MEMTAP_REGION_PAGES	512U

/**
 * struct memtap_rec_touched_sum - behind them: what there was room for
 * @share:	of all regions of MEMTAP_REGION_PAGES pages 1 in 1 << share is kept, those
 *		that touchtab_of_share() of core/touchtab.c chooses by @seed; 0: all.  Places of
 *		others may be there, too
 * @size:	places there is room for, and @used: were used at one time, at most
 * @refused:	pages that had no room, by chance
 * @skipped:	pages of regions that are not kept
 * @moved:	pages that mremap() moved, and @unmoved: of a call that moved too many
 */
struct memtap_rec_touched_sum {
	struct memtap_rec rec;
	__u32 seed;
	__u32 share;
	__aligned_u64 size;
	__aligned_u64 used;
	__aligned_u64 refused;
	__aligned_u64 skipped;
	__aligned_u64 moved;
	__aligned_u64 unmoved;
};

#define MEMTAP_SPACE_START	(1U << 0)	/* watched from its execve() on */
#define MEMTAP_SPACE_FORKED	(1U << 1)	/* began as a copy of another: what that
						 * had allocated is not known here */
#define MEMTAP_SPACE_EXECED	(1U << 2)	/* gone by execve() */
#define MEMTAP_SPACE_EXITED	(1U << 3)	/* gone by exit */
#define MEMTAP_SPACE_NOT_FOLLOWED (1U << 4)	/* set by the tool: an allocator that it
						 * maps was not followed */
#define MEMTAP_NR_SPACE		5

/**
 * struct memtap_rec_space - an address space in which memory was handed out
 * Sizes are in bytes, "then" is when its first event was counted, or for what
 * was there before START, then; "now" is now, or when it was gone.
 */
struct memtap_rec_space {
	struct memtap_rec rec;
	__u32 id;
	__u32 flags;			/* MEMTAP_SPACE_* */
	__u32 task;			/* a task that had it, as in TASK records */
	__s32 pid;
	__aligned_u64 begin_ns;
	__aligned_u64 end_ns;		/* 0: not gone */
	__aligned_u64 heap_then;	/* brk - start_brk */
	__aligned_u64 heap_now;
	__aligned_u64 vm_then;		/* all mappings */
	__aligned_u64 vm_now;
	__aligned_u64 rss_then;		/* within 64 pages for each thread or CPU */
	__aligned_u64 rss_now;
	__aligned_u64 blocks;		/* kept as live, without mappings */
	__aligned_u64 bytes;
	__aligned_u64 maps;		/* mappings by the program, */
	__aligned_u64 maps_bytes;
	__aligned_u64 inner_maps;	/* and by its allocators */
	__aligned_u64 inner_bytes;
	__aligned_u64 purged;		/* blocks that went with it, and are not in
					 * BLOCKS any more */
	__aligned_u64 purged_bytes;
	__aligned_u64 unknown;		/* frees of what was not known */
	__aligned_u64 replaced;		/* blocks whose end was not seen: their
					 * address was handed out again */
	__aligned_u64 maps_reserved;	/* of maps_bytes, and of inner_bytes: what is */
	__aligned_u64 inner_reserved;	/* not writable, but only reserved */
	__aligned_u64 earlier_came;	/* of mappings from before: what allocators made */
	__aligned_u64 earlier_gone;	/* writable, and what they made no longer so */
	__aligned_u64 peak_bytes;	/* MEMTAP_CFG_PEAK: of blocks, live at most, */
	__aligned_u64 peak_number;	/* how often that rose, */
	__aligned_u64 peak_ns;		/* and when it did last; 0: never */
};

/**
 * struct memtap_peak_stack - blocks that a task of a space has allocated with one stack
 * @space:	as in a SPACE record, unless that is gone
 * @ustack, @task: as in a BLOCKS record
 * @allocs, @bytes: all that was allocated
 * @frees, @freed_bytes: of that, what was freed before the space was gone
 * @temporary:	of the frees: by the thread that had allocated the block, and nothing
 *		since; @temporary_bytes are theirs
 * @peak_blocks, @peak_bytes: that lived when most bytes of the space did,
 * @all_peak_blocks, @all_peak_bytes: and when most of all spaces together did
 *
 * Mappings are no blocks here.  An allocation counts when it returns, a free when it is
 * called, realloc() when it returns: it frees and allocates at once.  Calls of different
 * threads have one order: that of their probes.  In this order the peaks are exact, if no call
 * was lost: the first moment when so much lived.
 */
struct memtap_peak_stack {
	__u32 space;
	__u32 ustack;
	__u32 task;
	__u32 reserved;
	__aligned_u64 allocs;
	__aligned_u64 bytes;
	__aligned_u64 frees;
	__aligned_u64 freed_bytes;
	__aligned_u64 temporary;
	__aligned_u64 temporary_bytes;
	__aligned_u64 peak_blocks;
	__aligned_u64 peak_bytes;
	__aligned_u64 all_peak_blocks;
	__aligned_u64 all_peak_bytes;
};

/**
 * struct memtap_rec_peaks - MEMTAP_CFG_PEAK: some stacks, in no order
 * Of a session that was stopped, all stacks add up to the peaks, but for those that had no
 * room.  While it runs, a peak may come between two records.
 */
struct memtap_rec_peaks {
	struct memtap_rec rec;
	__u32 nr;
	__u32 reserved;
	struct memtap_peak_stack at[];
};

/**
 * struct memtap_rec_peak - MEMTAP_CFG_PEAK: all spaces together
 * @bytes:	of blocks that live
 * @peak_bytes, @peak_number, @peak_ns: as in a SPACE record
 * @size, @used: stacks there is room for, and that are kept
 * @lost:	allocations that had no room for their stack: they count here, and in their
 *		space
 */
struct memtap_rec_peak {
	struct memtap_rec rec;
	__aligned_u64 bytes;
	__aligned_u64 peak_bytes;
	__aligned_u64 peak_number;
	__aligned_u64 peak_ns;
	__aligned_u64 size;
	__aligned_u64 used;
	__aligned_u64 lost;
};

#define MEMTAP_MISMATCH_DOUBLE	1	/* free of what was freed just before */
#define MEMTAP_MISMATCH_UNKNOWN	2	/* of what was never handed out */
#define MEMTAP_MISMATCH_FAMILY	3	/* new ... free() */
#define MEMTAP_NR_MISMATCH	3

/** struct memtap_rec_mismatch - frees that cannot be right, of one kind and place */
struct memtap_rec_mismatch {
	struct memtap_rec rec;
	__u32 kind;			/* MEMTAP_MISMATCH_* */
	__u32 event;			/* that freed */
	__u32 task;
	__u32 alloc_event;		/* that handed it out; ~0: not known */
	__u32 stack;			/* of this free, */
	__u32 alloc_stack;		/* of what handed it out, or 0, */
	__u32 free_stack;		/* DOUBLE: of the first free, or 0 */
	__u32 reserved;
	__aligned_u64 addr;		/* the first such block */
	__aligned_u64 size;
	__aligned_u64 count;
	__aligned_u64 ns;		/* of the first */
};

/**
 * struct memtap_rec_end - always last; without it the bytes are incomplete
 * @records:	records in this snapshot (or of the tool), this one included
 * @count:	sum of @count of all COUNTER records
 * @checksum:	FNV-1a, 64 bits, over the 8-byte little-endian words of all
 *		records before this one: h = (h ^ word) * 0x100000001b3, from
 *		0xcbf29ce484222325
 */
struct memtap_rec_end {
	struct memtap_rec rec;
	__aligned_u64 records;
	__aligned_u64 count;
	__aligned_u64 checksum;
};

/** struct memtap_rec_ksym - tool: name of a kernel address that a stack has */
struct memtap_rec_ksym {
	struct memtap_rec rec;
	__aligned_u64 addr;		/* as in the stack */
	__aligned_u64 offset;		/* from the start of the symbol */
	char name[];			/* "symbol" or "symbol [module]", 0, padded */
};

#define MEMTAP_USYM_CALL	(1U << 0)	/* @ip is a return address there */
#define MEMTAP_USYM_INLINED	(1U << 1)	/* into the next one */

/**
 * struct memtap_rec_usym - tool: name of a user address that a stack has
 * Several for one (@space, @era, @ip, MEMTAP_USYM_CALL) where calls were inlined, the
 * innermost first: what no later look at the files could tell, once programs
 * and the maps of JIT compilers are gone.
 */
struct memtap_rec_usym {
	struct memtap_rec rec;
	__u32 space;
	__u32 flags;			/* MEMTAP_USYM_* */
	__aligned_u64 ip;		/* as in the stack */
	__aligned_u64 addr;		/* in the object */
	__aligned_u64 offset;		/* from the start of the symbol */
	__u32 line;			/* of the source, or 0 */
	__u32 era;			/* of the MAP that @ip is in, or 0 */
	char text[];			/* name, object, source file, and the name before
					 * demangling, if that differs: each ends with 0,
					 * and may be empty; padded */
};

/* As Memcheck tells them. */
#define MEMTAP_REACH_DEFINITE	1	/* nothing points to it */
#define MEMTAP_REACH_INDIRECT	2	/* only what is lost itself points to it */
#define MEMTAP_REACH_POSSIBLE	3	/* something points into it, not to its start */
#define MEMTAP_REACH_REACHABLE	4	/* it could still have been freed */
#define MEMTAP_NR_REACH		4

/**
 * struct memtap_rec_reach - tool: live blocks of one kind, when their process ended
 * Found by reading its memory.  @addr are those of blocks in BLOCKS records that
 * are not MEMTAP_BLOCK_INNER.  What no such record names was not examined.
 */
struct memtap_rec_reach {
	struct memtap_rec rec;
	__u32 space;			/* as in a SPACE record */
	__u32 kind;			/* MEMTAP_REACH_* */
	__u32 nr;
	__u32 reserved;
	__aligned_u64 addr[];
};

#define MEMTAP_HELD_NAME	240

/**
 * struct memtap_rec_held - tool: live blocks of one kind, and with one holder
 * @space:	as in a SPACE record
 * @nr:		blocks
 * @kind:	what they are, as `memtap heap` says it
 * @holder:	what holds them, the same; both end with 0
 * @addr:	as of a REACH record
 */
struct memtap_rec_held {
	struct memtap_rec rec;
	__u32 space;
	__u32 nr;
	char kind[MEMTAP_HELD_NAME];
	char holder[MEMTAP_HELD_NAME];
	__aligned_u64 addr[];
};

/**
 * struct memtap_rec_oom - tool: an OOM kill during the recording
 * Names for its stacks are KSYM records, and USYM records in the space MEMTAP_OOM_SPACE(N), of
 * the Nth OOM record of the file.
 */
struct memtap_rec_oom {
	struct memtap_rec rec;
	struct memtap_oom_record record;
};

/* A space that no process has. */
#define MEMTAP_OOM_SPACE(n)	(0xf0000000U + (n))

/*
 * A history (`memtap history`) is a file whose first half is HEADER and END alone.  NOTE records
 * and a FIELDS record follow, and then SAMPLE records; what is recorded between two samples stands
 * before the second.  END is there when the file was closed in order; a file that was not may end
 * in zeros, which are room for more, or within a record.
 */

/**
 * struct memtap_rec_fields - tool: which numbers the rows of samples have
 * @check:	the checksum, as of END, of all records up to this one, with 0 here
 * @text:	for each table its name, then those of its numbers, each with a 0 behind it, and an
 *		empty one; behind the last table one more
 * The same name may be there several times: the first, the second ... of them.
 */
struct memtap_rec_fields {
	struct memtap_rec rec;
	__aligned_u64 check;
	char text[];
};

#define MEMTAP_SAMPLE_KEY	(1U << 0)	/* does not need the sample before it */

/**
 * struct memtap_rec_sample - tool: the machine's memory at one moment
 * @check:	the checksum, as of END, of the records behind the last sample and of this one, with
 *		0 here
 * @nr:		one more than that of the sample before; 0 is the file's first
 * @ns:		CLOCK_MONOTONIC
 * @boot_ns:	CLOCK_BOOTTIME, which goes on while the machine is suspended
 * @real_ns:	CLOCK_REALTIME
 * @used:	bytes of @data
 * @data:	for each table of FIELDS: what became of the rows of the sample before (of none,
 *		with KEY), in their order.  Numbers are LEB128; of signed ones the sign is the
 *		lowest bit (zigzag).  An operation is count << 3 | kind:
 *			0	@count rows are the same; count 0 ends the table
 *			1	@count rows are no more
 *			2	one row changed: its numbers follow
 *			3	a new row: length and bytes of two texts, its numbers
 *			4	@count rows are still there, and are not kept
 *		Numbers: for each that changed its distance from the last one, from 1 on, and
 *		by how much it changed (signed, of a new row from 0); 0 ends them.
 */
struct memtap_rec_sample {
	struct memtap_rec rec;
	__aligned_u64 check;
	__aligned_u64 nr;
	__aligned_u64 ns;
	__aligned_u64 boot_ns;
	__aligned_u64 real_ns;
	__u32 flags;			/* MEMTAP_SAMPLE_* */
	__u32 used;
	__u8 data[];
};

/**
 * struct memtap_rec_recorded - tool: what MEMTAP_RECORDED had more than the last time
 * Stands before the sample that was taken then.
 * @from_ns:	CLOCK_MONOTONIC of the last time,
 * @until_ns:	and of this one
 * @nr:		rows
 * @used:	bytes of @data
 * @data:	of each row: how many numbers follow; numbers: kind, unit, pid, from when on, start,
 *		count, sum (signed), freed, freed_sum, lost, longest (0: it was not in this
 *		time); length and bytes of its process's name, and of its own.  Numbers are as
 *		in a SAMPLE.  From when on: ns behind @from_ns since which it was recorded; 0:
 *		all of the time
 */
struct memtap_rec_recorded {
	struct memtap_rec rec;
	__aligned_u64 from_ns;
	__aligned_u64 until_ns;
	__u32 nr;
	__u32 used;
	__u8 data[];
};

/** struct memtap_span_row - what was counted with one key in a part of the time */
struct memtap_span_row {
	__u32 event;			/* this and the next ones: as in a COUNTER */
	__u32 flags;
	__u32 task;
	__u32 kstack;
	__u32 ustack;
	__u32 reserved;
	__aligned_u64 addr;
	__aligned_u64 count;
	__s64 sum;			/* aligned by its place */
};

/**
 * struct memtap_rec_span - tool: what was counted from @start_ns until @end_ns
 * In the order of time, and one begins where the one before it ended: together they are what
 * the counters have.  The same key may be there several times: such add up.
 */
struct memtap_rec_span {
	struct memtap_rec rec;
	__aligned_u64 start_ns;
	__aligned_u64 end_ns;
	__u32 nr;
	__u32 reserved;
	struct memtap_span_row at[];
};

/**
 * struct memtap_lived_row - what became of live blocks with one key in a part of the time
 * @flags:	MEMTAP_BLOCK_MAPPING, or 0: as blocks have it, and the next two
 * @blocks:	that were new when somebody looked; @bytes are theirs
 * @freed:	that had gone since the last look; @freed_bytes are theirs
 * What came and went between two looks is in neither.
 */
struct memtap_lived_row {
	__u32 flags;
	__u32 task;
	__u32 ustack;
	__u32 reserved;
	__aligned_u64 blocks;
	__aligned_u64 bytes;
	__aligned_u64 freed;
	__aligned_u64 freed_bytes;
};

/**
 * struct memtap_rec_lived - tool: what became of live blocks from @start_ns until @end_ns
 * As a SPAN, of sessions that keep live blocks: what was new less what had gone, of all parts, is
 * what there is.
 */
struct memtap_rec_lived {
	struct memtap_rec rec;
	__aligned_u64 start_ns;
	__aligned_u64 end_ns;
	__u32 nr;
	__u32 reserved;
	struct memtap_lived_row at[];
};

/**
 * struct memtap_rec_host - tool: a machine of which recordings were merged
 * @files:	its recordings
 * @running:	of them, those of sessions that were not stopped
 * @nr:		tasks that are its: each one of the file is of one machine
 * @reserved:	0
 * @ns:		how long its recordings took, all together,
 * @least_ns, @most_ns: and the shortest and the longest one
 * @first_ns, @last_ns: CLOCK_REALTIME when the first one began, and the last one ended
 * @name:	ends with 0
 * @release:	of its kernel, the same; "": they are several
 *
 * In a file that has such records addresses are made up: frames of equal names have one, in the
 * only space that there is.  From the HEADER's @start_ns, 0, to its
 * @now_ns is as long as all recordings together.
 */
struct memtap_rec_host {
	struct memtap_rec rec;
	__u32 files;
	__u32 running;
	__u32 nr;
	__u32 reserved;
	__aligned_u64 ns;
	__aligned_u64 least_ns;
	__aligned_u64 most_ns;
	__aligned_u64 first_ns;
	__aligned_u64 last_ns;
	char name[64];
	char release[64];
	__u32 task[];
};

/** struct memtap_rec_note - tool: a line for the reader of the report */
struct memtap_rec_note {
	struct memtap_rec rec;
	char text[];			/* "key=value", 0, padded */
};

#endif
