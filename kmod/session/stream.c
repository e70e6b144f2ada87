// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's tables as self-describing records.
 *
 * The order is what makes a snapshot of a running session whole: a record that
 * refers to another is written before it.  Counters come first, then the stacks
 * that they may name, then tasks, mappings, files; each table only grows, so
 * whatever a counter refers to is still ahead.
 *
 * The bytes go through a small buffer, so that any size of read() will do.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>

#include "record/arch.h"
#include "core/wire.h"
#include "core/steps.h"
#include "live/marks.h"
#include "live/objects.h"
#include "live/stream.h"
#include "record/args.h"
#include "record/rows.h"
#include "session/int.h"
#include "record/spaces.h"
#include "record/touched.h"
#include "session/stream.h"
#include "core/version.h"

#include "compat/clock.h"
#include "compat/valloc.h"

/* The longest records: a file with a path of PATH_MAX, and live blocks. */
#define BUF_SIZE	16384
#define FILE_MAX	(sizeof(struct memtap_rec_file) + PATH_MAX + 8)
#define REC_MAX		(FILE_MAX > MEMTAP_BLOCKS_MAX ? FILE_MAX : MEMTAP_BLOCKS_MAX)

struct memtap_stream {
	u32 section;
	u32 cpu;
	u32 pos;			/* within a section */
	struct counters_iter counters;
	struct stackstore_iter stacks;
	struct list_head *probe;
	struct memtap_heap_cursor heap;
	struct wire_sum sum;
	u64 counted, lost;		/* when the snapshot began */
	u32 len, off;			/* of what waits in buf */
	u8 buf[BUF_SIZE] __aligned(8);
};

struct memtap_stream *memtap_stream_new(void)
{
	return memtap_vzalloc(sizeof(struct memtap_stream));
}

void memtap_stream_free(struct memtap_stream *st)
{
	memtap_vfree(st);
}

/* Begins a record in the buffer; there is room for the longest one. */
static void *begin(struct memtap_stream *st, u32 type, size_t len)
{
	return wire_begin(st->buf + st->len, BUF_SIZE - st->len, type, len);
}

static void finish(struct memtap_stream *st, const void *rec)
{
	const struct memtap_rec *r = rec;

	wire_sum_add(&st->sum, r);
	st->len += r->len;
}

/*
 * Sections: each writes one record and returns true, or false when it has no
 * more.  st->pos, cpu and the iterators are zero when a section begins.
 */
static bool put_header(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_rec_header *h;

	if (st->pos++)
		return false;
	h = begin(st, MEMTAP_REC_HEADER, sizeof(*h));
	h->magic = MEMTAP_MAGIC;
	h->flags = s->flags;
	h->depth = s->depth;
	h->page_size = PAGE_SIZE;
	h->nr_cpus = num_possible_cpus();
	h->machine = MEMTAP_MACHINE;
	h->running = s->state == MEMTAP_RUNNING;
	h->start_ns = s->start_ns;
	h->now_ns = h->running ? ktime_get_ns() : s->stop_ns;
	h->real_ns = h->running ? ktime_get_real_ns() : s->stop_real_ns;
	h->addr_shift = s->addr_shift;
	h->sample_bytes = s->sample_bytes;
	h->sample_rate = s->sample_rate;
	strscpy(h->release, init_utsname()->release, sizeof(h->release));
	strscpy(h->version, MEMTAP_VERSION, sizeof(h->version));
	strscpy(h->host, init_utsname()->nodename, sizeof(h->host));
	finish(st, h);
	return true;
}

