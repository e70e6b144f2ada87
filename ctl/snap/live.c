// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode the live part of a snapshot: blocks, address spaces, allocator counts and errors.  There
 * may be more than a hundred thousand blocks.  They are not copied out of the stream.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snap/int.h"

/* ---- records ---- */

int snap_take_blocks(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_blocks *r = (const void *)rec;
	struct snap *s = d->s;

	if (r->nr > (rec->len - sizeof(*r)) / sizeof(r->at[0]) ||
	    r->nr > UINT32_MAX - s->nr_blocks)
		return snap_bad(d->err, -EBADMSG, "record %llu is too short for its %u blocks",
				(unsigned long long)d->nr, r->nr);
	if (r->nr)
		s->runs[s->nr_runs++] = (struct snap_run){ r->at, r->nr, s->nr_blocks };
	s->nr_blocks += r->nr;
	return 0;
}

int snap_take_heap(struct decoder *d, const struct memtap_rec *rec)
{
	memcpy(&d->s->heaps[d->s->nr_heaps++], rec, sizeof(*d->s->heaps));
	return 0;
}

int snap_take_space(struct decoder *d, const struct memtap_rec *rec)
{
	struct memtap_rec_space *s = &d->s->spaces[d->s->nr_spaces++];

	/* it has grown since the first release */
	memcpy(s, rec, rec->len < sizeof(*s) ? rec->len : sizeof(*s));
	return 0;
}

int snap_take_cache(struct decoder *d, const struct memtap_rec *rec)
{
	struct memtap_rec_cache *c = &d->s->caches[d->s->nr_caches++];

	/* it has grown since */
	memcpy(c, rec, rec->len < sizeof(*c) ? rec->len : sizeof(*c));
	c->name[sizeof(c->name) - 1] = 0;
	return 0;
}

int snap_take_mismatch(struct decoder *d, const struct memtap_rec *rec)
{
	memcpy(&d->s->mismatches[d->s->nr_mismatches++], rec, sizeof(*d->s->mismatches));
	return 0;
}

int snap_take_reach(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_reach *r = (const void *)rec;

	if (r->nr > (rec->len - sizeof(*r)) / sizeof(r->addr[0]))
		return snap_bad(d->err, -EBADMSG, "record %llu is too short for its %u addresses",
				(unsigned long long)d->nr, r->nr);
	if (r->kind <= LEAK_UNKNOWN || r->kind >= NR_LEAK_KINDS)
		return snap_bad(d->err, -EBADMSG, "record %llu has an unknown kind of leak, %u",
				(unsigned long long)d->nr, r->kind);
	d->s->reaches[d->s->nr_reaches++] = r;
	return 0;
}

int snap_take_held(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_held *r = (const void *)rec;

	if (r->nr > (rec->len - sizeof(*r)) / sizeof(r->addr[0]))
		return snap_bad(d->err, -EBADMSG, "record %llu is too short for its %u addresses",
				(unsigned long long)d->nr, r->nr);
	if (!memchr(r->kind, 0, sizeof(r->kind)) || !memchr(r->holder, 0, sizeof(r->holder)))
		return snap_bad(d->err, -EBADMSG, "record %llu: the name of a kind or a holder is "
				"not terminated", (unsigned long long)d->nr);
	d->s->held_recs[d->s->nr_held_recs++] = r;
	return 0;
}

int snap_take_peaks(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_peaks *r = (const void *)rec;

	if (r->nr > (rec->len - sizeof(*r)) / sizeof(r->at[0]))
		return snap_bad(d->err, -EBADMSG, "record %llu is too short for its %u stacks",
				(unsigned long long)d->nr, r->nr);
	d->s->peaks[d->s->nr_peaks++] = (struct snap_peaks){ r->at, r->nr };
	return 0;
}

int snap_take_peak(struct decoder *d, const struct memtap_rec *rec)
{
	const size_t size = sizeof(d->s->peak);

	/* it will grow */
	memcpy(&d->s->peak, rec, rec->len < size ? rec->len : size);
	return 0;
}

/* ---- checked, and looked up ---- */

