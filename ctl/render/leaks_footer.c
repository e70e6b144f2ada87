// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the summary below rows of live blocks: the total of all rows, and how much of the growth
 * of processes it explains.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/accounts.h"
#include "render/int.h"

#define MAX_SPACES	5	/* shown, the largest */

/* ---- totals ---- */

static void put_sum(const struct leaks_sum *sum, const char *things, FILE *out)
{
	const bool estimate = sum->var_blocks > 0;
	char n[TEXT_LEN], bytes[TEXT_LEN], kib[TEXT_LEN];

	fprintf(out, "%s%s %s%s", estimate ? "~" : "", text_count(n, leaks_round(sum->blocks)),
		things, text_s(leaks_round(sum->blocks)));
	if (estimate)
		fprintf(out, " (+-%s)", text_count(n, ceil(leaks_error(sum->var_blocks))));
	fprintf(out, ", %s%s byte%s", estimate ? "~" : "",
		text_count(bytes, leaks_round(sum->bytes)), text_s(leaks_round(sum->bytes)));
	if (estimate)
		fprintf(out, " (+-%s)", text_count(n, ceil(leaks_error(sum->var_bytes))));
	if (sum->bytes >= 1024)
		fprintf(out, " (%s%s)", estimate ? "~" : "",
			text_bytes(kib, leaks_round(sum->bytes), false));
	if (estimate)
		fprintf(out, ", from %s kept", text_count(n, sum->kept));
}

static void put_line(const char *what, const struct leaks_sum *sum, const char *things,
		     FILE *out)
{
	if (!sum->kept)
		return;
	fprintf(out, "%s: ", what);
	put_sum(sum, things, out);
	fputc('\n', out);
}

static const struct rsection *section_of(const struct report *r, int event)
{
	for (size_t i = 0; i < r->nr_sections; i++)
		if (r->sections[i].event == &r->events[event])
			return &r->sections[i];
	return NULL;
}

/* What is in no row because it is there in another way already. */
static void put_owned(const struct report *r, FILE *out)
{
	static const char *const whose[NR_ROWNER] = {
		[ROWNER_SLAB] = "pages of slabs and large kmalloc(), reported as objects",
		[ROWNER_VMALLOC] = "pages of vmalloc areas, reported as areas",
		[ROWNER_PERCPU] = "pages of per-CPU memory, reported as per-CPU objects",
	};

	for (int i = ROWNER_SLAB; i < NR_ROWNER; i++)
		put_line(whose[i], &r->leaks->owned[i], "block", out);
}

static void put_section(const struct report *r, int event, const char *things, FILE *out)
{
	const struct rsection *s = section_of(r, event);
	const size_t nr = s ? s->nr - s->nr_gone : 0, shown = s ? s->shown - s->shown_gone : 0;
	char n[TEXT_LEN];

	if (!s && (leaks_kernel(r->snap) ? !snap_has_group(r->snap, r->events[event].name) :
		   event != RLEAKS_HEAP))
		return;
	fprintf(out, "%s: %s %s%s, ", r->events[event].name, text_count(n, nr),
		r->o->rolled_up ? "row" : "stack", text_s(nr));
	put_sum(&r->leaks->sums[event], things, out);
	if (shown < nr) {
		fprintf(out, "; shown: %s %s%s, ", text_count(n, shown),
			r->o->rolled_up ? "row" : "stack", text_s(shown));
		put_sum(&r->leaks->shown[event], things, out);
	}
	fputc('\n', out);
}

static void put_older(const struct report *r, FILE *out)
{
	char what[TEXT_LEN + 32], ms[TEXT_LEN];

	snprintf(what, sizeof(what), "younger than %s ms, not included above",
		 text_count(ms, r->o->older_ms));
	put_line(what, &r->leaks->young, leaks_kernel(r->snap) ? "object" : "block", out);
}

