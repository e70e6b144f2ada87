// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the allocator functions of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "alloc/int.h"
#include "target/maps.h"

static struct alloc_found *add_place(struct alloc_file *f, __u64 offset)
{
	struct alloc_found *at;
	size_t room;

	for (size_t i = 0; i < f->nr; i++)
		if (f->at[i].offset == offset)
			return &f->at[i];
	if (f->nr == f->room) {
		room = f->room ? 2 * f->room : 64;
		at = realloc(f->at, room * sizeof(*at));
		if (!at)
			return NULL;
		f->at = at;
		f->room = room;
	}
	at = &f->at[f->nr++];
	*at = (struct alloc_found) { .offset = offset, .row = alloc_nr_names, .spec = -1 };
	return at;
}

static int see_function(const struct elfsym_func *fn, size_t index, void *ctx)
{
	struct alloc_file *f = ctx;
	const size_t row = f->wanted->rows[index];
	struct alloc_found *at;

	if (row == ROW_GO_FROM)
		f->go_from = fn->offset;
	else if (row == ROW_GO_TO)
		f->go_to = fn->offset;
	if (row >= alloc_nr_names || fn->ifunc || !elfsym_is_code(f->e, fn->offset))
		return 0;
	at = add_place(f, fn->offset);
	if (!at)
		return -ENOMEM;
	if (fn->size > at->size)
		at->size = fn->size;
	if (row < at->row) {
		at->row = row;
		at->symbol = fn->name;
	}
	if (!(alloc_names[row].flags & ALLOC_SPARE))
		at->events |= alloc_event_bit(alloc_names[row].event);
	return 0;
}

static __u32 all_events(const struct alloc_file *f)
{
	__u32 events = 0;

	for (size_t i = 0; i < f->nr; i++)
		events |= f->at[i].events;
	return events;
}

/*
 * What need not be probed: a function with a spare name, where the usual ones are
 * there; and in C++'s runtime what calls another operator that is probed.
 */
static void drop_needless(struct alloc_file *f)
{
	const __u32 events = all_events(f);
	size_t kept = 0;

	for (size_t i = 0; i < f->nr; i++) {
		struct alloc_found at = f->at[i];
		const struct alloc_name *name = &alloc_names[at.row];

		if (f->cxx_runtime && name->flags & ALLOC_SIZED)
			continue;
		if (!at.events) {
			at.events = alloc_event_bit(name->event);
			if (events & at.events)
				continue;
		}
		f->at[kept++] = at;
	}
	f->nr = kept;
}

/* operator new of these calls malloc(), unless they have their own */
static bool is_cxx_runtime(const struct alloc_file *f)
{
	static const char *const names[] = { "libstdc++.so", "libc++.so", "libc++abi.so" };
	const char *base = base_name(f->path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])) ||
		    !strncmp(f->kind.soname, names[i], strlen(names[i])))
			return !(all_events(f) & alloc_event_bit("malloc"));
	return false;
}

/* Allocators that ask the kernel alone. */
static bool is_last(const struct alloc_file *f)
{
	static const char *const names[] = {
		"libc.so", "libc-2.", "libc.musl", "ld-musl", "libjemalloc", "libtcmalloc",
		"libmimalloc",
	};
	const char *base = base_name(f->path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])) ||
		    !strncmp(f->kind.soname, names[i], strlen(names[i])))
			return true;
	return f->kind.alone;
}

/*
 * Whoever has a malloc or a new of his own may keep a header before what it hands out,
 * or a pool of it: what he gives back then to those below is his own matter.
 */
static void see_layers(struct alloc_file *f)
{
	f->over_others = !f->cxx_runtime && !is_last(f);
	f->cxx_over_others = f->over_others || (f->kind.program && !f->cxx_runtime);
}

/*
 * Symbols that only debuggers need cost time to read.  A library that exports
 * what it has, or takes memory from others, has nothing more to say there.
 */
static bool needs_static(const struct alloc_file *f)
{
	if (f->kind.program)
		return true;
	return !f->nr && !elfsym_imports(f->e, f->wanted->set);
}

