// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/core.c ctl/leaks/core.c ctl/leaks/core_maps.c ctl/leaks/core_files.c */
/* LINK: ctl/leaks/copy_pages.c ctl/leaks/reach_roots.c ctl/leaks/reach_glibc.c */
/* LINK: ctl/leaks/reach_heap.c ctl/leaks/reach.c ctl/leaks/reach_ranges.c */
/* LINK: ctl/leaks/reach_threads.c ctl/leaks/reach_memory.c ctl/leaks/reach_force.c */
/* LINK: ctl/leaks/reach_kernel.c ctl/leaks/reach_shared.c ctl/leaks/heap_layout.c */
/* LINK: ctl/heap/arena.c ctl/heap/cached.c ctl/heap/mapped.c ctl/heap/step.c ctl/heap/walk.c */
/* LINK: ctl/heap/main_arena.c ctl/heap/salvage.c ctl/heap/chunks.c ctl/heap/words.c */
/* LINK: ctl/heap/mallocng.c */
/* LINK: ctl/heap/other.c ctl/heap/jemalloc.c ctl/heap/jemalloc_extents.c */
/* LINK: ctl/heap/jemalloc_entry.c */
/* LINK: ctl/heap/jemalloc_old.c ctl/heap/jemalloc_old_walk.c ctl/heap/jemalloc_old_cache.c */
/* LINK: ctl/heap/jemalloc_chunk.c ctl/heap/jemalloc_huge.c */
/* LINK: ctl/heap/jemalloc_cache.c ctl/heap/tcmalloc.c ctl/heap/tcmalloc_cache.c */
/* LINK: ctl/heap/mimalloc.c ctl/heap/oldmalloc.c ctl/heap/tree.c */
/* LINK: ctl/base/addr_index.c ctl/base/ids.c ctl/base/limit.c ctl/base/openreg.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/procmaps.c -ldw -lelf -lz */
/* FUZZ: -max_len=32768 -rss_limit_mb=2048 */
/*
 * A core file that may be anything: headers, notes, segments, compressed or not.  What can be read
 * of it is an inside of its segments, pages that were kept are what the file has, mappings are in
 * order; and the walk of what looks like a heap ends.  The first byte: is it compressed?
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "heap/heap.h"
#include "leaks/core_int.h"

#define MOST	(16UL << 20)

static void must(bool good)
{
	if (!good)
		abort();
}

static void check_layout(const struct layout *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		must(l->areas[i].start < l->areas[i].end);
		must(!i || l->areas[i - 1].end <= l->areas[i].start);
		must(!l->areas[i].is_file || l->areas[i].path < l->nr_paths);
	}
	for (size_t i = 0; i < l->nr_threads; i++)
		must(l->threads[i].first_word + l->threads[i].nr_regs <= l->words.nr);
}

static void check_segments(struct core *c)
{
	const struct image *image = core_image(c);
	char buf[64];
	__u64 there, all;

	for (size_t i = 0; i < c->in.nr; i++) {
		const struct core_segment *s = &c->in.segments[i];

		must(s->start < s->end && s->there <= s->bytes && s->bytes <= s->end - s->start);
		must(!i || s[-1].end <= s->start);
		must(core_file_find(&c->in, s->start) == s);
		must(core_file_find(&c->in, s->end - 1) == s);
		if (s->there)
			must(image->read(image, s->start, buf, sizeof(buf)) || s->there < 4096);
	}
	core_anonymous(c, &there, &all);
	must(there <= all);
	must(c->pages.bytes <= MOST + (2 << 20));
}

static void walk(struct core *c)
{
	struct layout l = core_layout(c);
	struct memory *m = malloc(sizeof(*m));
	struct heap h;

	check_layout(&l);
	must(m);
	memory_open_image(m, core_image(c), core_pages(c));
	m->layout = &l;
	if (!heap_of_layout(&h, &l, m, false, true))
		heap_free(&h);
	memory_close(m);
	free(m);
	layout_free(&l);
}

static void write_all(int fd, const void *bytes, size_t len)
{
	must(write(fd, bytes, len) == (ssize_t)len);
}

/* As libz would: what is in it is what matters. */
static void write_compressed(int fd, const void *bytes, size_t len)
{
	gzFile gz = gzdopen(dup(fd), "wb1");

	must(gz && gzwrite(gz, bytes, (unsigned int)len) == (int)len);
	must(gzclose(gz) == Z_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[32], why[CORE_WHY];
	struct core *c;
	int fd, err;

	if (len < 2)
		return 0;
	fd = memfd_create("core", MFD_CLOEXEC);
	must(fd >= 0);
	if (data[0] == 1)
		write_compressed(fd, data + 1, len - 1);
	else
		write_all(fd, data + 1, len - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = core_open(path, NULL, MOST, &c, why);
	if (!err) {
		check_segments(c);
		walk(c);
		core_close(c);
	} else {
		must(err != -EINVAL || why[0]);
	}
	close(fd);
	return 0;
}
