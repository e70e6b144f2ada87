/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CODEMAP_REF_H
#define _CODEMAP_REF_H

/*
 * A process that maps and unmaps code, page by page, and what the kernel would tell of
 * it; with each stack, what its addresses truly were in when it was taken.
 */
#include <stdlib.h>

#include "codemap.h"

#define REF_PAGES	24
#define REF_PAGE	0x1000ULL
#define REF_BASE	0x7f0000000000ULL
#define REF_STACKS	4096
#define REF_DEPTH	3

struct ref_page {
	u32 file;			/* 0: nothing; ~0: anonymous */
	u32 page;			/* of the file */
	u32 vma;			/* number of the mapping, told apart */
};

struct ref_stack {
	u64 ip[REF_DEPTH];
	struct ref_page in[REF_DEPTH];
	u32 nr, era;
};

struct ref_mm {
	struct codemaps maps;
	struct codemap_space space;
	struct ref_page page[REF_PAGES];
	u32 vmas;
	struct ref_stack stack[REF_STACKS];
	u32 nr_stacks;
};

static inline u32 ref_end(const struct ref_mm *r, u32 from)
{
	u32 to = from;

	while (to < REF_PAGES && r->page[to].vma == r->page[from].vma)
		to++;
	return to;
}

static inline struct codemap ref_vma(const struct ref_mm *r, u32 from, u32 to)
{
	const struct ref_page *p = &r->page[from];
	struct codemap m;

	memset(&m, 0, sizeof(m));
	m.start = REF_BASE + from * REF_PAGE;
	m.end = REF_BASE + to * REF_PAGE;
	m.file = p->file == ~0U ? 0 : p->file;
	m.offset = p->file == ~0U ? 0 : p->page * REF_PAGE;
	return m;
}

/* All there is, as the work reads it. */
static inline void ref_read(struct ref_mm *r)
{
	struct codemap_walk w = { 0, 0 };
	u32 from, to;

	for (from = 0; from < REF_PAGES; from = to) {
		to = ref_end(r, from);
		if (r->page[from].vma) {
			struct codemap m = ref_vma(r, from, to);

			codemap_add(&r->maps, &r->space, &m, &w);
		}
	}
}

/* Of each mapping in the way, the kernel tells what of it goes; but not of anonymous ones. */
static inline void ref_unmap(struct ref_mm *r, u32 from, u32 to)
{
	u32 i, a, b;

	for (i = from; i < to; i = b) {
		for (a = i; a && r->page[a - 1].vma == r->page[i].vma; a--)
			;
		b = ref_end(r, i);
		if (r->page[i].vma && r->page[i].file != ~0U) {
			struct codemap m = ref_vma(r, a, b);

			if (b > to)
				b = to;
			codemap_remove(&r->maps, &r->space, &m, REF_BASE + i * REF_PAGE,
				       REF_BASE + b * REF_PAGE);
		} else if (b > to) {
			b = to;
		}
	}
	for (i = from; i < to; i++)
		memset(&r->page[i], 0, sizeof(r->page[i]));
	/* what is left of one that was cut in two is two */
	for (i = to; to < REF_PAGES && i < REF_PAGES && from && r->page[i].vma &&
	     r->page[i].vma == r->page[from - 1].vma; i++)
		r->page[i].vma = r->vmas + 1;
	r->vmas++;
}

static inline void ref_map(struct ref_mm *r, u32 from, u32 to, u32 file, u32 page)
{
	struct codemap m;
	u32 i;

	ref_unmap(r, from, to);
	r->vmas++;
	for (i = from; i < to; i++) {
		r->page[i].file = file;
		r->page[i].page = page + i - from;
		r->page[i].vma = r->vmas;
	}
	m = ref_vma(r, from, to);
	if (file != ~0U)
		codemap_note(&r->maps, &r->space, &m);
	else			/* a stack that ends there has it read */
		ref_read(r);
}

/* A stack through these pages, of which those without code are left out. */
static inline void ref_take(struct ref_mm *r, const u32 *pages, u32 nr)
{
	struct ref_stack *st = &r->stack[r->nr_stacks];
	u32 i;

	if (r->nr_stacks == REF_STACKS)
		return;
	st->nr = 0;
	for (i = 0; i < nr && i < REF_DEPTH; i++) {
		if (!r->page[pages[i]].vma)
			continue;
		st->in[st->nr] = r->page[pages[i]];
		st->ip[st->nr++] = REF_BASE + pages[i] * REF_PAGE + 0x123;
	}
	if (!st->nr)
		return;
	st->era = codemap_era(&r->maps, &r->space, st->ip, st->nr, 0);
	r->nr_stacks++;
}

/* Is each address of each stack found to be in what it was in? */
static inline int ref_same(const struct ref_mm *r, const struct ref_stack *st)
{
	u32 i;

	if (st->era == MEMTAP_ERA_LOST)
		return 1;
	for (i = 0; i < st->nr; i++) {
		const struct codemap *m = codemap_find(&r->maps, &r->space, st->era, st->ip[i]);
		u32 file = st->in[i].file == ~0U ? 0 : st->in[i].file;

		if (!m && r->maps.lost)
			continue;	/* nothing is better than something else */
		if (!m || m->file != file)
			return 0;
		if (file && (st->ip[i] - m->start + m->offset) / REF_PAGE != st->in[i].page)
			return 0;
	}
	return 1;
}

/* 0, or the number of the first stack that is wrong, + 1. */
static inline u32 ref_wrong(const struct ref_mm *r)
{
	u32 i;

	for (i = 0; i < r->nr_stacks; i++)
		if (!ref_same(r, &r->stack[i]))
			return i + 1;
	return 0;
}

static inline u32 ref_lost(const struct ref_mm *r)
{
	u32 i, nr = 0;

	for (i = 0; i < r->nr_stacks; i++)
		nr += r->stack[i].era == MEMTAP_ERA_LOST;
	return nr;
}

static inline struct ref_mm *ref_new(u32 room)
{
	struct ref_mm *r = calloc(1, sizeof(*r));

	codemaps_init(&r->maps, calloc(room, sizeof(struct codemap)), room);
	return r;
}

static inline void ref_free(struct ref_mm *r)
{
	free(r->maps.at);
	free(r);
}

#endif
