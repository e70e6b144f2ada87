// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a machine's memory as metrics for Prometheus and compatible collectors. */
#include <stdlib.h>

#include "render/metrics_int.h"

static void kinds(struct page *p, const struct machine *m)
{
	static const struct metric family = {
		"memory_bytes", "bytes", GAUGE,
		"Memory by kind. The sum of all kinds is memtap_memory_size_bytes.",
	};
	static const char *const names[NR_MACHINE_KIND] = {
		[KIND_FREE] = "free", [KIND_LISTS] = "free_per_cpu", [KIND_ANON] = "anonymous",
		[KIND_SHMEM] = "shmem", [KIND_FILE] = "page_cache",
		[KIND_SLAB_UNRECLAIM] = "slab_unreclaimable",
		[KIND_SLAB_RECLAIM] = "slab_reclaimable",
		[KIND_MISC_RECLAIM] = "kernel_misc_reclaimable",
		[KIND_STACKS] = "kernel_stacks", [KIND_PAGE_TABLES] = "page_tables",
		[KIND_PERCPU] = "percpu", [KIND_VMALLOC] = "vmalloc",
		[KIND_ZSMALLOC] = "zsmalloc", [KIND_HUGETLB] = "hugetlb",
		[KIND_OTHER] = "other", [KIND_UNACCOUNTED] = "unaccounted",
	};
	struct machine_account a;

	machine_account(m, &a);
	metrics_head(p, &family);
	for (int i = 0; i < NR_MACHINE_KIND; i++)
		if (a.has[i])
			metrics_signed(p, "kind", names[i], a.bytes[i]);
}

static void sums(struct page *p, const struct machine *m)
{
	static const struct metric size = {
		"memory_size_bytes", "bytes", GAUGE, "Memory that the kernel manages (MemTotal).",
	}, available = {
		"memory_available_bytes", "bytes", GAUGE,
		"Memory that can be allocated without swapping (MemAvailable; estimated before "
		"Linux 3.14).",
	}, swap = {
		"swap_bytes", "bytes", GAUGE, "Swap space.",
	}, commit = {
		"committed_bytes", "bytes", GAUGE, "Committed memory (Committed_AS).",
	}, limit = {
		"commit_limit_bytes", "bytes", GAUGE,
		"Limit of committed memory if vm.overcommit_memory is 2 (CommitLimit).",
	};
	const __u64 *mem = m->f.mem;

	metrics_one(p, &size, mem[MEM_TOTAL]);
	metrics_one(p, &available, machine_available(m));
	metrics_head(p, &swap);
	metrics_sample(p, "state", "free", mem[MEM_SWAP_FREE]);
	metrics_sample(p, "state", "used", mem[MEM_SWAP_TOTAL] - mem[MEM_SWAP_FREE]);
	if (m->f.has_mem[MEM_COMMITTED])
		metrics_one(p, &commit, mem[MEM_COMMITTED]);
	if (m->f.has_mem[MEM_COMMIT_LIMIT])
		metrics_one(p, &limit, mem[MEM_COMMIT_LIMIT]);
}

static void pressure(struct page *p, const struct machine *m)
{
	static const struct metric family = {
		"pressure_seconds", "seconds", COUNTER,
		"Time in which some or all running tasks waited for memory (PSI).",
	};

	if (!m->psi.has)
		return;
	metrics_head(p, &family);
	metrics_us(p, "kind", "some", m->psi.some_us);
	metrics_us(p, "kind", "full", m->psi.full_us);
}

