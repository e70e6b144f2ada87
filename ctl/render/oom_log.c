// SPDX-License-Identifier: GPL-2.0-or-later
/* Print an OOM kill that was read from a saved kernel log, as text. */
#include <string.h>

#include "base/text.h"
#include "core/names.h"
#include "render/oom_int.h"
#include "render/oom_log.h"

static bool has(const struct oom_log_kill *k, __u32 what)
{
	return (k->has & what) == what;
}

bool oom_log_known(const struct oom_log_kill *k)
{
	return k->has & (OOM_LOG_MEMORY | OOM_LOG_LIMIT | OOM_LOG_TABLE | OOM_LOG_STAT) ||
	       k->r.flags & MEMTAP_OOM_SYSRQ;
}

static void put_where(const struct oom_log_kill *k, FILE *out)
{
	if (!has(k, OOM_LOG_CONSTRAINT)) {
		fputs(": out of memory, of the machine or of some nodes (the text does not say "
		      "which)", out);
		return;
	}
	fprintf(out, ": out of memory %s", constraint_sentence(k->r.constraint));
	if (k->r.constraint == MEMTAP_CONSTRAINT_MEMCG && *oom_limit_path(&k->r)) {
		fputc(' ', out);
		text_put(out, oom_limit_path(&k->r), NULL);
	}
}

static void head(const struct oom_log_kill *k, FILE *out)
{
	text_put(out, k->when, NULL);
	fputs("  ", out);
	if (has(k, OOM_LOG_PANIC | OOM_LOG_INVOKED) && !has(k, OOM_LOG_KILLED)) {
		fputs("the kernel panicked: ", out);
		text_put(out, k->panic, NULL);
	} else if (has(k, OOM_LOG_PANIC) || (has(k, OOM_LOG_MEMTAP) && !has(k, OOM_LOG_CHOSEN))) {
		fputs("the kernel panicked", out);
		if (*k->panic) {
			fputs(": ", out);
			text_put(out, k->panic, NULL);
		}
	} else if (has(k, OOM_LOG_CHOSEN)) {
		oom_put_name(out, &k->r.victim);
		fputs(has(k, OOM_LOG_KILLED) ? " was OOM-killed" :
		      " was chosen as the OOM victim (the text does not say that it was killed)",
		      out);
		put_where(k, out);
	} else {
		fputs(has(k, OOM_LOG_NO_VICTIM) ? "the kernel found no process to kill" :
		      "an OOM kill whose victim the text does not name", out);
		put_where(k, out);
	}
	fprintf(out, "  [%llu]\n", (unsigned long long)k->r.nr);
	if (has(k, OOM_LOG_MEMTAP)) {
		fputs("  reported   by memtap at the panic: ", out);
		text_put(out, k->reason, NULL);
		fputc('\n', out);
	}
}

static void why(const struct oom_log_kill *k, FILE *out)
{
	if (oom_log_known(k))
		oom_put_why(&k->r, out);
	else
		fputs("  cause      the text has no sizes that would show it\n", out);
}

static void put_sizes(const struct oom_log_kill *k, const struct memtap_oom_task *t, FILE *out)
{
	oom_put_size(out, "anon ", t->anon, ", ");
	oom_put_size(out, has(k, OOM_LOG_SHMEM) ? "file " : "file and shared ", t->file, "");
	if (has(k, OOM_LOG_SHMEM))
		oom_put_size(out, ", shared ", t->shmem, "");
	if (has(k, OOM_LOG_TABLE) || t->swap)
		oom_put_size(out, ", swap ", t->swap, "");
	if (t->tables)
		oom_put_size(out, ", page tables ", t->tables, "");
}

static void victim(const struct oom_log_kill *k, FILE *out)
{
	const struct memtap_oom_record *r = &k->r;
	const char *before = "             ";

	if (!has(k, OOM_LOG_CHOSEN))
		return;
	fputs("  victim     ", out);
	if (has(k, OOM_LOG_SIZED))
		put_sizes(k, &r->victim, out);
	else
		fputs("its memory is not in the text", out);
	fputc('\n', out);
	if (r->flags & MEMTAP_OOM_ALLOCATING) {
		fprintf(out, "%schosen because it was the process that allocated", before);
		before = "; ";
	} else if (has(k, OOM_LOG_SCORE)) {
		fprintf(out, "%sOOM score %u thousandths of the allowed memory", before, k->score);
		before = "; ";
	}
	if (has(k, OOM_LOG_ADJ)) {
		fprintf(out, "%soom_score_adj %d", before, r->victim.score_adj);
		before = ", ";
	}
	if (has(k, OOM_LOG_UID)) {
		fprintf(out, "%suid %u", before, r->victim.uid);
		before = ", ";
	}
	if (*r->victim_path) {
		fprintf(out, "%scgroup ", before);
		text_put(out, r->victim_path, NULL);
		before = ", ";
	}
	if (*before == ',' || *before == ';')
		fputc('\n', out);
	oom_put_members(r, out);
}

