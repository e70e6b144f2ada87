// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the leak summary of programs that ended, like Memcheck's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "render/int.h"

#define MAX_SPACES	8

/* Heap functions only: what the program maps is not in Memcheck's sums either. */
static void add_heaps(const struct snap *s, __u64 *allocs, __u64 *frees, __u64 *bytes)
{
	*allocs = *frees = *bytes = 0;
	for (size_t i = 0; i < s->nr_heaps; i++) {
		const struct memtap_rec_heap *h = &s->heaps[i];

		if (h->family == MEMTAP_FAMILY_MMAP)
			continue;
		*allocs += h->allocs;
		*bytes += h->bytes;
		/* of a block that was not kept nothing else is known */
		*frees += h->frees + (leaks_sampled(s) ? h->unknown : 0);
	}
}

static void put_amount(const struct leaks_sum *sum, const char *things, FILE *out)
{
	const char *about = sum->var_blocks > 0 ? "~" : "";
	char bytes[TEXT_LEN], blocks[TEXT_LEN];

	fprintf(out, "%s%s byte%s in %s%s %s%s", about,
		text_count(bytes, leaks_round(sum->bytes)), text_s(leaks_round(sum->bytes)), about,
		text_count(blocks, leaks_round(sum->blocks)), things,
		text_s(leaks_round(sum->blocks)));
}

static void put_line(const char *what, const struct leaks_sum *sum, FILE *out)
{
	fprintf(out, "%21s: ", what);
	put_amount(sum, "block", out);
	fputc('\n', out);
}

static void put_name(const struct report *r, const char *what, const struct rspace *x, FILE *out)
{
	const struct memtap_rec_task *t = snap_task(r->snap, x->space->task);

	fputs(what, out);
	text_put(out, t ? t->comm : "process", NULL);
	fprintf(out, " [%d]:\n", x->space->pid);
}

static bool lost_mappings(const struct rspace *x)
{
	return x->maps[LEAK_DEFINITE].kept || x->maps[LEAK_INDIRECT].kept ||
	       x->maps[LEAK_POSSIBLE].kept;
}

/* It began while it was watched, and what it had allocated until then is not known. */
static bool is_late(const struct snap *s, const struct memtap_rec_space *x)
{
	return !(x->flags & (MEMTAP_SPACE_START | MEMTAP_SPACE_FORKED)) &&
	       x->begin_ns > s->header.start_ns;
}

/* Every process ends alone: what was left when it did. */
static bool is_shown(const struct report *r, const struct rspace *x)
{
	if (x->space->flags & MEMTAP_SPACE_EXECED)
		return false;
	return x->all.kept || lost_mappings(x) || x->space->flags & MEMTAP_SPACE_START ||
	       is_late(r->snap, x->space);
}

static const char *const names[NR_LEAK_KINDS] = {
	[LEAK_DEFINITE] = "definitely lost",
	[LEAK_INDIRECT] = "indirectly lost",
	[LEAK_POSSIBLE] = "possibly lost",
	[LEAK_REACHABLE] = "still reachable",
};

static void put_kinds(const struct rspace *x, FILE *out)
{
	for (int i = LEAK_DEFINITE; i < NR_LEAK_KINDS; i++)
		put_line(names[i], &x->kinds[i], out);
	if (x->kinds[LEAK_UNKNOWN].kept)
		put_line("not examined", &x->kinds[LEAK_UNKNOWN], out);
}

static void put_extent(const struct rextent *e, const struct leaks_sum *sum, FILE *out)
{
	char n[TEXT_LEN], swapped[TEXT_LEN];

	if (!render_extent_is_less(e, sum))
		return;
	fprintf(out, ", %s byte%s of them resident", text_count(n, e->resident),
		text_s(e->resident));
	if (e->swapped)
		fprintf(out, ", %s swapped out", text_count(swapped, e->swapped));
}

/* In lines of their own, and only what is lost: Memcheck's readers know none of them. */
static void put_mappings(const struct rspace *x, FILE *out)
{
	for (int i = LEAK_DEFINITE; i < LEAK_REACHABLE; i++) {
		if (!x->maps[i].kept)
			continue;
		fprintf(out, "%21s: ", names[i]);
		put_amount(&x->maps[i], "mapping", out);
		put_extent(&x->extents[i], &x->maps[i], out);
		fputc('\n', out);
	}
	if (x->suppressed_maps.kept) {
		fprintf(out, "%21s: ", "suppressed");
		put_amount(&x->suppressed_maps, "mapping", out);
		fputc('\n', out);
	}
}

/* Which are lost is found out when a program that was launched ends. */
static void put_unknown(const struct view *v, const struct rspace *x, FILE *out)
{
	const bool ended = x->space->end_ns && !v->r->snap->header.running;

	put_line(ended ? "not freed at exit" : "not freed until now", &x->kinds[LEAK_UNKNOWN],
		 out);
	fputs("  it is not known which of them are lost: ", out);
	/* that its memory is gone may be told after the program was seen to end */
	if (v->o->no_kinds)
		text_put(out, v->o->no_kinds, NULL);
	else if (!ended)
		fputs("it did not end", out);
	else
		fputs("its memory was not examined when it ended", out);
	fputc('\n', out);
}

static void put_all_freed(const struct rspace *x, FILE *out)
{
	fprintf(out, "  All heap blocks were freed%s.\n", lost_mappings(x) ?
		", but not all mappings are unmapped" : ": nothing has leaked");
}

