/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _IDS_H
#define _IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

/*
 * Numbers for distinct things: 0, 1, 2, ... in the order of adding.  This is the hash index; the
 * caller stores and compares the things.
 */
struct ids {
	__u32 *slots;		/* number + 1; 0: empty */
	__u64 *hashes;		/* by number */
	size_t mask, nr, room;
};

#define IDS_NONE	UINT32_MAX

typedef bool (*ids_same_fn)(const void *things, __u32 id, const void *key);

/* The number of an equal thing, or IDS_NONE. */
__u32 ids_find(const struct ids *t, __u64 hash, ids_same_fn same,
	       const void *things, const void *key);
/* A new number for a thing that is not there yet; IDS_NONE: no memory. */
__u32 ids_add(struct ids *t, __u64 hash);
void ids_free(struct ids *t);

/*
 * Room for a thing number @nr in an array beside the numbers, which may move: @room things
 * have room now, 0 at first.  NULL: no memory, and the array is as it was.
 */
void *ids_grow(void *things, size_t nr, size_t *room, size_t size);

static inline __u64 ids_mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 32);
}

__u64 ids_hash_string(__u64 h, const char *text);

#endif
