// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `memtap reclaim`, `compact`, `migrate`, `vmscan` and `swap`: stalls for memory.  Tables here
 * define each command: its events, by the names that different kernels have for them, and its
 * columns.  The same events by stack, or as histograms, are rendered elsewhere.
 */
#include "cmd/cmd.h"
#include "cmd/question.h"
#include "render/lines.h"
#include "report/report.h"

#define BOTH	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)

/* ---- reclaim ---- */

#define RECLAIM(what)	"t:vmscan:mm_vmscan_" what "_reclaim_begin..mm_vmscan_" what "_reclaim_end"
#define RECLAIM_ARGS	"(order,?gfp_flags,free,?nid,node,nr_reclaimed,uid,latency)"

/* only the sleep: reclaim before it has a kind of its own */
#define HIGH									\
	{ .what = "sleeps above memory.high", .label = "high",			\
	  .ways = { "memcg-high(uid,latency)" }, .value = "latency",		\
	  .needs = { "__mem_cgroup_handle_over_high", "mem_cgroup_handle_over_high" } }

static const struct plan_pick reclaim_picks[] = {
	{ .what = "direct reclaim", .label = "direct",
	  .ways = { RECLAIM("direct") RECLAIM_ARGS } },
	{ .what = "reclaim at limits of memory cgroups", .label = "memcg",
	  .ways = { RECLAIM("memcg") RECLAIM_ARGS } },
	{ .what = "reclaim of one node (zone_reclaim_mode)", .label = "node",
	  .ways = { RECLAIM("node") RECLAIM_ARGS } },
	HIGH,
	{ .what = NULL },
};

static const struct lines_column reclaim_columns[] = {
	{ "TYPE", "type", -6, LINES_LABEL, NULL },
	{ "LAT(ms)", "latency_ns", 10, LINES_MS, "latency" },
	{ "PAGES", "pages", 7, LINES_NUMBER, "nr_reclaimed" },
	{ "FREE(KB)", "free_kb", 10, LINES_KB, "free" },
	{ "NODE", "node", 4, LINES_NUMBER, "node" },
	{ "ORDER", "order", 5, LINES_NUMBER, "order" },
	{ "UID", "uid", 5, LINES_NUMBER, "uid" },
	{ "GFP", "gfp", -36, LINES_SYMBOLS, "gfp_flags" },
	{ "CGROUP", "cgroup", -1, LINES_CGROUP, NULL },
	{ .title = NULL },
};

static const struct lines_ask reclaim_lines = {
	reclaim_columns, "nr_reclaimed", "PAGES", "reclaim",
};

/* ---- compact ---- */

static const struct plan_pick compact_picks[] = {
	{ .what = "stalls in direct compaction", .label = "wait",
	  .ways = { "kr:try_to_compact_pages(order=arg2:u32,status=ret:u32,latency)" },
	  .value = "latency" },
	{ .what = "compaction of zones", .label = "zone",
	  .ways = { "t:compaction:mm_compaction_begin..mm_compaction_end"
		    "(end.zone_start,?end.sync,?end.status,latency)" } },
	{ .what = NULL },
};

static const struct lines_column compact_columns[] = {
	{ "TYPE", "type", -4, LINES_LABEL, NULL },
	{ "NODE", "node", 4, LINES_NODE, "zone_start" },
	{ "ZONE", "zone", -7, LINES_ZONE, "zone_start" },
	{ "ORDER", "order", 5, LINES_NUMBER, "order" },
	{ "SYNC", "sync", 4, LINES_NUMBER, "sync" },
	{ "LAT(ms)", "latency_ns", 10, LINES_MS, "latency" },
	{ "STATUS", "status", -24, LINES_SYMBOLS, "status", "compaction:mm_compaction_end" },
	{ "CGROUP", "cgroup", -1, LINES_CGROUP, NULL },
	{ .title = NULL },
};

static const struct lines_ask compact_lines = {
	compact_columns, NULL, NULL, "compact",
};

/* ---- migrate ---- */

static const struct plan_pick migrate_picks[] = {
	{ .what = "migration of pages", .label = NULL,
	  .ways = { "t:migrate:mm_migrate_pages_start..mm_migrate_pages"
		    "(ok=end.succeeded,failed=end.failed,reason,mode,latency)",
		    "t:migrate:mm_migrate_pages(ok=succeeded,failed,?reason,mode)" } },
	{ .what = NULL },
};

static const struct lines_column migrate_columns[] = {
	{ "PAGES", "pages", 7, LINES_NUMBER, "ok" },
	{ "FAILED", "failed", 7, LINES_NUMBER, "failed" },
	{ "LAT(ms)", "latency_ns", 10, LINES_MS, "latency" },
	{ "REASON", "reason", -16, LINES_SYMBOLS, "reason" },
	{ "MODE", "mode", -20, LINES_SYMBOLS, "mode" },
	{ "CGROUP", "cgroup", -1, LINES_CGROUP, NULL },
	{ .title = NULL },
};

