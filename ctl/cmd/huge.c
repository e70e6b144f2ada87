// SPDX-License-Identifier: GPL-2.0-or-later
/* Huge pages: allocation by faults, failures, collapses and splits. */
#include "cmd/cmd.h"
#include "cmd/question.h"

#define FELL_BACK	"ret & 0x800"	/* VM_FAULT_FALLBACK */

static const struct plan_pick picks[] = {
	{ .what = "page faults", .label = "fault",
	  .ways = { "fault(huge,addr,pages=value,?latency)" }, .filter = "huge" },
	{ .what = "faults that get small pages instead", .label = "fallback",
	  .ways = { "kr:do_huge_pmd_anonymous_page(ret:u32,latency)" }, .filter = FELL_BACK },
	{ .what = "ranges that khugepaged looks at, and what keeps it from collapsing them",
	  .label = "scan", .ways = { "t:huge_memory:mm_khugepaged_scan_pmd(status)" } },
	{ .what = "huge pages made of small ones", .label = "collapse",
	  .ways = { "t:huge_memory:mm_collapse_huge_page(status)",
		    "kr:collapse_huge_page(latency)" } },
	{ .what = "huge pages that are split", .label = "split",
	  .ways = { "kr:__folio_split(status=ret:s32,latency)",
		    "kr:split_huge_page_to_list_to_order(status=ret:s32,latency)",
		    "kr:split_huge_page_to_list(status=ret:s32,latency)" } },
	{ .what = "mappings of huge pages that are split", .label = "unmap",
	  .ways = { "k:__split_huge_pmd", "k:__split_huge_page_pmd" } },
	{ .what = NULL },
};

static const struct lines_column columns[] = {
	{ "WHAT", "what", -8, LINES_LABEL, NULL },
	{ "KIND", "kind", -7, LINES_WORDS, "huge" },
	{ "PAGES", "pages", 6, LINES_NUMBER, "pages" },
	{ "LAT(ms)", "latency_ns", 10, LINES_MS, "latency" },
	{ "RESULT", "result", -24, LINES_RESULT, "status" },
	{ "CGROUP", "cgroup", -1, LINES_CGROUP, NULL },
	{ .title = NULL },
};

const struct question question_huge = {
	.title = "huge pages",
	.ask = &(const struct watch_ask){ .picks = picks, .each = true, .huge = true },
	.by = BY_NONE,
	.show = SHOW_EACH,
	.lines = &(const struct lines_ask){ columns, "pages", "PAGES", "huge" },
};
