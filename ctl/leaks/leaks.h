/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_H
#define _LEAKS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "snap/snap.h"
#include "leaks/suppress.h"
#include "sym/sym.h"

/*
 * Outstanding memory: live blocks by stack, estimates for sampled blocks, suppressed and lost
 * blocks. report/report.c makes rows of them.
 */

/* What is shown unless somebody asks for something else. */
#define LEAKS_TOP	10
#define LEAKS_OLDER_MS	500	/* of what still runs */

/* Live blocks are kept, and reports are about them. */
/* Rows of a table, unless --top says otherwise. */
#define LEAKS_TOP	10

/* How a process was read that went on, for the report. */
enum look_way {
	LOOK_CHANGED,			/* copied, and read while it was stopped what had changed */
	LOOK_AGAIN,			/* copied, and all of it read again */
	LOOK_HELD,			/* read and searched while it was stopped */
	NR_LOOK_WAYS
};

/* For JSON; and the end of a sentence that begins with what was read. */
const char *look_way_name(enum look_way way);
void look_way_text(char *text, size_t len, enum look_way way, __u64 copied, const char *why);
/* Said before a process is stopped: for how long, as it seems, and for how many bytes. */
void look_announce(pid_t pid, __u64 ns, __u64 bytes, __u64 copied);
/* Bytes of it that are swapped out; and what will happen to them, if there are any. */
__u64 look_swapped(pid_t tid);
void look_announce_swapped(pid_t tid, pid_t pid, bool read);

struct leaks_look {
	pid_t pid;
	size_t threads;
	__u64 at_ns;			/* when it stood, by the session's clock */
	__u64 stopped_ns;		/* for so long */
	__u64 copied, read;		/* bytes while it ran, and while it was stopped */
	enum look_way way;
};

static inline bool leaks_kept(const struct snap *s)
{
	return s->header.flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS);
}

/* Of the kernel. */
static inline bool leaks_kernel(const struct snap *s)
{
	return s->header.flags & MEMTAP_CFG_OBJECTS;
}

/*
 * Calls were lost for want of room for blocks or threads: what to give --max-mem, in MiB, a
 * power of two; 0: none were.
 */
unsigned int leaks_more_mib(const struct snap *s);

/* Only some of the blocks are kept: sums are estimates. */
static inline bool leaks_sampled(const struct snap *s)
{
	return s->header.sample_bytes || s->header.sample_rate > 1;
}

/* Blocks: those that are kept, and how many that stands for. */
struct leaks_sum {
	__u64 kept, kept_bytes;
	double blocks, bytes;
	double var_blocks, var_bytes;	/* of these estimates */
};

/* How many blocks one kept block stands for: 1 / p.  Mappings are all kept. */
double leaks_weight(const struct snap *s, const struct memtap_block *b);
void leaks_add(struct leaks_sum *sum, const struct memtap_block *b, double weight);
void leaks_add_sum(struct leaks_sum *sum, const struct leaks_sum *other);
/* As a whole number. */
__s64 leaks_round(double n);
/* Half the interval that holds the true value in 95 of 100 cases. */
double leaks_error(double variance);

/* The suppression of a block, which is looked for once for each stack (and kind of leak). */
struct leaks_known;

struct leaks_known *leaks_known_new(const struct snap *s, struct sym *sym,
				    const struct suppress *suppress);
void leaks_known_free(struct leaks_known *k);
#define LEAKS_NOT_KNOWN	(-1)
/* Its number, LEAKS_NOT_KNOWN, or -ENOMEM. */
int leaks_known_by(struct leaks_known *k, __u32 ustack, __u32 task, enum leak_kind kind);

/* That of the program which was launched: the last one of the first process; or NULL. */
const struct memtap_rec_space *leaks_main_space(const struct snap *s);

/*
 * This free is no mistake of the program: libc itself returns, at the end of a
 * thread, what it kept of blocks that were freed.
 */
bool leaks_own_free(const struct snap *s, struct sym *sym,
		    const struct memtap_rec_mismatch *m);

/* glibc's or musl's libc, by its path? */
bool leaks_is_libc(const char *path);

/* Was each of its allocators followed from its beginning? */
static inline bool leaks_from_start(const struct memtap_rec_space *x)
{
	return (x->flags & (MEMTAP_SPACE_START | MEMTAP_SPACE_NOT_FOLLOWED)) == MEMTAP_SPACE_START;
}

/*
 * The dynamic linker's own: it made this mapping itself, for a library's data or for
 * itself.
 */
bool leaks_by_loader(const struct snap *s, const struct memtap_block *b);
/* Does this user stack end in it? */
bool leaks_in_loader(const struct snap *s, __u32 ustack, __u32 task);

/* For an exit status. */
struct leaks_verdict {
	bool kinds;			/* which blocks of the main space are lost is
					 * known, whatever is of others */
	__u64 blocks, bytes;		/* lost definitely or possibly, also what a program
					 * mapped itself; where that is not known, all blocks
					 * of the main space; not what is suppressed */
	__u64 suppressed, suppressed_bytes;
	__u64 mismatches;		/* frees that cannot be right */
	bool not_followed;		/* of the main space not all is known, see above */
};

/* @suppress may be NULL.  0, or -ENOMEM. */
int leaks_verdict(const struct snap *s, struct sym *sym, const struct suppress *suppress,
		  struct leaks_verdict *v);

/*
 * --trace: a line for a call, below its heading; @event is the name of its event.  ptr is
 * the block that it takes back, ret what it hands out; the size of a block that was only
 * taken back is shown where it was known.
 */
void leaks_trace_head(FILE *out);
void leaks_trace_line(FILE *out, const struct memtap_call *c, const char *event);

#endif
