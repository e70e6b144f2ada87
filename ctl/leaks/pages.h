/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PAGES_H
#define _PAGES_H

/*
 * copy_pages.c: the copied pages of another process.  For each mapping as much of our address
 * space is reserved.  Only copied pages take memory.
 */
#include <stdbool.h>
#include <stddef.h>

#include "leaks/reach_int.h"

#define PAGES_SHIFT	12
#define PAGES_SIZE	(1ULL << PAGES_SHIFT)

struct kept {
	struct area area;		/* as it was mapped */
	unsigned char *bytes;		/* of all of it, */
	__u64 *have;			/* of which these pages, by bit, are there; */
	__u64 *wrote;			/* and these were seen to be written to */
};

struct pages {
	struct kept *at;		/* by address */
	size_t nr, room;
	size_t last;			/* where something was found */
	__u64 bytes;			/* that were copied, and are kept */
};

/* Room for one more mapping, behind the others; -ENOMEM. */
int pages_reserve(struct pages *p, const struct area *a);
/*
 * The same with what @from has of it, if that begins at the same address and has the same
 * rights and the same file.  *@same: so many bytes are still where they were.
 */
int pages_move(struct pages *p, const struct area *a, struct pages *from, __u64 *same);
/* The page at @addr is there, with these bytes; unless no mapping is kept there. */
void pages_put(struct pages *p, __u64 addr, const void *page);
/* The mapping with @addr that is kept, or NULL. */
const struct kept *pages_find(struct pages *p, __u64 addr);
/* How many bytes from @addr on are there, up to @len, and the same into @buf. */
size_t pages_read(struct pages *p, __u64 addr, void *buf, size_t len);
/*
 * The same where they lie: *@len bytes from @addr on, at most as many as it was.  NULL: the next
 * *@len are not there.
 */
const void *pages_at(struct pages *p, __u64 addr, size_t *len);
/* From where on up to @at, not before @start, all pages are there. */
__u64 pages_from(struct pages *p, __u64 start, __u64 at);
/* The first address of [@addr, @end) whose page is there; or @end. */
__u64 pages_next(struct pages *p, __u64 addr, __u64 end);
/* Pages of @k from @from on up to @to are not there. */
void pages_forget(struct pages *p, struct kept *k, __u64 from, __u64 to);
/* Nothing of @k is there. */
void pages_clear(struct pages *p, struct kept *k);
void pages_free(struct pages *p);

static inline bool pages_bit(const __u64 *bits, __u64 page)
{
	return bits[page / 64] >> page % 64 & 1;
}

static inline void pages_set_bit(__u64 *bits, __u64 page, bool on)
{
	if (on)
		bits[page / 64] |= 1ULL << page % 64;
	else
		bits[page / 64] &= ~(1ULL << page % 64);
}

/* It is there now, or it is not. */
static inline void pages_set(struct pages *p, struct kept *k, __u64 page, bool on)
{
	if (pages_bit(k->have, page) == on)
		return;
	pages_set_bit(k->have, page, on);
	p->bytes += on ? PAGES_SIZE : -PAGES_SIZE;
}

#endif
