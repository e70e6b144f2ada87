// SPDX-License-Identifier: GPL-2.0-or-later
/* Classify the live blocks of a process by its memory; see reach_process.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "target/procmaps.h"
#include "heap/heap.h"
#include "leaks/copy.h"
#include "leaks/pages.h"
#include "leaks/reach_int.h"
#include "leaks/reach_process.h"

struct reach_process {
	pid_t pid;
	__u32 space;
	bool all_known;			/* every block that was handed out */
	struct reach_block *blocks;	/* sorted */
	size_t nr;
	struct ranges mapped;		/* by its allocators, */
	struct ranges own;		/* and by the program */
	struct ranges linkers;		/* of these, what ld.so mapped for itself */
	struct layout layout;
	struct memory memory;		/* of a copy: the layout is known, too */
	__u64 left_out;			/* bytes that are swapped out, and were not read */
};

/* ---- what the session knows ---- */

/*
 * By the kernel's number of the process, or by the one that it has in its own namespace, which
 * its task says: not a task that was there for a moment, between vfork() and execve().
 */
static bool is_of(const struct snap *s, const struct memtap_rec_space *space, pid_t pid,
		  bool in_namespace)
{
	const struct memtap_rec_task *t = snap_task(s, space->task);

	if (space->flags & (MEMTAP_SPACE_EXECED | MEMTAP_SPACE_EXITED))
		return false;
	return in_namespace ? t && t->pid == space->pid && t->ns_pid == pid : space->pid == pid;
}

/* The last one that it has: another one before execve() may be there for somebody else. */
static const struct memtap_rec_space *space_of(const struct snap *s, pid_t pid, bool in_namespace)
{
	const struct memtap_rec_space *found = NULL;

	for (size_t i = 0; i < s->nr_spaces; i++)
		if (is_of(s, &s->spaces[i], pid, in_namespace) &&
		    (!found || s->spaces[i].begin_ns >= found->begin_ns))
			found = &s->spaces[i];
	return found;
}

static const struct memtap_rec_space *find_space(const struct snap *s, __u32 id, pid_t pid)
{
	const struct memtap_rec_space *found = id ? snap_space(s, id) : NULL;

	if (!found)
		found = space_of(s, pid, false);
	return found ? found : space_of(s, pid, true);
}

/* glibc's: musl's is its libc, too */
static bool is_linker(const char *path)
{
	const char *name = base_name(path);

	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld64.so", 7) ||
	       !strncmp(name, "ld-2.", 5);
}

/* It has an mmap() of its own, for pages that it keeps for itself, and forgets the rest of. */
static bool is_linkers(const struct snap *s, const struct memtap_block *b)
{
	const struct memtap_rec_task *t = snap_task(s, b->task);
	const struct snap_stack *st = snap_stack(s, b->ustack);
	const struct snap_map *map = NULL;

	if (t && st && st->nr)
		map = snap_map(s, t->space, st->era, st->ip[0]);

	return map && map->file && is_linker(snap_file(s, map->file)->path);
}

static int take_block(struct reach_process *p, const struct snap *s,
		      const struct memtap_block *b)
{
	const __u32 kind = b->flags & (MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER);
	int err = 0;

	if (kind == MEMTAP_BLOCK_MAPPING && is_linkers(s, b))
		err = ranges_add(&p->linkers, b->addr, b->addr + 1, false);
	if (err)
		return err;
	if (b->flags & MEMTAP_BLOCK_MAPPING)
		return ranges_add(b->flags & MEMTAP_BLOCK_INNER ? &p->mapped : &p->own,
				  b->addr, b->addr + b->size, false);
	p->blocks[p->nr++] = (struct reach_block){ .addr = b->addr, .size = b->size };
	return 0;
}

static int take_blocks(struct reach_process *p, const struct snap *s)
{
	struct snap_walk w = { .snap = s };
	size_t nr = 0;
	int err = 0;

	while (snap_next_block(&w))
		nr += w.block->space == p->space &&
		      !(w.block->flags & MEMTAP_BLOCK_INNER);
	p->blocks = calloc(nr + 1, sizeof(*p->blocks));
	if (!p->blocks)
		return -ENOMEM;
	w = (struct snap_walk){ .snap = s };
	while (!err && snap_next_block(&w))
		if (w.block->space == p->space)
			err = take_block(p, s, w.block);
	qsort(p->blocks, p->nr, sizeof(*p->blocks), reach_block_cmp);
	ranges_merge(&p->linkers);
	return err;
}

