// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: ctl/snap/part.c kmod/core/wire.c */
/* What a snapshot says after decoding, and what is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snap_stream.h"
#include "tap.h"

static void add_event(u32 id)
{
	struct memtap_rec_event *e = add(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->seen = 10 * id;
	memset(e->name, 'n', sizeof(e->name));
}

static void add_stack(u32 id, u32 nr)
{
	struct memtap_rec_stack *s = add(MEMTAP_REC_STACK, sizeof(*s) + 8 * nr);

	s->id = id;
	s->nr = nr;
	for (u32 i = 0; i < nr; i++)
		s->ip[i] = 1000 * id + i;
}

static void add_map(u32 space, u64 from, u64 to, u32 file)
{
	struct memtap_rec_map *m = add(MEMTAP_REC_MAP, sizeof(*m));

	m->space = space;
	m->start = from;
	m->end = to;
	m->file = file;
}

static void add_file(u32 id, const char *path)
{
	struct memtap_rec_file *f = add(MEMTAP_REC_FILE, sizeof(*f) + strlen(path) + 1);

	f->id = id;
	strcpy(f->path, path);
}

static struct memtap_rec_counter *add_counter(u32 event, u32 stack, u32 cpu,
					      u64 count, s64 total, u32 nr_hist)
{
	struct memtap_rec_counter *c = add(MEMTAP_REC_COUNTER, sizeof(*c) + 8 * nr_hist);

	c->event = event;
	c->ustack = stack;
	c->cpu = cpu;
	c->count = count;
	c->sum = total;
	c->nr_hist = nr_hist;
	return c;
}

static void test_counters_of_cpus_become_one(void)
{
	struct snap *s;

	start();
	add_event(1);
	add_stack(8, 2);
	add_stack(9, 0);
	add_counter(1, 8, 0, 3, -100, 0)->max = 7;
	add_counter(1, 8, 5, 4, 30, 0)->max = 9;
	add_counter(1, 9, 5, 1, 1, 0);
	add_counter(1, 8, 6, 5, 0, 2)->hist[1] = 5;
	add_counter(1, 8, 7, 1, 0, 1)->hist[0] = 1;
	add_counter(1, MEMTAP_STACK_LOST, 7, 1, 0, 0);
	add_end(0);
	if (!ok(!decode(stream_len, &s), "a whole snapshot decodes: %s", err))
		return;
	is(s->nr_counters, 3, "counters of one key are one");
	is(s->counters[0].count, 13, "their counts are added");
	is(s->counters[0].sum, (u64)-70, "their sums too, with their signs");
	is(s->counters[0].max, 9, "and the largest maximum holds");
	ok(s->counters[0].hist && s->counters[0].hist[1] == 5 &&
	   s->counters[0].hist[0] == 1 && !s->counters[0].hist[2],
	   "histograms of different lengths are added");
	ok(!s->counters[1].hist, "a counter without a histogram has none");
	is(strlen(s->events[0].name), MEMTAP_NAME_LEN - 1, "names end");
	is(strlen(s->header.host), sizeof(s->header.host) - 1, "in the header too");
	is(snap_stack(s, 8)->ip[1], 8001, "frames are where they were");
	ok(!snap_stack(s, 10) && !snap_event(s, 7), "what is not there is not found");
	snap_free(s);
}

static void test_unknown_is_skipped(void)
{
	struct memtap_rec_event *e;
	struct snap *s;

	start();
	add(40, 64);
	e = add(MEMTAP_REC_EVENT, sizeof(*e) + 80);
	e->id = 3;
	add_end(0);
	ok(!decode(stream_len, &s), "unknown and longer records are no error: %s", err);
	is(s ? s->nr_events : 0, 1, "a longer record is taken as far as it is known");
	ok(s && !s->has_tool, "a stream of the device has no part of the tool");
	snap_free(s);
}

/* A record that has grown since the first files. */
static void test_old_memory(void)
{
	const size_t old = offsetof(struct memtap_rec_memory, unwind_size);
	struct memtap_rec_memory *m;
	struct snap *s;

	start();
	m = add(MEMTAP_REC_MEMORY, old);
	m->total = 4711;
	m->cpus_late = 5;
	add_event(1);
	add_end(0);
	is(decode(stream_len, &s), 0, "a file of an older module is taken");
	if (!s)
		return;
	is(s->memory.total, 4711, "with what its memory record has");
	is(s->memory.cpus_late, 5, "to the last field");
	is(s->memory.unwind_size + s->memory.tables_wanted, 0, "the rest is 0");
	snap_free(s);
	start();
	add(MEMTAP_REC_MEMORY, old - 8);
	add_end(0);
	is(decode(stream_len, &s), -ENODATA, "but it cannot be shorter");
}

