// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c ctl/machine/account.c ctl/machine/cgroup.c */
/* LINK: ctl/machine/fields.c ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/pinned.c ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/shared.c ctl/machine/text.c ctl/machine/zones.c ctl/machine/rows.c */
/* LINK: ctl/history/code.c ctl/history/read.c ctl/history/find.c ctl/history/sample.c */
/* LINK: ctl/history/recorded.c */
/* LINK: ctl/history/write.c ctl/base/text.c ctl/base/opt_value.c kmod/core/wire.c */
/*
 * A history has what the machine was, whatever happens to its files: samples of recorded machines
 * and of one that changes all the time; truncation and damage at each byte; no room; a writer that
 * is killed; reboots, suspend, and a clock that is set back.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "history/int.h"
#include "history/recorded.h"
#include "scratch.h"
#include "tap.h"

#define SECOND	1000000000ULL
#define BASE	(1790000000ULL * SECOND)	/* of real time */

static const char *const trees[] = { "3.10", "4.18", "5.10", "6.12", "7.2" };

#define NR_TREES	(sizeof(trees) / sizeof(trees[0]))

static int space(const struct machine_at *at, const char *path, __u64 *used, __u64 *size)
{
	*used = 4096 * strlen(path);
	*size = 1 << 20;
	return 0;
}

static struct machine recorded[NR_TREES];
static struct machine small;		/* one with few rows: it is read again and again */

static bool same_rows(const struct machine *a, const struct machine *b, enum rows_table t)
{
	struct rows_row x, y;

	if (rows_nr(a, t) != rows_nr(b, t))
		return false;
	for (size_t i = 0; i < rows_nr(a, t); i++) {
		rows_get(a, t, i, &x);
		rows_get(b, t, i, &y);
		if (strcmp(x.text[0], y.text[0]) || strcmp(x.text[1], y.text[1]) ||
		    memcmp(x.v, y.v, rows_numbers(t) * sizeof(x.v[0])))
			return false;
	}
	return true;
}

static bool same(const struct machine *a, const struct machine *b)
{
	for (int t = 0; t < NR_ROWS_TABLES; t++)
		if (!same_rows(a, b, (enum rows_table)t))
			return false;
	return true;
}

static void copy(const struct machine *from, struct machine *to)
{
	struct rows_row r;

	memset(to, 0, sizeof(*to));
	memcpy(to->release, from->release, sizeof(to->release));
	memcpy(to->host, from->host, sizeof(to->host));
	for (int t = 0; t < NR_ROWS_TABLES; t++)
		for (size_t i = 0; i < rows_nr(from, (enum rows_table)t); i++) {
			rows_get(from, (enum rows_table)t, i, &r);
			if (rows_add(to, (enum rows_table)t, &r))
				abort();
		}
}

/* --- a machine that changes -------------------------------------------------------- */

static uint64_t seed = 1;

/* What became of @was a moment later: some processes grow, some end, some begin. */
static void change(const struct machine *was, struct machine *is, __u32 *next_pid)
{
	struct rows_row r;

	memset(is, 0, sizeof(*is));
	memcpy(is->release, was->release, sizeof(is->release));
	memcpy(is->host, was->host, sizeof(is->host));
	for (int t = 0; t < NR_ROWS_TABLES; t++) {
		for (size_t i = 0; i < rows_nr(was, (enum rows_table)t); i++) {
			const uint64_t n = tap_random(&seed);

			rows_get(was, (enum rows_table)t, i, &r);
			if (t == ROWS_PROCESSES && n % 16 == 0)
				continue;
			/* a number behind the keys, never a flag of the sums */
			if (t != ROWS_SUMS && rows_numbers((enum rows_table)t) && n % 4 == 0)
				r.v[2 + n / 16 % 6] += n >> 40;
			if (rows_add(is, (enum rows_table)t, &r))
				abort();
		}
		for (uint64_t n = tap_random(&seed) % 4; t == ROWS_PROCESSES && n; n--) {
			memset(&r, 0, sizeof(r));
			r.text[0] = n & 1 ? "worker" : "a name, and more";
			r.text[1] = "/app.slice";
			r.v[0] = ++*next_pid;
			r.v[1] = *next_pid * 3;
			r.v[2] = tap_random(&seed) % (1 << 30);
			if (rows_add(is, ROWS_PROCESSES, &r))
				abort();
		}
	}
	is->ns = was->ns + 10 * SECOND;
	is->uptime = was->uptime + 10;
	is->f.mem[MEM_FREE] -= 4096 * (tap_random(&seed) % 100);
	is->f.vm[VM_FAULTS] += tap_random(&seed) % 100000;
}

/* --- samples as bytes ---------------------------------------------------------------- */

static __u8 data[SAMPLE_MOST];

static bool round_trip(const struct code_map *map, const struct machine *before,
		       const struct machine *now, size_t *len)
{
	struct machine back;
	bool good;

	*len = code_put(before, now, data, sizeof(data));
	good = *len && !code_get(map, before, data, *len, &back, NULL) && same(now, &back);
	machine_free(&back);
	return good;
}

