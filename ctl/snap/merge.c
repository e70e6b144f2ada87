// SPDX-License-Identifier: GPL-2.0-or-later
/* Merge the counters of all CPUs, and subtract two snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "snap/int.h"

/* Open addressing over an array of counters; slots hold index + 1. */
struct index {
	__u32 *slots;
	size_t mask;
	__u64 seed;
};

static __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 32);
}

static __u64 hash_key(__u64 seed, const struct snap_counter *c)
{
	__u64 h = mix(seed, ((__u64)c->event << 32) | c->flags);

	h = mix(h, ((__u64)c->task << 32) | c->kstack);
	h = mix(h, c->ustack);
	return mix(h, c->addr);
}

static bool same_key(const struct snap_counter *a, const struct snap_counter *b)
{
	return a->event == b->event && a->flags == b->flags &&
	       a->task == b->task && a->kstack == b->kstack &&
	       a->ustack == b->ustack && a->addr == b->addr;
}

/* Seeded from what the kernel gave this process: a file cannot force chains. */
static int index_init(struct index *ix, size_t nr)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	size_t slots = 16;

	if (nr > 0x7fffffff)
		return -E2BIG;
	while (slots < 2 * nr)
		slots *= 2;
	ix->seed = 1;
	if (random)
		memcpy(&ix->seed, random, sizeof(ix->seed));
	ix->mask = slots - 1;
	ix->slots = calloc(slots, sizeof(*ix->slots));
	return ix->slots ? 0 : -ENOMEM;
}

/* The slot where the key is, or would go. */
static __u32 *index_find(const struct index *ix, const struct snap_counter *all,
			 const struct snap_counter *key)
{
	size_t i = hash_key(ix->seed, key) & ix->mask;

	while (ix->slots[i] && !same_key(&all[ix->slots[i] - 1], key))
		i = (i + 1) & ix->mask;
	return &ix->slots[i];
}

static int check_refs(const struct snap *s, const struct snap_counter *c, char *err)
{
	if (!snap_event(s, c->event))
		return snap_bad(err, -EBADMSG,
			"a counter refers to event %u, which does not exist", c->event);
	if (c->task >= MEMTAP_TASK_FIRST && !snap_task(s, c->task))
		return snap_bad(err, -EBADMSG,
			"a counter refers to task %u, which does not exist", c->task);
	if (c->kstack >= MEMTAP_STACK_FIRST && !snap_stack(s, c->kstack))
		return snap_bad(err, -EBADMSG,
			"a counter refers to stack %u, which does not exist", c->kstack);
	if (c->ustack >= MEMTAP_STACK_FIRST && !snap_stack(s, c->ustack))
		return snap_bad(err, -EBADMSG,
			"a counter refers to stack %u, which does not exist", c->ustack);
	return 0;
}

/* Unsigned, so that hostile sums wrap instead of being undefined. */
static __s64 add_s64(__s64 a, __s64 b)
{
	return (__s64)((__u64)a + (__u64)b);
}

/* Known where it is of all records of the key. */
static void add_range(struct snap_counter *c, const struct memtap_rec_counter *r)
{
	const bool has = (r->rec.len - sizeof(*r)) / sizeof(__u64) >= r->nr_hist + 2ULL;
	const bool first = !c->count;
	__s64 least, greatest;

	if (!r->count)
		return;
	c->ranged = has && (first || c->ranged);
	if (!c->ranged)
		return;
	least = (__s64)r->hist[r->nr_hist];
	greatest = (__s64)r->hist[r->nr_hist + 1];
	c->least = first || least < c->least ? least : c->least;
	c->greatest = first || greatest > c->greatest ? greatest : c->greatest;
}

static void add_record(struct snap_counter *c, __u64 **next_hist,
		       const struct memtap_rec_counter *r)
{
	add_range(c, r);
	c->count += r->count;
	c->sum = add_s64(c->sum, r->sum);
	if (r->max > c->max)
		c->max = r->max;
	if (!r->nr_hist)
		return;
	if (!c->hist) {
		c->hist = *next_hist;
		*next_hist += MEMTAP_HIST_BUCKETS;
	}
	for (__u32 i = 0; i < r->nr_hist; i++)
		c->hist[i] += r->hist[i];
}

static int merge_record(struct snap *s, const struct index *ix, __u64 **next_hist,
			const struct memtap_rec_counter *r, char *err)
{
	struct snap_counter key = {
		.event = r->event, .flags = r->flags, .task = r->task,
		.kstack = r->kstack, .ustack = r->ustack, .addr = r->addr,
	};
	__u32 *slot = index_find(ix, s->counters, &key);
	int ret;

	if (!*slot) {
		ret = check_refs(s, &key, err);
		if (ret)
			return ret;
		s->counters[s->nr_counters] = key;
		*slot = ++s->nr_counters;
	}
	add_record(&s->counters[*slot - 1], next_hist, r);
	return 0;
}

