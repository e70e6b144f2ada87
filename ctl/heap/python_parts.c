// SPDX-License-Identifier: GPL-2.0-or-later
/* What belongs to objects: items of lists, keys of dicts, what the interpreter has for itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define DEQUE_LEN	528U		/* of a piece: a link, 64 items, a link */
#define DEQUE_NEXT	520U
#define DEQUE_ITEMS	64U
#define MOST_BEFORE	16U		/* words before values */
#define MOST_PIECES	(1U << 24)
#define MOST_STATE	4096U

static __u64 bit(__u64 offset)
{
	return offset / WORD < 64 ? 1ULL << offset / WORD : 0;
}

/* ---- parts ---- */

/* What has no address in it. */
static int close_part(struct python *py, __u32 owner, __u64 addr, enum python_part part)
{
	const __u32 block = python_part_at(py, owner, addr, part);

	return block == GRAPH_NONE ? 0 :
	       graph_set_shape(py->g, block, &(struct graph_shape){ .skip = 1, .end = WORD });
}

/*
 * Of a key its hash stands before it, which may be a number like an address: of id().  What is
 * behind the room for entries was there before.
 */
static int keys_part(struct python *py, __u32 owner, const struct python_dict *d)
{
	const __u32 block = python_part_at(py, owner, d->keys, PYTHON_KEYS);

	__u64 from;

	if (block == GRAPH_NONE || d->entries < d->keys)
		return 0;
	from = d->entries - graph_addr(py->g, block);
	return graph_set_shape(py->g, block, &(struct graph_shape){
		.from = from, .stride = d->stride == 3 * WORD ? d->stride : 0,
		.end = from + d->room * d->stride });
}

/* Behind the last item there is room for more, with what was there before. */
static int list_part(struct python *py, __u32 owner, __u64 addr)
{
	__u64 nr, items;
	__u32 block;

	if (!python_word(py, addr + PY_SIZE, &nr) || !python_word(py, addr + 24, &items))
		return 0;
	block = python_part_at(py, owner, items, PYTHON_ITEMS);
	if (block == GRAPH_NONE || nr >= (graph_block_end(py->g, block) - items) / WORD)
		return 0;
	return graph_add_end(py->g, block, items + nr * WORD);
}

/* Since 3.11, bytes with the order of values precede them, most of which were never written. */
static int take_values(struct python *py, __u32 owner, __u64 values, __u64 room)
{
	const __u32 block = python_part_at(py, owner, values, PYTHON_VALUES);
	struct graph_shape s = { .skip = 0 };
	__u64 before;

	if (block == GRAPH_NONE)
		return 0;
	before = (values - graph_addr(py->g, block)) / WORD;
	if (before >= MOST_BEFORE)
		return 0;
	s.skip = (1ULL << before) - 1;
	if (room && room <= (graph_block_end(py->g, block) - values) / WORD)
		s.end = (before + room) * WORD;
	return graph_set_shape(py->g, block, &s);
}

/* Of each entry one word is a hash, which may look like an address. */
static int set_part(struct python *py, __u32 owner, __u64 addr)
{
	__u64 table = 0;
	__u32 block;

	python_word(py, addr + 40, &table);
	block = python_part_at(py, owner, table, PYTHON_TABLE);
	if (block == GRAPH_NONE || table != graph_addr(py->g, block))
		return 0;
	return graph_set_shape(py->g, block, &(struct graph_shape){
		.from = py->layout->ascii ? WORD : 0, .stride = 2 * WORD });
}

static int dict_parts(struct python *py, __u32 owner, __u64 addr)
{
	struct python_dict d;
	int err;

	if (!python_dict(py, addr, &d))
		return 0;
	err = keys_part(py, owner, &d);
	return err || !d.values ? err : take_values(py, owner, d.values, d.room);
}

/*
 * Pieces with a link, 64 items and a link.  In the first one, items before @left, and in the last
 * one, those behind @right are what was there before; so is the link before the first piece.
 */
