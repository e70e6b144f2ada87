// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that a session chooses: a tracepoint, a kernel function or a user function, at its entry
 * or return.
 *
 * Sessions share a hook in the kernel if they ask for the same one.  A hook in user space belongs
 * to one session, because it is placed only in processes that pass the session's filter.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "record/arch.h"
#include "live/live.h"
#include "live/hold.h"
#include "hooks/hooks.h"
#include "record/filter.h"
#include "record/record.h"

#include "compat/file.h"
#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/perf_raw.h"
#include "compat/task.h"
#include "compat/tracepoint.h"
#include "compat/uprobe.h"
#include "compat/valloc.h"

struct generic_hook {
	struct memtap_hook hook;
	struct list_head node;
	u32 refs;
	u32 kind, flags;
	enum memtap_steps_read args;		/* for events that have steps: others have
						 * hooks, and handlers, of their own */
	u64 offset, config, period;
	u32 freq;
	char name[MEMTAP_NAME_LEN];
	struct memtap_session *session;		/* of a user probe, */
	struct path path;			/* whose file is not to be unmounted */
	bool withdrawn;				/* it stands no more */
	bool stays;				/* it could not be taken away */
	u64 missed;				/* by the probes that stood before */
	struct memtap_heap_probe heap;		/* MEMTAP_ATTACH_HEAP */
	u32 hold_ms;
	u32 event;				/* where it holds */
	union {
		struct kprobe kprobe;
		struct kretprobe kretprobe;
		struct memtap_perf perf;
		struct memtap_uprobe uprobe;
	};
};

static LIST_HEAD(generics);
static DEFINE_MUTEX(generics_lock);
static DEFINE_PER_CPU(u64, tokens);

#define to_generic(h)	container_of(h, struct generic_hook, hook)

/* --- kernel functions --------------------------------------------------- */

static u32 kprobe_flags(const struct generic_hook *g)
{
	return g->offset ? 0 : MEMTAP_HIT_CALLED;
}

static int on_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(kp, struct generic_hook, kprobe);
	struct memtap_hit hit = { .regs = regs, .flags = kprobe_flags(g) };

	memtap_hit(&g->hook.source, &hit);
	return 0;
}

static int on_kprobe_args(struct kprobe *kp, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(kp, struct generic_hook, kprobe);
	struct memtap_args_hit ah = { .hit = { .regs = regs, .flags = kprobe_flags(g) } };

	memtap_args_hit(&g->hook.source, &ah);
	return 0;
}

static int kprobe_attach(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);

	if (g->stays)
		return -EBUSY;
	/* who joins while another leaves: what the kernel left in it is refused */
	memset(&g->kprobe, 0, sizeof(g->kprobe));
	g->kprobe.symbol_name = g->name;
	g->kprobe.offset = g->offset;
	g->kprobe.pre_handler = g->args ? on_kprobe_args : on_kprobe;
	return memtap_kprobe_register(&g->kprobe);
}

/* Many at once wait for handlers once: that is what takes long. */
static void kprobe_detach_many(struct memtap_hook *const *hs, u32 nr)
{
	struct kprobe *kps[MEMTAP_HOOKS_AT_ONCE];
	struct generic_hook *g;
	u32 i, n = 0;

	for (i = 0; i < nr; i++) {
		g = to_generic(hs[i]);
		g->stays = !memtap_kprobe_disarm(&g->kprobe);
		if (!g->stays)
			kps[n++] = &g->kprobe;
	}
	if (n)
		unregister_kprobes(kps, n);
	for (i = 0; i < nr; i++) {
		g = to_generic(hs[i]);
		g->missed += memtap_kprobe_missed(&g->kprobe);
		g->kprobe.nmissed = 0;
	}
}

static void kprobe_detach(struct memtap_hook *h)
{
	kprobe_detach_many(&h, 1);
}

static u64 kprobe_missed(struct memtap_hook *h)
{
	return to_generic(h)->missed + memtap_kprobe_missed(&to_generic(h)->kprobe);
}

/* No two calls under way have the same pair of CPU and number. */
static u64 new_token(void)
{
	u64 token;

	preempt_disable();
	token = this_cpu_inc_return(tokens) << 16 | smp_processor_id();
	preempt_enable();
	return token;
}

static int on_kret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct generic_hook *g;
	struct pair_key key;

	if (!rp)
		return 1;
	g = container_of(rp, struct generic_hook, kretprobe);
	key.a = new_token();
	key.b = (unsigned long)g;
	*(u64 *)ri->data = key.a;
	memtap_hit_entry(&g->hook.source, &hit, &key);
	return 0;
}

