/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table to test, and blocks whose contents follow from their keys. */
#ifndef _LIVETAB_MAKE_H
#define _LIVETAB_MAKE_H

#include <stdlib.h>

#include "livetab.h"

static struct livetab tab;

static void unmake(void)
{
	free(tab.slots);
	free(tab.heads);
	free(tab.shards);
	memset(&tab, 0, sizeof(tab));
}

static void make(u32 nr, u32 nr_heads, u32 nr_shards, u32 seed)
{
	unmake();
	livetab_init(&tab, calloc(nr, sizeof(struct live)), nr,
		     calloc(nr_heads, sizeof(u32)), nr_heads,
		     calloc(nr_shards, sizeof(struct livetab_shard)), nr_shards, seed);
}

static struct live block_of(u32 space, u64 addr, u32 salt)
{
	return (struct live){
		.addr = addr, .space = space, .size = addr * 3 + salt,
		.ustack = (u32)addr ^ salt, .task = space * 7 + salt,
		.birth = salt, .event = (u16)(salt * 5), .flags = (u16)~salt,
	};
}

static int same_block(const struct live *a, const struct live *b)
{
	return a->addr == b->addr && a->size == b->size && a->space == b->space &&
	       a->ustack == b->ustack && a->task == b->task && a->birth == b->birth &&
	       a->event == b->event && a->flags == b->flags;
}

/* What livetab_put() said; -1: it handed out another block than it replaced. */
static int put(u32 space, u64 addr, u32 salt, u32 old_salt)
{
	struct live b = block_of(space, addr, salt), was, want;
	int ret = livetab_put(&tab, &b, &was);

	if (ret != LIVETAB_REPLACED)
		return ret;
	want = block_of(space, addr, old_salt);
	return same_block(&was, &want) ? ret : -1;
}

/* 1 found and right, 0 not found, -1 wrong */
static int check(int found, const struct live *got, u32 space, u64 addr, u32 salt)
{
	struct live want = block_of(space, addr, salt);

	return !found ? 0 : same_block(got, &want) ? 1 : -1;
}

static inline int take(u32 space, u64 addr, u32 salt)
{
	struct live got;
	int found = livetab_take(&tab, space, addr, &got);

	return check(found, &got, space, addr, salt);
}

static inline int get(u32 space, u64 addr, u32 salt)
{
	struct live got;
	int found = livetab_get(&tab, space, addr, &got);

	return check(found, &got, space, addr, salt);
}

#endif
