// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash index that numbers distinct things 0, 1, 2, ... in the order of adding. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "base/ids.h"

__u32 ids_find(const struct ids *t, __u64 hash, ids_same_fn same,
	       const void *things, const void *key)
{
	if (!t->slots)
		return IDS_NONE;
	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		__u32 id = t->slots[i] - 1;

		if (t->hashes[id] == hash && same(things, id, key))
			return id;
	}
	return IDS_NONE;
}

static void link_id(struct ids *t, __u32 id)
{
	size_t i = t->hashes[id] & t->mask;

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = id + 1;
}

static bool grow(struct ids *t)
{
	size_t room = t->room ? 2 * t->room : 512;
	__u64 *hashes = reallocarray(t->hashes, room, sizeof(*hashes));
	__u32 *slots;

	if (!hashes)
		return false;
	t->hashes = hashes;
	slots = calloc(2 * room, sizeof(*slots));
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->room = room;
	t->mask = 2 * room - 1;
	for (size_t id = 0; id < t->nr; id++)
		link_id(t, id);
	return true;
}

__u32 ids_add(struct ids *t, __u64 hash)
{
	if (t->nr == t->room && (t->nr > UINT32_MAX / 4 || !grow(t)))
		return IDS_NONE;
	t->hashes[t->nr] = hash;
	link_id(t, t->nr);
	return t->nr++;
}

void ids_free(struct ids *t)
{
	free(t->slots);
	free(t->hashes);
	*t = (struct ids){ 0 };
}

void *ids_grow(void *things, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 512;
	void *p;

	if (nr < *room)
		return things;
	p = reallocarray(things, more, size);
	if (p)
		*room = more;
	return p;
}

__u64 ids_hash_string(__u64 h, const char *text)
{
	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return ids_mix(h, 1);
}