static int on_kret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct generic_hook *g;
	struct pair_key key;

	if (!rp)
		return 0;
	memtap_note_trampoline(regs);
	g = container_of(rp, struct generic_hook, kretprobe);
	key.a = *(u64 *)ri->data;
	key.b = (unsigned long)g;
	memtap_hit_return(&g->hook.source, &key);
	return 0;
}

/* What a call has of its own.  The hint is of who had the instance before. */
struct kret_args {
	u64 token;
	struct pair_hint hint;
};

static int on_kret_entry_args(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kret_args *own = (struct kret_args *)ri->data;
	struct memtap_args_hit ah = {
		.hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED },
		.hint = &own->hint,
	};
	struct generic_hook *g;
	struct pair_key key;

	if (!rp)
		return 1;
	g = container_of(rp, struct generic_hook, kretprobe);
	key.a = new_token();
	key.b = (unsigned long)g;
	own->token = key.a;
	memtap_args_hit_entry(&g->hook.source, &ah, &key);
	return 0;
}

static int on_kret_args(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kret_args *own = (struct kret_args *)ri->data;
	struct memtap_args_hit ah = { .hit = { .regs = regs }, .hint = &own->hint };
	struct generic_hook *g;
	struct pair_key key;

	if (!rp)
		return 0;
	memtap_note_trampoline(regs);
	g = container_of(rp, struct generic_hook, kretprobe);
	key.a = own->token;
	key.b = (unsigned long)g;
	memtap_args_hit_return(&g->hook.source, &ah, &key);
	return 0;
}

static int kretprobe_attach(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);

	if (g->stays)
		return -EBUSY;
	memset(&g->kretprobe, 0, sizeof(g->kretprobe));
	g->kretprobe.kp.symbol_name = g->name;
	g->kretprobe.entry_handler = g->args ? on_kret_entry_args : on_kret_entry;
	g->kretprobe.handler = g->args ? on_kret_args : on_kret;
	g->kretprobe.data_size = g->args ? sizeof(struct kret_args) : sizeof(u64);
	g->kretprobe.maxactive = max_t(int, 512, 8 * num_possible_cpus());
	return memtap_kretprobe_register(&g->kretprobe);
}

static void kretprobe_detach_many(struct memtap_hook *const *hs, u32 nr)
{
	struct kretprobe *rps[MEMTAP_HOOKS_AT_ONCE];
	struct generic_hook *g;
	u32 i, n = 0;

	for (i = 0; i < nr; i++) {
		g = to_generic(hs[i]);
		g->stays = !memtap_kprobe_disarm(&g->kretprobe.kp);
		if (!g->stays)
			rps[n++] = &g->kretprobe;
	}
	if (n)
		unregister_kretprobes(rps, n);
	for (i = 0; i < nr; i++) {
		g = to_generic(hs[i]);
		g->missed += memtap_kretprobe_missed(&g->kretprobe);
		g->kretprobe.nmissed = 0;
		g->kretprobe.kp.nmissed = 0;
	}
}

static void kretprobe_detach(struct memtap_hook *h)
{
	kretprobe_detach_many(&h, 1);
}

static u64 kretprobe_missed(struct memtap_hook *h)
{
	return to_generic(h)->missed + memtap_kretprobe_missed(&to_generic(h)->kretprobe);
}

/* --- tracepoints -------------------------------------------------------- */

/* Whatever the prototype: the first argument is ours, the others are ignored. */
static void on_tracepoint(void *data)
{
	struct memtap_hit hit = { .frame = __builtin_frame_address(0) };
	struct memtap_hook *h = data;

	memtap_hit(&h->source, &hit);
}

static void on_tracepoint_args(void *data)
{
	struct memtap_args_hit ah = { .hit = { .frame = __builtin_frame_address(0) } };
	struct memtap_hook *h = data;

	memtap_args_hit(&h->source, &ah);
}

/* Events of system calls come with the user's registers: we are in the kernel. */
static void on_perf_tp(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = user_mode(regs) ? NULL : regs };
	struct memtap_hook *h = event->overflow_handler_context;

	memtap_hit(&h->source, &hit);
}

