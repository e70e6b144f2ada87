// SPDX-License-Identifier: GPL-2.0-or-later
/* Build the rows of live blocks, and their additional numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

/* These stand for the events that blocks are of; the kernel's are the first. */
const char *report_leaks_event(const struct snap *s, __u32 event)
{
	const char *const names[RLEAKS_EVENTS] = {
		leaks_kernel(s) ? "slab" : "heap", "mappings", "pages", "percpu", "vmalloc",
		"peak", "allocated", "temporary",
	};

	return names[event];
}

static void make_events(struct maker *m)
{
	for (int i = 0; i < RLEAKS_EVENTS; i++) {
		struct snap_event *e = &m->r.leaks->events[i];

		e->id = ~0U;
		e->unit = MEMTAP_UNIT_BYTES;
		strcpy(e->group, "leaks");
		strcpy(e->name, report_leaks_event(m->r.snap, (__u32)i));
	}
	m->r.events = m->r.leaks->events;
	m->r.nr_events = RLEAKS_EVENTS;
}

int report_leaks_init(struct maker *m)
{
	const struct snap *s = m->r.snap;
	struct rleaks *l = arena_alloc(&m->arena, sizeof(*l));

	if (!l)
		return -ENOMEM;
	if (m->r.o->caches && leaks_kernel(s)) {
		m->reclaimable = calloc(s->nr_caches + 1, sizeof(*m->reclaimable));
		m->cache_groups = calloc(s->nr_caches + 1, sizeof(*m->cache_groups));
	}
	l->patterns = calloc(suppress_nr(m->r.o->suppress) + 1, sizeof(*l->patterns));
	l->spaces = calloc(s->nr_spaces + 1, sizeof(*l->spaces));
	l->free_patterns = calloc(suppress_nr(m->r.o->suppress) + 1, sizeof(*l->free_patterns));
	l->mismatches = calloc(s->nr_mismatches + 1, sizeof(*l->mismatches));
	if (m->r.o->show_allocs)
		l->list = calloc(s->nr_blocks + 1, sizeof(*l->list));
	m->r.leaks = l;
	if (!l->patterns || !l->free_patterns || !l->spaces || !l->mismatches ||
	    (m->r.o->show_allocs && !l->list))
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_spaces; i++) {
		l->spaces[i].space = &s->spaces[i];
		l->alive |= !s->spaces[i].end_ns;
	}
	make_events(m);
	return 0;
}

void report_leaks_free(struct maker *m)
{
	if (!m->r.leaks)
		return;
	free(m->reclaimable);
	free(m->cache_groups);
	free(m->r.leaks->patterns);
	free(m->r.leaks->spaces);
	free(m->r.leaks->mismatches);
	free(m->r.leaks->free_patterns);
	free(m->r.leaks->list);
	free(m->r.leaks->helds);
	ids_free(&m->held_ids);
}

/* ---- rows ---- */

/* In the kernel a cache is many stacks': what others take back may be for what these get. */
static void add_cache(const struct maker *m, struct trend *t, const struct memtap_block *b)
{
	const struct memtap_rec_cache *c = snap_cache(m->r.snap, b->space);

	if (!c || leaks_sampled(m->r.snap) || (double)c->unknown <= t->unknown)
		return;
	t->unknown = (double)c->unknown;
	t->grown = (double)c->allocs - (double)c->frees - (double)c->unknown;
}

/* Of what the kernel can take back: asked for so, or by its cache. */
static bool is_reclaimable(const struct maker *m, const struct memtap_block *b)
{
	const struct memtap_rec_cache *c = snap_cache(m->r.snap, b->space);
	unsigned char *known;

	if (!(b->flags & MEMTAP_BLOCK_KERNEL))
		return false;
	if (b->flags & MEMTAP_BLOCK_RECLAIMABLE)
		return true;
	if (!c || c->kind != MEMTAP_CACHE_SLAB || !m->r.o->caches || !m->reclaimable)
		return false;
	known = &m->reclaimable[c - m->r.snap->caches];
	if (!*known)
		*known = 1 + machine_caches_reclaimable(m->r.o->caches, c->name);
	return *known == 2;
}

