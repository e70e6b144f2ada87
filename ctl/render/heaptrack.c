// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write heaptrack's own format, for heaptrack_gui and heaptrack_print: of each stack how often it
 * allocated, how many of these allocations were temporary, what it had at the peak, and what lives.
 *
 * The file is a list of calls.  memtap keeps sums, and so these calls are made up, in an order that
 * leads to these sums: temporary allocations first, then what lived at the peak, then what was
 * freed in other ways, then what lives.  What lies between the start, the peak and the end is not
 * told by the curves that heaptrack draws.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "render/int.h"

#define VERSION		0x10300		/* of heaptrack, and of its files */
#define FILE_VERSION	3
#define NO_INFO		(~0ULL)

__u64 heaptrack_most_calls = 20000000;

struct amount {
	__u64 nr, bytes;
};

struct trace {
	__u32 ip, parent;		/* numbers from 1 on; parent 0: outermost */
	struct amount all, temporary, peak, live;
};

struct ip {
	__u32 frame, function, file, module;
};

struct track {
	const struct view *v;
	FILE *out;
	struct ids string_ids, ip_ids, trace_ids;
	const char **strings;
	struct ip *ips;
	struct trace *traces;
	size_t room_strings, room_ips, room_traces;
	struct chain chain;
	__u64 infos;			/* kinds of allocations so far */
	__u64 open;			/* the last one that is freed by the next call */
	__u64 calls, kept, left_out;	/* kept: of them, those of blocks at the peak and now */
};

/* ---- what calls refer to; numbers from 1 on, or -ENOMEM ---- */

static bool same_string(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const char *const *)things)[id], key);
}

/* A line: what is not printable is shown as in other formats. */
static void put_string(struct track *t, const char *text)
{
	char *clean = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&clean, &len);

	if (!f)
		return;
	text_put(f, text, NULL);
	fclose(f);
	fprintf(t->out, "s %zx %s\n", len, clean);
	free(clean);
}