static int deque_parts(struct python *py, __u32 owner, __u64 addr)
{
	__u64 at[4], piece;			/* first, last, left, right */
	__u32 block;
	int err = 0;

	if (!python_read(py, addr + 24, at, sizeof(at)) || at[2] >= DEQUE_ITEMS)
		return 0;
	piece = at[0];
	for (__u32 i = 0; !err && i < MOST_PIECES; i++) {
		block = python_part_at(py, owner, piece, PYTHON_DEQUE);
		if (block == GRAPH_NONE || graph_addr(py->g, block) != piece ||
		    heap_usable(&py->g->chunks[block]) < DEQUE_LEN)
			return 0;
		err = graph_set_shape(py->g, block, &(struct graph_shape){
			.skip = i ? 1 : (2ULL << at[2]) - 1 });
		if (!err && piece == at[1] && at[3] < DEQUE_ITEMS)
			err = graph_add_end(py->g, block, piece + (at[3] + 2) * WORD);
		if (piece == at[1] || !python_word(py, piece + DEQUE_NEXT, &piece))
			break;
	}
	return err;
}

/* Where attributes are, that an instance does not have in a dict yet. */
static int values_part(struct python *py, __u32 owner, __u64 addr, const struct python_type *t)
{
	struct python_dict d;
	__u64 word = 0, keys;

	if (!(t->flags & FLAG_MANAGED))
		return 0;
	if (python_managed(py) == MANAGED_APART)
		python_word(py, addr - 4 * WORD, &word);
	else if (python_managed(py) == MANAGED_TAGGED)
		python_word(py, addr - 3 * WORD, &word);
	if (python_managed(py) == MANAGED_TAGGED)
		word = word & 1 ? word + 1 : 0;
	if (!word)
		return 0;
	if (!python_word(py, t->addr + py->layout->cached, &keys) || !python_keys(py, keys, &d))
		d.room = 0;
	return take_values(py, owner, word, d.room);
}

/* The dict of an instance, if it has one. */
static __u64 dict_of(struct python *py, __u64 addr, const struct python_type *t)
{
	__u64 word = 0;

	if (t->rule == RULE_TYPE) {
		python_word(py, addr + TP_DICT, &word);
	} else if (t->flags & FLAG_MANAGED && python_managed(py) != MANAGED_NONE) {
		python_word(py, addr - 3 * WORD, &word);
		if (python_managed(py) == MANAGED_TAGGED && word & 1)
			word = 0;
	} else if (t->dictoffset > 0 && (__u64)t->dictoffset < t->basic) {
		python_word(py, addr + (__u64)t->dictoffset, &word);
	}
	return word;
}

static void own_dict(struct python *py, __u32 owner, __u64 dict)
{
	const __u32 block = dict < PAGE ? GRAPH_NONE : graph_at(py->g, dict);
	const struct python_type *t;
	__u64 addr;

	t = block == GRAPH_NONE ? NULL : python_block(py, block, &addr);
	if (t && t->rule == RULE_DICT && addr == dict)
		py->owner[block] = owner + 1;
}

/*
 * Until 3.10 a frame is an object, with its variables and its stack.  One that runs is a root.  Of
 * another one, as of a generator's since 3.11, it is known where its stack ends.
 */
static int frame_part(struct python *py, __u32 block, __u64 addr, const struct python_type *t)
{
	const __u64 end = graph_block_end(py->g, block), lead = addr - graph_addr(py->g, block);
	struct graph_shape s = { .end = lead + t->basic - WORD };
	__u64 top = 0;
	struct python_frame frame = { .end = 0 };
	const bool known = python_frame_of(py, t, addr, &frame) && frame.end <= end;
	const bool rests = known && python_frame_rests(py, t, addr, &frame, &top);
	__u64 numbers;
	int err;

	if (t->rule != RULE_FRAME)
		return rests ? graph_add_end(py->g, block, top) : 0;
	for (__u64 at = lead - py->gc.head; at < lead; at += WORD)
		s.skip |= bit(at);
	/* (numbers before the variables, of which few were ever written) */
	numbers = python_frame_numbers(py);
	for (__u64 at = lead + numbers; numbers && at < s.end; at += WORD)
		s.skip |= bit(at);
	if (rests)
		s.end = 0;
	err = graph_set_shape(py->g, block, &s);
	if (err || rests)
		return err ? err : graph_add_end(py->g, block, top);
	frame.start = frame.values;
	err = frame.code && frame.end <= end ? python_add_frame(py, &frame) : 0;
	return err ? err : python_add_root(py, addr + t->basic - WORD, end, true);
}

