// SPDX-License-Identifier: GPL-2.0-only
/* Write a session's live blocks as records. */
#include "core/wire.h"
#include "live/marks.h"
#include "live/stream.h"
#include "record/record.h"
#include "record/recording.h"

/* Blocks in a record; a chain of the table fits in any case. */
#define BLOCKS_MAX	(2 * LIVETAB_CHAIN)

void memtap_heap_rewind(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct memtap_heap_space *sp;
	u32 id;

	if (s->state == MEMTAP_RUNNING)
		memtap_heap_measure(h);
	for (id = 1; id < h->used_spaces; id++) {
		sp = &h->spaces[id];
		sp->blocks = 0;
		sp->bytes = 0;
		sp->maps = 0;
		sp->maps_bytes = 0;
		sp->inner_maps = 0;
		sp->inner_bytes = 0;
	}
}

MEMTAP_HEAP_PUT(totals)
{
	struct memtap_heap_account a;
	struct memtap_rec_heap *r;
	u32 event;

	while (*pos < s->nr_events && !s->heap->events[*pos].op)
		(*pos)++;
	if (*pos >= s->nr_events)
		return NULL;
	event = (*pos)++;
	memtap_heap_sum(s->heap, event, &a);
	r = wire_begin(buf, room, MEMTAP_REC_HEAP, sizeof(*r));
	r->event = event;
	r->op = s->heap->events[event].op;
	r->family = s->heap->events[event].family;
	r->probes = s->heap->events[event].probes;
	r->allocs = a.allocs;
	r->bytes = a.bytes;
	r->kept = a.kept;
	r->kept_bytes = a.kept_bytes;
	r->failed = a.failed;
	r->frees = a.frees;
	r->freed_bytes = a.freed_bytes;
	r->unknown = a.unknown;
	r->null = a.null;
	r->inner = a.inner;
	return r;
}

/* Blocks that wait to be purged are gone already. */
static bool is_gone(const struct memtap_heap *h, u32 space)
{
	return READ_ONCE(memtap_heap_space_of(h, space)->purge);
}

static void write_block(const struct memtap_session *s, struct memtap_block *to,
			const struct live *from)
{
	to->addr = from->addr;
	to->size = from->size;
	to->birth_ns = memtap_alloc_time_ns(s, from->birth);
	to->ustack = from->ustack;
	to->task = memtap_heap_task_of(s->heap, from);
	to->space = from->space;
	to->event = from->event;
	to->flags = 0;
}

u32 memtap_heap_read_chain(struct memtap_heap *h, u32 head, struct live *out)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 nr;

	if (!READ_ONCE(h->table.heads[head]))
		return 0;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return 0;
	nr = livetab_read(&h->table, head, out);
	memtap_leave(sc, irqflags);
	return nr;
}

static u32 add_chain(struct memtap_session *s, const struct live *chain, u32 nr,
		     struct memtap_block *to)
{
	struct memtap_heap_space *sp;
	u32 i, n = 0;

	for (i = 0; i < nr; i++) {
		sp = memtap_heap_space_of(s->heap, chain[i].space);
		if (is_gone(s->heap, chain[i].space))
			continue;
		sp->blocks++;
		sp->bytes += chain[i].size;
		write_block(s, &to[n++], &chain[i]);
	}
	return n;
}

static void *end_blocks(struct memtap_rec_blocks *r, u32 nr)
{
	if (!nr)
		return NULL;
	r->nr = nr;
	r->rec.len = sizeof(*r) + nr * sizeof(r->at[0]);
	return r;
}

/* pos: head of the table */
MEMTAP_HEAP_PUT(blocks)
{
	struct memtap_heap *h = s->heap;
	struct memtap_rec_blocks *r;
	u32 nr = 0;

	r = wire_begin(buf, room, MEMTAP_REC_BLOCKS,
		       sizeof(*r) + BLOCKS_MAX * sizeof(r->at[0]));
	if (!r)
		return NULL;
	for (; *pos <= h->table.head_mask && nr <= BLOCKS_MAX - LIVETAB_CHAIN; (*pos)++)
		nr += add_chain(s, c->chain, memtap_heap_read_chain(h, *pos, c->chain),
				&r->at[nr]);
	return end_blocks(r, nr);
}

static bool next_mapping(struct memtap_heap *h, struct memtap_heap_cursor *c,
			 struct mapping *out)
{
	const struct mapping *m = NULL;
	struct memtap_scratch *sc;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	raw_spin_lock(&h->lock);
	m = mapset_from(&h->maps, c->space, c->start);
	if (m)
		*out = *m;
	raw_spin_unlock(&h->lock);
	memtap_leave(sc, irqflags);
	if (!m)
		return false;
	c->space = out->space;
	c->start = out->start + 1;
	return true;
}

