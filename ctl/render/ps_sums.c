// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare sums of processes with what the kernel counts, for `memtap ps`. */
#include <stdio.h>
#include <string.h>

#include "render/ps_int.h"

bool ps_known(const struct owners *w, const struct owner *row, int sum)
{
	const bool status = sum == PS_RSS || sum == PS_SWAP || sum == PS_TABLES ||
			    sum == PS_SIZE;

	if (sum == PS_TABLES && w->mappings)
		return false;
	return w->has[sum] && (status || !row->nr || row->unread < row->nr);
}

const char *ps_key(int sum, char buf[32])
{
	snprintf(buf, 32, "%s", ps_words[sum]);
	for (char *p = buf; *p; p++)
		if (*p == '-')
			*p = '_';
	return buf;
}

static __u64 mapped(const struct machine *m)
{
	return m->f.mem[MEM_ANON] + m->f.mem[MEM_MAPPED];
}

size_t ps_checks(const struct owners *w, const struct machine *m,
		 struct ps_check checks[PS_CHECKS])
{
	const __u64 *mem = m->f.mem, *v = w->sum.v;
	const struct {
		const char *name, *key;
		bool there;
		__u64 sum, kernel;
	} all[PS_CHECKS] = {
		{ "mapped pages (PSS)", "mapped", w->has[PS_PSS], v[PS_PSS], mapped(m) },
		{ "swap (SwapPss)", "swap", w->has[PS_SWAP_PSS], v[PS_SWAP_PSS],
		  mem[MEM_SWAP_TOTAL] - mem[MEM_SWAP_FREE] },
		{ "page tables", "tables", true, v[PS_TABLES], mem[MEM_PAGE_TABLES] },
		{ "locked pages", "locked", w->has[PS_LOCKED], v[PS_LOCKED], mem[MEM_MLOCKED] },
		{ "huge page pool", "hugetlb", w->has[PS_HUGETLB], v[PS_HUGETLB],
		  m->hugetlb - mem[MEM_HUGE_FREE] * mem[MEM_HUGE_SIZE] },
	};
	size_t nr = 0;

	for (size_t i = 0; !w->chosen && i < PS_CHECKS; i++)
		if (all[i].there && (all[i].sum || all[i].kernel))
			checks[nr++] = (struct ps_check){ all[i].name, all[i].key, all[i].sum,
							  all[i].kernel };
	return nr;
}

void ps_parts(const struct owners *w, const struct machine *m, __s64 parts[NR_PS_PARTS])
{
	struct machine_account a;

	machine_account(m, &a);
	memset(parts, 0, NR_PS_PARTS * sizeof(*parts));
	parts[PS_IN_ROWS] = (__s64)w->sum.v[PS_PSS];
	parts[PS_IN_NO_ROW] = (__s64)(mapped(m) - w->sum.v[PS_PSS]);
	parts[PS_NOT_MAPPED] = a.bytes[KIND_FILE] + a.bytes[KIND_SHMEM] -
			       (__s64)m->f.mem[MEM_MAPPED];
	for (int i = KIND_SLAB_UNRECLAIM; i < KIND_UNACCOUNTED; i++)
		if (i != KIND_HUGETLB)
			parts[PS_KERNEL] += a.bytes[i];
	parts[PS_POOL] = a.bytes[KIND_HUGETLB];
	parts[PS_UNACCOUNTED] = a.bytes[KIND_UNACCOUNTED];
	parts[PS_FREE] = a.bytes[KIND_FREE] + a.bytes[KIND_LISTS];
}
