// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/reach.c ctl/base/addr_index.c ctl/leaks/reach_glibc.c */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/reach.h"
#include "tap.h"

/* A process: data, code and a heap, each of words. */
#define DATA		0x10000ULL
#define CODE		0x20000ULL
#define HEAP		0x7f0000000000ULL
#define NR_DATA		1024
#define NR_HEAP		4096

static __u64 data[NR_DATA], heap[NR_HEAP];
static __u64 hole;			/* a page of the heap that cannot be read */

static size_t read_part(const void *from, size_t room, __u64 at, void *buf, size_t len)
{
	if (at >= room)
		return 0;
	if (len > room - at)
		len = room - at;
	memcpy(buf, (const char *)from + at, len);
	return len;
}

static size_t read_memory(void *ctx, __u64 addr, void *buf, size_t len)
{
	if (addr >= DATA && addr < DATA + sizeof(data))
		return read_part(data, sizeof(data), addr - DATA, buf, len);
	if (addr < HEAP || addr - HEAP >= sizeof(heap))
		return 0;
	if (hole && addr >= hole && addr < hole + 4096)
		return 0;
	if (hole > addr && hole - addr < len)
		len = hole - addr;
	return read_part(heap, sizeof(heap), addr - HEAP, buf, len);
}

static enum reach_kind kind(void *ctx, __u64 addr)
{
	if (addr >= DATA && addr < DATA + sizeof(data))
		return REACH_DATA;
	return addr >= CODE && addr < CODE + 4096 ? REACH_CODE : REACH_OTHER;
}

static const struct reach_memory memory = { read_memory, kind, NULL };
static struct reach_block blocks[64];
static size_t nr;

static void begin(void)
{
	memset(data, 0, sizeof(data));
	memset(heap, 0, sizeof(heap));
	memset(blocks, 0, sizeof(blocks));
	nr = 0;
	hole = 0;
}

/* A block of @size bytes at @word of the heap; its address. */
static __u64 block(size_t word, __u64 size)
{
	blocks[nr].addr = HEAP + word * 8;
	blocks[nr].size = size;
	return blocks[nr++].addr;
}

static void scan(void)
{
	static const struct reach_range root = { DATA, DATA + sizeof(data), false };

	if (reach_scan(blocks, nr, &root, 1, &memory))
		ok(0, "the scan has memory");
}

static unsigned int class_of(__u64 addr)
{
	for (size_t i = 0; i < nr; i++)
		if (blocks[i].addr == addr)
			return blocks[i].class;
	return NR_REACH;
}

static void test_lists(void)
{
	__u64 a, b, c, d;

	begin();
	a = block(0, 16);
	b = block(10, 16);
	c = block(20, 24);
	d = block(30, 8);
	data[5] = a;
	heap[1] = b;
	scan();
	is(class_of(a), REACH_REACHABLE, "what data points to is reachable");
	is(class_of(b), REACH_REACHABLE, "and what that points to");
	is(class_of(c), REACH_DEFINITE, "what nobody points to is lost");
	is(class_of(d), REACH_DEFINITE, "also the last one");

	begin();
	a = block(0, 16);
	b = block(10, 16);
	c = block(20, 16);
	heap[0] = b;
	heap[10] = c;
	scan();
	is(class_of(a), REACH_DEFINITE, "the head of a lost list is definitely lost");
	is(class_of(b), REACH_INDIRECT, "its second is indirectly");
	is(class_of(c), REACH_INDIRECT, "and its third");

	/* the same, with the head at the highest address */
	begin();
	a = block(20, 16);
	b = block(10, 16);
	c = block(0, 16);
	heap[20] = b;
	heap[10] = c;
	scan();
	is(class_of(a), REACH_DEFINITE, "also where the head comes last");
	is(class_of(b), REACH_INDIRECT, "a leader that is led to is none any more");
	is(class_of(c), REACH_INDIRECT, "nor what it led to");
}

