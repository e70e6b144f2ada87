// SPDX-License-Identifier: GPL-2.0-or-later
/* Read an address space: /proc/PID/smaps and pagemap. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ids.h"
#include "rss/rss.h"

#define PRESENT		(1ULL << 63)
#define SWAPPED		(1ULL << 62)
#define OF_FILE		(1ULL << 61)
#define EXCLUSIVE	(1ULL << 56)
#define PFN_MASK	((1ULL << 55) - 1)

#define FLAG_SWAPBACKED	(1ULL << 14)		/* KPF_SWAPBACKED, */
#define FLAG_KSM	(1ULL << 21)		/* KPF_KSM, */
#define FLAG_ZERO	(1ULL << 24)		/* KPF_ZERO_PAGE */

#define HUGE_PAGES	MEMTAP_REGION_PAGES
#define PIECE		(64U << 10)		/* pages that are read at once */
#define MOST_PAGES	(1ULL << 24)		/* of a mapping: 128 MiB are read for it */

/* --- pages of zeros: mapped, and no part of RSS -------------------------------- */

static __u64 own_zero_pfn(unsigned int page)
{
	volatile char *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 entry = 0;

	if (at != MAP_FAILED && fd >= 0) {
		(void)*at;
		if (pread(fd, &entry, 8, (off_t)((unsigned long)at / page * 8)) != 8 ||
		    !(entry & PRESENT))
			entry = 0;
	}
	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		munmap((void *)at, page);
	return entry & PFN_MASK;
}

void rss_env_begin(struct rss_env *e)
{
	e->page = (unsigned int)sysconf(_SC_PAGESIZE);
	e->zero_pfn = own_zero_pfn(e->page);
	e->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
}

void rss_env_end(struct rss_env *e)
{
	if (e->kpageflags >= 0)
		close(e->kpageflags);
	e->kpageflags = -1;
}

/* False: it is not known what this page is. */
static bool read_flags(const struct rss_env *e, __u64 pfn, __u64 *flags)
{
	return e->kpageflags >= 0 && pfn &&
	       pread(e->kpageflags, flags, 8, (off_t)(pfn * 8)) == 8;
}

static bool is_huge_zero(const struct rss_env *e, __u64 pfn)
{
	__u64 flags;

	return read_flags(e, pfn, &flags) && (flags & FLAG_ZERO);
}

/* --- mappings --------------------------------------------------------------------- */

static const char *const shmem_names[] = { "/memfd:", "/SYSV", "/dev/zero (deleted)", "/dev/shm/",
					   "/i915", "/drm mm object" };

struct tmpfs {
	unsigned int major, minor;
};

struct reader {
	const struct rss_env *e;
	struct rss_process *p;
	struct tmpfs *tmpfs;
	size_t nr_tmpfs;
	bool mounts_read;
	const char *proc;
};

static void read_mounts(struct reader *r)
{
	char path[64], *line = NULL, *type;
	struct tmpfs t, *all;
	size_t len = 0;
	FILE *f;

	r->mounts_read = true;
	snprintf(path, sizeof(path), "%s/mountinfo", r->proc);
	f = fopen(path, "re");
	while (f && getline(&line, &len, f) > 0) {
		type = strstr(line, " - ");
		if (!type || strncmp(type, " - tmpfs ", 9) ||
		    sscanf(line, "%*u %*u %u:%u", &t.major, &t.minor) != 2)
			continue;
		all = reallocarray(r->tmpfs, r->nr_tmpfs + 1, sizeof(*all));
		if (!all)
			break;
		r->tmpfs = all;
		all[r->nr_tmpfs++] = t;
	}
	free(line);
	if (f)
		fclose(f);
}

static bool is_shmem(struct reader *r, const char *path, unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < sizeof(shmem_names) / sizeof(shmem_names[0]); i++)
		if (!strncmp(path, shmem_names[i], strlen(shmem_names[i])))
			return true;
	if (!r->mounts_read)
		read_mounts(r);
	for (size_t i = 0; i < r->nr_tmpfs; i++)
		if (r->tmpfs[i].major == major && r->tmpfs[i].minor == minor)
			return true;
	return false;
}

