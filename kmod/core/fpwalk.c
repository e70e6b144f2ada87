// SPDX-License-Identifier: GPL-2.0-only
/* Unwind a user stack by frame pointers. */
#include "fpwalk.h"

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

static int fetch(struct fpwalk *w, u64 addr)
{
	if (userstack_fetch(&w->us, addr)) {
		w->flags |= MEMTAP_STACK_FAULT;
		return -1;
	}
	return 0;
}

/* Is all of the record at @fp in the buffer? */
static inline int buffered(const struct fpwalk *w, u64 fp, u32 word)
{
	return userstack_has(&w->us, fp, 2 * word);
}

/*
 * Get the record at @fp, of which at least the first word is in the buffer; the
 * second may be on the next page.
 */
static __always_inline int get_record(struct fpwalk *w, u64 fp, u32 word, u64 *next, u64 *ret)
{
	u64 off = fp - w->us.addr;
	int whole = buffered(w, fp, word);

	*next = get_word(w->us.buf + off, word);
	if (!whole) {
		if (fetch(w, fp + word))
			return -1;
		off = 0;
	} else {
		off += word;
	}
	*ret = get_word(w->us.buf + off, word);
	return 0;
}

/* Put a return address, found at @slot, behind the others.  0: walk on. */
static int put_return(struct fpwalk *w, u64 slot, u64 ip)
{
	u64 real;

	if (!ip)
		return -1;
	if (w->us.fix) {
		real = w->us.fix(w->us.ctx, slot, ip);
		if (real)
			ip = real;
		else
			w->flags |= MEMTAP_STACK_TRAMPOLINE;
	}
	if (ip < USERSTACK_LEAST_CODE || ip >= w->us.limit) {
		w->flags |= MEMTAP_STACK_CHAIN;
		return -1;
	}
	if (w->nr == w->max) {
		w->flags |= MEMTAP_STACK_DEPTH;
		return -1;
	}
	w->ips[w->nr++] = ip;
	return 0;
}

/*
 * Can a record lie at @fp, the stack being known up to @from?  One difference
 * tells "below" and "too far above", as long as @from is below USERSTACK_HIGHEST.
 */
static inline int sound(const struct fpwalk *w, u64 from, u64 fp, u32 word)
{
	return fp - from <= USERSTACK_MAX_FRAME && !(fp & (word - 1)) &&
	       fp < w->us.limit && w->us.limit - fp >= 2 * word;
}

/*
 * Nearly all frames of nearly all stacks: from the sound record at *@fp on,
 * follow the records that are whole in the buffer, while there is nothing to
 * decide.  What is in the buffer is near and below the limit.  Returns how many
 * return addresses it put; 0: this one needs a closer look.
 */
static __always_inline u32 walk_piece(struct fpwalk *w, u64 *from, u64 *fp,
				      const u32 word)
{
	u64 *first = w->ips + w->nr, *end = w->ips + w->max, *out = first;
	u64 base = w->us.addr, next = *fp, least = *from, off = next - base, ret;
	u64 room = w->us.len - 2 * word;
	u64 codes = w->us.limit - USERSTACK_LEAST_CODE;
	const u8 *buf = w->us.buf;

	struct userstack_trail *t = w->us.trail;

	do {
		ret = get_word(buf + off + word, word);
		if (ret - USERSTACK_LEAST_CODE >= codes || out == end)
			break;
		*out++ = ret;
		least = next + 1;
		if (t)
			userstack_note(t, next + word, ret);
		next = get_word(buf + off, word);
		if (t)
			userstack_note(t, least - 1, next);
		off = next - base;
	} while (off <= room && next >= least && !(off & (word - 1)));
	*from = least;
	*fp = next;
	w->nr = out - w->ips;
	return out - first;
}

/* Follow the records from w->fp on, none of which can be below @from. */
static __always_inline void walk(struct fpwalk *w, u64 from, const u32 word)
{
	u32 plain = !w->us.fix && w->us.limit > USERSTACK_LEAST_CODE;
	u32 words = plain && word == 8 && w->plain && w->us.limit <= USERSTACK_HIGH_BIT;
	u64 fp = w->fp, next, ret;

	while (fp) {
		if (w->sp >= w->us.limit || !sound(w, from, fp, word)) {
			w->flags |= MEMTAP_STACK_CHAIN;
			return;
		}
		if (words) {
			w->from = from;
			w->at = fp;
			if (w->plain(w)) {
				from = w->from;
				fp = w->at;
				continue;
			}
		}
		if (!buffered(w, fp, word) && fetch(w, fp))
			return;
		if (plain && buffered(w, fp, word) &&
		    walk_piece(w, &from, &fp, word))
			continue;
		if (get_record(w, fp, word, &next, &ret))
			return;
		if (w->us.trail) {
			userstack_note(w->us.trail, fp + word, ret);
			userstack_note(w->us.trail, fp, next);
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
	if ((w->sp & (w->word - 1)) || w->sp >= w->us.limit ||
	    w->us.limit - w->sp < w->word) {
		w->flags |= MEMTAP_STACK_CHAIN;
		return -1;
	}
	if (fetch(w, w->sp))
		return -1;
	if (w->us.trail)
		userstack_note(w->us.trail, w->sp, get_word(w->us.buf, w->word));
	return put_return(w, w->sp, get_word(w->us.buf, w->word));
}

void fpwalk(struct fpwalk *w)
{
	u64 from = w->sp;

	w->nr = 0;
	w->flags = 0;
	userstack_begin(&w->us);
	if (!w->max) {
		w->flags = MEMTAP_STACK_DEPTH;
		return;
	}
	w->ips[w->nr++] = w->ip;
	if (w->entry) {
		if (take_caller(w))
			return;
		from += w->word;
	}
	if (w->us.trail)
		w->us.trail->uses_fp = 1;
	if (!w->fp) {
		w->flags |= MEMTAP_STACK_CHAIN;
		return;
	}
	if (w->word == 8)
		walk(w, from, 8);
	else
		walk(w, from, 4);
}
