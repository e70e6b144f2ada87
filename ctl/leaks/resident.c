// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the resident size of mappings from smaps. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ids.h"
#include "leaks/resident.h"

#define PAGE		4096ULL
#define PRESENT		(1ULL << 63)		/* in pagemap */
#define SWAPPED		(1ULL << 62)
#define AT_ONCE		512			/* pages */
#define MOST_PAGES	(1ULL << 18)		/* of a mapping of which a part is meant */

static int add_map(struct resident *r, __u64 start, __u64 end)
{
	struct resident_map *more = ids_grow(r->maps, r->nr, &r->room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	r->maps = more;
	r->maps[r->nr++] = (struct resident_map){ .start = start, .end = end };
	return 0;
}

static void take_field(struct resident_map *m, const char *line)
{
	unsigned long long kib;

	if (sscanf(line, "Rss: %llu", &kib) == 1)
		m->resident = kib << 10;
	else if (sscanf(line, "Swap: %llu", &kib) == 1)
		m->swapped = kib << 10;
}

int resident_parse(struct resident *r, FILE *smaps)
{
	unsigned long long start, end;
	char *line = NULL;
	size_t len = 0;
	int err = 0;

	while (!err && getline(&line, &len, smaps) > 0) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			err = add_map(r, start, end);
		else if (r->nr)
			take_field(&r->maps[r->nr - 1], line);
	}
	free(line);
	return err;
}

int resident_read(struct resident *r, pid_t pid)
{
	char path[32];
	FILE *f;
	int err;

	*r = (struct resident){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	err = resident_parse(r, f);
	if (!err && ferror(f))
		err = -EIO;
	fclose(f);
	if (err)
		resident_free(r);
	return err;
}

void resident_free(struct resident *r)
{
	free(r->maps);
	*r = (struct resident){ .pid = 0 };
}

/* A part of a mapping, page by page; both are as they were, where that is not known. */
static bool add_pages(pid_t pid, __u64 start, __u64 end, __u64 *resident, __u64 *swapped)
{
	__u64 pages[AT_ONCE], page = start / PAGE, present = 0, out = 0;
	const __u64 last = end / PAGE;
	bool known = true;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = last - page <= MOST_PAGES ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	while (known && page < last) {
		const size_t nr = last - page < AT_ONCE ? (size_t)(last - page) : AT_ONCE;

		known = pread(fd, pages, nr * sizeof(*pages), (off_t)(page * sizeof(*pages))) ==
			(ssize_t)(nr * sizeof(*pages));
		for (size_t i = 0; known && i < nr; i++) {
			present += pages[i] & PRESENT ? PAGE : 0;
			out += pages[i] & SWAPPED ? PAGE : 0;
		}
		page += nr;
	}
	close(fd);
	if (known) {
		*resident += present;
		*swapped += out;
	}
	return known;
}

/* Of what is left of it, where that is less. */
static bool add_other_maps(pid_t pid, const struct resident_map *m, __u64 from, __u64 to,
			   __u64 *resident, __u64 *swapped)
{
	__u64 present = 0, out = 0;

	if (!add_pages(pid, m->start, from, &present, &out) ||
	    !add_pages(pid, to, m->end, &present, &out))
		return false;
	/* it runs, and may have touched more since */
	*resident += m->resident > present ? m->resident - present : 0;
	*swapped += m->swapped > out ? m->swapped - out : 0;
	return true;
}

static size_t first_behind(const struct resident *r, __u64 addr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (r->maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool resident_of(const struct resident *r, __u64 start, __u64 end, __u64 *resident,
		 __u64 *swapped)
{
	bool known = true;

	*resident = *swapped = 0;
	for (size_t i = first_behind(r, start); known && i < r->nr && r->maps[i].start < end; i++) {
		const struct resident_map *m = &r->maps[i];
		const __u64 from = m->start > start ? m->start : start;
		const __u64 to = m->end < end ? m->end : end;

		if ((from == m->start && to == m->end) || !(m->resident + m->swapped)) {
			*resident += m->resident;
			*swapped += m->swapped;
		} else {
			known = add_pages(r->pid, from, to, resident, swapped) ||
				add_other_maps(r->pid, m, from, to, resident, swapped);
		}
	}
	return known;
}
