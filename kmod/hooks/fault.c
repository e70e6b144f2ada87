// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count page faults, through perf's software events.
 *
 * The kernel fires these where it counts the fault for the task itself, with the address and the
 * registers.  Faults without registers (get_user_pages()) fire no event: only the task's own
 * counters include them.
 *
 * The value is the memory that the fault mapped: one page; of a file, also the pages around it
 * that are in the page cache ("fault around"); or a huge page.  The kernel does not report this.
 * But few functions map more than one page, and most faults do not call them: probes on these
 * functions save what was mapped before, and the end of the fault compares.
 */
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/hooks.h"
#include "record/arch.h"
#include "record/record.h"
#include "record/tasks.h"

#include "compat/clock.h"
#include "compat/fault.h"
#include "compat/kprobe.h"

struct fault_hook {
	struct memtap_hook hook;
	struct memtap_perf perf;
	bool heeds;			/* where faults begin, */
	bool heeds_copies;		/* and what those copy that write */
};

/* --- what a fault went through ------------------------------------------- */

#define NOTE_AROUND	1U	/* others may come, besides those in @present */
#define NOTE_HUGE	2U	/* a huge page may */
#define NOTE_COPY	4U	/* one that is there is copied, or made writable */
#define NOTE_HUGETLB	8U	/* by hugetlbfs */
#define NOTE_WRITE	16U	/* a page that is there is copied, or made writable; of */
#define NOTE_ANON	32U	/* anonymous memory; */
#define NOTE_SAME	64U	/* else @present is its frame, to be compared */

/* Which huge page a fault mapped. */
#define HUGE_NONE	0
#define HUGE_THP	1
#define HUGE_HUGETLB	2

/*
 * By task: only the task itself writes its place.  Another one's may be the same; @check,
 * made of all else, tells whose it is, and that it is whole.
 */
struct fault_note {
	u64 page, present, what, check;
};

#define NOTE_BITS	10

static struct fault_note notes[1 << NOTE_BITS];

static struct fault_note *place(void)
{
	return &notes[hash_ptr(current, NOTE_BITS)];
}

static u64 check_of(const struct fault_note *n)
{
	return (u64)(unsigned long)current ^ n->page ^ rol64(n->present, 24) ^
	       (n->what << 56);
}

static bool is_of(const struct fault_note *n, u64 addr)
{
	return n->page == addr >> PAGE_SHIFT && n->what && n->check == check_of(n);
}

static void note(u64 addr, u64 what)
{
	struct fault_note n = *place();
	struct memtap_walk w;

	if (!is_of(&n, addr))
		memset(&n, 0, sizeof(n));
	n.page = addr >> PAGE_SHIFT;
	/* a fault that had to wait for a page begins again, with the others mapped already */
	if (what == NOTE_AROUND && !(n.what & NOTE_AROUND)) {
		memtap_walk(current->mm, addr, true, &w);
		n.present = w.huge ? ~0ULL : w.present;
		n.what &= ~(u64)NOTE_SAME;
	} else if ((what & NOTE_WRITE) && !(n.what & (NOTE_AROUND | NOTE_ANON))) {
		memtap_walk(current->mm, addr, false, &w);
		n.present = w.pfn;
		what |= memtap_pfn_is_anon(w.pfn) ? NOTE_ANON : NOTE_SAME;
	}
	n.what |= what;
	n.check = check_of(&n);
	*place() = n;
}

/* What was there before is still whose it was: no page came to it. */
static bool stays(const struct fault_note *n, const struct memtap_walk *w)
{
	return (n->what & NOTE_ANON) ||
	       ((n->what & NOTE_SAME) && w->pfn != MEMTAP_NO_PFN && w->pfn == n->present);
}

/*
 * Pages that the fault at @addr mapped, of which something was noted, which may be another task's;
 * MEMTAP_KEY_* of it in *key; which huge page; which they are, if that is not the one.
 */