static void add_mapping(struct memtap_session *s, const struct mapping *m,
			struct memtap_block *to)
{
	struct memtap_heap_space *sp = memtap_heap_space_of(s->heap, m->space);
	u64 size = m->end - m->start;

	if (m->flags & MEMTAP_BLOCK_INNER) {
		sp->inner_maps++;
		sp->inner_bytes += size;
	} else {
		sp->maps++;
		sp->maps_bytes += size;
	}
	to->addr = m->start;
	to->size = size;
	to->birth_ns = memtap_alloc_time_ns(s, m->birth);
	to->ustack = m->ustack;
	to->task = m->task;
	to->space = m->space;
	to->event = m->event;
	to->flags = m->flags;
}

MEMTAP_HEAP_PUT(maps)
{
	struct memtap_rec_blocks *r;
	struct mapping m;
	u32 nr = 0;

	memset(&m, 0, sizeof(m));
	if (!(*pos)++) {
		c->space = 0;
		c->start = 0;
	}
	r = wire_begin(buf, room, MEMTAP_REC_BLOCKS,
		       sizeof(*r) + BLOCKS_MAX * sizeof(r->at[0]));
	while (r && nr < BLOCKS_MAX && next_mapping(s->heap, c, &m))
		if (!is_gone(s->heap, m.space))
			add_mapping(s, &m, &r->at[nr++]);
	return r ? end_blocks(r, nr) : NULL;
}

MEMTAP_HEAP_PUT(mismatches)
{
	const struct memtap_heap_mismatch *m;
	struct memtap_rec_mismatch *r;

	if (*pos >= smp_load_acquire(&s->heap->nr_mismatches))
		return NULL;
	m = &s->heap->mismatches[(*pos)++];
	r = wire_begin(buf, room, MEMTAP_REC_MISMATCH, sizeof(*r));
	r->kind = m->kind;
	r->event = m->event;
	r->task = m->task;
	r->alloc_event = m->alloc_event;
	r->stack = m->stack;
	r->alloc_stack = m->alloc_stack;
	r->free_stack = m->free_stack;
	r->addr = m->addr;
	r->size = m->size;
	r->count = READ_ONCE(m->count);
	r->ns = m->ns;
	return r;
}

/* What is kept at a time and what is summed up may be of slightly different moments. */
static u64 reserved(u64 bytes, s64 writable)
{
	return writable <= 0 ? bytes : bytes - min_t(u64, bytes, writable);
}

/* After the blocks, which were counted on the way; pos: number of the last one */
MEMTAP_HEAP_PUT(spaces)
{
	const struct memtap_heap_space *sp;
	struct memtap_rec_space *r;
	u32 id = ++*pos;

	if (id >= READ_ONCE(s->heap->used_spaces))
		return NULL;
	sp = &s->heap->spaces[id];
	r = wire_begin(buf, room, MEMTAP_REC_SPACE, sizeof(*r));
	r->id = sp->id;
	r->flags = sp->flags;
	r->task = sp->task;
	r->pid = sp->pid;
	r->begin_ns = sp->begin_ns;
	r->end_ns = sp->end_ns;
	r->heap_then = sp->heap_then;
	r->heap_now = sp->heap_now;
	r->vm_then = sp->vm_then;
	r->vm_now = sp->vm_now;
	r->rss_then = sp->rss_then;
	r->rss_now = sp->rss_now;
	r->blocks = sp->blocks;
	r->bytes = sp->bytes;
	r->maps = sp->maps;
	r->maps_bytes = sp->maps_bytes;
	r->inner_maps = sp->inner_maps;
	r->inner_bytes = sp->inner_bytes;
	r->purged = sp->purged;
	r->purged_bytes = sp->purged_bytes;
	r->unknown = atomic64_read(&sp->unknown);
	r->replaced = atomic64_read(&sp->replaced);
	r->maps_reserved = reserved(sp->maps_bytes, READ_ONCE(sp->writable[0]));
	r->inner_reserved = reserved(sp->inner_bytes, READ_ONCE(sp->writable[1]));
	r->earlier_came = READ_ONCE(sp->earlier_came);
	r->earlier_gone = READ_ONCE(sp->earlier_gone);
	memtap_heap_peak_space(s, sp, r);
	return r;
}