/* ---- which memory is the allocators' ---- */

static bool has_block(const struct reach_process *p, __u64 start, __u64 end)
{
	const size_t first = reach_block_from(p->blocks, p->nr, start);

	return first < p->nr && p->blocks[first].addr < end;
}

/*
 * Some allocators map their memory before the first call; the program's own mappings
 * become blocks, which are looked at as roots.
 */
static int take_arenas(struct reach_process *p)
{
	const size_t nr = p->nr;
	size_t more = nr;
	int err = 0;

	for (size_t i = 0; !err && i < p->own.nr; i++) {
		const struct reach_range *m = &p->own.at[i];

		if (has_block(p, m->start, m->end))
			err = ranges_add(&p->mapped, m->start, m->end, false);
		else
			p->blocks[more++] = (struct reach_block){
				.addr = m->start, .size = m->end - m->start, .is_root = true };
	}
	if (err || p->own.nr || p->mapped.nr) {
		p->nr = more;
		return err;
	}
	/* mappings are not followed: all that has a block in it is taken for one */
	for (size_t i = 0; !err && i < p->layout.nr; i++) {
		const struct area *a = &p->layout.areas[i];

		if (!a->is_file && has_block(p, a->start, a->end))
			err = ranges_add(&p->mapped, a->start, a->end, false);
	}
	return err;
}

/* Blocks in what is an allocator's are no holes in any root. */
static bool is_apart(const struct reach_process *p, const struct reach_block *b,
		     const struct ranges *mapped, const struct area **last)
{
	if (!*last || b->addr - (*last)->start >= (*last)->end - (*last)->start)
		*last = layout_find(&p->layout, b->addr);
	if (*last && (*last)->is_heap && p->all_known)
		return ranges_have(&p->layout.foreign, b->addr);
	return !ranges_have(mapped, b->addr);
}

static int add_hole(__u64 start, __u64 end, void *ctx)
{
	return ranges_add(ctx, start, end, false);
}

/*
 * In what malloc has, blocks may lie that nobody knows: all of them say something.  What is free
 * does not: its links lead to the heads of chunks, which lie in the blocks before them.
 */
static int take_free(struct reach_process *p, bool passing)
{
	struct heap h;
	int err = heap_of_layout(&h, &p->layout, &p->memory, passing, false);

	if (!err) {
		err = heap_each_unused(&h, add_hole, &p->mapped);
		heap_free(&h);
	}
	return err == -ENOMEM ? err : 0;	/* else it is not glibc's */
}

static int take_holes(struct reach_process *p, bool passing)
{
	const struct area *last = NULL;
	size_t nr;
	int err = 0;

	if (p->all_known)
		err = take_arenas(p);
	else
		p->mapped.nr = 0;
	ranges_merge(&p->mapped);
	nr = p->mapped.nr;
	for (size_t i = 0; !err && i < p->nr; i++) {
		const struct reach_block *b = &p->blocks[i];
		const struct ranges known = { p->mapped.at, nr, 0 };

		if (!b->is_root && is_apart(p, b, &known, &last))
			err = ranges_add(&p->mapped, b->addr, b->addr + b->size, false);
	}
	return err || p->all_known ? err : take_free(p, passing);
}

/* ---- all of it ---- */

static enum reach_kind kind(void *ctx, __u64 addr)
{
	const struct reach_process *p = (const struct reach_process *)
		((const char *)ctx - offsetof(struct reach_process, memory));
	const struct area *a = layout_find(&p->layout, addr);

	if (!a || !a->is_file || !a->readable)
		return REACH_OTHER;
	return a->executable ? REACH_CODE : REACH_DATA;
}