static __s64 get_string(struct track *t, const char *text)
{
	const __u64 hash = ids_hash_string(1, text);
	__u32 id = t->string_ids.nr ? ids_find(&t->string_ids, hash, same_string, t->strings,
					       text) : IDS_NONE;
	const char **more;

	if (!*text)
		return 0;
	if (id != IDS_NONE)
		return (__s64)id + 1;
	more = ids_grow(t->strings, t->string_ids.nr, &t->room_strings, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->strings = more;
	id = ids_add(&t->string_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	more[id] = text;
	put_string(t, text);
	return (__s64)id + 1;
}

static bool same_ip(const void *things, __u32 id, const void *key)
{
	return ((const struct ip *)things)[id].frame == ((const struct ip *)key)->frame;
}

static void put_ip(struct track *t, const struct ip *ip, const struct sym_frame *s)
{
	fprintf(t->out, "i %llx %x %x", s && !s->kernel ? (unsigned long long)s->addr : 0ULL,
		ip->module, ip->function);
	if (ip->file)
		fprintf(t->out, " %x %x", ip->file, s->line > 0 ? (unsigned int)s->line : 0);
	fputc('\n', t->out);
}

static __s64 get_ip(struct track *t, __u32 frame)
{
	const struct rframe *f = &t->v->r->frames[frame];
	const struct sym_frame *s = f->sym;
	struct ip key = { .frame = frame }, *more;
	__u32 id = t->ip_ids.nr ? ids_find(&t->ip_ids, ids_mix(1, frame), same_ip, t->ips, &key) :
				  IDS_NONE;
	__s64 function, file, module;

	if (id != IDS_NONE)
		return (__s64)id + 1;
	function = get_string(t, f->text);
	file = get_string(t, s && s->file ? s->file : "");
	module = get_string(t, s && s->object ? s->object : "");
	more = ids_grow(t->ips, t->ip_ids.nr, &t->room_ips, sizeof(*more));
	if (function < 0 || file < 0 || module < 0 || !more)
		return -ENOMEM;
	t->ips = more;
	id = ids_add(&t->ip_ids, ids_mix(1, frame));
	if (id == IDS_NONE)
		return -ENOMEM;
	key.function = (__u32)function;
	key.file = (__u32)file;
	key.module = (__u32)module;
	more[id] = key;
	put_ip(t, &key, s);
	return (__s64)id + 1;
}

static bool same_trace(const void *things, __u32 id, const void *key)
{
	const struct trace *a = (const struct trace *)things + id, *b = key;

	return a->ip == b->ip && a->parent == b->parent;
}

static __s64 get_trace(struct track *t, __u32 ip, __u32 parent)
{
	struct trace key = { .ip = ip, .parent = parent }, *more;
	const __u64 hash = ids_mix(ids_mix(1, ip), parent);
	__u32 id = t->trace_ids.nr ? ids_find(&t->trace_ids, hash, same_trace, t->traces, &key) :
				     IDS_NONE;

	if (id != IDS_NONE)
		return (__s64)id + 1;
	more = ids_grow(t->traces, t->trace_ids.nr, &t->room_traces, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->traces = more;
	id = ids_add(&t->trace_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	more[id] = key;
	fprintf(t->out, "t %x %x\n", ip, parent);
	return (__s64)id + 1;
}

/* The stack of a row: from who asked for memory outwards. */
static __s64 trace_of(struct track *t, const struct rrow *row)
{
	const int err = render_chain(t->v->r, row, &t->chain);
	const size_t from = err ? 0 : render_asked_from(t->v, &t->chain);
	__s64 trace = 0;

	for (size_t i = t->chain.nr; !err && trace >= 0 && i-- > from;) {
		const __s64 ip = get_ip(t, t->chain.at[i]);

		trace = ip < 0 ? ip : get_trace(t, (__u32)ip, (__u32)trace);
	}
	if (!err && !t->chain.nr)	/* 0 is no stack, but calls have one */
		trace = get_trace(t, 0, 0);
	return err ? err : trace;
}

static void add(struct amount *to, const struct rrow *row)
{
	to->nr += row->count;
	to->bytes += (__u64)row->sum;
}

static int add_row(struct track *t, const struct rrow *row)
{
	const __s64 id = trace_of(t, row);
	struct trace *x;

	if (id <= 0)
		return id < 0 ? (int)id : 0;
	x = &t->traces[id - 1];
	switch (row->event) {
	case RLEAKS_HEAP:
		add(&x->live, row);
		break;
	case RLEAKS_PEAK:
		add(&x->peak, row);
		break;
	case RLEAKS_ALLOCATED:
		add(&x->all, row);
		break;
	case RLEAKS_TEMPORARY:
		add(&x->temporary, row);
		break;
	}
	return 0;
}

/* ---- calls ---- */

static void put_info(struct track *t, __u64 size, __u32 trace)
{
	fprintf(t->out, "a %llx %x\n", (unsigned long long)size, trace);
	t->infos++;
}

static void put_call(struct track *t, char what, __u64 info)
{
	fprintf(t->out, "%c %llx\n", what, (unsigned long long)info);
}

/* Each of so many has a line; those beyond heaptrack_most_calls are left out. */
static __u64 limited(struct track *t, __u64 nr)
{
	const __u64 left = t->calls < heaptrack_most_calls ? heaptrack_most_calls - t->calls : 0;
	const __u64 now = nr < left ? nr : left;

	t->calls += now;
	t->left_out += nr - now;
	return now;
}

/* Sizes of so many blocks add up: where one does not, there are two, that differ by a byte. */
static __u64 info_of(const struct amount *a, __u64 first, __u64 number)
{
	const __u64 larger = a->bytes % a->nr;

	return first + (larger && number >= larger);
}

/*
 * Allocates block @number of these, the next one.  heaptrack_gui needs a size to be used before the
 * next one is: so each has its line where it is used first.
 */
static void put_new(struct track *t, const struct amount *a, __u64 number, __u32 trace,
		    __u64 *first)
{
	const __u64 size = a->bytes / a->nr, larger = a->bytes % a->nr;

	if (!number) {
		*first = t->infos;
		put_info(t, size + !!larger, trace);
	} else if (number == larger) {
		put_info(t, size, trace);
	}
	put_call(t, '+', info_of(a, *first, number));
}

static void put_temporary(struct track *t, const struct trace *x, __u32 trace)
{
	const struct amount *a = &x->temporary;
	const __u64 nr = limited(t, a->nr);
	__u64 first = 0;

	for (__u64 i = 0; i < nr; i++) {
		put_new(t, a, i, trace, &first);
		put_call(t, '-', info_of(a, first, i));
	}
}

/* Each is freed when the next one is allocated, as another kind: it is not temporary. */
static void put_freed(struct track *t, const struct amount *a, __u32 trace)
{
	const __u64 nr = limited(t, a->nr);
	const __u64 size = nr && a->bytes / a->nr < t->v->r->snap->peak.peak_bytes / 2 ?
			   a->bytes / a->nr : 0;
	const __u64 first = t->infos;

	for (__u64 i = 0; i < nr; i++) {
		if (i < 2)
			put_info(t, size, trace);
		put_call(t, '+', first + i % 2);
		if (t->open != NO_INFO)
			put_call(t, '-', t->open);
		t->open = first + i % 2;
	}
}

static void put_kept(struct track *t, const struct amount *a, __u32 trace, __u64 *first)
{
	for (__u64 i = 0; i < a->nr; i++)
		put_new(t, a, i, trace, first);
}

static __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* More blocks than there can be, of a damaged file. */
#define MOST_KEPT	(64 * heaptrack_most_calls)

static void limit_kept(struct track *t, struct amount *a)
{
	const __u64 left = t->kept < MOST_KEPT ? MOST_KEPT - t->kept : 0;
	const __u64 nr = least(a->nr, left);

	if (nr < a->nr) {
		t->left_out += a->nr - nr;
		*a = (struct amount){ nr, a->bytes / a->nr * nr };
	}
	t->kept += nr;
	t->calls += nr;
}

/* What each block was, whose sums alone are known. */
struct parts {
	struct amount stay;		/* it lived at the peak, and does */
	struct amount peak, live;	/* one of these alone */
	struct amount freed;		/* neither, nor is it temporary */
	__u64 first;			/* number of the peak's */
};

static __u64 less(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

/* Of more than there are some are both: they lived at the peak, and live or are temporary. */
static void divide(struct trace *x, struct parts *p)
{
	const __u64 nr = x->temporary.nr + x->peak.nr + x->live.nr;
	const __u64 bytes = x->temporary.bytes + x->peak.bytes + x->live.bytes;
	const __u64 both = less(nr, x->all.nr), stay = least(both, least(x->live.nr, x->peak.nr));
	__u64 size = least(less(bytes, x->all.bytes), least(x->peak.bytes, x->live.bytes));

	if (stay == x->peak.nr)
		size = x->peak.bytes;
	else if (stay == x->live.nr)
		size = x->live.bytes;
	p->stay = (struct amount){ stay, stay ? size : 0 };
	if (p->stay.bytes > least(x->peak.bytes, x->live.bytes))
		p->stay = (struct amount){ 0, 0 };
	p->peak = (struct amount){ x->peak.nr - p->stay.nr, x->peak.bytes - p->stay.bytes };
	p->live = (struct amount){ x->live.nr - p->stay.nr, x->live.bytes - p->stay.bytes };
	x->temporary.nr -= least(x->temporary.nr, both - stay);
	p->freed = (struct amount){ less(x->all.nr, nr), less(x->all.bytes, bytes) };
}

static void put_time(struct track *t, __u64 ns)
{
	const __u64 start = t->v->r->snap->header.start_ns;

	fprintf(t->out, "c %llx\n", (unsigned long long)(ns > start ? (ns - start) / 1000000 : 0));
}

/* Blocks that stay come last: what is freed then is not what was allocated last. */
static void put_peak(struct track *t, struct parts *p, __u32 nr)
{
	__u64 unused;

	for (__u32 i = 0; i < nr; i++)
		put_kept(t, &p[i].peak, i + 1, &p[i].first);
	for (__u32 i = 0; i < nr; i++)
		put_kept(t, &p[i].stay, i + 1, &unused);
	for (__u32 i = 0; i < nr; i++)
		for (__u64 k = 0; k < p[i].peak.nr; k++)
			put_call(t, '-', info_of(&p[i].peak, p[i].first, k));
}

static int put_calls(struct track *t)
{
	const __u32 nr = t->trace_ids.nr;
	struct parts *p = calloc(nr + 1, sizeof(*p));
	__u64 unused;

	if (!p)
		return -ENOMEM;
	for (__u32 i = 0; i < nr; i++) {
		limit_kept(t, &t->traces[i].peak);
		limit_kept(t, &t->traces[i].live);
		divide(&t->traces[i], &p[i]);
	}
	put_time(t, 0);
	for (__u32 i = 0; i < nr; i++)
		put_temporary(t, &t->traces[i], i + 1);
	put_time(t, t->v->r->snap->peak.peak_ns);
	put_peak(t, p, nr);
	for (__u32 i = 0; i < nr; i++)
		put_freed(t, &p[i].freed, i + 1);
	for (__u32 i = 0; i < nr; i++)
		put_kept(t, &p[i].live, i + 1, &unused);
	if (t->open != NO_INFO)
		put_call(t, '-', t->open);
	put_time(t, t->v->r->snap->header.now_ns);
	free(p);
	return 0;
}

int render_heaptrack(const struct view *v, FILE *out)
{
	struct track t = { .v = v, .out = out, .open = NO_INFO };
	const struct report *r = v->r;
	int err = 0;

	fprintf(out, "v %x %x\nX ", VERSION, FILE_VERSION);
	render_program(v, out);
	fprintf(out, "\nI %x 0\n", r->snap->header.page_size);
	for (size_t i = 0; !err && i < r->nr_sections; i++)
		for (size_t k = 0; !err && k < r->sections[i].shown; k++)
			err = add_row(&t, report_shown(r, &r->sections[i], k));
	if (!err)
		err = put_calls(&t);
	if (t.left_out)
		fprintf(stderr, "memtap: %llu calls are not in this file, which has %llu\n",
			(unsigned long long)t.left_out, (unsigned long long)t.calls);
	render_losses(v, "memtap: ", "this file", stderr);
	ids_free(&t.string_ids);
	ids_free(&t.ip_ids);
	ids_free(&t.trace_ids);
	free(t.strings);
	free(t.ips);
	free(t.traces);
	render_chain_free(&t.chain);
	return err;
}
