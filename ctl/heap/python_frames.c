// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of Python's functions, and their variables.  Until 3.10 a frame is an object.  Since 3.11
 * those that run are side by side in memory of their thread, and that of a generator is in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define MOST_STATE	16384U		/* bytes of a thread's state */
#define STATE_LEN	2048U		/* of it are looked at */
#define CHUNK_LEN	16384ULL	/* of frames, or twice as much, ... */
#define MOST_CHUNK	(CHUNK_LEN << 16)
#define CHUNK_DATA	24ULL		/* before the first frame; 8 more in the first chunk */
#define MOST_CHUNKS	64U		/* of a thread */
#define MOST_FRAMES	(1U << 20)	/* in all, */
#define MOST_STACKS	(1U << 16)	/* and of these */
#define MOST_WORDS	(1U << 16)	/* of one */
#define NAME_LEN	128
#define FRAME_VALUES	64		/* until 3.10: where its stack begins, */
#define FRAME_TOP	72		/* and ends, until 3.9 */
#define FRAME_DEPTH	80		/* its number of words, in 3.10 */
#define FRAME_STACK	64		/* since 3.11: where its stack ends */
#define FRAME_ITSELF	24		/* in a frame object: where the frame is, */
#define FRAME_WITHIN	256		/* so far from its beginning at most, if it is in it */
#define GENERATOR_STATE	5U		/* bytes before its frame: less than 0, if it rests */

/* From the headers: offsets in a frame, in a code object, in a generator. */
static const struct frame_form {
	__u32 first, last;
	__u32 code, values;		/* in a frame; values: variables, then its stack */
	__u32 running;			/* a byte: does it run?  0: not known */
	__u32 numbers;			/* until 3.10: from there to the variables */
	__u32 nr, stack;		/* in a code object: how many of both */
	__u32 names, cells, frees;	/* tuples with names; cells 0: all are in the first */
	__u32 file, name, line;
	__u32 frame;			/* in a generator */
} forms[] = {
	{ 0x0207, 0x0207, .code = 32, .numbers = 120, .nr = 20, .stack = 24, .names = 56,
	  .cells = 72, .frees = 64, .file = 80, .name = 88, .line = 96 },
	{ 0x0306, 0x0306, .code = 32, .running = 132, .numbers = 120, .nr = 24, .stack = 28,
	  .names = 64, .cells = 80, .frees = 72, .file = 96, .name = 104, .line = 36 },
	{ 0x0307, 0x0307, .code = 32, .running = 116, .numbers = 104, .nr = 24, .stack = 28,
	  .names = 64, .cells = 80, .frees = 72, .file = 96, .name = 104, .line = 36 },
	{ 0x0308, 0x0309, .code = 32, .running = 116, .numbers = 104, .nr = 28, .stack = 32,
	  .names = 72, .cells = 88, .frees = 80, .file = 104, .name = 112, .line = 40 },
	{ 0x030a, 0x030a, .code = 32, .running = 108, .numbers = 96, .nr = 28, .stack = 32,
	  .names = 72, .cells = 88, .frees = 80, .file = 104, .name = 112, .line = 40 },
	{ 0x030b, 0x030b, .code = 32, .values = 72, .nr = 76, .stack = 68, .names = 96,
	  .file = 112, .name = 128, .line = 72, .frame = 80 },
	{ 0x030c, 0x030d, .code = 0, .values = 72, .nr = 72, .stack = 64, .names = 96,
	  .file = 112, .name = 128, .line = 68, .frame = 72 },
	{ 0x030e, 0x030e, .code = 0, .values = 80, .nr = 72, .stack = 64, .names = 96,
	  .file = 112, .name = 128, .line = 68, .frame = 72 },
};

static const struct frame_form *form_of(const struct python *py)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (py->place.version >= forms[i].first && py->place.version <= forms[i].last)
			return &forms[i];
	return NULL;
}

__u32 python_frame_numbers(const struct python *py)
{
	const struct frame_form *f = form_of(py);

	return f ? f->numbers : 0;
}

/* ---- code ---- */

