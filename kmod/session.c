// SPDX-License-Identifier: GPL-2.0-only
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "heap.h"
#include "record.h"
#include "rows.h"
#include "session.h"
#include "spaces.h"
#include "stream.h"

#include "compat/task.h"

#define KNOWN_FLAGS	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK |	\
			 MEMTAP_CFG_THREADS | MEMTAP_CFG_HIST |		\
			 MEMTAP_CFG_ADDR | MEMTAP_CFG_CHILDREN |	\
			 MEMTAP_CFG_ONLY_USER | MEMTAP_CFG_ONLY_KERNEL | \
			 MEMTAP_CFG_ROWS | MEMTAP_CFG_LIVE | MEMTAP_CFG_KEEP | \
			 MEMTAP_CFG_TRACE)

#define PIDSET_SLOTS	16384	/* four times what a filter may name: forks */
#define PAIR_SLOTS	4096
#define MIN_STACKS	4096	/* bytes: one stack of any depth */
#define MIN_LIVE	65536
#define MAX_TABLE	(1ULL << 31)	/* of one table: its index is a u32 */
#define TICK		(HZ / 10)

unsigned long memtap_max_mem = 64UL << 20;

struct memtap_session memtap_no_session;
LIST_HEAD(memtap_running);
static LIST_HEAD(sessions);
static DEFINE_MUTEX(sessions_lock);
static u32 last_nr, nr_open;

/* A CPU's own heads: fewer on very large machines, so that 0 fits a budget. */
static u32 cpu_heads(void)
{
	return nr_cpu_ids > 128 ? 4096 : 16384;
}

static u64 cpu_bytes(void)
{
	return sizeof(struct memtap_session_cpu) + cpu_heads() * sizeof(u32);
}

/*
 * 8 MiB hold about 50 000 stacks of 17 frames, 4 MiB 65 536 counters; a key
 * that occurs on several CPUs has a counter on each.
 */
void memtap_session_defaults(u64 *stacks, u64 *counters, u64 *tasks)
{
	u32 more = nr_cpu_ids > 4 ? min_t(u32, nr_cpu_ids, 128) - 4 : 0;

	*stacks = 8 << 20;
	*counters = (4 << 20) + more * (64ULL << 10);
	*tasks = 1 << 20;
}

/* --- life -------------------------------------------------------------- */

static void tick(struct work_struct *work)
{
	struct memtap_session *s = container_of(work, struct memtap_session,
						tick.work);
	u64 counted, lost;

	if (!waitqueue_active(&s->wait))
		return;
	memtap_session_totals(s, &counted, &lost);
	if (counted != s->read_counted || lost != s->read_lost ||
	    !READ_ONCE(s->running))
		wake_up_interruptible(&s->wait);
	else
		schedule_delayed_work(&s->tick, TICK);
}

struct memtap_session *memtap_session_new(void)
{
	struct memtap_session *s = vzalloc(sizeof(*s));

	if (!s)
		return NULL;
	mutex_init(&s->lock);
	init_waitqueue_head(&s->wait);
	INIT_DELAYED_WORK(&s->tick, tick);
	INIT_LIST_HEAD(&s->running_node);
	memtap_holds_init(&s->holds);
	s->opener = task_tgid_nr(current);
	memcpy(s->opener_comm, current->comm, sizeof(s->opener_comm));
	s->opener_comm[sizeof(s->opener_comm) - 1] = 0;
	mutex_lock(&sessions_lock);
	s->nr = ++last_nr;
	nr_open++;
	list_add_tail(&s->node, &sessions);
	mutex_unlock(&sessions_lock);
	return s;
}

static void free_filter(struct memtap_session *s)
{
	if (!s->filter)
		return;
	vfree(s->filter->pids.slots);
	vfree(s->filter->tids.slots);
	vfree(s->mm_pids.slots);
	vfree(s->mm_filter);
	vfree(s->filter);
	s->filter = NULL;
	s->mm_filter = NULL;
	s->mm_pids.slots = NULL;
}

