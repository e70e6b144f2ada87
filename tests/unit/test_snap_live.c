// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c */
/* What a snapshot says of live blocks, and what is refused. */
#include <errno.h>

#include "snap_stream.h"
#include "tap.h"

static void add_event(u32 id)
{
	struct memtap_rec_event *e = add(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
}

static struct memtap_rec_blocks *add_blocks(u32 nr)
{
	struct memtap_rec_blocks *r;

	r = add(MEMTAP_REC_BLOCKS, sizeof(*r) + nr * sizeof(r->at[0]));
	r->nr = nr;
	for (u32 i = 0; i < nr; i++) {
		r->at[i].addr = 0x1000 + 16 * i;
		r->at[i].size = 10 + i;
		r->at[i].space = 1;
		r->at[i].event = 1;
	}
	return r;
}

static struct memtap_rec_space *add_space(u32 id)
{
	struct memtap_rec_space *s = add(MEMTAP_REC_SPACE, sizeof(*s));

	s->id = id;
	s->heap_now = 1000 * id;
	return s;
}

static struct memtap_rec_heap *add_heap(u32 ev, u64 allocs)
{
	struct memtap_rec_heap *h = add(MEMTAP_REC_HEAP, sizeof(*h));

	h->event = ev;
	h->allocs = allocs;
	h->bytes = h->kept = h->kept_bytes = h->failed = h->frees = h->freed_bytes =
		h->unknown = h->null = h->inner = allocs;
	return h;
}

static struct memtap_rec_mismatch *add_mismatch(u32 kind, u64 count)
{
	struct memtap_rec_mismatch *m = add(MEMTAP_REC_MISMATCH, sizeof(*m));

	m->kind = kind;
	m->event = 1;
	m->alloc_event = ~0U;
	m->count = count;
	return m;
}

static void begin(void)
{
	start();
	add_event(1);
	add_space(1);
}

static void test_blocks_stay_where_they_are(void)
{
	struct snap_walk w = { 0 };
	struct snap *s;
	u64 sum = 0;
	u32 nr = 0;

	begin();
	add_blocks(3);
	add_blocks(0);
	add_blocks(2);
	add_end(0);
	if (!ok(!decode(stream_len, &s), "live blocks decode: %s", err))
		return;
	is(s->nr_blocks, 5, "all of all records");
	for (w.snap = s; snap_next_block(&w); nr++) {
		sum += w.block->size;
		ok((const char *)w.block > (const char *)s->bytes &&
		   (const char *)w.block < (const char *)s->bytes + s->len && w.number == nr,
		   "block %u is in the stream's bytes", nr);
		is(w.kind, LEAK_UNKNOWN, "and of no kind yet");
	}
	is(nr, 5, "each comes once");
	is(sum, 10 + 11 + 12 + 10 + 11, "with its size");
	ok(!snap_next_block(&w), "behind the last there is none");
	snap_free(s);
}

static void test_what_is_looked_up(void)
{
	struct snap *s;

	start();
	add_space(7);
	add_space(3);
	add_heap(2, 5);
	add_event(2);
	add_event(1);
	add_heap(1, 4);
	add_end(0);
	if (!ok(!decode(stream_len, &s), "spaces and accounts decode: %s", err))
		return;
	is(snap_space(s, 7)->heap_now, 7000, "a space is found by its id");
	is(snap_heap(s, 1)->allocs, 4, "an account by its event");
	ok(!snap_space(s, 1) && !snap_heap(s, 0), "others are not");
	snap_free(s);
	start();
	add_end(0);
	ok(!decode(stream_len, &s) && !snap_space(s, 0) && !snap_heap(s, 0),
	   "nor is anything where there is nothing");
	snap_free(s);
}

/* What every program has: two that claim the same, and what leads nowhere. */
static void test_references_lead_somewhere(void)
{
	start();
	add_space(1);
	add_blocks(1);
	is(verdict(), -EBADMSG, "a block of an unknown event is refused: %s", err);
	start();
	add_event(1);
	add_blocks(1);
	is(verdict(), -EBADMSG, "... of an unknown space: %s", err);
	begin();
	add_blocks(1)->at[0].ustack = 8;
	is(verdict(), -EBADMSG, "... of an unknown stack: %s", err);
	begin();
	add_blocks(1)->at[0].task = 8;
	is(verdict(), -EBADMSG, "... of an unknown task: %s", err);
	begin();
	add_blocks(1)->at[0].task = MEMTAP_TASK_LOST;
	is(verdict(), 0, "a task that was not kept is none");
	begin();
	add_heap(2, 1);
	is(verdict(), -EBADMSG, "an account of an unknown event is refused: %s", err);
	begin();
	add_heap(1, 1);
	add_heap(1, 1);
	is(verdict(), -EBADMSG, "so are two of one event: %s", err);
	begin();
	add_space(1);
	is(verdict(), -EBADMSG, "and two spaces of one id: %s", err);
	begin();
	add_space(2)->task = 9;
	is(verdict(), -EBADMSG, "and one of an unknown task: %s", err);
}

static void test_mismatches_lead_somewhere(void)
{
	begin();
	add_mismatch(1, 1)->event = 2;
	is(verdict(), -EBADMSG, "a mismatch of an unknown event is refused: %s", err);
	begin();
	add_mismatch(1, 1)->alloc_event = 2;
	is(verdict(), -EBADMSG, "... of an unknown event before: %s", err);
	begin();
	add_mismatch(1, 1)->stack = 8;
	is(verdict(), -EBADMSG, "... of an unknown stack: %s", err);
	begin();
	add_mismatch(1, 1)->alloc_stack = 8;
	is(verdict(), -EBADMSG, "... that handed it out: %s", err);
	begin();
	add_mismatch(1, 1)->free_stack = 8;
	is(verdict(), -EBADMSG, "... that freed it first: %s", err);
	begin();
	add_mismatch(99, 1)->task = 8;
	is(verdict(), -EBADMSG, "... of an unknown task: %s", err);
	begin();
	add_mismatch(99, 1);
	is(verdict(), 0, "one of a kind that is not known yet is taken");
}

static void test_numbers_of_blocks(void)
{
	begin();
	add_blocks(2)->nr = 3;
	is(verdict(), -EBADMSG, "a record without its blocks is refused: %s", err);
	begin();
	add_blocks(2)->nr = 0x80000002;
	is(verdict(), -EBADMSG, "also where their size wraps: %s", err);
	begin();
	add_blocks(2)->nr = 1;
	is(verdict(), 0, "one with more bytes than blocks is taken");
}

/* A header before blocks were kept. */
static void test_old_header(void)
{
	const size_t old = offsetof(struct memtap_rec_header, sample_bytes);
	struct memtap_rec_header *h;
	struct snap *s;

	free(stream);
	stream = NULL;
	stream_len = 0;
	h = add(MEMTAP_REC_HEADER, old);
	h->magic = MEMTAP_MAGIC;
	h->depth = 9;
	add_end(0);
	is(decode(stream_len, &s), 0, "a header of an older module is taken");
	ok(s && s->header.depth == 9 && !s->header.sample_bytes && !s->header.sample_rate,
	   "the rest is 0");
	snap_free(s);
	free(stream);
	stream = NULL;
	stream_len = 0;
	h = add(MEMTAP_REC_HEADER, old - 8);
	h->magic = MEMTAP_MAGIC;
	add_end(0);
	ok(decode(stream_len, &s) < 0, "but it cannot be shorter: %s", err);
}

/* ---- kinds ---- */

static u32 kind_of(const struct snap *s, size_t number)
{
	struct snap_walk w = { .snap = s };

	while (snap_next_block(&w))
		if (w.number == number)
			return w.kind;
	return 99;
}

static void test_kinds(void)
{
	struct snap_reach r[] = {
		{ 0x1020, 1, LEAK_POSSIBLE }, { 0x1000, 1, LEAK_DEFINITE },
		{ 0x1010, 2, LEAK_REACHABLE }, { 0x9999, 1, LEAK_DEFINITE },
		{ 0x1030, 1, LEAK_INDIRECT },
	};
	struct snap *s;

	begin();
	add_space(2);
	add_blocks(4)->at[3].flags = MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER;
	add_end(0);
	decode(stream_len, &s);
	is(snap_set_kinds(s, r, 0), 0, "no kinds at all are none");
	ok(!s->kinds, "and take no memory");
	is(snap_set_kinds(s, r, 5), 0, "kinds are set");
	is(kind_of(s, 0), LEAK_DEFINITE, "of the block of that address");
	is(kind_of(s, 1), LEAK_UNKNOWN, "not of another space's");
	is(kind_of(s, 2), LEAK_POSSIBLE, "whatever their order");
	is(kind_of(s, 3), LEAK_UNKNOWN, "and not of what an allocator mapped");
	r[0] = (struct snap_reach){ 0x1000, 1, LEAK_REACHABLE };
	is(snap_set_kinds(s, r, 1), 0, "they may be set again");
	is(kind_of(s, 0), LEAK_REACHABLE, "the last one holds");
	is(kind_of(s, 2), LEAK_POSSIBLE, "for what it names");
	snap_free(s);
}

static struct memtap_rec_reach *add_reach(u32 kind, u32 nr)
{
	struct memtap_rec_reach *r = add(MEMTAP_REC_REACH, sizeof(*r) + 8 * nr);

	r->space = 1;
	r->kind = kind;
	r->nr = nr;
	for (u32 i = 0; i < nr; i++)
		r->addr[i] = 0x1000 + 16 * i;
	return r;
}

static size_t tool_part(void)
{
	size_t from;

	begin();
	add_blocks(3);
	add_end(0);
	from = stream_len;
	add(MEMTAP_REC_TOOL, sizeof(struct memtap_rec));
	return from;
}

static int tool_verdict(size_t from)
{
	struct snap *s;
	int ret;

	add_end(from);
	ret = decode(stream_len, &s);
	snap_free(s);
	return ret;
}

static void test_kinds_of_a_file(void)
{
	size_t from = tool_part();
	struct snap *s;

	add_reach(LEAK_REACHABLE, 3)->addr[2] = 1;
	add_reach(LEAK_DEFINITE, 0);
	add_end(from);
	if (!ok(!decode(stream_len, &s), "kinds of a file decode: %s", err))
		return;
	is(kind_of(s, 1), LEAK_REACHABLE, "a block has the kind that the file says");
	is(kind_of(s, 2), LEAK_UNKNOWN, "or none");
	snap_free(s);
	from = tool_part();
	add_reach(LEAK_REACHABLE, 1)->nr = 2;
	is(tool_verdict(from), -EBADMSG, "a record without its addresses is refused: %s", err);
	from = tool_part();
	add_reach(LEAK_REACHABLE, 1)->space = 2;
	is(tool_verdict(from), -EBADMSG, "one of an unknown space, too: %s", err);
	from = tool_part();
	add_reach(0, 1);
	is(tool_verdict(from), -EBADMSG, "and one of no kind: %s", err);
	from = tool_part();
	add_reach(NR_LEAK_KINDS, 1);
	is(tool_verdict(from), -EBADMSG, "or of one that there is not: %s", err);
}

static struct memtap_rec_held *add_held(const char *kind, const char *holder, u32 nr)
{
	struct memtap_rec_held *r = add(MEMTAP_REC_HELD, sizeof(*r) + 8 * nr);

	r->space = 1;
	r->nr = nr;
	strcpy(r->kind, kind);
	strcpy(r->holder, holder);
	for (u32 i = 0; i < nr; i++)
		r->addr[i] = 0x1000 + 16 * i;
	return r;
}

static u32 held_of(const struct snap *s, size_t number)
{
	struct snap_walk w = { .snap = s };

	while (snap_next_block(&w) && w.number != number)
		;
	return w.held;
}

static void test_holders_of_a_file(void)
{
	size_t from = tool_part();
	struct snap *s;

	add_held("Session", "global `table`", 1);
	add_held("Session", "global `table`", 2)->addr[0] = 0x1020;
	add_held("24 bytes", "nothing: unreachable", 1)->addr[0] = 0x10;
	add_end(from);
	if (!ok(!decode(stream_len, &s), "kinds and holders of a file decode: %s", err))
		return;
	is(s->nr_helds, 2, "records of one kind and holder are put together");
	ok(held_of(s, 0) == 1 && held_of(s, 2) == 1, "their blocks have it");
	ok(!strcmp(s->helds[0].kind, "Session") && !strcmp(s->helds[0].holder, "global `table`"),
	   "by name");
	is(snap_set_held(s, s->helds, 0, NULL, 0), 0, "nothing is set by nothing");
	is(held_of(s, 0), 1, "and what was known stays");
	snap_free(s);
	from = tool_part();
	add_held("a", "b", 1)->nr = 2;
	is(tool_verdict(from), -EBADMSG, "a record without its addresses is refused: %s", err);
	from = tool_part();
	add_held("a", "b", 1)->space = 2;
	is(tool_verdict(from), -EBADMSG, "one of an unknown space, too: %s", err);
	from = tool_part();
	memset(add_held("a", "b", 1)->kind, 'x', MEMTAP_HELD_NAME);
	is(tool_verdict(from), -EBADMSG, "and one whose kind does not end: %s", err);
	from = tool_part();
	memset(add_held("a", "b", 1)->holder, 'x', MEMTAP_HELD_NAME);
	is(tool_verdict(from), -EBADMSG, "or whose holder does not: %s", err);
}

/* ---- intervals ---- */

static void add_both(u64 allocs, u64 count, u32 nr)
{
	begin();
	add_heap(1, allocs);
	add_blocks(nr);
	add_mismatch(1, count);
	if (nr > 2)
		add_mismatch(2, 7);
	add_mismatch(3, 5);
	add_end(0);
}

static void test_difference(void)
{
	struct snap *old, *new, *d;

	add_both(10, 3, 1);
	decode(stream_len, &old);
	add_both(25, 4, 3);
	decode(stream_len, &new);
	d = snap_diff(new, old);
	if (!ok(d != NULL, "two snapshots of live blocks have a difference"))
		return;
	is(d->nr_blocks, 3, "what is allocated now is in it, whole");
	is(d->nr_spaces, 1, "so are processes");
	is(d->heaps[0].allocs, 15, "what allocators did is what they did meanwhile");
	is(d->heaps[0].inner, 15, "to the last number");
	is(d->nr_mismatches, 2, "of mismatches, those that grew");
	is(d->mismatches[0].count, 1, "by so much");
	is(d->mismatches[1].count, 7, "and new ones");
	is(new->mismatches[0].count, 4, "the newer snapshot stays what it was");
	snap_free(d);
	snap_free(new);
	snap_free(old);
}

static void test_calls_under_way(void)
{
	struct memtap_rec_pending *p;
	struct snap *s;

	begin();
	p = add(MEMTAP_REC_PENDING, sizeof(*p));
	p->event = 1;
	p->since_ns = 77;
	add_end(0);
	if (ok(!decode(stream_len, &s), "a call in progress decodes: %s", err)) {
		is(s->nr_pendings, 1, "it is there");
		is(s->pendings[0].since_ns, 77, "since when it is");
	}
	snap_free(s);
	begin();
	p = add(MEMTAP_REC_PENDING, sizeof(*p));
	p->event = 1;
	p->kstack = 4711;
	add_end(0);
	ok(decode(stream_len, &s), "one with a stack that is not there does not: %s", err);
}

static void test_many(void)
{
	struct snap_reach *r = calloc(100000, sizeof(*r));
	struct snap *s;

	begin();
	for (u32 i = 0; i < 20; i++) {
		struct memtap_rec_blocks *b = add_blocks(5000);

		for (u32 k = 0; k < 5000; k++) {
			b->at[k].addr = 16 * (5000 * i + k);
			r[5000 * i + k] = (struct snap_reach){ b->at[k].addr, 1, LEAK_DEFINITE };
		}
	}
	add_end(0);
	if (!ok(!decode(stream_len, &s), "100 000 blocks decode: %s", err))
		return;
	is(s->nr_blocks, 100000, "all of them");
	is(s->nr_runs, 20, "where the stream has them");
	is(snap_set_kinds(s, r, 100000), 0, "all have a kind");
	is(kind_of(s, 99999), LEAK_DEFINITE, "to the last");
	snap_free(s);
	free(r);
}

/* ---- of the kernel ---- */

static struct memtap_rec_cache *add_cache(u32 id, u64 allocs)
{
	struct memtap_rec_cache *c = add(MEMTAP_REC_CACHE, sizeof(*c));

	c->id = id;
	c->kind = MEMTAP_CACHE_SLAB;
	c->allocs = c->bytes = c->frees = c->freed_bytes = c->unknown = c->unknown_bytes =
		c->lost = c->lost_bytes = c->replaced = c->replaced_bytes = allocs;
	memset(c->name, 'x', sizeof(c->name));
	return c;
}

static struct snap *objects(u32 of, u64 allocs)
{
	struct memtap_rec_blocks *b;
	struct snap *s = NULL;

	start();
	add_event(1);
	b = add_blocks(1);
	b->at[0].flags = MEMTAP_BLOCK_KERNEL;
	b->at[0].space = of;
	add_cache(9, allocs);
	add_cache(3, 2 * allocs);
	add_end(0);
	return ok(!decode(stream_len, &s), "objects decode: %s", err) ? s : NULL;
}

static void test_objects_are_of_caches(void)
{
	struct snap *s = objects(9, 5), *more = objects(9, 8), *diff;

	is(s->nr_caches, 2, "two caches");
	is(s->caches[0].id, 3, "in the order of their ids");
	ok(snap_cache(s, 9) && snap_cache(s, 9)->allocs == 5, "one is found");
	is(strlen(snap_cache(s, 9)->name), MEMTAP_CACHE_LEN - 1, "its name ends");
	ok(!snap_cache(s, 4), "and no other one");
	diff = snap_diff(more, s);
	ok(diff->caches[1].allocs == 3 && diff->caches[1].unknown_bytes == 3 &&
	   diff->caches[1].replaced_bytes == 3 && diff->caches[0].lost == 6,
	   "what caches did since is a difference");
	snap_free(diff);
	snap_free(more);
	snap_free(s);
}

static void test_hostile_objects(void)
{
	struct memtap_rec_blocks *b;

	start();
	add_event(1);
	b = add_blocks(1);
	b->at[0].flags = MEMTAP_BLOCK_KERNEL;
	add_end(0);
	is(verdict(), -EBADMSG, "an object of a cache that is not there is refused: %s", err);
	start();
	add_event(1);
	add_cache(4, 1);
	add_cache(4, 1);
	add_end(0);
	is(verdict(), -EBADMSG, "two caches of one id are refused: %s", err);
}

static void test_names_of_what_is_gone(void)
{
	struct memtap_rec_gone *g;
	struct snap *s = NULL;

	start();
	g = add(MEMTAP_REC_GONE, sizeof(*g) + 16);
	g->addr = 200;
	strcpy(g->name, "late [m]");
	g = add(MEMTAP_REC_GONE, sizeof(*g) + 16);
	g->addr = 100;
	g->offset = 7;
	strcpy(g->name, "early [m]");
	add_end(0);
	ok(!decode(stream_len, &s), "names decode: %s", err);
	ok(s->nr_gones == 2 && s->gones[0].addr == 100 && s->gones[0].offset == 7 &&
	   !strcmp(s->gones[0].name, "early [m]"), "names of modules' code, by address");
	snap_free(s);
	start();
	g = add(MEMTAP_REC_GONE, sizeof(*g) + 16);
	memset(g->name, 'x', 16);
	add_end(0);
	is(verdict(), -EBADMSG, "a name that does not end is refused: %s", err);
}

static struct memtap_rec_peaks *add_peaks(u32 nr)
{
	struct memtap_rec_peaks *r = add(MEMTAP_REC_PEAKS, sizeof(*r) + nr * sizeof(r->at[0]));

	r->nr = nr;
	return r;
}

static void test_peaks(void)
{
	struct memtap_rec_peak *p;
	struct snap *s = NULL;

	begin();
	add_peaks(2)->at[1].peak_bytes = 12;
	add_peaks(1)->at[0].space = 99;
	p = add(MEMTAP_REC_PEAK, sizeof(*p) + 8);
	p->peak_bytes = 77;
	add_end(0);
	ok(!decode(stream_len, &s), "stacks of a peak decode: %s", err);
	ok(s->nr_peaks == 2 && s->peaks[0].nr == 2 && s->peaks[0].at[1].peak_bytes == 12,
	   "they stay where they are");
	is(s->peaks[1].at[0].space, 99, "one of a space that is gone, too");
	is(s->peak.peak_bytes, 77, "the record of all may have grown");
	snap_free(s);
	begin();
	add_peaks(1)->at[0].ustack = 8;
	is(verdict(), -EBADMSG, "one of an unknown stack is refused: %s", err);
	begin();
	add_peaks(1)->at[0].task = 8;
	is(verdict(), -EBADMSG, "and one of an unknown task: %s", err);
	begin();
	add_peaks(1)->nr = 2;
	is(verdict(), -EBADMSG, "and more than the record has room for: %s", err);
	begin();
	add(MEMTAP_REC_PEAK, sizeof(*p) - 8);
	ok(verdict() < 0, "and a short record of all: %s", err);
}

int main(void)
{
	test_blocks_stay_where_they_are();
	test_what_is_looked_up();
	test_references_lead_somewhere();
	test_mismatches_lead_somewhere();
	test_numbers_of_blocks();
	test_old_header();
	test_kinds();
	test_kinds_of_a_file();
	test_holders_of_a_file();
	test_difference();
	test_calls_under_way();
	test_many();
	test_objects_are_of_caches();
	test_hostile_objects();
	test_names_of_what_is_gone();
	test_peaks();
	free(stream);
	return tap_done();
}