static const struct lines_ask migrate_lines = {
	migrate_columns, "ok", "PAGES", "migrate",
};

/* ---- vmscan ---- */

#define SLAB	"t:vmscan:mm_shrink_slab_start..mm_shrink_slab_end"
#define SHRINK	"t:vmscan:mm_vmscan_lru_shrink_inactive"

static const struct plan_pick vmscan_picks[] = {
	{ .what = "shrinkers of slab caches", .label = "slab",
	  .ways = { SLAB "(shrink=end.shrink,latency)" }, .value = "latency", .by = "shrink" },
	{ .what = "objects that shrinkers free", .label = "freed",
	  .ways = { "t:vmscan:mm_shrink_slab_end(shrink,freed=retval)" }, .value = "freed",
	  .by = "shrink" },
	{ .what = "direct reclaim", .label = "direct", .ways = { RECLAIM("direct") "(latency)" } },
	{ .what = "reclaim at limits of memory cgroups", .label = "memcg",
	  .ways = { RECLAIM("memcg") "(latency)" } },
	HIGH,
	{ .what = "wakeups of kswapd", .label = "kswapd",
	  .ways = { "t:vmscan:mm_vmscan_wakeup_kswapd", "k:wakeup_kswapd" } },
	{ .what = "pages written by reclaim", .label = "write",
	  .ways = { "t:vmscan:mm_vmscan_write_folio", "t:vmscan:mm_vmscan_writepage" } },
	{ .what = "scanned pages", .label = "scan", .ways = { SHRINK "(nr_scanned)" },
	  .value = "nr_scanned", .unit = MEMTAP_UNIT_PAGES },
	{ .what = "reclaimed pages", .label = "steal", .ways = { SHRINK "(nr_reclaimed)" },
	  .value = "nr_reclaimed", .unit = MEMTAP_UNIT_PAGES },
	{ .what = NULL },
};

static const struct matrix_column vmscan_columns[] = {
	{ "S-SLABms", "slab_ns", 10, BESIDE_MS, "slab", NULL, BESIDE_ALL },
	{ "D-RECLAIMms", "direct_ns", 11, BESIDE_MS, "direct", NULL, BESIDE_ALL },
	{ "M-RECLAIMms", "memcg_ns", 11, BESIDE_MS, "memcg", NULL, BESIDE_ALL },
	{ "M-HIGHms", "high_ns", 10, BESIDE_MS, "high", NULL, BESIDE_ALL },
	{ "KSWAPD", "kswapd_wakeups", 7, BESIDE_COUNT, "kswapd", NULL, BESIDE_ALL },
	{ "WRITEPAGE", "written", 9, BESIDE_COUNT, "write", NULL, BESIDE_ALL },
	{ "K-SCAN", "kswapd_scanned", 9, BESIDE_SUM, "scan", NULL, BESIDE_KSWAPD },
	{ "K-STEAL", "kswapd_reclaimed", 9, BESIDE_SUM, "steal", NULL, BESIDE_KSWAPD },
	{ "D-SCAN", "direct_scanned", 9, BESIDE_SUM, "scan", NULL, BESIDE_OTHERS },
	{ "D-STEAL", "direct_reclaimed", 9, BESIDE_SUM, "steal", NULL, BESIDE_OTHERS },
	{ "EFF%", "efficiency_percent", 5, BESIDE_PERCENT, "steal", "scan", BESIDE_ALL },
	{ .title = NULL },
};

/* For a recording: by stack, with latencies. */
#define RECORD(_title, _picks)								\
	&(const struct question){							\
		.title = _title,							\
		.ask = &(const struct watch_ask){ .picks = _picks, .stacks = BOTH,	\
						  .keep_hists = true },			\
		.by = BY_PROCESS,							\
		.show = SHOW_FILE,							\
	}

const struct question question_vmscan = {
	.title = "reclaim per second",
	.ask = &(const struct watch_ask){ .picks = vmscan_picks, .keep_hists = true },
	.by = BY_NONE,
	.show = SHOW_BESIDE,
	.record = RECORD("reclaim", vmscan_picks),
	.columns = &(const struct matrix_ask){
		.columns = vmscan_columns,
		.hists = { "slab", "direct", "memcg", "high" },
		.keyed = "slab",
		.yield = "freed",
		.keyed_title = "SHRINKER",
		.document = "vmscan",
	},
};

/* ---- swap ---- */

