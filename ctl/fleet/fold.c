// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bounded memory: when rows and names take more than they may, the half of the rows that weigh
 * least lose their stacks.  What they have is counted on, under "stack not recorded", of the same
 * event, host and program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"

/* Unsigned, so that hostile sums wrap instead of being undefined. */
static __s64 plus(__s64 a, __s64 b)
{
	return (__s64)((__u64)a + (__u64)b);
}

static void add_range(struct frow *to, const struct frow *from)
{
	const bool first = !to->count;

	if (!from->count)
		return;
	to->ranged = from->ranged && (first || to->ranged);
	if (!to->ranged)
		return;
	to->least = first || from->least < to->least ? from->least : to->least;
	to->greatest = first || from->greatest > to->greatest ? from->greatest : to->greatest;
}

int fleet_row_add(struct tables *t, struct frow *to, const struct frow *from)
{
	add_range(to, from);
	to->count += from->count;
	to->sum = plus(to->sum, from->sum);
	to->blocks += from->blocks;
	to->bytes += from->bytes;
	if (from->max > to->max)
		to->max = from->max;
	if (!from->hist)
		return 0;
	if (!fleet_hist(t, to))
		return -ENOMEM;
	for (int i = 0; i < MEMTAP_HIST_BUCKETS; i++)
		to->hist[i] += from->hist[i];
	return 0;
}

static double amount(const struct fleet *f, const struct frow *r)
{
	const double v = f->events[r->event].unit == MEMTAP_UNIT_NONE ? (double)r->count :
			 (double)r->sum + r->bytes;

	return v < 0 ? -v : v;
}

/* ---- which rows stay ---- */

struct weight {
	double part;
	__u32 row;
};

/* Of equal ones the first stays. */
static int cmp_weight(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->part != y->part)
		return x->part > y->part ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool has_stack(const struct frow *r)
{
	return r->kstack >= MEMTAP_STACK_FIRST || r->ustack >= MEMTAP_STACK_FIRST ||
	       !(r->file & FILE_KIND);
}

/* The rows that can lose something, the heaviest first. */
static struct weight *weigh(const struct fleet *f, size_t *nr)
{
	const struct tables *t = &f->t;
	struct weight *w = malloc((t->row_ids.nr + 1) * sizeof(*w));
	double *sums = calloc(f->nr_events + 1, sizeof(*sums));

	*nr = 0;
	for (size_t i = 0; w && sums && i < t->row_ids.nr; i++)
		sums[t->rows[i].event] += amount(f, &t->rows[i]);
	for (size_t i = 0; w && sums && i < t->row_ids.nr; i++) {
		const double all = sums[t->rows[i].event];

		if (has_stack(&t->rows[i]))
			w[(*nr)++] = (struct weight){ all > 0 ? amount(f, &t->rows[i]) / all : 0,
						      (__u32)i };
	}
	if (w && sums)
		qsort(w, *nr, sizeof(*w), cmp_weight);
	if (!sums) {
		free(w);
		w = NULL;
	}
	free(sums);
	return w;
}

/* ---- moving the rest to new tables ---- */

static __s64 move_stack(struct tables *to, const struct tables *from, __u32 id, __u32 *buf)
{
	const struct fstack *st;

	if (id < MEMTAP_STACK_FIRST)
		return id;
	st = &from->stacks[id - MEMTAP_STACK_FIRST];
	for (__u32 i = 0; i < st->nr; i++) {
		const struct fplace *p = &from->places[st->places[i]];
		const __s64 place = fleet_place(to, p->at, p->len);

		if (place < 0)
			return place;
		buf[i] = (__u32)place;
	}
	return fleet_stack(to, buf, st->nr, st->flags);
}

static __s64 move_text(struct tables *to, const struct tables *from, __u32 number)
{
	const __s64 text = fleet_text(to, from->texts[number - 1]);

	return text < 0 ? text : text + 1;
}

