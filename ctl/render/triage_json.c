// SPDX-License-Identifier: GPL-2.0-or-later
/* Print `memtap triage` as JSON: bytes, pages and events, not rounded. */
#include <string.h>

#include "render/triage_int.h"
#include "render/triage_recorded.h"

#define JSON_TOP	10

static const char *const level_words[] = { "ok", "watch", "bad" };

static void one_level(struct json *j, const struct triage *t, const char *key,
		      enum triage_line line)
{
	json_str(j, key, level_words[t->level[line]]);
}

static void levels(struct json *j, const struct triage *t)
{
	static const char *const keys[NR_TRIAGE_LINES] = {
		"memory", "swap", "swapping", "faults", "reclaim", "stalls", "fragments",
		"oom_kills", "failures",
	};

	json_open(j, "levels", '{');
	for (int i = 0; i < NR_TRIAGE_LINES; i++)
		one_level(j, t, keys[i], (enum triage_line)i);
	json_close(j, '}');
}

static void memory(struct json *j, const struct triage *t)
{
	const struct machine *m = t->now;

	json_open(j, "memory", '{');
	json_u64(j, "total", m->f.mem[MEM_TOTAL]);
	json_u64(j, "free", m->f.mem[MEM_FREE]);
	json_u64(j, "available", machine_available(m));
	json_bool(j, "available_estimated", !m->f.has_mem[MEM_AVAILABLE]);
	json_s64(j, "available_grew", (__s64)(machine_available(m) -
		 machine_available(t->before)));
	json_u64(j, "swap_total", m->f.mem[MEM_SWAP_TOTAL]);
	json_u64(j, "swap_used", m->f.mem[MEM_SWAP_TOTAL] - m->f.mem[MEM_SWAP_FREE]);
	json_s64(j, "kernel_grew", t->kernel_grew);
	json_close(j, '}');
}

/* In the interval; what the kernel does not count is not there. */
static void events(struct json *j, const struct triage *t)
{
	static const struct {
		const char *key;
		enum machine_vm vm;
	} all[] = {
		{ "faults", VM_FAULTS }, { "major_faults", VM_MAJOR },
		{ "swapped_in", VM_SWAP_IN }, { "swapped_out", VM_SWAP_OUT },
		{ "scanned_kswapd", VM_SCAN_KSWAPD }, { "scanned_direct", VM_SCAN_DIRECT },
		{ "reclaimed_kswapd", VM_STEAL_KSWAPD },
		{ "reclaimed_direct", VM_STEAL_DIRECT }, { "direct_reclaims", VM_STALLS },
		{ "refaulted_anon", VM_REFAULT_ANON }, { "refaulted_file", VM_REFAULT_FILE },
		{ "compact_stalls", VM_COMPACT_STALL }, { "compact_failed", VM_COMPACT_FAIL },
	};

	json_open(j, "events", '{');
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (t->now->f.has_vm[all[i].vm])
			json_u64(j, all[i].key, triage_delta(t, all[i].vm));
	json_u64(j, "oom_kills", t->new_kills);
	json_close(j, '}');
	if (triage_some(t) >= 0) {
		json_open(j, "pressure", '{');
		json_seconds(j, "some_percent", triage_some(t));
		json_seconds(j, "full_percent", triage_full(t));
		json_close(j, '}');
	}
	if (triage_unusable(t->now) >= 0)
		json_seconds(j, "unusable_percent", triage_unusable(t->now));
}

static void kills(struct json *j, const struct triage *t)
{
	static const char *const constraints[] = {
		[SHORT_MACHINE] = "none", [SHORT_CGROUP] = "memcg", [SHORT_CPUSET] = "cpuset",
		[SHORT_POLICY] = "policy",
	};
	const struct machine_log *log = &t->now->log;

	json_open(j, "kills", '[');
	for (__u64 i = 0; i < log->nr && i < MACHINE_KILLS; i++) {
		const struct machine_kill *k = &log->kills[i];

		json_open(j, NULL, '{');
		json_seconds(j, "uptime", k->at);
		json_str(j, "comm", k->comm);
		json_u64(j, "pid", k->pid);
		json_u64(j, "rss", k->rss);
		if (k->what != SHORT_UNKNOWN && k->what != SHORT_NODES)
			json_str(j, "constraint", constraints[k->what]);
		if (k->what == SHORT_CGROUP && *k->cgroup)
			json_str(j, "cgroup", k->cgroup);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static size_t some(size_t nr)
{
	return nr < JSON_TOP ? nr : JSON_TOP;
}

void render_triage_json(const struct triage *t, const struct triage_opts *o)
{
	const struct machine *m = t->now;
	struct json j = { .out = o->out, .line = o->line };

	json_head(&j, t, o, "triage");
	levels(&j, t);
	memory(&j, t);
	json_account(&j, t);
	json_holders(&j, "processes", t->processes, some(m->processes.nr));
	json_holders(&j, "cgroups", t->cgroups, some(m->cgroups.nr));
	json_holders(&j, "slabs", t->slabs, some(m->slabs.nr));
	json_holders(&j, "tmpfs", t->tmpfs, some(m->tmpfs.nr));
	json_holders(&j, "deleted_files", t->deleted, some(m->deleted.nr));
	json_holders(&j, "nodes", t->nodes, m->nodes.nr);
	events(&j, t);
	kills(&j, t);
	if (o->recorded)
		render_recorded_json(&j, o->recorded);
	json_footer(&j, t);
}

void render_census_json(const struct triage *t, const struct triage_opts *o)
{
	const struct machine *m = t->now;
	struct json j = { .out = o->out, .line = o->line };

	json_head(&j, t, o, "census");
	json_account(&j, t);
	json_holders(&j, "slabs", t->slabs, m->slabs.nr);
	json_holders(&j, "vmalloc", t->callers, m->callers.nr);
	json_holders(&j, "sites", t->sites, m->sites.nr);
	json_holders(&j, "tmpfs", t->tmpfs, m->tmpfs.nr);
	json_holders(&j, "deleted_files", t->deleted, m->deleted.nr);
	json_holders(&j, "processes", t->processes, some(m->processes.nr));
	json_holders(&j, "cgroups", t->cgroups, some(m->cgroups.nr));
	json_open(&j, "counted_elsewhere", '{');
	json_u64(&j, "sockets", m->socket_pages * m->page);
	json_u64(&j, "socket_fragments", m->socket_frags);
	json_u64(&j, "sysv_shm", m->shm_bytes);
	json_u64(&j, "dead_cgroups", m->dying);
	json_u64(&j, "dead_cgroups_kernel", m->dead_kernel);
	json_u64(&j, "dead_cgroups_memory", m->dead_bytes);
	json_close(&j, '}');
	json_footer(&j, t);
}