/* When memory of its process began to be looked at: before, or when it stood. */
static __u64 looked_at(const struct report_opts *o, const struct memtap_rec_space *space)
{
	for (size_t i = 0; space && i < o->nr_looks; i++)
		if (o->looks[i].pid == (pid_t)space->pid)
			return o->looks[i].at_ns;
	return o->looked_ns;
}

static void add_to_cohort(const struct maker *m, struct trend *t, const struct memtap_block *b,
			  double weight, __u64 end)
{
	const struct cohort_block c = { b, weight, leaks_sampled(m->r.snap), end };

	report_cohort_add(m->r.o->cohort, &c, t);
}

/* Of blocks that were there before. */
static void add_unknown(const struct maker *m, struct trend *t,
			const struct memtap_rec_space *space, bool cohort)
{
	const double n = (double)(cohort ? report_cohort_unknown(m->r.o->cohort, space) :
					   space->unknown);

	if (n > t->unknown)
		t->unknown = n;
}

/*
 * Of its process, which may have begun after the session; and of the time that is asked for by
 * marks, outside of which no birth is known.
 */
static void add_to_trend(const struct maker *m, struct rleak *leak, const struct memtap_block *b,
			 double weight, bool reclaimable)
{
	const struct snap *s = m->r.snap;
	const bool kernel = b->flags & MEMTAP_BLOCK_KERNEL;
	const struct memtap_rec_space *space = kernel ? NULL : snap_space(s, b->space);
	const __u64 until = m->r.o->until_ns, now = s->header.now_ns;
	__u64 begin = s->header.start_ns, end, watched, age;
	bool cohort;

	if (space && space->begin_ns > begin)
		begin = space->begin_ns;
	if (m->r.o->from_ns > begin)
		begin = m->r.o->from_ns;
	end = trend_end(begin, looked_at(m->r.o, space), now);
	if (until && until < end)
		end = until;
	watched = end > begin ? end - begin : 0;
	age = end > b->birth_ns ? end - b->birth_ns : 0;
	trend_add(&leak->trend, watched, age, b->size, weight);
	if (now > end && now - end > leak->trend.held_ns)
		leak->trend.held_ns = now - end;
	if (reclaimable)
		trend_add_reclaimable(&leak->trend, watched, age, b->size, weight);
	cohort = m->r.o->cohort && report_cohort_within(m->r.o->cohort, begin, end);
	if (cohort)
		add_to_cohort(m, &leak->trend, b, weight, end);
	if (kernel)
		add_cache(m, &leak->trend, b);
	if (space)
		add_unknown(m, &leak->trend, space, cohort);
}

/*
 * What calls were lost, of those that allocate and of those that free: some blocks are not
 * there, some are that were freed.
 */
static void count_lost(struct maker *m)
{
	const __u64 threads = m->r.snap->memory.threads_used;
	struct rleaks *l = m->r.leaks;

	for (size_t i = 0; i < m->r.snap->nr_events; i++) {
		const struct snap_event *e = &m->r.snap->events[i];
		const struct memtap_rec_heap *h = snap_heap(m->r.snap, e->id);
		double lost = 0;

		/* what has not returned has handed nothing out: one call of each thread at most */
		for (int k = 0; k < MEMTAP_LOST_SLOTS; k++)
			if (k != MEMTAP_LOST_LEFT &&
			    (k != MEMTAP_LOST_RETURN || e->lost[k] > threads))
				lost += (double)e->lost[k];
		if (h && (h->op == MEMTAP_HEAP_ALLOC || h->op == MEMTAP_HEAP_ENTER))
			l->lost_allocs += lost;
		else
			l->lost_frees += lost;
	}
}

/* A rate that is not of all blocks, or of some that are gone. */
static enum rate_kind rate_of(const struct rleaks *l, const struct trend_verdict *v)
{
	if (l->lost_frees > v->counted / 20)
		return RATE_UNKNOWN;
	if (l->lost_allocs > v->counted / 20)
		return l->lost_frees > 0 ? RATE_UNKNOWN : RATE_AT_LEAST;
	return l->lost_allocs + l->lost_frees > 0 ? RATE_ABOUT : RATE_KNOWN;
}

