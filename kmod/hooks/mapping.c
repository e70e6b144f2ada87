// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record what a call that maps or unmaps memory really changed.
 *
 * Probes on the functions below fill in a note for each task inside such a call.  These functions
 * run with the lock of the address space held for writing, so no other task's change is mixed in.
 */
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/hooks.h"
#include "hooks/mapping.h"
#include "record/arch.h"

#include "compat/kprobe.h"
#include "compat/mapping.h"

#define NOTE_BITS	10
#define NOTE_WAYS	8
#define MAX_AREAS	1024		/* looked at in one call */

struct memtap_mapping_note {
	struct task_struct *task;	/* claimed by cmpxchg; then only its own */
	u32 call;			/* MEMTAP_CALL_* */
	bool passed;			/* where what goes is counted */
	bool cut;			/* at MAX_AREAS */
	struct memtap_mapped came, gone;
};

static struct memtap_mapping_note notes[1 << NOTE_BITS];

static struct memtap_mapping_note *place(struct task_struct *task, u32 i)
{
	return &notes[(hash_ptr(task, NOTE_BITS) + i) & ((1 << NOTE_BITS) - 1)];
}

static struct memtap_mapping_note *note_of(struct task_struct *task)
{
	u32 i;

	for (i = 0; i < NOTE_WAYS; i++)
		if (READ_ONCE(place(task, i)->task) == task)
			return place(task, i);
	return NULL;
}

static void add(struct memtap_mapped *m, unsigned long flags, s64 bytes)
{
	if (flags & VM_WRITE)
		m->write += bytes;
	else if (flags & (VM_READ | VM_EXEC))
		m->read += bytes;
	else
		m->none += bytes;
}

/* What is mapped from @start on is about to go. */
static void note_gone(struct memtap_mapping_note *n, unsigned long start, unsigned long len)
{
	const unsigned long end = start + PAGE_ALIGN(len);
	struct vm_area_struct *vma;
	u32 i;

	n->passed = true;
	if (end <= start || end > TASK_SIZE)
		return;			/* it will be refused */
	vma = find_vma(current->mm, start);
	for (i = 0; vma && vma->vm_start < end && i < MAX_AREAS; i++) {
		add(&n->gone, vma->vm_flags,
		    min(end, vma->vm_end) - max(start, vma->vm_start));
		vma = find_vma(current->mm, vma->vm_end);
	}
	if (vma && vma->vm_start < end)
		n->cut = true;
}

/* --- the functions below -------------------------------------------------- */

/* do_mmap(file, addr, len, prot, flags, ...) */
static void on_mmap(struct memtap_mapping_note *n, const struct pt_regs *regs, u32 first)
{
	if (n->call == MEMTAP_CALL_MMAP && (memtap_karg(regs, 4) & MAP_FIXED))
		note_gone(n, memtap_karg(regs, first), memtap_karg(regs, first + 1));
}

/* do_munmap(mm, start, len, ...): also what mremap() moves, and moves onto */
static void on_munmap(struct memtap_mapping_note *n, const struct pt_regs *regs, u32 first)
{
	if (n->call == MEMTAP_CALL_MUNMAP || n->call == MEMTAP_CALL_MREMAP)
		note_gone(n, memtap_karg(regs, first), memtap_karg(regs, first + 1));
}

/* vm_stat_account(mm, flags, ...): mprotect() takes away and adds, mremap() adds */
static void on_stat(struct memtap_mapping_note *n, const struct pt_regs *regs, u32 first)
{
	const s64 pages = (long)memtap_karg(regs, MEMTAP_STAT_PAGES);

	if (n->call == MEMTAP_CALL_MPROTECT || (n->call == MEMTAP_CALL_MREMAP && pages > 0))
		add(&n->came, memtap_karg(regs, first), pages * (s64)PAGE_SIZE);
}

struct below_name {
	const char *symbol;
	u32 first;			/* argument that is looked at first */
};

struct below {
	struct kprobe kp;
	const struct below_name *names;	/* candidates in order */
	void (*fn)(struct memtap_mapping_note *n, const struct pt_regs *regs, u32 first);
	u32 first, users;
	bool stands, stays;		/* stays: it could not be taken away */
};

static const struct below_name mmap_names[] = {
	{ "do_mmap", 1 }, { "do_mmap_pgoff", 1 }, { NULL, 0 },
};

