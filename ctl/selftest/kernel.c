// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test kernel allocations of a process: counted at the tracepoints, by the caller of the
 * allocator.  Outstanding is what was allocated and not freed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/dev.h"
#include "base/err.h"
#include "target/maps.h"
#include "selftest/kernel.h"
#include "session/session.h"
#include "session/tracefs.h"

/* Seen by the child and by us: what did not work there. */
struct shared {
	int err[ST_KINDS];
};

static struct shared *shared;

static int work(int step)
{
	st_work_kernel(step, shared->err);
	return 0;
}

/* ---- what is there to be counted ---- */

/* Why a kind cannot be tested here, or NULL. */
static const char *lacking[ST_KINDS];
static char reasons[ST_KINDS][160];

static void lack(int i, const char *why, const char *which)
{
	snprintf(reasons[i], sizeof(reasons[i]), "%s%s: not tested", why, which);
	lacking[i] = reasons[i];
}

static int find_tracepoint(const char *name, __u64 *id)
{
	const char *colon = strchr(name, ':');
	char group[32];

	snprintf(group, sizeof(group), "%.*s", (int)(colon - name), name);
	return tracefs_id(group, colon + 1, id);
}

static bool has_symbol(const char *kallsyms, const char *const *beginnings)
{
	char text[64];

	for (int i = 0; i < ST_CALLERS && beginnings[i]; i++)
		for (const char *type = "tTwW"; *type; type++) {
			snprintf(text, sizeof(text), " %c %s", *type, beginnings[i]);
			if (strstr(kallsyms, text))
				return true;
		}
	return false;
}

/* Names without addresses are of no use. */
static bool is_hidden(const char *kallsyms)
{
	const char *line = strstr(kallsyms, " T _text\n");

	return line && line - kallsyms >= 16 && strspn(line - 16, "0") >= 16;
}

static void look_for(int i, const char *kallsyms)
{
	const struct st_kind *k = &st_kinds[i];
	const char *const points[] = { k->alloc, k->free };
	__u64 id;
	int err;

	lacking[i] = NULL;
	for (int p = 0; p < 2; p++) {
		err = find_tracepoint(points[p], &id);
		if (err == -ENXIO)
			lack(i, "tracefs is not mounted at ", "/sys/kernel/tracing");
		else if (err == -ENOENT)
			lack(i, "this kernel has no tracepoint ", points[p]);
		else if (err)
			lack(i, "tracefs: ", strerror(-err));
	}
	if (!kallsyms || is_hidden(kallsyms))
		lack(i, "the kernel hides its symbols ", "(kernel.kptr_restrict)");
	else if (!has_symbol(kallsyms, k->allocs))
		lack(i, "this kernel has no function ", k->allocs[0]);
	else if (!has_symbol(kallsyms, k->frees))
		lack(i, "this kernel has no function ", k->frees[0]);
}

static void look(void)
{
	char *kallsyms = NULL;
	size_t len;

	if (maps_slurp(AT_FDCWD, "/proc/kallsyms", &kallsyms, &len))
		kallsyms = NULL;
	for (int i = 0; i < ST_KINDS; i++) {
		look_for(i, kallsyms);
		if (!lacking[i] && shared->err[i])
			lack(i, "the work cannot be done here: ", strerror(-shared->err[i]));
	}
	free(kallsyms);
}

static void add_tracepoint(struct plan *p, const char *name)
{
	struct plan_item *item;
	__u64 id;

	if (!name || find_tracepoint(name, &id))
		return;
	item = plan_new(p, MEMTAP_ATTACH_TRACEPOINT);
	if (!item)
		return;
	item->attach.config = id;
	item->optional = true;
	snprintf(item->attach.name, sizeof(item->attach.name), "%s", name);
	snprintf(item->text, sizeof(item->text), "%s", name);
}

/* ---- what was found ---- */

static bool was_attached(const struct snap *s, const char *event)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (!strcmp(s->events[i].name, event))
			return true;
	return false;
}

static __s64 outstanding(struct st_run *r, const struct snap *s, const struct st_kind *k)
{
	__s64 n = (__s64)st_sum_kernel(s, r->sym, k->alloc, k->allocs);

	if (k->also)
		n += (__s64)st_sum_kernel(s, r->sym, k->also, k->allocs);
	return n - (__s64)st_sum_kernel(s, r->sym, k->free, k->frees);
}

