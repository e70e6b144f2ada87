// SPDX-License-Identifier: GPL-2.0-or-later
/* Select the processes that a session records; see target/targets.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "target/cgroup.h"
#include "target/maps.h"
#include "target/wrapper.h"
#include "target/targets.h"

void targets_init(struct targets *w, const struct opts *o)
{
	*w = (struct targets) {
		.pids = &o->pids, .tids = &o->tids,
		.comms = &o->comms, .cgroups = &o->cgroups,
		.argv = o->argv, .system = o->system, .children = o->children,
	};
}

void targets_free(struct targets *w)
{
	free(w->items);
	w->items = NULL;
	w->nr_items = 0;
}

int targets_launch(struct targets *w, const sigset_t *mask)
{
	const char *wrapper;
	int err;

	if (!w->argv)
		return 0;
	/* who says `timeout 5 ./prog` means ./prog */
	wrapper = w->system || w->children ? NULL : wrapper_forks(w->argv);
	if (wrapper) {
		note("%s starts the program as a child process: it is followed, as with --children",
		     wrapper);
		w->children = true;
	}
	w->target.apart = w->apart;
	err = target_launch(&w->target, w->argv, mask);
	return err ? fail(ERR_EXEC, err, "%s", w->argv[0]) : 0;
}

int targets_release(struct targets *w)
{
	int err;

	if (!w->target.pid || w->target.released)
		return 0;
	err = target_release(&w->target);
	if (err == -ENOENT)	/* the program itself was found before */
		return fail_text("the interpreter of %s does not exist",
				 w->target.path);
	return err ? fail(ERR_EXEC, err, "%s", w->argv[0]) : 0;
}

const char *targets_program(const struct targets *w)
{
	return w->target.pid ? w->target.path : NULL;
}

/* (or others of its threads are) */
static bool is_alive(__u32 id)
{
	struct target_stat st;

	if (target_stat((pid_t)id, &st))
		return false;
	return (st.state != 'Z' && st.state != 'X') || maps_thread((pid_t)id) != (pid_t)id;
}

static int ids_exist(const struct opt_nums *ids, enum err_op op)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (!is_alive(ids->at[i]))
			return fail(op, ESRCH, "%u", ids->at[i]);
	return 0;
}

int targets_exist(const struct targets *w)
{
	struct memtap_filter_item item;
	int ret = ids_exist(w->pids, ERR_PID), err;

	if (!ret)
		ret = ids_exist(w->tids, ERR_TID);
	for (size_t i = 0; !ret && i < w->cgroups->nr; i++) {
		err = cgroup_item(w->cgroups->at[i], &item);
		if (err)
			ret = fail(ERR_CGROUP, err, "%s", w->cgroups->at[i]);
	}
	return ret;
}

static int add_ids(struct targets *w, const struct opt_nums *ids, __u32 kind,
		   enum err_op op)
{
	struct memtap_filter_item *item;

	for (size_t i = 0; i < ids->nr; i++) {
		if (!is_alive(ids->at[i]))
			return fail(op, ESRCH, "%u", ids->at[i]);
		item = &w->items[w->nr_items++];
		item->kind = kind;
		item->value = ids->at[i];
	}
	return 0;
}

static void add_comms(struct targets *w)
{
	struct memtap_filter_item *item;

	for (size_t i = 0; i < w->comms->nr; i++) {
		item = &w->items[w->nr_items++];
		item->kind = MEMTAP_FILTER_COMM;
		/* the kernel cuts names so, too */
		snprintf(item->comm, sizeof(item->comm), "%s", w->comms->at[i]);
	}
}

static int add_cgroups(struct targets *w, __u64 features)
{
	static const __u64 feature[] = {
		[MEMTAP_FILTER_CGROUP1] = MEMTAP_FEATURE_CGROUP1,
		[MEMTAP_FILTER_CGROUP2] = MEMTAP_FEATURE_CGROUP2,
	};
	struct memtap_filter_item *item;
	int err;

	for (size_t i = 0; i < w->cgroups->nr; i++) {
		item = &w->items[w->nr_items++];
		err = cgroup_item(w->cgroups->at[i], item);
		if (!err && !(features & feature[item->kind]))
			err = -EOPNOTSUPP;
		if (err)
			return fail(ERR_CGROUP, err, "%s", w->cgroups->at[i]);
	}
	return 0;
}

int targets_filter(struct targets *w, __u64 features, const char *cmd)
{
	const size_t most = w->pids->nr + w->tids->nr + w->comms->nr + w->cgroups->nr + 1;
	struct opt_nums child = { 0 };
	int ret;

	w->items = calloc(most, sizeof(*w->items));
	if (!w->items)
		return fail(ERR_PLAIN, ENOMEM, "%s", "the filter");
	ret = add_ids(w, w->pids, MEMTAP_FILTER_PID, ERR_PID);
	if (!ret)
		ret = add_ids(w, w->tids, MEMTAP_FILTER_TID, ERR_TID);
	if (!ret && w->target.pid && !w->system) {
		child.nr = 1;
		child.at[0] = (__u32)w->target.pid;
		ret = add_ids(w, &child, MEMTAP_FILTER_PID, ERR_PID);
	}
	if (ret)
		return ret;
	add_comms(w);
	ret = add_cgroups(w, features);
	if (!ret && w->nr_items > MEMTAP_MAX_FILTERS)
		ret = usage_error(cmd, "the filter has more than %d items",
				  MEMTAP_MAX_FILTERS);
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

void targets_name(const struct targets *w, char *buf, size_t len)
{
	buf[0] = '\0';
	if (w->target.pid && !w->system)
		append(buf, len, "", w->argv[0]);
	append_ids(buf, len, "process ", w->pids);
	append_ids(buf, len, "thread ", w->tids);
	for (size_t i = 0; i < w->comms->nr && i < 4; i++)
		append(buf, len, "comm ", w->comms->at[i]);
	for (size_t i = 0; i < w->cgroups->nr && i < 4; i++)
		append(buf, len, "cgroup ", w->cgroups->at[i]);
	if (w->target.pid && w->system)
		append(buf, len, "all processes, during: ", w->argv[0]);
	if (!buf[0])
		append(buf, len, "", "all processes");
}

static bool ids_exited(const struct opt_nums *ids)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (is_alive(ids->at[i]))
			return false;
	return true;
}

/* With nobody left that could be counted there is nothing to wait for. */
bool targets_gone(const struct targets *w)
{
	if (w->target.pid || w->children || !(w->pids->nr + w->tids->nr))
		return false;
	return ids_exited(w->pids) && ids_exited(w->tids);
}
