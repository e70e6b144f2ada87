// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel allows, and to whom. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "doctor/int.h"

#define MEMORY_TIGHT	(128LL << 20)	/* a session's tables, and what a report takes */

static bool may(const struct host *h)
{
	return h->cap_admin == HOST_YES || h->cap_perfmon == HOST_YES;
}

void look_rights(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->root == HOST_UNKNOWN)
		return;
	if (h->cap_admin != HOST_YES && h->cap_perfmon == HOST_YES && h->cap_bpf != HOST_YES)
		mend(found(d, "rights", DOCTOR_NOTE, "%s, with CAP_PERFMON alone: stacks (by frame "
			   "pointers) and counts; arguments, fields, leaks and --stale need "
			   "CAP_BPF as well", h->root == HOST_YES ? "root" : "not root"),
		     "run as root, or with CAP_PERFMON and CAP_BPF");
	else if (may(h))
		found(d, "rights", DOCTOR_OK, "%s, with CAP_%s", h->root == HOST_YES ? "root" :
		      "not root", h->cap_admin == HOST_YES ? "SYS_ADMIN" : "PERFMON and CAP_BPF");
	else if (h->root == HOST_YES)	/* of a container */
		mend(found(d, "rights", DOCTOR_PROBLEM, "root without CAP_SYS_ADMIN and "
			   "CAP_PERFMON, as in a container"),
		     "run memtap on the host, or in a container with --privileged --pid=host");
	else
		found_err(d, "rights", DOCTOR_NOTE, ERR_DEVICE, EPERM, "");
}

void look_container(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->first_user_ns == HOST_NO)
		mend(found(d, "container", DOCTOR_PROBLEM, "this is not the first user namespace "
			   "(a container without the host's root), and the module asks for "
			   "CAP_SYS_ADMIN or CAP_PERFMON in that one"), "run memtap on the host");
	else if (h->first_pid_ns == HOST_NO)
		mend(found(d, "container", DOCTOR_NOTE, "this is not the first PID namespace (a "
			   "container): numbers of processes are others than on the host"),
		     "run memtap on the host, or in a container with --pid=host");
	else if (h->first_user_ns == HOST_YES && h->first_pid_ns == HOST_YES)
		found(d, "container", DOCTOR_OK, "none: the first namespaces");
}

static void config_missing(struct doctor *d, enum host_config option)
{
	mend(found(d, "kernel", DOCTOR_PROBLEM, "built without %s", host_config_names[option]),
	     "boot one that has it; kernels of distributions do");
}

void look_config(struct doctor *d)
{
	const struct host *h = d->host;
	const unsigned int before = d->problems;

	if (!*h->config_path) {
		found(d, "kernel", DOCTOR_OK, "Linux %s; how it was built is written nowhere, "
		      "kernels of distributions have what it takes", h->release);
		return;
	}
	for (int i = CFG_MODULES; i <= CFG_STACKTRACE; i++)
		if (h->config[i] == HOST_NO)
			config_missing(d, (enum host_config)i);
	if (h->config[CFG_X86_64] == HOST_NO && h->config[CFG_ARM64] == HOST_NO)
		mend(found(d, "kernel", DOCTOR_PROBLEM, "neither for x86-64 nor for arm64"),
		     "memtap knows no other processors");
	if (d->problems == before)
		found(d, "kernel", DOCTOR_OK, "Linux %s: modules, kprobes, uprobes, tracepoints, "
		      "perf events, stack traces (%s)", h->release, h->config_path);
	if (h->config[CFG_MEMCG] == HOST_NO)
		found(d, "kernel", DOCTOR_NOTE, "built without CONFIG_MEMCG: --cgroup finds only "
		      "groups of the second version");
}

