// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the threads of a process: the beginnings of their stacks, and their registers. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "leaks/reach_int.h"
#include "target/maps.h"
#include "target/procmaps.h"

#define MAX_PAUSES	5000		/* of a millisecond, until who waits sleeps */
#define BLOCK_LEN	2048		/* of a thread's own block, where its number stands */
#define REG_SP		7
#define VECTORS		2048		/* words: AMX has 1024 */

int words_add(struct words *w, const __u64 *values, size_t nr)
{
	__u64 *more;

	if (w->nr + nr > w->room) {
		more = reallocarray(w->at, 2 * w->room + nr + 64, sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->at = more;
		w->room = 2 * w->room + nr + 64;
	}
	memcpy(w->at + w->nr, values, nr * sizeof(*values));
	w->nr += nr;
	return 0;
}

/* ---- one thread ---- */

static char *slurp(pid_t pid, pid_t tid, const char *what)
{
	char path[64], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, what);
	return maps_slurp(AT_FDCWD, path, &text, &len) ? NULL : text;
}

/* 0: it runs, or has ended.  *@runs: which of both. */
static __u64 stack_pointer(pid_t pid, pid_t tid, bool *runs)
{
	char *text = slurp(pid, tid, "syscall");
	__u64 sp;

	*runs = false;
	if (!text)
		return 0;
	*runs = !strncmp(text, "running", 7);
	sp = procmaps_stack_pointer(text);
	free(text);
	return sp;
}

/*
 * The thread that waits for us is seen to wait before it sleeps, and on a busy machine
 * long before: only then the kernel says where its stack begins.
 */
static __u64 waiting_pointer(pid_t pid, pid_t tid)
{
	const struct timespec pause = { 0, 1000 * 1000 };
	bool runs;
	__u64 sp = stack_pointer(pid, tid, &runs);

	for (int i = 0; i < MAX_PAUSES && runs; i++) {
		nanosleep(&pause, NULL);
		sp = stack_pointer(pid, tid, &runs);
	}
	return sp;
}

/* The last number of the line that begins with @key. */
static __u64 status_number(const char *text, const char *key)
{
	const char *line = text ? strstr(text, key) : NULL, *end;

	if (!line)
		return 0;
	end = line + strcspn(line, "\n");
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	return strtoull(end, NULL, 10);
}

/*
 * @waits: for us, or is about to.  Of one that is stopped, in our namespace of processes, nothing
 * is asked: there may be thousands.
 */
static void describe(struct thread *t, pid_t pid, bool waits, bool is_ours)
{
	char *status;
	bool runs;

	if (is_ours && t->nr_regs > REG_SP) {
		t->ns_tid = (__u32)t->tid;
		t->sp = t->regs[REG_SP];
		return;
	}
	status = slurp(pid, t->tid, "status");
	/* before Linux 4.1 it is not told; where there is one namespace, it is the same */
	t->ns_tid = (__u32)status_number(status, "\nNSpid:");
	if (!t->ns_tid)
		t->ns_tid = (__u32)t->tid;
	t->switches = status_number(status, "\nvoluntary_ctxt_switches:") +
		      status_number(status, "\nnonvoluntary_ctxt_switches:");
	free(status);
	t->sp = waits ? waiting_pointer(pid, t->tid) : stack_pointer(pid, t->tid, &runs);
}

/* ---- all of them ---- */

int threads_add(struct layout *l, const struct thread *t)
{
	struct thread *more;

	if (l->nr_threads == l->room_threads) {
		more = reallocarray(l->threads, 2 * l->room_threads + 16, sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->threads = more;
		l->room_threads = 2 * l->room_threads + 16;
	}
	l->threads[l->nr_threads++] = *t;
	return 0;
}

/* Does a function leave it as it was?  x86-64 */
static bool is_kept(size_t reg)
{
	return reg == 3 || reg == 6 || (reg >= 12 && reg <= 15);
}

/* memcpy() and who exchanges two addresses may have them in vectors alone. */
static int add_vectors(struct layout *l, pid_t tid, const struct reach_regs *regs)
{
	__u64 words[VECTORS];

	if (!regs || !regs->vectors)
		return 0;
	return words_add(&l->words, words, regs->vectors(regs->ctx, tid, words, VECTORS));
}

/* Is it known to itself by the numbers that we know? */
static bool is_in_ours(pid_t pid)
{
	char *status = slurp(pid, pid, "status");
	const char *line = status ? strstr(status, "\nNSpid:") : NULL;
	bool one = false;

	if (line) {
		line += strlen("\nNSpid:");
		line += strspn(line, " \t");
		one = line[strspn(line, "0123456789")] == '\n';
	}
	free(status);
	return one;
}

int threads_read(struct layout *l, pid_t pid, const struct reach_regs *regs)
{
	/* of a process that goes on nobody does, and its first thread may never sleep */
	const bool waits = regs && !regs->lives, is_ours = regs && regs->lives && is_in_ours(pid);
	const struct dirent *e;
	struct thread t;
	char path[32];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (!err && dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		t = (struct thread){ .tid = atoi(e->d_name) };
		t.in_call = t.tid == pid && waits && !regs->dies;
		if (regs)
			t.nr_regs = regs->read(regs->ctx, t.tid, t.regs);
		if (regs && regs->base)
			t.base = regs->base(regs->ctx, t.tid);
		t.first_word = l->words.nr;
		describe(&t, pid, waits && t.tid == pid, is_ours);
		err = threads_add(l, &t);
		/* who waits for us is in a call: its callers' are what is left */
		for (size_t i = 0; !err && i < t.nr_regs; i++)
			if (!t.in_call || is_kept(i))
				err = words_add(&l->words, &t.regs[i], 1);
		if (!err)
			err = add_vectors(l, t.tid, regs);
	}
	if (dir)
		closedir(dir);
	return err;
}

bool layout_moved(const struct layout *l, pid_t pid)
{
	for (size_t i = 0; i < l->nr_threads; i++) {
		struct thread now = { .tid = l->threads[i].tid };
		bool runs;
		char *status;

		if (now.tid == pid)
			continue;
		stack_pointer(pid, now.tid, &runs);
		status = slurp(pid, now.tid, "status");
		now.switches = status_number(status, "\nvoluntary_ctxt_switches:") +
			       status_number(status, "\nnonvoluntary_ctxt_switches:");
		free(status);
		if (runs || now.switches != l->threads[i].switches)
			return true;
	}
	return false;
}

/* glibc has the thread's number there, and the kernel clears it when it has ended. */
static bool has_number(const struct layout *l, __u64 block, const struct reach_memory *m)
{
	__u32 words[BLOCK_LEN / sizeof(__u32)];
	const size_t nr = m->read(m->ctx, block, words, sizeof(words)) / sizeof(words[0]);

	for (size_t i = 0; i < l->nr_threads; i++)
		for (size_t k = 0; k < nr; k++)
			if (words[k] == l->threads[i].ns_tid)
				return true;
	return false;
}

bool threads_have(const struct layout *l, const struct reach_range *stack, __u64 block,
		  const struct reach_memory *m)
{
	for (size_t i = 0; i < l->nr_threads; i++) {
		const struct thread *t = &l->threads[i];

		if (t->sp - stack->start < stack->end - stack->start ||
		    (t->nr_regs > REG_SP &&
		     t->regs[REG_SP] - stack->start < stack->end - stack->start))
			return true;
	}
	return has_number(l, block, m);
}
