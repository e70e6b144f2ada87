// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/stackstore.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdlib.h>

#include "stackstore.h"
#include "tap.h"

struct store {
	struct stackstore s;
	u64 *words;
	u32 *heads;
};

static void make(struct store *t, u32 nr_words, u32 nr_heads, u32 seed)
{
	t->words = calloc(nr_words, sizeof(u64));
	t->heads = calloc(nr_heads, sizeof(u32));
	stackstore_init(&t->s, t->words, nr_words, t->heads, nr_heads, seed);
}

static void drop(struct store *t)
{
	free(t->words);
	free(t->heads);
}

static u32 count(const struct stackstore *s)
{
	struct stackstore_iter it = { 0 };
	u32 n = 0;

	while (stackstore_next(s, &it))
		n++;
	return n;
}

static u32 add(struct stackstore *s, const u64 *ip, u32 nr, u32 flags)
{
	u32 is_new;

	return stackstore_add(s, ip, nr, flags, 0, &is_new);
}

static void test_one_stack_one_id(void)
{
	const u64 ip[] = { 0x401000, 0x402000, 0x403000 };
	const struct stackstore_entry *e;
	struct store t;
	u32 id, is_new = 7;

	make(&t, 4096, 64, 1);
	id = stackstore_add(&t.s, ip, 3, 5, 0, &is_new);
	ok(id >= STACKSTORE_FIRST, "ids that the contract reserves are not given");
	is(is_new, 1, "a stack is new the first time");
	is(stackstore_add(&t.s, ip, 3, 5, 0, &is_new), id, "and has the same id again");
	is(is_new, 0, "when it is not new");
	is(count(&t.s), 1, "it is there once");

	e = stackstore_get(&t.s, id);
	is(e->nr, 3, "its entry has the number of frames");
	is(e->flags, 5, "the flags");
	ok(!memcmp(e->ip, ip, sizeof(ip)), "and the frames");
	is(e->hash, stackstore_hash(&t.s, ip, 3, 5, 0), "and the hash");
	is(stackstore_used(&t.s), (id + 2 + 3) * sizeof(u64),
	   "used is what it takes");
	drop(&t);
}

static void test_what_makes_stacks_differ(void)
{
	const u64 abc[] = { 1, 2, 3 }, abd[] = { 1, 2, 4 }, cba[] = { 3, 2, 1 };
	const u64 high[] = { 1, 2, 3 | 1ULL << 63 }, zero[] = { 1, 2, 3, 0 };
	const struct {
		const char *name;
		const u64 *ip;
		u32 nr, flags;
	} rows[] = {
		{ "another last frame", abd, 3, 0 },
		{ "another order", cba, 3, 0 },
		{ "a prefix", abc, 2, 0 },
		{ "a bit at the top", high, 3, 0 },
		{ "a frame of 0 behind", zero, 4, 0 },
		{ "a flag", abc, 3, 1 },
		{ "the highest flag", abc, 3, 0x8000 },
		{ "no frames at all", abc, 0, 0 },
		{ "no frames, but a flag", abc, 0, 1 },
	};
	struct store t;
	u32 before;

	make(&t, 4096, 1, 1);
	add(&t.s, abc, 3, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		before = count(&t.s);
		add(&t.s, rows[i].ip, rows[i].nr, rows[i].flags);
		is(count(&t.s), before + 1, "%s is another stack", rows[i].name);
		add(&t.s, rows[i].ip, rows[i].nr, rows[i].flags);
		is(count(&t.s), before + 1, "%s: once", rows[i].name);
	}
	drop(&t);
}

/* Equal in all but one thing, the hash included: that one thing decides. */
static void test_all_is_compared(void)
{
	const u64 abc[] = { 1, 2, 3 };
	const struct {
		const char *name;
		u32 nr, flags;
	} rows[] = {
		{ "flags", 3, 1 }, { "length", 2, 0 }, { "nothing", 3, 0 },
	};
	struct store t;
	u32 id;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make(&t, 4096, 1, 1);
		id = add(&t.s, abc, 3, 0);
		((struct stackstore_entry *)&t.words[id])->hash =
			stackstore_hash(&t.s, abc, rows[i].nr, rows[i].flags, 0);
		ok((add(&t.s, abc, rows[i].nr, rows[i].flags) == id) == (i == 2),
		   "stacks with one hash that differ in %s", rows[i].name);
		drop(&t);
	}
}

