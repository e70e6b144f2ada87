// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which blocks are objects.  An object begins with a count of its references and the address of its
 * type; before it may be gc's head, and two words more.  The type says how many bytes: so a block
 * has three places where its type may stand, and each type fits one of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/python_int.h"

#define MOST_PADDING	(2 * ALIGN)	/* behind an object, in its block */
#define SMALL		16U		/* items of a tuple */
#define MOST_SLOTS	64U		/* of a type, whose end is known */
#define FIRST_LEN	96		/* bytes of a block: so far may a type stand */

/* Debug hooks put a size, a letter and the same byte before a block; as many bytes follow it. */
static bool is_debug_head(const __u64 *words)
{
	const __u64 pad = words[1] >> 8;
	const char id = (char)words[1];

	return (pad == 0xfdfdfdfdfdfdfdULL || pad == 0xfbfbfbfbfbfbfbULL) &&
	       (id == 'o' || id == 'm' || id == 'r');
}

/* A large block has two of them: of malloc's, and of its own. */
static __u32 debug_heads(const __u64 *words)
{
	return !is_debug_head(words) ? 0 : is_debug_head(words + 2) ? 4 * WORD : 2 * WORD;
}

/* A compact str is less than its type says. */
static __u64 least(const struct python *py, const struct python_type *t)
{
	return t->rule == RULE_TEXT && t->exact && py->layout->ascii ? py->layout->ascii :
	       t->basic;
}

/* Python keeps memory of these for the next one; others have been freed. */
static bool is_kept(const struct python_type *t)
{
	return t->exact && (t->rule == RULE_TUPLE || t->rule == RULE_LIST ||
			    t->rule == RULE_DICT || t->rule == RULE_FRAME);
}

struct found {
	__u32 type, lead;		/* lead: with what debug hooks put before it */
	bool freed;
};

static bool may_lead(__u64 word)
{
	return word < 4 || word >= PAGE;
}

/* What gc tracks is in a list: what comes next has its address.  Its lower bits are gc's. */
static bool is_linked(const struct python *py, __u64 next, __u64 head)
{
	__u64 before;

	next &= ~3ULL;
	if (!next || !py->gc.found)
		return true;
	return graph_read(py->g, next + WORD, &before, sizeof(before)) && (before & ~3ULL) == head;
}

/* Since 3.8 links of an object that gc does not track are nothing; before, they are not written. */
static bool check_gc(const struct python *py, __u64 head_at, const __u64 *head)
{
	const bool has_state = py->gc.head > 2 * WORD && py->layout->untracked;

	if (has_state && (head[2] & ~1ULL) == py->layout->untracked)
		return true;
	return may_lead(head[0]) && (has_state || may_lead(head[1])) &&
	       is_linked(py, head[0], head_at);
}

/* What precedes an object: addresses, or nothing. */
static bool check_head(const struct python *py, __u64 addr, const struct python_type *t,
		       const __u64 *words, __u32 skip, __u32 lead)
{
	const __u64 *head = words + (lead - py->gc.head) / WORD;

	if (t->flags & FLAG_GC && !check_gc(py, addr + lead - py->gc.head, head))
		return false;
	return !(t->flags & py->layout->managed) ||
	       (may_lead(words[skip / WORD]) && may_lead(words[skip / WORD + 1]));
}

static bool find_object(struct python *py, __u64 addr, const __u64 *words, __u64 size,
			__u32 skip, struct found *f)
{
	const __u32 leads[] = { 0, py->gc.head, py->gc.head + 2 * (__u32)WORD };

	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		const __u32 lead = skip + leads[i];
		const struct python_type *t;
		__u64 refs;
		__u32 id;

		if (lead + 2 * WORD > size || lead + 2 * WORD > FIRST_LEN)
			break;
		id = python_find_type(py, words[(lead + PY_TYPE) / WORD]);
		if (id == IDS_NONE)
			continue;
		t = &py->types[id];
		if (skip + t->lead != lead || lead + least(py, t) > size)
			continue;
		if (lead > skip && !check_head(py, addr, t, words, skip, lead))
			continue;
		refs = words[lead / WORD];
		/* (an address is no count: that would be a table with types in it) */
		if (!refs && !is_kept(t))
			continue;
		if (refs && (!python_refs(py, refs) || graph_at(py->g, refs) != GRAPH_NONE))
			continue;
		*f = (struct found){ id, lead, !refs };
		return true;
	}
	return false;
}

