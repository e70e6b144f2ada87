// SPDX-License-Identifier: GPL-2.0-or-later
/* Find out what blocks are; see kinds.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "heap/int.h"
#include "heap/kinds.h"
#include "heap/looks.h"

#define EXACT		1032		/* up to here each size is a kind */
#define MOST_KINDS	60000		/* numbers have 16 bits */
#define MOST_WORDS	(1U << 20)	/* that are looked up */
#define FIRST_WORDS	4		/* of a struct, that may point to a table */

struct kind_word_name {
	__u64 word;
	enum kind_word what;
	char *name;
};

static const char *const what_names[NR_KIND_WHATS] = {
	[KIND_SIZE] = "size", [KIND_CLASS] = "class", [KIND_CLASSES] = "classes",
	[KIND_SYMBOL] = "symbol", [KIND_STRING] = "string", [KIND_TEXT] = "text",
	[KIND_VECTOR] = "vector", [KIND_POINTERS] = "pointers", [KIND_TREE] = "tree",
	[KIND_LIST] = "list", [KIND_ZERO] = "zero",
	[KIND_OBJECT] = "python", [KIND_PART] = "python-part", [KIND_FREED] = "python-freed",
};

const char *kind_what_name(enum kind_what what)
{
	return what_names[what];
}

/* ---- words that point into files ---- */

static bool same_word(const void *things, __u32 id, const void *key)
{
	return ((const struct kind_word_name *)things)[id].word == *(const __u64 *)key;
}

/* NULL: nothing is known of it. */
static const struct kind_word_name *look_up(struct kinds *k, __u64 word)
{
	struct kind_word_name *more;
	__u64 hash;
	__u32 id;

	if (!word || !k->names || !k->names->is_file(k->names->ctx, word))
		return NULL;
	hash = ids_mix(0, word);
	id = ids_find(&k->word_ids, hash, same_word, k->words, &word);
	if (id == IDS_NONE) {
		if (k->word_ids.nr >= MOST_WORDS)
			return NULL;
		more = ids_grow(k->words, k->word_ids.nr, &k->room_words, sizeof(*more));
		if (!more)
			return NULL;
		k->words = more;
		id = ids_add(&k->word_ids, hash);
		if (id == IDS_NONE)
			return NULL;
		k->words[id] = (struct kind_word_name){ .word = word };
		k->words[id].what = k->names->look(k->names->ctx, word, &k->words[id].name);
	}
	return k->words[id].what == KIND_WORD_OTHER ? NULL : &k->words[id];
}

/* ---- kinds ---- */

static bool same_kind(const void *things, __u32 id, const void *key)
{
	const struct kind *a = (const struct kind *)things + id, *b = key;

	return a->what == b->what && a->of == b->of && a->word == b->word && a->size == b->size;
}

static __u32 add_kind(struct kinds *k, const struct kind *key)
{
	const __u64 hash = ids_mix(ids_mix(ids_mix(key->what, key->of), key->word), key->size);
	__u32 id = ids_find(&k->ids, hash, same_kind, k->at, key);
	struct kind *more;

	if (id != IDS_NONE)
		return id;
	if (k->ids.nr >= MOST_KINDS && key->what != KIND_SIZE) {
		k->many = true;
		return KIND_NONE;
	}
	more = ids_grow(k->at, k->ids.nr, &k->room, sizeof(*more));
	if (!more)
		return KIND_NONE;
	k->at = more;
	id = ids_add(&k->ids, hash);
	if (id != IDS_NONE)
		k->at[id] = *key;
	return id;
}

/* Larger ones by powers of two. */
static __u32 by_size(struct kinds *k, __u64 size)
{
	__u64 most = size;

	if (size > EXACT)
		for (most = 2048; most < size && most; most *= 2)
			;
	return add_kind(k, &(struct kind){ .what = KIND_SIZE, .of = KIND_NONE, .size = most });
}