static int find_parts(struct python *py, __u32 block)
{
	struct python_dict d;
	__u64 addr, word = 0;
	const struct python_type *t = python_block(py, block, &addr);
	int err;

	if (!t)
		return 0;
	own_dict(py, block, dict_of(py, addr, t));
	err = values_part(py, block, addr, t);
	if (err)
		return err;
	switch (t->rule) {
	case RULE_LIST:
		return list_part(py, block, addr);
	case RULE_DICT:
		return dict_parts(py, block, addr);
	case RULE_SET:
		return set_part(py, block, addr);
	case RULE_BYTEARRAY:
		python_word(py, addr + (py->layout->ascii ? 32 : 40), &word);
		return close_part(py, block, word, PYTHON_BYTES);
	case RULE_DEQUE:
		return deque_parts(py, block, addr);
	case RULE_ARRAY:
		python_word(py, addr + 24, &word);
		return close_part(py, block, word, PYTHON_ARRAY);
	case RULE_NDARRAY:
		/* (its items may be addresses of objects) */
		python_word(py, addr + 16, &word);
		python_part_at(py, block, word, PYTHON_DATA_OF);
		return 0;
	case RULE_UNICODE:
		python_word(py, addr + 24, &word);
		return close_part(py, block, word, PYTHON_TEXT);
	case RULE_TYPE:
		if (py->layout->cached && t->flags & FLAG_HEAP &&
		    python_word(py, addr + py->layout->cached, &word) &&
		    python_keys(py, word, &d))
			return keys_part(py, block, &d);
		return 0;
	case RULE_FRAME:
	case RULE_GENERATOR:
	case RULE_ENDED:
		return frame_part(py, block, addr, t);
	default:
		return 0;
	}
}

/* ---- what is not the program's ---- */

/* The state of a thread has its neighbours, and then its interpreter. */
static bool has_interpreter(const struct python *py, __u64 thread, __u64 interpreter)
{
	__u64 words[3];

	return graph_read(py->g, thread, words, sizeof(words)) && words[2] == interpreter;
}

/* In a block of its own: where gc's lists are or, before 3.9, by its first thread. */
static bool is_interpreter(const struct python *py, __u32 block)
{
	const __u64 addr = graph_addr(py->g, block);
	__u64 words[2];

	for (__u32 i = 0; i < py->gc.interpreters; i++)
		if (graph_at(py->g, py->gc.at[i]) == block)
			return true;
	if (py->place.version < 0x0307 || py->place.version > 0x0308)
		return false;
	for (__u32 i = 0; i < py->gc.nr_blocks; i++)
		if (py->gc.blocks[i] == addr)
			return graph_read(py->g, addr, words, sizeof(words)) &&
			       graph_at(py->g, words[1]) != GRAPH_NONE &&
			       has_interpreter(py, words[1], addr);
	return false;
}

static bool is_thread(const struct python *py, __u32 block)
{
	const struct python_place *p = &py->place;
	const __u64 size = heap_usable(&py->g->chunks[block]);
	__u64 words[3];
	__u32 at;

	if (size < PYTHON_LEAST_STATE || size > MOST_STATE || p->version < 0x0307 ||
	    !graph_read(py->g, graph_addr(py->g, block), words, sizeof(words)))
		return false;
	at = graph_at(py->g, words[2]);
	return at == GRAPH_NONE ? words[2] - p->runtime < p->runtime_len :
	       (!py->of[at] || py->of[at] == (PYTHON_STATE << OF_BITS | OF_PART)) &&
	       graph_addr(py->g, at) == words[2] && is_interpreter(py, at);
}

/* They lead to all objects alike. */
static int find_state(struct python *py, __u32 block)
{
	if (!is_interpreter(py, block) && !is_thread(py, block))
		return 0;
	py->of[block] = PYTHON_STATE << OF_BITS | OF_PART;
	if (graph_set_shape(py->g, block, &(struct graph_shape){ .skip = 1, .end = WORD }))
		return -ENOMEM;
	return python_add_root(py, graph_addr(py->g, block), graph_block_end(py->g, block), false);
}

static int find_states(struct python *py)
{
	int err = 0;

	for (__u32 i = 0; !err && i < py->g->nr_chunks; i++)
		if (!py->of[i] && graph_is_block(py->g, i) && !py->g->chunks[i].pooled)
			err = find_state(py, i);
	return err;
}

int python_find_objects(struct python *py, struct graph *g)
{
	int err = python_see_blocks(py, g);

	if (err || !py->layout)
		return err;

	for (__u32 i = 0; !err && i < py->g->nr_chunks; i++)
		if ((py->of[i] & 3) == OF_OBJECT)
			err = find_parts(py, i);
	python_sort_frames(py);
	if (!err)
		err = python_find_modules(py);
	return err ? err : find_states(py);
}