static int cmp_u64(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static int cmp_heap(const void *a, const void *b)
{
	const struct memtap_rec_heap *x = a, *y = b;

	return cmp_u64(x->event, y->event);
}

static int cmp_space(const void *a, const void *b)
{
	const struct memtap_rec_space *x = a, *y = b;

	return cmp_u64(x->id, y->id);
}

static int cmp_cache(const void *a, const void *b)
{
	const struct memtap_rec_cache *x = a, *y = b;

	return cmp_u64(x->id, y->id);
}

/* All that tells one from others: the rest counts. */
static int cmp_mismatch(const void *a, const void *b)
{
	const struct memtap_rec_mismatch *x = a, *y = b;
	const __u64 pairs[][2] = {
		{ x->kind, y->kind }, { x->event, y->event }, { x->task, y->task },
		{ x->alloc_event, y->alloc_event }, { x->stack, y->stack },
		{ x->alloc_stack, y->alloc_stack }, { x->free_stack, y->free_stack },
		{ x->ns, y->ns }, { x->addr, y->addr },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] != pairs[i][1])
			return cmp_u64(pairs[i][0], pairs[i][1]);
	return 0;
}

const struct memtap_rec_heap *snap_heap(const struct snap *s, __u32 event)
{
	const struct memtap_rec_heap key = { .event = event };

	return s->nr_heaps ? bsearch(&key, s->heaps, s->nr_heaps, sizeof(key), cmp_heap) : NULL;
}

const struct memtap_rec_space *snap_space(const struct snap *s, __u32 id)
{
	const struct memtap_rec_space key = { .id = id };

	return s->nr_spaces ? bsearch(&key, s->spaces, s->nr_spaces, sizeof(key), cmp_space) :
			      NULL;
}

const struct memtap_rec_cache *snap_cache(const struct snap *s, __u32 id)
{
	const struct memtap_rec_cache key = { .id = id };

	return s->nr_caches ? bsearch(&key, s->caches, s->nr_caches, sizeof(key), cmp_cache) :
			      NULL;
}

static int check_event(const struct snap *s, const char *what, __u32 id, char *err)
{
	if (!snap_event(s, id))
		return snap_bad(err, -EBADMSG, "%s refers to event %u, which does not exist",
				what, id);
	return 0;
}

static int check_task(const struct snap *s, const char *what, __u32 id, char *err)
{
	if (id >= MEMTAP_TASK_FIRST && !snap_task(s, id))
		return snap_bad(err, -EBADMSG, "%s refers to task %u, which does not exist",
				what, id);
	return 0;
}

static int check_stack(const struct snap *s, const char *what, __u32 id, char *err)
{
	if (id >= MEMTAP_STACK_FIRST && !snap_stack(s, id))
		return snap_bad(err, -EBADMSG, "%s refers to stack %u, which does not exist",
				what, id);
	return 0;
}

static int check_space(const struct snap *s, const char *what, __u32 id, char *err)
{
	if (!snap_space(s, id))
		return snap_bad(err, -EBADMSG, "%s refers to space %u, which does not exist",
				what, id);
	return 0;
}

/* Whose it is: an address space's, or of the kernel's, a cache's. */
static int check_owner(const struct snap *s, const struct memtap_block *b, char *err)
{
	if (!(b->flags & MEMTAP_BLOCK_KERNEL))
		return check_space(s, "a block", b->space, err);
	if (!snap_cache(s, b->space))
		return snap_bad(err, -EBADMSG, "a block refers to cache %u, which does not exist",
				b->space);
	return 0;
}

static int check_blocks(const struct snap *s, char *err)
{
	struct snap_walk w = { .snap = s };
	int ret = 0;

	while (!ret && snap_next_block(&w)) {
		ret = check_event(s, "a block", w.block->event, err);
		if (!ret)
			ret = check_task(s, "a block", w.block->task, err);
		if (!ret)
			ret = check_stack(s, "a block", w.block->ustack, err);
		if (!ret)
			ret = check_owner(s, w.block, err);
	}
	return ret;
}

