// SPDX-License-Identifier: GPL-2.0-or-later
/* Print allocations and frees by slab cache or page order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "core/names.h"
#include "render/caches.h"

struct row {
	const struct memtap_rec_cache *cache;
	double allocs, frees;		/* a second */
	__s64 grew, grew_bytes;		/* since the start */
	__u64 nr, bytes, waste, freed, remote;	/* since the last row; with .final all */
};

/* What was taken back, known or not. */
static __u64 frees_of(const struct memtap_rec_cache *c)
{
	return c->frees + c->unknown;
}

static const struct memtap_rec_cache *find(const struct caches *c, __u32 id)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->before[i].id == id)
			return &c->before[i];
	return NULL;
}

static struct row make_row(const struct caches *c, const struct memtap_rec_cache *now,
			   const struct caches_opts *o)
{
	const struct memtap_rec_cache none = { .id = now->id };
	const struct memtap_rec_cache *was = o->final ? NULL : find(c, now->id);
	const double seconds = o->seconds - (o->final ? 0 : c->seconds);
	struct row r = { .cache = now };

	if (!was)
		was = &none;
	if (seconds > 0) {
		r.allocs = (double)(now->allocs - was->allocs) / seconds;
		r.frees = (double)(frees_of(now) - frees_of(was)) / seconds;
	}
	r.nr = now->allocs - was->allocs;
	r.bytes = now->bytes - was->bytes;
	r.waste = now->waste - was->waste;
	r.freed = now->frees - was->frees;
	r.remote = now->remote - was->remote;
	r.grew = (__s64)(now->allocs - frees_of(now));
	r.grew_bytes = (__s64)(now->bytes - now->freed_bytes - now->unknown_bytes);
	return r;
}

static int cmp_busy(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	const double d = b->allocs + b->frees - a->allocs - a->frees;

	return d > 0 ? 1 : d < 0 ? -1 : strcmp(a->cache->name, b->cache->name);
}

static int cmp_waste(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->waste != b->waste)
		return a->waste > b->waste ? -1 : 1;
	if (a->remote != b->remote)
		return a->remote > b->remote ? -1 : 1;
	return cmp_busy(x, y);
}

static int cmp_order(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return a->cache->id < b->cache->id ? -1 : a->cache->id > b->cache->id;
}

static bool is_of(const struct memtap_rec_cache *c, bool pages)
{
	return pages ? c->kind == MEMTAP_CACHE_PAGES : c->kind <= MEMTAP_CACHE_OTHER;
}

/* The busiest first; pages by order. */
static struct row *make_rows(const struct caches *c, const struct snap *s,
			     const struct caches_opts *o, size_t *nr)
{
	struct row *rows = calloc(s->nr_caches + 1, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; rows && i < s->nr_caches; i++) {
		struct row r = make_row(c, &s->caches[i], o);

		if (is_of(&s->caches[i], o->pages) && (r.allocs > 0 || r.frees > 0 || r.grew))
			rows[(*nr)++] = r;
	}
	if (rows)
		qsort(rows, *nr, sizeof(*rows), o->pages ? cmp_order :
		      o->waste ? cmp_waste : cmp_busy);
	return rows;
}

/* --- what there is, as the kernel says --- */

static bool what_is_there(const struct row *r, const struct caches_opts *o, __u64 *nr,
			  __u64 *bytes)
{
	const __u64 pages = o->m && o->pages ? r->cache->object_size / o->m->page : 0;
	const unsigned int order = pages ? (unsigned int)__builtin_ctzll(pages) : 0;

	*nr = *bytes = 0;
	if (!o->m)
		return false;
	for (size_t i = 0; o->pages && i < o->m->nr_zones && order < MACHINE_ORDERS; i++)
		*nr += o->m->zones[i].blocks[order];
	*bytes = *nr * r->cache->object_size;
	for (size_t i = 0; !o->pages && i < o->m->slabs.nr; i++)
		if (!strcmp(o->m->slabs.at[i].name, r->cache->name)) {
			*nr = o->m->slabs.at[i].objects;
			*bytes = o->m->slabs.at[i].bytes;
			return true;
		}
	return o->pages && o->m->nr_zones;
}

/* --- for people --- */

static void put_head(const struct caches_opts *o, FILE *out)
{
	fprintf(out, "%10s %10s %10s %10s %11s %11s  %s\n", "ALLOCS/s", "FREES/s",
		o->pages ? "FREE NOW" : "LIVE", "BYTES", "GREW BY", "BYTES",
		o->pages ? "BLOCKS OF" : "CACHE");
}

static void put_row(const struct row *r, const struct caches_opts *o, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN], c[TEXT_LEN], d[TEXT_LEN], e[TEXT_LEN], f[TEXT_LEN];
	__u64 nr, bytes;
	const bool there = what_is_there(r, o, &nr, &bytes);

	fprintf(out, "%10s %10s %10s %10s %11s %11s  ", text_count(a, (__u64)(r->allocs + 0.5)),
		text_count(b, (__u64)(r->frees + 0.5)), there ? text_count(c, nr) : "-",
		there ? text_bytes(d, (__s64)bytes, false) : "-", text_signed(e, r->grew),
		text_bytes(f, r->grew_bytes, true));
	text_put(out, r->cache->name, NULL);
	fputc('\n', out);
}