/* The same of events: what was left out for being the tool's own is told since then. */
static void test_old_event(void)
{
	const size_t old = offsetof(struct memtap_rec_event, own);
	struct memtap_rec_event *e;
	struct snap *s;

	start();
	e = add(MEMTAP_REC_EVENT, old);
	e->id = 1;
	e->filtered = 3;
	memset(e->name, 'n', sizeof(e->name));
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	e->id = 2;
	e->filtered = 5;
	e->own = 4;
	add_end(0);
	is(decode(stream_len, &s), 0, "an event of an older module is taken");
	if (!s)
		return;
	is(s->events[0].filtered, 3, "with what its record has");
	is(s->events[0].own, 0, "nothing was left out there");
	is(s->events[1].own, 4, "a newer module tells");
	snap_free(s);
}

static void test_tool_part(void)
{
	static const char texts[2][16] = { "in\0lib\0a.c\0_I", "out\0lib\0" };
	struct memtap_rec_ksym *k;
	struct memtap_rec_note *n;
	struct memtap_rec_usym *u;
	const struct snap_usym *names;
	struct snap *s;
	size_t from;

	start();
	add_event(1);
	add_end(0);
	from = stream_len;
	add(MEMTAP_REC_TOOL, sizeof(struct memtap_rec));
	k = add(MEMTAP_REC_KSYM, sizeof(*k) + 4);
	k->addr = 5;
	strcpy(k->name, "sym");
	n = add(MEMTAP_REC_NOTE, sizeof(*n) + 4);
	strcpy(n->text, "a=b");
	for (int i = 0; i < 2; i++) {
		u = add(MEMTAP_REC_USYM, sizeof(*u) + 16);
		u->space = 3;
		u->ip = 77;
		u->flags = MEMTAP_USYM_CALL | (i ? 0 : MEMTAP_USYM_INLINED);
		memcpy(u->text, texts[i], sizeof(texts[i]));
	}
	is(decode(stream_len, &s), (u64)-ENODATA, "a file without its second END is cut short");
	add_end(from);
	ok(!decode(stream_len, &s), "a file decodes: %s", err);
	ok(s && s->has_tool && s->nr_ksyms == 1 && !strcmp(s->ksyms[0].name, "sym") &&
	   s->nr_notes == 1 && s->device_len == from, "with the records of the tool");
	ok(s && snap_usyms(s, 3, 0, 77, true, &names) == 2 && !strcmp(names[0].name, "in") &&
	   !strcmp(names[0].file, "a.c") && !strcmp(names[1].name, "out") &&
	   !*names[1].file, "names of user addresses come in the order of the records");
	ok(s && snap_usyms(s, 3, 0, 77, true, &names) == 2 && !strcmp(names[0].linkage, "_I") &&
	   !*names[1].linkage, "with those before demangling, where a file has them");
	ok(s && !snap_usyms(s, 3, 0, 77, false, &names) && !snap_usyms(s, 4, 0, 77, true, &names) &&
	   !snap_usyms(s, 3, 0, 78, true, &names), "and only for what they are of");
	snap_free(s);
	add_event(2);
	is(decode(stream_len, &s), (u64)-EBADMSG, "nothing may follow the end");
}

static struct memtap_rec_span *add_part(u64 from, u64 to, u32 nr)
{
	struct memtap_rec_span *s = add(MEMTAP_REC_SPAN,
					sizeof(*s) + nr * sizeof(struct memtap_span_row));

	s->start_ns = from;
	s->end_ns = to;
	s->nr = nr;
	for (u32 i = 0; i < nr; i++) {
		s->at[i].event = 1;
		s->at[i].ustack = 8;
		s->at[i].count = i + 1;
		s->at[i].sum = -5;
	}
	return s;
}

