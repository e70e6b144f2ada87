/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_H
#define _MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * A machine's memory at one moment: /proc and /sys, parsed and summed up.  Nothing is printed or
 * judged here.  Fields differ between kernels: each has a flag whether it was there.  Files that
 * could not be read are kept as sentences (struct machine_gap).
 */

/* Where to read. */
struct machine_at {
	const char *root;		/* "": this machine; else where its /proc, /sys are */
	unsigned int page;		/* bytes of a page */
	__u32 self;			/* who asks, and is left out; 0: nobody */
	__u32 only;			/* the one process that is read; 0: all */
	__u64 budget_ns;		/* for all processes, and again for all cgroups */
	/* What a tmpfs holds, below the root; NULL: as statvfs(3) says.  -errno */
	int (*space)(const struct machine_at *at, const char *path, __u64 *used, __u64 *size);
	struct machine_follow *follow;	/* the log is read on from there; NULL: all of it */
	__u64 past_ns;			/* CLOCK_REALTIME of what is looked at; 0: now */
	/* past_ns: machine_has_process(), if the machine has run since then; or NULL */
	bool (*lives)(const struct machine_at *at, __u32 pid, __u64 start);
};

/* Reads the kernel's log once, and then what is new.  NULL: no memory. */
struct machine_follow *machine_follow(void);
void machine_follow_end(struct machine_follow *f);

/* For this machine, within a second each for processes and for cgroups. */
struct machine_at machine_here(void);

/* What to read beyond the sums, processes, cgroups and mounts, which always are. */
#define MACHINE_SLAB	(1U << 0)	/* caches */
#define MACHINE_VMALLOC	(1U << 1)	/* areas, by who asked for them */
#define MACHINE_SITES	(1U << 2)	/* /proc/allocinfo */
#define MACHINE_LOG	(1U << 3)	/* the kernel's, for who was killed */
#define MACHINE_SHARED	(1U << 4)	/* shared memory that our own mounts do not show */
#define MACHINE_NO_CGROUPS (1U << 5)	/* and this is left out */

/* Of /proc/meminfo, in bytes (the pages of huge ones: as they are). */
enum machine_mem {
	MEM_TOTAL, MEM_FREE, MEM_AVAILABLE, MEM_BUFFERS, MEM_CACHED, MEM_SWAP_CACHED,
	MEM_ACTIVE, MEM_INACTIVE, MEM_ACTIVE_ANON, MEM_INACTIVE_ANON, MEM_ACTIVE_FILE,
	MEM_INACTIVE_FILE, MEM_UNEVICTABLE, MEM_MLOCKED, MEM_SWAP_TOTAL, MEM_SWAP_FREE,
	MEM_ZSWAP, MEM_ZSWAPPED, MEM_DIRTY, MEM_WRITEBACK, MEM_ANON, MEM_MAPPED, MEM_SHMEM,
	MEM_KRECLAIMABLE, MEM_SLAB, MEM_SRECLAIMABLE, MEM_SUNRECLAIM, MEM_STACKS,
	MEM_PAGE_TABLES, MEM_SEC_PAGE_TABLES, MEM_BOUNCE, MEM_COMMIT_LIMIT, MEM_COMMITTED,
	MEM_VMALLOC_USED, MEM_VMALLOC_CHUNK, MEM_PERCPU, MEM_CORRUPTED, MEM_HUGE_TOTAL,
	MEM_HUGE_FREE, MEM_HUGE_RSVD, MEM_HUGE_SIZE, MEM_HUGETLB, MEM_UNACCEPTED, MEM_BALLOON,
	MEM_GPU_ACTIVE, MEM_GPU_RECLAIM,
	NR_MACHINE_MEM
};