/* ---- which words of it are pointers ---- */

static __u64 bit(__u64 offset)
{
	return offset / WORD < 64 ? 1ULL << offset / WORD : 0;
}

/* What is behind the end of its references is its own, and is none. */
static bool ends_early(const struct python_type *t)
{
	return (t->rule == RULE_BARE && t->exact) || t->rule == RULE_TEXT ||
	       t->rule == RULE_FRAME || t->rule == RULE_TYPE || t->rule == RULE_CODE;
}

/* Of a small tuple and of what has always the same size, what follows was there before. */
static __u64 end_of(const struct python *py, const struct python_type *t, const __u64 *words,
		    __u32 lead)
{
	const __u64 head = lead + 2 * WORD;
	__u64 state;

	/* (what is made of it may have a dict behind) */
	if (t->rule == RULE_BARE && t->exact)
		return head;
	if (t->rule == RULE_FRAME)
		return lead + t->basic - WORD;
	/* (its instructions follow, and what they know of objects without holding them) */
	if (t->rule == RULE_CODE)
		return lead + t->basic;
	/* (behind a type are its slots) */
	if (t->rule == RULE_TYPE && lead + PY_SIZE < FIRST_LEN &&
	    words[(lead + PY_SIZE) / WORD] <= MOST_SLOTS)
		return lead + t->basic + t->item * words[(lead + PY_SIZE) / WORD];
	if (t->rule == RULE_TUPLE && t->exact && lead + PY_SIZE < FIRST_LEN &&
	    words[(lead + PY_SIZE) / WORD] <= SMALL)
		return lead + py->layout->items + WORD * words[(lead + PY_SIZE) / WORD];
	if (t->rule != RULE_TEXT || !t->exact || lead + 40 > FIRST_LEN)
		return t->item || t->flags & FLAG_INLINE ? 0 : lead + t->basic;
	state = words[(lead + 32) / WORD];
	if (!(state & TEXT_COMPACT))
		return 0;
	return lead + py->layout->ascii +
	       (state & TEXT_ASCII ? 0 : py->layout->ascii == 48 ? 24 : 16);
}

/*
 * Links of gc are no references: they would lead from each object to all others.  A weak reference
 * does not keep what it is of.  What a freed object has is left behind; one of its first words
 * links it to the next one, which is the interpreter's.
 */
static int shape_block(struct python *py, __u32 block, const struct found *f, const __u64 *words)
{
	const struct python_type *t = &py->types[f->type];
	const __u64 addr = graph_addr(py->g, block), size = heap_usable(&py->g->chunks[block]);
	struct graph_shape s = { .end = end_of(py, t, words, f->lead) };

	/* (there is more than its type says) */
	if (!ends_early(t) && s.end < size && size - s.end >= MOST_PADDING)
		s.end = 0;

	if (t->flags & FLAG_GC)
		for (__u64 at = f->lead - py->gc.head; at < f->lead; at += WORD)
			s.skip |= bit(at);
	/* (a byte, and some that were never written) */
	if (t->rule == RULE_RESUMED)
		s.skip |= bit(f->lead + 24);
	/* a str's length, hash and state, half of which was never written */
	if (t->rule == RULE_TEXT)
		s.skip |= bit(f->lead + 16) | bit(f->lead + 24) | bit(f->lead + 32);
	if (t->rule == RULE_WEAK)
		s.skip |= bit(f->lead + 16) | bit(f->lead + 40) | bit(f->lead + 48);
	if (!f->freed)
		return s.skip || s.end ? graph_set_shape(py->g, block, &s) : 0;
	s = (struct graph_shape){ .skip = 1, .end = WORD };
	if (graph_set_shape(py->g, block, &s))
		return -ENOMEM;
	return python_add_root(py, addr + f->lead + 2 * WORD,
			       addr + f->lead + py->layout->items + WORD, false);
}

