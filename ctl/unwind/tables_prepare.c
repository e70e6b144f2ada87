// SPDX-License-Identifier: GPL-2.0-or-later
/* Predict before START which files each target will map. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "target/maps.h"
#include "target/needed.h"
#include "base/openreg.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

#define EVERYBODY_NS	2000000000ULL	/* for all processes; the rest comes later */
#define PATH_LEN	4096
/* Under this program's name there is what nobody in particular mapped. */
#define EVERYBODY	"/proc/self/exe"

struct tables_key {
	dev_t dev;
	ino_t inode;
};

static bool interrupted(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	if (sigpending(&set))
		return false;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigismember(&set, signals[i]))
			return true;
	return false;
}

static bool same_key(const void *things, __u32 id, const void *key)
{
	const struct tables_key *a = (const struct tables_key *)things + id, *b = key;

	return a->dev == b->dev && a->inode == b->inode;
}

static bool key_of(int fd, struct tables_key *key)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*key = (struct tables_key){ st.st_dev, st.st_ino };
	return true;
}

/* Files come by several ways: as a library, as a companion, as a mapping. */
static bool seen(struct tables *t, int fd)
{
	struct tables_key key, *more;
	__u64 hash;

	if (!key_of(fd, &key))
		return true;
	hash = ids_mix(ids_mix(1, key.dev), key.inode);
	if (ids_find(&t->seen_ids, hash, same_key, t->seen, &key) != IDS_NONE)
		return true;
	if (t->seen_ids.nr == t->room_seen) {
		more = reallocarray(t->seen, 2 * t->room_seen + 64, sizeof(*more));
		if (!more)
			return false;
		t->seen = more;
		t->room_seen = 2 * t->room_seen + 64;
	}
	if (ids_add(&t->seen_ids, hash) != IDS_NONE)
		t->seen[t->seen_ids.nr - 1] = key;
	return false;
}

static int take(const char *path, int fd, void *ctx)
{
	struct tables *t = ctx;
	__u32 id;

	if (!seen(t, fd))
		tables_load(t, fd, path, &id);
	return t->full || interrupted();
}

/* What may be needed leaves room for what will turn out to be. */
static bool half_full(const struct tables *t)
{
	return t->bytes > t->budget / 2;
}

static int take_companion(const char *path, void *ctx)
{
	const int fd = open_regular(path);
	int ret;

	if (fd < 0)
		return 0;
	ret = take(path, fd, ctx);
	close(fd);
	return ret || half_full(ctx);
}

static void take_companions(struct tables *t, const char *program)
{
	const int fd = open_regular(program);

	if (fd < 0)
		return;
	if (!t->full && !half_full(t))
		unwind_companions(fd, take_companion, t);
	close(fd);
}

/* ---- a program ---- */

