/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HELD_INT_H
#define _HELD_INT_H

/*
 *	held.c		from the heap to what is shown of it
 *	held_shared.c	what several roots hold together
 *	held_roots.c	roots, by the variables, threads and mappings where they are
 *	held_tls.c	thread-local variables of libraries
 *	held_frames.c	frames of the threads' stacks
 *	held_names.c	classes and symbols that first words point to
 *	held_python.c	the interpreter of Python, if there is one
 *	held_tree.c	nodes of what is shown
 *	held_words.c	holders, as text
 *	objects.c	mapped files, and their symbols
 */
#include "elf/symbols.h"
#include "heap/graph.h"
#include "heap/kinds.h"
#include "heap/python.h"
#include "leaks/held.h"
#include "leaks/reach_int.h"
#include "unwind/unwind.h"

/* ---- objects.c ---- */

struct image;
struct maps_file;

struct object {
	struct maps_file *file;
	__u64 base;			/* where its offset 0 is mapped */
	__u64 first;			/* which address that has in the file */
	int fd;
	bool tried, is_program;
	struct elfsym *elf;		/* or NULL */
	struct elfsym_objects *symbols;
	__u64 tls_size, tls_align;	/* what each thread has of it; 0: nothing */
};

struct objects {
	const struct image *image;
	const struct layout *l;
	/* what was found last */
	const struct area *area;
	struct object *found;
	struct object *at;
	size_t nr, room;
};

/* -ENOMEM.  Files are opened when one is asked for; of a process that is gone there is none. */
int objects_read(struct objects *o, const struct image *image, const struct layout *l);
void objects_free(struct objects *o);
/* The file whose data or code is at @addr, or NULL; *@vaddr: the address there. */
struct object *objects_find(struct objects *o, __u64 addr, __u64 *vaddr);
/* The first one whose file's name begins so, or NULL. */
struct object *objects_named(struct objects *o, const char *begin);
/* The program itself, or NULL. */
struct object *objects_program(struct objects *o);
const char *object_name(const struct object *o);

/* ---- held_frames.c ---- */

struct frame_at {
	__u64 low, cfa;			/* its part of the stack; cfa 0: not known */
	__u64 ip;
};

struct frames {
	struct frame_at *at;
	size_t nr;
	bool tried, whole;		/* whole: up to where the thread began */
};

struct frame_rules;

/* Frames of @t; stack words are read from @g. */
int frames_read(struct frames *f, struct frame_rules **rules, struct objects *o,
		const struct thread *t, const struct graph *g);
void frame_rules_free(struct frame_rules *r);

/* ---- held_roots.c ---- */

struct root {
	enum holder_what what;
	__u32 object;			/* number in objects, or ~0; FRAMES: of a variable */
	pid_t tid;
	__u64 key;			/* where it is: a variable's, frame's, mapping's; of
					 * Python's: number of the attribute; its code */
	const struct elfsym_object *symbol;
};

/* What each thread has of a library: so many bytes, so far before the thread's own block. */
struct tls_part {
	__u64 offset, size;
	__u64 inside;			/* an address in the library */
};

struct roots {
	struct graph *g;
	struct memory *memory;
	const struct layout *l;
	const struct heap *heap;
	struct objects objects;
	struct root *at;
	size_t room;
	struct ids ids;
	struct frames *frames;		/* by thread */
	__u32 *by_sp, *by_base;		/* threads, sorted by stack pointer and own block */
	struct frame_rules *rules;
	struct python *python;		/* or NULL; number of its object: */
	__u32 interpreter;
	/* the last word of a variable without a name: where, in which object, and its root */
	__u64 last_unnamed;
	__u32 last_object, last_root;
	struct tls_part *tls;		/* of libraries; the program's is known by its size */
	size_t nr_tls, room_tls;
};

/*
 * held_tls.c: fills in .tls, where a glibc's dynamic linker says it, and what it says fits.
 * -ENOMEM
 */
int roots_find_tls(struct roots *r);
/* Which of them is so far before a thread's own block, or NULL. */
const struct tls_part *roots_tls_part(const struct roots *r, __u64 before);

