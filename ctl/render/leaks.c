// SPDX-License-Identifier: GPL-2.0-or-later
/* Print outstanding memory by stack, innermost frame first, the largest last, like memleak. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/suppression.h"

static const char *thing(const struct report *r, __u32 event)
{
	switch (event) {
	case RLEAKS_MAPPINGS:
		return "mapping";
	case RLEAKS_PAGES:
		return "block";
	case RLEAKS_VMALLOC:
		return "area";
	case RLEAKS_TEMPORARY:
		return "temporary allocation";
	default:
		return leaks_kernel(r->snap) ? "object" : "allocation";
	}
}

static const char *const kinds[NR_LEAK_KINDS] = {
	[LEAK_DEFINITE] = "definitely lost",
	[LEAK_INDIRECT] = "indirectly lost",
	[LEAK_POSSIBLE] = "possibly lost",
	[LEAK_REACHABLE] = "still reachable",
};

/* ---- stacks ---- */

static void put_frame(const struct report *r, const struct rframe *f, __u32 times, FILE *out)
{
	fputs("\t\t", out);
	if (r->o->addresses && f->sym)
		fprintf(out, "0x%016llx ", (unsigned long long)f->ip);
	text_put(out, f->text, NULL);
	if (f->sym && f->sym->name) {
		if (!f->any_place)
			fprintf(out, "+0x%llx", (unsigned long long)f->sym->offset);
		fputs(" [", out);
		text_put(out, *f->sym->object ? f->sym->object : "unknown", NULL);
		fputc(']', out);
	}
	render_source(f, out);
	render_times(times, out);
	fputc('\n', out);
}

static void put_stack(const struct report *r, __u32 id, FILE *out)
{
	const struct rstack *st = &r->stacks[id];

	if (!st->nr && !r->o->no_user && !r->o->rolled_up)
		fputs("\t\t[no stack]\n", out);
	render_frames(r, id, put_frame, "\t\t", out);
}

/* ---- rows ---- */

static __u64 age_of(const struct report *r, __u64 birth)
{
	const __u64 now = r->snap->header.now_ns;

	return now > birth ? now - birth : 0;
}

