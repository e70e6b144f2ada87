// SPDX-License-Identifier: GPL-2.0-only
/* ATTACH: attach hooks for a session, and at START the hooks of its built-in events. */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/steps.h"
#include "record/args.h"
#include "live/live.h"
#include "live/objects.h"
#include "session/int.h"

#include "compat/task.h"
#include "compat/valloc.h"

/* Of events that have none, where each has to be done step by step: rings. */
static struct steps no_steps;

/* --- steps ---------------------------------------------------------------- */

/* What a record has is the kernel's, as what is read at functions. */
static int check_steps(struct memtap_session *s, const struct memtap_attach *a,
		       struct steps *steps)
{
	if (!steps)
		return 0;
	if (a->kind == MEMTAP_ATTACH_HEAP || (a->flags & MEMTAP_ATTACH_HOLD))
		return -EINVAL;
	if ((a->kind == MEMTAP_ATTACH_TRACEPOINT || a->kind == MEMTAP_ATTACH_PAIR) &&
	    memtap_kprobes_locked_down())
		return -EPERM;
	if ((steps->by_slot || steps->by_mask) && (s->flags & MEMTAP_CFG_ADDR))
		return -EINVAL;
	return steps_check(steps, steps_can(a)) ? 0 : -EINVAL;
}

static u64 room_bytes(u32 size)
{
	return size ? MEMTAP_PAIR_SLOTS * (u64)(size + sizeof(struct pair)) : 0;
}

/* From now on entries keep @size bytes: the one place where that is charged, and given back. */
static void set_room(struct memtap_session *s, u32 size)
{
	WRITE_ONCE(s->mem_total,
		   s->mem_total - room_bytes(s->arg_pairs.data_size) + room_bytes(size));
	s->arg_pairs.data_size = size;
}

/* Room for what entries keep, where the budget has it. */
static int make_room(struct memtap_session *s, const struct memtap_attach *a,
		     const struct steps *steps)
{
	u32 old = s->arg_pairs.data_size, size;

	if (!(a->flags & MEMTAP_ATTACH_RETURN) && a->kind != MEMTAP_ATTACH_PAIR)
		return 0;
	size = memtap_args_kept_size(steps);
	if (size <= old)
		return 0;
	if (s->mem_total + memtap_heap_grown(s) + room_bytes(size) - room_bytes(old) >
	    READ_ONCE(memtap_max_mem))
		return -EDQUOT;
	set_room(s, size);
	return 0;
}

/* What the events need that are there: one that did not come, or went again, needs none. */
static void fit_room(struct memtap_session *s)
{
	const struct memtap_session_event *e;
	u32 i, size = 0;

	if (s->state != MEMTAP_CONFIGURED)
		return;
	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		if (e->steps && (e->pair || (e->flags & MEMTAP_ATTACH_RETURN)))
			size = max(size, memtap_args_kept_size(e->steps));
	}
	set_room(s, size);
}

/* Of steps @from .. @to at a tracepoint. */
static enum memtap_steps_read steps_read(const struct steps *steps, u32 from, u32 to)
{
	for (; from < to; from++)
		switch (steps->at[from].op) {
		case MEMTAP_STEP_FIELD:
		case MEMTAP_STEP_FIELD_TEXT:
		case MEMTAP_STEP_FIELD_LOC:
			return MEMTAP_STEPS_RECORD;
		default:
			break;
		}
	return MEMTAP_STEPS_FACTS;
}

static void free_steps(struct steps *steps)
{
	if (steps != &no_steps)
		kfree(steps);
}

bool memtap_session_has_builtin_steps(const struct memtap_session *s)
{
	u32 i;

	for (i = 0; i < MEMTAP_MAX_BUILTINS; i++)
		if (s->builtin_steps[i])
			return true;
	return false;
}

void memtap_session_free_events(struct memtap_session *s)
{
	u32 i;

	for (i = 0; i < MEMTAP_MAX_EVENTS && s->events[i]; i++) {
		if (!s->events[i]->builtin)
			free_steps(s->events[i]->steps);
		kfree(s->events[i]);
		s->events[i] = NULL;
	}
	for (i = 0; i < MEMTAP_MAX_BUILTINS; i++) {
		kfree(s->builtin_steps[i]);
		s->builtin_steps[i] = NULL;
	}
}

/* --- attaching ------------------------------------------------------------ */

/* "A:B..C:D" : where ".." is, if that is all there is to it, and they differ. */
static const char *pair_dots(const char *name)
{
	const char *dots = strstr(name, "..");

	if (!dots || dots == name || !dots[2] || strstr(dots + 2, "..") ||
	    (strlen(dots + 2) == dots - name && !strncmp(name, dots + 2, dots - name)))
		return NULL;
	return dots;
}

