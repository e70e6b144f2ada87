// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots in and out of file descriptors. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire.h"
#include "snap_int.h"
#include "sym.h"

#define READ_STEP	(256 * 1024)

static bool has_magic(const void *bytes)
{
	__u64 magic;

	memcpy(&magic, (const char *)bytes + offsetof(struct memtap_rec_header, magic),
	       sizeof(magic));
	return magic == MEMTAP_MAGIC;
}

/* What cannot be a snapshot is not read to its end: it may have none. */
static int read_all(int fd, char **bytes, size_t *len)
{
	size_t room = 0;
	ssize_t n;

	*bytes = NULL;
	*len = 0;
	for (;;) {
		if (room - *len < READ_STEP) {
			char *p = realloc(*bytes, room = 2 * room + READ_STEP);

			if (!p)
				return -ENOMEM;
			*bytes = p;
		}
		n = read(fd, *bytes + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		*len += n;
		if (*len >= 16 && !has_magic(*bytes))
			return 0;
	}
}

int snap_from_fd(int fd, struct snap **out, char err[256])
{
	char *bytes;
	size_t len;
	int ret;

	*out = NULL;
	ret = read_all(fd, &bytes, &len);
	if (ret) {
		free(bytes);
		return snap_bad(err, ret, "it cannot be read: %s", strerror(-ret));
	}
	return snap_decode(bytes, len, out, err);
}

/* Where the records of the tool go, with their own account. */
struct writer {
	FILE *f;
	struct wire_sum sum;
};

static int put_record(struct writer *w, __u32 type, const void *fixed,
		      size_t fixed_len, const char *text)
{
	size_t text_len = text ? strlen(text) + 1 : 0;
	size_t len = sizeof(struct memtap_rec) + fixed_len + text_len;
	char *rec;

	len = (len + 7) & ~(size_t)7;
	rec = malloc(len);
	if (!rec)
		return -ENOMEM;
	wire_begin(rec, len, type, len);
	if (fixed_len)
		memcpy(rec + sizeof(struct memtap_rec), fixed, fixed_len);
	if (text_len)
		memcpy(rec + sizeof(struct memtap_rec) + fixed_len, text, text_len);
	wire_sum_add(&w->sum, (const void *)rec);
	fwrite(rec, 1, len, w->f);
	free(rec);
	return 0;
}

struct kaddr {
	__u64 ip;
	bool call;
};

static int cmp_kaddr(const void *a, const void *b)
{
	const struct kaddr *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return y->call - x->call;
}

/* All kernel addresses of all stacks, each once. */
static int collect_kaddrs(const struct snap *s, struct kaddr **out, size_t *nr)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < s->nr_stacks; i++)
		if (!(s->stacks[i].flags & MEMTAP_STACK_USER))
			n += s->stacks[i].nr;
	*out = malloc((n + 1) * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];

		for (__u32 k = 0; !(st->flags & MEMTAP_STACK_USER) && k < st->nr; k++) {
			(*out)[n].ip = st->ip[k];
			(*out)[n++].call = k || !(st->flags & MEMTAP_STACK_ENTRY);
		}
	}
	if (n)
		qsort(*out, n, sizeof(**out), cmp_kaddr);
	for (size_t i = 0; i < n; i++)
		if (!i || (*out)[i].ip != (*out)[i - 1].ip)
			(*out)[kept++] = (*out)[i];
	*nr = kept;
	return 0;
}

static int put_ksym(struct writer *w, const struct snap *s, struct sym *sym,
		    const struct kaddr *k)
{
	const struct sym_frame *f;
	char name[512];
	__u64 fixed[2];

	if (!sym_kernel(sym, s, k->ip, k->call, &f) || !f->name)
		return 0;
	if (f->object && strcmp(f->object, "kernel"))
		snprintf(name, sizeof(name), "%s [%s]", f->name, f->object);
	else
		snprintf(name, sizeof(name), "%s", f->name);
	fixed[0] = k->ip;
	fixed[1] = f->offset;
	return put_record(w, MEMTAP_REC_KSYM, fixed, sizeof(fixed), name);
}

