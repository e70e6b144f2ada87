// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/filter.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdlib.h>

#include "filter.h"
#include "tap.h"

static void test_set(void)
{
	u32 slots[64] = { 0 }, wrong = 0, lacks = 0;
	struct pidset s;

	pidset_init(&s, slots, 64);
	ok(!pidset_has(&s, 1) && pidset_lacks(&s, 1), "an empty set has nobody");
	for (u32 pid = 1; pid <= 40; pid++)
		wrong += !pidset_add(&s, pid * 1000);
	for (u32 pid = 1; pid <= 40; pid++)
		wrong += !pidset_has(&s, pid * 1000) + pidset_has(&s, pid);
	is(wrong, 0, "a set has those that were added and no others");
	for (u32 pid = 0; pid <= 41000; pid++) {
		wrong += pidset_lacks(&s, pid) && pidset_has(&s, pid);
		lacks += pidset_lacks(&s, pid) != 0;
	}
	is(wrong, 0, "nobody lacks in it who is there");
	ok(lacks > 10000 && lacks < 41000 - 40, "others mostly do: %u of 41001", lacks);
	is(s.used, 40, "and knows how many");
	ok(pidset_add(&s, 1000), "adding one again is fine");
	is(s.used, 40, "and adds nothing");

	for (u32 pid = 1; pid <= 40; pid += 2)
		pidset_del(&s, pid * 1000);
	for (u32 pid = 1; pid <= 40; pid++)
		wrong += pidset_has(&s, pid * 1000) != (pid % 2 == 0);
	is(wrong, 0, "it loses those that were deleted and no others");
	is(s.used, 20, "and knows how many are left");
	pidset_del(&s, 7);
	pidset_del(&s, 1000);
	is(s.used, 20, "deleting who is not there changes nothing");
}

static void test_who_is_nobody(void)
{
	u32 slots[16] = { 0 };
	struct pidset s;

	pidset_init(&s, slots, 16);
	ok(!pidset_has(&s, 0), "PID 0 is not in a set of empty slots");
	ok(!pidset_add(&s, 0), "and cannot be added");
	pidset_add(&s, 5);
	pidset_del(&s, 5);
	ok(!pidset_has(&s, PIDSET_TOMBSTONE), "a tombstone is not a PID");
	ok(!pidset_add(&s, PIDSET_TOMBSTONE), "and cannot be added");
	pidset_del(&s, 0);
	pidset_del(&s, PIDSET_TOMBSTONE);
	is(s.used, 0, "nor deleted");
}

static void test_full_set(void)
{
	u32 slots[16] = { 0 }, wrong = 0;
	struct pidset s;

	pidset_init(&s, slots, 16);
	for (u32 pid = 1; pid <= 16; pid++)
		wrong += !pidset_add(&s, pid);
	is(wrong, 0, "a set can be filled to the last slot");
	ok(!pidset_add(&s, 17), "then it is full");
	ok(pidset_add(&s, 16), "though not for those who are in it");
	ok(!pidset_has(&s, 18), "and a stranger is still one");
	pidset_del(&s, 3);
	ok(pidset_add(&s, 17), "a slot that was left is used again");
	for (u32 pid = 1; pid <= 17; pid++)
		wrong += pidset_has(&s, pid) != (pid != 3);
	is(wrong, 0, "by that one alone");
}

/* Many times more processes than slots, over time. */
static void test_set_survives_churn(void)
{
	enum { NR = 4096, LIVE = NR / 2 };
	u32 *slots = calloc(NR, sizeof(*slots)), wrong = 0, refused = 0;
	struct pidset s;

	pidset_init(&s, slots, NR);
	for (u32 pid = 1; pid < 300000; pid++) {
		refused += !pidset_add(&s, pid);
		if (pid > LIVE)
			pidset_del(&s, pid - LIVE);
		if (pid % 997)
			continue;
		for (u32 i = pid > LIVE ? pid - LIVE + 1 : 1; i <= pid; i++)
			wrong += !pidset_has(&s, i);
		for (u32 i = pid + 1; i < pid + 50; i++)
			wrong += pidset_has(&s, i);
	}
	is(refused, 0, "a half full set takes everybody, whoever went before");
	is(wrong, 0, "and has exactly those who are alive");
	is(s.used, LIVE, "as many as it says");
	free(slots);
}