/* The record is perf's: each kernel fills it in, whatever the tracepoint's prototype. */
static void on_perf_tp_args(struct perf_event *event, struct perf_sample_data *data,
			    struct pt_regs *regs)
{
	struct memtap_args_hit ah = { .hit = { .regs = user_mode(regs) ? NULL : regs } };
	struct memtap_hook *h = event->overflow_handler_context;

	ah.hit.record = memtap_perf_raw(data, &ah.hit.record_len);
	memtap_args_hit(&h->source, &ah);
}

static const char *event_name(const struct generic_hook *g)
{
	const char *colon = strchr(g->name, ':');

	return colon ? colon + 1 : g->name;
}

static void *own_probe(const struct generic_hook *g)
{
	return g->args ? on_tracepoint_args : on_tracepoint;
}

/*
 * Our own probe is several times cheaper than perf's counter, but there are
 * events behind which no tracepoint of that name stands (syscalls:*), modules'
 * tracepoints, and kernels that check the type of what they call.  And it has
 * no record.
 */
static int tracepoint_attach(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);
	int err = -ENOENT;

	if (g->stays)
		return -EBUSY;
	if (MEMTAP_TP_ANY_OK && g->args != MEMTAP_STEPS_RECORD)
		err = memtap_tracepoint_register(event_name(g), own_probe(g), h);
	if (!err) {
		h->way = MEMTAP_WAY_TRACEPOINT;
		return 0;
	}
	if (!g->config)
		return err;
	g->perf.handler = g->args ? on_perf_tp_args : on_perf_tp;
	g->perf.raw = g->args == MEMTAP_STEPS_RECORD;
	g->perf.hook = h;
	g->perf.type = PERF_TYPE_TRACEPOINT;
	g->perf.config = g->config;
	h->way = MEMTAP_WAY_PERF_TP;
	return memtap_perf_attach(&g->perf);
}

static void tracepoint_detach_many(struct memtap_hook *const *hs, u32 nr)
{
	struct generic_hook *g;
	bool own = false;
	u32 i;

	for (i = 0; i < nr; i++) {
		g = to_generic(hs[i]);
		if (hs[i]->way == MEMTAP_WAY_PERF_TP) {
			memtap_perf_detach(&g->perf);
			continue;
		}
		g->stays = !memtap_tracepoint_unregister(event_name(g), own_probe(g), hs[i]);
		own = true;
	}
	if (own)
		tracepoint_synchronize_unregister();
}

static void tracepoint_detach(struct memtap_hook *h)
{
	tracepoint_detach_many(&h, 1);
}

/* --- counters of perf ------------------------------------------------------ */

/*
 * In whatever context the counter overflows: an interrupt, an NMI.  What happens while this
 * CPU records is lost by NMI.
 */
static void sample_hit(struct memtap_hit *hit, const struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	hit->regs = regs;
	hit->value = data->period;
	hit->flags = MEMTAP_HIT_SAMPLE | MEMTAP_HIT_VALUE;
	if (user_mode(regs))
		hit->flags |= MEMTAP_HIT_USER | MEMTAP_HIT_TASK;
}

static void on_sample(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	struct memtap_hook *h = event->overflow_handler_context;
	struct memtap_hit hit = { .value = 0 };

	sample_hit(&hit, data, regs);
	memtap_hit(&h->source, &hit);
}

static void on_sample_args(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	struct memtap_hook *h = event->overflow_handler_context;
	struct memtap_args_hit ah = { .user = false };

	sample_hit(&ah.hit, data, regs);
	memtap_args_hit(&h->source, &ah);
}

static int counter_attach(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);

	g->perf.handler = g->args ? on_sample_args : on_sample;
	g->perf.hook = h;
	g->perf.type = g->offset;
	g->perf.config = g->config;
	g->perf.period = g->period;
	g->perf.freq = g->freq;
	return memtap_perf_attach(&g->perf);
}

static void counter_detach(struct memtap_hook *h)
{
	memtap_perf_detach(&to_generic(h)->perf);
}

/* --- user functions ----------------------------------------------------- */

static void user_hit(const struct generic_hook *g, struct pt_regs *regs,
		     struct memtap_hit *hit)
{
	hit->regs = regs;
	hit->flags = MEMTAP_HIT_USER | MEMTAP_HIT_TASK | MEMTAP_HIT_SLEEP;
	if (g->flags & (MEMTAP_ATTACH_ENTRY | MEMTAP_ATTACH_RETURN))
		hit->flags |= MEMTAP_HIT_ENTRY;
}