static bool marks_can(const struct memtap_session *s, const struct memtap_attach *a)
{
	return (s->heap || s->objects) && a->kind != MEMTAP_ATTACH_BUILTIN && !a->nr_steps &&
	       !(a->flags & (MEMTAP_ATTACH_RETURN | MEMTAP_ATTACH_HOLD));
}

static int check_attach(const struct memtap_session *s, const struct memtap_attach *a)
{
	const u32 known = MEMTAP_ATTACH_RETURN | MEMTAP_ATTACH_ENTRY |
			  MEMTAP_ATTACH_HOLD | MEMTAP_ATTACH_FREE_STACK |
			  MEMTAP_ATTACH_ONCE | MEMTAP_ATTACH_MARK;
	bool heap = a->kind == MEMTAP_ATTACH_HEAP;
	/* a dynamic linker that was not known before is one of another root */
	bool late = heap || (s->heap && a->flags & MEMTAP_ATTACH_HOLD);

	if (s->state != MEMTAP_CONFIGURED && !(late && s->state == MEMTAP_RUNNING))
		return -EBUSY;
	if (a->flags & ~known)
		return -EOPNOTSUPP;
	if (!memchr(a->name, 0, sizeof(a->name)))
		return -EINVAL;
	if (heap)
		return memtap_heap_check(s, a);
	if ((a->op && a->kind != MEMTAP_ATTACH_PERF) || a->family || a->size_arg ||
	    a->size2_arg || a->ptr_arg || a->result_arg || a->moved ||
	    (a->flags & (MEMTAP_ATTACH_FREE_STACK | MEMTAP_ATTACH_ONCE)))
		return -EINVAL;
	if (a->kind == MEMTAP_ATTACH_PAIR ?
	    a->flags || a->offset || a->ref_ctr || a->fd || !pair_dots(a->name) :
	    a->end_config != 0)
		return -EINVAL;
	if (a->kind == MEMTAP_ATTACH_PERF && a->fd)
		return -EINVAL;
	if ((a->flags & MEMTAP_ATTACH_MARK) && !marks_can(s, a))
		return -EINVAL;
	if (a->kind == MEMTAP_ATTACH_KPROBE && memtap_kprobes_locked_down())
		return -EPERM;
	if (!(a->flags & MEMTAP_ATTACH_HOLD))
		return a->hold_ms ? -EINVAL : 0;
	return a->kind == MEMTAP_ATTACH_UPROBE && !(a->flags & MEMTAP_ATTACH_RETURN) &&
	       a->hold_ms >= 1 && a->hold_ms <= 60000 ? 0 : -EINVAL;
}

/* Room for @nr events in all; what it takes on each CPU is charged. */
static int make_events_room(struct memtap_session *s, u32 nr)
{
	u64 more;

	if (nr <= s->room_events)
		return 0;
	if (nr > MEMTAP_MAX_EVENTS || s->flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS))
		return -ENOSPC;
	more = (nr - s->room_events) * (sizeof(struct memtap_session_event) +
	       (u64)num_possible_cpus() * sizeof(struct memtap_cpu_event));
	if (s->mem_total + more > READ_ONCE(memtap_max_mem))
		return -EDQUOT;
	WRITE_ONCE(s->mem_total, s->mem_total + more);
	s->room_events = nr;
	return 0;
}

/* Number @nr, empty; NULL: no memory. */
static struct memtap_session_event *make_event(struct memtap_session *s, u32 nr)
{
	struct memtap_session_event *e = s->events[nr];

	if (e) {
		memset(e, 0, sizeof(*e));
		return e;
	}
	e = kzalloc(sizeof(*e), MEMTAP_GFP_CHARGED);
	s->events[nr] = e;
	return e;
}

/* Probes of allocators with the same name are one event. */
static int find_heap_event(const struct memtap_session *s, struct memtap_attach *a)
{
	u32 i;

	for (i = 0; i < s->nr_events; i++) {
		if (!s->events[i]->heap || strcmp(s->events[i]->name, a->name))
			continue;
		if (s->heap->events[i].family != a->family)
			return -EINVAL;
		break;
	}
	a->event = i;
	return 0;
}

