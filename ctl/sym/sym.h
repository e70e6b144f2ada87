/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_H
#define _SYM_H

#include <stdbool.h>
#include "snap/snap.h"

/*
 * Resolve addresses to names.  Files are opened once and kept.  A name is looked up once for each
 * (file, address).
 */
struct jitmaps;
struct sym;

struct sym_opts {
	bool no_inline;		/* do not look for inlined frames */
	bool no_lines;		/* nor for lines: symbols alone, which are cheap */
	/* the module, by its device: it names one of the kernel's functions, as dev_symbol(); or
	 * NULL: they are looked up in the list of all of them
	 */
	int (*kernel_name)(int device, __u64 addr, char text[MEMTAP_SYMBOL_LEN]);
	int device;
	const char *debug_dir;	/* NULL: /usr/lib/debug */
	bool again;		/* also look for what a file has no name or no line of */
	struct jitmaps *jitmaps; /* what compilers left of names, see sym/jitmaps.h; or NULL */
};

/*
 * Where code is in a file that is known by its build ID: for those who name it later, from the
 * file itself.  It was mapped from @map_offset on, @map_len bytes.
 */
struct sym_place {
	const char *path;
	__u64 offset;		/* of the code, in the file */
	__u64 map_offset, map_len;
	__u32 build_id_len;
	__u8 build_id[24];
};

/* One frame of the source; several for one address where calls were inlined. */
struct sym_frame {
	const char *name;	/* demangled; NULL: not known */
	const char *linkage;	/* the name before that, where it is another one; or NULL */
	const char *object;	/* "libc.so.6", "kernel", module, "" */
	const char *file;	/* source, or NULL */
	int line;
	__u64 offset;		/* from the start of the symbol */
	__u64 addr;		/* in the object: what addr2line takes */
	bool inlined;		/* into the next one */
	bool kernel;
	const struct sym_place *place;	/* of one without a name, if it is known; or NULL */
};

struct sym *sym_new(const struct sym_opts *o);
void sym_free(struct sym *s);

/*
 * Names for the address of a frame.  @era and @ip as the stack has it; @call: it is a
 * return address, look up ip - 1.  @frames stay valid until sym_free(); the
 * innermost inlined one is first.  Never fails: what is not known comes back
 * as one frame without a name, but with its object and address.
 */
size_t sym_user(struct sym *s, const struct snap *snap,
		const struct memtap_rec_task *task, __u32 era, __u64 ip, bool call,
		const struct sym_frame **frames);
size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames);

/*
 * The path of a control group (snap_cgroup()) in its hierarchy, or
 * NULL.  From this machine, or from the "cgroup.INODE=PATH" notes of a file.
 */
const char *sym_cgroup(struct sym *s, const struct snap *snap, __u64 inode);

/*
 * Opens the file of this machine that @map of @task maps, if it is that file.  -ENOENT: there is
 * none; -ESTALE: another one has its place.
 */
int sym_open_file(const struct snap *snap, const struct memtap_rec_task *task,
		  const struct snap_map *map, const struct snap_file *file);

/* With sym_opts.again: addresses without a name, and what became of them; each is counted once. */
struct sym_again {
	size_t named;
	size_t no_id;		/* the recording has no build ID of their file */
	size_t no_file;		/* there is no such file here, or another build of it */
	size_t no_symbol;	/* the file has no name for them */
};

const struct sym_again *sym_again(const struct sym *s);

/* How sentences about a file end whose code has no names. */
#define SYM_AS_OFFSETS	": its functions are shown as offsets"

/*
 * Sentences about what could not be named so far and why (a file that was
 * replaced, hidden kernel addresses), ended by NULL; for the foot of a report.
 */
const char *const *sym_notes(struct sym *s);

/*
 * Where the code of a loaded module is.  -ENOENT: there is none of this name; -EACCES: the
 * kernel hides its addresses.
 */
int sym_module_range(const char *name, __u64 *start, __u64 *end);
/* Where it begins; 0: it is not loaded, ~0: that is hidden. */
__u64 sym_module_base(const char *name);

#endif
