// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve events in user space to files and offsets. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/openreg.h"
#include "base/path.h"
#include "base/pattern.h"
#include "elf/source.h"
#include "session/plan.h"
#include "target/maps.h"
#include "target/needed.h"
#include "target/target.h"

#define MAX_FILES	32		/* more could not be attached anyway */

struct file {
	int fd;
	dev_t dev;
	ino_t ino;
	char path[PATH_MAX];
};

struct files {
	struct file *at[MAX_FILES];
	size_t nr;
};

static void files_free(struct files *fs)
{
	for (size_t i = 0; i < fs->nr; i++) {
		close(fs->at[i]->fd);
		free(fs->at[i]);
	}
	fs->nr = 0;
}

/* Takes @fd over.  The same file twice is one. */
static int files_add(struct files *fs, int fd, const char *path)
{
	struct file *f;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || fs->nr == MAX_FILES)
		goto err_close;
	for (size_t i = 0; i < fs->nr; i++)
		if (fs->at[i]->dev == st.st_dev && fs->at[i]->ino == st.st_ino) {
			close(fd);
			return 0;
		}
	f = calloc(1, sizeof(*f));
	if (!f)
		goto err_close;
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	snprintf(f->path, sizeof(f->path), "%s", path);
	fs->at[fs->nr++] = f;
	return 0;

err_close:
	close(fd);
	return -ENOMEM;
}

/* As @pid sees the path: it may live in a container. */
static int add_in_root(struct files *fs, __u32 pid, const char *path)
{
	char in_root[PATH_MAX + 32];

	snprintf(in_root, sizeof(in_root), "/proc/%u/root%s", pid, path);
	return files_add(fs, open_regular(in_root), path);
}

static void add_of_pids(struct files *fs, const struct opt_nums *pids,
			const char *path)
{
	for (size_t i = 0; i < pids->nr; i++)
		add_in_root(fs, pids->at[i], path);
}

static int by_path(struct files *fs, const struct plan_env *env, const char *name)
{
	char path[PATH_MAX];

	/* a path that only the target has is no path here */
	if (name[0] != '/' || !realpath(name, path))
		snprintf(path, sizeof(path), "%s", name);
	if (name[0] != '/' && !realpath(name, path))
		return -errno;
	add_of_pids(fs, env->pids, path);
	add_of_pids(fs, env->tids, path);
	return fs->nr ? 0 : files_add(fs, open_regular(path), path);
}

typedef bool match_fn(const char *path, const char *name);

static void add_mapped(struct files *fs, const struct opt_nums *pids,
		       const char *name, match_fn *matches)
{
	struct maps m;

	for (size_t i = 0; i < pids->nr; i++) {
		if (maps_read((pid_t)pids->at[i], &m))
			continue;
		for (size_t j = 0; j < m.nr; j++)
			if (matches(m.files[j]->path, name))
				files_add(fs, maps_open((pid_t)pids->at[i],
							m.files[j]),
					  m.files[j]->path);
		maps_free(&m);
	}
}

/* Is this mapped file the one that a link of this name leads to, as /usr/bin/python3? */
static bool link_matches(const char *path, const char *name)
{
	char link[PATH_MAX], real[PATH_MAX];

	return !target_find(name, link, sizeof(link)) && realpath(link, real) &&
	       !strcmp(real, path);
}

struct wanted {
	struct files *fs;
	const char *name;
	match_fn *matches;
};

static int take_needed(const char *path, int fd, void *ctx)
{
	const struct wanted *w = ctx;

	if (w->matches(path, w->name))
		files_add(w->fs, fcntl(fd, F_DUPFD_CLOEXEC, 0), path);
	return 0;
}

/* What a program that is run is, or needs: a script's interpreter, for one. */
static void add_needed(struct files *fs, const struct plan_env *env, const char *name,
		       match_fn *matches)
{
	struct wanted w = { fs, name, matches };

	if (env->program)
		needed_walk_command(env->program, env->argv, take_needed, &w);
}