static int cmp_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The paths of the control groups of all tasks. */
static int put_cgroups(struct writer *w, const struct snap *s, struct sym *sym)
{
	__u64 *inodes = calloc(s->nr_tasks + 1, sizeof(*inodes));
	char note[4096 + 64];
	int err = inodes ? 0 : -ENOMEM;

	for (size_t i = 0; inodes && i < s->nr_tasks; i++)
		inodes[i] = s->tasks[i].cgroup2 ? s->tasks[i].cgroup2 : s->tasks[i].cgroup1;
	if (inodes)
		qsort(inodes, s->nr_tasks, sizeof(*inodes), cmp_u64);
	for (size_t i = 0; !err && i < s->nr_tasks; i++) {
		const char *path;

		if (!inodes[i] || (i && inodes[i] == inodes[i - 1]))
			continue;
		path = sym_cgroup(sym, s, inodes[i]);
		if (!path)
			continue;
		snprintf(note, sizeof(note), "cgroup.%llu=%s",
			 (unsigned long long)inodes[i], path);
		err = put_record(w, MEMTAP_REC_NOTE, NULL, 0, note);
	}
	free(inodes);
	return err;
}

static bool is_cgroup_note(const char *note)
{
	return !strncmp(note, "cgroup.", 7);
}

static int put_tool_part(FILE *f, const struct snap *s, struct sym *sym,
			 const char *const *notes)
{
	struct writer w = { .f = f };
	struct memtap_rec_end end;
	struct kaddr *kaddrs;
	size_t nr;
	int err;

	wire_sum_init(&w.sum);
	err = collect_kaddrs(s, &kaddrs, &nr);
	if (err)
		return err;
	err = put_record(&w, MEMTAP_REC_TOOL, NULL, 0, NULL);
	for (size_t i = 0; !err && i < nr; i++)
		err = put_ksym(&w, s, sym, &kaddrs[i]);
	if (!err)
		err = put_cgroups(&w, s, sym);
	for (size_t i = 0; !err && i < s->nr_notes; i++)
		if (!is_cgroup_note(s->notes[i]))
			err = put_record(&w, MEMTAP_REC_NOTE, NULL, 0, s->notes[i]);
	for (size_t i = 0; !err && notes && notes[i]; i++)
		err = put_record(&w, MEMTAP_REC_NOTE, NULL, 0, notes[i]);
	free(kaddrs);
	wire_end(&w.sum, &end);
	fwrite(&end, 1, sizeof(end), f);
	return err;
}

static int write_all(FILE *f, const struct snap *s, struct sym *sym,
		     const char *const *notes)
{
	int err;

	errno = 0;
	fwrite(s->bytes, 1, s->device_len, f);
	err = put_tool_part(f, s, sym, notes);
	if (err)
		return err;
	if (fflush(f) || ferror(f))
		return errno ? -errno : -EIO;
	return 0;
}

/* A device or a pipe cannot be replaced, only written to. */
static int save_in_place(const struct snap *s, struct sym *sym,
			 const char *const *notes, const char *path)
{
	FILE *f = fopen(path, "we");
	int err;

	if (!f)
		return -errno;
	err = write_all(f, s, sym, notes);
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

static int sync_dir(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;	/* not readable: the file is complete anyway */
	fsync(fd);
	return close(fd);
}

static int save_by_rename(const struct snap *s, struct sym *sym,
			  const char *const *notes, const char *path)
{
	char tmp[PATH_MAX];
	FILE *f;
	int fd, err;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		err = -errno;
		close(fd);
		unlink(tmp);
		return err;
	}
	err = write_all(f, s, sym, notes);
	if (!err && fsync(fd))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	else
		sync_dir(path);
	return err;
}

int snap_save(const struct snap *s, struct sym *sym, const char *const *notes,
	      const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	if (!s->bytes)
		return -EINVAL;		/* a difference has no bytes of its own */
	if (stat(path, &st))
		return errno == ENOENT ? save_by_rename(s, sym, notes, path) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return save_in_place(s, sym, notes, path);
	/* Through a symbolic link: what it points to is replaced, not the link. */
	if (!realpath(path, real))
		return -errno;
	return save_by_rename(s, sym, notes, real);
}
