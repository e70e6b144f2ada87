// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of hooks: each is attached while a session listens to it; sessions share it.
 *
 * hooks_lock protects the list, users and state, and is held while attaching and detaching.  It is
 * taken after a session's lock.  generic.c registers probes in user space without it, because that
 * may wait for the memory of other processes.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "hooks/hooks.h"
#include "record/record.h"

#include "compat/valloc.h"

static LIST_HEAD(hooks);
static DEFINE_MUTEX(hooks_lock);
static u32 nr_hooks;
/* One that never runs: stands where a listener left. */
static struct memtap_session no_session;

int memtap_hook_add(struct memtap_hook *h, const char *event)
{
	h->source.hits = alloc_percpu(u64);
	if (!h->source.hits)
		return -ENOMEM;
	strscpy(h->event, event, sizeof(h->event));
	mutex_lock(&hooks_lock);
	list_add_tail(&h->node, &hooks);
	nr_hooks++;
	mutex_unlock(&hooks_lock);
	return 0;
}

void memtap_hook_remove(struct memtap_hook *h)
{
	if (!h->source.hits)
		return;
	mutex_lock(&hooks_lock);
	list_del(&h->node);
	nr_hooks--;
	mutex_unlock(&hooks_lock);
	free_percpu(h->source.hits);
	h->source.hits = NULL;
}

static struct memtap_listeners *current_listeners(struct memtap_hook *h)
{
	return rcu_dereference_protected(h->source.listeners,
					 lockdep_is_held(&hooks_lock));
}

static void set_listeners(struct memtap_hook *h, struct memtap_listeners *new)
{
	struct memtap_listeners *old = current_listeners(h);
	bool counting = false, steps = false, files = false, touched = false;
	u32 i;

	for (i = 0; new && i < new->nr; i++) {
		counting |= new->at[i].how != MEMTAP_FOLLOWS_OBJECTS;
		steps |= new->at[i].how == MEMTAP_COUNTS_STEPS;
		files |= new->at[i].session->flags & MEMTAP_CFG_FILES;
		touched |= !!(new->at[i].session->flags & MEMTAP_CFG_TOUCHED);
	}
	WRITE_ONCE(h->source.counting, counting);
	WRITE_ONCE(h->source.has_steps, steps);
	WRITE_ONCE(h->source.has_files, files);
	WRITE_ONCE(h->source.has_touched, touched);
	rcu_assign_pointer(h->source.listeners, new);
	if (old)
		kfree_rcu(old, rcu);
}

static struct memtap_listeners *new_listeners(u32 nr)
{
	struct memtap_listeners *ls;

	ls = kzalloc(sizeof(*ls) + nr * sizeof(ls->at[0]), MEMTAP_GFP);
	if (ls)
		ls->nr = nr;
	return ls;
}

/*
 * As deep as those want it who listen now: a stack that is deeper than the default is taken in
 * memory that the last session which wants one has freed when it is gone.
 */
static u32 depth_of(const struct memtap_listeners *ls)
{
	u32 depth = 0, i;

	for (i = 0; i < ls->nr; i++)
		depth = max(depth, ls->at[i].depth);
	return depth;
}

static int add_listener(struct memtap_hook *h, struct memtap_session *session,
			u32 event, u32 depth, enum memtap_listens how)
{
	struct memtap_listeners *old = current_listeners(h);
	u32 nr = old ? old->nr : 0;
	struct memtap_listeners *new = new_listeners(nr + 1);

	if (!new)
		return -ENOMEM;
	if (old)
		memcpy(new->at, old->at, nr * sizeof(old->at[0]));
	new->at[nr].session = session;
	new->at[nr].depth = depth;
	new->at[nr].event = event;
	new->at[nr].how = how;
	new->depth = depth_of(new);
	set_listeners(h, new);
	return 0;
}

/* Not the places of who left when there was no memory. */
static bool stays(const struct memtap_listener *l, const struct memtap_listener *leaves)
{
	return l != leaves && l->session != &no_session;
}

/* The last place of @session: it has one for each event that it joined for. */
static void drop_listener(struct memtap_hook *h, struct memtap_session *session)
{
	struct memtap_listeners *ls = current_listeners(h), *new;
	struct memtap_listener *leaves = NULL;
	u32 i, n = 0;

	for (i = 0; ls && i < ls->nr; i++)
		if (ls->at[i].session == session)
			leaves = &ls->at[i];
	if (!leaves)
		return;
	for (i = 0; i < ls->nr; i++)
		n += stays(&ls->at[i], leaves);
	new = n ? new_listeners(n) : NULL;
	if (n && !new) {
		/* no memory: a listener without a session is never visited */
		leaves->session = &no_session;
		leaves->depth = 0;
		WRITE_ONCE(ls->depth, depth_of(ls));
		return;
	}
	for (i = 0, n = 0; i < ls->nr; i++)
		if (stays(&ls->at[i], leaves))
			new->at[n++] = ls->at[i];
	if (new)
		new->depth = depth_of(new);
	set_listeners(h, new);
}

