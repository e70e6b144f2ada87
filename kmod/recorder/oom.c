// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the records of OOM kills in debugfs (oom), newest first.  `memtap oom --last` adds the
 * names of user functions and a diagnosis.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/time.h>

#include "core/names.h"
#include "hooks/oom.h"
#include "recorder/debugfs.h"

#include "compat/valloc.h"

static void show_size(struct seq_file *m, const char *name, u64 bytes)
{
	if (bytes == MEMTAP_OOM_UNKNOWN)
		seq_printf(m, " %s unknown", name);
	else
		seq_printf(m, " %s %llu KiB", name, bytes >> 10);
}

static void show_task(struct seq_file *m, const struct memtap_oom_task *t)
{
	memtap_show_name(m, t->comm);
	seq_printf(m, " [%d], oom_score_adj %d, uid %u", t->pid, t->score_adj, t->uid);
	if (t->flags & MEMTAP_OOM_TASK_KTHREAD)
		seq_puts(m, ", a kernel thread");
	if (t->flags & MEMTAP_OOM_TASK_SIZED) {
		seq_puts(m, ":");
		show_size(m, "anon", t->anon);
		show_size(m, "file", t->file);
		show_size(m, "shmem", t->shmem);
		show_size(m, "swap", t->swap);
		show_size(m, "page-tables", t->tables);
	}
	seq_putc(m, '\n');
}

static void show_stacks(struct seq_file *m, const struct memtap_oom_record *r,
			const struct memtap_oom_stack *copied)
{
	const struct memtap_oom_frame *f;
	u32 i;

	seq_puts(m, "  stacks of the trigger:\n");
	for (i = 0; i < r->nr_kstack; i++)
		memtap_show_kernel_frame(m, r->kstack[i]);
	for (i = 0; i < r->nr_ustack; i++) {
		f = &r->ustack[i];
		if (f->file && r->files[f->file - 1].path[0])
			memtap_show_offset(m, r->files[f->file - 1].path, f->offset);
		else
			seq_printf(m, "    0x%llx\n", f->ip);
	}
	/* contents of a process's memory are for the device alone */
	if (copied->len)
		seq_printf(m, "    %u bytes of the user stack are kept: memtap oom unwinds them\n",
			   copied->len);
	else if (copied->flags & MEMTAP_OOM_COPY_NO_MAPS)
		seq_puts(m, "    mappings were being changed: no copy of the user stack\n");
}

static void show_zones(struct seq_file *m, const struct memtap_oom_record *r)
{
	const struct memtap_oom_zone *z;
	u32 i, order;

	for (i = 0; i < r->nr_zones; i++) {
		z = &r->zones[i];
		seq_printf(m, "  node %u %s:", z->node, z->name);
		show_size(m, "free", z->free);
		show_size(m, "min", z->min);
		show_size(m, "low", z->low);
		show_size(m, "high", z->high);
		show_size(m, "managed", z->managed);
		seq_puts(m, "; free blocks by order:");
		for (order = 0; order < z->nr_orders; order++)
			seq_printf(m, " %llu", z->blocks[order]);
		seq_putc(m, '\n');
	}
}

static void show_machine(struct seq_file *m, const struct memtap_oom_record *r)
{
	u32 i;

	seq_printf(m, "  load %u.%02u %u.%02u %u.%02u\n", r->load[0] / 1000,
		   r->load[0] % 1000 / 10, r->load[1] / 1000, r->load[1] % 1000 / 10,
		   r->load[2] / 1000, r->load[2] % 1000 / 10);
	seq_puts(m, "  machine:");
	show_size(m, "total", r->total);
	for (i = 0; i < r->nr_counters; i++)
		show_size(m, vm_name(i), r->counters[i]);
	seq_putc(m, '\n');
	show_zones(m, r);
	if (!r->reclaim_ms)
		return;
	seq_printf(m, "  reclaim in the %u s before the kill:", r->reclaim_ms / 1000);
	for (i = 0; i < r->nr_reclaim; i++)
		if (r->reclaim[i] != MEMTAP_OOM_UNKNOWN)
			seq_printf(m, " %s %llu", reclaim_name(i), r->reclaim[i]);
	seq_putc(m, '\n');
}