static bool put_event(struct memtap_session *s, struct memtap_stream *st)
{
	const struct memtap_session_event *e;
	struct memtap_rec_event *r;
	struct memtap_stats stats;

	if (st->pos >= s->nr_events)
		return false;
	e = s->events[st->pos];
	stats.event = st->pos;
	stats.size = sizeof(stats);
	memtap_session_stats(s, &stats);
	r = begin(st, MEMTAP_REC_EVENT, sizeof(*r));
	r->id = st->pos++;
	r->way = e->way;
	r->flags = e->flags;
	r->seen = stats.seen;
	r->counted = stats.counted;
	r->filtered = stats.filtered;
	r->own = stats.own;
	memcpy(r->lost, stats.lost, sizeof(r->lost));
	memcpy(r->part, stats.part, sizeof(r->part));
	if (e->builtin) {
		r->unit = e->builtin->unit;
		strscpy(r->group, e->builtin->group, sizeof(r->group));
	} else if (e->heap) {
		r->unit = MEMTAP_UNIT_BYTES;
		strscpy(r->group, "heap", sizeof(r->group));
	} else {
		r->unit = e->unit;
	}
	if (e->steps && e->steps->value_slot)
		r->unit = e->steps->value_unit;
	strscpy(r->name, e->name, sizeof(r->name));
	finish(st, r);
	return true;
}

static void write_hook(struct memtap_stream *st, u32 event,
		       const struct memtap_hook_state *h)
{
	struct memtap_rec_hook *r = begin(st, MEMTAP_REC_HOOK, sizeof(*r));

	r->event = event;
	r->state = h->state;
	r->error = h->error;
	r->way = h->way;
	r->hits = h->hits;
	r->missed = h->missed;
	strscpy(r->target, h->target, sizeof(r->target));
	finish(st, r);
}

/* pos: event * MEMTAP_EVENT_HOOKS + hook */
static bool put_hook(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_session_event *e;
	u32 event, j;

	for (;; st->pos++) {
		event = st->pos / MEMTAP_EVENT_HOOKS;
		j = st->pos % MEMTAP_EVENT_HOOKS;
		if (event >= s->nr_events)
			return false;
		if (!j)
			memtap_session_hooks(s, event);
		e = s->events[event];
		if (j < e->nr_kept)
			break;
	}
	st->pos++;
	write_hook(st, event, &e->kept[j]);
	return true;
}

/* pos: how many were written */
static bool put_probes(struct memtap_session *s, struct memtap_stream *st)
{
	const struct memtap_session_probe *p;

	if (!st->pos++)
		st->probe = &s->probes;
	st->probe = st->probe->next;
	if (st->probe == &s->probes)
		return false;
	p = list_entry(st->probe, struct memtap_session_probe, node);
	write_hook(st, p->event, &p->kept);
	return true;
}

/* The sections of a session that keeps live blocks: live/ writes them. */
#define LIVE_SECTION(_of, _name)					\
static bool put_##_name(struct memtap_session *s, struct memtap_stream *st)	\
{									\
	void *rec;							\
									\
	if (!s->_of)							\
		return false;						\
	rec = memtap_heap_put_##_name(s, &st->heap, &st->pos,		\
				      st->buf + st->len, BUF_SIZE - st->len); \
	if (rec)							\
		finish(st, rec);					\
	return rec;							\
}

LIVE_SECTION(heap, totals)
LIVE_SECTION(heap, blocks)
LIVE_SECTION(heap, maps)
LIVE_SECTION(heap, mismatches)
LIVE_SECTION(heap, spaces)
LIVE_SECTION(heap, peaks)
LIVE_SECTION(heap, peak)
LIVE_SECTION(objects, object_totals)
LIVE_SECTION(objects, objects)
LIVE_SECTION(objects, caches)

static bool put_marks(struct memtap_session *s, struct memtap_stream *st)
{
	void *rec = memtap_heap_put_marks(s, &st->heap, &st->pos, st->buf + st->len,
					  BUF_SIZE - st->len);

	if (rec)
		finish(st, rec);
	return rec;
}

static bool put_gone(struct memtap_session *s, struct memtap_stream *st)
{
	void *rec = memtap_gone_put(s, &st->pos, st->buf + st->len, BUF_SIZE - st->len);

	if (rec)
		finish(st, rec);
	return rec;
}