/* What the probes' handlers need is there before the first of them stands. */
static int new_event(struct memtap_session *s, struct memtap_attach *a)
{
	struct memtap_session_event *e;
	int err;

	a->event = s->nr_events;
	if (a->kind == MEMTAP_ATTACH_HEAP) {
		err = find_heap_event(s, a);
		if (err || a->event < s->nr_events)
			return err;
	}
	/* the built-in ones join at START */
	err = make_events_room(s, s->nr_events + 1 + (s->state == MEMTAP_RUNNING ? 0 :
						       hweight64(s->builtin_events)));
	if (err)
		return err;
	e = make_event(s, a->event);
	if (!e)
		return -ENOMEM;
	memcpy(e->name, a->name, sizeof(e->name));
	e->flags = a->flags & (MEMTAP_ATTACH_RETURN | MEMTAP_ATTACH_ENTRY | MEMTAP_ATTACH_MARK);
	/* what did not come to its end is accounted for as returns are */
	e->pair = a->kind == MEMTAP_ATTACH_PAIR;
	e->heap = a->kind == MEMTAP_ATTACH_HEAP;
	if (a->kind == MEMTAP_ATTACH_PERF)
		e->unit = a->offset == PERF_TYPE_SOFTWARE && a->config <= PERF_COUNT_SW_TASK_CLOCK ?
			  MEMTAP_UNIT_NS : MEMTAP_UNIT_NUMBER;
	if (s->heap)
		memtap_heap_event(s->heap, a->event, e->heap ? a->op : 0, a->family);
	return 0;
}

static int join_attached(struct memtap_session *s, struct memtap_hook *h,
			 const struct memtap_attach *a, enum memtap_listens how)
{
	struct memtap_session_event *e = s->events[a->event];
	int err;

	err = memtap_hook_join(h, s, a->event, s->depth, how);
	if (err)
		return err;
	if (e->heap) {
		err = memtap_probes_add(s, h, a->event);
		if (err)
			memtap_hook_leave(h, s);
		return err;
	}
	e->hooks[e->nr_hooks++] = h;
	return 0;
}

/* Leaves and puts a hook that was joined, or whose joining failed. */
static void put_hook(struct memtap_session *s, struct memtap_hook *h, bool joined)
{
	if (joined)
		memtap_hook_leave(h, s);
	/* some of its counters may have been there, and be in their handler */
	synchronize_rcu();
	memtap_generic_put(h);
}

static struct memtap_hook *get_and_join(struct memtap_session *s, const struct memtap_attach *a,
					struct file *file, enum memtap_steps_read args,
					enum memtap_listens how)
{
	struct memtap_hook *h = memtap_generic_get(s, a, file, args);
	int err;

	if (IS_ERR(h))
		return h;
	err = join_attached(s, h, a, how);
	if (!err)
		return h;
	put_hook(s, h, false);
	return ERR_PTR(err);
}

/* --- begin and end -------------------------------------------------------- */

static noinline struct memtap_hook *join_half(struct memtap_session *s,
					      const struct memtap_attach *pair,
					      const struct steps *steps, bool end)
{
	const char *dots = pair_dots(pair->name);
	struct memtap_attach half;

	memset(&half, 0, sizeof(half));
	half.kind = MEMTAP_ATTACH_TRACEPOINT;
	half.event = pair->event;
	half.config = end ? pair->end_config : pair->config;
	if (end)
		strscpy(half.name, dots + 2, sizeof(half.name));
	else
		memcpy(half.name, pair->name, dots - pair->name);
	return get_and_join(s, &half, NULL,
			    end ? steps_read(steps, steps->nr_entry, steps->nr) :
				  steps_read(steps, 0, steps->nr_entry),
			    end ? MEMTAP_COUNTS_END : MEMTAP_COUNTS_BEGIN);
}

static struct memtap_hook *join_pair(struct memtap_session *s, const struct memtap_attach *a,
				     const struct steps *steps)
{
	struct memtap_session_event *e = s->events[a->event];
	struct memtap_hook *end = join_half(s, a, steps, true), *begin;

	if (IS_ERR(end))
		return end;
	begin = join_half(s, a, steps, false);
	if (IS_ERR(begin)) {
		put_hook(s, end, true);
		e->nr_hooks = 0;
	}
	return begin;
}

/* It joins at START. */
static int attach_builtin(struct memtap_session *s, const struct memtap_attach *a,
			  struct steps *steps)
{
	u32 i;
	int err;

	if (!steps || s->heap || s->objects || (s->flags & MEMTAP_CFG_TOUCHED) || a->flags ||
	    a->offset || a->config || a->ref_ctr || a->fd)
		return -EINVAL;
	for (i = 0; i < memtap_nr_builtins; i++)
		if (!strcmp(memtap_builtins[i]->name, a->name))
			break;
	if (i == memtap_nr_builtins)
		return -ENOENT;
	if (s->builtin_events & 1ULL << i)
		return -EEXIST;
	err = make_events_room(s, s->nr_events + 1 + hweight64(s->builtin_events));
	if (err)
		return err;
	s->builtin_events |= 1ULL << i;
	s->builtin_steps[i] = steps;
	return 0;
}

