// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find leaked blocks in a process's heap without a recording: stop the process, walk the heap by
 * its own chunks, and search for chunks that no pointer reaches.  All blocks of malloc are known
 * here.  Unlike for a recording, none of them must be assumed to be in use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/limit.h"
#include "base/thread.h"
#include "leaks/copy.h"
#include "leaks/core.h"
#include "leaks/heap.h"
#include "leaks/held_int.h"
#include "leaks/reach_int.h"
#include "leaks/stopped.h"
#include "target/maps.h"
#include "target/procmaps.h"

#define TRIES		3		/* until nobody is just within malloc */

struct job {
	struct heap_look *out;
	pid_t pid;
	__u64 max_ns;
	bool mark, stop;
	struct layout layout;
	struct memory memory;
	int err;
};

static enum reach_kind kind(void *ctx, __u64 addr)
{
	const struct job *j = (const struct job *)
		((const char *)ctx - offsetof(struct job, memory));
	const struct area *a = layout_find(&j->layout, addr);

	if (!a || !a->is_file || !a->readable)
		return REACH_OTHER;
	return a->executable ? REACH_CODE : REACH_DATA;
}

static int walk(struct job *j)
{
	return heap_of_layout(&j->out->heap, &j->layout, &j->memory, !j->stop, true);
}

/* ---- what nothing leads to ---- */

/* Stacks that libc keeps are known by the guard below them. */
static int find_stacks(struct ranges *own, const struct layout *l)
{
	int err = 0;

	for (size_t i = 0; !err && i + 1 < l->nr; i++) {
		const struct area *a = &l->areas[i];

		if (!a->readable && !a->writable && !a->is_file && a[1].start == a->end &&
		    a[1].writable && !a[1].is_file)
			err = ranges_add(own, a->start, a[1].end, false);
	}
	return err;
}

/* Blocks that are in use, and what is no root: all that malloc has. */
static int find_blocks(const struct heap *h, struct reach_block **blocks, size_t *nr,
		       struct ranges *holes)
{
	int err = 0;

	*nr = 0;
	*blocks = calloc(h->nr_chunks + 1, sizeof(**blocks));
	if (!*blocks)
		return -ENOMEM;
	/* what is not known is a root, as a whole */
	for (size_t i = 0; !err && i < h->nr_pieces; i++)
		if (heap_is_sure(h, h->pieces[i].arena))
			err = ranges_add(holes, h->pieces[i].start, h->pieces[i].end, false);
	for (size_t i = 0; !err && i < h->nr_chunks; i++) {
		const struct heap_chunk *c = &h->chunks[i];

		/* (of other allocators' pools nothing is said to be lost: they are roots) */
		if (c->state != HEAP_USED || c->pooled ||
		    (!c->mapped && !heap_is_sure(h, c->arena)))
			continue;
		(*blocks)[(*nr)++] = (struct reach_block){ .addr = c->at + HEAP_HEAD,
							   .size = heap_span(c),
				.loose = (__u16)(heap_span(c) - heap_usable(c)) };
		if (c->mapped)
			err = ranges_add(holes, c->at, c->at + c->size, false);
	}
	return err;
}

static int add_lost(struct heap_look *out, size_t *room, const struct heap_lost *lost)
{
	struct heap_lost *more = ids_grow(out->lost, out->nr_lost, room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	out->lost = more;
	out->lost[out->nr_lost++] = *lost;
	return 0;
}

static int by_kind(const void *x, const void *y)
{
	const struct heap_lost *a = x, *b = y;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->word > b->word) - (a->word < b->word);
}

static int by_bytes(const void *x, const void *y)
{
	const struct heap_lost *a = x, *b = y;

	return a->bytes != b->bytes ? a->bytes < b->bytes ? 1 : -1 : by_kind(x, y);
}

/* One row for each size and word. */
static void merge(struct heap_look *out)
{
	size_t nr = 0;

	if (out->nr_lost)
		qsort(out->lost, out->nr_lost, sizeof(*out->lost), by_kind);
	for (size_t i = 0; i < out->nr_lost; i++) {
		struct heap_lost *last = nr ? &out->lost[nr - 1] : NULL;

		if (!last || by_kind(last, &out->lost[i])) {
			out->lost[nr++] = out->lost[i];
			continue;
		}
		last->blocks += out->lost[i].blocks;
		last->bytes += out->lost[i].bytes;
		last->definite += out->lost[i].definite;
	}
	out->nr_lost = nr;
}