static void free_tables(struct memtap_session *s)
{
	u32 cpu;

	vfree(s->stacks.words);
	vfree(s->stacks.heads);
	vfree(s->pool.slots);
	vfree(s->pool.hist);
	vfree(s->pairs.slots);
	if (s->heap)
		memtap_heap_empty(s);
	s->stacks.words = NULL;
	s->stacks.heads = NULL;
	s->pool.slots = NULL;
	s->pool.hist = NULL;
	s->pairs.slots = NULL;
	for (cpu = 0; s->cpus && cpu < nr_cpu_ids; cpu++)
		vfree(s->cpus[cpu]);
	kfree(s->cpus);
	s->cpus = NULL;
}

static void free_maps(struct memtap_session *s)
{
	memtap_tasks_stop(s);
	memtap_spaces_free(s);
	memtap_tasks_free(s);
}

static void leave_hooks(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = &s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			memtap_hook_leave(e->hooks[j], s);
	}
	if (s->heap)
		memtap_heap_leave_hooks(s);
}

static void withdraw_hooks(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = &s->events[i];
		for (j = 0; !e->builtin && j < e->nr_hooks; j++)
			memtap_generic_withdraw(e->hooks[j]);
	}
	if (s->heap)
		memtap_heap_withdraw_hooks(s);
	memtap_generic_sync();
}

static void put_hooks(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	if (!s->nr_events)
		return;
	leave_hooks(s);
	/* handlers that began before may still know the session */
	synchronize_rcu();
	withdraw_hooks(s);
	for (i = 0; i < s->nr_events; i++) {
		e = &s->events[i];
		for (j = 0; !e->builtin && j < e->nr_hooks; j++)
			memtap_generic_put(e->hooks[j]);
		e->nr_hooks = 0;
	}
	if (s->heap)
		memtap_heap_put_hooks(s);
}

void memtap_session_free(struct memtap_session *s)
{
	mutex_lock(&s->lock);
	memtap_session_stop(s);
	put_hooks(s);
	mutex_unlock(&s->lock);

	mutex_lock(&sessions_lock);
	list_del(&s->node);
	nr_open--;
	mutex_unlock(&sessions_lock);

	cancel_delayed_work_sync(&s->tick);
	free_maps(s);
	memtap_stream_free(s->stream);
	free_tables(s);
	memtap_heap_free(s);
	free_filter(s);
	vfree(s);
}

u32 memtap_nr_sessions(void)
{
	return READ_ONCE(nr_open);
}

void memtap_for_each_session(void (*fn)(struct memtap_session *s, void *ctx),
			     void *ctx)
{
	struct memtap_session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, node)
		fn(s, ctx);
	mutex_unlock(&sessions_lock);
}

/* --- CONFIGURE --------------------------------------------------------- */

static int add_pid(struct memtap_session *s, const struct memtap_filter_item *f)
{
	struct filter *flt = s->filter;
	struct task_struct *task;
	u32 tgid = 0, tid = 0;
	bool ok;

	rcu_read_lock();
	task = pid_task(find_vpid((pid_t)f->value), PIDTYPE_PID);
	if (task) {
		tgid = task->tgid;
		tid = task->pid;
	}
	rcu_read_unlock();
	if (!tid || f->value > INT_MAX)
		return -ESRCH;
	if (f->kind == MEMTAP_FILTER_PID)
		ok = pidset_add(&flt->pids, tgid);
	else
		ok = pidset_add(&flt->tids, tid);
	flt->has_pids = 1;
	return ok && pidset_add(&s->mm_pids, tgid) ? 0 : -ENOSPC;
}

static int add_cgroup(struct filter *flt, const struct memtap_filter_item *f)
{
	u32 v2 = f->kind == MEMTAP_FILTER_CGROUP2, nr;
	u64 id;

	if (flt->nr_cgroups == FILTER_MAX_CGROUPS)
		return -ENOSPC;
	rcu_read_lock();
	nr = memtap_task_cgroups(current, v2, &id, 1);
	rcu_read_unlock();
	if (!nr)
		return -EOPNOTSUPP;
	flt->cgroups[flt->nr_cgroups] = f->value;
	flt->cgroup_v2[flt->nr_cgroups++] = v2;
	return 0;
}

