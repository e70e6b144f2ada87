// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the kind of kernel memory that grows, by the census. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"

static struct triage_finding *grown(struct triage *t, enum triage_what what, __s64 grew,
				    const char *name)
{
	struct triage_finding *f = found_new(t, what, growth_score(t, grew));

	f->grew = grew;
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

static void say(const struct triage *t, struct triage_finding *f, const char *what,
		const char *name, __u64 has)
{
	char grew[TEXT_LEN], all[TEXT_LEN], end[64];

	found_seen(f, "%s%s%.350s grew by %s in %.1f s, to %s%s", what, *name ? " " : "", name,
		   text_bytes(grew, f->grew, false), t->seconds,
		   text_bytes(all, (__s64)has, false),
		   growth_end(t, f->grew, end, sizeof(end)));
}

static void find_slab(struct triage *t)
{
	const struct machine_growth *g = t->slabs;
	struct triage_finding *f;
	char name[360];

	/* the first is the largest; one that can shrink is for reclaim to take care of */
	for (size_t i = 0; i < t->now->slabs.nr && g[i].grew >= triage_floor(t); i++) {
		if (!g[i].before || g[i].now->reclaimable)
			continue;
		f = grown(t, FOUND_SLAB, g[i].grew, g[i].now->name);
		snprintf(name, sizeof(name), g[i].now->also ? "%.100s (which is also %.200s)" :
			 "%.100s", g[i].now->name, g[i].now->also);
		say(t, f, "the slab cache", name, g[i].now->bytes);
		return;
	}
	if (kind_grew(t, KIND_SLAB_UNRECLAIM) >= triage_floor(t)) {
		f = grown(t, FOUND_SLAB, kind_grew(t, KIND_SLAB_UNRECLAIM), "");
		say(t, f, "unreclaimable slab", "", t->now->f.mem[MEM_SUNRECLAIM]);
	}
}

static void find_vmalloc(struct triage *t)
{
	const struct machine_growth *g = t->callers;
	struct triage_finding *f;

	if (!t->now->callers.nr || !t->before->callers.nr || g->grew < triage_floor(t) ||
	    kind_grew(t, KIND_VMALLOC) < triage_floor(t))
		return;
	f = grown(t, FOUND_VMALLOC, g->grew, g->now->name);
	/* "caller [module]": a probe wants the function */
	f->name[strcspn(f->name, " ")] = '\0';
	say(t, f, "vmalloc memory of", g->now->name, g->now->bytes);
}

static void find_tables(struct triage *t)
{
	const __s64 grew = kind_grew(t, KIND_PAGE_TABLES);
	const struct machine_holder *h;
	struct triage_finding *f;

	if (grew < triage_floor(t))
		return;
	f = grown(t, FOUND_PAGE_TABLES, grew, "");
	h = kernel_tables_of(t);
	if (h) {
		f->pid = h->pid;
		snprintf(f->name, sizeof(f->name), "%s", h->name);
	}
	if (f->pid) {
		char name[64];

		snprintf(name, sizeof(name), "of %.20s (%u)", f->name, f->pid);
		say(t, f, "page tables, most of them", name, t->now->f.mem[MEM_PAGE_TABLES]);
	} else {
		say(t, f, "page tables", "", t->now->f.mem[MEM_PAGE_TABLES]);
	}
}

static void find_kind(struct triage *t, enum triage_what what, enum machine_kind kind,
		      __s64 floor, const char *words)
{
	struct triage_finding *f;

	if (!t->is.has[kind] || !t->was.has[kind] || kind_grew(t, kind) < floor)
		return;
	f = grown(t, what, kind_grew(t, kind), "");
	say(t, f, words, "", (__u64)t->is.bytes[kind]);
}

static void find_sockets(struct triage *t)
{
	const __s64 grew = (__s64)(t->now->socket_pages - t->before->socket_pages) *
			   t->now->page;
	struct triage_finding *f;

	if (grew < triage_floor(t))
		return;
	f = grown(t, FOUND_SOCKETS, grew, "");
	/* it is in slab and pages, too: said first, since it says whose */
	f->score++;
	say(t, f, "memory of sockets", "", t->now->socket_pages * t->now->page);
}

/* Pages of users and of files are allocated somewhere, too, and those of slab. */
static bool is_common(const char *site)
{
	static const char *const files[] = {
		"mm/memory.c", "mm/filemap.c", "mm/shmem.c", "mm/readahead.c",
		"mm/huge_memory.c", "mm/slub.c", "mm/mempolicy.c",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strncmp(site, files[i], strlen(files[i])))
			return true;
	return false;
}

static void find_site(struct triage *t)
{
	const struct machine_growth *g = t->sites;
	struct triage_finding *f;
	const char *func;

	if (!t->now->sites.nr || !t->before->sites.nr)
		return;
	for (size_t i = 0; i < t->now->sites.nr && g[i].grew >= triage_floor(t); i++) {
		func = strstr(g[i].now->name, " func:");
		if (is_common(g[i].now->name) || !func)
			continue;
		f = grown(t, FOUND_SITE, g[i].grew, func + strlen(" func:"));
		f->name[strcspn(f->name, " ")] = '\0';
		/* the line itself says more than its kind */
		f->score++;
		say(t, f, "memory allocated at", g[i].now->name, g[i].now->bytes);
		return;
	}
}

void find_kernel(struct triage *t)
{
	struct triage_finding *f;

	find_slab(t);
	find_vmalloc(t);
	find_tables(t);
	find_kind(t, FOUND_STACKS, KIND_STACKS, triage_floor(t), "kernel stacks of threads");
	find_kind(t, FOUND_PERCPU, KIND_PERCPU, triage_floor(t), "memory per processor");
	/* what is read one after the other does not add up exactly */
	find_kind(t, FOUND_PAGES, KIND_UNACCOUNTED, 2 * triage_floor(t),
		  "memory without a counter");
	find_sockets(t);
	find_site(t);
	find_reclaimable(t);
	if (t->nr_found)
		return;
	f = found_new(t, FOUND_NO_KERNEL, 1);
	found_seen(f, "no kind of kernel memory grew by as much as %lld KiB in %.1f s",
		   (long long)(triage_floor(t) >> 10), t->seconds);
}