static __u64 first_word(struct job *j, const struct reach_block *b)
{
	__u64 word;
	const struct area *a;

	if (b->size < sizeof(word) ||
	    memory_read(&j->memory, b->addr, &word, sizeof(word)) != sizeof(word))
		return 0;
	a = layout_find(&j->layout, word);
	return a && a->is_file && a->readable ? word : 0;
}

static bool maybe_cached(struct job *j, const struct reach_block *b, const struct heap_chunk *c)
{
	__u64 words[2];

	return c && memory_read(&j->memory, b->addr, words, sizeof(words)) == sizeof(words) &&
	       heap_maybe_cached(&j->out->heap, c, words);
}

#define MANY_LOST	(1UL << 16)	/* rows, before equal ones are put together */

static int tell(struct job *j, const struct reach_block *blocks, size_t nr)
{
	struct heap_look *out = j->out;
	size_t room = 0, limit = MANY_LOST;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct reach_block *b = &blocks[i];
		const struct heap_chunk *c = heap_find(&out->heap, b->addr - HEAP_HEAD);
		const __u64 bytes = c ? c->size : b->size;

		if (b->class == REACH_REACHABLE) {
			out->reachable_blocks++;
			out->reachable_bytes += bytes;
		} else if (b->class == REACH_POSSIBLE) {
			out->possible_blocks++;
			out->possible_bytes += bytes;
		} else if (maybe_cached(j, b, c)) {
			out->cached_blocks++;
			out->cached_bytes += bytes;
		} else {
			err = add_lost(out, &room, &(struct heap_lost){
				.size = c ? heap_usable(c) : b->size,
				.word = first_word(j, b), .blocks = 1,
				.bytes = bytes, .definite = b->class == REACH_DEFINITE });
		}
		if (out->nr_lost < limit)
			continue;
		merge(out);
		limit = 2 * out->nr_lost > MANY_LOST ? 2 * out->nr_lost : MANY_LOST;
	}
	merge(out);
	if (out->nr_lost)
		qsort(out->lost, out->nr_lost, sizeof(*out->lost), by_bytes);
	return err;
}

struct parts {
	struct ranges roots, holes, own, unused;
	struct reach_block *blocks;
	size_t nr;
};

static int find_held(struct job *j, const struct parts *p)
{
	const struct held_input in = { &j->layout, &j->memory, &j->out->heap, &p->roots,
				       &p->unused, j->out->python };
	struct heap_look *out = j->out;
	int err;

	if (!j->memory.copy)
		return 0;
	err = held_find(&in, &out->ask, &out->held);
	if (err == -ENOMEM || err == -E2BIG) {
		out->no_held = err == -E2BIG ? "there are too many blocks" :
			       "there is not enough memory for it";
		return 0;
	}
	return err;
}

static int look_into(struct job *j, struct parts *p)
{
	const struct reach_memory m = { memory_read, kind, &j->memory, .next = memory_next,
					.chunks = true, .tagged = true };
	int err;

	err = find_blocks(&j->out->heap, &p->blocks, &p->nr, &p->holes);
	if (!err)
		err = find_stacks(&p->own, &j->layout);
	if (!err && j->out->ask.kinds)
		err = roots_unused(&p->unused, &j->layout, &p->own, &m);
	ranges_merge(&p->unused);
	/* what malloc has is a hole; the rest of [heap] is a root like any other memory */
	if (!err)
		err = roots_find(&p->roots, &j->layout, &p->own, true, &p->holes, &m);
	if (!err && j->mark)
		err = reach_scan(p->blocks, p->nr, p->roots.at, p->roots.nr, &m);
	if (!err && j->mark)
		err = tell(j, p->blocks, p->nr);
	j->out->marked = j->mark && !err;
	free(p->blocks);
	p->blocks = NULL;
	return !err && j->out->ask.kinds ? find_held(j, p) : err;
}

/* What nothing leads to, and what is in the others. */
static int mark(struct job *j)
{
	struct parts p = { .nr = 0 };
	const int err = look_into(j, &p);

	free(p.blocks);
	free(p.roots.at);
	free(p.holes.at);
	free(p.own.at);
	free(p.unused.at);
	return err;
}

/* ---- one look ---- */

static void forget(struct heap_look *out)
{
	heap_free(&out->heap);
	python_look_free(out->python);
	for (size_t i = 0; i < out->nr_lost; i++)
		free(out->lost[i].what);
	free(out->lost);
	held_free(out->held);
	*out = (struct heap_look){ .pid = out->pid, .tid = out->tid, .tries = out->tries,
				   .tracer = out->tracer, .copy = out->copy, .why = out->why,
				   .swapped = out->swapped, .many = out->many,
				   .ask = out->ask, .live = out->live, .core = out->core,
				   .image = out->image, .save = out->save,
				   .needs_ns = out->needs_ns };
}