static int add_item(struct memtap_session *s, const struct memtap_filter_item *f)
{
	struct filter *flt = s->filter;

	if (f->reserved)
		return -EINVAL;
	switch (f->kind) {
	case MEMTAP_FILTER_PID:
	case MEMTAP_FILTER_TID:
		return add_pid(s, f);
	case MEMTAP_FILTER_COMM:
		if (flt->nr_comms == FILTER_MAX_COMMS)
			return -ENOSPC;
		if (!memchr(f->comm, 0, sizeof(f->comm)))
			return -EINVAL;
		memcpy(flt->comms[flt->nr_comms++], f->comm, FILTER_COMM_LEN);
		return 0;
	case MEMTAP_FILTER_CGROUP1:
	case MEMTAP_FILTER_CGROUP2:
		return add_cgroup(flt, f);
	default:
		return -EINVAL;
	}
}

static int new_pidset(struct pidset *set)
{
	u32 *slots = vzalloc(PIDSET_SLOTS * sizeof(u32));

	if (!slots)
		return -ENOMEM;
	pidset_init(set, slots, PIDSET_SLOTS);
	return 0;
}

/*
 * A probe stands in a whole process: which one is decided by mm_pids, and by
 * the kinds of items that are not PIDs.
 */
static int make_mm_filter(struct memtap_session *s)
{
	s->mm_filter = vzalloc(sizeof(*s->mm_filter));
	if (!s->mm_filter)
		return -ENOMEM;
	*s->mm_filter = *s->filter;
	s->mm_filter->has_pids = 0;
	return 0;
}

static int make_filter(struct memtap_session *s, const struct memtap_config *c,
		       const struct memtap_filter_item *items)
{
	struct filter *flt;
	u32 i;
	int err;

	free_filter(s);
	flt = s->filter = vzalloc(sizeof(*flt));
	if (!flt)
		return -ENOMEM;
	err = new_pidset(&flt->pids);
	if (!err)
		err = new_pidset(&flt->tids);
	if (!err)
		err = new_pidset(&s->mm_pids);
	flt->min_size = c->min_size;
	flt->max_size = c->max_size;
	if (c->flags & MEMTAP_CFG_ONLY_USER)
		flt->flags |= FILTER_ONLY_USER;
	if (c->flags & MEMTAP_CFG_ONLY_KERNEL)
		flt->flags |= FILTER_ONLY_KERNEL;
	for (i = 0; !err && i < c->filter_nr; i++)
		err = add_item(s, &items[i]);
	if (!err)
		err = make_mm_filter(s);
	s->filter_set = c->filter_nr > 0;
	if (err)
		free_filter(s);
	return err;
}

static u32 nr_slots(const struct memtap_session *s)
{
	u64 each = sizeof(struct counter);

	if (s->flags & MEMTAP_CFG_HIST)
		each += HIST_BUCKETS * sizeof(u64);
	return max_t(u64, div64_u64(s->mem_counters, each), 2 * COUNTERS_BATCH);
}

static u64 total_bytes(const struct memtap_session *s)
{
	u32 words, heads, nr, nr_maps, files;
	u64 each = sizeof(struct counter);

	if (s->flags & MEMTAP_CFG_HIST)
		each += HIST_BUCKETS * sizeof(u64);
	return stackstore_layout(s->mem_stacks, &words, &heads) +
	       nr_slots(s) * each +
	       memtap_tasks_layout(s->mem_tasks, &nr, &nr_maps, &files) +
	       (s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0) +
	       (s->flags & MEMTAP_CFG_LIVE ?
		memtap_heap_layout(s->mem_live, s->flags & MEMTAP_CFG_TRACE) : 0) +
	       num_possible_cpus() * cpu_bytes() +
	       PAIR_SLOTS * sizeof(struct pair) +
	       3 * PIDSET_SLOTS * sizeof(u32) + sizeof(struct filter) +
	       sizeof(*s);
}

static int check_live(const struct memtap_config *c)
{
	if (c->reserved2 || c->sample_bytes > 1ULL << 40 ||
	    (c->sample_bytes && c->sample_rate > 1))
		return -EINVAL;
	if (!(c->flags & MEMTAP_CFG_LIVE) &&
	    ((c->flags & (MEMTAP_CFG_KEEP | MEMTAP_CFG_TRACE)) || c->sample_bytes ||
	     c->sample_rate))
		return -EINVAL;
	return 0;
}