static int see_block(struct python *py, __u32 block)
{
	const struct graph *g = py->g;
	const __u64 addr = graph_addr(g, block), size = heap_usable(&g->chunks[block]);
	__u64 words[FIRST_LEN / WORD] = { 0 };
	struct found f;
	__u32 skip;

	if (size < 2 * WORD ||
	    !graph_read(g, addr, words, size < sizeof(words) ? size : sizeof(words)))
		return 0;
	skip = debug_heads(words);
	if (size < 2 * skip || !find_object(py, addr, words, size - skip / 2, skip, &f))
		return 0;
	py->of[block] = f.type << OF_BITS | (f.freed ? OF_FREED : OF_OBJECT);
	if (!f.freed) {
		py->objects++;
		py->object_bytes += g->chunks[block].size;
		if (graph_set_begin(py->g, block, addr + f.lead))
			return -ENOMEM;
	}
	return shape_block(py, block, &f, words);
}

const struct python_type *python_block(const struct python *py, __u32 block, __u64 *addr)
{
	const struct python_type *t;
	__u64 words[4];

	if (block == GRAPH_NONE || (py->of[block] & 3) != OF_OBJECT)
		return NULL;
	t = &py->types[py->of[block] >> OF_BITS];
	*addr = graph_addr(py->g, block) + t->lead;
	if (graph_read(py->g, graph_addr(py->g, block), words, sizeof(words)))
		*addr += debug_heads(words);
	return t;
}

int python_see_blocks(struct python *py, struct graph *g)
{
	int err = 0;

	if (!py->layout)
		return 0;
	py->g = g;
	py->of = calloc(g->nr_chunks + 1UL, sizeof(*py->of));
	py->owner = calloc(g->nr_chunks + 1UL, sizeof(*py->owner));
	if (!py->of || !py->owner)
		return -ENOMEM;
	for (size_t i = 0; i < py->type_ids.nr; i++)
		py->types[i].lead = python_lead(py, &py->types[i]);
	for (__u32 i = 0; !err && i < g->nr_chunks; i++)
		if (graph_is_block(g, i))
			err = see_block(py, i);
	return err;
}

static const char *const part_names[NR_PYTHON_PARTS] = {
	[PYTHON_KEYS] = "keys of a dict", [PYTHON_VALUES] = "values of attributes",
	[PYTHON_ITEMS] = "items of a list", [PYTHON_TABLE] = "table of a set",
	[PYTHON_DEQUE] = "items of a deque", [PYTHON_BYTES] = "bytes of a bytearray",
	[PYTHON_ARRAY] = "items of an array", [PYTHON_DATA_OF] = "data of a numpy.ndarray",
	[PYTHON_TEXT] = "text of a str", [PYTHON_STATE] = "state of Python's interpreter",
	[PYTHON_MODULE] = "state of a module",
};

bool python_kind(const struct python *py, __u32 block, struct kind *kind)
{
	const __u32 of = py->of ? py->of[block] : 0, nr = of >> OF_BITS;

	*kind = (struct kind){ .of = KIND_NONE };
	switch (of & 3) {
	case OF_OBJECT:
	case OF_FREED:
		kind->what = (of & 3) == OF_OBJECT ? KIND_OBJECT : KIND_FREED;
		kind->word = py->types[nr].addr;
		kind->symbol = py->types[nr].name;
		return true;
	case OF_PART:
		kind->what = KIND_PART;
		kind->word = nr;
		kind->symbol = part_names[nr];
		return true;
	default:
		return false;
	}
}
