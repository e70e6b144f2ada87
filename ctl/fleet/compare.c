// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which stacks differ between two groups of hosts, and which hosts are odd.  Each host counts
 * once, with what it has per second: so recordings of other lengths can be compared, and one odd
 * machine does not move the middle.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"
#include "fleet/robust.h"

/*
 * Less than this part of a median (of a host's total) is not worth a line, however little
 * hosts vary.
 */
#define LEAST_CHANGE	0.02
#define LEAST_ODD	0.05

/*
 * Few values tell little of how far they may lie apart: with fewer others than this, an odd host
 * is also so many times as far from their median as the farthest of them.  (Of normal values the
 * rule of 3.5 spreads alone would call one in eleven odd beside five others, one in a hundred
 * beside twenty.)
 */
#define FEW_OTHERS	20
#define TIMES_FARTHEST	3

#define FEW_HOSTS	64	/* of so many, a host is compared with all but itself */

/* What one host has of one thing. */
struct cell {
	__u32 event, kstack, ustack, file, program, host;
	double value;
};

struct hosts {
	__u32 *at;			/* numbers of hosts */
	size_t nr;
};

struct comparer {
	const struct fleet *f;
	bool two, program;
	struct fleet_result *r;
	struct cell *cells;
	size_t nr_cells;
	struct hosts of[2];
	__u32 *place;			/* by host: in its group's array; ~0: left out */
	double *totals;			/* those of the result */
	double *v[2], *sorted[2], *tmp;
	size_t room_rows, room_odds;
};

/* ---- cells ---- */

static int cmp_u32(__u32 a, __u32 b)
{
	return a < b ? -1 : a > b;
}

static int cmp_thing(const struct cell *x, const struct cell *y)
{
	int c = cmp_u32(x->event, y->event);

	if (!c)
		c = cmp_u32(x->ustack, y->ustack);
	if (!c)
		c = cmp_u32(x->kstack, y->kstack);
	if (!c)
		c = cmp_u32(x->program, y->program);
	return c ? c : cmp_u32(x->file, y->file);
}

static int cmp_cell(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	const int c = cmp_thing(x, y);

	return c ? c : cmp_u32(x->host, y->host);
}

/* Programs are told apart by their names: each has the number of the first task of that name. */
static int number_programs(const struct fleet *f, __u32 *of)
{
	struct tables names = { 0 };
	__u32 *first = calloc(f->t.task_ids.nr + 1, sizeof(*first));
	int err = first ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < f->t.task_ids.nr; i++) {
		const size_t nr = names.text_ids.nr;
		const __s64 name = fleet_text(&names, f->t.tasks[i].comm);

		if (name < 0) {
			err = -ENOMEM;
			break;
		}
		if (names.text_ids.nr > nr)
			first[name] = (__u32)i;
		of[i] = first[name];
	}
	fleet_tables_free(&names);
	free(first);
	return err;
}

/* Mappings that cannot be written to are no growth. */
#define NO_GROWTH	(MEMTAP_KEY_READONLY | MEMTAP_KEY_RESERVED)

static double value_of(const struct comparer *c, const struct frow *r)
{
	const bool counts = c->f->events[r->event].unit == MEMTAP_UNIT_NONE;
	const __u64 ns = c->f->hosts[c->f->t.tasks[r->task].host].ns;
	double v = counts ? (double)r->count + r->blocks : (double)r->sum + r->bytes;

	if (!counts && r->flags & NO_GROWTH)
		v = 0;
	return fleet_is_level(c->f) ? v : v / ((double)ns / 1e9);
}

