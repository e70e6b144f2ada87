// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a machine's memory as metrics for Prometheus and compatible collectors. */
#include <stdlib.h>
#include <string.h>

#include "render/metrics.h"

#define DIM(a)	(sizeof(a) / sizeof((a)[0]))

enum type { GAUGE, COUNTER };

struct metric {
	const char *name;		/* without "memtap_" and, of a counter, "_total" */
	const char *unit;		/* the name ends with it; NULL: none */
	enum type type;
	const char *help;
};

struct page {
	FILE *out;
	const struct metrics_opts *o;
	const struct metric *now;	/* whose samples are being written */
};

/*
 * OpenMetrics names a family without "_total" and has a UNIT line; the older format names
 * what stands before the samples.
 */
static void head(struct page *p, const struct metric *m)
{
	const char *total = m->type == COUNTER && !p->o->openmetrics ? "_total" : "";

	p->now = m;
	fprintf(p->out, "# HELP memtap_%s%s %s\n", m->name, total, m->help);
	fprintf(p->out, "# TYPE memtap_%s%s %s\n", m->name, total,
		m->type == COUNTER ? "counter" : "gauge");
	if (m->unit && p->o->openmetrics)
		fprintf(p->out, "# UNIT memtap_%s %s\n", m->name, m->unit);
}

/* How long the UTF-8 character at @s is; 0: it is none. */
static int utf8_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	const int len = *u < 0x80 ? 1 : *u >> 5 == 6 ? 2 : *u >> 4 == 14 ? 3 :
			*u >> 3 == 30 ? 4 : 0;

	for (int i = 1; i < len; i++)
		if (u[i] >> 6 != 2)
			return 0;
	if (len == 2 && *u < 0xc2)
		return 0;
	if (len == 3 && ((*u == 0xe0 && u[1] < 0xa0) || (*u == 0xed && u[1] > 0x9f)))
		return 0;
	if (len == 4 && ((*u == 0xf0 && u[1] < 0x90) || *u > 0xf4 ||
			 (*u == 0xf4 && u[1] > 0x8f)))
		return 0;
	return len;
}

/* A label's value: quotes, backslashes and ends of lines are escaped. */
static void label(FILE *out, const char *s)
{
	while (*s) {
		const int len = utf8_len(s);

		if (!len)
			fputc('?', out);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (len == 1 && ((unsigned char)*s < 0x20 || *s == 0x7f))
			fputc('?', out);
		else
			fwrite(s, 1, (size_t)len, out);
		s += len ? len : 1;
	}
}

/* @value is escaped, or needs not to be. */
static void begin_sample(struct page *p, const char *key, const char *value)
{
	fprintf(p->out, "memtap_%s%s", p->now->name, p->now->type == COUNTER ? "_total" : "");
	if (key)
		fprintf(p->out, "{%s=\"%s\"}", key, value);
}

static void sample(struct page *p, const char *key, const char *value, __u64 n)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %llu\n", (unsigned long long)n);
}

static void sample_signed(struct page *p, const char *key, const char *value, __s64 n)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %lld\n", (long long)n);
}

/* Microseconds as seconds. */
static void sample_us(struct page *p, const char *key, const char *value, __u64 us)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %llu.%06llu\n", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000));
}

static void one(struct page *p, const struct metric *m, __u64 n)
{
	head(p, m);
	sample(p, NULL, NULL, n);
}

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
	head(p, &family);
	for (int i = 0; i < NR_MACHINE_KIND; i++)
		if (a.has[i])
			sample_signed(p, "kind", names[i], a.bytes[i]);
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

	one(p, &size, mem[MEM_TOTAL]);
	one(p, &available, machine_available(m));
	head(p, &swap);
	sample(p, "state", "free", mem[MEM_SWAP_FREE]);
	sample(p, "state", "used", mem[MEM_SWAP_TOTAL] - mem[MEM_SWAP_FREE]);
	if (m->f.has_mem[MEM_COMMITTED])
		one(p, &commit, mem[MEM_COMMITTED]);
	if (m->f.has_mem[MEM_COMMIT_LIMIT])
		one(p, &limit, mem[MEM_COMMIT_LIMIT]);
}

static void pressure(struct page *p, const struct machine *m)
{
	static const struct metric family = {
		"pressure_seconds", "seconds", COUNTER,
		"Time in which some or all running tasks waited for memory (PSI).",
	};

	if (!m->psi.has)
		return;
	head(p, &family);
	sample_us(p, "kind", "some", m->psi.some_us);
	sample_us(p, "kind", "full", m->psi.full_us);
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
		"oom_kills", NULL, COUNTER, "Processes that the OOM killer killed.",
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
			head(p, all[i].of);
		last = all[i].of;
		sample(p, all[i].key, all[i].value, m->f.vm[all[i].vm]);
	}
}

/* A holder and its name as a label: names that look alike there are one. */
struct row {
	char *name;
	struct machine_holder sum;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static int more_bytes(const void *a, const void *b)
{
	const struct row *l = a, *r = b;