static void put_table(const struct row *rows, size_t nr, const struct caches_opts *o, FILE *out)
{
	size_t shown = o->top && !o->pages && nr > o->top ? o->top : nr;
	__s64 bytes = 0;
	char n[TEXT_LEN];

	put_head(o, out);
	for (size_t i = 0; i < nr; i++)
		bytes += rows[i].grew_bytes;
	for (size_t i = 0; i < shown; i++)
		put_row(&rows[i], o, out);
	if (shown < nr)
		fprintf(out, "and %zu more cache%s that %s less busy\n", nr - shown,
			text_s(nr - shown), nr - shown == 1 ? "is" : "are");
	fprintf(out, "all: %s since the start\n", text_bytes(n, bytes, true));
}

static void put_percent(__u64 part, __u64 all, FILE *out)
{
	if (all)
		fprintf(out, " %5.1f", 100 * (double)part / (double)all);
	else
		fprintf(out, " %5s", "-");
}

static void put_wasted(const struct row *r, const char *name, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN], c[TEXT_LEN], d[TEXT_LEN], e[TEXT_LEN], f[TEXT_LEN];

	fprintf(out, "%10s %11s %11s %11s", text_count(a, r->nr),
		text_bytes(b, (__s64)(r->bytes - r->waste), false),
		text_bytes(c, (__s64)r->bytes, false), text_bytes(d, (__s64)r->waste, false));
	put_percent(r->waste, r->bytes, out);
	fprintf(out, " %10s %10s", text_count(e, r->freed), text_count(f, r->remote));
	put_percent(r->remote, r->freed, out);
	fputs("  ", out);
	text_put(out, name, NULL);
	fputc('\n', out);
}

/* What was given beyond what was asked for; and frees on another CPU than the allocation. */
static void put_waste(const struct row *rows, size_t nr, const struct caches_opts *o, FILE *out)
{
	const size_t shown = o->top && nr > o->top ? o->top : nr;
	struct row all = { .cache = NULL };

	fprintf(out, "%10s %11s %11s %11s %5s %10s %10s %5s  %s\n", "ALLOCS", "ASKED", "GIVEN",
		"WASTE", "%", "FREES", "OTHER CPU", "%", "CACHE");
	for (size_t i = 0; i < nr; i++) {
		all.nr += rows[i].nr;
		all.bytes += rows[i].bytes;
		all.waste += rows[i].waste;
		all.freed += rows[i].freed;
		all.remote += rows[i].remote;
		if (i < shown)
			put_wasted(&rows[i], rows[i].cache->name, out);
	}
	if (shown < nr)
		fprintf(out, "and %zu more cache%s that waste%s less\n", nr - shown,
			text_s(nr - shown), nr - shown == 1 ? "s" : "");
	put_wasted(&all, "all", out);
}

static const char *const mobilities[] = { "unmovable", "reclaimable", "movable" };

#define NR_MOBILITIES	(sizeof(mobilities) / sizeof(mobilities[0]))

static __u64 asked(const struct memtap_rec_cache *c, size_t mobility)
{
	const __u64 is[] = { c->allocs - c->reclaimable - c->movable, c->reclaimable, c->movable };

	return is[mobility];
}

static void put_orders(const __u64 at[MACHINE_ORDERS], FILE *out)
{
	for (int k = 0; k < MACHINE_ORDERS; k++)
		if (k < 11 || at[k])
			fprintf(out, " %llu", (unsigned long long)at[k]);
	fputc('\n', out);
}

static int order_of(const struct memtap_rec_cache *c, const struct machine *m)
{
	const __u64 pages = c->object_size / m->page;

	return pages ? __builtin_ctzll(pages) : 0;
}

/* How often it was asked for pages of each migratetype, a second. */
static void put_asked(const struct row *rows, size_t nr, const struct caches *c,
		      const struct caches_opts *o, FILE *out)
{
	const double seconds = o->seconds - (o->final ? 0 : c->seconds);
	__u64 at[MACHINE_ORDERS];

	for (size_t i = 0; o->m && seconds > 0 && i < NR_MOBILITIES; i++) {
		memset(at, 0, sizeof(at));
		for (size_t k = 0; k < nr; k++) {
			const struct memtap_rec_cache *now = rows[k].cache;
			const struct memtap_rec_cache *was = o->final ? NULL : find(c, now->id);
			const __u64 n = asked(now, i) - (was ? asked(was, i) : 0);
			const int order = order_of(now, o->m);

			if (order < MACHINE_ORDERS)
				at[order] += (__u64)((double)n / seconds + 0.5);
		}
		fprintf(out, "allocated a second, %s, by order:", mobilities[i]);
		put_orders(at, out);
	}
}

