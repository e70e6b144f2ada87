// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the kernel log: OOM kills and failed allocations. */
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
		if (!close || sscanf(line, "<%u>[%lf", &prio, at) != 2 || prio >= 8)
			return NULL;
		return close + 2;
	}
	semicolon = strchr(line, ';');
	if (!semicolon || sscanf(line, "%u,%u,%llu,", &prio, &sequence, &us) != 3)
		return NULL;
	/* what programs write into it is not the kernel's */
	if (prio >= 8)
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

/* Bytes that /dev/kmsg does not print are \xNN there. */
static void unescape(char *text)
{
	char *to = text;
	unsigned int byte;
	int len;

	while (*text) {
		len = 0;
		if (text[0] == '\\' && text[1] == 'x' &&
		    sscanf(text + 2, "%2x%n", &byte, &len) == 1 && len == 2 && byte) {
			*to++ = (char)byte;
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static void set_path(char *to, size_t room, const char *from, size_t len)
{
	if (len >= room)
		len = room - 1;
	memcpy(to, from, len);
	to[len] = '\0';
	unescape(to);
}

/* "/a b" and "/a b/c" */
static bool is_below(const char *path, size_t len, const char *of, size_t of_len)
{
	return of_len == 1 || (len >= of_len && !strncmp(path, of, of_len) &&
			       (len == of_len || path[of_len] == '/'));
}

/*
 * "...,oom_memcg=/a b,task_memcg=/a b/c,task=d,pid=1,uid=0": names may have blanks, commas and
 * these very words.  The second path is that of the victim, below the first.
 */
void log_limit_of(const char *line, char *to, size_t room)
{
	static const char first[] = ",oom_memcg=/", second[] = ",task_memcg=/", end[] = ",task=";
	const char *of = strstr(line, first), *task, *stop = NULL, *p;

	if (!of)
		return;
	of += sizeof(first) - 2;
	for (p = of; (p = strstr(p, end)); p++)
		stop = p;
	for (task = strstr(of, second); stop && task && task < stop;
	     task = strstr(task + 1, second)) {
		const char *path = task + sizeof(second) - 2;

		if (is_below(path, (size_t)(stop - path), of, (size_t)(task - of))) {
			set_path(to, room, of, (size_t)(task - of));
			return;
		}
	}
}

/* "...,pid=1,uid=0", at its end. */
__u32 log_victim_of(const char *line)
{
	const char *p = line, *last = NULL;
	unsigned int pid = 0;

	while ((p = strstr(p, ",pid=")))
		last = p++;
	return last && sscanf(last, ",pid=%u", &pid) == 1 ? pid : 0;
}

static enum machine_short constraint_of(const char *line)
{
	static const struct {
		const char *word;
		enum machine_short what;
	} words[] = {
		{ "CONSTRAINT_NONE,", SHORT_MACHINE }, { "CONSTRAINT_MEMCG,", SHORT_CGROUP },
		{ "CONSTRAINT_CPUSET,", SHORT_CPUSET },
		{ "CONSTRAINT_MEMORY_POLICY,", SHORT_POLICY },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(line, words[i].word, strlen(words[i].word)))
			return words[i].what;
	return SHORT_UNKNOWN;
}

static void keep(struct machine_log *log, const struct machine_kill *k)
{
	struct machine_kill *last = log->kills + (log->nr < MACHINE_KILLS ? log->nr :
						  MACHINE_KILLS) - 1;

	/* some kernels say it twice */
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

/*
 * A kill's report comes before the line that names who is killed, and only before it: the kernel
 * leaves out the reports of many kills in a short time, never those lines.
 */
struct report {
	bool is;			/* there is one, for the next kill */
	bool was;			/* there was one for the last kill */
	bool memcg, global;		/* "Kill process": before v4.20 a line of its own */
	__u32 pid;			/* of the victim; 0: it does not say */
	double group_at;		/* others of its cgroup are killed since then; 0: none */
	enum machine_short what;
	char cgroup[sizeof(((struct machine_kill *)0)->cgroup)];
};

/* memory.oom.group: the others are killed at once, each with a line. */
#define GROUP_LASTS	0.1

/* What is known of the kill of @k, whose line begins with these words. */
static void take_report(struct report *r, struct machine_kill *k, const char *line)
{
	const bool memcg = r->memcg || !strncmp(line, "Memory cgroup out", 17);
	const bool global = r->global || !strncmp(line, "Out of memory", 13);
	const bool group = r->group_at > 0 && r->was && k->at - r->group_at < GROUP_LASTS;

	if ((r->is && (!r->pid || r->pid == k->pid)) || group) {
		k->what = r->what;
		memcpy(k->cgroup, r->cgroup, sizeof(k->cgroup));
		r->was = true;
	} else {
		r->was = false;
	}
	if (memcg && k->what != SHORT_CGROUP) {
		k->what = SHORT_CGROUP;
		k->cgroup[0] = '\0';
	}
	if (global && k->what == SHORT_UNKNOWN)
		k->what = SHORT_NODES;
	r->is = false;
	r->memcg = false;
	r->global = false;
	if (!group)
		r->group_at = 0;
}

static void parse_limit(struct report *r, const char *line)
{
	static const char words[] = " killed as a result of limit of ";
	const char *p = line, *last = NULL;

	while ((p = strstr(p, words)))
		last = p++;
	if (!last)
		return;
	r->what = SHORT_CGROUP;
	last += sizeof(words) - 1;
	set_path(r->cgroup, sizeof(r->cgroup), last, strlen(last));
}

static void parse_kill(struct machine_log *log, struct report *r, const char *line, double at)
{
	struct machine_kill k = { .at = at };
	const char *p = strstr(line, "Killed process ");

	if (!p) {
		/* who is chosen; the one that is killed may be a child */
		r->memcg = !strncmp(line, "Memory cgroup out", 17);
		r->global = !strncmp(line, "Out of memory", 13);
		return;
	}
	k.rss = kb_after(p, "anon-rss:") + kb_after(p, "file-rss:") + kb_after(p, "shmem-rss:");
	if (!killed(strstr(p, "process "), &k))
		return;
	take_report(r, &k, line);
	keep(log, &k);
}

/* @rep: what the lines so far say of the next kill */
static void parse_more(char *text, struct machine_log *log, struct report *rep)
{
	char *line, *p, *who;
	unsigned int order;
	double at = 0;

	while ((line = machine_line(&text))) {
		who = head(line, &at);
		if (!who)
			continue;
		if (strstr(who, " invoked oom-killer: ")) {
			memset(rep, 0, sizeof(*rep));
			rep->is = true;
		} else if (!strncmp(who, "oom-kill:constraint=", 20)) {
			memset(rep, 0, sizeof(*rep));
			rep->is = true;
			rep->pid = log_victim_of(who);
			rep->what = constraint_of(who + 20);
			if (rep->what == SHORT_CGROUP)
				log_limit_of(who, rep->cgroup, sizeof(rep->cgroup));
		} else if (!strncmp(who, "Task in ", 8)) {
			parse_limit(rep, who);
		} else if (!strncmp(who, "Tasks in ", 9) && strstr(who, "memory.oom.group")) {
			rep->group_at = at;
		} else if (strstr(who, "Killed process ") || strstr(who, "Kill process ")) {
			parse_kill(log, rep, who, at);
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

void log_parse(char *text, struct machine_log *log)
{
	struct report r = { 0 };

	parse_more(text, log, &r);
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

/* Of a machine with one node a policy or a cpuset can take nothing away. */
static void all_nodes(struct machine *m)
{
	for (size_t i = 0; i < m->nr_zones; i++)
		if (m->zones[i].node != m->zones[0].node)
			return;
	for (size_t i = 0; m->nr_zones && i < MACHINE_KILLS; i++)
		if (m->log.kills[i].what == SHORT_NODES)
			m->log.kills[i].what = SHORT_MACHINE;
}

struct machine_follow {
	int fd;
	struct report report;
	struct machine_log log;
};

struct machine_follow *machine_follow(void)
{
	struct machine_follow *f = calloc(1, sizeof(*f));

	if (f)
		f->fd = -1;
	return f;
}

void machine_follow_end(struct machine_follow *f)
{
	if (f && f->fd >= 0)
		close(f->fd);
	free(f);
}

void log_read(const struct machine_at *at, struct machine *m)
{
	struct machine_follow *f = at->follow;
	char path[PATH_MAX], *text;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/kmsg", at->root);
	fd = f && f->fd >= 0 ? f->fd : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		machine_gap(m, "/dev/kmsg: %s; the victims of OOM kills are unknown%s",
			    strerror(errno), m->f.has_vm[VM_OOM_KILLS] ?
			    ", only their number is known" : ", and so is their number");
		return;
	}
	text = read_records(fd);
	if (f)
		f->fd = fd;
	else
		close(fd);
	if (!text)
		return;
	if (f) {
		parse_more(text, &f->log, &f->report);
		m->log = f->log;
	} else {
		log_parse(text, &m->log);
	}
	all_nodes(m);
	m->log.has = true;
	free(text);
}
