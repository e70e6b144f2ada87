// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/fpwalk.c kmod/core/userstack.c */
/* FUZZ: -max_len=1024 */
/*
 * Hostile stacks: fpwalk() must end, read what it may, and say the same as the
 * plain walk of fpwalk_ref.h.
 */
#include <stdlib.h>

#include "../unit/fpwalk_ref.h"

struct head {
	u64 base;
	u64 sp, fp;		/* from base, if @rel says so */
	u64 limit;
	u8 rel;			/* 1 sp, 2 fp, 4 limit, 8 the words of the stack */
	u8 shape;		/* 1 32-bit, 2 entry, 4 fix */
	u8 max;
	u8 absent;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The rest of the input, over and over; frame pointers relative to where they
 * are, so that chains come about.
 */
static void fill(struct ref_mem *m, const struct head *h, u32 word,
		 const uint8_t *data, size_t size)
{
	u64 v, n = 0, words = size / word;

	memset(m->bytes, 0, sizeof(m->bytes));
	for (u64 at = 0; words && at < sizeof(m->bytes); at += word) {
		v = 0;
		memcpy(&v, data + n * word, word);
		n = n + 1 < words ? n + 1 : 0;
		if (h->rel & 8 && at / word % 2 == 0 && v)
			v = m->base + at + v % 256 * word;
		memcpy(m->bytes + at, &v, word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ref_mem m;
	struct fpwalk w = { 0 };
	struct head h;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	m.base = h.base & ~(u64)(REF_PAGE - 1);
	if (h.shape & 1)
		m.base = (u32)m.base;
	m.absent = h.absent;
	m.bad_reads = 0;
	w.word = h.shape & 1 ? 4 : 8;
	w.entry = h.shape >> 1 & 1;
	w.us.fix = h.shape & 4 ? ref_fix : NULL;
	w.max = h.max % 128;
	w.ip = h.base;
	w.sp = h.rel & 1 ? m.base + h.sp % sizeof(m.bytes) / 8 * 8 : h.sp;
	w.fp = h.rel & 2 ? w.sp + h.fp % 512 / 8 * 8 : h.fp;
	w.us.limit = h.rel & 4 ? m.base + h.limit % (2 * sizeof(m.bytes)) : h.limit;
	fill(&m, &h, w.word, data + sizeof(h), size - sizeof(h));
	memcpy(&m.tramp, m.bytes + 8, 8);
	if (!ref_agrees(&m, &w))
		abort();
	return 0;
}
