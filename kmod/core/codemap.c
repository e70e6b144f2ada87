// SPDX-License-Identifier: GPL-2.0-only
/* Keep the history of code mappings of an address space. */
#include "codemap.h"

#define LISTED		(1U << 15)	/* of flags: in the space's list */
#define MAX_ERA		(MEMTAP_ERA_LOST - 1)

void codemaps_init(struct codemaps *t, struct codemap *at, u32 nr)
{
	t->at = at;
	t->nr = nr;
	t->used = 1;
	t->lost = 0;
}

static int overlap(const struct codemap *a, const struct codemap *b)
{
	return a->start < b->end && b->start < a->end;
}

static int covers(const struct codemap *a, const struct codemap *b)
{
	return a->start <= b->start && a->end >= b->end;
}

/* Is an address in both the same place of the same code? */
static int same_code(const struct codemap *a, const struct codemap *b)
{
	if (a->file != b->file || ((a->flags ^ b->flags) & MEMTAP_MAP_VDSO))
		return 0;
	return !a->file || a->offset - a->start == b->offset - b->start;
}

static int identical(const struct codemap *a, const struct codemap *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file;
}

/* --- entries ----------------------------------------------------------- */

static void list(struct codemaps *t, struct codemap_space *sp, u32 i)
{
	struct codemap *e = &t->at[i];

	if (e->flags & LISTED)
		return;
	WRITE_ONCE(e->next_listed, sp->listed);
	WRITE_ONCE(e->flags, e->flags | LISTED);
	smp_store_release(&sp->listed, i);
}

/* Whoever is at it just now goes on from there. */
static void unlist(struct codemaps *t, struct codemap_space *sp, u32 i)
{
	u32 *link = &sp->listed, steps = 0;

	if (!(t->at[i].flags & LISTED))
		return;
	while (*link && *link != i && steps++ < CODEMAP_CHAIN)
		link = &t->at[*link].next_listed;
	if (*link == i)
		smp_store_release(link, t->at[i].next_listed);
	WRITE_ONCE(t->at[i].flags, t->at[i].flags & ~LISTED);
}

/* It is mapped, or not. */
static void set_gone(struct codemaps *t, struct codemap_space *sp, u32 i, int gone)
{
	struct codemap *e = &t->at[i];

	if (gone != !!(e->flags & MEMTAP_MAP_GONE)) {
		WRITE_ONCE(e->flags, e->flags ^ MEMTAP_MAP_GONE);
		sp->turn++;
	}
	if (gone)
		unlist(t, sp, i);
	else if (e->flags & MEMTAP_MAP_REUSED)
		list(t, sp, i);
}

static void set_reused(struct codemaps *t, struct codemap_space *sp, u32 i)
{
	struct codemap *e = &t->at[i];

	if (!(e->flags & MEMTAP_MAP_REUSED)) {
		WRITE_ONCE(e->flags, e->flags | MEMTAP_MAP_REUSED);
		sp->nr_reused++;
	}
	if (!(e->flags & MEMTAP_MAP_GONE))
		list(t, sp, i);
}

/* The entry's number, or 0: no room. */
static u32 append(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		  u32 era, u32 flags)
{
	struct codemap *e;
	u32 i = t->used;

	if (i >= t->nr) {
		t->lost++;
		return 0;
	}
	e = &t->at[i];
	*e = *m;
	e->next = sp->maps;
	e->next_listed = 0;
	e->era = (u16)era;
	e->flags = (u16)((m->flags & MEMTAP_MAP_VDSO) | flags);
	smp_store_release(&t->used, i + 1);
	smp_store_release(&sp->maps, i);
	return i;
}

/* --- eras -------------------------------------------------------------- */

/*
 * Since which era, in era @era, have all addresses of @m been found to be in its code?
 * -1: they are not.
 */
static int since(const struct codemaps *t, const struct codemap_space *sp,
		 const struct codemap *m, u32 era)
{
	int own = -1, other = -1;
	const struct codemap *e;
	u32 i, steps = 0;

	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (e->era > era || !overlap(e, m))
			continue;
		if (!same_code(e, m)) {
			if (e->era > other)
				other = e->era;
		} else if (covers(e, m) && e->era > own) {
			own = e->era;
		}
	}
	return own > other ? own : -1;
}