static void put_types(const struct machine_zone *z, FILE *out)
{
	__u64 sum;

	for (size_t i = 0; i < z->nr_types; i++) {
		sum = 0;
		for (int k = 0; k < MACHINE_ORDERS; k++)
			sum += z->types[i].blocks[k];
		if (!sum)
			continue;
		fprintf(out, "free in node %d, zone %s, ", z->node, z->name);
		text_put(out, z->types[i].name, NULL);
		fprintf(out, "%s, by order:", z->types[i].more ? " (at least)" : "");
		put_orders(z->types[i].blocks, out);
	}
}

static void put_zones(const struct machine *m, FILE *out)
{
	for (size_t i = 0; m && i < m->nr_zones; i++) {
		fprintf(out, "free in node %d, zone %s, by order:", m->zones[i].node,
			m->zones[i].name);
		put_orders(m->zones[i].blocks, out);
		put_types(&m->zones[i], out);
	}
}

/* --- for programs --- */

static void put_json_types(struct json *j, const struct machine *m, int order)
{
	json_open(j, "free_in", '[');
	for (size_t i = 0; i < m->nr_zones; i++)
		for (size_t k = 0; k < m->zones[i].nr_types; k++) {
			if (!m->zones[i].types[k].blocks[order])
				continue;
			json_open(j, NULL, '{');
			json_u64(j, "node", (__u64)m->zones[i].node);
			json_str(j, "zone", m->zones[i].name);
			json_str(j, "migratetype", m->zones[i].types[k].name);
			json_u64(j, "blocks", m->zones[i].types[k].blocks[order]);
			json_close(j, '}');
		}
	json_close(j, ']');
}

static void put_json(const struct row *r, const struct snap *s, const struct caches_opts *o,
		     FILE *out)
{
	struct json j = { .out = out, .line = true };
	__u64 nr, bytes;
	const bool there = what_is_there(r, o, &nr, &bytes);

	json_document(&j, "caches");
	json_seconds(&j, "seconds", o->seconds);
	json_bool(&j, "final", o->final);
	if (o->timestamp)
		json_seconds(&j, "time", (double)s->header.real_ns / 1e9);
	json_str(&j, "name", r->cache->name);
	json_str(&j, "kind", cache_kind_name(r->cache->kind));
	json_u64(&j, "object_size", r->cache->object_size);
	json_u64(&j, "allocs_per_s", (__u64)(r->allocs + 0.5));
	json_u64(&j, "frees_per_s", (__u64)(r->frees + 0.5));
	json_u64(&j, "allocs", r->cache->allocs);
	json_u64(&j, "frees", frees_of(r->cache));
	json_s64(&j, "grew", r->grew);
	json_s64(&j, "grew_bytes", r->grew_bytes);
	if (o->waste) {
		json_u64(&j, "bytes", r->cache->bytes);
		json_u64(&j, "waste_bytes", r->cache->waste);
		json_u64(&j, "known_frees", r->cache->frees);
		json_u64(&j, "other_cpu_frees", r->cache->remote);
	}
	if (there) {
		json_u64(&j, o->pages ? "free" : "live", nr);
		json_u64(&j, o->pages ? "free_bytes" : "live_bytes", bytes);
	}
	for (size_t i = 0; o->pages && i < NR_MOBILITIES; i++)
		json_u64(&j, mobilities[i], asked(r->cache, i));
	if (o->pages && o->m && o->final && order_of(r->cache, o->m) < MACHINE_ORDERS)
		put_json_types(&j, o->m, order_of(r->cache, o->m));
	json_close(&j, '}');
	fputc('\n', out);
}

/* --- */

static int keep(struct caches *c, const struct snap *s, double seconds)
{
	const size_t len = s->nr_caches * sizeof(*c->before);
	struct memtap_rec_cache *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, s->caches, len);
	free(c->before);
	c->before = copy;
	c->nr = s->nr_caches;
	c->seconds = seconds;
	return 0;
}

static void put_title(const struct caches *c, const struct snap *s, const struct caches_opts *o,
		      FILE *out)
{
	const time_t now = (time_t)(s->header.real_ns / 1000000000);
	char clock[16] = "";
	struct tm tm;

	if (c->printed)
		fputc('\n', out);
	if (o->timestamp && localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S ", &tm);
	if (o->timestamp || o->final)
		fprintf(out, "%s%s\n", clock, o->final ? "in total" : "");
}

int caches_print(struct caches *c, const struct snap *s, const struct caches_opts *o, FILE *out)
{
	size_t nr;
	struct row *rows = make_rows(c, s, o, &nr);

	if (!rows)
		return -ENOMEM;
	if (o->json) {
		for (size_t i = 0; i < nr; i++)
			put_json(&rows[i], s, o, out);
	} else {
		put_title(c, s, o, out);
		(o->waste ? put_waste : put_table)(rows, nr, o, out);
		if (o->pages) {
			put_asked(rows, nr, c, o, out);
			put_zones(o->m, out);
		}
	}
	free(rows);
	c->printed++;
	return keep(c, s, o->seconds);
}

void caches_free(struct caches *c)
{
	free(c->before);
	*c = (struct caches){ .before = NULL };
}
