// SPDX-License-Identifier: GPL-2.0-or-later
/* Test leaks, of a launched program and of a running process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/dev.h"
#include "selftest/watch.h"

#define PREFIX		"selftest_"
#define PATIENCE_MS	90000

/* ---- blocks by function ---- */

/* Of one function: blocks and bytes of each kind. */
struct found {
	const char *function;
	__s64 blocks[NR_LEAK_KINDS], bytes[NR_LEAK_KINDS];
};

#define MAX_FOUND	16

struct finds {
	struct found at[MAX_FOUND];	/* the last one: of no such function */
	size_t nr;
	__u32 stack, task;		/* the last one that was looked up, */
	struct found *last;		/* and whose it is */
};

static const char *function_of(const struct snap *s, struct sym *sym, __u32 stack, __u32 task_id)
{
	const struct memtap_rec_task *task = snap_task(s, task_id);
	const struct snap_stack *st = snap_stack(s, stack);
	const struct sym_frame *f;
	size_t n;

	for (__u32 i = 0; st && task && i < st->nr; i++) {
		n = sym_user(sym, s, task, st->era, st->ip[i], i, &f);
		for (size_t k = 0; k < n; k++)
			if (f[k].name && !strncmp(f[k].name, PREFIX, strlen(PREFIX)))
				return f[k].name;
	}
	return NULL;
}

static struct found *find(struct finds *f, const char *function)
{
	for (size_t i = 0; function && i < f->nr; i++)
		if (!strcmp(f->at[i].function, function))
			return &f->at[i];
	if (!function || f->nr == MAX_FOUND - 1)
		return &f->at[MAX_FOUND - 1];
	f->at[f->nr].function = function;
	return &f->at[f->nr++];
}

static void find_blocks(const struct snap *s, struct sym *sym, struct finds *f)
{
	struct snap_walk w = { .snap = s };

	memset(f, 0, sizeof(*f));
	while (snap_next_block(&w)) {
		const struct memtap_block *b = w.block;

		if (b->flags & MEMTAP_BLOCK_MAPPING)
			continue;
		if (!f->last || b->ustack != f->stack || b->task != f->task)
			f->last = find(f, function_of(s, sym, b->ustack, b->task));
		f->stack = b->ustack;
		f->task = b->task;
		f->last->blocks[w.kind]++;
		f->last->bytes[w.kind] += (__s64)b->size;
	}
}

static void report_kinds(const struct found *of, struct st_check *c)
{
	static const char *const kinds[NR_LEAK_KINDS] = {
		[LEAK_UNKNOWN] = "not examined", [LEAK_DEFINITE] = "definitely",
		[LEAK_INDIRECT] = "indirectly", [LEAK_POSSIBLE] = "possibly",
		[LEAK_REACHABLE] = "reachable",
	};

	for (int i = 0; i < NR_LEAK_KINDS; i++) {
		const size_t used = strlen(c->text);

		if (of->blocks[i])
			snprintf(c->text + used, sizeof(c->text) - used, "; %lld %s",
				 (long long)of->blocks[i], kinds[i]);
	}
}

/* A kind that nobody expects of this function is as wrong as a missing block. */
static bool is_expected(const char *function, int kind)
{
	for (size_t i = 0; i < st_nr_leaks; i++)
		if (!strcmp(st_leaks[i].function, function) && (int)st_leaks[i].kind == kind)
			return true;
	return false;
}

static void put_leak(struct st_run *r, struct finds *f, const struct st_leak *l)
{
	const struct found *of = find(f, l->function);
	struct st_check c = {
		.name = l->name,
		.numbers = { { "blocks", l->blocks, of->blocks[l->kind] },
			     { "bytes", l->bytes, of->bytes[l->kind] } },
	};
	bool others = false;

	for (int i = 0; i < NR_LEAK_KINDS; i++)
		others |= of->blocks[i] && !is_expected(l->function, i);
	snprintf(c.text, sizeof(c.text), "by %s", l->function);
	c.verdict = others ? ST_FAILED : st_compare(&c);
	if (c.verdict != ST_OK)
		report_kinds(of, &c);
	st_put(&r->out, &c);
}

/* ---- a program that is run ---- */

