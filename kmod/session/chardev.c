// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memtap: the only place that touches user memory.  One table says how
 * each command's structure is copied, and which right the command needs; the
 * handlers see kernel memory.
 *
 * Each call checks the rights of its caller, not of the process that opened the
 * device.  A descriptor that was passed on, or inherited by a program that
 * dropped its rights, gives nobody more than he has.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>

#include "hooks/oom.h"
#include "session/chardev.h"
#include "live/live.h"
#include "live/marks.h"
#include "live/objects.h"
#include "record/rows.h"
#include "record/touched.h"
#include "session/notices.h"
#include "session/rights.h"
#include "session/session.h"
#include "session/stream.h"
#include "record/tables.h"
#include "core/steps.h"
#include "core/version.h"

#include "compat/death.h"
#include "compat/task.h"
#include "compat/uprobe.h"
#include "compat/tracepoint.h"
#include "compat/valloc.h"

union memtap_arg {
	__u32 size;
	struct memtap_info info;
	struct memtap_event_info event;
	struct memtap_hook_state hook;
	struct memtap_config config;
	struct memtap_attach attach;
	struct memtap_run run;
	struct memtap_stats stats;
	struct memtap_table table;
	struct memtap_wanted wanted;
	struct memtap_trace trace;
	struct memtap_held held;
	struct memtap_events events;
	struct memtap_oom oom;
	struct memtap_field field;
	struct memtap_objects objects;
	struct memtap_similar similar;
	struct memtap_symbol symbol;
	struct memtap_ages ages;
	struct memtap_mark mark;
	struct memtap_notice notice;
	struct memtap_other other;
	struct memtap_recorded recorded;
};

struct memtap_ioctl {
	unsigned int cmd;
	u32 min_size;		/* as first released: never changes */
	u32 size;
	enum memtap_right right;
	int (*run)(struct memtap_session *s, union memtap_arg *arg);
	/* it was done; not told, its result cannot be copied: as if it had not been */
	void (*end)(struct memtap_session *s, union memtap_arg *arg, bool told);
	bool in_only;
};

static u64 cgroup_features(void)
{
	u64 features = 0, id;

	rcu_read_lock();
	if (memtap_task_cgroups(current, 0, &id, 1))
		features |= MEMTAP_FEATURE_CGROUP1;
	if (memtap_task_cgroups(current, 1, &id, 1))
		features |= MEMTAP_FEATURE_CGROUP2;
	rcu_read_unlock();
	return features;
}

static int run_info(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_info *i = &arg->info;
	int rows = memtap_rows_supported();

	if (i->flags)
		return -EOPNOTSUPP;
	if (rows == -ENOMEM)
		return rows;
	i->features = 0;
	if (memtap_uprobe_has_refctr())
		i->features |= MEMTAP_FEATURE_UREFCTR;
	if (MEMTAP_TP_ANY_OK)
		i->features |= MEMTAP_FEATURE_TP_PROBE;
	if (!rows)
		i->features |= MEMTAP_FEATURE_ROWS;
	i->features |= cgroup_features();
	i->nr_events = memtap_nr_builtins;
	i->nr_hooks = memtap_nr_hooks();
	i->max_depth = MEMTAP_MAX_DEPTH;
	i->nr_cpus = num_possible_cpus();
	i->max_mem = READ_ONCE(memtap_max_mem);
	memtap_session_defaults(&i->mem_stacks, &i->mem_counters, &i->mem_tasks);
	i->nr_sessions = memtap_nr_sessions();
	i->reserved = 0;
	memset(i->version, 0, sizeof(i->version));
	memset(i->release, 0, sizeof(i->release));
	strscpy(i->version, MEMTAP_VERSION, sizeof(i->version));
	strscpy(i->release, init_utsname()->release, sizeof(i->release));
	i->features |= MEMTAP_FEATURE_LIVE | MEMTAP_FEATURE_NOT_SELF |
		       MEMTAP_FEATURE_FILES | MEMTAP_FEATURE_STEPS |
		       MEMTAP_FEATURE_PAIRS | MEMTAP_FEATURE_ONCE | MEMTAP_FEATURE_FIELDS |
		       MEMTAP_FEATURE_MAPPINGS | MEMTAP_FEATURE_CALLS |
		       MEMTAP_FEATURE_OBJECTS | MEMTAP_FEATURE_PAGES |
		       MEMTAP_FEATURE_WASTE |
		       MEMTAP_FEATURE_TOUCHED | MEMTAP_FEATURE_OBJECT_CALLS |
		       MEMTAP_FEATURE_AGES | MEMTAP_FEATURE_MARKS |
		       MEMTAP_FEATURE_EXPRESSIONS | MEMTAP_FEATURE_PEAK;
	if (memtap_uprobe_emulates_push())
		i->features |= MEMTAP_FEATURE_PUSH;
	if (memtap_uretprobe_is_syscall())
		i->features |= MEMTAP_FEATURE_URET_SYSCALL;
	if (memtap_uprobe_knows_32())
		i->features |= MEMTAP_FEATURE_UPROBE32;
	if (memtap_deaths_possible())
		i->features |= MEMTAP_FEATURE_DEATHS | MEMTAP_FEATURE_EXECS;
	if (memtap_oom_works())
		i->features |= MEMTAP_FEATURE_OOM | MEMTAP_FEATURE_OOM_STACK;
	if (!memtap_may(MEMTAP_MAY_READ))
		i->features |= MEMTAP_FEATURE_ONLY_COUNT;
	i->mem_unwind = MEMTAP_DEFAULT_UNWIND;
	i->mem_live = MEMTAP_DEFAULT_LIVE;
	i->mem_objects = MEMTAP_DEFAULT_OBJECTS;
	i->mem_touched = MEMTAP_DEFAULT_TOUCHED;
	return 0;
}

