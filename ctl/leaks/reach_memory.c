// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the memory of a process, and note what could not be read. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/image.h"
#include "leaks/pages.h"
#include "leaks/reach_int.h"

#define PAGE_SHIFT	12
#define PAGE		(1ULL << PAGE_SHIFT)
#define FEW		32		/* pages: those of a piece, and some */
#define SMALL		(64UL << 10)
#define PM_PRESENT	(1ULL << 63)
#define PM_SWAPPED	(1ULL << 62)

/*
 * Who has a descriptor of it fills the pages, and waits for us maybe: what was not
 * touched may never come.
 */
static bool has_userfaultfd(pid_t pid)
{
	char path[32], to[32];
	const struct dirent *e;
	bool found = false;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		found = !strcmp(to, "anon_inode:[userfaultfd]");
	}
	if (d)
		closedir(d);
	return found;
}

void memory_open(struct memory *m, pid_t pid)
{
	char path[32];

	memset(m, 0, sizeof(*m));
	m->pid = pid;
	m->careful = has_userfaultfd(pid);
	m->shared.fd = -1;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	m->mem = open(path, O_RDONLY | O_CLOEXEC);
}

void memory_open_image(struct memory *m, const struct image *i, struct pages *copy)
{
	memset(m, 0, sizeof(*m));
	m->image = i;
	m->copy = copy;
	m->shared.fd = -1;
	m->pagemap = m->mem = -1;
}

void memory_resident(struct memory *m)
{
	m->careful = m->resident = m->shared.resident = true;
}

void memory_close(struct memory *m)
{
	forced_close(m->forced);
	if (m->pagemap >= 0)
		close(m->pagemap);
	if (m->mem >= 0)
		close(m->mem);
	shared_close(&m->shared);
}

/* Blocks are read here and there, roots from end to end: only these are worth more. */
static void look_up(struct memory *m, __u64 page)
{
	const bool goes_on = m->known && page == m->window + m->known;
	const size_t nr = goes_on ? MEMORY_WINDOW : FEW;
	const ssize_t n = pread(m->pagemap, m->pages, nr * sizeof(m->pages[0]),
				(off_t)(page * sizeof(m->pages[0])));

	m->window = page;
	m->known = n > 0 ? (size_t)n / sizeof(m->pages[0]) : 0;
}

static bool is_touched(struct memory *m, __u64 page)
{
	if (m->pagemap < 0)
		return true;
	if (page - m->window >= m->known)
		look_up(m, page);
	if (!m->known)
		return true;
	if (m->resident && m->pages[page - m->window] & PM_SWAPPED) {
		m->swapped += PAGE;
		return false;
	}
	return m->pages[page - m->window] & (PM_PRESENT | PM_SWAPPED);
}

__u64 memory_touched(struct memory *m, __u64 start, __u64 end)
{
	__u64 nr = 0;

	for (__u64 at = start; at < end; at += PAGE)
		nr += m->pagemap >= 0 && is_touched(m, at >> PAGE_SHIFT);
	return nr * PAGE;
}

__u64 memory_touched_from(struct memory *m, __u64 start, __u64 at)
{
	__u64 pages[FEW], page = at >> PAGE_SHIFT;
	const __u64 first = start >> PAGE_SHIFT;

	if (m->copy)
		return pages_from(m->copy, start, at);
	if (m->pagemap < 0)
		return at;
	while (page > first) {
		const size_t nr = page - first < FEW ? (size_t)(page - first) : FEW;
		size_t n = nr;

		if (pread(m->pagemap, pages, nr * sizeof(pages[0]),
			  (off_t)((page - nr) * sizeof(pages[0]))) !=
		    (ssize_t)(nr * sizeof(pages[0])))
			break;
		while (n && pages[n - 1] & (PM_PRESENT | PM_SWAPPED))
			n--;
		page -= nr - n;
		if (n)
			break;
	}
	page <<= PAGE_SHIFT;
	return page > start ? page : start;
}