/* -ENXIO: nothing answers to this name */
static int by_name(struct files *fs, const struct plan_env *env, const char *name)
{
	static match_fn *const ways[] = {
		maps_name_matches, link_matches, maps_version_matches,
	};
	char path[PATH_MAX];

	if (env->program && maps_name_matches(env->program, name))
		files_add(fs, open_regular(env->program), env->program);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !fs->nr; i++) {
		add_mapped(fs, env->pids, name, ways[i]);
		add_mapped(fs, env->tids, name, ways[i]);
		if (!fs->nr)
			add_needed(fs, env, name, ways[i]);
	}
	if (fs->nr)
		return 0;
	if (maps_find_library(name, path, sizeof(path)))
		return -ENXIO;
	return files_add(fs, open_regular(path), path);
}

/* "FUNC+0xN" or, where no function is known, "+0xN" of the file: where a probe may be put */
static void boundary_text(char *buf, size_t len, const struct elfsym_func *f, __u64 at)
{
	if (f && at == f->offset)
		snprintf(buf, len, "%.80s", f->name);
	else
		snprintf(buf, len, "%.80s+0x%llx", f ? f->name : "",
			 (unsigned long long)(f ? at - f->offset : at));
}

/*
 * A breakpoint inside an instruction changes that instruction: the program computes wrong
 * values or dies, and the kernel does not notice.  So the tool has to.
 */
