// SPDX-License-Identifier: GPL-2.0-or-later
/* The largest holders of memory as metrics: as many labels as asked for, and how many are left. */
#include <stdlib.h>
#include <string.h>

#include "render/metrics_int.h"

/* A holder and its name as a label: names that look alike there are one. */
struct row {
	char *name;
	struct machine_holder sum;
	__s64 grew;
	bool known;			/* @grew is */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static int more_bytes(const void *a, const void *b)
{
	const struct row *l = a, *r = b;

	if (l->sum.bytes != r->sum.bytes)
		return l->sum.bytes < r->sum.bytes ? 1 : -1;
	return strcmp(l->name, r->name);
}

static void free_rows(struct row *rows, size_t nr)
{
	for (size_t i = 0; rows && i < nr; i++)
		free(rows[i].name);
	free(rows);
}

static void add(struct machine_holder *sum, const struct machine_holder *h)
{
	sum->bytes += h->bytes;
	sum->anon += h->anon;
	sum->swap += h->swap;
	sum->objects += h->objects;
	sum->hits += h->hits;
	sum->oom_kills += h->oom_kills;
	if (h->size < sum->size)
		sum->size = h->size;
}

/* The holders of a list by name, largest first; NULL: no memory.  @one: each is one object. */
static struct row *rows_of(const struct machine_list *l, bool each_one, size_t *nr)
{
	struct row *rows = calloc(l->nr + 1, sizeof(*rows));
	size_t kept = 0;

