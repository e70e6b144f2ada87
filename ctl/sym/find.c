// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the file on this machine that was mapped.  Names of a wrong file are worse than none.  A
 * file is accepted only if its build ID is the recorded one or, if none was recorded, if it is the
 * same inode of the same machine.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "base/openreg.h"
#include "sym/int.h"
#include "target/target.h"

#define NS	1000000000ULL

static __u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* When a task was born, ns since boot; 0 if there is none. */
static __u64 proc_start_ns(__s32 tid)
{
	struct target_stat st;

	return target_stat(tid, &st) ? 0 : st.start * (NS / sysconf(_SC_CLK_TCK));
}

/*
 * PIDs are used again; the time of birth tells.  /proc has it in ticks and with
 * the time the machine slept, which lies between nothing and all of its sleep.
 */
bool sym_task_lives(const struct snap *snap, const struct memtap_rec_task *task)
{
	const __u64 tick = 2 * NS / 100;
	__u64 start, slept;

	if (!task || task->pid <= 0 || (task->flags & MEMTAP_TASK_EXITED) ||
	    !sym_is_local(snap))
		return false;
	start = proc_start_ns(task->tid > 0 ? task->tid : task->pid);
	slept = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	return start && start + tick >= task->start_ns &&
	       start <= task->start_ns + slept + tick;
}

/* The module keeps the first bytes of an id that is longer than it has room for. */
static bool same_build_id(int fd, const struct snap_file *file)
{
	const bool cut = file->build_id_len == sizeof(file->build_id);
	Elf *elf;
	bool same;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return false;
	same = cut ? build_id_begins(elf, file->build_id, file->build_id_len) :
		     build_id_is(elf, file->build_id, file->build_id_len);
	elf_end(elf);
	return same;
}

static enum sym_found try_file(const struct snap *snap, const char *path,
			       const struct snap_file *file, int *fd)
{
	struct stat st;
	bool same;

	/* a path in a container can be anything */
	*fd = open_regular(path);
	if (*fd < 0)
		return FOUND_NONE;
	if (file->build_id_len)
		same = same_build_id(*fd, file);
	else
		same = sym_is_local(snap) && !fstat(*fd, &st) &&
		       st.st_ino == file->inode &&
		       major(st.st_dev) == file->dev_major &&
		       minor(st.st_dev) == file->dev_minor;
	if (same)
		return FOUND;
	close(*fd);
	return FOUND_OTHER;
}

/* DIR/.build-id/ab/cdef...: the file itself, where a distribution links it; its debug file. */
static enum sym_found try_build_id(const struct sym *s, const struct snap *snap,
				   const struct snap_file *file, const char *suffix, int *fd,
				   char path[4096])
{
	char *named;

	if (build_id_path(&named, s->opts.debug_dir, file->build_id, file->build_id_len,
			  suffix) < 0)
		return FOUND_NONE;
	snprintf(path, 4096, "%s", named);
	free(named);
	return try_file(snap, path, file, fd);
}

enum sym_found sym_find_file(const struct sym *s, const struct snap *snap,
			     const struct memtap_rec_task *task,
			     const struct snap_map *map,
			     const struct snap_file *file,
			     int *fd, char path[4096])
{
	enum sym_found r, worst = FOUND_NONE;

	if (sym_task_lives(snap, task)) {
		/* as the task sees it, in whatever mount namespace */
		snprintf(path, 4096, "/proc/%d/root%s", task->pid, file->path);
		worst = r = try_file(snap, path, file, fd);
		if (r == FOUND)
			return r;
		/* what is mapped, though its name be gone */
		snprintf(path, 4096, "/proc/%d/map_files/%llx-%llx", task->pid,
			 (unsigned long long)map->start, (unsigned long long)map->end);
		r = try_file(snap, path, file, fd);
		if (r == FOUND)
			return r;
	}
	snprintf(path, 4096, "%s", file->path);
	r = path[0] == '/' ? try_file(snap, path, file, fd) : FOUND_NONE;
	if (r == FOUND)
		return r;
	if (r == FOUND_OTHER)
		worst = r;
	r = try_build_id(s, snap, file, "", fd, path);
	if (r == FOUND)
		return r;
	r = try_build_id(s, snap, file, ".debug", fd, path);
	return r == FOUND ? FOUND_DEBUG : worst;
}

int sym_open_file(const struct snap *snap, const struct memtap_rec_task *task,
		  const struct snap_map *map, const struct snap_file *file)
{
	const struct sym s = { .opts.debug_dir = "/usr/lib/debug" };
	char path[4096];
	int fd;

	switch (sym_find_file(&s, snap, task, map, file, &fd, path)) {
	case FOUND:
		return fd;
	case FOUND_DEBUG:
		close(fd);
		return -ENOENT;
	case FOUND_OTHER:
		return -ESTALE;
	default:
		return -ENOENT;
	}
}

/* The end of our own vdso, from /proc/self/maps; 0: not found. */
static unsigned long vdso_end(unsigned long start)
{
	unsigned long lo, hi, end = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (f && !end && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo == start)
			end = hi;
	if (f)
		fclose(f);
	return end;
}

int sym_vdso_fd(void)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	unsigned long end = start ? vdso_end(start) : 0;
	FILE *f;
	int fd;

	if (!end)
		return -1;
	f = tmpfile();
	if (!f)
		return -1;
	fwrite((void *)start, 1, end - start, f);
	fd = fflush(f) ? -1 : dup(fileno(f));
	fclose(f);
	return fd;
}