/* Who waits for us ends the program; the others are where they are. */
static int look_at_exit(struct reach_process *p, const struct reach_memory *m)
{
	for (size_t i = 0; i < p->layout.nr_threads; i++) {
		struct thread *t = &p->layout.threads[i];

		if (t->tid == p->pid && t->nr_regs == MEMTAP_HELD_REGS)
			return exit_look(&p->layout, p->pid, t, m);
	}
	return 0;
}

/* Can each block be looked into that is anywhere?  (A mapping is a root as far as it may be.) */
static int all_copied(struct reach_process *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!pages_find(p->memory.copy, p->blocks[i].addr) &&
		    layout_find(&p->layout, p->blocks[i].addr))
			return -ENXIO;
	return 0;
}

static int scan(struct reach_process *p, const struct reach_regs *regs)
{
	/* a copy is taken of what will go on */
	const bool lives = p->memory.copy || (regs && regs->lives);
	const struct reach_memory m = { memory_read, kind, &p->memory, .next = memory_next,
					.tagged = lives };
	struct ranges roots = { NULL, 0, 0 };
	int err;

	err = p->memory.copy ? all_copied(p) : layout_read(&p->layout, p->pid, regs);
	p->memory.layout = &p->layout;
	if (!err && !lives)
		err = look_at_exit(p, &m);
	if (!err && p->all_known)
		err = layout_read_heap(&p->layout, p->blocks, p->nr, &m);
	if (!err)
		err = take_holes(p, !lives && !regs);
	if (!err)
		err = roots_find(&roots, &p->layout, &p->own, !p->all_known, &p->mapped, &m);
	/* else all that malloc has is one */
	if (!err && p->all_known)
		err = calls_read(&roots, &p->layout, p->blocks, p->nr, &m);
	if (!err)
		err = reach_scan(p->blocks, p->nr, roots.at, roots.nr, &m);
	free(roots.at);
	return err;
}

/*
 * What nobody may touch in the midst of brk()'s memory was put there by an allocator, to guard
 * its own (musl's does so before its first call could be seen).
 */
static bool is_guard(const struct area *a)
{
	return a && a->is_heap && !a->readable && !a->writable && !a->executable;
}

/* ld.so maps what begins as zeros of a library; nobody needs to have its address. */
static bool is_librarys(const struct reach_process *p, const struct reach_block *b)
{
	const struct area *a = b->is_root ? layout_find(&p->layout, b->addr) : NULL;

	if (is_guard(a) || (b->is_root && ranges_have(&p->linkers, b->addr)))
		return true;
	return a && a > p->layout.areas && a->start == b->addr && a[-1].end == a->start &&
	       a[-1].is_file && a[-1].writable;
}

/* What was not read may lead there. */
static void doubt(struct reach_process *p)
{
	if (!p->memory.copy)
		p->left_out = p->memory.swapped + p->memory.shared.swapped;
	for (size_t i = 0; p->left_out && i < p->nr; i++)
		if (p->blocks[i].class == REACH_DEFINITE || p->blocks[i].class == REACH_INDIRECT)
			p->blocks[i].class = REACH_POSSIBLE;
}

static int give(const struct reach_process *p, struct snap_reach **found, size_t *nr)
{
	*found = calloc(p->nr + 1, sizeof(**found));
	if (!*found)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		(*found)[i] = (struct snap_reach){ p->blocks[i].addr, p->space,
						   is_librarys(p, &p->blocks[i]) ?
						   REACH_REACHABLE : p->blocks[i].class, 0, 0 };
	*nr = p->nr;
	return 0;
}

int reach_process_new(const struct snap *s, __u32 id, pid_t pid, pid_t tid,
		      struct reach_process **out)
{
	const struct memtap_rec_space *space = find_space(s, id, pid);
	struct reach_process *p;
	int err;

	if (!space)
		return -ESRCH;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->pid = tid;
	p->space = space->id;
	p->all_known = space->flags & MEMTAP_SPACE_START;
	memory_open(&p->memory, tid);
	err = take_blocks(p, s);
	if (err)
		reach_process_free(p);
	else
		*out = p;
	return err;
}

static int any_area(const struct procmap *area, void *ctx)
{
	(void)area;
	(void)ctx;
	return 1;
}