static int holds(const struct codemaps *t, const struct codemap_space *sp,
		 const struct codemap *m, u32 era)
{
	return since(t, sp, m, era) >= 0;
}

/* Does that hold for all that is mapped now, @m included? */
static int all_hold(const struct codemaps *t, const struct codemap_space *sp,
		    const struct codemap *m, u32 era)
{
	u32 i, steps = 0;

	if (!holds(t, sp, m, era))
		return 0;
	for (i = sp->listed; i && steps++ < CODEMAP_REUSED; i = t->at[i].next_listed)
		if (!holds(t, sp, &t->at[i], era))
			return 0;
	return 1;
}

/* An era in which all was as it is now: this one, or one that began with @m; or -1. */
static int known_era(const struct codemaps *t, const struct codemap_space *sp,
		     const struct codemap *m)
{
	const struct codemap *e;
	u32 i, steps = 0;

	if (all_hold(t, sp, m, sp->era))
		return sp->era;
	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (e->era != sp->era && same_code(e, m) && covers(e, m) &&
		    all_hold(t, sp, m, e->era))
			return e->era;
	}
	return -1;
}

/* For good: what there was no room for may be anywhere. */
static void lose(struct codemaps *t, struct codemap_space *sp)
{
	if (sp->lost)
		return;
	t->lost++;
	WRITE_ONCE(sp->last_era, (u16)MEMTAP_ERA_LOST);
	WRITE_ONCE(sp->lost, 1);
	sp->turn++;
}

/* @m as it is from era @era on.  0: no room. */
static int add_reused(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		      u32 era)
{
	u32 i = append(t, sp, m, era, MEMTAP_MAP_REUSED);

	if (!i) {
		lose(t, sp);
		return 0;
	}
	sp->nr_reused++;
	list(t, sp, i);
	return 1;
}

/* @m is mapped: is the entry that holds for it in this era in the list?  0: no room. */
static int list_mapped(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	int own = since(t, sp, m, sp->era);
	const struct codemap *e;
	u32 i, steps = 0;

	for (i = sp->listed; i && steps++ < CODEMAP_REUSED; i = e->next_listed) {
		e = &t->at[i];
		if (same_code(e, m) && covers(e, m) && e->era == own)
			return 1;
	}
	/* it was mapped in other pieces then */
	return own >= 0 && sp->nr_reused < CODEMAP_REUSED && add_reused(t, sp, m, own);
}

/* From now on it is era @era, in which all that is mapped, @m included, holds. */
static int begin_era(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		     u32 era)
{
	u32 i = sp->listed, steps = 0;
	int ok;

	WRITE_ONCE(sp->era, (u16)era);
	sp->turn++;
	ok = list_mapped(t, sp, m);
	for (; ok && i && steps++ < CODEMAP_REUSED; i = t->at[i].next_listed)
		ok = list_mapped(t, sp, &t->at[i]);
	return ok;
}

/* A new era, with entries for all that would not be found in it. */
static int new_era(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	u32 era = sp->last_era + 1U, i = sp->listed, steps = 0;
	int ok;

	if (era > MAX_ERA || sp->nr_reused >= CODEMAP_REUSED)
		return 0;
	ok = holds(t, sp, m, era) || add_reused(t, sp, m, era);
	for (; ok && i && steps++ < CODEMAP_REUSED; i = t->at[i].next_listed)
		if (!holds(t, sp, &t->at[i], era))
			ok = add_reused(t, sp, &t->at[i], era);
	if (!ok)
		return 0;
	WRITE_ONCE(sp->last_era, (u16)era);
	return begin_era(t, sp, m, era);
}

/* Go to an era in which all was as it is now.  0: there is none, or no room. */
static int enter_known(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	int era = known_era(t, sp, m);

	if (era < 0)
		return 0;
	return era == sp->era ? list_mapped(t, sp, m) : begin_era(t, sp, m, era);
}

static void enter_era(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	if (!enter_known(t, sp, m) && (sp->lost || !new_era(t, sp, m)))
		lose(t, sp);
}

