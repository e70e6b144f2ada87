/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELFSYM_H
#define _ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Resolve probe addresses in an ELF file: functions by name (.symtab, .dynsym, .gnu_debugdata,
 * separate debug file), USDT probes by provider and name.  Hostile files are expected.
 */
struct elfsym;

/*
 * @fd stays the caller's and must stay open until elfsym_close().  -ENOEXEC: not
 * an ELF file of this byte order; -EBADMSG: damaged.
 */
int elfsym_open(int fd, struct elfsym **e);
void elfsym_close(struct elfsym *e);

struct elfsym_func {
	const char *name;	/* as in the file, without its version */
	const char *version;	/* or NULL */
	__u64 vaddr, offset;	/* offset in the file */
	__u64 size;
	bool ifunc;		/* vaddr is the resolver */
	bool old;		/* not the default of its versions: kept for
				 * programs that were linked long ago */
};

struct elfsym_probe {
	const char *provider, *name, *args;
	__u64 offset;		/* in the file */
	__u64 ref_ctr;		/* offset of its semaphore in the file, or 0 */
};

/*
 * Call @fn for each defined function, each USDT probe, in order of offset,
 * until it returns other than 0, and return that.  Names live until
 * elfsym_close().
 */
int elfsym_for_each_func(struct elfsym *e,
			 int (*fn)(const struct elfsym_func *f, void *ctx),
			 void *ctx);
int elfsym_for_each_probe(struct elfsym *e,
			  int (*fn)(const struct elfsym_probe *p, void *ctx),
			  void *ctx);

/*
 * Functions answering to @name: exactly, in the default version if there are
 * several; as "NAME@VERSION"; as a pattern; or as a C++ name without its
 * parameters ("ns::f").  Distinct places only, malloc'ed.  -ENOENT: none;
 * -ENODATA: the file has no names at all; -ENOTSUP: there are, but only indirect
 * functions (IFUNC); -ERANGE: only such as are not in a loaded segment.
 */
int elfsym_find(struct elfsym *e, const char *name, struct elfsym_func **found,
		size_t *nr);

/* USDT probes; @provider NULL: any.  Both may be patterns. */
int elfsym_find_probe(struct elfsym *e, const char *provider, const char *name,
		      struct elfsym_probe **found, size_t *nr);

/*
 * Many names at once: @fn for each place that has one of them, with the name's
 * index; until it returns other than 0.  Versions make no difference.  Dynamic
 * symbols cost next to nothing; the others (.symtab, else a separate debug file,
 * else .gnu_debugdata) are all read.  @names must outlive the set.
 */
struct elfsym_names;
enum elfsym_where { ELFSYM_DYNAMIC, ELFSYM_STATIC };

struct elfsym_names *elfsym_names_new(const char *const *names, size_t nr);
void elfsym_names_free(struct elfsym_names *n);
int elfsym_find_names(struct elfsym *e, enum elfsym_where where,
		      const struct elfsym_names *names,
		      int (*fn)(const struct elfsym_func *f, size_t index, void *ctx),
		      void *ctx);

/* Does the file call a function of these names that another file has? */
bool elfsym_imports(struct elfsym *e, const struct elfsym_names *names);

struct elfsym_kind {
	enum elfsym_code { ELFSYM_X86_64, ELFSYM_I386, ELFSYM_X32, ELFSYM_OTHER } code;
	bool program;		/* not a library */
	bool alone;		/* one that needs no dynamic linker */
	bool go;		/* some of its code is Go's */
	unsigned int glibc;	/* it is glibc's libc, 2.N; 0: it is not */
	const char *soname;	/* or "" */
};

void elfsym_get_kind(struct elfsym *e, struct elfsym_kind *kind);

/* Is this offset of the file the first instruction of a function? */
bool elfsym_is_entry(struct elfsym *e, __u64 offset);

/*
 * The function or datum that is at this offset of the file, and its address there, which is
 * known where the offset is in a segment.  0, or -ENOENT: it has no name.
 */
int elfsym_find_object(struct elfsym *e, __u64 offset, struct elfsym_func *found, __u64 *vaddr);

/*
 * All that has a name and a size, sorted, to be searched many times.  Names live until
 * elfsym_close().
 */
struct elfsym_objects;
enum elfsym_object_kind { ELFSYM_DATA, ELFSYM_THREAD_LOCAL, ELFSYM_FUNCTION };

struct elfsym_object {
	const char *name;		/* as in the file */
	__u64 vaddr, size;		/* THREAD_LOCAL: from the start of the thread's part on */
	enum elfsym_object_kind kind;
};

int elfsym_objects_load(struct elfsym *e, struct elfsym_objects **o);
void elfsym_objects_free(struct elfsym_objects *o);
const struct elfsym_object *elfsym_objects_find(const struct elfsym_objects *o,
						enum elfsym_object_kind kind, __u64 vaddr);
/* One of this name and kind, or NULL; all are looked at. */
const struct elfsym_object *elfsym_objects_named(const struct elfsym_objects *o,
						 enum elfsym_object_kind kind, const char *name);
/* What each thread has of it; false: nothing. */
bool elfsym_thread_local(struct elfsym *e, __u64 *size, __u64 *align);
/* Is this address of the file's in one of its segments, also behind the part that is a file's? */
bool elfsym_is_mapped(struct elfsym *e, __u64 vaddr);
/* The address that the file says for an offset in it; false: it is in no segment. */
bool elfsym_address(struct elfsym *e, __u64 offset, __u64 *vaddr);

/* Is it in code, in a segment that is mapped executable? */
bool elfsym_is_code(struct elfsym *e, __u64 offset);

/* May a probe be put at an offset of the file? */
enum elfsym_place {
	ELFSYM_BOUNDARY,	/* yes: an instruction begins there */
	ELFSYM_INSIDE,		/* no: it is inside an instruction */
	ELFSYM_NO_FUNCTION,	/* not known: no function that is known covers it */
	ELFSYM_UNDECODED,	/* not known: the code before it cannot be decoded */
};
struct elfsym_boundary {
	const struct elfsym_func *func;	/* that covers it, or NULL; until elfsym_close() */
	__u64 before, after;		/* INSIDE: the nearest boundaries, in the file */
};

/*
 * Decodes from the start of the function that covers @offset (a symbol, else call frame
 * information, which stripped files have), for x86-64, i386 and arm64.
 */
enum elfsym_place elfsym_check_boundary(struct elfsym *e, __u64 offset,
					struct elfsym_boundary *b);

/*
 * The text that a function returns which does nothing else, for free(); @all: also one that is not
 * in the dynamic symbols.  -ENOENT: there is no such function; -EOPNOTSUPP: it does more, or that
 * cannot be told.
 */
int elfsym_constant_text(struct elfsym *e, const char *func, bool all, char **text);

/*
 * Is this code `return ADDRESS;` of x86-64?  @vaddr: where it is; @absolute: addresses in it are
 * those of the running program.
 */
bool elfsym_returns_address(const __u8 *code, size_t len, __u64 vaddr, bool absolute, __u64 *v);

/* Does a nop begin at this offset, as at each USDT probe? */
bool elfsym_is_nop(struct elfsym *e, __u64 offset);

/* Does a mangled C++ name (_Z...) stand for "f" or "a::b::f"? */
bool elfsym_mangled_matches(const char *mangled, const char *name);

#endif
