// SPDX-License-Identifier: GPL-2.0-or-later
/* Print `memtap triage`: the USE method's questions about memory, on one screen. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "render/triage_int.h"
#include "render/triage_recorded.h"

#define BAR	20

static void put_label(const struct triage *t, const struct triage_opts *o, const char *label,
		      enum triage_line line)
{
	char text[16];

	snprintf(text, sizeof(text), "%-9s", label);
	fputs("  ", o->out);
	page_paint(o, page_level(t->level[line]), text);
	fputc(' ', o->out);
}

static enum triage_level worst(const struct triage *t, enum triage_line first,
			       enum triage_line last)
{
	enum triage_level level = LEVEL_OK;

	for (int i = first; i <= (int)last; i++)
		level = t->level[i] > level ? t->level[i] : level;
	return level;
}

static void put_group(const struct triage *t, const struct triage_opts *o, const char *name,
		      enum triage_line first, enum triage_line last)
{
	static const char *const words[] = { "", "  (watch)", "  (high)" };
	const enum triage_level level = worst(t, first, last);

	fputc('\n', o->out);
	page_paint(o, page_level(level), name);
	fprintf(o->out, "%s\n", words[level]);
}

static void put_bar(const struct triage *t, const struct triage_opts *o, enum triage_line line,
		    __u64 used, __u64 total)
{
	const double part = total ? (double)used / (double)total : 0;
	const int full = (int)(part * BAR + 0.5);
	char bar[BAR + 1];

	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)(full < 0 ? 0 : full > BAR ? BAR : full));
	bar[BAR] = '\0';
	fputc('[', o->out);
	page_paint(o, page_level(t->level[line]), bar);
	fprintf(o->out, "] %3.0f %%  ", part * 100);
}

/* " (+1.0 MiB)", or nothing where nothing changed */
static void put_change(FILE *out, __s64 grew)
{
	char text[TEXT_LEN];

	if (grew)
		fprintf(out, " (%s)", text_bytes(text, grew, true));
}

static void put_amount(FILE *out, const char *name, __s64 bytes, __s64 grew)
{
	char text[TEXT_LEN];

	fprintf(out, "%s%s %s", *name ? ", " : "", name, text_bytes(text, bytes, false));
	put_change(out, grew);
}

static __s64 kernel_of(const struct machine_account *a)
{
	__s64 sum = 0;

	for (int i = KIND_SLAB_UNRECLAIM; i <= KIND_VMALLOC; i++)
		sum += a->bytes[i];
	return sum;
}

static void put_kinds(const struct triage *t, FILE *out)
{
	const __s64 *is = t->is.bytes, *was = t->was.bytes;
	char text[TEXT_LEN];

	fprintf(out, "            anonymous %s", text_bytes(text, is[KIND_ANON], false));
	put_change(out, is[KIND_ANON] - was[KIND_ANON]);
	put_amount(out, "files", is[KIND_FILE], is[KIND_FILE] - was[KIND_FILE]);
	put_amount(out, "shared", is[KIND_SHMEM], is[KIND_SHMEM] - was[KIND_SHMEM]);
	fprintf(out, "\n            kernel %s", text_bytes(text, kernel_of(&t->is), false));
	put_change(out, kernel_of(&t->is) - kernel_of(&t->was));
	if (is[KIND_HUGETLB])
		put_amount(out, "huge pages", is[KIND_HUGETLB],
			   is[KIND_HUGETLB] - was[KIND_HUGETLB]);
	if (is[KIND_ZSMALLOC])
		put_amount(out, "compressed", is[KIND_ZSMALLOC],
			   is[KIND_ZSMALLOC] - was[KIND_ZSMALLOC]);
	put_amount(out, "unaccounted", is[KIND_UNACCOUNTED],
		   is[KIND_UNACCOUNTED] - was[KIND_UNACCOUNTED]);
	fputc('\n', out);
}

