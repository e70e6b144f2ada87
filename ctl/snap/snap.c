// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode a snapshot.  The input is not trusted: lengths, strings and ids are checked before use,
 * and memory use is limited to a small multiple of the input's size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snap/int.h"

/* Tables whose sizes are known after the first pass. */
struct table {
	__u32 type;
	size_t size;		/* of an element */
	size_t pointer, nr;	/* offsets in struct snap */
};

#define TABLE(_type, _field)						\
	{ _type, sizeof(*((struct snap *)0)->_field),			\
	  offsetof(struct snap, _field), offsetof(struct snap, nr_##_field) }

static const struct table tables[] = {
	TABLE(MEMTAP_REC_EVENT, events),
	TABLE(MEMTAP_REC_HOOK, hooks),
	TABLE(MEMTAP_REC_STACK, stacks),
	TABLE(MEMTAP_REC_TASK, tasks),
	TABLE(MEMTAP_REC_MAP, maps),
	TABLE(MEMTAP_REC_FILE, files),
	TABLE(MEMTAP_REC_KSYM, ksyms),
	TABLE(MEMTAP_REC_GONE, gones),
	TABLE(MEMTAP_REC_MARK, marks),
	TABLE(MEMTAP_REC_PEAKS, peaks),
	TABLE(MEMTAP_REC_CACHE, caches),
	TABLE(MEMTAP_REC_USYM, usyms),
	TABLE(MEMTAP_REC_NOTE, notes),
	TABLE(MEMTAP_REC_BLOCKS, runs),
	TABLE(MEMTAP_REC_HEAP, heaps),
	TABLE(MEMTAP_REC_SPACE, spaces),
	TABLE(MEMTAP_REC_MISMATCH, mismatches),
	TABLE(MEMTAP_REC_REACH, reaches),
	TABLE(MEMTAP_REC_HELD, held_recs),
	TABLE(MEMTAP_REC_PENDING, pendings),
	TABLE(MEMTAP_REC_OOM, ooms),
	TABLE(MEMTAP_REC_SPAN, spans),
	TABLE(MEMTAP_REC_LIVED, liveds),
	TABLE(MEMTAP_REC_HOST, hosts),
};

#define NR_TABLES	(sizeof(tables) / sizeof(tables[0]))

static size_t *table_nr(struct snap *s, const struct table *t)
{
	return (size_t *)((char *)s + t->nr);
}

/* Of a record that has grown since the first release, or will. */
static void take_known(void *to, size_t size, const struct memtap_rec *rec)
{
	memcpy(to, rec, rec->len < size ? rec->len : size);
}

/* A string that ends before the record does, or NULL. */
static const char *rec_string(const struct memtap_rec *rec, size_t at)
{
	const char *p = (const char *)rec + at;

	return at < rec->len && memchr(p, 0, rec->len - at) ? p : NULL;
}

static int check_header(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_header *h = (const void *)rec;

	if (rec->len < sizeof(*rec) + 8 || rec->type != MEMTAP_REC_HEADER) {
		if (rec->type == __builtin_bswap32(MEMTAP_REC_HEADER))
			return snap_bad(d->err, -EBADMSG,
				"it was written on a machine with the other byte order");
		return snap_bad(d->err, -EBADMSG, "it is not a memtap file");
	}
	if (h->magic != MEMTAP_MAGIC)
		return snap_bad(d->err, -EBADMSG, "it is not a memtap file");
	if (rec->len < wire_min_len(rec->type))
		return snap_bad(d->err, -EBADMSG, "its header is too short");
	take_known(&d->s->header, sizeof(*h), rec);
	d->s->header.release[sizeof(h->release) - 1] = 0;
	d->s->header.version[sizeof(h->version) - 1] = 0;
	d->s->header.host[sizeof(h->host) - 1] = 0;
	d->seen_header = true;
	return 0;
}

static int check_end(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_end *e = (const void *)rec;
	struct memtap_rec_end want;

	wire_end(&d->sum, &want);
	if (e->records != want.records || e->checksum != want.checksum ||
	    e->count != want.count)
		return snap_bad(d->err, -EBADMSG,
			"it is damaged: its END record has %llu records and checksum %016llx, the "
			"file has %llu and %016llx",
			(unsigned long long)e->records,
			(unsigned long long)e->checksum,
			(unsigned long long)want.records,
			(unsigned long long)want.checksum);
	d->seen_end = true;
	d->complete = true;
	wire_sum_init(&d->sum);
	return 0;
}

/* Which half of the file a record belongs to is part of what is checked. */
static int check_place(struct decoder *d, const struct memtap_rec *rec, size_t pos)
{
	bool tool = rec->type >= MEMTAP_REC_TOOL;

	if (rec->type == MEMTAP_REC_HEADER)
		return snap_bad(d->err, -EBADMSG, "record %llu is a second header",
				(unsigned long long)d->nr);
	if (d->seen_end && !d->seen_tool && tool) {
		d->seen_tool = true;
		d->s->device_len = pos - rec->len;
		d->complete = false;
	}
	if (d->complete || tool != d->seen_tool)
		if (rec->type != MEMTAP_REC_END || d->complete)
			return snap_bad(d->err, -EBADMSG,
				"record %llu (type %u) is in the wrong place",
				(unsigned long long)d->nr, rec->type);
	return 0;
}

static int count_record(struct decoder *d, const struct memtap_rec *rec, size_t pos)
{
	__u32 min = wire_min_len(rec->type);
	int err;

	if (!d->seen_header) {
		err = check_header(d, rec);
		wire_sum_add(&d->sum, rec);
		return err;
	}
	err = check_place(d, rec, pos);
	if (err)
		return err;
	if (rec->len < min)
		return snap_bad(d->err, -EBADMSG,
			"record %llu (type %u) has %u bytes, less than %u",
			(unsigned long long)d->nr, rec->type, rec->len, min);
	if (rec->type == MEMTAP_REC_END)
		return check_end(d, rec);
	wire_sum_add(&d->sum, rec);
	if (rec->type == MEMTAP_REC_COUNTER) {
		d->counter_records++;
		if (((const struct memtap_rec_counter *)rec)->nr_hist)
			d->hist_records++;
	}
	for (size_t i = 0; i < NR_TABLES; i++)
		if (tables[i].type == rec->type)
			++*table_nr(d->s, &tables[i]);
	return 0;
}

static int cut_short(struct decoder *d, size_t pos)
{
	return snap_bad(d->err, -ENODATA,
		"it is truncated: no END record after %llu complete records (%zu of %zu bytes)",
		(unsigned long long)d->nr, pos, d->s->len);
}

static int first_pass(struct decoder *d)
{
	const struct memtap_rec *rec;
	u64 pos = 0, start;
	u32 bad = 0;
	int err;

	if (!d->s->len)
		return snap_bad(d->err, -ENODATA, "it is empty");
	wire_sum_init(&d->sum);
	for (;;) {
		start = pos;
		rec = wire_next(d->s->bytes, d->s->len, &pos, &bad);
		if (!rec)
			break;
		err = count_record(d, rec, pos);
		if (err)
			return err;
		d->nr++;
	}
	if (bad) {
		rec = (const void *)((const char *)d->s->bytes + start);
		if (!d->seen_header && d->s->len >= 4 &&
		    rec->type != MEMTAP_REC_HEADER)
			return snap_bad(d->err, -EBADMSG, "it is not a memtap file");
		if (d->s->len - start >= sizeof(*rec) &&
		    (rec->len < sizeof(*rec) || rec->len % 8))
			return snap_bad(d->err, -EBADMSG,
				"record %llu has an impossible length, %u",
				(unsigned long long)d->nr, rec->len);
	}
	if (bad || !d->complete)
		return cut_short(d, start);
	if (!d->s->device_len)
		d->s->device_len = d->s->len;
	d->s->has_tool = d->seen_tool;
	return 0;
}

static int make_tables(struct decoder *d)
{
	struct snap *s = d->s;

	for (size_t i = 0; i < NR_TABLES; i++) {
		size_t *nr = table_nr(s, &tables[i]);
		void *p = calloc(*nr + 1, tables[i].size);

		if (!p)
			return snap_bad(d->err, -ENOMEM, "not enough memory to decode it");
		memcpy((char *)s + tables[i].pointer, &p, sizeof(p));
		*nr = 0;
	}
	s->counters = calloc(d->counter_records + 1, sizeof(*s->counters));
	if (d->hist_records)
		s->hists = calloc(d->hist_records, MEMTAP_HIST_BUCKETS * 8);
	if (!s->counters || (d->hist_records && !s->hists))
		return snap_bad(d->err, -ENOMEM, "not enough memory to decode it");
	return 0;
}

static int take_event(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_event *r = (const void *)rec;
	struct snap_event *e = &d->s->events[d->s->nr_events++];

	e->id = r->id;
	e->unit = r->unit;
	e->way = r->way;
	e->flags = r->flags;
	e->seen = r->seen;
	e->counted = r->counted;
	e->filtered = r->filtered;
	e->own = rec->len < sizeof(*r) ? 0 : r->own;
	memcpy(e->lost, r->lost, sizeof(e->lost));
	memcpy(e->part, r->part, sizeof(e->part));
	memcpy(e->group, r->group, sizeof(e->group) - 1);
	memcpy(e->name, r->name, sizeof(r->name) - 1);
	if (e->flags & MEMTAP_ATTACH_RETURN)
		strcat(e->name, SNAP_RETURN);
	return 0;
}

static int take_hook(struct decoder *d, const struct memtap_rec *rec)
{
	struct memtap_rec_hook *h = &d->s->hooks[d->s->nr_hooks++];

	memcpy(h, rec, sizeof(*h));
	h->target[sizeof(h->target) - 1] = 0;
	return 0;
}

static int take_stack(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_stack *r = (const void *)rec;
	struct snap_stack *st = &d->s->stacks[d->s->nr_stacks++];

	if (r->id < MEMTAP_STACK_FIRST || r->nr > (rec->len - sizeof(*r)) / 8)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: stack %u is too short for its %u frames",
			(unsigned long long)d->nr, r->id, r->nr);
	st->id = r->id;
	st->flags = r->flags;
	st->nr = r->nr;
	st->era = r->era;
	st->ip = r->ip;
	return 0;
}

static int take_task(struct decoder *d, const struct memtap_rec *rec)
{
	struct memtap_rec_task *t = &d->s->tasks[d->s->nr_tasks++];

	memcpy(t, rec, sizeof(*t));
	t->comm[sizeof(t->comm) - 1] = 0;
	if (t->id < MEMTAP_TASK_FIRST)
		return snap_bad(d->err, -EBADMSG, "record %llu: task %u is reserved",
				(unsigned long long)d->nr, t->id);
	return 0;
}

static int take_map(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_map *r = (const void *)rec;
	struct snap_map *m = &d->s->maps[d->s->nr_maps++];

	if (r->start >= r->end)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: a mapping ends before it begins",
			(unsigned long long)d->nr);
	m->space = r->space;
	m->file = r->file;
	m->flags = r->flags;
	m->era = r->era;
	m->start = r->start;
	m->end = r->end;
	m->offset = r->offset;
	return 0;
}

