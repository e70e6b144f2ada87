/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_CORE_H
#define _LEAKS_CORE_H

#include <sys/types.h>
#include <time.h>

#include "elf/core.h"
#include "leaks/image.h"
#include "leaks/reach_int.h"

/*
 * A process as a file has it: a core file of the kernel or of gdb, or one of core_save().  Memory
 * is read into pages, as copy.h does it of a process that runs.  What a core leaves out, since it
 * is in a program or library, is read from there, if that is the same file.
 */
struct core;

enum core_file_state {
	CORE_FILE_NEW,			/* was not needed yet */
	CORE_FILE_SAME,			/* by its build ID, or its first page */
	CORE_FILE_SIZE,			/* as it seems: it is long enough, and no more is known */
	CORE_FILE_GONE,			/* cannot be opened */
	CORE_FILE_OTHER,		/* another one is there now */
};

struct core_mapped {
	char *path;			/* as the process saw it */
	const char *at;			/* where it is looked for */
	enum core_file_state state;
	int err;			/* GONE: why */
	int fd;				/* or -1 */
	__u64 end;			/* behind the last byte that was mapped, in whole pages */
	__u64 size;			/* as it was; 0: not known */
	__u64 base;			/* where its first page was mapped; 0: not */
	unsigned char id[64];		/* build ID */
	size_t id_len;			/* 0: not known */
	bool is_program;
};

struct core_told {
	pid_t pid;
	char comm[32];
	bool saved;			/* by core_save() */
	time_t when;			/* 0: not known */
	__u64 bytes;			/* of memory that was not zero */
	__u64 truncated;		/* that the file should have, and has not */
	__u64 shared;			/* of mappings that it does not have: shared memory */
	__u64 closed;			/* of the heap: gdb leaves out what nobody may touch */
	__u64 excluded;			/* of writable memory of no file that it does not have */
	__u64 unknown;			/* of mappings that it does not have, of which it does not
					 * say whether they could be written to */
	__u64 swapped;			/* that were swapped out, and not saved */
	bool damaged;			/* what is compressed ends too early */
};

/* 0; -EINVAL: @why says what it is; -ENOBUFS: it has more than @most bytes; errnos. */
int core_open(const char *path, const char *exe, __u64 most, struct core **c, char why[CORE_WHY]);
void core_close(struct core *c);

const struct image *core_image(const struct core *c);
const struct core_told *core_told(const struct core *c);
struct pages *core_pages(struct core *c);
/* Once: it is the caller's then. */
struct layout core_layout(struct core *c);
/* Private, writable memory of no file, but stacks: bytes other than zero, and in all. */
void core_anonymous(const struct core *c, __u64 *there, __u64 *all);
/* Files of which something was needed, or may be. */
const struct core_mapped *core_files(const struct core *c, size_t *nr);

/* ---- core_save.c ---- */

struct core_from {
	pid_t pid;
	const struct layout *layout;
	struct pages *pages;
	const struct image *image;	/* of the process, if it still runs */
	__u64 swapped;			/* bytes that were left out */
};

/*
 * Writes a core file, compressed, with what else is known, to @path, which must not exist, for
 * its owner alone.  *@bytes: its size.  A negative errno; nothing is left then.
 */
int core_save(const struct core_from *from, const char *path, __u64 *bytes);

#endif
