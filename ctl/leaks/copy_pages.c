// SPDX-License-Identifier: GPL-2.0-or-later
/* Store the copied pages of a process; see pages.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/ids.h"
#include "base/limit.h"
#include "leaks/pages.h"

static __u64 nr_pages(const struct area *a)
{
	return (a->end - a->start) >> PAGES_SHIFT;
}

static size_t nr_words(const struct area *a)
{
	return (size_t)(nr_pages(a) + 63) / 64;
}

static void drop(struct kept *k)
{
	if (k->bytes) {
		munmap(k->bytes, k->area.end - k->area.start);
		limit_reserve(-(__s64)(k->area.end - k->area.start));
	}
	free(k->have);
	free(k->wrote);
	*k = (struct kept){ .bytes = NULL };
}

/* A place for one more, which is not counted yet. */
static struct kept *room_for(struct pages *p)
{
	struct kept *more = ids_grow(p->at, p->nr, &p->room, sizeof(*more));

	if (!more)
		return NULL;
	p->at = more;
	return &p->at[p->nr];
}

int pages_reserve(struct pages *p, const struct area *a)
{
	struct kept *k = room_for(p);
	void *bytes;

	if (!k)
		return -ENOMEM;
	*k = (struct kept){ .area = *a };
	limit_reserve((__s64)(a->end - a->start));
	bytes = mmap(NULL, a->end - a->start, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	k->bytes = bytes == MAP_FAILED ? NULL : bytes;
	if (!k->bytes)
		limit_reserve(-(__s64)(a->end - a->start));
	k->have = calloc(nr_words(a), sizeof(*k->have));
	k->wrote = calloc(nr_words(a), sizeof(*k->wrote));
	if (!k->bytes || !k->have || !k->wrote) {
		drop(k);
		return -ENOMEM;
	}
	p->nr++;
	return 0;
}

static bool is_same(const struct area *a, const struct area *b)
{
	return a->start == b->start && a->offset == b->offset && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	       a->readable == b->readable && a->writable == b->writable &&
	       a->executable == b->executable && a->shared == b->shared &&
	       a->is_file == b->is_file;
}

/* The first that ends behind it. */
static size_t first_behind(const struct pages *p, __u64 addr)
{
	size_t low = 0, high = p->nr;

	if (p->last < p->nr && addr - p->at[p->last].area.start <
			       p->at[p->last].area.end - p->at[p->last].area.start)
		return p->last;
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (p->at[middle].area.end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct kept *find(struct pages *p, __u64 addr)
{
	const size_t low = first_behind(p, addr);

	if (low == p->nr || p->at[low].area.start > addr)
		return NULL;
	p->last = low;
	return &p->at[low];
}

const struct kept *pages_find(struct pages *p, __u64 addr)
{
	return find(p, addr);
}

void pages_put(struct pages *p, __u64 addr, const void *page)
{
	struct kept *k = find(p, addr);

	if (!k)
		return;
	memcpy(k->bytes + (addr - k->area.start), page, PAGES_SIZE);
	pages_set(p, k, (addr - k->area.start) >> PAGES_SHIFT, true);
}

static bool longer_bits(__u64 **bits, size_t before, size_t now)
{
	__u64 *more;

	if (now <= before)
		return true;
	more = reallocarray(*bits, now, sizeof(*more));
	if (!more)
		return false;
	memset(more + before, 0, (now - before) * sizeof(*more));
	*bits = more;
	return true;
}

/* Its mapping ends elsewhere now. */
static int resize(struct pages *p, struct kept *k, const struct area *a)
{
	const __u64 len = k->area.end - k->area.start, new_len = a->end - a->start;
	void *bytes;

	for (__u64 i = new_len >> PAGES_SHIFT; i < len >> PAGES_SHIFT; i++) {
		pages_set(p, k, i, false);
		pages_set_bit(k->wrote, i, false);
	}
	if (!longer_bits(&k->have, nr_words(&k->area), nr_words(a)) ||
	    !longer_bits(&k->wrote, nr_words(&k->area), nr_words(a)))
		return -ENOMEM;
	if (len != new_len) {
		limit_reserve((__s64)(new_len - len));
		bytes = mremap(k->bytes, len, new_len, MREMAP_MAYMOVE);
		if (bytes == MAP_FAILED) {
			limit_reserve((__s64)(len - new_len));
			return -ENOMEM;
		}
		k->bytes = bytes;
	}
	k->area = *a;
	return 0;
}

static __u64 bytes_of(const struct kept *k)
{
	__u64 nr = 0;

	for (size_t i = 0; i < nr_words(&k->area); i++)
		nr += (__u64)__builtin_popcountll(k->have[i]);
	return nr * PAGES_SIZE;
}

void pages_clear(struct pages *p, struct kept *k)
{
	p->bytes -= bytes_of(k);
	memset(k->have, 0, nr_words(&k->area) * sizeof(*k->have));
}

int pages_move(struct pages *p, const struct area *a, struct pages *from, __u64 *same)
{
	struct kept *old = find(from, a->start), *k;
	__u64 bytes;

	*same = 0;
	if (!old || !is_same(&old->area, a))
		return pages_reserve(p, a);
	*same = old->area.end < a->end ? old->area.end - a->start : a->end - a->start;
	if (resize(from, old, a))
		return -ENOMEM;
	k = room_for(p);
	if (!k)
		return -ENOMEM;
	bytes = bytes_of(old);
	*k = *old;
	p->nr++;
	p->bytes += bytes;
	from->bytes -= bytes;
	/* (nobody finds it there any more) */
	*old = (struct kept){ .area = { .start = a->start, .end = a->start } };
	return 0;
}

size_t pages_read(struct pages *p, __u64 addr, void *buf, size_t len)
{
	const struct kept *k = find(p, addr);
	__u64 at = addr;

	if (!k)
		return 0;
	if (len > k->area.end - addr)
		len = (size_t)(k->area.end - addr);
	while (at < addr + len && pages_bit(k->have, (at - k->area.start) >> PAGES_SHIFT))
		at = (at | (PAGES_SIZE - 1)) + 1;
	if (at < addr + len)
		len = (size_t)(at - addr);
	memcpy(buf, k->bytes + (addr - k->area.start), len);
	return len;
}

const void *pages_at(struct pages *p, __u64 addr, size_t *len)
{
	const size_t i = first_behind(p, addr);
	const struct kept *k = i < p->nr ? &p->at[i] : NULL;
	const __u64 from = k && addr < k->area.start ? k->area.start : k ? k->area.end : ~0ULL;
	__u64 at = addr, end = addr + *len;
	bool there;

	if (from - addr < *len)
		end = from;
	if (!k || addr < k->area.start) {
		*len = (size_t)(end - addr);
		return NULL;
	}
	p->last = i;
	there = pages_bit(k->have, (addr - k->area.start) >> PAGES_SHIFT);
	while (at < end && pages_bit(k->have, (at - k->area.start) >> PAGES_SHIFT) == there)
		at = (at | (PAGES_SIZE - 1)) + 1;
	*len = (size_t)((at < end ? at : end) - addr);
	return there ? k->bytes + (addr - k->area.start) : NULL;
}

__u64 pages_from(struct pages *p, __u64 start, __u64 at)
{
	const struct kept *k = find(p, at > start ? at - 1 : at);
	__u64 page;

	if (!k)
		return at;
	if (start < k->area.start)
		start = k->area.start;
	page = (at - k->area.start) >> PAGES_SHIFT;
	while (page && k->area.start + (page << PAGES_SHIFT) > start &&
	       pages_bit(k->have, page - 1))
		page--;
	page = k->area.start + (page << PAGES_SHIFT);
	return page > start ? page : start;
}

/* Of [@page, @nr), or @nr. */
static __u64 next_bit(const __u64 *bits, __u64 page, __u64 nr)
{
	__u64 word;

	while (page < nr) {
		word = bits[page / 64] >> page % 64;
		if (word) {
			page += (__u64)__builtin_ctzll(word);
			return page < nr ? page : nr;
		}
		page = (page | 63) + 1;
	}
	return nr;
}

void pages_forget(struct pages *p, struct kept *k, __u64 from, __u64 to)
{
	for (__u64 i = next_bit(k->have, from, to); i < to; i = next_bit(k->have, i + 1, to))
		pages_set(p, k, i, false);
	for (__u64 i = next_bit(k->wrote, from, to); i < to; i = next_bit(k->wrote, i + 1, to))
		pages_set_bit(k->wrote, i, false);
}

__u64 pages_next(struct pages *p, __u64 addr, __u64 end)
{
	size_t i = first_behind(p, addr);

	for (; i < p->nr && p->at[i].area.start < end; i++) {
		const struct kept *k = &p->at[i];
		const __u64 from = addr > k->area.start ? addr : k->area.start;
		const __u64 page = (from - k->area.start) >> PAGES_SHIFT, nr = nr_pages(&k->area);
		const __u64 found = next_bit(k->have, page, nr);

		if (found == nr)
			continue;
		addr = found == page ? from : k->area.start + (found << PAGES_SHIFT);
		p->last = i;
		return addr < end ? addr : end;
	}
	return end;
}

void pages_free(struct pages *p)
{
	for (size_t i = 0; i < p->nr; i++)
		drop(&p->at[i]);
	free(p->at);
	*p = (struct pages){ .at = NULL };
}