static __u32 of_word(struct kinds *k, enum kind_what what, const struct kind_word_name *w,
		     __u64 at)
{
	return add_kind(k, &(struct kind){ .what = what, .of = KIND_NONE, .word = w->word,
					   .size = at, .symbol = w->name });
}

/* By its first words, if they point to a table or a function. */
static __u32 by_words(struct kinds *k, const __u64 *words, size_t nr)
{
	const struct kind_word_name *w = look_up(k, words[0]);

	if (w && w->what == KIND_WORD_CLASS)
		return of_word(k, looks_repeated(words, nr) ? KIND_CLASSES : KIND_CLASS, w, 0);
	/* new T[n] has n before the first one */
	if (nr > 1 && words[0] && words[0] < nr) {
		w = look_up(k, words[1]);
		if (w && w->what == KIND_WORD_CLASS)
			return of_word(k, KIND_CLASSES, w, 0);
	}
	for (size_t i = 0; i < nr && i < FIRST_WORDS; i++) {
		w = look_up(k, words[i]);
		if (w && w->what == KIND_WORD_SYMBOL)
			return of_word(k, KIND_SYMBOL, w, i * WORD);
	}
	return KIND_NONE;
}

static __u32 simple(struct kinds *k, enum kind_what what, __u64 size)
{
	return add_kind(k, &(struct kind){ .what = what, .of = KIND_NONE, .size = size });
}

/* Of what language it is an object; or KIND_NONE. */
static __u32 by_language(struct kinds *k, __u32 block)
{
	const struct kind_names *names = k->names;
	struct kind key;

	return names && names->known && names->known(names->known_ctx, block, &key) ?
	       add_kind(k, &key) : KIND_NONE;
}

static bool is_known(const struct kinds *k, __u32 block)
{
	return k->at[k->of[block]].what >= KIND_OBJECT;
}

/*
 * Of one whose beginning is not known, what is surely its own: from the second page on.  False: it
 * has not so much.
 */
static bool read_inside(const struct graph *g, __u32 block, __u64 words[LOOKS_WORDS])
{
	return heap_usable(&g->chunks[block]) >= HEAP_LOOSE + LOOKS_LEN &&
	       graph_read(g, graph_addr(g, block) + HEAP_LOOSE, words, LOOKS_LEN);
}

static __u32 classify_loose(struct kinds *k, __u32 block)
{
	const struct graph *g = k->g;
	const __u64 addr = graph_addr(g, block), size = heap_usable(&g->chunks[block]);
	__u64 words[LOOKS_WORDS] = { 0 };

	if (!graph_read(g, addr, words, LOOKS_LEN) ||
	    looks_zero(g, addr, heap_span(&g->chunks[block]), words, LOOKS_LEN))
		return simple(k, KIND_ZERO, 0);
	if (read_inside(g, block, words)) {
		if (looks_text(g, words, LOOKS_LEN, size))
			return simple(k, KIND_TEXT, 0);
		if (looks_pointers(g, words, LOOKS_WORDS))
			return simple(k, KIND_POINTERS, 0);
	}
	return by_size(k, size);
}

static __u32 classify(struct kinds *k, __u32 block)
{
	const struct graph *g = k->g;
	const __u64 addr = graph_addr(g, block), size = heap_usable(&g->chunks[block]);
	const size_t len = size < LOOKS_LEN ? (size_t)size : LOOKS_LEN;
	__u64 words[LOOKS_WORDS] = { 0 };
	__u32 kind;

	if (g->chunks[block].tail == HEAP_LOOSE_TAIL)
		return classify_loose(k, block);
	kind = by_language(k, block);
	if (kind != KIND_NONE)
		return kind;
	if (!graph_read(g, addr, words, len) || looks_zero(g, addr, size, words, len))
		return simple(k, KIND_ZERO, 0);
	kind = by_words(k, words, len / WORD);
	if (kind == KIND_NONE && looks_text(g, words, len, size))
		kind = simple(k, KIND_TEXT, 0);
	else if (kind == KIND_NONE && looks_tree(g, addr, words, len / WORD))
		kind = simple(k, KIND_TREE, size);
	else if (kind == KIND_NONE && looks_list(g, addr, words, len / WORD))
		kind = simple(k, KIND_LIST, size);
	else if (kind == KIND_NONE && looks_pointers(g, words, len / WORD))
		kind = simple(k, KIND_POINTERS, 0);
	return kind == KIND_NONE ? by_size(k, size) : kind;
}

