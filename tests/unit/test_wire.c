// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/wire.c */
#include <stdlib.h>

#include "tap.h"
#include "wire.h"

static u64 stream[1024];
static u64 stream_len;

static void *begin(u32 type, u64 len)
{
	u8 *at = (u8 *)stream + stream_len;
	void *rec = wire_begin(at, sizeof(stream) - stream_len, type, len);

	if (rec)
		stream_len += ((struct memtap_rec *)rec)->len;
	return rec;
}

/* One record of each kind that can be, with tails of every length mod 8. */
static void make_stream(void)
{
	struct memtap_rec_counter *c;
	struct memtap_rec_header *h;
	struct memtap_rec_stack *s;
	struct memtap_rec_note *n;
	struct memtap_rec_end *e;
	struct wire_sum sum;
	u64 pos = 0;
	const struct memtap_rec *rec;
	u32 bad;

	stream_len = 0;
	h = begin(MEMTAP_REC_HEADER, sizeof(*h));
	h->magic = MEMTAP_MAGIC;
	for (u32 i = 0; i < 3; i++) {
		c = begin(MEMTAP_REC_COUNTER, sizeof(*c) + i * 8);
		c->count = 100 + i;
		c->nr_hist = i;
		s = begin(MEMTAP_REC_STACK, sizeof(*s) + i * 8);
		s->nr = i;
	}
	for (u32 i = 1; i < 9; i++) {
		n = begin(MEMTAP_REC_NOTE, sizeof(*n) + i);
		memset(n->text, 'a', i - 1);
	}
	begin(1000, 24);
	wire_sum_init(&sum);
	while ((rec = wire_next(stream, stream_len, &pos, &bad)))
		wire_sum_add(&sum, rec);
	e = begin(MEMTAP_REC_END, sizeof(*e));
	wire_end(&sum, e);
}

static void test_round_trip(void)
{
	static const u32 types[] = { MEMTAP_REC_HEADER,
		MEMTAP_REC_COUNTER, MEMTAP_REC_STACK,
		MEMTAP_REC_COUNTER, MEMTAP_REC_STACK,
		MEMTAP_REC_COUNTER, MEMTAP_REC_STACK,
		MEMTAP_REC_NOTE, MEMTAP_REC_NOTE, MEMTAP_REC_NOTE,
		MEMTAP_REC_NOTE, MEMTAP_REC_NOTE, MEMTAP_REC_NOTE,
		MEMTAP_REC_NOTE, MEMTAP_REC_NOTE, 1000, MEMTAP_REC_END };
	enum { NR = sizeof(types) / sizeof(types[0]) };
	const struct memtap_rec *rec = NULL;
	struct memtap_rec_end last;
	u32 nr = 0, wrong = 0, bad;
	u64 pos = 0;

	make_stream();
	for (; (rec = wire_next(stream, stream_len, &pos, &bad)); nr++) {
		wrong += nr >= NR || rec->type != types[nr] || rec->len % 8;
		if (rec->type == MEMTAP_REC_END)
			memcpy(&last, rec, sizeof(last));
	}
	is(nr, NR, "as many records come out as went in");
	is(wrong, 0, "in their order, in multiples of 8 bytes");
	is(bad, 0, "with nothing wrong at the end");
	is(pos, stream_len, "which is that of the stream");
	is(last.records, NR, "END counts all records, itself included");
	is(last.count, 303, "and adds up the counters");
}

/* The formula of the contract, said once more. */
static void test_checksum(void)
{
	u64 h = 0xcbf29ce484222325ULL;
	struct memtap_rec_end end;
	struct wire_sum sum;

	wire_sum_init(&sum);
	wire_end(&sum, &end);
	is(end.checksum, h, "the checksum of nothing is the basis");
	is(end.records, 1, "and END is the only record");
	is(end.rec.len, sizeof(end), "which has its length");

	make_stream();
	memcpy(&end, (u8 *)stream + stream_len - sizeof(end), sizeof(end));
	for (u64 i = 0; i < (stream_len - sizeof(end)) / 8; i++)
		h = (h ^ stream[i]) * 0x100000001b3ULL;
	is(end.checksum, h, "the checksum is that of the contract");
}

static u64 checksum_of(u64 len)
{
	const struct memtap_rec *rec;
	struct wire_sum sum;
	u64 pos = 0;
	u32 bad;

	wire_sum_init(&sum);
	while ((rec = wire_next(stream, len, &pos, &bad)))
		wire_sum_add(&sum, rec);
	return sum.checksum;
}

static void test_every_bit_counts(void)
{
	u64 body, want, same = 0;

	make_stream();
	body = stream_len - sizeof(struct memtap_rec_end);
	want = checksum_of(body);
	for (u64 bit = 0; bit < body * 8; bit++) {
		((u8 *)stream)[bit / 8] ^= 1U << bit % 8;
		same += checksum_of(body) == want;
		((u8 *)stream)[bit / 8] ^= 1U << bit % 8;
	}
	is(same, 0, "a bit that flips anywhere changes the checksum");
}

