// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a file as perf record does (perf.data), for perf report, hotspot and others: a sample with
 * its call chain for each key that was counted, in each interval of a recording; its period is
 * what was counted.  Readers find the names of addresses themselves, in the files that were
 * mapped; their build-ids are in the file.  Documentation/perf.data-file-format.txt of the kernel
 * describes it.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>

#include "render/int.h"

#define MAGIC		0x32454c4946524550ULL	/* "PERFILE2" */
#define ATTR		PERF_ATTR_SIZE_VER5	/* of struct perf_event_attr: old readers, too */
#define ALIGNED		64			/* of strings in the header */
#define FINISHED_ROUND	68			/* a record of perf's own: nothing is before it */
#define SIZED		(1 << 15)		/* of a build-id's record: its length is known */

/* Parts of the header, in the order of their numbers. */
enum part { BUILD_IDS = 2, HOST = 3, RELEASE = 4, VERSION = 5, MACHINE = 6, CPUS = 7,
	    COMMAND = 11, EVENTS = 12, NR_PARTS };

struct section {
	__u64 offset, size;
};

struct head {
	__u64 magic, size, attr_size;
	struct section attrs, data, types;
	__u64 parts[4];
};

struct sample {
	struct perf_event_header h;
	__u64 id, ip;
	__u32 pid, tid;
	__u64 time, period, nr;
};

static void put(FILE *out, const void *from, size_t len)
{
	fwrite(from, 1, len, out);
}

static void put_u32(FILE *out, __u32 n)
{
	put(out, &n, sizeof(n));
}

/* A text, with at least one 0 behind it; up to @room bytes in all. */
static void put_padded(FILE *out, const char *text, size_t room)
{
	const size_t len = strnlen(text, room - 1);

	put(out, text, len);
	for (size_t i = len; i < room; i++)
		fputc(0, out);
}

static size_t aligned(const char *text, size_t to)
{
	return (strlen(text) + to) / to * to;
}

static void put_string(FILE *out, const char *text)
{
	const size_t len = aligned(text, ALIGNED);

	put_u32(out, (__u32)len);
	put_padded(out, text, len);
}

/* ---- the header ---- */

static void put_attr(FILE *out)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = ATTR,
		/* (perf script prints no chains of dummies; the name is in another place) */
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
	};

	put(out, &attr, ATTR);
}

static void put_build_id(FILE *out, const struct snap_file *file)
{
	const size_t len = aligned(file->path, ALIGNED);
	const __s32 pid = -1;
	char id[24] = { 0 };
	struct perf_event_header h = {
		.misc = PERF_RECORD_MISC_USER | SIZED,
		.size = (__u16)(sizeof(h) + sizeof(pid) + sizeof(id) + len),
	};

	if (!file->build_id_len || file->build_id_len > 20 || len > 4096)
		return;
	memcpy(id, file->build_id, file->build_id_len);
	id[20] = (char)file->build_id_len;
	put(out, &h, sizeof(h));
	put(out, &pid, sizeof(pid));
	put(out, id, sizeof(id));
	put_padded(out, file->path, len);
}

static void put_events(FILE *out, const struct report *r)
{
	put_u32(out, (__u32)r->nr_events);
	put_u32(out, ATTR);
	for (size_t i = 0; i < r->nr_events; i++) {
		const __u64 id = i + 1;

		put_attr(out);
		put_u32(out, 1);
		put_string(out, r->events[i].name);
		put(out, &id, sizeof(id));
	}
}

static void put_part(const struct view *v, enum part part, FILE *out)
{
	const struct snap *s = v->r->snap;

	switch (part) {
	case BUILD_IDS:
		for (size_t i = 0; i < s->nr_files; i++)
			put_build_id(out, &s->files[i]);
		break;
	case HOST:
		put_string(out, s->header.host);
		break;
	case RELEASE:
		put_string(out, s->header.release);
		break;
	case VERSION:
		put_string(out, s->header.version);
		break;
	case MACHINE:
		put_string(out, s->header.machine == EM_X86_64 ? "x86_64" :
				s->header.machine == EM_AARCH64 ? "aarch64" : "unknown");
		break;
	case CPUS:
		put_u32(out, s->header.nr_cpus);
		put_u32(out, s->header.nr_cpus);
		break;
	case COMMAND:
		put_u32(out, 1);
		put_string(out, v->o->command ? v->o->command : "memtap");
		break;
	case EVENTS:
		put_events(out, v->r);
		break;
	case NR_PARTS:
		break;
	}
}

/* ---- records ---- */

