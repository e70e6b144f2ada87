// SPDX-License-Identifier: GPL-2.0-or-later
/* Add up the memory of processes, of groups of them, or of mappings, by smaps. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/path.h"
#include "base/pattern.h"
#include "machine/container.h"
#include "machine/int.h"
#include "machine/owners.h"
#include "machine/smaps.h"

#define COMM_MOST	15		/* letters of a name that the kernel keeps */

struct user {
	__u32 uid;
	const char *name;
};

struct look {
	const struct machine_at *at;
	struct machine *m;
	const struct owners_ask *ask;
	struct owners *o;
	struct ids names;		/* of rows that are groups */
	struct user *users;
	size_t nr_users, room_users;
	struct machine_pss time;

	/* the process that is read */
	struct owner *process;
	struct owner *row;		/* of the mapping that is read; NULL: none */
	size_t node_row;		/* of the mapping that numa_maps speaks of */
};

/* --- rows ------------------------------------------------------------------------- */

static struct owner *add_row(struct look *k)
{
	struct owners *o = k->o;
	struct owner *all = ids_grow(o->at, o->nr, &o->room, sizeof(*all)), *row;

	if (!all)
		return NULL;
	o->at = all;
	row = &all[o->nr];
	memset(row, 0, sizeof(*row));
	row->name = "";
	if (k->ask->numa) {
		row->nodes = calloc(OWNER_NODES, sizeof(*row->nodes));
		if (!row->nodes)
			return NULL;
	}
	o->nr++;
	return row;
}

static bool same_name(const void *things, __u32 id, const void *key)
{
	const struct owner *all = things;

	return !strcmp(all[id].name, key);
}

/* The group of this name. */
static struct owner *group_row(struct look *k, const char *name)
{
	const __u64 hash = ids_hash_string(0, name);
	__u32 id = ids_find(&k->names, hash, same_name, k->o->at, name);
	struct owner *row;

	if (id != IDS_NONE)
		return &k->o->at[id];
	row = add_row(k);
	if (!row || ids_add(&k->names, hash) == IDS_NONE)
		return NULL;
	row->name = machine_name(k->m, name, strlen(name));
	return row->name ? row : NULL;
}

static void add_values(struct owner *to, const struct owner *from)
{
	for (int i = 0; i < NR_PS_SUMS; i++)
		to->v[i] += from->v[i];
	for (int i = 0; to->nodes && from->nodes && i < OWNER_NODES; i++)
		to->nodes[i] += from->nodes[i];
}

/* Mappings of a process come together: it is counted at the first one. */
static void count_process(struct owner *row, __u32 pid)
{
	row->nr += !row->nr || row->pid != pid;
	row->pid = pid;
}

/* --- names ------------------------------------------------------------------------ */

static int read_users(struct look *k)
{
	char path[PATH_MAX];
	struct passwd *pw;
	struct user *all;
	FILE *f;
	int err = 0;

	snprintf(path, sizeof(path), "%.4000s/etc/passwd", k->at->root);
	f = fopen(path, "re");
	while (f && !err && (pw = fgetpwent(f))) {
		all = ids_grow(k->users, k->nr_users, &k->room_users, sizeof(*all));
		if (all) {
			k->users = all;
			all[k->nr_users].uid = pw->pw_uid;
			all[k->nr_users].name = machine_name(k->m, pw->pw_name,
							     strlen(pw->pw_name));
		}
		err = all && all[k->nr_users++].name ? 0 : -ENOMEM;
	}
	if (f)
		fclose(f);
	return err;
}

/* A user without a name has a number. */
static const char *user_name(struct look *k, __u32 uid)
{
	struct user *all;
	char text[16];

	for (size_t i = 0; i < k->nr_users; i++)
		if (k->users[i].uid == uid)
			return k->users[i].name;
	snprintf(text, sizeof(text), "%u", uid);
	all = ids_grow(k->users, k->nr_users, &k->room_users, sizeof(*all));
	if (!all)
		return NULL;
	k->users = all;
	all[k->nr_users].uid = uid;
	all[k->nr_users].name = machine_name(k->m, text, strlen(text));
	return all[k->nr_users++].name;
}

/* NULL: no memory. */
static struct owner *container_row(struct look *k, const char *cgroup)
{
	char label[CONTAINER_LABEL];

	container_label_of(k->at->root, cgroup, label);
	return group_row(k, label);
}

