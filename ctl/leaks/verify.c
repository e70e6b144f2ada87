// SPDX-License-Identifier: GPL-2.0-or-later
/* Check after a session that the code of its targets matches the files. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/procmaps.h"
#include "target/procs.h"
#include "leaks/verify.h"

/* A breakpoint takes one byte; what some kernels make of one, ten. */
#define PLACE_LEN	10

struct verify {
	const struct verify_file *files;
	size_t nr;
	enum verify_who (*who)(pid_t pid, void *ctx);
	void *ctx;
	struct verify_result *result;
	/* of one process */
	pid_t pid;
	int mem;
	bool maps_some, is_changed;
};

static const struct verify_file *find_file(const struct verify *v, const struct procmap *m)
{
	for (size_t i = 0; i < v->nr; i++) {
		const struct verify_file *f = &v->files[i];

		if (f->ino != m->inode)
			continue;
		/* some file systems have other devices in stat() than here */
		if ((f->map_dev ? f->map_dev : f->dev) == makedev(m->dev_major, m->dev_minor) ||
		    (!f->map_dev && !strncmp(f->path, m->path, strlen(f->path))))
			return f;
	}
	return NULL;
}

/* Is the memory at @addr what the file has there?  True, too, if it is gone. */
static bool same_text(const struct verify *v, const struct verify_file *f, __u64 offset,
		      __u64 addr, size_t len)
{
	unsigned char there[PLACE_LEN], here[PLACE_LEN];
	const ssize_t n = pread(v->mem, there, len, (off_t)addr);
	const ssize_t m = pread(f->fd, here, len, (off_t)offset);

	return n <= 0 || m < n || !memcmp(there, here, (size_t)n);
}

static int check_map(const struct procmap *m, void *ctx)
{
	struct verify *v = ctx;
	const struct verify_file *f = m->executable && m->inode ? find_file(v, m) : NULL;

	for (size_t i = 0; f && i < f->nr; i++) {
		const __u64 at = f->offsets[i] - m->offset, len = m->end - m->start;

		if (at >= len)
			continue;
		v->maps_some = true;
		if (v->is_changed ||
		    same_text(v, f, f->offsets[i], m->start + at,
			      len - at < PLACE_LEN ? (size_t)(len - at) : PLACE_LEN))
			continue;
		v->is_changed = true;
		if (v->result->changed++)
			continue;
		v->result->pid = v->pid;
		v->result->offset = f->offsets[i];
		v->result->path = f->path;
	}
	return 0;
}

static int check_process(pid_t pid, void *ctx)
{
	struct verify *v = ctx;
	const enum verify_who who = v->who(pid, v->ctx);
	char path[32];

	if (who == VERIFY_NOT)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	v->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (v->mem < 0)
		return 0;
	v->pid = pid;
	v->maps_some = v->is_changed = false;
	procmaps_read(pid, check_map, v);
	v->result->processes += v->maps_some && (who == VERIFY || v->is_changed);
	close(v->mem);
	return 0;
}

void verify_text(const struct verify_file *files, size_t nr,
		 enum verify_who (*who)(pid_t pid, void *ctx), void *ctx,
		 struct verify_result *result)
{
	struct verify v = { .files = files, .nr = nr, .who = who, .ctx = ctx,
			    .result = result };

	memset(result, 0, sizeof(*result));
	procs_each(check_process, &v);
}