/* ---- what is known by who has it ---- */

static bool may_be_string(enum kind_what what)
{
	return what == KIND_TEXT || what == KIND_SIZE;
}

/* What is left behind its end was there before: no edges. */
static int found_vector(struct kinds *k, __u32 block, __u64 end)
{
	const enum kind_what what = k->at[k->of[block]].what;
	__u32 found;

	if (what == KIND_SIZE || what == KIND_ZERO) {
		found = simple(k, KIND_VECTOR, 0);
		if (found != KIND_NONE)
			k->of[block] = (__u16)found;
	}
	return end < graph_block_end(k->g, block) ? graph_add_end(k->g, block, end) : 0;
}

static int look_at_owner(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct kinds *k = ctx;
	struct graph *g = k->g;
	const enum kind_what what = k->at[k->of[block]].what;
	__u64 words[5];
	__u32 found;

	if (!graph_begins(g, block, word) || what == KIND_STRING || what == KIND_LIST ||
	    what == KIND_TREE || is_known(k, block) ||
	    !graph_read(g, at - 2 * WORD, words, sizeof(words)))
		return 0;
	if (may_be_string(what) && looks_string(g, words, word, heap_usable(&g->chunks[block]),
						what == KIND_TEXT)) {
		found = simple(k, KIND_STRING, 0);
		if (found != KIND_NONE)
			k->of[block] = (__u16)found;
		return 0;
	}
	if (what != KIND_TEXT && looks_vector(words, heap_usable(&g->chunks[block])))
		return found_vector(k, block, words[3]);
	return 0;
}

/* Pointers to one kind alone say so. */
static void name_pointers(struct kinds *k, __u32 block)
{
	const struct graph *g = k->g;
	const __u64 addr = graph_addr(g, block), size = heap_usable(&g->chunks[block]);
	const size_t len = size < LOOKS_LEN ? (size_t)size : LOOKS_LEN;
	__u64 words[LOOKS_WORDS] = { 0 };
	__u32 of = KIND_NONE, kind, to;

	if (g->chunks[block].tail == HEAP_LOOSE_TAIL)
		read_inside(g, block, words);
	else
		graph_read(g, addr, words, len);
	for (size_t i = 0; i < len / WORD; i++) {
		to = words[i] ? graph_target(g, words[i]) : GRAPH_NONE;
		if (to == GRAPH_NONE || k->at[k->of[to]].what == KIND_POINTERS)
			continue;
		if (of != KIND_NONE && of != k->of[to])
			return;
		of = k->of[to];
	}
	if (of == KIND_NONE)
		return;
	kind = add_kind(k, &(struct kind){ .what = KIND_POINTERS, .of = of });
	if (kind != KIND_NONE)
		k->of[block] = (__u16)kind;
}

static int look_at_owners(struct kinds *k)
{
	struct graph *g = k->g;
	__u64 word;
	int err = 0;

	for (size_t i = 0; !err && i < g->nr_edges; i++)
		if (graph_read(g, g->edges[i].at, &word, sizeof(word)))
			err = look_at_owner(k, g->edges[i].at, word, g->edges[i].block);
	for (__u32 i = 0; !err && i < g->nr_chunks; i++)
		if (graph_is_block(g, i))
			err = graph_scan_block(g, i, look_at_owner, k);
	graph_sort_ends(g);
	for (__u32 i = 0; i < g->nr_chunks; i++)
		if (graph_is_block(g, i) && k->at[k->of[i]].what == KIND_POINTERS)
			name_pointers(k, i);
	return err;
}