static void put_sampled(const struct report *r, FILE *out)
{
	const struct memtap_rec_header *h = &r->snap->header;
	const __u64 lost = report_calls_lost(r);
	char n[TEXT_LEN];

	if (!leaks_sampled(r->snap))
		return;
	fprintf(out, "sampled: one %s in %s; ~ is an estimate, ",
		h->sample_bytes ? "byte" : "block",
		text_count(n, h->sample_bytes ? h->sample_bytes : h->sample_rate));
	if (lost)
		fprintf(out, "+- covers recorded blocks only: %s call%s lost\n",
			text_count(n, lost), lost == 1 ? " was" : "s were");
	else
		fputs("+- is the 95 % range\n", out);
}

/* "1,234 bytes (1.2 KiB)" */
static void put_bytes(__u64 bytes, FILE *out)
{
	char n[TEXT_LEN], kib[TEXT_LEN];

	fprintf(out, "%s byte%s", text_count(n, bytes), text_s(bytes));
	if (bytes >= 1024)
		fprintf(out, " (%s)", text_bytes(kib, (__s64)bytes, false));
}

static __u64 told_peak(const struct report *r)
{
	__u64 sum = 0;

	if (!report_own_peaks(r->o))
		return r->snap->peak.peak_bytes;
	for (size_t i = 0; i < r->snap->nr_spaces; i++)
		sum += r->snap->spaces[i].peak_bytes;
	return sum;
}

/* Stacks add up to the peak, unless some had no room, or it rose while they were read. */
static void put_missing(const struct report *r, FILE *out)
{
	const struct memtap_rec_peak *p = &r->snap->peak;
	const __u64 peak = told_peak(r);
	char n[TEXT_LEN];

	if (p->lost)
		fprintf(out, "%s allocation%s had no room for their stack: the peak has them, the "
			     "rows do not; --max-mem gives more\n", text_count(n, p->lost),
			text_s(p->lost));
	else if (r->leaks->peak_bytes != peak)
		fprintf(out, "the peak rose while its stacks were read: they add up to %s bytes\n",
			text_count(n, r->leaks->peak_bytes));
}

/* When most lived, and whether that is all that did. */
static void put_peak(const struct report *r, FILE *out)
{
	const struct memtap_rec_peak *p = &r->snap->peak;
	const __u64 start = r->snap->header.start_ns;
	char n[TEXT_LEN], number[TEXT_LEN];

	if (!(report_of(r->o) & 1U << RLEAKS_PEAK) || !p->rec.len)
		return;
	fputs("the peak of all processes was ", out);
	put_bytes(p->peak_bytes, out);
	if (p->peak_number)
		fprintf(out, ", %s after the start (number %s)",
			text_ns(n, p->peak_ns > start ? p->peak_ns - start : 0),
			text_count(number, p->peak_number));
	fputs("; now it is ", out);
	put_bytes(p->bytes, out);
	fputc('\n', out);
	put_missing(r, out);
	if (report_calls_lost(r))
		fprintf(out, "the peak is not exact: %s call%s lost\n",
			text_count(n, report_calls_lost(r)),
			report_calls_lost(r) == 1 ? " was" : "s were");
}

static void put_temporary(const struct report *r, FILE *out)
{
	const struct rleaks *l = r->leaks;
	char n[TEXT_LEN], m[TEXT_LEN];

	if (!(report_of(r->o) & (1U << RLEAKS_TEMPORARY | 1U << RLEAKS_ALLOCATED)))
		return;
	fprintf(out, "allocated in all: %s time%s, ", text_count(n, l->allocs), text_s(l->allocs));
	put_bytes(l->alloc_bytes, out);
	fprintf(out, "; temporary: %s", text_count(m, l->temporary));
	if (l->allocs)
		fprintf(out, " (%.1f %%)", 100.0 * (double)l->temporary / (double)l->allocs);
	fputc('\n', out);
}

