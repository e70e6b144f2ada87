// SPDX-License-Identifier: GPL-2.0-or-later
/* Print intervals of a recording of live blocks: new and freed blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/leaks.h"
#include "render/save.h"

struct level_key {
	__u32 flags, task, ustack;
};

/* What lives with one key, and of it what was not there at the last look. */
struct amount {
	double blocks, bytes;
};

/*
 * Whoever is younger than the youngest that was seen is new.  When the look was taken does not
 * tell: blocks come while it is.
 */
struct save_level {
	struct level_key key;
	struct amount before, now, born;
	__u64 youngest, seen;		/* births: at the last look, and now */
};

static bool same_level(const void *things, __u32 id, const void *key)
{
	return !memcmp(&((const struct save_level *)things)[id].key, key,
		       sizeof(struct level_key));
}

static struct save_level *level_of(struct save_liveds *all, const struct memtap_block *b)
{
	const struct level_key key = { b->flags & MEMTAP_BLOCK_MAPPING, b->task, b->ustack };
	const __u64 hash = ids_mix(ids_mix(key.flags, key.task), key.ustack);
	__u32 id = ids_find(&all->ids, hash, same_level, all->levels, &key);
	struct save_level *more;

	if (id != IDS_NONE)
		return &all->levels[id];
	more = ids_grow(all->levels, all->ids.nr, &all->room, sizeof(*more));
	if (!more)
		return NULL;
	all->levels = more;
	id = ids_add(&all->ids, hash);
	if (id == IDS_NONE)
		return NULL;
	more[id] = (struct save_level){ .key = key };
	return &more[id];
}

static void add(struct amount *a, const struct memtap_block *b, double weight)
{
	a->blocks += weight;
	a->bytes += weight * (double)b->size;
}

static int look(struct save_liveds *all, const struct snap *now)
{
	struct snap_walk w = { .snap = now };
	struct save_level *l;
	double weight;

	for (size_t i = 0; i < all->ids.nr; i++) {
		all->levels[i].before = all->levels[i].now;
		all->levels[i].now = all->levels[i].born = (struct amount){ 0, 0 };
		all->levels[i].youngest = all->levels[i].seen;
	}
	while (snap_next_block(&w)) {
		if (w.block->flags & MEMTAP_BLOCK_INNER)
			continue;
		l = level_of(all, w.block);
		if (!l)
			return -ENOMEM;
		weight = leaks_weight(now, w.block);
		add(&l->now, w.block, weight);
		if (w.block->birth_ns > l->youngest)
			add(&l->born, w.block, weight);
		if (w.block->birth_ns > l->seen)
			l->seen = w.block->birth_ns;
	}
	return 0;
}

/*
 * Births are told in ticks of the kernel's clock, and mappings are cut and grow: what there is
 * more than the births explain is new, too, so that the sums are what there is.
 */
static void turn(double before, double now, double born, __u64 *fresh, __u64 *gone)
{
	const __s64 change = leaks_round(now) - leaks_round(before);
	const __s64 new = leaks_round(born);

	*fresh = (__u64)(new > change ? new : change > 0 ? change : 0);
	*gone = (__u64)((__s64)*fresh - change);
}

static bool make_row(const struct save_level *l, struct memtap_lived_row *row)
{
	*row = (struct memtap_lived_row){
		.flags = l->key.flags, .task = l->key.task, .ustack = l->key.ustack,
	};
	turn(l->before.blocks, l->now.blocks, l->born.blocks, &row->blocks, &row->freed);
	turn(l->before.bytes, l->now.bytes, l->born.bytes, &row->bytes, &row->freed_bytes);
	return row->blocks || row->freed || row->bytes || row->freed_bytes;
}

int save_liveds_add(struct save_liveds *all, const struct snap *now)
{
	const __u64 from = all->now_ns ? all->now_ns : now->header.start_ns;
	struct memtap_lived_row *rows;
	struct save_part *to;
	int err = 0;

	/* (a part without length is none) */
	if (from >= now->header.now_ns)
		return 0;
	if (all->nr == SAVE_SPANS)
		err = save_halve(all->at, &all->nr, sizeof(*rows));
	if (!err)
		err = look(all, now);
	if (err)
		return err;
	rows = calloc(all->ids.nr + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	to = &all->at[all->nr];
	*to = (struct save_part){ from, now->header.now_ns, rows, 0 };
	for (size_t i = 0; i < all->ids.nr; i++)
		to->nr += make_row(&all->levels[i], &rows[to->nr]);
	all->nr++;
	all->now_ns = now->header.now_ns;
	return 0;
}

void save_liveds_free(struct save_liveds *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->at[i].rows);
	free(all->levels);
	ids_free(&all->ids);
	memset(all, 0, sizeof(*all));
}