static int on_uprobe(struct memtap_uprobe *up, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct memtap_hit hit = { .value = 0 };

	user_hit(g, regs, &hit);
	memtap_hit(&g->hook.source, &hit);
	if (g->flags & MEMTAP_ATTACH_HOLD)
		memtap_hold(g->session, g->event, g->hold_ms);
	return 0;
}

/*
 * A child inherits the breakpoints of a process that is watched, and is not: they
 * are taken away from it.  What a thread or a process is called may change.
 */
static int stays(const struct generic_hook *g)
{
	const struct filter *f = g->session->filter;

	if (!f->has_pids || f->nr_comms || f->nr_cgroups || !current->mm ||
	    likely(pidset_has(&g->session->mm_pids, current->tgid)) ||
	    memtap_wants_mm(g->session, current->mm))
		return 0;
	return UPROBE_HANDLER_REMOVE;
}

static int on_heap_entry(struct memtap_uprobe *up, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);

	this_cpu_inc(*g->hook.source.hits);
	return likely(memtap_heap_entry(&g->heap, regs)) ? 0 : stays(g);
}

static int on_heap_return(struct memtap_uprobe *up, unsigned long func,
			  struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);

	memtap_heap_return(&g->heap, regs);
	return 0;
}

static int on_uret_entry(struct memtap_uprobe *up, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct memtap_hit hit = { .value = 0 };
	struct pair_key key;

	user_hit(g, regs, &hit);
	key.a = (unsigned long)current;
	key.b = user_stack_pointer(regs);
	memtap_hit_entry(&g->hook.source, &hit, &key);
	return 0;
}

static int on_uret(struct memtap_uprobe *up, unsigned long func,
		   struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct pair_key key;

	key.a = (unsigned long)current;
	key.b = memtap_entry_sp(regs, memtap_task_compat(current) ? 4 :
				sizeof(long));
	memtap_hit_return(&g->hook.source, &key);
	return 0;
}

static int on_uprobe_args(struct memtap_uprobe *up, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct memtap_args_hit ah = { .user = true };

	user_hit(g, regs, &ah.hit);
	memtap_args_hit(&g->hook.source, &ah);
	return 0;
}

static int on_uret_entry_args(struct memtap_uprobe *up, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct memtap_args_hit ah = { .user = true };
	struct pair_key key;

	user_hit(g, regs, &ah.hit);
	key.a = (unsigned long)current;
	key.b = user_stack_pointer(regs);
	memtap_args_hit_entry(&g->hook.source, &ah, &key);
	return 0;
}

static int on_uret_args(struct memtap_uprobe *up, unsigned long func, struct pt_regs *regs)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);
	struct memtap_args_hit ah = { .hit = { .regs = regs }, .user = true };
	struct pair_key key;

	key.a = (unsigned long)current;
	key.b = memtap_entry_sp(regs, memtap_task_compat(current) ? 4 : sizeof(long));
	memtap_args_hit_return(&g->hook.source, &ah, &key);
	return 0;
}

static bool uprobe_wants_mm(struct memtap_uprobe *up, struct mm_struct *mm)
{
	struct generic_hook *g = container_of(up, struct generic_hook, uprobe);

	if (!memtap_wants_mm(g->session, mm))
		return false;
	if (likely(memtap_uprobe_fits(up, mm)))
		return true;
	WRITE_ONCE(g->hook.left_out, ENOEXEC);
	return false;
}

/*
 * The probe itself is registered by new_uprobe() and taken away by destroy:
 * both may wait long for other processes' memory, and are not to hold up other
 * sessions under the hooks' lock.
 */
static int uprobe_attach(struct memtap_hook *h)
{
	return 0;
}

static void uprobe_detach(struct memtap_hook *h)
{
}

static void uprobe_destroy(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);

	if (!g->withdrawn) {
		memtap_uprobe_unregister(&g->uprobe);
		memtap_uprobe_sync();
	}
	iput(g->uprobe.inode);
	path_put(&g->path);
}

void memtap_generic_withdraw(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);

	if (!g->session || g->withdrawn)
		return;
	memtap_uprobe_unregister(&g->uprobe);
	g->withdrawn = true;
}

void memtap_generic_sync(void)
{
	memtap_uprobe_sync();
}

static const struct memtap_hook_ops kprobe_ops = {
	.attach = kprobe_attach,
	.detach = kprobe_detach,
	.detach_many = kprobe_detach_many,
	.missed = kprobe_missed,
};

