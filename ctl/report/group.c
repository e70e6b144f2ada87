// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the group of a row: process, thread, name, cgroup, container, service or none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/container.h"
#include "report/int.h"

struct group_key {
	__u64 a, b;
	char comm[MEMTAP_COMM_LEN];
};

/* The main thread's name, if it was seen, is the name of the process. */
static const char *process_comm(const struct snap *s, const struct memtap_rec_task *t)
{
	if (t->tid == t->pid)
		return t->comm;
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].pid == t->pid && s->tasks[i].tid == t->pid &&
		    s->tasks[i].space == t->space)
			return s->tasks[i].comm;
	return t->comm;
}

/* The same, looked for once for each task: every block asks. */
static const char *program_comm(struct maker *m, const struct memtap_rec_task *t)
{
	const size_t i = (size_t)(t - m->r.snap->tasks);

	if (!m->programs)
		m->programs = calloc(m->r.snap->nr_tasks + 1, sizeof(*m->programs));
	if (!m->programs)
		return process_comm(m->r.snap, t);
	if (!m->programs[i])
		m->programs[i] = process_comm(m->r.snap, t);
	return m->programs[i];
}

static bool by_task(const struct maker *m)
{
	return (m->r.o->by != BY_NONE && m->r.o->by < BY_FILE) || m->r.o->by == BY_CONTAINER ||
	       m->r.o->by == BY_SERVICE || m->r.o->by == BY_HOST;
}

/* The machine of a task: of recordings that were merged, its own; else the recording's. */
static const char *host_of(const struct maker *m, const struct memtap_rec_task *t)
{
	const struct memtap_rec_host *h = snap_host(m->r.snap, t);

	return h ? h->name : *m->r.snap->header.host ? m->r.snap->header.host : "[unknown host]";
}

/* False: in no container, or its cgroup's path is unknown. */
static bool container_of(struct maker *m, const struct memtap_rec_task *t, struct container *c)
{
	const char *path = sym_cgroup(m->sym, m->r.snap, snap_cgroup(t));

	return path && container_of_path(path, c);
}

static void make_key(struct maker *m, __u32 id,
		     const struct memtap_rec_task *t, struct group_key *k)
{
	struct container c;
	const char *path;

	memset(k, 0, sizeof(*k));
	if (m->r.o->by == BY_HOST && (t || !m->r.snap->nr_hosts)) {
		k->a = ids_hash_string(1, host_of(m, t));
		return;
	}
	if (!t) {
		k->a = !by_task(m) ? 0 : 1ULL << 63 | (id == MEMTAP_TASK_NONE);
		return;
	}
	switch (m->r.o->by) {
	case BY_PROCESS:	/* after execve() it is another one */
		k->a = (__u64)(__u32)t->pid << 32 | (m->comparing ? 0 : t->space);
		if (m->comparing)
			strcpy(k->comm, process_comm(m->r.snap, t));
		break;
	case BY_THREAD:
		k->a = (__u64)(__u32)t->pid << 32 | (__u32)t->tid;
		k->b = m->comparing ? 0 : t->space;
		strcpy(k->comm, t->comm);
		break;
	case BY_COMM:
		strcpy(k->comm, t->comm);
		break;
	case BY_PROGRAM:
		strcpy(k->comm, program_comm(m, t));
		break;
	case BY_CGROUP:
		k->a = snap_cgroup(t);
		path = m->comparing ? sym_cgroup(m->sym, m->r.snap, k->a) : NULL;
		if (path) {	/* made anew it has another number */
			k->a = ids_hash_string(1, path);
			k->b = 1;
		}
		break;
	case BY_SERVICE:
		k->a = snap_cgroup(t);
		strcpy(k->comm, program_comm(m, t));
		break;
	case BY_CONTAINER:
		if (container_of(m, t, &c)) {
			k->a = ids_hash_string(ids_hash_string(1, c.id), c.pod);
			k->b = 1;
		}
		break;
	default:
		break;
	}
}

static void describe_container(struct maker *m, const struct memtap_rec_task *t, struct rgroup *g,
			       char label[512])
{
	char name[CONTAINER_NAME];
	struct container c;

	if (!container_of(m, t, &c)) {
		snprintf(label, 512, "%s", CONTAINER_NONE);
		return;
	}
	container_name("", &c, name);
	container_label(&c, name, label, 512);
	g->container = arena_strdup(&m->arena, *c.id ? c.id : c.pod);
	g->container_name = *name ? arena_strdup(&m->arena, name) : NULL;
}