/* Where the tool's part of a file with parts of the time begins. */
static size_t start_parts(void)
{
	size_t from;

	start();
	add_event(1);
	add_stack(8, 1);
	add_counter(1, 8, 0, 3, -10, 0);
	add_end(0);
	from = stream_len;
	add(MEMTAP_REC_TOOL, sizeof(struct memtap_rec));
	return from;
}

static void test_parts_of_the_time(void)
{
	struct snap_counter c;
	struct snap *s;
	size_t from = start_parts();

	add_part(10, 20, 2);
	add_part(20, 30, 0);
	add_end(from);
	ok(!decode(stream_len, &s), "parts of the time are taken: %s", err);
	ok(s && s->nr_spans == 2 && s->spans[0]->nr == 2 && s->spans[1]->end_ns == 30,
	   "in their order");
	c = snap_span_counter(&s->spans[0]->at[1]);
	ok(c.event == 1 && c.ustack == 8 && c.count == 2 && c.sum == -5,
	   "a row is as a counter");
	is(s->nr_counters, 1, "and is none");
	snap_free(s);
	from = start_parts();
	add_part(10, 20, 1)->nr = 2;
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "a part without its rows is refused");
	from = start_parts();
	add_part(10, 10, 0);
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "one that ends where it begins is refused");
	from = start_parts();
	add_part(10, 20, 0);
	add_part(19, 30, 0);
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "one that begins before another one ended");
	from = start_parts();
	add_part(10, 20, 1)->at[0].ustack = 9;
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "one of an unknown stack is refused");
}

static struct memtap_rec_host *add_host(u32 nr, u32 first)
{
	struct memtap_rec_host *h = add(MEMTAP_REC_HOST, sizeof(*h) + nr * sizeof(u32));

	h->nr = nr;
	for (u32 i = 0; i < nr; i++)
		h->task[i] = first + i;
	return h;
}

/* A device's part with tasks 8 to 10, and the beginning of the tool's; where that is. */
static size_t start_hosts(void)
{
	size_t from;

	start();
	for (u32 id = 8; id < 11; id++)
		((struct memtap_rec_task *)add(MEMTAP_REC_TASK,
					       sizeof(struct memtap_rec_task)))->id = id;
	add_end(0);
	from = stream_len;
	add(MEMTAP_REC_TOOL, sizeof(struct memtap_rec));
	return from;
}

static void test_hosts(void)
{
	size_t from = start_hosts();
	struct snap *s;

	strcpy(add_host(2, 8)->name, "first");
	strcpy(add_host(1, 10)->name, "second");
	add_end(from);
	if (!ok(!decode(stream_len, &s), "hosts of a merged recording are taken: %s", err))
		return;
	ok(s->nr_hosts == 2 && !strcmp(snap_host(s, snap_task(s, 9))->name, "first") &&
	   !strcmp(snap_host(s, snap_task(s, 10))->name, "second"), "each task is of one");
	ok(!snap_host(s, NULL), "no task is of none");
	snap_free(s);
	from = start_hosts();
	add_host(1, 9);
	add_end(from);
	ok(!decode(stream_len, &s) && !snap_host(s, snap_task(s, 8)),
	   "a task that no host names is of none");
	snap_free(s);
	from = start_hosts();
	add_host(2, 8);
	add_host(2, 9);
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "a task of two hosts is refused");
	from = start_hosts();
	add_host(1, 11);
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "one that does not exist, too");
	from = start_hosts();
	add_host(2, 8)->nr = 1000000;
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "a host without room for its tasks is refused");
	from = start_hosts();
	memset(add_host(1, 8)->name, 'n', 64);
	add_end(from);
	is(decode(stream_len, &s), (u64)-EBADMSG, "and one whose name does not end");
}

static void test_every_cut_is_told(void)
{
	int wrong = 0, sentences = 0;
	struct snap *s;

	start();
	add_event(1);
	add_stack(8, 3);
	add_counter(1, 8, 0, 1, 1, 3);
	add_end(0);
	for (size_t len = 0; len < stream_len; len++) {
		int ret = decode(len, &s);

		wrong += ret != -ENODATA || s;
		sentences += strlen(err) > 10;
	}
	is(wrong, 0, "at whatever byte a stream is cut, it is -ENODATA");
	is(sentences, stream_len, "and there is a sentence");
}