static int check_boundary(const struct plan_env *env, struct elfsym *e, __u64 offset,
			  const char *name)
{
	struct elfsym_boundary b;
	char before[128], after[128];
	const enum elfsym_place place = elfsym_check_boundary(e, offset, &b);

	if (place == ELFSYM_BOUNDARY)
		return 0;
	if (place == ELFSYM_INSIDE) {
		boundary_text(before, sizeof(before), b.func, b.before);
		boundary_text(after, sizeof(after), b.func, b.after);
		fail_text("cannot probe %s: it is inside an instruction; the nearest instructions "
			  "begin at %s and %s", name, before, after);
		return -EINVAL;
	}
	if (env->force)
		return 0;
	fail_text("cannot check whether an instruction begins at %s: %s; --force probes it all the "
		  "same, but a wrong offset crashes the program", name,
		  place == ELFSYM_NO_FUNCTION ? "no known function covers it" :
		  "the code before it cannot be decoded");
	return -EINVAL;
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* A file of which many functions are probed is open once. */
static int take_fd(struct plan *p, struct plan_item *item, int fd)
{
	const struct plan_item *before = item - 1;

	if (p->nr > 1 && before->attach.kind == MEMTAP_ATTACH_UPROBE &&
	    same_file(before->attach.fd, fd)) {
		item->borrowed = true;
		item->attach.fd = before->attach.fd;
		return 0;
	}
	item->attach.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return item->attach.fd < 0 ? -errno : 0;
}

static int add_item(struct plan *p, const struct event_spec *spec, int fd,
		    const char *name, __u64 offset, __u64 ref_ctr, bool entry,
		    const char *operands)
{
	struct plan_item *item = plan_new(p, MEMTAP_ATTACH_UPROBE);
	struct memtap_attach *a;
	int err;

	if (!item) {
		fail(ERR_EVENT, E2BIG, "%s", name);
		return -E2BIG;
	}
	a = &item->attach;
	err = take_fd(p, item, fd);
	if (err) {
		fail(ERR_PLAIN, err, "%s", name);
		return err;
	}
	a->offset = offset;
	a->ref_ctr = ref_ctr;
	if (spec->is_return)
		a->flags |= MEMTAP_ATTACH_RETURN;
	if (entry)
		a->flags |= MEMTAP_ATTACH_ENTRY;
	snprintf(a->name, sizeof(a->name), "%s", name);
	snprintf(item->text, sizeof(item->text), "%s", name);
	if (operands)
		item->operands = strdup(operands);
	return operands && !item->operands ? -ENOMEM : 0;
}

static int add_offset(struct plan *p, const struct plan_env *env,
		      const struct event_spec *spec, struct elfsym *e, const struct file *f)
{
	char name[MEMTAP_NAME_LEN];
	int err;

	snprintf(name, sizeof(name), "%.80s+0x%llx", base_name(f->path),
		 (unsigned long long)spec->offset);
	if (!elfsym_is_code(e, spec->offset)) {
		fail(ERR_UPROBE, EINVAL, "%s", name);
		return -EINVAL;
	}
	err = check_boundary(env, e, spec->offset, name);
	if (err)
		return err;
	return add_item(p, spec, f->fd, name, spec->offset, 0,
			elfsym_is_entry(e, spec->offset), NULL);
}

struct indirect {
	struct omitted *to;
	const char *pattern, *last;
};

static int omit_indirect(const struct elfsym_func *f, void *ctx)
{
	struct indirect *i = ctx;

	if (!f->ifunc || fnmatch(i->pattern, f->name, 0) ||
	    (i->last && !strcmp(i->last, f->name)))
		return 0;
	omitted_add(i->to, f->name, "left out: indirect functions (IFUNC), whose symbol is that of "
		    "their resolver");
	i->last = f->name;
	return 0;
}

static void set_entry(struct plan_item *item, const struct elfsym_func *f)
{
	item->at_entry = true;
	item->vaddr = f->vaddr;
	snprintf(item->in, sizeof(item->in), "where %.80s begins", f->name);
}

static int add_symbols(struct plan *p, const struct plan_env *env,
		       const struct event_spec *spec, struct elfsym *e, const struct file *f)
{
	const bool pattern = is_pattern(spec->name);
	struct elfsym_func *found;
	char name[MEMTAP_NAME_LEN];
	const char *base = base_name(f->path);
	size_t nr, first = p->nr;
	int err;

	err = elfsym_find(e, spec->name, &found, &nr);
	if (err) {
		fail(ERR_SYMBOL, err, "%s in %s", spec->name, f->path);
		return err;
	}
	if (pattern && nr > plan_left(p)) {
		free(found);
		return plan_too_many(p, spec->name, nr, "functions");
	}
	for (size_t i = 0; !err && i < nr; i++) {
		if (spec->offset && spec->offset >= found[i].size) {
			fail_text("%s+0x%llx is past the end of the function, "
				  "which has %llu bytes", found[i].name,
				  (unsigned long long)spec->offset,
				  (unsigned long long)found[i].size);
			err = -EINVAL;
			break;
		}
		snprintf(name, sizeof(name), "%.40s:%.80s", base,
			 pattern || nr > 1 ? found[i].name : spec->name);
		if (spec->offset)
			snprintf(name + strlen(name), sizeof(name) - strlen(name),
				 "+0x%llx", (unsigned long long)spec->offset);
		if (spec->offset)
			err = check_boundary(env, e, found[i].offset + spec->offset, name);
		if (!err)
			err = add_item(p, spec, f->fd, name, found[i].offset + spec->offset,
				       0, !spec->offset, NULL);
		if (!err && !spec->offset)
			set_entry(&p->items[p->nr - 1], &found[i]);
	}
	for (size_t i = first; pattern && i < p->nr; i++)
		p->items[i].optional = true;
	if (!err && pattern) {
		struct indirect i = { &p->omitted, spec->name, NULL };

		elfsym_for_each_func(e, omit_indirect, &i);
	}
	free(found);
	return err;
}

/* A probe may stand in several places: all of them are the event. */
static int add_probes(struct plan *p, const struct plan_env *env,
		      const struct event_spec *spec, struct elfsym *e, const struct file *f)
{
	struct elfsym_probe *found;
	char name[MEMTAP_NAME_LEN];
	size_t nr;
	int err;

	err = elfsym_find_probe(e, spec->group, spec->name, &found, &nr);
	if (err) {
		fail(ERR_USDT, err, "%s%s%s in %s", spec->group ? spec->group : "",
		     spec->group ? ":" : "", spec->name, f->path);
		return err;
	}
	for (size_t i = 0; !err && i < nr; i++) {
		snprintf(name, sizeof(name), "%.40s:%.40s:%.40s",
			 base_name(f->path), found[i].provider, found[i].name);
		if (!elfsym_is_nop(e, found[i].offset) && !env->force) {
			fail_text("cannot probe %s: its note names offset 0x%llx of the file, "
				  "where there is no nop; the file or the note is damaged", name,
				  (unsigned long long)found[i].offset);
			err = -EINVAL;
			break;
		}
		err = add_item(p, spec, f->fd, name, found[i].offset,
			       found[i].ref_ctr, false, found[i].args);
	}
	free(found);
	return err;
}

static int say_no_line(const struct event_spec *spec, const struct file *f,
		       const struct source_lines *l, int err)
{
	char near[64] = "";

	switch (-err) {
	case ENOENT:
		fail_text("the debug information of %s has no source file %s", f->path,
			  spec->source);
		break;
	case ENOTUNIQ:
		fail_text("%s was built from several files that are called %s: %s, %s; write more "
			  "of the path", f->path, spec->source, l->file, l->other);
		break;
	case ENODATA:
		if (l->before && l->after)
			snprintf(near, sizeof(near), "; the nearest lines with code are %d and %d",
				 l->before, l->after);
		else
			snprintf(near, sizeof(near), "; the nearest line with code is %d",
				 l->before ? l->before : l->after);
		fail_text("line %d of %s has no code of its own in %s%s", spec->line, l->file,
			  f->path, near);
		break;
	default:
		fail(ERR_FILE, err, "%s", f->path);
		break;
	}
	return err;
}

static void set_place(struct plan_item *item, const struct source_place *at)
{
	item->at_line = true;
	item->vaddr = at->vaddr;
	snprintf(item->in, sizeof(item->in), "%s%s", at->inlined ? "in inlined code of " : "in ",
		 *at->function ? at->function : "a function without a name");
}

static int add_line(struct plan *p, const struct plan_env *env, const struct event_spec *spec,
		    struct elfsym *e, const struct file *f, const struct source_lines *l)
{
	char name[MEMTAP_NAME_LEN];
	int err = 0;

	snprintf(name, sizeof(name), "%.40s:%.60s:%d", base_name(f->path),
		 base_name(spec->source), spec->line);
	for (size_t i = 0; !err && i < l->nr; i++) {
		const struct source_place *at = &l->at[i];

		err = check_boundary(env, e, at->offset, name);
		if (!err)
			err = add_item(p, spec, f->fd, name, at->offset, 0,
				       elfsym_is_entry(e, at->offset), NULL);
		if (err)
			break;
		set_place(&p->items[p->nr - 1], at);
	}
	return err;
}

/* A line may have code in several places: all of them are the event. */
static int add_lines(struct plan *p, const struct plan_env *env, const struct event_spec *spec,
		     struct elfsym *e, const struct file *f)
{
	struct source_lines l;
	struct source *s;
	int err = source_open(e, &s);

	if (err == -ENODATA)
		fail_text("%s has no debug information, which knows its source lines; build it "
			  "with -g, or install its debug symbols", f->path);
	else if (err)
		fail(ERR_FILE, err, "%s", f->path);
	if (err)
		return err;
	err = source_find(s, spec->source, spec->line, &l);
	if (err)
		say_no_line(spec, f, &l, err);
	else
		err = add_line(p, env, spec, e, f, &l);
	source_free_lines(&l);
	source_close(s);
	return err;
}

/* Where its stacks move, Go's runtime meets the foreign return address, and gives up. */
static int check_return(const struct event_spec *spec, struct elfsym *e, const struct file *f)
{
	struct elfsym_kind kind;

	if (!spec->is_return)
		return 0;
	elfsym_get_kind(e, &kind);
	if (!kind.go)
		return 0;
	fail_text("%s holds Go code: a probe on a return would break the program, whose "
		  "stacks move; use u: instead of ur:", f->path);
	return -EINVAL;
}

static int add_places(struct plan *p, const struct plan_env *env,
		      const struct event_spec *spec, struct elfsym *e, const struct file *f)
{
	if (spec->kind == EVENT_USDT)
		return add_probes(p, env, spec, e, f);
	if (spec->source)
		return add_lines(p, env, spec, e, f);
	if (spec->name)
		return add_symbols(p, env, spec, e, f);
	return add_offset(p, env, spec, e, f);
}

static int add_file(struct plan *p, const struct plan_env *env,
		    const struct event_spec *spec, const struct file *f)
{
	struct elfsym *e;
	int err;

	err = elfsym_open(f->fd, &e);
	if (err) {
		fail(ERR_FILE, err, "%s", f->path);
		return err;
	}
	err = check_return(spec, e, f);
	if (!err)
		err = add_places(p, env, spec, e, f);
	elfsym_close(e);
	return err;
}

int plan_user(struct plan *p, const struct plan_env *env,
	      const struct event_spec *spec)
{
	struct files fs = { .nr = 0 };
	int err;

	if (strchr(spec->file, '/'))
		err = by_path(&fs, env, spec->file);
	else
		err = by_name(&fs, env, spec->file);
	if (err && err != -ENXIO)
		fail(ERR_FILE, err, "%s", spec->file);
	for (size_t i = 0; !err && i < fs.nr; i++)
		err = add_file(p, env, spec, fs.at[i]);
	files_free(&fs);
	return err;
}
