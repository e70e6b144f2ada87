// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The minimum cost of tracing: empty handlers on the hooks that memtap uses, and handlers that
 * only walk the stack.  For the benchmark (scripts/bench) only.
 *
 *	echo MODE > /sys/module/bench_floor/parameters/mode
 *
 * The parameters pid, lib, malloc and free (offsets in lib) are read when a mode other than off
 * begins.  Reading mode shows the mode and the number of handler calls.
 *
 *	echo KIND N > /sys/module/bench_floor/parameters/fire
 *
 * fires N pairs of tracepoints, as under memory pressure, with nothing in between: reclaims,
 * compactions, shrinks.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>
#include <linux/stacktrace.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#define FRAMES	64
#define LEVELS	4

static int pid;
static char *lib = "/lib/x86_64-linux-gnu/libc.so.6";
static ulong off_malloc, off_free;
module_param(pid, int, 0644);
module_param(lib, charp, 0644);
module_param_named(malloc, off_malloc, ulong, 0644);
module_param_named(free, off_free, ulong, 0644);

struct scratch {
	unsigned long frame[LEVELS][FRAMES];
	int level;
};
static DEFINE_PER_CPU(struct scratch, scratch);
static DEFINE_PER_CPU(unsigned long, events);
static DEFINE_PER_CPU(unsigned long, frames);
static DEFINE_PER_CPU(unsigned long, hash);

static bool ours(void)
{
	return !pid || current->tgid == pid;
}

static unsigned long *scratch_get(unsigned long *flags)
{
	struct scratch *s;

	local_irq_save(*flags);
	s = this_cpu_ptr(&scratch);
	if (s->level == LEVELS) {
		local_irq_restore(*flags);
		return NULL;
	}
	return s->frame[s->level++];
}

static void scratch_put(unsigned long flags)
{
	this_cpu_ptr(&scratch)->level--;
	local_irq_restore(flags);
}

/* By frame pointers, as cheaply as x86-64 can. */
static int walk(const struct pt_regs *regs, unsigned long *to)
{
	unsigned long fp = regs->bp, next, ret;
	int n = 1;

	to[0] = regs->ip;
	pagefault_disable();
	if (!user_access_begin((void __user *)fp, 16))
		goto out;
	while (n < FRAMES && fp < TASK_SIZE_MAX - 16 && !(fp & 7)) {
		unsafe_get_user(next, (unsigned long __user *)fp, fault);
		unsafe_get_user(ret, (unsigned long __user *)fp + 1, fault);
		if (!ret)
			break;
		to[n++] = ret;
		if (next <= fp)
			break;
		fp = next;
	}
fault:
	user_access_end();
out:
	pagefault_enable();
	return n;
}

static void count(void)
{
	if (ours())
		this_cpu_inc(events);
}

static void count_walk(const struct pt_regs *regs, bool hashed)
{
	unsigned long flags, *to, h = 0;
	int n, i;

	if (!ours())
		return;
	to = scratch_get(&flags);
	if (!to)
		return;
	n = walk(regs, to);
	for (i = 0; hashed && i < n; i++)
		h = (h ^ to[i]) * 0x9e3779b97f4a7c15ul;
	this_cpu_inc(events);
	this_cpu_add(frames, n);
	this_cpu_write(hash, h);
	scratch_put(flags);
}

/* Page faults, system calls */
static void fault_empty(void *p, unsigned long at, struct pt_regs *regs, unsigned long code)
{
	count();
}

static void fault_walk(void *p, unsigned long at, struct pt_regs *regs, unsigned long code)
{
	count_walk(regs, false);
}

static void fault_hash(void *p, unsigned long at, struct pt_regs *regs, unsigned long code)
{
	count_walk(regs, true);
}

static bool is_growth(long nr)
{
	return nr == __NR_brk || nr == __NR_mmap;
}

static void sys_empty(void *p, struct pt_regs *regs, long nr)
{
	if (is_growth(nr))
		count();
}

static void sys_walk(void *p, struct pt_regs *regs, long nr)
{
	if (is_growth(nr))
		count_walk(regs, false);
}

/* Calls that are seen at their entry and at their return, as memtap sees them */
static int call_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !ours();
}

static int call_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(events);
	return 0;
}

/* What the kernel allocates; whatever the event's prototype, as memtap's own handler */
static void kernel_empty(void *p)
{
	count();
}

static void kernel_walk(void *p)
{
	unsigned long flags, *to;

	if (!ours())
		return;
	to = scratch_get(&flags);
	if (!to)
		return;
	this_cpu_add(frames, stack_trace_save(to, FRAMES, 1));
	this_cpu_inc(events);
	scratch_put(flags);
}

/* malloc(), its return, and free() */
static struct mm_struct *target;

