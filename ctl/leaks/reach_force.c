// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read memory that the program itself cannot read at the moment.  With
 * CONFIG_PROC_MEM_FORCE_PTRACE only a tracer of the thread may read such memory through
 * /proc/TID/mem.  So a thread of ours attaches by PTRACE_SEIZE, which does not stop the target,
 * and reads.  The kernel detaches when our thread ends.  An explicit detach would have to stop the
 * target, which waits in the kernel.
 */
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/thread.h"
#include "leaks/reach_int.h"

struct forced {
	pid_t pid;
	int mem;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool traces, over;		/* under @lock, as these: */
	bool asked;			/* what is wanted has not been read yet */
	__u64 addr;
	void *buf;
	size_t len;
	ssize_t got;
};

static void *read_for(void *arg)
{
	struct forced *f = arg;

	pthread_mutex_lock(&f->lock);
	f->traces = !ptrace(PTRACE_SEIZE, f->pid, NULL, NULL);
	while (!f->over) {
		if (f->asked) {
			f->got = f->traces ? pread(f->mem, f->buf, f->len, (off_t)f->addr) : -1;
			f->asked = false;
			pthread_cond_broadcast(&f->changed);
		}
		pthread_cond_wait(&f->changed, &f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

struct forced *forced_open(pid_t pid, int mem)
{
	struct forced *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pid = pid;
	f->mem = mem;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	if (!thread_start(&f->thread, read_for, f))
		return f;
	free(f);
	return NULL;
}

ssize_t forced_read(struct forced *f, __u64 addr, void *buf, size_t len)
{
	ssize_t got;

	pthread_mutex_lock(&f->lock);
	f->addr = addr;
	f->buf = buf;
	f->len = len;
	f->asked = true;
	pthread_cond_broadcast(&f->changed);
	while (f->asked)
		pthread_cond_wait(&f->changed, &f->lock);
	got = f->got;
	pthread_mutex_unlock(&f->lock);
	return got;
}

void forced_close(struct forced *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->over = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
