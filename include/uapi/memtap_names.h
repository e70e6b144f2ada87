/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_MEMTAP_NAMES_H
#define _UAPI_MEMTAP_NAMES_H

#include "memtap.h"

/*
 * What the enumerations of the contract are called: one name for each, in text, in JSON, in
 * debugfs and in the manual.  A table is a macro that calls X() for each member:
 *
 *	X(number, name, sentence)
 *
 * The name is stable, lower case, one word with hyphens.  The sentence says the same in a
 * few words, behind what it is about: "12 events ...", of MEMTAP_PART_* "12 stacks ...".
 * MEMTAP_NAMES_CHECK() refuses to compile where a member has no name.
 */
#define MEMTAP_NAME_COUNT_(number, name, sentence)	+ 1
#define MEMTAP_NAMES_CHECK(list, nr)					\
	typedef char memtap_names_of_##list[				\
		(0 list(MEMTAP_NAME_COUNT_)) == (nr) ? 1 : -1]
/* To initialize an array by its numbers. */
#define MEMTAP_NAME_ENTRY(number, name, sentence)	[number] = name,
#define MEMTAP_SENTENCE_ENTRY(number, name, sentence)	[number] = sentence,

/* MEMTAP_LOST_*, MEMTAP_NR_LOST of them */
#define MEMTAP_LOST_NAMES(X)						\
	X(MEMTAP_LOST_RECURSION, "recursion",				\
	  "caused by memtap's own work")				\
	X(MEMTAP_LOST_NMI, "nmi",					\
	  "in an NMI while memtap was at work on that processor")	\
	X(MEMTAP_LOST_TABLE, "table-full",				\
	  "for which the table of counters was full")			\
	X(MEMTAP_LOST_MISSED, "missed",					\
	  "at which the kernel did not run the probe")			\
	X(MEMTAP_LOST_RETURN, "no-return",				\
	  "that have not returned, or whose return the kernel did not report") \
	X(MEMTAP_LOST_PAIR, "no-entry",					\
	  "that returned, and whose entry was not kept")		\
	X(MEMTAP_LOST_LIVE, "live-full",				\
	  "for which the table of live blocks was full")		\
	X(MEMTAP_LOST_THREADS, "no-thread",				\
	  "in more threads at once than there is room for")		\
	X(MEMTAP_LOST_LEFT, "left",					\
	  "that were left by longjmp(), an exception or the thread's end") \
	X(MEMTAP_LOST_RING, "ring-full",				\
	  "that came faster than they were read")

/* MEMTAP_PART_*, MEMTAP_NR_PART of them */
#define MEMTAP_PART_NAMES(X)						\
	X(MEMTAP_PART_STACKS_FULL, "stack-not-kept",			\
	  "whose stack was not kept: no room")				\
	X(MEMTAP_PART_DEPTH, "too-deep",				\
	  "deeper than the frames kept")				\
	X(MEMTAP_PART_FAULT, "not-present",				\
	  "where the stack is not in memory")				\
	X(MEMTAP_PART_CHAIN, "no-frame-pointer",			\
	  "that lead nowhere")						\
	X(MEMTAP_PART_TASKS_FULL, "task-not-kept",			\
	  "whose task was not kept: no room")				\
	X(MEMTAP_PART_TRAMPOLINE, "hidden-caller",			\
	  "behind a return probe")					\
	X(MEMTAP_PART_NOMAP, "no-mapping",				\
	  "in code that was mapped too recently")			\
	X(MEMTAP_PART_NOTABLE, "no-table",				\
	  "in files without a table yet")				\
	X(MEMTAP_PART_NOROW, "no-row",					\
	  "in code without an unwind entry")				\
	X(MEMTAP_PART_ARGS, "argument-not-there",			\
	  "with an argument that was not in memory")

/* MEMTAP_UNIT_*, MEMTAP_NR_UNIT of them */
#define MEMTAP_UNIT_NAMES(X)						\
	X(MEMTAP_UNIT_NONE, "", "without a value")			\
	X(MEMTAP_UNIT_BYTES, "bytes", "in bytes")			\
	X(MEMTAP_UNIT_PAGES, "pages", "in pages")			\
	X(MEMTAP_UNIT_NS, "ns", "in nanoseconds")			\
	X(MEMTAP_UNIT_NUMBER, "number", "by an argument")

/* MEMTAP_HOOK_*, MEMTAP_NR_HOOK of them */
#define MEMTAP_HOOK_NAMES(X)						\
	X(MEMTAP_HOOK_IDLE, "idle", "that nobody wants now")		\
	X(MEMTAP_HOOK_ATTACHED, "attached", "in use")			\
	X(MEMTAP_HOOK_FAILED, "failed", "that the kernel refused")

