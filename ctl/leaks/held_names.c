// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name what first words of blocks point to.  A C++ class's table is known by its symbol, or by the
 * type information before it, also where there are no symbols.  In C, a function or a table of
 * functions names what kind of thing begins with it.  All that is read is the process's, and may
 * be anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/held_int.h"
#include "sym/cxx.h"

#define WORD		8ULL
#define PAGE		4096ULL
#define FAR		(1LL << 20)	/* within an object */
#define TABLE		"vtable for "
#define LISTS_LEN	2300		/* of an arena, from its beginning on, and more */
#define TABLE_WORDS	16		/* of which some are functions */

static const struct area *file_at(const struct held_names *n, __u64 addr)
{
	const struct area *a = layout_find(n->l, addr);

	return a && a->is_file && a->readable ? a : NULL;
}

/* malloc leaves addresses of its own lists in blocks. */
static bool is_mallocs(const struct held_names *n, __u64 word)
{
	for (size_t i = 0; i < n->nr_lists; i++)
		if (word - n->lists[i] < LISTS_LEN)
			return true;
	return false;
}

/* Of the arenas, only main ones lie in a file's data. */
void held_names_open(struct held_names *n, struct objects *o, const struct layout *l,
		     struct memory *m, const struct heap *h)
{
	*n = (struct held_names){ .objects = o, .l = l, .memory = m };
	for (size_t i = 0; i < h->nr_arenas && n->nr_lists < HELD_LIBCS; i++)
		if (!h->arenas[i].number)
			n->lists[n->nr_lists++] = h->arenas[i].at;
}

/* Also what begins as zeros, where C has tables that are filled in later. */
bool held_is_file(void *ctx, __u64 word)
{
	const struct held_names *n = ctx;
	const struct area *a = layout_find(n->l, word);

	if (!a || !a->readable || a->is_heap || a->is_stack)
		return false;
	if (!a->is_file && !(a > n->l->areas && a[-1].is_file && a[-1].end == a->start))
		return false;
	return !is_mallocs(n, word);
}

static size_t read_at(const struct held_names *n, __u64 addr, void *buf, size_t len)
{
	const bool gone = n->memory->gone;
	size_t got = memory_read(n->memory, addr, buf, len);

	if (!got && len > PAGE - addr % PAGE)
		got = memory_read(n->memory, addr, buf, PAGE - addr % PAGE);
	/* (it was a guess that there is something) */
	n->memory->gone = gone;
	return got;
}

/* ---- classes ---- */

/* Before the table: how far its part is into the object, and what describes its type. */
static char *class_of(const struct held_names *n, __u64 table)
{
	char name[CXX_TYPE_LEN + 1];
	__s64 head[2], type[2];
	__u64 function;
	size_t len;

	if (table % WORD || read_at(n, table - 2 * WORD, head, sizeof(head)) != sizeof(head) ||
	    head[0] > 0 || head[0] < -FAR || head[1] % WORD || !head[1] ||
	    !file_at(n, (__u64)head[1]) || !file_at(n, table))
		return NULL;
	/* what follows is a function, or the end of the table */
	if (read_at(n, table, &function, sizeof(function)) != sizeof(function) ||
	    (function && !file_at(n, function)) ||
	    read_at(n, (__u64)head[1], type, sizeof(type)) != sizeof(type) ||
	    !file_at(n, (__u64)type[0]) || !file_at(n, (__u64)type[1]))
		return NULL;
	len = read_at(n, (__u64)type[1], name, CXX_TYPE_LEN);
	name[len] = '\0';
	return cxx_class(name);
}

/* ---- symbols ---- */

static char *demangled(const char *name)
{
	char *plain = cxx_demangle(name);

	return plain ? plain : strdup(name);
}

static char *with_offset(const char *name, __u64 offset)
{
	char *plain = demangled(name), *text = NULL;

	if (!plain || !offset)
		return plain;
	if (asprintf(&text, "%s+0x%llx", plain, (unsigned long long)offset) < 0)
		text = NULL;
	free(plain);
	return text;
}

static bool is_code(const struct held_names *n, __u64 addr)
{
	const struct area *a = file_at(n, addr);

	return a && a->executable;
}

/* Are there functions among what begins at @addr? */
static bool is_table(const struct held_names *n, __u64 addr, size_t len)
{
	__u64 words[TABLE_WORDS];
	size_t got;

	if (addr % WORD)
		return false;
	if (len > sizeof(words))
		len = sizeof(words);
	got = read_at(n, addr, words, len);
	for (size_t i = 0; i < got / WORD; i++)
		if (is_code(n, words[i]))
			return true;
	return false;
}

static char *without_name(const struct object *o, __u64 vaddr)
{
	char *text;

	if (asprintf(&text, "%s+0x%llx", object_name(o), (unsigned long long)vaddr) < 0)
		return NULL;
	return text;
}

enum kind_word held_look(void *ctx, __u64 word, char **name)
{
	struct held_names *n = ctx;
	const struct elfsym_object *s;
	struct object *o;
	__u64 vaddr;

	*name = class_of(n, word);
	if (*name)
		return KIND_WORD_CLASS;
	o = objects_find(n->objects, word, &vaddr);
	if (!o)
		return KIND_WORD_OTHER;
	if (is_code(n, word)) {
		s = o->symbols ? elfsym_objects_find(o->symbols, ELFSYM_FUNCTION, vaddr) : NULL;
		/* who has the address of an instruction has no function */
		if (s && s->vaddr != vaddr)
			return KIND_WORD_OTHER;
		*name = s ? demangled(s->name) : without_name(o, vaddr);
		return *name ? KIND_WORD_SYMBOL : KIND_WORD_OTHER;
	}
	s = o->symbols ? elfsym_objects_find(o->symbols, ELFSYM_DATA, vaddr) : NULL;
	/* compiled without type information, a class has its table all the same */
	if (s && !strncmp(s->name, "_ZTV", 4)) {
		*name = cxx_without(TABLE, demangled(s->name));
		return *name ? KIND_WORD_CLASS : KIND_WORD_OTHER;
	}
	if (!is_table(n, word - (s ? vaddr - s->vaddr : 0), s ? s->size : 4 * WORD))
		return KIND_WORD_OTHER;
	*name = s ? with_offset(s->name, vaddr - s->vaddr) : without_name(o, vaddr);
	return *name ? KIND_WORD_SYMBOL : KIND_WORD_OTHER;
}
