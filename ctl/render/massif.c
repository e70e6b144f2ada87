// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write massif's format, for ms_print and massif-visualizer.  With intervals, also those of a
 * recording, each interval is a snapshot.  Otherwise there is one.  With --peak each peak between
 * them is one, too.  A snapshot has live blocks,
 * resident pages (as with --pages-as-heap), or the sum of byte events since the start; without any
 * of these, the sum of page events.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "render/int.h"

#define THRESHOLD	100		/* parts of the whole: less has no line of its own */
#define NO_FRAME	UINT32_MAX	/* there is no stack */
#define MAX_DEPTH	200		/* deeper is the same as not knowing; readers recurse */

struct node {
	__u64 value;
	__u32 frame, parent, child, sibling, nr;	/* the root is no child */
};

struct tree {
	const struct view *v;
	struct node *nodes;
	size_t room;
	struct ids ids;
	struct chain chain;
	__u64 unit;			/* bytes of what a row has */
	bool peak;			/* rows are those of RLEAKS_PEAK */
	__u32 number;			/* of the next snapshot */
	FILE *out;
};

static bool same_node(const void *things, __u32 id, const void *key)
{
	const struct node *a = (const struct node *)things + id, *b = key;

	return id && a->parent == b->parent && a->frame == b->frame;
}