/* Where it is, or in the copy, which has the layout, too. */
static int look(struct job *j, const struct reach_regs *regs, __u64 deadline)
{
	struct copy *c = j->stop ? j->out->copy : NULL;
	struct core *core = j->out->core;
	const bool kept = c || core;
	int err = 0;

	if (core)
		memory_open_image(&j->memory, j->out->image, core_pages(core));
	else
		memory_open(&j->memory, j->pid);
	j->memory.image = j->out->image;
	j->memory.careful = true;	/* what was not touched stays so */
	if (!j->out->swapped)
		memory_resident(&j->memory);
	j->memory.deadline = deadline;
	if (core) {
		j->layout = core_layout(core);
	} else if (c) {
		j->layout = copy_layout(c);
		j->memory.copy = copy_pages(c);
	} else {
		err = layout_read(&j->layout, j->pid, regs);
	}
	j->memory.layout = &j->layout;
	if (!err && !j->layout.nr)
		err = -ESRCH;
	if (!err)
		err = walk(j);
	if (!err && j->out->ask.kinds && kept)
		err = python_look(&j->out->python, &j->out->heap, &j->layout, &j->memory);
	if (!err && (j->mark || (j->out->ask.kinds && kept)))
		err = mark(j);
	if (j->memory.late)
		err = -ETIMEDOUT;
	if (!err && j->memory.gone)
		err = -EAGAIN;
	j->out->bytes = j->memory.bytes;
	j->out->threads = core ? j->layout.nr_threads : j->out->threads;
	j->out->left_out = core ? 0 : c ? copy_told(c)->swapped :
			   j->memory.swapped + j->memory.shared.swapped;
	if (c)
		copy_give_layout(c, &j->layout);
	else
		layout_free(&j->layout);
	memory_close(&j->memory);
	return err;
}

static int look_stopped(struct job *j, __u64 deadline)
{
	struct reach_regs regs = { .read = stopped_regs, .base = stopped_base, .lives = true };
	struct stopped *stopped;
	int err = stopped_begin(j->pid, deadline, &stopped, &j->out->tracer);

	if (err)
		return err;
	regs.ctx = stopped;
	limit_oom_first(true);
	err = j->out->copy ? copy_stopped(j->out->copy, &regs, deadline) :
			     look(j, &regs, deadline);
	limit_oom_first(false);
	j->out->threads = stopped_threads(stopped);
	stopped_end(stopped);
	return err;
}

/* In a thread of its own, which is over soon: see stopped.h. */
static void *look_in_thread(void *ctx)
{
	struct job *j = ctx;
	const __u64 begin = clock_ns(), deadline = begin + j->max_ns;

	j->err = j->stop ? look_stopped(j, deadline) : look(j, NULL, deadline);
	j->out->took_ns = clock_ns() - begin;
	return NULL;
}

static int look_once(struct heap_look *out, pid_t pid, __u64 max_ns, bool marked, bool stop)
{
	struct job *j = calloc(1, sizeof(*j));
	pthread_t thread;
	int err;

	if (!j)
		return -ENOMEM;
	j->out = out;
	j->pid = pid;
	j->max_ns = max_ns;
	j->mark = marked;
	j->stop = stop;
	err = thread_start(&thread, look_in_thread, j);
	if (!err) {
		pthread_join(thread, NULL);
		err = j->err;
	}
	if (!err && stop && out->copy) {
		limit_oom_first(true);
		err = look(j, NULL, 0);
		limit_oom_first(false);
		out->bytes = copy_told(out->copy)->again;
	}
	free(j);
	return err;
}

static int look_dry(const struct heap_look *of, __u64 max_ns, bool marked, __u64 *took_ns,
		    __u64 *bytes)
{
	struct heap_look l = { .pid = of->pid, .tid = of->tid, .swapped = of->swapped,
			       .image = of->image };
	const int err = look_once(&l, l.tid, max_ns, marked, false);

	*took_ns = l.took_ns;
	*bytes = l.bytes;
	forget(&l);
	return err;
}

#define MANY_THREADS	64		/* fewer are stopped in no time */