/* Adds all roots and their edges to @g: what is in @ranges, and what is not used of stacks. */
struct held_input;

int roots_add(struct roots *r, struct graph *g, const struct held_input *in,
	      const struct ranges *ranges);
/* Attributes of Python's modules. */
int roots_add_python(struct roots *r);
/* What stands in blocks that look like text, and behind the ends of others, once that is known. */
int roots_add_text(struct roots *r);
void roots_free(struct roots *r);
/* Fills in what is known of root @nr.  -ENOMEM */
int roots_name(struct roots *r, __u32 nr, struct holder *holder);
/*
 * Of many threads, what differs by the thread alone is one: into @first which root stands for each,
 * and how many it stands for: 0: itself.  -ENOMEM
 */
int roots_merge_threads(struct roots *r, __u32 *first, __u32 *count);
/* Of the first of these, which are variables: where they are declared. */
void roots_find_sources(struct roots *r, struct holder *holders, size_t nr);

/* ---- held_names.c ---- */

#define HELD_LIBCS	16		/* of more, some are not known */

struct held_names {
	struct objects *objects;
	const struct layout *l;
	struct memory *memory;
	__u64 lists[HELD_LIBCS];	/* where main arenas are */
	size_t nr_lists;
};

void held_names_open(struct held_names *n, struct objects *o, const struct layout *l,
		     struct memory *m, const struct heap *h);
bool held_is_file(void *ctx, __u64 word);
enum kind_word held_look(void *ctx, __u64 word, char **name);

/* ---- held_python.c ---- */

/*
 * Finds the interpreter, adds its pools to @h, and counts what gc tracks.  *@py: NULL, if there
 * is none.  -ENOMEM
 */
int python_look(struct python **py, struct heap *h, const struct layout *l, struct memory *m);
/* What is in no pool: roots.  -ENOMEM */
int python_cut(const struct python *py, const struct ranges *roots, struct ranges *cut);

/* ---- held.c ---- */

/* What is a root, and what is none of it: as mark() in heap.c finds them. */
struct held_input {
	const struct layout *l;
	struct memory *memory;		/* a copy */
	const struct heap *heap;
	const struct ranges *roots, *unused;
	struct python *python;		/* or NULL */
};

int held_find(const struct held_input *in, const struct held_ask *ask, struct held **out);

struct find {
	const struct held_input *in;
	const struct held_ask *ask;
	struct held *out;
	struct graph g;
	struct roots roots;
	struct held_names names;
	struct kinds kinds;
	__u32 *order;			/* by number of a kind: that of its row */
	/* holders */
	__u32 *at;			/* by number: who holds it in the end; then its node */
	__u32 *wanted;			/* as ask->blocks: their chunks, or GRAPH_NONE */
	struct ids node_ids;
	size_t room_nodes, room_holders, room_names;
	struct ids name_ids;
};

/* ---- held_tree.c ---- */

/* The node that is equal to this one, or a new one.  -ENOMEM */
__s64 held_get_node(struct find *f, const struct held_node *key);
/*
 * The node of a block of this kind below @parent's.  A list is no deeper than one: what has its
 * own kind above it counts there.  A part is below what it is of: of another it is another kind.
 * Where there is no room for one, @parent.  -ENOMEM
 */
__s64 held_node_below(struct find *f, __u32 parent, __u32 kind, __u32 attribute, bool is_part);
/* The node of a new holder, which is @f's then; -ENOMEM */
__s64 held_add_holder(struct find *f, const struct holder *h);
void holder_free(struct holder *h);

/* ---- held_shared.c ---- */

struct held_shared {
	struct graph_shared *rows;
	__u32 nr, *node;		/* of each */
	__u32 *of;			/* by number: which one, or GRAPH_NONE */
	__u32 rest[NR_GRAPH_TIERS];	/* nodes of all others */
};

/* Adds the rows.  -ENOMEM; held_shared_free() frees what there is. */
int held_shared_add(struct find *f, struct held_shared *s);
void held_shared_free(struct held_shared *s);
/* Whose row a block has that has no dominator. */
__u32 held_shared_node(const struct held_shared *s, const struct graph *g, __u32 number);

#endif