static int attach(struct memtap_session *s, struct memtap_attach *a, struct steps *steps)
{
	bool user = a->kind == MEMTAP_ATTACH_UPROBE || a->kind == MEMTAP_ATTACH_HEAP;
	bool pair = a->kind == MEMTAP_ATTACH_PAIR;
	enum memtap_steps_read args = MEMTAP_STEPS_NONE;
	enum memtap_listens how = MEMTAP_COUNTS;
	struct file *file = NULL;
	struct memtap_hook *h;
	int err;

	err = check_attach(s, a);
	if (!err)
		err = check_steps(s, a, steps);
	if (!err && a->kind == MEMTAP_ATTACH_BUILTIN)
		return attach_builtin(s, a, steps);
	if (!steps && (pair || (s->flags & MEMTAP_CFG_RING)))
		steps = &no_steps;
	if (a->flags & MEMTAP_ATTACH_MARK)
		how = MEMTAP_MARKS;
	if (steps)
		args = a->kind == MEMTAP_ATTACH_TRACEPOINT ? steps_read(steps, 0, steps->nr) :
							     MEMTAP_STEPS_RECORD;
	if (!err && args)
		err = make_room(s, a, steps);
	if (!err)
		err = new_event(s, a);
	if (err)
		return err;
	if (user) {
		file = fget(a->fd);
		if (!file)
			return -EBADF;
	}
	h = pair ? join_pair(s, a, steps) :
	    get_and_join(s, a, file, args, args ? MEMTAP_COUNTS_STEPS : how);
	if (file)
		fput(file);
	if (IS_ERR(h))
		return PTR_ERR(h);
	if (a->kind == MEMTAP_ATTACH_HEAP && s->state == MEMTAP_RUNNING)
		memtap_heap_late(s);
	if (args)
		s->events[a->event]->steps = steps;
	s->events[a->event]->way = h->way;
	a->way = h->way;
	if (a->event == s->nr_events)
		smp_store_release(&s->nr_events, s->nr_events + 1);
	return 0;
}

int memtap_session_attach(struct memtap_session *s, struct memtap_attach *a,
			  struct steps *steps)
{
	int err = attach(s, a, steps);

	if (err)
		fit_room(s);
	return err;
}

static void detach_builtin(struct memtap_session *s, const struct memtap_attach *a)
{
	u32 i;

	for (i = 0; i < memtap_nr_builtins; i++) {
		if (strcmp(memtap_builtins[i]->name, a->name))
			continue;
		s->builtin_events &= ~(1ULL << i);
		kfree(s->builtin_steps[i]);
		s->builtin_steps[i] = NULL;
	}
}

/* The last one, whose caller could not be told of it. */
void memtap_session_detach(struct memtap_session *s, const struct memtap_attach *a)
{
	struct memtap_session_event *e = s->events[a->event];
	struct memtap_hook *h;
	u32 j;

	if (a->kind == MEMTAP_ATTACH_BUILTIN) {
		detach_builtin(s, a);
		return;
	}
	for (j = 0; !e->heap && j < e->nr_hooks; j++)
		put_hook(s, e->hooks[j], true);
	if (e->heap) {
		h = memtap_probes_last(s);
		put_hook(s, h, true);
		if (memtap_probes_drop_last(s) || s->state == MEMTAP_RUNNING)
			return;
	}
	e->nr_hooks = 0;
	free_steps(e->steps);
	e->steps = NULL;
	WRITE_ONCE(s->nr_events, s->nr_events - 1);
	fit_room(s);
}

static enum memtap_listens listens(const struct memtap_session *s, const struct memtap_builtin *b,
				   const struct steps *steps)
{
	if (s->heap && b->follows)
		return MEMTAP_FOLLOWS_MAPS;
	if (s->objects && b->objects)
		return MEMTAP_FOLLOWS_OBJECTS;
	/* mremap(): no other does so */
	if ((s->flags & MEMTAP_CFG_TOUCHED) && b->maps == MEMTAP_HEAP_REALLOC)
		return MEMTAP_FOLLOWS_MOVES;
	return steps ? MEMTAP_COUNTS_STEPS : MEMTAP_COUNTS;
}

/*
 * One hook of several is enough: a 32-bit ABI may be absent.  But none may be
 * missing for lack of memory.
 */
