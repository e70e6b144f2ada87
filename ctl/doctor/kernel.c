// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap doctor`: check rights, the kernel's configuration, tracers and memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "doctor/int.h"

#define MEMORY_TIGHT	(128LL << 20)	/* tables of one session, and a report */

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
		mend(found(d, "container", DOCTOR_PROBLEM, "not in the initial user namespace "
			   "(a rootless container); the module requires CAP_SYS_ADMIN or "
			   "CAP_PERFMON there"), "run memtap on the host");
	else if (h->first_pid_ns == HOST_NO)
		mend(found(d, "container", DOCTOR_NOTE, "not in the initial PID namespace (a "
			   "container): PIDs differ from those of the host"),
		     "run memtap on the host, or in a container with --pid=host");
	else if (h->first_user_ns == HOST_YES && h->first_pid_ns == HOST_YES)
		found(d, "container", DOCTOR_OK, "none: in the initial namespaces");
}

static void config_missing(struct doctor *d, enum host_config option)
{
	mend(found(d, "kernel", DOCTOR_PROBLEM, "built without %s", host_config_names[option]),
	     "boot a kernel that has it; distribution kernels do");
}

void look_config(struct doctor *d)
{
	const struct host *h = d->host;
	const unsigned int before = d->problems;

	if (!*h->config_path) {
		found(d, "kernel", DOCTOR_OK, "Linux %s; its configuration cannot be read, but "
		      "distribution kernels have the required options", h->release);
		return;
	}
	for (int i = CFG_MODULES; i <= CFG_STACKTRACE; i++)
		if (h->config[i] == HOST_NO)
			config_missing(d, (enum host_config)i);
	if (h->config[CFG_X86_64] == HOST_NO && h->config[CFG_ARM64] == HOST_NO)
		mend(found(d, "kernel", DOCTOR_PROBLEM, "neither for x86-64 nor for arm64"),
		     "memtap supports no other architecture");
	if (d->problems == before)
		found(d, "kernel", DOCTOR_OK, "Linux %s: modules, kprobes, uprobes, tracepoints, "
		      "perf events, stack traces (%s)", h->release, h->config_path);
	if (h->config[CFG_MEMCG] == HOST_NO)
		found(d, "kernel", DOCTOR_NOTE, "built without CONFIG_MEMCG: --cgroup supports "
			"only "
		      "cgroup v2");
}

void look_kprobes(struct doctor *d)
{
	static const char path[] = "/sys/kernel/debug/kprobes/enabled";
	const struct host *h = d->host;

	if (h->kprobes_on == HOST_NO)
		found_err(d, "kprobes", DOCTOR_PROBLEM, ERR_KPROBES, 0, path);
	else if (h->kprobes_on == HOST_YES)
		found(d, "kprobes", DOCTOR_OK, "enabled");
	if (h->ftrace_on == HOST_NO)
		mend(found(d, "kprobes", DOCTOR_NOTE, "kernel.ftrace_enabled is 0: probes at the "
			   "start of functions may not fire"),
		     "sysctl kernel.ftrace_enabled=1");
}

void look_names(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->kptr_restrict > 1)
		mend(found(d, "names", DOCTOR_NOTE, "kernel.kptr_restrict is %d: reports cannot "
			   "name kernel functions", h->kptr_restrict),
		     "sysctl kernel.kptr_restrict=1");
	else if (h->kptr_restrict >= 0)
		found(d, "names", DOCTOR_OK, "kernel.kptr_restrict is %d: root can read the "
			"names of "
		      "kernel functions", h->kptr_restrict);
}

void look_perf(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->perf_event_paranoid >= 0)
		found(d, "perf", DOCTOR_OK, "kernel.perf_event_paranoid is %d: does not matter, "
		      "the module opens its counters in the kernel", h->perf_event_paranoid);
}

/* Before v4.1 the files of tracefs are in debugfs. */
void look_tracefs(struct doctor *d)
{
	const struct host *h = d->host;

	if (h->tracefs == HOST_YES || h->debugfs == HOST_YES)
		found(d, "tracefs", DOCTOR_OK, "%s mounted", h->tracefs == HOST_YES ?
		      h->debugfs == HOST_YES ? "tracefs and debugfs are" : "tracefs is" :
		      "debugfs is");
	else if (h->tracefs == HOST_NO)
		found_err(d, "tracefs", DOCTOR_NOTE, ERR_TRACEFS, ENOENT, "not in /proc/mounts");
	if (h->debugfs == HOST_NO)
		mend(found(d, "debugfs", DOCTOR_NOTE, "debugfs is not mounted: `memtap status` "
			   "cannot list sessions, and /sys/kernel/debug/memtap is missing"),
		     "mount -t debugfs none /sys/kernel/debug");
}

static void one_tracer(struct doctor *d, const char *what, long nr, const char *file)
{
	if (nr > 0)
		mend(found(d, "tracers", DOCTOR_NOTE, "%ld %s%s set by other tracers: both work, "
			   "but each adds overhead where both probe", nr, what,
			   text_s((__u64)nr)),
		     "/sys/kernel/tracing/%s lists them", file);
}

void look_tracers(struct doctor *d)
{
	const struct host *h = d->host;
	const unsigned int before = d->notes;

	if (*h->tracer && strcmp(h->tracer, "nop"))
		mend(found(d, "tracers", DOCTOR_NOTE, "ftrace's tracer %s is active: it slows down "
			   "every function that it traces", h->tracer),
		     "echo nop > /sys/kernel/tracing/current_tracer, if it is not needed");
	one_tracer(d, "kprobe event", h->kprobe_events, "kprobe_events");
	one_tracer(d, "uprobe event", h->uprobe_events, "uprobe_events");
	if (h->kprobes > 0 && h->kprobe_events <= 0 && h->loaded != HOST_YES)
		mend(found(d, "tracers", DOCTOR_NOTE, "%ld kprobe%s registered by other tools",
			   h->kprobes, text_s((__u64)h->kprobes)),
		     "/sys/kernel/debug/kprobes/list lists them");
	if (*h->tracer && d->notes == before)
		found(d, "tracers", DOCTOR_OK, "no other tracer is active");
}

void look_memory(struct doctor *d)
{
	const struct host *h = d->host;
	char left[TEXT_LEN];

	if (!h->available)
		return;
	text_bytes(left, (__s64)h->available, false);
	if ((__s64)h->available < MEMORY_TIGHT)
		mend(found(d, "memory", DOCTOR_NOTE, "%s available", left),
		     "use small tables: --max-mem 8M; `memtap triage` shows what uses the rest");
	else
		found(d, "memory", DOCTOR_OK, "%s available", left);
}