static int check_config(const struct memtap_config *c)
{
	int err;

	if (c->flags & ~KNOWN_FLAGS)
		return -EOPNOTSUPP;
	if (c->depth > MEMTAP_MAX_DEPTH || c->addr_shift > 63 || c->reserved ||
	    c->filter_nr > MEMTAP_MAX_FILTERS ||
	    (c->max_size && c->max_size < c->min_size))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_ONLY_USER) &&
	    (c->flags & MEMTAP_CFG_ONLY_KERNEL))
		return -EINVAL;
	if (c->flags & MEMTAP_CFG_ROWS) {
		if (!(c->flags & MEMTAP_CFG_USTACK))
			return -EINVAL;
		err = memtap_rows_supported();
		if (err)
			return err;
	}
	if (c->events >> memtap_nr_builtins)
		return -ENOENT;
	if (c->mem_stacks > MAX_TABLE || c->mem_counters > MAX_TABLE ||
	    c->mem_tasks > MAX_TABLE || c->mem_unwind > MAX_TABLE ||
	    c->mem_live > MAX_TABLE)
		return -EDQUOT;
	return check_live(c);
}

int memtap_session_configure(struct memtap_session *s, struct memtap_config *c,
			     const struct memtap_filter_item *items)
{
	u64 stacks, counters, tasks, old_tasks, old_unwind;
	int err;

	if (s->state > MEMTAP_CONFIGURED || s->nr_events)
		return -EBUSY;
	err = check_config(c);
	if (err)
		return err;
	s->state = MEMTAP_NEW;
	old_tasks = s->mem_tasks;
	old_unwind = s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0;
	memtap_session_defaults(&stacks, &counters, &tasks);
	s->flags = c->flags;
	s->depth = c->depth ? c->depth : MEMTAP_MAX_DEPTH;
	s->addr_shift = c->addr_shift;
	s->builtin_events = c->events;
	s->mem_stacks = c->mem_stacks ? c->mem_stacks : stacks;
	s->mem_stacks = max_t(u64, s->mem_stacks, MIN_STACKS);
	s->mem_counters = c->mem_counters ? c->mem_counters : counters;
	s->mem_tasks = c->mem_tasks ? c->mem_tasks : tasks;
	s->mem_unwind = c->mem_unwind ? c->mem_unwind : MEMTAP_DEFAULT_UNWIND;
	s->mem_live = c->mem_live ? c->mem_live : MEMTAP_DEFAULT_LIVE;
	s->mem_live = max_t(u64, s->mem_live, MIN_LIVE);
	s->sample_bytes = c->sample_bytes;
	s->sample_rate = c->sample_rate;
	/* tables that came before stay, where there is the same room for them */
	if (s->mem_tasks != old_tasks ||
	    old_unwind != (s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0))
		free_maps(s);
	s->mem_total = total_bytes(s);
	c->mem_total = s->mem_total;
	if (s->mem_total > READ_ONCE(memtap_max_mem))
		return -EDQUOT;
	err = make_filter(s, c, items);
	if (!(s->flags & MEMTAP_CFG_LIVE))
		memtap_heap_free(s);
	else if (!err)
		err = memtap_heap_new(s, c);
	if (!err)
		s->state = MEMTAP_CONFIGURED;
	return err;
}

bool memtap_session_wants_mm(struct memtap_session *s, struct mm_struct *mm)
{
	struct task_struct *owner;
	struct filter *f = s->filter;
	bool wants = true;

	if (!s->filter_set)
		return true;
	rcu_read_lock();
	owner = memtap_mm_owner(mm);
	if (owner && f->has_pids)
		wants = pidset_has(&s->mm_pids, owner->tgid);
	if (owner && wants && (f->nr_comms || f->nr_cgroups))
		wants = memtap_filter_task(s->mm_filter, owner);
	rcu_read_unlock();
	return wants;
}

/* --- tables ------------------------------------------------------------ */