static int take_file(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_file *r = (const void *)rec;
	struct snap_file *f = &d->s->files[d->s->nr_files++];

	f->path = rec_string(rec, sizeof(*r));
	if (!f->path || !r->id || r->build_id_len > sizeof(r->build_id))
		return snap_bad(d->err, -EBADMSG,
			"record %llu: file %u has no valid name or build ID",
			(unsigned long long)d->nr, r->id);
	f->id = r->id;
	f->build_id_len = r->build_id_len;
	f->dev_major = r->dev_major;
	f->dev_minor = r->dev_minor;
	f->inode = r->inode;
	memcpy(f->build_id, r->build_id, sizeof(f->build_id));
	return 0;
}

static int take_memory(struct decoder *d, const struct memtap_rec *rec)
{
	take_known(&d->s->memory, sizeof(d->s->memory), rec);
	return 0;
}

/* A KSYM record, or a GONE one, which is the same. */
static int take_name(struct decoder *d, const struct memtap_rec *rec, struct snap_ksym *k)
{
	const struct memtap_rec_ksym *r = (const void *)rec;

	k->name = rec_string(rec, sizeof(*r));
	if (!k->name)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: the name of a symbol is not terminated",
			(unsigned long long)d->nr);
	k->addr = r->addr;
	k->offset = r->offset;
	return 0;
}