/* Counters of /proc/vmstat; those of one family follow each other. */
static void events(struct page *p, const struct machine *m)
{
	static const struct metric faults = {
		"page_faults", NULL, COUNTER, "Page faults.",
	}, major = {
		"major_page_faults", NULL, COUNTER, "Page faults that waited for I/O (major "
				"faults).",
	}, swapped = {
		"swapped_pages", NULL, COUNTER, "Pages read from and written to swap.",
	}, scanned = {
		"reclaim_scanned_pages", NULL, COUNTER, "Pages that reclaim scanned.",
	}, stolen = {
		"reclaim_reclaimed_pages", NULL, COUNTER, "Pages that were reclaimed.",
	}, stalls = {
		"direct_reclaims", NULL, COUNTER, "Allocations that entered direct reclaim.",
	}, refaults = {
		"refaulted_pages", NULL, COUNTER, "Refaults: pages that were read again soon after "
		"they were reclaimed.",
	}, compactions = {
		"direct_compactions", NULL, COUNTER,
		"Allocations that entered direct compaction.",
	}, ended = {
		"direct_compactions_ended", NULL, COUNTER, "Direct compactions by result.",
	}, kills = {
		"oom_kills", NULL, COUNTER, "Processes that the OOM killer killed, of any cgroup.",
	};
	static const struct {
		const struct metric *of;
		enum machine_vm vm;
		const char *key, *value;
	} all[] = {
		{ &faults, VM_FAULTS, NULL, NULL },
		{ &major, VM_MAJOR, NULL, NULL },
		{ &swapped, VM_SWAP_IN, "direction", "in" },
		{ &swapped, VM_SWAP_OUT, "direction", "out" },
		{ &scanned, VM_SCAN_KSWAPD, "by", "kswapd" },
		{ &scanned, VM_SCAN_DIRECT, "by", "direct" },
		{ &scanned, VM_SCAN_KHUGEPAGED, "by", "khugepaged" },
		{ &scanned, VM_SCAN_PROACTIVE, "by", "proactive" },
		{ &stolen, VM_STEAL_KSWAPD, "by", "kswapd" },
		{ &stolen, VM_STEAL_DIRECT, "by", "direct" },
		{ &stolen, VM_STEAL_KHUGEPAGED, "by", "khugepaged" },
		{ &stolen, VM_STEAL_PROACTIVE, "by", "proactive" },
		{ &stalls, VM_STALLS, NULL, NULL },
		{ &refaults, VM_REFAULT_ANON, "kind", "anonymous" },
		{ &refaults, VM_REFAULT_FILE, "kind", "file" },
		{ &compactions, VM_COMPACT_STALL, NULL, NULL },
		{ &ended, VM_COMPACT_SUCCESS, "result", "success" },
		{ &ended, VM_COMPACT_FAIL, "result", "failure" },
		{ &kills, VM_OOM_KILLS, NULL, NULL },
	};
	const struct metric *last = NULL;

	for (size_t i = 0; i < DIM(all); i++) {
		if (!m->f.has_vm[all[i].vm])
			continue;
		if (all[i].of != last)
			metrics_head(p, all[i].of);
		last = all[i].of;
		metrics_sample(p, all[i].key, all[i].value, m->f.vm[all[i].vm]);
	}
}

static void accounts(struct page *p, const struct machine *m)
{
	static const struct metric processes = {
		"processes_unread", NULL, GAUGE,
		"Processes not read for lack of time; the values of their programs lack them.",
	}, cgroups = {
		"cgroups_unread", NULL, GAUGE, "Cgroups not read for lack of time.",
	}, gaps = {
		"sources_unread", NULL, GAUGE,
		"Files of /proc and /sys that could not be read; memtap triage names them.",
	}, sample = {
		"sample_seconds", "seconds", GAUGE, "Time that reading these values took.",
	}, build = {
		"build_info", NULL, GAUGE, "The version of memtap; always 1.",
	};
	char *version = metrics_label(p->o->version ? p->o->version : "");

	metrics_one(p, &processes, m->processes.late);
	metrics_one(p, &cgroups, m->cgroups.late);
	metrics_one(p, &gaps, m->nr_gaps);
	metrics_head(p, &sample);
	metrics_seconds(p, p->o->took);
	metrics_head(p, &build);
	metrics_sample(p, "version", version ? version : "", 1);
	free(version);
}

bool render_metrics(const struct machine *m, const struct metrics_opts *o)
{
	struct page p = { .out = o->out, .o = o };

	sums(&p, m);
	kinds(&p, m);
	pressure(&p, m);
	events(&p, m);
	if (!metrics_holders(&p, m))
		return false;
	if (o->others && !metrics_sessions(&p, o->others))
		return false;
	accounts(&p, m);
	if (o->openmetrics)
		fputs("# EOF\n", o->out);
	return true;
}