struct hashed {
	u32 hash, id;
	u64 ip[2];
};

static int by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* So many stacks that some have all 32 bits of the hash in common. */
static void test_equal_hashes_are_told_apart(void)
{
	enum { NR = 400000 };
	struct hashed *h = calloc(NR, sizeof(*h));
	u32 pairs = 0, shared = 0, wrong = 0;
	uint64_t seed = 2;
	struct store t;

	make(&t, NR * 4 + 8, 1 << 18, 1);
	for (u32 i = 0; i < NR; i++) {
		h[i].ip[0] = tap_random(&seed) >> 17;
		h[i].ip[1] = tap_random(&seed) >> 17;
		h[i].hash = stackstore_hash(&t.s, h[i].ip, 2, 0, 0);
		h[i].id = add(&t.s, h[i].ip, 2, 0);
		wrong += !h[i].id ||
			 memcmp(stackstore_get(&t.s, h[i].id)->ip, h[i].ip, 16);
	}
	qsort(h, NR, sizeof(*h), by_hash);
	for (u32 i = 1; i < NR; i++) {
		if (h[i].hash != h[i - 1].hash)
			continue;
		pairs++;
		shared += h[i].id == h[i - 1].id;
	}
	ok(pairs > 0, "there are different stacks with the same hash: %u", pairs);
	is(shared, 0, "none of them share an id");
	is(wrong, 0, "every id leads to its own frames");
	is(count(&t.s), NR, "the walk meets every entry once");
	for (u32 i = 0; i < NR; i++)
		wrong += add(&t.s, h[i].ip, 2, 0) != h[i].id;
	is(wrong, 0, "every stack is found again under the same id");
	free(h);
	drop(&t);
}

/* Chains stay short for the stacks that real programs have: nearby addresses. */
static void test_hash_spreads_similar_stacks(void)
{
	enum { NR = 1 << 16, HEADS = 1 << 16 };
	u32 *fill = calloc(HEADS, sizeof(*fill));
	struct stackstore s = { .seed = 3 };
	u64 ip[16];
	u32 longest;

	for (u32 bit = 0; bit < 15; bit += 5) {
		memset(fill, 0, HEADS * sizeof(*fill));
		for (u32 i = longest = 0; i < NR; i++) {
			for (u32 f = 0; f < 16; f++)
				ip[f] = 0x555555550000ULL + f * 0x40;
			ip[bit] += (u64)(i & 0xff) << 4;
			ip[15] += (u64)(i >> 8) << 2;
			u32 n = ++fill[stackstore_hash(&s, ip, 16, 1, 0) & (HEADS - 1)];
			if (n > longest)
				longest = n;
		}
		ok(longest <= 10,
		   "stacks that differ in frames %u and 15 spread: %u in a chain",
		   bit, longest);
	}
	free(fill);
}

static void test_full_store(void)
{
	u64 ip[4] = { 1, 2, 3, 0 };
	u32 nr_words = STACKSTORE_FIRST + 6 * 10 + 5, id, kept = 0, before;
	struct store t;

	make(&t, nr_words, 16, 1);
	for (u32 i = 0; i < 1000; i++) {
		ip[3] = i;
		kept += add(&t.s, ip, 4, 0) != 0;
	}
	is(kept, 10, "a store takes what there is room for");
	is(count(&t.s), kept, "and every stack it took can be read");
	ip[3] = 4;
	ok(add(&t.s, ip, 4, 0), "a full store still knows what it has");
	before = t.s.pos;
	for (u32 i = 0; i < 100000; i++) {
		ip[3] = 5000 + i;
		add(&t.s, ip, 4, 0);
	}
	is(t.s.pos, before, "refused stacks do not move its end");
	id = add(&t.s, ip, 3, 0);
	ok(id, "a shorter stack still fits into what is left");
	is(id + 2 + 3, nr_words, "to the last word");
	is(stackstore_used(&t.s), nr_words * 8, "which is all of it");
	is(add(&t.s, ip, 0, 3), 0, "then nothing fits");
	drop(&t);

	for (u32 n = 0; n <= STACKSTORE_FIRST + 1; n++) {
		make(&t, n ? n : 1, 1, 1);
		t.s.nr_words = n;
		id = add(&t.s, ip, 0, 0);
		if (id)
			break;
		drop(&t);
	}
	is(id, 0, "a store without room for one entry refuses all");
}

