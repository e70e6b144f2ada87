// SPDX-License-Identifier: GPL-2.0-or-later
/* Read OOM kills from a saved kernel log: which line belongs to which of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/oom_log_int.h"

#define MOST_KILLS	10000
#define LONGEST		(1U << 16)	/* of a line; the rest of it is passed over */

static void begin(struct oom_log_part *p, const char *when)
{
	struct memtap_oom_record *r = &p->k.r;

	memset(p, 0, sizeof(*p));
	p->open = true;
	snprintf(p->k.when, sizeof(p->k.when), "%s", when);
	r->size = sizeof(*r);
	r->flags = MEMTAP_OOM_LOGGED | MEMTAP_OOM_DONE;
	r->points = (__s64)MEMTAP_OOM_UNKNOWN;
	r->limit = MEMTAP_OOM_UNKNOWN;
	r->usage = MEMTAP_OOM_UNKNOWN;
	for (__u32 i = 0; i < MEMTAP_VM_SLOTS; i++) {
		r->counters[i] = MEMTAP_OOM_UNKNOWN;
		r->node_counters[i] = MEMTAP_OOM_UNKNOWN;
	}
	for (__u32 i = 0; i < MEMTAP_NR_VM; i++)
		p->pages[i] = MEMTAP_OOM_UNKNOWN;
	for (__u32 i = 0; i < MEMTAP_CHARGED_SLOTS; i++)
		r->charged[i] = MEMTAP_OOM_UNKNOWN;
	p->mapped = MEMTAP_OOM_UNKNOWN;
	p->stat_mapped = MEMTAP_OOM_UNKNOWN;
}