static bool is_code(struct python *py, __u64 addr)
{
	const struct python_type *t = python_type_of(py, addr);

	return t && !(t->flags & FLAG_HEAP) && !strcmp(t->name, "code");
}

static bool read_int(const struct python *py, __u64 addr, __u32 *to)
{
	return python_read(py, addr, to, sizeof(*to)) && *to <= MOST_WORDS;
}

/* Item @i of a tuple, as text; *@nr: how many there are. */
static bool text_in(struct python *py, __u64 tuple, __u64 i, __u64 *nr, char *text, size_t len)
{
	const struct python_type *t = python_type_of(py, tuple);
	__u64 word;

	*nr = 0;
	if (!t || t->rule != RULE_TUPLE || !python_word(py, tuple + PY_SIZE, nr) || i >= *nr ||
	    !python_word(py, tuple + py->layout->items + i * WORD, &word))
		return false;
	return python_text(py, word, text, len);
}

bool python_variable(struct python *py, __u64 code, __u32 i, char *text, size_t len)
{
	const struct frame_form *f = form_of(py);
	__u64 tuple, nr, left = i;
	__u32 tuples[3], own;

	if (!f || !is_code(py, code) || !read_int(py, code + f->nr, &own))
		return false;
	tuples[0] = f->names;
	tuples[1] = f->cells;
	tuples[2] = f->frees;
	for (int k = 0; k < (f->cells ? 3 : 1); k++) {
		if (!python_word(py, code + tuples[k], &tuple))
			return false;
		if (text_in(py, tuple, left, &nr, text, len))
			return true;
		if (left < nr)
			return false;
		left -= nr;
	}
	return false;
}

bool python_function(struct python *py, __u64 code, char *name, char *source, size_t len)
{
	const struct frame_form *f = form_of(py);
	char file[NAME_LEN * 2];
	const char *last;
	__u64 words[2];
	__u32 line;

	if (!f || !is_code(py, code) || !python_word(py, code + f->name, &words[0]) ||
	    !python_word(py, code + f->file, &words[1]) ||
	    !python_text(py, words[0], name, len))
		return false;
	source[0] = '\0';
	if (!python_read(py, code + f->line, &line, sizeof(line)) ||
	    !python_text(py, words[1], file, sizeof(file)))
		return true;
	last = strrchr(file, '/');
	snprintf(source, len, "%s:%u", last ? last + 1 : file, line);
	return true;
}

/* How many words of variables, and of its stack, each frame of it has. */
static bool read_code(struct python *py, __u64 code, __u32 *variables, __u32 *stack)
{
	const struct frame_form *f = form_of(py);

	return f && is_code(py, code) && read_int(py, code + f->nr, variables) &&
	       read_int(py, code + f->stack, stack);
}

/* ---- all that run ---- */

int python_add_frame(struct python *py, const struct python_frame *frame)
{
	struct python_frame *more;

	if (py->nr_frames >= MOST_FRAMES || frame->end <= frame->start)
		return 0;
	more = ids_grow(py->frames, py->nr_frames, &py->room_frames, sizeof(*more));
	if (!more)
		return -ENOMEM;
	py->frames = more;
	py->frames[py->nr_frames++] = *frame;
	return 0;
}

/* Frames in [@at, @end), side by side.  What is none that is known is one without a function. */
static int walk_chunk(struct python *py, __u64 at, __u64 end)
{
	const struct frame_form *f = form_of(py);
	struct python_frame frame;
	__u32 variables, stack;
	__u64 code, next;
	int err = 0;

	while (!err && at < end && py->nr_frames < MOST_FRAMES) {
		if (!python_word(py, at + f->code, &code))
			break;
		code &= ~3ULL;
		if (!read_code(py, code, &variables, &stack))
			break;
		next = at + f->values + (variables + (__u64)stack) * WORD;
		if (next > end)
			break;
		frame = (struct python_frame){ at, at + f->values, next, code };
		err = python_add_frame(py, &frame);
		at = next;
	}
	if (!err && at < end)
		err = python_add_frame(py, &(struct python_frame){ at, at, end, 0 });
	return err;
}

