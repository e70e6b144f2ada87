// SPDX-License-Identifier: GPL-2.0-or-later
/* Select the recorded kernel objects, and compare them with the machine's growth. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/pattern.h"
#include "base/text.h"
#include "machine/caches.h"
#include "machine/machine.h"
#include "session/dev.h"
#include "sym/sym.h"
#include "watch/watch.h"

/* ---- which ---- */

static bool is_there(const struct machine *m, const char *pattern)
{
	for (size_t i = 0; i < m->slabs.nr; i++)
		if (!fnmatch(pattern, m->slabs.at[i].name, 0))
			return true;
	return false;
}

/* Caches that were merged go by the name of one: those that a pattern has by another name alone. */
struct merged {
	size_t nr;
	const char *name, *alias;	/* of the first */
};

static struct merged find_merged(const struct machine *m, const struct machine_caches *c,
				 const char *pattern)
{
	struct merged f = { 0 };
	const char *alias;

	for (size_t i = 0; c && i < m->slabs.nr; i++) {
		const char *name = m->slabs.at[i].name;

		if (!fnmatch(pattern, name, 0))
			continue;
		for (size_t k = 0; (alias = machine_caches_alias(c, name, k)); k++)
			if (!fnmatch(pattern, alias, 0))
				break;
		if (!alias)
			continue;
		if (!f.nr++) {
			f.name = name;
			f.alias = alias;
		}
	}
	return f;
}

/* The module has one pattern, and knows a cache by the name that it goes by. */
static int take_merged(const char *cmd, const struct merged *f, bool there, const char **name,
		       char buf[MEMTAP_CACHE_LEN])
{
	char more[TEXT_LEN + 16] = "";

	if (f->nr > 1)
		snprintf(more, sizeof(more), " (and %zu more)", f->nr - 1);
	if (there) {
		note("--cache '%s' does not record objects of %s, which is merged with %s here%s: "
		     "use --cache %s", *name, f->alias, f->name, more, f->name);
		return 0;
	}
	if (f->nr > 1)
		return usage_error(cmd, "--cache: '%s' matches only names of merged caches: %s is "
				   "merged with %s%s; name one of these", *name, f->alias,
				   f->name, more);
	note("cache %s is merged with %s here: objects of both are recorded", f->alias, f->name);
	snprintf(buf, MEMTAP_CACHE_LEN, "%s", f->name);
	*name = buf;
	return 0;
}

/* *@name becomes what the kernel calls it. */
static int find_cache(const char *cmd, const char **name, char buf[MEMTAP_CACHE_LEN])
{
	struct machine_at at = machine_here();
	struct machine_caches *c;
	struct merged merged;
	struct machine m;
	bool there;
	int ret = 0;

	if (strlen(*name) >= MEMTAP_CACHE_LEN)
		return usage_error(cmd, "--cache: '%s' is longer than a cache's name", *name);
	at.budget_ns = 1;
	if (machine_read(&at, MACHINE_SLAB, &m)) {
		machine_free(&m);
		return 0;
	}
	c = machine_caches_read(&at);
	there = is_there(&m, *name);
	merged = find_merged(&m, c, *name);
	if (merged.nr)
		ret = take_merged(cmd, &merged, there, name, buf);
	/* where nothing can be looked up, the module will tell by what comes */
	else if (m.slabs.nr && !there)
		ret = usage_error(cmd, "--cache: there is no cache '%s'; /proc/slabinfo lists "
				  "them", *name);
	machine_caches_free(c);
	machine_free(&m);
	return ret;
}

static int find_module(const char *cmd, const char *name, __u64 *start, __u64 *end)
{
	const int err = sym_module_range(name, start, end);

	if (err == -ENOENT)
		return usage_error(cmd, "--module: no module '%s' is loaded; lsmod lists modules",
				   name);
	if (err)
		return fail_text("--module: the address of %s is unknown: /proc/kallsyms shows no "
				 "addresses", name);
	return 0;
}

