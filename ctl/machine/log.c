// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's log: who was killed for memory, and what could not be allocated. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/int.h"

/*
 * "6,1234,5678901,-;text" of /dev/kmsg, "<6>[    5.678901] text" of dmesg --raw.  Returns
 * the text; NULL: a line that continues one.
 */
static char *head(char *line, double *at)
{
	char *semicolon, *close;
	unsigned long long us;
	unsigned int prio, sequence;

	if (line[0] == '<') {
		close = strstr(line, "] ");
		if (!close || sscanf(line, "<%u>[%lf", &prio, at) != 2)
			return NULL;
		return close + 2;
	}
	semicolon = strchr(line, ';');
	if (!semicolon || sscanf(line, "%u,%u,%llu,", &prio, &sequence, &us) != 3)
		return NULL;
	*at = (double)us / 1e6;
	return semicolon + 1;
}

/* "process 123 (comm) ...": the name may have brackets in it */
static bool killed(const char *text, struct machine_kill *k)
{
	const char *open, *end;
	unsigned int pid;
	size_t len;

	if (sscanf(text, "process %u", &pid) != 1)
		return false;
	k->pid = pid;
	open = strchr(text, '(');
	if (!open)
		return true;
	end = strstr(open, ") total-vm");
	if (!end)
		end = strstr(open, ") score");
	if (!end)
		end = strchr(open, ')');
	len = end ? (size_t)(end - open - 1) : strlen(open + 1);
	if (len > sizeof(k->comm) - 1)
		len = sizeof(k->comm) - 1;
	memcpy(k->comm, open + 1, len);
	k->comm[len] = '\0';
	return true;
}

static __u64 kb_after(const char *text, const char *name)
{
	const char *p = strstr(text, name);
	unsigned long long kb;

	if (!p || sscanf(p + strlen(name), "%llukB", &kb) != 1)
		return 0;
	return machine_times(kb, 1024);
}

static void value_after(const char *text, const char *name, char *to, size_t room)
{
	const char *p = strstr(text, name);
	size_t len;

	if (!p)
		return;
	p += strlen(name);
	len = strcspn(p, ", ");
	if (len >= room)
		len = room - 1;
	memcpy(to, p, len);
	to[len] = '\0';
}

static void keep(struct machine_log *log, const struct machine_kill *k)
{
	struct machine_kill *last = log->kills + (log->nr < MACHINE_KILLS ? log->nr :
						  MACHINE_KILLS) - 1;

	/* before v4.20 it has two lines: who is chosen, and who was killed */
	if (log->nr && last->pid == k->pid && k->at - last->at < 5) {
		last->rss = k->rss ? k->rss : last->rss;
		return;
	}
	if (log->nr >= MACHINE_KILLS)
		memmove(log->kills, log->kills + 1,
			(MACHINE_KILLS - 1) * sizeof(log->kills[0]));
	log->kills[log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS - 1] = *k;
	log->nr++;
}

void log_parse(char *text, struct machine_log *log)
{
	struct machine_kill k = { 0 };
	char *line, *p, *who;
	unsigned int order;
	double at = 0;

	while ((line = machine_line(&text))) {
		who = head(line, &at);
		if (!who)
			continue;
		if (strstr(who, "invoked oom-killer")) {
			memset(&k, 0, sizeof(k));
		} else if (!strncmp(who, "oom-kill:constraint=", 20)) {
			k.memcg = strstr(who, "CONSTRAINT_MEMCG") != NULL;
			value_after(who, "oom_memcg=", k.cgroup, sizeof(k.cgroup));
		} else if (!strncmp(who, "Task in ", 8) || !strncmp(who, "Tasks in ", 9)) {
			value_after(who, " limit of ", k.cgroup, sizeof(k.cgroup));
			k.memcg = true;
		} else if ((p = strstr(who, "Killed process ")) ||
			   (p = strstr(who, "Kill process "))) {
			k.at = at;
			k.memcg |= !strncmp(who, "Memory cgroup out", 17);
			k.rss = kb_after(p, "anon-rss:") + kb_after(p, "file-rss:") +
				kb_after(p, "shmem-rss:");
			if (killed(strstr(p, "process "), &k))
				keep(log, &k);
		} else if ((p = strstr(who, ": page allocation failure: order:"))) {
			log->failures++;
			log->failed_at = at;
			if (sscanf(p, ": page allocation failure: order:%u", &order) == 1)
				log->failed_order = order;
			*p = '\0';
			snprintf(log->failed_comm, sizeof(log->failed_comm), "%s", who);
		}
	}
}

/* /dev/kmsg gives a record for each read(), and then waits. */
static char *read_records(int fd)
{
	const size_t most = 8 << 20;
	size_t room = 1 << 16, len = 0;
	char *text = malloc(room), *more;
	ssize_t n;

	while (text && room <= most) {
		if (room - len < 9000) {
			more = realloc(text, room * 2);
			if (!more)
				break;
			text = more;
			room *= 2;
		}
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;	/* overwritten meanwhile */
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (text)
		text[len] = '\0';
	return text;
}

void log_read(const struct machine_at *at, struct machine *m)
{
	char path[PATH_MAX], *text;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/kmsg", at->root);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		machine_gap(m, "/dev/kmsg: %s; whom the OOM killer killed is not known%s",
			    strerror(errno), m->f.has_vm[VM_OOM_KILLS] ?
			    ", only how often" : ", nor how often");
		return;
	}
	text = read_records(fd);
	close(fd);
	if (!text)
		return;
	log_parse(text, &m->log);
	m->log.has = true;
	free(text);
}