	for (size_t i = 0; rows && i < l->nr; i++) {
		rows[i].name = metrics_label(l->at[i].name);
		rows[i].sum = l->at[i];
		if (each_one)
			rows[i].sum.objects = 1;
		if (!rows[i].name) {
			free_rows(rows, i);
			return NULL;
		}
	}
	if (!rows)
		return NULL;
	qsort(rows, l->nr, sizeof(*rows), by_name);
	for (size_t i = 0; i < l->nr; i++) {
		if (kept && !strcmp(rows[kept - 1].name, rows[i].name)) {
			add(&rows[kept - 1].sum, &rows[i].sum);
			free(rows[i].name);
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), more_bytes);
	*nr = kept;
	return rows;
}

/* One value of each holder: which field of struct machine_holder. */
struct column {
	struct metric of;
	size_t offset;
	bool limited;		/* ~0 is no value */
};

struct kind {
	const char *key;
	const struct column *columns;
	size_t nr;
	struct metric left_out;
	struct metric grew;	/* .name NULL: growth is not told */
	bool programs;		/* an object is one process */
};

static void row(struct page *p, const struct kind *k, const struct column *c,
		const struct row *r)
{
	const __u64 v = *(const __u64 *)((const char *)&r->sum + c->offset);

	if (!c->limited || v != ~0ULL)
		metrics_sample(p, k->key, r->name, v);
}

/*
 * What is new has grown by all it has, if all of its kind were read before.  Of programs some of
 * the processes may have been left out.
 */
static bool find_growth(const struct kind *k, const struct machine_list *before, struct row *rows,
			size_t nr)
{
	struct row *was, *found;
	size_t nr_was;

	if (!before || !before->has)
		return true;
	was = rows_of(before, k->programs, &nr_was);
	if (!was)
		return false;
	qsort(was, nr_was, sizeof(*was), by_name);
	for (size_t i = 0; i < nr; i++) {
		found = bsearch(&rows[i], was, nr_was, sizeof(*was), by_name);
		rows[i].known = found || (!before->late && !k->programs);
		rows[i].grew = (__s64)(rows[i].sum.bytes - (found ? found->sum.bytes : 0));
	}
	free_rows(was, nr_was);
	return true;
}

static void growth(struct page *p, const struct kind *k, const struct row *rows, size_t nr)
{
	metrics_head(p, &k->grew);
	for (size_t i = 0; i < nr; i++)
		if (rows[i].known)
			metrics_signed(p, k->key, rows[i].name, rows[i].grew);
}

static int more_kills(const void *a, const void *b)
{
	const struct row *l = a, *r = b;

	if (l->sum.oom_kills != r->sum.oom_kills)
		return l->sum.oom_kills < r->sum.oom_kills ? 1 : -1;
	return more_bytes(a, b);
}

/*
 * Of the largest cgroups, so that a counter is there before it rises; and of those with most
 * kills, which may hold little by now.
 */
static void kills(struct page *p, const struct kind *k, struct row *rows, size_t nr, size_t shown)
{
	static const struct metric family = {
		"cgroup_oom_kills", NULL, COUNTER,
		"OOM kills in each listed cgroup and its descendants, and in other cgroups with "
		"the most kills.",
	};

	metrics_head(p, &family);
	for (size_t i = 0; i < shown; i++)
		metrics_sample(p, k->key, rows[i].name, rows[i].sum.oom_kills);
	qsort(rows + shown, nr - shown, sizeof(*rows), more_kills);
	for (size_t i = shown; i < nr && i - shown < p->o->top && rows[i].sum.oom_kills; i++)
		metrics_sample(p, k->key, rows[i].name, rows[i].sum.oom_kills);
}

static bool holders(struct page *p, const struct machine_list *l,
		    const struct machine_list *before, const struct kind *k, bool killed)
{
	struct row *rows;
	size_t nr, shown;

	if (!l->has)
		return true;
	rows = rows_of(l, k->programs, &nr);
	if (!rows)
		return false;
	shown = nr < p->o->top ? nr : p->o->top;
	for (const struct column *c = k->columns; c < k->columns + k->nr; c++) {
		metrics_head(p, &c->of);
		for (size_t i = 0; i < shown; i++)
			row(p, k, c, &rows[i]);
	}
	if (before && k->grew.name) {
		if (!find_growth(k, before, rows, shown)) {
			free_rows(rows, nr);
			return false;
		}
		growth(p, k, rows, shown);
	}
	metrics_one(p, &k->left_out, nr - shown);
	if (killed)
		kills(p, k, rows, nr, shown);
	free_rows(rows, nr);
	return true;
}

#define FIELD(f)	offsetof(struct machine_holder, f)

static bool cgroups(struct page *p, const struct machine *m, const struct machine *before)
{
	static const struct column of[] = {
		{ { "cgroup_memory_bytes", "bytes", GAUGE,
		    "Memory charged to the largest cgroups, including their descendants." },
		  FIELD(bytes) },
		{ { "cgroup_limit_bytes", "bytes", GAUGE, "Memory limit of each listed cgroup, if "
		   "it has one." },
		  FIELD(size), true },
		{ { "cgroup_limit_hits", NULL, COUNTER, "How often each listed cgroup reached its "
		   "limit." },
		  FIELD(hits) },
	};
	static const struct kind kind = {
		"cgroup", of, DIM(of),
		{ "cgroups_left_out", NULL, GAUGE,
		  "Number of smaller cgroups that are not listed." },
		{ "cgroup_growth_bytes", "bytes", GAUGE,
		  "Growth of each listed cgroup in memtap_growth_seconds." },
	};

	return holders(p, &m->cgroups, before ? &before->cgroups : NULL, &kind, true);
}

static bool programs(struct page *p, const struct machine *m, const struct machine *before)
{
	static const struct column of[] = {
		{ { "program_memory_bytes", "bytes", GAUGE,
		    "RSS and swap of all processes with this name; shared pages count once per "
		    "process." },
		  FIELD(bytes) },
		{ { "program_anonymous_bytes", "bytes", GAUGE, "Anonymous memory of all processes "
		   "with this name." },
		  FIELD(anon) },
		{ { "program_swap_bytes", "bytes", GAUGE, "Swapped-out memory of all processes "
		   "with this name." }, FIELD(swap) },
		{ { "program_processes", NULL, GAUGE, "Number of processes with this name." },
		  FIELD(objects) },
	};
	static const struct kind kind = {
		"program", of, DIM(of),
		{ "programs_left_out", NULL, GAUGE, "Number of smaller programs that are not "
		 "listed." },
		{ "program_growth_bytes", "bytes", GAUGE,
		  "Growth of each listed program in memtap_growth_seconds, if it ran before." },
		true,
	};
	/* a history has the processes that hold or changed most */
	const bool whole = before && !p->o->past;

	return holders(p, &m->processes, whole ? &before->processes : NULL, &kind, false);
}

static bool slabs(struct page *p, const struct machine *m, const struct machine *before)
{
	static const struct column of[] = {
		{ { "slab_bytes", "bytes", GAUGE, "Memory of the largest slab caches." },
		  FIELD(bytes) },
		{ { "slab_objects", NULL, GAUGE, "Objects in use in each listed slab cache." },
		   FIELD(objects) },
	};
	static const struct kind kind = {
		"cache", of, DIM(of),
		{ "slabs_left_out", NULL, GAUGE, "Number of smaller slab caches that are not "
		 "listed." },
		{ "slab_growth_bytes", "bytes", GAUGE,
		  "Growth of each listed slab cache in memtap_growth_seconds." },
	};

	return holders(p, &m->slabs, before ? &before->slabs : NULL, &kind, false);
}

bool metrics_holders(struct page *p, const struct machine *m)
{
	static const struct metric family = {
		"growth_seconds", "seconds", GAUGE,
		"Time between the earlier sample and this one, in which *_growth_bytes grew.",
	};
	const struct machine *before = p->o->before;

	if (before) {
		metrics_head(p, &family);
		metrics_seconds(p, p->o->seconds);
	}
	return cgroups(p, m, before) && programs(p, m, before) && slabs(p, m, before);
}

bool metrics_live(struct page *p, const struct machine_list *l)
{
	static const struct column of[] = {
		{ { "live_bytes", "bytes", GAUGE,
		    "Bytes allocated and not freed since a session of memtap follows them, of all "
		    "processes with this name." },
		  FIELD(bytes) },
		{ { "live_blocks", NULL, GAUGE,
		    "Blocks allocated and not freed since a session of memtap follows them, of "
		    "all processes with this name." },
		  FIELD(objects) },
	};
	static const struct kind kind = {
		"program", of, DIM(of),
		{ "live_programs_left_out", NULL, GAUGE,
		  "Number of followed programs with fewer live bytes that are not listed." },
	};

	return holders(p, l, NULL, &kind, false);
}