static void codes(void)
{
	static char names[65536];
	static struct code_map map;
	struct machine was, is;
	size_t len, whole = 0, sum = 0;
	__u32 pid = 100000;
	bool good = true;
	int nr = 0;

	len = code_fields(names, sizeof(names));
	ok(len && !code_map_make(&map, names, len), "the names of all numbers are found again");
	for (size_t i = 0; i < NR_TREES; i++) {
		ok(round_trip(&map, NULL, &recorded[i], &len),
		   "a recorded machine of Linux %s comes back as it was", trees[i]);
		ok(round_trip(&map, &recorded[(i + 1) % NR_TREES], &recorded[i], &len),
		   "and as what differs from another one");
		good = round_trip(&map, &recorded[i], &recorded[i], &len);
		ok(good && len < 64, "of a machine that did not change there are %zu bytes", len);
	}
	copy(&recorded[3], &was);
	round_trip(&map, NULL, &was, &whole);
	for (; nr < 300 && good; nr++) {
		change(&was, &is, &pid);
		good = round_trip(&map, &was, &is, &len);
		sum += len;
		machine_free(&was);
		was = is;
	}
	machine_free(&was);
	ok(good, "300 samples of a machine that changes come back as they were");
	ok(sum / 300 < whole / 2, "a sample of changes is shorter than a whole one");
}

/* An older memtap has other numbers, and another order. */
static void other_version(void)
{
	static const char names[] = "tricks\0a\0b\0\0processes\0bytes\0nonsense\0pid\0\0";
	static struct code_map map;
	static const __u8 bytes[] = {
		/* tricks: new, "x", "", b = 1 */
		1 << 3 | 3, 1, 'x', 0, 2, 2, 0, 0,
		/* processes: new, "p", "": bytes 5, nonsense 7, pid 9 */
		1 << 3 | 3, 1, 'p', 0, 1, 10, 1, 14, 1, 18, 0, 0,
	};
	struct machine m;

	ok(!code_map_make(&map, names, sizeof(names)), "a file may have other tables and numbers");
	ok(!code_get(&map, NULL, bytes, sizeof(bytes), &m, NULL), "they are passed over");
	is(m.processes.nr, 1, "a process is there");
	ok(m.processes.nr && m.processes.at[0].pid == 9 && m.processes.at[0].bytes == 5 &&
	   !strcmp(m.processes.at[0].name, "p"), "its numbers are taken by their names");
	machine_free(&m);
}

/* --- files ------------------------------------------------------------------------- */

#define DIR_NAME	"h"
#define FIRST		"h/history-00000001.memtap"

static struct machine *kept;		/* what was written */
static size_t nr_kept;

static struct history_opts opts(void)
{
	return (struct history_opts){
		.dir = DIR_NAME, .max_bytes = 64 << 20, .max_age = 7 * 86400, .interval = 10,
		.boot = "boot-1", .version = "v1",
	};
}

static void forget(void)
{
	for (size_t i = 0; i < nr_kept; i++)
		machine_free(&kept[i]);
	free(kept);
	kept = NULL;
	nr_kept = 0;
	if (system("/bin/rm -rf " DIR_NAME))
		abort();
}

static struct history_writer *begin(const struct history_opts *o)
{
	char err[HISTORY_ERR];
	struct history_writer *w;

	if (history_begin(&w, o, err)) {
		fprintf(stderr, "# %s\n", err);
		return NULL;
	}
	return w;
}

/* @nr samples more, ten seconds from one to the next, from @boot_ns on; how many were written. */
static size_t write_some(struct history_writer *w, size_t nr, __u64 boot_ns, __u64 real_ns)
{
	static __u32 pid = 200000;
	size_t written = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct history_now now = { real_ns + i * 10 * SECOND,
						 boot_ns + i * 10 * SECOND };
		struct machine m;

		if (nr_kept)
			change(&kept[nr_kept - 1], &m, &pid);
		else
			copy(&small, &m);
		m.ns = now.boot_ns;
		kept = realloc(kept, (nr_kept + 1) * sizeof(*kept));
		copy(&m, &kept[nr_kept]);
		if (history_take(w, &m, &now)) {
			machine_free(&kept[nr_kept]);
			continue;
		}
		nr_kept++;
		written++;
	}
	return written;
}

/* Do all samples that are read agree with what was written?  @first: of those that were. */
static bool agrees(const struct history *h, size_t first)
{
	struct history_cursor *c = history_cursor(h);
	const struct machine *m;
	bool good = true;

	for (size_t i = 0; good && i < h->nr_samples; i++)
		good = !history_read(c, i, &m, NULL) && first + i < nr_kept &&
		       same(m, &kept[first + i]);
	/* and in another order */
	for (size_t i = h->nr_samples; good && i > 7; i -= 7)
		good = !history_read(c, i - 7, &m, NULL) && same(m, &kept[first + i - 7]);
	history_cursor_free(c);
	return good;
}

