// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What follows from the lines of an OOM report: sizes in bytes, the largest processes, and the
 * least that each can have had of its own, where the list has only what is resident.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"
#include "machine/oom_log_int.h"

#define USUAL_PAGE	4096
#define FEW_PAGES	64ULL		/* fewer than any zone has */

static __u64 bytes_of(const struct oom_log_part *p, __u64 pages)
{
	const __u64 v = machine_times(pages, p->k.r.page_size);

	return v > 1ULL << 56 ? 1ULL << 56 : v;
}

static __u64 less(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

static const struct oom_log_row *row_of(const struct oom_log_part *p, __s32 pid)
{
	for (size_t i = p->nr_rows; pid && i--;)
		if (p->rows[i].pid == pid)
			return &p->rows[i];
	return NULL;
}

bool oom_log_lists(const struct oom_log_part *p, __s32 pid)
{
	return row_of(p, pid);
}

/* The list has the victim's size in pages, and its last line has it in KiB. */
static void find_page_size(struct oom_log_part *p)
{
	struct memtap_oom_record *r = &p->k.r;
	const struct oom_log_row *v = row_of(p, r->victim.pid);

	if (p->k.has & OOM_LOG_PAGE)
		return;
	r->page_size = USUAL_PAGE;
	if (!v || !v->virt || !(p->k.has & OOM_LOG_SIZED))
		return;
	for (__u32 size = 4096; size <= 65536; size *= 2)
		if (v->virt * size == r->victim.virt) {
			r->page_size = size;
			p->k.has |= OOM_LOG_PAGE;
		}
}

/* The line of a zone was lost: sums of all zones are none, nor is it known what is free where. */
static void forget_zones(struct memtap_oom_record *r)
{
	r->counters[MEMTAP_VM_LOCKED] = MEMTAP_OOM_UNKNOWN;
	r->counters[MEMTAP_VM_STACKS] = MEMTAP_OOM_UNKNOWN;
	for (__u32 i = 0; i < r->nr_zones; i++)
		r->zones[i].nr_orders = 0;
}

static void take_counters(struct oom_log_part *p)
{
	__u64 managed;
	struct memtap_oom_record *r = &p->k.r;
	__u64 *at = r->counters;

	/* part of a sum is none */
	if (p->anon_lists < ANON_LISTS)
		p->pages[MEMTAP_VM_ANON] = MEMTAP_OOM_UNKNOWN;
	for (__u32 i = 0; i < MEMTAP_NR_VM; i++)
		if (p->pages[i] != MEMTAP_OOM_UNKNOWN)
			at[i] = bytes_of(p, p->pages[i]);
	/* the kernel keeps shared memory, and pages that are in swap too, on the same lists */
	if (at[MEMTAP_VM_ANON] != MEMTAP_OOM_UNKNOWN)
		at[MEMTAP_VM_ANON] = less(less(at[MEMTAP_VM_ANON], at[MEMTAP_VM_SHMEM] ==
					       MEMTAP_OOM_UNKNOWN ? 0 : at[MEMTAP_VM_SHMEM]),
					  bytes_of(p, p->swap_cached));
	r->nr_counters = MEMTAP_NR_VM;
	p->k.has &= ~OOM_LOG_MEMORY;
	for (__u32 i = 0; i < MEMTAP_NR_VM; i++)
		if (at[i] != MEMTAP_OOM_UNKNOWN)
			p->k.has |= OOM_LOG_MEMORY;
	if (p->has_ram && p->has_reserved) {
		managed = r->total;
		r->total = bytes_of(p, less(p->ram_pages, p->reserved_pages));
		if (managed + FEW_PAGES * r->page_size < r->total)
			forget_zones(r);
	} else if (p->pages[MEMTAP_VM_FILE] == MEMTAP_OOM_UNKNOWN) {
		/* zones may follow */
		r->total = 0;
		forget_zones(r);
	}
	if (r->total)
		p->k.has |= OOM_LOG_TOTAL;
}

static void find_constraint(struct oom_log_part *p)
{
	struct memtap_oom_record *r = &p->k.r;
	bool one = r->nr_zones;

	if (p->k.has & OOM_LOG_CONSTRAINT)
		return;
	/* of no other report the kernel prints them */
	if (p->k.has & OOM_LOG_LIMIT) {
		r->constraint = MEMTAP_CONSTRAINT_MEMCG;
		p->k.has |= OOM_LOG_CONSTRAINT;
		return;
	}
	for (__u32 i = 1; i < r->nr_zones; i++)
		one = one && r->zones[i].node == r->zones[0].node;
	/* of a machine with one node a policy or a cpuset can take nothing away */
	p->k.has |= one ? OOM_LOG_CONSTRAINT : OOM_LOG_NODES;
}

static void find_allowed(struct oom_log_part *p)
{
	struct memtap_oom_record *r = &p->k.r;

	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		r->allowed = p->k.has & OOM_LOG_LIMIT && r->limit < 1ULL << 56 ? r->limit : 0;
	else if (p->k.has & OOM_LOG_TOTAL && p->k.has & OOM_LOG_SWAP)
		r->allowed = r->total + p->k.swap_total;
	if (p->k.has & OOM_LOG_SCORE && r->allowed) {
		r->points = (__s64)(r->allowed / 1000 * p->k.score);
		r->flags |= MEMTAP_OOM_PERMILLE;
	}
}

/* --- processes ---------------------------------------------------------------- */

/* All anonymous memory that is mapped, at least; 0 where that is not known. */
static __u64 all_anon(const struct oom_log_part *p)
{
	const struct memtap_oom_record *r = &p->k.r;

	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		return r->charged[MEMTAP_CHARGED_ANON] == MEMTAP_OOM_UNKNOWN ? 0 :
		       r->charged[MEMTAP_CHARGED_ANON];
	return p->k.has & OOM_LOG_MEMORY && r->counters[MEMTAP_VM_ANON] != MEMTAP_OOM_UNKNOWN ?
	       r->counters[MEMTAP_VM_ANON] : 0;
}

/* All that is mapped of files and shared memory, at most. */
static __u64 all_mapped(const struct oom_log_part *p)
{
	if (p->k.r.constraint == MEMTAP_CONSTRAINT_MEMCG)
		return p->stat_mapped;
	return p->mapped == MEMTAP_OOM_UNKNOWN ? p->mapped : bytes_of(p, p->mapped);
}

static void to_task(const struct oom_log_part *p, const struct oom_log_row *row,
		    struct memtap_oom_task *t)
{
	const __u64 rss = bytes_of(p, row->rss), mapped = all_mapped(p);
	const __u64 others = less(p->k.rss, rss), anon = all_anon(p);

	memset(t, 0, sizeof(*t));
	memcpy(t->comm, row->name, sizeof(t->comm));
	t->pid = row->pid;
	t->tid = row->pid;
	t->uid = row->uid;
	t->score_adj = row->adj;
	t->virt = bytes_of(p, row->virt);
	t->swap = bytes_of(p, row->swap);
	t->tables = row->table_pages ? bytes_of(p, row->tables) : row->tables;
	if (row->split) {
		t->anon = bytes_of(p, row->anon);
		t->file = bytes_of(p, row->file);
		t->shmem = bytes_of(p, row->shmem);
		t->flags |= MEMTAP_OOM_TASK_SIZED;
		return;
	}
	/* what cannot be of a file, nor anybody else's, is its own */
	t->anon = mapped == MEMTAP_OOM_UNKNOWN ? 0 : less(rss, mapped);
	if (less(anon, others) > t->anon)
		t->anon = less(anon, others);
	if (t->anon > rss)
		t->anon = rss;
	t->file = rss - t->anon;
}

static __u64 size_of(const struct memtap_oom_task *t)
{
	return t->anon + t->file + t->shmem + t->swap + t->tables;
}

static void rank(struct memtap_oom_record *r, const struct memtap_oom_task *t)
{
	__u32 at = r->nr_top;

	if (at == MEMTAP_OOM_TOP) {
		if (size_of(&r->top[--at]) >= size_of(t))
			return;
	} else {
		r->nr_top++;
	}
	for (; at && size_of(&r->top[at - 1]) < size_of(t); at--)
		r->top[at] = r->top[at - 1];
	r->top[at] = *t;
}

/* What of it the victim's last line does not say. */
static void complete_victim(struct oom_log_part *p)
{
	const struct oom_log_row *row = row_of(p, p->k.r.victim.pid);
	struct memtap_oom_task *v = &p->k.r.victim, t;

	if (!row || strncmp(row->name, v->comm, sizeof(v->comm)))
		return;
	to_task(p, row, &t);
	v->swap = t.swap;
	v->tables = v->tables ? v->tables : t.tables;
	if (!(p->k.has & OOM_LOG_UID))
		v->uid = t.uid;
	if (!(p->k.has & OOM_LOG_ADJ))
		v->score_adj = t.score_adj;
	p->k.has |= OOM_LOG_UID | OOM_LOG_ADJ;
	if (p->k.has & OOM_LOG_SIZED)
		return;
	v->virt = t.virt;
	v->anon = t.anon;
	v->file = t.file;
	v->shmem = t.shmem;
	if (row->split) {
		v->flags |= MEMTAP_OOM_TASK_SIZED;
		p->k.has |= OOM_LOG_SIZED | OOM_LOG_SHMEM;
	}
}

/* Together, the processes of the victim's name have what no other process can have. */
static void sum_same(struct oom_log_part *p, __u64 same_rss, __u64 same_split, bool split)
{
	struct memtap_oom_record *r = &p->k.r;
	const __u64 others = less(p->k.rss, same_rss);

	r->same_held = split ? same_split : less(all_anon(p), others);
}

static void take_processes(struct oom_log_part *p)
{
	struct memtap_oom_record *r = &p->k.r;
	__u64 same_rss = 0, same_split = 0, swap;
	struct memtap_oom_task t;
	bool split = true;

	for (size_t i = 0; i < p->nr_rows; i++)
		p->k.rss += bytes_of(p, p->rows[i].rss);
	for (size_t i = 0; i < p->nr_rows; i++) {
		const bool same = *r->victim.comm &&
				  !strcmp(p->rows[i].name, r->victim.comm);

		to_task(p, &p->rows[i], &t);
		/* it stands in the list and in its last line, which says more */
		if (t.pid == r->victim.pid && same && p->k.has & OOM_LOG_SIZED) {
			t.anon = r->victim.anon;
			t.file = r->victim.file;
			t.shmem = r->victim.shmem;
			t.flags |= MEMTAP_OOM_TASK_SIZED;
		}
		rank(r, &t);
		swap = t.swap;
		r->held += bytes_of(p, p->rows[i].rss) + swap;
		if (!same)
			continue;
		r->same++;
		same_rss += bytes_of(p, p->rows[i].rss);
		same_split += t.anon + swap;
		split = split && t.flags & MEMTAP_OOM_TASK_SIZED;
	}
	r->processes = (__u32)p->nr_rows;
	sum_same(p, same_rss, same_split, split);
}

void oom_log_finish(struct oom_log_part *p)
{
	struct memtap_oom_record *r = &p->k.r;

	find_page_size(p);
	/* memtap's own are of the same moment, and say more */
	if (!(p->k.has & OOM_LOG_MEMTAP))
		take_counters(p);
	find_constraint(p);
	find_allowed(p);
	if (p->k.has & OOM_LOG_STAT) {
		r->nr_charged = MEMTAP_NR_CHARGED;
		/* the report was printed before anything was freed */
		r->later_ns = 1;
		r->killed_ns = 2;
	}
	if (p->nr_rows && !r->nr_top)
		take_processes(p);
	complete_victim(p);
	free(p->rows);
	p->rows = NULL;
	p->nr_rows = 0;
	p->room_rows = 0;
}
