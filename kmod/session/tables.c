// SPDX-License-Identifier: GPL-2.0-only
/* Size a session's tables; allocate them at START, free them with the session. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "live/live.h"
#include "live/objects.h"
#include "record/guard.h"
#include "session/int.h"
#include "record/rows.h"
#include "record/spaces.h"
#include "record/touched.h"
#include "session/stream.h"

#include "compat/valloc.h"

/* A CPU's own heads: fewer on very large machines, so that 0 fits a budget. */
static u32 cpu_heads(void)
{
	return nr_cpu_ids > 128 ? 4096 : 16384;
}

/* With MEMTAP_CFG_PEAK, whose stacks take the rest. */
#define PEAK_COUNTERS	4096

static u64 stack_memo_bytes(const struct memtap_session *s)
{
	return s->flags & MEMTAP_CFG_USTACK ? memtap_stack_memo_bytes() : 0;
}

static u64 stack_tails_bytes(const struct memtap_session *s)
{
	return s->flags & MEMTAP_CFG_USTACK && s->flags & MEMTAP_CFG_ROWS ?
	       memtap_stack_tails_bytes() : 0;
}

/* Events, behind them the heads, and what is remembered of user stacks. */
static u64 cpu_bytes(const struct memtap_session *s)
{
	return sizeof(struct memtap_session_cpu) +
	       s->room_events * sizeof(struct memtap_cpu_event) + cpu_heads() * sizeof(u32) +
	       stack_memo_bytes(s) + stack_tails_bytes(s);
}

static u32 nr_slots(const struct memtap_session *s)
{
	u64 each = sizeof(struct counter);

	if (s->flags & MEMTAP_CFG_RING)
		return 2 * COUNTERS_BATCH;
	if (s->flags & MEMTAP_CFG_PEAK)		/* of threads that were held */
		return PEAK_COUNTERS;
	if (s->flags & MEMTAP_CFG_HIST)
		each += HIST_BUCKETS * sizeof(u64);
	return max_t(u64, div64_u64(s->mem_counters, each), 2 * COUNTERS_BATCH);
}

u64 memtap_session_bytes(const struct memtap_session *s)
{
	u32 words, heads, nr, nr_maps, files;
	u64 each = sizeof(struct counter);

	if (s->flags & MEMTAP_CFG_HIST)
		each += HIST_BUCKETS * sizeof(u64);
	return stackstore_layout(s->mem_stacks, &words, &heads) +
	       nr_slots(s) * each + memtap_rings_bytes(s) +
	       memtap_tasks_layout(s->mem_tasks, &nr, &nr_maps, &files) +
	       (s->depth > MEMTAP_DEFAULT_DEPTH ?
		num_possible_cpus() * MEMTAP_DEEP_BYTES : 0) +
	       (s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0) +
	       (s->flags & MEMTAP_CFG_LIVE ?
		memtap_heap_layout(s->mem_live) + memtap_heap_peak_bytes(s) : 0) +
	       (s->flags & MEMTAP_CFG_OBJECTS ? memtap_objects_layout(s->mem_live) : 0) +
	       (s->flags & MEMTAP_CFG_TOUCHED ? memtap_touched_layout(s->mem_live) : 0) +
	       num_possible_cpus() * cpu_bytes(s) +
	       MEMTAP_PAIR_SLOTS * sizeof(struct pair) +
	       3 * MEMTAP_PIDSET_SLOTS * sizeof(u32) + sizeof(struct filter) +
	       sizeof(*s) + s->room_events * sizeof(struct memtap_session_event);
}

/* What START takes: tables for unwinding come one by one, the filter has come. */
static u64 start_bytes(const struct memtap_session *s)
{
	return memtap_session_bytes(s) - (s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0);
}

void memtap_session_free_tables(struct memtap_session *s)
{
	u32 cpu;

	memtap_vfree(s->stacks.words);
	memtap_vfree(s->stacks.heads);
	memtap_vfree(s->pool.slots);
	memtap_vfree(s->pool.hist);
	memtap_vfree(s->pairs.slots);
	memtap_vfree(s->arg_pairs.slots);
	memtap_vfree(s->arg_pairs.data);
	memtap_rings_free(s);
	if (s->heap)
		memtap_heap_empty(s);
	if (s->objects)
		memtap_objects_empty(s);
	memtap_touched_free(s);
	s->stacks.words = NULL;
	s->stacks.heads = NULL;
	s->pool.slots = NULL;
	s->pool.hist = NULL;
	s->pairs.slots = NULL;
	s->arg_pairs.slots = NULL;
	s->arg_pairs.data = NULL;
	for (cpu = 0; s->cpus && cpu < nr_cpu_ids; cpu++)
		memtap_vfree(s->cpus[cpu]);
	kfree(s->cpus);
	s->cpus = NULL;
}