/* The largest blocks that this kernel's allocator of pages has. */
static __u32 most_order(void)
{
	FILE *f = fopen("/proc/buddyinfo", "re");
	unsigned int words = 0;
	char line[1024], *at, *word;

	if (f && fgets(line, sizeof(line), f))
		for (at = strstr(line, "zone"); (word = at ? strsep(&at, " \n") : NULL);)
			words += *word != 0;
	if (f)
		fclose(f);
	/* "zone", its name, and a number for each order from 0 on */
	return words > 3 ? words - 3 : 10;
}

int watch_objects_order(const char *cmd, __u32 order, __u32 *orders)
{
	const __u32 most = most_order();

	if (order > most || order > 31)
		return usage_error(cmd, "--order %u: the largest order of this kernel is %u",
				   order, most);
	if (orders)
		*orders = 1U << order;
	return 0;
}

int watch_objects_find(struct watch *w, const struct opts *o, bool all_pages, const char *cmd)
{
	const char *cache = o->cache;
	int ret = 0;

	if (cache) {
		ret = find_cache(cmd, &cache, w->objects.cache);
		if (cache == o->cache)
			snprintf(w->objects.cache, sizeof(w->objects.cache), "%s", cache);
	}
	if (!ret && o->module) {
		w->module = o->module;
		w->module_base = sym_module_base(o->module);
		ret = find_module(cmd, o->module, &w->objects.start, &w->objects.end);
	}
	if (!ret && o->order_given)
		ret = watch_objects_order(cmd, o->order, &w->objects.orders);
	if (o->all_pages || all_pages)
		w->objects.flags |= MEMTAP_OBJECTS_MOVABLE;
	return ret;
}

int watch_objects_events(const struct opts *o, const char *events[WATCH_EVENTS])
{
	int nr = 0;

	if (!o->order_given)
		events[nr++] = "slab";
	if (!o->cache)
		events[nr++] = "pages";
	if (!o->cache && !o->order_given)
		events[nr++] = "vmalloc";
	if (o->percpu && !o->cache && !o->order_given)
		events[nr++] = "percpu";
	return nr;
}

int watch_objects_choose(struct watch *w)
{
	const int err = dev_objects(w->session.fd, &w->objects);

	return err ? fail(ERR_CONFIGURE, err, "%s", "which objects are kept") : 0;
}

/* ---- what the machine says ---- */

static struct machine *look(void)
{
	struct machine_at at = machine_here();
	struct machine *m = calloc(1, sizeof(*m));

	at.budget_ns = 1;	/* processes and cgroups are not asked about here */
	if (m && machine_read(&at, MACHINE_SLAB, m)) {
		machine_free(m);
		free(m);
		m = NULL;
	}
	return m;
}

void watch_objects_begin(struct watch *w)
{
	w->machine_then = look();
}

void watch_objects_end(struct watch *w)
{
	if (w->machine_then)
		machine_free(w->machine_then);
	free(w->machine_then);
	w->machine_then = NULL;
}

static __s64 grew(const struct machine *then, const struct machine *now, enum machine_mem f)
{
	return (__s64)(now->f.mem[f] - then->f.mem[f]);
}

/* What handed-out objects became more by: also by those that were there before and went. */
static __s64 net_bytes(const struct memtap_rec_cache *c)
{
	return (__s64)(c->bytes - c->freed_bytes - c->unknown_bytes);
}

static const char *by(char buf[TEXT_LEN + 16], __s64 bytes)
{
	char n[TEXT_LEN];

	if (!bytes)
		return "did not grow";
	snprintf(buf, TEXT_LEN + 16, "%s by %s", bytes < 0 ? "shrank" : "grew",
		 text_bytes(n, bytes < 0 ? -bytes : bytes, false));
	return buf;
}

