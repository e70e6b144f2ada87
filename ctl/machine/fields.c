// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse meminfo, vmstat and pressure files: names and values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"

static const char *const mem_names[NR_MACHINE_MEM] = {
	[MEM_TOTAL] = "MemTotal",
	[MEM_FREE] = "MemFree",
	[MEM_AVAILABLE] = "MemAvailable",
	[MEM_BUFFERS] = "Buffers",
	[MEM_CACHED] = "Cached",
	[MEM_SWAP_CACHED] = "SwapCached",
	[MEM_ACTIVE] = "Active",
	[MEM_INACTIVE] = "Inactive",
	[MEM_ACTIVE_ANON] = "Active(anon)",
	[MEM_INACTIVE_ANON] = "Inactive(anon)",
	[MEM_ACTIVE_FILE] = "Active(file)",
	[MEM_INACTIVE_FILE] = "Inactive(file)",
	[MEM_UNEVICTABLE] = "Unevictable",
	[MEM_MLOCKED] = "Mlocked",
	[MEM_SWAP_TOTAL] = "SwapTotal",
	[MEM_SWAP_FREE] = "SwapFree",
	[MEM_ZSWAP] = "Zswap",
	[MEM_ZSWAPPED] = "Zswapped",
	[MEM_DIRTY] = "Dirty",
	[MEM_WRITEBACK] = "Writeback",
	[MEM_ANON] = "AnonPages",
	[MEM_MAPPED] = "Mapped",
	[MEM_SHMEM] = "Shmem",
	[MEM_KRECLAIMABLE] = "KReclaimable",
	[MEM_SLAB] = "Slab",
	[MEM_SRECLAIMABLE] = "SReclaimable",
	[MEM_SUNRECLAIM] = "SUnreclaim",
	[MEM_STACKS] = "KernelStack",
	[MEM_PAGE_TABLES] = "PageTables",
	[MEM_SEC_PAGE_TABLES] = "SecPageTables",
	[MEM_BOUNCE] = "Bounce",
	[MEM_COMMIT_LIMIT] = "CommitLimit",
	[MEM_COMMITTED] = "Committed_AS",
	[MEM_VMALLOC_USED] = "VmallocUsed",
	[MEM_VMALLOC_CHUNK] = "VmallocChunk",
	[MEM_PERCPU] = "Percpu",
	[MEM_CORRUPTED] = "HardwareCorrupted",
	[MEM_HUGE_TOTAL] = "HugePages_Total",
	[MEM_HUGE_FREE] = "HugePages_Free",
	[MEM_HUGE_RSVD] = "HugePages_Rsvd",
	[MEM_HUGE_SIZE] = "Hugepagesize",
	[MEM_HUGETLB] = "Hugetlb",
	[MEM_UNACCEPTED] = "Unaccepted",
	[MEM_BALLOON] = "Balloon",
	[MEM_GPU_ACTIVE] = "GPUActive",
	[MEM_GPU_RECLAIM] = "GPUReclaim",
};

void fields_parse_mem(char *text, struct machine_fields *f)
{
	char *line, *name, *end, *unit;
	__u64 v;

	while ((line = machine_line(&text))) {
		name = machine_word(&line);
		if (!name || !machine_number(machine_word(&line), &v))
			continue;
		end = strrchr(name, ':');
		if (!end || end[1])
			continue;
		*end = '\0';
		unit = machine_word(&line);
		if (unit && !strcmp(unit, "kB"))
			v = machine_times(v, 1024);
		for (int i = 0; i < NR_MACHINE_MEM; i++)
			if (!f->has_mem[i] && !strcmp(name, mem_names[i])) {
				f->mem[i] = v;
				f->has_mem[i] = true;
			}
	}
}

/*
 * Counters had a name for each zone (pgscan_kswapd_normal) until v4.8; those of allocstall
 * have one since v4.10.
 */
