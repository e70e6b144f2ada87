/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_HEAP_H
#define _LEAKS_HEAP_H

#include <sys/types.h>

#include "heap/heap.h"
#include "heap/python.h"
#include "leaks/held.h"
#include "leaks/image.h"
#include "leaks/leaks.h"

/* Unreachable blocks of one size, with the same first word. */
struct heap_lost {
	__u64 size;			/* usable bytes of each */
	__u64 word;			/* if it points into a file that is mapped, else 0 */
	__u64 blocks, bytes;		/* bytes of the heap that they take */
	__u64 definite;			/* blocks of them to which no block leads, either */
	char *what;			/* its name, or NULL */
};

/* What a process has, once it was stopped and looked at. */
struct heap_look {
	pid_t pid;
	pid_t tid;			/* of it: the first one may have ended, without memory */
	struct image live;		/* the process, or: */
	struct core *core;		/* the file that it is looked at in, instead; or NULL */
	const struct image *image;	/* of these */
	bool swapped;			/* what is swapped out is read, too; else */
	__u64 left_out;			/* bytes that were not, since they are swapped out; of a
					 * file: since it does not have them */
	struct heap heap;
	struct python *python;		/* of its interpreter; or NULL */
	size_t threads;
	__u64 took_ns, bytes;		/* for which it was stopped; that were read meanwhile */
	struct copy *copy;		/* of heap_look_begin(); or NULL */
	__u64 copied;			/* bytes, while it ran */
	enum look_way way;
	const char *why;		/* it is not LOOK_CHANGED */
	__u32 tries;			/* how often it was stopped, until all added up */
	bool marked;			/* the following is known */
	struct heap_lost *lost;		/* the most bytes first */
	size_t nr_lost;
	__u64 reachable_blocks, reachable_bytes;
	__u64 possible_blocks, possible_bytes;	/* only addresses into them are left */
	__u64 cached_blocks, cached_bytes;	/* nothing leads to them, but a thread's cache that
						 * was not recognised may have them */
	struct held_ask ask;		/* what heap_look_begin() was asked for; what came of it: */
	struct held *held;		/* or NULL */
	const char *no_held;		/* why it is not known what blocks are */
	/* heap_look(): a file to be written, or NULL; what came of it, and its length */
	const char *save;
	int saved;
	__u64 saved_bytes;
	pid_t tracer;			/* who holds it, if that is why it cannot be stopped; or the
					 * thread that does not stop */
	size_t many;			/* threads, if these take too long to stop */
	__u64 needs_ns;			/* for which it would have to be stopped, as it seems */
};

/*
 * Copies it while it runs; or, where there is no memory for that, reads it, and what is found is
 * worth nothing.  How long it will have to be stopped, and what will be read meanwhile.  Errors as
 * below.
 */
int heap_look_begin(struct heap_look *l, pid_t pid, __u64 max_ns, bool mark, bool swapped,
		    const struct held_ask *ask, __u64 *took_ns, __u64 *bytes);
/*
 * Stops it, for @max_ns at most each time.  -ENOENT: no glibc's malloc; -EBUSY: somebody traces
 * it; -ESRCH: it has ended; -ETIMEDOUT: it takes longer.
 */
int heap_look(struct heap_look *l, __u64 max_ns, bool mark);
/*
 * The same without stopping it, and without what can be reached: what malloc has adds up only if
 * nobody was in it meanwhile, which is tried some times.
 */
int heap_look_running(struct heap_look *l, pid_t pid, __u64 max_ns);
/*
 * The same of a file, which is needed until @l is freed.  -ENOENT: no glibc's malloc.
 */
int heap_look_core(struct heap_look *l, struct core *c, bool mark, const struct held_ask *ask);
/*
 * The same of a copy that somebody else made and keeps, of process @pid as it stood.  -ENOENT: no
 * malloc that is read; the copy may have caught it in the middle of a call: see heap.complete.
 */
int heap_look_copied(struct heap_look *l, pid_t pid, struct copy *c, const struct held_ask *ask);
void heap_look_free(struct heap_look *l);

void python_look_free(struct python *py);	/* held_python.c */

/* What first words of the first @nr point to: classes of C++, functions, data. */
void heap_look_name(struct heap_look *l, size_t nr);

/* Another allocator than glibc's that it has mapped: its name, its file in @path; or NULL. */
const char *heap_other(const struct image *i, char *path, size_t len);
/* Its private, writable mappings without a file, but stacks: bytes that are there, and in all. */
int heap_other_holds(pid_t pid, __u64 *resident, __u64 *mapped);

#endif