static int take_ksym(struct decoder *d, const struct memtap_rec *rec)
{
	return take_name(d, rec, &d->s->ksyms[d->s->nr_ksyms++]);
}

static int take_gone(struct decoder *d, const struct memtap_rec *rec)
{
	return take_name(d, rec, &d->s->gones[d->s->nr_gones++]);
}

static int take_mark(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_mark *r = (const void *)rec;

	if (!memchr(r->name, 0, sizeof(r->name)))
		return snap_bad(d->err, -EBADMSG, "record %llu: the name of a mark is not "
				"terminated",
				(unsigned long long)d->nr);
	memcpy(&d->s->marks[d->s->nr_marks++], r, sizeof(*r));
	return 0;
}

static int take_usym(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_usym *r = (const void *)rec;
	struct snap_usym *u = &d->s->usyms[d->s->nr_usyms];
	size_t at = sizeof(*r);

	u->name = rec_string(rec, at);
	if (u->name)
		u->object = rec_string(rec, at += strlen(u->name) + 1);
	if (u->object)
		u->file = rec_string(rec, at += strlen(u->object) + 1);
	/* recordings of earlier versions end here */
	if (u->file)
		u->linkage = rec_string(rec, at + strlen(u->file) + 1);
	if (!u->linkage)
		u->linkage = "";
	if (!u->file)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: the name of a function is not terminated",
			(unsigned long long)d->nr);
	u->space = r->space;
	u->flags = r->flags;
	u->line = r->line;
	u->era = r->era;
	u->ip = r->ip;
	u->addr = r->addr;
	u->offset = r->offset;
	u->order = d->s->nr_usyms++;
	return 0;
}

