// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c */
/* LINK: ctl/triage/oom.c ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c ctl/triage/oom_made.c */
/* LINK: ctl/triage/advice.c ctl/base/text.c */
/* LINK: ctl/base/json.c ctl/render/oom.c ctl/render/oom_json.c ctl/render/oom_stack.c */
/* LINK: ctl/machine/log.c ctl/machine/text.c ctl/machine/oom_log.c ctl/machine/oom_log_lines.c */
/* LINK: ctl/machine/oom_log_prefix.c ctl/machine/oom_log_sums.c ctl/machine/oom_log_memtap.c */
/* LINK: ctl/render/oom_log.c ctl/render/oom_log_json.c kmod/core/names.c */
/*
 * oom CASE [json]: what is said of a record that is made up here.
 * oom log FILE [json]: of the kills in a saved kernel log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/oom_log.h"
#include "sym/sym.h"

#define MIB	(1ULL << 20)

/* Names of what is asked for, as if there were a kernel and a program. */
static struct sym_frame frame;

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	frame = (struct sym_frame){ .name = ip == 0x1000 ? "oom_kill_process" : NULL,
				    .object = "kernel", .addr = ip, .kernel = true };
	*frames = &frame;
	return 1;
}

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	/* looked up in what is made of the record */
	for (size_t i = 0; i < snap->nr_maps; i++) {
		const struct snap_map *m = &snap->maps[i];

		if (ip - call < m->start || ip - call >= m->end)
			continue;
		frame = (struct sym_frame){ .object = snap->files[m->file -
			MEMTAP_FILE_FIRST].path, .addr = ip - call - m->start + m->offset };
		*frames = &frame;
		return 1;
	}
	frame = (struct sym_frame){ .object = "", .addr = ip };
	*frames = &frame;
	return 1;
}

static void made_cgroup(struct memtap_oom_record *r)
{
	r->flags = MEMTAP_OOM_KILLED;
	r->nr = 12;
	r->constraint = MEMTAP_CONSTRAINT_MEMCG;
	r->limit = 64 * MIB;
	r->usage = 64 * MIB;
	r->allowed = 64 * MIB;
	strcpy(r->limit_path, "/a group\n");
	r->victim.anon = 8 * MIB;
	r->victim.swap = 0;
	r->top[0] = r->victim;
	r->top[1].anon = 7 * MIB;
	r->same = 7;
	r->same_held = 50 * MIB;
	r->held = 60 * MIB;
	r->processes = 9;
	r->unread = 1;
	r->unlooked = 2;
	r->sharing = 1;
	r->nr_members = 20;
	for (int i = 0; i < MEMTAP_OOM_MEMBERS; i++)
		r->members[i] = r->victim;
	r->reclaim_ms = 0;
	r->trigger.tid = 1201;
	r->nr_kstack = 2;
	r->kstack[0] = 0x1000;
	r->kstack[1] = 0x2000;
	r->kflags = MEMTAP_STACK_ENTRY;
	r->nr_ustack = 3;
	r->nr_files = 1;
	strcpy(r->files[0].path, "/usr/bin/program");
	r->ustack[0] = (struct memtap_oom_frame){ .ip = 0x400123, .offset = 0x1123, .file = 1 };
	r->ustack[1] = (struct memtap_oom_frame){ .ip = 0x400001, .offset = 0x1001, .file = 1 };
	r->ustack[2] = (struct memtap_oom_frame){ .ip = 0x7f0000 };
	r->uflags = MEMTAP_STACK_USER | MEMTAP_STACK_CHAIN;
}

