// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/livetab.c */
#include "livetab_make.h"
#include "tap.h"

static int power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

static void test_layout(void)
{
	int powers = 1, fits = 1, used = 1, index = 1, shard = 1;
	u32 nr, heads, shards;
	u64 got, bytes;

	for (bytes = 256; bytes < 1ULL << 34; bytes += bytes / 7)
		for (u32 cpus = 1; cpus <= 4096; cpus *= 4) {
			got = livetab_layout(bytes, cpus, &nr, &heads, &shards);
			powers &= power_of_two(heads) && power_of_two(shards) &&
				  heads >= shards && nr >= 2;
			fits &= got <= bytes && got + sizeof(struct live) > bytes;
			used &= got == nr * 40ULL + heads * 4ULL + shards * 64ULL;
			index &= nr <= heads * 1.1 && heads * 4ULL <= nr * 8.5 + 8;
			shard &= shards == 1 || heads / shards >= 128;
			shard &= heads / shards <= 2048;
		}
	ok(powers, "heads and shards are powers of two, and a shard has heads");
	ok(fits, "all bytes are used, and no more");
	ok(used, "and are what the arrays take");
	ok(index, "a block needs 4 to 8 bytes of index");
	ok(shard, "a shard has 128 to 2048 heads");
	for (bytes = 0; bytes < 2000; bytes++) {
		got = livetab_layout(bytes, 1, &nr, &heads, &shards);
		powers &= nr >= 2 && (got <= bytes || nr == 2);
	}
	ok(powers, "small ones, too");
	livetab_layout(5 << 20, 1, &nr, &heads, &shards);
	ok(nr > 100000, "100 000 blocks fit in 5 MiB");
	ok(livetab_layout(0, 1, &nr, &heads, &shards) > 0 && nr == 2,
	   "the smallest table has room for one block");
	livetab_layout(~0ULL, 1 << 20, &nr, &heads, &shards);
	ok(nr == 1U << 30 && heads == 1U << 30, "the largest table's numbers fit");
	is(sizeof(struct live), 40, "a block has 40 bytes");
}

static void test_put_and_take(void)
{
	make(100, 64, 4, 1);
	is(take(1, 0x1000, 0), 0, "a block that nobody put is not known");
	is(put(1, 0x1000, 5, 0), LIVETAB_NEW, "a block is kept");
	is(get(1, 0x1000, 5), 1, "and found as it was put in");
	is(get(2, 0x1000, 5), 0, "not in another space");
	is(get(1, 0x1001, 5), 0, "not at another address");
	is(put(2, 0x1000, 6, 0), LIVETAB_NEW, "another space has a block there, too");
	is(livetab_used(&tab), 2, "these are two");
	is(put(1, 0x1000, 7, 5), LIVETAB_REPLACED, "a key that is known is replaced");
	is(livetab_used(&tab), 2, "which needs no slot");
	is(take(1, 0x1000, 7), 1, "taking it gives what was put last");
	is(take(1, 0x1000, 7), 0, "once");
	is(get(2, 0x1000, 6), 1, "the other one stays");
	is(put(1, 0, 1, 0), LIVETAB_NEW, "address 0 is one like others");
	is(put(~0U, ~0ULL, 1, 0), LIVETAB_NEW, "so are the last address and space");
	is(take(1, 0, 1) + take(~0U, ~0ULL, 1), 2, "both are found");
}

/* What is known of each key: its salt, or 0. */
enum { SPACES = 3, ADDRS = 200 };

struct model {
	u32 salt[SPACES + 1][ADDRS];
	u32 used;
	u32 room;
};

static u64 addr_of(u32 a)
{
	return 0x7f0000000000ULL + a * 0x30ULL;
}

static int model_put(struct model *m, u32 space, u32 a, u32 salt)
{
	u32 *old = &m->salt[space][a];
	int want = *old ? LIVETAB_REPLACED :
		   m->used < m->room ? LIVETAB_NEW : LIVETAB_FULL;

	if (put(space, addr_of(a), salt, *old) != want)
		return 0;
	if (want != LIVETAB_FULL)
		*old = salt;
	m->used += want == LIVETAB_NEW;
	return 1;
}

static int model_take(struct model *m, u32 space, u32 a)
{
	u32 *old = &m->salt[space][a], salt = *old;

	*old = 0;
	m->used -= salt != 0;
	return take(space, addr_of(a), salt) == !!salt;
}

static int model_purge(struct model *m, u32 space)
{
	u64 bytes = 1000, want_bytes = 1000;
	u32 nr = 0, want = 0;

	for (u32 s = 0; s <= tab.shard_mask; s++)
		nr += livetab_purge(&tab, s, space, &bytes);
	for (u32 a = 0; a < ADDRS; a++) {
		if (!m->salt[space][a])
			continue;
		want++;
		want_bytes += addr_of(a) * 3 + m->salt[space][a];
		m->salt[space][a] = 0;
	}
	m->used -= want;
	return nr == want && bytes == want_bytes;
}

