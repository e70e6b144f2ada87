/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_LEB_H
#define _HISTORY_LEB_H

#include <string.h>

#include <linux/types.h>

/* Numbers and texts as bytes: LEB128, and the length before the text. */
struct to {
	__u8 *at;
	size_t len, room;
	bool full;
};

static inline void put_byte(struct to *to, __u8 v)
{
	if (to->len == to->room)
		to->full = true;
	else
		to->at[to->len++] = v;
}

static inline void put(struct to *to, __u64 v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(to, (__u8)(v | 0x80));
	put_byte(to, (__u8)v);
}

static inline void put_text(struct to *to, const char *text)
{
	const size_t len = strlen(text);

	put(to, len);
	if (len > to->room - to->len) {
		to->full = true;
		return;
	}
	memcpy(to->at + to->len, text, len);
	to->len += len;
}

static inline __u64 zigzag(__u64 delta)
{
	return delta << 1 ^ (delta >> 63 ? ~0ULL : 0);
}

struct from {
	const __u8 *at, *end;
	bool bad;
};

static inline __u64 get(struct from *f)
{
	__u64 v = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		if (f->at == f->end)
			break;
		v |= (__u64)(*f->at & 0x7f) << shift;
		if (!(*f->at++ & 0x80))
			return v;
	}
	f->bad = true;
	return 0;
}

static inline __u64 unzigzag(__u64 v)
{
	return v >> 1 ^ (v & 1 ? ~0ULL : 0);
}

#endif
