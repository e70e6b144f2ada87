// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder: sessions that the module parameter "watch" starts, without the tool. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "port/utf8.h"
#include "session/session.h"
#include "recorder/watch.h"

#include "compat/task.h"

#define WATCH_LEN	256
#define LEAST_TABLE	(64 << 10)

/* watch_lock: everything here; taken before the session's lock. */
static DEFINE_MUTEX(watch_lock);
static struct memtap_session *recorder;	/* counts events; or NULL */
static struct memtap_session *follower;	/* tracks kernel objects; or NULL */
static char watch_names[WATCH_LEN];
static int watch_pid;
static bool live;		/* init has run: settings take effect at once */

/* Built-in events, by number: counted, or used to track objects. */
struct wanted {
	u64 counted, followed;
};

/*
 * Adds the events of a name or a group.  Events of a group of kernel objects are not counted:
 * each object is tracked from its allocation to its free.
 */
static bool add_named(struct wanted *w, const char *name)
{
	const struct memtap_builtin *b;
	bool found = false;
	u32 i;

	for (i = 0; i < memtap_nr_builtins; i++) {
		b = memtap_builtins[i];
		if (!strcmp(name, b->name))
			w->counted |= 1ULL << i;
		else if (strcmp(name, b->group))
			continue;
		else if (b->objects)
			w->followed |= 1ULL << i;
		else
			w->counted |= 1ULL << i;
		found = true;
	}
	return found;
}

static int parse_names(const char *names, struct wanted *w)
{
	char buf[WATCH_LEN], *rest = buf, *name;

	w->counted = 0;
	w->followed = 0;
	strscpy(buf, names, sizeof(buf));
	while ((name = strsep(&rest, ",")) != NULL) {
		name = strim(name);
		if (*name && !add_named(w, name)) {
			utf8_clean(name);
			pr_err("watch: no event '%s'; see the hooks file in debugfs\n",
			       name);
			return -EINVAL;
		}
	}
	return 0;
}

/* Halves the tables until they fit the limit. */
static int configure(struct memtap_session *s, struct memtap_config *c, int pid)
{
	struct memtap_filter_item item = {
		.kind = MEMTAP_FILTER_PID,
		.value = pid,
	};
	int err;

	c->filter_nr = pid > 0;
	while ((err = memtap_session_configure(s, c, &item)) == -EDQUOT) {
		c->mem_stacks /= 2;
		c->mem_counters /= 2;
		c->mem_tasks /= 2;
		c->mem_live /= 2;
		if (c->mem_stacks < LEAST_TABLE)
			break;
	}
	return err;
}

/* *@to: the running session; NULL: it has no events, or cannot run. */
static int start(struct memtap_config *c, int pid, struct memtap_session **to)
{
	struct memtap_session *s;
	int err;

	*to = NULL;
	if (!c->events)
		return 0;
	s = memtap_session_new();
	if (!s)
		return -ENOMEM;
	s->recorder = true;
	mutex_lock(&s->lock);
	err = configure(s, c, pid);
	if (!err)
		err = memtap_session_start(s);
	mutex_unlock(&s->lock);
	if (!err) {
		*to = s;
		return 0;
	}
	pr_err("watch: cannot record (errno %d)%s\n", -err,
	       err == -ESRCH ? ": no process with this pid" :
	       err == -EDQUOT ? ": max_mem is too small" : "");
	memtap_session_free(s);
	return err;
}

static int start_counting(u64 events, int pid, struct memtap_session **to)
{
	struct memtap_config c = {
		.size = sizeof(c),
		.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK,
		.events = events,
	};

	memtap_session_defaults(&c.mem_stacks, &c.mem_counters, &c.mem_tasks);
	return start(&c, pid, to);
}

static int start_following(u64 events, int pid, struct memtap_session **to)
{
	struct memtap_config c = {
		.size = sizeof(c),
		.flags = MEMTAP_CFG_KSTACK | MEMTAP_CFG_OBJECTS,
		.events = events,
		.mem_live = MEMTAP_DEFAULT_OBJECTS,
	};

	memtap_session_defaults(&c.mem_stacks, &c.mem_counters, &c.mem_tasks);
	c.mem_counters = LEAST_TABLE;	/* nothing is counted */
	return start(&c, pid, to);
}

static void free_session(struct memtap_session *s)
{
	if (s)
		memtap_session_free(s);
}