static int find_by_table(struct alloc_file *f)
{
	const struct elfsym_names *names = f->wanted->set;
	int err;

	err = elfsym_find_names(f->e, ELFSYM_DYNAMIC, names, see_function, f);
	if (!err && needs_static(f))
		err = elfsym_find_names(f->e, ELFSYM_STATIC, names, see_function, f);
	f->cxx_runtime = is_cxx_runtime(f);
	see_layers(f);
	drop_needless(f);
	return err;
}

/* The path may be another one: relative, or through a symbolic link. */
static bool is_same_file(const struct alloc_file *f, const char *path)
{
	struct stat a, b;

	return !strcmp(f->path, path) ||
	       (!stat(path, &a) && !fstat(f->fd, &b) && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino);
}

static bool file_matches(const struct alloc_file *f, const char *name)
{
	if (!*name)
		return f->kind.program;
	return strchr(name, '/') ? is_same_file(f, name) :
				   maps_name_matches(f->path, name);
}

static int find_one_spec(struct alloc_file *f, size_t index)
{
	struct alloc_found *at;
	struct elfsym_func *found;
	size_t nr;
	int err;

	err = elfsym_find(f->e, f->opts->specs[index].function, &found, &nr);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < nr; i++) {
		at = add_place(f, found[i].offset);
		if (!at) {
			err = -ENOMEM;
			break;
		}
		at->spec = (int)index;
		at->symbol = found[i].name;
		at->size = found[i].size;
	}
	free(found);
	return err;
}

static int find_by_specs(struct alloc_file *f)
{
	int err = 0;

	for (size_t i = 0; !err && i < f->opts->nr_specs; i++)
		if (file_matches(f, f->opts->specs[i].path))
			err = find_one_spec(f, i);
	return err;
}

/*
 * The dynamic linker allocates for itself until there is a libc; old ones export
 * these functions, and then use libc's.
 */
static bool is_linker(const struct alloc_file *f)
{
	return !strncmp(f->kind.soname, "ld-linux", 8) ||
	       !strncmp(f->kind.soname, "ld64.so", 7);
}

static int scan_file(struct alloc_file *f, struct alloc_probes *probes)
{
	const char *obj = f->opts->obj;
	int err = 0;

	elfsym_get_kind(f->e, &f->kind);
	if (f->kind.code == ELFSYM_X32)
		return -ENOTSUP;
	if (!is_linker(f) && (!obj || file_matches(f, obj)))
		err = find_by_table(f);
	if (!err)
		err = find_by_specs(f);
	for (size_t i = 0; !err && i < f->nr; i++)
		err = alloc_make_probe(f, &f->at[i], probes);
	return err;
}

int alloc_scan(struct alloc_probes *p, int fd, const char *path,
	       struct alloc_opts *o)
{
	struct alloc_file f = { .fd = fd, .path = path, .opts = o };
	const size_t before = p->nr;
	int err;

	if (!o->wanted)
		o->wanted = alloc_wanted_new(o);
	f.wanted = o->wanted;
	err = f.wanted ? elfsym_open(fd, &f.e) : -ENOMEM;
	if (err)
		return err;
	err = scan_file(&f, p);
	if (err)
		p->nr = before;
	free(f.at);
	elfsym_close(f.e);
	return err;
}

void alloc_probes_free(struct alloc_probes *p)
{
	free(p->at);
	memset(p, 0, sizeof(*p));
}

void alloc_opts_free(struct alloc_opts *o)
{
	alloc_wanted_free(o->wanted);
	o->wanted = NULL;
}

static int take_offset(const struct elfsym_func *fn, size_t index, void *ctx)
{
	(void)index;
	if (fn->ifunc)
		return 0;
	*(__u64 *)ctx = fn->offset;
	return 1;
}

int alloc_hold_place(int fd, const char *function, __u64 *offset)
{
	struct elfsym_names *names;
	struct elfsym *e;
	int ret = elfsym_open(fd, &e);

	if (ret)
		return ret;
	names = elfsym_names_new(&function, 1);
	ret = names ? elfsym_find_names(e, ELFSYM_DYNAMIC, names, take_offset, offset) :
		      -ENOMEM;
	if (!ret)
		ret = elfsym_find_names(e, ELFSYM_STATIC, names, take_offset, offset);
	elfsym_names_free(names);
	elfsym_close(e);
	return ret > 0 ? 0 : ret ? ret : -ENOENT;
}