static void test_cycles(void)
{
	__u64 a, b, c;

	begin();
	a = block(0, 16);
	b = block(10, 16);
	c = block(20, 16);
	heap[0] = b;
	heap[10] = a;
	heap[20] = c;
	scan();
	is(class_of(a), REACH_DEFINITE, "the first of a lost cycle answers for it");
	is(class_of(b), REACH_INDIRECT, "the others are indirectly lost");
	is(class_of(c), REACH_DEFINITE, "a block that points to itself is lost");

	data[0] = b;
	scan();
	is(class_of(a), REACH_REACHABLE, "a cycle that data points to is reachable");
	is(class_of(b), REACH_REACHABLE, "all of it");
}

static void test_interior(void)
{
	__u64 a, b, c, d;

	begin();
	a = block(0, 40);
	b = block(10, 40);
	c = block(20, 40);
	d = block(30, 40);
	data[0] = a + 9;
	heap[0] = b;
	data[1] = c + 40;
	data[2] = d + 39;
	scan();
	is(class_of(a), REACH_POSSIBLE, "an address within a block: possibly lost");
	is(class_of(b), REACH_POSSIBLE, "what such a block points to, too");
	is(class_of(c), REACH_DEFINITE, "the address behind a block is not its");
	is(class_of(d), REACH_POSSIBLE, "that of its last byte is");

	data[100] = a;
	scan();
	is(class_of(a), REACH_REACHABLE, "one address of its beginning is enough");
	is(class_of(b), REACH_REACHABLE, "for what it points to, too");

	begin();
	a = block(0, 0);
	b = block(2, 0);
	data[0] = a;
	data[1] = b + 1;
	scan();
	is(class_of(a), REACH_REACHABLE, "a block of no bytes can be reached");
	is(class_of(b), REACH_DEFINITE, "by its own address only");

	begin();
	a = block(0, 4160);
	b = block(600, 4160);
	blocks[0].loose = blocks[1].loose = 4096;
	data[0] = a + 640;
	data[1] = b + 4096;
	scan();
	is(class_of(a), REACH_REACHABLE, "of one, any address in its first page is enough");
	is(class_of(b), REACH_POSSIBLE, "but none behind that");
}

static void test_heuristics(void)
{
	__u64 a, b, c, d;

	begin();
	a = block(0, 8 + 5 * 24);
	b = block(50, 8 + 64);
	c = block(100, 24 + 15 + 1);
	d = block(150, 64);
	heap[0] = 5;
	heap[50] = 64;
	heap[100] = 3;
	heap[101] = 15;
	data[0] = a + 8;
	data[1] = b + 8;
	data[2] = c + 24;
	/* two tables of functions, and an object of two bases */
	data[500] = CODE + 16;
	data[510] = CODE + 64;
	heap[150] = DATA + 500 * 8;
	heap[154] = DATA + 510 * 8;
	data[3] = d + 32;
	scan();
	is(class_of(a), REACH_REACHABLE, "new T[n] is known by its second word");
	is(class_of(b), REACH_REACHABLE, "so is what has its size in the first");
	is(class_of(c), REACH_REACHABLE, "an old std::string is known by its text");
	is(class_of(d), REACH_REACHABLE, "an object by its second base class");

	heap[0] = 7;
	heap[50] = 63;
	heap[101] = 16;
	heap[154] = DATA + 600 * 8;
	scan();
	is(class_of(a), REACH_POSSIBLE, "where elements would not fill it, it is not new T[n]");
	is(class_of(b), REACH_POSSIBLE, "a first word that is not the size tells nothing");
	is(class_of(c), REACH_POSSIBLE, "nor a capacity that is not");
	is(class_of(d), REACH_POSSIBLE, "nor a table without functions");
}

