// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/log.c ctl/machine/text.c ctl/machine/oom_log.c ctl/machine/oom_log_lines.c */
/* LINK: ctl/machine/oom_log_prefix.c ctl/machine/oom_log_sums.c ctl/machine/oom_log_memtap.c */
/* LINK: kmod/core/names.c */
/*
 * Saved kernel logs: prefixes, and reports that lack a line, or all lines from one on.  Of what is
 * lost nothing is said, and nothing else changes.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/oom_log_int.h"
#include "tap.h"

#define MOST_LINES	400

/* --- prefixes ------------------------------------------------------------------- */

static const struct {
	const char *line, *text, *when;
} prefixes[] = {
	{ "Out of memory: x", "Out of memory: x", "" },
	{ "[   12.345678] Mem-Info:", "Mem-Info:", "12.345678" },
	{ "[   12.345678]  active_file:1", " active_file:1", "12.345678" },
	{ "<4>[   12.345678] Mem-Info:", "Mem-Info:", "12.345678" },
	{ "<4>Mem-Info:", "Mem-Info:", "" },
	{ "4,812,12345678,-;Mem-Info:", "Mem-Info:", "12.345678" },
	{ "4,812,12345678,-,caller=T7;Mem-Info:", "Mem-Info:", "12.345678" },
	{ "[   12.345678][  T812] Mem-Info:", "Mem-Info:", "12.345678" },
	{ "[   12.345678][    C1] Mem-Info:\r", "Mem-Info:", "12.345678" },
	{ "[Sun Nov 29 07:45:44 2026] Mem-Info:", "Mem-Info:", "Sun Nov 29 07:45:44 2026" },
	{ "2026-11-29T07:45:44,123456+00:00 Mem-Info:", "Mem-Info:",
	  "2026-11-29T07:45:44,123456+00:00" },
	{ "Nov 29 07:45:44 host kernel: Mem-Info:", "Mem-Info:", "Nov 29 07:45:44" },
	{ "Nov  9 07:45:44 host kernel: [ 12.5] Mem-Info:", "Mem-Info:", "Nov  9 07:45:44" },
	{ "Nov 29 07:45:44.123456 host kernel: Mem-Info:", "Mem-Info:", "Nov 29 07:45:44.123456" },
	{ "2026-11-29T07:45:44+0000 host kernel: Mem-Info:", "Mem-Info:",
	  "2026-11-29T07:45:44+0000" },
	{ "2026-11-29T07:45:44.1+01:00 host kernel: [ 12.5] Mem-Info:", "Mem-Info:",
	  "2026-11-29T07:45:44.1+01:00" },
	{ "[   12.345678] host kernel: Mem-Info:", "Mem-Info:", "12.345678" },
	{ "tty3| [   12.345678] Mem-Info:", "Mem-Info:", "12.345678" },
	{ "Nov 29 07:45:44 host sshd[12]: Killed process 1 (x)", NULL, "" },
	{ "Nov 29 07:45:44 host systemd: Killed process 1 (x)", NULL, "" },
	/* a row of the list, and names that look like something else */
	{ "[  812]     0   812     100", "[  812]     0   812     100", "" },
	{ "[ 12.5] [  812]     0   812     100", "[  812]     0   812     100", "12.5" },
	{ "[ 12.5] memtap: machine: page 4 kB", "memtap: machine: page 4 kB", "12.5" },
};

static void test_prefixes(void)
{
	char line[256], when[40], *text;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(line, sizeof(line), "%s", prefixes[i].line);
		*when = '\0';
		text = oom_log_text(line, when);
		if (!prefixes[i].text) {
			ok(!text, "another program's: %s", prefixes[i].line);
			continue;
		}
		ok(text && !strcmp(text, prefixes[i].text), "%s: %s", prefixes[i].line,
		   text ? text : "(nothing)");
		ok(!strcmp(when, prefixes[i].when), "its time: '%s'", when);
	}
}

/* --- logs that lack something ------------------------------------------------------ */

static char *lines[MOST_LINES];
static size_t nr_lines;

static char *load(const char *name)
{
	char path[256], *all = NULL, *p;
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof(path), "../tests/golden/oomlog/%s.log", name);
	f = fopen(path, "re");
	if (!f || getdelim(&all, &len, '\0', f) < 0) {
		ok(0, "%s can be read", path);
		return NULL;
	}
	fclose(f);
	nr_lines = 0;
	for (p = strtok(all, "\n"); p && nr_lines < MOST_LINES; p = strtok(NULL, "\n"))
		lines[nr_lines++] = p;
	return all;
}

