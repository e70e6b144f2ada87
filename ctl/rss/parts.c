// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classify anonymous memory: malloc arenas and large blocks of glibc, and stacks of threads.  They
 * have no names, and are recognized by their contents.  Only resident pages are read, so that none
 * is faulted in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ids.h"
#include "rss/rss.h"

#define HEAP_MAX	(64ULL << 20)	/* of glibc: heaps of arenas begin at multiples of it */
#define MOST_STACK	(16ULL << 20)	/* that is in use of one */
#define MOST_INFO	256		/* bytes of what stands before an arena in its first heap */
#define MMAPPED		2ULL		/* of a block's size: it has a mapping of its own, */
#define SIZE_BITS	7ULL		/* in these bits */
#define ABOVE_32	(1ULL << 32)
#define ACCESS		(MEMTAP_MAPPING_READ | MEMTAP_MAPPING_WRITE | MEMTAP_MAPPING_EXEC)

struct thread {
	__u64 sp;
	__u32 tid;
};

struct looker {
	const struct rss_env *e;
	struct rss_process *p;
	int mem;
	struct thread *stacks;		/* where threads have theirs */
	size_t nr_stacks, room_stacks;
};

/* How glibc begins a heap of an arena that is not the main one. */
struct heap_info {
	__u64 arena, prev, size, allowed;
};

static bool read_at(const struct looker *k, __u64 addr, void *to, size_t len)
{
	const struct rss_run *r = rss_process_run(k->p, addr / k->e->page);

	return r && r->kind == RSS_ANON &&
	       addr / k->e->page == (addr + len - 1) / k->e->page &&
	       pread(k->mem, to, len, (off_t)addr) == (ssize_t)len;
}

static int add_part(struct looker *k, __u64 start, __u64 end, enum rss_for what, bool first)
{
	struct rss_process *p = k->p;
	struct rss_part *all;

	if (start >= end)
		return 0;
	all = ids_grow(p->parts, p->nr_parts, &p->room_parts, sizeof(*all));
	if (!all)
		return -ENOMEM;
	p->parts = all;
	all[p->nr_parts++] = (struct rss_part){ start / k->e->page, end / k->e->page, what, 0 };
	p->things[what] += first;
	return 0;
}

/* --- malloc() ---------------------------------------------------------------------- */

/* Bytes of the heap that begins here, of an arena; 0: none does.  *first: the arena, too. */
static __u64 heap_at(const struct looker *k, __u64 base, __u64 end, bool *first)
{
	struct heap_info h, of;
	__u64 arena;

	if (base % HEAP_MAX || !read_at(k, base, &h, sizeof(h)))
		return 0;
	if (!h.size || h.size % k->e->page || h.size > h.allowed || h.allowed > HEAP_MAX ||
	    h.prev % HEAP_MAX || base + h.size > end)
		return 0;
	arena = h.arena - h.arena % HEAP_MAX;
	if (h.arena - arena < sizeof(h) || h.arena - arena > MOST_INFO)
		return 0;
	*first = arena == base;
	if (!*first && (!h.prev || !read_at(k, arena, &of, sizeof(of)) || of.arena != h.arena))
		return 0;
	if (*first && h.prev)
		return 0;
	return base + h.allowed < end ? h.allowed : end - base;
}

/* Bytes of the block that has a mapping of its own, and begins here; 0: none does. */
static __u64 block_at(const struct looker *k, __u64 at, __u64 end)
{
	__u64 head[2], size;

	if (!read_at(k, at, head, sizeof(head)) || head[0] >= k->e->page)
		return 0;
	size = head[1] & ~SIZE_BITS;
	if (size % k->e->page == k->e->page - sizeof(head))
		size += sizeof(head);	/* since 2.42 it is without its own head */
	return (head[1] & SIZE_BITS) == MMAPPED && size && !(size % k->e->page) &&
	       size <= end - at ? size : 0;
}

/* --- stacks ------------------------------------------------------------------------ */

static void take_stack(struct looker *k, const char *path, __u32 tid)
{
	char line[256], *last[2] = { NULL, NULL }, *word, *save = NULL;
	struct thread *all;
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		for (word = strtok_r(line, " \n", &save); word;
		     word = strtok_r(NULL, " \n", &save)) {
			last[0] = last[1];
			last[1] = word;
		}
	fclose(f);
	/* one that runs just now has no more than a word */
	all = last[0] ? ids_grow(k->stacks, k->nr_stacks, &k->room_stacks, sizeof(*all)) : NULL;
	if (!all)
		return;
	k->stacks = all;
	all[k->nr_stacks++] = (struct thread){ strtoull(last[0], NULL, 16), tid };
}