static struct history *reopen(void)
{
	char err[HISTORY_ERR];
	struct history *h;

	return history_open(DIR_NAME, &h, err) ? NULL : h;
}

static void files(void)
{
	struct history_opts o = opts();
	struct history_writer *w = begin(&o), *second;
	char err[HISTORY_ERR];
	struct history *h;
	size_t at;

	if (!w)
		return;
	is(write_some(w, 150, 1000 * SECOND, BASE), 150, "150 samples are written");
	is(history_begin(&second, &o, err), -EBUSY, "nobody else writes to the directory");
	h = reopen();
	ok(h && h->running, "a history that is being written can be read");
	ok(h && h->nr_samples == 150 && agrees(h, 0), "and has what was written so far");
	history_close(h);
	history_note(w, "why=a note");
	write_some(w, 1, 2500 * SECOND, BASE + 1500 * SECOND);
	history_end(w);
	h = reopen();
	ok(h && h->nr_samples == 151 && agrees(h, 0), "it has the same when it was closed");
	ok(h && !h->running && h->segments[0].closed && !h->segments[0].damaged,
	   "a file that was closed in order is known for it");
	ok(h && h->nr_events == 1 && h->events[0].sample == 150 &&
	   !strcmp(h->events[0].note, "why=a note"), "a note stands before its sample");
	ok(h && !strcmp(h->segments[0].release, recorded[2].release) &&
	   !strcmp(h->segments[0].boot, "boot-1"), "kernel and boot are known");
	ok(h && !history_find(h, BASE + 503 * SECOND, &at, err) && at == 51,
	   "a time is in the interval that ends behind it");
	ok(h && history_find(h, BASE - 3600 * SECOND, &at, err) == -ENOENT &&
	   strstr(err, "begins at"), "before the first sample there is nothing, and that is said");
	ok(h && history_find(h, BASE + 3600 * SECOND, &at, err) == -ENOENT &&
	   strstr(err, "ends at"), "nor behind the last one");
	history_close(h);
}

static long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long)st.st_size;
}

static char *whole;
static long whole_len;

static void slurp(void)
{
	FILE *f = fopen(FIRST, "r");

	whole_len = size_of(FIRST);
	whole = malloc((size_t)whole_len);
	if (fread(whole, 1, (size_t)whole_len, f) != (size_t)whole_len)
		abort();
	fclose(f);
}

static void put_file(long len)
{
	FILE *f = fopen(FIRST, "w");

	if (fwrite(whole, 1, (size_t)len, f) != (size_t)len || fclose(f))
		abort();
}

/* After a power loss the file may end anywhere. */
static void truncated(void)
{
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	const size_t all = write_some(w, 6, 1000 * SECOND, BASE);
	struct history *h;
	long from;
	bool good = true, told = true;
	size_t least = 0;

	history_end(w);
	h = reopen();
	from = (long)h->samples[all - 2].offset;
	history_close(h);
	slurp();
	for (long len = from; len < whole_len && good; len++) {
		size_t have = all;

		put_file(len);
		h = reopen();
		for (have = 0; h && have < h->nr_samples; have++)
			;
		good = h && have >= all - 2 && have <= all && have >= least && agrees(h, 0) &&
		       !h->segments[0].closed;
		/* part of a sample is told, with its length */
		if (h && have < all && (long)h->segments[0].damaged > len)
			told = false;
		least = have;
		history_close(h);
	}
	ok(good, "a file that ends at any byte of the last samples has all before that one");
	ok(told, "what is lost is told in bytes, and is less than the file");
	put_file((long)from + 100);
	h = reopen();
	is(h ? h->segments[0].damaged : 0, 100, "a sample that is not whole is told as damage");
	history_close(h);
	for (long len = 0; len < 6000 && len < from; len += 7) {
		char err[HISTORY_ERR];

		put_file(len);
		if (!history_open(DIR_NAME, &h, err)) {
			good &= agrees(h, 0);
			history_close(h);
		}
	}
	ok(good, "a file may also end within what stands before the first sample");
	free(whole);
	forget();
}