enum { THREADS = 4, MINE = 200, ROUNDS = 200 };

struct crowd {
	struct pidset set;
	pthread_barrier_t start;
	u32 wrong[THREADS];
	u32 stop;
	u32 ghosts;
};

struct member {
	struct crowd *c;
	u32 nr;
};

/* Own PIDs come and go; PIDs 1 .. 50 are added by everybody all the time. */
static void *changer(void *arg)
{
	struct member *m = arg;
	struct crowd *c = m->c;
	u32 base = 1000 * (m->nr + 1), *wrong = &c->wrong[m->nr];

	pthread_barrier_wait(&c->start);
	for (u32 round = 0; round < ROUNDS; round++) {
		for (u32 i = 0; i < MINE; i++)
			*wrong += !pidset_add(&c->set, base + i);
		for (u32 i = 1; i <= 50; i++)
			*wrong += !pidset_add(&c->set, i);
		for (u32 i = 0; i < MINE; i++)
			*wrong += !pidset_has(&c->set, base + i);
		for (u32 i = 1; i <= 50; i++)
			*wrong += !pidset_has(&c->set, i);
		for (u32 i = 0; i < MINE; i++) {
			pidset_del(&c->set, base + i);
			*wrong += pidset_has(&c->set, base + i);
		}
	}
	return NULL;
}

static void *stranger(void *arg)
{
	struct crowd *c = arg;

	pthread_barrier_wait(&c->start);
	while (!READ_ONCE(c->stop))
		for (u32 pid = 100; pid < 200; pid++)
			c->ghosts += pidset_has(&c->set, pid);
	return NULL;
}

static void test_set_of_many_threads(void)
{
	struct crowd *c = calloc(1, sizeof(*c));
	u32 *slots = calloc(2048, sizeof(*slots)), wrong = 0, left = 0;
	struct member m[THREADS];
	pthread_t t[THREADS], s;

	pidset_init(&c->set, slots, 2048);
	pthread_barrier_init(&c->start, NULL, THREADS + 1);
	pthread_create(&s, NULL, stranger, c);
	for (u32 i = 0; i < THREADS; i++) {
		m[i] = (struct member){ c, i };
		pthread_create(&t[i], NULL, changer, &m[i]);
	}
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	WRITE_ONCE(c->stop, 1);
	pthread_join(s, NULL);
	pthread_barrier_destroy(&c->start);

	for (u32 i = 0; i < THREADS; i++)
		wrong += c->wrong[i];
	is(wrong, 0, "who is added is there, who is deleted is not, "
	   "whatever others do");
	is(c->ghosts, 0, "nobody is seen who was never added");
	for (u32 i = 1; i <= 50; i++) {
		pidset_del(&c->set, i);
		left += pidset_has(&c->set, i);
	}
	is(left, 0, "one who was added by many is gone after one delete");
	is(c->set.used, 0, "and the count comes out");
	free(slots);
	free(c);
}

/* The task that the rows below are asked about. */
static u32 calls;

static u32 cgroups(void *ctx, u32 v2, u64 *ids)
{
	calls++;
	for (u64 i = 0; i < 3; i++)
		ids[i] = (v2 ? 2000 : 1000) + i;
	return ctx ? FILTER_CGROUP_DEPTH + 100 : 3;
}

static struct filter *filter(void)
{
	static u32 pids[16], tids[16];
	static struct filter f;

	memset(&f, 0, sizeof(f));
	memset(pids, 0, sizeof(pids));
	memset(tids, 0, sizeof(tids));
	pidset_init(&f.pids, pids, 16);
	pidset_init(&f.tids, tids, 16);
	return &f;
}

