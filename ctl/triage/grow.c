// SPDX-License-Identifier: GPL-2.0-or-later
/* Find what grows: processes, programs, shared memory, the kernel. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"

/* Seconds until nothing is left; 0: it does not grow. */
static double seconds_left(const struct triage *t, __s64 grew)
{
	const double left = (double)machine_available(t->now) +
			    (double)t->now->f.mem[MEM_SWAP_FREE];

	return grew > 0 && t->seconds > 0 ? left / ((double)grew / t->seconds) : 0;
}

int growth_score(const struct triage *t, __s64 grew)
{
	const double left = seconds_left(t, grew);

	return left < 60 ? 84 : left < 600 ? 74 : left < 3600 ? 62 : 50;
}

const char *growth_end(const struct triage *t, __s64 grew, char *buf, size_t len)
{
	const double left = seconds_left(t, grew);

	buf[0] = '\0';
	if (t->past)
		return buf;
	if (left > 0 && left < 120)
		snprintf(buf, len, "; at this pace the rest is used up in %.0f s", left);
	else if (left > 0 && left < 7200)
		snprintf(buf, len, "; at this pace the rest is used up in %.0f min", left / 60);
	else if (left > 0 && left < 86400 * 4)
		snprintf(buf, len, "; at this pace the rest is used up in %.0f h", left / 3600);
	return buf;
}

static __s64 own_grew(const struct machine_growth *g)
{
	return g->before ? triage_own(g->now) - triage_own(g->before) : 0;
}

const struct machine_growth *largest_process(const struct triage *t)
{
	const struct machine_growth *best = NULL;

	for (size_t i = 0; i < t->now->processes.nr; i++) {
		const struct machine_growth *g = &t->processes[i];

		if (own_grew(g) >= triage_floor(t) && (!best || own_grew(g) > own_grew(best)))
			best = g;
	}
	return best;
}

void find_process(struct triage *t)
{
	const struct machine_growth *g = largest_process(t);
	char grew[TEXT_LEN], has[TEXT_LEN], end[64];
	struct triage_finding *f;

	if (!g)
		return;
	f = found_new(t, FOUND_LEAK, growth_score(t, own_grew(g)));
	f->pid = g->now->pid;
	f->grew = own_grew(g);
	snprintf(f->name, sizeof(f->name), "%s", g->now->name);
	found_seen(f, "process %s (%u) grew by %s in %.1f s, to %s%s", g->now->name,
		   g->now->pid, text_bytes(grew, f->grew, false), t->seconds,
		   text_bytes(has, triage_own(g->now), false),
		   growth_end(t, f->grew, end, sizeof(end)));
}

/* More and more processes of one program, none of which is large. */
void find_program(struct triage *t)
{
	const struct machine_growth *one = largest_process(t);
	char grew[TEXT_LEN], end[64];

	for (size_t i = 0; i < t->is_programs.nr; i++) {
		const struct machine_growth *g = &t->programs[i];
		const __u64 had = g->before ? g->before->objects : 0;
		struct triage_finding *f;

		if (g->grew < triage_floor(t) || g->now->objects < had + 8 ||
		    (one && own_grew(one) * 2 > g->grew))
			continue;
		f = found_new(t, FOUND_PROGRAM, growth_score(t, g->grew));
		f->grew = g->grew;
		snprintf(f->name, sizeof(f->name), "%s", g->now->name);
		found_seen(f, "there are %llu more processes %s than %.1f s ago, which hold %s "
			   "more%s", (unsigned long long)(g->now->objects - had), g->now->name,
			   t->seconds, text_bytes(grew, g->grew, false),
			   growth_end(t, g->grew, end, sizeof(end)));
		return;
	}
}

void find_shmem(struct triage *t)
{
	const __s64 shmem = triage_mem_grew(t, MEM_SHMEM);
	const struct machine_growth *g = t->now->tmpfs.nr ? t->tmpfs : NULL;
	char grew[TEXT_LEN], has[TEXT_LEN], end[64];
	struct triage_finding *f;

	if (g && g->before && g->grew >= triage_floor(t) && g->grew * 2 >= shmem) {
		f = found_new(t, FOUND_TMPFS, growth_score(t, g->grew));
		f->grew = g->grew;
		snprintf(f->name, sizeof(f->name), "%s", g->now->name);
		found_seen(f, "files in %s grew by %s in %.1f s, to %s%s", g->now->name,
			   text_bytes(grew, g->grew, false), t->seconds,
			   text_bytes(has, (__s64)g->now->bytes, false),
			   growth_end(t, g->grew, end, sizeof(end)));
		return;
	}
	if (shmem < triage_floor(t))
		return;
	f = found_new(t, FOUND_SHMEM, growth_score(t, shmem));
	f->grew = shmem;
	found_seen(f, "shared memory that is in no mounted tmpfs (memfd, System V, deleted "
		   "files) grew by %s in %.1f s%s", text_bytes(grew, shmem, false), t->seconds,
		   growth_end(t, shmem, end, sizeof(end)));
	for (size_t i = 0; i < t->now->processes.nr; i++) {
		const struct machine_growth *p = &t->processes[i];

		if (p->before && (__s64)(p->now->shmem - p->before->shmem) * 2 >= shmem) {
			f->pid = p->now->pid;
			break;
		}
	}
}

/* What users' growth brings with it (page tables) is not the kernel's. */
__s64 kernel_growth(const struct triage *t)
{
	static const int kinds[] = {
		KIND_SLAB_UNRECLAIM, KIND_STACKS, KIND_PERCPU, KIND_VMALLOC, KIND_UNACCOUNTED,
		KIND_PAGE_TABLES,
	};
	const __s64 anon = t->is.bytes[KIND_ANON] + t->is.bytes[KIND_SHMEM] -
			   t->was.bytes[KIND_ANON] - t->was.bytes[KIND_SHMEM];
	__s64 sum = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		sum += t->is.bytes[kinds[i]] - t->was.bytes[kinds[i]];
	return sum - (anon > 0 ? anon / 256 : 0);
}

static __s64 kernel_holds(const struct machine_account *a)
{
	static const enum machine_kind kinds[] = {
		KIND_SLAB_UNRECLAIM, KIND_STACKS, KIND_PERCPU, KIND_VMALLOC, KIND_PAGE_TABLES,
		KIND_UNACCOUNTED,
	};
	__u64 sum = 0;

	/* (of a damaged history they may be anything) */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		sum += (__u64)a->bytes[kinds[i]];
	return (__s64)sum;
}

void find_kernel_growth(struct triage *t)
{
	const __s64 holds = kernel_holds(&t->is), total = (__s64)t->now->f.mem[MEM_TOTAL];
	char grew[TEXT_LEN], has[TEXT_LEN], end[64], most[256];
	struct triage_finding *f;

	/* figures of one moment are read one after the other */
	if (t->kernel_grew >= 2 * triage_floor(t)) {
		f = found_new(t, FOUND_KERNEL, growth_score(t, t->kernel_grew));
		f->grew = t->kernel_grew;
		found_seen(f, "the kernel's own memory grew by %s in %.1f s, to %s%s%s",
			   text_bytes(grew, f->grew, false), t->seconds,
			   text_bytes(has, holds, false), kernel_most(t, most, sizeof(most)),
			   growth_end(t, f->grew, end, sizeof(end)));
	} else if ((double)holds * 10 > (double)total * 4) {
		f = found_new(t, FOUND_KERNEL_HOLDS, 45);
		found_seen(f, "the kernel's own memory is %s, %.0f %% of all, and does not "
			   "grow now", text_bytes(has, holds, false),
			   (double)holds * 100 / (double)total);
	}
}