/* What can be reached, but is not used, is no cache. */
static void judge(const struct maker *m, struct rrow *row)
{
	const bool used = !m->r.o->stale_ns || row->leak->used > 0;
	const enum trend_reach reach = row->flags == LEAK_REACHABLE && used ? TREND_REACHED :
				       row->flags == LEAK_DEFINITE || row->flags == LEAK_INDIRECT ?
				       TREND_NOT_REACHED : TREND_REACH_UNKNOWN;

	row->leak->verdict = trend_judge(&row->leak->trend, reach);
	row->leak->rate = rate_of(m->r.leaks, &row->leak->verdict);
	if (row->leak->rate != RATE_KNOWN)
		row->leak->verdict.error = 0;
}

/* Not stale; how its stack grows is told of these as well. */
static bool is_used(const struct maker *m, const struct snap_walk *w)
{
	const __u64 *idle = m->r.snap->idle_ns;

	return m->r.o->stale_ns && (!idle || idle[w->number] < m->r.o->stale_ns);
}

static void add_idle(const struct maker *m, struct rleak *leak, const struct snap_walk *w)
{
	const __u64 idle = m->r.o->stale_ns ? m->r.snap->idle_ns[w->number] : 0;

	if (!leak->idle_ns || idle < leak->idle_ns)
		leak->idle_ns = idle;
}

/* Since what is new is used, only what is older tells whether it is ever used again. */
static void add_used(const struct maker *m, struct rleak *leak, const struct memtap_block *b,
		     double weight)
{
	const __u64 now = m->r.snap->header.now_ns;

	if (now > b->birth_ns && now - b->birth_ns >= m->r.o->stale_ns)
		leak->used += weight;
}

static void add_extent(const struct maker *m, struct rextent *to, const struct snap_walk *w)
{
	const struct snap_extent *e = w->block->flags & MEMTAP_BLOCK_MAPPING ?
				      snap_extent(m->r.snap, w->number) : NULL;

	if (!e)
		return;
	to->kept++;
	to->resident += e->resident;
	to->swapped += e->swapped;
}

static int add_to_row(struct maker *m, const struct snap_walk *w, const struct rrow *key,
		      double weight)
{
	const struct memtap_block *b = w->block;
	const bool reclaimable = is_reclaimable(m, b);
	const __u32 flags = b->flags | (reclaimable ? MEMTAP_BLOCK_RECLAIMABLE : 0);
	struct rrow *row = report_row(m, key);

	if (!row)
		return -ENOMEM;
	if (!row->leak) {
		row->leak = arena_alloc(&m->arena, sizeof(*row->leak));
		if (!row->leak)
			return -ENOMEM;
		row->leak->birth = b->birth_ns;
		row->leak->cache = b->flags & MEMTAP_BLOCK_KERNEL ? b->space : 0;
		row->leak->all = row->leak->any = flags;
	}
	if (row->leak->cache && row->leak->cache != b->space)
		row->leak->cache = RLEAK_CACHES;
	row->leak->all &= flags;
	row->leak->any |= flags;
	add_to_trend(m, row->leak, b, weight, reclaimable);
	if (is_used(m, w)) {
		add_used(m, row->leak, b, weight);
		return 0;
	}
	add_idle(m, row->leak, w);
	leaks_add(&row->leak->sum, b, weight);
	add_extent(m, &row->leak->extent, w);
	row->count = leaks_round(row->leak->sum.blocks);
	row->sum = leaks_round(row->leak->sum.bytes);
	if (b->size > row->max)
		row->max = b->size;
	if (b->birth_ns < row->leak->birth)
		row->leak->birth = b->birth_ns;
	if (m->r.leaks->list) {
		m->r.leaks->list[w->number] = (struct rblock){ b, row->leak->list };
		row->leak->list = w->number + 1;
	}
	return w->held ? report_held_add(m, row->leak, w) : 0;
}

