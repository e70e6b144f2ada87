// SPDX-License-Identifier: GPL-2.0-or-later
/* Predict the files that a program will map, by the rules of ld.so(8); see needed.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ids.h"
#include "target/wrapper.h"
#include "target/needed.h"
#include "base/openreg.h"
#include "target/target.h"

#define MAX_OBJECTS	4096
#define MAX_SCRIPTS	5		/* interpreters that are scripts, as execve() */
#define MAX_LINE	256
#define MAX_TEXT	65536		/* of a script */
#define MAX_TEXTS	4		/* scripts that run scripts */
#define PATH_LEN	4096

struct object {
	const char *path;
	const struct object *loader;	/* NULL: the program */
	struct needed_elf elf;
};

struct walk {
	needed_fn fn;
	void *ctx;
	struct needed_libs libs;
	struct arena arena;
	struct object *objects[MAX_OBJECTS];
	size_t nr;
	const char *names[MAX_OBJECTS];	/* that were looked for */
	struct ids name_ids;
	const char *preload;		/* of a program that is meant; NULL: ours */
	int texts;			/* of scripts that were read */
	struct stat stats[MAX_OBJECTS];	/* of what was visited */
	size_t nr_stats;
};

/* ---- scripts ---- */

static const char *word(const char *p, const char *end, char *buf, size_t room)
{
	size_t len = 0;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (p + len < end && p[len] != ' ' && p[len] != '\t')
		len++;
	if (len >= room)
		len = 0;
	memcpy(buf, p, len);
	buf[len] = '\0';
	return p + len;
}

bool needed_script(const char *text, size_t len, char *interpreter, char *program,
		   size_t room)
{
	const char *end = memchr(text, '\n', len), *p;

	if (!end)
		end = text + len;
	*program = '\0';
	if (end - text < 3 || text[0] != '#' || text[1] != '!')
		return false;
	p = word(text + 2, end, interpreter, room);
	if (!*interpreter)
		return false;
	if (strlen(interpreter) < 4 ||
	    strcmp(interpreter + strlen(interpreter) - 4, "/env"))
		return true;
	do {
		p = word(p, end, program, room);
	} while (*program == '-' || strchr(program, '='));
	return true;
}

/* ---- one file ---- */

static bool visited(struct walk *w, int fd)
{
	struct stat *st = &w->stats[w->nr_stats];

	if (w->nr_stats == MAX_OBJECTS || fstat(fd, st) || !S_ISREG(st->st_mode))
		return true;
	for (size_t i = 0; i < w->nr_stats; i++)
		if (w->stats[i].st_ino == st->st_ino && w->stats[i].st_dev == st->st_dev)
			return true;
	w->nr_stats++;
	return false;
}

/* Hand it out, and keep it to look at what it needs.  -ENOEXEC: not our kind. */
static int visit(struct walk *w, const char *path, const struct object *loader)
{
	struct object *o;
	int fd, err;

	fd = open_regular(path);
	if (fd < 0)
		return fd;
	o = arena_alloc(&w->arena, sizeof(*o));
	err = o ? needed_elf_read(fd, &o->elf, &w->arena) : -ENOMEM;
	if (!err && w->nr < MAX_OBJECTS && !visited(w, fd)) {
		o->path = arena_strdup(&w->arena, path);
		o->loader = loader;
		if (o->path)
			w->objects[w->nr++] = o;
		err = w->fn(path, fd, w->ctx);
	}
	close(fd);
	return err;
}

/* ---- libraries ---- */

/* A directory of a search path with $ORIGIN replaced; false: not to be used. */
static bool expand(const struct object *o, const char *dir, size_t len, char *buf)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(o->path, '/');
	size_t used = 0;

	while (len && used < PATH_LEN - 1) {
		size_t skip = 0;

		for (size_t i = 0; i < 2 && !skip; i++)
			if (len >= strlen(origins[i]) &&
			    !memcmp(dir, origins[i], strlen(origins[i])))
				skip = strlen(origins[i]);
		if (skip) {
			used += (size_t)snprintf(buf + used, PATH_LEN - used, "%.*s",
						 slash ? (int)(slash - o->path) : 1,
						 slash ? o->path : ".");
			if (used >= PATH_LEN)
				return false;
		} else if (*dir == '$') {
			return false;
		} else {
			buf[used++] = *dir;
		}
		dir += skip ? skip : 1;
		len -= skip ? skip : 1;
	}
	buf[used] = '\0';
	return !len;
}

/* Was it there?  *stop becomes what fn returned. */
static bool try_path(struct walk *w, const char *path, const struct object *loader, int *stop)
{
	const int ret = visit(w, path, loader);

	if (ret > 0)
		*stop = ret;
	return ret >= 0;
}

static bool search_dirs(struct walk *w, const struct object *o, const struct object *loader,
			const char *dirs, const char *name, int *stop)
{
	char dir[PATH_LEN], path[PATH_LEN + MAX_LINE];
	size_t len;

	for (; dirs && *dirs; dirs += len + (dirs[len] != '\0')) {
		len = strcspn(dirs, ":;");
		if (!expand(o, dirs, len, dir))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", *dir ? dir : ".", name) <
		    (int)sizeof(path) && try_path(w, path, loader, stop))
			return true;
	}
	return false;
}

static bool search_cache(struct walk *w, const struct object *o, const char *name, int *stop)
{
	const struct needed_lib *lib;
	size_t nr = needed_libs_find(&w->libs, name, &lib);

	for (size_t i = 0; i < nr; i++)
		if (try_path(w, lib[i].path, o, stop))
			return true;
	return false;
}