/* MEMTAP_WAY_*, MEMTAP_NR_WAY of them */
#define MEMTAP_WAY_NAMES(X)						\
	X(MEMTAP_WAY_NONE, "-", "by nothing")				\
	X(MEMTAP_WAY_KPROBE, "kprobe", "by a kprobe")			\
	X(MEMTAP_WAY_KRETPROBE, "kretprobe", "by a kretprobe")		\
	X(MEMTAP_WAY_UPROBE, "uprobe", "by a uprobe")			\
	X(MEMTAP_WAY_URETPROBE, "uretprobe", "by a uretprobe")		\
	X(MEMTAP_WAY_TRACEPOINT, "tracepoint", "by a probe of a tracepoint") \
	X(MEMTAP_WAY_PERF_TP, "perf-tp", "by perf's counter of a tracepoint") \
	X(MEMTAP_WAY_PERF_SW, "perf-sw", "by perf's software event")	\
	X(MEMTAP_WAY_PERF, "perf", "by perf's counter")

/* MEMTAP_MISMATCH_*: 1 .. MEMTAP_NR_MISMATCH */
#define MEMTAP_MISMATCH_NAMES(X)					\
	X(MEMTAP_MISMATCH_DOUBLE, "double", "of what was freed just before") \
	X(MEMTAP_MISMATCH_UNKNOWN, "unknown", "of what was never handed out") \
	X(MEMTAP_MISMATCH_FAMILY, "family", "by a function of another family")

/* MEMTAP_REACH_*: 1 .. MEMTAP_NR_REACH */
#define MEMTAP_REACH_NAMES(X)						\
	X(MEMTAP_REACH_DEFINITE, "definite", "definitely lost")		\
	X(MEMTAP_REACH_INDIRECT, "indirect", "indirectly lost")		\
	X(MEMTAP_REACH_POSSIBLE, "possible", "possibly lost")		\
	X(MEMTAP_REACH_REACHABLE, "reachable", "still reachable")

/* MEMTAP_CACHE_*: 1 .. MEMTAP_NR_CACHE */
#define MEMTAP_CACHE_NAMES(X)						\
	X(MEMTAP_CACHE_SLAB, "slab", "of the slab allocator")		\
	X(MEMTAP_CACHE_LARGE, "large", "of pages, by kmalloc()")	\
	X(MEMTAP_CACHE_OTHER, "other", "whose name is not known")	\
	X(MEMTAP_CACHE_PAGES, "pages", "of pages")			\
	X(MEMTAP_CACHE_PERCPU, "percpu", "of memory for each processor")	\
	X(MEMTAP_CACHE_VMALLOC, "vmalloc", "of vmalloc()")		\
	X(MEMTAP_CACHE_VMAP, "vmap", "of vmap()")

/* MEMTAP_KEY_*, a mask of MEMTAP_NR_KEY bits; the sentence stands in parentheses */
#define MEMTAP_KEY_NAMES(X)						\
	X(MEMTAP_KEY_KERNEL, "kernel", "in kernel mode")		\
	X(MEMTAP_KEY_FAILED, "failed", "failed")			\
	X(MEMTAP_KEY_IRQ, "irq", "in an interrupt")			\
	X(MEMTAP_KEY_HUGE, "huge", "huge pages")			\
	X(MEMTAP_KEY_PART, "at-least", "at least")			\
	X(MEMTAP_KEY_READONLY, "read-only", "not writable")		\
	X(MEMTAP_KEY_RESERVED, "reserved", "only reserved")		\
	X(MEMTAP_KEY_GROSS, "gross", "what was there before is not known")	\
	X(MEMTAP_KEY_UNKNOWN, "unknown", "not in memory")

/* MEMTAP_SPACE_*, a mask of MEMTAP_NR_SPACE bits */
#define MEMTAP_SPACE_NAMES(X)						\
	X(MEMTAP_SPACE_START, "start", "watched from its execve() on")	\
	X(MEMTAP_SPACE_FORKED, "forked", "that began as a copy of another") \
	X(MEMTAP_SPACE_EXECED, "execed", "gone by execve()")		\
	X(MEMTAP_SPACE_EXITED, "exited", "gone by exit")		\
	X(MEMTAP_SPACE_NOT_FOLLOWED, "not-followed", "of which an allocator was not followed")

