// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the memory and faults of each process. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "machine/int.h"

/* Parents that have some; of more the rest is not told. */
#define ZOMBIE_PARENTS	64

/* pid (comm) state ppid ... : numbers of fields as in proc(5) */
bool process_parse_stat(char *text, struct machine_holder *h, char comm[16])
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *rest, *word;
	size_t len;
	__u64 v;

	if (!open || !close || close < open)
		return false;
	len = (size_t)(close - open - 1);
	if (len > 15)
		len = 15;
	memcpy(comm, open + 1, len);
	comm[len] = '\0';
	rest = close + 1;
	rest[strcspn(rest, "\n")] = '\0';
	for (int field = 3; (word = machine_word(&rest)); field++) {
		if (field == 3)
			h->state = *word;
		if (!machine_number(word, &v))
			continue;
		if (field == 4) {
			h->parent = (__u32)v;
		} else if (field == 10) {
			h->minor = v;
		} else if (field == 12) {
			h->major = v;
		} else if (field == 22) {
			h->start = v;
			return true;
		}
	}
	return false;
}

/* RssAnon and its like: since v4.5; before, all but swap and tables is in VmRSS alone. */
void process_parse_status(char *text, struct machine_holder *h)
{
	char *line, *name;
	__u64 v, rss = 0;

	while ((line = machine_line(&text))) {
		name = machine_word(&line);
		if (!name || !machine_number(machine_word(&line), &v))
			continue;
		if (!strcmp(name, "Uid:")) {
			/* real, effective, ... */
			if (machine_number(machine_word(&line), &v))
				h->uid = (__u32)v;
			continue;
		}
		v = machine_times(v, 1024);
		if (!strcmp(name, "VmRSS:"))
			rss = v;
		else if (!strcmp(name, "RssAnon:"))
			h->anon = v;
		else if (!strcmp(name, "RssFile:"))
			h->file = v;
		else if (!strcmp(name, "RssShmem:"))
			h->shmem = v;
		else if (!strcmp(name, "VmSwap:"))
			h->swap = v;
		else if (!strcmp(name, "VmData:"))
			h->data = v;
		else if (!strcmp(name, "VmLck:"))
			h->locked = v;
		else if (!strcmp(name, "VmPin:"))
			h->pinned = v;
		else if (!strcmp(name, "VmSize:"))
			h->space = v;
		else if (!strcmp(name, "HugetlbPages:"))
			h->hugetlb = v;
		else if (!strcmp(name, "VmPTE:") || !strcmp(name, "VmPMD:"))
			h->tables += v;		/* VmPMD: v4.0 to v4.14 */
	}
	/* not of pages of files, where they are told apart: others need them, too */
	h->bytes = rss + h->swap;
}

/* Dead, and still in the table: its parent does not wait for it. */
static int add_zombie(struct machine *m, __u32 parent)
{
	struct machine_holder *h;

	m->zombies.has = true;
	for (size_t i = m->zombies.nr; i > 0; i--)
		if (m->zombies.at[i - 1].pid == parent) {
			m->zombies.at[i - 1].objects++;
			return 0;
		}
	h = m->zombies.nr < ZOMBIE_PARENTS ? machine_add(&m->zombies) : NULL;
	if (!h)
		return m->zombies.nr < ZOMBIE_PARENTS ? -ENOMEM : 0;
	h->name = "";
	h->pid = parent;
	h->objects = 1;
	return 0;
}

static void name_parents(struct machine *m)
{
	for (size_t i = 0; i < m->zombies.nr; i++)
		for (size_t k = 0; k < m->processes.nr; k++)
			if (m->processes.at[k].pid == m->zombies.at[i].pid)
				m->zombies.at[i].name = m->processes.at[k].name;
}