static void put_comm(const struct memtap_rec_task *t, FILE *out)
{
	struct {
		struct perf_event_header h;
		__u32 pid, tid;
		char comm[MEMTAP_COMM_LEN];
	} one = {
		.h = { PERF_RECORD_COMM, 0, sizeof(one) },
		.pid = (__u32)t->pid, .tid = (__u32)t->tid,
	};

	memcpy(one.comm, t->comm, sizeof(one.comm) - 1);
	put(out, &one, sizeof(one));
}

static void put_map(const struct snap *s, const struct memtap_rec_task *t,
		    const struct snap_map *m, FILE *out)
{
	const struct snap_file *file = m->file ? snap_file(s, m->file) : NULL;
	const char *path = file && *file->path ? file->path : "//anon";
	const size_t len = aligned(path, sizeof(__u64));
	struct {
		struct perf_event_header h;
		__u32 pid, tid;
		__u64 start, len, offset;
		__u32 major, minor;
		__u64 inode, generation;
		__u32 prot, flags;
	} one = {
		.h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, (__u16)(sizeof(one) + len) },
		.pid = (__u32)t->pid, .tid = (__u32)t->pid,
		.start = m->start, .len = m->end - m->start, .offset = m->offset,
		.prot = 5, .flags = 2,		/* PROT_READ | PROT_EXEC, MAP_PRIVATE */
	};

	if (len > 4096)
		return;
	if (file) {
		one.major = file->dev_major;
		one.minor = file->dev_minor;
		one.inode = file->inode;
	}
	put(out, &one, sizeof(one));
	put_padded(out, path, len);
}

/* One process of each address space has its mappings; they are sorted by space. */
static void put_tasks(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		put_comm(&s->tasks[i], out);
	for (size_t i = 0; i < s->nr_maps; i++) {
		const struct memtap_rec_task *t = NULL;
		const size_t first = i;

		for (size_t k = 0; !t && k < s->nr_tasks; k++)
			if (s->tasks[k].space == s->maps[i].space)
				t = &s->tasks[k];
		while (i + 1 < s->nr_maps && s->maps[i + 1].space == s->maps[first].space)
			i++;
		for (size_t k = first; t && k <= i; k++)
			put_map(s, t, &s->maps[k], out);
	}
}

static size_t add_stack(__u64 *to, const struct snap_stack *st, __u64 context)
{
	if (!st || !st->nr)
		return 0;
	to[0] = context;
	memcpy(to + 1, st->ip, st->nr * sizeof(*to));
	return st->nr + 1;
}

/* What a key counted, until a time. */
struct one {
	struct snap_counter c;
	__u64 ns;
	__s64 weight;
};

static void put_sample(const struct view *v, const struct one *one, FILE *out)
{
	const struct snap *s = v->r->snap;
	const struct snap_counter *c = &one->c;
	const struct memtap_rec_task *t = snap_task(s, c->task);
	const struct snap_stack *kernel = v->o->rows.no_kernel ? NULL : snap_stack(s, c->kstack);
	const struct snap_stack *user = v->o->rows.no_user ? NULL : snap_stack(s, c->ustack);
	__u64 chain[2 * (MEMTAP_MAX_DEPTH + 1)];
	struct sample to = {
		.h = { .type = PERF_RECORD_SAMPLE },
		.id = (__u64)(snap_event(s, c->event) - s->events) + 1,
		.pid = t ? (__u32)t->pid : ~0U, .tid = t ? (__u32)t->tid : ~0U,
		.time = one->ns, .period = (__u64)one->weight,
	};

	if (one->weight <= 0 || (kernel && kernel->nr > MEMTAP_MAX_DEPTH) ||
	    (user && user->nr > MEMTAP_MAX_DEPTH))
		return;
	to.nr = add_stack(chain, kernel, PERF_CONTEXT_KERNEL);
	to.nr += add_stack(chain + to.nr, user, PERF_CONTEXT_USER);
	to.ip = to.nr ? chain[1] : 0;
	to.h.misc = kernel && kernel->nr ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	to.h.size = (__u16)(sizeof(to) + to.nr * sizeof(*chain));
	put(out, &to, sizeof(to));
	put(out, chain, to.nr * sizeof(*chain));
}

static int cmp_key(const struct snap_counter *a, const struct snap_counter *b)
{
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->kstack != b->kstack)
		return a->kstack < b->kstack ? -1 : 1;
	if (a->ustack != b->ustack)
		return a->ustack < b->ustack ? -1 : 1;
	return 0;
}

