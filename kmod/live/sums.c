// SPDX-License-Identifier: GPL-2.0-only
/* Sum up live blocks by process, while they come and go. */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>

#include "live/live.h"
#include "live/stream.h"
#include "record/recording.h"

#include "compat/valloc.h"

/* By slot of the address space. */
struct sum {
	u64 weight;			/* blocks, in 2^-16 */
	u64 bytes;
};

struct summing {
	struct live chain[LIVETAB_CHAIN];
	struct sum of[];
};

/* What a process had that ended or executed another program is not summed up. */
static bool runs(const struct memtap_heap_space *sp, u32 id)
{
	return READ_ONCE(sp->id) == id && READ_ONCE(sp->mm);
}

static void add(struct memtap_heap *h, struct summing *to, const struct live *b)
{
	const struct memtap_heap_space *sp = memtap_heap_space_of(h, b->space);
	struct sum *sum = &to->of[sp - h->spaces];
	u64 weight;

	if (!runs(sp, b->space))
		return;
	weight = h->sampling ? sampler_weight(&h->sampler, b->size) : 1U << 16;
	sum->weight += weight;
	/* (sizes are less than 2^48: neither product overflows) */
	sum->bytes += b->size * (weight >> 16) + ((b->size * (weight & 0xffff)) >> 16);
}

static void put(const struct memtap_heap_space *sp, const struct sum *sum,
		struct memtap_other_row *r)
{
	struct task_struct *task;

	r->blocks = (sum->weight + (1U << 15)) >> 16;
	r->bytes = sum->bytes;
	r->pid = sp->pid;
	rcu_read_lock();
	task = pid_task(find_pid_ns(sp->pid, &init_pid_ns), PIDTYPE_PID);
	if (task)
		memcpy(r->comm, task->comm, sizeof(r->comm));
	rcu_read_unlock();
	r->comm[sizeof(r->comm) - 1] = 0;
}

int memtap_heap_sums(struct memtap_session *s, struct memtap_other_row *rows, u32 *nr)
{
	struct memtap_heap *h = s->heap;
	const u32 room = *nr;
	struct summing *sums;
	u32 head, i, n, slot;

	sums = memtap_vzalloc(sizeof(*sums) + h->nr_spaces * sizeof(sums->of[0]));
	if (!sums)
		return -ENOMEM;
	for (head = 0; head <= h->table.head_mask; head++) {
		n = memtap_heap_read_chain(h, head, sums->chain);
		for (i = 0; i < n; i++)
			add(h, sums, &sums->chain[i]);
		if (!(head % 64))
			cond_resched();
	}
	*nr = 0;
	for (slot = 1; slot < READ_ONCE(h->used_spaces); slot++) {
		if (!sums->of[slot].weight || !READ_ONCE(h->spaces[slot].mm))
			continue;
		if (*nr < room)
			put(&h->spaces[slot], &sums->of[slot], &rows[*nr]);
		(*nr)++;
	}
	memtap_vfree(sums);
	return 0;
}
