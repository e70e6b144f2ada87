// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read PSS of processes, which counts shared memory once.  For PSS the kernel walks all page
 * tables of a process under its mapping lock.  So only some processes are read, for a bounded
 * time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"
#include "machine/smaps.h"

/* Until a process was read: so many nanoseconds a mebibyte, of a slow machine. */
#define FIRST_NS	20000ULL
#define GROWING		8
#define LARGEST		8

struct sums {
	__u64 v[NR_PS_SUMS];
	bool has[NR_PS_SUMS];
};

static int add_line(void *ctx, char *line)
{
	struct sums *s = ctx;

	smaps_parse_value(line, s->v, s->has);
	return 0;
}

/* Is there time for it, as far as those before tell? */
bool machine_pss_time(const struct machine_pss *p, const struct machine_holder *h, __u64 now)
{
	const __u64 mib = (h->bytes - h->swap) >> 20;
	const __u64 each = p->mib ? p->ns / p->mib : FIRST_NS;

	return now < p->end && mib * each < p->end - now;
}

void machine_pss_begin(const struct machine_at *at, struct machine_pss *p)
{
	p->end = machine_now() + at->budget_ns / 2;
}

void machine_pss_spent(struct machine_pss *p, const struct machine_holder *h, __u64 begun)
{
	p->ns += machine_now() - begun;
	p->mib += (h->bytes - h->swap) >> 20;
}

int machine_smaps(const struct machine_at *at, __u32 pid, __u64 end, __u64 v[NR_PS_SUMS],
		  bool has[NR_PS_SUMS])
{
	struct sums s = { .v = { 0 } };
	/* since v4.14; before, the mappings one by one */
	int err = smaps_each_line(at, pid, "smaps_rollup", end, add_line, &s);

	if (err == -ENOENT)
		err = smaps_each_line(at, pid, "smaps", end, add_line, &s);
	if (err)
		return err;
	memcpy(v, s.v, sizeof(s.v));
	for (int i = 0; i < NR_PS_SUMS; i++)
		has[i] |= s.has[i];
	return 0;
}

void machine_pss(const struct machine_at *at, struct machine_pss *p, struct machine_holder *h)
{
	const __u64 begun = machine_now();
	bool has[NR_PS_SUMS] = { false };
	__u64 v[NR_PS_SUMS];

	if (h->has_pss || !machine_pss_time(p, h, begun))
		return;
	/* of the kernel, or gone: nothing */
	h->has_pss = !machine_smaps(at, h->pid, p->end, v, has) && v[PS_PSS];
	if (h->has_pss) {
		h->pss = v[PS_PSS];
		h->uss = v[PS_USS];
	}
	machine_pss_spent(p, h, begun);
}

/* The largest whose PSS was not asked for. */
static struct machine_holder *largest(struct machine *m, const bool *asked)
{
	struct machine_holder *best = NULL;

	for (size_t i = 0; i < m->processes.nr; i++)
		if (!asked[i] && (!best || m->processes.at[i].bytes > best->bytes))
			best = &m->processes.at[i];
	return best;
}

int machine_read_pss(const struct machine_at *at, struct machine *m,
		     const struct machine_growth *growth)
{
	struct machine_pss p = { 0 };
	bool *asked = calloc(m->processes.nr + 1, sizeof(*asked));
	struct machine_holder *h;

	if (!asked)
		return -ENOMEM;
	machine_pss_begin(at, &p);
	for (size_t i = 0; i < GROWING + LARGEST; i++) {
		if (i < GROWING && (i >= m->processes.nr || growth[i].grew <= 0))
			continue;
		h = i < GROWING ? &m->processes.at[growth[i].now - m->processes.at] :
				  largest(m, asked);
		if (!h)
			break;
		asked[h - m->processes.at] = true;
		machine_pss(at, &p, h);
	}
	free(asked);
	return 0;
}