static const struct plan_pick swap_picks[] = {
	{ .what = "reads from swap", .label = "read",
	  .ways = { "kr:swap_readpage(latency)", "kr:swap_read_folio(latency)" },
	  .value = "latency" },
	{ .what = "writes to swap", .label = "write",
	  .ways = { "k:__swap_writepage", "k:swap_writeout", "k:swap_writepage" } },
	{ .what = "faults on swapped pages", .label = "fault",
	  .ways = { "kr:do_swap_page(latency)" }, .value = "latency" },
	{ .what = NULL },
};

static const struct matrix_column swap_columns[] = {
	{ "READS", "reads", 10, BESIDE_COUNT, "read", NULL, BESIDE_ALL },
	{ "READms", "read_ns", 10, BESIDE_MS, "read", NULL, BESIDE_ALL },
	{ "MAXms", "read_max_ns", 9, BESIDE_MAX_MS, "read", NULL, BESIDE_ALL },
	{ "WRITES", "writes", 10, BESIDE_COUNT, "write", NULL, BESIDE_ALL },
	{ "FAULTS", "faults", 10, BESIDE_COUNT, "fault", NULL, BESIDE_ALL },
	{ "WAITms", "fault_ns", 10, BESIDE_MS, "fault", NULL, BESIDE_ALL },
	{ "AVGms", "fault_avg_ns", 8, BESIDE_AVG_MS, "fault", NULL, BESIDE_ALL },
	{ "MAXms", "fault_max_ns", 9, BESIDE_MAX_MS, "fault", NULL, BESIDE_ALL },
	{ .title = NULL },
};

const struct question question_swap = {
	.title = "swap",
	.ask = &(const struct watch_ask){ .picks = swap_picks },
	.by = BY_PROCESS,
	.show = SHOW_BESIDE,
	.record = RECORD("swap", swap_picks),
	.columns = &(const struct matrix_ask){
		.columns = swap_columns,
		.order = "fault",
		.pending = "fault",
		.pending_text = "WAITS FOR SWAP NOW",
		.document = "swap",
	},
	.stacks = &(const struct question){
		.title = "swap",
		.ask = &(const struct watch_ask){ .picks = swap_picks, .stacks = BOTH },
		.by = BY_PROCESS,
	},
	.hist = &(const struct question){
		.title = "swap",
		.ask = &(const struct watch_ask){ .picks = swap_picks + 2, .hist = true },
		.by = BY_NONE,
		.show = SHOW_DIST,
	},
};

/* ---- slab --waste --call-site ---- */

/* two events of each: a counter has one sum.  From 6.1 on kmalloc's are of kmalloc_node(), too */
#define GIVEN(event, is_some)							\
	{ .what = "bytes that " event "() gives", .label = "given",		\
	  .ways = { "t:kmem:" event "(call_site,bytes_alloc)" },		\
	  .value = "bytes_alloc", .by = "call_site", .unit = MEMTAP_UNIT_BYTES,	\
	  .some = is_some }
#define ASKED(event, is_some)							\
	{ .what = "bytes that callers of " event "() ask for", .label = "asked",	\
	  .ways = { "t:kmem:" event "(call_site,bytes_req)" },			\
	  .value = "bytes_req", .by = "call_site", .unit = MEMTAP_UNIT_BYTES,	\
	  .some = is_some }

static const struct plan_pick callers_picks[] = {
	GIVEN("kmalloc", false), ASKED("kmalloc", false),
	GIVEN("kmalloc_node", true), ASKED("kmalloc_node", true),
	{ .what = NULL },
};

static const struct matrix_column callers_columns[] = {
	{ "ALLOCS", "allocs", 12, BESIDE_COUNT, "given", NULL, BESIDE_ALL },
	{ "ASKED", "asked_bytes", 14, BESIDE_SUM, "asked", NULL, BESIDE_ALL },
	{ "GIVEN", "given_bytes", 14, BESIDE_SUM, "given", NULL, BESIDE_ALL },
	{ "USED%", "used_percent", 6, BESIDE_PERCENT, "asked", "given", BESIDE_ALL },
	{ .title = NULL },
};

const struct question question_callers = {
	.title = "bytes that kmalloc() wastes",
	.ask = &(const struct watch_ask){ .picks = callers_picks },
	.by = BY_NONE,
	.show = SHOW_BESIDE,
	.columns = &(const struct matrix_ask){
		.columns = callers_columns,
		.keyed = "given",
		.yield = "asked",
		.keyed_title = "CALLER",
		.keyed_bytes = true,
		.document = "callers",
	},
};

/* ---- migrate --numa ---- */

/* called for each NUMA hinting fault (since 3.13) */
#define HINT	"k:task_numa_fault(pages=arg3:s32,flags=arg4:u32)"
#define MOVED	"flags & 1"		/* TNF_MIGRATED, TNF_FAULT_LOCAL, TNF_MIGRATE_FAIL */
#define LOCAL	"flags & 8"
#define FAILED	"flags & 0x10"