__u64 memory_next(void *ctx, __u64 addr, __u64 end)
{
	struct memory *m = ctx;
	const struct area *a;

	if (m->copy)
		return pages_next(m->copy, addr, end);
	while (addr < end) {
		a = m->layout ? layout_find(m->layout, addr) : NULL;
		if (m->layout && !a)
			return end;
		if (a && a->shared)
			return addr;
		if ((!a || a->readable || a->is_heap) && is_touched(m, addr >> PAGE_SHIFT))
			return addr;
		addr = a && !a->readable && !a->is_heap ? a->end : (addr | (PAGE - 1)) + 1;
	}
	return end;
}

const char *memory_why(void *ctx, __u64 addr)
{
	const struct memory *m = ctx;
	__u64 state;

	if (m->image && m->image->why)
		return m->image->why(m->image, addr);
	if (m->pagemap < 0 || pread(m->pagemap, &state, sizeof(state),
				    (off_t)((addr >> PAGE_SHIFT) * sizeof(state))) !=
			      (ssize_t)sizeof(state))
		return NULL;
	return state & PM_SWAPPED ? "it is swapped out" : NULL;
}

static size_t touched(struct memory *m, __u64 addr, size_t len)
{
	__u64 at = addr;

	if (len < SMALL && !m->careful)	/* looking it up would cost as much as reading */
		return len;
	while (at < addr + len && is_touched(m, at >> PAGE_SHIFT))
		at = (at | (PAGE - 1)) + 1;
	return at > addr + len ? len : (size_t)(at - addr);
}

static size_t read_words(const struct words *w, __u64 at, void *buf, size_t len)
{
	const size_t room = w->nr * sizeof(*w->at);

	if (at >= room)
		return 0;
	if (len > room - at)
		len = room - at;
	memcpy(buf, (const char *)w->at + at, len);
	return len;
}

static ssize_t read_kept(struct memory *m, __u64 addr, void *buf, size_t len)
{
	const ssize_t n = pread(m->mem, buf, len, (off_t)addr);

	if (n > 0)
		return n;
	if (!m->forced)
		m->forced = forced_open(m->pid, m->mem);
	return m->forced ? forced_read(m->forced, addr, buf, len) : n;
}

static bool is_late(struct memory *m)
{
	if (m->deadline && !m->late)
		m->late = clock_ns() > m->deadline;
	return m->late;
}

/*
 * What no copy has of what a program may read are the constants of its files, which may be
 * read later, too, if they are still there.
 */
static size_t read_copied(struct memory *m, const struct area *a, __u64 addr, void *buf,
			  size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(unsigned long)addr, len };
	ssize_t n;

	if (!m->pid) {
		n = (ssize_t)pages_read(m->copy, addr, buf, len);
		return n ? (size_t)n : m->image->read(m->image, addr, buf, len);
	}
	if (pages_find(m->copy, addr))
		return pages_read(m->copy, addr, buf, len);
	if (!a || !a->is_file || !a->readable || a->writable || a->skipped)
		return 0;
	n = process_vm_readv(m->pid, &to, 1, &from, 1, 0);
	m->gone |= n <= 0;
	return n > 0 ? (size_t)n : 0;
}

size_t memory_read(void *ctx, __u64 addr, void *buf, size_t len)
{
	struct memory *m = ctx;
	struct iovec to = { .iov_base = buf }, from = { .iov_base = (void *)(unsigned long)addr };
	const struct area *a = m->layout ? layout_find(m->layout, addr) : NULL;
	size_t got = len;
	ssize_t n;

	if (m->layout && addr >= WORDS_AT)
		return read_words(&m->layout->words, addr - WORDS_AT, buf, len);
	if (m->copy)
		return read_copied(m, a, addr, buf, len);
	if (is_late(m))
		return 0;
	if (a && a->shared && shared_read(&m->shared, m->pid, a, addr, buf, &got))
		return got;

	to.iov_len = from.iov_len = touched(m, addr, len);
	if (!to.iov_len)
		return 0;
	n = process_vm_readv(m->pid, &to, 1, &from, 1, 0);
	/* what the program itself must not read now, it may have written, and read again */
	if (n <= 0 && a && !a->readable && m->mem >= 0)
		n = read_kept(m, addr, buf, to.iov_len);
	if (n <= 0) {
		m->failed += to.iov_len < PAGE ? to.iov_len : PAGE;
		return 0;
	}
	m->bytes += (__u64)n;
	return (size_t)n;
}