/* Before the counters that they name. */
static bool put_touched(struct memtap_session *s, struct memtap_stream *st)
{
	void *rec = s->touched ? memtap_touched_put(s, &st->pos, st->buf + st->len,
						    BUF_SIZE - st->len) : NULL;

	if (rec)
		finish(st, rec);
	return rec;
}

static bool put_touched_sum(struct memtap_session *s, struct memtap_stream *st)
{
	if (!s->touched || st->pos++)
		return false;
	finish(st, memtap_touched_put_sum(s, st->buf + st->len, BUF_SIZE - st->len));
	return true;
}

static const struct counter *next_counter(struct memtap_session *s,
					  struct memtap_stream *st)
{
	const struct counter *c;

	for (; st->cpu < nr_cpu_ids; st->cpu++) {
		if (!s->cpus[st->cpu])
			continue;
		c = counters_next(&s->cpus[st->cpu]->counters, &st->counters);
		if (c)
			return c;
		memset(&st->counters, 0, sizeof(st->counters));
	}
	return NULL;
}

static u32 hist_len(const u64 *hist)
{
	u32 nr = hist ? HIST_BUCKETS : 0;

	while (nr && !READ_ONCE(hist[nr - 1]))
		nr--;
	return nr;
}

static bool put_counter(struct memtap_session *s, struct memtap_stream *st)
{
	const struct counter *c = next_counter(s, st);
	struct memtap_rec_counter *r;
	const u64 *hist;
	u32 nr, i;
	s64 max;

	if (!c)
		return false;
	hist = counters_hist(&s->cpus[st->cpu]->counters, c);
	nr = hist_len(hist);
	r = begin(st, MEMTAP_REC_COUNTER, sizeof(*r) + (nr + 2) * sizeof(r->hist[0]));
	r->event = c->key.event;
	r->flags = c->key.flags;
	r->task = c->key.task;
	r->kstack = c->key.kstack;
	r->ustack = c->key.ustack;
	r->cpu = st->cpu;
	r->addr = c->key.addr;
	r->count = READ_ONCE(c->count);
	r->sum = READ_ONCE(c->sum);
	max = READ_ONCE(c->max);
	r->max = max > 0 ? max : 0;
	r->nr_hist = nr;
	if (s->touched)
		r->number = (u32)(c - s->pool.slots);
	for (i = 0; i < nr; i++)
		r->hist[i] = READ_ONCE(hist[i]);
	r->hist[nr] = READ_ONCE(c->min);
	r->hist[nr + 1] = max;
	finish(st, r);
	return true;
}

/* Before the stacks and tasks that it names. */
static bool put_pending(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_rec_pending *r;
	struct pair p;
	u64 since;

	BUILD_BUG_ON(offsetof(struct memtap_args_kept, ns));
	if (!s->arg_pairs.data_size)
		return false;
	while (st->pos < MEMTAP_PAIR_SLOTS)
		if (pairtab_peek(&s->arg_pairs, st->pos++, &p, &since, sizeof(since)))
			goto found;
	return false;
found:
	r = begin(st, MEMTAP_REC_PENDING, sizeof(*r));
	r->event = p.event;
	r->task = p.task;
	r->kstack = p.kstack;
	r->ustack = p.ustack;
	r->since_ns = since + memtap_clock_offset();
	finish(st, r);
	return true;
}

static bool put_stack(struct memtap_session *s, struct memtap_stream *st)
{
	const struct stackstore_entry *e;
	struct memtap_rec_stack *r;
	u32 id;

	id = stackstore_next(&s->stacks, &st->stacks);
	if (!id)
		return false;
	e = stackstore_get(&s->stacks, id);
	r = begin(st, MEMTAP_REC_STACK, sizeof(*r) + e->nr * sizeof(r->ip[0]));
	r->id = id;
	r->flags = e->flags;
	r->nr = e->nr;
	r->era = e->era;
	memcpy(r->ip, e->ip, e->nr * sizeof(r->ip[0]));
	finish(st, r);
	return true;
}