static int make_row(struct maker *m, const struct snap_walk *w, double weight)
{
	const struct memtap_block *b = w->block;
	struct rrow key = { .event = 0 };

	if (report_block_key(m, b, &key))
		return -ENOMEM;
	if ((m->r.o->detail != DETAIL_NAMES || m->r.o->kinds) && !m->comparing)
		key.flags = w->kind;
	leaks_add(is_used(m, w) ? &m->r.leaks->used : &m->r.leaks->sums[key.event], b, weight);
	if (is_used(m, w))
		return add_to_row(m, w, &key, weight);
	if (m->r.o->next && report_past_add(m->r.o->next, b, key.flags, weight))
		return -ENOMEM;
	return add_to_row(m, w, &key, weight);
}

/* ---- all blocks ---- */

/* Parts of the time are of all blocks, and so what they add up to. */
static bool has_parts(const struct maker *m)
{
	return m->r.o->spans && m->r.snap->nr_liveds;
}

static bool is_young(const struct maker *m, const struct memtap_block *b)
{
	const __u64 now = m->r.snap->header.now_ns;
	const __u64 age = now > b->birth_ns ? now - b->birth_ns : 0;

	return m->r.o->older_ms && !has_parts(m) && age / 1000000 < m->r.o->older_ms;
}

/* Of what is asked for by marks. */
static bool is_outside(const struct maker *m, const struct memtap_block *b)
{
	const struct report_opts *o = m->r.o;

	return b->birth_ns < o->from_ns || (o->until_ns && b->birth_ns >= o->until_ns);
}

/* Whatever its age: at the end of a process all that is left counts. */
static void add_to_space(struct maker *m, const struct snap_walk *w, double weight,
			 bool suppressed)
{
	const bool kernel = w->block->flags & MEMTAP_BLOCK_KERNEL;
	const struct memtap_rec_space *space =
		kernel ? NULL : snap_space(m->r.snap, w->block->space);
	struct rspace *s;

	if (!space)
		return;
	s = &m->r.leaks->spaces[space - m->r.snap->spaces];
	if (w->block->flags & MEMTAP_BLOCK_MAPPING) {
		leaks_add(suppressed ? &s->suppressed_maps : &s->maps[w->kind], w->block, weight);
		if (!suppressed)
			add_extent(m, &s->extents[w->kind], w);
		return;
	}
	leaks_add(&s->all, w->block, weight);
	s->examined |= w->kind != LEAK_UNKNOWN;
	leaks_add(suppressed ? &s->suppressed : &s->kinds[w->kind], w->block, weight);
}

static bool kind_hidden(const struct maker *m, enum leak_kind kind)
{
	return m->r.o->leak_kinds && !has_parts(m) && kind != LEAK_UNKNOWN &&
	       !(m->r.o->leak_kinds & 1U << kind);
}

/*
 * Its process has exited, while others are watched: its memory is free again, and nothing of it
 * grows.  What it had lost is told.
 */
static bool is_dead(const struct maker *m, const struct snap_walk *w)
{
	const struct memtap_block *b = w->block;
	const struct memtap_rec_space *space =
		b->flags & MEMTAP_BLOCK_KERNEL ? NULL : snap_space(m->r.snap, b->space);

	return m->r.leaks->alive && space && space->flags & MEMTAP_SPACE_EXITED &&
	       (w->kind == LEAK_UNKNOWN || w->kind == LEAK_REACHABLE);
}

/* Born since its process was looked at; what realloc() has moved since is older. */
static bool is_late(const struct maker *m, const struct snap_walk *w)
{
	const struct memtap_block *b = w->block;

	return m->r.o->looked && !has_parts(m) && w->kind == LEAK_UNKNOWN &&
	       !(b->flags & MEMTAP_BLOCK_MAPPING) &&
	       b->birth_ns >= looked_at(m->r.o, snap_space(m->r.snap, b->space));
}