static void find_stacks(struct looker *k, const char *proc)
{
	char path[128];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/task", proc);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (*d->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%.60s/task/%.20s/syscall", proc, d->d_name);
		take_stack(k, path, (__u32)strtoul(d->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
}

/* Threads whose stack pointer is in there. */
static size_t stacks_in(const struct looker *k, __u64 start, __u64 end)
{
	size_t nr = 0;

	for (size_t i = 0; i < k->nr_stacks; i++)
		nr += k->stacks[i].sp >= start && k->stacks[i].sp < end;
	return nr;
}

/* The one thread of these; 0: there are none, or several. */
static __u32 thread_in(const struct looker *k, __u64 start, __u64 end)
{
	__u32 tid = 0;

	if (stacks_in(k, start, end) != 1)
		return 0;
	for (size_t i = 0; i < k->nr_stacks; i++)
		if (k->stacks[i].sp >= start && k->stacks[i].sp < end)
			tid = k->stacks[i].tid;
	return tid;
}

/*
 * Where the stack of a thread begins that ends here; 0: none does.  Of one that runs, and of a
 * stack that is kept for the next one: above it stands what a thread has of its own, whose first
 * and third word are its address, and behind them where the stack begins and how long it is.  The
 * first thread has that in a mapping as well, without these: its stack is elsewhere.
 */
static __u64 stack_before(const struct looker *k, __u64 start, __u64 end)
{
	const unsigned int page = k->e->page;
	__u64 *words = malloc(page), begin = 0;
	bool own = false;

	if (words && end - start >= page && read_at(k, end - page, words, page))
		for (size_t i = 0; !begin && i + 2 < page / 8; i++) {
			own |= words[i] == end - page + i * 8 && words[i + 2] == words[i];
			if (own && words[i] < end && !(words[i] % page) &&
			    words[i] + words[i + 1] == end)
				begin = words[i];
		}
	free(words);
	/* what keeps others off it may be a mapping of its own */
	return begin && begin < start ? start : begin;
}

/*
 * The stack with the highest stack pointer below *@end, where something else was mapped right
 * above it: it ends at *@end then.
 */
static __u64 stack_around(const struct looker *k, __u64 start, __u64 *end)
{
	const unsigned int page = k->e->page;
	__u64 sp = 0, begin, at;

	for (size_t i = 0; i < k->nr_stacks; i++)
		if (k->stacks[i].sp >= start && k->stacks[i].sp < *end &&
		    k->stacks[i].sp > sp)
			sp = k->stacks[i].sp;
	for (at = sp - sp % page; sp && at < *end && at < sp + MOST_STACK; at += page) {
		begin = stack_before(k, start, at + page);
		if (begin && begin <= sp) {
			*end = at + page;
			return begin;
		}
	}
	return 0;
}

/*
 * A stack that a program has made itself, or a library that is not glibc: a mapping with one
 * stack pointer and with a guard right below it.  Without, it may be anything from which stacks
 * are taken, too: the heap of Go.
 */
static bool own_stack(const struct looker *k, __u64 start, __u64 end)
{
	size_t low = 0, high = k->p->nr_maps, at;

	if (stacks_in(k, start, end) != 1)
		return false;
	while (low < high) {
		at = low + (high - low) / 2;
		if (k->p->maps[at].end * k->e->page < start)
			low = at + 1;
		else
			high = at;
	}
	return low < k->p->nr_maps && k->p->maps[low].end * k->e->page == start &&
	       k->p->maps[low].private && !(k->p->maps[low].allowed & ACCESS);
}

/* --- mappings ------------------------------------------------------------------------ */

/* Large blocks, one behind the other from its beginning on. */
static int take_blocks(struct looker *k, __u64 start, __u64 end)
{
	__u64 len;
	int err;

	for (err = 0; !err && start < end; start += len) {
		len = block_at(k, start, end);
		if (!len)
			break;
		err = add_part(k, start, start + len, RSS_FOR_BLOCK, true);
	}
	return err;
}

/* Of a mapping, or what is no heap of it: stacks, the last one first, and what is beside them. */
static int take_rest(struct looker *k, __u64 start, __u64 end)
{
	__u64 begin, to;
	int err = 0;

	for (; !err && start < end; end = begin) {
		to = end;
		begin = stack_before(k, start, end);
		if (!begin)
			begin = stack_around(k, start, &to);
		if (!begin)
			break;
		err = take_blocks(k, to, end);
		if (!err)
			err = add_part(k, begin, to, RSS_FOR_THREAD, true);
	}
	if (err || start >= end)
		return err;
	return own_stack(k, start, end) ? add_part(k, start, end, RSS_FOR_THREAD, true) :
					  take_blocks(k, start, end);
}

static int take_map(struct looker *k, const struct rss_map *m)
{
	const __u64 page = k->e->page, end = m->end * page;
	__u64 at = m->start * page, base = (at + HEAP_MAX - 1) / HEAP_MAX * HEAP_MAX, len;
	bool first;
	int err = 0;

	for (; !err && base < end; base += HEAP_MAX) {
		len = heap_at(k, base, end, &first);
		if (!len)
			continue;
		err = take_rest(k, at, base);
		if (!err)
			err = add_part(k, base, base + len, RSS_FOR_ARENA, first);
		at = base + len;
	}
	return err ? err : take_rest(k, at, end);
}

static bool may_have_parts(const struct rss_map *m)
{
	return !m->path && m->kind == MEMTAP_FILE_ANON && m->private && m->nr_runs &&
	       (m->allowed & MEMTAP_MAPPING_WRITE);
}

static int by_place(const void *a, const void *b)
{
	const struct rss_part *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int rss_process_parts(const struct rss_env *e, const char *proc, struct rss_process *p)
{
	struct looker k = { .e = e, .p = p };
	char path[128];
	int err = 0;

	/* programs of 32 bits have other words */
	if (!p->nr_maps || p->maps[p->nr_maps - 1].end * e->page <= ABOVE_32)
		return 0;
	snprintf(path, sizeof(path), "%.100s/mem", proc);
	k.mem = open(path, O_RDONLY | O_CLOEXEC);
	if (k.mem < 0)
		return 0;
	find_stacks(&k, proc);
	for (size_t i = 0; !err && i < p->nr_maps; i++)
		if (may_have_parts(&p->maps[i]))
			err = take_map(&k, &p->maps[i]);
	if (p->nr_parts)
		qsort(p->parts, p->nr_parts, sizeof(*p->parts), by_place);
	for (size_t i = 0; i < p->nr_parts; i++)
		if (p->parts[i].what == RSS_FOR_THREAD)
			p->parts[i].tid = thread_in(&k, p->parts[i].start * e->page,
						    p->parts[i].end * e->page);
	free(k.stacks);
	close(k.mem);
	return err;
}

/* --- sums -------------------------------------------------------------------------------- */

static enum rss_for map_is_for(const struct rss_map *m)
{
	if (m->path)
		return RSS_FOR_FILE;
	if (m->kind == MEMTAP_FILE_HEAP)
		return RSS_FOR_HEAP;
	return m->kind == MEMTAP_FILE_STACK ? RSS_FOR_STACK : RSS_FOR_OTHER;
}

/* Each of @nr sorted things of @size bytes begins with where it starts and ends. */
static const void *find_range(const void *ranges, size_t nr, size_t size, __u64 page, __u64 *end)
{
	const struct { __u64 start, end; } *r;
	size_t low = 0, high = nr;

	while (low < high) {
		const size_t at = low + (high - low) / 2;

		r = (const void *)((const char *)ranges + at * size);
		if (r->end <= page)
			low = at + 1;
		else
			high = at;
	}
	if (low == nr)
		return NULL;
	r = (const void *)((const char *)ranges + low * size);
	if (r->start > page) {
		if (*end > r->start)
			*end = r->start;
		return NULL;
	}
	if (*end > r->end)
		*end = r->end;
	return r;
}

const struct rss_part *rss_process_part(const struct rss_process *p, __u64 page, __u64 *end)
{
	return find_range(p->parts, p->nr_parts, sizeof(*p->parts), page, end);
}

const struct rss_named *rss_process_named(const struct rss_process *p, __u64 page, __u64 *end)
{
	return find_range(p->named, p->nr_named, sizeof(*p->named), page, end);
}

void rss_process_for(const struct rss_process *p, struct rss_anon *to)
{
	for (size_t i = 0; i < p->nr_maps; i++) {
		const struct rss_map *m = &p->maps[i];

		for (size_t k = 0; k < m->nr_runs; k++) {
			const struct rss_run *r = &p->runs[m->first_run + k];
			__u64 page = r->page, end;

			for (; r->kind == RSS_ANON && page < r->page + r->nr; page = end) {
				const struct rss_part *part;

				end = r->page + r->nr;
				part = rss_process_part(p, page, &end);
				to->pages[part ? part->what : map_is_for(m)] += end - page;
			}
		}
	}
	for (int i = 0; i < NR_RSS_FOR; i++)
		to->things[i] += p->things[i];
}
