// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/reach.c ctl/base/addr_index.c ctl/leaks/reach_glibc.c */
/* FUZZ: -max_len=4096 */
/*
 * What a process has in its memory when its blocks are searched for: any words, in pages
 * that may be gone.  Whatever they are, each block gets a class, and who is pointed to by
 * its beginning from what is reachable is reachable.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/reach.h"

#define BASE	0x10000ULL
#define WORDS	2048
#define BYTES	(WORDS * 8ULL)
#define PAGE	4096
#define MOST	64

static uint64_t image[WORDS];
static uint32_t gone, code, data_pages;		/* a bit a page */
static struct reach_block blocks[MOST];
static struct reach_range roots[4];

static size_t read_image(void *ctx, __u64 addr, void *buf, size_t len)
{
	const uint64_t at = addr - BASE;
	size_t left = PAGE - at % PAGE;

	(void)ctx;
	if (addr < BASE || at >= BYTES || gone >> at / PAGE & 1)
		return 0;
	while (left < len && at + left < BYTES && !(gone >> (at + left) / PAGE & 1))
		left += PAGE;
	if (left < len)
		len = left;
	if (len > BYTES - at)
		len = BYTES - at;
	memcpy(buf, (char *)image + at, len);
	return len;
}

static enum reach_kind kind(void *ctx, __u64 addr)
{
	const uint64_t page = (addr - BASE) / PAGE;

	(void)ctx;
	if (addr < BASE || page >= BYTES / PAGE)
		return REACH_OTHER;
	return code >> page & 1 ? REACH_CODE : data_pages >> page & 1 ? REACH_DATA : REACH_OTHER;
}

static const struct reach_memory memory = { read_image, kind, NULL };

static struct reach_block *block_at(uint64_t addr, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (blocks[i].addr == addr)
			return &blocks[i];
	return NULL;
}

/* All that this range points to, if it is read from end to end. */
static void check_range(uint64_t start, uint64_t end, const struct reach_block *from, size_t nr)
{
	const struct reach_block *b;
	uint64_t at, word;

	for (at = start; at + 8 <= end; at += 8) {
		if (read_image(NULL, at, &word, 8) != 8)
			continue;
		b = block_at(word, nr);
		if (b && b != from && !b->is_root && b->class != REACH_REACHABLE)
			abort();
	}
}

static void check(size_t nr, size_t nr_roots)
{
	size_t i;

	for (i = 0; i < nr_roots; i++)
		check_range(roots[i].start, roots[i].end, NULL, nr);
	for (i = 0; i < nr; i++) {
		const struct reach_block *b = &blocks[i];

		if (b->class <= REACH_UNKNOWN || b->class >= NR_REACH)
			abort();
		if (i && b->addr < blocks[i - 1].addr + blocks[i - 1].size)
			abort();
		if (b->class == REACH_REACHABLE && !b->is_root)
			check_range(b->addr, b->addr + b->size, b, nr);
	}
}

static size_t make_blocks(const uint8_t **data, size_t *size)
{
	uint64_t at = BASE;
	size_t nr = 0;

	while (nr < MOST && *size > 2 && **data != 0xff) {
		blocks[nr] = (struct reach_block){
			.addr = at += 8 * (1 + (*data)[0] % 64), .size = (*data)[1] * 3,
		};
		at += (blocks[nr++].size + 15) & ~7ULL;
		*data += 2;
		*size -= 2;
	}
	return nr;
}

static size_t make_roots(const uint8_t **data, size_t *size)
{
	size_t nr = 0;

	while (nr < 4 && *size > 3 && **data != 0xff) {
		roots[nr].start = BASE + 256 * (*data)[0];
		roots[nr].end = roots[nr].start + 8 * (*data)[1];
		roots[nr++].starts_only = (*data)[2] & 1;
		*data += 3;
		*size -= 3;
	}
	return nr;
}

/* Input: gone, code and data pages; blocks; roots; words, small ones or addresses. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct reach_range all = { BASE, BASE + BYTES, false };
	struct reach_range bins, stack;
	__u64 top, thread;
	size_t nr, nr_roots, i;
	uint16_t v;

	if (size < 6)
		return 0;
	gone = (uint32_t)data[0] << 8 | data[1];
	code = (uint32_t)data[2] << 8 | data[3];
	data_pages = (uint32_t)data[4] << 8 | data[5];
	data += 6;
	size -= 6;
	nr = make_blocks(&data, &size);
	nr_roots = make_roots(&data, &size);
	memset(image, 0, sizeof(image));
	for (i = 0; i < WORDS && size >= 2; i++) {
		memcpy(&v, data + (2 * i) % (size - 1), 2);	/* over and over */
		image[i] = v & 1 ? v : BASE + v;
	}
	if (reach_scan(blocks, nr, roots, nr_roots, &memory))
		return 0;
	check(nr, nr_roots);
	if (reach_find_bins(&all, &memory, &bins, &top) &&
	    (bins.start < all.start || bins.end > all.end || bins.start > bins.end))
		abort();
	thread = reach_find_thread(&all, &memory);
	if (reach_find_stack(thread, &memory, &stack) &&
	    (stack.start >= thread || stack.end <= thread))
		abort();
	return 0;
}
