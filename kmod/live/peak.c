// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each stack allocated, and what of it lived when most memory did: MEMTAP_CFG_PEAK.
 *
 * An allocation counts when it returns, a free when it is called, realloc() when it returns, as
 * one event.  Between these the order of calls is known: what one thread has freed, and another
 * one got, was freed before.  Calls that overlap are in the order in which they are seen.
 */
#include "core/wire.h"
#include "live/marks.h"
#include "live/peak.h"
#include "live/stream.h"

#include "compat/valloc.h"

/* Stacks in a record, and slots that are looked at with interrupts off. */
#define PEAKS_MAX	32
#define FORGET_MAX	256

#define TAG_SHIFT	8
#define TAGS		255U

static u64 table_bytes(const struct memtap_session *s, u32 *nr, u32 *nr_heads)
{
	return peaktab_layout(s->mem_counters, nr, nr_heads);
}

u64 memtap_heap_peak_bytes(const struct memtap_session *s)
{
	u32 nr, nr_heads;

	return s->flags & MEMTAP_CFG_PEAK ? table_bytes(s, &nr, &nr_heads) +
					    sizeof(struct peaktab) : 0;
}

int memtap_heap_peak_init(struct memtap_session *s, u32 seed)
{
	struct memtap_heap *h = s->heap;
	struct peak_stack *stacks;
	u32 *heads, nr, nr_heads;

	if (!(s->flags & MEMTAP_CFG_PEAK))
		return 0;
	table_bytes(s, &nr, &nr_heads);
	h->peaks = memtap_vzalloc(sizeof(*h->peaks));
	stacks = memtap_vzalloc((u64)nr * sizeof(*stacks));
	heads = memtap_vzalloc((u64)nr_heads * sizeof(*heads));
	if (!h->peaks || !stacks || !heads) {
		memtap_vfree(stacks);
		memtap_vfree(heads);
		return -ENOMEM;
	}
	peaktab_init(h->peaks, stacks, nr, heads, nr_heads, seed);
	return 0;
}

void memtap_heap_peak_free(struct memtap_heap *h)
{
	if (!h->peaks)
		return;
	memtap_vfree(h->peaks->stacks);
	memtap_vfree(h->peaks->heads);
	memtap_vfree(h->peaks);
	h->peaks = NULL;
}

/* Tells the blocks of a thread from those that others allocate at the same address. */
u16 memtap_heap_peak_tag(struct memtap_heap *h)
{
	if (!h->peaks)
		return 0;
	return (port_fetch_add(&h->next_tag, 1) % TAGS + 1) << TAG_SHIFT | LIVE_STACK;
}

void memtap_heap_peak_enter(struct memtap_heap *h, struct memtap_heap_thread *th)
{
	if (h->peaks)
		peaktab_own(h->peaks, &th->owner, &memtap_heap_space_of(h, th->space)->peak,
			    peak_who(th->space, th->task_id));
}

/* --- calls ------------------------------------------------------------------ */

static void gone_of(const struct memtap_heap_thread *th, const struct live *b,
		    struct peak_gone *gone)
{
	gone->size = b->size;
	gone->slot = b->flags & LIVE_STACK ? b->task : 0;
	gone->temporary = heap_peak_temporary(th, b);
}

void heap_peak_gone(const struct memtap_heap_cpu *v, const struct live *b)
{
	struct peak_gone gone;

	gone_of(v->th, b, &gone);
	peaktab_remove(v->h->peaks, v->th->owner.space, &gone);
}

void heap_peak_keep(const struct memtap_heap_cpu *v, struct live *b)
{
	struct memtap_heap_thread *th = v->th;
	const bool moved = th->flags & CALL_OLD;
	struct peak_gone gone;
	u32 slot;

	if (moved)
		gone_of(th, &th->old, &gone);
	slot = peaktab_add(v->h->peaks, &th->owner, th->ustack, th->size, moved ? &gone : NULL,
			   memtap_heap_now(v->h));
	if (slot)
		b->task = slot;
	b->flags = slot ? th->tag : th->tag & ~LIVE_STACK;
	th->given = b->addr;
}

