// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the JSON of live blocks, beside json.c: see docs/json.md. */
#include <math.h>
#include <stdlib.h>

#include "core/names.h"
#include "render/int.h"

static void put_sum_fields(struct json *j, const struct report *r, const struct leaks_sum *sum)
{
	json_u64(j, "blocks", leaks_round(sum->blocks));
	json_u64(j, "bytes", leaks_round(sum->bytes));
	if (!leaks_sampled(r->snap))
		return;
	json_u64(j, "kept", sum->kept);
	json_u64(j, "kept_bytes", sum->kept_bytes);
	json_u64(j, "blocks_error", ceil(leaks_error(sum->var_blocks)));
	json_u64(j, "bytes_error", ceil(leaks_error(sum->var_bytes)));
}

static void put_sum(struct json *j, const struct report *r, const char *key,
		    const struct leaks_sum *sum)
{
	json_open(j, key, '{');
	put_sum_fields(j, r, sum);
	json_close(j, '}');
}

static __u64 age_of(const struct report *r, __u64 birth)
{
	const __u64 now = r->snap->header.now_ns;

	return now > birth ? now - birth : 0;
}

static void put_allocs(struct json *j, const struct report *r, __u32 list)
{
	json_open(j, "allocs", '[');
	for (__u32 i = list; i; i = r->leaks->list[i - 1].next) {
		const struct memtap_block *b = r->leaks->list[i - 1].block;

		json_open(j, NULL, '{');
		if (!leaks_kernel(r->snap) || r->o->addresses)
			json_hex(j, "addr", b->addr);
		json_u64(j, "size", b->size);
		json_u64(j, "age_ns", age_of(r, b->birth_ns));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_helds(struct json *j, const struct report *r, __u32 first)
{
	json_open(j, "held", '[');
	for (__u32 i = first; i; i = r->leaks->helds[i - 1].next) {
		const struct rheld *h = &r->leaks->helds[i - 1];

		json_open(j, NULL, '{');
		json_str(j, "kind", r->snap->helds[h->held].kind);
		json_str(j, "holder", r->snap->helds[h->held].holder);
		json_u64(j, "blocks", h->blocks);
		json_u64(j, "bytes", h->bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_verdict(struct json *j, const struct report *r, const struct rleak *l)
{
	const struct trend_verdict *v = &l->verdict;
	const __u64 full = report_full_ns(r->o, l);

	if (v->kind == TREND_NONE)
		return;
	json_open(j, "trend", '{');
	json_str(j, "verdict", trend_name(v->kind));
	json_u64(j, "watched_ns", l->trend.watched_ns);
	if (l->rate != RATE_UNKNOWN)
		json_s64(j, "per_hour", leaks_round(trend_grows(v->kind) ? v->per_hour : 0));
	if (l->rate == RATE_KNOWN)
		json_s64(j, "per_hour_error", leaks_round(trend_grows(v->kind) ? v->error : 0));
	else
		json_u64(j, "lost_calls", report_calls_lost(r));
	if (v->kind == TREND_REPLACING && l->rate == RATE_KNOWN)
		json_s64(j, "per_hour_at_most", leaks_round(v->per_hour));
	if (trend_grows(v->kind) && v->reclaimable >= 1)
		json_s64(j, "reclaimable_per_hour", leaks_round(v->reclaimable));
	if (full)
		json_u64(j, "full_ns", full);
	if (v->settled_ns)
		json_u64(j, "settled_ns", v->settled_ns);
	if (v->by_size)
		json_s64(j, "larger_bytes", leaks_round(l->trend.then.grown));
	if (v->then >= 1) {
		json_u64(j, "cohort_ns", r->snap->header.now_ns - l->trend.held_ns -
			 l->trend.then.since_ns);
		json_u64(j, "cohort_age_ns", v->then_age_ns);
		json_s64(j, "cohort", leaks_round(v->then));
		json_s64(j, "cohort_left", leaks_round(v->left));
	}
	json_open(j, "survivors", '[');
	for (int i = 0; i < TREND_PARTS; i++)
		json_s64(j, NULL, leaks_round(l->trend.blocks[i]));
	json_close(j, ']');
	json_close(j, '}');
}

static void json_aliases(struct json *j, const struct machine_caches *c, const char *name)
{
	const char *alias = machine_caches_alias(c, name, 0);

	if (!alias)
		return;
	json_open(j, "aliases", '[');
	for (size_t i = 1; alias; alias = machine_caches_alias(c, name, i++))
		json_str(j, NULL, alias);
	json_close(j, ']');
}

static void put_object(struct json *j, const struct report *r, const struct rrow *row)
{
	const struct memtap_rec_cache *c = snap_cache(r->snap, row->leak->cache);

	if (c) {
		json_str(j, "cache", c->name);
		json_aliases(j, r->o->caches, c->name);
	}
	if (r->o->by == BY_MODULE)
		json_str(j, "module", r->groups[row->group].label);
	json_bool(j, "reclaimable", row->leak->all & MEMTAP_BLOCK_RECLAIMABLE);
	json_bool(j, "movable", row->leak->all & MEMTAP_BLOCK_MOVABLE);
	json_bool(j, "atomic", row->leak->all & MEMTAP_BLOCK_ATOMIC);
	json_bool(j, "interrupt", row->leak->all & MEMTAP_BLOCK_IRQ);
}

void json_leaks_row(struct json *j, const struct report *r, const struct rrow *row)
{
	const struct leaks_sum *sum = &row->leak->sum;

	if (row->event >= RLEAKS_PEAK) {
		json_u64(j, "allocated_count", row->leak->allocs);
		json_u64(j, "allocated_sum", row->leak->alloc_bytes);
		return;
	}
	json_u64(j, "age_ns", age_of(r, row->leak->birth));
	if (leaks_kernel(r->snap))
		put_object(j, r, row);
	if (row->flags != LEAK_UNKNOWN && row->flags < NR_LEAK_KINDS)
		json_str(j, "kind", reach_name(row->flags));
	if (leaks_sampled(r->snap)) {
		json_u64(j, "kept", sum->kept);
		json_u64(j, "kept_sum", sum->kept_bytes);
		json_u64(j, "count_error", ceil(leaks_error(sum->var_blocks)));
		json_u64(j, "sum_error", ceil(leaks_error(sum->var_bytes)));
	}
	if (row->leak->extent.kept && row->leak->extent.kept == sum->kept) {
		json_u64(j, "resident", row->leak->extent.resident);
		json_u64(j, "swapped", row->leak->extent.swapped);
	}
	if (r->o->past) {
		json_s64(j, "grew_count", report_grew_blocks(row));
		json_s64(j, "grew_sum", report_grew_bytes(row));
	}
	if (r->o->stale_ns) {
		json_u64(j, "idle_ns", row->leak->idle_ns);
		json_s64(j, "used", leaks_round(row->leak->used));
	}
	if (r->snap->held && row->event == RLEAKS_HEAP)
		put_helds(j, r, row->leak->held);
	put_verdict(j, r, row->leak);
	if (r->leaks->list)
		put_allocs(j, r, row->leak->list);
}

static void put_suppressions(struct json *j, const struct report *r)
{
	json_open(j, "suppressions", '[');
	for (size_t i = 0; i < suppress_nr(r->o->suppress); i++) {
		if (!r->leaks->patterns[i].kept && !r->leaks->free_patterns[i])
			continue;
		json_open(j, NULL, '{');
		json_str(j, "pattern", suppress_pattern(r->o->suppress, i));
		put_sum_fields(j, r, &r->leaks->patterns[i]);
		if (r->leaks->free_patterns[i])
			json_u64(j, "frees", r->leaks->free_patterns[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_heaps(struct json *j, const struct snap *s)
{
	json_open(j, "heaps", '[');
	for (size_t i = 0; i < s->nr_heaps; i++) {
		const struct memtap_rec_heap *h = &s->heaps[i];

		json_open(j, NULL, '{');
		json_str(j, "event", snap_event(s, h->event)->name);
		json_u64(j, "family", h->family);
		json_u64(j, "probes", h->probes);
		json_u64(j, "allocs", h->allocs);
		json_u64(j, "bytes", h->bytes);
		json_u64(j, "kept", h->kept);
		json_u64(j, "kept_bytes", h->kept_bytes);
		json_u64(j, "failed", h->failed);
		json_u64(j, "frees", h->frees);
		json_u64(j, "freed_bytes", h->freed_bytes);
		json_u64(j, "unknown", h->unknown);
		json_u64(j, "null", h->null);
		json_u64(j, "nested", h->inner);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_space_flags(struct json *j, __u32 flags)
{
	json_open(j, "flags", '[');
	for (__u32 bit = 0; bit < MEMTAP_NR_SPACE; bit++)
		if (flags >> bit & 1)
			json_str(j, NULL, space_name(bit));
	json_close(j, ']');
}

static void put_kinds(struct json *j, const struct report *r, const char *key,
		      const struct leaks_sum kinds[NR_LEAK_KINDS])
{
	json_open(j, key, '{');
	for (int i = 0; i < NR_LEAK_KINDS; i++)
		if (kinds[i].kept)
			put_sum(j, r, reach_name(i), &kinds[i]);
	json_close(j, '}');
}

static void put_space(struct json *j, const struct report *r, const struct rspace *x)
{
	const struct memtap_rec_space *s = x->space;
	const struct memtap_rec_task *t = snap_task(r->snap, s->task);

	json_u64(j, "id", s->id);
	json_s64(j, "pid", s->pid);
	if (t)
		json_str(j, "comm", t->comm);
	put_space_flags(j, s->flags);
	json_u64(j, "begin_ns", s->begin_ns);
	json_u64(j, "end_ns", s->end_ns);
	json_u64(j, "heap_before", s->heap_then);
	json_u64(j, "heap_after", s->heap_now);
	if (s->earlier_came != s->earlier_gone)
		json_s64(j, "earlier_arenas_grew", (__s64)(s->earlier_came - s->earlier_gone));
	json_u64(j, "vm_before", s->vm_then);
	json_u64(j, "vm_after", s->vm_now);
	json_u64(j, "rss_before", s->rss_then);
	json_u64(j, "rss_after", s->rss_now);
	json_u64(j, "blocks", s->blocks);
	json_u64(j, "bytes", s->bytes);
	json_u64(j, "maps", s->maps);
	json_u64(j, "maps_bytes", s->maps_bytes);
	json_u64(j, "allocator_maps", s->inner_maps);
	json_u64(j, "allocator_bytes", s->inner_bytes);
	json_u64(j, "maps_reserved", s->maps_reserved);
	json_u64(j, "allocator_reserved", s->inner_reserved);
	json_u64(j, "purged", s->purged);
	json_u64(j, "purged_bytes", s->purged_bytes);
	json_u64(j, "unknown", s->unknown);
	json_u64(j, "replaced", s->replaced);
	if (r->snap->peak.rec.len) {
		json_u64(j, "peak_bytes", s->peak_bytes);
		json_u64(j, "peak_number", s->peak_number);
		json_u64(j, "peak_ns", s->peak_ns);
	}
	put_sum(j, r, "live", &x->all);
	put_kinds(j, r, "kinds", x->kinds);
	put_sum(j, r, "live_suppressed", &x->suppressed);
	put_kinds(j, r, "maps_kinds", x->maps);
	put_sum(j, r, "maps_suppressed", &x->suppressed_maps);
}

static void put_spaces(struct json *j, const struct report *r)
{
	json_open(j, "spaces", '[');
	for (size_t i = 0; i < r->snap->nr_spaces; i++) {
		json_open(j, NULL, '{');
		put_space(j, r, &r->leaks->spaces[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_mismatch(struct json *j, const struct report *r, const struct rmismatch *x)
{
	const struct memtap_rec_mismatch *m = x->m;
	const struct snap_event *alloc = snap_event(r->snap, x->inside ? x->inside->event :
						    m->alloc_event);
	const struct rgroup *g = &r->groups[x->group];

	json_str(j, "kind", mismatch_name(m->kind));
	json_str(j, "event", snap_event(r->snap, m->event)->name);
	if (alloc)
		json_str(j, "alloc_event", alloc->name);
	if (g->comm)
		json_str(j, "comm", g->comm);
	if (g->pid)
		json_s64(j, "pid", g->pid);
	json_hex(j, "addr", m->addr);
	json_u64(j, "size", m->size);
	json_u64(j, "count", m->count);
	json_u64(j, "ns", m->ns);
	json_stack(j, r, "stack", x->stack);
	if (x->inside) {
		json_open(j, "inside", '{');
		json_hex(j, "addr", x->inside->addr);
		json_u64(j, "size", x->inside->size);
		json_close(j, '}');
	}
	if (m->alloc_stack || x->inside)
		json_stack(j, r, "alloc_stack", x->alloc_stack);
	if (m->free_stack)
		json_stack(j, r, "free_stack", x->free_stack);
}

static void put_caches(struct json *j, const struct snap *s)
{
	json_open(j, "caches", '[');
	for (size_t i = 0; i < s->nr_caches; i++) {
		const struct memtap_rec_cache *c = &s->caches[i];

		json_open(j, NULL, '{');
		json_str(j, "name", c->name);
		json_str(j, "kind", cache_kind_name(c->kind));
		json_u64(j, "object_size", c->object_size);
		json_u64(j, "allocs", c->allocs);
		json_u64(j, "bytes", c->bytes);
		json_u64(j, "frees", c->frees);
		json_u64(j, "freed_bytes", c->freed_bytes);
		json_u64(j, "unknown", c->unknown);
		json_u64(j, "unknown_bytes", c->unknown_bytes);
		json_u64(j, "lost", c->lost);
		json_u64(j, "lost_bytes", c->lost_bytes);
		json_u64(j, "replaced", c->replaced);
		json_u64(j, "replaced_bytes", c->replaced_bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Pages that are told as what is in them. */
static void put_owned(struct json *j, const struct report *r)
{
	json_open(j, "pages_of", '{');
	for (int i = ROWNER_SLAB; i < NR_ROWNER; i++)
		put_sum(j, r, rowner_name(i), &r->leaks->owned[i]);
	json_close(j, '}');
}

static void put_marks(struct json *j, const struct snap *s)
{
	json_open(j, "marks", '[');
	for (size_t i = 0; i < s->nr_marks; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", s->marks[i].name);
		json_u64(j, "ns", s->marks[i].ns);
		json_bool(j, "event", s->marks[i].flags & MEMTAP_MARK_EVENT);
		json_bool(j, "coarse", s->marks[i].flags & MEMTAP_MARK_COARSE);
		json_bool(j, "drain", s->marks[i].flags & MEMTAP_MARK_DRAIN);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_looks(struct json *j, const struct report *r)
{
	json_open(j, "scans", '[');
	for (size_t i = 0; i < r->o->nr_looks; i++) {
		const struct leaks_look *l = &r->o->looks[i];

		json_open(j, NULL, '{');
		json_s64(j, "pid", l->pid);
		json_u64(j, "threads", l->threads);
		json_u64(j, "stopped_ns", l->stopped_ns);
		json_str(j, "method", look_way_name(l->way));
		json_u64(j, "copied_bytes", l->copied);
		json_u64(j, "read_bytes", l->read);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Recorded with --peak. */
static void put_peak(struct json *j, const struct report *r)
{
	const struct memtap_rec_peak *p = &r->snap->peak;

	if (!p->rec.len)
		return;
	json_open(j, "peak", '{');
	json_u64(j, "bytes", p->peak_bytes);
	json_u64(j, "number", p->peak_number);
	json_u64(j, "ns", p->peak_ns);
	json_u64(j, "now_bytes", p->bytes);
	json_u64(j, "stacks_bytes", r->leaks->peak_bytes);
	json_u64(j, "stacks_lost", p->lost);
	json_u64(j, "allocated_count", r->leaks->allocs);
	json_u64(j, "allocated_sum", r->leaks->alloc_bytes);
	json_u64(j, "temporary_count", r->leaks->temporary);
	json_close(j, '}');
}

/* By a filter: what is said of processes would be of a part of their blocks. */
static void put_left_out(struct json *j, const struct snap *s)
{
	json_s64(j, "left_out_blocks", leaks_round(s->left_blocks));
	json_s64(j, "left_out_bytes", leaks_round(s->left_bytes));
}

void json_leaks(struct json *j, const struct report *r)
{
	const struct rleaks *l = r->leaks;

	json_open(j, "leaks", '{');
	json_u64(j, "older_ms", r->o->older_ms);
	json_u64(j, "sample_bytes", r->snap->header.sample_bytes);
	json_u64(j, "sample_rate", r->snap->header.sample_rate);
	put_sum(j, r, "too_young", &l->young);
	if (r->o->stale_ns) {
		json_u64(j, "stale_ms", r->o->stale_ns / 1000000);
		put_sum(j, r, "used", &l->used);
	}
	put_sum(j, r, "new_since_scan", &l->late);
	put_sum(j, r, "exited", &l->dead);
	put_sum(j, r, "outside_marks", &l->outside);
	put_sum(j, r, "suppressed", &l->suppressed);
	put_sum(j, r, "allocator_mappings", &l->inner);
	put_sum(j, r, "unselected_kinds", &l->other_kinds);
	json_u64(j, "libc_frees", l->own_frees);
	if (l->known_frees)
		json_u64(j, "suppressed_frees", l->known_frees);
	put_peak(j, r);
	if (r->o->nr_looks)
		put_looks(j, r);
	put_marks(j, r->snap);
	put_suppressions(j, r);
	put_heaps(j, r->snap);
	if (!r->snap->selected)
		put_spaces(j, r);
	else
		put_left_out(j, r->snap);
	if (leaks_kernel(r->snap)) {
		put_caches(j, r->snap);
		put_owned(j, r);
	}
	json_open(j, "mismatches", '[');
	for (size_t i = 0; i < l->nr_mismatches; i++) {
		json_open(j, NULL, '{');
		put_mismatch(j, r, &l->mismatches[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}
