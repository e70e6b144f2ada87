// SPDX-License-Identifier: GPL-2.0-or-later
/* Run all checks of triage, the most urgent first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "triage/int.h"

static void find_levels(struct triage *t)
{
	const __u64 *mem = t->now->f.mem;
	const __u64 available = machine_available(t->now);

	t->level[LINE_MEMORY] = available * 20 < mem[MEM_TOTAL] ? LEVEL_BAD :
				available * 10 < mem[MEM_TOTAL] ? LEVEL_WATCH : LEVEL_OK;
	if (mem[MEM_SWAP_TOTAL])
		t->level[LINE_SWAP] = mem[MEM_SWAP_FREE] * 10 < mem[MEM_SWAP_TOTAL] ? LEVEL_BAD :
			mem[MEM_SWAP_FREE] * 2 < mem[MEM_SWAP_TOTAL] ? LEVEL_WATCH : LEVEL_OK;
	t->level[LINE_FAULTS] = triage_rate(t, VM_MAJOR) >= 1000 ? LEVEL_BAD :
				triage_rate(t, VM_MAJOR) >= 50 ? LEVEL_WATCH : LEVEL_OK;
}

static void find_nothing(struct triage *t)
{
	struct triage_finding *f;

	if (t->nr_found)
		return;
	f = found_new(t, FOUND_NOTHING, 1);
	found_seen(f, "%snothing grows fast, waits or fails in %.1f s", t->level[LINE_MEMORY] ?
		   "little memory is left, but " : t->now->nr_gaps ?
		   "of what could be read " : "", t->seconds);
}

static int by_score(const void *a, const void *b)
{
	const struct triage_finding *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->grew != y->grew)
		return x->grew > y->grew ? -1 : 1;
	return (int)x->what - (int)y->what;
}

static int by_comm(const void *a, const void *b)
{
	return strcmp(((const struct machine_holder *)a)->name,
		      ((const struct machine_holder *)b)->name);
}

/*
 * The processes of one name as one: how many, and what only they have.  Without those whose
 * growth is not known (@growth, or NULL).
 */
static int programs(const struct machine_list *processes, const struct machine_growth *growth,
		    struct machine_list *out)
{
	size_t kept = 0, nr = 0;

	out->at = malloc((processes->nr + 1) * sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	out->room = processes->nr + 1;
	out->has = processes->has;
	for (size_t i = 0; i < processes->nr; i++) {
		struct machine_holder *h = &out->at[nr];

		if (growth && growth[i].unknown)
			continue;
		nr++;
		*h = growth ? *growth[i].now : processes->at[i];
		h->bytes = (__u64)triage_own(h);
		h->objects = 1;
		h->pid = 0;
		h->start = 0;
	}
	if (nr)
		qsort(out->at, nr, sizeof(*out->at), by_comm);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !strcmp(out->at[kept - 1].name, out->at[i].name)) {
			out->at[kept - 1].bytes += out->at[i].bytes;
			out->at[kept - 1].objects++;
		} else {
			out->at[kept++] = out->at[i];
		}
	}
	out->nr = kept;
	return 0;
}

/* What only one of the two moments tells did not change: it is left over in both. */
static void only_common(struct machine_account *a, const struct machine_account *other)
{
	for (int i = 0; i < KIND_UNACCOUNTED; i++) {
		if (!a->has[i] || other->has[i])
			continue;
		a->bytes[KIND_UNACCOUNTED] += a->bytes[i];
		a->bytes[i] = 0;
		a->has[i] = false;
	}
}

static int compare_all(struct triage *t)
{
	const struct machine *b = t->before, *n = t->now;

	if (machine_compare(&b->processes, &n->processes, &t->processes) ||
	    programs(&b->processes, NULL, &t->was_programs) ||
	    programs(&n->processes, t->processes, &t->is_programs) ||
	    machine_compare(&t->was_programs, &t->is_programs, &t->programs) ||
	    machine_compare(&b->cgroups, &n->cgroups, &t->cgroups) ||
	    machine_compare(&b->slabs, &n->slabs, &t->slabs) ||
	    machine_compare(&b->callers, &n->callers, &t->callers) ||
	    machine_compare(&b->sites, &n->sites, &t->sites) ||
	    machine_compare(&b->nodes, &n->nodes, &t->nodes) ||
	    machine_compare(&b->tmpfs, &n->tmpfs, &t->tmpfs) ||
	    machine_compare(&b->deleted, &n->deleted, &t->deleted))
		return -ENOMEM;
	machine_account(b, &t->was);
	machine_account(n, &t->is);
	only_common(&t->was, &t->is);
	only_common(&t->is, &t->was);
	t->kernel_grew = kernel_growth(t);
	return 0;
}

int triage_look(struct triage *t, const struct machine_at *at, const struct machine *before,
		const struct machine *now, bool census)
{
	memset(t, 0, sizeof(*t));
	t->before = before;
	t->now = now;
	t->past = at->past_ns != 0;
	t->seconds = now->ns > before->ns ? (double)(now->ns - before->ns) / 1e9 : 0;
	if (compare_all(t)) {
		triage_free(t);
		return -ENOMEM;
	}
	if (census) {
		find_kernel(t);
	} else {
		find_levels(t);
		find_kills(t);
		find_process(t);
		find_program(t);
		find_shmem(t);
		find_kernel_growth(t);
		find_swapping(t);
		find_reclaim(t);
		find_fragments(t);
		find_limit(t);
		find_waits(t);
		find_reclaimable(t);
		find_unevictable(t);
		find_commit(t);
		find_zombies(t);
		find_undead(t);
		find_dead_cgroups(t);
		find_huge(t);
		find_holders(t);
		find_nothing(t);
	}
	qsort(t->found, t->nr_found, sizeof(t->found[0]), by_score);
	advise(t, at);
	return 0;
}

void triage_free(struct triage *t)
{
	free(t->processes);
	free(t->programs);
	free(t->cgroups);
	free(t->slabs);
	free(t->callers);
	free(t->sites);
	free(t->tmpfs);
	free(t->nodes);
	free(t->deleted);
	free(t->was_programs.at);
	free(t->is_programs.at);
	memset(t, 0, sizeof(*t));
}