static bool own_path(char path[PATH_LEN])
{
	const ssize_t len = readlink("/proc/self/exe", path, PATH_LEN - 1);

	path[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static int take_mapped(struct tables *t, pid_t pid, const struct maps_file *f)
{
	const int fd = maps_open(pid, f);
	int ret;

	if (fd < 0)
		return 0;
	ret = take(f->path, fd, t);
	close(fd);
	return ret;
}

static void add_own(struct tables *t, const struct maps_file *f)
{
	const int fd = maps_open(getpid(), f);

	if (fd < 0)
		return;
	t->nr_own += key_of(fd, &t->own[t->nr_own]);
	close(fd);
}

/* Until its execve() the child is a copy of us, in a function that calls libc. */
static void take_own(struct tables *t)
{
	char own[PATH_LEN];
	struct maps m;

	if (maps_read(getpid(), &m))
		return;
	own_path(own);
	free(t->own);
	t->nr_own = 0;
	t->own = calloc(m.nr + 1, sizeof(*t->own));
	for (size_t i = 0; t->own && i < m.nr; i++) {
		add_own(t, m.files[i]);
		if (!strcmp(m.files[i]->path, own) ||
		    maps_name_matches(m.files[i]->path, "c"))
			take_mapped(t, getpid(), m.files[i]);
	}
	maps_free(&m);
}

bool tables_is_own(const struct tables *t, int fd)
{
	struct tables_key key;

	if (!key_of(fd, &key))
		return false;
	for (size_t i = 0; i < t->nr_own; i++)
		if (same_key(t->own, (__u32)i, &key))
			return true;
	return false;
}

static void take_program(struct tables *t, const char *program, char *const *argv)
{
	take_own(t);
	if (!needed_walk_command(program, argv, take, t))
		take_companions(t, program);
}

/* ---- processes ---- */

struct exe {
	char path[32];
};

static struct exe exe_of(pid_t pid)
{
	struct exe e;

	snprintf(e.path, sizeof(e.path), "/proc/%d/exe", pid);
	return e;
}

static void take_process(struct tables *t, pid_t pid)
{
	struct maps m;

	if (maps_read(pid, &m))
		return;
	for (size_t i = 0; i < m.nr && !take_mapped(t, pid, m.files[i]); i++)
		;
	maps_free(&m);
	if (!interrupted())
		take_companions(t, exe_of(pid).path);
}

/* A file that processes map, and by how many of them. */
struct shared {
	struct maps_file *file;
	pid_t pid;			/* one of them */
	size_t users;
};

struct census {
	struct ids ids;
	struct shared *files;
	size_t room;
};

static bool same_shared(const void *things, __u32 id, const void *key)
{
	const struct maps_file *a = ((const struct shared *)things)[id].file, *b = key;

	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && !strcmp(a->path, b->path);
}

/* Takes the file over, or frees it. */
static void count_file(struct census *c, pid_t pid, struct maps_file *f)
{
	const __u64 hash = ids_mix(ids_hash_string(1, f->path), f->inode);
	__u32 id = ids_find(&c->ids, hash, same_shared, c->files, f);
	struct shared *more;

	if (id != IDS_NONE) {
		c->files[id].users++;
		free(f);
		return;
	}
	if (c->ids.nr == c->room) {
		more = reallocarray(c->files, 2 * c->room + 64, sizeof(*more));
		if (more) {
			c->files = more;
			c->room = 2 * c->room + 64;
		}
	}
	if (c->ids.nr == c->room || (id = ids_add(&c->ids, hash)) == IDS_NONE) {
		free(f);
		return;
	}
	c->files[id] = (struct shared){ f, pid, 1 };
}

static void count_process(struct census *c, pid_t pid)
{
	struct maps m;

	if (maps_read(pid, &m))
		return;
	for (size_t i = 0; i < m.nr; i++)
		count_file(c, pid, m.files[i]);
	m.nr = 0;			/* they are the census's now */
	maps_free(&m);
}

static int cmp_users(const void *a, const void *b)
{
	const struct shared *x = a, *y = b;

	return (x->users < y->users) - (x->users > y->users);
}

static void count_everybody(struct census *c, __u64 until)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;

	while (dir && clock_ns() < until && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			count_process(c, (pid_t)atoi(e->d_name));
	if (dir)
		closedir(dir);
}

static void add_all_processes(struct tables *t)
{
	const __u64 start = clock_ns();
	struct census c = { 0 };
	int stop = 0;

	count_everybody(&c, start + EVERYBODY_NS / 2);
	if (c.ids.nr)
		qsort(c.files, c.ids.nr, sizeof(*c.files), cmp_users);
	for (size_t i = 0; i < c.ids.nr; i++) {
		if (!stop && clock_ns() < start + EVERYBODY_NS)
			stop = take_mapped(t, c.files[i].pid, c.files[i].file) ||
			       half_full(t);
		free(c.files[i].file);
	}
	free(c.files);
	ids_free(&c.ids);
	if (!stop)
		take_companions(t, EVERYBODY);
}

void tables_prepare(struct tables *t, const struct tables_target *who)
{
	tables_load_vdso(t);
	if (who->program)
		take_program(t, who->program, who->argv);
	for (size_t i = 0; i < who->nr_pids && !interrupted(); i++)
		take_process(t, (pid_t)who->pids[i]);
	for (size_t i = 0; i < who->nr_tids && !interrupted(); i++)
		take_process(t, (pid_t)who->tids[i]);
	if (who->everybody && !interrupted())
		add_all_processes(t);
}

/* ---- for the next time ---- */

static bool has_task(const struct snap *s, __u32 space, pid_t pid)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].space == space && (!pid || s->tasks[i].pid == pid))
			return true;
	return false;
}

/* Its mappings are @first to the returned number; is it a copy of us? */
static size_t end_of_space(const struct snap *s, size_t first, const char *own, bool *ours)
{
	size_t i = first;

	*ours = false;
	for (; i < s->nr_maps && s->maps[i].space == s->maps[first].space; i++)
		if (s->maps[i].file && !strcmp(snap_file(s, s->maps[i].file)->path, own))
			*ours = true;
	return i;
}

/*
 * What was mapped for a moment only is in nobody's mappings any more.  Only files that
 * were not handed in before START are meant: those may not have been mapped at all.
 */
static bool was_short_lived(struct tables *t, const struct snap *s, const struct snap_file *f)
{
	bool came;
	int fd;

	for (size_t i = 0; i < s->nr_maps; i++)
		if (s->maps[i].file == f->id)
			return false;
	fd = open_regular(f->path);
	came = fd >= 0 && !seen(t, fd);
	if (fd >= 0)
		close(fd);
	return came;
}

/*
 * Files of the process @pid, or of all processes (0), become @program's; those that
 * came and went, too, where @t is given.
 */
static void remember(struct tables *t, const struct snap *s, const char *program, pid_t pid)
{
	const int fd = open_regular(program);
	const char **paths = calloc(s->nr_files + 1, sizeof(*paths));
	bool *used = calloc(s->nr_files + 1, sizeof(*used)), ours;
	char own[PATH_LEN];
	size_t nr = 0, end;

	own_path(own);
	for (size_t i = 0; paths && used && i < s->nr_maps; i = end) {
		end = end_of_space(s, i, own, &ours);
		if (ours || !has_task(s, s->maps[i].space, pid))
			continue;
		for (size_t m = i; m < end; m++)
			if (s->maps[m].file)
				used[snap_file(s, s->maps[m].file) - s->files] = true;
	}
	for (size_t i = 0; paths && used && i < s->nr_files; i++)
		if (s->files[i].path[0] == '/' &&
		    (used[i] || (t && was_short_lived(t, s, &s->files[i]))))
			paths[nr++] = s->files[i].path;
	if (fd >= 0 && nr)
		unwind_remember(fd, paths, nr);
	if (fd >= 0)
		close(fd);
	free(paths);
	free(used);
}

void tables_remember(struct tables *t, const struct snap *s, const struct tables_target *who,
		     bool children)
{
	if (who->program)
		remember(children ? t : NULL, s, who->program, children ? 0 : who->program_pid);
	for (size_t i = 0; i < who->nr_pids; i++)
		remember(NULL, s, exe_of((pid_t)who->pids[i]).path, (pid_t)who->pids[i]);
	if (who->everybody)
		remember(NULL, s, EVERYBODY, 0);
}