static int one_process(const struct machine_at *at, struct machine *m, __u32 pid)
{
	struct machine_holder h = { .pid = pid };
	struct machine_holder *new;
	char path[64], comm[16], *text;
	bool ok;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	text = machine_file(at, path, FILE_SMALL, &err);
	if (!text)
		return err == -ENOMEM ? err : 0;	/* it went */
	ok = process_parse_stat(text, &h, comm);
	free(text);
	if (ok && h.state == 'Z')
		return add_zombie(m, h.parent);
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	text = ok ? machine_file(at, path, FILE_SMALL, &err) : NULL;
	if (!text)
		return 0;
	process_parse_status(text, &h);
	free(text);
	if (!h.bytes && !h.space && h.state != 'X')
		m->kernel_threads++;
	if (!h.bytes)
		return 0;	/* of the kernel, or dead */
	h.name = machine_name(m, comm, strlen(comm));
	new = h.name ? machine_add(&m->processes) : NULL;
	if (!new)
		return -ENOMEM;
	*new = h;
	m->processes.has = true;
	return 0;
}

int processes_read(const struct machine_at *at, struct machine *m)
{
	const __u64 end = machine_now() + at->budget_ns;
	char path[PATH_MAX];
	struct dirent *d;
	int ret = 0;
	__u64 pid;
	DIR *dir;

	m->processes.uptime = m->uptime;
	if (at->only)
		return one_process(at, m, at->only);
	snprintf(path, sizeof(path), "%s/proc", at->root);
	dir = opendir(path);
	if (!dir) {
		machine_gap(m, "/proc: %s; growth of processes is unknown",
			    strerror(errno));
		return 0;
	}
	while (!ret && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]) ||
		    !machine_number(d->d_name, &pid) || pid > INT_MAX || pid == at->self)
			continue;
		m->processes_seen++;
		if (m->processes.late || machine_now() > end)
			m->processes.late++;
		else
			ret = one_process(at, m, (__u32)pid);
	}
	closedir(dir);
	name_parents(m);
	if (m->processes.late)
		machine_gap(m, "%zu of %zu processes were not read for lack of time; one of them "
			    "may grow", m->processes.late, m->processes_seen);
	return ret;
}

bool machine_find_group(const struct machine_at *at, __s32 pid, char *path, size_t len, bool *v2)
{
	char name[64], *text, *rest, *line, *list, *dir;
	bool found = false;
	int err;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	text = machine_file(at, name, FILE_SMALL, &err);
	rest = text;
	while (text && (line = machine_line(&rest))) {
		list = strchr(line, ':');
		dir = list ? strchr(list + 1, ':') : NULL;
		if (!dir)
			continue;
		*dir++ = '\0';
		list++;
		/* of both, the controller is where v1 has it */
		if (*list ? !has_word(list, "memory") : found)
			continue;
		found = (size_t)snprintf(path, len, "%s", dir) < len;
		*v2 = !*list;
		if (*list)
			break;
	}
	free(text);
	return found;
}

const char *machine_group_name(const struct machine_at *at, struct machine *m, __u32 pid)
{
	char path[PATH_MAX];
	bool v2;

	if (!machine_find_group(at, (__s32)pid, path, sizeof(path), &v2))
		*path = '\0';
	return machine_name(m, path, strlen(path));
}

int machine_read_groups(const struct machine_at *at, struct machine *m,
			const struct machine *before)
{
	const struct machine_list *was = before ? &before->processes : NULL;
	size_t from = 0, i;

	for (size_t k = 0; k < m->processes.nr; k++) {
		struct machine_holder *h = &m->processes.at[k];
		const char *known = NULL;

		/* both go by PID, mostly */
		for (i = from; was && i < was->nr && was->at[i].pid < h->pid; i++)
			;
		if (was && i < was->nr && was->at[i].pid == h->pid) {
			if (was->at[i].start == h->start)
				known = was->at[i].cgroup;
			from = i;
		}
		h->cgroup = known ? machine_name(m, known, strlen(known)) :
				    machine_group_name(at, m, h->pid);
		if (!h->cgroup)
			return -ENOMEM;
	}
	return 0;
}

bool machine_has_process(const struct machine_at *at, __u32 pid, __u64 start)
{
	struct machine_holder h = { .pid = pid };
	char path[64], comm[16], *text;
	bool is;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	text = machine_file(at, path, FILE_SMALL, &err);
	is = text && process_parse_stat(text, &h, comm) && h.start == start && h.state != 'Z';
	free(text);
	return is;
}