static void put_notes(const struct triage *t, FILE *out)
{
	const __u64 *mem = t->now->f.mem;
	const __u64 idle = mem[MEM_HUGE_FREE] > mem[MEM_HUGE_RSVD] ?
			   mem[MEM_HUGE_FREE] - mem[MEM_HUGE_RSVD] : 0;
	char text[TEXT_LEN], all[TEXT_LEN];

	if (idle && idle * mem[MEM_HUGE_SIZE] * 20 > mem[MEM_TOTAL])
		fprintf(out, "            %llu huge pages are set aside and unused: %s\n",
			(unsigned long long)idle,
			text_bytes(text, (__s64)(idle * mem[MEM_HUGE_SIZE]), false));
	if (mem[MEM_CORRUPTED])
		fprintf(out, "            broken, and taken out of use: %s\n",
			text_bytes(text, (__s64)mem[MEM_CORRUPTED], false));
	for (size_t i = 0; t->now->nodes.nr > 1 && i < t->now->nodes.nr; i++) {
		const struct machine_holder *n = t->nodes[i].now;

		if (n->size && (n->size - n->bytes) * 50 < n->size &&
		    mem[MEM_FREE] * 10 > mem[MEM_TOTAL])
			fprintf(out, "            %s is full, others are not: %s of %s used\n",
				n->name, text_bytes(text, (__s64)n->bytes, false),
				text_bytes(all, (__s64)n->size, false));
	}
}

static void put_memory(const struct triage *t, const struct triage_opts *o)
{
	const __u64 total = t->now->f.mem[MEM_TOTAL];
	const __u64 available = machine_available(t->now), had = machine_available(t->before);
	char used[TEXT_LEN], all[TEXT_LEN], left[TEXT_LEN], free_text[TEXT_LEN];
	FILE *out = o->out;

	put_label(t, o, "memory", LINE_MEMORY);
	put_bar(t, o, LINE_MEMORY, total - available, total);
	fprintf(out, "%s of %s\n            available %s%s",
		text_bytes(used, (__s64)(total - available), false),
		text_bytes(all, (__s64)total, false),
		text_bytes(left, (__s64)available, false),
		t->now->f.has_mem[MEM_AVAILABLE] ? "" : " (estimated)");
	put_change(out, (__s64)(available - had));
	fprintf(out, ", free %s\n",
		text_bytes(free_text, (__s64)t->now->f.mem[MEM_FREE], false));
	put_kinds(t, out);
	put_notes(t, out);
}

static void put_swap(const struct triage *t, const struct triage_opts *o)
{
	const __u64 *mem = t->now->f.mem;
	const __u64 used = mem[MEM_SWAP_TOTAL] - mem[MEM_SWAP_FREE];
	char text[TEXT_LEN], all[TEXT_LEN];

	put_label(t, o, "swap", LINE_SWAP);
	if (!mem[MEM_SWAP_TOTAL]) {
		fputs("none\n", o->out);
		return;
	}
	put_bar(t, o, LINE_SWAP, used, mem[MEM_SWAP_TOTAL]);
	fprintf(o->out, "%s of %s", text_bytes(text, (__s64)used, false),
		text_bytes(all, (__s64)mem[MEM_SWAP_TOTAL], false));
	put_change(o->out, -triage_mem_grew(t, MEM_SWAP_FREE));
	for (size_t i = 0; i < t->now->swaps.nr && i < 3; i++) {
		fputs(i ? ", " : "; ", o->out);
		text_put(o->out, t->now->swaps.at[i].name, NULL);
	}
	if (t->now->zram_bytes)
		fprintf(o->out, "; zram takes %s",
			text_bytes(text, (__s64)t->now->zram_bytes, false));
	if (mem[MEM_ZSWAPPED])
		fprintf(o->out, "; zswap has %s in %s",
			text_bytes(text, (__s64)mem[MEM_ZSWAPPED], false),
			text_bytes(all, (__s64)mem[MEM_ZSWAP], false));
	fputc('\n', o->out);
}