/* --- adding ------------------------------------------------------------ */

/* What the entries of a space are to one that is to be added. */
struct relation {
	u32 same;			/* the identical one, or 0 */
	u32 covered;			/* a plain one that has all of it, or 0 */
	u32 clashes;			/* with other code, or where there was such */
};

static void relate(const struct codemaps *t, const struct codemap_space *sp,
		   const struct codemap *m, struct codemap_walk *w, struct relation *r)
{
	const struct codemap *e;
	u32 i, steps = 0;

	r->same = 0;
	r->covered = 0;
	r->clashes = 0;
	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		w->looked++;
		if (!overlap(e, m))
			continue;
		r->clashes += !same_code(e, m) || (e->flags & MEMTAP_MAP_REUSED);
		if (!same_code(e, m))
			continue;
		if (!r->same && identical(e, m))
			r->same = i;
		if (covers(e, m))
			r->covered = i;
	}
}

/* A part of an entry, as that was. */
static void keep_part(struct codemaps *t, struct codemap_space *sp, const struct codemap *part)
{
	const u32 reused = part->flags & MEMTAP_MAP_REUSED;
	const struct codemap *e;
	u32 i, steps = 0;

	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (identical(e, part) && e->era == part->era) {
			set_gone(t, sp, i, 0);
			return;
		}
	}
	if (reused)
		add_reused(t, sp, part, part->era);
	else
		append(t, sp, part, part->era, 0);
}

/* Of entry @i is left what lies beside @m. */
static void cut(struct codemaps *t, struct codemap_space *sp, u32 i, const struct codemap *m)
{
	const struct codemap was = t->at[i];
	struct codemap rest;

	if (was.flags & MEMTAP_MAP_GONE)
		return;
	set_gone(t, sp, i, 1);
	rest = was;
	rest.end = m->start;
	if (was.start < m->start)
		keep_part(t, sp, &rest);
	rest = was;
	rest.start = m->end;
	rest.offset += was.file ? m->end - was.start : 0;
	if (was.end > m->end)
		keep_part(t, sp, &rest);
}

/* Whatever else was there is not any more; what is of this code is. */
static void note_mapped(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	const struct codemap *e;
	u32 i, next, steps = 0;

	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = next) {
		e = &t->at[i];
		next = e->next;
		if (!overlap(e, m))
			continue;
		if (!same_code(e, m)) {
			set_reused(t, sp, i);
			cut(t, sp, i, m);
		} else if (covers(m, e)) {
			set_gone(t, sp, i, 0);
		}
	}
}

/* As it was the last time, when those of a space were added in the same order? */
static int follows(const struct codemaps *t, const struct codemap *m, struct codemap_walk *w)
{
	u32 i = w->at + 1;
	const struct codemap *e;

	if (!w->at || i >= t->used)
		return 0;
	e = &t->at[i];
	if (e->next != w->at || (e->flags & (MEMTAP_MAP_GONE | MEMTAP_MAP_REUSED)) ||
	    !identical(e, m))
		return 0;
	w->at = i;
	return 1;
}

/* The end of what is known to have been at @pos; or @pos, and *@next is where that begins. */
static u64 known_until(const struct codemaps *t, const struct codemap_space *sp, u64 pos,
		       u64 *next)
{
	const struct codemap *e;
	u32 i, steps = 0;
	u64 until = pos;

	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (e->start <= pos && e->end > until)
			until = e->end;
		else if (e->start > pos && e->start < *next)
			*next = e->start;
	}
	return until;
}

/* Of @m, what lies where nothing was is as it is in all eras. */
static void add_fresh(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	struct codemap part;
	u64 pos = m->start, next, until;
	u32 rounds = 0;

	while (pos < m->end && rounds++ < CODEMAP_FRESH) {
		next = m->end;
		until = known_until(t, sp, pos, &next);
		if (until > pos) {
			pos = until;
			continue;
		}
		part = *m;
		part.start = pos;
		part.end = next;
		part.offset += m->file ? pos - m->start : 0;
		append(t, sp, &part, 0, 0);
		pos = next;
	}
}