/* A byte that is wrong costs samples, and shows no other ones. */
static void damaged(void)
{
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	const size_t all = write_some(w, 64, 1000 * SECOND, BASE), key = 60;
	bool good = true, most = true;
	struct history *h;
	long from, to;

	history_end(w);
	slurp();
	h = reopen();
	from = (long)h->samples[key - 3].offset;
	to = (long)h->samples[key + 1].offset;
	ok(h->samples[key].key && !h->samples[key - 1].key, "there is a sample for itself");
	history_close(h);
	for (long at = from; at < to && good; at += 3) {
		struct history_cursor *c;
		const struct machine *m;

		whole[at] ^= (char)(1 << at % 8);
		put_file(whole_len);
		whole[at] ^= (char)(1 << at % 8);
		h = reopen();
		if (!h) {
			good = false;
			break;
		}
		most &= h->nr_samples >= key - 3 && h->nr_samples < all &&
			h->segments[0].damaged > 0;
		c = history_cursor(h);
		for (size_t i = key - 5; good && i < h->nr_samples; i++) {
			/* which of those that were written it is, its time says */
			const size_t n = (size_t)((h->samples[i].boot_ns - 1000 * SECOND) /
						  (10 * SECOND));

			good = !history_read(c, i, &m, NULL) && n < nr_kept && same(m, &kept[n]);
		}
		history_cursor_free(c);
		history_close(h);
	}
	ok(good, "a bit that flips anywhere in samples changes none of those that are read");
	ok(most, "samples before it are there, one is lost at least, and damage is told");
	/* behind damage it goes on with the next sample that needs no other */
	whole[from + 60] ^= 1;
	put_file(whole_len);
	h = reopen();
	is(h ? h->nr_samples : 0, all - 3, "what follows the next whole sample is there again");
	is(h ? (int)history_gap(h, key - 3) : -1, GAP_DAMAGED, "the gap is told as damage");
	history_close(h);
	free(whole);
}

/* --- gaps ------------------------------------------------------------------------------ */

static void gap_is(const struct history *h, size_t i, enum history_gap want, const char *words,
		   const char *name)
{
	char text[HISTORY_TEXT];

	ok(h && i < h->nr_samples && history_gap(h, i) == want &&
	   strstr(history_gap_text(h, i, text), words), "%s", name);
}

static void gaps(void)
{
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	char err[HISTORY_ERR];
	struct history *h;
	struct machine m;
	size_t at = 0;

	write_some(w, 5, 1000 * SECOND, BASE);
	/* suspended for an hour: CLOCK_MONOTONIC, which m.ns is, stands still */
	change(&kept[4], &m, &(__u32){ 300000 });
	m.ns = kept[4].ns + 10 * SECOND;
	machine_free(&kept[4]);
	copy(&m, &kept[4]);
	history_take(w, &m, &(struct history_now){ BASE + 3650 * SECOND, 4650 * SECOND });
	/* the service is late; the disk was full is tested below */
	write_some(w, 1, 5650 * SECOND, BASE + 4650 * SECOND);
	history_end(w);
	/* the service begins again */
	w = begin(&o);
	write_some(w, 3, 7650 * SECOND, BASE + 6650 * SECOND);
	history_end(w);
	/* another boot, and the clock is an hour behind until the second sample */
	o.boot = "boot-2";
	w = begin(&o);
	write_some(w, 3, 20 * SECOND, BASE + 5650 * SECOND);
	history_end(w);
	h = reopen();
	is(h ? h->nr_samples : 0, 13, "all samples are there");
	gap_is(h, 0, GAP_BEGIN, "begins at", "the first sample has none before it");
	gap_is(h, 3, GAP_NONE, "", "one after the other is no gap");
	gap_is(h, 5, GAP_SUSPEND, "suspended", "suspend is told from a service that does not run");
	gap_is(h, 6, GAP_MISSED, "did not run in time", "a service that is late is a gap");
	gap_is(h, 7, GAP_STOPPED, "stopped", "a service that was stopped is a gap");
	gap_is(h, 10, GAP_BOOT, "booted anew", "a boot is a gap");
	ok(h && history_find(h, BASE + 2000 * SECOND, &at, err) == -ENOENT &&
	   strstr(err, "suspended"), "a time within a gap is answered by what the gap was");
	history_close(h);
	forget();

	/* set back by an hour, and it is the same time again */
	o = opts();
	w = begin(&o);
	write_some(w, 10, 1000 * SECOND, BASE);
	write_some(w, 10, 1100 * SECOND, BASE + 50 * SECOND);
	history_end(w);
	h = reopen();
	gap_is(h, 10, GAP_NONE, "", "a clock that is set back makes no gap");
	ok(h && !history_find(h, BASE + 75 * SECOND, &at, err) && at == 13 &&
	   strstr(err, "set back"),
	   "of a time that was twice the last one is taken, and that is said");
	ok(h && agrees(h, 0), "nothing is lost by it");
	history_close(h);
	forget();
}

/* --- bounds --------------------------------------------------------------------------- */

static __u64 bytes_of_all(size_t *files)
{
	struct history *h = reopen();
	__u64 sum = 0;

	for (size_t i = 0; h && i < h->nr_segments; i++)
		sum += (__u64)h->segments[i].bytes;
	*files = h ? h->nr_segments : 0;
	history_close(h);
	return sum;
}

