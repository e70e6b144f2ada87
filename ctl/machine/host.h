/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_HOST_H
#define _MACHINE_HOST_H

#include "machine/machine.h"

/*
 * The properties of a machine that decide whether memtap runs on it.  As in machine.h nothing is
 * judged here.  Values that could not be read are HOST_UNKNOWN, with a sentence.
 */
enum host_answer { HOST_UNKNOWN, HOST_NO, HOST_YES };

/* CONFIG_*: needed, one of two, or telling. */
enum host_config {
	CFG_MODULES, CFG_KPROBES, CFG_KRETPROBES, CFG_UPROBES, CFG_PERF_EVENTS,
	CFG_TRACEPOINTS, CFG_STACKTRACE,
	CFG_X86_64, CFG_ARM64,
	CFG_MODULE_SIG_FORCE, CFG_MEMCG,
	NR_HOST_CONFIG
};

extern const char *const host_config_names[NR_HOST_CONFIG];

struct host {
	char release[65], name[65];
	__u64 available;		/* bytes of memory; 0: not known */

	/* who asks */
	enum host_answer root, cap_admin, cap_module, cap_perfmon, cap_bpf;
	enum host_answer first_user_ns, first_pid_ns;

	/* the kernel */
	char config_path[128];		/* "": none was found */
	enum host_answer config[NR_HOST_CONFIG];
	enum host_answer kprobes_on, ftrace_on, modules_disabled;
	enum host_answer secure_boot, sig_enforce;
	char lockdown[32];		/* "none", or "": the kernel has no such thing */
	int kptr_restrict, perf_event_paranoid;	/* -1: not known */
	enum host_answer debugfs, tracefs;	/* mounted */

	/* other tracers */
	char tracer[32];		/* of ftrace; "": not known */
	long kprobe_events, uprobe_events, kprobes;	/* -1: not known */

	/* the module */
	enum host_answer loaded;
	char loaded_version[64];
	char module[256];		/* the file that depmod knows; "": none */
	enum host_answer module_signed;
	enum host_answer dkms;		/* DKMS has memtap's sources */
	enum host_answer dkms_key;	/* and a key of its own */

	/* to build it */
	enum host_answer headers, make;
	char built_by[96];		/* as /proc/version has it: "gcc-12 (Debian ...) 12.2.0" */
	char compiler[32];		/* "gcc-12", "clang" */
	int compiler_major;		/* 0: not known */
	enum host_answer compiler_there, compiler_other;	/* this one; one of its kind */

	enum host_answer debuginfo;	/* any at all */
	struct machine_gap gaps[MACHINE_GAPS];
	size_t nr_gaps;
};

void host_read(const struct machine_at *at, struct host *h);

/* The word in brackets of the kernel's lockdown file, "none" too; false: there is no such. */
bool host_lockdown(const struct machine_at *at, char *word, size_t len);

#endif