/* -ENOMEM: no memory. */
static __s64 get_node(struct tree *t, __u32 parent, __u32 frame)
{
	struct node key = { .frame = frame, .parent = parent }, *more;
	const __u64 hash = ids_mix(ids_mix(1, parent), frame);
	__u32 id = t->ids.nr ? ids_find(&t->ids, hash, same_node, t->nodes, &key) : IDS_NONE;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(t->nodes, t->ids.nr, &t->room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->nodes = more;
	id = ids_add(&t->ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	if (id) {
		key.sibling = more[parent].child;
		more[parent].child = id;
		more[parent].nr++;
	}
	more[id] = key;
	return id;
}

/*
 * Functions that allocate, and the way of a system call into the kernel; '*' stands for anything.
 * Viewers draw an area for each of the innermost frames: that is to be the function that asked for
 * memory.  Massif has these at the root, too.
 */
static const char *const allocators[] = {
	"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "pvalloc",
	"valloc", "posix_memalign", "operator new*", "__libc_malloc", "__libc_calloc",
	"__libc_realloc", "__libc_memalign", "__GI_*alloc", "_int_malloc", "_int_realloc",
	"_int_memalign", "_mid_memalign", "sysmalloc", "sysmalloc_mmap*", "tcache_init*",
	"ptmalloc_init*", "arena_get*", "new_heap", "alloc_new_heap", "_int_new_arena",
	"__default_morecore", "__glibc_morecore", "sbrk", "__sbrk", "brk", "__brk", "mmap",
	"mmap64", "__mmap", "__mmap64", "mremap", "__mremap", "mi_*alloc", "je_*alloc",
	"tc_*alloc", "tc_new*", "kmalloc*", "__kmalloc*", "__do_kmalloc*", "kzalloc*",
	"kmem_cache_alloc*", "__kmem_cache_alloc*", "alloc_pages*", "__alloc_pages*",
	"alloc_frozen_pages*", "__alloc_frozen_pages*", "folio_alloc*", "__folio_alloc*",
	"__get_free_pages*", "get_free_pages*", "get_zeroed_page*", "vmalloc*", "__vmalloc*",
	"vzalloc*", "kvmalloc*", "__kvmalloc*", "pcpu_alloc*", "__alloc_percpu*",
	"__x64_sys_*", "__ia32_*sys_*", "__arm64_sys_*", "__se_sys_*", "__do_sys_*", "ksys_*",
	"SyS_*", "sys_*", "x64_sys_call", "do_syscall_64", "entry_SYSCALL_64*", "system_call*",
	"invoke_syscall*", "el0_svc*", "do_el0_svc*", "el0t_64_sync*",
};

/* @pattern has one '*' at most. */
static bool fits(const char *pattern, const char *name)
{
	const size_t before = strcspn(pattern, "*"), len = strlen(name);
	const char *behind = pattern + before + (pattern[before] == '*');
	const size_t end = strlen(behind);

	if (!pattern[before])
		return !strcmp(pattern, name);
	return len >= before + end && !strncmp(name, pattern, before) &&
	       !strcmp(name + len - end, behind);
}

static bool is_allocator(const struct view *v, const struct rframe *f)
{
	const struct opt_strs *own = v->o->alloc_fns;

	if (!f->sym || !f->sym->name)
		return false;
	for (size_t i = 0; own && i < own->nr; i++)
		if (fits(own->at[i], f->text))
			return true;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (fits(allocators[i], f->text))
			return true;
	return false;
}

/* How many of the innermost frames are allocators; not all of them. */
size_t render_asked_from(const struct view *v, const struct chain *c)
{
	size_t i = 0;

	while (i < c->nr && is_allocator(v, &v->r->frames[c->at[i]]))
		i++;
	return i == c->nr && i ? i - 1 : i;
}

/* From who asked for memory outwards, as Massif has it. */
static int add_row(struct tree *t, const struct rrow *row, __u64 value)
{
	int err = render_chain(t->v->r, row, &t->chain);
	const size_t from = err ? 0 : render_asked_from(t->v, &t->chain);
	__s64 at = 0;

	if (err)
		return err;
	t->nodes[0].value = render_add(t->nodes[0].value, value);
	for (size_t i = from; at >= 0 && i < t->chain.nr && i - from < MAX_DEPTH; i++) {
		at = get_node(t, (__u32)at, t->chain.at[i]);
		if (at >= 0)
			t->nodes[at].value = render_add(t->nodes[at].value, value);
	}
	if (!t->chain.nr) {
		at = get_node(t, 0, NO_FRAME);
		if (at >= 0)
			t->nodes[at].value = render_add(t->nodes[at].value, value);
	}
	return at < 0 ? (int)at : 0;
}

/* Pages in swap space are not resident. */
static bool is_resident(const struct snap_event *e)
{
	return report_is_pages(e) && strcmp(e->name, "swapped");
}

/* Is it in the file?  What a program maps itself is not. */
static bool is_told(const struct tree *t, const struct snap_event *e)
{
	const struct report *r = t->v->r;

	if (!render_event_shown(r, e))
		return false;
	if (r->leaks && !leaks_kernel(r->snap))
		return e == &r->events[t->peak ? RLEAKS_PEAK : RLEAKS_HEAP];
	if (t->unit == 1)
		return e->unit == MEMTAP_UNIT_BYTES;
	return report_is_rss(r) ? is_resident(e) : e->unit == MEMTAP_UNIT_PAGES;
}

/* Bytes of what rows have; 0: no event has bytes or pages. */
static __u64 unit_of(const struct snap *s)
{
	__u64 unit = leaks_kept(s);

	for (size_t i = 0; !unit && i < s->nr_events; i++)
		if (s->events[i].unit == MEMTAP_UNIT_BYTES)
			unit = 1;
	for (size_t i = 0; i < s->nr_events; i++)
		if (report_is_pages(&s->events[i]) ||
		    (!unit && s->events[i].unit == MEMTAP_UNIT_PAGES))
			unit = s->header.page_size;
	return unit;
}

const char *render_unfit(const struct snap *s, enum report_format format)
{
	if (format == FORMAT_XML)
		return leaks_kept(s) && !leaks_kernel(s) ? NULL : RENDER_XML_UNFIT;
	if (format == FORMAT_HEAPTRACK && !s->peak.rec.len)
		return "--format heaptrack is for processes' blocks, recorded with "
		       "`memtap record --leaks --peak`, or by `memtap leaks --format heaptrack`";
	if (format == FORMAT_PERF_DATA && leaks_kept(s))
		return "--format perf-data is for events that are counted: --format pprof has "
		       "live blocks";
	return format != FORMAT_MASSIF || unit_of(s) ? NULL : "--format massif is for bytes and "
	       "pages, and these events have neither: --format callgrind or pprof has all events";
}

const char *render_no_bytes(const struct snap *s)
{
	if (!s->nr_heaps)
		return "--time-unit B: only `memtap leaks` counts what is allocated and freed";
	if (s->nr_liveds)
		return "--time-unit B: it is not recorded how much was allocated in each "
		       "interval: use ms";
	return NULL;
}

static void put_others(const struct tree *t)
{
	const struct report *r = t->v->r;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct snap_event *e = r->sections[i].event;

		if (is_told(t, e) || report_sums_only(r, e) ||
		    (r->leaks && e == &r->events[RLEAKS_PEAK]))
			continue;
		fputs("memtap: ", stderr);
		text_put(stderr, e->name, NULL);
		fprintf(stderr, ": not in this file, which has %s alone\n", t->unit != 1 ?
			report_is_rss(r) ? "resident pages" : "bytes of pages" : r->leaks ?
			"bytes of the heap" : "events of bytes");
	}
}

static __u64 in_bytes(const struct tree *t, __u64 value)
{
	return value > INT64_MAX / t->unit ? INT64_MAX : value * t->unit;
}

/* @levels: what each row has, by its number; NULL: what it has in the report. */
static int add_rows(struct tree *t, const __s64 *levels)
{
	const struct report *r = t->v->r;
	int err = get_node(t, 0, 0) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; !err && is_told(t, s->event) && k < s->shown; k++) {
			const struct rrow *row = report_shown(r, s, k);
			const __s64 v = levels ? levels[row - r->rows] : report_growth(row);

			if (v > 0)
				err = add_row(t, row, in_bytes(t, (__u64)v));
		}
	}
	return err;
}

