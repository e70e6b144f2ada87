/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REACH_INT_H
#define _REACH_INT_H

/*
 * Shared by reach_process.c, reach_memory.c, reach_force.c, reach_shared.c, reach_heap.c,
 * reach_exit.c, reach_calls.c, reach_threads.c, reach_kernel.c, reach_ranges.c, reach_roots.c,
 * copy.c and copy_pages.c.
 */
#include <sys/types.h>

#include "leaks/reach.h"
#include "leaks/reach_process.h"

/* ---- reach_memory.c: the memory of a process ---- */

#define MEMORY_WINDOW	4096		/* pages whose state is looked up at once */

struct area;
struct layout;
struct pages;

#define SHARED_WINDOW	4096		/* pages */

/* reach_shared.c: the file of the shared mapping that was read last */
struct shared_file {
	const struct area *area;
	int fd;				/* or -1: read the process */
	bool is_memory;			/* holes can be asked for */
	bool resident;			/* what is swapped out stays so: */
	__u64 swapped;			/* bytes that were not read for that */
	__u64 hole_end, last;		/* offsets */
	bool known;
	__u64 window;
	unsigned char states[SHARED_WINDOW];	/* of its pages from @window on, if known */
};

void shared_close(struct shared_file *f);
/* As memory_read(), how many is in *len; false: the file cannot be asked. */
bool shared_read(struct shared_file *f, pid_t pid, const struct area *a, __u64 addr, void *buf,
		 size_t *len);

/* reach_force.c: what only who traces a thread may read */
struct forced;

/* @mem: of /proc/@pid/mem.  NULL: no memory, no thread */
struct forced *forced_open(pid_t pid, int mem);
/* As pread(); fails where the thread is traced by another one. */
ssize_t forced_read(struct forced *f, __u64 addr, void *buf, size_t len);
void forced_close(struct forced *f);

struct image;

struct memory {
	pid_t pid;
	const struct image *image;	/* of files: what no copy has; NULL: of the process alone */
	const struct layout *layout;	/* NULL: not known yet */
	struct pages *copy;		/* NULL: it is read where it is; else from this copy */
	bool gone;			/* a file's constants, which no copy has, were not there */
	struct shared_file shared;
	int pagemap, mem;		/* or -1 */
	struct forced *forced;		/* or NULL: was not needed yet */
	__u64 deadline;			/* ns, or 0 */
	bool late;			/* it came, and something was not read */
	__u64 bytes;			/* that were read, */
	__u64 failed;			/* and could not be */
	bool careful;			/* what was not touched may never come */
	bool resident;			/* what is swapped out stays so: */
	__u64 swapped;			/* bytes that were not read for that (some twice) */
	__u64 window;			/* first page of what is known */
	size_t known;			/* pages */
	__u64 pages[MEMORY_WINDOW];
};

void memory_open(struct memory *m, pid_t pid);
/* Of no process: a file has @copy, and @i answers for the rest. */
void memory_open_image(struct memory *m, const struct image *i, struct pages *copy);
/* From now on it reads nothing that is swapped out. */
void memory_resident(struct memory *m);
void memory_close(struct memory *m);
/* From where on up to @at, not before @start, all pages were touched; @at: nobody knows. */
__u64 memory_touched_from(struct memory *m, __u64 start, __u64 at);
/* Bytes of the pages in between that have been touched. */
__u64 memory_touched(struct memory *m, __u64 start, __u64 end);
/* From @addr on up to @end, the first address of a page that is read; or @end. */
__u64 memory_next(void *ctx, __u64 addr, __u64 end);
/* Why nothing can be read there, if that is known: it is swapped out; or NULL. */
const char *memory_why(void *ctx, __u64 addr);
/* As struct reach_memory has it; pages that were never touched are not read. */
size_t memory_read(void *ctx, __u64 addr, void *buf, size_t len);

/* ---- reach_roots.c: where a program keeps what it can get at ---- */

struct area {
	__u64 start, end, offset, inode;
	__u32 dev_major, dev_minor;
	bool readable, writable, executable, shared;
	bool is_file, is_heap, is_stack;
	bool is_trampoline;		/* where functions return to whose returns are probed */
	bool device, skipped;		/* skipped: also what has no memory, and the kernel's */
	__u32 path;			/* of a file: its place in layout.paths */
};

#define RESERVED	(1ULL << 38)	/* of address space, no memory: sanitizers' shadow */

struct ranges {
	struct reach_range *at;
	size_t nr, room;
};

/* Values that lie in no memory of the process; read as if they did, at this address. */
#define WORDS_AT	0xffff800000000000ULL

struct words {
	__u64 *at;
	size_t nr, room;
};

int words_add(struct words *w, const __u64 *values, size_t nr);

struct thread {
	pid_t tid;
	__u32 ns_tid;			/* as the process itself knows it */
	__u64 sp;			/* 0: it runs, all of its stack may be in use */
	bool in_call;			/* of a function: nothing below @sp is its own */
	__u64 switches;			/* how often it has run */
	__u64 base;			/* where its own block is; 0: not known */
	size_t first_word;		/* of layout.words, which it has */
	size_t nr_regs;			/* that are known */
	__u64 regs[MEMTAP_HELD_REGS];	/* of one that runs: when it last entered the kernel */
};

