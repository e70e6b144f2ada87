// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the memory areas that count as roots: data, stacks, thread-local memory. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/maps.h"
#include "target/procmaps.h"
#include "leaks/reach_int.h"

#define RED_ZONE	128		/* below the stack pointer, and in use */
#define EARLY		(64ULL << 10)	/* of the heap, before the first malloc */
#define THREAD_LEN	4096		/* a thread's own block, from its address on */
#define MOST_STACK	(64ULL << 20)	/* in use, below a thread's own block */
#define LEAST_PAGE	4096		/* a mapping ends with one */

/* ---- mappings ---- */

static bool is_device(const char *path)
{
	return !strncmp(path, "/dev/", 5) && strncmp(path, "/dev/zero", 9) &&
	       strncmp(path, "/dev/shm/", 9);
}

static int make_room(struct layout *l)
{
	struct area *more;

	if (l->nr < l->room)
		return 0;
	more = reallocarray(l->areas, 2 * l->room + 64, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->areas = more;
	l->room = 2 * l->room + 64;
	return 0;
}

/* Mappings of one file follow each other. */
static int add_path(struct layout *l, const char *path, __u32 *at)
{
	char **more;

	if (l->nr_paths && !strcmp(l->paths[l->nr_paths - 1], path)) {
		*at = (__u32)l->nr_paths - 1;
		return 0;
	}
	if (l->nr_paths == l->room_paths) {
		more = reallocarray(l->paths, 2 * l->room_paths + 16, sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->paths = more;
		l->room_paths = 2 * l->room_paths + 16;
	}
	l->paths[l->nr_paths] = strdup(path);
	if (!l->paths[l->nr_paths])
		return -ENOMEM;
	*at = (__u32)l->nr_paths++;
	return 0;
}

int layout_add(const struct procmap *p, void *layout)
{
	struct layout *l = layout;
	__u32 path = 0;

	if (make_room(l) || (p->path[0] == '/' && add_path(l, p->path, &path)))
		return -ENOMEM;
	l->areas[l->nr++] = (struct area){
		.start = p->start,
		.end = p->end,
		.offset = p->offset,
		.inode = p->inode,
		.dev_major = p->dev_major,
		.dev_minor = p->dev_minor,
		.readable = p->readable,
		.writable = p->writable,
		.executable = p->executable,
		.shared = p->shared,
		.is_file = p->path[0] == '/',
		.is_heap = !strcmp(p->path, "[heap]"),
		.is_stack = !strcmp(p->path, "[stack]"),
		.is_trampoline = !strcmp(p->path, "[uprobes]"),
		.device = is_device(p->path),
		.skipped = is_device(p->path) || !strncmp(p->path, "[v", 2) ||
			   p->end - p->start > RESERVED,
		.path = path,
	};
	return 0;
}

int layout_cut_heap(struct layout *l, __u64 brk)
{
	struct area *a;

	for (size_t i = 0; i < l->nr; i++) {
		if (!l->areas[i].is_heap || l->areas[i].start >= brk)
			continue;
		if (l->areas[i].end <= brk) {
			l->areas[i].is_heap = false;
			continue;
		}
		if (make_room(l))
			return -ENOMEM;
		a = &l->areas[i];
		memmove(a + 1, a, (l->nr - i) * sizeof(*a));
		l->nr++;
		a[0].end = a[1].start = brk;
		a[0].is_heap = false;
		break;
	}
	return 0;
}

int layout_read_areas(struct layout *l, pid_t pid)
{
	int err;

	memset(l, 0, sizeof(*l));
	err = procmaps_read(pid, layout_add, l);
	return err ? err : layout_cut_heap(l, procmaps_brk(pid) & ~(__u64)(LEAST_PAGE - 1));
}

int layout_read(struct layout *l, pid_t pid, const struct reach_regs *regs)
{
	int err = layout_read_areas(l, pid);

	if (!err)
		err = threads_read(l, pid, regs);
	return err ? err : kernel_words(l, pid);
}

/* Reserved address space, of which nothing is there, would take long to be looked up. */
#define MOST_LOCKED	(1ULL << 30)

void layout_left(const struct layout *l, struct memory *m, struct reach_left *left)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct area *a = &l->areas[i];

		if (a->device)
			left->devices += a->end - a->start;
		else if (!a->readable && !a->is_file && !a->skipped &&
			 a->end - a->start < MOST_LOCKED)
			left->locked += memory_touched(m, a->start, a->end);
	}
}