static void count(struct kinds *k)
{
	struct graph *g = k->g;

	for (__u32 i = 0; i < g->nr_chunks; i++) {
		struct kind *kind;

		if (!graph_is_block(g, i))
			continue;
		kind = &k->at[k->of[i]];
		if (kind->blocks < 2)
			kind->example[kind->blocks] = graph_addr(g, i);
		kind->blocks++;
		kind->bytes += g->chunks[i].size;
		if (kind->what == KIND_TEXT || kind->what == KIND_STRING)
			g->opaque[i / 64] |= 1ULL << i % 64;
	}
	for (size_t i = 0; i < g->nr_ends; i++)
		g->opaque[g->ends[i].block / 64] |= 1ULL << g->ends[i].block % 64;
}

int kinds_find(struct kinds *k, struct graph *g, const struct kind_names *names)
{
	__u32 kind;
	int err = 0;

	*k = (struct kinds){ .g = g, .names = names };
	k->of = calloc(g->nr_chunks + 1UL, sizeof(*k->of));
	g->opaque = calloc(g->nr_chunks / 64 + 1UL, sizeof(*g->opaque));
	if (!k->of || !g->opaque) {
		kinds_free(k);
		return -ENOMEM;
	}
	for (__u32 i = 0; i < g->nr_chunks; i++) {
		if (!graph_is_block(g, i))
			continue;
		kind = classify(k, i);
		if (kind == KIND_NONE) {
			kinds_free(k);
			return -ENOMEM;
		}
		k->of[i] = (__u16)kind;
	}
	if (kinds_nr(k)) {
		err = look_at_owners(k);
		count(k);
	}
	if (err)
		kinds_free(k);
	return err;
}

void kinds_free(struct kinds *k)
{
	for (size_t i = 0; i < k->word_ids.nr; i++)
		free(k->words[i].name);
	free(k->words);
	ids_free(&k->word_ids);
	free(k->of);
	free(k->at);
	ids_free(&k->ids);
	memset(k, 0, sizeof(*k));
}

/* ---- names ---- */

static void name_size(const struct kind *kind, char *text, size_t len)
{
	char from[TEXT_LEN], to[TEXT_LEN];
	__u64 least = kind->size / 2;

	if (kind->size <= EXACT) {
		snprintf(text, len, "%llu bytes", (unsigned long long)kind->size);
		return;
	}
	if (least < EXACT)
		least = EXACT;
	snprintf(text, len, "%s - %s", text_bytes(from, (__s64)least, false),
		 text_bytes(to, (__s64)kind->size, false));
}

const char *kind_name(const struct kinds *k, __u32 id, char *text, size_t len)
{
	const struct kind *kind = &k->at[id];
	char inner[256];

	switch (kind->what) {
	case KIND_CLASS:
	case KIND_OBJECT:
	case KIND_PART:
		return kind->symbol;
	case KIND_FREED:
		snprintf(text, len, "looks like a freed %s", kind->symbol);
		return text;
	case KIND_CLASSES:
		snprintf(text, len, "looks like an array of %s", kind->symbol);
		return text;
	case KIND_SYMBOL:
		snprintf(text, len, kind->size ? "points to %s at +%llu" : "points to %s",
			 kind->symbol, (unsigned long long)kind->size);
		return text;
	case KIND_STRING:
		return "looks like a std::string's text";
	case KIND_TEXT:
		return "looks like text";
	case KIND_VECTOR:
		return "looks like a std::vector's elements";
	case KIND_POINTERS:
		if (kind->of == KIND_NONE)
			return "looks like pointers";
		snprintf(text, len, "looks like pointers to: %s",
			 kind_name(k, kind->of, inner, sizeof(inner)));
		return text;
	case KIND_TREE:
		snprintf(text, len, "looks like a node of a std::map or set, %llu bytes",
			 (unsigned long long)kind->size);
		return text;
	case KIND_LIST:
		snprintf(text, len, "looks like a node of a linked list, %llu bytes",
			 (unsigned long long)kind->size);
		return text;
	case KIND_ZERO:
		return "only zeros";
	default:
		name_size(kind, text, len);
		return text;
	}
}