/* The kernel cuts names; what a program was started as has the rest. */
static const char *program_name(struct look *k, const struct machine_holder *h)
{
	const char *name = h->name, *base;
	char path[64], *text;
	int err;

	if (strlen(name) < COMM_MOST)
		return name;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", h->pid);
	text = machine_file(k->at, path, FILE_SMALL, &err);
	if (!text)
		return name;
	text[strcspn(text, " ")] = '\0';
	base = strrchr(text, '/');
	base = base ? base + 1 : text;
	if (!strncmp(base, name, COMM_MOST))
		name = machine_name(k->m, base, strlen(base));
	free(text);
	return name;
}

/* --- which processes ---------------------------------------------------------------- */

static bool is_chosen(const struct look *k, const struct machine_holder *h,
		      const struct owner *p)
{
	const struct owners_ask *a = k->ask;
	bool found = !a->pids || !a->pids->nr;
	__u64 uid;

	if (a->map)
		return h->pid == a->map;
	for (size_t i = 0; a->pids && i < a->pids->nr && !found; i++)
		found = a->pids->at[i] == h->pid;
	if (found && a->users && a->users->nr) {
		found = false;
		for (size_t i = 0; i < a->users->nr && !found; i++)
			found = !strcmp(a->users->at[i], p->user) ||
				(machine_number(a->users->at[i], &uid) && uid == h->uid);
	}
	if (found && a->cgroups && a->cgroups->nr) {
		found = false;
		for (size_t i = 0; i < a->cgroups->nr && !found; i++)
			found = path_is_below(p->cgroup, a->cgroups->at[i]);
	}
	return found;
}

/* --- one process ------------------------------------------------------------------- */

/* Memory without a file and without a name is anonymous. */
static const char *mapping_name(const struct smaps_head *h)
{
	return *h->path ? h->path : "[anon]";
}

static bool begin_mapping(struct look *k, const struct smaps_head *h)
{
	const char *name = mapping_name(h);
	struct owner *row;

	if (!k->ask->map) {
		row = group_row(k, name);
		if (row)
			count_process(row, k->process->pid);
		k->row = row;
		return row;
	}
	row = add_row(k);
	k->row = row;
	if (!row)
		return false;
	row->name = machine_name(k->m, name, strlen(name));
	row->flags = "";
	row->nr = 1;
	row->pid = k->process->pid;
	row->start = h->start;
	row->end = h->end;
	row->offset = h->offset;
	row->inode = h->inode;
	row->dev_major = h->dev_major;
	row->dev_minor = h->dev_minor;
	memcpy(row->perms, h->perms, sizeof(row->perms));
	return row->name;
}

static int see_mapping(void *ctx, char *line)
{
	struct look *k = ctx;
	struct smaps_head h;
	const char *flags;

	if (smaps_parse_head(line, &h))
		return begin_mapping(k, &h) ? 0 : -ENOMEM;
	if (!k->row)
		return 0;
	if (smaps_parse_value(line, k->row->v, k->o->has)) {
		smaps_parse_value(line, k->process->v, k->o->has);
		return 0;
	}
	flags = k->ask->map ? smaps_parse_flags(line) : NULL;
	if (flags)
		k->row->flags = machine_name(k->m, flags, smaps_flags_len(flags));
	return k->row->flags || !k->ask->map ? 0 : -ENOMEM;
}

/* What numa_maps says of a mapping that begins at an address, or of all. */
static int see_nodes(void *ctx, char *line)
{
	struct look *k = ctx;
	const __u64 start = strtoull(line, NULL, 16);
	__u64 nodes[OWNER_NODES] = { 0 };
	struct owner *row = k->process;

	smaps_parse_nodes(line, nodes, OWNER_NODES);
	/* both files go by address */
	while (k->node_row < k->o->nr && k->o->at[k->node_row].start < start)
		k->node_row++;
	if (k->ask->map && k->node_row < k->o->nr && k->o->at[k->node_row].start == start)
		row = &k->o->at[k->node_row];
	for (__u32 i = 0; i < OWNER_NODES; i++) {
		row->nodes[i] += nodes[i];
		if (row != k->process)
			k->process->nodes[i] += nodes[i];
		if (nodes[i] && i >= k->o->nr_nodes)
			k->o->nr_nodes = i + 1;
	}
	return 0;
}

static void read_nodes(struct look *k)
{
	if (k->process->nodes &&
	    smaps_each_line(k->at, k->process->pid, "numa_maps", k->time.end, see_nodes, k))
		k->o->numa_unread++;
}

static enum owner_unread why_of(int err)
{
	switch (err) {
	case 0: return OWNER_READ;
	case -ETIME: return OWNER_LATE;
	case -EACCES: case -EPERM: return OWNER_REFUSED;
	case -ESRCH: return OWNER_GONE;
	default: return OWNER_FAILED;
	}
}

