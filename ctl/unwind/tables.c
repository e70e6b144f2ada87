// SPDX-License-Identifier: GPL-2.0-or-later
/* Build unwind tables from files, and load them into the module; see tables.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/dev.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

struct tables_name {
	__u32 id;
	char *path;
};

void tables_init(struct tables *t, int dev, __u64 budget)
{
	memset(t, 0, sizeof(*t));
	t->dev = dev;
	t->budget = budget;
	pthread_mutex_init(&t->lock, NULL);
}

void tables_free(struct tables *t)
{
	for (size_t i = 0; i < t->nr_names; i++)
		free(t->names[i].path);
	free(t->names);
	t->names = NULL;
	t->nr_names = t->room_names = 0;
	free(t->seen);
	ids_free(&t->seen_ids);
	free(t->own);
	t->own = NULL;
	t->nr_own = 0;
	t->seen = NULL;
	t->room_seen = 0;
}

/* False: the file has no path here. */
static bool path_of(int fd, char path[PATH_MAX])
{
	struct stat here, it;
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	path[len > 0 ? len : 0] = '\0';
	return path[0] == '/' && !stat(path, &here) && !fstat(fd, &it) &&
	       here.st_ino == it.st_ino && here.st_dev == it.st_dev;
}

static void keep_name(struct tables *t, int fd, __u32 id)
{
	char path[PATH_MAX], *copy;
	struct tables_name *more;

	copy = path_of(fd, path) ? strdup(path) : NULL;
	if (!copy)
		return;
	pthread_mutex_lock(&t->lock);
	more = ids_grow(t->names, t->nr_names, &t->room_names, sizeof(*more));
	if (more) {
		t->names = more;
		t->names[t->nr_names++] = (struct tables_name){ id, copy };
	} else {
		free(copy);
	}
	pthread_mutex_unlock(&t->lock);
}

char *tables_path(struct tables *t, __u32 id)
{
	char *path = NULL;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; !path && i < t->nr_names; i++)
		if (t->names[i].id == id)
			path = strdup(t->names[i].path);
	pthread_mutex_unlock(&t->lock);
	return path;
}

static void trouble(struct tables *t, const char *path, int err)
{
	if (!t->trouble[0])
		snprintf(t->trouble, sizeof(t->trouble), "%.200s: %s", path,
			 err == -EBADMSG ? "damaged" : strerror(-err));
}

static int upload(struct tables *t, const struct unwind_table *u, int fd, __u32 flags,
		  __u32 *id)
{
	struct memtap_table arg = {
		.flags = flags,
		.fd = fd,
		.nr_rows = u->nr_rows,
		.nr_rules = u->nr_rules,
		.rows_ptr = (__u64)(unsigned long)u->rows,
		.kinds_ptr = (__u64)(unsigned long)u->kinds,
		.rules_ptr = (__u64)(unsigned long)u->rules,
	};
	const int err = dev_table(t->dev, &arg);

	*id = err ? 0 : arg.file;
	if (!err)
		t->bytes += arg.bytes;
	if (!err && fd >= 0)
		keep_name(t, fd, arg.file);
	return err;
}

/*
 * What is no ELF file but mapped to be executed was written by a compiler of its
 * own (.NET's, some Java's): as with anonymous code, frame pointers are followed.
 */
static int upload_foreign(struct tables *t, int fd, __u32 *id)
{
	struct memtap_rule rule = { .kind = MEMTAP_RULE_FP, .ra = -8 };
	__u32 row = 0;
	__u16 kind = 0;
	const struct unwind_table u = { .nr_rows = 1, .nr_rules = 1, .rows = &row,
					.kinds = &kind, .rules = &rule };

	return upload(t, &u, fd, 0, id);
}

static int account(struct tables *t, const char *path, int err)
{
	t->full = err == -EDQUOT || err == -ENOSPC;
	if (!err)
		t->files++;
	else if (t->full)
		t->no_room++;
	else if (err != -EEXIST && err != -EBUSY)
		t->refused++;
	if (err && !t->full && err != -EEXIST && err != -EBUSY)
		trouble(t, path, err);
	return err;
}

int tables_load(struct tables *t, int fd, const char *path, __u32 *id)
{
	struct unwind_table u = { 0 };
	int err;

	*id = 0;
	err = unwind_get(fd, &u);
	if (err == -ENOEXEC)
		return account(t, path, upload_foreign(t, fd, id));
	if (err || !u.nr_rows) {
		t->unreadable++;
		trouble(t, path, err ? err : -ENODATA);
		return err ? err : -ENODATA;
	}
	err = account(t, path, upload(t, &u, fd, 0, id));
	unwind_free(&u);
	return err;
}

void tables_not_opened(struct tables *t, const char *path)
{
	t->unreadable++;
	trouble(t, path, -ENOENT);
}

void tables_load_vdso(struct tables *t)
{
	struct unwind_table u = { 0 };
	__u32 id;

	if (unwind_vdso(&u))
		return;
	account(t, "[vdso]", upload(t, &u, -1, MEMTAP_TABLE_VDSO, &id));
	unwind_free(&u);
}

bool tables_summary(const struct tables *t, char *text, size_t len)
{
	size_t used = 0;

	if (!t->no_room && !t->unreadable && !t->refused)
		return false;
	used += (size_t)snprintf(text, len, "unwind tables of %zu file%s:", t->files,
				 t->files == 1 ? "" : "s");
	if (t->no_room && used < len)
		used += (size_t)snprintf(text + used, len - used,
					 " not enough memory for %zu more (see --max-mem);",
					 t->no_room);
	if (t->unreadable + t->refused && used < len)
		snprintf(text + used, len - used, " none for %zu (%s)",
			 t->unreadable + t->refused, t->trouble);
	else
		text[strlen(text) - 1] = '\0';
	return true;
}
