// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/counters.c kmod/core/hist.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdlib.h>

#include "counters.h"
#include "tap.h"

struct table {
	struct counter_pool pool;
	struct counters *cpus;
	u32 nr_cpus;
	u32 nr_heads;
};

static void make(struct table *t, u32 nr_cpus, u32 nr_slots, u32 nr_heads, int hist)
{
	struct counter *slots = aligned_alloc(64, nr_slots * sizeof(*slots));
	u64 *buckets = NULL;

	memset(slots, 0, nr_slots * sizeof(*slots));
	if (hist)
		buckets = calloc((size_t)nr_slots * HIST_BUCKETS, sizeof(u64));
	counter_pool_init(&t->pool, slots, buckets, nr_slots);
	t->nr_cpus = nr_cpus;
	t->nr_heads = nr_heads;
	t->cpus = calloc(nr_cpus, sizeof(*t->cpus));
	for (u32 i = 0; i < nr_cpus; i++)
		counters_init(&t->cpus[i], &t->pool,
			      calloc(nr_heads, sizeof(u32)), nr_heads, i + 1);
}

static void drop(struct table *t)
{
	for (u32 i = 0; i < t->nr_cpus; i++)
		free(t->cpus[i].heads);
	free(t->cpus);
	free(t->pool.slots);
	free(t->pool.hist);
}

static struct counter_key key_of(u32 n)
{
	return (struct counter_key){ .event = 1, .task = n, .ustack = n * 7 };
}

static const struct counter *lookup(const struct counters *c,
				    const struct counter_key *key)
{
	struct counters_iter it = { 0 };
	const struct counter *e, *found = NULL;

	while ((e = counters_next(c, &it)))
		if (!memcmp(&e->key, key, sizeof(*key)))
			found = e;
	return found;
}

static u32 entries(const struct counters *c)
{
	struct counters_iter it = { 0 };
	u32 n = 0;

	while (counters_next(c, &it))
		n++;
	return n;
}

static void test_count_sum_max(void)
{
	struct counter_key k = key_of(3);
	const s64 values[] = { 10, -4, 0, 25, 7 };
	const struct counter *e;
	const u64 *h;
	struct table t;

	is(sizeof(struct counter), 64, "a counter is a cache line");
	is(sizeof(struct counter_key), 24, "a key has no padding");
	make(&t, 1, 64, 16, 1);
	for (size_t i = 0; i < 5; i++)
		ok(counters_add(&t.cpus[0], &k, values[i]), "%" PRId64 " is counted",
		   values[i]);
	e = lookup(&t.cpus[0], &k);
	is(entries(&t.cpus[0]), 1, "events of one key have one counter");
	is(e->count, 5, "which counts them");
	is(e->sum, 38, "adds their values up");
	is(e->max, 25, "and has the greatest");
	h = counters_hist(&t.cpus[0], e);
	is(h[0], 2, "its histogram has what is not positive in the first bucket");
	is(h[3] + h[4] + h[5], 3, "and the rest where it belongs");
	is(h[5], 1, "25 among 16 to 31");
	drop(&t);
}

static void test_extreme_values(void)
{
	struct counter_key k = key_of(1);
	const struct counter *e;
	struct table t;

	make(&t, 1, 64, 16, 0);
	counters_add(&t.cpus[0], &k, -5);
	e = lookup(&t.cpus[0], &k);
	is(e->max, -5, "a negative value is a maximum, too");
	is(e->sum, -5, "but is added");
	counters_add(&t.cpus[0], &k, INT64_MIN);
	counters_add(&t.cpus[0], &k, INT64_MIN);
	is(e->sum, -5, "sums wrap around");
	counters_add(&t.cpus[0], &k, INT64_MAX);
	is(e->max, INT64_MAX, "the greatest value is kept");
	is(e->min, INT64_MIN, "and the least");
	ok(!counters_hist(&t.cpus[0], e), "no histogram where none are kept");
	drop(&t);
}

static void test_what_makes_keys_differ(void)
{
	const struct counter_key rows[] = {
		{ 0 }, { .event = 1 }, { .event = 0x8000 }, { .flags = 1 },
		{ .task = 1 }, { .task = 1U << 31 }, { .kstack = 1 },
		{ .ustack = 1 }, { .kstack = 1, .ustack = 1 }, { .addr = 1 },
		{ .addr = 1ULL << 63 },
	};
	enum { NR = sizeof(rows) / sizeof(rows[0]) };
	struct table t;
	int good = 1;

	make(&t, 1, 64, 1, 0);
	for (u32 i = 0; i < NR; i++)
		for (u32 n = 0; n <= i; n++)
			good &= counters_add(&t.cpus[0], &rows[i], i);
	ok(good, "keys that differ in one field are all taken");
	is(entries(&t.cpus[0]), NR, "each has its own counter");
	for (u32 i = 0; i < NR; i++)
		good &= lookup(&t.cpus[0], &rows[i])->count == i + 1 &&
			lookup(&t.cpus[0], &rows[i])->sum == i * (i + 1);
	ok(good, "with its own count and sum, in one chain");
	drop(&t);
}