/* Under the lock: one more user. */
static int attach_first(struct memtap_hook *h)
{
	int err = 0;

	if (!h->users) {
		err = h->ops->attach(h);
		h->error = -err;
		h->state = err ? MEMTAP_HOOK_FAILED : MEMTAP_HOOK_ATTACHED;
		if (err == MEMTAP_NEEDS_NONE) {
			h->error = 0;
			h->state = MEMTAP_HOOK_IDLE;
			err = -ENOENT;
		}
	}
	if (!err)
		h->users++;
	return err;
}

/* Under the lock: hooks that were counted out; those of a kind stand side by side. */
static void detach_all(struct memtap_hook *const *hs, u32 nr)
{
	const struct memtap_hook_ops *ops;
	u32 i, j, n;

	for (i = 0; i < nr; i += n) {
		ops = hs[i]->ops;
		for (n = 1; i + n < nr && hs[i + n]->ops == ops; n++)
			;
		if (ops->detach_many)
			ops->detach_many(hs + i, n);
		for (j = i; j < i + n; j++) {
			if (!ops->detach_many)
				ops->detach(hs[j]);
			hs[j]->state = MEMTAP_HOOK_IDLE;
		}
	}
}

static void detach_last(struct memtap_hook *h)
{
	if (h->users && !--h->users) {
		h->ops->detach(h);
		h->state = MEMTAP_HOOK_IDLE;
	}
}

static void heed(struct memtap_hook *h)
{
	if (h->ops->heed)
		h->ops->heed(h, h->source.has_steps || h->source.has_files);
}

int memtap_hook_join(struct memtap_hook *h, struct memtap_session *session,
		     u32 event, u32 depth, enum memtap_listens how)
{
	int err;

	mutex_lock(&hooks_lock);
	err = add_listener(h, session, event, depth, how);
	if (!err) {
		err = attach_first(h);
		if (err)
			drop_listener(h, session);
		else
			heed(h);
	}
	mutex_unlock(&hooks_lock);
	return err;
}

void memtap_hook_leave(struct memtap_hook *h, struct memtap_session *session)
{
	mutex_lock(&hooks_lock);
	drop_listener(h, session);
	if (h->users)
		heed(h);
	detach_last(h);
	mutex_unlock(&hooks_lock);
}

void memtap_hooks_leave(struct memtap_hook **hs, u32 nr, struct memtap_session *session)
{
	u32 i, n = 0;

	mutex_lock(&hooks_lock);
	for (i = 0; i < nr; i++) {
		drop_listener(hs[i], session);
		if (hs[i]->users)
			heed(hs[i]);
		if (hs[i]->users && !--hs[i]->users)
			hs[n++] = hs[i];
	}
	detach_all(hs, n);
	mutex_unlock(&hooks_lock);
}

int memtap_hook_hold(struct memtap_hook *h)
{
	int err;

	mutex_lock(&hooks_lock);
	err = attach_first(h);
	h->held = !err;
	mutex_unlock(&hooks_lock);
	return err;
}

void memtap_hook_release(struct memtap_hook *h)
{
	mutex_lock(&hooks_lock);
	if (h->held)
		detach_last(h);
	h->held = false;
	mutex_unlock(&hooks_lock);
}

static u64 hook_hits(const struct memtap_hook *h)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(h->source.hits, cpu));
	return sum;
}

u64 memtap_hook_missed(struct memtap_hook *h)
{
	return h->ops->missed ? h->ops->missed(h) : 0;
}

static void describe(struct memtap_hook *h, struct memtap_hook_state *out)
{
	out->state = h->state;
	out->error = h->error ? h->error : READ_ONCE(h->left_out);
	out->way = h->way;
	out->users = h->users;
	out->hits = hook_hits(h);
	out->missed = memtap_hook_missed(h);
	memcpy(out->event, h->event, sizeof(out->event));
	memcpy(out->target, h->target, sizeof(out->target));
}

void memtap_hook_describe(struct memtap_hook *h, struct memtap_hook_state *out)
{
	mutex_lock(&hooks_lock);
	describe(h, out);
	mutex_unlock(&hooks_lock);
}

u32 memtap_nr_hooks(void)
{
	return READ_ONCE(nr_hooks);
}

int memtap_hook_info(struct memtap_hook_state *out)
{
	struct memtap_hook *h;
	u32 i = 0;
	int err = -ENOENT;

	mutex_lock(&hooks_lock);
	list_for_each_entry(h, &hooks, node) {
		if (i++ != out->index)
			continue;
		describe(h, out);
		err = 0;
		break;
	}
	mutex_unlock(&hooks_lock);
	return err;
}