static int add_stack(struct python *py, __u64 start, __u64 end)
{
	struct python_range *more;

	if (py->nr_stacks >= MOST_STACKS)
		return 0;
	more = ids_grow(py->stacks, py->nr_stacks, &py->room_stacks, sizeof(*more));
	if (!more)
		return -ENOMEM;
	py->stacks = more;
	py->stacks[py->nr_stacks++] = (struct python_range){ start, end };
	return 0;
}

static bool is_chunk(const struct python *py, __u64 at, __u64 head[3])
{
	return at >= PAGE && at % PAGE == 0 && python_read(py, at, head, 3 * WORD) &&
	       head[1] && head[1] % CHUNK_LEN == 0 && head[1] <= MOST_CHUNK &&
	       head[0] % PAGE == 0 && head[2] <= head[1] / WORD;
}

/* From the chunk that is in use up to @top to the one before, whose head says up to where. */
static int walk_stack(struct python *py, __u64 at, __u64 top)
{
	__u64 head[3], first;
	int err = 0;

	for (__u32 i = 0; !err && i < MOST_CHUNKS && at && is_chunk(py, at, head); i++) {
		if (i)
			top = at + CHUNK_DATA + head[2] * WORD;
		first = at + CHUNK_DATA + (head[0] ? 0 : WORD);
		if (top < first - WORD || top > at + head[1])
			break;
		err = add_stack(py, at, at + head[1]);
		if (!err)
			err = walk_chunk(py, first, top);
		at = head[0];
	}
	return err;
}

/* The chunk, where it is in use up to, and where it ends, stand side by side. */
static int find_stack(struct python *py, __u64 start, __u64 len)
{
	__u64 words[STATE_LEN / WORD], head[3];

	if (len > sizeof(words))
		len = sizeof(words);
	if (!python_read(py, start, words, len))
		return 0;
	for (size_t i = 0; i + 2 < len / WORD; i++)
		if (words[i] && words[i] % PAGE == 0 && words[i + 1] > words[i] &&
		    words[i + 1] <= words[i + 2] && is_chunk(py, words[i], head) &&
		    words[i + 2] == words[i] + head[1])
			return walk_stack(py, words[i], words[i + 1]);
	return 0;
}

/*
 * The state of a thread, in a block of its own: its third word is its interpreter.  Debug hooks put
 * two words before it.
 */
static bool may_be_thread(const struct python *py, const struct heap_chunk *c)
{
	const struct python_place *p = &py->place;
	__u64 words[5];

	return c->state == HEAP_USED && !c->pooled && heap_usable(c) >= PYTHON_LEAST_STATE &&
	       heap_usable(c) <= MOST_STATE &&
	       python_read(py, c->at + HEAP_HEAD, words, sizeof(words)) &&
	       (words[2] - p->runtime < p->runtime_len || words[4] - p->runtime < p->runtime_len);
}

