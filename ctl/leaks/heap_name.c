// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name a block by its first word, if that is an address in a file.  A C++ object begins with its
 * class's vtable; the RTTI beside it names the class, also in a program without symbols.  In C
 * programs the word may point to a table of functions, a function or a string.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/symbols.h"
#include "leaks/heap.h"
#include "sym/cxx.h"
#include "target/maps.h"
#include "target/procmaps.h"

#define WORD		8
#define FAR		(1LL << 20)	/* within an object */
#define TABLE		"vtable for "

/* ---- of its own mappings ---- */

struct place {
	__u64 addr, offset, inode;
	__u32 dev_major, dev_minor;
	char path[4096];		/* "": in no file */
};

static int see_area(const struct procmap *m, void *ctx)
{
	struct place *p = ctx;

	if (p->addr < m->start || p->addr >= m->end)
		return 0;
	if (m->path[0] == '/') {
		p->offset = m->offset + (p->addr - m->start);
		p->inode = m->inode;
		p->dev_major = m->dev_major;
		p->dev_minor = m->dev_minor;
		snprintf(p->path, sizeof(p->path), "%s", m->path);
	}
	return 1;
}

static bool find_place(pid_t pid, __u64 addr, struct place *p)
{
	*p = (struct place){ .addr = addr };
	return procmaps_read(pid, see_area, p) == 1 && p->path[0];
}

/* ---- the class of an object ---- */

static size_t read_at(pid_t pid, __u64 addr, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(unsigned long)addr, len };
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	if (n <= 0 && len > 4096 - addr % 4096) {
		to.iov_len = from.iov_len = 4096 - addr % 4096;
		n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	}
	return n > 0 ? (size_t)n : 0;
}

/* Before the table: how far its part is into the object, and what describes its type. */
static char *class_of(pid_t pid, __u64 table)
{
	char name[CXX_TYPE_LEN + 1];
	__s64 head[2], type[2];
	size_t len;

	if (read_at(pid, table - 2 * WORD, head, sizeof(head)) != sizeof(head) ||
	    head[0] > 0 || head[0] < -FAR || head[1] % WORD || !head[1] ||
	    read_at(pid, (__u64)head[1], type, sizeof(type)) != sizeof(type))
		return NULL;
	len = read_at(pid, (__u64)type[1], name, CXX_TYPE_LEN);
	name[len] = '\0';
	return cxx_class(name);
}

/* ---- what the file calls it ---- */

static int open_place(pid_t pid, const struct place *p)
{
	struct maps maps;
	int fd = -1;

	if (maps_read(pid, &maps))
		return -1;
	for (size_t i = 0; fd < 0 && i < maps.nr; i++)
		if (maps.files[i]->inode == p->inode && maps.files[i]->dev_major == p->dev_major &&
		    maps.files[i]->dev_minor == p->dev_minor)
			fd = maps_open(pid, maps.files[i]);
	maps_free(&maps);
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

static char *symbol_of(pid_t pid, const struct place *p)
{
	struct elfsym_func found;
	struct elfsym *e;
	char *text = NULL;
	__u64 vaddr = p->offset;
	const int fd = open_place(pid, p);

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

static char *name_of(pid_t pid, __u64 word)
{
	struct place p;
	char *text;

	if (!find_place(pid, word, &p))
		return NULL;
	text = word % WORD ? NULL : class_of(pid, word);
	return text ? text : symbol_of(pid, &p);
}

void heap_look_name(struct heap_look *l, size_t nr)
{
	for (size_t i = 0; i < l->nr_lost && i < nr; i++) {
		/* one class in several sizes is looked up once */
		for (size_t k = 0; k < i && !l->lost[i].what; k++)
			if (l->lost[k].word == l->lost[i].word && l->lost[k].what)
				l->lost[i].what = strdup(l->lost[k].what);
		if (l->lost[i].word && !l->lost[i].what)
			l->lost[i].what = name_of(l->pid, l->lost[i].word);
	}
}

/* ---- other allocators ---- */

static const struct {
	const char *part, *name;
} others[] = {
	{ "libjemalloc", "jemalloc" }, { "libtcmalloc", "tcmalloc" }, { "libmimalloc", "mimalloc" },
	{ "ld-musl", "musl's malloc" }, { "libc.musl", "musl's malloc" },
	{ "libtbbmalloc", "TBB's malloc" },
	{ "libhoard", "Hoard" }, { "libasan", "AddressSanitizer's malloc" },
	{ "libsnmalloc", "snmalloc" },
};

const char *heap_other(pid_t pid, char *path, size_t len)
{
	const char *name = NULL;
	struct maps maps;

	if (maps_read(pid, &maps))
		return NULL;
	for (size_t i = 0; !name && i < maps.nr; i++)
		for (size_t k = 0; !name && k < sizeof(others) / sizeof(others[0]); k++)
			if (strstr(base_name(maps.files[i]->path), others[k].part)) {
				name = others[k].name;
				snprintf(path, len, "%s", maps.files[i]->path);
			}
	maps_free(&maps);
	return name;
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