static const struct {
	const char *name;
	enum machine_vm vm;
} vm_names[] = {
	{ "pgfault", VM_FAULTS },
	{ "pgmajfault", VM_MAJOR },
	{ "pswpin", VM_SWAP_IN },
	{ "pswpout", VM_SWAP_OUT },
	{ "pgpgin", VM_PAGE_IN },
	{ "pgpgout", VM_PAGE_OUT },
	{ "pgscan_kswapd", VM_SCAN_KSWAPD },
	{ "pgscan_direct", VM_SCAN_DIRECT },
	{ "pgscan_khugepaged", VM_SCAN_KHUGEPAGED },
	{ "pgscan_proactive", VM_SCAN_PROACTIVE },
	{ "pgsteal_kswapd", VM_STEAL_KSWAPD },
	{ "pgsteal_direct", VM_STEAL_DIRECT },
	{ "pgsteal_khugepaged", VM_STEAL_KHUGEPAGED },
	{ "pgsteal_proactive", VM_STEAL_PROACTIVE },
	{ "allocstall", VM_STALLS },
	{ "pgscan_direct_throttle", VM_THROTTLED },
	{ "workingset_refault_anon", VM_REFAULT_ANON },
	{ "workingset_refault_file", VM_REFAULT_FILE },
	{ "workingset_refault", VM_REFAULT_FILE },	/* before v5.9: only files had them */
	{ "compact_stall", VM_COMPACT_STALL },
	{ "compact_fail", VM_COMPACT_FAIL },
	{ "compact_success", VM_COMPACT_SUCCESS },
	{ "oom_kill", VM_OOM_KILLS },
	{ "nr_zspages", VM_ZSPAGES },
	{ "nr_kernel_misc_reclaimable", VM_MISC_RECLAIMABLE },
	{ "nr_isolated_anon", VM_ISOLATED_ANON },
	{ "nr_isolated_file", VM_ISOLATED_FILE },
	{ "slabs_scanned", VM_SLABS_SCANNED },
	{ "nr_foll_pin_acquired", VM_PIN_ACQUIRED },
	{ "nr_foll_pin_released", VM_PIN_RELEASED },
	{ "thp_fault_alloc", VM_THP_FAULT },
	{ "thp_fault_fallback", VM_THP_FALLBACK },
	{ "thp_fault_fallback_charge", VM_THP_CHARGE },
	{ "thp_file_alloc", VM_THP_FILE },
	{ "thp_file_fallback", VM_THP_FILE_FALLBACK },
	{ "thp_file_mapped", VM_THP_FILE_MAPPED },
	{ "thp_collapse_alloc", VM_THP_COLLAPSE },
	{ "thp_collapse_alloc_failed", VM_THP_COLLAPSE_FAILED },
	{ "thp_split_page", VM_THP_SPLIT },
	{ "thp_split", VM_THP_SPLIT },		/* before v4.5 */
	{ "thp_split_page_failed", VM_THP_SPLIT_FAILED },
	{ "thp_split_pmd", VM_THP_SPLIT_PMD },
	{ "thp_swpout_fallback", VM_THP_SWAP_FALLBACK },
};

const char *fields_mem_name(enum machine_mem mem)
{
	return mem_names[mem];
}

const char *fields_vm_name(enum machine_vm vm)
{
	for (size_t i = 0; i < sizeof(vm_names) / sizeof(vm_names[0]); i++)
		if (vm_names[i].vm == vm)
			return vm_names[i].name;
	return "";
}

static bool is_zone(const char *name)
{
	static const char *const zones[] = {
		"dma", "dma32", "normal", "high", "movable", "device",
	};

	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++)
		if (!strcmp(name, zones[i]))
			return true;
	return false;
}

static bool vm_name_is(const char *name, const char *counter)
{
	const size_t len = strlen(counter);

	if (strncmp(name, counter, len))
		return false;
	return !name[len] || (name[len] == '_' && is_zone(name + len + 1));
}

void fields_parse_vm(char *text, struct machine_fields *f)
{
	const size_t nr = sizeof(vm_names) / sizeof(vm_names[0]);
	char *line, *name;
	__u64 v;

	while ((line = machine_line(&text))) {
		name = machine_word(&line);
		if (!name || !machine_number(machine_word(&line), &v))
			continue;
		for (size_t i = 0; i < nr; i++) {
			if (!vm_name_is(name, vm_names[i].name))
				continue;
			f->vm[vm_names[i].vm] += v;
			f->has_vm[vm_names[i].vm] = true;
			break;
		}
	}
}

/* some avg10=0.00 avg60=0.00 avg300=0.00 total=12345 */
void pressure_parse(char *text, struct machine_pressure *p)
{
	char *line, *word;
	double avg;
	__u64 total;
	bool full;

	while ((line = machine_line(&text))) {
		word = machine_word(&line);
		if (!word || (strcmp(word, "some") && strcmp(word, "full")))
			continue;
		full = !strcmp(word, "full");
		while ((word = machine_word(&line))) {
			if (!strncmp(word, "avg10=", 6)) {
				avg = strtod(word + 6, NULL);
				avg = avg >= 0 && avg <= 100 ? avg : 0;
				*(full ? &p->full_avg10 : &p->some_avg10) = avg;
			} else if (!strncmp(word, "total=", 6) &&
				   machine_number(word + 6, &total)) {
				*(full ? &p->full_us : &p->some_us) = total;
				p->has = true;
			}
		}
	}
}

bool pairs_value(const char *text, const char *name, __u64 *v)
{
	const size_t len = strlen(name);
	char word[24];
	size_t n;

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (strncmp(p, name, len) || p[len] != ' ')
			continue;
		n = strcspn(p + len + 1, "\n ");
		if (n >= sizeof(word))
			continue;
		memcpy(word, p + len + 1, n);
		word[n] = '\0';
		if (machine_number(word, v))
			return true;
	}
	return false;
}

bool limit_parse(const char *text, __u64 *v)
{
	char word[24];
	const size_t n = strcspn(text, "\n ");

	if (n >= sizeof(word))
		return false;
	memcpy(word, text, n);
	word[n] = '\0';
	if (!strcmp(word, "max")) {
		*v = ~0ULL;
		return true;
	}
	if (!machine_number(word, v))
		return false;
	/* v1 has no word for it, but the largest multiple of a page that it can count */
	if (*v >= 1ULL << 62)
		*v = ~0ULL;
	return true;
}