	if (l->sum.bytes != r->sum.bytes)
		return l->sum.bytes < r->sum.bytes ? 1 : -1;
	return strcmp(l->name, r->name);
}

static char *label_of(const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	label(f, name);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static void free_rows(struct row *rows, size_t nr)
{
	for (size_t i = 0; rows && i < nr; i++)
		free(rows[i].name);
	free(rows);
}

static void add(struct machine_holder *sum, const struct machine_holder *h)
{
	sum->bytes += h->bytes;
	sum->anon += h->anon;
	sum->swap += h->swap;
	sum->objects += h->objects;
	sum->hits += h->hits;
	sum->oom_kills += h->oom_kills;
	if (h->size < sum->size)
		sum->size = h->size;
}

/* The holders of a list by name, largest first; NULL: no memory.  @one: each is one object. */
static struct row *rows_of(const struct machine_list *l, bool each_one, size_t *nr)
{
	struct row *rows = calloc(l->nr + 1, sizeof(*rows));
	size_t kept = 0;

	for (size_t i = 0; rows && i < l->nr; i++) {
		rows[i].name = label_of(l->at[i].name);
		rows[i].sum = l->at[i];
		if (each_one)
			rows[i].sum.objects = 1;
		if (!rows[i].name) {
			free_rows(rows, i);
			return NULL;
		}
	}
	if (!rows)
		return NULL;
	qsort(rows, l->nr, sizeof(*rows), by_name);
	for (size_t i = 0; i < l->nr; i++) {
		if (kept && !strcmp(rows[kept - 1].name, rows[i].name)) {
			add(&rows[kept - 1].sum, &rows[i].sum);
			free(rows[i].name);
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), more_bytes);
	*nr = kept;
	return rows;
}

/* One value of each holder: which field of struct machine_holder. */
struct column {
	struct metric of;
	size_t offset;
	bool limited;		/* ~0 is no value */
};

struct kind {
	const char *key;
	const struct column *columns;
	size_t nr;
	struct metric left_out;
	bool each_one;		/* an object is one process */
};

static bool holders(struct page *p, const struct machine_list *l, const struct kind *k)
{
	struct row *rows;
	size_t nr, shown;

	if (!l->has)
		return true;
	rows = rows_of(l, k->each_one, &nr);
	if (!rows)
		return false;
	shown = nr < p->o->top ? nr : p->o->top;
	for (const struct column *c = k->columns; c < k->columns + k->nr; c++) {
		head(p, &c->of);
		for (size_t i = 0; i < shown; i++) {
			const __u64 v = *(const __u64 *)((const char *)&rows[i].sum + c->offset);

			if (!c->limited || v != ~0ULL)
				sample(p, k->key, rows[i].name, v);
		}
	}
	one(p, &k->left_out, nr - shown);
	free_rows(rows, nr);
	return true;
}

#define FIELD(f)	offsetof(struct machine_holder, f)

static bool all_holders(struct page *p, const struct machine *m)
{
	static const struct column of_cgroup[] = {
		{ { "cgroup_memory_bytes", "bytes", GAUGE,
		    "Memory charged to the largest cgroups, including their descendants." },
		  FIELD(bytes) },
		{ { "cgroup_limit_bytes", "bytes", GAUGE, "Memory limit of each listed cgroup, if "
		   "it has one." },
		  FIELD(size), true },
		{ { "cgroup_limit_hits", NULL, COUNTER, "How often each listed cgroup reached its "
		   "limit." },
		  FIELD(hits) },
		{ { "cgroup_oom_kills", NULL, COUNTER, "OOM kills in each listed cgroup." },
		  FIELD(oom_kills) },
	}, of_program[] = {
		{ { "program_memory_bytes", "bytes", GAUGE,
		    "RSS and swap of all processes with this name; shared pages count once per "
		    "process." },
		  FIELD(bytes) },
		{ { "program_anonymous_bytes", "bytes", GAUGE, "Anonymous memory of all processes "
		   "with this name." },
		  FIELD(anon) },
		{ { "program_swap_bytes", "bytes", GAUGE, "Swapped-out memory of all processes "
		   "with this name." }, FIELD(swap) },
		{ { "program_processes", NULL, GAUGE, "Number of processes with this name." },
		  FIELD(objects) },
	}, of_cache[] = {
		{ { "slab_bytes", "bytes", GAUGE, "Memory of the largest slab caches." },
		  FIELD(bytes) },
		{ { "slab_objects", NULL, GAUGE, "Objects in use in each listed slab cache." },
		   FIELD(objects) },
	};
	static const struct kind cgroups = {
		"cgroup", of_cgroup, DIM(of_cgroup),
		{ "cgroups_left_out", NULL, GAUGE,
		  "Number of smaller cgroups that are not listed." },
	}, programs = {
		"program", of_program, DIM(of_program),
		{ "programs_left_out", NULL, GAUGE, "Number of smaller programs that are not "
		 "listed." },
		true,
	}, caches = {
		"cache", of_cache, DIM(of_cache),
		{ "slabs_left_out", NULL, GAUGE, "Number of smaller slab caches that are not "
		 "listed." },
	};

	return holders(p, &m->cgroups, &cgroups) && holders(p, &m->processes, &programs) &&
	       holders(p, &m->slabs, &caches);
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
	};

	one(p, &processes, m->processes.late);
	one(p, &cgroups, m->cgroups.late);
	one(p, &gaps, m->nr_gaps);
}

bool render_metrics(const struct machine *m, const struct metrics_opts *o)
{
	struct page p = { .out = o->out, .o = o };

	sums(&p, m);
	kinds(&p, m);
	pressure(&p, m);
	events(&p, m);
	if (!all_holders(&p, m))
		return false;
	accounts(&p, m);
	if (o->openmetrics)
		fputs("# EOF\n", o->out);
	return true;
}