/* Is its directory there without the file?  Then the kernel has no such file. */
static int no_file(const struct look *k, __u32 pid)
{
	char path[64], *text;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	text = machine_file(k->at, path, FILE_SMALL, &err);
	free(text);
	return text ? -ENOENT : -ESRCH;
}

/* 0 or an errno.  A process that was read in part has what its mappings got. */
static int read_smaps(struct look *k, const struct machine_holder *h, __u64 begun)
{
	const bool mappings = k->ask->map || k->ask->by == BY_MAPPING;
	__u64 v[NR_PS_SUMS];
	int err;

	if (!k->ask->map && !machine_pss_time(&k->time, h, begun))
		return -ETIME;
	memcpy(v, k->process->v, sizeof(v));
	if (mappings) {
		memset(k->process->v, 0, sizeof(v));
		k->row = NULL;
		err = smaps_each_line(k->at, h->pid, "smaps", k->time.end, see_mapping, k);
	} else {
		err = machine_smaps(k->at, h->pid, k->time.end, k->process->v, k->o->has);
	}
	if (!err && !k->process->v[PS_SIZE])
		k->process->v[PS_SIZE] = v[PS_SIZE];
	k->process->v[PS_TABLES] = v[PS_TABLES];
	return err == -ENOENT ? no_file(k, h->pid) : err;
}

static int take_process(struct look *k, const struct machine_holder *h, struct owner *p)
{
	struct owner *row;

	switch (k->ask->by) {
	case BY_MAPPING:
		return 0;
	case BY_PROGRAM: row = group_row(k, p->name); break;
	case BY_USER: row = group_row(k, p->user); break;
	case BY_CGROUP: row = group_row(k, p->cgroup); break;
	case BY_CONTAINER: row = container_row(k, p->cgroup); break;
	default: row = k->ask->map ? NULL : add_row(k);
	}
	if (k->ask->map)
		return 0;
	if (!row)
		return -ENOMEM;
	if (k->ask->by == BY_PROCESS) {
		__u64 *nodes = row->nodes;

		*row = *p;
		row->nodes = nodes;
		memset(row->v, 0, sizeof(row->v));
		row->nr = 0;
		row->unread = 0;
	}
	add_values(row, p);
	row->unread += p->unread;
	count_process(row, h->pid);
	return 0;
}

/* What status says, for who may not read more. */
static void begin_process(struct owner *p, const struct machine_holder *h)
{
	p->pid = h->pid;
	p->v[PS_RSS] = h->bytes - h->swap;
	p->v[PS_SWAP] = h->swap;
	p->v[PS_TABLES] = h->tables;
	p->v[PS_SIZE] = h->space;
	p->v[PS_HUGETLB] = h->hugetlb;
}

static int one_process(struct look *k, const struct machine_holder *h)
{
	const __u64 begun = machine_now();
	__u64 nodes[OWNER_NODES] = { 0 };
	struct owner p = { .name = program_name(k, h), .nodes = k->ask->numa ? nodes : NULL };
	struct owners *o = k->o;
	enum owner_unread why;
	__u64 rss;
	int err;

	p.user = user_name(k, h->uid);
	p.cgroup = machine_group_name(k->at, k->m, h->pid);
	if (!p.name || !p.user || !p.cgroup)
		return -ENOMEM;
	if (!is_chosen(k, h, &p))
		return 0;
	begin_process(&p, h);
	rss = p.v[PS_RSS];
	k->process = &p;
	err = read_smaps(k, h, begun);
	machine_pss_spent(&k->time, h, begun);
	if (err == -ENOMEM)
		return err;
	if (k->ask->map && err)
		return err;
	why = why_of(err);
	if (why == OWNER_FAILED)
		o->error = -err;
	o->unread[why]++;
	p.nr = 1;
	p.unread = why != OWNER_READ;
	if (why == OWNER_GONE && k->ask->by != BY_MAPPING)
		return 0;
	/* of rows by mapping, what was read in part is in them */
	if (k->ask->by == BY_MAPPING)
		rss -= p.v[PS_RSS] < rss ? p.v[PS_RSS] : rss;
	o->unread_rss += p.unread && why != OWNER_GONE ? rss : 0;
	if (!p.unread)
		read_nodes(k);
	add_values(&o->sum, &p);
	o->sum.nr++;
	o->sum.unread += p.unread;
	return take_process(k, h, &p);
}

