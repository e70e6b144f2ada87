// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the record of an OOM kill as JSON: exact bytes; unknown values are left out. */
#include "base/json.h"
#include "core/names.h"
#include "render/oom_int.h"

void oom_json_known(struct json *j, const char *key, __u64 v)
{
	if (v != MEMTAP_OOM_UNKNOWN)
		json_u64(j, key, v);
}

static void task(struct json *j, const char *key, const struct memtap_oom_task *t,
		 const char *path)
{
	json_open(j, key, '{');
	json_str(j, "comm", t->comm);
	json_s64(j, "pid", t->pid);
	json_s64(j, "tid", t->tid);
	json_s64(j, "ns_pid", t->ns_pid);
	json_u64(j, "uid", t->uid);
	json_s64(j, "oom_score_adj", t->score_adj);
	json_bool(j, "kernel_thread", t->flags & MEMTAP_OOM_TASK_KTHREAD);
	json_bool(j, "dying", t->flags & MEMTAP_OOM_TASK_DYING);
	if (t->flags & MEMTAP_OOM_TASK_SIZED) {
		json_u64(j, "virtual", t->virt);
		json_u64(j, "anon", t->anon);
		json_u64(j, "file", t->file);
		json_u64(j, "shmem", t->shmem);
		json_u64(j, "swap", t->swap);
		json_u64(j, "page_tables", t->tables);
	}
	json_u64(j, "cgroup_inode", t->cgroup);
	if (path)
		json_str(j, "cgroup", path);
	json_close(j, '}');
}

static void tasks(struct json *j, const char *key, const struct memtap_oom_task *t, __u32 nr)
{
	json_open(j, key, '[');
	for (__u32 i = 0; i < nr; i++)
		task(j, NULL, &t[i], NULL);
	json_close(j, ']');
}

static void put_frames(struct json *j, const struct sym_frame *f, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		json_open(j, NULL, '{');
		if (f[i].name)
			json_str(j, "name", f[i].name);
		json_str(j, "object", f[i].object ? f[i].object : "");
		if (!f[i].kernel)
			json_hex(j, "offset", f[i].addr);
		if (f[i].inlined)
			json_bool(j, "inlined", true);
		json_close(j, '}');
	}
}

static void stacks(struct json *j, const struct memtap_oom_record *r, const struct oom_opts *o)
{
	const struct sym_frame *frames;
	struct oom_stack s;
	size_t nr;

	oom_stack_init(&s, r, o);
	json_open(j, "kernel_stack", '[');
	for (__u32 i = 0; i < r->nr_kstack; i++) {
		nr = oom_stack_kernel(&s, i, &frames);
		put_frames(j, frames, nr);
	}
	json_close(j, ']');
	json_open(j, "user_stack", '[');
	for (__u32 i = 0; i < r->nr_ustack; i++) {
		nr = oom_stack_user(&s, i, &frames);
		put_frames(j, frames, nr);
	}
	json_close(j, ']');
	json_bool(j, "user_stack_complete", r->nr_ustack && !oom_is_cut(r));
	if (r->urest)
		json_str(j, "user_stack_rest", oom_rest_name(r));
}

static void why(struct json *j, const struct memtap_oom_record *r)
{
	struct oom_why w;

	oom_diagnose(r, &w);
	json_str(j, "cause", oom_cause_names[w.cause]);
	json_bool(j, "limited", w.limited);
	if (w.kind)
		json_str(j, "kind", w.kind);
	json_str(j, "diagnosis", w.sentence);
	json_str(j, "next", w.command);
}