void memtap_session_free_maps(struct memtap_session *s)
{
	memtap_tasks_stop(s);
	memtap_spaces_free(s);
	memtap_tasks_free(s);
}

static int make_stacks(struct memtap_session *s, u32 seed)
{
	u32 nr_words, nr_heads;
	u64 *words;
	u32 *heads;

	stackstore_layout(s->mem_stacks, &nr_words, &nr_heads);
	words = memtap_vzalloc(nr_words * sizeof(u64));
	heads = memtap_vzalloc(nr_heads * sizeof(u32));
	stackstore_init(&s->stacks, words, nr_words, heads, nr_heads, seed);
	return words && heads ? 0 : -ENOMEM;
}

static void init_cpu(struct memtap_session *s, struct memtap_session_cpu *c, u32 seed)
{
	u32 *heads = (u32 *)(c->events + s->room_events);
	void *behind = heads + cpu_heads();

	counters_init(&c->counters, &s->pool, heads, cpu_heads(), seed);
	if (s->flags & MEMTAP_CFG_USTACK)
		memtap_stack_memo_init(&c->memo, behind);
	behind += stack_memo_bytes(s);
	if (stack_tails_bytes(s)) {
		c->tails = behind;
		memtap_stack_tails_init(c->tails);
	}
}

static int make_counters(struct memtap_session *s, u32 seed)
{
	u32 nr = nr_slots(s), cpu;
	struct counter *slots;
	u64 *hist = NULL;

	slots = memtap_vzalloc(nr * sizeof(*slots));
	if (s->flags & MEMTAP_CFG_HIST)
		hist = memtap_vzalloc(nr * HIST_BUCKETS * sizeof(u64));
	counter_pool_init(&s->pool, slots, hist, nr);
	if (!slots || (!hist && (s->flags & MEMTAP_CFG_HIST)))
		return -ENOMEM;
	s->cpus = kcalloc(nr_cpu_ids, sizeof(*s->cpus), MEMTAP_GFP_CHARGED);
	if (!s->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		s->cpus[cpu] = memtap_vzalloc_node(cpu_bytes(s), cpu_to_node(cpu));
		if (!s->cpus[cpu])
			return -ENOMEM;
		init_cpu(s, s->cpus[cpu], seed);
	}
	return 0;
}

static int make_pairs(struct memtap_session *s, u32 seed)
{
	struct pair *slots = memtap_vzalloc(MEMTAP_PAIR_SLOTS * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	pairtab_init(&s->pairs, slots, MEMTAP_PAIR_SLOTS, seed);
	return 0;
}

/* Where an event's return has steps; how large they are is known since its ATTACH. */
static int make_arg_pairs(struct memtap_session *s, u32 seed)
{
	struct pairtab *t = &s->arg_pairs;
	struct pair *slots;

	if (!t->data_size)
		return 0;
	slots = memtap_vzalloc(MEMTAP_PAIR_SLOTS * sizeof(*slots));
	t->data = memtap_vzalloc((u64)MEMTAP_PAIR_SLOTS * t->data_size);
	if (!slots || !t->data) {
		memtap_vfree(slots);
		return -ENOMEM;
	}
	pairtab_init(t, slots, MEMTAP_PAIR_SLOTS, seed);
	return 0;
}

int memtap_session_make_tables(struct memtap_session *s)
{
	u32 seed;
	int err;

	/* all at once: half of them would be taken for nothing */
	if (!memtap_has_memory(start_bytes(s)))
		return -ENOMEM;
	get_random_bytes(&seed, sizeof(seed));
	err = make_stacks(s, seed);
	if (!err)
		err = make_counters(s, seed);
	if (!err)
		err = make_pairs(s, seed);
	if (!err)
		err = make_arg_pairs(s, seed);
	if (!err)
		err = memtap_rings_make(s);
	if (!err)
		err = memtap_maps_make(s);
	if (!err && s->heap)
		err = memtap_heap_init(s);
	if (!err && s->objects)
		err = memtap_objects_init(s);
	if (!err && (s->flags & MEMTAP_CFG_TOUCHED))
		err = memtap_touched_init(s);
	if (!err && !s->stream) {
		s->stream = memtap_stream_new();
		err = s->stream ? 0 : -ENOMEM;
	}
	if (err)
		memtap_session_free_tables(s);
	return err;
}