/* MEMTAP_CONSTRAINT_*, MEMTAP_NR_CONSTRAINT of them */
#define MEMTAP_CONSTRAINT_NAMES(X)					\
	X(MEMTAP_CONSTRAINT_NONE, "none", "on the whole machine")	\
	X(MEMTAP_CONSTRAINT_CPUSET, "cpuset", "on the nodes of its cpuset")	\
	X(MEMTAP_CONSTRAINT_POLICY, "policy", "on the nodes of its memory policy")	\
	X(MEMTAP_CONSTRAINT_MEMCG, "memcg", "in its cgroup")

/* MEMTAP_VM_*, MEMTAP_NR_VM of them */
#define MEMTAP_VM_NAMES(X)						\
	X(MEMTAP_VM_FREE, "free", "free")				\
	X(MEMTAP_VM_ANON, "anon", "anonymous memory")		\
	X(MEMTAP_VM_FILE, "file", "page cache, including shared memory")	\
	X(MEMTAP_VM_SHMEM, "shmem", "shared memory and tmpfs")		\
	X(MEMTAP_VM_DIRTY, "dirty", "dirty pages")			\
	X(MEMTAP_VM_WRITEBACK, "writeback", "pages under writeback")		\
	X(MEMTAP_VM_UNEVICTABLE, "unevictable", "unevictable pages")	\
	X(MEMTAP_VM_SLAB, "slab-unreclaimable", "unreclaimable slab")	\
	X(MEMTAP_VM_SLAB_RECLAIMABLE, "slab-reclaimable", "reclaimable slab")	\
	X(MEMTAP_VM_TABLES, "page-tables", "page tables")		\
	X(MEMTAP_VM_STACKS, "kernel-stacks", "kernel stacks")		\
	X(MEMTAP_VM_SWAP_FREE, "swap-free", "free swap space")		\
	X(MEMTAP_VM_LOCKED, "locked", "locked by mlock()")		\
	X(MEMTAP_VM_HUGE, "huge-pages", "reserved for huge pages")	\
	X(MEMTAP_VM_HUGE_FREE, "huge-pages-free", "unused huge pages")	\
	X(MEMTAP_VM_PERCPU, "per-cpu", "per-CPU memory")

/* MEMTAP_CHARGED_*, MEMTAP_NR_CHARGED of them */
#define MEMTAP_CHARGED_NAMES(X)						\
	X(MEMTAP_CHARGED_ANON, "anon", "anonymous memory")		\
	X(MEMTAP_CHARGED_FILE, "file", "page cache, including shared memory")	\
	X(MEMTAP_CHARGED_SHMEM, "shmem", "shared memory and tmpfs")	\
	X(MEMTAP_CHARGED_KERNEL, "kernel", "kernel memory")		\
	X(MEMTAP_CHARGED_STACKS, "kernel-stacks", "kernel stacks")	\
	X(MEMTAP_CHARGED_TABLES, "page-tables", "page tables")		\
	X(MEMTAP_CHARGED_PERCPU, "per-cpu", "per-CPU memory")	\
	X(MEMTAP_CHARGED_VMALLOC, "vmalloc", "vmalloc")			\
	X(MEMTAP_CHARGED_SLAB, "slab-unreclaimable", "unreclaimable slab")	\
	X(MEMTAP_CHARGED_SLAB_RECLAIMABLE, "slab-reclaimable", "reclaimable slab")	\
	X(MEMTAP_CHARGED_SOCKETS, "sockets", "socket buffers")		\
	X(MEMTAP_CHARGED_UNEVICTABLE, "unevictable", "unevictable pages")

/* MEMTAP_RECLAIM_*, MEMTAP_NR_RECLAIM of them */
#define MEMTAP_RECLAIM_NAMES(X)						\
	X(MEMTAP_RECLAIM_SCAN_KSWAPD, "scanned-kswapd", "pages scanned by kswapd")	\
	X(MEMTAP_RECLAIM_SCAN_DIRECT, "scanned-direct", "pages scanned by direct reclaim")	\
	X(MEMTAP_RECLAIM_STEAL_KSWAPD, "reclaimed-kswapd", "pages reclaimed by kswapd")	\
	X(MEMTAP_RECLAIM_STEAL_DIRECT, "reclaimed-direct", "pages reclaimed by direct reclaim") \
	X(MEMTAP_RECLAIM_STALLS, "direct-reclaims", "stalls in direct reclaim")	\
	X(MEMTAP_RECLAIM_SWAP_IN, "swapped-in", "pages swapped in")	\
	X(MEMTAP_RECLAIM_SWAP_OUT, "swapped-out", "pages swapped out")

#endif
