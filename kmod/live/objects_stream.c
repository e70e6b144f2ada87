// SPDX-License-Identifier: GPL-2.0-only
/* Write the kernel objects of a session and their caches as records. */
#include "core/wire.h"
#include "live/marks.h"
#include "live/objects.h"
#include "live/stream.h"
#include "record/record.h"

#define BLOCKS_MAX	(2 * LIVETAB_CHAIN)	/* a chain fits in any case */
#define EVENT_SHIFT	8			/* see objects.c */

MEMTAP_HEAP_PUT(object_totals)
{
	const struct memtap_objects_table *t = s->objects;
	struct memtap_heap_account a;
	struct memtap_rec_heap *r;
	u32 event;

	while (*pos < s->nr_events && !t->op[*pos])
		(*pos)++;
	if (*pos >= s->nr_events)
		return NULL;
	event = (*pos)++;
	memtap_objects_sum(t, event, &a);
	r = wire_begin(buf, room, MEMTAP_REC_HEAP, sizeof(*r));
	r->event = event;
	r->op = t->op[event];
	r->allocs = a.allocs;
	r->bytes = a.bytes;
	r->kept = a.kept;
	r->kept_bytes = a.kept_bytes;
	r->failed = a.failed;
	r->frees = a.frees;
	r->freed_bytes = a.freed_bytes;
	r->unknown = a.unknown;
	r->null = a.null;
	return r;
}

u32 memtap_objects_read(struct memtap_objects_table *t, u32 head, struct live *out)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 nr, i;

	if (!READ_ONCE(t->table.heads[head]))
		return 0;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return 0;
	nr = livetab_read(&t->table, head, out);
	memtap_leave(sc, irqflags);
	/* without the CPU beside it */
	for (i = 0; i < nr; i++)
		out[i].size = memtap_object_bytes(&out[i]);
	return nr;
}

static void write_block(const struct memtap_session *s, struct memtap_block *to,
			const struct live *from)
{
	to->addr = from->addr;
	to->size = from->size;
	to->birth_ns = memtap_alloc_time_ns(s, from->birth);
	to->ustack = from->ustack;
	to->task = from->task;
	to->space = from->event;
	to->event = from->flags >> EVENT_SHIFT;
	to->flags = from->flags & ((1U << EVENT_SHIFT) - 1);
}

/* pos: head of the table */
MEMTAP_HEAP_PUT(objects)
{
	struct memtap_objects_table *t = s->objects;
	struct memtap_rec_blocks *r;
	u32 nr = 0, n, i;

	r = wire_begin(buf, room, MEMTAP_REC_BLOCKS,
		       sizeof(*r) + BLOCKS_MAX * sizeof(r->at[0]));
	if (!r)
		return NULL;
	for (; *pos <= t->table.head_mask && nr <= BLOCKS_MAX - LIVETAB_CHAIN; (*pos)++) {
		n = memtap_objects_read(t, *pos, c->chain);
		for (i = 0; i < n; i++)
			write_block(s, &r->at[nr++], &c->chain[i]);
	}
	if (!nr)
		return NULL;
	r->nr = nr;
	r->rec.len = sizeof(*r) + nr * sizeof(r->at[0]);
	return r;
}

static u32 kind_of(u32 id)
{
	switch (id) {
	case CACHETAB_LARGE:
		return MEMTAP_CACHE_LARGE;
	case CACHETAB_OTHER:
		return MEMTAP_CACHE_OTHER;
	case CACHETAB_PERCPU:
		return MEMTAP_CACHE_PERCPU;
	case CACHETAB_VMALLOC:
		return MEMTAP_CACHE_VMALLOC;
	case CACHETAB_VMAP:
		return MEMTAP_CACHE_VMAP;
	default:
		return id < CACHETAB_FIRST ? MEMTAP_CACHE_PAGES : MEMTAP_CACHE_SLAB;
	}
}

/* After the objects, which name them; pos: number of the last one */
MEMTAP_HEAP_PUT(caches)
{
	const struct memtap_objects_table *t = s->objects;
	const u32 used = smp_load_acquire(&t->caches.used);
	struct memtap_object_sums sum;
	struct memtap_rec_cache *r;
	u32 id = ++*pos;

	while (id < CACHETAB_FIRST && !t->caches.entries[id].name[0])
		id = ++*pos;
	if (id >= used)
		return NULL;
	memtap_objects_sum_cache(t, id, &sum);
	r = wire_begin(buf, room, MEMTAP_REC_CACHE, sizeof(*r));
	r->id = id;
	r->kind = kind_of(id);
	r->object_size = READ_ONCE(t->caches.entries[id].size);
	r->allocs = sum.allocs;
	r->bytes = sum.bytes;
	r->frees = sum.frees;
	r->freed_bytes = sum.freed_bytes;
	r->unknown = sum.unknown;
	r->unknown_bytes = sum.unknown_bytes;
	r->lost = sum.lost;
	r->lost_bytes = sum.lost_bytes;
	r->replaced = sum.replaced;
	r->replaced_bytes = sum.replaced_bytes;
	r->reclaimable = sum.reclaimable;
	r->movable = sum.movable;
	r->waste = sum.waste;
	r->remote = sum.remote;
	memcpy(r->name, t->caches.entries[id].name, sizeof(r->name));
	return r;
}
