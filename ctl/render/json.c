// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a report as JSON; docs/json.md documents the format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "render/int.h"
#include "render/oom_int.h"

void json_moment(struct json *j, const struct memtap_rec_header *h)
{
	json_str(j, "version", h->version);
	json_str(j, "release", h->release);
	json_str(j, "host", h->host);
	json_u64(j, "real_ns", h->real_ns);
	json_u64(j, "start_ns", h->start_ns);
	json_u64(j, "now_ns", h->now_ns);
}

/* Of recordings that were merged. */
static void put_hosts(struct json *j, const struct snap *s)
{
	if (!s->nr_hosts)
		return;
	json_open(j, "hosts", '[');
	for (size_t i = 0; i < s->nr_hosts; i++) {
		const struct memtap_rec_host *h = s->hosts[i];

		json_open(j, NULL, '{');
		json_str(j, "host", h->name);
		if (*h->release)
			json_str(j, "release", h->release);
		json_u64(j, "recordings", h->files);
		json_u64(j, "running", h->running);
		json_u64(j, "duration_ns", h->ns);
		json_u64(j, "first_ns", h->first_ns);
		json_u64(j, "last_ns", h->last_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_head(struct json *j, const struct view *v)
{
	const struct memtap_rec_header *h = &v->r->snap->header;

	json_open(j, "session", '{');
	if (v->o->title)
		json_str(j, "title", v->o->title);
	if (v->o->command)
		json_str(j, "command", v->o->command);
	json_moment(j, h);
	json_bool(j, "running", h->running);
	json_u64(j, "depth", h->depth);
	json_u64(j, "page_size", h->page_size);
	json_u64(j, "addr_shift", h->addr_shift);
	put_hosts(j, v->r->snap);
	json_close(j, '}');
}

static void put_reasons(struct json *j, const char *key, const __u64 *n,
			unsigned int known, unsigned int slots,
			const char *(*name)(unsigned int))
{
	json_open(j, key, '{');
	for (unsigned int i = 0; i < slots; i++) {
		char other[32];

		if (i >= known && !n[i])
			continue;
		snprintf(other, sizeof(other), "reason-%u", i);
		json_s64(j, i < known ? name(i) : other, (__s64)n[i]);
	}
	json_close(j, '}');
}

void json_events(struct json *j, const struct snap *s)
{
	json_open(j, "events", '[');
	for (size_t i = 0; i < s->nr_events; i++) {
		const struct snap_event *e = &s->events[i];

		json_open(j, NULL, '{');
		json_u64(j, "id", e->id);
		json_str(j, "name", e->name);
		json_str(j, "group", e->group);
		json_str(j, "unit", unit_name(e->unit));
		json_u64(j, "seen", e->seen);
		json_u64(j, "counted", e->counted);
		json_u64(j, "filtered", e->filtered);
		json_u64(j, "by_memtap", e->own);
		put_reasons(j, "lost", e->lost, MEMTAP_NR_LOST, MEMTAP_LOST_SLOTS,
			    lost_name);
		put_reasons(j, "partial", e->part, MEMTAP_NR_PART, MEMTAP_PART_SLOTS,
			    part_name);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_group(struct json *j, const struct rgroup *g)
{
	if (g->host)
		json_str(j, "host", g->host);
	if (g->comm)
		json_str(j, "comm", g->comm);
	if (g->pid)
		json_s64(j, "pid", g->pid);
	if (g->tid)
		json_s64(j, "tid", g->tid);
	if (g->cgroup)
		json_u64(j, "cgroup", g->cgroup);
	if (g->cgroup_path)
		json_str(j, "cgroup_path", g->cgroup_path);
	if (g->container)
		json_str(j, "container", g->container);
	if (g->container_name)
		json_str(j, "container_name", g->container_name);
}

void json_flags(struct json *j, __u32 flags)
{
	json_open(j, "flags", '[');
	for (__u32 bit = 0; bit < MEMTAP_NR_KEY; bit++)
		if (flags >> bit & 1)
			json_str(j, NULL, key_name(bit));
	json_close(j, ']');
}

/* Why and how far a user stack was followed. */
static void put_ending(struct json *j, const struct rstack *st)
{
	const bool cut = st->flags & STACK_CUTS, rows = st->flags & MEMTAP_STACK_ROWS;

	if (!(st->flags & MEMTAP_STACK_USER))
		return;
	if (cut || rows)
		json_bool(j, "user_complete", !cut);
	for (size_t i = 0; cut && i < NR_CUTS; i++)
		if (st->flags & report_cuts[i].flag) {
			json_str(j, "user_truncated", report_cut_name(&report_cuts[i], st->flags));
			break;
		}
	if (rows && st->flags & MEMTAP_STACK_FP)
		json_bool(j, "user_partly_frame_pointers", true);
}

static void put_row(struct json *j, const struct report *r, const struct rrow *row)
{
	const struct memtap_rec_header *h = &r->snap->header;
	int last = MEMTAP_HIST_BUCKETS - 1;
	char allowed[ALLOWED_TEXT];

	json_open(j, NULL, '{');
	json_str(j, "event", r->events[row->event].name);
	json_group(j, &r->groups[row->group]);
	if (row->leak)
		json_leaks_row(j, r, row);
	else
		json_flags(j, row->flags);
	if (row->file)
		json_str(j, "path", row->file);
	if (row->allowed)
		json_str(j, "allowed", allowed_text(row->allowed, allowed));
	if (pages_word(row->allowed))
		json_str(j, "pages", pages_word(row->allowed));
	if (!row->leak && h->flags & MEMTAP_CFG_ADDR)
		json_hex(j, "addr", row->addr << (h->addr_shift & 63));
	json_u64(j, "count", row->count);
	json_s64(j, "sum", row->sum);
	json_u64(j, "max", row->max);
	if (row->hist) {
		while (last > 0 && !row->hist[last])
			last--;
		json_open(j, "hist", '[');
		for (int i = 0; i <= last; i++)
			json_u64(j, NULL, row->hist[i]);
		json_close(j, ']');
	}
	json_stack(j, r, "kernel", row->kstack);
	json_stack(j, r, "user", row->ustack);
	put_ending(j, &r->stacks[row->ustack]);
	json_close(j, '}');
}

static void put_rows(struct json *j, const struct report *r)
{
	json_open(j, "rows", '[');
	for (size_t i = 0; i < r->nr_merged; i++)
		put_row(j, r, r->merged[i]);
	for (size_t i = 0; !r->merged && i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; k < s->shown; k++)
			put_row(j, r, report_shown(r, s, k));
	}
	json_close(j, ']');
}

static void put_totals(struct json *j, const struct report *r)
{
	json_open(j, "totals", '[');
	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		json_open(j, NULL, '{');
		json_str(j, "event", s->event->name);
		json_u64(j, "rows", s->nr - s->nr_gone);
		json_u64(j, "count", s->count);
		json_s64(j, "sum", s->sum);
		if (s->read_only)
			json_s64(j, "read_only", s->read_only);
		if (s->reserved)
			json_s64(j, "reserved", s->reserved);
		if (r->snap->selected && !r->leaks) {
			json_u64(j, "left_out_count", s->event->left_count);
			json_s64(j, "left_out_sum", s->event->left_sum);
		}
		json_open(j, "shown", '{');
		json_u64(j, "rows", s->shown);
		json_u64(j, "count", s->shown_count);
		json_s64(j, "sum", s->shown_sum);
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_mapped(struct json *j, const struct rmapped *m)
{
	if (!m->known)
		return;
	json_open(j, "mapped", '{');
	json_s64(j, "write", m->write);
	json_s64(j, "read_only", m->read_only);
	json_s64(j, "reserved", m->reserved);
	json_close(j, '}');
}

static void put_sums(struct json *j, const struct report *r)
{
	const struct rsums *s = r->sums;

	if (!s)
		return;
	json_open(j, "user_stacks", '{');
	json_str(j, "by", s->rows ? "rows" : "frame-pointers");
	json_u64(j, "count", s->all);
	json_u64(j, s->rows ? "complete" : "reach_start", s->whole);
	json_u64(j, "without_names", s->unnamed);
	if (s->rows) {
		json_u64(j, "compat", s->others);
		json_open(j, "truncated", '{');
		for (size_t i = 0; i < NR_CUTS; i++)
			json_u64(j, report_cut_name(&report_cuts[i], MEMTAP_STACK_ROWS),
				 s->cut[i]);
		json_close(j, '}');
	}
	json_close(j, '}');
}

static void put_hooks(struct json *j, const struct snap *s)
{
	json_open(j, "hooks", '[');
	for (size_t i = 0; i < s->nr_hooks; i++) {
		const struct memtap_rec_hook *h = &s->hooks[i];

		json_open(j, NULL, '{');
		json_str(j, "event", snap_event(s, h->event)->name);
		json_str(j, "target", h->target);
		json_u64(j, "variant", h->way);
		json_str(j, "state", hook_name(h->state));
		json_u64(j, "error", h->error);
		json_u64(j, "hits", h->hits);
		json_u64(j, "missed", h->missed);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_live_memory(struct json *j, const struct memtap_rec_memory *m)
{
	json_u64(j, "live_size", m->live_size);
	json_u64(j, "live_used", m->live_used);
	json_u64(j, "live_maps_size", m->live_maps_size);
	json_u64(j, "live_maps_used", m->live_maps_used);
	json_u64(j, "threads_size", m->threads_size);
	json_u64(j, "threads_used", m->threads_used);
	json_u64(j, "spaces_lost", m->spaces_lost);
	json_u64(j, "mismatches_lost", m->mismatches_lost);
	json_u64(j, "trace_lost", m->trace_lost);
}

static void put_objects_memory(struct json *j, const struct memtap_rec_memory *m)
{
	json_u64(j, "live_lost_bytes", m->live_lost_bytes);
	json_u64(j, "replaced", m->replaced);
	json_u64(j, "replaced_bytes", m->replaced_bytes);
	json_u64(j, "caches_lost", m->caches_lost);
	json_u64(j, "gone_lost", m->gone_lost);
}

static void put_memory(struct json *j, const struct snap *s)
{
	const struct memtap_rec_memory *m = &s->memory;

	if (!m->rec.len)
		return;
	json_open(j, "memory", '{');
	json_u64(j, "total", m->total);
	json_u64(j, "stacks_size", m->stacks_size);
	json_u64(j, "stacks_used", m->stacks_used);
	json_u64(j, "counters_size", m->counters_size);
	json_u64(j, "counters_used", m->counters_used);
	json_u64(j, "tasks_size", m->tasks_size);
	json_u64(j, "tasks_used", m->tasks_used);
	json_u64(j, "maps_size", m->maps_size);
	json_u64(j, "maps_used", m->maps_used);
	json_u64(j, "maps_lost", m->maps_lost);
	json_u64(j, "spaces_missed", m->spaces_missed);
	json_u64(j, "children_lost", m->children_lost);
	json_u64(j, "cpus_late", m->cpus_late);
	json_u64(j, "unwind_size", m->unwind_size);
	json_u64(j, "unwind_used", m->unwind_used);
	json_u64(j, "unwind_lost", m->unwind_lost);
	json_u64(j, "tables", m->tables);
	json_u64(j, "tables_wanted", m->tables_wanted);
	if (m->live_size)
		put_live_memory(j, m);
	if (leaks_kernel(s))
		put_objects_memory(j, m);
	json_close(j, '}');
}

static void put_notes(struct json *j, const struct view *v)
{
	const struct report *r = v->r;
	char buf[RENDER_UNREAD_LEN];
	const char *unread = render_unread(r, buf);

	json_open(j, "notes", '[');
	if (unread)
		json_str(j, NULL, unread);
	for (size_t i = 0; r->notes[i]; i++)
		json_str(j, NULL, r->notes[i]);
	for (size_t i = 0; i < r->snap->nr_notes; i++)
		if (!strncmp(r->snap->notes[i], "note=", 5))
			json_str(j, NULL, r->snap->notes[i] + 5);
	for (size_t i = 0; v->o->notes && v->o->notes[i]; i++)
		json_str(j, NULL, v->o->notes[i]);
	json_close(j, ']');
}

static int put_kills(struct json *j, const struct view *v, FILE *out)
{
	const struct snap *s = v->r->snap;
	struct oom_opts o = { .out = out, .sym = v->sym, .file = s };
	struct memtap_oom_record *r;

	if (!s->nr_ooms)
		return 0;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	json_open(j, "kills", '[');
	for (size_t i = 0; i < s->nr_ooms; i++) {
		o.number = (__u32)i;
		render_oom_of(s, o.number, r);
		json_document(j, "oom");
		oom_json(j, r, &o);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(r);
	return 0;
}

int render_json(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	struct json j = { .out = out, .line = v->o->line };
	int err;

	if (v->o->csv)
		render_losses(v, "memtap: ", "the rows", stderr);
	json_document(&j, "report");
	put_head(&j, v);
	json_events(&j, r->snap);
	put_rows(&j, r);
	err = json_functions(&j, v);
	put_totals(&j, r);
	put_mapped(&j, &r->mapped);
	put_sums(&j, r);
	if (r->leaks)
		json_leaks(&j, r);
	put_hooks(&j, r->snap);
	put_memory(&j, r->snap);
	if (!err)
		err = put_kills(&j, v, out);
	put_notes(&j, v);
	json_close(&j, '}');
	fputc('\n', out);
	return err;
}