static void test_long_chains_end(void)
{
	u64 ip = 0;
	u32 kept = 0, known = 0;
	struct store t;

	make(&t, 8192, 1, 1);
	for (ip = 0; ip < 2000; ip++)
		kept += add(&t.s, &ip, 1, 0) != 0;
	is(kept, STACKSTORE_CHAIN, "a chain takes so many and no more");
	is(count(&t.s), kept, "all of which can be read");
	for (ip = 0; ip < 2000; ip++)
		known += add(&t.s, &ip, 1, 0) != 0;
	is(known, kept, "all of which are found, to the last");
	is(t.s.wasted, 0, "and nothing was wasted on the others");
	drop(&t);
}

static void test_odd_sizes(void)
{
	static u64 ip[0x10001];
	struct store t;
	u32 id;

	make(&t, 0x30000, 4, 1);
	id = add(&t.s, ip, 0xffff, 0);
	ok(id, "as many frames as an entry can say are taken");
	is(stackstore_get(&t.s, id)->nr, 0xffff, "all of them");
	is(add(&t.s, ip, 0x10000, 0), 0, "more are refused, not cut");
	is(add(&t.s, ip, 1, 0x10000), 0, "so are flags that it has no bits for");
	drop(&t);
}

static void test_layout(void)
{
	static const u64 sizes[] = { 0, 1, 7, 8, 64, 100, 128, 256, 4096, 65536,
		1 << 20, 8 << 20, (8 << 20) + 4097, 1ULL << 32, 1ULL << 40 };
	u32 words, heads;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		u64 used = stackstore_layout(sizes[i], &words, &heads);

		ok(heads && !(heads & (heads - 1)) &&
		   used == (u64)words * 8 + (u64)heads * 4 &&
		   (used <= sizes[i] || !words),
		   "%" PRIu64 " bytes are divided into %u words and %u heads",
		   sizes[i], words, heads);
		if (sizes[i] >= 4096 && sizes[i] <= 1ULL << 33)
			ok(used + 8 >= sizes[i], "and none are left over");
	}
}

static void test_seed_matters(void)
{
	struct stackstore a = { .seed = 1 }, b = { .seed = 2 };
	const u64 ip[] = { 0x401000, 0x402000 };

	ok(stackstore_hash(&a, ip, 2, 0, 0) != stackstore_hash(&b, ip, 2, 0, 0),
	   "sessions hash differently");
	is(stackstore_hash(&a, ip, 2, 0, 0), stackstore_hash(&a, ip, 2, 0, 0),
	   "each always the same");
}

/* Threads that add overlapping sets of stacks, while others read. */
enum { WRITERS = 4, STACKS = 3000, ROUNDS = 3 };

struct crowd {
	struct store t;
	pthread_barrier_t start;
	u32 ids[WRITERS][STACKS];
	u32 new[WRITERS];
	u32 unstable[WRITERS];
	u32 stop;
	u32 torn;
};

struct member {
	struct crowd *c;
	u32 nr;
};

/* Length and frames follow from the number, so that readers can check them. */
static u32 stack_of(u32 number, u64 *ip)
{
	u32 nr = 1 + number % 13;

	ip[0] = number + 0x1000;
	for (u32 i = 1; i < nr; i++)
		ip[i] = ip[0] * (i + 1);
	return nr;
}