/* A Guaranteed pod that page tables fill, in a path as containers have. */
static void made_pod(struct memtap_oom_record *r)
{
	made_cgroup(r);
	r->flags |= MEMTAP_OOM_CHILD | MEMTAP_OOM_TWICE;
	r->nr_members = 1;
	strcpy(r->limit_long, "/kubepods.slice/"
	       "kubepods-podffffffff_ffff_ffff_ffff_ffffffffffff.slice/cri-containerd-"
	       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope");
	r->victim.score_adj = -997;
	r->victim.anon = MIB;
	r->top[0] = r->victim;
	r->top[1].anon = MIB;
	r->points = -50LL * (long long)MIB;
	r->same = 1;
	r->held = 2 * MIB;
	r->nr_charged = MEMTAP_NR_CHARGED;
	for (int i = 0; i < MEMTAP_NR_CHARGED; i++)
		r->charged[i] = MEMTAP_OOM_UNKNOWN;
	r->charged[MEMTAP_CHARGED_ANON] = 2 * MIB;
	r->charged[MEMTAP_CHARGED_FILE] = 0;
	r->charged[MEMTAP_CHARGED_TABLES] = 60 * MIB;
	r->killed_ns = 9000000;
	r->later_ns = 3000000;
}

/* Some nodes only. */
static void made_nodes(struct memtap_oom_record *r)
{
	r->flags = MEMTAP_OOM_KILLED;
	r->constraint = MEMTAP_CONSTRAINT_POLICY;
	r->nodes = 2;
	r->nodes_total = 1950 * MIB;
	for (int i = 0; i < MEMTAP_NR_VM; i++)
		r->node_counters[i] = MEMTAP_OOM_UNKNOWN;
	r->node_counters[MEMTAP_VM_FREE] = 20 * MIB;
	r->node_counters[MEMTAP_VM_ANON] = 1800 * MIB;
}

/* Of a kernel that tells little. */
static void made_old(struct memtap_oom_record *r)
{
	r->flags = MEMTAP_OOM_UNSEEN | MEMTAP_OOM_ALLOCATING;
	*r->gfp_text = '\0';
	*r->victim_path = '\0';
	*r->trigger_path = '\0';
	r->victim.flags = 0;
	r->trigger.flags |= MEMTAP_OOM_TASK_KTHREAD;
	r->order = 3;
	r->counters[MEMTAP_VM_SWAP_FREE] = MEMTAP_OOM_UNKNOWN;
	for (__u32 i = 0; i < r->nr_reclaim; i++)
		r->reclaim[i] = MEMTAP_OOM_UNKNOWN;
}

static void made_request(struct memtap_oom_record *r)
{
	r->flags = MEMTAP_OOM_SYSRQ;
	r->order = -1;
}

/* A stack that was unwound from a copy, up to a file that is gone. */
static void made_copied(struct memtap_oom_record *r)
{
	made_cgroup(r);
	r->uflags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS | MEMTAP_STACK_NOTABLE;
	r->nr_ustack = 2;
	r->urest = MEMTAP_OOM_REST_NO_FILE;
}

static int show_log(const char *path, bool json)
{
	const struct oom_opts o = { .out = stdout, .rows = 10, .line = true };
	FILE *f = fopen(path, "re");
	struct oom_log log;

	if (!f || oom_log_read(f, &log))
		return 1;
	fclose(f);
	for (size_t i = 0; i < log.nr; i++)
		if (json)
			render_oom_log_json(&log.at[i], &o);
		else
			render_oom_log(&log.at[i], &o);
	oom_log_free(&log);
	return 0;
}

int main(int argc, char **argv)
{
	struct memtap_oom_record *r = malloc(sizeof(*r));
	struct oom_opts o = { .out = stdout, .rows = 10 };

	if (argc < 2 || !r)
		return 2;
	if (!strcmp(argv[1], "log") && argc > 2) {
		free(r);
		return show_log(argv[2], argc > 3);
	}
	oom_make(r, 1700000000ULL * 1000000000);
	if (!strcmp(argv[1], "cgroup")) {
		o.sym = (struct sym *)r;	/* there is one */
		made_cgroup(r);
	} else if (!strcmp(argv[1], "copied")) {
		o.sym = (struct sym *)r;
		made_copied(r);
	} else if (!strcmp(argv[1], "pod")) {
		made_pod(r);
	} else if (!strcmp(argv[1], "nodes")) {
		made_nodes(r);
	} else if (!strcmp(argv[1], "old")) {
		made_old(r);
	} else if (!strcmp(argv[1], "request")) {
		made_request(r);
	}
	oom_clean(r, sizeof(*r));
	if (argc > 2) {
		o.line = !strcmp(argv[2], "line");
		render_oom_json(r, &o);
	} else {
		render_oom(r, &o);
	}
	free(r);
	return 0;
}