void layout_free(struct layout *l)
{
	for (size_t i = 0; i < l->nr_paths; i++)
		free(l->paths[i]);
	free(l->paths);
	free(l->areas);
	free(l->threads);
	free(l->words.at);
	free(l->frames.at);
	free(l->foreign.at);
	memset(l, 0, sizeof(*l));
}

/* ---- stacks: below the stack pointer lies what was left there ---- */

/*
 * Where the stack begins whose pointer @sp is, in @a; @sp: nobody knows.  glibc's threads know
 * it themselves.  What others take for one may share its mapping with anything, other stacks
 * among it, also where a guard lies below: there, only what was touched without a gap is one.
 */
static __u64 stack_begin(const struct layout *l, const struct area *a, __u64 sp,
			 const struct reach_memory *m)
{
	const struct area *below = a > l->areas ? a - 1 : NULL;
	struct reach_range above = { sp, a->end, false }, stack;
	__u64 thread;

	if (a->is_stack)
		return a->start;
	if (above.end - sp > MOST_STACK)
		above.end = sp + MOST_STACK;
	thread = reach_find_thread(&above, m);
	if (thread && reach_find_stack(thread, m, &stack) && stack.start <= sp)
		return stack.start > a->start ? stack.start : a->start;
	if (!below || below->end != a->start || below->readable || below->writable)
		return sp;
	return memory_touched_from(m->ctx, a->start, sp);
}

/* Does another thread have its stack there? */
static bool has_other(const struct layout *l, const struct thread *t, __u64 start, __u64 end)
{
	for (size_t i = 0; i < l->nr_threads; i++)
		if (&l->threads[i] != t && l->threads[i].sp - start < end - start)
			return true;
	return false;
}

static int add_unused(struct ranges *holes, const struct layout *l, const struct reach_memory *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < l->nr_threads; i++) {
		const struct thread *t = &l->threads[i];
		const __u64 below = t->in_call ? 0 : RED_ZONE;
		const struct area *a = t->sp ? layout_find(l, t->sp) : NULL;
		const __u64 start = a ? stack_begin(l, a, t->sp, m) : 0;

		if (a && t->sp - start > below && !has_other(l, t, start, t->sp))
			err = ranges_add(holes, start, t->sp - below, false);
	}
	return err;
}

/* A stack of @range whose own block is in [@from, its end); 0: there is none. */
static __u64 find_stack(const struct reach_range *range, __u64 from, const struct reach_memory *m,
			struct reach_range *stack)
{
	struct reach_range rest = { from, range->end, false };
	__u64 thread;

	while ((thread = reach_find_thread(&rest, m))) {
		if (reach_find_stack(thread, m, stack) && stack->start >= range->start &&
		    stack->end <= range->end)
			return thread;
		rest.start = thread + sizeof(__u64);
	}
	return 0;
}

/*
 * Stacks that libc keeps for the next thread, with the block of the last one at their end,
 * which libc still uses, and which knows where they begin.  Behind them other memory may lie
 * in the same mapping.
 */
static int add_dead_stacks(struct ranges *holes, const struct layout *l,
			   const struct ranges *own, const struct reach_memory *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < own->nr; i++) {
		const struct reach_range *range = &own->at[i];
		const __u64 end = range->end - range->start > 2 * THREAD_LEN ?
				  range->end - 2 * THREAD_LEN : range->start;
		struct reach_range stack;
		__u64 thread = find_stack(range, end, m, &stack);

		if (!thread && end > range->start)
			thread = find_stack(range, range->start, m, &stack);
		if (thread && !threads_have(l, &stack, thread, m))
			err = ranges_add(holes, stack.start, thread, false);
	}
	return err;
}

/* ---- roots ---- */

/* The rest of a range when holes are taken out, which are sorted and apart. */
static int add_without(struct ranges *roots, const struct reach_range *range,
		       const struct ranges *holes)
{
	__u64 at = range->start;
	int err = 0;

	for (size_t i = ranges_behind(holes, at); !err && i < holes->nr; i++) {
		const struct reach_range *hole = &holes->at[i];

		if (hole->start >= range->end)
			break;
		if (hole->start > at)
			err = ranges_add(roots, at, hole->start, range->starts_only);
		if (hole->end > at)
			at = hole->end;
	}
	return err ? err : ranges_add(roots, at, range->end, range->starts_only);
}