static bool wait_for_end(struct target *t)
{
	const struct timespec pause = { 0, 5 * 1000 * 1000 };

	for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (target_ended(t))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void judge_launched(struct st_run *r, struct st_watch *w)
{
	const char *why = w->watch.leaks->no_kinds;
	struct finds f;

	if (!w->now->kinds)
		st_say(&r->out, ST_FAILED, "verdict of leaks", "none: %s",
		       why ? why : "the program's memory was not read");
	find_blocks(w->now, r->sym, &f);
	for (size_t i = 0; i < st_nr_leaks; i++)
		put_leak(r, &f, &st_leaks[i]);
	st_put_account(r, w->now, "accounts of leaks");
}

static int run_program(struct st_run *r, struct st_watch *w)
{
	sigset_t mask;
	int ret;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	ret = targets_launch(&w->targets, &mask);
	if (!ret)
		ret = st_watch_start(w);
	if (ret)
		return ret;
	watch_serve(&w->watch);
	ret = targets_release(&w->targets);
	if (!ret && !wait_for_end(&w->targets.target)) {
		st_say(&r->out, ST_FAILED, "a program that leaks", "it does not end");
		return 0;
	}
	if (!ret)
		ret = st_watch_stop(w);
	if (!ret && target_exit_status(&w->targets.target))
		st_say(&r->out, ST_FAILED, "a program that leaks", "its exit status is %d",
		       target_exit_status(&w->targets.target));
	else if (!ret)
		judge_launched(r, w);
	return ret;
}

void st_leaks_launched(struct st_run *r)
{
	static char path[4096], selftest[] = "selftest", work[] = "work";
	char *argv[] = { path, selftest, work, NULL };
	struct st_watch *w = st_watch_new(r, &watch_ask_leaks, argv, 0);

	st_own_path(path, sizeof(path));
	if (!w || watch_begin_leaks(&w->watch, w->ask, &w->o, "selftest") || run_program(r, w))
		st_say(&r->out, ST_FAILED, "a program that leaks", "could not be recorded; see the "
		       "error above");
	st_watch_free(w);
}

/* ---- one that runs ---- */

static enum verify_who is_child(pid_t pid, void *ctx)
{
	return pid == *(const pid_t *)ctx ? VERIFY : VERIFY_NOT;
}

/* In how many processes (0 or 1) text is not as in the files; -1: none has it. */
static int changed_text(const struct leaks_run *l, pid_t pid)
{
	struct verify_result v;

	verify_text(l->files, l->nr_files, is_child, &pid, &v);
	return v.processes ? (int)v.changed : -1;
}

static void put_live(struct st_run *r, const struct snap *s, const char *name, bool kept)
{
	struct st_check c = { .name = name };
	struct found *of;
	struct finds f;

	find_blocks(s, r->sym, &f);
	of = find(&f, "selftest_hold");
	c.numbers[0] = (struct st_number){ "blocks", kept ? ST_HELD_BLOCKS : 0,
					   of->blocks[LEAK_UNKNOWN] };
	c.numbers[1] = (struct st_number){ "bytes", kept ? ST_HELD_BYTES : 0,
					   of->bytes[LEAK_UNKNOWN] };
	of = find(&f, "selftest_free");
	c.numbers[2] = (struct st_number){ "of those freed", 0, of->blocks[LEAK_UNKNOWN] };
	c.verdict = st_compare(&c);
	if (c.verdict != ST_OK)
		snprintf(c.text, sizeof(c.text), "%lld blocks of functions unknown to the test",
			 (long long)find(&f, NULL)->blocks[LEAK_UNKNOWN]);
	st_put(&r->out, &c);
}

/*
 * The module reads a process's mappings in a work, and only STOP waits for that; without
 * them no address has a name.  The session is of one process.
 */
static int snapshot_with_mappings(struct st_watch *w)
{
	const struct timespec pause = { 0, 20 * 1000 * 1000 };
	int ret = st_watch_snapshot(w);

	for (int ms = 0; !ret && !w->now->nr_maps && ms < PATIENCE_MS; ms += 20) {
		nanosleep(&pause, NULL);
		ret = st_watch_snapshot(w);
	}
	return ret;
}

static int follow_child(struct st_run *r, struct st_watch *w, struct st_child *child)
{
	int ret = st_watch_start(w);

	if (ret)
		return ret;
	watch_serve(&w->watch);
	if (changed_text(w->watch.leaks, child->pid) != 1)
		st_say(&r->out, ST_FAILED, "probes in its text", "there are none");
	if (st_child_step(child, ST_KEEP) || snapshot_with_mappings(w))
		return EXIT_FAILURE;
	put_live(r, w->now, "live blocks of a process", true);
	if (st_child_step(child, ST_GIVE_BACK) || st_watch_stop(w))
		return EXIT_FAILURE;
	put_live(r, w->now, "freed meanwhile", false);
	st_put_account(r, w->now, "their accounts");
	return 0;
}

/* The probes are gone when the device is closed; the process goes on. */
static void put_text(struct st_run *r, const struct leaks_run *l, struct st_child *child)
{
	const int changed = changed_text(l, child->pid);
	size_t places = 0;

	for (size_t i = 0; i < l->nr_files; i++)
		places += l->files[i].nr;
	if (changed)
		st_say(&r->out, ST_FAILED, "detached", changed < 0 ?
		       "the process has no such code" :
		       "its code differs from the files: another tool may have probes there");
	else if (st_child_step(child, ST_PREPARE))
		st_say(&r->out, ST_FAILED, "detached", "the process does not continue");
	else
		st_say(&r->out, ST_OK, "detached", "%zu place%s in its code match%s the "
		       "files, and it continues", places, places == 1 ? "" : "s",
		       places == 1 ? "es" : "");
}

void st_leaks_attached(struct st_run *r)
{
	struct st_child child = { 0 };
	struct st_watch *w = NULL;
	int ret = EXIT_FAILURE;

	if (!st_child_start(&child, st_work_hold) && !st_child_step(&child, ST_PREPARE))
		w = st_watch_new(r, &watch_ask_leaks, NULL, child.pid);
	if (w && !watch_begin_leaks(&w->watch, w->ask, &w->o, "selftest"))
		ret = follow_child(r, w, &child);
	if (ret) {
		st_say(&r->out, ST_FAILED, "leaks of a process", "it could not be recorded");
	} else {
		st_watch_close(w);
		put_text(r, w->watch.leaks, &child);
	}
	st_watch_free(w);
	st_child_end(&child);
}