/* What differs between kernels, see Kbuild */
#ifdef UPROBES_HAVE_HANDLES		/* since v6.12 */
#define IN_TARGET	struct uprobe_consumer *c, struct mm_struct *mm
#else
#define IN_TARGET	struct uprobe_consumer *c, enum uprobe_filter_ctx ctx, struct mm_struct *mm
#endif
#ifdef UPROBES_HAVE_DATA		/* since v6.13 */
#define REGS		struct pt_regs *regs, __u64 *data
#else
#define REGS		struct pt_regs *regs
#endif

static bool in_target(IN_TARGET)
{
	return !target || mm == target;
}

static int user_empty(struct uprobe_consumer *c, REGS)
{
	count();
	return 0;
}

static int user_return(struct uprobe_consumer *c, unsigned long func, REGS)
{
	this_cpu_inc(frames);
	return 0;
}

static int user_return_walk(struct uprobe_consumer *c, unsigned long func, REGS)
{
	count_walk(regs, false);
	return 0;
}

static int user_nothing(struct uprobe_consumer *c, REGS)
{
	return 0;
}

struct mode {
	const char *name;
	struct {
		const char *tracepoint;
		void *probe;
	} kernel[2];
	int (*entry)(struct uprobe_consumer *c, REGS);
	int (*ret)(struct uprobe_consumer *c, unsigned long func, REGS);
	const char *calls[2];		/* functions of the kernel */
};

static const struct mode modes[] = {
	{ "off" },
	{ "fault-empty", { { "page_fault_user", fault_empty } } },
	{ "fault-walk", { { "page_fault_user", fault_walk } } },
	{ "fault-hash", { { "page_fault_user", fault_hash } } },
	{ "growth-empty", { { "sys_enter", sys_empty } } },
	{ "growth-walk", { { "sys_enter", sys_walk } } },
	{ "growth-probes", .calls = { "__x64_sys_brk", "ksys_mmap_pgoff" } },
	{ "kernel-empty", { { "kmalloc", kernel_empty }, { "kmem_cache_alloc", kernel_empty } } },
	{ "kernel-walk", { { "kmalloc", kernel_walk }, { "kmem_cache_alloc", kernel_walk } } },
	{ "pairs-empty", { }, user_empty, user_return },
	{ "pairs-walk", { }, user_nothing, user_return_walk },
};
static const struct mode *mode = &modes[0];

static struct tracepoint *attached[2];
static struct kretprobe called[2];
static struct path path;
static struct place {
	struct uprobe_consumer consumer;
	ulong offset;
	void *on;
} at_malloc, at_free;

struct search {
	const char *name;
	struct tracepoint *found;
};

static void look(struct tracepoint *tp, void *p)
{
	struct search *s = p;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

static int attach_tracepoint(int i)
{
	struct search s = { mode->kernel[i].tracepoint };
	int rc;

	if (!s.name)
		return 0;
	for_each_kernel_tracepoint(look, &s);
	if (!s.found)
		return -ENOENT;
	rc = tracepoint_probe_register(s.found, mode->kernel[i].probe, NULL);
	if (!rc)
		attached[i] = s.found;
	return rc;
}

static int attach_call(int i)
{
	int rc;

	if (!mode->calls[i])
		return 0;
	called[i] = (struct kretprobe){
		.kp.symbol_name = mode->calls[i], .entry_handler = call_entry,
		.handler = call_return, .maxactive = 64,
	};
	rc = register_kretprobe(&called[i]);
	if (rc)
		called[i].handler = NULL;
	return rc;
}

static void find_target(void)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid ? pid_task(find_vpid(pid), PIDTYPE_PID) : NULL;
	target = task ? task->mm : NULL;
	if (target)
		mmgrab(target);
	rcu_read_unlock();
}

#ifdef UPROBES_HAVE_HANDLES
static int put(struct place *p)
{
	p->on = uprobe_register(d_real_inode(path.dentry), p->offset, 0, &p->consumer);
	return PTR_ERR_OR_ZERO(p->on);
}

static void take(struct place *p)
{
	if (!IS_ERR_OR_NULL(p->on)) {
		uprobe_unregister_nosync(p->on, &p->consumer);
		uprobe_unregister_sync();
	}
	p->on = NULL;
}
#else
static int put(struct place *p)
{
	int rc = uprobe_register(d_real_inode(path.dentry), p->offset, &p->consumer);

	p->on = rc ? NULL : p;
	return rc;
}

static void take(struct place *p)
{
	if (p->on)
		uprobe_unregister(d_real_inode(path.dentry), p->offset, &p->consumer);
	p->on = NULL;
}
#endif

static int attach_user(void)
{
	int rc;

	if (!mode->entry)
		return 0;
	rc = kern_path(lib, LOOKUP_FOLLOW, &path);
	if (rc)
		return rc;
	find_target();
	at_malloc = (struct place){ .offset = off_malloc, .consumer = {
		.handler = mode->entry, .ret_handler = mode->ret, .filter = in_target,
	} };
	at_free = (struct place){ .offset = off_free, .consumer = {
		.handler = user_nothing, .filter = in_target,
	} };
	rc = put(&at_malloc);
	return rc ? rc : put(&at_free);
}

