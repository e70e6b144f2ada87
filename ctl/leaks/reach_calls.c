// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handle a thread inside realloc().  The session has removed the old block, and does not know the
 * new one yet.  One of them holds the pointers that were in the old block.  The thread has both
 * addresses in its registers, or on its stack below the return address of the call.  That return
 * address is the kernel's trampoline, because the return is probed.
 */
#include <stddef.h>

#include "leaks/reach_int.h"

#define WORD		sizeof(__u64)
#define ALIGN		16ULL
#define HEAD		16ULL		/* of a chunk of glibc's, before what malloc returns */
#define FLAGS		7ULL
#define DEEP		1024		/* words of a stack: realloc() calls memcpy() */
#define UNKNOWN		(64ULL << 10)	/* of a block of who knows what length */

struct search {
	struct ranges *found;
	const struct layout *l;
	const struct reach_block *blocks;	/* sorted */
	size_t nr;
	const struct reach_memory *m;
};

static __u64 trampoline(const struct layout *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->areas[i].is_trampoline)
			return l->areas[i].start;
	return 0;
}

static bool is_known(const struct search *s, __u64 addr)
{
	const size_t behind = reach_block_from(s->blocks, s->nr, addr + 1);

	return behind && addr - s->blocks[behind - 1].addr < s->blocks[behind - 1].size &&
	       !s->blocks[behind - 1].is_root;
}

/* glibc has the length before it. */
static int look_at(struct search *s, __u64 addr)
{
	const struct area *a = addr % ALIGN ? NULL : layout_find(s->l, addr);
	__u64 len = 0;

	if (!a || !a->writable || a->shared || a->is_file || a->is_stack ||
	    addr - a->start < HEAD || is_known(s, addr))
		return 0;
	if (s->m->read(s->m->ctx, addr - WORD, &len, WORD) != WORD)
		return 0;
	/* (it has the first word of the next one, too) */
	len = (len & ~FLAGS) - WORD;
	if (len < 2 * HEAD - WORD || len > a->end - addr)
		len = UNKNOWN;
	if (len > a->end - addr)
		len = a->end - addr;
	return ranges_add(s->found, addr, addr + len, false);
}

static int look_at_thread(struct search *s, const struct thread *t, __u64 returns_to)
{
	__u64 words[DEEP];
	const size_t nr = s->m->read(s->m->ctx, t->sp, words, sizeof(words)) / WORD;
	size_t in_call = 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		if (words[i] == returns_to)
			in_call = i;
	if (!in_call && !(nr && words[0] == returns_to))
		return 0;
	for (size_t i = 0; i < in_call && !err; i++)
		err = look_at(s, words[i]);
	for (size_t i = 0; i < t->nr_regs && !err; i++)
		err = look_at(s, t->regs[i]);
	return err;
}

int calls_read(struct ranges *found, const struct layout *l, const struct reach_block *blocks,
	       size_t nr, const struct reach_memory *m)
{
	struct search s = { found, l, blocks, nr, m };
	const __u64 returns_to = trampoline(l);
	int err = 0;

	for (size_t i = 0; returns_to && i < l->nr_threads && !err; i++)
		if (l->threads[i].sp)
			err = look_at_thread(&s, &l->threads[i], returns_to);
	return err;
}
