// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands out, the most urgent first: rates, levels, and the order of looking. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triage/int.h"

#define MIB		(1LL << 20)

__u64 triage_delta(const struct triage *t, enum machine_vm vm)
{
	const __u64 was = t->before->f.vm[vm], is = t->now->f.vm[vm];

	return is > was ? is - was : 0;
}

double triage_rate(const struct triage *t, enum machine_vm vm)
{
	return t->seconds > 0 ? (double)triage_delta(t, vm) / t->seconds : 0;
}

__s64 triage_mem_grew(const struct triage *t, enum machine_mem mem)
{
	return (__s64)(t->now->f.mem[mem] - t->before->f.mem[mem]);
}

__s64 triage_floor(const struct triage *t)
{
	const __s64 steady = (__s64)(t->seconds * 65536);

	return steady > MIB ? steady : MIB;
}

static double share(const struct triage *t, __u64 was, __u64 is)
{
	double percent;

	if (!t->before->psi.has || !t->now->psi.has || t->seconds <= 0 || is < was)
		return -1;
	percent = (double)(is - was) / (t->seconds * 1e4);
	return percent > 100 ? 100 : percent;
}

double triage_some(const struct triage *t)
{
	return share(t, t->before->psi.some_us, t->now->psi.some_us);
}

double triage_full(const struct triage *t)
{
	return share(t, t->before->psi.full_us, t->now->psi.full_us);
}

double triage_unusable(const struct machine *m)
{
	double worst = -1;

	for (size_t i = 0; i < m->nr_zones; i++) {
		const struct machine_zone *z = &m->zones[i];
		double small = 0, all = 0;

		for (int o = 0; o < MACHINE_ORDERS; o++) {
			const double pages = (double)z->blocks[o] * (double)(1UL << o);

			all += pages;
			if (o < TRIAGE_ORDER)
				small += pages;
		}
		/* little free is another matter; and DMA is hardly used */
		if (all < 256 || all < (double)z->high || !strcmp(z->name, "DMA"))
			continue;
		if (small / all * 100 > worst)
			worst = small / all * 100;
	}
	return worst;
}

struct triage_finding *found_new(struct triage *t, enum triage_what what, int score)
{
	struct triage_finding *f = &t->found[t->nr_found];

	if (t->nr_found < TRIAGE_FINDINGS - 1)
		t->nr_found++;
	memset(f, 0, sizeof(*f));
	f->what = what;
	f->score = score;
	f->tells = "";
	return f;
}

void found_seen(struct triage_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->seen, sizeof(f->seen), fmt, ap);
	va_end(ap);
}

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
	found_seen(f, "%snothing grows, waits or fails in %.1f s", t->level[LINE_MEMORY] ?
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

/* What only this process has: not pages of files, nor what is shared. */
__s64 triage_own(const struct machine_holder *h)
{
	/* before v4.5 these are not told apart */
	return (__s64)(h->anon ? h->anon + h->swap : h->bytes - h->file - h->shmem);
}

/* The processes of one name as one: how many, and what only they have. */
static int programs(const struct machine_list *processes, struct machine_list *out)
{
	size_t kept = 0;

	out->at = malloc((processes->nr + 1) * sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	out->room = processes->nr + 1;
	out->has = processes->has;
	for (size_t i = 0; i < processes->nr; i++) {
		struct machine_holder *h = &out->at[i];

		*h = processes->at[i];
		h->bytes = (__u64)triage_own(h);
		h->objects = 1;
		h->pid = 0;
		h->start = 0;
	}
	if (processes->nr)
		qsort(out->at, processes->nr, sizeof(*out->at), by_comm);
	for (size_t i = 0; i < processes->nr; i++) {
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

	if (programs(&b->processes, &t->was_programs) ||
	    programs(&n->processes, &t->is_programs) ||
	    machine_compare(&t->was_programs, &t->is_programs, &t->programs) ||
	    machine_compare(&b->processes, &n->processes, &t->processes) ||
	    machine_compare(&b->cgroups, &n->cgroups, &t->cgroups) ||
	    machine_compare(&b->slabs, &n->slabs, &t->slabs) ||
	    machine_compare(&b->callers, &n->callers, &t->callers) ||
	    machine_compare(&b->sites, &n->sites, &t->sites) ||
	    machine_compare(&b->nodes, &n->nodes, &t->nodes) ||
	    machine_compare(&b->tmpfs, &n->tmpfs, &t->tmpfs))
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
	free(t->was_programs.at);
	free(t->is_programs.at);
	memset(t, 0, sizeof(*t));
}