static void test_empty_arrays(void)
{
	__u64 empty, aligned, full, text, last;

	begin();
	empty = block(0, 8);
	aligned = block(20, 32);
	full = block(30, 8);
	text = block(40, 24);
	last = block(NR_HEAP - 2, 8);
	heap[30] = 1;
	data[0] = empty + 8;
	data[1] = aligned + 32;
	data[2] = full + 8;
	data[3] = text + 24;
	data[4] = last + 8;
	scan();
	is(class_of(empty), REACH_REACHABLE, "new T[0] is known by its end");
	is(class_of(aligned), REACH_REACHABLE, "so is one whose elements are aligned to 32");
	is(class_of(last), REACH_REACHABLE, "and the last of all blocks");
	is(class_of(full), REACH_DEFINITE, "but none that says that it has elements");
	is(class_of(text), REACH_DEFINITE, "nor any block of other sizes");
	data[0] = empty + 16;
	data[4] = 0;
	scan();
	is(class_of(empty), REACH_DEFINITE, "what is further away says nothing");
	is(class_of(last), REACH_DEFINITE, "nobody has the last one");
}

static void test_mappings(void)
{
	struct reach_range roots[] = {
		{ DATA, DATA + 64, false }, { HEAP, HEAP + 400, false },
		{ HEAP + 2400, HEAP + 2800, false },
	};
	__u64 a, b, c, d;

	begin();
	a = block(0, 400);
	b = block(100, 16);
	c = block(200, 16);
	d = block(300, 400);
	blocks[0].is_root = blocks[3].is_root = true;
	heap[1] = a + 64;
	heap[2] = b;
	heap[3] = d + 200;
	heap[100] = a;
	reach_scan(blocks, nr, roots, 3, &memory);
	is(class_of(b), REACH_REACHABLE, "what a mapping points to is reachable");
	is(class_of(c), REACH_DEFINITE, "what it does not is lost");
	is(class_of(d), REACH_REACHABLE, "any address in a mapping keeps it");
	is(class_of(a), REACH_REACHABLE, "also from a block that only it points to");
	heap[100] = 0;
	reach_scan(blocks, nr, roots, 3, &memory);
	is(class_of(a), REACH_DEFINITE, "but none that it has itself");
	heap[200] = a;
	reach_scan(blocks, nr, roots, 3, &memory);
	is(class_of(a), REACH_INDIRECT, "with a lost block's address it is lost with it");
}

static void test_unreadable(void)
{
	__u64 a, b, c;

	begin();
	a = block(0, 2048 * 8);
	b = block(3000, 16);
	c = block(3010, 16);
	data[0] = a;
	heap[600] = b;
	heap[1200] = c;
	hole = HEAP + 512 * 8;
	scan();
	is(class_of(a), REACH_REACHABLE, "a block may have a page that cannot be read");
	is(class_of(b), REACH_DEFINITE, "what only that page says is not known");
	is(class_of(c), REACH_REACHABLE, "what is behind it is read");
}