static int run_event(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_event_info *e = &arg->event;
	const struct memtap_builtin *b;

	if (e->id >= memtap_nr_builtins)
		return -ENOENT;
	b = memtap_builtins[e->id];
	e->unit = b->unit;
	e->nr_hooks = b->nr_hooks;
	memset(e->group, 0, sizeof(e->group));
	memset(e->name, 0, sizeof(e->name));
	memset(e->summary, 0, sizeof(e->summary));
	strscpy(e->group, b->group, sizeof(e->group));
	strscpy(e->name, b->name, sizeof(e->name));
	strscpy(e->summary, b->summary, sizeof(e->summary));
	return 0;
}

static int run_field(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_field *f = &arg->field;
	const struct memtap_builtin_field *at;
	u32 i;

	if (f->reserved)
		return -EINVAL;
	if (f->event >= memtap_nr_builtins)
		return -ENOENT;
	at = memtap_builtins[f->event]->fields;
	for (i = 0; at && at->name && i < f->index; i++)
		at++;
	if (!at || !at->name)
		return -ENOENT;
	f->offset = at->offset;
	f->len = at->len;
	f->type = at->type;
	f->flags = at->flags;
	memset(f->name, 0, sizeof(f->name));
	strscpy(f->name, at->name, sizeof(f->name));
	return 0;
}

static int run_hook(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_hook_info(&arg->hook);
}

static int run_configure(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_config *c = &arg->config;
	const enum memtap_right right = memtap_config_right(c);
	struct memtap_filter_item *items = NULL;
	size_t len;
	int err;

	if (!memtap_may(right))
		return -EPERM;
	if (c->filter_nr > MEMTAP_MAX_FILTERS)
		return -EINVAL;
	len = c->filter_nr * sizeof(*items);
	if (len) {
		items = memtap_vzalloc(len);
		if (!items)
			return -ENOMEM;
		err = -EFAULT;
		if (copy_from_user(items, u64_to_user_ptr(c->filter_ptr), len))
			goto out;
	}
	err = memtap_session_configure(s, c, items);
	if (!err)
		WRITE_ONCE(s->right, right);
out:
	memtap_vfree(items);
	return err;
}

static void end_configure(struct memtap_session *s, union memtap_arg *arg, bool told)
{
	if (!told)
		s->state = MEMTAP_NEW;
}

static int copy_steps(struct steps *st, const struct memtap_attach *a)
{
	st->nr = a->nr_steps;
	st->nr_entry = a->nr_entry;
	st->nr_shown = a->nr_shown;
	st->value_slot = a->value_slot;
	st->by_slot = a->by_slot;
	st->by_mask = a->by_mask;
	st->text_max = a->text_max;
	st->texts_len = a->texts_len;
	st->value_unit = a->value_unit;
	if (copy_from_user(st->at, u64_to_user_ptr(a->steps_ptr), st->nr * sizeof(st->at[0])) ||
	    copy_from_user(st->texts, u64_to_user_ptr(a->texts_ptr), st->texts_len))
		return -EFAULT;
	return 0;
}