static noinline u64 mapped(u64 addr, u32 *key, u32 *huge, struct memtap_touched_pages *t)
{
	struct fault_note n = *place();
	struct memtap_walk w;

	if (!is_of(&n, addr) || !current->mm)
		return 1;
	place()->what = 0;
	memtap_walk(current->mm, addr, n.what & NOTE_AROUND, &w);
	t->keep = stays(&n, &w);
	t->huge = w.huge != 0;
	if (!w.huge) {
		if ((n.what & NOTE_AROUND) && (w.present & ~n.present)) {
			t->first = memtap_walk_first(addr);
			t->mask = w.present & ~n.present;
		}
		return n.what & NOTE_AROUND ? max_t(u64, 1, hweight64(t->mask)) : 1;
	}
	if ((n.what & NOTE_HUGE) || !(n.what & NOTE_COPY)) {
		*key = MEMTAP_KEY_HUGE;
		*huge = n.what & NOTE_HUGETLB ? HUGE_HUGETLB : HUGE_THP;
		return w.huge;
	}
	*key = MEMTAP_KEY_PART;		/* of zeros before, or only made writable */
	return 1;
}

/* Of a fault that is nobody's: what was noted of it must not be of a later one. */
static void forget(u64 addr)
{
	struct fault_note *n = place();

	if (unlikely(n->page == addr >> PAGE_SHIFT) && is_of(n, addr))
		n->what = 0;
}

/* --- the functions in which it does so ----------------------------------- */

struct note_probe {
	struct kprobe kp;
	const char *symbol;
	u64 what;
	u64 (*addr)(const unsigned long *args);
	bool stands, stays;		/* stays: it could not be taken away */
};

static struct note_probe note_probes[] = {
	{ .symbol = "filemap_map_pages", .what = NOTE_AROUND, .addr = memtap_around_addr },
	{ .symbol = "do_huge_pmd_anonymous_page", .what = NOTE_HUGE,
	  .addr = memtap_huge_addr },
	{ .symbol = "do_huge_pmd_wp_page", .what = NOTE_COPY | NOTE_WRITE,
	  .addr = memtap_huge_addr },
	{ .symbol = "do_set_pmd", .what = NOTE_HUGE, .addr = memtap_huge_addr },
	{ .symbol = "hugetlb_fault", .what = NOTE_HUGE | NOTE_HUGETLB,
	  .addr = memtap_hugetlb_addr },
};

/* Who counts only does not pay for them; of huge pages the others tell NOTE_COPY. */
static struct note_probe copy_probes[] = {
	{ .symbol = "do_wp_page", .what = NOTE_WRITE, .addr = memtap_copy_addr },
};

static u32 copy_users;		/* under the hooks' lock */

static u32 note_users;		/* under the hooks' lock */
static bool notes_lack;		/* a function is there, and could not be probed */

static int on_note(struct kprobe *kp, struct pt_regs *regs)
{
	const struct note_probe *n = container_of(kp, struct note_probe, kp);
	unsigned long args[3];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = memtap_karg(regs, i);
	if (current->mm)
		note(n->addr(args), n->what);
	return 0;
}

static void attach_note(struct note_probe *n)
{
	int err = -EBUSY;

	if (!n->stays) {
		memset(&n->kp, 0, sizeof(n->kp));
		n->kp.symbol_name = n->symbol;
		n->kp.pre_handler = on_note;
		err = memtap_kprobe_register(&n->kp);
	}
	n->stands = !err;
	/* a kernel that has no such function does no such thing */
	if (err && err != -ENOENT)
		WRITE_ONCE(notes_lack, true);
}

static void attach_notes(void)
{
	u32 i;

	if (note_users++)
		return;
	WRITE_ONCE(notes_lack, false);
	for (i = 0; i < ARRAY_SIZE(note_probes); i++)
		attach_note(&note_probes[i]);
}

static void detach_note(struct note_probe *n)
{
	if (n->stands)
		n->stays = !memtap_kprobe_unregister(&n->kp);
	n->stands = false;
}

static void detach_notes(void)
{
	u32 i;

	if (--note_users)
		return;
	for (i = 0; i < ARRAY_SIZE(note_probes); i++)
		detach_note(&note_probes[i]);
}

static void heed_copies(struct fault_hook *f, bool more)
{
	u32 i;

	if (f->heeds_copies == more)
		return;
	f->heeds_copies = more;
	if (more ? copy_users++ : --copy_users)
		return;
	for (i = 0; i < ARRAY_SIZE(copy_probes); i++)
		if (more)
			attach_note(&copy_probes[i]);
		else
			detach_note(&copy_probes[i]);
}

/* --- where they begin ------------------------------------------------------ */

/*
 * What a fault is about is known when it begins, under the lock of the mapping, and is
 * counted when it ends, without: a note for each task, as above.  One that has to wait may
 * begin again.  Only while somebody wants to know it.
 */