static void put_totals(const struct report *r, FILE *out)
{
	put_section(r, RLEAKS_PEAK, "block", out);
	put_section(r, RLEAKS_ALLOCATED, "allocation", out);
	put_section(r, RLEAKS_TEMPORARY, "allocation", out);
	put_peak(r, out);
	put_temporary(r, out);
}

void render_leaks_totals(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	char n[TEXT_LEN];

	render_title(v, out);
	fputc('\n', out);
	if (report_of(r->o) & RLEAKS_LIVE)
		put_section(r, RLEAKS_HEAP, leaks_kernel(r->snap) ? "object" : "block", out);
	put_section(r, RLEAKS_MAPPINGS, "mapping", out);
	put_section(r, RLEAKS_PAGES, "block", out);
	put_section(r, RLEAKS_PERCPU, "object", out);
	put_section(r, RLEAKS_VMALLOC, "area", out);
	put_totals(r, out);
	put_owned(r, out);
	put_older(r, out);
	if (r->o->stale_ns)
		put_line("used or allocated too recently, not included above "
			 "(--stale)", &r->leaks->used,
			 "block", out);
	put_line("allocated outside the requested time, not included above", &r->leaks->outside,
		 leaks_kernel(r->snap) ? "object" : "block", out);
	put_line("allocated after their process was examined, not included above", &r->leaks->late,
		 "block", out);
	put_line("of processes that have exited, not included above", &r->leaks->dead, "block",
		 out);
	put_line("suppressed", &r->leaks->suppressed, "block", out);
	put_line("still reachable, mappings included (--show-reachable shows them)",
		 &r->leaks->other_kinds, "block", out);
	put_line("mapped by the dynamic linker (--show-loader shows them)", &r->leaks->loader,
		 "mapping", out);
	put_line("mapped by allocators to serve allocations", &r->leaks->inner, "mapping",
		 out);
	if (r->leaks->own_frees)
		fprintf(out, "freed by libc itself when threads ended (not an error): %s "
			     "block%s\n", text_count(n, r->leaks->own_frees),
			text_s(r->leaks->own_frees));
	if (r->leaks->known_frees)
		fprintf(out, "suppressed: %s invalid or mismatched free%s\n",
			text_count(n, r->leaks->known_frees), text_s(r->leaks->known_frees));
	put_sampled(r, out);
}

void render_suppressions(const struct report *r, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < suppress_nr(r->o->suppress); i++) {
		const struct leaks_sum *sum = &r->leaks->patterns[i];
		const __u64 frees = r->leaks->free_patterns[i];

		if (!sum->kept && !frees)
			continue;
		if (!any)
			fputs("Suppressions used:\n  count      bytes template\n", out);
		any = true;
		if (frees)
			fprintf(out, "%7llu %10s ", (unsigned long long)frees, "frees");
		else
			fprintf(out, "%7.0f %10.0f ", sum->blocks, sum->bytes);
		text_put(out, suppress_pattern(r->o->suppress, i), NULL);
		fputc('\n', out);
	}
}

/* ---- processes ---- */

static __s64 grown(__u64 now, __u64 then)
{
	return (__s64)(now - then);
}

static __u64 absolute(__s64 n)
{
	return n < 0 ? -(__u64)n : (__u64)n;
}

static void put_growth(FILE *out, const char *what, __s64 n)
{
	char bytes[TEXT_LEN];

	if (n)
		fprintf(out, "%s %s by %s", what, n < 0 ? "shrank" : "grew",
			text_bytes(bytes, (__s64)absolute(n), false));
	else
		fprintf(out, "%s did not grow", what);
}

/* Some blocks live that are not kept: sizes that were not asked for, losses. */
bool render_some_unsampled(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_heaps && !leaks_sampled(s); i++)
		if (s->heaps[i].kept < s->heaps[i].allocs)
			return true;
	return !accounts_complete(s);
}