static void put_holders(const struct triage *t, const struct triage_opts *o)
{
	const struct machine *m = t->now;
	const struct page_holders kinds[] = {
		{ .kind = "process", .at = t->processes, .nr = m->processes.nr, .top = 4,
		  .pss = true },
		{ .kind = "cgroup", .at = t->cgroups, .nr = m->cgroups.nr, .top = 3,
		  .limits = true, .no_root = true },
		{ .kind = "slab", .at = t->slabs, .nr = m->slabs.nr, .top = 2,
		  .unit = "object" },
		{ .kind = "tmpfs", .at = t->tmpfs, .nr = m->tmpfs.nr, .top = 2,
		  .limits = true },
		{ .kind = "deleted", .at = t->deleted, .nr = m->deleted.nr, .top = 2,
		  .unit = "holder" },
	};

	fprintf(o->out, "  %-10s%-38s %11s  %11s\n", "who", "", "HOLDS", "GREW");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		page_holders(t, o, &kinds[i]);
}

/* A number a second; where the kernel does not count it, a dash. */
static const char *rate(const struct triage *t, enum machine_vm vm, char buf[TEXT_LEN])
{
	const double r = triage_rate(t, vm);

	if (!t->now->f.has_vm[vm])
		return "-";
	if (r > 0 && r < 9.95) {
		snprintf(buf, TEXT_LEN, "%.1f", r);
		return buf;
	}
	return text_count(buf, (__u64)(r + 0.5));
}

static void put_swapping(const struct triage *t, const struct triage_opts *o)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	put_label(t, o, "swapping", LINE_SWAPPING);
	fprintf(o->out, "pages/s: in %s, out %s", rate(t, VM_SWAP_IN, a),
		rate(t, VM_SWAP_OUT, b));
	if (triage_delta(t, VM_REFAULT_ANON))
		fprintf(o->out, ", refaulted %s", rate(t, VM_REFAULT_ANON, a));
	fputc('\n', o->out);
}

static void put_faults(const struct triage *t, const struct triage_opts *o)
{
	const double all = triage_rate(t, VM_FAULTS), major = triage_rate(t, VM_MAJOR);
	char a[TEXT_LEN], b[TEXT_LEN];

	put_label(t, o, "faults", LINE_FAULTS);
	fprintf(o->out, "per s: minor %s, major %s\n",
		text_count(a, (__u64)(all > major ? all - major + 0.5 : 0)),
		rate(t, VM_MAJOR, b));
}

static void put_reclaim(const struct triage *t, const struct triage_opts *o)
{
	static const enum machine_vm scans[] = {
		VM_SCAN_KSWAPD, VM_SCAN_DIRECT, VM_SCAN_KHUGEPAGED, VM_SCAN_PROACTIVE,
	};
	static const enum machine_vm steals[] = {
		VM_STEAL_KSWAPD, VM_STEAL_DIRECT, VM_STEAL_KHUGEPAGED, VM_STEAL_PROACTIVE,
	};
	__u64 scanned = 0, stolen = 0;
	char a[TEXT_LEN], b[TEXT_LEN], c[TEXT_LEN];

	for (int i = 0; i < 4; i++) {
		scanned += triage_delta(t, scans[i]);
		stolen += triage_delta(t, steals[i]);
	}
	put_label(t, o, "reclaim", LINE_RECLAIM);
	fprintf(o->out, "pages/s: scanned by kswapd %s, directly %s, reclaimed %s",
		rate(t, VM_SCAN_KSWAPD, a), rate(t, VM_SCAN_DIRECT, b),
		text_count(c, (__u64)((double)stolen / (t->seconds > 0 ? t->seconds : 1) + 0.5)));
	if (scanned)
		fprintf(o->out, " (%.0f %%)", (double)stolen * 100 / (double)scanned);
	if (triage_delta(t, VM_REFAULT_FILE))
		fprintf(o->out, ", refaulted %s", rate(t, VM_REFAULT_FILE, a));
	fputc('\n', o->out);
}

static void put_stalls(const struct triage *t, const struct triage_opts *o)
{
	const double some = triage_some(t), full = triage_full(t);
	char a[TEXT_LEN];

	put_label(t, o, "stalls", LINE_STALLS);
	if (some >= 0)
		fprintf(o->out, "%.1f %% of the time some tasks waited, %.1f %% all (PSI); ", some,
			full);
	else
		fputs("this kernel has no PSI; ", o->out);
	fprintf(o->out, "direct reclaims/s: %s\n", rate(t, VM_STALLS, a));
}