static __u32 path_number(struct rss_process *p, const char *path)
{
	char **paths;

	if (p->nr_paths && !strcmp(p->paths[p->nr_paths - 1], path))
		return (__u32)p->nr_paths;
	paths = ids_grow(p->paths, p->nr_paths, &p->room_paths, sizeof(*paths));
	if (!paths)
		return 0;
	p->paths = paths;
	paths[p->nr_paths] = strdup(path);
	if (!paths[p->nr_paths])
		return 0;
	p->nr_paths++;
	return (__u32)p->nr_paths;
}

static __u32 kind_of(const char *path)
{
	if (!strcmp(path, "[heap]"))
		return MEMTAP_FILE_HEAP;
	if (!strncmp(path, "[stack", 6))
		return MEMTAP_FILE_STACK;
	return !*path || !strncmp(path, "[anon", 5) ? MEMTAP_FILE_ANON : MEMTAP_FILE_KERNEL;
}

/* A line that begins a mapping; NULL: it is another one, or there is no memory (errno). */
static struct rss_map *add_map(struct reader *r, char *line)
{
	const unsigned int page = r->e->page;
	struct rss_process *p = r->p;
	unsigned long long start, end;
	unsigned int major, minor;
	struct rss_map *maps, *m;
	char perms[5];
	int at = 0;

	errno = 0;
	if (sscanf(line, "%llx-%llx %4s %*x %x:%x %*u %n", &start, &end, perms, &major, &minor,
		   &at) < 5 || !at)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	maps = ids_grow(p->maps, p->nr_maps, &p->room_maps, sizeof(*maps));
	if (!maps) {
		errno = ENOMEM;
		return NULL;
	}
	p->maps = maps;
	m = &maps[p->nr_maps++];
	*m = (struct rss_map){ .start = start / page, .end = end / page };
	m->private = perms[3] == 'p';
	m->allowed = MEMTAP_MAPPING_KNOWN | (perms[0] == 'r' ? MEMTAP_MAPPING_READ : 0) |
		     (perms[1] == 'w' ? MEMTAP_MAPPING_WRITE : 0) |
		     (perms[2] == 'x' ? MEMTAP_MAPPING_EXEC : 0) |
		     (m->private ? 0 : MEMTAP_MAPPING_SHARED);
	if (line[at] == '/' || major || minor) {
		m->path = path_number(p, line + at);
		m->shmem = is_shmem(r, line + at, major, minor);
	} else {
		m->kind = kind_of(line + at);
	}
	return m;
}

/* What smaps says of a mapping, and where it is added up. */
static void take_field(struct rss_process *p, struct rss_map *m, const char *line)
{
	const struct {
		const char *name;
		__u64 *to, *sum;
	} fields[] = {
		{ "Rss", &m->rss, NULL },
		{ "Swap", &m->swap, NULL },
		{ "Pss", &p->pss, NULL },
		{ "Private_Clean", &p->uss, NULL },
		{ "Private_Dirty", &p->uss, NULL },
		{ "AnonHugePages", &m->huge, &p->huge },
		{ "ShmemPmdMapped", &m->huge, &p->huge },
		{ "FilePmdMapped", &m->huge, &p->huge },
		{ "LazyFree", &m->lazy, &p->lazy },
		{ "Shared_Hugetlb", &p->hugetlb_there, NULL },
		{ "Private_Hugetlb", &p->hugetlb_there, NULL },
	};
	const size_t len = strcspn(line, ":");
	__u64 bytes;

	if (len == strlen("VmFlags") && !strncmp(line, "VmFlags", len)) {
		m->hugetlb = strstr(line, " ht");
		m->locked = strstr(line, " lo");
		m->mergeable = strstr(line, " mg");
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strlen(fields[i].name) != len || strncmp(line, fields[i].name, len))
			continue;
		bytes = strtoull(line + len + 1, NULL, 10) << 10;
		*fields[i].to += bytes;
		if (fields[i].sum)
			*fields[i].sum += bytes;
		p->has_hugetlb_there |= fields[i].to == &p->hugetlb_there;
	}
}