/* A walk over all heads meets each block of the model once, and no other. */
static int model_same(const struct model *m)
{
	struct live out[LIVETAB_CHAIN];
	struct model seen = { 0 };
	u32 nr, in_use = 0;

	for (u32 h = 0; h <= tab.head_mask; h++) {
		nr = livetab_read(&tab, h, out);
		if (nr > LIVETAB_CHAIN)
			return 0;
		for (u32 i = 0; i < nr; i++) {
			u32 a = (u32)((out[i].addr - addr_of(0)) / 0x30);

			if (a >= ADDRS || seen.salt[out[i].space][a])
				return 0;
			if (check(1, &out[i], out[i].space, addr_of(a), out[i].birth) != 1)
				return 0;
			seen.salt[out[i].space][a] = out[i].birth;
		}
	}
	for (u32 slot = 0; slot < tab.nr; slot++)
		in_use += tab.slots[slot].space != 0;
	return !memcmp(seen.salt, m->salt, sizeof(m->salt)) && in_use == m->used &&
	       livetab_used(&tab) == m->used;
}

/* Short of slots, of chains' length, or of nothing: always as the model says. */
static void test_like_a_model(u32 nr, u32 heads, u32 shards, u32 seed)
{
	struct model m = { .room = nr - 1 };
	uint64_t random = seed;
	int same = 1, whole = 1;

	if (heads == 1 && m.room > LIVETAB_CHAIN)
		m.room = LIVETAB_CHAIN;
	make(nr, heads, shards, seed);
	for (u32 i = 1; i < 200000 && same; i++) {
		u64 r = tap_random(&random);
		u32 space = 1 + r % SPACES, a = (r >> 8) % ADDRS;
		u32 often = i >> 13 & 1 ? 5 : 3;	/* of 8: grow, and shrink */

		if ((r >> 16) % 5000 == 0)
			same &= model_purge(&m, space);
		else if ((r >> 32) % 8 < often)
			same &= model_put(&m, space, a, i);
		else if ((r >> 40) % 8)
			same &= model_take(&m, space, a);
		else
			same &= get(space, addr_of(a), m.salt[space][a]) ==
				!!m.salt[space][a];
		if (i % 1000 == 0)
			whole &= model_same(&m);
	}
	ok(same, "%u slots, %u heads, %u shards: each answer is the model's", nr, heads,
	   shards);
	ok(whole, "and so is what is read");
}

static void test_full(void)
{
	u32 kept = 0, again = 0, refused = 0;

	make(1000, 1024, 16, 3);
	is(livetab_max(&tab), 0, "nothing was in a table that is new");
	put(1, 16, 1, 0);
	take(1, 16, 1);
	is(livetab_max(&tab), 1, "one block was in it, and is not any more");
	for (u64 a = 1; a < 1000; a++)
		kept += put(1, a * 16, 1, 0) == LIVETAB_NEW;
	is(kept, 999, "each slot is used before the table is full");
	for (u64 a = 1000; a < 2000; a++)
		refused += put(1, a * 16, 1, 0) == LIVETAB_FULL;
	is(refused, 1000, "then it is full");
	is(put(1, 16, 2, 1), LIVETAB_REPLACED, "except for what it knows");
	is(take(1, 16, 2), 1, "which is right, and makes room");
	for (u64 a = 2; a < 1000; a++) {	/* in whose shard was room? */
		again += put(1, a * 16 + 0x100000, 1, 0) == LIVETAB_NEW;
		again += put(1, a * 16 + 0x200000, 1, 0) == LIVETAB_FULL;
		again += take(1, a * 16, 1) == 1;
	}
	is(again, 998 * 3, "each slot that comes back is used, whatever shard's it was");
	is(livetab_used(&tab), 998, "nothing is lost by it");
	for (u64 a = 2; a < 1000; a++)
		again -= take(1, a * 16 + 0x100000, 1);
	is(livetab_used(&tab), 0, "all are taken out again");
	is(livetab_max(&tab), 999, "and all slots were in use at one time");
}

static void test_long_chain(void)
{
	u32 good = 0;

	make(100, 1, 1, 1);
	for (u64 a = 0; a < LIVETAB_CHAIN; a++)
		good += put(1, a, 1, 0) == LIVETAB_NEW;
	is(good, LIVETAB_CHAIN, "a chain is as long as it may be");
	is(put(1, LIVETAB_CHAIN, 1, 0), LIVETAB_FULL, "and no longer");
	is(put(1, 0, 2, 1), LIVETAB_REPLACED, "its last block can be replaced");
	is(take(1, 0, 2), 1, "and taken");
	is(put(1, LIVETAB_CHAIN, 1, 0), LIVETAB_NEW, "then there is room for another");
}

