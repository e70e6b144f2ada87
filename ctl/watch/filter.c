// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom a session watches, and what became of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/cgroup.h"
#include "base/err.h"
#include "watch/watch.h"

static bool is_alive(__u32 id)
{
	struct target_stat st;

	return !target_stat((pid_t)id, &st) && st.state != 'Z' && st.state != 'X';
}

static int add_ids(struct watch *w, const struct opt_nums *ids, __u32 kind,
		   enum err_op op)
{
	struct memtap_filter_item *item;

	for (size_t i = 0; i < ids->nr; i++) {
		if (!is_alive(ids->at[i]))
			return fail(op, ESRCH, "%u", ids->at[i]);
		item = &w->items[w->config.filter_nr++];
		item->kind = kind;
		item->value = ids->at[i];
	}
	return 0;
}

static void add_comms(struct watch *w)
{
	struct memtap_filter_item *item;

	for (size_t i = 0; i < w->o->comms.nr; i++) {
		item = &w->items[w->config.filter_nr++];
		item->kind = MEMTAP_FILTER_COMM;
		/* the kernel cuts names so, too */
		snprintf(item->comm, sizeof(item->comm), "%s", w->o->comms.at[i]);
	}
}

static int add_cgroups(struct watch *w)
{
	static const __u64 feature[] = {
		[MEMTAP_FILTER_CGROUP1] = MEMTAP_FEATURE_CGROUP1,
		[MEMTAP_FILTER_CGROUP2] = MEMTAP_FEATURE_CGROUP2,
	};
	struct memtap_filter_item *item;
	int err;

	for (size_t i = 0; i < w->o->cgroups.nr; i++) {
		item = &w->items[w->config.filter_nr++];
		err = cgroup_item(w->o->cgroups.at[i], item);
		if (!err && !(w->session.info.features & feature[item->kind]))
			err = -EOPNOTSUPP;
		if (err)
			return fail(ERR_CGROUP, err, "%s", w->o->cgroups.at[i]);
	}
	return 0;
}

int watch_filter(struct watch *w)
{
	const struct opts *o = w->o;
	const size_t most = o->pids.nr + o->tids.nr + o->comms.nr +
			    o->cgroups.nr + 1;
	struct opt_nums child = { 0 };
	int ret;

	w->items = calloc(most, sizeof(*w->items));
	if (!w->items)
		return fail(ERR_PLAIN, ENOMEM, "%s", "the filter");
	ret = add_ids(w, &o->pids, MEMTAP_FILTER_PID, ERR_PID);
	if (!ret)
		ret = add_ids(w, &o->tids, MEMTAP_FILTER_TID, ERR_TID);
	if (!ret && w->target.pid && !o->system) {
		child.nr = 1;
		child.at[0] = (__u32)w->target.pid;
		ret = add_ids(w, &child, MEMTAP_FILTER_PID, ERR_PID);
	}
	if (ret)
		return ret;
	add_comms(w);
	ret = add_cgroups(w);
	if (!ret && w->config.filter_nr > MEMTAP_MAX_FILTERS)
		ret = usage_error(w->cmd, "the filter has more than %d items",
				  MEMTAP_MAX_FILTERS);
	w->config.filter_ptr = (__u64)(unsigned long)w->items;
	return ret;
}

static void append(char *buf, size_t len, const char *what, const char *which)
{
	const size_t used = strlen(buf);

	snprintf(buf + used, len - used, "%s%s%s", used ? ", " : "", what, which);
}

static void append_ids(char *buf, size_t len, const char *what,
		       const struct opt_nums *ids)
{
	char id[16];

	for (size_t i = 0; i < ids->nr && i < 4; i++) {
		snprintf(id, sizeof(id), "%u%s", ids->at[i],
			 i == 3 && ids->nr > 4 ? " ..." : "");
		append(buf, len, what, id);
	}
}

void watch_title(struct watch *w)
{
	const struct opts *o = w->o;
	char who[160] = "";

	if (w->target.pid && !o->system)
		append(who, sizeof(who), "", o->argv[0]);
	append_ids(who, sizeof(who), "process ", &o->pids);
	append_ids(who, sizeof(who), "thread ", &o->tids);
	for (size_t i = 0; i < o->comms.nr && i < 4; i++)
		append(who, sizeof(who), "comm ", o->comms.at[i]);
	for (size_t i = 0; i < o->cgroups.nr && i < 4; i++)
		append(who, sizeof(who), "cgroup ", o->cgroups.at[i]);
	if (w->target.pid && o->system)
		append(who, sizeof(who), "all processes, while this ran: ",
		       o->argv[0]);
	snprintf(w->title, sizeof(w->title), "%s: %s", w->q->title,
		 who[0] ? who : "all processes");
}

static bool ids_gone(const struct opt_nums *ids)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (is_alive(ids->at[i]))
			return false;
	return true;
}

/* With nobody left that could be counted there is nothing to wait for. */
bool watch_all_gone(struct watch *w)
{
	const struct opts *o = w->o;

	if (w->target.pid || o->children || !(o->pids.nr + o->tids.nr))
		return false;
	return ids_gone(&o->pids) && ids_gone(&o->tids);
}

/* Does the session count every fault of the program, and of nobody else? */
static bool faults_comparable(const struct watch *w)
{
	const struct opts *o = w->o;
	const struct plan_env env = { .events = w->session.events,
				      .nr_events = w->session.nr_events };
	const __u64 faults = plan_builtins(&env, "fault");

	return w->target.ended && faults &&
	       (w->config.events & faults) == faults && !o->system &&
	       w->config.filter_nr == 1 && !o->only_user && !o->only_kernel &&
	       !o->min_size && !o->max_size;
}

void watch_reconcile(struct watch *w, const struct snap *s)
{
	const struct target *t = &w->target;
	unsigned long long own, counted = 0, lost = 0;

	if (!faults_comparable(w))
		return;
	own = t->after.faults - t->before.faults;
	if (w->o->children)
		own += t->after.child_faults - t->before.child_faults;
	for (size_t i = 0; i < s->nr_events; i++) {
		if (strcmp(s->events[i].group, "fault"))
			continue;
		counted += s->events[i].counted;
		for (int r = 0; r < MEMTAP_LOST_SLOTS; r++)
			lost += s->events[i].lost[r];
	}
	if (own == counted + lost)
		snprintf(w->note, sizeof(w->note),
			 "the process's own counters say %llu faults, too", own);
	else if (own > counted + lost)
		snprintf(w->note, sizeof(w->note),
			 "the process's own counters say %llu faults; counted %llu, "
			 "lost %llu; the difference, %llu, the kernel took on its "
			 "behalf (get_user_pages), for which there is no event",
			 own, counted, lost, own - counted - lost);
	else
		snprintf(w->note, sizeof(w->note),
			 "the process's own counters say %llu faults, %llu fewer "
			 "than counted and lost", own, counted + lost - own);
}