static void bounds(void)
{
	struct history_opts o = opts();
	struct history_writer *w;
	struct history *h;
	bool good = true;
	size_t files;

	o.max_bytes = 256 << 10;
	w = begin(&o);
	for (int i = 0; i < 60 && good; i++) {
		write_some(w, 20, (1000 + (__u64)i * 200) * SECOND, BASE + (__u64)i * 200 * SECOND);
		good = bytes_of_all(&files) <= o.max_bytes;
	}
	ok(good && files > 2, "all files together stay within their size (%zu of them)", files);
	history_end(w);
	h = reopen();
	ok(h && h->nr_samples < nr_kept && agrees(h, nr_kept - h->nr_samples),
	   "the oldest samples went, and the last ones are as they were");
	history_close(h);

	/* by age, one file at each begin */
	w = begin(&o);
	write_some(w, 1, 900000 * SECOND, BASE + 100ULL * 365 * 86400 * SECOND);
	history_end(w);
	ok(bytes_of_all(&files) && files > 2,
	   "a clock that is a hundred years ahead costs one file, not the history");
	forget();
}

/* --- more processes than are kept -------------------------------------------------------- */

static void add_process(struct machine *m, __u32 pid, __u64 start, __u64 bytes)
{
	struct rows_row r = { .text = { "p", "/" } };

	r.v[0] = pid;
	r.v[1] = start;
	r.v[2] = bytes;
	if (rows_add(m, ROWS_PROCESSES, &r))
		abort();
}

static bool has_pid(const struct machine_list *l, __u32 pid)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->at[i].pid == pid)
			return true;
	return false;
}

/* Processes 1 to 3000 hold ever less; what changes in the second and the third sample is below. */
static void crowd(void)
{
	const long tick = sysconf(_SC_CLK_TCK);
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	const struct machine_list *ended;
	const struct machine *m;
	struct history_cursor *c;
	struct history *h;

	for (__u64 n = 0; n < 3; n++) {
		struct machine all;

		memset(&all, 0, sizeof(all));
		all.ns = (1000 + n * 10) * SECOND;
		all.uptime = all.processes.uptime = 1000 + (double)n * 10;
		for (__u32 pid = 1; pid <= 3000; pid++) {
			/* 7 ends in the second one; 2500 grows then, and is small again */
			if (pid == 7 && n)
				continue;
			add_process(&all, pid, 5, (__u64)(4000 - pid) << 20 |
				    (pid == 2500 && n == 1 ? 1ULL << 33 : 0));
		}
		if (n == 1)
			add_process(&all, 5000, (__u64)tick * 1005, 4096);
		history_take(w, &all, &(struct history_now){ BASE + n * 10 * SECOND, all.ns });
	}
	history_end(w);
	h = reopen();
	c = history_cursor(h);
	ok(!history_read(c, 0, &m, NULL), "a machine with 3000 processes can be read");
	is(m->processes.nr, HISTORY_PROCESSES, "those that hold most are kept");
	is(m->processes.late, 3000 - HISTORY_PROCESSES, "how many are not is told");
	ok(has_pid(&m->processes, 1) && !has_pid(&m->processes, 2500), "and not the smallest");
	ok(!history_read(c, 1, &m, &ended) && has_pid(&m->processes, 2500),
	   "one that changes much is kept");
	ok(has_pid(&m->processes, 5000), "one that is new is kept, whatever it holds");
	ok(ended->nr == 1 && ended->at[0].pid == 7, "one that ended is told");
	ok(!history_read(c, 2, &m, &ended) && ended->nr == 1 && ended->at[0].pid == 5000,
	   "one that is only not kept any more is not told as ended");
	history_cursor_free(c);
	history_close(h);
	forget();
}

/* --- no room, and a writer that is killed ----------------------------------------------- */

static void no_room(void)
{
	const struct rlimit narrow = { 40000, RLIM_INFINITY };
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	char text[HISTORY_TEXT];
	struct history *h;
	size_t before;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &narrow);
	is(write_some(w, 5, 1000 * SECOND, BASE), 0, "a file that gets no room is not begun");
	setrlimit(RLIMIT_FSIZE, &all);
	is(write_some(w, 5, 1050 * SECOND, BASE + 50 * SECOND), 5, "later there is room again");
	/* and in the middle of a sample */
	before = nr_kept;
	setrlimit(RLIMIT_FSIZE, &narrow);
	for (int i = 0; i < 400; i++)
		write_some(w, 1, (1100 + (__u64)i * 10) * SECOND,
			   BASE + (100 + (__u64)i * 10) * SECOND);
	setrlimit(RLIMIT_FSIZE, &all);
	ok(nr_kept - before < 400, "some samples got no room");
	before = nr_kept;
	write_some(w, 3, 5100 * SECOND, BASE + 4100 * SECOND);
	history_end(w);
	h = reopen();
	is(h ? h->nr_samples : 0, before + 3, "all that were taken are there");
	ok(h && agrees(h, 0), "and are what they were");
	ok(h && !h->segments[0].damaged, "nothing half is left of those that were not");
	gap_is(h, before, GAP_MISSED, "could not be written: File too large",
	       "the gap says how many are missing, and why");
	history_gap_text(h, before, text);
	history_close(h);
	forget();
}