struct fault_origin {
	u64 page, ns;
	struct memtap_file_key file;
	u32 mapping;			/* as of struct memtap_hit */
	u64 check;
};

static struct fault_origin origins[1 << NOTE_BITS];
static struct kprobe origin_probe;
static u32 origin_users;	/* under the hooks' lock */
static bool origin_on, origin_stays;
static struct fault_hook minor, major;

static struct fault_origin *origin_place(void)
{
	return &origins[hash_ptr(current, NOTE_BITS)];
}

static u64 origin_check(const struct fault_origin *o)
{
	return (u64)(unsigned long)current ^ o->page ^ rol64(o->ns, 24) ^ rol64(o->file.inode, 40) ^
	       rol64(o->file.gen, 12) ^ o->file.dev ^ (u64)o->mapping << 32;
}

static bool is_origin(const struct fault_origin *o, u64 addr)
{
	return o->page == addr >> PAGE_SHIFT && o->ns && o->check == origin_check(o);
}

/* As /proc/PID/maps calls it. */
static u32 mapping_of(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;
	const unsigned long flags = vma->vm_flags;
	u32 is = MEMTAP_MAPPING_KNOWN, kind = MEMTAP_FILE_ANON;

	is |= flags & VM_READ ? MEMTAP_MAPPING_READ : 0;
	is |= flags & VM_WRITE ? MEMTAP_MAPPING_WRITE : 0;
	is |= flags & VM_EXEC ? MEMTAP_MAPPING_EXEC : 0;
	is |= flags & VM_MAYSHARE ? MEMTAP_MAPPING_SHARED : 0;
	if (vma->vm_file)
		kind = MEMTAP_FILE_NONE;
	else if (vma->vm_start < mm->brk && vma->vm_end > mm->start_brk)
		kind = MEMTAP_FILE_HEAP;
	else if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack)
		kind = MEMTAP_FILE_STACK;
	else if (vma->vm_ops)
		kind = MEMTAP_FILE_KERNEL;
	return kind | is << 8;
}

static void origin_file(struct fault_origin *o, const struct vm_area_struct *vma)
{
	const struct inode *inode;

	o->mapping = mapping_of(vma);
	if (!vma->vm_file)
		return;
	inode = file_inode(vma->vm_file);
	memtap_file_key(&o->file, inode);
	if (READ_ONCE(minor.hook.source.has_files))
		memtap_note_file(&minor.hook.source, inode);
	if (READ_ONCE(major.hook.source.has_files))
		memtap_note_file(&major.hook.source, inode);
}

static int on_origin(struct kprobe *kp, struct pt_regs *regs)
{
	const u64 addr = memtap_karg(regs, MEMTAP_HANDLE_FIRST + 1);
	struct fault_origin o = *origin_place();

	if (!current->mm || ((memtap_karg(regs, MEMTAP_HANDLE_FIRST + 2) & FAULT_FLAG_TRIED) &&
			     is_origin(&o, addr)))
		return 0;
	memset(&o, 0, sizeof(o));
	o.page = addr >> PAGE_SHIFT;
	o.ns = memtap_clock_ns();
	origin_file(&o, (const void *)memtap_karg(regs, MEMTAP_HANDLE_FIRST));
	o.check = origin_check(&o);
	*origin_place() = o;
	return 0;
}

static void heed(struct memtap_hook *h, bool more)
{
	struct fault_hook *f = container_of(h, struct fault_hook, hook);

	heed_copies(f, h->source.has_touched);
	if (f->heeds == more)
		return;
	f->heeds = more;
	if (more && !origin_users++ && !origin_stays) {
		memset(&origin_probe, 0, sizeof(origin_probe));
		origin_probe.symbol_name = "handle_mm_fault";
		origin_probe.pre_handler = on_origin;
		origin_on = !memtap_kprobe_register(&origin_probe);
	} else if (!more && !--origin_users && origin_on) {
		origin_stays = !memtap_kprobe_unregister(&origin_probe);
		origin_on = false;
	}
}

/* What steps read.  How long it took is not always known: it stands at the end. */
struct fault_record {
	u64 addr, ip, huge, inode, latency;
};