static int by_start(const void *x, const void *y)
{
	const struct python_frame *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

static int by_place(const void *x, const void *y)
{
	const struct python_range *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

void python_sort_frames(struct python *py)
{
	size_t nr = 0;

	if (py->nr_stacks)
		qsort(py->stacks, py->nr_stacks, sizeof(*py->stacks), by_place);
	if (py->nr_frames)
		qsort(py->frames, py->nr_frames, sizeof(*py->frames), by_start);
	/* (no two have the same word, whatever the process says) */
	for (size_t i = 0; i < py->nr_frames; i++)
		if (!nr || py->frames[i].start >= py->frames[nr - 1].end)
			py->frames[nr++] = py->frames[i];
	py->nr_frames = nr;
}

int python_find_frames(struct python *py, const struct heap *h)
{
	const struct python_place *p = &py->place;
	const __u64 step = STATE_LEN / 2;
	int err = 0;

	if (!py->layout || p->version < 0x030b || !form_of(py))
		return 0;
	for (__u64 at = 0; !err && at < p->runtime_len && at < PYTHON_MOST_INTERP; at += step)
		err = find_stack(py, p->runtime + at, p->runtime_len - at);
	for (size_t i = 0; !err && i < h->nr_chunks; i++)
		if (may_be_thread(py, &h->chunks[i]))
			err = find_stack(py, h->chunks[i].at + HEAP_HEAD,
					 heap_usable(&h->chunks[i]));
	python_sort_frames(py);
	return err;
}

static bool is_in_stack(const struct python *py, __u64 at)
{
	size_t low = 0, high = py->nr_stacks;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (py->stacks[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < py->stacks[low - 1].end;
}

enum python_stack python_stack_at(const struct python *py, __u64 at,
				  const struct python_frame **frame)
{
	size_t low = 0, high = py->nr_frames;

	*frame = NULL;
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (py->frames[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && at < py->frames[low - 1].end) {
		*frame = &py->frames[low - 1];
		return PYTHON_LIVE;
	}
	return is_in_stack(py, at) ? PYTHON_LEFT : PYTHON_ELSEWHERE;
}

/* ---- frames that are objects, and those in generators ---- */

bool python_frame_of(struct python *py, const struct python_type *t, __u64 addr,
		     struct python_frame *frame)
{
	const struct frame_form *f = form_of(py);
	__u32 variables, stack;
	__u64 nr;

	if (!f || (t->rule != RULE_FRAME && t->rule != RULE_GENERATOR && t->rule != RULE_ENDED))
		return false;
	frame->start = addr + f->frame;
	/* one that is kept although its function ended, as a traceback does, has it in itself */
	if (t->rule == RULE_ENDED &&
	    (!python_word(py, addr + FRAME_ITSELF, &frame->start) || frame->start <= addr ||
	     frame->start > addr + FRAME_WITHIN))
		return false;
	if (!python_word(py, frame->start + f->code, &frame->code))
		return false;
	frame->code &= ~3ULL;
	if (!read_code(py, frame->code, &variables, &stack))
		return false;
	nr = variables + (__u64)stack;
	frame->values = frame->start + f->values;
	if (t->rule == RULE_FRAME) {
		frame->values = addr + t->basic - WORD;
		if (!python_word(py, addr + PY_SIZE, &nr) || nr > MOST_WORDS)
			return false;
	}
	frame->end = frame->values + nr * WORD;
	return true;
}

static bool is_suspended(struct python *py, const struct python_frame *frame)
{
	signed char state;

	return python_read(py, frame->start - GENERATOR_STATE, &state, 1) && state < 0;
}

/* Where its stack ends, as a number of words or, in 3.14, an address. */
static bool read_top(struct python *py, const struct python_frame *frame, __u64 *top)
{
	const struct frame_form *f = form_of(py);
	__u64 word;

	if (!f || !python_word(py, frame->start + FRAME_STACK, &word))
		return false;
	*top = f->values == FRAME_STACK + WORD ? frame->values + (__u32)word * WORD : word & ~7ULL;
	return true;
}

bool python_frame_rests(struct python *py, const struct python_type *t, __u64 addr,
			const struct python_frame *frame, __u64 *top)
{
	const struct frame_form *f = form_of(py);
	const bool has_depth = py->place.version == 0x030a;
	unsigned char runs = 0;
	__u64 values, word;

	if (!f)
		return false;
	if (t->rule != RULE_FRAME) {
		if ((t->rule == RULE_GENERATOR && !is_suspended(py, frame)) ||
		    !read_top(py, frame, top))
			return false;
	} else {
		if (!python_word(py, addr + FRAME_VALUES, &values) ||
		    !python_word(py, addr + (has_depth ? FRAME_DEPTH : FRAME_TOP), &word) ||
		    (f->running && !python_read(py, addr + f->running, &runs, 1)))
			return false;
		/* (2.7 does not say it) */
		if (f->running ? (runs != 0) != has_depth : !word)
			return false;
		*top = has_depth ? values + (__u32)word * WORD : word;
		/* one that has returned has no stack */
		if (*top < values || *top > frame->end)
			*top = values;
	}
	return *top >= frame->values && *top <= frame->end;
}