static void test_cut_anywhere(void)
{
	u64 pos, len, boundaries = 0, wrong = 0;
	const struct memtap_rec *rec;
	u32 bad, ended;
	u8 *copy;

	make_stream();
	for (len = 0; len < stream_len; len++) {
		copy = malloc(len + !len);	/* ASan watches its end */
		memcpy(copy, stream, len);
		for (pos = 0, ended = 0; (rec = wire_next(copy, len, &pos, &bad));)
			ended |= rec->type == MEMTAP_REC_END;
		boundaries += !bad;
		wrong += bad == (pos == len) || ended;
		free(copy);
	}
	is(wrong, 0, "a stream cut at any byte is seen to be cut, or has no END");
	is(boundaries, 17, "it looks whole only where a record begins");
}

static void test_bad_records(void)
{
	static const struct {
		const char *name;
		u32 type, len;
		u64 room, pos;
	} rows[] = {
		{ "a length of 0", 1000, 0, 64, 0 },
		{ "less than its own header", 1000, 4, 64, 0 },
		{ "no multiple of 8", 1000, 12, 64, 0 },
		{ "more than there is", 1000, 72, 64, 0 },
		{ "as long as can be", 1000, 0xfffffff8, 64, 0 },
		{ "less than its type needs", MEMTAP_REC_COUNTER, 16, 64, 0 },
		{ "a start that is not aligned", 1000, 16, 64, 4 },
		{ "a start behind the end", 1000, 16, 64, 72 },
		{ "a start far behind the end", 1000, 16, 64, -8ULL },
	};
	u64 buf[16] = { 0 }, pos;
	struct memtap_rec rec;
	u32 bad;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rec.type = rows[i].type;
		rec.len = rows[i].len;
		pos = rows[i].pos;
		memcpy((u8 *)buf + (pos < rows[i].room ? pos : 0), &rec,
		       sizeof(rec));
		bad = 0;
		ok(!wire_next(buf, rows[i].room, &pos, &bad) && bad &&
		   pos == rows[i].pos, "%s is not a record", rows[i].name);
	}
}

static void test_begin(void)
{
	u64 buf[16];
	struct memtap_rec *rec;

	memset(buf, 0xff, sizeof(buf));
	rec = wire_begin(buf, 32, MEMTAP_REC_NOTE, 17);
	ok(rec && rec->type == MEMTAP_REC_NOTE && rec->len == 24,
	   "a record is rounded up to 8 bytes");
	ok(!buf[1] && !buf[2] && buf[3] == -1ULL, "and zeroed, no further");
	ok(wire_begin(buf, 32, 1, 32), "one fits into exactly its room");
	memset(buf, 0xff, sizeof(buf));
	ok(!wire_begin(buf, 32, 1, 33), "one that does not fit is refused");
	ok(!wire_begin(buf, 31, 1, 25), "rounding included");
	ok(!wire_begin(buf, 32, 1, 7), "so is one without room for its header");
	ok(!wire_begin(buf, -1ULL, 1, 0xfffffff9ULL),
	   "and one whose length does not fit into the header");
	ok(!wire_begin(buf, -1ULL, 1, -1ULL), "nor into anything");
	ok(buf[0] == -1ULL, "none of which writes anything");
}

static void test_least_lengths(void)
{
	is(wire_min_len(0), 0, "type 0 is unknown");
	is(wire_min_len(14), 0, "so are those between");
	is(wire_min_len(MEMTAP_REC_SAMPLE + 1), 0, "and those behind");
	is(wire_min_len(-1U), 0, "to the last");
	ok(wire_min_len(MEMTAP_REC_CACHE) > wire_min_len(MEMTAP_REC_GONE) &&
	   wire_min_len(MEMTAP_REC_GONE) == 24, "those of the kernel's objects have one");
	for (u32 t = MEMTAP_REC_HEADER; t <= MEMTAP_REC_MISMATCH; t++)
		ok(wire_min_len(t) > sizeof(struct memtap_rec) &&
		   wire_min_len(t) % 8 == 0, "type %u has a least length", t);
	is(wire_min_len(MEMTAP_REC_END), 32, "END is 32 bytes");
	is(wire_min_len(MEMTAP_REC_STACK), 24, "a stack may have no frames");
	is(wire_min_len(MEMTAP_REC_NOTE), 8, "a note no text");
}

int main(void)
{
	test_round_trip();
	test_checksum();
	test_every_bit_counts();
	test_cut_anywhere();
	test_bad_records();
	test_begin();
	test_least_lengths();
	return tap_done();
}