struct layout {
	struct area *areas;		/* by address */
	size_t nr, room;
	char **paths;			/* of files, as /proc/PID/maps has them */
	size_t nr_paths, room_paths;
	struct thread *threads;
	size_t nr_threads, room_threads;
	struct words words;		/* what threads have in registers, and the kernel has */
	struct ranges frames;		/* of a stack below its pointer, and in use all the same */
	struct ranges foreign;		/* in [heap], and not its allocator's */
};

/* @pid: of a thread that waits, or soon does; @regs NULL: of one that does not. */
int layout_read(struct layout *l, pid_t pid, const struct reach_regs *regs);
/* Of all that only the mappings. */
int layout_read_areas(struct layout *l, pid_t pid);
struct procmap;

/* One more mapping, above the others.  -ENOMEM */
int layout_add(const struct procmap *p, void *layout);
/* What lies before @brk is no part of [heap]: a program's last variables, which it follows. */
int layout_cut_heap(struct layout *l, __u64 brk);
/* What of it cannot be looked at. */
void layout_left(const struct layout *l, struct memory *m, struct reach_left *left);
/* Has another thread than @pid run since then?  Then it may have moved addresses. */
bool layout_moved(const struct layout *l, pid_t pid);
void layout_free(struct layout *l);

/* Whose [heap] is; @blocks are sorted.  To be called before roots_find(). */
int layout_read_heap(struct layout *l, const struct reach_block *blocks, size_t nr,
		     const struct reach_memory *m);

/* Can something in @a, which is one of @l's, lead to a block?  All roots are in such. */
bool area_may_point(const struct layout *l, const struct area *a);

/* ---- copy.c: what copy.h does not tell others ---- */

struct copy;

struct pages *copy_pages(struct copy *c);
/* Is the reader's from now on. */
struct layout copy_layout(struct copy *c);
/* And back. */
void copy_give_layout(struct copy *c, struct layout *l);

/* ---- reach_threads.c ---- */

int threads_read(struct layout *l, pid_t pid, const struct reach_regs *regs);
int threads_add(struct layout *l, const struct thread *t);
/* Does it lie on the stack of one of them, or is it where one's own block is? */
bool threads_have(const struct layout *l, const struct reach_range *stack, __u64 block,
		  const struct reach_memory *m);

/* ---- reach_kernel.c ---- */

int kernel_words(struct layout *l, pid_t pid);

/* ---- reach_calls.c ---- */

/* What calls under way may have of blocks that the session knows no more, or not yet. */
int calls_read(struct ranges *found, const struct layout *l, const struct reach_block *blocks,
	       size_t nr, const struct reach_memory *m);

/* ---- reach_exit.c ---- */

/* @t ends the program: where its stack begins, and what of it is still in use below. */
int exit_look(struct layout *l, pid_t pid, struct thread *t, const struct reach_memory *m);

/* ---- reach_ranges.c ---- */

int ranges_add(struct ranges *r, __u64 start, __u64 end, bool starts_only);
/* Sorted, and apart. */
void ranges_merge(struct ranges *r);
/* Of such: the first that ends behind @addr; is @addr in one? */
size_t ranges_behind(const struct ranges *r, __u64 addr);
bool ranges_have(const struct ranges *r, __u64 addr);
/* The mapping where @addr is, or NULL. */
const struct area *layout_find(const struct layout *l, __u64 addr);

/* ---- heap.c: what malloc has, by its own chunks ---- */

struct heap;

/*
 * As heap_walk(); @memory's layout is @l.  @passing: it goes on meanwhile.  @others: also those of
 * other allocators than glibc's.
 */
int heap_of_layout(struct heap *h, const struct layout *l, struct memory *memory, bool passing,
		   bool others);

/* ---- reach_roots.c, again ---- */

/*
 * All roots of the process: what is writable, or was until its addresses were
 * filled in, without @holes, which are the live blocks and allocators' memory.
 * @own: what the program mapped itself; changes @holes.
 * @heap: also what malloc has of the heap, because not all blocks are known.
 * @m: reads a struct memory.
 */
int roots_find(struct ranges *roots, struct layout *l, const struct ranges *own, bool heap,
	       struct ranges *holes, const struct reach_memory *m);

/* Where stacks are not in use, of threads that are there, and that were: @own as above. */
int roots_unused(struct ranges *unused, const struct layout *l, const struct ranges *own,
		 const struct reach_memory *m);

/* ---- reach_heap.c: what of [heap] the program took itself ---- */

/* @top: where the last chunk of glibc's malloc begins, or 0: it was never used. */
int heap_foreign(struct ranges *foreign, const struct area *heap, __u64 top,
		 const struct reach_block *blocks, size_t nr, const struct reach_memory *m);

#endif