static int check_liveds(const struct snap *s, char *err)
{
	static const char what[] = "an interval";
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr_liveds; i++)
		for (__u32 k = 0; !ret && k < s->liveds[i]->nr; k++) {
			ret = check_task(s, what, s->liveds[i]->at[k].task, err);
			if (!ret)
				ret = check_stack(s, what, s->liveds[i]->at[k].ustack, err);
		}
	return ret;
}

/* Their spaces may be gone. */
static int check_peaks(const struct snap *s, char *err)
{
	static const char what[] = "a stack of a peak";
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr_peaks; i++)
		for (__u32 k = 0; !ret && k < s->peaks[i].nr; k++) {
			ret = check_task(s, what, s->peaks[i].at[k].task, err);
			if (!ret)
				ret = check_stack(s, what, s->peaks[i].at[k].ustack, err);
		}
	return ret;
}

static int check_mismatch(const struct snap *s, const struct memtap_rec_mismatch *m, char *err)
{
	static const char what[] = "a mismatch";
	int ret = check_event(s, what, m->event, err);

	if (!ret && m->alloc_event != ~0U)
		ret = check_event(s, what, m->alloc_event, err);
	if (!ret)
		ret = check_task(s, what, m->task, err);
	if (!ret)
		ret = check_stack(s, what, m->stack, err);
	if (!ret)
		ret = check_stack(s, what, m->alloc_stack, err);
	return ret ? ret : check_stack(s, what, m->free_stack, err);
}

static int check_pending(const struct snap *s, const struct memtap_rec_pending *p, char *err)
{
	const char *what = "a call in progress";
	int ret = check_event(s, what, p->event, err);

	if (!ret)
		ret = check_task(s, what, p->task, err);
	if (!ret)
		ret = check_stack(s, what, p->kstack, err);
	return ret ? ret : check_stack(s, what, p->ustack, err);
}

static int check_rest(const struct snap *s, char *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr_heaps; i++) {
		ret = check_event(s, "a HEAP record", s->heaps[i].event, err);
		if (!ret && i && !cmp_heap(&s->heaps[i - 1], &s->heaps[i]))
			ret = snap_bad(err, -EBADMSG, "it has two HEAP records for one event");
	}
	for (size_t i = 0; !ret && i < s->nr_spaces; i++) {
		ret = check_task(s, "a space", s->spaces[i].task, err);
		if (!ret && i && !cmp_space(&s->spaces[i - 1], &s->spaces[i]))
			ret = snap_bad(err, -EBADMSG, "it has two spaces with the same id");
	}
	for (size_t i = 1; !ret && i < s->nr_caches; i++)
		if (s->caches[i - 1].id == s->caches[i].id)
			ret = snap_bad(err, -EBADMSG, "it has two caches with the same id");
	for (size_t i = 0; !ret && i < s->nr_mismatches; i++)
		ret = check_mismatch(s, &s->mismatches[i], err);
	for (size_t i = 0; !ret && i < s->nr_pendings; i++)
		ret = check_pending(s, &s->pendings[i], err);
	if (!ret)
		ret = check_peaks(s, err);
	return ret ? ret : check_liveds(s, err);
}

/* The tool's records, once it is known what blocks there are. */
static int take_kinds(struct snap *s, char *err)
{
	struct snap_reach *all;
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr_reaches; i++) {
		nr += s->reaches[i]->nr;
		ret = check_space(s, "a REACH record", s->reaches[i]->space, err);
	}
	if (ret || !nr)
		return ret;
	all = malloc(nr * sizeof(*all));
	if (!all)
		return snap_bad(err, -ENOMEM, "not enough memory to decode it");
	nr = 0;
	for (size_t i = 0; i < s->nr_reaches; i++) {
		const struct memtap_rec_reach *r = s->reaches[i];

		for (__u32 k = 0; k < r->nr; k++)
			all[nr++] = (struct snap_reach){ .addr = r->addr[k], .space = r->space,
							 .kind = r->kind };
	}
	ret = snap_set_kinds(s, all, nr);
	free(all);
	return ret ? snap_bad(err, ret, "not enough memory to decode it") : 0;
}