/* By stack, the latest first. */
static int cmp_one(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	const int key = cmp_key(&x->c, &y->c);

	return key ? key : x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int cmp_time(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/*
 * A period is no less than 0: what a stack gave back is taken from what it got before, the latest
 * first, then from what it got later, so that periods add up to the sum.
 */
static void settle(struct one *at, size_t nr)
{
	for (size_t first = 0, end; first < nr; first = end) {
		__s64 debt = 0;

		for (end = first; end < nr && !cmp_key(&at[first].c, &at[end].c); end++) {
			at[end].weight -= debt;
			debt = at[end].weight < 0 ? -at[end].weight : 0;
			at[end].weight += debt;
		}
		for (size_t i = end; debt && i-- > first;) {
			at[i].weight -= debt;
			debt = at[i].weight < 0 ? -at[i].weight : 0;
			at[i].weight += debt;
		}
	}
}

static struct one make_one(const struct view *v, const struct snap_counter *c, __u64 ns)
{
	const struct snap *s = v->r->snap;
	const struct rrow row = {
		.event = (__u32)(snap_event(s, c->event) - s->events),
		.flags = c->flags, .count = c->count, .sum = c->sum,
	};

	return (struct one){ *c, ns, render_weight(v, &row) };
}

static int put_samples(const struct view *v, FILE *out)
{
	const struct snap *s = v->r->snap;
	size_t nr = s->nr_spans ? 0 : s->nr_counters, n = 0;
	struct one *at;

	for (size_t i = 0; i < s->nr_spans; i++)
		nr += s->spans[i]->nr;
	at = calloc(nr + 1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_spans; i++)
		for (__u32 k = 0; k < s->spans[i]->nr; k++) {
			const struct snap_counter c = snap_span_counter(&s->spans[i]->at[k]);

			at[n++] = make_one(v, &c, s->spans[i]->end_ns);
		}
	for (size_t i = 0; !s->nr_spans && i < s->nr_counters; i++)
		at[n++] = make_one(v, &s->counters[i], s->header.now_ns);
	if (n)
		qsort(at, n, sizeof(*at), cmp_one);
	settle(at, n);
	if (n)
		qsort(at, n, sizeof(*at), cmp_time);
	for (size_t i = 0; i < n; i++)
		put_sample(v, &at[i], out);
	free(at);
	return 0;
}

/* ---- the file ---- */

static void put_file(const struct view *v, const char *data, size_t len, FILE *out)
{
	static const enum part parts[] = { BUILD_IDS, HOST, RELEASE, VERSION, MACHINE, CPUS,
					   COMMAND, EVENTS };
	const size_t nr = sizeof(parts) / sizeof(parts[0]), nr_events = v->r->nr_events;
	struct section sections[NR_PARTS], ids = { sizeof(struct head), sizeof(__u64) };
	struct head head = { MAGIC, sizeof(head), ATTR + sizeof(ids), .types = { 0 } };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	head.attrs.offset = sizeof(head) + nr_events * sizeof(__u64);
	head.attrs.size = nr_events * head.attr_size;
	head.data.offset = head.attrs.offset + head.attrs.size;
	head.data.size = len;
	for (size_t i = 0; i < nr; i++) {
		fflush(f);
		sections[i].offset = head.data.offset + len + nr * sizeof(*sections) + size;
		head.parts[0] |= 1ULL << parts[i];
		sections[i].size = size;
		put_part(v, parts[i], f);
		fflush(f);
		sections[i].size = size - sections[i].size;
	}
	fclose(f);
	put(out, &head, sizeof(head));
	for (__u64 id = 1; id <= nr_events; id++)
		put(out, &id, sizeof(id));
	for (size_t i = 0; i < nr_events; i++, ids.offset += sizeof(__u64)) {
		put_attr(out);
		put(out, &ids, sizeof(ids));
	}
	put(out, data, len);
	put(out, sections, nr * sizeof(*sections));
	put(out, text, size);
	free(text);
}

int render_perf_data(const struct view *v, FILE *out)
{
	/* (no file is without any record: perf would call it damaged) */
	const struct perf_event_header begin = { FINISHED_ROUND, 0, sizeof(begin) };
	char *data = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&data, &len);
	int err;

	if (!f)
		return -ENOMEM;
	put(f, &begin, sizeof(begin));
	put_tasks(v->r->snap, f);
	err = put_samples(v, f);
	if (fclose(f) || err) {
		free(data);
		return -ENOMEM;
	}
	put_file(v, data, len, out);
	free(data);
	render_losses(v, "memtap: ", "this file", stderr);
	return 0;
}