static int make_cells(struct comparer *c)
{
	const struct tables *t = &c->f->t;
	__u32 *programs = calloc(t->task_ids.nr + 1, sizeof(*programs));
	size_t kept = 0;
	int err;

	c->cells = malloc((t->row_ids.nr + 1) * sizeof(*c->cells));
	err = c->cells && programs ? number_programs(c->f, programs) : -ENOMEM;
	for (size_t i = 0; !err && i < t->row_ids.nr; i++) {
		const struct frow *r = &t->rows[i];
		const __u32 host = t->tasks[r->task].host;
		const double v = c->place[host] == ~0U ? 0 : value_of(c, r);

		if (c->place[host] == ~0U)
			continue;
		c->totals[r->event * c->f->host_ids.nr + host] += v;
		c->cells[c->nr_cells++] = (struct cell){
			.event = r->event, .kstack = r->kstack, .ustack = r->ustack,
			.file = r->file, .program = c->program ? programs[r->task] : 0,
			.host = host, .value = v,
		};
	}
	free(programs);
	if (err)
		return err;
	if (c->nr_cells)
		qsort(c->cells, c->nr_cells, sizeof(*c->cells), cmp_cell);
	for (size_t i = 0; i < c->nr_cells; i++) {
		if (kept && !cmp_cell(&c->cells[kept - 1], &c->cells[i]))
			c->cells[kept - 1].value += c->cells[i].value;
		else
			c->cells[kept++] = c->cells[i];
	}
	c->nr_cells = kept;
	return 0;
}

/* ---- one thing ---- */

/* The values of all hosts, those without any of it included. */
static void fill(struct comparer *c, const struct cell *at, size_t nr)
{
	for (int side = 0; side < 2; side++)
		memset(c->v[side], 0, c->of[side].nr * sizeof(double));
	for (size_t i = 0; i < nr; i++)
		c->v[c->f->hosts[at[i].host].side][c->place[at[i].host]] += at[i].value;
}

static void fill_total(struct comparer *c, __u32 event)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < c->of[side].nr; i++)
			c->v[side][i] = c->totals[event * c->f->host_ids.nr + c->of[side].at[i]];
}

static struct fleet_spread spread_of(const double *sorted, size_t nr, double middle, double *tmp)
{
	struct fleet_spread s = { .hosts = (__u32)nr, .middle = middle };

	for (size_t i = 0; i < nr; i++)
		s.have += sorted[i] != 0;
	if (nr) {
		s.least = sorted[0];
		s.most = sorted[nr - 1];
	}
	s.spread = robust_spread(sorted, nr, middle, tmp);
	return s;
}

static void spread_both(struct comparer *c, struct fleet_row *row)
{
	for (int side = 0; side < 2; side++) {
		const size_t nr = c->of[side].nr;

		memcpy(c->sorted[side], c->v[side], nr * sizeof(double));
		row->of[side] = spread_of(c->sorted[side], nr,
					  robust_middle(c->sorted[side], nr), c->tmp);
	}
}

static bool differs(const struct comparer *c, const struct fleet_row *row)
{
	const struct fleet_spread *a = &row->of[0], *b = &row->of[1];
	const struct robust ra = { c->sorted[0], a->hosts, a->middle, a->spread };
	const struct robust rb = { c->sorted[1], b->hosts, b->middle, b->spread };
	const double larger = fabs(a->middle) > fabs(b->middle) ? a->middle : b->middle;

	return robust_differ(&ra, &rb, LEAST_CHANGE * fabs(larger));
}

static struct fleet_row row_of(const struct comparer *c, const struct cell *cell)
{
	const struct tables *t = &c->f->t;

	return (struct fleet_row){
		.event = cell->event, .kstack = cell->kstack, .ustack = cell->ustack,
		.program = c->program ? t->tasks[cell->program].comm : NULL,
		.file = cell->file & FILE_KIND ? NULL : t->texts[cell->file - 1],
	};
}

