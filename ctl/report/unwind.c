// SPDX-License-Identifier: GPL-2.0-or-later
/* How user stacks were followed, and how far that led. */
#include <stdlib.h>
#include <string.h>

#include "render/render.h"

const struct rcut report_cuts[NR_CUTS] = {
	{ MEMTAP_STACK_DEPTH, MEMTAP_PART_DEPTH,
	  "[stack cut: too deep]", "deeper than the frames kept" },
	{ MEMTAP_STACK_FAULT, MEMTAP_PART_FAULT,
	  "[stack cut: memory not present]", "where the stack is not in memory" },
	{ MEMTAP_STACK_CHAIN, MEMTAP_PART_CHAIN,
	  "[stack cut: no frame pointer]", "that lead nowhere" },
	{ MEMTAP_STACK_TRAMPOLINE, MEMTAP_PART_TRAMPOLINE,
	  "[a caller is hidden by a return probe]", "behind a return probe" },
	{ MEMTAP_STACK_NOMAP, MEMTAP_PART_NOMAP,
	  "[stack cut: mapped too recently]", "in code that was mapped too recently" },
	{ MEMTAP_STACK_NOTABLE, MEMTAP_PART_NOTABLE,
	  "[stack cut: no table yet]", "in files without a table yet" },
	{ MEMTAP_STACK_NOROW, MEMTAP_PART_NOROW,
	  "[stack cut: no row]", "in code that no row describes" },
};

/* A chain is of frame pointers, unless rows were followed. */
static bool odd_chain(const struct rcut *c, __u32 flags)
{
	return c->flag == MEMTAP_STACK_CHAIN && (flags & MEMTAP_STACK_ROWS);
}

const char *report_cut_mark(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "[stack cut: leads nowhere]" : c->mark;
}

const char *report_cut_name(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "leads-nowhere" : report_part_name(c->part);
}

/* ---- sums ---- */

/* The files in which stacks that were cut for one reason end. */
static void add_end(const struct snap *s, __u64 *weights, const struct snap_stack *st,
		    const struct memtap_rec_task *task, __u64 count)
{
	const struct snap_map *map;

	if (!task || !st->nr)
		return;
	/* a return address may be the first one behind the caller */
	map = snap_map(s, task->space, st->ip[st->nr - 1] - (st->nr > 1));
	if (map && map->file)
		weights[snap_file(s, map->file) - s->files] += count;
}

static const char *most_of(const struct snap *s, const __u64 *weights)
{
	size_t best = 0;

	for (size_t i = 1; i < s->nr_files; i++)
		if (weights[i] > weights[best])
			best = i;
	return s->nr_files && weights[best] ? s->files[best].path : NULL;
}

static int cut_of(__u32 flags)
{
	for (int i = 0; i < NR_CUTS; i++)
		if (flags & report_cuts[i].flag)
			return i;
	return NR_CUTS;
}

/* @weights: of files, for each reason; or NULL */
static void sum_stack(const struct snap *s, struct rsums *sums, __u64 *weights,
		      __u32 ustack, __u32 task, __u64 count)
{
	const struct snap_stack *st = snap_stack(s, ustack);
	int cut;

	if (!st)
		return;
	cut = cut_of(st->flags);
	sums->all += count;
	if (!(st->flags & MEMTAP_STACK_ROWS)) {
		sums->others += count;
	} else if (cut == NR_CUTS) {
		sums->whole += count;
	} else {
		sums->cut[cut] += count;
		if (weights)
			add_end(s, weights + (size_t)cut * s->nr_files, st,
				snap_task(s, task), count);
	}
}

/* Where rows are live blocks, theirs and not those of all calls. */
static void sum_rows(const struct report *r, struct rsums *sums)
{
	const struct snap *s = r->snap;
	__u64 *weights = calloc(s->nr_files + 1, NR_CUTS * sizeof(*weights));
	struct snap_walk w = { .snap = s };

	for (size_t i = 0; !r->leaks && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		sum_stack(s, sums, weights, c->ustack, c->task, c->count);
	}
	while (r->leaks && snap_next_block(&w))
		if (!(w.block->flags & MEMTAP_BLOCK_INNER))
			sum_stack(s, sums, weights, w.block->ustack, w.block->task, 1);
	for (size_t i = 0; weights && i < NR_CUTS; i++)
		sums->most[i] = most_of(s, weights + i * s->nr_files);
	free(weights);
}