static int run_attach(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_attach *a = &arg->attach;
	enum memtap_right right;
	struct steps *st = NULL;
	int err = 0;

	if (a->nr_steps > MEMTAP_MAX_STEPS || a->texts_len > MEMTAP_MAX_TEXTS ||
	    (!a->nr_steps && (a->texts_len || a->nr_entry || a->nr_shown || a->value_slot ||
			      a->value_unit || a->by_slot || a->by_mask || a->text_max)))
		return -EINVAL;
	if (a->nr_steps) {
		st = kzalloc(sizeof(*st), MEMTAP_GFP_CHARGED);
		if (!st)
			return -ENOMEM;
		err = copy_steps(st, a);
	}
	right = memtap_attach_right(a, err ? NULL : st);
	if (!err && !memtap_may(right))
		err = -EPERM;
	if (!err)
		err = memtap_session_attach(s, a, st);
	if (err)
		kfree(st);
	else
		WRITE_ONCE(s->right, max_t(u32, s->right, right));
	return err;
}

static void end_attach(struct memtap_session *s, union memtap_arg *arg, bool told)
{
	if (!told)
		memtap_session_detach(s, &arg->attach);
}

static int run_start(struct memtap_session *s, union memtap_arg *arg)
{
	return arg->run.flags ? -EOPNOTSUPP : memtap_session_start(s);
}

static int run_stop(struct memtap_session *s, union memtap_arg *arg)
{
	return arg->run.flags ? -EOPNOTSUPP : memtap_session_stop(s);
}

static int run_stats(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_session_stats(s, &arg->stats);
}

static int copy_table(struct memtap_shared *sh, const struct memtap_table *a)
{
	if (copy_from_user(memtap_shared_rows(sh), u64_to_user_ptr(a->rows_ptr),
			   a->nr_rows * sizeof(u32)) ||
	    copy_from_user(memtap_shared_kinds(sh), u64_to_user_ptr(a->kinds_ptr),
			   a->nr_rows * sizeof(u16)) ||
	    copy_from_user(memtap_shared_rules(sh), u64_to_user_ptr(a->rules_ptr),
			   a->nr_rules * sizeof(struct memtap_rule)))
		return -EFAULT;
	return 0;
}

static int run_table(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_table *a = &arg->table;
	struct memtap_shared *sh;
	int err;

	err = memtap_rows_check(s, a);
	if (err)
		return err;
	sh = memtap_shared_new(a->nr_rows, a->nr_rules);
	if (!sh)
		return -ENOMEM;
	err = copy_table(sh, a);
	if (err) {
		memtap_shared_free(sh);
		return err;
	}
	return memtap_rows_table(s, a, sh);
}

static void end_table(struct memtap_session *s, union memtap_arg *arg, bool told)
{
	memtap_rows_publish(s, told);
}

static int run_wanted(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_wanted *a = &arg->wanted;
	const char *path;
	size_t len;
	int err;

	err = memtap_rows_wanted(s, a, &path);
	if (err)
		return err;
	len = min_t(size_t, strlen(path), a->path_len - 1);
	if (copy_to_user(u64_to_user_ptr(a->path_ptr), path, len) ||
	    put_user(0, (char __user *)u64_to_user_ptr(a->path_ptr + len)))
		return -EFAULT;
	return 0;
}

static int run_trace(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_session_trace(s, &arg->trace);
}

static int run_events(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_session_events(s, &arg->events);
}

static void end_events(struct memtap_session *s, union memtap_arg *arg, bool told)
{
	if (told)
		memtap_session_events_done(s);
}

static int run_held(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_held(s, &arg->held);
}