static int take_note(struct decoder *d, const struct memtap_rec *rec)
{
	const char *text = rec_string(rec, sizeof(struct memtap_rec_note));

	if (!text)
		return snap_bad(d->err, -EBADMSG, "record %llu: a note is not terminated",
				(unsigned long long)d->nr);
	d->s->notes[d->s->nr_notes++] = text;
	return 0;
}

static int check_counter(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_counter *r = (const void *)rec;

	if (r->nr_hist > MEMTAP_HIST_BUCKETS ||
	    r->nr_hist > (rec->len - sizeof(*r)) / 8)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: a histogram is too short for its %u buckets",
			(unsigned long long)d->nr, r->nr_hist);
	return 0;
}

static int take_pending(struct decoder *d, const struct memtap_rec *rec)
{
	memcpy(&d->s->pendings[d->s->nr_pendings++], rec, sizeof(*d->s->pendings));
	return 0;
}

static int take_oom(struct decoder *d, const struct memtap_rec *rec)
{
	d->s->ooms[d->s->nr_ooms++] = (const void *)rec;
	return 0;
}

/* @nr rows where there is room for so many, after what ended at @from. */
static int check_part(struct decoder *d, __u32 nr, __u64 room, __u64 start, __u64 end, __u64 from)
{
	if (nr > room)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: an interval is too short for its %u rows",
			(unsigned long long)d->nr, nr);
	if (start >= end || start < from)
		return snap_bad(d->err, -EBADMSG,
			"record %llu: intervals are not in order",
			(unsigned long long)d->nr);
	return 0;
}

static int take_span(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_span *r = (const void *)rec;
	struct snap *s = d->s;
	int err = check_part(d, r->nr, (rec->len - sizeof(*r)) / sizeof(r->at[0]), r->start_ns,
			     r->end_ns, s->nr_spans ? s->spans[s->nr_spans - 1]->end_ns : 0);

	if (!err)
		s->spans[s->nr_spans++] = r;
	return err;
}