static int join_builtin(struct memtap_session *s, const struct memtap_builtin *b,
			struct steps *steps)
{
	const enum memtap_listens how = listens(s, b, steps);
	struct memtap_session_event *e = make_event(s, s->nr_events);
	int err = 0, first = 0;
	u32 i;

	if (!e)
		return -ENOMEM;
	e->steps = steps;
	if (s->heap)
		memtap_heap_event(s->heap, s->nr_events, b->maps, MEMTAP_FAMILY_MMAP);
	if (s->objects)
		s->objects->op[s->nr_events] = b->objects;
	strscpy(e->name, b->name, sizeof(e->name));
	e->builtin = b;
	for (i = 0; err != -ENOMEM && i < b->nr_hooks; i++) {
		err = memtap_hook_join(b->hooks[i], s, s->nr_events, s->depth, how);
		if (!err)
			e->hooks[e->nr_hooks++] = b->hooks[i];
		else if (!first)
			first = err;
	}
	if (!e->nr_hooks)
		return first ? first : -ENOENT;
	e->way = e->hooks[0]->way;
	smp_store_release(&s->nr_events, s->nr_events + 1);
	return err == -ENOMEM ? err : 0;
}

/*
 * The recorder counts what this kernel has of what it is asked for: there is nobody who
 * would ask for less.  What it follows must be whole.
 */
static bool can_do_without(const struct memtap_session *s, int err)
{
	return s->recorder && !s->objects && (err == -ENOENT || err == -EOPNOTSUPP);
}

int memtap_session_join_builtins(struct memtap_session *s)
{
	struct steps *none = s->flags & MEMTAP_CFG_RING ? &no_steps : NULL;
	int err = 0, without = 0;
	u32 i;

	for (i = 0; !err && i < memtap_nr_builtins; i++) {
		if (!(s->builtin_events & (1ULL << i)))
			continue;
		err = join_builtin(s, memtap_builtins[i], s->builtin_steps[i] ?
				   s->builtin_steps[i] : none);
		if (!err || !can_do_without(s, err))
			continue;
		pr_notice("watch: this kernel has nothing to hook for %s\n",
			  memtap_builtins[i]->name);
		without = err;
		err = 0;
	}
	return err || s->nr_events ? err : without;
}

void memtap_session_leave_builtins(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 j;

	while (s->nr_events && s->events[s->nr_events - 1]->builtin) {
		WRITE_ONCE(s->nr_events, s->nr_events - 1);
		e = s->events[s->nr_events];
		for (j = 0; j < e->nr_hooks; j++)
			memtap_hook_leave(e->hooks[j], s);
		e->nr_hooks = 0;
	}
}

/* All that could serve the event, also those that could not be attached. */
void memtap_session_keep_hooks(struct memtap_session_event *e)
{
	struct memtap_hook *const *hooks;
	u32 j;

	if (e->heap)
		return;

	hooks = e->builtin ? e->builtin->hooks : e->hooks;
	e->nr_kept = e->builtin ? e->builtin->nr_hooks : e->nr_hooks;
	for (j = 0; j < e->nr_kept; j++)
		memtap_hook_describe(hooks[j], &e->kept[j]);
}

void memtap_session_hooks(struct memtap_session *s, u32 event)
{
	if (s->state == MEMTAP_RUNNING)
		memtap_session_keep_hooks(s->events[event]);
}

/* --- taking away --------------------------------------------------------- */

static void leave_hooks(struct memtap_session *s)
{
	struct memtap_hook *hs[MEMTAP_HOOKS_AT_ONCE];
	struct memtap_session_event *e;
	u32 i, j, n = 0;

	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; j < e->nr_hooks; j++) {
			hs[n++] = e->hooks[j];
			if (n < MEMTAP_HOOKS_AT_ONCE)
				continue;
			memtap_hooks_leave(hs, n, s);
			n = 0;
			cond_resched();
		}
	}
	memtap_hooks_leave(hs, n, s);
	memtap_probes_leave(s);
}

static void withdraw_hooks(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; !e->builtin && j < e->nr_hooks; j++)
			memtap_generic_withdraw(e->hooks[j]);
	}
	memtap_probes_withdraw(s);
	memtap_generic_sync();
}

void memtap_session_put_hooks(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	if (!s->nr_events)
		return;
	leave_hooks(s);
	/* handlers that began before may still know the session */
	synchronize_rcu();
	withdraw_hooks(s);
	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; !e->builtin && j < e->nr_hooks; j++)
			memtap_generic_put(e->hooks[j]);
		e->nr_hooks = 0;
	}
	memtap_probes_put(s);
}