/* What ended meanwhile had memory that could not be read, and seems to be lost. */
static bool is_there(const struct reach_process *p)
{
	return procmaps_read(p->pid, any_area, NULL) == 1;
}

static int copy_ranges(struct ranges *to, const struct ranges *from)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->nr; i++)
		err = ranges_add(to, from->at[i].start, from->at[i].end, from->at[i].starts_only);
	return err;
}

/* What is found once is there: the better class counts. */
static void merge(struct reach_process *p, const struct reach_block *first, size_t nr)
{
	for (size_t i = 0, k = 0; i < p->nr && k < nr; i++) {
		while (k < nr && first[k].addr < p->blocks[i].addr)
			k++;
		if (k < nr && first[k].addr == p->blocks[i].addr &&
		    first[k].class > p->blocks[i].class)
			p->blocks[i].class = first[k].class;
	}
}

/*
 * Threads that run meanwhile may take an address from where it was not yet looked for
 * to where it was: what seems to be lost must seem so twice.
 */
static int scan_again(struct reach_process *p, const struct reach_regs *regs,
		      struct reach_block *blocks, size_t nr, const struct ranges *mapped)
{
	struct reach_block *first = p->blocks;
	const size_t nr_first = p->nr;
	int err;

	p->blocks = blocks;
	p->nr = nr;
	p->mapped.nr = 0;
	layout_free(&p->layout);
	err = copy_ranges(&p->mapped, mapped);
	if (!err)
		err = scan(p, regs);
	if (!err)
		merge(p, first, nr_first);
	free(first);
	return err;
}

/* As it was before the first look, which changes it. */
static int scan_twice(struct reach_process *p, const struct reach_regs *regs)
{
	struct reach_block *blocks = calloc(p->nr + p->own.nr + 1, sizeof(*blocks));
	struct ranges mapped = { NULL, 0, 0 };
	const size_t nr = p->nr;
	int err = blocks ? copy_ranges(&mapped, &p->mapped) : -ENOMEM;

	if (!err) {
		memcpy(blocks, p->blocks, nr * sizeof(*blocks));
		err = scan(p, regs);
	}
	if (!err && layout_moved(&p->layout, p->pid)) {
		err = scan_again(p, regs, blocks, nr, &mapped);
		blocks = NULL;
	}
	free(blocks);
	free(mapped.at);
	return err;
}

static bool has_threads(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return !stat(path, &st) && st.st_nlink > 3;	/* itself, its parent, the first one */
}

int reach_process_scan(struct reach_process *p, const struct reach_regs *regs,
		       struct snap_reach **found, size_t *nr)
{
	const bool once = p->memory.copy || !has_threads(p->pid);
	const int err = once ? scan(p, regs) : scan_twice(p, regs);

	if (!err && p->memory.late)
		return -ETIMEDOUT;
	if (!err && p->memory.gone)
		return -EAGAIN;
	if (!err && !p->memory.copy && !is_there(p))
		return -ESRCH;
	if (err)
		return err;
	doubt(p);
	return give(p, found, nr);
}

void reach_process_use(struct reach_process *p, struct copy *c)
{
	p->layout = copy_layout(c);
	p->memory.copy = copy_pages(c);
	p->left_out = copy_told(c)->swapped;
}

void reach_process_used(struct reach_process *p, struct copy *c)
{
	copy_give_layout(c, &p->layout);
}

void reach_process_resident(struct reach_process *p)
{
	memory_resident(&p->memory);
}

void reach_process_until(struct reach_process *p, __u64 deadline_ns)
{
	p->memory.deadline = deadline_ns;
}

__u64 reach_process_bytes(const struct reach_process *p)
{
	return p->memory.bytes;
}

void reach_process_left(struct reach_process *p, struct reach_left *left)
{
	*left = (struct reach_left){ .failed = p->memory.failed, .swapped = p->left_out };
	layout_left(&p->layout, &p->memory, left);
}

void reach_process_free(struct reach_process *p)
{
	memory_close(&p->memory);
	layout_free(&p->layout);
	free(p->blocks);
	free(p->mapped.at);
	free(p->own.at);
	free(p->linkers.at);
	free(p);
}