int rss_process_maps(const struct rss_env *e, const char *proc, FILE *smaps,
		     struct rss_process *p)
{
	struct reader r = { .e = e, .p = p, .proc = proc };
	struct rss_map *m = NULL, *new;
	char *line = NULL;
	size_t len = 0;
	int err = 0;

	while (!err && (errno = 0, getline(&line, &len, smaps) > 0)) {
		new = add_map(&r, line);
		err = new ? 0 : -errno;
		if (new)
			m = new;
		else if (m)
			take_field(p, m, line);
	}
	if (!err && errno == ESRCH)
		err = -ESRCH;
	free(line);
	free(r.tmpfs);
	return err;
}

static int read_maps(const struct rss_env *e, const char *proc, struct rss_process *p)
{
	char path[64];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/smaps", proc);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	err = rss_process_maps(e, proc, f, p);
	fclose(f);
	return err;
}

/* --- pages ------------------------------------------------------------------------ */

/* Runs of a mapping are its own: from @first on. */
static int add_page(struct rss_process *p, size_t first, __u64 page, enum rss_kind kind,
		    unsigned int marks)
{
	struct rss_run *runs, *last = p->nr_runs > first ? &p->runs[p->nr_runs - 1] : NULL;

	if (last && last->page + last->nr == page && last->kind == kind &&
	    last->marks == marks && last->nr < ~0U) {
		last->nr++;
		return 0;
	}
	runs = ids_grow(p->runs, p->nr_runs, &p->room_runs, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	p->runs = runs;
	runs[p->nr_runs++] = (struct rss_run){ page, 1, (__u8)kind, (__u8)marks };
	return 0;
}

/*
 * Which of them it is; NR_RSS: none.  Huge pages of a file have no mark as such before Linux
 * 6.11; what is mapped shared is never anonymous, and what has a mark and no file is zeros.
 */
static enum rss_kind kind_of_page(const struct rss_env *e, const struct rss_map *m, __u64 entry)
{
	const bool of_file = !m->private || (entry & OF_FILE);

	if (entry & SWAPPED)
		return RSS_SWAP;
	if (!(entry & PRESENT))
		return NR_RSS;
	if (of_file && !m->path)
		return m->kind == MEMTAP_FILE_KERNEL ? RSS_FILE : NR_RSS;
	if (of_file)
		return m->shmem ? RSS_SHMEM : RSS_FILE;
	if (!(entry & EXCLUSIVE) && e->zero_pfn && (entry & PFN_MASK) == e->zero_pfn)
		return NR_RSS;
	return RSS_ANON;
}

/* Does a huge page of zeros begin here? */
static bool begins_zeros(const struct rss_env *e, const struct rss_map *m, __u64 page,
			 __u64 entry)
{
	return !(page % HUGE_PAGES) && m->private && (entry & PRESENT) && !(entry & EXCLUSIVE) &&
	       !((entry & PFN_MASK) % HUGE_PAGES) && is_huge_zero(e, entry & PFN_MASK);
}

/*
 * Is a huge page mapped here as such?  It has all its frames, side by side, and smaps says that
 * the mapping has some.
 */
static bool is_huge(const struct rss_map *m, __u64 page, const __u64 *entries, size_t nr)
{
	const __u64 pfn = entries[0] & PFN_MASK;

	if (!m->huge || page % HUGE_PAGES || nr < HUGE_PAGES || !pfn || pfn % HUGE_PAGES)
		return false;
	for (size_t i = 0; i < HUGE_PAGES; i++)
		if (!(entries[i] & PRESENT) || (entries[i] & PFN_MASK) != pfn + i)
			return false;
	return true;
}

static unsigned int marks_of(const struct rss_env *e, struct rss_process *p,
			     const struct rss_map *m, __u64 entry, enum rss_kind kind)
{
	unsigned int marks = entry & EXCLUSIVE ? 0 : RSS_MARK_SHARED;
	__u64 flags;

	if (kind != RSS_ANON)
		return 0;
	if (!m->lazy && !m->mergeable)
		return marks;
	if (!read_flags(e, entry & PFN_MASK, &flags))
		p->may_be_merged |= marks && m->mergeable;
	else if (flags & FLAG_KSM)
		marks = RSS_MARK_MERGED;
	else if (m->lazy && !(flags & FLAG_SWAPBACKED))
		marks |= RSS_MARK_LAZY;
	return marks;
}

static int take_pages(const struct rss_env *e, struct rss_process *p, const struct rss_map *m,
		      __u64 page, const __u64 *entries, size_t nr, __u64 *zeros)
{
	__u64 huge = 0;
	enum rss_kind kind;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		if (!entries[i])
			continue;
		if (is_huge(m, page + i, entries + i, nr - i))
			huge = page + i + HUGE_PAGES;
		if (begins_zeros(e, m, page + i, entries[i]))
			*zeros = page + i + HUGE_PAGES;
		kind = kind_of_page(e, m, entries[i]);
		if (kind == NR_RSS || page + i < *zeros)
			continue;
		err = add_page(p, m->first_run, page + i, kind,
			       marks_of(e, p, m, entries[i], kind) |
			       (page + i < huge ? RSS_MARK_HUGE : 0));
	}
	return err;
}