static __s64 move_task(struct tables *to, const struct tables *from, __u32 id)
{
	struct ftask task = from->tasks[id];
	__s64 text;

	if (task.cgroup) {
		text = move_text(to, from, task.cgroup);
		if (text < 0)
			return text;
		task.cgroup = (__u32)text;
	}
	return fleet_task(to, &task);
}

static int move_row(struct tables *to, const struct tables *from, const struct frow *r,
		    __u32 *buf)
{
	const __s64 task = move_task(to, from, r->task);
	const __s64 kstack = move_stack(to, from, r->kstack, buf);
	const __s64 ustack = move_stack(to, from, r->ustack, buf);
	const __s64 file = r->file & FILE_KIND ? r->file : move_text(to, from, r->file);
	struct frow key = *r, *row;

	if (task < 0 || kstack < 0 || ustack < 0 || file < 0)
		return -ENOMEM;
	key.task = (__u32)task;
	key.kstack = (__u32)kstack;
	key.ustack = (__u32)ustack;
	key.file = (__u32)file;
	row = fleet_row_of(to, &key);
	return row ? fleet_row_add(to, row, r) : -ENOMEM;
}

/* The same row without what takes memory. */
static struct frow bare(const struct frow *r)
{
	struct frow b = *r;

	if (b.kstack >= MEMTAP_STACK_FIRST)
		b.kstack = MEMTAP_STACK_LOST;
	if (b.ustack >= MEMTAP_STACK_FIRST)
		b.ustack = MEMTAP_STACK_LOST;
	if (!(b.file & FILE_KIND))
		b.file = FILE_KIND | MEMTAP_FILE_LOST;
	return b;
}

static __u32 longest(const struct tables *t)
{
	__u32 most = 0;

	for (size_t i = 0; i < t->stack_ids.nr; i++)
		most = t->stacks[i].nr > most ? t->stacks[i].nr : most;
	return most;
}

static int fold(struct fleet *f, const unsigned char *loses)
{
	struct tables new = { 0 };
	const size_t nr = f->t.row_ids.nr;
	__u32 *buf = calloc((size_t)longest(&f->t) + 1, sizeof(*buf));
	int err = buf ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct frow *r = &f->t.rows[i], b = bare(r);

		if (loses[i] && r->kstack + r->ustack != b.kstack + b.ustack)
			f->events[r->event].part[MEMTAP_PART_STACKS_FULL] +=
				r->count + (__u64)(r->blocks + 0.5);
		err = move_row(&new, &f->t, loses[i] ? &b : r, buf);
		f->folded += loses[i];
	}
	free(buf);
	if (f->peak < f->t.bytes + new.bytes)
		f->peak = f->t.bytes + new.bytes;
	fleet_tables_free(err ? &new : &f->t);
	if (!err)
		f->t = new;
	return err;
}

int fleet_fit(struct fleet *f, char *why)
{
	/* the old and the new tables are there at the same time */
	const size_t most = f->o.max_mem / 3 * 2;
	int err = 0;

	if (f->peak < f->t.bytes)
		f->peak = f->t.bytes;
	while (!err && f->o.max_mem && f->t.bytes > most) {
		unsigned char *loses = calloc(f->t.row_ids.nr + 1, 1);
		struct weight *w;
		size_t nr;

		w = weigh(f, &nr);
		if (w && !nr) {
			snprintf(why, FLEET_WHY, "--max-mem %llu is too little for %zu hosts and "
				 "%zu of their programs", (unsigned long long)f->o.max_mem,
				 f->host_ids.nr, f->t.task_ids.nr);
			err = -ENOSPC;
		}
		for (size_t i = nr / 2; w && loses && i < nr; i++)
			loses[w[i].row] = 1;
		if (!err)
			err = w && loses ? fold(f, loses) : -ENOMEM;
		free(loses);
		free(w);
	}
	return err;
}
