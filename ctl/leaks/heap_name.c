// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name a block by its first word, if that is an address in a file.  A C++ object begins with its
 * class's vtable; the RTTI beside it names the class, also in a program without symbols.  In C
 * programs the word may point to a table of functions, a function or a string.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/symbols.h"
#include "leaks/heap.h"
#include "leaks/image.h"
#include "sym/cxx.h"

#define WORD		8
#define FAR		(1LL << 20)	/* within an object */
#define TABLE		"vtable for "

/* ---- of its own mappings ---- */

struct place {
	__u64 addr, offset;
	struct procmap map;
	char path[4096];		/* "": in no file */
};

static int see_area(const struct procmap *m, void *ctx)
{
	struct place *p = ctx;

	if (p->addr < m->start || p->addr >= m->end)
		return 0;
	if (m->path[0] == '/') {
		p->offset = m->offset + (p->addr - m->start);
		p->map = *m;
		snprintf(p->path, sizeof(p->path), "%s", m->path);
	}
	return 1;
}

static bool find_place(const struct image *i, __u64 addr, struct place *p)
{
	*p = (struct place){ .addr = addr };
	return i->each_map(i, see_area, p) == 1 && p->path[0];
}

/* ---- the class of an object ---- */

/* Before the table: how far its part is into the object, and what describes its type. */
static char *class_of(const struct image *i, __u64 table)
{
	char name[CXX_TYPE_LEN + 1];
	__s64 head[2], type[2];
	size_t len;

	if (i->read(i, table - 2 * WORD, head, sizeof(head)) != sizeof(head) ||
	    head[0] > 0 || head[0] < -FAR || head[1] % WORD || !head[1] ||
	    i->read(i, (__u64)head[1], type, sizeof(type)) != sizeof(type))
		return NULL;
	len = i->read(i, (__u64)type[1], name, CXX_TYPE_LEN);
	name[len] = '\0';
	return cxx_class(name);
}

/* ---- what the file calls it ---- */

/* The file of a mapping, or NULL: no memory. */
static struct maps_file *file_of(const struct procmap *m, const char *path)
{
	struct maps_file *f = malloc(sizeof(*f) + strlen(path) + 1);

	if (!f)
		return NULL;
	*f = (struct maps_file){ .start = m->start, .end = m->end, .inode = m->inode,
				 .dev_major = m->dev_major, .dev_minor = m->dev_minor };
	strcpy(f->path, path);
	return f;
}

static int open_place(const struct image *i, const struct place *p)
{
	struct maps_file *f = file_of(&p->map, p->path);
	int fd;

	if (!f)
		return -1;
	fd = i->open(i, f);
	free(f);
	return fd;
}

static char *describe(const struct elfsym_func *f, __u64 vaddr)
{
	char *plain = cxx_without(TABLE, cxx_demangle(f->name)), *text = NULL;
	const char *name = plain ? plain : f->name;
	const bool table = !strncmp(f->name, "_ZTV", 4);
	const int n = table || vaddr == f->vaddr ? asprintf(&text, "%s", name) :
		      asprintf(&text, "%s+0x%llx", name, (unsigned long long)(vaddr - f->vaddr));

	free(plain);
	return n < 0 ? NULL : text;
}

static char *symbol_of(const struct image *i, const struct place *p)
{
	struct elfsym_func found;
	struct elfsym *e;
	char *text = NULL;
	__u64 vaddr = p->offset;
	const int fd = open_place(i, p);

	if (fd >= 0 && !elfsym_open(fd, &e)) {
		if (!elfsym_find_object(e, p->offset, &found, &vaddr))
			text = describe(&found, vaddr);
		elfsym_close(e);
	}
	if (fd >= 0)
		close(fd);
	if (!text && asprintf(&text, "%s+0x%llx", base_name(p->path),
			      (unsigned long long)vaddr) < 0)
		return NULL;
	return text;
}

static char *name_of(const struct image *i, __u64 word)
{
	struct place p;
	char *text;

	if (!find_place(i, word, &p))
		return NULL;
	text = word % WORD ? NULL : class_of(i, word);
	return text ? text : symbol_of(i, &p);
}

void heap_look_name(struct heap_look *l, size_t nr)
{
	for (size_t i = 0; i < l->nr_lost && i < nr; i++) {
		/* one class in several sizes is looked up once */
		for (size_t k = 0; k < i && !l->lost[i].what; k++)
			if (l->lost[k].word == l->lost[i].word && l->lost[k].what)
				l->lost[i].what = strdup(l->lost[k].what);
		if (l->lost[i].word && !l->lost[i].what)
			l->lost[i].what = name_of(l->image, l->lost[i].word);
	}
}

