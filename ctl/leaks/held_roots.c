// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the roots of a process's heap, and what each is: a variable by its name, a frame of a
 * stack by its function.  All memory that may hold an address is a root, unless it is malloc's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "leaks/held_int.h"
#include "sym/cxx.h"
#include "sym/variable.h"
#include "target/maps.h"

#define NO_OBJECT	(~(__u32)0)
#define RED_ZONE	128		/* below the stack pointer, and in use */
#define BLOCK_LEN	4096		/* of a thread's own block, from its address on */
#define MOST_STATIC	(64UL << 10)	/* what a thread has before its own block: at most, */
#define PAGE_LEN	4096ULL
#define LEAST_STATIC	2048		/* and at least */

/* ---- roots ---- */

static bool same_root(const void *things, __u32 id, const void *key)
{
	const struct root *a = (const struct root *)things + id, *b = key;

	return a->what == b->what && a->object == b->object && a->tid == b->tid &&
	       a->key == b->key;
}

/*
 * What an interpreter keeps of all objects alike, such as gc's lists and types, is no reason why
 * one of them is there, if a variable of the program leads to it.
 */
static enum graph_tier tier_of(const struct roots *r, const struct root *key)
{
	switch (key->what) {
	case HOLDER_PYTHON:
		return GRAPH_NAMED;
	case HOLDER_GLOBAL:
		return r->python && key->object == r->interpreter ? GRAPH_INTERPRETER :
		       GRAPH_LASTING;
	case HOLDER_INTERPRETER:
		return GRAPH_INTERPRETER;
	case HOLDER_FRAMES:
		return key->object == NO_OBJECT ? GRAPH_RUNNING : GRAPH_VARIABLE;
	case HOLDER_STACK:
	case HOLDER_REGISTERS:
		return GRAPH_RUNNING;
	case HOLDER_TEXT:
		return GRAPH_DOUBTFUL;
	case HOLDER_STALE:
		return GRAPH_STALE;
	default:
		return GRAPH_LASTING;
	}
}

/* GRAPH_NONE: no memory. */
static __u32 get_root(struct roots *r, const struct root *key)
{
	const __u64 hash = ids_mix(ids_mix(ids_mix(key->what, key->object), (__u64)key->tid),
				   key->key);
	__u32 id = ids_find(&r->ids, hash, same_root, r->at, key);
	struct root *more;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(r->at, r->ids.nr, &r->room, sizeof(*more));
	if (!more)
		return GRAPH_NONE;
	r->at = more;
	id = ids_add(&r->ids, hash);
	if (id == IDS_NONE || graph_add_root(r->g, tier_of(r, key)) != id)
		return GRAPH_NONE;
	r->at[id] = *key;
	return id;
}

/* ---- where an address stands ---- */

static __u32 of_words(struct roots *r, __u64 at)
{
	const size_t nr = (at - WORDS_AT) / sizeof(__u64);
	struct root key = { .what = HOLDER_KERNEL, .object = NO_OBJECT };

	size_t low = 0, high = r->l->nr_threads;

	/* the last thread whose words begin here or before */
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (r->l->threads[middle].first_word <= nr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && nr - r->l->threads[low - 1].first_word < r->l->threads[low - 1].nr_regs) {
		key.what = HOLDER_REGISTERS;
		key.tid = r->l->threads[low - 1].tid;
	}
	return get_root(r, &key);
}

/* Of an object, or of what each thread has of it. */
static __u32 of_variable(struct roots *r, const struct object *o, __u64 at, __u64 vaddr)
{
	struct root key = { .what = HOLDER_GLOBAL, .object = (__u32)(o - r->objects.at) };
	__u32 root;

	key.symbol = o->symbols ? elfsym_objects_find(o->symbols, ELFSYM_DATA, vaddr) : NULL;
	key.key = key.symbol ? key.symbol->vaddr : vaddr;
	if (key.symbol)
		return get_root(r, &key);
	/* what lies side by side may be parts of one */
	if (r->last_object == key.object && at - r->last_unnamed == sizeof(__u64)) {
		r->last_unnamed = at;
		return r->last_root;
	}
	root = get_root(r, &key);
	r->last_unnamed = at;
	r->last_object = key.object;
	r->last_root = root;
	return root;
}

