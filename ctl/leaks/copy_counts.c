// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the populated parts of large mappings; see counts.h.  Since Linux 6.7 an ioctl returns the
 * next page.  Before, smaps gives the number of pages, and the search stops after the last one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/ids.h"
#include "leaks/counts.h"

#define PAGE_SHIFT	12
#define LARGE		(256ULL << 20)	/* of address space: that is worth a question */
#define MANY		4		/* times what is there */
#define PM_PRESENT	(1ULL << 63)
#define PM_SWAPPED	(1ULL << 62)
#define PM_GUARD	(1ULL << 58)
#define PM_EXCLUSIVE	(1ULL << 56)	/* since Linux 4.2: mapped here alone */

/* ---- smaps ---- */

static __u64 resident_bytes(pid_t pid)
{
	unsigned long long pages = 0;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages << PAGE_SHIFT;
}

static bool add(struct counts *c, __u64 start)
{
	void *more = ids_grow(c->at, c->nr, &c->room, sizeof(*c->at));

	if (!more)
		return false;
	c->at = more;
	c->at[c->nr].start = start;
	c->at[c->nr++].pages = 0;
	return true;
}

void counts_read(struct counts *c, pid_t pid, __u64 bytes)
{
	unsigned long long kib, start, end;
	char line[512];
	FILE *f;

	c->nr = 0;
	if (bytes < LARGE || bytes < MANY * resident_bytes(pid))
		return;
	snprintf(line, sizeof(line), "/proc/%d/smaps", pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2) {
			if (!add(c, start))
				break;
		} else if (c->nr && (sscanf(line, "Rss: %llu kB", &kib) == 1 ||
				     sscanf(line, "Swap: %llu kB", &kib) == 1 ||
				     sscanf(line, "Private_Hugetlb: %llu kB", &kib) == 1 ||
				     sscanf(line, "Shared_Hugetlb: %llu kB", &kib) == 1)) {
			c->at[c->nr - 1].pages += kib >> (PAGE_SHIFT - 10);
		}
	}
	if (f)
		fclose(f);
}

__u64 counts_find(const struct counts *c, __u64 start)
{
	size_t low = 0, high = c->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (c->at[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->nr && c->at[low].start == start ? c->at[low].pages : COUNTS_UNKNOWN;
}

/*
 * Zeros that were only read are no pages in smaps, and are in no page table alone.  Pages that
 * other processes have, too, look like these: with them there always seem to be some left.
 */
__u64 counts_less(__u64 left, const __u64 *states, size_t nr)
{
	for (size_t i = 0; left && left != COUNTS_UNKNOWN && i < nr; i++)
		if ((states[i] & PM_PRESENT && states[i] & PM_EXCLUSIVE) ||
		    (states[i] & PM_SWAPPED && !(states[i] & PM_GUARD)))
			left--;
	return left;
}

/* ---- PAGEMAP_SCAN ---- */

struct scan_region {
	__u64 start, end, categories;
};

struct scan_arg {
	__u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
	__u64 inverted, all_of, any_of, wanted;
};

#define SCAN		_IOWR('f', 16, struct scan_arg)
#define IS_PRESENT	(1ULL << 3)
#define IS_SWAPPED	(1ULL << 4)

__u64 counts_next(int pagemap, __u64 page, __u64 end)
{
	struct scan_region found;
	struct scan_arg arg = {
		.size = sizeof(arg), .start = page << PAGE_SHIFT, .end = end << PAGE_SHIFT,
		.vec = (__u64)(unsigned long)&found, .vec_len = 1, .max_pages = 1,
		.any_of = IS_PRESENT | IS_SWAPPED, .wanted = IS_PRESENT | IS_SWAPPED,
	};
	const int n = ioctl(pagemap, SCAN, &arg);

	if (n < 0)
		return page;
	return n ? found.start >> PAGE_SHIFT : end;
}