/* Those of one kind and holder that do not fit into one record follow each other. */
static bool is_same_held(const struct snap_held *h, const struct memtap_rec_held *r)
{
	return !strcmp(h->kind, r->kind) && !strcmp(h->holder, r->holder);
}

static int take_helds(struct snap *s, char *err)
{
	struct snap_held *of = calloc(s->nr_held_recs + 1, sizeof(*of));
	struct snap_reach *all;
	size_t nr = 0, nr_of = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr_held_recs; i++) {
		nr += s->held_recs[i]->nr;
		ret = check_space(s, "a HELD record", s->held_recs[i]->space, err);
	}
	all = calloc(nr + 1, sizeof(*all));
	nr = 0;
	for (size_t i = 0; !ret && all && of && i < s->nr_held_recs; i++) {
		const struct memtap_rec_held *r = s->held_recs[i];

		if (!nr_of || !is_same_held(&of[nr_of - 1], r)) {
			strcpy(of[nr_of].kind, r->kind);
			strcpy(of[nr_of++].holder, r->holder);
		}
		for (__u32 k = 0; k < r->nr; k++)
			all[nr++] = (struct snap_reach){ .addr = r->addr[k], .space = r->space,
							 .held = (__u32)nr_of };
	}
	if (!ret)
		ret = all && of ? snap_set_held(s, of, nr_of, all, nr) : -ENOMEM;
	free(of);
	free(all);
	return ret == -ENOMEM ? snap_bad(err, ret, "not enough memory to decode it") : ret;
}

