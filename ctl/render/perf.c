// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write samples in the format of `perf script`, for stackcollapse-perf.pl, Firefox Profiler and
 * flamescope.  The periods of a row's samples add up to its value.  With intervals, each sample
 * has the end of its interval as time.
 *
 *	comm pid/tid time: period event:
 *		address function+0xoffset (object)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "render/int.h"

/* A word, in a line that is split at blanks. */
static void put_word(FILE *out, const char *text)
{
	if (!*text)
		fputc('?', out);
	for (const char *p = text; *p;) {
		const size_t len = strcspn(p, " ");
		char part[256];

		snprintf(part, sizeof(part), "%.*s", (int)(len < 255 ? len : 255), p);
		text_put(out, part, NULL);
		p += len < 255 ? len : 255;
		for (; *p == ' '; p++)
			fputc('_', out);
	}
}

static void put_object(const struct sym_frame *f, FILE *out)
{
	if (f->inlined)
		fputs("inlined", out);
	else if (f->kernel && (!*f->object || !strcmp(f->object, "kernel")))
		fputs("[kernel.kallsyms]", out);
	else if (f->kernel)
		fprintf(out, "[%s]", f->object);
	else
		put_word(out, *f->object ? f->object : "[unknown]");
}

static void put_frame(const struct report *r, const struct rframe *f, FILE *out)
{
	const struct sym_frame *s = f->sym;
	const bool told = s && (!s->kernel || r->o->addresses);

	fprintf(out, "\t%16llx ", told ? (unsigned long long)s->addr : 0ULL);
	text_put(out, f->text, NULL);
	if (s && s->name && !s->inlined)
		fprintf(out, "+0x%llx", (unsigned long long)s->offset);
	fputs(" (", out);
	if (s)
		put_object(s, out);
	else
		fputs("memtap", out);
	fputs(")\n", out);
}

static void put_row(const struct view *v, const struct rrow *row, __u64 ns, __u64 period,
		    const struct chain *c, FILE *out)
{
	const struct rgroup *g = &v->r->groups[row->group];

	put_word(out, g->comm ? g->comm : *g->label ? g->label : "all");
	fprintf(out, " %d/%d %.6f: %llu ", g->pid, g->tid ? g->tid : g->pid, ns / 1e9,
		(unsigned long long)period);
	put_word(out, v->r->events[row->event].name);
	fputs(": \n", out);
	for (size_t i = 0; i < c->nr; i++)
		put_frame(v->r, &v->r->frames[c->at[i]], out);
	if (!c->nr)
		fprintf(out, "\t%16llx %s (memtap)\n", 0ULL, RENDER_NO_STACK);
	fputc('\n', out);
}

/* Readers know by its first line what it is. */
static void put_head(const struct view *v, FILE *out)
{
	fputs("# ========\n# ", out);
	render_title(v, out);
	if (v->o->command) {
		fputs("\n# cmdline : ", out);
		text_put(out, v->o->command, NULL);
	}
	fputc('\n', out);
	render_losses(v, "# ", "this file", out);
	fputs("# ========\n#\n", out);
}

/* What a row counts for, at a time. */
struct sample {
	const struct rrow *row;
	__u64 ns, weight;
	size_t number;			/* of those of one time the first one is first */
};

struct samples {
	const struct view *v;
	struct sample *at;
	size_t nr, room;
	__u64 unit;			/* for each there is one in the file */
};