static size_t count_counters(const struct snap *s)
{
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;
	size_t nr = 0;

	while ((rec = wire_next(s->bytes, s->len, &pos, &bad)))
		nr += rec->type == MEMTAP_REC_COUNTER;
	return nr;
}

int snap_merge(struct snap *s, char *err)
{
	const struct memtap_rec *rec;
	__u64 *next_hist = s->hists;
	struct index ix;
	u64 pos = 0;
	u32 bad;
	int ret;

	ret = index_init(&ix, count_counters(s));
	if (ret)
		return snap_bad(err, ret, "not enough memory to decode it");
	while (!ret && (rec = wire_next(s->bytes, s->len, &pos, &bad)))
		if (rec->type == MEMTAP_REC_COUNTER)
			ret = merge_record(s, &ix, &next_hist, (const void *)rec, err);
	free(ix.slots);
	for (size_t i = 0; !ret && i < s->nr_spans; i++)
		for (__u32 k = 0; !ret && k < s->spans[i]->nr; k++) {
			const struct snap_counter c = snap_span_counter(&s->spans[i]->at[k]);

			ret = check_refs(s, &c, err);
		}
	return ret;
}

struct snap_counter snap_span_counter(const struct memtap_span_row *r)
{
	return (struct snap_counter){
		.event = r->event, .flags = r->flags, .task = r->task,
		.kstack = r->kstack, .ustack = r->ustack, .addr = r->addr,
		.count = r->count, .sum = r->sum,
	};
}

static void subtract(struct snap_counter *c, const struct snap_counter *old)
{
	c->count -= old->count;
	c->sum = (__s64)((__u64)c->sum - (__u64)old->sum);
	if (c->max <= old->max)
		c->max = 0;
	c->ranged = false;
	for (int i = 0; c->hist && old->hist && i < MEMTAP_HIST_BUCKETS; i++)
		c->hist[i] -= old->hist[i];
}

static int diff_counters(struct snap *d, const struct snap *new, const struct snap *old)
{
	__u64 *hist = d->hists;
	struct index ix;
	__u32 *slot;

	if (index_init(&ix, old->nr_counters))
		return -ENOMEM;
	for (size_t i = 0; i < old->nr_counters; i++)
		*index_find(&ix, old->counters, &old->counters[i]) = i + 1;
	for (size_t i = 0; i < new->nr_counters; i++) {
		struct snap_counter *c = &d->counters[d->nr_counters];

		*c = new->counters[i];
		if (c->hist) {
			c->hist = memcpy(hist, c->hist, MEMTAP_HIST_BUCKETS * 8);
			hist += MEMTAP_HIST_BUCKETS;
		}
		slot = index_find(&ix, old->counters, c);
		if (*slot)
			subtract(c, &old->counters[*slot - 1]);
		d->nr_counters += c->count || c->sum;
	}
	free(ix.slots);
	return 0;
}

static void diff_event(struct snap_event *e, const struct snap_event *old)
{
	if (!old)
		return;
	e->seen -= old->seen;
	e->counted -= old->counted;
	e->filtered -= old->filtered;
	e->own -= old->own;
	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		e->lost[i] -= old->lost[i];
	for (int i = 0; i < MEMTAP_PART_SLOTS; i++)
		e->part[i] -= old->part[i];
}

static size_t count_hists(const struct snap *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_counters; i++)
		nr += s->counters[i].hist != NULL;
	return nr;
}

struct snap *snap_diff(const struct snap *new, const struct snap *old)
{
	struct snap *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	*d = *new;
	d->bytes = NULL;
	d->heaps = NULL;
	d->mismatches = NULL;
	d->caches = NULL;
	d->nr_counters = 0;
	d->header.start_ns = old->header.now_ns;
	d->events = calloc(new->nr_events + 1, sizeof(*d->events));
	d->counters = calloc(new->nr_counters + 1, sizeof(*d->counters));
	d->hists = calloc(count_hists(new) + 1, MEMTAP_HIST_BUCKETS * 8);
	if (!d->events || !d->counters || !d->hists ||
	    diff_counters(d, new, old) || snap_diff_live(d, new, old)) {
		snap_free(d);
		return NULL;
	}
	for (size_t i = 0; i < new->nr_events; i++) {
		d->events[i] = new->events[i];
		diff_event(&d->events[i], snap_event(old, new->events[i].id));
	}
	return d;
}
