// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/host_text.c ctl/doctor/found.c */
/* LINK: ctl/machine/cgroup.c ctl/machine/fields.c ctl/machine/host.c */
/* LINK: ctl/machine/host_build.c ctl/machine/host_kernel.c ctl/machine/text.c */
/* LINK: ctl/machine/zones.c ctl/machine/kernel.c */
/* LINK: ctl/doctor/doctor.c ctl/doctor/kernel.c ctl/doctor/module.c */
/* LINK: ctl/base/err.c ctl/base/text.c -lz */
/* What a machine says of itself, for `memtap doctor`: its parsers, and what follows. */
#include <string.h>

#include "doctor/doctor.h"
#include "machine/host_int.h"
#include "tap.h"

static char *text(const char *s)
{
	static char buf[4096];

	snprintf(buf, sizeof(buf), "%s", s);
	return buf;
}

static void version(const char *line, const char *compiler, int major, const char *what)
{
	struct host h = { .release = "" };

	host_parse_version(line, &h);
	ok(!strcmp(h.compiler, compiler) && h.compiler_major == major, "%s: %s, %d", what,
	   h.compiler, h.compiler_major);
}

static void compilers(void)
{
	version("Linux version 6.1.0 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) "
		"12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP", "gcc-12", 12, "Debian's");
	version("Linux version 3.10.0 (mockbuild@x86-042) (gcc version 4.8.5 20150623 (Red Hat "
		"4.8.5-44) (GCC) ) #1 SMP", "gcc", 4, "before v5.8");
	version("Linux version 6.8.0 (builder@lcy02) (x86_64-linux-gnu-gcc-13 (Ubuntu 13.2.0-23) "
		"13.2.0, GNU ld (GNU) 2.42) #1", "gcc-13", 13, "with a triplet");
	version("Linux version 6.1.0 (me@gcc-farm) (Debian clang version 17.0.6 (++2023), LLD 17) "
		"#1", "clang", 17, "clang, and a host named like another one");
	version("Linux version 6.1.0 (me@home) (tcc 0.9) #1", "", 0, "one that nobody knows");
	version("Linux version 6.1.0 (me@home", "", 0, "a line that is cut");
	version("(gcc-1", "", 0, "a line that is none");
	version("", "", 0, "no line");
}

static void who(void)
{
	struct host h = { .release = "" };

	host_parse_status(text("Uid:\t1000\t0\t0\t0\nCapEff:\t0000004000000000\n"), &h);
	ok(h.root == HOST_YES, "the effective user counts");
	ok(h.cap_perfmon == HOST_YES && h.cap_admin == HOST_NO && h.cap_bpf == HOST_NO,
	   "CAP_PERFMON alone");
	host_parse_status(text("CapEff:\t000000c000000000\n"), &h);
	ok(h.cap_perfmon == HOST_YES && h.cap_bpf == HOST_YES, "CAP_PERFMON and CAP_BPF");
	memset(&h, 0, sizeof(h));
	host_parse_status(text("Uid:\nCapEff:\nUid: 1 x\n"), &h);
	ok(h.root == HOST_UNKNOWN && h.cap_admin == HOST_UNKNOWN, "a line without numbers");
}

static void config(void)
{
	struct host h = { .release = "" };

	host_parse_config(text("# CONFIG_KPROBES is not set\nCONFIG_UPROBES=y\n"
			       "CONFIG_UPROBES_EVENTS=y\nCONFIG_MODULES=m\nCONFIG_X="), &h);
	ok(h.config[CFG_KPROBES] == HOST_NO, "what is not set");
	ok(h.config[CFG_UPROBES] == HOST_YES, "what is set");
	ok(h.config[CFG_MODULES] == HOST_NO && h.config[CFG_MEMCG] == HOST_NO,
	   "what is something else, or not there");
}

static const struct doctor_finding *find(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->nr_found; i++)
		if (!strcmp(d->found[i].name, name))
			return &d->found[i];
	return NULL;
}

/* Nothing could be read: nothing is claimed, and there is room for all findings. */
static void nothing_known(void)
{
	const struct machine_at at = { .root = "/nonexistent", .page = 4096 };
	const struct doctor_finding *f;
	static struct doctor d;
	static struct host h;

	host_read(&at, &h);
	doctor_look(&d, &h, "0.1");
	ok(!find(&d, "container") && !find(&d, "memory"), "what is not known is not said");
	f = find(&d, "headers");
	ok(f && f->level == DOCTOR_PROBLEM, "there are no headers");
	ok(h.nr_gaps >= 2, "what was not seen is told");
	ok(d.problems, "it is not said that memtap runs");
}

static void worst(void)
{
	static struct doctor d;
	static struct host h = {
		.release = "5.14.0-1.el9", .root = HOST_YES, .cap_admin = HOST_NO,
		.cap_perfmon = HOST_NO, .first_user_ns = HOST_NO, .config_path = "/x",
		.kprobes_on = HOST_NO, .ftrace_on = HOST_NO, .modules_disabled = HOST_YES,
		.secure_boot = HOST_YES, .lockdown = "integrity", .kptr_restrict = 2,
		.debugfs = HOST_NO, .tracefs = HOST_NO, .tracer = "function",
		.kprobe_events = 1, .uprobe_events = 2, .module = "/lib/x.ko",
		.module_signed = HOST_NO, .compiler = "gcc", .built_by = "gcc 11",
		.available = 1 << 20, .dkms = HOST_NO, .debuginfo = HOST_NO,
	};

	for (int i = 0; i < NR_HOST_CONFIG; i++)
		h.config[i] = HOST_NO;
	doctor_look(&d, &h, "0.1");
	ok(d.nr_found < DOCTOR_FINDINGS - 1, "there is room for all at once: %zu", d.nr_found);
	h.module[0] = '\0';
	h.headers = HOST_NO;
	doctor_look(&d, &h, "0.1");
	ok(d.nr_found < DOCTOR_FINDINGS - 1, "also without a module: %zu", d.nr_found);
	ok(strstr(find(&d, "headers")->commands[0], "dnf install kernel-devel-5.14.0-1.el9"),
	   "the distribution's own command");
}

int main(void)
{
	compilers();
	who();
	config();
	nothing_known();
	worst();
	return tap_done();
}