static void test_every_changed_byte_is_told(void)
{
	int taken = 0;
	struct snap *s;

	start();
	add_event(1);
	add_stack(8, 3);
	add_counter(1, 8, 0, 1, 1, 3);
	add_end(0);
	for (size_t i = 0; i < stream_len; i++) {
		stream[i] ^= 0x40;
		taken += !decode(stream_len, &s);
		snap_free(s);
		stream[i] ^= 0x40;
	}
	is(taken, 0, "whatever byte is changed, the stream is refused");
}

static void test_references_lead_somewhere(void)
{
	start();
	add_counter(1, 0, 0, 1, 1, 0);
	is(verdict(), (u64)-EBADMSG, "a counter of an unknown event is refused");
	start();
	add_event(1);
	add_counter(1, 8, 0, 1, 1, 0);
	is(verdict(), (u64)-EBADMSG, "... of an unknown stack");
	start();
	add_event(1);
	add_counter(1, 0, 0, 1, 1, 0)->task = 77;
	is(verdict(), (u64)-EBADMSG, "... of an unknown task");
	start();
	add_map(1, 0, 10, 3);
	is(verdict(), (u64)-EBADMSG, "a mapping of an unknown file is refused");
	start();
	add_map(1, 10, 10, 0);
	is(verdict(), (u64)-EBADMSG, "a mapping that ends where it begins is refused");
	start();
	add_event(1);
	add_event(1);
	is(verdict(), (u64)-EBADMSG, "two events of one id are refused");
	start();
	add_stack(8, 1);
	((struct memtap_rec_stack *)(stream + sizeof(struct memtap_rec_header)))->nr = 2;
	is(verdict(), (u64)-EBADMSG, "a stack without its frames is refused");
	start();
	add_stack(2, 1);
	is(verdict(), (u64)-EBADMSG, "a stack of a reserved id is refused");
	start();
	add_event(1);
	add_counter(1, 0, 0, 1, 1, 1)->nr_hist = 60;
	is(verdict(), (u64)-EBADMSG, "a histogram without its buckets is refused");
	start();
	memset(((struct memtap_rec_file *)add(MEMTAP_REC_FILE,
	       sizeof(struct memtap_rec_file) + 8))->path, 'p', 8);
	is(verdict(), (u64)-EBADMSG, "a path that does not end is refused");
	start();
	add_end(0);
	strcpy(((struct memtap_rec_usym *)add(MEMTAP_REC_USYM,
	       sizeof(struct memtap_rec_usym) + 8))->text, "name");
	memset(stream + stream_len - 3, 'x', 3);
	is(decode(stream_len, &(struct snap *){ NULL }), (u64)-ENODATA,
	   "a name without its END record is cut short");
	add_end(stream_len - sizeof(struct memtap_rec_usym) - 8);
	is(decode(stream_len, &(struct snap *){ NULL }), (u64)-EBADMSG,
	   "a function's file name that does not end is refused");
	start();
	add(MEMTAP_REC_KSYM, 40);
	is(verdict(), (u64)-EBADMSG, "records of the tool before the end are refused");
}

static void add_task(u32 id, u32 space, u32 flags)
{
	struct memtap_rec_task *t = add(MEMTAP_REC_TASK, sizeof(*t));

	t->id = id;
	t->space = space;
	t->flags = flags;
}

/* Ten processes of which mappings were read, and @nr without. */
static void add_unread(u32 nr, u32 running, u32 flags, u32 stack)
{
	start();
	((struct memtap_rec_header *)stream)->running = running;
	add_event(1);
	add_file(1, "/a");
	add_stack(8, 1);
	for (u32 id = 8; id < 18 + nr; id++) {
		add_task(id, id, id < 18 ? 0 : flags);
		add_counter(1, stack, 0, 1, 1, 0)->task = id;
		if (id < 18)
			add_map(id, 0, 10, 1);
	}
	add_end(0);
}