static int read_pages(const struct rss_env *e, struct rss_process *p, struct rss_map *m, int fd,
		      __u64 *entries)
{
	__u64 page = m->start, zeros = 0;
	ssize_t got;
	size_t nr;
	int err = 0;

	m->first_run = p->nr_runs;
	if (m->hugetlb || (!m->rss && !m->swap))
		return 0;
	if (m->end - m->start > MOST_PAGES) {
		p->unread += m->rss;
		return 0;
	}
	for (; !err && page < m->end; page += nr) {
		/* pieces end where huge pages do */
		nr = PIECE - page % HUGE_PAGES;
		nr = m->end - page < nr ? m->end - page : nr;
		got = pread(fd, entries, nr * 8, (off_t)(page * 8));
		if (got < 0)
			return -errno;
		nr = (size_t)got / 8;
		if (!nr)
			break;
		err = take_pages(e, p, m, page, entries, nr, &zeros);
	}
	m->nr_runs = p->nr_runs - m->first_run;
	return err;
}

static int read_all(const struct rss_env *e, struct rss_process *p, const char *proc)
{
	__u64 *entries = malloc(PIECE * sizeof(*entries));
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/pagemap", proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!entries || fd < 0)
		err = entries ? errno == ENOENT ? -ESRCH : -errno : -ENOMEM;
	for (size_t i = 0; !err && i < p->nr_maps; i++) {
		struct rss_map *m = &p->maps[i];

		p->rss += m->rss;
		p->swap += m->swap;
		p->hugetlb += m->hugetlb ? (m->end - m->start) * e->page : 0;
		err = read_pages(e, p, m, fd, entries);
	}
	if (fd >= 0)
		close(fd);
	free(entries);
	return err;
}

int rss_process_read(const struct rss_env *e, const char *proc, struct rss_process *p)
{
	int err;

	*p = (struct rss_process){ 0 };
	err = read_maps(e, proc, p);
	if (!err)
		err = read_all(e, p, proc);
	if (err)
		rss_process_free(p);
	return err;
}

void rss_process_free(struct rss_process *p)
{
	for (size_t i = 0; i < p->nr_paths; i++)
		free(p->paths[i]);
	free(p->paths);
	free(p->maps);
	free(p->runs);
	for (size_t i = 0; i < p->nr_names; i++)
		free(p->names[i]);
	free(p->names);
	free(p->named);
	free(p->parts);
	*p = (struct rss_process){ 0 };
}

const struct rss_run *rss_process_run(const struct rss_process *p, __u64 page)
{
	size_t low = 0, high = p->nr_runs, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (p->runs[at].page + p->runs[at].nr <= page)
			low = at + 1;
		else
			high = at;
	}
	return low < p->nr_runs && p->runs[low].page <= page ? &p->runs[low] : NULL;
}
