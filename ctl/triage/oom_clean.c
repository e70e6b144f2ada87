// SPDX-License-Identifier: GPL-2.0-or-later
/* Sanitize the record of an OOM kill: counts within bounds, strings terminated. */
#include <string.h>

#include "triage/oom.h"

static void end(char *text, size_t room)
{
	text[room - 1] = '\0';
}

static void clip(__u32 *nr, __u32 most)
{
	if (*nr > most)
		*nr = most;
}

/* So that sums cannot overflow. */
static void bound(__u64 *v)
{
	if (*v > 1ULL << 56)
		*v = 1ULL << 56;
}

static void clean_task(struct memtap_oom_task *t)
{
	end(t->comm, sizeof(t->comm));
	bound(&t->virt);
	bound(&t->anon);
	bound(&t->file);
	bound(&t->shmem);
	bound(&t->swap);
	bound(&t->tables);
}

static void clean_lists(struct memtap_oom_record *r)
{
	for (__u32 i = 0; i < MEMTAP_OOM_TOP; i++)
		clean_task(&r->top[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_MEMBERS; i++)
		clean_task(&r->members[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_ZONES; i++) {
		struct memtap_oom_zone *z = &r->zones[i];

		end(z->name, sizeof(z->name));
		clip(&z->nr_orders, MEMTAP_OOM_ORDERS);
		bound(&z->managed);
		bound(&z->free);
		bound(&z->high);
	}
	for (__u32 i = 0; i < MEMTAP_VM_SLOTS; i++) {
		if (r->counters[i] != MEMTAP_OOM_UNKNOWN)
			bound(&r->counters[i]);
		if (r->node_counters[i] != MEMTAP_OOM_UNKNOWN)
			bound(&r->node_counters[i]);
	}
	for (__u32 i = 0; i < MEMTAP_OOM_TOP; i++)
		bound(&r->locked[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_FILES; i++)
		end(r->files[i].path, sizeof(r->files[i].path));
	for (__u32 i = 0; i < MEMTAP_OOM_FRAMES; i++)
		if (r->ustack[i].file > r->nr_files)
			r->ustack[i].file = 0;
}

void oom_clean(struct memtap_oom_record *r, size_t len)
{
	if (len < sizeof(*r))
		memset((char *)r + len, 0, sizeof(*r) - len);
	clip(&r->nr_top, MEMTAP_OOM_TOP);
	clip(&r->nr_zones, MEMTAP_OOM_ZONES);
	clip(&r->nr_counters, MEMTAP_NR_VM);
	clip(&r->nr_reclaim, MEMTAP_NR_RECLAIM);
	clip(&r->nr_kstack, MEMTAP_OOM_FRAMES);
	clip(&r->nr_ustack, MEMTAP_OOM_FRAMES);
	clip(&r->nr_files, MEMTAP_OOM_FILES);
	if (r->order > MEMTAP_OOM_ORDERS)
		r->order = MEMTAP_OOM_ORDERS;
	end(r->message, sizeof(r->message));
	end(r->gfp_text, sizeof(r->gfp_text));
	end(r->limit_path, sizeof(r->limit_path));
	end(r->trigger_path, sizeof(r->trigger_path));
	end(r->victim_path, sizeof(r->victim_path));
	clean_task(&r->trigger);
	clean_task(&r->victim);
	bound(&r->held);
	bound(&r->same_held);
	bound(&r->total);
	bound(&r->allowed);
	if (r->points != (__s64)MEMTAP_OOM_UNKNOWN) {
		if (r->points > 1LL << 56)
			r->points = 1LL << 56;
		if (r->points < -(1LL << 56))
			r->points = -(1LL << 56);
	}
	bound(&r->nodes_total);
	clip(&r->nr_charged, MEMTAP_NR_CHARGED);
	for (__u32 i = 0; i < MEMTAP_CHARGED_SLOTS; i++)
		if (r->charged[i] != MEMTAP_OOM_UNKNOWN)
			bound(&r->charged[i]);
	end(r->limit_long, sizeof(r->limit_long));
	if (r->limit != MEMTAP_OOM_UNKNOWN)
		bound(&r->limit);
	if (r->usage != MEMTAP_OOM_UNKNOWN)
		bound(&r->usage);
	clean_lists(r);
}