static void killed(void)
{
	struct history_opts o = opts();
	const char *more = getenv("HISTORY_KILLS");
	const size_t most = more ? (size_t)atoi(more) : 40;
	size_t lost = 0, torn = 0, runs = 0;
	bool good = true;

	for (; runs < most && good; runs++) {
		const useconds_t moment = (useconds_t)(tap_random(&seed) % 30000);
		int ready[2], status;
		size_t last = 0;
		struct history *h;
		pid_t pid;
		char byte;

		if (pipe(ready))
			abort();
		pid = fork();
		if (!pid) {
			struct history_writer *w = begin(&o);

			close(ready[0]);
			if (!w)
				_exit(2);
			for (size_t i = 0;; i++) {
				write_some(w, 1, (1000 + i * 10) * SECOND, BASE + i * 10 * SECOND);
				if (write(ready[1], "", 1) != 1)
					_exit(1);
			}
		}
		close(ready[1]);
		good = read(ready[0], &byte, 1) == 1;
		usleep(moment);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		for (last = 1; read(ready[0], &byte, 1) == 1; last++)
			;
		close(ready[0]);
		h = reopen();
		/* one more may be there than was told */
		good &= h && h->nr_samples >= last && h->nr_samples <= last + 1 &&
			!h->segments[0].closed;
		lost += h && h->nr_samples < last;
		torn += h && h->segments[0].damaged;
		history_close(h);
		if (system("/bin/rm -rf " DIR_NAME))
			abort();
	}
	ok(good, "a writer that was killed at %zu moments lost nothing that it had written", runs);
	is(lost, 0, "not one sample");
	ok(torn <= runs, "(%zu times part of a sample was there)", torn);
}

/* A segment of a writer that was killed has all its room: the next writer gives it back. */
static void room_of_killed(void)
{
	struct history_opts o = opts();
	struct history_writer *w;
	struct history *h;
	struct stat was, is;
	int status;
	pid_t pid = fork();

	if (!pid) {
		w = begin(&o);
		_exit(!w || write_some(w, 70, 1000 * SECOND, BASE) != 70);
	}
	waitpid(pid, &status, 0);
	stat(FIRST, &was);
	h = reopen();
	ok(!status && h && h->nr_samples == 70 && was.st_size >= 1 << 20,
	   "a writer that did not stop leaves the room of its segment");
	history_close(h);
	history_end(begin(&o));
	stat(FIRST, &is);
	ok(is.st_size < was.st_size / 4, "the next one gives it back");
	is(is.st_mtim.tv_sec == was.st_mtim.tv_sec && is.st_mtim.tv_nsec == was.st_mtim.tv_nsec, 1,
	   "it is as old as before");
	h = reopen();
	ok(h && h->nr_samples == 70 && !h->segments[0].damaged && !h->segments[0].closed,
	   "its samples are all there, and that it was not closed");
	history_close(h);
	forget();
}

/* --- what the module recorded --------------------------------------------------------- */

static struct memtap_recorded_row *put_row(struct recorded_look *l, __u32 kind, const char *name,
					   __s32 pid, __u64 count, __s64 sum)
{
	struct memtap_recorded_row *r = &l->rows[l->nr++];

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->unit = MEMTAP_UNIT_NS;
	r->pid = pid;
	r->since_ns = 500 * SECOND;
	r->start_ns = (__u64)pid * 7;
	r->count = count;
	r->sum = sum;
	snprintf(r->name, sizeof(r->name), "%s", name);
	if (pid)
		snprintf(r->comm, sizeof(r->comm), "p%d", pid);
	return r;
}

static struct memtap_recorded_row rows[3][MEMTAP_MAX_RECORDED];
static __u64 record_room[8192];
static struct memtap_rec_recorded *const record = (void *)record_room;

/* What a history says came from @was to @is. */
static struct recorded came(const struct recorded_look *was, const struct recorded_look *is)
{
	struct recorded r = { 0 };

	if (recorded_put(was, is, rows[2], record, sizeof(record_room)) &&
	    recorded_get(record, &r))
		fprintf(stderr, "# what was written cannot be read\n");
	return r;
}

static const struct memtap_recorded_row *row_of(const struct recorded *r, __u32 kind, __s32 pid)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->at[i].kind == kind && r->at[i].pid == pid)
			return &r->at[i];
	return NULL;
}

