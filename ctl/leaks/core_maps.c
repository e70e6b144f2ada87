// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mappings of a core file.  Its segments say where memory was and what could be done with it,
 * and a note which of it were files; a core does not say which is [heap], which is the stack, and
 * what was shared: that follows from what the kernel told the program when it started.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "leaks/core_int.h"

#define RANGE_LEN	(3 * sizeof(__u64))
#define MOST_RANDOM	(1ULL << 30)	/* from a program's end to its brk(), and more */
/* Where brk() begins if the dynamic linker was started as the program (ELF_ET_DYN_BASE) */
#define LINKERS_BRK	0x555555554000ULL
#define MOST_GAP	(1ULL << 20)
#define MOST_HEADERS	64

/* The value of an entry of the auxiliary vector; 0: it has none. */
static __u64 auxv_of(const struct core *c, __u64 type)
{
	for (size_t at = 0; c->auxv.len - at >= 2 * sizeof(__u64); at += 2 * sizeof(__u64))
		if (core_word(c->auxv.at + at) == type)
			return core_word(c->auxv.at + at + sizeof(__u64));
	return 0;
}

/* ---- files ---- */

static int by_start(const void *x, const void *y)
{
	const struct core_range *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

/* Ranges first, then their paths. */
static int read_ranges(struct core *c)
{
	const unsigned char *at = c->file.at;
	size_t left = c->file.len;
	__u64 nr, page;
	const char *path;

	if (left < 2 * sizeof(__u64))
		return 0;
	nr = core_word(at);
	page = core_word(at + sizeof(__u64));
	at += 2 * sizeof(__u64);
	left -= 2 * sizeof(__u64);
	if (nr > left / RANGE_LEN || !page || page > 1U << 30)
		return 0;
	c->ranges = calloc((size_t)nr + 1, sizeof(*c->ranges));
	if (!c->ranges)
		return -ENOMEM;
	path = (const char *)at + nr * RANGE_LEN;
	left -= nr * RANGE_LEN;
	for (; nr && left; nr--, at += RANGE_LEN) {
		struct core_range *r = &c->ranges[c->nr_ranges];
		const size_t len = strnlen(path, left);

		*r = (struct core_range){ core_word(at), core_word(at + sizeof(__u64)),
					  core_word(at + 2 * sizeof(__u64)) * page, 0 };
		if (core_add_file(c, path, len, &r->file))
			return -ENOMEM;
		c->nr_ranges += r->start < r->end && r->end >> 63 == 0 &&
				!(r->start % PAGES_SIZE) && !(r->end % PAGES_SIZE) &&
				path[0] == '/';
		left -= len < left ? len + 1 : len;
		path += len + 1;
	}
	if (c->nr_ranges)
		qsort(c->ranges, c->nr_ranges, sizeof(*c->ranges), by_start);
	return 0;
}

/* Memory that has a file's name, and is in none. */
static bool is_shared(const char *path)
{
	return !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/dev/shm/", 9) ||
	       !strncmp(path, "/SYSV", 5) || !strncmp(path, "/memfd:", 7);
}

/* ---- mappings ---- */

static int add_map(struct core *c, const struct procmap *m)
{
	struct procmap *more;

	if (m->start >= m->end)
		return 0;
	more = ids_grow(c->maps, c->nr_maps, &c->room_maps, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->maps = more;
	c->maps[c->nr_maps++] = *m;
	return 0;
}

/* [@start, @end) of @r; @s: what is known of it, or NULL: a file's, which may be read. */
static int add_range(struct core *c, const struct core_segment *s, const struct core_range *r,
		     __u64 start, __u64 end)
{
	struct procmap m = { .start = start, .end = end, .path = "", .readable = true };

	if (s) {
		m.readable = s->readable;
		m.writable = s->writable;
		m.executable = s->executable;
	}
	if (r) {
		m.path = c->files[r->file].path;
		m.inode = r->file + 1;
		m.offset = r->offset + (start - r->start);
		m.shared = is_shared(m.path);
	}
	return add_map(c, &m);
}

static __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* Segments and ranges of files, as one list: where both are, where only one is. */
static int join(struct core *c)
{
	size_t i = 0, k = 0;
	__u64 at = 0;
	int err = 0;

	while (!err && (i < c->in.nr || k < c->nr_ranges)) {
		const struct core_segment *s = i < c->in.nr ? &c->in.segments[i] : NULL;
		const struct core_range *r = k < c->nr_ranges ? &c->ranges[k] : NULL;
		const bool in_s = s && s->start <= at, in_r = r && r->start <= at;
		__u64 to = ~0ULL;

		if (s && s->end <= at) {
			i++;
			continue;
		}
		if (r && r->end <= at) {
			k++;
			continue;
		}
		if (s)
			to = in_s ? s->end : s->start;
		if (r)
			to = least(to, in_r ? r->end : r->start);
		if (in_s || in_r)
			err = add_range(c, in_s ? s : NULL, in_r ? r : NULL, at, to);
		at = to;
	}
	return err;
}

/* ---- those that were saved ---- */

static int take_saved(const struct procmap *m, void *ctx)
{
	struct core *c = ctx;
	const struct procmap *last = c->nr_maps ? &c->maps[c->nr_maps - 1] : NULL;
	size_t file;

	if (m->start % PAGES_SIZE || m->end % PAGES_SIZE || m->end >> 63 ||
	    (last && m->start < last->end))
		return 0;
	if (m->path[0] == '/' && core_add_file(c, m->path, strlen(m->path), &file))
		return -ENOMEM;
	return add_map(c, m);
}

static int read_saved(struct core *c)
{
	const struct core_note *n = &c->saved[CORE_SAVED_MAPS];

	c->maps_text = strndup((const char *)n->at, n->len);
	return c->maps_text ? procmaps_parse(c->maps_text, take_saved, c) : -ENOMEM;
}

/* How far a file is mapped, and where its beginning is. */
static void measure_files(struct core *c)
{
	for (size_t i = 0; i < c->nr_maps; i++) {
		const struct procmap *m = &c->maps[i];
		struct core_mapped *f = m->path[0] == '/' ? core_find_file(c, m->path) : NULL;
		const __u64 end = m->offset + (m->end - m->start);

		if (!f)
			continue;
		if (end >= m->offset && end > f->end)
			f->end = end;
		if (!m->offset && !f->base)
			f->base = m->start;
	}
}

int core_read_maps(struct core *c)
{
	int err = c->told.saved ? read_saved(c) : read_ranges(c);

	if (!err && !c->told.saved)
		err = join(c);
	measure_files(c);
	if (!err)
		core_read_files(c);
	return err;
}

struct procmap *core_find_map(const struct core *c, __u64 addr)
{
	size_t low = 0, high = c->nr_maps;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (c->maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->nr_maps && c->maps[low].start <= addr ? &c->maps[low] : NULL;
}

/* ---- what a core does not name ---- */

static void name_at(struct core *c, __u64 addr, const char *name)
{
	struct procmap *m = addr ? core_find_map(c, addr) : NULL;

	if (m && !m->path[0])
		m->path = name;
}

static bool read_at(const struct core *c, __u64 addr, void *buf, size_t len)
{
	return c->image.read(&c->image, addr, buf, len) == len;
}

/* Where the program's last variables end: brk() began there, or behind it. */
static __u64 program_end(const struct core *c)
{
	const __u64 headers = auxv_of(c, AT_PHDR), nr = auxv_of(c, AT_PHNUM);
	__u64 end = 0, start = 0;
	Elf64_Phdr p;

	if (!headers || nr > MOST_HEADERS || auxv_of(c, AT_PHENT) != sizeof(p))
		return 0;
	for (__u64 i = 0; i < nr; i++) {
		if (!read_at(c, headers + i * sizeof(p), &p, sizeof(p)))
			return 0;
		if (p.p_type != PT_LOAD || p.p_vaddr > ~0ULL - p.p_memsz)
			continue;
		if (p.p_vaddr + p.p_memsz > end)
			end = p.p_vaddr + p.p_memsz;
		/* the headers lie in the first segment */
		if (p.p_offset < PAGES_SIZE && !start)
			start = p.p_vaddr - p.p_offset;
	}
	if (!end)
		return 0;
	/* (the file's first page is where its headers are) */
	end = (headers & ~(PAGES_SIZE - 1)) + (end - (start & ~(PAGES_SIZE - 1)));
	return (end + PAGES_SIZE - 1) & ~(PAGES_SIZE - 1);
}

/* Pages that nobody may touch are in no core of gdb's: the heap goes on behind them. */
static int fill_gap(struct core *c, size_t before, __u64 start, __u64 end)
{
	struct procmap *more = ids_grow(c->maps, c->nr_maps, &c->room_maps, sizeof(*more));

	if (!more)
		return -ENOMEM;
	c->maps = more;
	c->told.closed += end - start;
	memmove(more + before + 1, more + before, (c->nr_maps++ - before) * sizeof(*more));
	more[before] = (struct procmap){ .start = start, .end = end, .path = "[heap]" };
	return 0;
}

/*
 * The first writable memory of no file in [@from, @to), and what follows it; *@found: its end.  A
 * gap there is a part of it, if it is small.
 */
static int name_heap(struct core *c, __u64 from, __u64 to, __u64 *found)
{
	__u64 end = 0;

	for (size_t i = 0; i < c->nr_maps && c->maps[i].start < to; i++) {
		const struct procmap *m = &c->maps[i];

		if (m->end <= from)
			continue;
		if (m->path[0] || (!end && !m->writable) || (end && m->start - end > MOST_GAP)) {
			if (end || m->start >= from)
				break;
			continue;
		}
		if (end && m->start > end && fill_gap(c, i++, end, m->start))
			return -ENOMEM;
		c->maps[i].path = "[heap]";
		end = c->maps[i].end;
	}
	*found = end;
	return 0;
}

/*
 * The memory that nobody may touch, between stacks and others, is in gdb's cores as memory that
 * may be read; it is of zeros.
 */
static void close_guards(struct core *c)
{
	for (size_t i = 0; i < c->nr_maps; i++) {
		struct procmap *m = &c->maps[i];

		if (!m->path[0] && m->readable && !m->writable && !m->executable &&
		    pages_next(&c->pages, m->start, m->end) == m->end)
			m->readable = false;
	}
}

/* What is in no segment at all: gdb leaves out what programs and libraries have themselves. */
static void find_rights(struct core *c)
{
	for (size_t i = 0; i < c->nr_maps; i++) {
		struct procmap *m = &c->maps[i];
		const struct core_mapped *f;

		if (m->path[0] != '/' || m->shared || core_file_find(&c->in, m->start))
			continue;
		f = core_file_of(c, m->path);
		if (!f || !core_file_is_good(f) || !core_file_rights(f, m->offset, m))
			c->told.unknown += m->end - m->start;
	}
}

/* ---- what is missing ---- */

/* Bytes of [@start, @end) that the core does not claim to have. */
static __u64 without(const struct core *c, __u64 start, __u64 end)
{
	const struct core_segment *s = core_file_find(&c->in, start);
	__u64 has = s ? s->start + s->bytes : start;

	return has <= start ? end - start : has < end ? end - has : 0;
}

static void find_missing(struct core *c)
{
	for (size_t i = 0; i < c->nr_maps; i++) {
		const struct procmap *m = &c->maps[i];
		const __u64 bytes = without(c, m->start, m->end);
		const struct core_mapped *f;

		if (!bytes || !m->writable)
			continue;
		if (m->path[0] != '/') {
			c->told.excluded += bytes;
			continue;
		}
		/* unless it is a program's own data, to which nothing was written */
		f = m->shared ? NULL : core_file_of(c, m->path);
		if (!f || !core_file_is_good(f) || !core_file_has_data(f, m->offset))
			c->told.shared += bytes;
	}
}

static void find_program(struct core *c)
{
	const __u64 addr = auxv_of(c, AT_PHDR);
	const struct procmap *m = addr ? core_find_map(c, addr) : NULL;
	struct core_mapped *f = m ? core_find_file(c, m->path) : NULL;

	if (!f)
		return;
	f->is_program = true;
	if (c->exe)
		f->at = c->exe;
}

int core_name_maps(struct core *c)
{
	__u64 end, heap = 0;
	int err = 0;

	if (!c->told.pid && c->layout.nr_threads)
		c->told.pid = c->layout.threads[0].tid;
	find_program(c);
	if (c->told.saved)
		return 0;
	name_at(c, auxv_of(c, AT_RANDOM), "[stack]");
	name_at(c, auxv_of(c, AT_SYSINFO_EHDR), "[vdso]");
	end = program_end(c);
	if (end)
		err = name_heap(c, end, end + MOST_RANDOM, &heap);
	if (heap)
		c->brk = end;
	else if (!err)
		err = name_heap(c, LINKERS_BRK, LINKERS_BRK + MOST_RANDOM, &heap);
	if (err)
		return err;
	close_guards(c);
	find_rights(c);
	find_missing(c);
	return 0;
}