static int keep_row(struct comparer *c, const struct fleet_row *row)
{
	struct fleet_row *rows = ids_grow(c->r->rows, c->r->nr_rows, &c->room_rows,
					  sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	c->r->rows = rows;
	rows[c->r->nr_rows++] = *row;
	return 0;
}

static int keep_odd(struct comparer *c, const struct fleet_odd *odd)
{
	struct fleet_odd *odds = ids_grow(c->r->odds, c->r->nr_odds, &c->room_odds,
					  sizeof(*odds));

	if (!odds)
		return -ENOMEM;
	c->r->odds = odds;
	odds[c->r->nr_odds++] = *odd;
	return 0;
}

/* ---- odd hosts ---- */

/* The others of host number @at of a group; of many hosts it is no matter that it is among them. */
static struct fleet_spread others_of(struct comparer *c, int side, size_t at,
				     const struct fleet_spread *all)
{
	const size_t nr = c->of[side].nr;
	size_t n = 0;
	double middle;

	if (nr > FEW_HOSTS)
		return *all;
	for (size_t i = 0; i < nr; i++)
		if (i != at)
			c->sorted[side][n++] = c->v[side][i];
	middle = robust_middle(c->sorted[side], n);
	return spread_of(c->sorted[side], n, middle, c->tmp);
}

/* What a difference must be to matter beside all that there is of the event. */
static double least_odd(const struct comparer *c, __u32 event, __u32 host, double middle)
{
	const double own = fabs(c->totals[event * c->f->host_ids.nr + host]);

	return LEAST_ODD * (own > fabs(middle) ? own : fabs(middle));
}

/* How far from the median a host that is odd is at least. */
static double odd_limit(const struct fleet_spread *others, double least)
{
	const double below = others->middle - others->least, above = others->most - others->middle;
	const double farthest = TIMES_FARTHEST * (below > above ? below : above);
	const double limit = ROBUST_APART * others->spread;
	const double most = others->hosts < FEW_OTHERS && farthest > limit ? farthest : limit;

	return most > least ? most : least;
}

/* @c->v has the values of all hosts. */
static int find_odd(struct comparer *c, const struct fleet_row *row, int side)
{
	const double total = c->r->totals[row->event].of[side].middle;
	int err = 0;

	for (size_t i = 0; !err && i < c->of[side].nr; i++) {
		struct fleet_odd odd = { .host = c->of[side].at[i], .row = *row,
					 .value = c->v[side][i] };
		const double least = least_odd(c, row->event, odd.host, total);
		struct fleet_spread others;
		double apart;

		if (fabs(odd.value - row->of[side].middle) < least / 2)
			continue;	/* also beside the others */
		others = others_of(c, side, i, &row->of[side]);
		apart = fabs(odd.value - others.middle);
		if (apart <= 0 || apart <= odd_limit(&others, least))
			continue;
		odd.row.of[0] = others;
		err = keep_odd(c, &odd);
	}
	return err;
}

static int find_odds(struct comparer *c, const struct fleet_row *row)
{
	int err = 0;

	for (int side = 0; !err && side < 2; side++)
		if (c->r->judged[side])
			err = find_odd(c, row, side);
	return err;
}

/* ---- all of them ---- */

/* Could a host be odd by this?  Most stacks are too rare, and need not be looked at further. */
static bool matters(const struct comparer *c, const struct cell *at, size_t nr)
{
	const struct fleet_row *total = &c->r->totals[at->event];

	for (size_t i = 0; i < nr; i++) {
		const double middle = fabs(total->of[c->f->hosts[at[i].host].side].middle);

		if (fabs(at[i].value) >= least_odd(c, at->event, at[i].host, middle))
			return true;
	}
	/* a host may lack what all others have */
	return 2 * nr >= c->of[0].nr || (c->two && 2 * nr >= c->of[1].nr);
}

static int compare_thing(struct comparer *c, const struct cell *at, size_t nr)
{
	struct fleet_row row = row_of(c, at);

	if (!matters(c, at, nr)) {
		c->r->nr_same++;
		return 0;
	}
	fill(c, at, nr);
	spread_both(c, &row);
	if (c->two && differs(c, &row)) {
		const int err = keep_row(c, &row);

		if (err)
			return err;
	} else {
		c->r->nr_same++;
	}
	return find_odds(c, &row);
}

static int compare_things(struct comparer *c)
{
	size_t next;
	int err = 0;

	for (size_t i = 0; !err && i < c->nr_cells; i = next) {
		for (next = i + 1; next < c->nr_cells; next++)
			if (cmp_thing(&c->cells[next], &c->cells[i]))
				break;
		err = compare_thing(c, &c->cells[i], next - i);
	}
	return err;
}

/* What the others of each host have in the middle. */
static void set_others(struct comparer *c, const struct fleet_row *total)
{
	double *to = c->r->others + total->event * c->f->host_ids.nr;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < c->of[side].nr; i++)
			to[c->of[side].at[i]] = others_of(c, side, i, &total->of[side]).middle;
}