/* Of /proc/vmstat; what it has for each zone is added up. */
enum machine_vm {
	VM_FAULTS, VM_MAJOR, VM_SWAP_IN, VM_SWAP_OUT, VM_PAGE_IN, VM_PAGE_OUT,
	VM_SCAN_KSWAPD, VM_SCAN_DIRECT, VM_SCAN_KHUGEPAGED, VM_SCAN_PROACTIVE,
	VM_STEAL_KSWAPD, VM_STEAL_DIRECT, VM_STEAL_KHUGEPAGED, VM_STEAL_PROACTIVE,
	VM_STALLS, VM_THROTTLED, VM_REFAULT_ANON, VM_REFAULT_FILE,
	VM_COMPACT_STALL, VM_COMPACT_FAIL, VM_COMPACT_SUCCESS,
	VM_OOM_KILLS, VM_ZSPAGES, VM_MISC_RECLAIMABLE, VM_ISOLATED_ANON, VM_ISOLATED_FILE,
	VM_SLABS_SCANNED, VM_PIN_ACQUIRED, VM_PIN_RELEASED,
	VM_THP_FAULT, VM_THP_FALLBACK, VM_THP_CHARGE, VM_THP_FILE, VM_THP_FILE_FALLBACK,
	VM_THP_FILE_MAPPED, VM_THP_COLLAPSE, VM_THP_COLLAPSE_FAILED, VM_THP_SPLIT,
	VM_THP_SPLIT_FAILED, VM_THP_SPLIT_PMD, VM_THP_SWAP_FALLBACK,
	NR_MACHINE_VM
};

struct machine_fields {
	__u64 mem[NR_MACHINE_MEM], vm[NR_MACHINE_VM];
	bool has_mem[NR_MACHINE_MEM], has_vm[NR_MACHINE_VM];
};

/* /proc/pressure/memory: since boot, in microseconds; and of the last ten seconds. */
struct machine_pressure {
	bool has;
	__u64 some_us, full_us;
	double some_avg10, full_avg10;	/* percent */
};

#define MACHINE_ORDERS	16

#define MACHINE_TYPES	8

/* What is free in a zone of one migratetype: /proc/pagetypeinfo. */
struct machine_type {
	char name[16];			/* "Unmovable" */
	__u64 blocks[MACHINE_ORDERS];
	bool more;		/* of some order there are more: the kernel did not count on */
};

struct machine_zone {
	int node;
	char name[16];
	__u64 free, min, low, high, managed, lists;	/* pages; lists: those of processors */
	__u64 start, spanned;		/* its first page frame, and how many */
	__u64 blocks[MACHINE_ORDERS];			/* free ones of each order */
	struct machine_type types[MACHINE_TYPES];	/* machine_read_types() */
	size_t nr_types;
};

/*
 * Whoever holds memory: a process, a cgroup, a slab cache, a caller of vmalloc, a tmpfs,
 * a swap device.  What a kind does not have is 0.
 */
struct machine_holder {
	const char *name;		/* comm, path, cache, caller, mount */
	__u32 pid;
	__u64 start;			/* of a process: tells it from others of its number */
	__u64 bytes;			/* held; of processes RSS and swap */
	__u64 size;			/* a limit, if there is one; ~0: none */
	__u64 anon, file, shmem, swap, tables;
	__u64 kernel;			/* of a cgroup: unreclaimable */
	__u64 minor, major;		/* faults */
	__u64 objects, all_objects;	/* in use; of a cache also with the free ones */
	__u64 hits;			/* of a cgroup: how often it met its limit */
	__u64 highs;			/* and how often it was over memory.high */
	__u64 oom_kills;
	__u64 dying;			/* cgroups below it that are gone and still charged */
	const char *also;		/* other names of a cache that was merged; NULL: none */
	bool reclaimable, inside;	/* a cache that can shrink; processes are in it itself */
	__u64 data;			/* of a process: private mappings that can be written to,
					 * heap and stacks too, touched or not */
	__u64 locked;			/* of a process: mlock(), touched or not */
	__u64 pinned;			/* of a process: by io_uring, RDMA ..., since v3.2 */
	__u32 parent;			/* of a process */
	char state;			/* of a process, as ps(1) says it: 'D' */
	bool has_pss;			/* of a process that was asked, and had: */
	__u64 pss, uss;			/* shared pages divided among processes; its own alone */
	__u64 space;			/* of a process: addresses that are mapped */
	__u64 hugetlb;			/* of a process: of the pool, mapped; since v4.4 */
	__u32 uid;			/* of a process: effective */
	bool left_out;			/* of a process: a history does not keep it */
	const char *cgroup;		/* of a process: machine_read_groups(); NULL: not read */
};

