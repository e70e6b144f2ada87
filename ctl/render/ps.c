// SPDX-License-Identifier: GPL-2.0-or-later
/* Print `memtap ps` as a table: rows of owners, their sum, and what the kernel counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/ps_int.h"

/* When a column is there: always; where it is not 0 in some row; or where it is sorted by. */
enum when { ALWAYS, IF_ANY, IF_SORTED, OF_MAPPINGS, OF_PROCESSES };

static const struct {
	enum ps_sum sum;
	enum when when;
	const char *head;
} columns[] = {
	{ PS_SIZE, OF_MAPPINGS, "SIZE" },
	{ PS_RSS, ALWAYS, "RSS" },
	{ PS_PSS, ALWAYS, "PSS" },
	{ PS_USS, ALWAYS, "USS" },
	{ PS_ANON, IF_SORTED, "ANON" },
	{ PS_DIRTY, OF_MAPPINGS, "DIRTY" },
	{ PS_REFERENCED, IF_SORTED, "REFERENCED" },
	{ PS_SWAP, IF_ANY, "SWAP" },
	{ PS_SWAP_PSS, IF_ANY, "SWAP PSS" },
	{ PS_HUGE, IF_ANY, "HUGE" },
	{ PS_LAZY, IF_ANY, "LAZYFREE" },
	{ PS_KSM, IF_ANY, "KSM" },
	{ PS_LOCKED, IF_ANY, "LOCKED" },
	{ PS_HUGETLB, IF_ANY, "HUGETLB" },
	{ PS_TABLES, OF_PROCESSES, "TABLES" },
};

#define NR_COLUMNS	(sizeof(columns) / sizeof(columns[0]))

const char *const ps_by_words[] = {
	[BY_PROCESS] = "process", [BY_PROGRAM] = "program", [BY_USER] = "user",
	[BY_CGROUP] = "cgroup", [BY_CONTAINER] = "container", [BY_MAPPING] = "mapping",
};

struct table {
	const struct owners *w;
	const struct ps_opts *o;
	bool shown[NR_COLUMNS];
	FILE *out;
};

static bool is_shown(const struct table *t, size_t i)
{
	const bool mappings = t->o->map || t->o->by == BY_MAPPING;
	const enum ps_sum sum = columns[i].sum;

	if ((int)sum == t->o->sort || columns[i].when == ALWAYS)
		return true;
	if (columns[i].when == IF_ANY)
		return t->w->sum.v[sum] > 0;
	return columns[i].when == (mappings ? OF_MAPPINGS : OF_PROCESSES);
}

static void put_head(const struct table *t)
{
	if (t->o->map)
		fprintf(t->out, "%16s %-4s", "ADDRESS", "PERM");
	else if (t->o->by == BY_PROCESS)
		fprintf(t->out, "%7s %-8s", "PID", "USER");
	else
		fprintf(t->out, "%5s", "PROCS");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (t->shown[i])
			fprintf(t->out, " %10s", columns[i].head);
	for (__u32 i = 0; i < t->w->nr_nodes; i++) {
		char node[16];

		snprintf(node, sizeof(node), "NODE %u", i);
		fprintf(t->out, " %10s", node);
	}
	fprintf(t->out, "  %s\n", t->o->map ? "MAPPING" : t->o->by == BY_PROCESS ? "NAME" :
		t->o->by == BY_PROGRAM ? "PROGRAM" : t->o->by == BY_USER ? "USER" :
		t->o->by == BY_CGROUP ? "CGROUP" : t->o->by == BY_CONTAINER ? "CONTAINER" :
		"MAPPING");
}

static void put_values(const struct table *t, const struct owner *row)
{
	char text[TEXT_LEN];

	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const __u64 n = row->v[columns[i].sum];

		if (t->shown[i])
			fprintf(t->out, " %10s", !ps_known(t->w, row, columns[i].sum) ? "?" :
				n ? text_bytes(text, (__s64)n, false) : "-");
	}
	for (__u32 i = 0; i < t->w->nr_nodes; i++)
		fprintf(t->out, " %10s", row->nodes[i] ?
			text_bytes(text, (__s64)row->nodes[i], false) : "-");
}

static void put_row(const struct table *t, const struct owner *row)
{
	if (t->o->map) {
		fprintf(t->out, "%16llx %-4s", row->start, row->perms);
	} else if (t->o->by == BY_PROCESS) {
		char user[9];

		/* as ps(1) does: one that is too long ends in + */
		snprintf(user, sizeof(user), "%s", row->user);
		if (strlen(row->user) > 8)
			user[7] = '+';
		fprintf(t->out, "%7u ", row->pid);
		text_put(t->out, user, NULL);
		fprintf(t->out, "%*s", 8 - (int)strlen(user), "");
	} else {
		fprintf(t->out, "%5u", row->nr);
	}
	put_values(t, row);
	fputs("  ", t->out);
	text_put(t->out, row->name, NULL);
	if (!t->o->map && t->o->by != BY_PROCESS && row->unread)
		fprintf(t->out, " (%u not read)", row->unread);
	fputc('\n', t->out);
}

/* "47 of 112 rows are shown" and the sum of all. */
static void put_sum(const struct table *t, size_t shown)
{
	const struct owners *w = t->w;

	if (t->o->map)
		fprintf(t->out, "%16s %-4s", "", "");
	else if (t->o->by == BY_PROCESS)
		fprintf(t->out, "%7s %-8s", "", "");
	else
		fprintf(t->out, "%5s", "");
	put_values(t, &w->sum);
	fprintf(t->out, "  sum of %s%zu row%s\n", w->nr > 1 ? "all " : "", w->nr, text_s(w->nr));
	if (shown < w->nr)
		fprintf(t->out, "%zu of %zu rows are shown; --top 0 shows all\n", shown, w->nr);
}

