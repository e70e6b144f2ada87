// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/cmd/parts.c ctl/render/spans.c ctl/base/out.c ctl/base/csv.c ctl/base/json_read.c */
/* LINK: ctl/base/out_name.c ctl/base/err.c ctl/base/text.c ctl/base/ids.c ctl/base/arena.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: ctl/snap/part.c kmod/core/wire.c */
/*
 * A recording in several files: all counts are in one of them, and none is larger than it may be.
 * A file here is the sum of its counts, and 100 bytes for each counter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/parts.h"
#include "scratch.h"
#include "snap_stream.h"
#include "tap.h"

#define HEAD	500		/* bytes of a file, beside its counters */
#define EACH	100
#define MOST	64		/* files */

static __u64 now_ns = 1000000000;

int oom_since(int fd, __u64 ns, __u64 until, const struct opts *o, struct oom_list *l)
{
	(void)fd;
	(void)ns;
	(void)until;
	(void)o;
	memset(l, 0, sizeof(*l));
	return 0;
}

void watch_known(struct watch *w, struct snap *s)
{
	(void)w;
	(void)s;
}

int show_bytes(struct show *s, const struct snap *part, char **bytes, size_t *len)
{
	__u64 sum[4] = { 0, part->events[0].counted, part->header.start_ns, part->header.now_ns };

	(void)s;
	for (size_t i = 0; i < part->nr_counters; i++)
		sum[0] += part->counters[i].count;
	*len = HEAD + EACH * part->nr_counters;
	*bytes = calloc(1, *len);
	memcpy(*bytes, sum, sizeof(sum));
	return 0;
}

/* So many stacks counted once more, from @first on; each has counted @times then. */
static struct snap *snapshot(unsigned int first, unsigned int nr, __u64 seen)
{
	struct memtap_rec_event *e;
	struct snap *s;

	start();
	((struct memtap_rec_header *)stream)->start_ns = 1;
	((struct memtap_rec_header *)stream)->now_ns = now_ns += 1000000000;
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	e->id = 1;
	e->seen = seen;
	e->counted = seen;
	for (unsigned int i = 0; i < first + nr; i++) {
		struct memtap_rec_stack *st = add(MEMTAP_REC_STACK, sizeof(*st));

		st->id = MEMTAP_STACK_FIRST + i;
	}
	for (unsigned int i = 0; i < first + nr; i++) {
		struct memtap_rec_counter *c = add(MEMTAP_REC_COUNTER, sizeof(*c));

		c->event = 1;
		c->task = MEMTAP_TASK_NONE;
		c->kstack = MEMTAP_STACK_FIRST + i;
		c->count = 1;
	}
	add_end(0);
	return decode(stream_len, &s) ? NULL : s;
}

struct seen {
	__u64 counts, counted, files, largest, last;
	bool gap;
};

static void look_at(const char *base, struct seen *all)
{
	char path[4096];
	struct stat st;
	__u64 sum[4], end = 1;
	FILE *f;

	*all = (struct seen){ 0 };
	for (unsigned int i = 1; i <= MOST; i++) {
		snprintf(path, sizeof(path), "%s.%u", base, i);
		if (stat(path, &st))
			continue;
		f = fopen(path, "re");
		if (!f || fread(sum, sizeof(sum), 1, f) != 1)
			memset(sum, 0, sizeof(sum));
		if (f)
			fclose(f);
		all->counts += sum[0];
		all->counted += sum[1];
		/* (a file that divides its time with the one before has the same beginning) */
		all->gap |= all->files && sum[2] != end && sum[3] != end;
		end = sum[3];
		all->files++;
		all->last = i;
		all->largest = (__u64)st.st_size > all->largest ? (__u64)st.st_size : all->largest;
	}
}

/* Looks at a session that has so many stacks more each time. */
static void record(const struct opts *o, const unsigned int *more, size_t nr, __u64 bound)
{
	struct watch w = { .rss = NULL };
	struct show s = { .o = o, .path = o->out ? (char *)(uintptr_t)o->out : NULL };
	struct parts p;
	struct seen all;
	unsigned int have = 0;
	bool within = true;

	is(parts_init(&p, o), 0, "a recording in parts");
	is(parts_begin(&p, &s, 1), 0, "a session begins");
	for (size_t i = 0; i < nr; i++) {
		struct snap *snap = snapshot(have, more[i], have + more[i]);

		have += more[i];
		s.now = snap;
		is(parts_look(&p, &s, &w, i + 1 == nr), 0, "a look");
		look_at(o->out, &all);
		within = within && (!bound || all.largest <= o->switch_size);
		s.now = NULL;
		snap_free(snap);
	}
	parts_free(&p);
	ok(within, "no file is larger than --switch-size");
}

static __u64 bytes_of(const char *base)
{
	char path[4096];
	struct stat st;
	__u64 sum = 0;

	for (unsigned int i = 1; i <= MOST; i++) {
		snprintf(path, sizeof(path), "%s.%u", base, i);
		sum += stat(path, &st) ? 0 : (__u64)st.st_size;
	}
	return sum;
}

int main(void)
{
	static const unsigned int slow[] = { 10, 20, 30, 20, 20, 10, 5, 1, 40, 0, 3 };
	static const unsigned int burst[] = { 10, 500, 3, 0, 200, 7 };
	struct opts o = { .switch_size = HEAD + 60 * EACH };
	struct seen all;
	char base[4096];

	scratch_begin();
	snprintf(base, sizeof(base), "%s", "slow");
	o.out = base;
	record(&o, slow, sizeof(slow) / sizeof(*slow), 1);
	look_at(base, &all);
	is(all.counts, 159, "all counts are in one of the files");
	is(all.counted, 159, "so are the accounts");
	is(all.files, 3, "a file ends before it becomes too large, at a look");
	ok(!all.gap, "each file begins where the one before ended");

	snprintf(base, sizeof(base), "%s", "burst");
	record(&o, burst, sizeof(burst) / sizeof(*burst), 1);
	look_at(base, &all);
	is(all.counts, 720, "more than a file has room for is divided");
	is(all.counted, 720, "so are its accounts");

	o.keep = 3;
	snprintf(base, sizeof(base), "%s", "keep");
	record(&o, burst, sizeof(burst) / sizeof(*burst), 1);
	look_at(base, &all);
	ok(all.files <= 3 && all.last > 3, "the last files are kept");
	ok(bytes_of(base) <= o.keep * o.switch_size, "and stay below N times the size");

	o = (struct opts){ .out = base, .switch_time = 1e-9 };
	snprintf(base, sizeof(base), "%s", "time");
	record(&o, slow, sizeof(slow) / sizeof(*slow), 0);
	look_at(base, &all);
	is(all.counts, 159, "by time: all counts are in one of the files");
	is(all.files, sizeof(slow) / sizeof(*slow), "by time: a file for each time");
	ok(!all.gap, "by time: there is no gap");
	scratch_end();
	return tap_done();
}