/* (first all middles, which tell what matters) */
static int compare_totals(struct comparer *c)
{
	int err = 0;

	c->r->totals = calloc(c->f->nr_events + 1, sizeof(*c->r->totals));
	if (!c->r->totals)
		return -ENOMEM;
	c->r->nr_totals = c->f->nr_events;
	for (size_t i = 0; !err && i < c->f->nr_events; i++) {
		c->r->totals[i].event = (__u32)i;
		fill_total(c, (__u32)i);
		spread_both(c, &c->r->totals[i]);
		set_others(c, &c->r->totals[i]);
		err = find_odds(c, &c->r->totals[i]);
	}
	return err;
}

/* ---- the order ---- */

static double change(const struct fleet_row *r)
{
	return fabs(r->of[1].middle - r->of[0].middle);
}

static int cmp_row(const void *a, const void *b)
{
	const struct fleet_row *x = a, *y = b;
	const double cx = change(x), cy = change(y);

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	return x->ustack != y->ustack ? cmp_u32(x->ustack, y->ustack) :
	       cmp_u32(x->kstack, y->kstack);
}

static bool is_total(const struct fleet_row *r)
{
	return !r->kstack && !r->ustack && !r->program && !r->file;
}

static int cmp_odd(const void *a, const void *b)
{
	const struct fleet_odd *x = a, *y = b;
	const double cx = fabs(x->value - x->row.of[0].middle);
	const double cy = fabs(y->value - y->row.of[0].middle);

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->row.event != y->row.event)
		return x->row.event < y->row.event ? -1 : 1;
	if (is_total(&x->row) != is_total(&y->row))
		return is_total(&x->row) ? -1 : 1;
	if (cx != cy)
		return cx > cy ? -1 : 1;
	return cmp_u32(x->row.ustack, y->row.ustack);
}

/* ---- */

/* Hosts by group; those whose recordings took no time have no rate. */
static int group_hosts(struct comparer *c)
{
	const size_t nr = c->f->host_ids.nr;
	int err = 0;

	c->place = malloc((nr + 1) * sizeof(*c->place));
	for (int side = 0; side < 2; side++) {
		c->of[side].at = calloc(nr + 1, sizeof(__u32));
		c->v[side] = calloc(nr + 1, sizeof(double));
		c->sorted[side] = calloc(nr + 1, sizeof(double));
		if (!c->of[side].at || !c->v[side] || !c->sorted[side])
			err = -ENOMEM;
	}
	c->tmp = calloc(nr + 1, sizeof(double));
	c->totals = c->r->values = calloc((nr + 1) * (c->f->nr_events + 1), sizeof(double));
	c->r->others = calloc((nr + 1) * (c->f->nr_events + 1), sizeof(double));
	c->r->idle = calloc(nr + 1, sizeof(bool));
	if (err || !c->place || !c->tmp || !c->totals || !c->r->others || !c->r->idle)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct fleet_host *h = &c->f->hosts[i];
		struct hosts *of = &c->of[h->side != 0];

		c->place[i] = ~0U;
		if (!h->ns && !fleet_is_level(c->f)) {
			c->r->idle[i] = true;
			c->r->nr_idle++;
			continue;
		}
		c->place[i] = (__u32)of->nr;
		of->at[of->nr++] = (__u32)i;
	}
	for (int side = 0; side < 2; side++)
		c->r->judged[side] = c->of[side].nr >= FLEET_ODD_HOSTS;
	return 0;
}

int fleet_compare(const struct fleet *f, bool two, bool program, struct fleet_result *r)
{
	struct comparer c = { .f = f, .two = two, .program = program, .r = r };
	int err;

	memset(r, 0, sizeof(*r));
	err = group_hosts(&c);
	if (!err)
		err = make_cells(&c);
	if (!err)
		err = compare_totals(&c);
	if (!err)
		err = compare_things(&c);
	if (r->nr_rows)
		qsort(r->rows, r->nr_rows, sizeof(*r->rows), cmp_row);
	if (r->nr_odds)
		qsort(r->odds, r->nr_odds, sizeof(*r->odds), cmp_odd);
	for (int side = 0; side < 2; side++) {
		free(c.of[side].at);
		free(c.v[side]);
		free(c.sorted[side]);
	}
	free(c.tmp);
	free(c.place);
	free(c.cells);
	return err;
}

void fleet_result_free(struct fleet_result *r)
{
	free(r->totals);
	free(r->rows);
	free(r->odds);
	free(r->values);
	free(r->others);
	free(r->idle);
	memset(r, 0, sizeof(*r));
}