static void test_unread(void)
{
	static const struct {
		u32 nr, running, flags, stack, want;
		const char *what;
	} cases[] = {
		{ 0, 1, 0, 8, 0, "all are read" },
		{ 3, 1, 0, 8, 3, "three are not" },
		{ 3, 0, 0, 8, 0, "after STOP, none is still to be read" },
		{ 3, 1, MEMTAP_TASK_NOMAPS, 8, 0, "who is lost is told as such" },
		{ 3, 1, MEMTAP_TASK_KTHREAD, 8, 0, "kernel threads have none" },
		{ 3, 1, 0, MEMTAP_STACK_NONE, 0, "without a stack nothing needs a name" },
		{ 2000, 1, 0, 8, SNAP_UNREAD_MAX, "there is an end to it" },
	};
	struct snap *s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_unread(cases[i].nr, cases[i].running, cases[i].flags, cases[i].stack);
		if (!ok(!decode(stream_len, &s), "%s: decodes: %s", cases[i].what, err))
			continue;
		is(snap_unread(s), cases[i].want, "unread mappings: %s", cases[i].what);
		snap_free(s);
	}
}

static void test_maps(void)
{
	struct snap *s;

	start();
	add_file(1, "/a");
	add_file(2, "/b");
	add_map(7, 1000, 2000, 1);
	add_map(7, 500, 600, 2);
	add_map(7, 1200, 1300, 2);
	add_map(8, 0, ~0ULL, 2);
	add_map(7, 500, 600, 1);
	add_end(0);
	if (!ok(!decode(stream_len, &s), "mappings decode: %s", err))
		return;
	is(snap_map(s, 7, 0, 1100)->file, 1, "an address is in the mapping around it");
	is(snap_map(s, 7, 0, 1250)->file, 2, "the one that begins later lies on top");
	is(snap_map(s, 7, 0, 1999)->file, 1, "behind it, the outer one goes on");
	is(snap_map(s, 7, 0, 550)->file, 1, "of equal ones, the last record holds");
	ok(!snap_map(s, 7, 0, 2000) && !snap_map(s, 7, 0, 600) && !snap_map(s, 7, 0, 0),
	   "ends are not part of a mapping");
	ok(!snap_map(s, 6, 0, 1100) && !snap_map(s, 9, 0, 1100), "other spaces are others");
	snap_free(s);
}

static void add_map_of(u32 from, u64 to, u32 file, u32 era, u32 flags)
{
	struct memtap_rec_map *m = add(MEMTAP_REC_MAP, sizeof(*m));

	m->space = 7;
	m->start = from;
	m->end = to;
	m->file = file;
	m->era = era;
	m->flags = flags;
}

static u32 file_at(const struct snap *s, u32 era, u64 addr)
{
	const struct snap_map *m = snap_map(s, 7, era, addr);

	return m ? m->file : 0;
}

static void test_eras(void)
{
	const u32 reused = MEMTAP_MAP_REUSED, gone = MEMTAP_MAP_REUSED | MEMTAP_MAP_GONE;
	struct memtap_rec_stack *st;
	struct snap *s;

	start();
	add_file(1, "/a");
	add_file(2, "/b");
	add_file(3, "/c");
	add_map_of(1000, 2000, 1, 0, gone);
	add_map_of(1500, 2500, 2, 1, gone);
	add_map_of(900, 3000, 3, 5, reused);
	add_map_of(4000, 5000, 1, 0, 0);
	add_map_of(5000, 6000, 2, 0, MEMTAP_MAP_GONE);
	for (u32 i = 0; i < 5000; i++)	/* more than anybody goes back by */
		add_map_of(100, 200, 1, 0, 0);
	st = add(MEMTAP_REC_STACK, sizeof(*st));
	st->id = 8;
	st->era = 5;
	add_end(0);
	if (!ok(!decode(stream_len, &s), "mappings of several eras decode: %s", err))
		return;
	is(snap_stack(s, 8)->era, 5, "a stack has its era");
	is(file_at(s, 0, 1600), 1, "in its era an address is in what was there");
	is(file_at(s, 1, 1600), 2, "in the next one, in what came then");
	is(file_at(s, 1, 1400), 1, "but not where that is not");
	is(file_at(s, 4, 2400), 2, "until something else comes");
	is(file_at(s, 5, 1600), 3, "which then is in all of its place");
	is(file_at(s, 6, 1600), 3, "and afterwards");
	is(file_at(s, 0, 2400), 0, "before anything was there, there is nothing");
	is(file_at(s, MEMTAP_ERA_LOST, 1600), 0,
	   "where the era is not known, nor is what was reused");
	is(file_at(s, MEMTAP_ERA_LOST, 4500), 1, "but what never was anything else");
	is(file_at(s, MEMTAP_ERA_LOST, 5500), 0, "and is not gone");
	is(file_at(s, 5, 199), 1, "of many equal ones, one");
	is(file_at(s, 5, 3500), 0, "between them is nothing");
	snap_free(s);
}