static void put_fragments(const struct triage *t, const struct triage_opts *o)
{
	const double unusable = triage_unusable(t->now);
	char a[TEXT_LEN], b[TEXT_LEN];

	put_label(t, o, "fragments", LINE_FRAGMENTS);
	fprintf(o->out, "per s: waits for compaction %s, failed %s",
		rate(t, VM_COMPACT_STALL, a), rate(t, VM_COMPACT_FAIL, b));
	if (unusable >= 0)
		fprintf(o->out, "; %.0f %% of free memory is in blocks below %d pages", unusable,
			1 << TRIAGE_ORDER);
	fputc('\n', o->out);
}

static void put_short(const struct machine_kill *k, FILE *out)
{
	static const char *const words[] = {
		[SHORT_UNKNOWN] = "the log does not say whose memory was short",
		[SHORT_MACHINE] = "the whole machine was short",
		[SHORT_NODES] = "the machine or some of its nodes were short",
		[SHORT_CGROUP] = "at the limit of a cgroup that the log does not name",
		[SHORT_CPUSET] = "the nodes of a cpuset were short",
		[SHORT_POLICY] = "the nodes of a memory policy were short",
	};

	if (k->what != SHORT_CGROUP || !*k->cgroup) {
		fputs(words[k->what], out);
		return;
	}
	fputs("at the limit of ", out);
	text_put(out, k->cgroup, NULL);
}

static void put_kills(const struct triage *t, const struct triage_opts *o)
{
	const struct machine_log *log = &t->now->log;
	const __u64 nr = log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS;
	char text[TEXT_LEN];

	put_label(t, o, "OOM kills", LINE_KILLS);
	fprintf(o->out, "%s in %.1f s", text_count(text, t->new_kills), t->seconds);
	if (t->now->f.has_vm[VM_OOM_KILLS])
		fprintf(o->out, ", %s since boot",
			text_count(text, t->now->f.vm[VM_OOM_KILLS]));
	else if (log->has)
		fprintf(o->out, ", %s in the kernel's log", text_count(text, log->nr));
	fputc('\n', o->out);
	for (__u64 i = nr > 2 ? nr - 2 : 0; i < nr; i++) {
		const struct machine_kill *k = &log->kills[i];
		const double ago = t->now->uptime > k->at ? t->now->uptime - k->at : 0;

		fprintf(o->out, "            %.0f s ago: ", ago);
		text_put(o->out, k->comm, NULL);
		fprintf(o->out, " (%u), %s, ", k->pid, text_bytes(text, (__s64)k->rss, false));
		put_short(k, o->out);
		fputc('\n', o->out);
	}
}

static void put_failures(const struct triage *t, const struct triage_opts *o)
{
	const struct machine_log *log = &t->now->log;
	char text[TEXT_LEN];

	if (!log->failures)
		return;
	put_label(t, o, "failures", LINE_FAILURES);
	fprintf(o->out, "%s allocation%s in the kernel's log; last: order %u, ",
		text_count(text, log->failures), text_s(log->failures), log->failed_order);
	text_put(o->out, log->failed_comm, NULL);
	fprintf(o->out, ", %.0f s ago\n",
		t->now->uptime > log->failed_at ? t->now->uptime - log->failed_at : 0);
}

void render_triage(const struct triage *t, const struct triage_opts *o)
{
	if (o->json) {
		render_triage_json(t, o);
		return;
	}
	page_head(t, o, "memtap triage");
	put_group(t, o, "Utilisation", LINE_MEMORY, LINE_SWAP);
	put_memory(t, o);
	put_swap(t, o);
	put_holders(t, o);
	put_group(t, o, "Saturation", LINE_SWAPPING, LINE_FRAGMENTS);
	put_swapping(t, o);
	put_faults(t, o);
	put_reclaim(t, o);
	put_stalls(t, o);
	if (o->recorded)
		render_recorded_waits(o->recorded, t->seconds, o->out);
	put_fragments(t, o);
	put_group(t, o, "Errors", LINE_KILLS, LINE_FAILURES);
	put_kills(t, o);
	put_failures(t, o);
	if (o->recorded)
		render_recorded_sums(o->recorded, t->seconds, o->out);
	page_footer(t, o);
}