/* Returns what fn did; a library that is nowhere is none. */
static int find_library(struct walk *w, const struct object *o, const char *name)
{
	static const char defaults[] =
		"/lib64:/usr/lib64:/lib:/usr/lib:/lib/x86_64-linux-gnu:"
		"/usr/lib/x86_64-linux-gnu:/usr/local/lib";
	int stop = 0;

	if (strchr(name, '/')) {
		try_path(w, name, o, &stop);
		return stop;
	}
	for (const struct object *l = o; !o->elf.runpath && l; l = l->loader)
		if (!l->elf.runpath &&
		    search_dirs(w, l, o, l->elf.rpath, name, &stop))
			return stop;
	if (search_dirs(w, o, o, getenv("LD_LIBRARY_PATH"), name, &stop) ||
	    search_dirs(w, o, o, o->elf.runpath, name, &stop) ||
	    search_cache(w, o, name, &stop))
		return stop;
	/* systems without a cache, as those with musl */
	search_dirs(w, o, o, defaults, name, &stop);
	return stop;
}

static bool same_name(const void *things, __u32 id, const void *key)
{
	const char *const *names = things;

	return !strcmp(names[id], key);
}

/* The linker takes a name for what it was first found as. */
static bool asked_for(struct walk *w, const char *name)
{
	const __u64 hash = ids_hash_string(1, name);
	__u32 id = ids_find(&w->name_ids, hash, same_name, w->names, name);

	if (id != IDS_NONE || w->name_ids.nr == MAX_OBJECTS)
		return true;
	id = ids_add(&w->name_ids, hash);
	if (id == IDS_NONE)
		return true;
	w->names[id] = arena_strdup(&w->arena, name);
	if (!w->names[id])
		w->names[id] = "";
	return false;
}

static int walk_needed(struct walk *w, size_t first)
{
	int ret = 0;

	for (size_t at = first; !ret && at < w->nr; at++) {
		const struct object *o = w->objects[at];

		if (o->elf.interpreter)
			ret = visit(w, o->elf.interpreter, o);
		if (ret < 0)
			ret = 0;
		for (size_t i = 0; !ret && i < o->elf.nr; i++)
			if (!asked_for(w, o->elf.names[i]))
				ret = find_library(w, o, o->elf.names[i]);
	}
	return ret;
}

static int walk_preload(struct walk *w, size_t first)
{
	const char *p = w->preload ? w->preload : getenv("LD_PRELOAD");
	char name[PATH_LEN];
	int ret = 0;

	for (; p && *p && !ret && first < w->nr; p += strspn(p, " :")) {
		const size_t len = strcspn(p, " :");

		if (len && len < sizeof(name)) {
			memcpy(name, p, len);
			name[len] = '\0';
			if (!asked_for(w, name))
				ret = find_library(w, w->objects[first], name);
		}
		p += len;
	}
	return ret;
}

/* ---- programs ---- */

static int walk_program(struct walk *w, const char *path, int scripts);

static int walk_wrapped(const char *path, const char *preload, void *ctx)
{
	struct walk *w = ctx;
	const char *before = w->preload;
	int ret;

	w->preload = preload;
	ret = walk_program(w, path, MAX_SCRIPTS - 1);
	w->preload = before;
	return ret;
}

/* What a shell's script runs. */
static int walk_text(struct walk *w, const char *path)
{
	char *text = w->texts++ < MAX_TEXTS ? calloc(1, MAX_TEXT + 1) : NULL;
	const int fd = text ? open_regular(path) : -1;
	int ret = 0;

	if (fd >= 0 && read(fd, text, MAX_TEXT) > 0)
		ret = wrapper_text(text, walk_wrapped, w);
	if (fd >= 0)
		close(fd);
	free(text);
	return ret;
}

static int walk_script(struct walk *w, const char *path, int scripts)
{
	char line[MAX_LINE], interpreter[MAX_LINE], program[MAX_LINE], found[PATH_LEN];
	ssize_t len;
	int fd, ret;

	fd = open_regular(path);
	if (fd < 0)
		return 0;
	len = read(fd, line, sizeof(line));
	close(fd);
	if (len < 0 || scripts >= MAX_SCRIPTS ||
	    !needed_script(line, (size_t)len, interpreter, program, sizeof(program)))
		return 0;
	ret = walk_program(w, interpreter, scripts + 1);
	if (!ret && *program && !target_find(program, found, sizeof(found)))
		ret = walk_program(w, found, scripts + 1);
	if (!ret && wrapper_is_shell(*program ? program : interpreter))
		ret = walk_text(w, path);
	return ret;
}

static int walk_program(struct walk *w, const char *path, int scripts)
{
	const size_t first = w->nr;
	char *real = realpath(path, NULL);
	int ret;

	/* $ORIGIN is where the program really is */
	ret = visit(w, real ? real : path, NULL);
	free(real);
	if (ret == -ENOEXEC)
		return walk_script(w, path, scripts);
	if (!ret)
		ret = walk_preload(w, first);
	if (!ret)
		ret = walk_needed(w, first);
	return ret < 0 ? 0 : ret;
}

int needed_walk(const char *path, needed_fn fn, void *ctx)
{
	return needed_walk_command(path, NULL, fn, ctx);
}

int needed_walk_command(const char *path, char *const *argv, needed_fn fn, void *ctx)
{
	struct walk *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->fn = fn;
	w->ctx = ctx;
	needed_libs_load(&w->libs);
	ret = walk_program(w, path, 0);
	if (!ret)
		ret = wrapper_each(argv, walk_wrapped, w);
	needed_libs_free(&w->libs);
	ids_free(&w->name_ids);
	arena_free(&w->arena);
	free(w);
	return ret;
}
