// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of the kernel: which are kept, and whether they are what the machine grew by. */
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

static char *slab_dir(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%.200s", name);
	return realpath(path, NULL);
}

/* A cache that was merged with another one goes by that one's name. */
static const char *merged_with(const struct machine *m, const char *name)
{
	char *dir = slab_dir(name);
	const char *found = NULL;

	for (size_t i = 0; dir && !found && i < m->slabs.nr; i++) {
		char *other = slab_dir(m->slabs.at[i].name);

		if (other && !strcmp(dir, other))
			found = m->slabs.at[i].name;
		free(other);
	}
	free(dir);
	return found;
}

/* *@name becomes what the kernel calls it. */
static int find_cache(const char *cmd, const char **name, char buf[MEMTAP_CACHE_LEN])
{
	struct machine_at at = machine_here();
	const char *other = NULL;
	struct machine m;
	int ret = 0;

	if (strlen(*name) >= MEMTAP_CACHE_LEN)
		return usage_error(cmd, "--cache: '%s' is longer than a cache's name", *name);
	at.budget_ns = 1;
	if (machine_read(&at, MACHINE_SLAB, &m)) {
		machine_free(&m);
		return 0;
	}
	/* where nothing can be looked up, the module will tell by what comes */
	if (m.slabs.nr && !is_there(&m, *name)) {
		other = is_pattern(*name) ? NULL : merged_with(&m, *name);
		if (!other)
			ret = usage_error(cmd, "--cache: there is no cache '%s'; /proc/slabinfo "
					  "lists them", *name);
	}
	if (other) {
		note("cache %s is one with %s here: objects of both are kept", *name, other);
		snprintf(buf, MEMTAP_CACHE_LEN, "%s", other);
		*name = buf;
	}
	machine_free(&m);
	return ret;
}

static int find_module(const char *cmd, const char *name, __u64 *start, __u64 *end)
{
	const int err = sym_module_range(name, start, end);

	if (err == -ENOENT)
		return usage_error(cmd, "--module: there is no module '%s' loaded; lsmod lists "
				   "them", name);
	if (err)
		return fail_text("--module: where %s is cannot be found out: /proc/kallsyms shows "
				 "no addresses", name);
	return 0;
}

int watch_objects_find(struct watch *w, const struct opts *o, const char *cmd)
{
	const char *cache = o->cache;
	int ret = 0;

	if (cache) {
		ret = find_cache(cmd, &cache, w->objects.cache);
		if (cache == o->cache)
			snprintf(w->objects.cache, sizeof(w->objects.cache), "%s", cache);
	}
	if (!ret && o->module)
		ret = find_module(cmd, o->module, &w->objects.start, &w->objects.end);
	return ret;
}

int watch_objects_choose(struct watch *w)
{
	const struct watch_objects *c = &w->objects;
	const int err = dev_objects(w->session.fd, c->cache, c->start, c->end);

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
		else
			objects += net_bytes(&s->caches[i]);
	rest = slab - objects;
	snprintf(line, WATCH_OBJECTS_TEXT, "Slab of /proc/meminfo %s (unreclaimable: it %s); "
		 "objects handed out, less those taken back, %s, and those of kmalloc() that are "
		 "too large for a slab %s; what slabs have free, and what no event tells of, %s",
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
	if (!b)
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
	len = (size_t)snprintf(line, WATCH_OBJECTS_TEXT, "/proc/slabinfo agrees, to %lld objects, "
			       "about %zu cache%s", (long long)few, same, text_s(same));
	if (nr)
		qsort(all, nr, sizeof(*all), cmp_difference);
	for (size_t i = 0; i < nr && i < MOST_SHOWN && len < WATCH_OBJECTS_TEXT; i++)
		len += (size_t)snprintf(line + len, WATCH_OBJECTS_TEXT - len,
					"%s %s: %+lld there, %+lld seen", i ? "," : "; not about",
					all[i].name, (long long)all[i].said,
					(long long)all[i].seen);
	if (nr > MOST_SHOWN && len < WATCH_OBJECTS_TEXT)
		snprintf(line + len, WATCH_OBJECTS_TEXT - len, ", and %zu more", nr - MOST_SHOWN);
	free(all);
	return 1;
}

static size_t put_rest(const struct machine *then, const struct machine *now, char *line)
{
	char a[TEXT_LEN + 16], b[TEXT_LEN + 16], c[TEXT_LEN + 16];

	snprintf(line, WATCH_OBJECTS_TEXT, "beside slabs: percpu memory %s, vmalloc %s, free "
		 "memory %s; `memtap leaks -k --census` tells all kinds",
		 by(a, grew(then, now, MEM_PERCPU)), by(b, grew(then, now, MEM_VMALLOC_USED)),
		 by(c, grew(then, now, MEM_FREE)));
	return 1;
}

static size_t put_filtered(const struct snap *s, char *line)
{
	__u64 filtered = 0;

	for (size_t i = 0; i < s->nr_events; i++)
		filtered += s->events[i].filtered - s->events[i].own;
	if (!filtered)
		return 0;
	snprintf(line, WATCH_OBJECTS_TEXT, "only some objects were kept: what the machine grew by "
		 "cannot be compared");
	return 1;
}

static size_t put_missing(const struct snap *s, char *line)
{
	static const struct { const char *target, *what; } holes[] = {
		{ "kmem_cache_alloc_bulk", "objects that are handed out in bulk are not seen" },
		{ "kmem_cache_free_bulk", "objects that are taken back in bulk are not seen, and "
		  "look as if they leaked" },
	};
	size_t len = 0;

	for (size_t i = 0; i < s->nr_hooks; i++)
		for (size_t k = 0; k < sizeof(holes) / sizeof(holes[0]); k++)
			if (s->hooks[i].state != MEMTAP_HOOK_ATTACHED && s->hooks[i].error &&
			    !strncmp(s->hooks[i].target, holes[k].target,
				     strlen(holes[k].target)))
				len += (size_t)snprintf(line + len, WATCH_OBJECTS_TEXT / 2 - len,
							"%s%s", len ? "; " : "", holes[k].what);
	return len != 0;
}

size_t watch_objects_foot(const struct watch *w, const struct snap *s,
			  char (*lines)[WATCH_OBJECTS_TEXT])
{
	struct machine *now = w->machine_then ? look() : NULL;
	size_t nr = put_missing(s, lines[0]);

	if (now && put_filtered(s, lines[nr])) {
		nr++;
	} else if (now) {
		nr += put_slab(w->machine_then, now, s, lines[nr]);
		nr += put_caches(w->machine_then, now, s, lines[nr]);
		nr += put_rest(w->machine_then, now, lines[nr]);
	}
	if (now)
		machine_free(now);
	free(now);
	return nr;
}