static void test_bins(void)
{
	struct reach_range range = { DATA, DATA + sizeof(data), false }, bins, stack;
	__u64 a, top;

	begin();
	ok(!reach_find_bins(&range, &memory, &bins, &top), "no lists, no bins");
	for (size_t i = 300; i < 300 + 128; i += 2)
		data[i] = data[i + 1] = DATA + (i - 2) * 8;
	ok(!reach_find_bins(&range, &memory, &bins, &top), "nor has Python's table of free pools");
	for (size_t i = 300; i < 300 + 254; i += 2)
		data[i] = data[i + 1] = DATA + (i - 2) * 8;
	data[310] = data[311] = HEAP + 16;	/* of free chunks */
	data[299] = HEAP + 8;			/* last remainder */
	data[298] = HEAP + 64;			/* the last chunk */
	ok(reach_find_bins(&range, &memory, &bins, &top), "glibc's lists are found");
	ok(bins.start <= DATA + 288 * 8 && bins.end >= DATA + 554 * 8 &&
	   bins.start > DATA + 64 && bins.starts_only, "as one range with all of them");
	is(top, HEAP + 64, "before them stands the last chunk's address");
	data[550] = data[551] = HEAP + 16;
	data[548] = 0;			/* a list that is just changed */
	reach_find_bins(&range, &memory, &bins, &top);
	is(top, HEAP + 64, "also where few of the last lists are empty, and one is bad");

	a = block(0, 24);
	{
		const struct reach_range roots[] = {
			{ DATA, bins.start, false }, bins,
			{ bins.end, range.end, false },
		};

		reach_scan(blocks, nr, roots, 3, &memory);
		is(class_of(a), REACH_DEFINITE, "they keep no block that a free chunk follows");
		data[310] = a;
		reach_scan(blocks, nr, roots, 3, &memory);
		is(class_of(a), REACH_REACHABLE, "addresses of beginnings count there, too");
	}

	begin();
	data[7] = DATA + 7 * 8;
	is(reach_find_thread(&range, &memory), 0, "a word with its own address is no thread");
	data[9] = data[7];
	is(reach_find_thread(&range, &memory), DATA + 7 * 8, "with two of them it is");
	/* its stack, at whose end it is */
	data[20] = 64;
	data[21] = DATA;
	ok(!reach_find_stack(DATA + 7 * 8, &memory, &stack), "a number, an address: no stack");
	data[30] = DATA - 32;
	data[31] = 1024;
	ok(reach_find_stack(DATA + 7 * 8, &memory, &stack), "an address and a length are one");
	is(stack.start, DATA - 32, "that begins there");
}

static void test_dtv(void)
{
	__u64 a, b;

	begin();
	a = block(0, 288);
	b = block(50, 288);
	data[40] = data[42] = DATA + 40 * 8;
	data[41] = a + 16;
	data[60] = DATA + 60 * 8;
	data[61] = b + 16;
	scan();
	is(class_of(a), REACH_REACHABLE, "a thread's dtv is known by its second entry");
	is(class_of(b), REACH_POSSIBLE, "anything else is not");
}

/* ld.so's block of where code lies, which it knows by an aligned address. */
static void test_find_object(void)
{
	__u64 a, b, c;

	begin();
	a = block(2, 2000);	/* at 16 */
	b = block(402, 2000);
	c = block(802, 2000);
	data[1] = HEAP + 128;
	heap[16] = 0;
	heap[17] = a;
	heap[18] = 1;
	heap[19] = 50;
	data[2] = HEAP + 3328;		/* the next one: another's beginning */
	heap[417] = a;
	heap[418] = 1;
	heap[419] = 50;
	data[3] = HEAP + 6528;		/* more entries than it has room for */
	heap[817] = c;
	heap[818] = 1;
	heap[819] = 500;
	scan();
	is(class_of(a), REACH_REACHABLE, "ld.so's block is known by its aligned address");
	is(class_of(b), REACH_POSSIBLE, "which has the address of its beginning");
	is(class_of(c), REACH_POSSIBLE, "and room for what it says");
}

static void test_deep(void)
{
	enum { NR = 100000 };
	struct reach_block *many = calloc(NR, sizeof(*many));
	const struct reach_range none = { 0, 0, false };

	for (size_t i = 0; i < NR; i++) {
		many[i].addr = HEAP + i * 8 % sizeof(heap) + i / NR_HEAP * (1ULL << 30);
		many[i].size = 8;
	}
	is(reach_scan(many, NR, &none, 1, &memory), 0, "100 000 blocks may be lost");
	is(reach_scan(many, 0, &none, 1, &memory), 0, "or none");
	free(many);
}

int main(void)
{
	test_lists();
	test_cycles();
	test_interior();
	test_heuristics();
	test_empty_arrays();
	test_mappings();
	test_unreadable();
	test_bins();
	test_dtv();
	test_find_object();
	test_deep();
	return tap_done();
}