static const struct memtap_builtin_field fault_fields[] = {
	{ "addr", offsetof(struct fault_record, addr), 8, 8, MEMTAP_FIELD_ADDRESS },
	{ "ip", offsetof(struct fault_record, ip), 8, 8, MEMTAP_FIELD_ADDRESS },
	{ "huge", offsetof(struct fault_record, huge), 8, 8, 0 },
	{ "inode", offsetof(struct fault_record, inode), 8, 8, 0 },
	{ "latency", offsetof(struct fault_record, latency), 8, 8, 0 },
	{ NULL, 0, 0, 0, 0 },
};

static noinline void hit_heeded(struct memtap_hook *h, struct memtap_hit *hit, u32 huge)
{
	struct fault_origin o = *origin_place();
	struct fault_record r;

	memset(&r, 0, sizeof(r));
	r.addr = hit->addr;
	r.ip = instruction_pointer(hit->regs);
	r.huge = huge;
	hit->record = &r;
	hit->record_len = offsetof(struct fault_record, inode);
	if (is_origin(&o, hit->addr)) {
		origin_place()->ns = 0;
		r.inode = o.file.inode;
		r.latency = memtap_clock_ns() - o.ns;
		hit->file = &o.file;
		hit->mapping = o.mapping;
		hit->record_len = sizeof(r);
	}
	memtap_hit(&h->source, hit);
}

/* --- the faults ---------------------------------------------------------- */

static noinline void on_own_fault(struct memtap_hook *h, u64 addr, struct pt_regs *regs)
{
	struct memtap_hit hit = {
		.regs = regs,
		.addr = addr,
		.flags = MEMTAP_HIT_TASK | MEMTAP_HIT_PAGES |
			 (user_mode(regs) ? MEMTAP_HIT_USER : 0),
		.key = READ_ONCE(notes_lack) ? MEMTAP_KEY_PART : 0,
	};
	struct memtap_touched_pages touched;
	u32 huge = HUGE_NONE;

	hit.touched = &touched;
	hit.value = 1;
	touched.first = addr >> PAGE_SHIFT;
	touched.mask = 1;
	touched.huge = false;
	touched.keep = false;
	if (unlikely(place()->page == touched.first))
		hit.value = mapped(addr, &hit.key, &huge, &touched);
	if (unlikely(READ_ONCE(h->source.has_files) || memtap_source_has_steps(&h->source)))
		hit_heeded(h, &hit, huge);
	else
		memtap_hit(&h->source, &hit);
}

/*
 * What others than those who are watched pay for each of their faults: as little as there is.
 * perf holds rcu_read_lock() around this, and has preemption off; a fault in an interrupt maps
 * nothing, and does not come here.
 */
static void on_fault(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct memtap_hook *h = event->overflow_handler_context;

	if (memtap_hit_filtered(&h->source))
		forget(data->addr);
	else
		on_own_fault(h, data->addr, regs);
}

static int attach(struct memtap_hook *h)
{
	struct fault_hook *f = container_of(h, struct fault_hook, hook);
	int err;

	attach_notes();
	err = memtap_perf_attach(&f->perf);
	if (err)
		detach_notes();
	return err;
}

static void detach(struct memtap_hook *h)
{
	memtap_perf_detach(&container_of(h, struct fault_hook, hook)->perf);
	heed(h, false);
	detach_notes();
}

static const struct memtap_hook_ops fault_ops = {
	.attach = attach,
	.detach = detach,
	.heed = heed,
};

#define FAULT_HOOK(_var, _target, _config)				\
static struct fault_hook _var = {					\
	.hook = { .ops = &fault_ops, .way = MEMTAP_WAY_PERF_SW,		\
		  .target = _target },					\
	.perf = { .handler = on_fault, .hook = &_var.hook,		\
		  .type = PERF_TYPE_SOFTWARE, .config = _config },	\
}

FAULT_HOOK(minor, "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN);
FAULT_HOOK(major, "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ);

const struct memtap_builtin memtap_minor_fault = {
	.name = "minor-fault",
	.group = "fault",
	.summary = "page faults that needed no I/O: memory touched for the first time",
	.unit = MEMTAP_UNIT_PAGES,
	.fields = fault_fields,
	.nr_hooks = 1,
	.hooks = { &minor.hook },
};

const struct memtap_builtin memtap_major_fault = {
	.name = "major-fault",
	.group = "fault",
	.summary = "page faults that waited for I/O: files, swap",
	.unit = MEMTAP_UNIT_PAGES,
	.fields = fault_fields,
	.nr_hooks = 1,
	.hooks = { &major.hook },
};