/* The largest first: where there is no time for all, the small ones are missing. */
static int by_bytes(const void *a, const void *b)
{
	const struct machine_holder *x = a, *y = b;

	return x->bytes != y->bytes ? x->bytes > y->bytes ? -1 : 1 :
	       x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int missing(const struct machine *m, const struct owners_ask *a)
{
	const size_t nr = a->map ? 1 : a->pids ? a->pids->nr : 0;

	for (size_t i = 0; i < nr; i++) {
		const __u32 pid = a->map ? a->map : a->pids->at[i];
		size_t at = 0;

		while (at < m->processes.nr && m->processes.at[at].pid != pid)
			at++;
		if (at == m->processes.nr)
			return -ESRCH;
	}
	return 0;
}

/* A name that nobody has is a mistake; a number may be anybody's. */
static int check_users(const struct look *k)
{
	const struct opt_strs *names = k->ask->users;
	__u64 uid;

	for (size_t i = 0; names && i < names->nr; i++) {
		size_t at = 0;

		while (at < k->nr_users && strcmp(k->users[at].name, names->at[i]))
			at++;
		if (at < k->nr_users || machine_number(names->at[i], &uid))
			continue;
		k->o->unknown_user = names->at[i];
		return -EINVAL;
	}
	return 0;
}

void owners_name(struct machine *m, struct owner *row, const char *name)
{
	const char *kept = machine_name(m, name, strlen(name));

	row->name = kept ? kept : row->name;
}

int owners_read(const struct machine_at *at, struct machine *m, const struct owners_ask *ask,
		struct owners *o)
{
	struct look k = { .at = at, .m = m, .ask = ask, .o = o };
	int err;

	memset(o, 0, sizeof(*o));
	o->mappings = ask->map || ask->by == BY_MAPPING;
	o->chosen = ask->map || (ask->pids && ask->pids->nr) || (ask->users && ask->users->nr) ||
		    (ask->cgroups && ask->cgroups->nr);
	/* status has these, of whoever it is */
	o->has[PS_RSS] = o->has[PS_SWAP] = o->has[PS_TABLES] = o->has[PS_SIZE] = true;
	err = missing(m, ask);
	if (!err)
		err = read_users(&k);
	if (!err)
		err = check_users(&k);
	if (!err && ask->numa) {
		o->sum.nodes = calloc(OWNER_NODES, sizeof(*o->sum.nodes));
		err = o->sum.nodes ? 0 : -ENOMEM;
	}
	machine_pss_begin(at, &k.time);
	if (m->processes.nr)
		qsort(m->processes.at, m->processes.nr, sizeof(*m->processes.at), by_bytes);
	for (size_t i = 0; !err && i < m->processes.nr; i++)
		err = one_process(&k, &m->processes.at[i]);
	ids_free(&k.names);
	free(k.users);
	return err;
}

void owners_free(struct owners *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->at[i].nodes);
	free(o->at);
	free(o->sum.nodes);
	memset(o, 0, sizeof(*o));
}

/* --- order and choice --------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *sort)
{
	const struct owner *x = a, *y = b;
	const int by = *(const int *)sort;

	if (by < 0)
		return x->start < y->start ? -1 : x->start > y->start;
	if (x->v[by] != y->v[by])
		return x->v[by] > y->v[by] ? -1 : 1;
	/* of those that could not be read, RSS is known */
	if (x->v[PS_RSS] != y->v[PS_RSS])
		return x->v[PS_RSS] > y->v[PS_RSS] ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->name, y->name);
}

void owners_sort(struct owners *o, int sort)
{
	if (o->nr)
		qsort_r(o->at, o->nr, sizeof(*o->at), compare, &sort);
}

void owners_keep(struct owners *o, const char *pattern)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->nr; i++) {
		const char *name = o->at[i].name;
		const bool is = is_pattern(pattern) ? !fnmatch(pattern, name, 0) :
				strstr(name, pattern) != NULL;

		if (is)
			o->at[kept++] = o->at[i];
		else
			free(o->at[i].nodes);
	}
	o->nr = kept;
	o->chosen = true;
	memset(o->sum.v, 0, sizeof(o->sum.v));
	o->sum.nr = 0;
	o->sum.unread = 0;
	if (o->sum.nodes)
		memset(o->sum.nodes, 0, OWNER_NODES * sizeof(*o->sum.nodes));
	for (size_t i = 0; i < kept; i++) {
		add_values(&o->sum, &o->at[i]);
		o->sum.nr += o->at[i].nr;
		o->sum.unread += o->at[i].unread;
	}
	/* a mapping of this name may be one of those that were not read */
	if (o->sum.unread || o->mappings)
		return;
	memset(o->unread, 0, sizeof(o->unread));
	o->unread_rss = 0;
}
