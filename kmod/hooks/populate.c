// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count pages that a call populates itself, without a page fault event: mmap() with MAP_POPULATE
 * or MAP_LOCKED, mlock() and its variants, growth of locked memory, madvise() with
 * MADV_POPULATE_*.
 *
 * All of these call two functions with the range.  Pages that are not present when these begin are
 * attributed to the call; the page tables are read without a lock.
 *
 * The value is the number of pages that were not present.  A long range is reported in parts, each
 * an event: 64 pages of one page table, or a whole page table's range if the table is missing.
 */
#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/hooks.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/fault.h"
#include "compat/kprobe.h"

#define PIECES		1024U	/* of a call: 2 GiB, if nothing is there yet */

struct populate_hook {
	struct memtap_hook hook;
	struct kprobe probe;
	const char *const *names;	/* candidates in order */
	u32 first;			/* argument that is the start; then end, or length */
	bool has_end;
	bool stays;			/* it could not be taken away */
	u64 missed;			/* of earlier attachments */
};

/* Pages from @page on, before @end: what is told of them in @t; returns where to go on. */
static u64 next_piece(u64 page, u64 end, struct memtap_touched_pages *t)
{
	const u64 table = page & ~(u64)(PTRS_PER_PTE - 1), table_end = table + PTRS_PER_PTE;
	/* what is looked at begins 16 pages before, and has one page table */
	const u64 at = min_t(u64, page + 16, table_end - 1) << PAGE_SHIFT;
	const u64 first = memtap_walk_first(at);
	struct memtap_walk w;
	u64 next;

	memset(t, 0, sizeof(*t));
	memtap_walk(current->mm, at, true, &w);
	if (w.huge)
		return table_end;
	if (!w.table && !(page % MEMTAP_REGION_PAGES) && end - page >= MEMTAP_REGION_PAGES) {
		t->first = page;
		t->huge = true;
		return page + MEMTAP_REGION_PAGES;
	}
	next = min_t(u64, end, first + MEMTAP_WALK_PAGES);
	t->first = first;
	t->mask = ~w.present & ~0ULL << (page - first);
	if (next - first < MEMTAP_WALK_PAGES)
		t->mask &= (1ULL << (next - first)) - 1;
	return next;
}

static int on_populate(struct kprobe *kp, struct pt_regs *regs)
{
	struct populate_hook *ph = container_of(kp, struct populate_hook, probe);
	struct memtap_hit hit = {
		.flags = MEMTAP_HIT_USER | MEMTAP_HIT_TASK | MEMTAP_HIT_SYSCALL |
			 MEMTAP_HIT_PAGES,
		.sym = (unsigned long)kp->addr,
	};
	u64 start = memtap_karg(regs, ph->first), end = memtap_karg(regs, ph->first + 1);
	struct memtap_touched_pages t;
	u32 left;

	if (!current->mm || (current->flags & PF_KTHREAD))
		return 0;
	if (!ph->has_end)
		end += start;
	/* mlockall(): all that is mapped, which is not known here */
	if (end <= start || start >= TASK_SIZE || end - start >= TASK_SIZE / 2)
		return 0;
	start >>= PAGE_SHIFT;
	end = PAGE_ALIGN(end) >> PAGE_SHIFT;
	hit.touched = &t;
	for (left = PIECES; start < end && left; left--) {
		hit.addr = start << PAGE_SHIFT;
		start = next_piece(start, end, &t);
		hit.value = t.huge ? MEMTAP_REGION_PAGES : hweight64(t.mask);
		if (hit.value)
			memtap_hit(&ph->hook.source, &hit);
	}
	return 0;
}

static int attach(struct memtap_hook *h)
{
	struct populate_hook *ph = container_of(h, struct populate_hook, hook);
	int err = -ENOENT;
	u32 i;

	if (ph->stays)
		return -EBUSY;
	for (i = 0; err == -ENOENT && ph->names[i]; i++) {
		memset(&ph->probe, 0, sizeof(ph->probe));
		ph->probe.symbol_name = ph->names[i];
		ph->probe.pre_handler = on_populate;
		err = memtap_kprobe_register(&ph->probe);
		strscpy(h->target, ph->names[err ? 0 : i], sizeof(h->target));
	}
	/* a kernel that has no such function does no such thing */
	return err == -ENOENT ? MEMTAP_NEEDS_NONE : err;
}

static void detach(struct memtap_hook *h)
{
	struct populate_hook *ph = container_of(h, struct populate_hook, hook);

	ph->stays = !memtap_kprobe_unregister(&ph->probe);
	ph->missed += memtap_kprobe_missed(&ph->probe);
	ph->probe.nmissed = 0;
}

static u64 missed(struct memtap_hook *h)
{
	struct populate_hook *ph = container_of(h, struct populate_hook, hook);

	return ph->missed + memtap_kprobe_missed(&ph->probe);
}

static const struct memtap_hook_ops populate_ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

/* __mm_populate(start, len, ignore_errors), always */
static const char *const range_names[] = { "__mm_populate", NULL };

/* (vma, start, end, ...), since v5.14; (mm, start, end, ...), since v6.10 */
static const char *const advised_names[] = {
	"faultin_page_range", "faultin_vma_page_range", NULL,
};

#define POPULATE_HOOK(_var, _names, _first, _has_end)			\
static struct populate_hook _var = {					\
	.hook = { .ops = &populate_ops, .way = MEMTAP_WAY_KPROBE },	\
	.names = _names,						\
	.first = _first,						\
	.has_end = _has_end,						\
}

POPULATE_HOOK(populate_range, range_names, 0, false);
POPULATE_HOOK(populate_advised, advised_names, 1, true);

const struct memtap_builtin memtap_populate = {
	.name = "populate",
	.group = "populate",
	.summary = "pages populated by calls: MAP_POPULATE, mlock(), MADV_POPULATE_READ",
	.unit = MEMTAP_UNIT_PAGES,
	.nr_hooks = 2,
	.hooks = { &populate_range.hook, &populate_advised.hook },
};
