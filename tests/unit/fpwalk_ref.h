/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of fpwalk.h said once more: a word at a time, in arithmetic that
 * cannot overflow, out of memory that is made of present and absent pages.
 */
#ifndef _FPWALK_REF_H
#define _FPWALK_REF_H

#include "fpwalk.h"

#define REF_PAGES	4
#define REF_PAGE	4096U

struct ref_mem {
	u64 base;		/* of a page */
	u32 absent;		/* mask of pages */
	u64 limit;		/* of the walk */
	u32 reads;		/* by fpwalk() */
	u32 bad_reads;		/* which its contract forbids */
	u64 tramp;		/* a return trampoline's address, or 0 */
	u8 bytes[REF_PAGES * REF_PAGE];
};

static inline int ref_there(const struct ref_mem *m, u64 addr, u32 len)
{
	u64 first = addr - m->base, last = first + len - 1;

	if (first >= sizeof(m->bytes) || last >= sizeof(m->bytes))
		return 0;
	return !(m->absent >> (first / REF_PAGE) & 1) &&
	       !(m->absent >> (last / REF_PAGE) & 1);
}

static inline int ref_read(void *ctx, u64 addr, void *buf, u32 len)
{
	struct ref_mem *m = ctx;

	m->reads++;
	if (!len || len > USERSTACK_CHUNK ||
	    addr / REF_PAGE != (addr + len - 1) / REF_PAGE ||
	    (unsigned __int128)addr + len > m->limit)
		m->bad_reads++;
	if (!ref_there(m, addr, len))
		return -1;
	memcpy(buf, m->bytes + (addr - m->base), len);
	return 0;
}

/* Trampolines in every third slot are known. */
static inline u64 ref_fix(void *ctx, u64 slot, u64 ip)
{
	const struct ref_mem *m = ctx;

	if (ip != m->tramp)
		return ip;
	return slot / 8 % 3 ? 0 : 0x7000 + slot % 4096;
}

/* Words that can be had one by one; at times there is no beginning. */
static u32 ref_begins;
static int ref_begun;

static inline int ref_begin(void)
{
	ref_begun = ref_begins++ % 16 != 15;
	return ref_begun;
}

static inline void ref_end(void)
{
	ref_begun = 0;
}

static inline int ref_get(void *ctx, u64 addr, u64 *v)
{
	struct ref_mem *m = ctx;

	if (!ref_begun || addr % 8 || (unsigned __int128)addr + 8 > m->limit)
		m->bad_reads++;
	if (!ref_there(m, addr, 8))
		return 0;
	memcpy(v, m->bytes + (addr - m->base), 8);
	return 1;
}

#define FPPLAIN_BEGIN()	ref_begin()
#define FPPLAIN_GET(w, v, at, away)	ref_get((w)->us.ctx, at, &(v))
#define FPPLAIN_END()	ref_end()
#include "fpplain.h"

static inline u32 ref_chain_plain(struct fpwalk *w)
{
	return w->us.trail ? fpplain(w, 1) : fpplain(w, 0);
}

static inline int ref_word(const struct ref_mem *m, const struct fpwalk *w,
			   u64 addr, u64 *v)
{
	u32 half;

	*v = 0;
	if (!ref_there(m, addr, w->word))
		return -1;
	if (w->word == 8) {
		memcpy(v, m->bytes + (addr - m->base), 8);
	} else {
		memcpy(&half, m->bytes + (addr - m->base), 4);
		*v = half;
	}
	return 0;
}

/* 0: go on */
static inline int ref_put(struct fpwalk *w, u64 slot, u64 ip)
{
	u64 real;

	if (ip == 0)
		return -1;
	if (w->us.fix) {
		real = w->us.fix(w->us.ctx, slot, ip);
		if (!real)
			w->flags |= MEMTAP_STACK_TRAMPOLINE;
		ip = real ? real : ip;
	}
	if (ip < 4096 || ip >= w->us.limit) {
		w->flags |= MEMTAP_STACK_CHAIN;
		return -1;
	}
	if (w->nr >= w->max) {
		w->flags |= MEMTAP_STACK_DEPTH;
		return -1;
	}
	w->ips[w->nr++] = ip;
	return 0;
}

static inline int ref_sane(const struct fpwalk *w, u64 addr, u32 words)
{
	return addr % w->word == 0 &&
	       (unsigned __int128)addr + words * w->word <= w->us.limit;
}

static inline void ref_walk(const struct ref_mem *m, struct fpwalk *w)
{
	unsigned __int128 lowest = w->sp, last = w->sp;
	u64 fp = w->fp, next, ret;

	w->nr = 0;
	w->flags = 0;
	if (!w->max) {
		w->flags = MEMTAP_STACK_DEPTH;
		return;
	}
	w->ips[w->nr++] = w->ip;
	if (w->entry) {
		if (!ref_sane(w, w->sp, 1)) {
			w->flags |= MEMTAP_STACK_CHAIN;
			return;
		}
		if (ref_word(m, w, w->sp, &ret)) {
			w->flags |= MEMTAP_STACK_FAULT;
			return;
		}
		if (ref_put(w, w->sp, ret))
			return;
		lowest = last = last + w->word;
	}
	if (!fp)
		w->flags |= MEMTAP_STACK_CHAIN;
	for (; fp; fp = next) {
		if (!ref_sane(w, fp, 2) || fp < lowest ||
		    fp > last + USERSTACK_MAX_FRAME) {
			w->flags |= MEMTAP_STACK_CHAIN;
			return;
		}
		if (ref_word(m, w, fp, &next) ||
		    ref_word(m, w, fp + w->word, &ret)) {
			w->flags |= MEMTAP_STACK_FAULT;
			return;
		}
		if (ref_put(w, fp + w->word, ret))
			return;
		last = fp;
		lowest = last + 1;
	}
}

/* Is all that a walk says it depended on in memory? */
static inline int ref_trail_is(const struct ref_mem *m, const struct userstack_trail *t, u32 word)
{
	for (u32 i = 0; !t->partial && i < t->nr; i++)
		if (!ref_there(m, t->slot[i], word) ||
		    memcmp(m->bytes + (t->slot[i] - m->base), &t->value[i], word))
			return 0;
	return 1;
}

/* Walk all ways: do they say the same? */
static inline int ref_agrees(struct ref_mem *m, struct fpwalk *w)
{
	static struct userstack_trail trail;
	u64 want_ips[130], ips[130], buf[USERSTACK_CHUNK / 8];
	struct fpwalk want = *w;

	want.ips = want_ips;
	w->ips = ips;
	w->us.buf = (u8 *)buf;
	w->us.read = ref_read;
	w->us.ctx = m;
	want.us.ctx = m;
	if (want.us.limit > -1ULL - USERSTACK_MAX_FRAME)	/* it claims no more */
		want.us.limit = -1ULL - USERSTACK_MAX_FRAME;
	m->limit = want.us.limit;
	ref_walk(m, &want);
	for (u32 i = 0; i < 4; i++) {
		w->plain = i & 1 ? ref_chain_plain : NULL;
		w->us.trail = i & 2 ? &trail : NULL;
		fpwalk(w);
		if (m->bad_reads || w->nr != want.nr || w->flags != want.flags ||
		    memcmp(ips, want_ips, w->nr * sizeof(*ips)) ||
		    (w->us.trail && !ref_trail_is(m, &trail, w->word)))
			return 0;
	}
	return 1;
}

#endif