static bool put_task(struct memtap_session *s, struct memtap_stream *st)
{
	const struct memtap_task *t;
	struct memtap_rec_task *r;
	u32 id = MEMTAP_TASK_FIRST + st->pos;

	if (id >= READ_ONCE(s->tasks.used))
		return false;
	st->pos++;
	t = &s->tasks.slots[id];
	r = begin(st, MEMTAP_REC_TASK, sizeof(*r));
	r->id = id;
	r->flags = t->flags;
	r->space = t->space;
	r->pid = t->pid;
	r->tid = t->tid;
	r->ns_pid = t->ns_pid;
	r->ns_tid = t->ns_tid;
	r->ppid = t->ppid;
	r->uid = t->uid;
	r->exec = t->exec;
	r->start_ns = t->start_ns;
	r->cgroup1 = t->cgroup1;
	r->cgroup2 = t->cgroup2;
	memcpy(r->comm, t->comm, sizeof(r->comm));
	finish(st, r);
	return true;
}

/* A mapping does not say whose it is: its process's chain does. */
static bool put_map(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_rec_map *r;
	const struct codemap *m;

	while (!st->pos) {
		if (st->cpu + MEMTAP_TASK_FIRST >= READ_ONCE(s->tasks.used))
			return false;
		st->pos = smp_load_acquire(&s->tasks.slots[st->cpu +
						MEMTAP_TASK_FIRST].code.maps);
		st->cpu++;
	}
	m = &s->tasks.maps.at[st->pos];
	st->pos = m->next;
	r = begin(st, MEMTAP_REC_MAP, sizeof(*r));
	r->space = st->cpu - 1 + MEMTAP_TASK_FIRST;
	r->file = m->file;
	r->flags = READ_ONCE(m->flags) &
		   (MEMTAP_MAP_VDSO | MEMTAP_MAP_GONE | MEMTAP_MAP_REUSED);
	r->era = m->era;
	r->start = m->start;
	r->end = m->end;
	r->offset = m->offset;
	finish(st, r);
	return true;
}

static bool put_file(struct memtap_session *s, struct memtap_stream *st)
{
	const struct memtap_kept_file *f;
	struct memtap_rec_file *r;
	u32 at, path_len;

	if (!st->pos)
		st->pos = 8;
	at = st->pos;
	if (at >= smp_load_acquire(&s->tasks.files_used))
		return false;
	f = memtap_tasks_file(&s->tasks, at);
	st->pos += f->len;
	path_len = smp_load_acquire(&f->nameless) ? 0 : f->path_len;
	r = begin(st, MEMTAP_REC_FILE, sizeof(*r) + path_len + 1);
	r->id = at;
	r->build_id_len = smp_load_acquire(&f->build_id_len);
	r->dev_major = f->dev_major;
	r->dev_minor = f->dev_minor;
	r->inode = f->inode;
	r->inode_gen = f->inode_gen;
	if (r->build_id_len)
		memcpy(r->build_id, f->build_id, sizeof(r->build_id));
	memcpy(r->path, f->path, path_len);
	finish(st, r);
	return true;
}