static int run_oom(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_oom *a = &arg->oom;
	struct memtap_oom_record *r;
	struct memtap_oom_stack *stack = NULL;
	bool more;
	int err;

	if (a->flags)
		return -EOPNOTSUPP;
	if (a->reserved || a->reserved2 || a->reserved3 || a->record_len < 8 ||
	    (a->stack_len && a->stack_len < 8))
		return -EINVAL;
	if (a->stack_len && !memtap_may(MEMTAP_MAY_READ))
		return -EPERM;
	r = memtap_vzalloc(sizeof(*r));
	if (a->stack_len)
		stack = memtap_vzalloc(sizeof(*stack));
	err = !r || (a->stack_len && !stack) ? -ENOMEM :
	      memtap_oom_next(a->nr, r, stack, &a->lost, &more);
	if (!err && copy_to_user(u64_to_user_ptr(a->record_ptr), r,
				 min_t(u32, a->record_len, sizeof(*r))))
		err = -EFAULT;
	if (!err && stack && copy_to_user(u64_to_user_ptr(a->stack_ptr), stack,
					  min_t(u32, a->stack_len, sizeof(*stack))))
		err = -EFAULT;
	if (!err) {
		a->nr = r->nr;
		a->record_len = sizeof(*r);
		a->stack_len = stack ? sizeof(*stack) : 0;
		a->waiting = more;
	}
	memtap_vfree(stack);
	memtap_vfree(r);
	return err;
}

static void end_oom(struct memtap_session *s, union memtap_arg *arg, bool told)
{
	if (told)
		WRITE_ONCE(s->oom_read, arg->oom.nr);
}

static int run_objects(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_objects_choose(s, &arg->objects);
}

static int run_similar(struct memtap_session *s, union memtap_arg *arg)
{
	if (memtap_kprobes_locked_down())
		return -EPERM;
	return arg->similar.reserved ? -EINVAL : memtap_objects_similar(s, &arg->similar);
}

static int run_symbol(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_symbol *a = &arg->symbol;
	char *name;

	if (a->reserved)
		return -EINVAL;
	name = kmalloc(KSYM_SYMBOL_LEN, MEMTAP_GFP_CHARGED);
	if (!name)
		return -ENOMEM;
	sprint_symbol(name, a->addr);
	memset(a->text, 0, sizeof(a->text));
	/* what has no name is printed as a number */
	if (strncmp(name, "0x", 2))
		strscpy(a->text, name, sizeof(a->text));
	kfree(name);
	return 0;
}

static int run_ages(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_ages *a = &arg->ages;
	struct memtap_ages_region *to;
	int err;

	if (a->flags & ~MEMTAP_AGES_FLUSH)
		return -EOPNOTSUPP;
	if (a->flags)
		return a->pid || a->nr || a->page || a->regions_ptr ? -EINVAL :
		       memtap_ages_flush();
	if (!a->nr || a->nr > MEMTAP_MAX_AGES)
		return -EINVAL;
	to = kmalloc_array(a->nr, sizeof(*to), MEMTAP_GFP_CHARGED);
	if (!to)
		return -ENOMEM;
	err = memtap_ages_read(a, to);
	if (!err && copy_to_user(u64_to_user_ptr(a->regions_ptr), to, a->nr * sizeof(*to)))
		err = -EFAULT;
	kfree(to);
	return err;
}

struct mark_others {
	struct memtap_session *self;
	struct memtap_mark *arg;
};

/* Under the sessions' lock: it is there as long as this takes. */
static void mark_other(struct memtap_session *s, void *ctx)
{
	const struct mark_others *of = ctx;
	struct memtap_mark *a = of->arg;

	if (s == of->self || s->recorder || !smp_load_acquire(&s->running) ||
	    (a->pid && (!s->filter->has_pids || !pidset_has(&s->mm_pids, a->pid))) ||
	    !memtap_may(READ_ONCE(s->right)))
		return;
	switch (memtap_mark_set(s, a->name, 0)) {
	case 0:
		a->marked++;
		break;
	case -EEXIST:
		a->had++;
		break;
	case -ENOSPC:
		a->full++;
		break;
	}
}

static int run_mark(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_mark *a = &arg->mark;
	struct mark_others of = { s, a };
	int err = 0;

	if (a->flags & ~(MEMTAP_MARK_DRAIN | MEMTAP_MARK_OTHERS | MEMTAP_MARK_EVENT))
		return -EOPNOTSUPP;
	if (!a->name[0] || !memchr(a->name, 0, sizeof(a->name)) || hweight32(a->flags) > 1 ||
	    (a->pid && !(a->flags & MEMTAP_MARK_OTHERS)) || a->reserved ||
	    (a->event && !(a->flags & MEMTAP_MARK_EVENT)))
		return -EINVAL;
	a->marked = 0;
	a->had = 0;
	a->full = 0;
	if (a->flags & MEMTAP_MARK_OTHERS)
		memtap_for_each_session(mark_other, &of);
	else if (a->flags & MEMTAP_MARK_EVENT)
		err = memtap_mark_by_event(s, a->name, a->event);
	else
		err = memtap_mark_set(s, a->name, a->flags);
	if (!err && !(a->flags & MEMTAP_MARK_OTHERS))
		a->marked = 1;
	return err;
}

