// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap heap`: inspect a running process's malloc heap, without tracing. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "leaks/copy.h"
#include "leaks/core.h"
#include "leaks/leaks.h"
#include "leaks/run.h"
#include "leaks/stopped.h"
#include "render/heap.h"
#include "target/maps.h"
#include "target/procmaps.h"

#define MS		1000000ULL
#define MAX_PAUSE_MS	1000U
#define ROWS		20U
#define SORT_BLOCKS	1		/* place of "count" among the words of --sort */

static void read_comm(pid_t pid, char comm[32])
{
	char path[32], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	snprintf(comm, 32, "?");
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return;
	snprintf(comm, 32, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

/* What it holds is in mappings that have no name, as all that is mapped without a file. */
static int fail_other(pid_t pid, const char *other, const char *path)
{
	char resident[TEXT_LEN], mapped[TEXT_LEN];
	__u64 there, all;

	if (heap_other_holds(pid, &there, &all))
		return fail_text("process %d uses %s (%s), whose heap is not walked: its "
				 "structures were not recognized; use memtap leaks -p %d", pid,
				 other, path, pid);
	return fail_text("process %d uses %s (%s), whose heap is not walked: its structures were "
			 "not recognized; its anonymous memory: "
			 "%s resident, %s mapped; "
			 "memtap rss -p %d shows the stacks that touched it, memtap leaks -p %d "
			 "those that allocate more", pid, other, path,
			 text_bytes(resident, (__s64)there, false),
			 text_bytes(mapped, (__s64)all, false), pid, pid);
}

static int fail_late(const struct heap_look *l, pid_t pid, __u64 max_ns)
{
	char text[160], time[TEXT_LEN];

	if (l->tracer) {
		stopped_why_stuck(text, sizeof(text), pid, l->tracer);
		return fail_text("%s; memtap tried for %llu ms (--max-pause)", text, max_ns / MS);
	}
	if (l->many && l->needs_ns)
		return fail_text("process %d has %zu threads: stopping them and reading its "
				 "memory takes about %s, longer than %llu ms; --max-pause sets "
				 "how long it may be stopped", pid, l->many,
				 text_ns(time, (__s64)l->needs_ns), max_ns / MS);
	return fail_text("reading process %d takes longer than %llu ms; --max-pause sets how long "
			 "it may be stopped", pid, max_ns / MS);
}

static int fail_look(const struct heap_look *l, pid_t pid, int err, __u64 max_ns)
{
	char path[PATH_MAX], bytes[TEXT_LEN];
	const char *other;
	__u64 swapped;

	switch (err) {
	case -ENOENT:
		other = heap_other(l->image, path, sizeof(path));
		if (other)
			return fail_other(pid, other, path);
		swapped = l->swapped ? 0 : look_swapped(l->tid);
		if (swapped)
			return fail_text("no malloc that memtap heap reads was found in the "
					 "resident memory of process %d: %s are swapped out; "
					 "--swapped reads them, "
					 "too", pid,
					 text_bytes(bytes, (__s64)swapped, false));
		return fail_text("no malloc that memtap heap reads (glibc, musl, jemalloc, "
				 "tcmalloc, mimalloc) was found in process %d; use memtap leaks "
				 "-p %d", pid, pid);
	case -EBUSY:
		if (l->tracer)
			return fail_text("process %d is traced by process %d and cannot be "
					 "stopped: end the tracer first", pid, l->tracer);
		return fail_text("process %d cannot be stopped: ptrace() is not allowed; try "
				 "as root", pid);
	case -ETIMEDOUT:
		return fail_late(l, pid, max_ns);
	default:
		return fail(ERR_PID, err, "%d", pid);
	}
}

static int check(pid_t pid)
{
	const pid_t tracer = stopped_by(pid);
	char exe[32];

	if (kill(pid, 0) && errno == ESRCH)
		return fail(ERR_PID, ESRCH, "%d", pid);
	if (pid == getpid())
		return fail_text("memtap cannot stop itself: name another process");
	if (tracer)
		return fail_text("process %d is traced by process %d and cannot be stopped: end "
				 "the tracer first", pid, tracer);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	if (leaks_is_of_32_bits(exe))
		return fail_text("process %d is a 32-bit program, whose heap cannot be read; use "
				 "memtap leaks -p %d", pid, pid);
	return 0;
}

/* What is asked, and what there was at the last look. */
struct ask {
	const struct opts *o;
	pid_t pid;
	__u32 look;			/* number, from 0 on */
	bool shown;			/* there was a report, which may not have all */
	struct held_rows was, now;
};

static int show_flame(const struct opts *o, const struct heap_look *l, const char *comm)
{
	char title[64], subtitle[64];
	struct out out;
	int err = out_open(&out, o->flame);

	snprintf(title, sizeof(title), "%s[%d]", comm, l->pid);
	snprintf(subtitle, sizeof(subtitle), "what holds blocks of malloc, and their kinds");
	if (!err) {
		err = render_held_flame(l->held, title, subtitle, o->line, out.f);
		if (err)
			out_abort(&out);
		else
			err = out_commit(&out);
	}
	if (err)
		return fail(ERR_WRITE, err, "%s", o->flame);
	note("flame graph written to %s", o->flame);
	return 0;
}

static bool is_walked(const struct heap *h, const char *name)
{
	static const char *const begins[NR_HEAP_ALLOCATORS] = {
		[HEAP_GLIBC] = "glibc", [HEAP_MALLOCNG] = "musl", [HEAP_OLDMALLOC] = "musl",
		[HEAP_JEMALLOC] = "jemalloc", [HEAP_TCMALLOC] = "tcmalloc",
		[HEAP_MIMALLOC] = "mimalloc",
	};

	for (size_t i = 0; i < h->nr_arenas; i++) {
		const char *begin = begins[h->arenas[i].allocator];

		if (begin && !strncmp(name, begin, strlen(begin)))
			return true;
	}
	return false;
}

/* Nothing was ever asked of glibc's malloc, which is all that was found. */
static bool is_empty(const struct heap *h)
{
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (h->arenas[i].system || h->arenas[i].why)
			return false;
	return !h->nr_chunks;
}

static int show(struct ask *a, struct heap_look *l)
{
	const struct opts *o = a->o;
	const __u32 top = o->top_given ? o->top : ROWS;
	struct heap_page page = { .look = l, .top = top, .path = o->path,
				  .retained = o->retained,
				  .show = { top, o->sort == SORT_BLOCKS, o->addresses,
					    l->heap.complete } };
	char comm[32], path[PATH_MAX];
	struct out out;
	int err;

	if (l->core)
		snprintf(comm, sizeof(comm), "%s", core_told(l->core)->comm);
	else
		read_comm(l->pid, comm);
	page.comm = comm;
	page.file = o->core;
	page.line = o->interval > 0;
	page.other = heap_other(l->image, path, sizeof(path));
	if (page.other && is_walked(&l->heap, page.other))
		page.other = NULL;
	if (page.other && l->core)
		core_anonymous(l->core, &page.there, &page.mapped);
	else if (page.other)
		heap_other_holds(l->pid, &page.there, &page.mapped);
	if (a->look && l->held) {
		page.was = &a->was;
		page.now = &a->now;
	}
	heap_look_name(l, top ? top : l->nr_lost);
	err = a->look ? 0 : out_open(&out, o->out);
	if (a->look)
		out.f = stdout;
	if (!err) {
		if (o->json)
			render_heap_json(&page, out.f);
		else
			render_heap(&page, out.f);
		err = a->look ? (fflush(stdout) ? -errno : 0) : out_commit(&out);
	}
	if (err)
		return fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output");
	return o->flame && l->held && l->held->has_holders ? show_flame(o, l, comm) : 0;
}

/* A page that does not have all is printed, and the exit status says so. */
static int say_missing(const struct heap_look *l)
{
	const __u64 unknown = heap_unknown(&l->heap);
	char bytes[TEXT_LEN];

	if (!l->heap.complete)
		return fail_text("not all of the heap of process %d was walked: %s are not known",
				 l->pid, unknown ? text_bytes(bytes, (__s64)unknown, false) :
				 "some parts");
	if (l->core && l->left_out)
		return fail_text("%s of the memory of process %d are not in the file: what they "
				 "have, and what only they lead to, is not known",
				 text_bytes(bytes, (__s64)l->left_out, false), l->pid);
	if (l->marked && l->left_out)
		return fail_text("%s of process %d are swapped out and were not read: the blocks "
				 "that they point to are not known; --swapped reads them",
				 text_bytes(bytes, (__s64)l->left_out, false), l->pid);
	return 0;
}

static int keep_rows(struct ask *a, const struct heap_look *l)
{
	int err = 0;

	held_rows_free(&a->was);
	a->was = a->now;
	a->now = (struct held_rows){ .at = NULL };
	if (l->held)
		err = held_rows_of(&a->now, l->held);
	return err ? fail_text("there is not enough memory to compare") : 0;
}

/* ---- of a file ---- */

static int fail_core(const char *path, int err, const char *why, __u64 most)
{
	char bytes[TEXT_LEN];

	if (err == -EINVAL)
		return fail_text("cannot read %s: %s", path, why);
	if (err == -ENOBUFS)
		return fail_text("%s has more memory than fits here: at most %s are used, half of "
				 "what is free", path, text_bytes(bytes, (__s64)most, false));
	return fail(ERR_READ, err, "%s", path);
}

static int fail_other_core(const struct heap_look *l, const char *path)
{
	const struct core_told *told = core_told(l->core);
	char bytes[TEXT_LEN], file[PATH_MAX];
	const char *other = heap_other(l->image, file, sizeof(file));

	if (other)
		return fail_text("%s[%d] used %s (%s), whose heap is not walked: its structures "
				 "were not recognized; memtap leaks "
				 "shows allocations of a process while it runs", told->comm,
				 told->pid, other, file);
	if (told->truncated)
		return fail_text("no malloc that memtap heap reads was found in %s, of which %s "
				 "are missing: it is %s", path,
				 text_bytes(bytes, (__s64)told->truncated, false),
				 told->damaged ? "damaged" : "truncated");
	return fail_text("no malloc that memtap heap reads (glibc, musl, jemalloc, tcmalloc, "
			 "mimalloc) was found in %s; memtap leaks shows allocations of a process "
			 "while it runs", path);
}

static struct held_ask asked(const struct opts *o)
{
	return (struct held_ask){ .kinds = true, .holders = o->retained || o->flame,
				  .path = o->path, .max_mem = o->max_mem,
				  .progress = !o->quiet && isatty(STDERR_FILENO) };
}

static int look_core(struct ask *a)
{
	const struct opts *o = a->o;
	const struct held_ask ask = asked(o);
	const __u64 most = copy_max_bytes();
	char why[CORE_WHY], file[PATH_MAX];
	struct heap_look l;
	struct core *core;
	int err = core_open(o->core, o->exe, most, &core, why);

	if (err)
		return fail_core(o->core, err, why, most);
	err = heap_look_core(&l, core, !o->no_reach, &ask);
	if (!err && is_empty(&l.heap) && heap_other(l.image, file, sizeof(file)))
		err = -ENOENT;
	if (err == -ENOENT)
		err = fail_other_core(&l, o->core);
	else if (err)
		err = fail(ERR_READ, err, "%s", o->core);
	else
		err = show(a, &l);
	if (!err)
		err = say_missing(&l);
	heap_look_free(&l);
	core_close(core);
	return err;
}

/* ---- of a process ---- */

static int say_saved(const struct opts *o, const struct heap_look *l)
{
	char bytes[TEXT_LEN];

	if (l->saved == -ENOBUFS)
		return fail_text("process %d was not saved: %s", l->pid,
				 l->why ? l->why : "it was not copied");
	if (l->saved)
		return fail(ERR_WRITE, l->saved, "%s", o->save);
	if (!o->quiet)
		note("%s (%s) has the memory of process %d, and all passwords and keys in it; "
		     "only its owner can read it; memtap heap %s reads it", o->save,
		     text_bytes(bytes, (__s64)l->saved_bytes, false), l->pid, o->save);
	return 0;
}

static int look(struct ask *a)
{
	const struct opts *o = a->o;
	const pid_t pid = a->pid;
	const __u64 max_ns = (o->max_pause ? o->max_pause : MAX_PAUSE_MS) * MS;
	const struct held_ask ask = asked(o);
	char path[PATH_MAX];
	struct heap_look l;
	__u64 took, had;
	int err;

	if (!o->quiet && !a->look)
		look_announce_swapped(maps_thread(pid), pid, o->swapped);
	err = heap_look_begin(&l, pid, max_ns, !o->no_reach, o->swapped, &ask, &took, &had);
	if (!err && !o->quiet && !a->look)
		look_announce(pid, took, had, l.copy ? copy_told(l.copy)->copied : 0);
	/* what is read while it runs need not make sense */
	l.save = o->save;
	if (!err || err == -ENOENT)
		err = heap_look(&l, max_ns, !o->no_reach);
	if (!err && is_empty(&l.heap) && heap_other(l.image, path, sizeof(path)))
		err = -ENOENT;
	if (err)
		err = fail_look(&l, pid, err, max_ns);
	if (!err && o->interval > 0)
		err = keep_rows(a, &l);
	if (!err)
		err = show(a, &l);
	a->shown = !err;
	if (!err && o->save)
		err = say_saved(o, &l);
	if (!err)
		err = say_missing(&l);
	heap_look_free(&l);
	return err;
}

static int look_again(struct ask *a)
{
	const struct opts *o = a->o;
	struct timespec start;
	int err = 0, ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	a->shown = true;
	for (; a->shown && (!o->count || a->look < o->count); a->look++) {
		if (a->look) {
			cmd_sleep_until(&start, o->interval * a->look);
			if (!o->json)
				putchar('\n');
		}
		err = look(a);
		ret = err ? err : ret;
	}
	held_rows_free(&a->was);
	held_rows_free(&a->now);
	return ret;
}

/* ---- what was asked for ---- */

/* PID [interval [count]] */
static int take_pid(const struct cmd *cmd, struct opts *o, __u64 *pid)
{
	const size_t first = o->pids.nr ? 0 : 1;
	struct stat st;
	__u64 count = 0;

	*pid = o->pids.nr ? o->pids.at[0] : 0;
	if (o->args.nr + o->pids.nr < 1)
		return usage_error(cmd->name, "a PID is missing");
	if (o->args.nr > first + 2 || o->pids.nr > 1)
		return usage_error(cmd->name, "one PID only, and [interval [count]]");
	if (first && (!opt_u64(o->args.at[0], pid) || !*pid || *pid > OPT_MAX_ID))
		return usage_error(cmd->name, "%s is no PID, and no file", o->args.at[0]);
	if (o->args.nr > first &&
	    (!opt_seconds(o->args.at[first], &o->interval) || o->interval < 0.01))
		return usage_error(cmd->name, "%s is no interval in seconds", o->args.at[first]);
	if (o->args.nr > first + 1 &&
	    (!opt_u64(o->args.at[first + 1], &count) || !count || count > UINT32_MAX))
		return usage_error(cmd->name, "%s is no count", o->args.at[first + 1]);
	o->count = (__u32)count;
	if (o->interval > 0 && (o->out || o->flame || o->path || o->save))
		return usage_error(cmd->name, "an interval prints several reports: leave out "
				   "--output, --flame, --path and --save");
	if (o->exe)
		return usage_error(cmd->name, "--exe is the program of a core file: give --core");
	if (o->save && !lstat(o->save, &st))
		return usage_error(cmd->name, "%s exists, and --save writes only a new file",
				   o->save);
	return 0;
}

static int take_core(const struct cmd *cmd, const struct opts *o)
{
	if (o->pids.nr || o->args.nr)
		return usage_error(cmd->name, "a core file or a process, not both");
	if (o->save || o->max_pause || o->swapped)
		return usage_error(cmd->name, "--save, --max-pause and --swapped are for a "
				   "process, not for a file");
	return 0;
}

/* A name that is no number, of a file that is there. */
static bool is_file(const char *arg)
{
	struct stat st;
	__u64 pid;

	return !opt_u64(arg, &pid) && !stat(arg, &st);
}

int cmd_heap(const struct cmd *cmd, struct opts *o)
{
	struct ask a = { .o = o };
	__u64 pid;
	int ret;

	if (!o->core && !o->pids.nr && o->args.nr == 1 && is_file(o->args.at[0])) {
		o->core = o->args.at[0];
		o->args.nr = 0;
	}
	if (o->core) {
		ret = take_core(cmd, o);
		return ret ? ret : look_core(&a);
	}
	ret = take_pid(cmd, o, &pid);
	if (!ret)
		ret = check((pid_t)pid);
	a.pid = (pid_t)pid;
	if (ret)
		return ret;
	return o->interval > 0 ? look_again(&a) : look(&a);
}
