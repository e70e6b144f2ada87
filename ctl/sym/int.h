/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_INT_H
#define _SYM_INT_H

/*
 * What the files of this room share.
 *
 *	sym.c		beginning and end
 *	cache.c		cache of frames, interned strings, notes
 *	user.c		user address -> mapping -> object or perf map -> frames
 *	find.c		which file on this machine is the one that was mapped
 *	elf.c		symbols of one ELF file, file offset -> address
 *	dwarf.c		lines and inlined calls of one ELF file
 *	variable.c	variables of one ELF file, by dwarf.c
 *	perfmap.c	/tmp/perf-PID.map
 *	jitmaps.c, jvm.c	the same while they are there; asking for one
 *	kernel.c		/proc/kallsyms or the KSYM records of a file
 *	cgroup.c		/sys/fs/cgroup
 *	demangle.c, rust.c
 */
#include "base/arena.h"
#include "sym/sym.h"

struct sym_cache {
	struct sym_cached *slots;
	size_t mask, used;
};

struct sym_strings {
	const char **slots;
	size_t mask, used;
};

#define SYM_MAX_NOTES	16

struct sym {
	struct sym_opts opts;
	struct arena arena;
	struct sym_cache cache;
	struct sym_strings strings;
	struct sym_object **objects;	/* hash by identity */
	struct sym_perfmap *perfmaps;
	struct sym_cgroups *cgroups;
	struct kallsyms *kallsyms;
	bool kallsyms_tried;
	struct sym_again again;
	const char *notes[SYM_MAX_NOTES + 1];
	unsigned int nr_notes;
};

/* The one copy of a string; lives as long as @s.  "" if there is no memory. */
const char *sym_intern(struct sym *s, const char *text);
void sym_note(struct sym *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Frames by (object, key); @owner is any pointer that stays what it is until
 * sym_free().  sym_cache_put() takes frames from the arena.
 */
size_t sym_cache_get(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame **frames);
size_t sym_cache_put(struct sym *s, const void *owner, __u64 key,
		     const struct sym_frame *in, size_t nr,
		     const struct sym_frame **frames);

/* Is @snap of the kernel that runs here, since its boot? */
bool sym_is_local(const struct snap *snap);

/* Demangled name, or the name itself; from the arena or as given. */
const char *sym_demangle(struct sym *s, const char *name);
/* Rust's v0 scheme, _R...: 0, or -EINVAL if it is none or does not fit. */
int rust_demangle(const char *mangled, char *out, size_t room);

/* ---- ELF ---- */

struct sym_elf;

/* Takes @fd.  @path is where debug links are searched from. */
struct sym_elf *sym_elf_open(int fd, const char *path, const char *debug_dir);
void sym_elf_close(struct sym_elf *e);
/* False: no loadable executable segment holds this file offset. */
bool sym_elf_address(const struct sym_elf *e, __u64 offset, __u64 *addr);
/*
 * The same of a debug file, whose segments do not say where they are in the program: the program
 * was mapped from @map_offset on, @map_len bytes, which must be its one segment of code.
 */
bool sym_elf_debug_address(const struct sym_elf *e, __u64 offset, __u64 map_offset,
			   __u64 map_len, __u64 *addr);
/* Raw symbol name and start, or NULL. */
const char *sym_elf_symbol(struct sym_elf *e, __u64 addr, __u64 *start);
/* The Dwfl_Module, for dwarf.c. */
void *sym_elf_module(struct sym_elf *e, __u64 *bias);
/* Where its DWARF is kept, and what frees that when the file is closed. */
struct sym_dwarf **sym_elf_dwarf(struct sym_elf *e, void (*drop)(struct sym_dwarf *d));

/* One call in the source, innermost first; the last one is not inlined. */
struct sym_dwarf_frame {
	const char *name;	/* mangled if there is such; may be NULL */
	const char *file;
	int line;
};

#define SYM_MAX_INLINE	32

/* 0: nothing known about this address. */
size_t sym_dwarf_frames(struct sym_elf *e, __u64 addr, bool no_inline,
			struct sym_dwarf_frame frames[SYM_MAX_INLINE]);

/* A variable; the names are gone when the file is closed. */
struct sym_dwarf_variable {
	__u64 addr;
	const char *file;	/* NULL: nothing known */
	int line;
};

void sym_dwarf_variables(struct sym_elf *e, struct sym_dwarf_variable *v, size_t nr);

/* ---- files of user space ---- */

/* How a file was found to be what was mapped, or why not.  DEBUG: its debug file alone. */
enum sym_found { FOUND, FOUND_DEBUG, FOUND_NONE, FOUND_OTHER };

/* @fd and @path (for debug links) of the file that @map of @task maps. */
enum sym_found sym_find_file(const struct sym *s, const struct snap *snap,
			     const struct memtap_rec_task *task,
			     const struct snap_map *map,
			     const struct snap_file *file,
			     int *fd, char path[4096]);
/* Does /proc/PID still belong to @task? */
bool sym_task_lives(const struct snap *snap, const struct memtap_rec_task *task);
/* Our own vdso as a file; -1 if there is none. */
int sym_vdso_fd(void);

/* ---- perf maps ---- */

struct perfmap;

/* Parse "START SIZE NAME" lines in hex; takes @text.  NULL: no memory. */
struct perfmap *perfmap_parse(char *text, size_t len);
/*
 * What is at @addr.  Code is replaced, and which line held when is not in there: where
 * several have it, with other names, it is the last one "or" the one before.
 */
bool perfmap_lookup(const struct perfmap *m, __u64 addr, __u64 *start, char *name, size_t len);
void perfmap_free(struct perfmap *m);
/* The name that the task's own map has for @addr; false: none. */
bool sym_perfmap(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		 __u64 addr, __u64 *start, const void **owner, char *name, size_t len);
void sym_perfmaps_free(struct sym *s);

/* ---- the kernel ---- */

struct kallsyms;

/* /proc/kallsyms, read as far as lookups want it, so many bytes at once; takes @f.  NULL: no
 * memory.
 */
struct kallsyms *kallsyms_open(FILE *f, size_t at_once);
/* The same of its whole text; takes @text. */
struct kallsyms *kallsyms_parse(char *text, size_t len);
bool kallsyms_hidden(const struct kallsyms *k);	/* all addresses are 0 */
/* @module: "kernel" or a name. */
const char *kallsyms_lookup(struct kallsyms *k, __u64 addr, __u64 *start, const char **module);
/* The code of a module whose core has @size bytes at @base.  false: it has no function. */
bool kallsyms_module_range(struct kallsyms *k, const char *name, __u64 base, __u64 size,
			   __u64 *start, __u64 *end);
void kallsyms_free(struct kallsyms *k);

void sym_objects_free(struct sym *s);
void sym_cgroups_free(struct sym *s);

#endif