static void differences(void)
{
	struct recorded_look was = { .rows = rows[0] }, is = { .ns = 1010 * SECOND,
							       .rows = rows[1] };
	const struct memtap_recorded_row *row;
	struct memtap_recorded_row *w;
	struct recorded r;

	put_row(&is, MEMTAP_RECORDED_WAITS, "direct-reclaim", 0, 5, 900);
	r = came(&was, &is);
	ok(!r.nr, "the first look tells nothing: it is not known when that was");
	was.ns = 1000 * SECOND;
	r = came(&was, &is);
	ok(!r.nr, "nor what is older than a look that did not have it");
	is.rows[0].since_ns = 1004 * SECOND;
	r = came(&was, &is);
	row = row_of(&r, MEMTAP_RECORDED_WAITS, 0);
	ok(row && row->count == 5 && row->sum == 900 && row->since_ns == 4 * SECOND,
	   "what began since then is told, and from when on");
	recorded_free(&r);

	is.nr = 0;
	put_row(&was, MEMTAP_RECORDED_EVENT, "mmap", 0, 7, -100);
	put_row(&was, MEMTAP_RECORDED_WAITS, "direct-reclaim", 0, 5, 900)->lost = 3;
	put_row(&was, MEMTAP_RECORDED_WAITER, "direct-reclaim", 1, 4, 800)->longest_at_ns = 1;
	put_row(&was, MEMTAP_RECORDED_WAITER, "direct-reclaim", 2, 1, 100)->longest_at_ns = 1;
	w = put_row(&is, MEMTAP_RECORDED_WAITS, "direct-reclaim", 0, 25, 4900);
	w->lost = 4;
	w = put_row(&is, MEMTAP_RECORDED_WAITER, "direct-reclaim", 1, 6, 1800);
	w->longest_ns = 700;
	w->longest_at_ns = 1;
	put_row(&is, MEMTAP_RECORDED_WAITER, "direct-reclaim", 2, 1, 100)->longest_at_ns = 1;
	w = put_row(&is, MEMTAP_RECORDED_WAITER, "direct-reclaim", 3, 17, 2900);
	w->longest_ns = 400;
	w->longest_at_ns = w->since_ns = 1005 * SECOND;
	put_row(&is, MEMTAP_RECORDED_EVENT, "mmap", 0, 9, -350);
	r = came(&was, &is);
	is(r.nr, 4, "what did not change is not told");
	row = row_of(&r, MEMTAP_RECORDED_WAITS, 0);
	ok(row && row->count == 20 && row->sum == 4000 && row->lost == 1 && !row->since_ns,
	   "waits: what came, and what of it could not be recorded");
	row = row_of(&r, MEMTAP_RECORDED_WAITER, 1);
	ok(row && row->count == 2 && row->sum == 1000 && !row->longest_ns,
	   "a process: the longest wait of an earlier time is not told");
	row = row_of(&r, MEMTAP_RECORDED_WAITER, 3);
	ok(row && row->count == 17 && row->longest_ns == 400 && !strcmp(row->comm, "p3"),
	   "a process that had not waited before");
	row = row_of(&r, MEMTAP_RECORDED_EVENT, 0);
	ok(row && row->count == 2 && row->sum == -250, "a sum may be negative");
	record->used = 20;
	ok(recorded_get(record, &r) == -EBADMSG, "a record that was cut is refused");
	recorded_free(&r);

	/* a recorder that begins anew counts from 0; one that counts less is not believed */
	is.rows[0].count = 2;
	is.rows[0].since_ns = 1006 * SECOND;
	is.rows[4].count = 3;
	r = came(&was, &is);
	row = row_of(&r, MEMTAP_RECORDED_WAITS, 0);
	ok(row && row->count == 2, "sums that began anew are told as they are");
	ok(!row_of(&r, MEMTAP_RECORDED_EVENT, 0), "a sum that became smaller is not told");
	recorded_free(&r);
}

static void many_waiters(void)
{
	struct recorded_look was = { .ns = 1000 * SECOND, .rows = rows[0] };
	struct recorded_look is = { .ns = 1010 * SECOND, .rows = rows[1] };
	struct recorded r;
	size_t waiters = 0;

	put_row(&is, MEMTAP_RECORDED_WAITS, "swap-wait", 0, 2080, 2080)->since_ns = 1001 * SECOND;
	for (int i = 1; i <= 64; i++)
		put_row(&is, MEMTAP_RECORDED_WAITER, "swap-wait", i, (__u64)i, i)->since_ns =
			1001 * SECOND;
	r = came(&was, &is);
	for (size_t i = 0; i < r.nr; i++)
		waiters += r.at[i].kind == MEMTAP_RECORDED_WAITER;
	is(waiters, RECORDED_PROCESSES, "of many processes those are kept that waited longest");
	ok(row_of(&r, MEMTAP_RECORDED_WAITER, 64) && row_of(&r, MEMTAP_RECORDED_WAITER, 57) &&
	   !row_of(&r, MEMTAP_RECORDED_WAITER, 56), "and no other");
	ok(row_of(&r, MEMTAP_RECORDED_WAITS, 0)->count == 2080, "the sum has all");
	recorded_free(&r);
}