static int by_hash(const void *a, const void *b)
{
	const struct counter *x = *(const struct counter **)a;
	const struct counter *y = *(const struct counter **)b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* So many keys that some have all 32 bits of the hash in common. */
static void test_equal_hashes_are_told_apart(void)
{
	enum { NR = 400000 };
	const struct counter **all = calloc(NR, sizeof(*all));
	struct counters_iter it = { 0 };
	struct counter_key k;
	u32 n = 0, pairs = 0, wrong = 0;
	struct table t;

	make(&t, 1, NR + 1, 1 << 18, 0);
	for (u32 i = 0; i < NR * 3U; i++) {
		k = key_of(i % NR);
		wrong += !counters_add(&t.cpus[0], &k, i % NR);
	}
	is(wrong, 0, "as many keys as there are slots fit, but for number 0");
	while (n < NR && (all[n] = counters_next(&t.cpus[0], &it))) {
		wrong += all[n]->count != 3 ||
			 all[n]->sum != 3 * (s64)all[n]->key.task;
		n++;
	}
	is(n, NR, "the walk meets each counter once");
	ok(!counters_next(&t.cpus[0], &it), "and ends");
	is(wrong, 0, "every counter is exact");
	qsort(all, NR, sizeof(*all), by_hash);
	for (u32 i = 1; i < NR; i++)
		pairs += all[i]->hash == all[i - 1]->hash;
	ok(pairs > 0, "though there are keys with the same hash: %u", pairs);
	free(all);
	drop(&t);
}

static void test_where_it_was_counted_last(void)
{
	struct counter_key a = key_of(1), b = key_of(2);
	struct table t;
	u32 at = 0, was;

	make(&t, 1, 64, 1, 1);
	ok(counters_add_at(t.cpus, &a, 5, &at) && at, "a new key says where it is");
	was = at;
	ok(counters_add_at(t.cpus, &a, 6, &at) && at == was, "and is there the next time");
	is(lookup(t.cpus, &a)->sum, 11, "counted as ever");
	ok(counters_add_at(t.cpus, &b, 1, &at) && at != was,
	   "another key is not counted where it is said to be");
	is(lookup(t.cpus, &a)->count, 2, "and leaves what is there alone");
	is(lookup(t.cpus, &b)->count, 1, "but in its own place");
	at = was;
	ok(counters_add_at(t.cpus, &b, 1, &at) && at != was, "which is found by its hash");
	is(lookup(t.cpus, &b)->count, 2, "and then told");
	is(entries(t.cpus), 2, "there are as many as there were keys");
	drop(&t);
}

static void test_full_pool(void)
{
	struct counter_key k;
	u32 kept = 0, used, i;
	struct table t;

	make(&t, 1, 100, 64, 0);
	for (i = 0; i < 1000; i++) {
		k = key_of(i);
		kept += counters_add(&t.cpus[0], &k, 1);
	}
	is(kept, 99, "a pool takes as many keys as it has slots, but for number 0");
	is(entries(&t.cpus[0]), kept, "and each of them can be read");
	k = key_of(5);
	is(counters_add(&t.cpus[0], &k, 1), 1, "a full pool still counts known keys");
	is(lookup(&t.cpus[0], &k)->count, 2, "exactly");
	used = t.pool.used;
	for (i = 0; i < 100000; i++) {
		k = key_of(5000 + i);
		counters_add(&t.cpus[0], &k, 1);
	}
	is(t.pool.used, used, "refused keys do not move its end");
	drop(&t);

	make(&t, 1, 1, 64, 0);
	k = key_of(1);
	is(counters_add(&t.cpus[0], &k, 1), 0, "a pool of slot 0 alone is empty");
	drop(&t);
}

static void test_long_chains_end(void)
{
	struct counter_key k;
	u32 kept = 0, known = 0, i;
	struct table t;

	make(&t, 1, 1024, 1, 0);
	for (i = 0; i < 1000; i++) {
		k = key_of(i);
		kept += counters_add(&t.cpus[0], &k, 1);
	}
	is(kept, COUNTERS_CHAIN, "a chain takes so many and no more");
	for (i = 0; i < 1000; i++) {
		k = key_of(i);
		known += counters_add(&t.cpus[0], &k, 1);
	}
	is(known, kept, "all of which are found, to the last");
	drop(&t);
}

static void test_cpus_share_a_pool(void)
{
	struct counter_key k;
	u32 i, c, wrong = 0;
	u64 total = 0;
	struct table t;

	make(&t, 4, 4 * 96 + 64, 32, 1);
	for (i = 0; i < 96 * 10; i++)
		for (c = 0; c < 4; c++) {
			k = key_of(i % 96);
			total += counters_add(&t.cpus[c], &k, c);
		}
	is(total, 96 * 10 * 4, "CPUs count the same keys side by side");
	for (c = 0; c < 4; c++)
		for (i = 0; i < 96; i++) {
			k = key_of(i);
			wrong += lookup(&t.cpus[c], &k)->count != 10 ||
				 lookup(&t.cpus[c], &k)->sum != 10 * c;
		}
	is(wrong, 0, "each in counters of its own");
	drop(&t);

	make(&t, 64, 1024, 64, 0);
	k = key_of(1);
	counters_add(&t.cpus[0], &k, 1);
	is(t.pool.used, 1 + COUNTERS_BATCH, "idle CPUs take nothing from the pool");
	drop(&t);
}

/* One writer for each table, from one pool, and a reader of all of them. */
enum { WRITERS = 3, KEYS = 500, EVENTS = 60000 };

struct crowd {
	struct table t;
	pthread_barrier_t start;
	u64 refused[WRITERS];
	u32 stop;
	u32 torn;
	u32 shrunk;
};

struct member {
	struct crowd *c;
	u32 nr;
};

static void *writer(void *arg)
{
	struct member *m = arg;
	struct counters *c = &m->c->t.cpus[m->nr];
	uint64_t seed = m->nr;
	struct counter_key k;

	pthread_barrier_wait(&m->c->start);
	for (u32 i = 0; i < EVENTS; i++) {
		k = key_of(tap_random(&seed) % KEYS);
		m->c->refused[m->nr] += !counters_add(c, &k, k.task);
	}
	return NULL;
}

/* A counter's total only grows, and its key is there from the start. */
static void *reader(void *arg)
{
	struct crowd *c = arg;
	u64 last[WRITERS] = { 0 }, sum, count;
	const struct counter *e;

	pthread_barrier_wait(&c->start);
	while (!READ_ONCE(c->stop)) {
		for (u32 i = 0; i < WRITERS; i++) {
			struct counters_iter it = { 0 };

			sum = 0;
			while ((e = counters_next(&c->t.cpus[i], &it))) {
				count = READ_ONCE(e->count);
				sum += count;
				c->torn += e->key.ustack != e->key.task * 7 ||
					   e->key.event != 1 || !count ||
					   READ_ONCE(e->max) != e->key.task;
			}
			c->shrunk += sum < last[i];
			last[i] = sum;
		}
	}
	return NULL;
}

static void test_reader_beside_writers(u32 nr_slots)
{
	struct crowd *c = calloc(1, sizeof(*c));
	struct member m[WRITERS];
	pthread_t w[WRITERS], r;
	u64 counted = 0, refused = 0;
	const struct counter *e;

	make(&c->t, WRITERS, nr_slots, 64, 1);
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

	for (u32 i = 0; i < WRITERS; i++) {
		struct counters_iter it = { 0 };

		refused += c->refused[i];
		while ((e = counters_next(&c->t.cpus[i], &it)))
			counted += e->count;
	}
	is(counted + refused, (u64)WRITERS * EVENTS,
	   "%u slots: every event is counted or refused", nr_slots);
	ok(!refused == (nr_slots > WRITERS * KEYS + WRITERS * COUNTERS_BATCH),
	   "events are refused only where slots are short (%" PRIu64 ")", refused);
	is(c->torn, 0, "a reader sees whole counters only");
	is(c->shrunk, 0, "which never shrink");
	pthread_barrier_destroy(&c->start);
	drop(&c->t);
	free(c);
}

int main(void)
{
	test_count_sum_max();
	test_extreme_values();
	test_what_makes_keys_differ();
	test_equal_hashes_are_told_apart();
	test_where_it_was_counted_last();
	test_full_pool();
	test_long_chains_end();
	test_cpus_share_a_pool();
	test_reader_beside_writers(WRITERS * KEYS + 100);
	test_reader_beside_writers(KEYS);
	return tap_done();
}