static void show_processes(struct seq_file *m, const struct memtap_oom_record *r)
{
	u32 i;

	seq_printf(m, "  processes %u; %u could not be read, %u not examined;",
		   r->processes, r->unread, r->unlooked);
	show_size(m, "anon and swap", r->held);
	seq_printf(m, "; %u named ", r->same);
	memtap_show_name(m, r->victim.comm);
	seq_putc(m, ':');
	show_size(m, "anon and swap", r->same_held);
	seq_putc(m, '\n');
	for (i = 0; i < r->nr_top; i++) {
		seq_puts(m, "    ");
		show_task(m, &r->top[i]);
	}
	if (r->sharing)
		seq_printf(m, "  also killed: %u processes that shared its memory\n",
			   r->sharing);
	if (r->nr_members)
		seq_printf(m, "  also killed: %u processes of its cgroup\n", r->nr_members);
	for (i = 0; i < min_t(u32, r->nr_members, MEMTAP_OOM_MEMBERS); i++) {
		seq_puts(m, "    ");
		show_task(m, &r->members[i]);
	}
}

static void show_path_line(struct seq_file *m, const char *path)
{
	memtap_show_name(m, path);
	seq_putc(m, '\n');
}

static void show_charged(struct seq_file *m, const struct memtap_oom_record *r)
{
	u32 i;

	if (!r->later_ns)
		return;
	seq_printf(m, "  memory.stat, %llu ms later:", div_u64(r->later_ns, NSEC_PER_MSEC));
	for (i = 0; i < r->nr_charged; i++)
		if (r->charged[i] != MEMTAP_OOM_UNKNOWN)
			show_size(m, charged_name(i), r->charged[i]);
	seq_putc(m, '\n');
}

static void show_points(struct seq_file *m, const struct memtap_oom_record *r)
{
	if (r->flags & MEMTAP_OOM_ALLOCATING)
		seq_puts(m, "chosen because it was the process that allocated");
	else if (r->points == (s64)MEMTAP_OOM_UNKNOWN)
		seq_puts(m, "chosen because it had marked itself as the first to kill");
	else
		seq_printf(m, "OOM score %lld KiB, of %llu KiB allowed", r->points / 1024,
			   r->allowed >> 10);
}

static void show_record(struct seq_file *m, const struct memtap_oom_record *r,
			const struct memtap_oom_stack *copied)
{
	const u64 ago = ktime_get_ns() - r->ns;

	seq_printf(m, "\nOOM kill %llu, %llu s ago: out of memory %s\n", r->nr,
		   div_u64(ago, NSEC_PER_SEC), constraint_sentence(r->constraint));
	seq_puts(m, "  victim ");
	show_task(m, &r->victim);
	seq_printf(m, "    %s, ", r->flags & MEMTAP_OOM_KILLED ? "killed" :
		   r->flags & MEMTAP_OOM_UNSEEN ? "chosen" : "not killed: already exiting");
	show_points(m, r);
	seq_puts(m, ", cgroup ");
	show_path_line(m, r->victim_path);
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG) {
		seq_puts(m, "  limit of cgroup ");
		memtap_show_name(m, r->limit_path);
		seq_putc(m, ':');
		show_size(m, "limit", r->limit);
		show_size(m, "charged", r->usage);
		seq_putc(m, '\n');
		show_charged(m, r);
	}
	seq_puts(m, "  trigger ");
	show_task(m, &r->trigger);
	seq_printf(m, "    thread %d, order %d, gfp 0x%llx %s, cgroup ", r->trigger.tid,
		   r->order, r->gfp, r->gfp_text);
	show_path_line(m, r->trigger_path);
	show_stacks(m, r, copied);
	show_processes(m, r);
	show_machine(m, r);
}

/* Newest first: the newest number is unknown until all records were read. */
static int oom_show(struct seq_file *m, void *v)
{
	struct memtap_oom_record *r = memtap_vzalloc(sizeof(*r));
	struct memtap_oom_stack *copied = memtap_vzalloc(sizeof(*copied));
	u64 nr = 0, lost, end = 0, below;
	bool more = true;

	if (!r || !copied) {
		memtap_vfree(copied);
		memtap_vfree(r);
		return -ENOMEM;
	}
	memtap_debugfs_banner(m);
	if (!memtap_oom_works())
		seq_puts(m, "OOM kills are not recorded on this kernel; see the hooks file\n");
	while (more && !memtap_oom_next(end, r, NULL, &lost, &more))
		end = r->nr;
	if (!end)
		seq_puts(m, "no OOM kill since the module was loaded\n");
	for (nr = end; nr && nr + MEMTAP_OOM_KEPT > end; nr--) {
		below = nr - 1;
		if (!memtap_oom_next(below, r, copied, &lost, &more) && r->nr == nr)
			show_record(m, r, copied);
	}
	memtap_vfree(copied);
	memtap_vfree(r);
	return 0;
}

MEMTAP_SHOW_FOPS(memtap_oom, oom_show);
