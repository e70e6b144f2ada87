// SPDX-License-Identifier: GPL-2.0-only
#include "fpwalk.h"

#define PIECE		4096U	/* the read callback takes no more: every
				 * page size is a multiple of it */
#define LEAST_RETURN	4096	/* nothing is mapped below, so no code is */
#define HIGHEST		(~0ULL - FPWALK_MAX_FRAME)	/* differences do not wrap */

static inline u64 get_word(const u8 *p, u32 word)
{
	u64 v = 0;
	u32 half;

	if (word == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	memcpy(&half, p, 4);
	return half;
}

/* Make @addr, which is below the limit, the first byte of the buffer. */
static int fetch(struct fpwalk *w, u64 addr)
{
	u64 below_limit = w->limit - addr;
	u32 len = PIECE - (u32)(addr & (PIECE - 1));

	if (len > FPWALK_CHUNK)
		len = FPWALK_CHUNK;
	if (len > below_limit)
		len = (u32)below_limit;
	w->buf_addr = addr;
	w->buf_len = 0;
	if (w->read(w->ctx, addr, w->buf, len)) {
		w->flags |= FPWALK_FAULT;
		return -1;
	}
	w->buf_len = len;
	return 0;
}

/* Read the record at @fp, whose second word may be on the next page. */
static int fetch_record(struct fpwalk *w, u64 fp, u32 word, u64 *next, u64 *ret)
{
	const u8 *second = w->buf + word;

	if (fetch(w, fp))
		return -1;
	*next = get_word(w->buf, word);
	if (w->buf_len < 2 * word) {
		if (fetch(w, fp + word))
			return -1;
		second = w->buf;
	}
	*ret = get_word(second, word);
	return 0;
}

/* Put a return address, found at @slot, behind the others.  0: walk on. */
static inline int put_return(struct fpwalk *w, u64 slot, u64 ip)
{
	u64 real;

	if (!ip)
		return -1;
	if (unlikely(w->fix)) {
		real = w->fix(w->ctx, slot, ip);
		if (real)
			ip = real;
		else
			w->flags |= FPWALK_TRAMPOLINE;
	}
	if (unlikely(ip < LEAST_RETURN || ip >= w->limit)) {
		w->flags |= FPWALK_CHAIN;
		return -1;
	}
	if (unlikely(w->nr == w->max)) {
		w->flags |= FPWALK_DEPTH;
		return -1;
	}
	w->ips[w->nr++] = ip;
	return 0;
}

/*
 * Can a record lie at @fp, the stack being known up to @from?  One difference
 * tells "below" and "too far above", as long as @from is below HIGHEST.
 */
static inline int sound(const struct fpwalk *w, u64 from, u64 fp, u32 word)
{
	return fp - from <= FPWALK_MAX_FRAME && !(fp & (word - 1)) &&
	       fp < w->limit && w->limit - fp >= 2 * word;
}

/* Follow the records from w->fp on, none of which can be below @from. */
static __always_inline void walk(struct fpwalk *w, u64 from, const u32 word)
{
	u64 fp = w->fp, next, ret, off;

	if (fp && w->sp >= w->limit) {
		w->flags |= FPWALK_CHAIN;
		return;
	}
	while (fp) {
		if (unlikely(!sound(w, from, fp, word))) {
			w->flags |= FPWALK_CHAIN;
			return;
		}
		off = fp - w->buf_addr;
		if (likely(off < w->buf_len && w->buf_len - off >= 2 * word)) {
			next = get_word(w->buf + off, word);
			ret = get_word(w->buf + off + word, word);
		} else if (fetch_record(w, fp, word, &next, &ret)) {
			return;
		}
		if (put_return(w, fp + word, ret))
			return;
		from = fp + 1;
		fp = next;
	}
}

/* The caller's address is still on top of the stack.  0: walk on above it. */
static int take_caller(struct fpwalk *w)
{
	if ((w->sp & (w->word - 1)) || w->sp >= w->limit ||
	    w->limit - w->sp < w->word) {
		w->flags |= FPWALK_CHAIN;
		return -1;
	}
	if (fetch(w, w->sp))
		return -1;
	return put_return(w, w->sp, get_word(w->buf, w->word));
}

void fpwalk(struct fpwalk *w)
{
	u64 from = w->sp;

	w->nr = 0;
	w->flags = 0;
	w->buf_len = 0;
	if (w->limit > HIGHEST)
		w->limit = HIGHEST;
	if (!w->max) {
		w->flags = FPWALK_DEPTH;
		return;
	}
	w->ips[w->nr++] = w->ip;
	if (w->entry) {
		if (take_caller(w))
			return;
		from += w->word;
	}
	if (w->word == 8)
		walk(w, from, 8);
	else
		walk(w, from, 4);
}