/* The program's variables of a thread lie just before its own block, those of libraries before. */
static __u32 of_thread_local(struct roots *r, const struct thread *t, __u64 at)
{
	struct root key = { .what = HOLDER_THREAD_LOCAL, .object = NO_OBJECT, .tid = t->tid };
	const __u64 before = at < t->base ? t->base - at : 0;
	const struct tls_part *part = before ? roots_tls_part(r, before) : NULL;
	const struct object *o = objects_program(&r->objects);
	__u64 size = o && o->tls_size ? o->tls_size : 0, vaddr;

	if (size && o->tls_align && !(o->tls_align & (o->tls_align - 1)))
		size = (size + o->tls_align - 1) & ~(o->tls_align - 1);
	if (part) {
		o = objects_find(&r->objects, part->inside, &vaddr);
		size = part->offset;
	}
	if (size && o && before && before <= size && o->symbols) {
		key.symbol = elfsym_objects_find(o->symbols, ELFSYM_THREAD_LOCAL, size - before);
		key.object = (__u32)(o - r->objects.at);
		key.key = key.symbol ? key.symbol->vaddr : 0;
	}
	return get_root(r, &key);
}

static __u64 place_of(const struct thread *t, bool base)
{
	return base ? t->base : t->sp ? t->sp - RED_ZONE : 0;
}