static int run_notice(struct memtap_session *s, union memtap_arg *arg)
{
	return memtap_notices_get(&arg->notice);
}

static int run_other(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_other *a = &arg->other;
	const u32 room = a->nr_rows;
	struct memtap_other_row *rows = NULL;
	int err;

	if (a->reserved || a->reserved2 || room > MEMTAP_MAX_OTHER_ROWS)
		return -EINVAL;
	if (room) {
		rows = memtap_vzalloc(room * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
	}
	err = memtap_session_other(s, a, rows);
	if (!err && copy_to_user(u64_to_user_ptr(a->rows_ptr), rows,
				 min(room, a->nr_rows) * sizeof(*rows)))
		err = -EFAULT;
	memtap_vfree(rows);
	return err;
}

static int run_recorded(struct memtap_session *s, union memtap_arg *arg)
{
	struct memtap_recorded *a = &arg->recorded;
	const u32 room = a->nr;
	struct memtap_recorded_row *to;
	int err = 0;

	if (a->flags)
		return -EOPNOTSUPP;
	if (!room || room > MEMTAP_MAX_RECORDED || a->reserved)
		return -EINVAL;
	to = memtap_vzalloc(room * sizeof(*to));
	if (!to)
		return -ENOMEM;
	a->now_ns = ktime_get_ns();
	a->nr = memtap_recorded_read(to, room, &err);
	if (!err && copy_to_user(u64_to_user_ptr(a->rows_ptr), to,
				 min(a->nr, room) * sizeof(*to)))
		err = -EFAULT;
	memtap_vfree(to);
	return err;
}

#define IOCTL(_cmd, _right, _run, _struct, _last, ...)			\
	{ _cmd, offsetofend(struct _struct, _last), sizeof(struct _struct),	\
	  MEMTAP_MAY_##_right, _run, __VA_ARGS__ }

static const struct memtap_ioctl ioctls[] = {
	IOCTL(MEMTAP_INFO, COUNT, run_info, memtap_info, release),
	IOCTL(MEMTAP_EVENT, COUNT, run_event, memtap_event_info, summary),
	IOCTL(MEMTAP_HOOK, COUNT, run_hook, memtap_hook_state, target),
	IOCTL(MEMTAP_CONFIGURE, COUNT, run_configure, memtap_config, mem_total, end_configure),
	IOCTL(MEMTAP_ATTACH, COUNT, run_attach, memtap_attach, name, end_attach),
	IOCTL(MEMTAP_START, COUNT, run_start, memtap_run, flags, NULL, true),
	IOCTL(MEMTAP_STOP, COUNT, run_stop, memtap_run, flags, NULL, true),
	IOCTL(MEMTAP_STATS, COUNT, run_stats, memtap_stats, part),
	IOCTL(MEMTAP_TABLE, READ, run_table, memtap_table, bytes, end_table),
	IOCTL(MEMTAP_WANTED, COUNT, run_wanted, memtap_wanted, reserved),
	IOCTL(MEMTAP_TRACE, COUNT, run_trace, memtap_trace, lost, end_events),
	IOCTL(MEMTAP_HELD, READ, run_held, memtap_held, space),
	IOCTL(MEMTAP_EVENTS, COUNT, run_events, memtap_events, safe_ns, end_events),
	IOCTL(MEMTAP_OOM, COUNT, run_oom, memtap_oom, reserved2, end_oom),
	IOCTL(MEMTAP_FIELD, COUNT, run_field, memtap_field, name),
	IOCTL(MEMTAP_OBJECTS, COUNT, run_objects, memtap_objects, cache, NULL, true),
	IOCTL(MEMTAP_SIMILAR, READ, run_similar, memtap_similar, at),
	IOCTL(MEMTAP_SYMBOL, READ, run_symbol, memtap_symbol, text),
	IOCTL(MEMTAP_AGES, READ, run_ages, memtap_ages, regions_ptr),
	IOCTL(MEMTAP_MARK, COUNT, run_mark, memtap_mark, reserved),
	IOCTL(MEMTAP_NOTICE, COUNT, run_notice, memtap_notice, reason),
	IOCTL(MEMTAP_OTHER, COUNT, run_other, memtap_other, reserved2),
	IOCTL(MEMTAP_RECORDED, COUNT, run_recorded, memtap_recorded, now_ns),
};

static const struct memtap_ioctl *find_ioctl(unsigned int cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++)
		if (ioctls[i].cmd == cmd)
			return &ioctls[i];
	return NULL;
}

/* 0, or why not.  What a session has read only those may have who could read it themselves. */
static int lock_session(struct memtap_session *s)
{
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	if (memtap_may(s->right))
		return 0;
	mutex_unlock(&s->lock);
	return -EPERM;
}

static long memtap_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	const struct memtap_ioctl *op = find_ioctl(cmd);
	struct memtap_session *s = file->private_data;
	void __user *up = (void __user *)uarg;
	union memtap_arg arg;
	u32 usize;
	bool done;
	long ret;

	if (!op)
		return -ENOTTY;
	/* the session's may have risen when it is locked: it is asked for again */
	if (!memtap_may(max_t(u32, op->right, READ_ONCE(s->right))))
		return -EPERM;
	if (get_user(usize, (u32 __user *)up))
		return -EFAULT;
	if (usize < op->min_size)
		return -EINVAL;
	if (usize > PAGE_SIZE)
		return -E2BIG;

	memset(&arg, 0, sizeof(arg));
	ret = copy_struct_from_user(&arg, op->size, up, usize);
	if (ret)
		return ret;
	if (arg.size != usize)		/* it changed under our eyes */
		return -EINVAL;
	ret = lock_session(s);
	if (ret)
		return ret;
	ret = op->run(s, &arg);
	done = !ret;
	/* what was refused for its size says how much it would have been */
	if ((!ret || ret == -EDQUOT) && !op->in_only &&
	    copy_to_user(up, &arg, min(usize, op->size)))
		ret = -EFAULT;
	if (done && op->end)
		op->end(s, &arg, !ret);
	mutex_unlock(&s->lock);
	return ret;
}