static void put_kept_back(const struct report *r, const struct memtap_rec_space *s, __s64 n,
			  const char *about, FILE *out)
{
	char bytes[TEXT_LEN];

	fprintf(out, ", its allocators keep the other %s%s (free, overhead%s%s)", about,
		text_bytes(bytes, n, false),
		s->flags & MEMTAP_SPACE_START ? "" : ", or allocated before recording",
		render_some_unsampled(r->snap) ? ", or live but not recorded" : "");
}

/* What it had at the end is not kept: neither its blocks nor its mappings. */
static bool is_purged(const struct snap *s, const struct memtap_rec_space *x)
{
	return x->flags & MEMTAP_SPACE_EXECED || (x->end_ns && x->purged) ||
	       (x->flags & MEMTAP_SPACE_EXITED && !(s->header.flags & MEMTAP_CFG_KEEP));
}

/* Of parts that all grew: what they are together, if it is compared with live blocks. */
static void put_taken(const struct memtap_rec_space *s, __s64 heap, __s64 earlier, __u64 inner,
		      __s64 taken, FILE *out)
{
	char bytes[TEXT_LEN];

	if (heap >= 0 && earlier >= 0 && (heap > 0) + (earlier > 0) + (s->inner_maps && inner) > 1)
		fprintf(out, ", together %s", text_bytes(bytes, taken, false));
}

/* What allocators took from the kernel, and what of it is in live blocks. */
static void put_heap_growth(const struct report *r, const struct rspace *x, FILE *out)
{
	const struct memtap_rec_space *s = x->space;
	const __s64 heap = grown(s->heap_now, s->heap_then);
	const __u64 inner = s->inner_bytes - s->inner_reserved;
	const __s64 earlier = grown(s->earlier_came, s->earlier_gone);
	const __s64 taken = (__s64)((__u64)heap + inner + (__u64)earlier);
	const __s64 live = leaks_round(x->all.bytes);
	const char *about = x->all.var_bytes > 0 ? "~" : "";
	char a[TEXT_LEN], b[TEXT_LEN];

	put_growth(out, "  its heap", heap);
	if (earlier)
		put_growth(out, ", its earlier arenas", earlier);
	if (s->inner_maps)
		fprintf(out, ", its allocators mapped %s",
			text_bytes(a, (__s64)inner, false));
	if (!is_purged(r->snap, s) && taken > live)
		put_taken(s, heap, earlier, inner, taken, out);
	if (s->inner_reserved)
		fprintf(out, " (and %s only reserved)",
			text_bytes(a, (__s64)s->inner_reserved, false));
	if (is_purged(r->snap, s))
		return;
	fprintf(out, "; live blocks are %s%s", about, text_bytes(a, live, false));
	if (taken > live)
		put_kept_back(r, s, taken - live, about, out);
	else if (taken < live)
		fprintf(out, ", %s%s of that in memory that the heap already had", about,
			text_bytes(b, taken > 0 ? live - taken : live, false));
}

static void put_rest(const struct snap *snap, const struct memtap_rec_space *s, FILE *out)
{
	const __u64 all = s->vm_now - s->vm_then;
	const __s64 rest = (__s64)(all - (s->heap_now - s->heap_then) - s->inner_bytes -
				   s->maps_bytes);
	char a[TEXT_LEN], b[TEXT_LEN];

	if (s->maps)
		fprintf(out, "the program mapped %s in %s range%s",
			text_bytes(a, (__s64)s->maps_bytes, false), text_count(b, s->maps),
			text_s(s->maps));
	if (s->maps && s->maps_reserved)
		fprintf(out, ", %s of it only reserved",
			text_bytes(a, (__s64)s->maps_reserved, false));
	if (s->maps)
		fputs("; ", out);
	if (rest && !is_purged(snap, s)) {
		put_growth(out, "all else (files, stacks, earlier mappings)", rest);
		fputs("; ", out);
	}
	put_growth(out, "RSS", grown(s->rss_now, s->rss_then));
	fputc('\n', out);
}