static int make_stacks(struct memtap_session *s, u32 seed)
{
	u32 nr_words, nr_heads;
	u64 *words;
	u32 *heads;

	stackstore_layout(s->mem_stacks, &nr_words, &nr_heads);
	words = vzalloc(nr_words * sizeof(u64));
	heads = vzalloc(nr_heads * sizeof(u32));
	stackstore_init(&s->stacks, words, nr_words, heads, nr_heads, seed);
	return words && heads ? 0 : -ENOMEM;
}

static int make_counters(struct memtap_session *s, u32 seed)
{
	u32 nr = nr_slots(s), cpu;
	struct counter *slots;
	u64 *hist = NULL;

	slots = vzalloc(nr * sizeof(*slots));
	if (s->flags & MEMTAP_CFG_HIST)
		hist = vzalloc(nr * HIST_BUCKETS * sizeof(u64));
	counter_pool_init(&s->pool, slots, hist, nr);
	if (!slots || (!hist && (s->flags & MEMTAP_CFG_HIST)))
		return -ENOMEM;
	s->cpus = kcalloc(nr_cpu_ids, sizeof(*s->cpus), GFP_KERNEL);
	if (!s->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		s->cpus[cpu] = vzalloc_node(cpu_bytes(), cpu_to_node(cpu));
		if (!s->cpus[cpu])
			return -ENOMEM;
		counters_init(&s->cpus[cpu]->counters, &s->pool,
			      s->cpus[cpu]->heads, cpu_heads(), seed);
	}
	return 0;
}