struct machine_list {
	struct machine_holder *at;
	size_t nr, room;
	size_t late;			/* holders for which there was no time */
	double uptime;			/* of processes: when they were read; 0: not known */
	bool has;			/* it was read, at least in part */
};

/* Whose memory was short. */
enum machine_short {
	SHORT_UNKNOWN,			/* the log does not say */
	SHORT_MACHINE,
	SHORT_NODES,			/* the machine, or some of its nodes: not a cgroup */
	SHORT_CGROUP,			/* the limit of one */
	SHORT_CPUSET,			/* the nodes of one */
	SHORT_POLICY,			/* the nodes of a memory policy */
};

struct machine_kill {
	double at;			/* seconds since boot */
	char comm[16];
	__u32 pid;
	__u64 rss;			/* bytes */
	enum machine_short what;
	char cgroup[1024];		/* SHORT_CGROUP: which, or "": not known */
};

#define MACHINE_KILLS	8

/* What the kernel's log still has, or records of the module. */
struct machine_log {
	bool has;
	__u64 nr;			/* kills */
	struct machine_kill kills[MACHINE_KILLS];	/* the last ones, oldest first */
	__u64 failures;			/* page allocation failures */
	double failed_at;		/* the last one's time */
	unsigned int failed_order;
	char failed_comm[16];
};

/* Objects of /proc/sys/fs/dentry-state, or inode-state. */
struct machine_names {
	bool has, has_negative;		/* negative: since v5.0 */
	__u64 nr, unused, negative;	/* negative: of names that were not found */
};

/* What was not read, and what it weakens. */
struct machine_gap {
	char text[160];
};

#define MACHINE_GAPS	16

struct machine {
	__u64 ns;			/* CLOCK_MONOTONIC when it was read */
	double uptime;
	char release[65], host[65];
	unsigned int cpus, page;
	struct machine_fields f;
	struct machine_pressure psi;
	struct machine_zone *zones;
	size_t nr_zones;
	struct machine_list processes, cgroups, slabs, callers, sites, tmpfs, swaps, nodes;
	/* files of tmpfs without a name that somebody has open or mapped: @pid one of those,
	 * @objects how many; processes that are dead, by who does not wait for them: @pid,
	 * @objects */
	struct machine_list deleted, zombies;
	size_t processes_seen, cgroups_seen;	/* also those for which there was no time */
	size_t kernel_threads;		/* of these; they have no memory of their own */
	__u64 socket_pages;		/* of TCP, UDP ... */
	__u64 socket_frags;		/* bytes */
	__u64 shm_bytes, shm_segments;	/* System V, resident */
	struct machine_names dentries, inodes;
	bool strict_commit;		/* vm.overcommit_memory is 2 */
	__u64 zram_bytes;
	__u64 hugetlb;			/* all sizes, in bytes */
	__u64 dying;			/* cgroups that are gone and still charged */
	__u64 dead_kernel;		/* kernel memory, in bytes, that is charged below cgroups
					 * without processes, and to no live one */
	__u64 dead_bytes;		/* and memory of all kinds; of v1 also what is charged to
					 * live cgroups without processes */
	bool cgroup2;
	struct machine_log log;
	struct machine_gap gaps[MACHINE_GAPS];
	size_t nr_gaps;
	struct machine_text *texts;	/* all names are in these */
};

/*
 * Read it; @what: MACHINE_*.  -ENOMEM, or another errno if there is not even a meminfo.
 * Freed by machine_free() in any case.
 */
int machine_read(const struct machine_at *at, unsigned int what, struct machine *m);
/* /proc/meminfo alone.  An errno, as that. */
int machine_fields(const struct machine_at *at, struct machine_fields *f);
void machine_free(struct machine *m);

/*
 * What is free by migratetype, into the zones of @m, which was read.  The kernel counts lists
 * under the lock of a zone: where it does not end that after some (since Linux 5.4, when the
 * file became root's alone) it is not asked.
 */
void machine_read_types(const struct machine_at *at, struct machine *m);

