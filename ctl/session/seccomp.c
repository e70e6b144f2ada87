// SPDX-License-Identifier: GPL-2.0-or-later
/* Check whether a seccomp filter would kill a process with return probes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alone.h"
#include "base/child.h"
#include "session/dev.h"
#include "base/err.h"
#include "target/procmaps.h"
#include "target/procs.h"
#include "session/seccomp.h"

#define FILTERED	2		/* "Seccomp:" in /proc/PID/status */

/* ---- who is under a filter ---- */

static int thread_filtered(pid_t tid, void *ctx)
{
	return procs_status(*(const pid_t *)ctx, tid, "Seccomp") == FILTERED;
}

bool seccomp_is_filtered(int pid)
{
	pid_t p = pid;

	return procs_threads(p, thread_filtered, &p);
}

struct search {
	const struct memtap_filter_item *items;
	size_t nr;
	pid_t found;
};

static int find_filtered(pid_t pid, void *ctx)
{
	struct search *s = ctx;

	if (!seccomp_is_filtered(pid) || !procs_passes(pid, s->items, s->nr))
		return 0;
	s->found = pid;
	return 1;
}

/* ---- the experiment ---- */

/* What a probe is put on: it must be called, and return. */
static ALONE int victim(int x)
{
	__asm__ volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* In the child: nothing but reading, writing and the end is allowed. */
static bool filter_myself(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_read), ALLOW(__NR_write), ALLOW(__NR_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void be_probed(int go, pid_t parent)
{
	char byte;

	child_detach(go, parent);
	if (!filter_myself() || read(go, &byte, 1) != 1)
		_exit(2);
	_exit(victim(41) == 42 ? 0 : 2);
}

struct place {
	__u64 addr, offset;
	char path[4096];
};

static int find_place(const struct procmap *m, void *ctx)
{
	struct place *p = ctx;

	if (p->addr < m->start || p->addr >= m->end)
		return 0;
	p->offset = p->addr - m->start + m->offset;
	snprintf(p->path, sizeof(p->path), "%s", m->path);
	return 1;
}

static int start_probe(int dev, const struct place *at, pid_t child)
{
	struct memtap_filter_item item = { .kind = MEMTAP_FILTER_PID, .value = (__u64)child };
	struct memtap_config c = {
		.filter_ptr = (__u64)(unsigned long)&item,
		.filter_nr = 1,
		.mem_stacks = 64 << 10, .mem_counters = 64 << 10, .mem_tasks = 64 << 10,
	};
	struct memtap_attach a = {
		.kind = MEMTAP_ATTACH_UPROBE,
		.flags = MEMTAP_ATTACH_RETURN,
		.offset = at->offset,
		.name = "seccomp-experiment",
	};
	int err;

	a.fd = open(at->path, O_RDONLY | O_CLOEXEC);
	if (a.fd < 0)
		return -errno;
	err = dev_configure(dev, &c);
	if (!err)
		err = dev_attach(dev, &a);
	if (!err)
		err = dev_start(dev);
	close(a.fd);
	return err;
}

/* Returns the child's status as of waitpid(), or a negative errno. */
static int probe_child(int dev, const struct place *at)
{
	const pid_t parent = getpid();
	int go[2], err, status = 0;
	pid_t child;

	if (pipe(go))
		return -errno;
	child = fork();
	if (!child)
		be_probed(go[0], parent);
	close(go[0]);
	if (child < 0) {
		close(go[1]);
		return -errno;
	}
	err = start_probe(dev, at, child);
	if (!err && write(go[1], "", 1) != 1)
		err = -errno;
	close(go[1]);
	if (waitpid(child, &status, 0) != child)
		err = -errno;
	return err ? err : status;
}

/* Did the child survive?  What could not be tried is taken for dangerous. */
static bool survives(void)
{
	struct place at = { .addr = (__u64)(unsigned long)victim };
	int dev, status;

	if (procmaps_read(getpid(), find_place, &at) != 1 || dev_open(&dev))
		return false;
	status = probe_child(dev, &at);
	close(dev);
	return !status;
}

int seccomp_check(const struct memtap_filter_item *items, size_t nr, __u64 features,
		  bool launch, const char *safe)
{
	struct search s = { items, nr, 0 };

	if (!(features & MEMTAP_FEATURE_URET_SYSCALL))
		return 0;
	/* whom the session will follow may come later, and with a filter */
	if (survives())
		return 0;
	procs_each(find_filtered, &s);
	if (s.found)
		return fail_text("process %d has a seccomp filter, and on this kernel return "
				 "probes may get it killed; %s", s.found, safe);
	note("on this kernel a seccomp filter may kill a process with return probes; %s: %s",
	     launch ? "if this program installs a filter" :
	     "no target has a filter now, but one may install it later", safe);
	return 0;
}