static int keep(struct oom_log *log, const struct oom_log_kill *k)
{
	const size_t room = log->room ? 2 * log->room : 8;
	struct oom_log_kill *more;

	if (log->nr == MOST_KILLS) {
		memmove(log->at, log->at + 1, (MOST_KILLS - 1) * sizeof(*log->at));
		log->nr--;
	}
	if (log->nr == log->room) {
		more = realloc(log->at, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		log->at = more;
		log->room = room;
	}
	log->at[log->nr++] = *k;
	return 0;
}

static bool has_kill(const struct oom_log *log, __s32 pid)
{
	for (size_t i = 0; i < log->nr; i++)
		if (log->at[i].r.victim.pid == pid)
			return true;
	return false;
}

static bool is_oom(const char *panic)
{
	return strstr(panic, "Out of memory") || strstr(panic, "deadlocked on memory");
}

/* Nothing more comes of the open one. */
static int finish(struct oom_log *log, struct oom_log_part *p, struct oom_log_part *earlier)
{
	int err = 0;

	if (earlier->open && earlier->k.has & OOM_LOG_CHOSEN &&
	    !has_kill(log, earlier->k.r.victim.pid)) {
		oom_log_finish(earlier);
		earlier->k.r.nr = log->nr + 1;
		err = keep(log, &earlier->k);
	}
	earlier->open = false;
	if (!p->open || err) {
		free(p->rows);
		p->rows = NULL;
		p->open = false;
		return err;
	}
	p->open = false;
	oom_log_finish(p);
	/* the kernel prints the state of its memory on other occasions, too */
	if (p->tentative && !(p->k.has & (OOM_LOG_CHOSEN | OOM_LOG_NO_VICTIM)) &&
	    !is_oom(p->k.panic))
		return 0;
	p->k.r.nr = log->nr + 1;
	return keep(log, &p->k);
}

static bool kills(const char *text)
{
	return strstr(text, "Killed process ") &&
	       (!strncmp(text, "Killed process ", 15) || !strncmp(text, "Out of memory", 13) ||
		!strncmp(text, "Memory cgroup out of memory", 27));
}

/*
 * A victim of this report, or a second one: a child, or of the same cgroup.  One that its list does
 * not have is of another report, if it is not even known that this one is of an OOM kill.
 */
static bool goes_on(const struct oom_log_part *p, const char *text)
{
	char name[16];
	__s32 pid;

	if (!oom_log_victim(strstr(text, "Killed process ") + 7, &pid, name))
		return true;
	if (p->tentative && p->nr_rows && !oom_log_lists(p, pid))
		return false;
	return !(p->k.has & OOM_LOG_KILLED) || p->group || pid == p->k.r.victim.pid;
}

/* A line of the middle of a report, which nothing prints behind a kill. */
static bool is_middle(const char *text)
{
	static const char *const first[] = {
		"Mem-Info:", "memory: usage ", "Task in /", "[ pid ]", "[  pid  ]", "active_anon:",
		"oom-kill:constraint=",
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (!strncmp(text, first[i], strlen(first[i])))
			return true;
	return false;
}

static bool is_failure(const char *text)
{
	return strstr(text, ": page allocation failure: order:") ||
	       strstr(text, ": page allocation failure. order:");
}

/* Does a report begin here whose first line is lost? */
static bool begins_late(const struct oom_log_part *p, const char *text)
{
	return is_middle(text) && (!p->open || p->k.has & OOM_LOG_KILLED);
}

/* Behind a kill only what is said of kills belongs to it. */
static bool is_over(const struct oom_log_part *p, const char *text)
{
	return p->k.has & OOM_LOG_KILLED && !kills(text) && !strstr(text, "Kill process ") &&
	       !strstr(text, "memory.oom.group set");
}

static int one_line(struct oom_log *log, struct oom_log_part *p, struct oom_log_part *earlier,
		    char *text, const char *when)
{
	int err = 0;

	if (!strncmp(text, "memtap: ", 8)) {
		if (!strncmp(text + 8, "memory at this panic: ", 22) &&
		    (!p->open || !(p->k.has & OOM_LOG_PANIC))) {
			err = finish(log, p, earlier);
			begin(p, when);
		}
		if (!strncmp(text + 8, "last OOM kill:", 14))
			begin(earlier, "");
		if (p->open)
			oom_log_memtap(&p->k, &earlier->k, text + 8);
		return err;
	}
	if (strstr(text, " invoked oom-killer: ")) {
		err = finish(log, p, earlier);
		begin(p, when);
	} else if (kills(text) && (!p->open || p->failure || !goes_on(p, text))) {
		err = finish(log, p, earlier);
		begin(p, when);
		p->k.has |= OOM_LOG_BARE;
	} else if (!strncmp(text, "Kernel panic - not syncing: ", 28)) {
		/* one with another reason may follow a kill, and memtap's report may follow it */
		if (!p->open || p->k.has & OOM_LOG_KILLED || !is_oom(text)) {
			err = finish(log, p, earlier);
			begin(p, when);
		}
	} else if (is_failure(text)) {
		err = finish(log, p, earlier);
		begin(p, when);
		p->tentative = true;
		p->failure = true;
	} else if (begins_late(p, text)) {
		err = finish(log, p, earlier);
		begin(p, when);
		p->tentative = true;
	}
	if (!err && p->open && !is_over(p, text))
		oom_log_line(p, text);
	return err;
}

/* A panic that neither is for want of memory nor has memtap's report is none of ours. */
static void drop_others(struct oom_log *log)
{
	size_t n = 0;

	for (size_t i = 0; i < log->nr; i++) {
		const __u32 has = log->at[i].has;

		if (has & OOM_LOG_PANIC && !(has & (OOM_LOG_MEMTAP | OOM_LOG_INVOKED)) &&
		    !is_oom(log->at[i].panic))
			continue;
		log->at[n++] = log->at[i];
		log->at[n - 1].r.nr = n;
	}
	log->nr = n;
}

int oom_log_read(FILE *f, struct oom_log *log)
{
	struct oom_log_part *p = calloc(2, sizeof(*p)), *earlier = p ? p + 1 : NULL;
	char *line = malloc(LONGEST), *text;
	char when[40];
	size_t len;
	int err = p && line ? 0 : -ENOMEM, c = 0;

	memset(log, 0, sizeof(*log));
	while (!err && c != EOF) {
		for (len = 0; (c = getc_unlocked(f)) != EOF && c != '\n';)
			if (len < LONGEST - 1)
				line[len++] = c ? (char)c : ' ';
		line[len] = '\0';
		log->lines += len || c != EOF;
		*when = '\0';
		text = oom_log_text(line, when);
		if (text && *text)
			err = one_line(log, p, earlier, text, when);
	}
	if (p && !err)
		err = finish(log, p, earlier);
	if (p)
		free(p->rows);
	free(p);
	free(line);
	drop_others(log);
	for (size_t i = 0; i < log->nr; i++)
		if (!*log->at[i].when)
			snprintf(log->at[i].when, sizeof(log->at[i].when), "(no time)");
	return err;
}

void oom_log_free(struct oom_log *log)
{
	free(log->at);
	memset(log, 0, sizeof(*log));
}