static void put_unread(const struct owners *w, const struct machine *m,
		       const struct ps_opts *o)
{
	FILE *out = o->out;
	const size_t *nr = w->unread;
	const size_t sum = nr[OWNER_LATE] + nr[OWNER_REFUSED] + nr[OWNER_FAILED];
	char text[TEXT_LEN];

	if (nr[OWNER_REFUSED])
		fprintf(out, "%zu process%s not read: permission denied%s\n",
			nr[OWNER_REFUSED], nr[OWNER_REFUSED] == 1 ? "" : "es",
			o->root ? " even to root" : "; root can read all");
	if (nr[OWNER_LATE])
		fprintf(out, "%zu process%s not read for lack of time; -p PID reads one alone\n",
			nr[OWNER_LATE], nr[OWNER_LATE] == 1 ? "" : "es");
	if (nr[OWNER_FAILED])
		fprintf(out, "%zu process%s not read: %s\n", nr[OWNER_FAILED],
			nr[OWNER_FAILED] == 1 ? "" : "es", w->error == ENOENT ?
			"this kernel has no smaps (CONFIG_PROC_PAGE_MONITOR)" :
			strerror(w->error));
	if (sum)
		fprintf(out, "  RSS of what was not read: %s; the rest of it is unknown (?)\n",
			text_bytes(text, (__s64)w->unread_rss, false));
	if (m->processes.late && !w->chosen)
		fprintf(out, "%zu process%s in no row: there was no time to look at them\n",
			m->processes.late, m->processes.late == 1 ? " is" : "es are");
	if (nr[OWNER_GONE])
		fprintf(out, "%zu process%s ended meanwhile\n", nr[OWNER_GONE],
			nr[OWNER_GONE] == 1 ? "" : "es");
	if (w->numa_unread)
		fprintf(out, "%zu process%s without memory by node: numa_maps could not be read\n",
			w->numa_unread, w->numa_unread == 1 ? " is" : "es are");
}

static void put_checks(const struct owners *w, const struct machine *m, FILE *out)
{
	struct ps_check checks[PS_CHECKS];
	const size_t nr = ps_checks(w, m, checks);
	char sum[TEXT_LEN], kernel[TEXT_LEN], rest[TEXT_LEN];

	if (nr)
		fprintf(out, "\n%-20s %11s %14s %11s\n", "Sums and the kernel", "PROCESSES",
			"/proc/meminfo", "DIFFERENCE");
	for (size_t i = 0; i < nr; i++) {
		const __s64 more = (__s64)(checks[i].kernel - checks[i].sum);

		fprintf(out, "%-20s %11s %14s %11s\n", checks[i].name,
			text_bytes(sum, (__s64)checks[i].sum, false),
			text_bytes(kernel, (__s64)checks[i].kernel, false),
			more ? text_bytes(rest, more, true) : "-");
	}
}

/* Mapped by somebody, as the kernel counts, and not in the sum of PSS. */
static void put_in_no_row(const struct owners *w, __s64 bytes, FILE *out)
{
	const size_t *nr = w->unread;
	const size_t unread = nr[OWNER_LATE] + nr[OWNER_REFUSED] + nr[OWNER_FAILED];

	if (bytes < 0)
		fputs("more than the kernel counted: memory changed meanwhile\n", out);
	else if (unread)
		fprintf(out, "mapped, and not in this sum: %zu process%s not read\n", unread,
			unread == 1 ? " was" : "es were");
	else
		fputs("mapped, and not in this sum: processes that changed meanwhile, or drivers\n",
		      out);
}

static void put_parts(const struct owners *w, const struct machine *m, FILE *out)
{
	static const char *const words[NR_PS_PARTS] = {
		[PS_IN_ROWS] = "of processes (PSS: each page once)",
		[PS_NOT_MAPPED] = "cached files and shared memory that no process maps",
		[PS_KERNEL] = "of the kernel: slab caches, stacks, page tables ...; "
			      "memtap leaks -k --census",
		[PS_POOL] = "pool of huge pages (hugetlb), used or free",
		[PS_UNACCOUNTED] = "unaccounted: pages of drivers, memory without a counter",
		[PS_FREE] = "free",
	};
	__s64 parts[NR_PS_PARTS];
	char text[TEXT_LEN];

	ps_parts(w, m, parts);
	fprintf(out, "\n%11s  MemTotal, the sum of:\n",
		text_bytes(text, (__s64)m->f.mem[MEM_TOTAL], false));
	for (int i = 0; i < NR_PS_PARTS; i++) {
		if (!parts[i])
			continue;
		fprintf(out, "%11s  ", text_bytes(text, parts[i], false));
		if (i == PS_IN_NO_ROW)
			put_in_no_row(w, parts[i], out);
		else
			fprintf(out, "%s\n", words[i]);
	}
}

void render_ps(const struct owners *w, const struct machine *m, const struct ps_opts *o)
{
	struct table t = { .w = w, .o = o, .out = o->out };
	const size_t shown = o->top && o->top < w->nr ? o->top : w->nr;
	char time[TEXT_LEN];

	for (size_t i = 0; i < NR_COLUMNS; i++)
		t.shown[i] = is_shown(&t, i);
	if (o->real_ns)
		fprintf(o->out, "%s\n", text_time(time, o->real_ns));
	put_head(&t);
	for (size_t i = 0; i < shown; i++)
		put_row(&t, &w->at[i]);
	put_sum(&t, shown);
	put_unread(w, m, o);
	if (w->chosen)
		return;
	put_checks(w, m, o->out);
	put_parts(w, m, o->out);
}