/* Of threads in that order, the last one whose place is @at or before; NULL: none. */
static const struct thread *last_before(const struct roots *r, const __u32 *order, bool base,
					__u64 at)
{
	size_t low = 0, high = r->l->nr_threads;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (place_of(&r->l->threads[order[middle]], base) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &r->l->threads[order[low - 1]] : NULL;
}

/* The thread on whose stack @at is: whose stack pointer is the next one below. */
static const struct thread *thread_of(const struct roots *r, const struct area *a, __u64 at)
{
	const struct thread *t = last_before(r, r->by_sp, false, at);

	return t && t->sp >= a->start && t->sp < a->end ? t : NULL;
}

static int of_stack(struct roots *r, const struct thread *t, __u64 at, __u32 *root)
{
	struct root key = { .what = HOLDER_STACK, .object = NO_OBJECT, .tid = t->tid };
	struct frames *f = &r->frames[t - r->l->threads];
	const struct frame_at *last;
	bool whole;
	int err = frames_read(f, &r->rules, &r->objects, t, r->g);

	if (err)
		return err;
	last = f->nr ? &f->at[f->nr - 1] : NULL;
	whole = last && f->whole;
	/* its own variables follow the last frame; where that is not known: near its block */
	if (t->base > t->sp && at >= t->base - (whole ? t->base - last->low : LEAST_STATIC) &&
	    at < t->base + BLOCK_LEN && (!whole || at >= last->low + sizeof(__u64))) {
		*root = of_thread_local(r, t, at);
		return 0;
	}
	for (size_t i = 0; i < f->nr; i++)
		if (at >= f->at[i].low && (at < f->at[i].cfa || (!f->at[i].cfa && whole)))
			key.key = f->at[i].ip;
	*root = get_root(r, &key);
	return 0;
}

/* Is it where a thread's own block is, that has no stack in the same mapping? */
static const struct thread *owner(const struct roots *r, const struct area *a, __u64 at)
{
	/* (what it has lies before its block, too) */
	const struct thread *t = last_before(r, r->by_base, true, at + MOST_STATIC);

	if (!t || t->base < a->start || t->base >= a->end || at >= t->base + BLOCK_LEN)
		return NULL;
	return t;
}

static bool in_arena(const struct roots *r, __u64 at)
{
	const struct heap *h = r->heap;
	size_t low = 0, high = h->nr_pieces;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (h->pieces[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < h->pieces[low - 1].end;
}

#define CHUNK_LEN	16384ULL	/* of frames of Python's functions, or twice as much, ... */
#define MOST_CHUNK	(CHUNK_LEN << 8)

/* Such a chunk begins with the address of the one before, its size, and how much was in use. */
static bool is_frames(const struct roots *r, const struct area *a, __u64 at)
{
	__u64 chunk = at & ~(PAGE_LEN - 1), head[3];

	if (!r->python || !r->python->layout || r->python->place.version < 0x030b || a->is_heap)
		return false;
	for (; chunk >= a->start && at - chunk < CHUNK_LEN; chunk -= PAGE_LEN) {
		if (!graph_read(r->g, chunk, head, sizeof(head)))
			continue;
		if (head[1] % CHUNK_LEN == 0 && head[1] && head[1] <= MOST_CHUNK &&
		    head[0] % PAGE_LEN == 0 && head[2] <= head[1] / sizeof(__u64) &&
		    at - chunk < head[1])
			return true;
	}
	return false;
}

/* A variable of a function has a root of its own, whichever thread is in it. */
static __u32 of_python_frame(struct roots *r, const struct python_frame *frame, __u64 at)
{
	struct root key = { .what = HOLDER_FRAMES, .object = NO_OBJECT, .key = frame->code };
	char text[PYTHON_NAME];
	__u32 i;

	if (frame->code && at >= frame->values) {
		i = (__u32)((at - frame->values) / sizeof(__u64));
		if (python_variable(r->python, frame->code, i, text, sizeof(text)))
			key.object = i;
	}
	return get_root(r, &key);
}

static __u32 of_mapping(struct roots *r, const struct area *a, __u64 at)
{
	struct root key = { .what = HOLDER_MAPPING, .object = NO_OBJECT, .key = a->start };
	const struct thread *t = owner(r, a, at);

	if (t && !a->is_heap)
		return of_thread_local(r, t, at);
	if (r->python && !a->is_file && !a->is_heap) {
		const struct python_frame *frame;
		const enum python_stack s = python_stack_at(r->python, at, &frame);

		if (s == PYTHON_LIVE)
			return of_python_frame(r, frame, at);
		if (s == PYTHON_LEFT)
			return get_root(r, &(struct root){ .what = HOLDER_STALE,
							   .object = NO_OBJECT });
	}
	if (!a->is_file && is_frames(r, a, at))
		return get_root(r, &(struct root){ .what = HOLDER_FRAMES,
						   .object = NO_OBJECT });
	if (in_arena(r, at))
		key.what = HOLDER_ARENA;
	else if (a->is_heap)
		key.what = HOLDER_SBRK;
	return get_root(r, &key);
}

static int find_root(struct roots *r, __u64 at, __u32 *root)
{
	const struct area *a = layout_find(r->l, at);
	const struct object *o;
	__u64 vaddr;
	const struct thread *t;

	*root = GRAPH_NONE;
	if (at >= WORDS_AT)
		*root = of_words(r, at);
	if (at >= WORDS_AT || !a)
		return *root == GRAPH_NONE && at >= WORDS_AT ? -ENOMEM : 0;
	t = thread_of(r, a, at);
	if (t && !a->is_file && !a->is_heap)
		return of_stack(r, t, at, root);
	o = a->is_heap ? NULL : objects_find(&r->objects, at, &vaddr);
	*root = o && !in_arena(r, at) ? of_variable(r, o, at, vaddr) : of_mapping(r, a, at);
	return *root == GRAPH_NONE ? -ENOMEM : 0;
}

/* ---- all of them ---- */

static int add_word(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct roots *r = ctx;
	__u32 root;
	int err = find_root(r, at, &root);

	(void)word;
	if (err || root == GRAPH_NONE)
		return err;
	return graph_add_edge(r->g, root, at, block);
}

static int add_stale(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct roots *r = ctx;
	const __u32 root = get_root(r, &(struct root){ .what = HOLDER_STALE,
						       .object = NO_OBJECT });

	(void)word;
	return root == GRAPH_NONE ? -ENOMEM : graph_add_edge(r->g, root, at, block);
}

static int add_text(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct roots *r = ctx;
	const __u32 root = get_root(r, &(struct root){ .what = HOLDER_TEXT,
						       .object = NO_OBJECT });

	(void)word;
	return root == GRAPH_NONE ? -ENOMEM : graph_add_edge(r->g, root, at, block);
}

int roots_add_text(struct roots *r)
{
	const struct graph *g = r->g;
	int err = 0;

	for (__u32 i = 0; !err && i < g->nr_chunks; i++)
		if (graph_is_opaque(g, i))
			err = graph_scan(g, graph_used_end(g, i), graph_block_end(g, i), false,
					 add_text, r);
	return err;
}

/* Attributes with the same value are one root. */
static int add_attr(struct roots *r, const struct python_attr *a)
{
	const struct root wanted = { .what = HOLDER_PYTHON, .object = NO_OBJECT,
				     .key = a->first };
	__u32 root;
	int err = 0;

	if (a->value == GRAPH_NONE && a->key == GRAPH_NONE)
		return 0;
	root = get_root(r, &wanted);
	if (root == GRAPH_NONE)
		return -ENOMEM;
	if (a->value != GRAPH_NONE)
		err = graph_add_edge(r->g, root, a->at, a->value);
	if (!err && a->key != GRAPH_NONE)
		err = graph_add_edge(r->g, root, a->key_at, a->key);
	return err;
}

static int add_state(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct roots *r = ctx;
	const __u32 root = get_root(r, &(struct root){ .what = HOLDER_INTERPRETER,
						       .object = NO_OBJECT });

	(void)word;
	return root == GRAPH_NONE ? -ENOMEM : graph_add_edge(r->g, root, at, block);
}

static int add_frame(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct roots *r = ctx;
	const struct python_frame none = { .code = 0 }, *frame;
	__u32 root;

	(void)word;
	if (python_stack_at(r->python, at, &frame) != PYTHON_LIVE)
		frame = &none;
	root = of_python_frame(r, frame, at);
	return root == GRAPH_NONE ? -ENOMEM : graph_add_edge(r->g, root, at, block);
}

int roots_add_python(struct roots *r)
{
	const struct python *py = r->python;
	int err = 0;

	for (__u32 i = 0; !err && i < py->nr_attrs; i++)
		err = add_attr(r, &py->attrs[i]);
	for (size_t i = 0; !err && i < py->nr_roots; i++) {
		const struct python_root *root = &py->roots[i];

		err = graph_scan(r->g, root->start, root->end, false,
				 root->frames ? add_frame : add_state, r);
	}
	return err;
}

struct order {
	const struct layout *l;
	bool base;
};

static int by_place(const void *x, const void *y, void *ctx)
{
	const struct order *o = ctx;
	const __u64 a = place_of(&o->l->threads[*(const __u32 *)x], o->base);
	const __u64 b = place_of(&o->l->threads[*(const __u32 *)y], o->base);

	return (a > b) - (a < b);
}

/* NULL: no memory. */
static __u32 *sort_threads(const struct layout *l, bool base)
{
	__u32 *order = calloc(l->nr_threads + 1, sizeof(*order));
	struct order o = { l, base };

	for (__u32 i = 0; order && i < l->nr_threads; i++)
		order[i] = i;
	if (order && l->nr_threads)
		qsort_r(order, l->nr_threads, sizeof(*order), by_place, &o);
	return order;
}

static __u32 find_interpreter(struct roots *r)
{
	__u64 vaddr;
	const struct object *o = objects_find(&r->objects, r->python->place.type, &vaddr);

	return o ? (__u32)(o - r->objects.at) : NO_OBJECT;
}

/* Its table of pools looks like lists of malloc; types beside it lead behind heads of blocks. */
static bool is_pythons(const struct roots *r, __u64 addr)
{
	for (size_t i = 0; r->python && i < r->python->place.nr_data; i++)
		if (addr >= r->python->place.data[i].start && addr < r->python->place.data[i].end)
			return true;
	return false;
}

int roots_add(struct roots *r, struct graph *g, const struct held_input *in,
	      const struct ranges *ranges)
{
	const struct layout *l = in->l;
	const struct ranges *unused = in->unused;
	int err;

	*r = (struct roots){ .g = g, .l = l, .heap = in->heap, .memory = in->memory };
	err = objects_read(&r->objects, in->memory->image, l);
	if (!err)
		err = roots_find_tls(r);
	if (!err && in->python && in->python->layout) {
		r->python = in->python;
		r->interpreter = find_interpreter(r);
	}
	r->frames = calloc(l->nr_threads + 1, sizeof(*r->frames));
	r->by_sp = sort_threads(l, false);
	r->by_base = sort_threads(l, true);
	if (!err && (!r->frames || !r->by_sp || !r->by_base))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < ranges->nr; i++)
		err = graph_scan(g, ranges->at[i].start, ranges->at[i].end,
				 ranges->at[i].starts_only &&
				 !is_pythons(r, ranges->at[i].start), add_word, r);
	for (size_t i = 0; !err && i < unused->nr; i++)
		err = graph_scan(g, unused->at[i].start, unused->at[i].end, false, add_stale, r);
	return err;
}

void roots_free(struct roots *r)
{
	for (size_t i = 0; r->frames && i < r->l->nr_threads; i++)
		free(r->frames[i].at);
	free(r->frames);
	free(r->by_sp);
	free(r->by_base);
	free(r->tls);
	frame_rules_free(r->rules);
	objects_free(&r->objects);
	free(r->at);
	ids_free(&r->ids);
	memset(r, 0, sizeof(*r));
}

/* ---- names ---- */

static char *plain(const char *name)
{
	char *text = cxx_demangle(name);

	return text ? text : strdup(name);
}

static int name_frame(struct roots *r, const struct root *root, struct holder *h)
{
	const struct elfsym_object *s;
	const struct object *o;
	__u64 vaddr;

	o = root->key ? objects_find(&r->objects, root->key, &vaddr) : NULL;
	if (!o)
		return 0;
	h->object = strdup(object_name(o));
	s = o->symbols ? elfsym_objects_find(o->symbols, ELFSYM_FUNCTION, vaddr) : NULL;
	h->name = s ? plain(s->name) : NULL;
	if (!s && asprintf(&h->name, "0x%llx", (unsigned long long)vaddr) < 0)
		h->name = NULL;
	return h->object && h->name ? 0 : -ENOMEM;
}

static int name_attribute(const struct roots *r, const struct root *root, struct holder *h)
{
	const struct python_attr *a = &r->python->attrs[root->key];

	h->name = strdup(a->name);
	h->object = strdup(r->python->modules[a->module].name);
	h->addr = a->at;
	h->count = a->same;
	return h->name && h->object ? 0 : -ENOMEM;
}

/* A function, and one of its variables, or what it calculates with. */
static int name_python_frame(const struct roots *r, const struct root *root, struct holder *h)
{
	char name[PYTHON_NAME * 2], source[PYTHON_NAME * 2];

	if (!root->key ||
	    !python_function(r->python, root->key, name, source, sizeof(name)))
		return 0;
	h->object = strdup(name);
	h->source = *source ? strdup(source) : NULL;
	if (!h->object || (*source && !h->source))
		return -ENOMEM;
	if (root->object == NO_OBJECT ||
	    !python_variable(r->python, root->key, root->object, name, sizeof(name)))
		return 0;
	h->name = strdup(name);
	return h->name ? 0 : -ENOMEM;
}

static int name_mapping(struct roots *r, const struct root *root, struct holder *h)
{
	const struct area *a = layout_find(r->l, root->key);
	char bytes[TEXT_LEN];

	h->addr = root->key;
	if (!a)
		return 0;
	text_bytes(bytes, (__s64)(a->end - a->start), false);
	if (asprintf(&h->name, "%s of %s", a->is_file ? "file" : a->shared ? "shared memory" :
		     "anonymous memory", bytes) < 0)
		h->name = NULL;
	return h->name ? 0 : -ENOMEM;
}

int roots_name(struct roots *r, __u32 nr, struct holder *h)
{
	const struct root *root = &r->at[nr];
	const struct object *o;

	*h = (struct holder){ .what = root->what, .tid = root->tid };
	if (root->what == HOLDER_FRAMES)
		return name_python_frame(r, root, h);
	if (root->what == HOLDER_STACK)
		return name_frame(r, root, h);
	if (root->what == HOLDER_PYTHON)
		return name_attribute(r, root, h);
	if (root->what == HOLDER_MAPPING || root->what == HOLDER_SBRK ||
	    root->what == HOLDER_ARENA)
		return name_mapping(r, root, h);
	if (root->object == NO_OBJECT)
		return 0;
	o = &r->objects.at[root->object];
	h->object = strdup(object_name(o));
	if (root->what == HOLDER_GLOBAL)
		h->addr = root->key - o->first + o->base;
	if (root->symbol)
		h->name = plain(root->symbol->name);
	else if (root->what == HOLDER_GLOBAL &&
		 asprintf(&h->name, "+0x%llx", (unsigned long long)root->key) < 0)
		h->name = NULL;
	return h->object && (h->name || root->what != HOLDER_GLOBAL) ? 0 : -ENOMEM;
}

/* ---- many threads ---- */

#define MANY_THREADS	16		/* of which each has a row of its own */

static bool same_but_thread(const void *things, __u32 id, const void *key)
{
	const struct root *a = (const struct root *)things + id, *b = key;

	return a->what == b->what && a->object == b->object && a->key == b->key &&
	       !a->tid == !b->tid;
}

int roots_merge_threads(struct roots *r, __u32 *first, __u32 *count)
{
	const __u32 nr = (__u32)r->ids.nr;
	struct root *kinds = calloc(nr + 1UL, sizeof(*kinds));
	__u32 *of = calloc(nr + 1UL, sizeof(*of)), id;
	struct ids ids = { NULL, NULL, 0, 0, 0 };
	int err = kinds && of ? 0 : -ENOMEM;

	for (__u32 i = 0; !err && i < nr; i++) {
		const struct root *at = &r->at[i];
		const __u64 hash = ids_mix(ids_mix(ids_mix(at->what, at->object), !at->tid),
					   at->key);

		id = ids_find(&ids, hash, same_but_thread, kinds, at);
		if (id == IDS_NONE) {
			id = ids_add(&ids, hash);
			if (id == IDS_NONE) {
				err = -ENOMEM;
				break;
			}
			kinds[id] = *at;
			count[i] = 0;
			of[id] = i;
		}
		first[i] = of[id];
		count[of[id]]++;
	}
	for (__u32 i = 0; !err && i < nr; i++)
		if (!r->at[i].tid || count[first[i]] <= MANY_THREADS)
			first[i] = i;
	for (__u32 i = 0; !err && i < nr; i++)
		if (!r->at[i].tid || count[i] <= MANY_THREADS)
			count[i] = 0;
	free(kinds);
	free(of);
	ids_free(&ids);
	return err;
}

/* ---- where variables are declared ---- */

#define MOST_SOURCES	64		/* of holders, the largest ones */

/* All of one file at once: to read its DWARF takes a while. */
static void find_sources(struct holder **of, size_t nr, const struct object *o)
{
	struct sym_variable v[MOST_SOURCES] = { { 0, NULL } };
	size_t at[MOST_SOURCES], found = 0;

	if (!o->elf)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (!of[i]->name || of[i]->addr - o->base + o->first < o->first ||
		    !of[i]->object || strcmp(of[i]->object, object_name(o)))
			continue;
		at[found] = i;
		v[found++].addr = of[i]->addr - o->base + o->first;
	}
	if (found)
		sym_variables(o->fd, o->file->path, v, found);
	for (size_t i = 0; i < found; i++)
		of[at[i]]->source = v[i].source;
}

void roots_find_sources(struct roots *r, struct holder *holders, size_t nr)
{
	struct holder *of[MOST_SOURCES];
	size_t found = 0;

	for (size_t i = 0; i < nr && found < MOST_SOURCES; i++)
		if (holders[i].what == HOLDER_GLOBAL && holders[i].name &&
		    holders[i].name[0] != '+')
			of[found++] = &holders[i];
	for (size_t i = 0; i < r->objects.nr; i++)
		find_sources(of, found, &r->objects.at[i]);
}
