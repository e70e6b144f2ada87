// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers of the checks: rates, levels, and new findings. */
#include <stdarg.h>
#include <stdio.h>
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

/* What only this process has: not pages of files, nor what is shared. */
__s64 triage_own(const struct machine_holder *h)
{
	/* before v4.5 these are not told apart */
	return (__s64)(h->anon ? h->anon + h->swap : h->bytes - h->file - h->shmem);
}

unsigned int triage_events(const struct machine *before, const struct machine *now)
{
	const __u64 *was = before->f.mem, *is = now->f.mem;
	const __u64 stalled = now->psi.some_us - before->psi.some_us;
	const __s64 grew = (__s64)(is[MEM_ANON] + is[MEM_SHMEM] - was[MEM_ANON] - was[MEM_SHMEM]);
	unsigned int events = 0;

	if (now->f.vm[VM_OOM_KILLS] > before->f.vm[VM_OOM_KILLS] || now->log.nr > before->log.nr)
		events |= TRIAGE_KILL;
	if (now->psi.has && before->psi.has && now->psi.some_us > before->psi.some_us &&
	    now->ns > before->ns && stalled >= (now->ns - before->ns) / 10000)
		events |= TRIAGE_STALL;
	if (grew > 0 && (__u64)grew >= is[MEM_TOTAL] / 100)
		events |= TRIAGE_GROWTH;
	return events;
}