void oom_json_zones(struct json *j, const struct memtap_oom_record *r)
{
	json_open(j, "zones", '[');
	for (__u32 i = 0; i < r->nr_zones; i++) {
		const struct memtap_oom_zone *z = &r->zones[i];

		json_open(j, NULL, '{');
		json_u64(j, "node", z->node);
		json_str(j, "name", z->name);
		json_u64(j, "managed", z->managed);
		json_u64(j, "free", z->free);
		json_u64(j, "min", z->min);
		json_u64(j, "low", z->low);
		json_u64(j, "high", z->high);
		json_open(j, "free_blocks", '[');
		for (__u32 order = 0; order < z->nr_orders; order++)
			json_u64(j, NULL, z->blocks[order]);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void counters(struct json *j, const struct memtap_oom_record *r)
{
	json_open(j, "load", '[');
	for (int i = 0; i < 3; i++)
		json_seconds(j, NULL, r->load[i] / 1000.0);
	json_close(j, ']');
	json_open(j, "memory", '{');
	json_u64(j, "total", r->total);
	for (__u32 i = 0; i < r->nr_counters; i++)
		oom_json_known(j, vm_name(i), r->counters[i]);
	json_u64(j, "unaccounted", oom_unaccounted(r));
	json_close(j, '}');
	if (!r->reclaim_ms)
		return;
	json_open(j, "reclaim", '{');
	json_seconds(j, "seconds", r->reclaim_ms / 1000.0);
	for (__u32 i = 0; i < r->nr_reclaim; i++)
		oom_json_known(j, reclaim_name(i), r->reclaim[i]);
	json_close(j, '}');
}

void oom_json_charged(struct json *j, const struct memtap_oom_record *r)
{
	json_open(j, "memcg_stat", '{');
	for (__u32 i = 0; i < r->nr_charged; i++)
		oom_json_known(j, charged_name(i), r->charged[i]);
	json_close(j, '}');
}

static void charged(struct json *j, const struct memtap_oom_record *r)
{
	if (r->constraint != MEMTAP_CONSTRAINT_MEMCG || !r->later_ns)
		return;
	oom_json_charged(j, r);
	json_seconds(j, "memcg_stat_after", (double)r->later_ns / 1e9);
	json_bool(j, "memcg_stat_complete", oom_charged_whole(r));
}

static void nodes(struct json *j, const struct memtap_oom_record *r)
{
	if (!oom_of_nodes(r))
		return;
	json_open(j, "nodes_memory", '{');
	json_u64(j, "total", r->nodes_total);
	for (__u32 i = 0; i < r->nr_counters; i++)
		if (i != MEMTAP_VM_SWAP_FREE)
			oom_json_known(j, vm_name(i), r->node_counters[i]);
	json_close(j, '}');
}

static void request(struct json *j, const struct memtap_oom_record *r)
{
	json_s64(j, "order", r->order);
	json_hex(j, "gfp", r->gfp);
	json_str(j, "gfp_flags", r->gfp_text);
	json_str(j, "constraint", constraint_name(r->constraint));
	json_hex(j, "nodes", r->nodes);
	if (oom_points_known(r))
		json_s64(j, "points", r->points);
	json_bool(j, "points_rounded", r->flags & MEMTAP_OOM_PERMILLE);
	json_u64(j, "allowed", r->allowed);
	oom_json_known(j, "limit", r->limit);
	oom_json_known(j, "charged", r->usage);
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		json_str(j, "limit_cgroup", oom_limit_path(r));
	json_str(j, "message", r->message);
}

/* What rules recorded in the seconds before. */
static void recordings(struct json *j, const struct oom_opts *o)
{
	json_open(j, "recordings", '[');
	for (size_t i = 0; o->recordings && o->recordings[i]; i++)
		json_str(j, NULL, o->recordings[i]);
	json_close(j, ']');
}

static void holders(struct json *j, const char *key, const struct machine_list *l, bool limits)
{
	const struct machine_holder *at[OOM_HOLDERS];
	const size_t nr = oom_holders(l, at);

	json_open(j, key, '[');
	for (size_t i = 0; i < nr; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", at[i]->name);
		json_u64(j, "bytes", at[i]->bytes);
		if (limits && at[i]->size && at[i]->size != ~0ULL)
			json_u64(j, "limit", at[i]->size);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void oom_json(struct json *j, const struct memtap_oom_record *r, const struct oom_opts *o)
{
	json_str(j, "event", "oom-kill");
	json_u64(j, "number", r->nr);
	json_seconds(j, "time", (double)r->real_ns / 1e9);
	json_bool(j, "test", r->flags & MEMTAP_OOM_MADE);
	json_str(j, "outcome", oom_fate(r));
	json_bool(j, "by_sysrq", r->flags & MEMTAP_OOM_SYSRQ);
	why(j, r);
	task(j, "victim", &r->victim, r->victim_path);
	task(j, "trigger", &r->trigger, r->trigger_path);
	request(j, r);
	stacks(j, r, o);
	tasks(j, "largest", r->top, r->nr_top);
	json_u64(j, "processes", r->processes);
	json_u64(j, "processes_not_read", r->unread);
	json_u64(j, "processes_not_seen", r->unlooked);
	json_u64(j, "processes_bytes", r->held);
	json_u64(j, "same_name", r->same);
	json_u64(j, "same_name_bytes", r->same_held);
	json_u64(j, "sharing", r->sharing);
	json_u64(j, "killed_with_cgroup", r->nr_members);
	tasks(j, "members", r->members, r->nr_members < MEMTAP_OOM_MEMBERS ? r->nr_members :
	      MEMTAP_OOM_MEMBERS);
	json_bool(j, "killed_child", r->flags & MEMTAP_OOM_CHILD);
	json_bool(j, "shared_counted_twice", r->flags & MEMTAP_OOM_TWICE);
	charged(j, r);
	oom_json_zones(j, r);
	counters(j, r);
	nodes(j, r);
	if (o->recordings)
		recordings(j, o);
	if (!o->now)
		return;
	holders(j, "slab_after", &o->now->slabs, false);
	holders(j, "cgroups_after", &o->now->cgroups, true);
}

void render_oom_json(const struct memtap_oom_record *r, const struct oom_opts *o)
{
	struct json j = { .out = o->out, .line = o->line };

	json_document(&j, "oom");
	oom_json(&j, r, o);
	json_close(&j, '}');
	if (o->line)
		fputc('\n', o->out);
}