/* No block is left; which says less where not all of them were known. */
static void put_none(const struct report *r, const struct rspace *x, FILE *out)
{
	const __u32 flags = x->space->flags;

	if (flags & MEMTAP_SPACE_NOT_FOLLOWED)
		fputs("  An allocator of this process was not followed: whether it leaks is not "
		      "known.\n", out);
	else if (flags & MEMTAP_SPACE_FORKED)
		fputs("  All heap blocks that it allocated itself were freed.\n", out);
	else if (!(flags & MEMTAP_SPACE_START))
		fputs("  No known block is left. An allocator was attached late: what was "
		      "allocated before is not known.\n", out);
	else if (leaks_sampled(r->snap) || render_some_unsampled(r->snap))
		fputs("  No known block is left. Not all blocks were recorded.\n", out);
	else
		put_all_freed(x, out);
}

/* Is it known what it leaks? */
static bool is_known(const struct rspace *x)
{
	return !(x->space->flags & MEMTAP_SPACE_NOT_FOLLOWED) &&
	       (x->examined || (!x->all.kept && x->space->flags &
				(MEMTAP_SPACE_START | MEMTAP_SPACE_FORKED)));
}

static void put_space(const struct view *v, const struct rspace *x, FILE *out)
{
	const struct memtap_rec_space *s = x->space;

	put_name(v->r, "LEAK SUMMARY of ", x, out);
	if (s->purged)
		fprintf(out, "  its last blocks were not recorded; only their sum is known: %llu "
			     "byte%s in %llu\n", (unsigned long long)s->purged_bytes,
			text_s(s->purged_bytes), (unsigned long long)s->purged);
	else if (!x->all.kept)
		put_none(v->r, x, out);
	if (x->all.kept) {
		if (x->examined && !leaks_from_start(s))
			fprintf(out, "  not all of its blocks are known (%s): more may be lost "
				     "than is shown\n", s->flags & MEMTAP_SPACE_NOT_FOLLOWED ?
				"an allocator was not followed" :
				s->flags & MEMTAP_SPACE_FORKED ? "it began as a copy" :
				"an allocator was attached late");
		if (x->examined)
			put_kinds(x, out);
		else
			put_unknown(v, x, out);
		put_line("suppressed", &x->suppressed, out);
	}
	put_mappings(x, out);
}

static void add_extent(struct rextent *to, const struct rextent *e)
{
	to->kept += e->kept;
	to->resident += e->resident;
	to->swapped += e->swapped;
}

/* One verdict for all: of those whose memory was examined what is lost, of others the rest. */
static void put_total(const struct report *r, FILE *out)
{
	struct rspace all = { .examined = false };
	size_t nr = 0, examined = 0;
	char n[TEXT_LEN], m[TEXT_LEN];

	for (size_t i = 0; i < r->snap->nr_spaces; i++) {
		const struct rspace *x = &r->leaks->spaces[i];

		if (!is_shown(r, x))
			continue;
		nr++;
		examined += is_known(x);
		all.examined |= x->examined;
		leaks_add_sum(&all.all, &x->all);
		for (int k = 0; k < NR_LEAK_KINDS; k++)
			leaks_add_sum(&all.kinds[k], &x->kinds[k]);
		for (int k = 0; k < NR_LEAK_KINDS; k++)
			leaks_add_sum(&all.maps[k], &x->maps[k]);
		for (int k = 0; k < NR_LEAK_KINDS; k++)
			add_extent(&all.extents[k], &x->extents[k]);
		leaks_add_sum(&all.suppressed, &x->suppressed);
		leaks_add_sum(&all.suppressed_maps, &x->suppressed_maps);
	}
	if (nr < 2)
		return;
	fprintf(out, "LEAK SUMMARY of all %s processes:\n", text_count(n, nr));
	if (all.examined)
		put_kinds(&all, out);
	else if (all.all.kept)
		put_line("not freed", &all.kinds[LEAK_UNKNOWN], out);
	else if (examined == nr)
		put_all_freed(&all, out);
	if (all.all.kept)
		put_line("suppressed", &all.suppressed, out);
	put_mappings(&all, out);
	if (examined < nr)
		fprintf(out, "  for %s of them, it is not known what is lost\n",
			text_count(m, nr - examined));
}

/* Of which moment it is: the end of a session need not be that of any process. */
static const char *when(const struct report *r)
{
	if (r->snap->header.running)
		return "in use now";
	for (size_t i = 0; i < r->snap->nr_spaces; i++)
		if (is_shown(r, &r->leaks->spaces[i]) && !r->leaks->spaces[i].space->end_ns)
			return "in use at the end";
	return "in use at exit";
}

void render_summary(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	char a[TEXT_LEN], f[TEXT_LEN], b[TEXT_LEN];
	__u64 allocs, frees, bytes;
	struct leaks_sum all = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < r->snap->nr_spaces; i++)
		if (is_shown(r, &r->leaks->spaces[i]))
			leaks_add_sum(&all, &r->leaks->spaces[i].all);
	add_heaps(r->snap, &allocs, &frees, &bytes);
	fputs("HEAP SUMMARY:\n", out);
	put_line(when(r), &all, out);
	fprintf(out, "%21s: %s alloc%s, %s free%s, %s byte%s allocated\n", "total heap usage",
		text_count(a, allocs), text_s(allocs), text_count(f, frees), text_s(frees),
		text_count(b, bytes), text_s(bytes));
	put_total(r, out);
	for (size_t i = 0; i < r->snap->nr_spaces; i++) {
		if (!is_shown(r, &r->leaks->spaces[i]))
			continue;
		if (nr++ < MAX_SPACES)
			put_space(v, &r->leaks->spaces[i], out);
	}
	if (nr > MAX_SPACES)
		fprintf(out, "and %s more process%s\n", text_count(a, nr - MAX_SPACES),
			nr - MAX_SPACES == 1 ? "" : "es");
}