static void *writer(void *arg)
{
	struct member *m = arg;
	struct crowd *c = m->c;
	u32 nr, id, is_new;
	u64 ip[16];

	pthread_barrier_wait(&c->start);
	for (u32 round = 0; round < ROUNDS; round++) {
		for (u32 i = 0; i < STACKS; i++) {
			nr = stack_of(i, ip);
			id = stackstore_add(&c->t.s, ip, nr, nr, 0, &is_new);
			c->new[m->nr] += is_new;
			if (round && c->ids[m->nr][i] != id)
				c->unstable[m->nr]++;
			c->ids[m->nr][i] = id;
		}
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct crowd *c = arg;
	u64 ip[16];
	u32 id;

	pthread_barrier_wait(&c->start);
	while (!READ_ONCE(c->stop)) {
		struct stackstore_iter it = { 0 };

		while ((id = stackstore_next(&c->t.s, &it))) {
			const struct stackstore_entry *e =
				stackstore_get(&c->t.s, id);
			u32 nr = stack_of((u32)(e->ip[0] - 0x1000), ip);

			c->torn += e->nr != nr || e->flags != nr ||
				   memcmp(e->ip, ip, nr * sizeof(*ip));
		}
	}
	return NULL;
}

static void crowd_run(struct crowd *c)
{
	struct member m[WRITERS];
	pthread_t w[WRITERS], r;

	pthread_barrier_init(&c->start, NULL, WRITERS + 1);
	pthread_create(&r, NULL, reader, c);
	for (u32 i = 0; i < WRITERS; i++) {
		m[i] = (struct member){ c, i };
		pthread_create(&w[i], NULL, writer, &m[i]);
	}
	for (u32 i = 0; i < WRITERS; i++)
		pthread_join(w[i], NULL);
	WRITE_ONCE(c->stop, 1);
	pthread_join(r, NULL);
	pthread_barrier_destroy(&c->start);
}

static void test_writers_agree(u32 nr_heads)
{
	struct crowd *c = calloc(1, sizeof(*c));
	u32 differ = 0, missing = 0, new = 0, unstable = 0, words = 0, id;
	struct stackstore_iter it = { 0 };

	make(&c->t, 1 << 19, nr_heads, 1);
	crowd_run(c);
	for (u32 w = 0; w < WRITERS; w++) {
		new += c->new[w];
		unstable += c->unstable[w];
		for (u32 i = 0; i < STACKS; i++) {
			missing += !c->ids[w][i];
			differ += c->ids[w][i] != c->ids[0][i];
		}
	}
	while ((id = stackstore_next(&c->t.s, &it)))
		words += 2 + stackstore_get(&c->t.s, id)->nr;

	is(missing, 0, "%u heads: writers at once: nothing is lost", nr_heads);
	is(differ, 0, "all of them get the same ids");
	is(unstable, 0, "and keep them");
	is(new, STACKS, "each stack was new to exactly one writer");
	is(count(&c->t.s), STACKS, "and is there once");
	is(c->torn, 0, "a reader among them sees whole entries only");
	is(STACKSTORE_FIRST + words + c->t.s.wasted, c->t.s.pos,
	   "every word is in an entry or counted as wasted (%u)",
	   c->t.s.wasted);
	drop(&c->t);
	free(c);
}

static void test_writers_fill_it_up(void)
{
	struct crowd *c = calloc(1, sizeof(*c));
	u32 new = 0, wrong = 0;
	u64 ip[16];

	make(&c->t, 8192, 256, 1);
	crowd_run(c);
	for (u32 w = 0; w < WRITERS; w++) {
		new += c->new[w];
		for (u32 i = 0; i < STACKS; i++) {
			u32 id = c->ids[w][i], nr = stack_of(i, ip);

			if (id && (id + 2 + nr > 8192 ||
				   memcmp(stackstore_get(&c->t.s, id)->ip, ip,
					  nr * sizeof(*ip))))
				wrong++;
		}
	}
	ok(new < STACKS, "a store too small for its writers is full");
	is(count(&c->t.s), new, "and has what was reported as new");
	is(wrong, 0, "every id that was given leads to its own frames");
	is(c->torn, 0, "readers see whole entries only");
	ok(c->t.s.pos < 8192 + WRITERS * 16,
	   "its end runs past by no more than one stack of each writer");
	drop(&c->t);
	free(c);
}

int main(void)
{
	test_one_stack_one_id();
	test_what_makes_stacks_differ();
	test_all_is_compared();
	test_equal_hashes_are_told_apart();
	test_hash_spreads_similar_stacks();
	test_full_store();
	test_long_chains_end();
	test_odd_sizes();
	test_layout();
	test_seed_matters();
	test_writers_agree(1 << 12);
	test_writers_agree(8);
	test_writers_fill_it_up();
	return tap_done();
}