/* Addresses whose blocks are all in shard 0: those that purging it removes. */
static u32 put_one_sided(u32 shard, u32 most)
{
	u32 nr = 0, before = 0, misses = 0;
	struct live b, was;

	for (u64 a = 1; nr < most && misses < 20; a++) {
		b = block_of(1, a * 16, 1);
		before = tab.shards[shard].used;
		if (!livetab_put(&tab, &b, &was)) {
			misses++;
			continue;
		}
		if (tab.shards[shard].used == before) {
			livetab_take(&tab, 1, a * 16, &was);
			continue;
		}
		nr++;
	}
	return nr;
}

static void test_one_sided(void)
{
	u32 nr, heads, shards, kept = 0;

	livetab_layout(200000, 2, &nr, &heads, &shards);
	is(shards, 16, "a table of 16 shards");
	make(nr, heads, shards, 9);
	ok(put_one_sided(5, nr) >= (nr - 1) * 0.95,
	   "one shard gets what the others' batches hold, too");
	make(nr, heads, shards, 10);
	for (u64 a = 1; a < nr; a++)
		kept += put(1, a * 16, 1, 0) == LIVETAB_NEW;
	is(kept, nr - 1, "all slots are in use, each shard's");
	for (u64 a = 1; a < nr; a++)
		kept -= take(1, a * 16, 1) == 1;
	is(kept, 0, "all come back");
	ok(put_one_sided(5, nr) >= (nr - 1) * 0.95, "and one shard gets them");
}

/* One slot is free, anywhere: it is found by asking some shards at a time. */
static void test_far_slot(void)
{
	u32 most = (tab.shard_mask + 1) / LIVETAB_STEAL + 1, tries, worst = 0, at_once = 0;

	for (u64 i = 0; i < 100; i++) {
		u64 gone = i * 0x40;

		if (take(1, gone, 1) != 1)
			continue;
		for (tries = 1; tries <= most; tries++)
			if (put(2, gone, 1, 0) == LIVETAB_NEW)
				break;
		at_once += tries == 1;
		worst = tries > worst ? tries : worst;
	}
	ok(worst > 1 && worst <= most, "a lone free slot is found, by the %uth try", worst);
	ok(at_once < 30, "not all shards are asked at once (%u of 100)", at_once);
}

/* More shards than are asked at once. */
static void test_many_shards(void)
{
	u32 nr, heads, shards, first = 0, kept = 0;

	livetab_layout(20 << 20, 128, &nr, &heads, &shards);
	ok(shards > LIVETAB_STEAL * 8, "a table of %u shards", shards);
	make(nr, heads, shards, 2);
	for (u64 a = 0; a < nr * 2; a++) {
		if (put(1, a * 0x40, 1, 0) == LIVETAB_NEW)
			kept++;
		else if (!first)
			first = kept;
	}
	ok(first >= (nr - 1) * 0.99, "is not full before it is (%u of %u)", first, nr - 1);
	is(kept, nr - 1, "and misses no slot for ever");
	test_far_slot();
}

static u32 longest_chain(u64 step, u32 nr, u32 nr_spaces)
{
	struct live out[LIVETAB_CHAIN];
	u32 longest = 0, len;

	for (u32 i = 0; i < nr; i++)
		if (put(1 + i % nr_spaces, 0x7f1200000010ULL + i / nr_spaces * step,
			1, 0) != LIVETAB_NEW)
			return LIVETAB_CHAIN + 1;
	for (u32 h = 0; h <= tab.head_mask; h++) {
		len = livetab_read(&tab, h, out);
		if (len > longest)
			longest = len;
	}
	return longest;
}

/* With as many blocks as heads, random ones would have 8 or 9 in the longest chain. */
static void test_spread(void)
{
	for (u32 nr_spaces = 1; nr_spaces <= 1000; nr_spaces *= 10)
		for (u32 shift = 4; shift <= 44; shift += 4) {
			make(70000, 65536, 64, 77 + shift);
			ok(longest_chain(1ULL << shift, 65536, nr_spaces) <= 11,
			   "blocks 1 << %u apart in %u spaces spread", shift, nr_spaces);
		}
}

int main(void)
{
	test_layout();
	test_put_and_take();
	test_like_a_model(1000, 1024, 16, 1);
	test_like_a_model(200, 256, 64, 2);
	test_like_a_model(200, 256, 1, 3);
	test_like_a_model(64, 16, 16, 4);
	test_like_a_model(1000, 1, 1, 5);
	test_like_a_model(2, 8, 4, 6);
	test_full();
	test_long_chain();
	test_one_sided();
	test_many_shards();
	test_spread();
	unmake();
	return tap_done();
}
