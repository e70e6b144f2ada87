// SPDX-License-Identifier: GPL-2.0-or-later
/* Print an OOM kill of a saved kernel log as JSON: what is not known is left out. */
#include "base/json.h"
#include "core/names.h"
#include "render/oom_int.h"
#include "render/oom_log.h"

static bool has(const struct oom_log_kill *k, __u32 what)
{
	return (k->has & what) == what;
}

static const char *outcome(const struct oom_log_kill *k)
{
	return has(k, OOM_LOG_KILLED) ? "killed" :
	       has(k, OOM_LOG_PANIC) || has(k, OOM_LOG_MEMTAP) ? "panic" :
	       has(k, OOM_LOG_CHOSEN) ? "chosen" :
	       has(k, OOM_LOG_NO_VICTIM) ? "no-victim" : "unknown";
}

static void victim(struct json *j, const struct oom_log_kill *k)
{
	const struct memtap_oom_task *t = &k->r.victim;

	if (!has(k, OOM_LOG_CHOSEN))
		return;
	json_open(j, "victim", '{');
	json_str(j, "comm", t->comm);
	json_s64(j, "pid", t->pid);
	if (has(k, OOM_LOG_UID))
		json_u64(j, "uid", t->uid);
	if (has(k, OOM_LOG_ADJ))
		json_s64(j, "oom_score_adj", t->score_adj);
	if (has(k, OOM_LOG_SIZED)) {
		json_u64(j, "virtual", t->virt);
		json_u64(j, "anon", t->anon);
		json_u64(j, "file", t->file);
		if (has(k, OOM_LOG_SHMEM))
			json_u64(j, "shmem", t->shmem);
	}
	if (has(k, OOM_LOG_TABLE))
		json_u64(j, "swap", t->swap);
	if (t->tables)
		json_u64(j, "page_tables", t->tables);
	if (*k->r.victim_path)
		json_str(j, "cgroup", k->r.victim_path);
	json_close(j, '}');
}

static void trigger(struct json *j, const struct oom_log_kill *k)
{
	const struct memtap_oom_record *r = &k->r;

	if (!has(k, OOM_LOG_INVOKED) && !has(k, OOM_LOG_TRIGGER))
		return;
	json_open(j, "trigger", '{');
	if (*r->trigger.comm)
		json_str(j, "comm", r->trigger.comm);
	if (has(k, OOM_LOG_TRIGGER))
		json_s64(j, "tid", r->trigger.tid);
	json_close(j, '}');
	if (has(k, OOM_LOG_INVOKED))
		json_s64(j, "order", r->order);
	if (r->gfp)
		json_hex(j, "gfp", r->gfp);
	if (*r->gfp_text)
		json_str(j, "gfp_flags", r->gfp_text);
	if (k->stack_nr) {
		json_open(j, "kernel_stack", '[');
		for (__u32 i = 0; i < k->stack_nr; i++)
			json_str(j, NULL, k->stack[i]);
		json_close(j, ']');
	}
}

static void largest(struct json *j, const struct oom_log_kill *k)
{
	const struct memtap_oom_record *r = &k->r;

	if (!has(k, OOM_LOG_TABLE))
		return;
	json_u64(j, "processes", r->processes);
	if (k->rss)
		json_u64(j, "processes_resident", k->rss);
	json_open(j, "largest", '[');
	for (__u32 i = 0; i < r->nr_top; i++) {
		const struct memtap_oom_task *t = &r->top[i];

		json_open(j, NULL, '{');
		json_str(j, "comm", t->comm);
		json_s64(j, "pid", t->pid);
		json_u64(j, "uid", t->uid);
		json_s64(j, "oom_score_adj", t->score_adj);
		json_u64(j, "resident", t->anon + t->file + t->shmem);
		json_u64(j, "swap", t->swap);
		json_u64(j, "page_tables", t->tables);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void members(struct json *j, const struct memtap_oom_record *r)
{
	if (!r->nr_members)
		return;
	json_open(j, "members", '[');
	for (__u32 i = 0; i < r->nr_members && i < MEMTAP_OOM_MEMBERS; i++) {
		json_open(j, NULL, '{');
		json_str(j, "comm", r->members[i].comm);
		json_s64(j, "pid", r->members[i].pid);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void memory(struct json *j, const struct oom_log_kill *k)
{
	const struct memtap_oom_record *r = &k->r;

	oom_json_known(j, "limit", r->limit);
	oom_json_known(j, "charged", r->usage);
	if (has(k, OOM_LOG_STAT))
		oom_json_charged(j, r);
	if (!has(k, OOM_LOG_MEMORY) && !has(k, OOM_LOG_TOTAL))
		return;
	json_open(j, "memory", '{');
	if (has(k, OOM_LOG_TOTAL))
		json_u64(j, "total", r->total);
	if (has(k, OOM_LOG_SWAP))
		json_u64(j, "swap-total", k->swap_total);
	for (__u32 i = 0; i < r->nr_counters; i++)
		oom_json_known(j, vm_name(i), r->counters[i]);
	if (oom_unaccounted(r))
		json_u64(j, "unaccounted", oom_unaccounted(r));
	json_close(j, '}');
}

static void caches(struct json *j, const char *key, const struct oom_log_cache *c, __u32 nr)
{
	if (!nr)
		return;
	json_open(j, key, '[');
	for (__u32 i = 0; i < nr; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", c[i].name);
		json_u64(j, "bytes", c[i].bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void why(struct json *j, const struct oom_log_kill *k)
{
	struct oom_why w;

	if (!oom_log_known(k))
		return;
	oom_diagnose(&k->r, &w);
	json_str(j, "cause", oom_cause_names[w.cause]);
	json_bool(j, "limited", w.limited);
	if (w.kind)
		json_str(j, "kind", w.kind);
	json_str(j, "diagnosis", w.sentence);
	json_str(j, "next", w.command);
}

void render_oom_log_json(const struct oom_log_kill *k, const struct oom_opts *o)
{
	struct json doc = { .out = o->out, .line = o->line }, *j = &doc;
	const struct memtap_oom_record *r = &k->r;

	json_document(j, "oom_log");
	json_u64(j, "number", r->nr);
	json_str(j, "when", k->when);
	if (*k->release)
		json_str(j, "release", k->release);
	json_str(j, "outcome", outcome(k));
	if (*k->panic)
		json_str(j, "panic", k->panic);
	if (*k->reason)
		json_str(j, "reported_because", k->reason);
	json_bool(j, "by_sysrq", r->flags & MEMTAP_OOM_SYSRQ);
	if (has(k, OOM_LOG_CONSTRAINT))
		json_str(j, "constraint", constraint_name(r->constraint));
	if (*oom_limit_path(r))
		json_str(j, "limit_cgroup", oom_limit_path(r));
	why(j, k);
	victim(j, k);
	if (has(k, OOM_LOG_SCORE))
		json_u64(j, "score_permille", k->score);
	trigger(j, k);
	members(j, r);
	largest(j, k);
	memory(j, k);
	if (r->nr_zones)
		oom_json_zones(j, r);
	caches(j, "slab", k->caches, k->caches_nr);
	caches(j, "watched", k->grown, k->grown_nr);
	json_close(j, '}');
	if (o->line)
		fputc('\n', o->out);
}