static size_t put_slab(const struct machine *then, const struct machine *now,
		       const struct snap *s, char *line)
{
	const __s64 slab = grew(then, now, MEM_SLAB);
	__s64 objects = 0, large = 0, rest;
	char a[TEXT_LEN + 16], b[TEXT_LEN + 16], c[TEXT_LEN + 16], d[TEXT_LEN + 16],
	     e[TEXT_LEN + 16];

	if (!now->f.has_mem[MEM_SLAB] || !then->f.has_mem[MEM_SLAB])
		return 0;
	for (size_t i = 0; i < s->nr_caches; i++)
		if (s->caches[i].kind == MEMTAP_CACHE_LARGE)
			large += net_bytes(&s->caches[i]);
		else if (s->caches[i].kind <= MEMTAP_CACHE_OTHER)
			objects += net_bytes(&s->caches[i]);
	rest = slab - objects;
	snprintf(line, WATCH_OBJECTS_TEXT, "Slab of /proc/meminfo %s (unreclaimable: it %s); "
					   "objects allocated less freed %s, large kmalloc() %s; "
					   "free slab space and memory without events %s",
		 by(a, slab), by(b, grew(then, now, MEM_SUNRECLAIM)), by(c, objects), by(d, large),
		 by(e, rest));
	return 1;
}

/* A cache whose slabinfo says otherwise. */
struct difference {
	const char *name;
	__s64 said, seen;		/* objects */
};

static const struct machine_holder *holder(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->slabs.nr; i++)
		if (!strcmp(m->slabs.at[i].name, name))
			return &m->slabs.at[i];
	return NULL;
}

static int cmp_difference(const void *x, const void *y)
{
	const struct difference *a = x, *b = y;
	const __s64 d = llabs(b->said - b->seen) - llabs(a->said - a->seen);

	return d > 0 ? 1 : d < 0 ? -1 : strcmp(a->name, b->name);
}

static void compare(const struct machine *then, const struct machine *now,
		    const struct memtap_rec_cache *c, struct difference *d)
{
	const struct machine_holder *a = holder(then, c->name), *b = holder(now, c->name);

	*d = (struct difference){ .name = c->name };
	if (!b || c->kind > MEMTAP_CACHE_OTHER)
		return;
	d->said = (__s64)(b->objects - (a ? a->objects : 0));
	d->seen = (__s64)(c->allocs - c->frees - c->unknown);
}

#define MOST_SHOWN	3

/*
 * Slabinfo counts what a processor has in its own slab as in use: so a few dozen per
 * processor are no difference.
 */
static size_t put_caches(const struct machine *then, const struct machine *now,
			 const struct snap *s, char *line)
{
	const __s64 few = 64 * (__s64)now->cpus;
	struct difference *all = calloc(s->nr_caches + 1, sizeof(*all));
	size_t nr = 0, same = 0, len;

	for (size_t i = 0; all && i < s->nr_caches; i++) {
		compare(then, now, &s->caches[i], &all[nr]);
		if (llabs(all[nr].said - all[nr].seen) > few)
			nr++;
		else
			same += holder(now, s->caches[i].name) != NULL;
	}
	if (!all || (!nr && !same)) {
		free(all);
		return 0;
	}
	len = (size_t)snprintf(line, WATCH_OBJECTS_TEXT, "/proc/slabinfo agrees within %lld "
			       "objects for %zu cache%s", (long long)few, same, text_s(same));
	if (nr)
		qsort(all, nr, sizeof(*all), cmp_difference);
	for (size_t i = 0; i < nr && i < MOST_SHOWN && len < WATCH_OBJECTS_TEXT; i++)
		len += (size_t)snprintf(line + len, WATCH_OBJECTS_TEXT - len,
					"%s %s: %+lld there, %+lld recorded", i ? "," : "; not for",
					all[i].name, (long long)all[i].said,
					(long long)all[i].seen);
	if (nr > MOST_SHOWN && len < WATCH_OBJECTS_TEXT)
		snprintf(line + len, WATCH_OBJECTS_TEXT - len, ", and %zu more", nr - MOST_SHOWN);
	free(all);
	return 1;
}

/* Handed out and not taken back, of one kind. */
static __s64 left_of(const struct snap *s, __u32 kind)
{
	__s64 sum = 0;

	for (size_t i = 0; i < s->nr_caches; i++)
		if (s->caches[i].kind == kind)
			sum += (__s64)(s->caches[i].bytes - s->caches[i].freed_bytes);
	return sum;
}