void codemap_add(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		 struct codemap_walk *w)
{
	struct relation r;
	u32 i;

	if (follows(t, m, w))
		return;
	relate(t, sp, m, w, &r);
	if (!r.clashes) {
		i = r.same ? r.same : append(t, sp, m, 0, 0);
		if (i) {
			set_gone(t, sp, i, 0);
			w->at = i;
		}
		return;
	}
	add_fresh(t, sp, m);
	note_mapped(t, sp, m);
	if (r.same)
		w->at = r.same;
	if (!sp->lost)
		enter_era(t, sp, m);
}

void codemap_note(struct codemaps *t, struct codemap_space *sp, const struct codemap *m)
{
	struct codemap_walk w;
	struct relation r;

	w.at = 0;
	w.looked = 0;
	relate(t, sp, m, &w, &r);
	if (r.clashes || r.same)
		codemap_add(t, sp, m, &w);
}

void codemap_remove(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		    u64 start, u64 end)
{
	struct codemap part = *m;
	struct codemap_walk w;
	struct relation r;
	u32 i, next, steps = 0;

	if (start > part.start) {
		part.offset += part.file ? start - part.start : 0;
		part.start = start;
	}
	if (end < part.end)
		part.end = end;
	if (part.start >= part.end)
		return;
	w.at = 0;
	w.looked = 0;
	relate(t, sp, &part, &w, &r);
	if (!r.covered || r.clashes)
		codemap_add(t, sp, &part, &w);
	for (i = sp->maps; i && steps++ < CODEMAP_CHAIN; i = next) {
		next = t->at[i].next;
		if (overlap(&t->at[i], &part) && same_code(&t->at[i], &part))
			cut(t, sp, i, &part);
	}
}

/* --- finding ----------------------------------------------------------- */

const struct codemap *codemap_find(const struct codemaps *t, const struct codemap_space *sp,
				   u32 era, u64 addr)
{
	const struct codemap *e, *best = NULL;
	u32 i = smp_load_acquire(&sp->maps), steps = 0;

	for (; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (addr >= e->start && addr < e->end && e->era <= era &&
		    (!best || e->era > best->era))
			best = e;
	}
	return best;
}

/* Nothing is known to be at @addr, where something was. */
static int is_gone(const struct codemaps *t, const struct codemap_space *sp, u64 addr)
{
	const struct codemap *e;
	u32 i = smp_load_acquire(&sp->maps), steps = 0;
	int gone = 0;

	for (; i && steps++ < CODEMAP_CHAIN; i = e->next) {
		e = &t->at[i];
		if (addr < e->start || addr >= e->end)
			continue;
		if (!(READ_ONCE(e->flags) & MEMTAP_MAP_GONE))
			return 0;
		gone = 1;
	}
	return gone;
}

/* The highest era of what @addr is in, or 0. */
static u32 era_at(const struct codemaps *t, const struct codemap_space *sp, u64 addr,
		  u32 *steps)
{
	u32 i = smp_load_acquire(&sp->listed), now = READ_ONCE(sp->era), era = 0;
	const struct codemap *e;

	for (; i && *steps < CODEMAP_STEPS; i = READ_ONCE(e->next_listed)) {
		e = &t->at[i];
		++*steps;
		if (addr >= e->start && addr < e->end && e->era <= now && e->era > era)
			era = e->era;
	}
	return era;
}

/* Where a signal interrupted, the address is one more than that of the instruction. */
u32 codemap_era_of(const struct codemaps *t, const struct codemap_space *sp, const u64 *ip,
		   u32 nr, u32 flags)
{
	u32 i, now, steps = 0, era = 0;

	if (READ_ONCE(sp->lost))
		return MEMTAP_ERA_LOST;
	if (nr && (flags & MEMTAP_STACK_NOMAP) && is_gone(t, sp, ip[nr - 1] - (nr > 1)))
		return MEMTAP_ERA_LOST;
	for (i = 0; i < nr; i++) {
		now = era_at(t, sp, ip[i] - (i > 0), &steps);
		if (now > era)
			era = now;
	}
	return steps < CODEMAP_STEPS ? era : MEMTAP_ERA_LOST;
}