static const struct below_name munmap_names[] = {
	{ "do_vmi_munmap", 2 }, { "do_mas_munmap", 2 }, { "__do_munmap", 1 },
	{ "do_munmap", 1 }, { NULL, 0 },
};

static const struct below_name stat_names[] = {
	{ "vm_stat_account", 1 }, { NULL, 0 },
};

enum { BELOW_MMAP, BELOW_MUNMAP, BELOW_STAT, NR_BELOW };

static struct below belows[NR_BELOW] = {
	[BELOW_MMAP] = { .names = mmap_names, .fn = on_mmap },
	[BELOW_MUNMAP] = { .names = munmap_names, .fn = on_munmap },
	[BELOW_STAT] = { .names = stat_names, .fn = on_stat },
};

#define BELOW(_which)	(1U << BELOW_##_which)

/* What is_known() asks for. */
static const u32 needs[] = {
	[MEMTAP_CALL_MMAP] = BELOW(MMAP),
	[MEMTAP_CALL_MREMAP] = BELOW(MUNMAP) | BELOW(STAT),
	[MEMTAP_CALL_MUNMAP] = BELOW(MUNMAP),
	[MEMTAP_CALL_MPROTECT] = BELOW(STAT),
};

static u32 users;			/* under the hooks' lock */

static int on_below(struct kprobe *kp, struct pt_regs *regs)
{
	const struct below *b = container_of(kp, struct below, kp);
	struct memtap_mapping_note *n;

	if (!current->mm)
		return 0;
	n = note_of(current);
	if (n)
		b->fn(n, regs, b->first);
	return 0;
}

static void attach_below(struct below *b)
{
	const struct below_name *name;

	for (name = b->names; name->symbol && !b->stands && !b->stays; name++) {
		memset(&b->kp, 0, sizeof(b->kp));
		b->kp.symbol_name = name->symbol;
		b->kp.pre_handler = on_below;
		b->first = name->first;
		b->stands = !memtap_kprobe_register(&b->kp);
	}
}

static void get_below(struct below *b)
{
	if (!b->users++)
		attach_below(b);
}

static void put_below(struct below *b)
{
	if (--b->users)
		return;
	if (b->stands)
		b->stays = !memtap_kprobe_unregister(&b->kp);
	b->stands = false;
}

void memtap_mapping_get(enum memtap_mapping_call call)
{
	u32 i;

	/* who was in a call when nobody looked any more has left his note */
	if (!users++)
		memset(notes, 0, sizeof(notes));
	for (i = 0; i < NR_BELOW; i++)
		if (needs[call] & 1U << i)
			get_below(&belows[i]);
}

void memtap_mapping_put(enum memtap_mapping_call call)
{
	u32 i;

	users--;
	for (i = 0; i < NR_BELOW; i++)
		if (needs[call] & 1U << i)
			put_below(&belows[i]);
}

/* --- the calls ------------------------------------------------------------ */

struct memtap_mapping_note *memtap_mapping_begin(enum memtap_mapping_call call)
{
	struct memtap_mapping_note *n = note_of(current);
	u32 i;

	for (i = 0; !n && i < NOTE_WAYS; i++)
		if (!cmpxchg(&place(current, i)->task, NULL, current))
			n = place(current, i);
	if (!n)
		return NULL;
	n->call = call;
	n->passed = false;
	n->cut = false;
	memset(&n->came, 0, sizeof(n->came));
	memset(&n->gone, 0, sizeof(n->gone));
	return n;
}

/*
 * A call that was under way when the hook on its return went leaves its note: the task's next
 * call takes it again, and no later than with the task it is gone.
 */
void memtap_mapping_task_gone(struct task_struct *task)
{
	struct memtap_mapping_note *n = READ_ONCE(users) ? note_of(task) : NULL;

	if (n)
		smp_store_release(&n->task, NULL);
}

static bool is_known(const struct memtap_mapping_note *n)
{
	switch (n->call) {
	case MEMTAP_CALL_MREMAP:
		return belows[BELOW_MUNMAP].stands && belows[BELOW_STAT].stands && !n->cut;
	case MEMTAP_CALL_MPROTECT:
		return belows[BELOW_STAT].stands;
	default:
		return n->passed && !n->cut;
	}
}

void memtap_mapping_end(struct memtap_mapping_note *n, struct memtap_mapping_change *out)
{
	memset(out, 0, sizeof(*out));
	if (!n || n->task != current)
		return;
	out->came = n->came;
	out->gone = n->gone;
	out->known = is_known(n);
	smp_store_release(&n->task, NULL);
}