static const struct plan_pick numa_picks[] = {
	{ .what = "pages on the node that uses them", .label = "local", .ways = { HINT },
	  .value = "pages", .unit = MEMTAP_UNIT_PAGES, .filter = LOCAL },
	{ .what = "pages that NUMA balancing moves", .label = "moved", .ways = { HINT },
	  .value = "pages", .unit = MEMTAP_UNIT_PAGES, .filter = MOVED },
	{ .what = "pages that NUMA balancing cannot move", .label = "failed", .ways = { HINT },
	  .value = "pages", .unit = MEMTAP_UNIT_PAGES, .filter = FAILED },
	{ .what = "pages that NUMA balancing marks to fault", .label = "mark",
	  .ways = { "kr:change_prot_numa(pages=ret:u32)" }, .value = "pages",
	  .unit = MEMTAP_UNIT_PAGES },
	{ .what = "threads moved to the node of their memory", .label = "thread",
	  .ways = { "t:sched:sched_move_numa" } },
#define NUMA_BY_STACK	5
	{ .what = "NUMA hinting faults", .label = "hint", .ways = { HINT },
	  .value = "pages", .unit = MEMTAP_UNIT_PAGES },
#define NUMA_TIMES	6
	{ .what = "moves of misplaced pages", .label = "move",
	  .ways = { "kr:migrate_misplaced_folio(latency)", "kr:migrate_misplaced_page(latency)" },
	  .value = "latency" },
	{ .what = "marking of pages", .label = "marking",
	  .ways = { "kr:change_prot_numa(latency)" }, .value = "latency" },
	{ .what = NULL },
};

static const struct matrix_column numa_columns[] = {
	{ "HINTS", "hinting_faults", 10, BESIDE_COUNT, "hint", NULL, BESIDE_ALL },
	{ "LOCAL%", "local_percent", 6, BESIDE_PERCENT, "local", "hint", BESIDE_ALL },
	{ "MOVED", "pages_moved", 10, BESIDE_SUM, "moved", NULL, BESIDE_ALL },
	{ "FAILED", "pages_failed", 8, BESIDE_SUM, "failed", NULL, BESIDE_ALL },
	{ "MOVEms", "move_ns", 10, BESIDE_MS, "move", NULL, BESIDE_ALL },
	{ "MAXms", "move_max_ns", 9, BESIDE_MAX_MS, "move", NULL, BESIDE_ALL },
	{ "MARKED", "pages_marked", 10, BESIDE_SUM, "mark", NULL, BESIDE_ALL },
	{ "MARKms", "mark_ns", 9, BESIDE_MS, "marking", NULL, BESIDE_ALL },
	{ "THREADS", "threads_moved", 7, BESIDE_COUNT, "thread", NULL, BESIDE_ALL },
	{ .title = NULL },
};

const struct question question_numa = {
	.title = "NUMA balancing",
	.ask = &(const struct watch_ask){ .picks = numa_picks },
	.by = BY_PROCESS,
	.show = SHOW_BESIDE,
	.record = RECORD("NUMA balancing", numa_picks + NUMA_BY_STACK),
	.columns = &(const struct matrix_ask){
		.columns = numa_columns,
		.order = "hint",
		.document = "numa",
	},
	.stacks = &(const struct question){
		.title = "faults for NUMA balancing",
		.ask = &(const struct watch_ask){ .picks = numa_picks + NUMA_BY_STACK,
						  .stacks = BOTH },
		.by = BY_PROCESS,
	},
	.hist = &(const struct question){
		.title = "NUMA balancing",
		.ask = &(const struct watch_ask){ .picks = numa_picks + NUMA_TIMES, .hist = true },
		.by = BY_NONE,
		.show = SHOW_DIST,
	},
};

/* ---- all of them ---- */

#define QUESTIONS(_name, _title)							\
const struct question question_##_name = {						\
	.title = _title,								\
	.ask = &(const struct watch_ask){ .picks = _name##_picks, .each = true },	\
	.by = BY_NONE,									\
	.show = SHOW_EACH,								\
	.lines = &_name##_lines,							\
	.record = RECORD(_title, _name##_picks),					\
	.stacks = &(const struct question){						\
		.title = _title,							\
		.ask = &(const struct watch_ask){ .picks = _name##_picks,		\
						  .stacks = BOTH },			\
		.by = BY_PROCESS,							\
	},										\
	.hist = &(const struct question){						\
		.title = _title,							\
		.ask = &(const struct watch_ask){ .picks = _name##_picks, .hist = true },	\
		.by = BY_NONE,								\
		.show = SHOW_DIST,							\
	},										\
}

QUESTIONS(reclaim, "reclaim");
QUESTIONS(compact, "compaction");
QUESTIONS(migrate, "migration of pages");