static int make_pairs(struct memtap_session *s, u32 seed)
{
	struct pair *slots = vzalloc(PAIR_SLOTS * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	pairtab_init(&s->pairs, slots, PAIR_SLOTS, seed);
	return 0;
}

int memtap_session_maps(struct memtap_session *s)
{
	int err = 0;

	if (!s->tasks.slots)
		err = memtap_tasks_init(s, s->mem_tasks);
	if (!err && (s->flags & MEMTAP_CFG_ROWS) && !s->spaces)
		err = memtap_spaces_init(s);
	return err;
}

static int make_tables(struct memtap_session *s)
{
	u32 seed;
	int err;

	get_random_bytes(&seed, sizeof(seed));
	err = make_stacks(s, seed);
	if (!err)
		err = make_counters(s, seed);
	if (!err)
		err = make_pairs(s, seed);
	if (!err)
		err = memtap_session_maps(s);
	if (!err && s->heap)
		err = memtap_heap_init(s);
	if (!err && !s->stream) {
		s->stream = memtap_stream_new();
		err = s->stream ? 0 : -ENOMEM;
	}
	if (err)
		free_tables(s);
	return err;
}

/* --- ATTACH, START, STOP ------------------------------------------------ */

static int check_attach(const struct memtap_session *s, const struct memtap_attach *a)
{
	const u32 known = MEMTAP_ATTACH_RETURN | MEMTAP_ATTACH_ENTRY |
			  MEMTAP_ATTACH_HOLD | MEMTAP_ATTACH_FREE_STACK;
	bool heap = a->kind == MEMTAP_ATTACH_HEAP;

	if (s->state != MEMTAP_CONFIGURED && !(heap && s->state == MEMTAP_RUNNING))
		return -EBUSY;
	if (a->flags & ~known)
		return -EOPNOTSUPP;
	if (!memchr(a->name, 0, sizeof(a->name)))
		return -EINVAL;
	if (heap)
		return memtap_heap_check(s, a);
	if (a->op || a->family || a->size_arg || a->size2_arg || a->ptr_arg ||
	    a->result_arg || a->moved || a->reserved ||
	    (a->flags & MEMTAP_ATTACH_FREE_STACK))
		return -EINVAL;
	if (!(a->flags & MEMTAP_ATTACH_HOLD))
		return a->hold_ms ? -EINVAL : 0;
	return a->kind == MEMTAP_ATTACH_UPROBE && !(a->flags & MEMTAP_ATTACH_RETURN) &&
	       a->hold_ms >= 1 && a->hold_ms <= 60000 ? 0 : -EINVAL;
}

/* Probes of allocators with the same name are one event. */
static int find_heap_event(const struct memtap_session *s, struct memtap_attach *a)
{
	u32 i;

	for (i = 0; i < s->nr_events; i++) {
		if (!s->events[i].heap || strcmp(s->events[i].name, a->name))
			continue;
		if (s->heap->events[i].family != a->family)
			return -EINVAL;
		break;
	}
	a->event = i;
	return 0;
}

/* What the probes' handlers need is there before the first of them stands. */
static int new_event(struct memtap_session *s, struct memtap_attach *a)
{
	struct memtap_session_event *e;
	int err;

	a->event = s->nr_events;
	if (a->kind == MEMTAP_ATTACH_HEAP) {
		err = find_heap_event(s, a);
		if (err || a->event < s->nr_events)
			return err;
	}
	/* the built-in ones join at START */
	if (s->nr_events + (s->state == MEMTAP_RUNNING ? 0 : hweight64(s->builtin_events)) >=
	    MEMTAP_MAX_EVENTS)
		return -ENOSPC;
	e = &s->events[a->event];
	memset(e, 0, sizeof(*e));
	memcpy(e->name, a->name, sizeof(e->name));
	e->flags = a->flags & (MEMTAP_ATTACH_RETURN | MEMTAP_ATTACH_ENTRY);
	e->heap = a->kind == MEMTAP_ATTACH_HEAP;
	if (e->heap) {
		s->heap->events[a->event].op = a->op;
		s->heap->events[a->event].family = a->family;
		s->heap->events[a->event].probes = 0;
	}
	return 0;
}

static int join_attached(struct memtap_session *s, struct memtap_hook *h,
			 const struct memtap_attach *a)
{
	struct memtap_session_event *e = &s->events[a->event];
	int err;

	err = memtap_hook_join(h, s, a->event, s->depth);
	if (err)
		return err;
	if (e->heap) {
		err = memtap_heap_attached(s, h, a->event);
		if (err)
			memtap_hook_leave(h, s);
		return err;
	}
	e->hooks[0] = h;
	e->nr_hooks = 1;
	return 0;
}

int memtap_session_attach(struct memtap_session *s, struct memtap_attach *a)
{
	bool user = a->kind == MEMTAP_ATTACH_UPROBE || a->kind == MEMTAP_ATTACH_HEAP;
	struct file *file = NULL;
	struct memtap_hook *h;
	int err;

	err = check_attach(s, a);
	if (!err)
		err = new_event(s, a);
	if (err)
		return err;
	if (user) {
		file = fget(a->fd);
		if (!file)
			return -EBADF;
	}
	h = memtap_generic_get(s, a, file);
	if (file)
		fput(file);
	if (IS_ERR(h))
		return PTR_ERR(h);
	err = join_attached(s, h, a);
	if (err) {
		memtap_generic_put(h);
		return err;
	}
	if (a->kind == MEMTAP_ATTACH_HEAP && s->state == MEMTAP_RUNNING)
		memtap_heap_late(s);
	s->events[a->event].way = h->way;
	a->way = h->way;
	if (a->event == s->nr_events)
		s->nr_events++;
	return 0;
}

/* The last one, whose caller could not be told of it. */
void memtap_session_detach(struct memtap_session *s, const struct memtap_attach *a)
{
	struct memtap_session_event *e = &s->events[a->event];
	struct memtap_hook *h = e->heap ? memtap_heap_last(s) : e->hooks[0];

	memtap_hook_leave(h, s);
	synchronize_rcu();
	memtap_generic_put(h);
	if (e->heap && (memtap_heap_detached(s) || s->state == MEMTAP_RUNNING))
		return;
	e->nr_hooks = 0;
	s->nr_events--;
}

/*
 * One hook of several is enough: a 32-bit ABI may be absent.  But none may be
 * missing for want of memory.
 */
static int join_builtin(struct memtap_session *s, const struct memtap_builtin *b)
{
	struct memtap_session_event *e = &s->events[s->nr_events];
	int err = 0, first = 0;
	u32 i;

	memset(e, 0, sizeof(*e));
	strscpy(e->name, b->name, sizeof(e->name));
	e->builtin = b;
	for (i = 0; err != -ENOMEM && i < b->nr_hooks; i++) {
		err = memtap_hook_join(b->hooks[i], s, s->nr_events, s->depth);
		if (!err)
			e->hooks[e->nr_hooks++] = b->hooks[i];
		else if (!first)
			first = err;
	}
	if (!e->nr_hooks)
		return first ? first : -ENOENT;
	e->way = e->hooks[0]->way;
	s->nr_events++;
	return err == -ENOMEM ? err : 0;
}

static int join_builtins(struct memtap_session *s)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < memtap_nr_builtins; i++)
		if (s->builtin_events & (1ULL << i))
			err = join_builtin(s, memtap_builtins[i]);
	return err;
}

