// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/livetab.c */
/* VARIANTS: asan tsan */
/*
 * Threads that hand blocks to each other, as programs do: what one allocates
 * another frees.  Each block is put once and taken once, so everything can be
 * counted, while a space comes and goes beside, and somebody reads.
 */
#include <pthread.h>

#include "livetab_make.h"
#include "tap.h"

enum { THREADS = 3, ROUNDS = 8000, QUEUE = 128, STAY = 50,
       PASSER = 100, GUEST = 200, STAYS = 300 };	/* spaces */

/* From one thread to the next one. */
struct queue {
	u32 addr[QUEUE];		/* with bit 31: the table was full */
	u32 head, tail;
};

struct member {
	struct queue *in, *out;
	u32 first;			/* its own addresses: first, first + 1, ... */
	u32 kept, full, taken, missed, wrong;
};

static struct queue queues[THREADS];
static u32 stop, done;
static pthread_barrier_t start;

/* 0: there is no room in the queue */
static int hand_over(struct member *m, u32 n)
{
	struct queue *q = m->out;
	u32 addr = m->first + n, head = q->head;
	int ret;

	if (head - smp_load_acquire(&q->tail) == QUEUE)
		return 0;
	ret = put(PASSER, addr, addr, 0);
	m->kept += ret == LIVETAB_NEW;
	m->full += ret == LIVETAB_FULL;
	m->wrong += ret == LIVETAB_REPLACED || ret < 0;
	q->addr[head % QUEUE] = addr | (ret == LIVETAB_FULL ? 1U << 31 : 0);
	smp_store_release(&q->head, head + 1);
	return 1;
}

static void take_over(struct member *m)
{
	struct queue *q = m->in;
	u32 tail = q->tail, addr;
	int ret;

	if (tail == smp_load_acquire(&q->head))
		return;
	addr = q->addr[tail % QUEUE] & ~(1U << 31);
	if (q->addr[tail % QUEUE] >> 31) {
		m->wrong += take(PASSER, addr, addr) != 0;
	} else {
		if (addr & 1)
			m->wrong += get(PASSER, addr, addr) != 1;
		ret = take(PASSER, addr, addr);
		m->taken += ret == 1;
		m->missed += ret == 0;
		m->wrong += ret < 0;
	}
	smp_store_release(&q->tail, tail + 1);
}

/* Gives and takes at times of its own, so that queues are full and empty. */
static void *passer(void *arg)
{
	struct member *m = arg;
	uint64_t random = m->first;

	pthread_barrier_wait(&start);
	for (u32 n = 0; READ_ONCE(done) < THREADS;) {
		u64 r = tap_random(&random);
		u32 gives = r % 80, takes = (r >> 32) % 80;

		while (gives-- && n < ROUNDS) {
			if (!hand_over(m, n))
				break;
			if (++n == ROUNDS)
				port_fetch_add(&done, 1);
		}
		while (takes--)
			take_over(m);
		sched_yield();
	}
	return NULL;
}

struct visitor {
	u32 kept, replaced, purged, wrong;
	u64 bytes_kept, bytes_purged;
};

/* A space whose blocks go all at once, again and again. */
static void *guest(void *arg)
{
	struct visitor *v = arg;
	uint64_t random = 5;

	while (!READ_ONCE(stop)) {
		for (u32 i = 0; i < 60; i++) {
			u64 addr = tap_random(&random) % 1000;
			struct live b = block_of(GUEST, addr, i), was;
			int ret = livetab_put(&tab, &b, &was);

			v->kept += ret == LIVETAB_NEW;
			v->bytes_kept += ret != LIVETAB_FULL ? b.size : 0;
			v->bytes_kept -= ret == LIVETAB_REPLACED ? was.size : 0;
			v->wrong += ret == LIVETAB_REPLACED &&
				    (was.addr != addr || was.space != GUEST);
		}
		for (u32 s = 0; s <= tab.shard_mask; s++)
			v->purged += livetab_purge(&tab, s, GUEST, &v->bytes_purged);
		sched_yield();
	}
	return NULL;
}

struct reader {
	u32 walks, wrong, strange;
};

static void read_all(struct reader *r)
{
	struct live out[LIVETAB_CHAIN];
	u32 stays[STAY] = { 0 }, nr;

	for (u32 h = 0; h <= tab.head_mask; h++) {
		nr = livetab_read(&tab, h, out);
		for (u32 i = 0; i < nr; i++) {
			if (out[i].space == STAYS && out[i].addr < STAY)
				stays[out[i].addr]++;
			r->strange += check(1, &out[i], out[i].space, out[i].addr,
					    out[i].birth) != 1;
		}
	}
	for (u32 i = 0; i < STAY; i++)
		r->wrong += stays[i] != 1;
	r->walks++;
}