/* Reads the log's lines up to @end, without number @without. */
static void read_part(size_t end, size_t without, struct oom_log *log)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < end; i++)
		if (i != without)
			fprintf(f, "%s\n", lines[i]);
	fclose(f);
	f = fmemopen(text, len ? len : 1, "r");
	if (oom_log_read(f, log))
		abort();
	fclose(f);
	free(text);
}

static bool same_or_unknown(__u64 a, __u64 whole, __u64 unknown)
{
	return a == whole || a == unknown;
}

/* Is all that @k says the same as what the whole log says? */
static const char *differs(const struct oom_log_kill *k, const struct oom_log_kill *whole)
{
	const struct memtap_oom_record *r = &k->r, *w = &whole->r;

	/* a line that names one of several may be taken for a kill of its own */
	for (__u32 i = 0; i < w->nr_members && i < MEMTAP_OOM_MEMBERS; i++)
		if (k->has & OOM_LOG_BARE && r->victim.pid == w->members[i].pid)
			return NULL;
	if (r->victim.pid && r->victim.pid != w->victim.pid)
		return "victim";
	if (k->has & OOM_LOG_SIZED && (r->victim.anon != w->victim.anon ||
				       r->victim.file != w->victim.file))
		return "victim's sizes";
	if (k->has & OOM_LOG_TRIGGER && whole->has & OOM_LOG_TRIGGER &&
	    r->trigger.tid != w->trigger.tid)
		return "trigger";
	if (k->has & OOM_LOG_CONSTRAINT && r->constraint != w->constraint)
		return "constraint";
	if (!same_or_unknown(r->total, w->total, 0))
		return "total";
	if (!same_or_unknown(r->limit, w->limit, MEMTAP_OOM_UNKNOWN) ||
	    !same_or_unknown(r->usage, w->usage, MEMTAP_OOM_UNKNOWN))
		return "limit";
	if (!same_or_unknown(r->counters[MEMTAP_VM_FREE], w->counters[MEMTAP_VM_FREE],
			     MEMTAP_OOM_UNKNOWN) ||
	    !same_or_unknown(r->counters[MEMTAP_VM_SLAB], w->counters[MEMTAP_VM_SLAB],
			     MEMTAP_OOM_UNKNOWN) ||
	    !same_or_unknown(r->counters[MEMTAP_VM_STACKS], w->counters[MEMTAP_VM_STACKS],
			     MEMTAP_OOM_UNKNOWN))
		return "counters";
	return NULL;
}

static bool has_line(const char *words, size_t end, size_t without)
{
	for (size_t i = 0; i < end; i++)
		if (i != without && strstr(lines[i], words))
			return true;
	return false;
}

static void one(const char *name, size_t end, size_t without, const struct oom_log *whole,
		size_t *wrong)
{
	struct oom_log log;
	const char *what;

	read_part(end, without, &log);
	for (size_t i = 0; i < log.nr; i++) {
		/* without its first line a report may be two pieces, or none */
		what = NULL;
		for (size_t j = 0; j < whole->nr; j++) {
			what = differs(&log.at[i], &whole->at[j]);
			if (!what)
				break;
		}
		if (what) {
			(*wrong)++;
			printf("# %s, up to %zu, without %zu: another %s\n", name, end, without,
			       what);
		}
		if (log.at[i].has & OOM_LOG_KILLED && !(log.at[i].has & OOM_LOG_EARLIER) &&
		    !has_line("Killed process ", end, without)) {
			(*wrong)++;
			printf("# %s, up to %zu, without %zu: killed, but no line says so\n", name,
			       end, without);
		}
	}
	oom_log_free(&log);
}

static void test_damaged(const char *name)
{
	char *all = load(name);
	struct oom_log whole;
	size_t wrong = 0;

	if (!all)
		return;
	read_part(nr_lines, ~0UL, &whole);
	ok(whole.nr && whole.at[0].r.victim.pid, "%s: has a kill", name);
	for (size_t i = 0; i < nr_lines; i++)
		one(name, i, ~0UL, &whole, &wrong);
	is(wrong, 0, "%s: cut anywhere, it says nothing else", name);
	wrong = 0;
	for (size_t i = 0; i < nr_lines; i++)
		one(name, nr_lines, i, &whole, &wrong);
	is(wrong, 0, "%s: without any line, it says nothing else", name);
	oom_log_free(&whole);
	free(all);
}

int main(void)
{
	static const char *const names[] = { "3.10-machine", "3.10-cgroup", "4.9-many",
					     "4.18-tmpfs", "6.12-cgroup", "6.1-panic",
					     "5.10-panic" };

	test_prefixes();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		test_damaged(names[i]);
	return tap_done();
}