static ssize_t memtap_read(struct file *file, char __user *buf, size_t count,
			   loff_t *pos)
{
	struct memtap_session *s = file->private_data;
	ssize_t ret;

	ret = lock_session(s);
	if (ret)
		return ret;
	ret = memtap_stream_read(s, buf, count);
	mutex_unlock(&s->lock);
	return ret;
}

/*
 * The hot path wakes nobody; while somebody waits, a tick looks at the totals.
 */
static __poll_t memtap_poll(struct file *file, poll_table *wait)
{
	struct memtap_session *s = file->private_data;
	__poll_t mask = 0;
	u64 counted, lost;

	if (!memtap_may(READ_ONCE(s->right)))
		return EPOLLERR;
	poll_wait(file, &s->wait, wait);
	if (READ_ONCE(s->flags) & MEMTAP_CFG_OOM) {
		poll_wait(file, &memtap_oom_wait, wait);
		if (memtap_oom_is_next(READ_ONCE(s->oom_read)))
			mask |= EPOLLPRI;
	}
	mutex_lock(&s->lock);
	memtap_session_totals(s, &counted, &lost);
	if (counted != s->read_counted)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (lost != s->read_lost || READ_ONCE(s->holds.nr) ||
	    READ_ONCE(s->tasks.nr_wanted) != s->tasks.asked_wanted)
		mask |= EPOLLPRI;
	if (s->state == MEMTAP_STOPPED)
		mask |= EPOLLHUP;
	else if (s->state == MEMTAP_RUNNING)
		schedule_delayed_work(&s->tick, HZ / 10);
	mutex_unlock(&s->lock);
	return mask;
}

static int memtap_open(struct inode *inode, struct file *file)
{
	struct memtap_session *s;

	if (!memtap_may(MEMTAP_MAY_COUNT))
		return -EPERM;
	s = memtap_session_new();
	if (!s)
		return -ENOMEM;
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int memtap_release(struct inode *inode, struct file *file)
{
	memtap_session_free(file->private_data);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = memtap_open,
	.release = memtap_release,
	.read = memtap_read,
	.poll = memtap_poll,
	.unlocked_ioctl = memtap_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = compat_ptr_ioctl,
#endif
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memtap",
	.fops = &fops,
	.mode = 0600,
};

int memtap_chardev_init(void)
{
	return misc_register(&device);
}

void memtap_chardev_exit(void)
{
	misc_deregister(&device);
}