int heap_look_begin(struct heap_look *l, pid_t pid, __u64 max_ns, bool marked, bool swapped,
		    const struct held_ask *ask, __u64 *took_ns, __u64 *bytes)
{
	const struct copy_told *told;
	size_t threads;
	int err;

	*l = (struct heap_look){ .pid = pid, .tid = maps_thread(pid), .swapped = swapped,
				 .ask = ask ? *ask : (struct held_ask){ .kinds = false } };
	l->live = image_of_process(l->tid);
	l->image = &l->live;
	err = copy_new(l->tid, copy_max_bytes(), swapped, &l->copy);
	if (!err) {
		limit_oom_first(true);
		err = copy_running(l->copy, clock_ns() + COPY_NS);
		limit_oom_first(false);
	}
	l->why = copy_why_not(err);
	if (l->why) {
		copy_free(l->copy);
		l->copy = NULL;
		return look_dry(l, max_ns, marked, took_ns, bytes);
	}
	if (err)
		return err;
	told = copy_told(l->copy);
	threads = stopped_count(l->tid);
	l->needs_ns = told->again_ns + stopped_estimate(threads);
	l->many = threads > MANY_THREADS ? threads : 0;
	*took_ns = l->needs_ns;
	*bytes = told->again_now;
	return l->needs_ns > max_ns ? -ETIMEDOUT : 0;
}

/* Does it add up, and was all of it there that it needed? */
static bool is_good(const struct heap_look *l, int err)
{
	return err ? err != -EAGAIN : l->heap.complete;
}

static int try_look(struct heap_look *l, __u64 max_ns, bool marked, bool stop)
{
	int err;

	do {
		forget(l);
		l->tries++;
		err = look_once(l, l->tid, max_ns, marked, stop);
	} while (!is_good(l, err) && l->tries < TRIES);
	if (err)
		forget(l);
	return err;
}

/* What was copied, as it was when it was stopped. */
static int save(struct heap_look *l)
{
	struct layout layout = copy_layout(l->copy);
	const struct core_from from = { .pid = l->pid, .layout = &layout,
					.pages = copy_pages(l->copy), .image = l->image,
					.swapped = copy_told(l->copy)->swapped };
	const int err = core_save(&from, l->save, &l->saved_bytes);

	layout_free(&layout);
	return err;
}

int heap_look(struct heap_look *l, __u64 max_ns, bool marked)
{
	int err = try_look(l, max_ns, marked, true);

	l->way = LOOK_HELD;
	if (l->copy && err != -EAGAIN) {
		l->copied = copy_told(l->copy)->copied;
		l->why = copy_told(l->copy)->why;
		l->way = l->why ? LOOK_AGAIN : LOOK_CHANGED;
	}
	if (!err && l->save)
		l->saved = l->copy ? save(l) : -ENOBUFS;
	copy_free(l->copy);
	l->copy = NULL;
	if (err == -EAGAIN) {
		l->why = "its mapped files are changing";
		err = try_look(l, max_ns, marked, true);
	}
	if (!err && l->ask.kinds && !l->held && !l->no_held)
		l->no_held = l->why;
	return err;
}

int heap_look_core(struct heap_look *l, struct core *c, bool mark, const struct held_ask *ask)
{
	const struct core_told *told = core_told(c);
	struct job j = { .out = l, .mark = mark, .stop = true };
	int err;

	*l = (struct heap_look){ .pid = told->pid, .core = c, .image = core_image(c),
				 .ask = *ask, .tries = 1 };
	limit_oom_first(true);
	err = look(&j, NULL, 0);
	limit_oom_first(false);
	l->bytes = told->bytes;
	l->left_out = told->truncated + told->shared + told->closed + told->swapped;
	return err;
}

int heap_look_copied(struct heap_look *l, pid_t pid, struct copy *c, const struct held_ask *ask)
{
	struct job j = { .out = l, .stop = true };
	int err;

	*l = (struct heap_look){ .pid = pid, .tid = maps_thread(pid), .ask = *ask, .copy = c,
				 .tries = 1 };
	j.pid = l->tid;
	l->live = image_of_process(l->tid);
	l->image = &l->live;
	limit_oom_first(true);
	err = look(&j, NULL, 0);
	limit_oom_first(false);
	l->copy = NULL;
	return err;
}

int heap_look_running(struct heap_look *l, pid_t pid, __u64 max_ns)
{
	*l = (struct heap_look){ .pid = pid, .tid = maps_thread(pid) };
	l->live = image_of_process(l->tid);
	l->image = &l->live;
	return try_look(l, max_ns, false, false);
}

void heap_look_free(struct heap_look *l)
{
	copy_free(l->copy);
	l->copy = NULL;
	forget(l);
}