static void describe(struct maker *m, const struct memtap_rec_task *t,
		     struct rgroup *g, char label[512])
{
	switch (m->r.o->by) {
	case BY_PROCESS:
		g->comm = process_comm(m->r.snap, t);
		g->pid = t->pid;
		snprintf(label, 512, "%s [%d]", g->comm, t->pid);
		break;
	case BY_HOST:
		g->host = arena_strdup(&m->arena, host_of(m, t));
		snprintf(label, 512, "%s", host_of(m, t));
		break;
	case BY_THREAD:
		g->comm = t->comm;
		g->pid = t->pid;
		g->tid = t->tid;
		snprintf(label, 512, "%s [%d/%d]", t->comm, t->pid, t->tid);
		break;
	case BY_COMM:
		g->comm = t->comm;
		snprintf(label, 512, "%s", t->comm);
		break;
	case BY_PROGRAM:
		g->comm = program_comm(m, t);
		snprintf(label, 512, "%s", g->comm);
		break;
	case BY_CGROUP:
		g->cgroup = snap_cgroup(t);
		g->cgroup_path = sym_cgroup(m->sym, m->r.snap, g->cgroup);
		if (g->cgroup_path)
			snprintf(label, 512, "cgroup %s", g->cgroup_path);
		else
			snprintf(label, 512, "cgroup %llu", (unsigned long long)g->cgroup);
		break;
	case BY_SERVICE:
		g->comm = program_comm(m, t);
		g->cgroup = snap_cgroup(t);
		g->cgroup_path = sym_cgroup(m->sym, m->r.snap, g->cgroup);
		snprintf(label, 512, "%s", g->comm);
		break;
	case BY_CONTAINER:
		describe_container(m, t, g, label);
		break;
	default:
		label[0] = 0;
		break;
	}
}

static bool same_group(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct group_key *)things + id, key, sizeof(struct group_key));
}

/* Its number; its label is to be set. */
static __s64 new_group(struct maker *m, const struct group_key *key, __u64 hash)
{
	struct group_key *keys;
	struct rgroup *groups;
	__u32 id;

	groups = ids_grow(m->r.groups, m->group_ids.nr, &m->room_groups, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	m->r.groups = groups;
	keys = ids_grow(m->group_keys, m->group_ids.nr, &m->room_group_keys, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	m->group_keys = keys;
	id = ids_add(&m->group_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	m->r.nr_groups = m->group_ids.nr;
	keys[id] = *key;
	memset(&groups[id], 0, sizeof(groups[id]));
	return id;
}

/* A group of this name, which is none of tasks: of a cache, a module. */
__s64 report_group_named(struct maker *m, const char *label)
{
	const struct group_key key = { .a = ids_hash_string(1, label), .b = ~0ULL };
	const __u64 hash = ids_mix(key.a, key.b);
	__u32 found = ids_find(&m->group_ids, hash, same_group, m->group_keys, &key);
	__s64 id;

	if (found != IDS_NONE)
		return found;
	id = new_group(m, &key, hash);
	if (id < 0)
		return id;
	m->r.groups[id].label = arena_strdup(&m->arena, label);
	return m->r.groups[id].label ? id : -ENOMEM;
}

static __s64 add_group(struct maker *m, __u32 task_id, const struct memtap_rec_task *t,
		       const struct group_key *key, __u64 hash)
{
	struct rgroup *groups;
	char label[512];
	__s64 id = new_group(m, key, hash);

	if (id < 0)
		return id;
	groups = m->r.groups;
	if (t || (m->r.o->by == BY_HOST && !m->r.snap->nr_hosts))
		describe(m, t, &groups[id], label);
	else
		snprintf(label, sizeof(label), "%s", !by_task(m) ? "" :
			 task_id != MEMTAP_TASK_NONE ? "[task not recorded]" :
			 m->r.snap->header.flags & MEMTAP_CFG_OBJECTS ? "[interrupt, or idle]" :
			 "[no task]");
	groups[id].label = arena_strdup(&m->arena, label);
	return groups[id].label ? id : -ENOMEM;
}

__s64 report_group(struct maker *m, __u32 task_id)
{
	const struct memtap_rec_task *t = snap_task(m->r.snap, task_id);
	struct group_key key;
	__u64 hash;
	__u32 id;

	make_key(m, task_id, t, &key);
	hash = ids_hash_string(ids_mix(key.a, key.b), key.comm);
	id = ids_find(&m->group_ids, hash, same_group, m->group_keys, &key);
	if (id != IDS_NONE)
		return id;
	return add_group(m, task_id, t, &key, hash);
}