const struct snap_extent *snap_extent(const struct snap *s, size_t number)
{
	size_t low = 0, high = s->nr_extents;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (s->extents[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->nr_extents && s->extents[low].number == number ? &s->extents[low] : NULL;
}

static void take_not_followed(struct snap *s)
{
	const size_t len = sizeof(SNAP_NOT_FOLLOWED) - 1;
	struct memtap_rec_space key = { .id = 0 }, *x;

	for (size_t i = 0; s->nr_spaces && i < s->nr_notes; i++) {
		if (strncmp(s->notes[i], SNAP_NOT_FOLLOWED, len))
			continue;
		key.id = (__u32)strtoul(s->notes[i] + len, NULL, 10);
		x = bsearch(&key, s->spaces, s->nr_spaces, sizeof(key), cmp_space);
		if (x)
			x->flags |= MEMTAP_SPACE_NOT_FOLLOWED;
	}
}

int snap_index_live(struct snap *s, char *err)
{
	int ret;

	if (s->nr_heaps)
		qsort(s->heaps, s->nr_heaps, sizeof(*s->heaps), cmp_heap);
	if (s->nr_spaces)
		qsort(s->spaces, s->nr_spaces, sizeof(*s->spaces), cmp_space);
	if (s->nr_caches)
		qsort(s->caches, s->nr_caches, sizeof(*s->caches), cmp_cache);
	if (s->nr_mismatches)
		qsort(s->mismatches, s->nr_mismatches, sizeof(*s->mismatches), cmp_mismatch);
	take_not_followed(s);
	ret = check_rest(s, err);
	if (!ret)
		ret = check_blocks(s, err);
	if (!ret)
		ret = take_kinds(s, err);
	return ret || !s->nr_held_recs ? ret : take_helds(s, err);
}

/* ---- blocks ---- */

static int cmp_reach(const void *a, const void *b)
{
	const struct snap_reach *x = a, *y = b;

	return x->space != y->space ? cmp_u64(x->space, y->space) : cmp_u64(x->addr, y->addr);
}

/* Of @nr in order, the one that is about this block, or NULL. */
static const struct snap_reach *find_reach(const struct snap_reach *r, size_t nr,
					   const struct memtap_block *b)
{
	const struct snap_reach key = { .addr = b->addr, .space = b->space }, *found;

	/* what an allocator maps may begin where its first block does */
	if (b->flags & (MEMTAP_BLOCK_INNER | MEMTAP_BLOCK_KERNEL))
		return NULL;
	found = bsearch(&key, r, nr, sizeof(*r), cmp_reach);
	return found && (!found->birth_ns || found->birth_ns == b->birth_ns) ? found : NULL;
}

int snap_set_kinds(struct snap *s, struct snap_reach *r, size_t nr)
{
	struct snap_walk w = { .snap = s };

	if (!nr)
		return 0;
	if (!s->kinds)
		s->kinds = calloc(s->nr_blocks + 1, sizeof(*s->kinds));
	if (!s->kinds)
		return -ENOMEM;
	qsort(r, nr, sizeof(*r), cmp_reach);
	while (snap_next_block(&w)) {
		const struct snap_reach *found = find_reach(r, nr, w.block);

		if (found)
			s->kinds[w.number] = found->kind;
	}
	return 0;
}

int snap_set_held(struct snap *s, const struct snap_held *of, size_t nr_of, struct snap_reach *r,
		  size_t nr)
{
	struct snap_walk w = { .snap = s };

	if (!nr || !nr_of)
		return 0;
	free(s->helds);
	free(s->held);
	s->nr_helds = nr_of;
	s->helds = calloc(nr_of, sizeof(*of));
	s->held = calloc(s->nr_blocks + 1, sizeof(*s->held));
	if (!s->helds || !s->held)
		return -ENOMEM;
	memcpy(s->helds, of, nr_of * sizeof(*of));
	qsort(r, nr, sizeof(*r), cmp_reach);
	while (snap_next_block(&w)) {
		const struct snap_reach *found = find_reach(r, nr, w.block);

		if (found && found->held <= nr_of)
			s->held[w.number] = found->held;
	}
	return 0;
}

/* ---- the difference of two snapshots ---- */

static void diff_heap(struct memtap_rec_heap *h, const struct memtap_rec_heap *old)
{
	if (!old)
		return;
	h->allocs -= old->allocs;
	h->bytes -= old->bytes;
	h->kept -= old->kept;
	h->kept_bytes -= old->kept_bytes;
	h->failed -= old->failed;
	h->frees -= old->frees;
	h->freed_bytes -= old->freed_bytes;
	h->unknown -= old->unknown;
	h->null -= old->null;
	h->inner -= old->inner;
}

static void diff_cache(struct memtap_rec_cache *c, const struct memtap_rec_cache *old)
{
	if (!old)
		return;
	c->allocs -= old->allocs;
	c->bytes -= old->bytes;
	c->frees -= old->frees;
	c->freed_bytes -= old->freed_bytes;
	c->unknown -= old->unknown;
	c->unknown_bytes -= old->unknown_bytes;
	c->lost -= old->lost;
	c->lost_bytes -= old->lost_bytes;
	c->replaced -= old->replaced;
	c->replaced_bytes -= old->replaced_bytes;
	c->reclaimable -= old->reclaimable;
	c->movable -= old->movable;
	c->waste -= old->waste;
	c->remote -= old->remote;
}

int snap_diff_live(struct snap *d, const struct snap *new, const struct snap *old)
{
	const struct memtap_rec_mismatch *was;

	d->heaps = calloc(new->nr_heaps + 1, sizeof(*d->heaps));
	d->mismatches = calloc(new->nr_mismatches + 1, sizeof(*d->mismatches));
	d->caches = calloc(new->nr_caches + 1, sizeof(*d->caches));
	d->nr_mismatches = 0;
	if (!d->heaps || !d->mismatches || !d->caches)
		return -ENOMEM;
	for (size_t i = 0; i < new->nr_caches; i++) {
		d->caches[i] = new->caches[i];
		diff_cache(&d->caches[i], snap_cache(old, new->caches[i].id));
	}
	for (size_t i = 0; i < new->nr_heaps; i++) {
		d->heaps[i] = new->heaps[i];
		diff_heap(&d->heaps[i], snap_heap(old, new->heaps[i].event));
	}
	for (size_t i = 0; i < new->nr_mismatches; i++) {
		struct memtap_rec_mismatch *m = &d->mismatches[d->nr_mismatches];

		*m = new->mismatches[i];
		was = old->nr_mismatches ? bsearch(m, old->mismatches, old->nr_mismatches,
						   sizeof(*m), cmp_mismatch) : NULL;
		if (was)
			m->count -= was->count;
		d->nr_mismatches += m->count != 0;
	}
	return 0;
}
