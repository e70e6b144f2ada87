/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_CORE_H
#define _ELF_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Read a core file of a 64-bit x86 program: the kernel's, gdb's, or one that `memtap heap --save`
 * wrote; also compressed by gzip.  The file may be hostile: nothing in it is believed before it was
 * checked against its length.
 */
struct core_segment {
	__u64 start, end;		/* addresses; of whole pages */
	__u64 offset, bytes;		/* of the first @bytes of it, in the file */
	__u64 there;			/* of these, those before the file ends */
	bool readable, writable, executable;
};

struct core_file {
	struct core_segment *segments;	/* by address; they do not overlap */
	size_t nr;
	bool compressed;
	bool damaged;			/* what could be decompressed ends too early */
	struct core_input *in;
};

#define CORE_WHY	192

/* -EINVAL: it is no such file, @why says what it is; other errnos: it cannot be read. */
int core_file_open(const char *path, struct core_file *f, char why[CORE_WHY]);
void core_file_close(struct core_file *f);

/* Bytes from @offset on: how many there were.  Of a compressed file, forward is faster. */
size_t core_file_read(struct core_file *f, __u64 offset, void *buf, size_t len);
/* The first offset from @offset on, up to @end, where something may be other than zero. */
__u64 core_file_data(struct core_file *f, __u64 offset, __u64 end);
/* The segment with @addr in it, or NULL. */
const struct core_segment *core_file_find(const struct core_file *f, __u64 addr);

struct core_note {
	const char *name;		/* ends with 0 */
	__u32 type;
	const unsigned char *at;	/* valid until the file is closed */
	size_t len;
};

/* Each note, until @fn returns other than 0, and returns that.  @ctx is given to it. */
int core_file_notes(const struct core_file *f,
		    int (*fn)(const struct core_note *n, void *ctx), void *ctx);

#endif
