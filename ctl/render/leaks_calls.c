// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the exact counts of allocator calls, and check the live blocks against them. */
#include "render/accounts.h"
#include "render/int.h"

#define COLUMN	12

static void put_number(FILE *out, __u64 n)
{
	char buf[TEXT_LEN];

	fprintf(out, " %*s", COLUMN, text_signed(buf, (__s64)n));
}

static void put_heap(const struct report *r, const struct memtap_rec_heap *h, FILE *out)
{
	const __u64 numbers[] = {
		h->allocs, h->bytes, h->failed, h->frees, h->freed_bytes, h->unknown,
		h->null, h->inner,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put_number(out, numbers[i]);
	fputs("  ", out);
	text_put(out, snap_event(r->snap, h->event)->name, NULL);
	if (h->probes > 1)
		fprintf(out, " (in %u places)", h->probes);
	fputc('\n', out);
}

static bool did_something(const struct memtap_rec_heap *h)
{
	return h->allocs | h->failed | h->frees | h->unknown | h->null | h->inner;
}

static void put_heaps(const struct report *r, FILE *out)
{
	static const char *const heads[] = {
		"allocations", "bytes", "failed", "frees", "bytes", "unknown", "of NULL",
		"within",
	};
	const struct snap *s = r->snap;
	size_t idle = 0;

	if (!s->nr_heaps)
		return;
	fprintf(out, "%sall calls%s:\n", leaks_kernel(s) ? "" : "allocators, ",
		leaks_sampled(s) ? ", exactly" : "");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		fprintf(out, "%s%*s", i ? " " : "", COLUMN + !i, heads[i]);
	fputc('\n', out);
	for (size_t i = 0; i < s->nr_heaps; i++)
		if (did_something(&s->heaps[i]))
			put_heap(r, &s->heaps[i], out);
		else
			idle++;
	if (idle)
		fprintf(out, "%zu more %s probed and not called\n", idle,
			idle == 1 ? "is" : "are");
}

/*
 * What was kept was freed, or is there, or went with its process, or its address
 * was handed out again.  Not so where calls were lost, or are under way.  @kept and
 * @told: blocks; they are the same.
 */
static bool adds_up(const struct report *r, __u64 *kept, __u64 *told)
{
	const struct snap *s = r->snap;

	*kept = *told = 0;
	if (s->header.running || !s->bytes || !accounts_complete(s))	/* or of an interval */
		return true;
	for (size_t i = 0; i < s->nr_heaps; i++)
		if (s->heaps[i].family != MEMTAP_FAMILY_MMAP)
			*kept += s->heaps[i].kept - s->heaps[i].frees;
	if (leaks_kernel(s))
		*told = s->nr_blocks + s->memory.replaced;
	for (size_t i = 0; i < s->nr_spaces; i++)
		*told += r->leaks->spaces[i].all.kept + s->spaces[i].purged +
			 s->spaces[i].replaced;
	/* calls are of all blocks, and a filter left some out */
	return r->snap->selected || *kept == *told;
}

bool render_calls_whole(const struct report *r)
{
	__u64 kept, told;

	return adds_up(r, &kept, &told);
}

void render_calls(const struct report *r, FILE *out)
{
	put_heaps(r, out);
	if (r->snap->nr_heaps)
		fputc('\n', out);
	render_calls_warning(r, out);
}

void render_calls_warning(const struct report *r, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN];
	__u64 kept, told;

	if (!adds_up(r, &kept, &told))
		fprintf(out, "WARNING: the counts do not match: %s block%s recorded and not "
			     "freed, but %s are live, ended with their process, or were "
			     "replaced\n", text_signed(a, (__s64)kept),
			kept == 1 ? " was" : "s were", text_count(b, told));
}