/* The current sessions keep running if the new settings are invalid. */
static int apply(const char *names, int pid)
{
	struct memtap_session *counts, *follows;
	struct wanted w;
	int err;

	err = parse_names(names, &w);
	if (err || !live)
		return err;
	err = start_counting(w.counted, pid, &counts);
	if (err)
		return err;
	err = start_following(w.followed, pid, &follows);
	if (err) {
		free_session(counts);
		return err;
	}
	free_session(recorder);
	free_session(follower);
	recorder = counts;
	follower = follows;
	return 0;
}

/*
 * sysfs checks only the file's mode, which also lets root without capabilities write, as in
 * containers.  The process that loads the module may set anything.
 */
static bool may_set(void)
{
	return !READ_ONCE(live) || memtap_may(MEMTAP_MAY_COUNT);
}

static int param_set_watch(const char *val, const struct kernel_param *kp)
{
	char names[WATCH_LEN];
	int err;

	if (!may_set())
		return -EPERM;
	if (strlen(val) >= sizeof(names))
		return -EINVAL;
	strscpy(names, val, sizeof(names));
	mutex_lock(&watch_lock);
	err = apply(strim(names), watch_pid);
	if (!err)
		strscpy(watch_names, strim(names), sizeof(watch_names));
	mutex_unlock(&watch_lock);
	return err;
}

static int param_get_watch(char *buf, const struct kernel_param *kp)
{
	int n;

	mutex_lock(&watch_lock);
	n = scnprintf(buf, WATCH_LEN + 2, "%s\n", watch_names);
	mutex_unlock(&watch_lock);
	return n;
}

static int param_set_pid(const char *val, const struct kernel_param *kp)
{
	int pid, err;

	if (!may_set())
		return -EPERM;
	err = kstrtoint(val, 0, &pid);
	if (err)
		return err;
	if (pid < 0)
		return -EINVAL;
	mutex_lock(&watch_lock);
	err = apply(watch_names, pid);
	if (!err)
		watch_pid = pid;
	mutex_unlock(&watch_lock);
	return err;
}

static int param_get_pid(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, 16, "%d\n", watch_pid);
}

static int param_set_max_mem(const char *val, const struct kernel_param *kp)
{
	char *end;
	unsigned long long bytes = memparse(val, &end);

	if (!may_set())
		return -EPERM;
	if (end == val || (*end && *end != '\n') || bytes > ULONG_MAX)
		return -EINVAL;
	WRITE_ONCE(memtap_max_mem, bytes);
	return 0;
}

static int param_get_max_mem(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, 32, "%lu\n", READ_ONCE(memtap_max_mem));
}

static const struct kernel_param_ops watch_ops = {
	.set = param_set_watch,
	.get = param_get_watch,
};

static const struct kernel_param_ops pid_ops = {
	.set = param_set_pid,
	.get = param_get_pid,
};

static const struct kernel_param_ops max_mem_ops = {
	.set = param_set_max_mem,
	.get = param_get_max_mem,
};

module_param_cb(watch, &watch_ops, NULL, 0644);
MODULE_PARM_DESC(watch, "events that the flight recorder records, e.g. fault,brk,mmap");
module_param_cb(pid, &pid_ops, NULL, 0644);
MODULE_PARM_DESC(pid, "record only this process in the flight recorder; 0: all");
module_param_cb(max_mem, &max_mem_ops, NULL, 0644);
MODULE_PARM_DESC(max_mem, "maximum memory of one session, in bytes (K, M, G); default 64M");

struct memtap_session *memtap_watch_get(void)
{
	mutex_lock(&watch_lock);
	return recorder;
}

struct memtap_session *memtap_watch_objects(void)
{
	return follower;
}

struct memtap_session *memtap_watch_stopped(void)
{
	return mutex_is_locked(&watch_lock) ? NULL : READ_ONCE(follower);
}

void memtap_watch_put(void)
{
	mutex_unlock(&watch_lock);
}

int memtap_watch_init(void)
{
	int err;

	mutex_lock(&watch_lock);
	live = true;
	err = apply(watch_names, watch_pid);
	live = !err;		/* writable until the module is unloaded */
	mutex_unlock(&watch_lock);
	return err;
}

void memtap_watch_exit(void)
{
	mutex_lock(&watch_lock);
	live = false;
	free_session(recorder);
	free_session(follower);
	recorder = NULL;
	follower = NULL;
	mutex_unlock(&watch_lock);
}