/* Of the text of /proc/vmstat, which it changes: added to what is in @f. */
void fields_parse_vm(char *text, struct machine_fields *f);
/* Of the text of /proc/zoneinfo, which it changes: m->zones.  -ENOMEM. */
int zones_parse(char *text, struct machine *m);
/* The zone that has page frame @pfn, or NULL. */
const struct machine_zone *machine_zone_of(const struct machine *m, __u64 pfn);

/* Is it there, and the process that had this number when it began at @start (ticks)? */
bool machine_has_process(const struct machine_at *at, __u32 pid, __u64 start);

/*
 * The cgroup of each process.  Of those that are in @before (or NULL), too, it is taken from there:
 * the file costs as much as all else of a process.  -ENOMEM.
 */
int machine_read_groups(const struct machine_at *at, struct machine *m,
			const struct machine *before);

/* A sentence about what could not be read. */
void machine_gap(struct machine *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* MEM_AVAILABLE, or for kernels without (before v3.14) what they would say. */
__u64 machine_available(const struct machine *m);

/*
 * Bytes of pages that are pinned for devices and drivers (FOLL_PIN: io_uring, VFIO, RDMA, direct
 * I/O); 0: none, or the kernel does not say it (before v5.7).
 */
__u64 machine_pinned(const struct machine *m);

/* What is left until memory is full. */
struct machine_room {
	__u64 bytes;
	char what[64];			/* "the limit of its cgroup, 64.0 MiB," */
};

/*
 * For process @pid, the least that its memory cgroups and the machine leave; or for the
 * kernel: 0.  false: it cannot be read.
 */
bool machine_room(const struct machine_at *at, __s32 pid, struct machine_room *room);

/* The memory cgroup that @pid is in, below the hierarchy's root.  false: it cannot be read. */
bool machine_cgroup(const struct machine_at *at, __s32 pid, char *path, size_t len);

/* Shared memory that lies in no tmpfs that is mounted: memfd, deleted files, System V. */
__u64 machine_shmem_unmounted(const struct machine *m);

/*
 * What lists have in common, largest growth first.  A holder that is only in @now is new,
 * and grew by all it has; or it was not read before, and its growth is not known.  One that is
 * gone is not among them.
 */
struct machine_growth {
	const struct machine_holder *now, *before;	/* before: or NULL */
	__s64 grew;					/* bytes; 0: also where it is */
	bool unknown;
};

/* -ENOMEM.  @out is for free(); it has now->nr elements. */
int machine_compare(const struct machine_list *before, const struct machine_list *now,
		    struct machine_growth **out);

/* How long the kernel took for PSS so far, and until when it may. */
struct machine_pss {
	__u64 end;
	__u64 ns, mib;
};

/* Half of at->budget_ns from now on. */
void machine_pss_begin(const struct machine_at *at, struct machine_pss *p);
/* PSS of a process; where it may not be read, or there is no time, it has none. */
void machine_pss(const struct machine_at *at, struct machine_pss *p, struct machine_holder *h);

/*
 * That of the processes of @m that grow most, and of the largest, in half of at->budget_ns.
 * @growth: of all of them.  -ENOMEM.
 */
int machine_read_pss(const struct machine_at *at, struct machine *m,
		     const struct machine_growth *growth);

/* MemTotal = the sum of these.  What is left over is the last one. */
enum machine_kind {
	KIND_FREE, KIND_LISTS, KIND_ANON, KIND_SHMEM, KIND_FILE, KIND_SLAB_UNRECLAIM,
	KIND_SLAB_RECLAIM, KIND_MISC_RECLAIM, KIND_STACKS, KIND_PAGE_TABLES, KIND_PERCPU,
	KIND_VMALLOC, KIND_ZSMALLOC, KIND_HUGETLB, KIND_OTHER, KIND_UNACCOUNTED,
	NR_MACHINE_KIND
};

struct machine_account {
	__s64 bytes[NR_MACHINE_KIND];
	bool has[NR_MACHINE_KIND];	/* this kernel says it */
};

/* Is VmallocUsed of /proc/meminfo the memory that is used? */
bool machine_vmalloc_known(const struct machine *m);

void machine_account(const struct machine *m, struct machine_account *a);

#endif