static void detach(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (attached[i])
			tracepoint_probe_unregister(attached[i], mode->kernel[i].probe, NULL);
		attached[i] = NULL;
		if (called[i].handler)
			unregister_kretprobe(&called[i]);
		called[i].handler = NULL;
	}
	tracepoint_synchronize_unregister();
	take(&at_malloc);
	take(&at_free);
	if (path.dentry)
		path_put(&path);
	memset(&path, 0, sizeof(path));
	if (target)
		mmdrop(target);
	target = NULL;
	mode = &modes[0];
}

static int set_mode(const char *text, const struct kernel_param *param)
{
	int i, cpu, rc;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (sysfs_streq(text, modes[i].name))
			break;
	if (i == ARRAY_SIZE(modes))
		return -EINVAL;
	detach();
	if (!i)
		return 0;
	for_each_possible_cpu(cpu)
		per_cpu(events, cpu) = per_cpu(frames, cpu) = 0;
	mode = &modes[i];
	rc = attach_tracepoint(0);
	if (!rc)
		rc = attach_tracepoint(1);
	if (!rc)
		rc = attach_call(0);
	if (!rc)
		rc = attach_call(1);
	if (!rc)
		rc = attach_user();
	if (rc)
		detach();
	return rc;
}

static int get_mode(char *buf, const struct kernel_param *param)
{
	unsigned long e = 0, f = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		e += per_cpu(events, cpu);
		f += per_cpu(frames, cpu);
	}
	return sprintf(buf, "%s events %lu frames %lu\n", mode->name, e, f);
}

static const struct kernel_param_ops mode_ops = { .set = set_mode, .get = get_mode };
module_param_cb(mode, &mode_ops, NULL, 0644);

/*
 * Tracepoints as the kernel calls them, whoever listens: what it has at 6.1, for which these
 * workloads are.
 */
static void *iterator_of(const char *name)
{
	struct search s = { name };

	for_each_kernel_tracepoint(look, &s);
	return s.found ? s.found->iterator : NULL;
}

static unsigned long scan_nothing(struct shrinker *s, struct shrink_control *sc)
{
	return 0;
}

static void fire_reclaim(void *begin, void *end, void *unused)
{
	((int (*)(void *, int, gfp_t))begin)(NULL, 0, GFP_KERNEL);
	((int (*)(void *, unsigned long))end)(NULL, 32);
}

static void fire_compaction(void *begin, void *end, void *suitable)
{
	static u64 control[64];		/* struct compact_control is the kernel's own */
	struct zone *zone = page_zone(ZERO_PAGE(0));

	((int (*)(void *, struct zone *, int, int))suitable)(NULL, zone, 4, 4);
	((int (*)(void *, void *, ulong, ulong, bool))begin)(NULL, control, zone->zone_start_pfn,
		zone_end_pfn(zone), true);
	((int (*)(void *, void *, ulong, ulong, bool, int))end)(NULL, control,
		zone->zone_start_pfn, zone_end_pfn(zone), true, 8);
}

static void fire_shrink(void *begin, void *end, void *unused)
{
	static struct shrinker shrinker = { .scan_objects = scan_nothing };
	static struct shrink_control control = { .gfp_mask = GFP_KERNEL };

	((int (*)(void *, struct shrinker *, struct shrink_control *, long, ulong, u64, ulong,
		  int))begin)(NULL, &shrinker, &control, 0, 100, 10, 10, 12);
	((int (*)(void *, struct shrinker *, int, int, long, long, long))end)(NULL, &shrinker, 0,
		1, 0, 0, 10);
}

static const struct fire {
	const char *name, *begin, *end, *more;
	void (*fn)(void *begin, void *end, void *more);
} fires[] = {
	{ "reclaims", "mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_end",
	  "mm_vmscan_direct_reclaim_end", fire_reclaim },
	{ "compactions", "mm_compaction_begin", "mm_compaction_end", "mm_compaction_suitable",
	  fire_compaction },
	{ "shrinks", "mm_shrink_slab_start", "mm_shrink_slab_end", "mm_shrink_slab_end",
	  fire_shrink },
};

static int set_fire(const char *text, const struct kernel_param *param)
{
	void *begin, *end, *more;
	unsigned int n, i;
	char name[16];

	if (sscanf(text, "%15s %u", name, &n) != 2)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(fires) && strcmp(fires[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(fires))
		return -EINVAL;
	begin = iterator_of(fires[i].begin);
	end = iterator_of(fires[i].end);
	more = iterator_of(fires[i].more);
	if (!begin || !end || !more)
		return -ENOENT;
	while (n--) {
		preempt_disable_notrace();
		fires[i].fn(begin, end, more);
		preempt_enable_notrace();
	}
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = set_fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init floor_init(void)
{
	return 0;
}

static void __exit floor_exit(void)
{
	detach();
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("the least that tracing costs, for memtap's benchmark");