static int take_lived(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_lived *r = (const void *)rec;
	struct snap *s = d->s;
	int err = check_part(d, r->nr, (rec->len - sizeof(*r)) / sizeof(r->at[0]), r->start_ns,
			     r->end_ns, s->nr_liveds ? s->liveds[s->nr_liveds - 1]->end_ns : 0);

	if (!err)
		s->liveds[s->nr_liveds++] = r;
	return err;
}

static int take_host(struct decoder *d, const struct memtap_rec *rec)
{
	const struct memtap_rec_host *r = (const void *)rec;

	if (r->nr > (rec->len - sizeof(*r)) / sizeof(r->task[0]))
		return snap_bad(d->err, -EBADMSG, "record %llu: a host is too short for its %u "
				"tasks", (unsigned long long)d->nr, r->nr);
	if (!memchr(r->name, 0, sizeof(r->name)) || !memchr(r->release, 0, sizeof(r->release)))
		return snap_bad(d->err, -EBADMSG, "record %llu: the name of a host is not "
				"terminated", (unsigned long long)d->nr);
	d->s->hosts[d->s->nr_hosts++] = r;
	return 0;
}

static int (*const takers[])(struct decoder *, const struct memtap_rec *) = {
	[MEMTAP_REC_EVENT] = take_event,
	[MEMTAP_REC_HOOK] = take_hook,
	[MEMTAP_REC_COUNTER] = check_counter,
	[MEMTAP_REC_STACK] = take_stack,
	[MEMTAP_REC_TASK] = take_task,
	[MEMTAP_REC_MAP] = take_map,
	[MEMTAP_REC_FILE] = take_file,
	[MEMTAP_REC_MEMORY] = take_memory,
	[MEMTAP_REC_KSYM] = take_ksym,
	[MEMTAP_REC_GONE] = take_gone,
	[MEMTAP_REC_MARK] = take_mark,
	[MEMTAP_REC_CACHE] = snap_take_cache,
	[MEMTAP_REC_USYM] = take_usym,
	[MEMTAP_REC_NOTE] = take_note,
	[MEMTAP_REC_BLOCKS] = snap_take_blocks,
	[MEMTAP_REC_HEAP] = snap_take_heap,
	[MEMTAP_REC_SPACE] = snap_take_space,
	[MEMTAP_REC_MISMATCH] = snap_take_mismatch,
	[MEMTAP_REC_PEAKS] = snap_take_peaks,
	[MEMTAP_REC_PEAK] = snap_take_peak,
	[MEMTAP_REC_REACH] = snap_take_reach,
	[MEMTAP_REC_HELD] = snap_take_held,
	[MEMTAP_REC_PENDING] = take_pending,
	[MEMTAP_REC_OOM] = take_oom,
	[MEMTAP_REC_SPAN] = take_span,
	[MEMTAP_REC_LIVED] = take_lived,
	[MEMTAP_REC_HOST] = take_host,
};

static int second_pass(struct decoder *d)
{
	const size_t nr_takers = sizeof(takers) / sizeof(takers[0]);
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;
	int err;

	d->nr = 0;
	while ((rec = wire_next(d->s->bytes, d->s->len, &pos, &bad))) {
		if (rec->type < nr_takers && takers[rec->type]) {
			err = takers[rec->type](d, rec);
			if (err)
				return err;
		}
		d->nr++;
	}
	return 0;
}

int snap_decode(void *bytes, size_t len, struct snap **out, char err[256])
{
	struct decoder d = { .err = err };
	int ret;

	*out = NULL;
	err[0] = 0;
	d.s = calloc(1, sizeof(*d.s));
	if (!d.s) {
		free(bytes);
		return snap_bad(err, -ENOMEM, "not enough memory to decode it");
	}
	d.s->bytes = bytes;
	d.s->len = len;
	ret = first_pass(&d);
	if (!ret)
		ret = make_tables(&d);
	if (!ret)
		ret = second_pass(&d);
	if (!ret)
		ret = snap_index(d.s, err);
	if (!ret)
		ret = snap_index_live(d.s, err);
	if (!ret)
		ret = snap_merge(d.s, err);
	if (ret)
		snap_free(d.s);
	else
		*out = d.s;
	return ret;
}