/* Takes away the built-in events again: a START that failed may be repeated. */
static void leave_builtins(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 j;

	while (s->nr_events && s->events[s->nr_events - 1].builtin) {
		e = &s->events[--s->nr_events];
		for (j = 0; j < e->nr_hooks; j++)
			memtap_hook_leave(e->hooks[j], s);
		e->nr_hooks = 0;
	}
}

static u64 missed_now(struct memtap_session_event *e, u32 j)
{
	u64 now = memtap_hook_missed(e->hooks[j]);

	return now > e->missed_base[j] ? now - e->missed_base[j] : 0;
}

static void set_missed_base(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = &s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			e->missed_base[j] = memtap_hook_missed(e->hooks[j]);
	}
}

static void begin(struct memtap_session *s)
{
	set_missed_base(s);
	s->cpus_came = memtap_perf_came();
	s->state = MEMTAP_RUNNING;
	mutex_lock(&sessions_lock);
	list_add_tail_rcu(&s->running_node, &memtap_running);
	mutex_unlock(&sessions_lock);
	if (s->spaces)		/* from here on the hooks tell what changes */
		memtap_spaces_read_all(s);
	if (s->heap)
		memtap_heap_begin(s);
	memtap_holds_open(&s->holds);
	s->start_ns = ktime_get_ns();
	/* the tables are there before anybody sees that they may be used */
	smp_store_release(&s->running, 1);
}

int memtap_session_start(struct memtap_session *s)
{
	bool rows = s->flags & MEMTAP_CFG_ROWS;
	int err;

	if (s->state != MEMTAP_CONFIGURED)
		return -EBUSY;
	if (!s->nr_events && !s->builtin_events)
		return -EINVAL;
	err = make_tables(s);
	if (err)
		return err;
	err = memtap_task_hooks_get(rows);
	if (err == -ENXIO || err == -ENOMEM)
		goto err_tables;
	if (err && (s->flags & MEMTAP_CFG_CHILDREN))
		goto err_hooks;
	err = join_builtins(s);
	if (err)
		goto err_hooks;
	begin(s);
	return 0;

err_hooks:
	leave_builtins(s);
	memtap_task_hooks_put(rows);
	synchronize_rcu();
	memtap_tasks_stop(s);
err_tables:
	free_tables(s);
	return err;
}

static bool counts_by_perf(const struct memtap_session *s)
{
	u32 i;

	for (i = 0; i < s->nr_events; i++)
		if (s->events[i].way == MEMTAP_WAY_PERF_SW ||
		    s->events[i].way == MEMTAP_WAY_PERF_TP)
			return true;
	return false;
}

u64 memtap_session_cpus_late(struct memtap_session *s)
{
	if (s->state == MEMTAP_STOPPED)
		return s->cpus_came;
	return counts_by_perf(s) ? memtap_perf_came() - s->cpus_came : 0;
}

/* All that could serve the event, also those that could not be attached. */
static void keep_hooks(struct memtap_session_event *e)
{
	struct memtap_hook *const *hooks;
	u32 j;

	if (e->heap)
		return;

	hooks = e->builtin ? e->builtin->hooks : e->hooks;
	e->nr_kept = e->builtin ? e->builtin->nr_hooks : e->nr_hooks;
	for (j = 0; j < e->nr_kept; j++)
		memtap_hook_describe(hooks[j], &e->kept[j]);
}