static const struct memtap_hook_ops kretprobe_ops = {
	.attach = kretprobe_attach,
	.detach = kretprobe_detach,
	.detach_many = kretprobe_detach_many,
	.missed = kretprobe_missed,
};

static const struct memtap_hook_ops tracepoint_ops = {
	.attach = tracepoint_attach,
	.detach = tracepoint_detach,
	.detach_many = tracepoint_detach_many,
};

static const struct memtap_hook_ops counter_ops = {
	.attach = counter_attach,
	.detach = counter_detach,
};

static const struct memtap_hook_ops uprobe_ops = {
	.attach = uprobe_attach,
	.detach = uprobe_detach,
	.destroy = uprobe_destroy,
};

/* --- making and sharing ------------------------------------------------- */

static void name_target(struct generic_hook *g, struct file *file)
{
	char *buf, *path = "?";
	size_t len;

	buf = file ? kmalloc(PATH_MAX, MEMTAP_GFP) : NULL;
	if (buf) {
		path = d_path(&file->f_path, buf, PATH_MAX);
		if (IS_ERR(path))
			path = "?";
		/* the end of a long path tells more than its beginning */
		len = strlen(path);
		if (len > MEMTAP_NAME_LEN - 24)
			path += len - (MEMTAP_NAME_LEN - 24);
		snprintf(g->hook.target, sizeof(g->hook.target), "%s+0x%llx",
			 path, g->offset);
	} else if (g->offset && g->kind != MEMTAP_ATTACH_PERF) {
		snprintf(g->hook.target, sizeof(g->hook.target), "%.100s+0x%llx",
			 g->name, g->offset);
	} else {
		strscpy(g->hook.target, g->name, sizeof(g->hook.target));
	}
	kfree(buf);
}

static int register_uprobe(struct generic_hook *g, const struct memtap_attach *a,
			   struct memtap_session *s, struct file *file)
{
	struct inode *inode = igrab(memtap_file_inode(file));
	int err;

	if (!inode)
		return -ENOENT;
	g->session = s;
	g->uprobe.inode = inode;
	g->uprobe.offset = a->offset;
	g->uprobe.ref_ctr = a->ref_ctr;
	g->uprobe.filter = uprobe_wants_mm;
	if (a->kind == MEMTAP_ATTACH_HEAP) {
		g->uprobe.entry = on_heap_entry;
		if (memtap_heap_returns(a->op))
			g->uprobe.ret = on_heap_return;
	} else if (a->flags & MEMTAP_ATTACH_RETURN) {
		g->uprobe.entry = g->args ? on_uret_entry_args : on_uret_entry;
		g->uprobe.ret = g->args ? on_uret_args : on_uret;
	} else {
		g->uprobe.entry = g->args ? on_uprobe_args : on_uprobe;
	}
	g->uprobe.stepped = memtap_uprobe_stepped(file, a->offset, g->uprobe.ret);
	err = -EOPNOTSUPP;
	if (S_ISREG(inode->i_mode) && memtap_inode_uprobeable(inode))
		err = memtap_uprobe_harmless(file, a->offset, g->uprobe.ret) ?
		      memtap_uprobe_register(&g->uprobe) : -ENOEXEC;
	if (err) {
		iput(inode);
		return err;
	}
	g->path = file->f_path;
	path_get(&g->path);
	return 0;
}

static int set_up(struct generic_hook *g, const struct memtap_attach *a)
{
	bool ret = a->flags & MEMTAP_ATTACH_RETURN;

	switch (a->kind) {
	case MEMTAP_ATTACH_TRACEPOINT:
		g->hook.ops = &tracepoint_ops;
		g->hook.way = MEMTAP_WAY_TRACEPOINT;
		return ret || a->offset ? -EINVAL : 0;
	case MEMTAP_ATTACH_KPROBE:
		g->hook.ops = ret ? &kretprobe_ops : &kprobe_ops;
		g->hook.way = ret ? MEMTAP_WAY_KRETPROBE : MEMTAP_WAY_KPROBE;
		return (ret && a->offset) || a->offset > UINT_MAX ? -EINVAL : 0;
	case MEMTAP_ATTACH_PERF:
		g->hook.ops = &counter_ops;
		g->hook.way = MEMTAP_WAY_PERF;
		/* tracepoints, breakpoints and other devices of perf have ways of their own */
		if (a->flags || (a->offset != PERF_TYPE_HARDWARE &&
				 a->offset != PERF_TYPE_SOFTWARE &&
				 a->offset != PERF_TYPE_HW_CACHE && a->offset != PERF_TYPE_RAW))
			return -EINVAL;
		return a->ref_ctr && a->ref_ctr <= LLONG_MAX && a->op <= 1 &&
		       (!a->op || a->ref_ctr <= 100000) ? 0 : -EINVAL;
	case MEMTAP_ATTACH_UPROBE:
		g->hook.ops = &uprobe_ops;
		g->hook.way = ret ? MEMTAP_WAY_URETPROBE : MEMTAP_WAY_UPROBE;
		return 0;
	case MEMTAP_ATTACH_HEAP:
		g->hook.ops = &uprobe_ops;
		g->hook.way = memtap_heap_returns(a->op) ? MEMTAP_WAY_URETPROBE :
							   MEMTAP_WAY_UPROBE;
		return 0;
	default:
		return -EINVAL;
	}
}