static int add_block(struct maker *m, const struct snap_walk *w, struct leaks_known *known)
{
	const struct memtap_block *b = w->block;
	const double weight = leaks_weight(m->r.snap, b);
	struct rleaks *l = m->r.leaks;
	enum rowner owner;
	int by;

	/* what an allocator maps is what its blocks lie in */
	if (b->flags & MEMTAP_BLOCK_INNER) {
		leaks_add(&l->inner, b, weight);
		return 0;
	}
	owner = report_owner(m, b);
	if (owner) {
		leaks_add(&l->owned[owner], b, weight);
		return 0;
	}
	by = b->flags & MEMTAP_BLOCK_KERNEL ? LEAKS_NOT_KNOWN :
	     leaks_known_by(known, b->ustack, b->task, w->kind);
	if (by == -ENOMEM)
		return by;
	add_to_space(m, w, weight, by != LEAKS_NOT_KNOWN);
	if (!(report_of(m->r.o) & RLEAKS_LIVE))
		return 0;
	if (m->r.o->trends && !has_parts(m) && is_dead(m, w)) {
		leaks_add(&l->dead, b, weight);
	} else if (is_late(m, w)) {
		leaks_add(&l->late, b, weight);
	} else if (is_outside(m, b)) {
		leaks_add(&l->outside, b, weight);
	} else if (is_young(m, b)) {
		leaks_add(&l->young, b, weight);
	} else if (by != LEAKS_NOT_KNOWN) {
		leaks_add(&l->suppressed, b, weight);
		leaks_add(&l->patterns[by], b, weight);
	} else if (m->r.o->no_loader && leaks_by_loader(m->r.snap, b)) {
		leaks_add(&l->loader, b, weight);
	} else if (kind_hidden(m, w->kind)) {
		leaks_add(&l->other_kinds, b, weight);
	} else {
		return make_row(m, w, weight);
	}
	return 0;
}

/* ---- mismatches ---- */

/* Births are told in ticks of the kernel's clock: as much earlier may it have been. */
#define TICK_NS		10000000ULL

/*
 * Does the address that was freed lie in this block?  One that lives now and was born
 * before lived then, too.
 */
static bool is_inside(const struct memtap_rec_mismatch *rec, const struct snap *s,
		      const struct memtap_block *b)
{
	const struct memtap_rec_task *t = snap_task(s, rec->task);
	const struct memtap_rec_space *space;

	if (rec->addr <= b->addr || rec->addr - b->addr >= b->size || !t ||
	    b->flags & (MEMTAP_BLOCK_INNER | MEMTAP_BLOCK_KERNEL) ||
	    b->birth_ns >= rec->ns + TICK_NS)
		return false;
	space = snap_space(s, b->space);
	return space && space->pid == t->pid && !(space->flags & MEMTAP_SPACE_EXECED);
}

static void see_inside(const struct maker *m, const struct memtap_block *b)
{
	struct rleaks *l = m->r.leaks;

	for (size_t i = 0; i < l->nr_mismatches; i++)
		if (l->mismatches[i].m->kind == MEMTAP_MISMATCH_UNKNOWN &&
		    is_inside(l->mismatches[i].m, m->r.snap, b))
			l->mismatches[i].inside = b;
}

static int find_insides(struct maker *m)
{
	struct snap_walk w = { .snap = m->r.snap };
	struct rleaks *l = m->r.leaks;
	__s64 stack;

	while (l->nr_mismatches && snap_next_block(&w))
		see_inside(m, w.block);
	for (size_t i = 0; i < l->nr_mismatches; i++) {
		const struct memtap_block *b = l->mismatches[i].inside;

		if (!b)
			continue;
		stack = report_stack(m, b->ustack, snap_task(m->r.snap, b->task));
		if (stack < 0)
			return -ENOMEM;
		l->mismatches[i].alloc_stack = stack;
	}
	return 0;
}

static int name_mismatch(struct maker *m, const struct memtap_rec_mismatch *rec,
			 struct rmismatch *out)
{
	const struct memtap_rec_task *task = snap_task(m->r.snap, rec->task);
	__s64 group = report_group(m, rec->task);
	__s64 stack = report_stack(m, rec->stack, task);
	__s64 alloc = report_stack(m, rec->alloc_stack, task);
	__s64 first = report_stack(m, rec->free_stack, task);

	if (group < 0 || stack < 0 || alloc < 0 || first < 0)
		return -ENOMEM;
	*out = (struct rmismatch){ rec, group, stack, alloc, first, NULL };
	return 0;
}