static void trigger(const struct oom_log_kill *k, FILE *out)
{
	const struct memtap_oom_record *r = &k->r;

	if (!has(k, OOM_LOG_INVOKED) && !has(k, OOM_LOG_TRIGGER))
		return;
	fputs(has(k, OOM_LOG_PANIC) && !has(k, OOM_LOG_INVOKED) ? "  panicked   " :
	      "  trigger    ", out);
	text_put(out, *r->trigger.comm ? r->trigger.comm : "[unknown]", NULL);
	if (has(k, OOM_LOG_TRIGGER))
		fprintf(out, " (%s%d)", has(k, OOM_LOG_MEMTAP) || has(k, OOM_LOG_EARLIER) ? "" :
			"thread ", r->trigger.tid);
	if (r->flags & MEMTAP_OOM_SYSRQ)
		fputs(", by a manual request (SysRq f)", out);
	else if (has(k, OOM_LOG_INVOKED))
		fprintf(out, ", requested %llu page%s (order %d)", 1ULL << (r->order & 31),
			r->order ? "s" : "", r->order);
	if (r->gfp)
		fprintf(out, ", gfp 0x%llx", (unsigned long long)r->gfp);
	if (*r->gfp_text) {
		fputc(' ', out);
		text_put(out, r->gfp_text, NULL);
	}
	if (*k->cpuset && strcmp(k->cpuset, "/")) {
		fputs(", cpuset ", out);
		text_put(out, k->cpuset, NULL);
	}
	fputc('\n', out);
	for (__u32 i = 0; i < k->stack_nr; i++) {
		fputs("               ", out);
		text_put(out, k->stack[i], NULL);
		fputc('\n', out);
	}
}

static void put_row(const struct oom_log_kill *k, const struct memtap_oom_task *t, FILE *out)
{
	const char *const columns = "             %8d %9s %9s %9s %5d  ";
	char b[3][TEXT_LEN];

	fprintf(out, columns, t->pid,
		text_bytes(b[0], (__s64)(t->anon + t->file + t->shmem), false),
		text_bytes(b[1], (__s64)t->swap, false),
		text_bytes(b[2], (__s64)t->tables, false), t->score_adj);
	text_put(out, t->comm, NULL);
	if (has(k, OOM_LOG_SPLIT) && t->flags & MEMTAP_OOM_TASK_SIZED) {
		oom_put_size(out, " (anon ", t->anon, ", ");
		oom_put_size(out, "file ", t->file, ", ");
		oom_put_size(out, "shared ", t->shmem, ")");
	}
	fputc('\n', out);
}

static void processes(const struct oom_log_kill *k, __u32 rows, FILE *out)
{
	const struct memtap_oom_record *r = &k->r;
	char buf[TEXT_LEN];

	if (!has(k, OOM_LOG_TABLE))
		return;
	fprintf(out, "  processes  %u", r->processes);
	if (k->rss)
		fprintf(out, ", resident memory %s (shared pages count for each)",
			text_bytes(buf, (__s64)k->rss, false));
	else
		oom_put_size(out, ", anonymous and swapped memory ", r->held, "");
	if (r->same > 1) {
		fprintf(out, "; %u named ", r->same);
		text_put(out, r->victim.comm, NULL);
	}
	if (r->unread)
		fprintf(out, "; %u could not be read", r->unread);
	fputs("\n                  PID  RESIDENT      SWAP    TABLES   ADJ  NAME\n", out);
	for (__u32 i = 0; i < r->nr_top && i < rows; i++)
		put_row(k, &r->top[i], out);
}