/* Is it decoded again, with what it needs and no more? */
static void test_parts(const struct snap *new, const struct snap *old)
{
	struct snap *part = NULL, *first = NULL, *counts = snap_counts(old), *again = NULL;
	__u64 seen = 0, counted = 0;

	if (!ok(counts && !snap_part(new, counts, NULL, &part) &&
		!snap_part(old, NULL, NULL, &first),
		"two snapshots make parts of a recording"))
		return;
	is(part->nr_counters, 2, "a part has what changed");
	is(part->nr_stacks, 2, "a part has the stacks of what changed, alone");
	ok(!snap_stack(part, 9) && snap_stack(part, 10), "a part has no other stacks");
	is(part->events[0].seen + first->events[0].seen, new->events[0].seen,
	   "the parts' accounts add up to the whole");
	is(first->counters[0].count + part->counters[0].count, new->counters[0].count,
	   "the parts' counts add up to the whole");
	is(first->counters[0].hist[3] + part->counters[0].hist[3], new->counters[0].hist[3],
	   "the parts' histograms add up to the whole");
	is(part->header.start_ns, old->header.now_ns, "a part begins where the last one ended");
	is(first->counters[1].max, 30, "a first part has the greatest value");
	ok(part->bytes && part->device_len == part->len, "a part has bytes of its own");
	ok(!snap_part(part, NULL, NULL, &again) && again->nr_counters == 2, "a part of a part");
	snap_free(again);
	for (size_t i = 0; i < 2; i++) {
		const struct snap_share one = { i, 1 };
		struct snap *share;

		if (!ok(!snap_part(new, counts, &one, &share), "a share of a part"))
			continue;
		ok(share->nr_counters == 1 && share->nr_stacks == 1 &&
		   share->counters[0].count == part->counters[i].count,
		   "a share has its counters alone");
		seen += share->events[0].seen;
		counted += share->events[0].counted;
		snap_free(share);
	}
	is(seen, part->events[0].seen, "the shares' accounts add up to the part's");
	is(counted, part->events[0].counted, "what they counted, too");
	snap_free(part);
	snap_free(first);
	snap_free(counts);
}

static void test_difference(void)
{
	struct snap *old, *new, *d;

	start();
	add_event(1);
	add_stack(8, 1);
	add_stack(9, 1);
	add_counter(1, 8, 0, 5, 50, 4)->hist[3] = 5;
	add_counter(1, 9, 0, 5, 50, 0)->max = 30;
	add_end(0);
	decode(stream_len, &old);
	start();
	add_event(1);
	((struct memtap_rec_event *)(stream + sizeof(struct memtap_rec_header)))->seen = 17;
	add_stack(8, 1);
	add_stack(9, 1);
	add_stack(10, 1);
	add_counter(1, 8, 3, 8, 20, 4)->hist[3] = 8;
	add_counter(1, 9, 0, 5, 50, 0)->max = 30;
	add_counter(1, 10, 0, 1, 1, 0);
	add_end(0);
	decode(stream_len, &new);
	d = snap_diff(new, old);
	if (!ok(d != NULL, "two snapshots have a difference"))
		return;
	is(d->nr_counters, 2, "what did not change is not in it");
	is(d->counters[0].count, 3, "counts are subtracted, whatever the CPUs");
	is(d->counters[0].sum, (u64)-30, "sums can fall");
	is(d->counters[0].hist[3], 3, "histograms are subtracted");
	is(d->counters[1].count, 1, "what is new is in it whole");
	is(d->events[0].seen, 7, "the accounts are subtracted");
	is(new->counters[0].hist[3], 8, "the newer snapshot stays what it was");
	snap_free(d);
	test_parts(new, old);
	snap_free(new);
	snap_free(old);
}

int main(void)
{
	test_counters_of_cpus_become_one();
	test_unknown_is_skipped();
	test_old_memory();
	test_old_event();
	test_tool_part();
	test_parts_of_the_time();
	test_hosts();
	test_every_cut_is_told();
	test_every_changed_byte_is_told();
	test_references_lead_somewhere();
	test_maps();
	test_eras();
	test_unread();
	test_difference();
	free(stream);
	return tap_done();
}
