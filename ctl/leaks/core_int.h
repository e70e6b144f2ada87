/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CORE_INT_H
#define _CORE_INT_H

/*
 *	core.c		a core file: its notes, threads and pages
 *	core_maps.c	its mappings, and which of them are the heap and the stack
 *	core_files.c	the files that were mapped, if they are still the same
 *	core_save.c	writes one
 */
#include "base/ids.h"
#include "leaks/core.h"
#include "leaks/pages.h"

/* Notes of core_save(), whose owner is "memtap"; all but WORDS and IDS are text. */
#define CORE_OWNER	"memtap"
enum core_saved {
	CORE_SAVED_MAPS = 1,		/* as /proc/PID/maps */
	CORE_SAVED_WORDS,		/* __u64 each: what the kernel keeps (reach_kernel.c) */
	CORE_SAVED_IDS,			/* __u32 each, by thread: as the process itself knows it */
	CORE_SAVED_FILES,		/* lines: size, build ID or "-", path */
	CORE_SAVED_INFO,		/* lines: key, number */
};

/* Of x86-64: where things stand in notes. */
#define CORE_PRSTATUS_LEN	336
#define CORE_PRSTATUS_PID	32
#define CORE_PRSTATUS_REGS	112
#define CORE_REGS		27
#define CORE_PRPSINFO_LEN	136
#define CORE_PRPSINFO_PID	24
#define CORE_PRPSINFO_NAME	40
#define CORE_NAME_LEN		16

/* Of these, by DWARF's numbers. */
extern const unsigned char core_regs[MEMTAP_HELD_REGS];
#define CORE_REG_FS	21		/* the address, in the order of notes */

/* From NT_FILE. */
struct core_range {
	__u64 start, end, offset;
	size_t file;
};

struct core {
	struct image image;		/* first: it is found by this */
	struct core_file in;
	struct core_told told;
	struct pages pages;
	struct layout layout;
	struct procmap *maps;		/* by address; paths are those of files, or constants */
	size_t nr_maps, room_maps;
	struct core_mapped *files;
	size_t nr_files, room_files;
	struct ids file_ids;
	struct core_range *ranges;	/* of files */
	size_t nr_ranges;
	__u64 brk;			/* where the heap may begin; 0: not known */
	const char *exe;		/* given, or NULL */
	char *maps_text;		/* of CORE_SAVED_MAPS, changed; or NULL */
	/* notes, in the file's memory */
	struct core_note auxv, file, saved[CORE_SAVED_INFO + 1];
	bool no_memory;
};

static inline __u64 core_word(const unsigned char *at)
{
	__u64 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
}

static inline __u32 core_half(const unsigned char *at)
{
	__u32 v;

	__builtin_memcpy(&v, at, sizeof(v));
	return v;
}

/* ---- core_maps.c ---- */

/* Fills in .maps, .files and .ranges.  -ENOMEM */
int core_read_maps(struct core *c);
/* With the pages: which is the heap, the stack, a guard; what is missing. */
int core_name_maps(struct core *c);
/* The mapping with @addr in it, or NULL. */
struct procmap *core_find_map(const struct core *c, __u64 addr);

/* ---- core_files.c ---- */

/* The number of the file of this path, which may be new; -ENOMEM */
int core_add_file(struct core *c, const char *path, size_t len, size_t *file);
struct core_mapped *core_find_file(const struct core *c, const char *path);
/* What CORE_SAVED_FILES says. */
void core_read_files(struct core *c);
/* The file of a mapping, tried; NULL: there is none. */
struct core_mapped *core_file_of(struct core *c, const char *path);
bool core_file_is_good(const struct core_mapped *f);
/* Is what is mapped from @offset on a program's or library's own data? */
bool core_file_has_data(const struct core_mapped *f, __u64 offset);
/* What may be done with what is mapped from @offset on, as its headers say; false: they do not. */
bool core_file_rights(const struct core_mapped *f, __u64 offset, struct procmap *m);
void core_free_files(struct core *c);

/* As struct image has them. */
int core_image_open(const struct image *i, const struct maps_file *f);
bool core_image_is_program(const struct image *i, const struct maps_file *f);

#endif