static int add_area_roots(struct ranges *roots, const struct area *a,
			  const struct ranges *holes, const struct reach_memory *m)
{
	struct reach_range all = { a->start, a->end, false }, bins, part;
	__u64 top;
	int err;

	if (!reach_find_bins(&all, m, &bins, &top))
		return add_without(roots, &all, holes);
	part = (struct reach_range){ all.start, bins.start, false };
	err = add_without(roots, &part, holes);
	if (!err)
		err = add_without(roots, &bins, holes);
	part = (struct reach_range){ bins.end, all.end, false };
	return err ? err : add_without(roots, &part, holes);
}

/*
 * What malloc makes of the heap is no root.  What the program took itself is; and a
 * static program takes the memory of its first thread from there, before anything else.
 */
static int add_heap_roots(struct ranges *roots, const struct layout *l, const struct area *a,
			  const struct ranges *holes, const struct reach_memory *m)
{
	struct reach_range early = { a->start, a->end, false };
	__u64 thread;
	int err = 0;

	for (size_t i = 0; !err && i < l->foreign.nr; i++)
		if (l->foreign.at[i].start >= a->start && l->foreign.at[i].start < a->end)
			err = add_without(roots, &l->foreign.at[i], holes);
	if (err || l->foreign.nr)
		return err;
	if (early.end - early.start > EARLY)
		early.end = early.start + EARLY;
	thread = reach_find_thread(&early, m);
	if (!thread)
		return 0;
	early.end = thread + THREAD_LEN < a->end ? thread + THREAD_LEN : a->end;
	return add_without(roots, &early, holes);
}

/*
 * Of what a program may read: a file's constants never point to the heap.  What is no file's was
 * written once, whoever may write it now.
 */
bool area_may_point(const struct layout *l, const struct area *a)
{
	const struct area *next = a + 1 < l->areas + l->nr ? a + 1 : NULL;

	if (!a->readable || a->skipped)
		return false;
	if (a->writable || (!a->is_file && !a->executable))
		return true;
	/* addresses that are filled in at the start lie before the other data */
	return !a->executable && next && next->is_file && next->writable && next->start == a->end;
}

static bool is_bss(const struct layout *l, const struct area *a)
{
	return a->is_file || (a > l->areas && a[-1].is_file && a[-1].end == a->start);
}

/* Where the last chunk of malloc's is, by what stands among libc's data. */
static __u64 find_top(const struct layout *l, const struct reach_memory *m)
{
	struct reach_range bins;
	__u64 top = 0;

	for (size_t i = 0; i < l->nr && !top; i++) {
		const struct area *a = &l->areas[i];
		const struct reach_range all = { a->start, a->end, false };

		if (area_may_point(l, a) && !a->is_heap && is_bss(l, a))
			reach_find_bins(&all, m, &bins, &top);
	}
	return top;
}

int layout_read_heap(struct layout *l, const struct reach_block *blocks, size_t nr,
		     const struct reach_memory *m)
{
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++)
		if (l->areas[i].is_heap)
			err = heap_foreign(&l->foreign, &l->areas[i], find_top(l, m), blocks, nr,
					   m);
	ranges_merge(&l->foreign);
	return err;
}

int roots_unused(struct ranges *unused, const struct layout *l, const struct ranges *own,
		 const struct reach_memory *m)
{
	const int err = add_unused(unused, l, m);

	return err ? err : add_dead_stacks(unused, l, own, m);
}

int roots_find(struct ranges *roots, struct layout *l, const struct ranges *own, bool heap,
	       struct ranges *holes, const struct reach_memory *m)
{
	int err = roots_unused(holes, l, own, m);

	ranges_merge(holes);
	for (size_t i = 0; !err && i < l->frames.nr; i++)
		err = ranges_add(roots, l->frames.at[i].start, l->frames.at[i].end, false);
	if (!err)
		err = ranges_add(roots, WORDS_AT, WORDS_AT + l->words.nr * sizeof(__u64), false);
	for (size_t i = 0; !err && i < l->nr; i++) {
		const struct area *a = &l->areas[i];
		const struct reach_range range = { a->start, a->end, false };

		if (!area_may_point(l, a))
			continue;
		if (a->is_heap && !heap)
			err = add_heap_roots(roots, l, a, holes, m);
		else if (is_bss(l, a))
			err = add_area_roots(roots, a, holes, m);
		else
			err = add_without(roots, &range, holes);
	}
	return err;
}