/* "VmallocUsed grew by 3.0 MiB, of which areas that were handed out since are 2.0 MiB" */
static size_t put_kind(const struct machine *then, const struct machine *now,
		       const struct snap *s, enum machine_mem field, const char *name,
		       const char *group, __u32 kind, char *line)
{
	char a[TEXT_LEN + 16], b[TEXT_LEN];

	if (!now->f.has_mem[field] || !then->f.has_mem[field] || !snap_has_group(s, group))
		return 0;
	snprintf(line, WATCH_OBJECTS_TEXT, "%s of /proc/meminfo %s; allocated since then and not "
					   "freed: %s", name, by(a, grew(then, now, field)),
		 text_bytes(b, left_of(s, kind), false));
	return 1;
}

/* The kinds that consist of pages which the kernel asks its own allocator for. */
static const enum machine_kind of_pages[] = {
	KIND_SLAB_UNRECLAIM, KIND_SLAB_RECLAIM, KIND_STACKS, KIND_PAGE_TABLES, KIND_PERCPU,
	KIND_VMALLOC,
};

static size_t put_pages(const struct machine *then, const struct machine *now,
			const struct snap *s, char *line)
{
	char a[TEXT_LEN], b[TEXT_LEN + 16], c[TEXT_LEN + 16], d[TEXT_LEN + 16];
	struct machine_account was, is;
	__s64 kinds = 0;

	if (!snap_has_group(s, "pages"))
		return 0;
	machine_account(then, &was);
	machine_account(now, &is);
	for (size_t i = 0; i < sizeof(of_pages) / sizeof(of_pages[0]); i++)
		kinds += is.bytes[of_pages[i]] - was.bytes[of_pages[i]];
	snprintf(line, WATCH_OBJECTS_TEXT, "pages that the kernel allocated since then and did not "
		 "free: %s; slabs, vmalloc, percpu memory, stacks and page tables, which consist "
		 "of such pages, %s (page tables: %s); memory that /proc/meminfo does not account "
		 "for %s",
		 text_bytes(a, left_of(s, MEMTAP_CACHE_PAGES), false), by(b, kinds),
		 by(c, grew(then, now, MEM_PAGE_TABLES)),
		 by(d, is.bytes[KIND_UNACCOUNTED] - was.bytes[KIND_UNACCOUNTED]));
	return 1;
}

/* Pages without an event: of those that come so, only the end is seen. */
static size_t put_unknown(const struct snap *s, char *line)
{
	char n[TEXT_LEN], bytes[TEXT_LEN];
	__u64 nr = 0, sum = 0;

	for (size_t i = 0; i < s->nr_caches; i++)
		if (s->caches[i].kind == MEMTAP_CACHE_PAGES) {
			nr += s->caches[i].unknown;
			sum += s->caches[i].unknown_bytes;
		}
	if (!nr)
		return 0;
	snprintf(line, WATCH_OBJECTS_TEXT, "%s blocks of pages (%s) were freed whose allocation is "
					   "not recorded: allocated before the start, by programs "
					   "and files (movable), or by alloc_contig_range() and "
					   "compaction, which have no event",
		 text_count(n, nr), text_bytes(bytes, (__s64)sum, false));
	return 1;
}

static size_t put_rest(const struct machine *then, const struct machine *now,
		       const struct snap *s, char *line)
{
	const bool percpu = snap_has_group(s, "percpu"), vmalloc = snap_has_group(s, "vmalloc");
	char a[TEXT_LEN + 16], b[TEXT_LEN + 16], c[TEXT_LEN + 16];

	snprintf(line, WATCH_OBJECTS_TEXT, "%s%s%s%s%s%sfree memory %s; `memtap leaks -k --census` "
		 "shows all kinds", percpu ? "" : "percpu memory ",
		 percpu ? "" : by(a, grew(then, now, MEM_PERCPU)),
		 percpu ? "" : " (--percpu records it), ",
		 vmalloc ? "" : "vmalloc ",
		 vmalloc ? "" : by(b, grew(then, now, MEM_VMALLOC_USED)),
		 vmalloc ? "" : ", ",
		 by(c, grew(then, now, MEM_FREE)));
	return 1;
}