static void put_kind(struct st_run *r, const struct snap *kept, const struct snap *after, int i)
{
	const struct st_kind *k = &st_kinds[i];
	struct st_check c = { .name = k->name };

	if (!lacking[i] && (!was_attached(kept, k->alloc) || !was_attached(kept, k->free)))
		lack(i, "this kernel does not let a module attach to ", k->alloc);
	if (lacking[i]) {
		st_say(&r->out, ST_NOT_HERE, k->name, "%s", lacking[i]);
		return;
	}
	if (shared->err[i]) {
		st_say(&r->out, ST_FAILED, k->name, "%s: %s", k->what, strerror(-shared->err[i]));
		return;
	}
	c.numbers[0] = (struct st_number){ k->unit, k->wanted, outstanding(r, kept, k) };
	c.numbers[1] = (struct st_number){ "left", 0, outstanding(r, after, k) };
	snprintf(c.text, sizeof(c.text), "%s, at %s and %s", k->what, k->alloc, k->free);
	c.verdict = st_compare(&c);
	st_put(&r->out, &c);
}

static struct snap *snapshot(struct session *s)
{
	struct snap *snap;
	char why[256];

	if (!snap_from_fd(s->fd, &snap, why))
		return snap;
	fail_text("reading the counters: %s", why);
	return NULL;
}

static int start(struct st_run *r, struct session *s, struct plan *p, pid_t pid)
{
	struct memtap_filter_item item = { .kind = MEMTAP_FILTER_PID, .value = (__u64)pid };
	struct memtap_config config = {
		.flags = MEMTAP_CFG_KSTACK,
		.filter_ptr = (__u64)(unsigned long)&item,
		.filter_nr = 1,
	};
	int ret = session_configure(s, &config, r->o->max_mem);

	if (!ret)
		ret = session_attach(s, p);
	return ret ? ret : session_start(s, &config, 0);
}

static int count(struct st_run *r, struct session *s, struct plan *p, struct st_child *child)
{
	struct snap *kept = NULL, *after = NULL;
	int ret = start(r, s, p, child->pid);

	if (!ret)
		ret = st_child_step(child, ST_KEEP);
	if (!ret)
		kept = snapshot(s);
	if (kept && !st_child_step(child, ST_GIVE_BACK) && !dev_stop(s->fd))
		after = snapshot(s);
	for (int i = 0; after && i < ST_KINDS; i++)
		put_kind(r, kept, after, i);
	if (after) {
		struct st_check c = { .name = "accounts of tracepoints" };

		st_account(after, &c);
		st_put(&r->out, &c);
	}
	ret = after ? 0 : EXIT_FAILURE;
	snap_free(after);
	snap_free(kept);
	return ret;
}

static void test(struct st_run *r, struct st_child *child)
{
	struct session s = { .fd = -1 };
	struct plan p = { 0 };
	int ret = 0;

	for (int i = 0; i < ST_KINDS; i++) {
		if (lacking[i])
			continue;
		add_tracepoint(&p, st_kinds[i].alloc);
		add_tracepoint(&p, st_kinds[i].also);
		add_tracepoint(&p, st_kinds[i].free);
	}
	if (p.nr) {
		ret = session_open(&s);
		if (!ret)
			ret = count(r, &s, &p, child);
		session_close(&s);
	} else {
		for (int i = 0; i < ST_KINDS; i++)
			st_say(&r->out, ST_NOT_HERE, st_kinds[i].name, "%s", lacking[i]);
	}
	if (ret)
		st_say(&r->out, ST_FAILED, "kernel memory", "could not be counted");
	plan_free(&p);
}

void st_kernel(struct st_run *r)
{
	struct st_child child = { 0 };

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared != MAP_FAILED && !st_child_start(&child, work) &&
	    !st_child_step(&child, ST_PREPARE)) {
		look();
		test(r, &child);
	} else {
		st_say(&r->out, ST_FAILED, "kernel memory", "no process for it");
	}
	st_child_end(&child);
	if (shared != MAP_FAILED)
		munmap(shared, sizeof(*shared));
}