static void test_tasks(void)
{
	static const struct row {
		const char *name;
		u32 pid, tid;			/* of the filter */
		const char *comms[3];
		struct { u64 id; u8 v2; } cgroups[3];
		int passes;
	} rows[] = {
		{ "without items everybody passes", .passes = 1 },
		{ "a process passes with its PID", .pid = 10, .passes = 1 },
		{ "another does not", .pid = 12 },
		{ "a thread passes with its TID", .tid = 11, .passes = 1 },
		{ "another of the same process does not", .tid = 10 },
		{ "PIDs and TIDs are alternatives", .pid = 10, .tid = 99, .passes = 1 },
		{ "in both directions", .pid = 99, .tid = 11, .passes = 1 },
		{ "a name passes", .comms = { "worker" }, .passes = 1 },
		{ "a prefix of it does not", .comms = { "work" } },
		{ "a longer one does not", .comms = { "worker/0" } },
		{ "names are alternatives", .comms = { "a", "b", "worker" }, .passes = 1 },
		{ "a name and a PID must both fit", .pid = 10, .comms = { "other" } },
		{ "and pass if they do", .pid = 10, .comms = { "worker" }, .passes = 1 },
		{ "a cgroup passes", .cgroups = { { 1000, 0 } }, .passes = 1 },
		{ "so does an ancestor of it", .cgroups = { { 1002, 0 } }, .passes = 1 },
		{ "another does not", .cgroups = { { 1003, 0 } } },
		{ "cgroups are alternatives", .cgroups = { { 9, 0 }, { 1001, 0 } },
		  .passes = 1 },
		{ "a number of the other hierarchy is another cgroup",
		  .cgroups = { { 1000, 1 } } },
		{ "which has its own", .cgroups = { { 2001, 1 } }, .passes = 1 },
		{ "both hierarchies must fit", .cgroups = { { 1000, 0 }, { 9, 1 } } },
		{ "in whatever order", .cgroups = { { 2000, 1 }, { 9, 0 } } },
		{ "and pass if they do", .cgroups = { { 2000, 1 }, { 1000, 0 } },
		  .passes = 1 },
		{ "a cgroup and a name must both fit",
		  .comms = { "other" }, .cgroups = { { 1000, 0 } } },
	};
	/* what the kernel leaves behind the end of a name */
	static const char comm[FILTER_COMM_LEN] = "worker\0old bytes";
	const struct filter_task task = { 10, 11, comm, cgroups, NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct filter *f = filter();

		f->has_pids = r->pid || r->tid;
		if (r->pid)
			pidset_add(&f->pids, r->pid);
		if (r->tid)
			pidset_add(&f->tids, r->tid);
		for (; f->nr_comms < 3 && r->comms[f->nr_comms]; f->nr_comms++)
			strcpy(f->comms[f->nr_comms], r->comms[f->nr_comms]);
		for (u32 n; (n = f->nr_cgroups) < 3 && r->cgroups[n].id;
		     f->nr_cgroups++) {
			f->cgroups[n] = r->cgroups[n].id;
			f->cgroup_v2[n] = r->cgroups[n].v2;
		}
		is(filter_task(f, &task), r->passes, "%s", r->name);
	}
}

static void test_task_edges(void)
{
	const char full[] = "abcdefghijklmno";	/* as long as a name can be */
	struct filter_task task = { 10, 11, full, cgroups, NULL };
	struct filter *f = filter();

	f->has_pids = 1;
	ok(!filter_task(f, &task), "when all PIDs of a filter are gone nobody passes");
	f->has_pids = 0;
	f->nr_comms = 1;
	memcpy(f->comms[0], full, FILTER_COMM_LEN);
	ok(filter_task(f, &task), "names of full length are compared to their end");
	f->comms[0][14] = 'x';
	ok(!filter_task(f, &task), "and not only up to it");

	f->nr_comms = 0;
	calls = 0;
	filter_task(f, &task);
	is(calls, 0, "cgroups are asked for only if the filter has some");
	f->nr_cgroups = 3;
	filter_task(f, &task);
	is(calls, 1, "and once for all of one hierarchy");
	task.ctx = f;
	f->cgroups[0] = 77;
	filter_task(f, &task);
	ok(1, "a cgroup that claims to be too deep reads nothing it should not");
}