static int add_mismatches(struct maker *m, struct leaks_known *known)
{
	struct rleaks *l = m->r.leaks;
	int err = 0, by;

	for (size_t i = 0; !err && i < m->r.snap->nr_mismatches; i++) {
		const struct memtap_rec_mismatch *rec = &m->r.snap->mismatches[i];

		if (leaks_own_free(m->r.snap, m->sym, rec)) {
			l->own_frees += rec->count;
			continue;
		}
		by = leaks_known_by(known, rec->stack, rec->task, SUPPRESS_FREE);
		if (by >= 0) {
			l->known_frees += rec->count;
			l->free_patterns[by] += rec->count;
		} else if (by != LEAKS_NOT_KNOWN) {
			err = by;
		} else {
			err = name_mismatch(m, rec, &l->mismatches[l->nr_mismatches++]);
		}
	}
	return err ? err : find_insides(m);
}

/* Rows of what is used alone have served their turn. */
static void drop_used(struct maker *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->r.nr_rows; i++)
		if (!m->r.rows[i].leak || m->r.rows[i].leak->sum.kept || m->r.rows[i].leak->gone)
			m->r.rows[kept++] = m->r.rows[i];
	m->r.nr_rows = kept;
}

int report_leaks(struct maker *m)
{
	struct leaks_known *known = leaks_known_new(m->r.snap, m->sym, m->r.o->suppress);
	struct snap_walk w = { .snap = m->r.snap };
	int err = known ? 0 : -ENOMEM;

	if (m->r.o->cohort)
		report_cohort_count(m->r.o->cohort, m->r.snap);
	while (!err && snap_next_block(&w)) {
		err = add_block(m, &w, known);
		report_progress(m, w.number, m->r.snap->nr_blocks);
	}
	if (!err && has_parts(m) && report_of(m->r.o) & RLEAKS_LIVE)
		err = report_lived(m, known);
	if (!err)
		err = report_peaks(m, known);
	report_held_link(m);
	count_lost(m);
	for (size_t i = 0; m->r.o->trends && i < m->r.nr_rows; i++)
		if (m->r.rows[i].leak && !m->r.rows[i].leak->gone &&
		    m->r.rows[i].event < RLEAKS_PEAK)
			judge(m, &m->r.rows[i]);
	if (!err)
		err = report_past_compare(m);
	if (m->r.o->stale_ns)
		drop_used(m);
	if (!err)
		err = add_mismatches(m, known);
	leaks_known_free(known);
	return err;
}

__u64 report_calls_lost(const struct report *r)
{
	return r->leaks ?
	       (__u64)leaks_round(r->leaks->lost_allocs + r->leaks->lost_frees) : 0;
}

__s64 report_grew_bytes(const struct rrow *row)
{
	return leaks_round(row->leak->sum.bytes) - leaks_round(row->leak->before_bytes);
}

__s64 report_grew_blocks(const struct rrow *row)
{
	return leaks_round(row->leak->sum.blocks) - leaks_round(row->leak->before_blocks);
}

void report_leaks_shown(struct maker *m)
{
	for (size_t i = 0; i < m->r.nr_sections; i++) {
		const struct rsection *s = &m->r.sections[i];

		for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++)
			if (m->r.rows[k].leak)
				leaks_add_sum(&m->r.leaks->shown[m->r.rows[k].event],
					      &m->r.rows[k].leak->sum);
	}
}

#define HOUR_NS		3600000000000.0
#define TOO_LONG	(10 * 365 * 24 * HOUR_NS)

__u64 report_full_ns(const struct report_opts *o, const struct rleak *l)
{
	const struct trend_verdict *v = &l->verdict;
	const double per_hour = v->per_hour - v->reclaimable;
	double ns;

	if (!o->room || per_hour < 1 || !trend_grows(v->kind) || l->rate != RATE_KNOWN)
		return 0;
	ns = (double)o->room->bytes / per_hour * HOUR_NS;
	return ns < TOO_LONG ? 1 + (__u64)ns : 0;
}