static void *reader(void *arg)
{
	do {
		read_all(arg);
		sched_yield();
	} while (!READ_ONCE(stop));
	return NULL;
}

static void run(struct member *m, struct visitor *v, struct reader *r)
{
	pthread_t t[THREADS], beside[2];

	stop = 0;
	done = 0;
	memset(queues, 0, sizeof(queues));
	pthread_barrier_init(&start, NULL, THREADS);
	for (u32 i = 0; i < THREADS; i++) {
		m[i].out = &queues[i];
		m[i].in = &queues[(i + 1) % THREADS];
		m[i].first = i * ROUNDS;
		pthread_create(&t[i], NULL, passer, &m[i]);
	}
	pthread_create(&beside[0], NULL, guest, v);
	pthread_create(&beside[1], NULL, reader, r);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	WRITE_ONCE(stop, 1);
	pthread_join(beside[0], NULL);
	pthread_join(beside[1], NULL);
	pthread_barrier_destroy(&start);
	for (u32 i = 0; i < THREADS; i++)	/* what nobody came to take */
		while (queues[i].tail != queues[i].head)
			take_over(&m[(i + THREADS - 1) % THREADS]);
}

/* Every slot there is can be had again, once. */
static u32 slots_left(void)
{
	u32 nr = 0;

	for (u64 a = 0; put(7, a, 1, 0) == LIVETAB_NEW; a++)
		nr++;
	return nr;
}

static void test_threads(u32 nr, u32 heads, u32 shards, int roomy)
{
	struct member m[THREADS] = { 0 }, all = { 0 };
	struct visitor v = { 0 };
	struct reader r = { 0 };

	make(nr, heads, shards, nr);
	for (u64 a = 0; a < STAY; a++)
		put(STAYS, a, 3, 0);
	run(m, &v, &r);
	for (u32 i = 0; i < THREADS; i++) {
		all.kept += m[i].kept;
		all.full += m[i].full;
		all.taken += m[i].taken;
		all.missed += m[i].missed;
		all.wrong += m[i].wrong;
	}
	is(all.wrong, 0, "%u slots, %u shards: no block is another's", nr, shards);
	is(all.missed, 0, "each that was kept is found by the one who takes it");
	is(all.taken, all.kept, "all that were kept were taken (%u)", all.kept);
	ok(roomy ? !all.full : all.full > 0, "%u did not fit", all.full);
	is(v.purged, v.kept, "what was purged had been put (%u)", v.kept);
	is(v.bytes_purged, v.bytes_kept, "so had been its bytes");
	is(v.wrong, 0, "what was replaced was the guest's own");
	is(r.wrong, 0, "%u walks met each block that stayed once", r.walks);
	is(r.strange, 0, "and none that nobody put");
	is(livetab_used(&tab), STAY, "these are what is left");
	is(slots_left(), nr - 1 - STAY, "no slot is lost");
}

/* All at once after the slots that nobody had, and then after each other's. */
static void *rusher(void *arg)
{
	struct member *m = arg;
	int ret;

	pthread_barrier_wait(&start);
	for (u32 n = 0; m->full < 50; n++) {
		ret = put(PASSER, m->first + n, m->first + n, 0);
		m->kept += ret == LIVETAB_NEW;
		m->full += ret == LIVETAB_FULL;
		m->wrong += ret == LIVETAB_NEW &&
			    get(PASSER, m->first + n, m->first + n) != 1;
	}
	return NULL;
}

static void test_rush(u32 nr)
{
	struct member m[THREADS] = { 0 };
	u32 kept = 0, wrong = 0;
	pthread_t t[THREADS];

	make(nr, nr - 1, 64, 1);
	pthread_barrier_init(&start, NULL, THREADS);
	for (u32 i = 0; i < THREADS; i++) {
		m[i].first = i << 24;
		pthread_create(&t[i], NULL, rusher, &m[i]);
	}
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		kept += m[i].kept;
		wrong += m[i].wrong;
	}
	pthread_barrier_destroy(&start);
	is(wrong, 0, "%u slots, and a rush for them: all find what they put", nr);
	is(livetab_used(&tab), kept, "all of it is there (%u)", kept);
	is(slots_left(), nr - 1 - kept, "as is each slot that is left");
}

int main(void)
{
	test_rush((1 << 14) + 1);
	test_rush((1 << 10) + 1);
	test_threads(2000, 1024, 16, 1);
	test_threads(2000, 128, 1, 1);
	test_threads(STAY + 100, 256, 64, 0);
	test_threads(3 * LIVETAB_BATCH + 1, 64, 2, 0);
	unmake();
	return tap_done();
}