static struct memtap_hook *new_hook(struct memtap_session *s,
				    const struct memtap_attach *a,
				    struct file *file, enum memtap_steps_read args)
{
	struct generic_hook *g;
	int err;

	g = kzalloc(sizeof(*g), MEMTAP_GFP);
	if (!g)
		return ERR_PTR(-ENOMEM);
	g->refs = 1;
	g->kind = a->kind;
	g->flags = a->flags;
	g->args = args;
	g->offset = a->offset;
	g->config = a->config;
	if (a->kind == MEMTAP_ATTACH_PERF) {
		g->period = a->ref_ctr;
		g->freq = a->op;
	}
	g->hold_ms = a->hold_ms;
	g->event = a->event;
	if (a->kind == MEMTAP_ATTACH_HEAP)
		memtap_heap_probe(&g->heap, s, a);
	memcpy(g->name, a->name, sizeof(g->name));
	err = set_up(g, a);
	if (err)
		goto err_free;
	name_target(g, file);
	err = memtap_hook_add(&g->hook, g->name);
	if (err)
		goto err_free;
	if (file)
		err = register_uprobe(g, a, s, file);
	if (err)
		goto err_remove;
	return &g->hook;

err_remove:
	memtap_hook_remove(&g->hook);
err_free:
	kfree(g);
	return ERR_PTR(err);
}

static struct generic_hook *find_shared(const struct memtap_attach *a,
					enum memtap_steps_read args)
{
	struct generic_hook *g;

	list_for_each_entry(g, &generics, node)
		if (!g->session && g->kind == a->kind && g->flags == a->flags &&
		    g->offset == a->offset && g->args == args && !strcmp(g->name, a->name) &&
		    (g->kind != MEMTAP_ATTACH_PERF ||
		     (g->config == a->config && g->period == a->ref_ctr && g->freq == a->op)))
			return g;
	return NULL;
}

/* Not under the lock: registering a probe in user space may take long. */
static struct memtap_hook *get_private(struct memtap_session *s,
				       const struct memtap_attach *a,
				       struct file *file, enum memtap_steps_read args)
{
	struct memtap_hook *h = new_hook(s, a, file, args);

	if (IS_ERR(h))
		return h;
	mutex_lock(&generics_lock);
	list_add(&to_generic(h)->node, &generics);
	mutex_unlock(&generics_lock);
	return h;
}

static struct memtap_hook *get_shared(const struct memtap_attach *a,
				      enum memtap_steps_read args)
{
	struct generic_hook *g;
	struct memtap_hook *h;

	mutex_lock(&generics_lock);
	g = find_shared(a, args);
	if (g) {
		g->refs++;
		h = &g->hook;
	} else {
		h = new_hook(NULL, a, NULL, args);
		if (!IS_ERR(h))
			list_add(&to_generic(h)->node, &generics);
	}
	mutex_unlock(&generics_lock);
	return h;
}

struct memtap_hook *memtap_generic_get(struct memtap_session *s,
				       const struct memtap_attach *a,
				       struct file *file, enum memtap_steps_read args)
{
	return file ? get_private(s, a, file, args) : get_shared(a, args);
}

void memtap_generic_put(struct memtap_hook *h)
{
	struct generic_hook *g = to_generic(h);
	bool last;

	mutex_lock(&generics_lock);
	last = !--g->refs;
	if (last)
		list_del(&g->node);
	mutex_unlock(&generics_lock);
	if (!last)
		return;
	if (g->stays)
		return;
	if (h->ops->destroy)
		h->ops->destroy(h);
	memtap_hook_remove(h);
	kfree(g);
}