/* MEMTAP_CFG_NOT_SELF */
static void test_not_task(void)
{
	static const char comm[FILTER_COMM_LEN] = "worker";
	struct filter_task task = { 10, 11, comm, cgroups, NULL };
	struct filter *f = filter();

	ok(!filter_not_task(f, &task), "without a process that is left out nobody is");
	f->not_pid = 10;
	ok(!filter_task(f, &task), "a process that is left out does not pass");
	ok(filter_not_task(f, &task), "and that is the reason");
	f->has_pids = 1;
	pidset_add(&f->pids, 10);
	ok(!filter_task(f, &task) && filter_not_task(f, &task),
	   "nor does it where it was asked for");
	f->nr_comms = 1;
	strcpy(f->comms[0], "other");
	ok(!filter_task(f, &task) && !filter_not_task(f, &task),
	   "what would not pass anyway is not left out for being itself");
	f->nr_comms = 0;
	f->has_pids = 0;
	task.pid = 11;
	task.tid = 10;
	ok(filter_task(f, &task) && !filter_not_task(f, &task),
	   "it is about processes: a thread of that number passes");
}

static void test_events(void)
{
	static const struct {
		const char *name;
		u32 flags, user, has_value;
		u64 min, max;
		s64 value;
		int passes;
	} rows[] = {
		{ "an event passes a filter without limits", 0, 0, 1, 0, 0, 5, 1 },
		{ "only user: user mode passes", FILTER_ONLY_USER, 1, 0, 0, 0, 0, 1 },
		{ "only user: kernel mode does not", FILTER_ONLY_USER, 0, 0, 0, 0, 0, 0 },
		{ "only kernel: kernel mode passes", FILTER_ONLY_KERNEL, 0, 0, 0, 0, 0, 1 },
		{ "only kernel: user mode does not", FILTER_ONLY_KERNEL, 1, 0, 0, 0, 0, 0 },
		{ "less than the least value", 0, 0, 1, 100, 0, 99, 0 },
		{ "the least value", 0, 0, 1, 100, 0, 100, 1 },
		{ "more, without a greatest", 0, 0, 1, 100, 0, INT64_MAX, 1 },
		{ "the greatest value", 0, 0, 1, 0, 100, 100, 1 },
		{ "more than the greatest", 0, 0, 1, 0, 100, 101, 0 },
		{ "0, where only a greatest is set", 0, 0, 1, 0, 100, 0, 1 },
		{ "shrinking by less than the least", 0, 0, 1, 100, 0, -99, 0 },
		{ "shrinking by the least", 0, 0, 1, 100, 0, -100, 1 },
		{ "shrinking by more than the greatest", 0, 0, 1, 0, 100, -101, 0 },
		{ "shrinking by all there is", 0, 0, 1, 1ULL << 63, 0, INT64_MIN, 1 },
		{ "an event without a value", 0, 0, 0, 100, 200, 0, 1 },
		{ "mode and size must both fit", FILTER_ONLY_USER, 0, 1, 1, 0, 5, 0 },
	};

	is(filter_has_event(filter()), 0, "a filter without limits keeps no event out");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct filter *f = filter();

		f->flags = rows[i].flags;
		f->min_size = rows[i].min;
		f->max_size = rows[i].max;
		is(filter_event(f, rows[i].user, rows[i].has_value, rows[i].value),
		   rows[i].passes, "%s: %s", rows[i].name,
		   rows[i].passes ? "counts" : "does not count");
		ok(rows[i].passes || filter_has_event(f), "%s: who keeps it out says so",
		   rows[i].name);
	}
}

int main(void)
{
	test_set();
	test_who_is_nobody();
	test_full_set();
	test_set_survives_churn();
	test_set_of_many_threads();
	test_tasks();
	test_task_edges();
	test_not_task();
	test_events();
	return tap_done();
}