static void put_events(const struct memtap_rec_space *s, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	if (s->flags & MEMTAP_SPACE_FORKED)
		fputs("  it was forked from another process; allocations before the fork are not "
		      "known\n", out);
	if (s->purged)
		fprintf(out, "  %s block%s, %s, ended with the "
			     "process\n", text_count(a, s->purged),
			text_s(s->purged), text_bytes(b, (__s64)s->purged_bytes, false));
	if (s->unknown)
		fprintf(out, "  %s free%s of unknown blocks\n", text_count(a, s->unknown),
			text_s(s->unknown));
	if (s->replaced)
		fprintf(out, "  %s block%s freed unseen: the address was allocated again\n",
			text_count(a, s->replaced), s->replaced == 1 ? " was" : "s were");
}

static void put_own_peak(const struct report *r, const struct memtap_rec_space *s, FILE *out)
{
	char n[TEXT_LEN];

	if (!s->peak_number)
		return;
	fputs("  its live blocks were at most ", out);
	put_bytes(s->peak_bytes, out);
	fprintf(out, ", %s after the start\n",
		text_ns(n, s->peak_ns > r->snap->header.start_ns ?
			s->peak_ns - r->snap->header.start_ns : 0));
}

static void put_space(const struct report *r, const struct rspace *x, FILE *out)
{
	const struct memtap_rec_space *s = x->space;
	const struct memtap_rec_task *t = snap_task(r->snap, s->task);

	text_put(out, t ? t->comm : "process", NULL);
	fprintf(out, " [%d]%s:\n", s->pid, s->flags & MEMTAP_SPACE_EXECED ? ", until execve()" :
		s->flags & MEMTAP_SPACE_EXITED ? ", until it exited" : "");
	put_heap_growth(r, x, out);
	fputs("\n  ", out);
	put_rest(r->snap, s, out);
	put_own_peak(r, s, out);
	put_events(s, out);
}

static __u64 weight_of(const struct memtap_rec_space *s)
{
	return s->bytes + s->maps_bytes + s->purged_bytes +
	       absolute(grown(s->heap_now, s->heap_then)) + s->inner_bytes + s->earlier_came;
}

static int cmp_spaces(const void *a, const void *b)
{
	const struct rspace *const *x = a, *const *y = b;
	const __u64 v = weight_of((*x)->space), w = weight_of((*y)->space);

	if (v != w)
		return v > w ? -1 : 1;
	return (*x)->space->id < (*y)->space->id ? -1 : 1;
}

/* One that is gone, and of which there is nothing to tell. */
static bool is_idle(const struct rspace *x)
{
	return x->space->end_ns && !weight_of(x->space) && !x->all.kept && !x->space->unknown &&
	       !x->space->replaced;
}

void render_leaks_spaces(const struct report *r, FILE *out)
{
	const struct rspace **all = calloc(r->snap->nr_spaces + 1, sizeof(*all));
	size_t shown = 0, nr = 0;
	char n[TEXT_LEN];

	for (size_t i = 0; all && i < r->snap->nr_spaces; i++) {
		const struct rspace *x = &r->leaks->spaces[i];

		/* what went on with execve() is told with what it became */
		nr += !is_idle(x) || !(x->space->flags & MEMTAP_SPACE_EXECED);
		if (!is_idle(x))
			all[shown++] = x;
	}
	if (shown)
		qsort(all, shown, sizeof(*all), cmp_spaces);
	if (shown > MAX_SPACES)
		shown = MAX_SPACES;
	for (size_t i = 0; i < shown; i++)
		put_space(r, all[i], out);
	if (nr > shown)
		fprintf(out, "and %s more process%s with %s\n", text_count(n, nr - shown),
			nr - shown == 1 ? "" : "es", shown ? "less" : "nothing");
	free(all);
}