static void sum_chains(const struct report *r, struct rsums *sums)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const __u32 flags = r->stacks[r->rows[i].ustack].flags;

		if (!(flags & MEMTAP_STACK_USER))
			continue;
		sums->all += r->rows[i].count;
		if (!(flags & STACK_CUTS))
			sums->whole += r->rows[i].count;
	}
}

bool report_sums(const struct report *r, struct rsums *s)
{
	const __u32 flags = r->snap->header.flags;

	memset(s, 0, sizeof(*s));
	if (!(flags & MEMTAP_CFG_USTACK) || r->o->no_user)
		return false;
	s->rows = flags & MEMTAP_CFG_ROWS;
	if (s->rows)
		sum_rows(r, s);
	else
		sum_chains(r, s);
	return true;
}

__u64 report_sums_cut(const struct rsums *s, __u32 flag)
{
	for (size_t i = 0; i < NR_CUTS; i++)
		if (report_cuts[i].flag == flag)
			return s->cut[i];
	return 0;
}

__u64 report_sums_part(const struct report *r, __u32 event, __u32 part)
{
	const struct snap *s = r->snap;
	__u64 sum = 0;
	__u32 flag = 0;

	if (!(s->header.flags & MEMTAP_CFG_ROWS) || r->o->no_user)
		return 0;
	for (size_t i = 0; i < NR_CUTS; i++)
		if (report_cuts[i].part == part)
			flag = report_cuts[i].flag;
	for (size_t i = 0; flag && i < s->nr_counters; i++) {
		const struct snap_stack *st = snap_stack(s, s->counters[i].ustack);

		if (s->counters[i].event == event && st && st->flags & flag &&
		    st->flags & MEMTAP_STACK_ROWS)
			sum += s->counters[i].count;
	}
	return sum;
}

/* ---- as text ---- */

/* Never 100 % where something is missing. */
static void put_share(FILE *out, __u64 part, __u64 all)
{
	const double share = (double)part / (double)all;

	if (part == all)
		fputs("100 %", out);
	else
		fprintf(out, "%.1f %%", (double)(unsigned int)(share * 1000) / 10);
}

static void put_hints(const struct report *r, const struct rsums *s, FILE *out)
{
	for (size_t i = 0; i < NR_CUTS; i++) {
		const __u32 flag = report_cuts[i].flag;

		if (!s->cut[i])
			continue;
		if (flag == MEMTAP_STACK_DEPTH && r->snap->header.depth < MEMTAP_MAX_DEPTH)
			fprintf(out, "  too deep: --depth %u keeps more\n", MEMTAP_MAX_DEPTH);
		if ((flag != MEMTAP_STACK_NOTABLE && flag != MEMTAP_STACK_NOROW) || !s->most[i])
			continue;
		fputs(flag == MEMTAP_STACK_NOROW ? "  no row: most in " :
		      "  no table yet: most in ", out);
		text_put(out, s->most[i], NULL);
		fputs(flag == MEMTAP_STACK_NOROW ? "; `memtap unwind` with this file tells more\n" :
		      "; run it again, its tables are kept now\n", out);
	}
}

static void put_rows(const struct report *r, const struct rsums *s, FILE *out)
{
	const char *before = "; cut: ";
	char a[TEXT_LEN], b[TEXT_LEN];

	fputs("user stacks: ", out);
	put_share(out, s->whole, s->all);
	fprintf(out, " complete (%s of %s)", text_count(a, s->whole), text_count(b, s->all));
	for (size_t i = 0; i < NR_CUTS; i++) {
		if (!s->cut[i])
			continue;
		fprintf(out, "%s%s %s", before, text_count(a, s->cut[i]), report_cuts[i].words);
		if (report_cuts[i].flag == MEMTAP_STACK_DEPTH)
			fprintf(out, " (%u)", r->snap->header.depth);
		before = ", ";
	}
	if (s->others)
		fprintf(out, "; %s of 32-bit programs, by frame pointers",
			text_count(a, s->others));
	fputc('\n', out);
	put_hints(r, s, out);
}

void render_sums(const struct report *r, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN];
	struct rsums s;

	if (!report_sums(r, &s) || !s.all)
		return;
	if (s.rows) {
		put_rows(r, &s, out);
		return;
	}
	fputs("user stacks: by frame pointers; ", out);
	put_share(out, s.whole, s.all);
	fprintf(out, " (%s of %s) reach a function in which programs or threads begin\n",
		text_count(a, s.whole), text_count(b, s.all));
}