void look_kprobes(struct doctor *d)
{
	static const char path[] = "/sys/kernel/debug/kprobes/enabled";
	const struct host *h = d->host;

	if (h->kprobes_on == HOST_NO)
		found_err(d, "kprobes", DOCTOR_PROBLEM, ERR_KPROBES, 0, path);
	else if (h->kprobes_on == HOST_YES)
		found(d, "kprobes", DOCTOR_OK, "switched on");
	if (h->ftrace_on == HOST_NO)
		mend(found(d, "kprobes", DOCTOR_NOTE, "kernel.ftrace_enabled is 0: probes at the "
			   "beginning of functions may see nothing"),
		     "sysctl kernel.ftrace_enabled=1");
}

void look_names(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->kptr_restrict > 1)
		mend(found(d, "names", DOCTOR_NOTE, "kernel.kptr_restrict is %d: kernel functions "
			   "have no names in reports", h->kptr_restrict),
		     "sysctl kernel.kptr_restrict=1");
	else if (h->kptr_restrict >= 0)
		found(d, "names", DOCTOR_OK, "kernel.kptr_restrict is %d: root sees the names of "
		      "kernel functions", h->kptr_restrict);
}

void look_perf(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->perf_event_paranoid >= 0)
		found(d, "perf", DOCTOR_OK, "kernel.perf_event_paranoid is %d: of no matter, the "
		      "module's counters are the kernel's own", h->perf_event_paranoid);
}

/* Since v4.1 tracefs is a file system of its own; before, debugfs has its files. */
void look_tracefs(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->tracefs == HOST_YES || h->debugfs == HOST_YES)
		found(d, "tracefs", DOCTOR_OK, "%s mounted", h->tracefs == HOST_YES ?
		      h->debugfs == HOST_YES ? "tracefs and debugfs are" : "tracefs is" :
		      "debugfs is");
	else if (h->tracefs == HOST_NO)
		found_err(d, "tracefs", DOCTOR_NOTE, ERR_TRACEFS, ENOENT, "no mount of it");
	if (h->debugfs == HOST_NO)
		mend(found(d, "debugfs", DOCTOR_NOTE, "debugfs is not mounted: `memtap status` "
			   "does not list sessions, and there is nothing to read without the tool"),
		     "mount -t debugfs none /sys/kernel/debug");
}

static void one_tracer(struct doctor *d, const char *what, long nr, const char *file)
{
	if (nr > 0)
		mend(found(d, "tracers", DOCTOR_NOTE, "somebody has set %ld %s%s: both work, but "
			   "each takes its time of what is probed by both", nr, what,
			   text_s((__u64)nr)),
		     "/sys/kernel/tracing/%s says which", file);
}

void look_tracers(struct doctor *d)
{
	const struct host *h = d->host;
	const unsigned int before = d->notes;

	if (*h->tracer && strcmp(h->tracer, "nop"))
		mend(found(d, "tracers", DOCTOR_NOTE, "ftrace's tracer %s is at work: it takes "
			   "time of every function that it traces", h->tracer),
		     "echo nop > /sys/kernel/tracing/current_tracer, when nobody needs it");
	one_tracer(d, "kprobe event", h->kprobe_events, "kprobe_events");
	one_tracer(d, "uprobe event", h->uprobe_events, "uprobe_events");
	if (h->kprobes > 0 && h->kprobe_events <= 0 && h->loaded != HOST_YES)
		mend(found(d, "tracers", DOCTOR_NOTE, "somebody has %ld kprobe%s registered",
			   h->kprobes, text_s((__u64)h->kprobes)),
		     "/sys/kernel/debug/kprobes/list says on what");
	if (*h->tracer && d->notes == before)
		found(d, "tracers", DOCTOR_OK, "no other one at work");
}

void look_memory(struct doctor *d)
{
	const struct host *h = d->host;
	char left[TEXT_LEN];

	if (!h->available)
		return;
	text_bytes(left, (__s64)h->available, false);
	if ((__s64)h->available < MEMORY_TIGHT)
		mend(found(d, "memory", DOCTOR_NOTE, "%s left", left),
		     "ask for small tables: --max-mem 8M; `memtap triage` says who has the rest");
	else
		found(d, "memory", DOCTOR_OK, "%s left", left);
}
