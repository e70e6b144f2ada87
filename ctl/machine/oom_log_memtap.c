// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse what memtap printed at a panic (kmod/recorder/panic.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "machine/int.h"
#include "machine/oom_log_int.h"

static bool after(char **text, const char *key)
{
	const size_t len = strlen(key);

	if (strncmp(*text, key, len))
		return false;
	*text += len;
	return true;
}

/* ", NAME 12 kB"; the name that ends the line may have the same words, and comes last. */
static bool size(const char *text, const char *name, __u64 *bytes)
{
	char key[48];
	__u64 kb;

	snprintf(key, sizeof(key), ", %s ", name);
	if (!oom_log_number(text, key, &kb))
		return false;
	*bytes = kb > 1ULL << 46 ? 1ULL << 56 : kb << 10;
	return true;
}

static void name(const char *text, const char *key, char *to, size_t room)
{
	const char *at = strstr(text, key);

	if (at)
		snprintf(to, room, "%s", at + strlen(key));
}

static bool task(const char *text, struct memtap_oom_task *t)
{
	int adj;
	unsigned int uid;

	if (sscanf(text, " pid %d, oom_score_adj %d, uid %u", &t->pid, &adj, &uid) != 3 ||
	    adj < -1000 || adj > 1000)
		return false;
	t->tid = t->pid;
	t->score_adj = adj;
	t->uid = uid;
	if (size(text, "anon", &t->anon) && size(text, "file", &t->file)) {
		size(text, "shmem", &t->shmem);
		size(text, "swap", &t->swap);
		size(text, "tables", &t->tables);
		t->flags |= MEMTAP_OOM_TASK_SIZED;
	}
	name(text, ", name ", t->comm, sizeof(t->comm));
	return true;
}

static void machine(struct oom_log_kill *k, const char *text)
{
	struct memtap_oom_record *r = &k->r;
	unsigned int page;

	if (sscanf(text, " page %u kB", &page) == 1 && page >= 4 && page <= 64) {
		r->page_size = page << 10;
		k->has |= OOM_LOG_PAGE;
	}
	if (size(text, "total", &r->total))
		k->has |= OOM_LOG_TOTAL;
	for (__u32 i = 0; i < MEMTAP_NR_VM; i++)
		size(text, vm_name(i), &r->counters[i]);
	r->nr_counters = MEMTAP_NR_VM;
	k->has |= OOM_LOG_MEMORY;
}

static void zone(struct memtap_oom_record *r, const char *text)
{
	struct memtap_oom_zone z = { .node = 0 };
	unsigned int node;

	/* the kernel's own report has them, too, and free blocks */
	for (__u32 i = 0; i < r->nr_zones; i++)
		if (r->zones[i].nr_orders)
			return;
	if (r->nr_zones == MEMTAP_OOM_ZONES || sscanf(text, " node %u", &node) != 1 ||
	    !size(text, "free", &z.free) || !size(text, "min", &z.min) ||
	    !size(text, "low", &z.low) || !size(text, "high", &z.high))
		return;
	z.node = node;
	size(text, "managed", &z.managed);
	name(text, ", name ", z.name, sizeof(z.name));
	r->zones[r->nr_zones++] = z;
}

static void last_kill(struct oom_log_kill *e, const char *text)
{
	static const char *const kinds[] = { "none", "cpuset", "policy", "memcg" };
	unsigned long long ago;
	char kind[16];
	int order;

	if (sscanf(text, " %llu s before, %15[a-z-], order %d", &ago, kind, &order) != 3)
		return;
	e->has |= OOM_LOG_EARLIER | OOM_LOG_INVOKED | OOM_LOG_TRIGGER;
	snprintf(e->when, sizeof(e->when), "%llu s before the panic", ago);
	e->r.order = order < -1 || order > 63 ? 0 : order;
	for (__u32 i = 0; i < MEMTAP_NR_CONSTRAINT; i++)
		if (!strcmp(kind, constraint_name(i)) || !strcmp(kind, kinds[i])) {
			e->r.constraint = i;
			e->has |= OOM_LOG_CONSTRAINT;
		}
	if (strstr(text, ", not killed"))
		return;
	e->has |= OOM_LOG_KILLED;
	e->r.flags |= MEMTAP_OOM_KILLED;
}

static void its_limit(struct oom_log_kill *e, const char *text)
{
	if (size(text, "limit", &e->r.limit) && size(text, "charged", &e->r.usage))
		e->has |= OOM_LOG_LIMIT;
	name(text, ", cgroup ", e->r.limit_path, sizeof(e->r.limit_path));
}

static void grown(struct oom_log_kill *k, const char *text)
{
	struct oom_log_cache *c = &k->grown[k->grown_nr];

	if (k->grown_nr == sizeof(k->grown) / sizeof(k->grown[0]) ||
	    !size(text, "bytes", &c->bytes))
		return;
	name(text, ", name ", c->name, sizeof(c->name));
	k->grown_nr++;
}

void oom_log_memtap(struct oom_log_kill *k, struct oom_log_kill *earlier, char *text)
{
	struct memtap_oom_record *r = &k->r;
	struct memtap_oom_task t = { .pid = 0 };
	__u64 v;

	if (after(&text, "memory at this panic: ")) {
		k->has |= OOM_LOG_MEMTAP;
		snprintf(k->reason, sizeof(k->reason), "%s", text);
		r->nr_top = 0;
	} else if (after(&text, "machine:")) {
		machine(k, text);
	} else if (after(&text, "zone:")) {
		zone(r, text);
	} else if (after(&text, "panicked in:")) {
		if (!(k->has & OOM_LOG_INVOKED) && task(text, &r->trigger))
			k->has |= OOM_LOG_TRIGGER;
	} else if (after(&text, "processes: ")) {
		r->processes = (__u32)strtoul(text, NULL, 10);
		if (oom_log_number(text, "not read ", &v))
			r->unread = (__u32)v;
		if (size(text, "anon and swap", &r->held))
			k->has |= OOM_LOG_TABLE | OOM_LOG_SPLIT;
	} else if (after(&text, "process:")) {
		if (r->nr_top < MEMTAP_OOM_TOP && task(text, &t))
			r->top[r->nr_top++] = t;
	} else if (after(&text, "last OOM kill:")) {
		last_kill(earlier, text);
	} else if (after(&text, "its victim:")) {
		if (task(text, &earlier->r.victim)) {
			earlier->has |= OOM_LOG_CHOSEN | OOM_LOG_ADJ | OOM_LOG_UID;
			if (earlier->r.victim.flags & MEMTAP_OOM_TASK_SIZED)
				earlier->has |= OOM_LOG_SIZED | OOM_LOG_SHMEM;
		}
	} else if (after(&text, "its trigger:")) {
		task(text, &earlier->r.trigger);
	} else if (after(&text, "its limit:")) {
		its_limit(earlier, text);
	} else if (after(&text, "grown:")) {
		grown(k, text);
	}
}