static int add_sample(struct samples *s, const struct rrow *row, __u64 ns, __s64 weight)
{
	struct sample *more = ids_grow(s->at, s->nr, &s->room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->at = more;
	s->at[s->nr] = (struct sample){ row, ns, weight > 0 ? (__u64)weight : 0, s->nr };
	s->nr++;
	return 0;
}

static __s64 part_weight(const struct view *v, const struct rrow *row, const struct rseries *part)
{
	const struct rrow one = { .event = row->event, .flags = row->flags,
				  .count = part->count, .sum = part->sum };

	return render_weight(v, &one);
}

/*
 * In each part of the time, from the last one on, what is still there at the end: what a later
 * part took away is taken from those before it, so that the sum is the row's.
 */
static int add_parts(struct samples *s, const struct rrow *row)
{
	const struct report *r = s->v->r;
	const size_t first = s->nr;
	__u64 debt = 0, take;
	int err = 0;

	for (__u32 k = row->series; !err && k; k = r->series[k - 1].next) {
		const struct rseries *part = &r->series[k - 1];
		const __s64 weight = part_weight(s->v, row, part);

		if (weight < 0) {
			debt += 0 - (__u64)weight;
			continue;
		}
		take = debt < (__u64)weight ? debt : (__u64)weight;
		debt -= take;
		err = add_sample(s, row, r->snap->spans[part->span]->end_ns,
				 weight - (__s64)take);
	}
	/* less than nothing at first */
	for (size_t i = s->nr; debt && i-- > first;) {
		take = debt < s->at[i].weight ? debt : s->at[i].weight;
		s->at[i].weight -= take;
		debt -= take;
	}
	return err;
}

static int add_row(struct samples *s, const struct rrow *row)
{
	const __s64 weight = render_weight(s->v, row);

	if (weight <= 0)
		return 0;
	if (row->series)
		return add_parts(s, row);
	return add_sample(s, row, s->v->r->snap->header.now_ns, weight);
}

static int cmp_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static __u64 common(__u64 a, __u64 b)
{
	while (b) {
		const __u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#define SAMPLES		1000		/* so many are enough to tell shares apart */

/*
 * Firefox Profiler and others count samples, and do not look at periods: so each stack is there
 * as often as it has a unit, and periods add up to what it has.
 */
static void set_unit(struct samples *s)
{
	__u64 sum = 0, unit = 0;

	for (size_t i = 0; i < s->nr; i++) {
		sum = render_add(sum, s->at[i].weight);
		unit = common(unit, s->at[i].weight);
	}
	if (!unit || sum / unit > SAMPLES)
		unit = sum / SAMPLES;
	s->unit = unit ? unit : 1;
}

/*
 * What a row has in a part of the time and is less than a unit goes to the next part: else many
 * parts would make many samples.  Of a row the last part is the first.
 */
static void carry(struct samples *s)
{
	for (size_t first = 0, end; first < s->nr; first = end) {
		__u64 less = 0;

		for (end = first + 1; end < s->nr && s->at[end].row == s->at[first].row; end++)
			;
		for (size_t i = end; i-- > first;) {
			less = render_add(less, s->at[i].weight);
			s->at[i].weight = less >= s->unit || i == first ? less : 0;
			less -= s->at[i].weight;
		}
	}
}

static int put_sample(const struct samples *s, const struct sample *one, struct chain *c,
		      FILE *out)
{
	const __u64 whole = one->weight / s->unit, rest = one->weight % s->unit;
	const __u64 times = whole + (rest >= s->unit - rest || !whole);
	const int err = render_chain(s->v->r, one->row, c);
	__u64 left = one->weight;

	for (__u64 i = times; !err && one->weight && i; i--) {
		const __u64 period = left / i;

		put_row(s->v, one->row, one->ns, period, c, out);
		left -= period;
	}
	return err;
}

int render_perf_script(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	struct samples s = { .v = v };
	struct chain c = { .nr = 0 };
	int err = 0;

	if (v->o->number)
		render_losses(v, "# ", "this file", out);
	else
		put_head(v, out);
	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *section = &r->sections[i];

		for (size_t k = 0; !err && k < section->shown; k++)
			err = add_row(&s, report_shown(r, section, k));
	}
	set_unit(&s);
	carry(&s);
	if (s.nr)
		qsort(s.at, s.nr, sizeof(*s.at), cmp_samples);
	for (size_t i = 0; !err && i < s.nr; i++)
		err = put_sample(&s, &s.at[i], &c, out);
	render_chain_free(&c);
	free(s.at);
	return err;
}