static int cmp_block(const void *a, const void *b)
{
	const struct memtap_block *x = *(const struct memtap_block *const *)a;
	const struct memtap_block *y = *(const struct memtap_block *const *)b;

	if (x->birth_ns != y->birth_ns)
		return x->birth_ns < y->birth_ns ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The oldest first. */
static void put_blocks(const struct report *r, const struct rrow *row, FILE *out)
{
	const struct memtap_block **all;
	char age[TEXT_LEN];
	size_t nr = 0;

	all = calloc(row->leak->sum.kept + 1, sizeof(*all));
	if (!all)
		return;
	for (__u32 i = row->leak->list; i; i = r->leaks->list[i - 1].next)
		all[nr++] = r->leaks->list[i - 1].block;
	if (nr)
		qsort(all, nr, sizeof(*all), cmp_block);
	for (size_t i = 0; i < nr; i++) {
		fputc('\t', out);
		if (!leaks_kernel(r->snap) || r->o->addresses)
			fprintf(out, "addr = %llx ", (unsigned long long)all[i]->addr);
		fprintf(out, "size = %llu age = %s\n", (unsigned long long)all[i]->size,
			text_ns(age, age_of(r, all[i]->birth_ns)));
	}
	free(all);
}

/* Plain digits, as memleak has them. */
static void put_amount(const struct report *r, const struct rrow *row, bool sampled, FILE *out)
{
	const struct leaks_sum *sum = &row->leak->sum;

	if (!sampled)
		fprintf(out, "\t%llu byte%s in %llu %s%s", (unsigned long long)row->sum,
			text_s(row->sum), (unsigned long long)row->count, thing(r, row->event),
			text_s(row->count));
	else if (report_calls_lost(r))
		fprintf(out, "\t~%llu byte%s in ~%llu %s%s", (unsigned long long)row->sum,
			text_s(row->sum), (unsigned long long)row->count, thing(r, row->event),
			text_s(row->count));
	else
		fprintf(out, "\t~%llu byte%s (+-%.0f) in ~%llu %s%s (+-%.0f)",
			(unsigned long long)row->sum, text_s(row->sum),
			ceil(leaks_error(sum->var_bytes)), (unsigned long long)row->count,
			thing(r, row->event), text_s(row->count),
			ceil(leaks_error(sum->var_blocks)));
}

static bool label_shown(const struct report *r, const struct rgroup *g)
{
	return *g->label && render_groups_shown(r);
}

/* Since the last report. */
static void put_growth(const struct report *r, const struct rrow *row, bool sampled, FILE *out)
{
	const __s64 n = report_grew_bytes(row), nr = report_grew_blocks(row);
	const __u64 bytes = n < 0 ? -(__u64)n : (__u64)n, blocks = nr < 0 ? -(__u64)nr : (__u64)nr;
	const char *about = sampled ? "~" : "";

	if (!r->o->past || (!n && !nr))
		return;
	if (row->leak->before_blocks <= 0 && r->o->changes)
		fputs(", new", out);
	else if (row->leak->gone)
		fprintf(out, ", gone: %s%llu byte%s in %s%llu", about, (unsigned long long)bytes,
			text_s(bytes), about, (unsigned long long)blocks);
	else if (n)
		fprintf(out, ", %s by %s%llu byte%s", n < 0 ? "shrank" : "grew", about,
			(unsigned long long)bytes, text_s(bytes));
	else
		fprintf(out, ", as many bytes in %s%llu %s", about, (unsigned long long)blocks,
			nr < 0 ? "fewer" : "more");
}

/* Of all that its stack allocated. */
static void put_share(const struct rrow *row, FILE *out)
{
	const struct rleak *l = row->leak;

	if (row->event == RLEAKS_TEMPORARY && l->allocs)
		fprintf(out, " of %llu (%.1f %%)", (unsigned long long)l->allocs,
			100.0 * (double)row->count / (double)l->allocs);
}

/* What they are, and how they were asked for, where that is the same of all. */
static void put_cache(const struct report *r, const struct rrow *row, FILE *out)
{
	static const struct { __u32 flag; const char *word; } words[] = {
		{ MEMTAP_BLOCK_RECLAIMABLE, "reclaimable" },
		{ MEMTAP_BLOCK_MOVABLE, "movable" },
		{ MEMTAP_BLOCK_ATOMIC, "atomic" },
		{ MEMTAP_BLOCK_IRQ, "in interrupts" },
	};
	const char *sep = " (";
	char also[CACHE_ALSO];

	if (r->o->by != BY_CACHE && row->leak->cache == RLEAK_CACHES) {
		fputs(row->event == RLEAKS_PAGES ? " of pages of several orders" :
		      row->event == RLEAKS_VMALLOC ? " of vmalloc and vmap" :
		      " of several caches", out);
	} else if (r->o->by != BY_CACHE) {
		const char *name = snap_cache(r->snap, row->leak->cache)->name;

		fputs(" of ", out);
		text_put(out, name, NULL);
		if (*machine_caches_also(r->o->caches, name, also)) {
			fputs(" (also ", out);
			text_put(out, also, NULL);
			fputc(')', out);
		}
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (row->leak->all & words[i].flag) {
			fprintf(out, "%s%s", sep, words[i].word);
			sep = ", ";
		}
	if (*sep == ',')
		fputc(')', out);
}

/* Address space is no memory. */
static void put_extent(const struct rrow *row, FILE *out)
{
	const struct rextent *e = &row->leak->extent;

	if (!render_extent_is_less(e, &row->leak->sum))
		return;
	fprintf(out, "; %llu byte%s resident, ", (unsigned long long)e->resident,
		text_s(e->resident));
	if (e->swapped)
		fprintf(out, "%llu swapped out, ", (unsigned long long)e->swapped);
	fprintf(out, "%llu only reserved", (unsigned long long)(row->leak->sum.kept_bytes -
								e->resident - e->swapped));
}

static void put_suppression(const struct report *r, const struct rrow *row, FILE *out)
{
	struct suppression s;

	suppression_make(r, row, &s);
	suppression_put(&s, out);
}

#define HELDS		4		/* kinds and holders of a row that are told one by one */

static void put_held_sum(__u64 blocks, __u64 bytes, FILE *out)
{
	char n[TEXT_LEN], text[TEXT_LEN];

	fprintf(out, ": %s in %s block%s\n", text_bytes(text, (__s64)bytes, false),
		text_count(n, blocks), text_s(blocks));
}

/* "-- Session, held by global `table` in server", with numbers where it is not all of them */
static void put_helds(const struct report *r, const struct rrow *row, FILE *out)
{
	__u64 blocks = 0, bytes = 0, more = 0, more_bytes = 0;
	size_t nr = 0;

	for (__u32 i = row->leak->held; i; i = r->leaks->helds[i - 1].next, nr++) {
		const struct rheld *h = &r->leaks->helds[i - 1];
		const struct snap_held *of = &r->snap->helds[h->held];

		blocks += h->blocks;
		bytes += h->bytes;
		if (nr >= HELDS) {
			more += h->blocks;
			more_bytes += h->bytes;
			continue;
		}
		fputs("\t\t-- ", out);
		text_put(out, of->kind, NULL);
		fputs(", held by ", out);
		text_put(out, of->holder, NULL);
		if (h->blocks == row->count)
			fputc('\n', out);
		else
			put_held_sum(h->blocks, h->bytes, out);
	}
	if (more) {
		fprintf(out, "\t\t-- %zu more kind%s and holder%s", nr - HELDS,
			text_s(nr - HELDS), text_s(nr - HELDS));
		put_held_sum(more, more_bytes, out);
	}
	if (r->snap->held && row->event == RLEAKS_HEAP && row->count > blocks) {
		fputs("\t\t-- kind and holder not known", out);
		if (blocks)
			put_held_sum(row->count - blocks, row->sum - bytes, out);
		else
			fputc('\n', out);
	}
}

static void put_row(const struct report *r, const struct rrow *row, FILE *out)
{
	const bool sampled = leaks_sampled(r->snap) && row->event != RLEAKS_MAPPINGS;
	const struct rgroup *g = &r->groups[row->group];
	char age[TEXT_LEN];

	if (r->leaks->list)
		put_blocks(r, row, out);
	put_amount(r, row, sampled, out);
	put_share(row, out);
	if (leaks_kernel(r->snap))
		put_cache(r, row, out);
	if (!r->o->rolled_up)
		fputs(" from stack", out);
	if (label_shown(r, g)) {
		fputs(r->o->rolled_up && r->o->by != BY_CACHE ? " by " : " of ", out);
		text_put(out, g->label, NULL);
	}
	if (row->flags < NR_LEAK_KINDS && kinds[row->flags])
		fprintf(out, ", %s", kinds[row->flags]);
	put_extent(row, out);
	put_growth(r, row, sampled, out);
	if (r->o->sort == SORT_AGE)
		fprintf(out, ", the oldest for %s", text_ns(age, age_of(r, row->leak->birth)));
	fputc('\n', out);
	put_stack(r, leaks_kernel(r->snap) ? row->kstack : row->ustack, out);
	put_helds(r, row, out);
	render_verdict(r, row->leak, out);
	if (r->o->suppressions)
		put_suppression(r, row, out);
}

/* What a section is of. */
static const char *things(const struct report *r, __u32 event)
{
	switch (event) {
	case RLEAKS_PAGES:
		return "outstanding blocks of pages";
	case RLEAKS_PERCPU:
		return "outstanding per-CPU objects";
	case RLEAKS_MAPPINGS:
		return "outstanding mappings";
	case RLEAKS_VMALLOC:
		return "outstanding areas";
	case RLEAKS_PEAK:
		return report_own_peaks(r->o) ?
		       "allocations outstanding at the peak of their process" :
		       "allocations outstanding at the peak";
	case RLEAKS_ALLOCATED:
		return "allocations, freed or not";
	case RLEAKS_TEMPORARY:
		return "temporary allocations";
	default:
		return leaks_kernel(r->snap) ? "outstanding objects" : "outstanding allocations";
	}
}

static void put_head(const struct report *r, const char *things, size_t shown, size_t same,
		     const char *order, FILE *out)
{
	const char *what = r->o->rolled_up ? "row" : "stack";
	const bool up = r->o->changes == CHANGES_UP;
	char when[TEXT_LEN], n[TEXT_LEN];

	text_clock(when, r->snap->header.real_ns);
	text_count(n, same);
	if (same && !shown) {		/* nothing of it is what was asked for */
		fprintf(out, "[%s] No %s with %s has %s since the last report (%s in "
			     "all)\n",
			when, what, things, up ? "grown" : "changed", n);
		return;
	}
	fprintf(out, "[%s] Top %zu %s%s with %s%s", when, shown, what, text_s(shown),
		things, shown < 2 ? "" : order);
	if (same)
		fprintf(out, "; %s did not %s", n, up ? "grow" : "change");
	fputs(":\n", out);
}

static void put_none(const struct report *r, const char *things, FILE *out)
{
	char when[TEXT_LEN];

	fprintf(out, "[%s] No stacks with %s\n",
		text_clock(when, r->snap->header.real_ns), things);
}

static void put_section(const struct report *r, const struct rsection *s, FILE *out)
{
	put_head(r, things(r, (__u32)(s->event - r->events)), s->shown, s->nr_same,
		 !r->o->grew_first ? "" :
		 r->o->past ? ", largest growth first" : ", largest first", out);
	for (size_t i = 0; i < s->shown; i++)
		put_row(r, report_shown(r, s, i), out);
}

/* What is asked for first. */
static __u32 first_event(const struct report *r)
{
	__u32 event = RLEAKS_HEAP;

	while (!(report_of(r->o) & 1U << event))
		event++;
	return event;
}

static void put_sections(const struct report *r, FILE *out)
{
	const __u32 first = first_event(r);

	if (!r->nr_sections || r->sections[0].event != &r->events[first]) {
		put_none(r, things(r, first), out);
		if (r->nr_sections)
			fputc('\n', out);
	}
	for (size_t i = 0; i < r->nr_sections; i++) {
		if (i)
			fputc('\n', out);
		put_section(r, &r->sections[i], out);
	}
}

/* What is freed again stands behind all else, unless --sort asks for another order. */
static const char *merged_order(const struct report *r)
{
	bool again = false, stays = false;

	for (size_t i = 0; i < r->nr_merged; i++)
		if (report_is_freed_again(r->merged[i]))
			again = true;
		else
			stays = true;
	again = again && stays && r->o->sort == SORT_DEFAULT;
	if (!r->o->grew_first)
		return again ? ", those that are freed again first, the largest last" : "";
	if (r->o->past)
		return again ? ", largest growth first, those that are freed again last" :
			       ", largest growth first";
	return again ? ", largest first, those that are freed again last" : ", largest first";
}

/* The kernel's memory, whichever allocator it is of. */
static void put_merged(const struct report *r, FILE *out)
{
	const char *of = r->nr_sections != 1 ? "outstanding memory" :
			 things(r, (__u32)(r->sections[0].event - r->events));
	size_t same = 0;

	if (!r->nr_sections) {
		put_none(r, of, out);
		return;
	}
	for (size_t i = 0; i < r->nr_sections; i++)
		same += r->sections[i].nr_same;
	put_head(r, of, r->nr_merged, same, merged_order(r), out);
	for (size_t i = 0; i < r->nr_merged; i++)
		put_row(r, r->merged[i], out);
}

void render_leaks(const struct report *r, FILE *out)
{
	if (r->merged)
		put_merged(r, out);
	else
		put_sections(r, out);
}

/* ---- what cannot be right ---- */

static const char *event_name(const struct report *r, __u32 id)
{
	const struct snap_event *e = snap_event(r->snap, id);

	return e ? e->name : "something unknown";
}

static void put_step(const struct report *r, const char *what, const char *by, __u32 stack,
		     FILE *out)
{
	fprintf(out, "\t%s by ", what);
	text_put(out, by, NULL);
	fputs(" from stack\n", out);
	put_stack(r, stack, out);
}

static void put_block(const struct memtap_rec_mismatch *m, bool size, FILE *out)
{
	fprintf(out, "%llx", (unsigned long long)m->addr);
	if (size)
		fprintf(out, " (%llu byte%s)", (unsigned long long)m->size, text_s(m->size));
}

/* "16 bytes inside a block of 64" */
static void put_inside(const struct memtap_rec_mismatch *m, const struct memtap_block *b,
		       FILE *out)
{
	const __u64 at = m->addr - b->addr;

	fprintf(out, ", %llu byte%s inside a %s of %llu", (unsigned long long)at, text_s(at),
		b->flags & MEMTAP_BLOCK_MAPPING ? "mapping" : "block",
		(unsigned long long)b->size);
}

static void put_kind(const struct report *r, const struct rmismatch *x, FILE *out)
{
	const struct memtap_rec_mismatch *m = x->m;

	switch (m->kind) {
	case MEMTAP_MISMATCH_DOUBLE:
		fputs("double free of ", out);
		put_block(m, true, out);
		break;
	case MEMTAP_MISMATCH_UNKNOWN:
		fputs("free of ", out);
		put_block(m, false, out);
		if (x->inside)
			put_inside(m, x->inside, out);
		else
			fputs(", which was never allocated", out);
		break;
	case MEMTAP_MISMATCH_FAMILY:
		put_block(m, true, out);
		fputs(" was allocated by ", out);
		text_put(out, event_name(r, m->alloc_event), NULL);
		fputs(", freed by ", out);
		text_put(out, event_name(r, m->event), NULL);
		break;
	default:
		fputs("an unknown kind of free of ", out);
		put_block(m, true, out);
	}
}

static void put_mismatch(const struct report *r, const struct rmismatch *x, FILE *out)
{
	const struct memtap_rec_mismatch *m = x->m;
	const struct rgroup *g = &r->groups[x->group];
	char n[TEXT_LEN];

	put_kind(r, x, out);
	if (label_shown(r, g)) {
		fputs(" in ", out);
		text_put(out, g->label, NULL);
	}
	if (m->count > 1)
		fprintf(out, "; %s times in all, this was the first", text_count(n, m->count));
	fputc('\n', out);
	put_step(r, m->kind == MEMTAP_MISMATCH_DOUBLE ? "freed again" : "freed",
		 event_name(r, m->event), x->stack, out);
	if (m->kind == MEMTAP_MISMATCH_DOUBLE && m->free_stack) {
		fputs("\tfreed before from stack\n", out);
		put_stack(r, x->free_stack, out);
	}
	if (x->inside)
		put_step(r, "allocated", event_name(r, x->inside->event), x->alloc_stack, out);
	else if (m->kind != MEMTAP_MISMATCH_UNKNOWN)
		put_step(r, "allocated", event_name(r, m->alloc_event), x->alloc_stack, out);
}

void render_mismatches(const struct report *r, FILE *out)
{
	const size_t nr = r->leaks->nr_mismatches;
	char when[TEXT_LEN], n[TEXT_LEN];

	if (!nr)
		return;
	fprintf(out, "\n[%s] %s invalid or mismatched free%s:\n",
		text_clock(when, r->snap->header.real_ns), text_count(n, nr), text_s(nr));
	for (size_t i = 0; i < nr; i++)
		put_mismatch(r, &r->leaks->mismatches[i], out);
}