static bool put_memory(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_rec_memory *r;

	if (st->pos++)
		return false;
	r = begin(st, MEMTAP_REC_MEMORY, sizeof(*r));
	r->total = s->mem_total + memtap_heap_grown(s);
	r->stacks_size = s->stacks.nr_words * sizeof(u64);
	r->stacks_used = stackstore_used(&s->stacks);
	r->counters_size = s->pool.nr - 1;
	r->counters_used = min(READ_ONCE(s->pool.used), s->pool.nr) - 1;
	r->tasks_size = s->tasks.nr - MEMTAP_TASK_FIRST;
	r->tasks_used = READ_ONCE(s->tasks.used) - MEMTAP_TASK_FIRST;
	r->maps_size = s->tasks.maps.nr * sizeof(struct codemap) +
		       s->tasks.files_size;
	r->maps_used = READ_ONCE(s->tasks.maps.used) * sizeof(struct codemap) +
		       READ_ONCE(s->tasks.files_used);
	r->maps_lost = READ_ONCE(s->tasks.maps.lost) + READ_ONCE(s->tasks.files_lost);
	r->spaces_missed = READ_ONCE(s->tasks.spaces_missed);
	r->children_lost = atomic64_read(&s->children_lost);
	r->cpus_late = memtap_session_cpus_late(s);
	if (s->spaces) {
		r->unwind_size = s->spaces->size;
		r->unwind_used = READ_ONCE(s->spaces->used);
		r->unwind_lost = READ_ONCE(s->spaces->lost);
		r->tables = s->spaces->nr_tables;
		r->tables_wanted = memtap_rows_nr_wanted(s);
	}
	if (s->heap)
		memtap_heap_memory(s->heap, r);
	if (s->flags & MEMTAP_CFG_TRACE)
		r->trace_lost = memtap_rings_lost(s);
	if (s->objects)
		memtap_objects_memory(s->objects, r);
	r->gone_lost = READ_ONCE(s->gone_lost);
	finish(st, r);
	return true;
}

static bool put_end(struct memtap_session *s, struct memtap_stream *st)
{
	struct memtap_rec_end *r;

	if (st->pos++)
		return false;
	r = begin(st, MEMTAP_REC_END, sizeof(*r));
	wire_end(&st->sum, r);
	st->len += r->rec.len;
	s->read_counted = st->counted;
	s->read_lost = st->lost;
	return true;
}

typedef bool (*put_fn)(struct memtap_session *s, struct memtap_stream *st);

static const put_fn sections[] = {
	put_header, put_event, put_hook, put_probes, put_totals, put_touched,
	put_touched_sum, put_counter,
	put_object_totals, put_pending, put_blocks, put_objects, put_maps, put_mismatches,
	put_marks, put_peaks, put_peak, put_spaces, put_caches, put_stack, put_gone, put_task,
	put_map, put_file, put_memory, put_end,
};

static void restart(struct memtap_session *s, struct memtap_stream *st)
{
	memset(st, 0, offsetof(struct memtap_stream, buf));
	if (s->state == MEMTAP_RUNNING)
		memtap_probes_keep(s);
	if (s->heap)
		memtap_heap_rewind(s);
	wire_sum_init(&st->sum);
	memtap_session_totals(s, &st->counted, &st->lost);
}

static void fill(struct memtap_session *s, struct memtap_stream *st)
{
	st->off = 0;
	st->len = 0;
	while (st->section < ARRAY_SIZE(sections) && st->len + REC_MAX < BUF_SIZE) {
		if (sections[st->section](s, st))
			continue;
		st->section++;
		st->pos = 0;
		st->cpu = 0;
		memset(&st->counters, 0, sizeof(st->counters));
		memset(&st->stacks, 0, sizeof(st->stacks));
	}
}

ssize_t memtap_stream_read(struct memtap_session *s, char __user *buf,
			   size_t count)
{
	struct memtap_stream *st = s->stream;
	size_t done = 0, n;

	if (s->state < MEMTAP_RUNNING)
		return -EBUSY;
	if (!st->section && !st->len)
		restart(s, st);
	while (done < count) {
		if (st->off == st->len) {
			fill(s, st);
			cond_resched();
		}
		if (!st->len) {
			/* END was read: say so once, then begin anew */
			if (!done)
				st->section = 0;
			break;
		}
		n = min_t(size_t, count - done, st->len - st->off);
		/* nothing is lost that was not said to be read */
		if (copy_to_user(buf + done, st->buf + st->off, n))
			return done ? (ssize_t)done : -EFAULT;
		st->off += n;
		done += n;
	}
	return done;
}