static int cmp_nodes(const void *a, const void *b, void *ctx)
{
	const struct node *nodes = ctx;
	const __u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	if (nodes[x].value != nodes[y].value)
		return nodes[x].value < nodes[y].value ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void put_name(struct tree *t, const struct node *n)
{
	static const struct rframe no_stack = { .text = RENDER_NO_STACK };
	const struct rframe *f = n->frame == NO_FRAME ? &no_stack : &t->v->r->frames[n->frame];
	const struct sym_frame *s = f->sym;

	fprintf(t->out, "0x%llX: ", s && !s->kernel ? (unsigned long long)s->addr : 0ULL);
	text_put(t->out, f->text, NULL);
	fputs(" (", t->out);
	if (s && s->file) {
		text_put(t->out, s->file, NULL);
		if (s->line > 0)
			fprintf(t->out, ":%d", s->line);
	} else {
		fputs("in ", t->out);
		text_put(t->out, s && *s->object ? s->object : "memtap", NULL);
	}
	fputs(")\n", t->out);
}

static int put_node(struct tree *t, __u32 id, unsigned int depth)
{
	const struct node *n = &t->nodes[id];
	const __u64 least = t->nodes[0].value / THRESHOLD;
	__u32 *order = malloc((n->nr + 1) * sizeof(*order)), nr = 0, kept = 0;
	__u64 rest = 0;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (__u32 c = n->child; c; c = t->nodes[c].sibling)
		order[nr++] = c;
	qsort_r(order, nr, sizeof(*order), cmp_nodes, t->nodes);
	while (kept < nr && t->nodes[order[kept]].value >= least)
		kept++;
	for (__u32 i = kept; i < nr; i++)
		rest = render_add(rest, t->nodes[order[i]].value);
	fprintf(t->out, "%*sn%u: %llu ", depth, "", kept + (kept < nr),
		(unsigned long long)n->value);
	if (id)
		put_name(t, n);
	else
		fputs("(memtap: callers of allocation functions)\n", t->out);
	for (__u32 i = 0; !err && i < kept; i++)
		err = put_node(t, order[i], depth + 1);
	if (kept < nr)
		fprintf(t->out, "%*sn0: %llu in %u place%s, all below massif's threshold "
			"(1.00%%)\n", depth + 1, "", (unsigned long long)rest, nr - kept,
			text_s(nr - kept));
	free(order);
	return err;
}

static void put_head(const struct view *v, FILE *out)
{
	fputs("desc: ", out);
	render_title(v, out);
	fputs("\ncmd: ", out);
	render_program(v, out);
	fprintf(out, "\ntime_unit: %s\n", v->o->bytes_as_time ? "B" : "ms");
}

/* Allocated, and freed: exact, whatever became of the blocks. */
static __u64 bytes_moved(const struct snap *s)
{
	__u64 sum = 0;

	for (size_t i = 0; i < s->nr_heaps; i++)
		if (s->heaps[i].family != MEMTAP_FAMILY_MMAP)
			sum += s->heaps[i].bytes + s->heaps[i].freed_bytes;
	return sum;
}

static void forget(struct tree *t)
{
	ids_free(&t->ids);
	memset(&t->ids, 0, sizeof(t->ids));
}

static int put_snapshot(struct tree *t, __u64 now_ns, const __s64 *levels)
{
	const struct snap *s = t->v->r->snap;
	const __u64 start = s->header.start_ns;
	int err = add_rows(t, levels);

	if (!err) {
		fprintf(t->out, "#-----------\nsnapshot=%u\n#-----------\ntime=%llu\n"
			"mem_heap_B=%llu\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
			t->number++, (unsigned long long)
			(t->v->o->bytes_as_time ? bytes_moved(s) :
			 now_ns > start ? (now_ns - start) / 1000000 : 0),
			(unsigned long long)t->nodes[0].value, t->peak ? "peak" : "detailed");
		err = put_node(t, 0, 0);
	}
	forget(t);
	return err;
}

/* What lived then, if it was between @from_ns and @until_ns. */
static int put_peak(struct tree *t, __u64 from_ns, __u64 until_ns)
{
	const struct memtap_rec_peak *p = &t->v->r->snap->peak;
	int err;

	/* how many bytes had come and gone by then is not known */
	if (!p->peak_number || t->v->o->bytes_as_time || p->peak_ns <= from_ns ||
	    p->peak_ns > until_ns)
		return 0;
	t->peak = true;
	err = put_snapshot(t, p->peak_ns, NULL);
	t->peak = false;
	return err;
}

/* By part of the time, what rows were in it: the report has it by row. */
struct part {
	__u32 row, next;		/* next: number + 1 */
};

static __s64 change(const struct report *r, const struct rrow *row, const struct rseries *s)
{
	if (!report_is_growth(row))
		return 0;
	return (__s64)((__u64)s->sum - (r->leaks ? s->freed_bytes : 0));
}

static int put_parts(struct tree *t, size_t nr)
{
	const struct report *r = t->v->r;
	__s64 *levels = calloc(r->nr_rows + 1, sizeof(*levels));
	__u32 *first = calloc(nr + 1, sizeof(*first));
	struct part *parts = calloc(r->nr_series + 1, sizeof(*parts));
	__u64 last = 0;
	int err = levels && first && parts ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < r->nr_rows; i++)
		for (__u32 k = r->rows[i].series; k; k = r->series[k - 1].next) {
			__u32 *head = &first[r->series[k - 1].span];

			parts[k] = (struct part){ (__u32)i, *head };
			*head = k;
		}
	for (size_t i = 0; !err && i < nr; i++) {
		const __u64 end = r->leaks ? r->snap->liveds[i]->end_ns :
				  r->snap->spans[i]->end_ns;

		for (__u32 k = first[i]; k; k = parts[k].next) {
			__s64 *level = &levels[parts[k].row];

			*level = (__s64)((__u64)*level + (__u64)change(r, &r->rows[parts[k].row],
								      &r->series[k - 1]));
		}
		err = put_peak(t, last, i + 1 < nr ? end : ~0ULL);
		if (!err)
			err = put_snapshot(t, end, levels);
		last = end;
	}
	free(levels);
	free(first);
	free(parts);
	return err;
}

int render_massif(const struct view *v, FILE *out)
{
	const struct snap *s = v->r->snap;
	struct tree t = { .v = v, .out = out, .unit = unit_of(s) };
	int err;

	if (!t.unit)
		return -EOPNOTSUPP;

	t.number = v->o->numbers ? *v->o->numbers : v->o->number;
	if (!v->o->number)
		put_head(v, out);
	if (v->r->nr_series)
		err = put_parts(&t, v->r->leaks ? s->nr_liveds : s->nr_spans);
	else
		err = put_peak(&t, v->o->last_ns, ~0ULL);
	if (!err && !v->r->nr_series)
		err = put_snapshot(&t, s->header.now_ns, NULL);
	if (v->o->numbers)
		*v->o->numbers = t.number;
	put_others(&t);
	render_losses(v, "memtap: ", "this file", stderr);
	forget(&t);
	free(t.nodes);
	render_chain_free(&t.chain);
	return err;
}