static void limit(const struct oom_log_kill *k, FILE *out)
{
	const struct memtap_oom_record *r = &k->r;
	size_t column = 0;

	if (!has(k, OOM_LOG_LIMIT) && !has(k, OOM_LOG_STAT))
		return;
	fputs("  cgroup     ", out);
	if (has(k, OOM_LOG_LIMIT)) {
		oom_put_size(out, "usage ", r->usage, "");
		if (r->limit < 1ULL << 56)
			oom_put_size(out, ", limit ", r->limit, "");
		if (has(k, OOM_LOG_STAT))
			fputs("\n             ", out);
	}
	for (__u32 i = 0; i < r->nr_charged; i++)
		if (r->charged[i] != MEMTAP_OOM_UNKNOWN)
			oom_put_item(out, &column, charged_name(i), r->charged[i]);
	fputc('\n', out);
}

static void machine(const struct oom_log_kill *k, FILE *out)
{
	const struct memtap_oom_record *r = &k->r;
	size_t column = 0;

	if (!has(k, OOM_LOG_MEMORY) && !has(k, OOM_LOG_TOTAL))
		return;
	fputs("  machine    ", out);
	if (has(k, OOM_LOG_TOTAL)) {
		oom_put_size(out, "", r->total, "");
		if (has(k, OOM_LOG_SWAP))
			oom_put_size(out, ", swap ", k->swap_total, "");
		if (has(k, OOM_LOG_MEMORY))
			fputs("\n             ", out);
	}
	oom_put_counters(r, &column, out);
	fputc('\n', out);
}

static void put_caches(const char *what, const struct oom_log_cache *c, __u32 nr, FILE *out)
{
	char b[TEXT_LEN];

	for (__u32 i = 0; i < nr; i++) {
		fprintf(out, "  %-10s %9s  ", i ? "" : what,
			text_bytes(b, (__s64)c[i].bytes, false));
		text_put(out, c[i].name, NULL);
		fputc('\n', out);
	}
}

static void put_lack(FILE *out, bool *any, const char *what)
{
	fputs(*any ? ", " : "  text       it lacks ", out);
	fputs(what, out);
	*any = true;
}

/* What a whole report has, and this one has not. */
static void lacks(const struct oom_log_kill *k, FILE *out)
{
	const bool memcg = has(k, OOM_LOG_CONSTRAINT) &&
			   k->r.constraint == MEMTAP_CONSTRAINT_MEMCG;
	bool any = false;

	if (has(k, OOM_LOG_BARE)) {
		fputs("  text       it has the line that names the victim, without the report\n",
		      out);
		return;
	}
	if (has(k, OOM_LOG_EARLIER))
		return;
	if (!has(k, OOM_LOG_INVOKED) && !has(k, OOM_LOG_MEMTAP))
		put_lack(out, &any, "the trigger");
	if (!has(k, OOM_LOG_CHOSEN) && !has(k, OOM_LOG_PANIC) && !has(k, OOM_LOG_MEMTAP) &&
	    !has(k, OOM_LOG_NO_VICTIM))
		put_lack(out, &any, "the victim");
	if (memcg && !has(k, OOM_LOG_LIMIT))
		put_lack(out, &any, "the cgroup's usage");
	if (!memcg && !has(k, OOM_LOG_MEMORY))
		put_lack(out, &any, "the machine's memory");
	if (!has(k, OOM_LOG_TABLE))
		put_lack(out, &any, "the list of processes");
	if (has(k, OOM_LOG_TABLE) && !has(k, OOM_LOG_PAGE))
		fputs(any ? "; pages are taken to be of 4 KiB" :
		      "  text       it does not say the page size: 4 KiB is assumed", out);
	if (any || (has(k, OOM_LOG_TABLE) && !has(k, OOM_LOG_PAGE)))
		fputc('\n', out);
}

void render_oom_log(const struct oom_log_kill *k, const struct oom_opts *o)
{
	FILE *out = o->out;

	head(k, out);
	why(k, out);
	victim(k, out);
	trigger(k, out);
	processes(k, o->rows, out);
	limit(k, out);
	machine(k, out);
	if (k->r.nr_zones)
		oom_put_zones(&k->r, out);
	put_caches("slab", k->caches, k->caches_nr, out);
	put_caches("watched", k->grown, k->grown_nr, out);
	if (*k->release) {
		fputs("  kernel     ", out);
		text_put(out, k->release, NULL);
		fputc('\n', out);
	}
	lacks(k, out);
}