void memtap_session_hooks(struct memtap_session *s, u32 event)
{
	if (s->state == MEMTAP_RUNNING)
		keep_hooks(&s->events[event]);
}

int memtap_session_stop(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	if (s->state != MEMTAP_RUNNING)
		return -EBUSY;
	s->stop_ns = ktime_get_ns();
	s->stop_real_ns = ktime_get_real_ns();
	WRITE_ONCE(s->running, 0);
	s->cpus_came = memtap_session_cpus_late(s);
	for (i = 0; i < s->nr_events; i++) {
		e = &s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			e->missed += missed_now(e, j);
		keep_hooks(e);
	}
	if (s->heap)
		memtap_heap_keep_hooks(s);
	mutex_lock(&sessions_lock);
	list_del_rcu(&s->running_node);
	mutex_unlock(&sessions_lock);
	memtap_holds_close(&s->holds);
	/* after this no hot path is inside the tables */
	synchronize_rcu();
	put_hooks(s);
	memtap_task_hooks_put(s->flags & MEMTAP_CFG_ROWS);
	memtap_tasks_stop(s);
	if (s->heap)
		memtap_heap_stop(s);
	s->state = MEMTAP_STOPPED;
	wake_up_interruptible(&s->wait);
	return 0;
}

/* --- STATS ------------------------------------------------------------- */

static void add_account(struct memtap_stats *st, const struct memtap_account *a)
{
	u32 i;

	st->seen += READ_ONCE(a->seen);
	st->counted += READ_ONCE(a->counted);
	st->filtered += READ_ONCE(a->filtered);
	for (i = 0; i < MEMTAP_NR_LOST; i++)
		st->lost[i] += READ_ONCE(a->lost[i]);
	for (i = 0; i < MEMTAP_NR_PART; i++)
		st->part[i] += READ_ONCE(a->part[i]);
}

/*
 * What is not on the CPUs' accounts: probes that the kernel did not run, NMIs,
 * and returns that did not come, which are what is left over.
 */
static void add_absent(struct memtap_session *s, struct memtap_stats *st)
{
	struct memtap_session_event *e = &s->events[st->event];
	u64 nmi = atomic64_read(&e->nmi), recursion = atomic64_read(&e->recursion);
	u64 missed = e->missed, known;
	u32 i;

	if (s->state == MEMTAP_RUNNING)
		for (i = 0; i < e->nr_hooks; i++)
			missed += missed_now(e, i);
	st->lost[MEMTAP_LOST_MISSED] += missed;
	st->lost[MEMTAP_LOST_NMI] += nmi;
	st->lost[MEMTAP_LOST_RECURSION] += recursion;
	st->seen += missed + nmi + recursion;
	if (!(e->flags & MEMTAP_ATTACH_RETURN) && !e->heap)
		return;
	known = st->counted + st->filtered;
	for (i = 0; i < MEMTAP_NR_LOST; i++)
		known += st->lost[i];
	if (st->seen > known)
		st->lost[MEMTAP_LOST_RETURN] += st->seen - known;
}

int memtap_session_stats(struct memtap_session *s, struct memtap_stats *st)
{
	u32 cpu, event = st->event, size = st->size;

	if (event >= s->nr_events)
		return -ENOENT;
	memset(st, 0, sizeof(*st));
	st->size = size;
	st->event = event;
	if (s->state < MEMTAP_RUNNING)
		return 0;
	for_each_possible_cpu(cpu)
		add_account(st, &s->cpus[cpu]->account[event]);
	add_absent(s, st);
	return 0;
}

void memtap_session_totals(struct memtap_session *s, u64 *counted, u64 *lost)
{
	const struct memtap_account *a;
	u32 cpu, i, j;

	*counted = 0;
	*lost = 0;
	if (s->state < MEMTAP_RUNNING)
		return;
	for_each_possible_cpu(cpu) {
		for (i = 0; i < s->nr_events; i++) {
			a = &s->cpus[cpu]->account[i];
			*counted += READ_ONCE(a->counted);
			for (j = 0; j < MEMTAP_NR_LOST; j++)
				*lost += READ_ONCE(a->lost[j]);
		}
	}
}