u32 memtap_heap_task_of(const struct memtap_heap *h, const struct live *b)
{
	return b->flags & LIVE_STACK ? peak_task(&h->peaks->stacks[b->task]) : b->task;
}

/* --- processes that are gone ------------------------------------------------- */

bool memtap_heap_peak_forget(struct memtap_heap *h, struct memtap_heap_space *sp)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 slot = 0;
	bool more = h->peaks;

	while (more) {
		sc = memtap_enter(&irqflags);
		if (!sc)
			return false;
		more = peaktab_forget(h->peaks, &sp->peak, sp->id, &slot, FORGET_MAX);
		memtap_leave(sc, irqflags);
		cond_resched();
	}
	return true;
}

/* --- records ------------------------------------------------------------------ */

static const struct peak_level *level_of(void *ctx, u32 space)
{
	struct memtap_heap *h = ctx;
	const struct memtap_heap_space *sp = memtap_heap_space_of(h, space);

	return sp->id == space ? &sp->peak : NULL;
}

static void write_stack(struct memtap_peak_stack *to, const struct peak_told *from)
{
	to->space = from->space;
	to->task = from->task;
	to->ustack = from->ustack;
	to->allocs = from->allocs;
	to->bytes = from->bytes;
	to->frees = from->frees;
	to->freed_bytes = from->freed_bytes;
	to->temporary = from->temporary;
	to->temporary_bytes = from->temporary_bytes;
	to->peak_blocks = from->peak_blocks[PEAK_SPACE];
	to->peak_bytes = from->peak_bytes[PEAK_SPACE];
	to->all_peak_blocks = from->peak_blocks[PEAK_ALL];
	to->all_peak_bytes = from->peak_bytes[PEAK_ALL];
}

/* pos: the slot to go on from */
MEMTAP_HEAP_PUT(peaks)
{
	struct memtap_heap *h = s->heap;
	struct memtap_rec_peaks *r;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 nr, i;

	if (!h->peaks)
		return NULL;
	r = wire_begin(buf, room, MEMTAP_REC_PEAKS,
		       sizeof(*r) + PEAKS_MAX * sizeof(r->at[0]));
	if (!r)
		return NULL;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return NULL;
	nr = peaktab_read(h->peaks, level_of, h, pos, c->peaks, PEAKS_MAX);
	memtap_leave(sc, irqflags);
	if (!nr)
		return NULL;
	for (i = 0; i < nr; i++)
		write_stack(&r->at[i], &c->peaks[i]);
	r->nr = nr;
	r->rec.len = sizeof(*r) + nr * sizeof(r->at[0]);
	return r;
}

/* Of all, or of a space. */
static void read_level(struct memtap_heap *h, const struct memtap_heap_space *sp,
		       struct peak_level *l)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;

	memset(l, 0, sizeof(*l));
	sc = h->peaks ? memtap_enter(&irqflags) : NULL;
	if (!sc)
		return;
	if (sp)
		peaktab_space(h->peaks, &sp->peak, l);
	else
		peaktab_all(h->peaks, l);
	memtap_leave(sc, irqflags);
}

MEMTAP_HEAP_PUT(peak)
{
	struct memtap_heap *h = s->heap;
	struct memtap_rec_peak *r;
	struct peak_level l;

	if (!h->peaks || (*pos)++)
		return NULL;
	read_level(h, NULL, &l);
	r = wire_begin(buf, room, MEMTAP_REC_PEAK, sizeof(*r));
	if (!r)
		return NULL;
	r->bytes = peak_live(&l);
	r->peak_bytes = l.peak;
	r->peak_number = l.number;
	r->peak_ns = l.number ? memtap_alloc_time_ns(s, l.time) : 0;
	r->size = h->peaks->nr - 1;
	r->used = READ_ONCE(h->peaks->used);
	r->lost = READ_ONCE(h->peaks->lost);
	return r;
}

void memtap_heap_peak_space(struct memtap_session *s, const struct memtap_heap_space *sp,
			    struct memtap_rec_space *r)
{
	struct peak_level l;

	read_level(s->heap, sp, &l);
	r->peak_bytes = l.peak;
	r->peak_number = l.number;
	r->peak_ns = l.number ? memtap_alloc_time_ns(s, l.time) : 0;
}