static size_t put_filtered(const struct watch *w, const struct snap *s, char *line)
{
	__u64 filtered = 0;

	/* pages that may be moved never are */
	for (size_t i = 0; i < s->nr_events; i++)
		if (strcmp(s->events[i].group, "pages") != 0)
			filtered += s->events[i].filtered - s->events[i].own;
	if (!filtered && !w->objects.orders)
		return 0;
	snprintf(line, WATCH_OBJECTS_TEXT, "only some objects were recorded: totals cannot be "
					   "compared with the machine's growth");
	return 1;
}

/* What is kept is chosen by addresses, and those are its code's no more. */
static size_t put_module(const struct watch *w, char *line)
{
	const __u64 base = w->module ? sym_module_base(w->module) : w->module_base;

	if (base == w->module_base)
		return 0;
	snprintf(line, WATCH_OBJECTS_TEXT, "module %s %s: only its earlier allocations are shown",
		 w->module, base ? "was reloaded meanwhile" : "was unloaded");
	return 1;
}

/* A function that this kernel has not hands out nothing, and takes nothing back. */
static bool is_hole(const struct memtap_rec_hook *h, const char *target)
{
	return h->state != MEMTAP_HOOK_ATTACHED && h->error && h->error != ENOENT &&
	       !strncmp(h->target, target, strlen(target));
}

static size_t put_missing(const struct snap *s, char *line)
{
	static const struct { const char *target, *what; } holes[] = {
		{ "kmem_cache_alloc_bulk", "bulk allocations of objects are not recorded" },
		{ "kmem_cache_free_bulk", "bulk frees of objects are not recorded: these objects "
					  "look like leaks" },
		{ "alloc_pages_bulk", "bulk allocations of pages are not recorded" },
		{ "__alloc_pages_bulk", "bulk allocations of pages are not recorded" },
		{ "__vmalloc_", "allocations by vmalloc() are not recorded" },
		{ "vfree", "frees by vfree() are not recorded: these areas look like leaks" },
	};
	size_t len = 0;

	for (size_t i = 0; i < s->nr_hooks; i++)
		for (size_t k = 0; k < sizeof(holes) / sizeof(holes[0]); k++)
			if (is_hole(&s->hooks[i], holes[k].target))
				len += (size_t)snprintf(line + len, WATCH_OBJECTS_TEXT / 2 - len,
							"%s%s", len ? "; " : "", holes[k].what);
	return len != 0;
}

size_t watch_objects_footer(const struct watch *w, const struct snap *s,
			    char (*lines)[WATCH_OBJECTS_TEXT])
{
	struct machine *now = w->machine_then ? look() : NULL;
	size_t nr = put_missing(s, lines[0]);

	nr += put_module(w, lines[nr]);
	if (now && put_filtered(w, s, lines[nr])) {
		nr++;
	} else if (now) {
		if (snap_has_group(s, "slab")) {
			nr += put_slab(w->machine_then, now, s, lines[nr]);
			nr += put_caches(w->machine_then, now, s, lines[nr]);
		}
		nr += put_kind(w->machine_then, now, s, MEM_VMALLOC_USED, "VmallocUsed", "vmalloc",
			       MEMTAP_CACHE_VMALLOC, lines[nr]);
		nr += put_kind(w->machine_then, now, s, MEM_PERCPU, "Percpu", "percpu",
			       MEMTAP_CACHE_PERCPU, lines[nr]);
		nr += put_pages(w->machine_then, now, s, lines[nr]);
		nr += put_unknown(s, lines[nr]);
		nr += put_rest(w->machine_then, now, s, lines[nr]);
	}
	if (now)
		machine_free(now);
	free(now);
	return nr;
}