static void recorded_files(void)
{
	struct recorded_look was = { .ns = 1000 * SECOND, .rows = rows[0] };
	struct recorded_look is = { .ns = 1010 * SECOND, .rows = rows[1] };
	struct history_opts o = opts();
	struct history_writer *w = begin(&o);
	const struct memtap_recorded_row *row;
	struct history *h;
	struct recorded r;

	put_row(&is, MEMTAP_RECORDED_WAITS, "memcg-reclaim", 0, 9, 2 * (__s64)SECOND)->since_ns =
		1001 * SECOND;
	write_some(w, 2, 1000 * SECOND, BASE);
	recorded_put(&was, &is, rows[2], record, sizeof(record_room));
	history_add(w, &record->rec);
	write_some(w, 1, 1020 * SECOND, BASE + 20 * SECOND);
	is.rows[0].sum = SECOND / 10;
	recorded_put(&was, &is, rows[2], record, sizeof(record_room));
	history_add(w, &record->rec);
	write_some(w, 2, 1030 * SECOND, BASE + 30 * SECOND);
	history_end(w);
	h = reopen();
	ok(h && h->nr_samples == 5 && agrees(h, 0), "samples with what was recorded before them");
	ok(h && !recorded_stalled(h, 1) && recorded_stalled(h, 2) && !recorded_stalled(h, 3),
	   "a stall is where waits took a tenth of the time");
	recorded_between(h, 1, 2, &r);
	row = row_of(&r, MEMTAP_RECORDED_WAITS, 0);
	ok(r.nr == 1 && row && row->count == 9 && r.records == 1,
	   "an interval has its record, and no other");
	recorded_free(&r);
	recorded_between(h, 0, 4, &r);
	row = row_of(&r, MEMTAP_RECORDED_WAITS, 0);
	ok(r.nr == 1 && row && row->count == 18 && row->sum == 2100000000LL && r.records == 2,
	   "a longer time has the sum");
	recorded_free(&r);
	recorded_between(h, 3, 4, &r);
	ok(!r.nr, "nothing is told where nothing was");
	recorded_free(&r);
	history_close(h);
	forget();
}

static void times(void)
{
	struct tm tm = { .tm_year = 126, .tm_mon = 10, .tm_mday = 27, .tm_hour = 10, .tm_min = 30,
			 .tm_isdst = -1 };
	const __u64 now = (__u64)mktime(&tm) * SECOND;
	__u64 t;

	ok(history_when("03:12", now, &t) && now - t == (7 * 3600 + 18 * 60) * SECOND,
	   "a time is one of today");
	ok(history_when("10:31", now, &t) && now - t == (24 * 3600 - 60) * SECOND,
	   "or of yesterday, if it is not yet");
	ok(history_when("2026-11-27 03:12:30", now, &t) &&
	   now - t == (7 * 3600 + 17 * 60 + 30) * SECOND, "with a date it is that one");
	ok(history_when("2026-11-27", now, &t) && now - t == (10 * 3600 + 30 * 60) * SECOND,
	   "a date alone is its beginning");
	ok(history_when("-2h", now, &t) && now - t == 7200 * SECOND, "-2h is two hours ago");
	ok(history_when("-90", now, &t) && now - t == 90 * SECOND, "-90 is in seconds");
	ok(!history_when("25:00", now, &t) && !history_when("3", now, &t) &&
	   !history_when("", now, &t) && !history_when("2026-13-01", now, &t) &&
	   !history_when("03:12 tomorrow", now, &t) && !history_when("-x", now, &t),
	   "nothing else is a time");
}

/* golden/machine/NAME.tree has all files of one in one. */
static bool read_recorded(const char *top)
{
	char command[3 * PATH_MAX], root[64];

	for (size_t i = 0; i < NR_TREES; i++) {
		const struct machine_at at = {
			.root = root, .page = 4096, .budget_ns = 60 * SECOND, .space = space,
		};

		snprintf(root, sizeof(root), "tree-%s", trees[i]);
		snprintf(command, sizeof(command), "%s/golden/machine/grow "
			 "%s/golden/machine/%s.tree %s", top, top, trees[i], root);
		if (system(command) ||
		    machine_read(&at, MACHINE_SLAB | MACHINE_LOG | MACHINE_SHARED, &recorded[i]) ||
		    machine_read_groups(&at, &recorded[i], NULL)) {
			fprintf(stderr, "# %s cannot be read\n", root);
			return false;
		}
	}
	return true;
}

static void make_small(void)
{
	struct rows_row r;

	for (int t = 0; t < NR_ROWS_TABLES; t++)
		for (size_t i = 0; i < rows_nr(&recorded[2], (enum rows_table)t) && i < 3; i++) {
			rows_get(&recorded[2], (enum rows_table)t, i, &r);
			if (rows_add(&small, (enum rows_table)t, &r))
				abort();
		}
	memcpy(small.release, recorded[2].release, sizeof(small.release));
}

int main(void)
{
	char top[PATH_MAX];

	if (!getcwd(top, sizeof(top)))
		return 1;
	scratch_begin();
	if (!read_recorded(top))
		return 1;
	make_small();
	setenv("TZ", "UTC", 1);
	tzset();
	codes();
	other_version();
	files();
	forget();
	truncated();
	damaged();
	forget();
	gaps();
	bounds();
	crowd();
	no_room();
	killed();
	room_of_killed();
	differences();
	many_waiters();
	recorded_files();
	times();
	forget();
	machine_free(&small);
	for (size_t i = 0; i < NR_TREES; i++)
		machine_free(&recorded[i]);
	ok(!scratch_end(), "nothing is left");
	return tap_done();
}