/* ---- other allocators ---- */

static const struct {
	const char *part, *name;
} others[] = {
	{ "libjemalloc", "jemalloc" }, { "libtcmalloc", "tcmalloc" }, { "libmimalloc", "mimalloc" },
	{ "ld-musl", "musl's malloc" }, { "libc.musl", "musl's malloc" },
	{ "/x86_64-linux-musl/libc.so", "musl's malloc" },	/* Debian's, of that name */
	{ "libtbbmalloc", "TBB's malloc" },
	{ "libhoard", "Hoard" }, { "libasan", "AddressSanitizer's malloc" },
	{ "libsnmalloc", "snmalloc" },
};

struct other {
	const char *name;
	char *path;
	size_t len;
};

static int see_other(const struct procmap *m, void *ctx)
{
	struct other *o = ctx;

	for (size_t k = 0; m->executable && m->path[0] == '/' &&
	     k < sizeof(others) / sizeof(others[0]); k++)
		if (strstr(others[k].part[0] == '/' ? m->path : base_name(m->path),
			   others[k].part)) {
			o->name = others[k].name;
			snprintf(o->path, o->len, "%s", m->path);
			return 1;
		}
	return 0;
}

/* What one defines that is a part of the program itself. */
static const char *const defined[] = { "mallctl", "je_mallctl", "tc_malloc", "mi_malloc" };
static const char *const of_defined[] = { "jemalloc", "jemalloc", "tcmalloc", "mimalloc" };

static int see_defined(const struct elfsym_func *f, size_t index, void *ctx)
{
	struct other *o = ctx;

	(void)f;
	o->name = of_defined[index];
	return 1;
}

struct program {
	const struct image *image;
	struct other *other;
};

static int see_program(const struct procmap *m, void *ctx)
{
	const struct program *p = ctx;
	struct maps_file *f;
	struct elfsym_names *names;
	struct elfsym *e;
	int fd = -1, found = 0;

	if (m->path[0] != '/' || !m->executable)
		return 0;
	f = file_of(m, m->path);
	if (!f)
		return 1;
	found = p->image->is_program(p->image, f);
	if (found)
		fd = p->image->open(p->image, f);
	names = elfsym_names_new(defined, sizeof(defined) / sizeof(defined[0]));
	if (fd >= 0 && names && !elfsym_open(fd, &e)) {
		if (elfsym_find_names(e, ELFSYM_DYNAMIC, names, see_defined, p->other) <= 0)
			elfsym_find_names(e, ELFSYM_STATIC, names, see_defined, p->other);
		if (p->other->name)
			snprintf(p->other->path, p->other->len, "%s", f->path);
		elfsym_close(e);
	}
	if (fd >= 0)
		close(fd);
	elfsym_names_free(names);
	free(f);
	return found;
}

const char *heap_other(const struct image *i, char *path, size_t len)
{
	struct other o = { NULL, path, len };
	struct program p = { i, &o };

	i->each_map(i, see_other, &o);
	if (!o.name)
		i->each_map(i, see_program, &p);
	return o.name;
}

/* "7f00-7f10 rw-p 00000000 00:00 0  [NAME]" */
static bool is_holding(const char *line, __u64 *bytes)
{
	unsigned long long start, end, inode;
	char may[5], name[32] = "";

	if (sscanf(line, "%llx-%llx %4s %*s %*s %llu %31s", &start, &end, may, &inode, name) < 4 ||
	    inode || may[1] != 'w' || may[3] != 'p' || !strncmp(name, "[stack", 6))
		return false;
	*bytes = end - start;
	return true;
}

int heap_other_holds(pid_t pid, __u64 *resident, __u64 *mapped)
{
	unsigned long long kib;
	bool holding = false;
	char line[512];
	__u64 bytes;
	FILE *f;

	*resident = *mapped = 0;
	snprintf(line, sizeof(line), "/proc/%d/smaps", pid);
	f = fopen(line, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (line[0] >= 'A' && line[0] <= 'Z') {
			if (holding && sscanf(line, "Rss: %llu kB", &kib) == 1)
				*resident += kib << 10;
			continue;
		}
		holding = is_holding(line, &bytes);
		if (holding)
			*mapped += bytes;
	}
	fclose(f);
	return 0;
}
