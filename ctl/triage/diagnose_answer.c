// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a report's JSON, and keep its largest row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "triage/diagnose.h"

/* Files whose functions pass memory on: the caller is who wants it. */
static const char *const allocators[] = {
	"libc.", "libc-", "libstdc++", "libpthread", "ld-", "ld.", "libjemalloc", "libtcmalloc",
	"libmimalloc", "musl", "libm.", "libm-",
};

/* Functions of the kernel that do so; "_" in front of them does not count. */
static const char *const kernel_allocators[] = {
	"kmem_cache_", "kmalloc", "kzalloc", "kcalloc", "krealloc", "kvmalloc", "kvzalloc",
	"vmalloc", "vzalloc", "vmap", "alloc_pages", "alloc_page", "alloc_frozen", "get_free_pages",
	"get_zeroed_page", "folio_alloc", "pcpu_alloc", "alloc_percpu", "slab_", "kmemdup",
	"do_kmalloc", "do_kmem", "do_alloc_pages", "vmalloc_node", "kmem_alloc", "alloc_bulk",
	"alloc_skb", "build_skb", "napi_alloc_skb", "netdev_alloc_skb", "sock_alloc_send",
	"sock_wmalloc",
};

static bool begins(const char *text, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

#define BEGINS(text, words)	begins(text, words, sizeof(words) / sizeof((words)[0]))

static bool passes_on(const struct answer_frame *f, bool kernel)
{
	if (!kernel)
		return BEGINS(f->object, allocators) || !strcmp(f->name, "malloc") ||
		       !strcmp(f->name, "_start") || !strncmp(f->name, "operator new", 12);
	return !strcmp(f->object, "kernel") &&
	       BEGINS(f->name + strspn(f->name, "_"), kernel_allocators);
}

static void copy(char *to, size_t room, const char *text)
{
	snprintf(to, room, "%.*s", (int)(room - 1), text);
}

#define COPY(to, text)	copy(to, sizeof(to), text)

#define MOST_EVENTS	16

/* What was read so far. */
struct reading {
	struct answer *to;
	struct answer_row row;
	struct answer_frame frame;
	struct {
		char name[64], unit[8];
		__u64 weight, largest;
		struct answer_row best;
	} events[MOST_EVENTS];
	size_t nr;
	char name[64], unit[8];
	__u64 count;
	__s64 sum;
};

static void end_frame(struct reading *a, bool kernel)
{
	struct answer_row *r = &a->row;
	size_t *nr = kernel ? &r->nr_kernel : &r->nr_user;

	if (!*a->frame.object)
		return;			/* a mark, no function */
	if (!*r->first[kernel].object)
		r->first[kernel] = a->frame;
	/* (nor is libc, where programs begin) */
	if (*nr < ANSWER_CALLERS && !passes_on(&a->frame, kernel))
		(kernel ? r->kernel : r->user)[(*nr)++] = a->frame;
}

static size_t unit_of(struct reading *a, const char *event)
{
	for (size_t i = 0; i < a->nr; i++)
		if (!strcmp(a->events[i].name, event))
			return i;
	if (a->nr == MOST_EVENTS)
		return MOST_EVENTS;
	/* live blocks have no event of their name */
	COPY(a->events[a->nr].name, event);
	COPY(a->events[a->nr].unit, "bytes");
	return a->nr++;
}

static __u64 weight(const char *unit, __u64 count, __s64 sum)
{
	return !*unit ? count : sum > 0 ? (__u64)sum : 0;
}

static void end_row(struct reading *a)
{
	const size_t u = unit_of(a, a->row.event);
	__u64 w;

	if (u < MOST_EVENTS) {
		w = weight(a->events[u].unit, a->row.count, a->row.sum);
		if (w > a->events[u].largest) {
			a->events[u].largest = w;
			a->events[u].best = a->row;
		}
	}
	memset(&a->row, 0, sizeof(a->row));
}

static void end_event(struct reading *a)
{
	const size_t u = unit_of(a, a->name);

	if (u < MOST_EVENTS)
		COPY(a->events[u].unit, a->unit);
	a->unit[0] = a->name[0] = '\0';
}

static void end_total(struct reading *a)
{
	const size_t u = unit_of(a, a->name);

	if (u < MOST_EVENTS)
		a->events[u].weight = weight(a->events[u].unit, a->count, a->sum);
	a->name[0] = '\0';
	a->count = 0;
	a->sum = 0;
}

static void in_frame(struct answer_frame *f, const char *key, const char *text)
{
	if (!strcmp(key, "name"))
		COPY(f->name, text);
	else if (!strcmp(key, "object"))
		COPY(f->object, text);
	else if (!strcmp(key, "file"))
		COPY(f->file, text);
	else if (!strcmp(key, "line"))
		f->line = (__u32)strtoul(text, NULL, 10);
}

static void in_row(struct answer_row *r, const char *key, const char *text)
{
	if (!strcmp(key, "event"))
		COPY(r->event, text);
	else if (!strcmp(key, "comm"))
		COPY(r->comm, text);
	else if (!strcmp(key, "path"))
		COPY(r->path, text);
	else if (!strcmp(key, "cache"))
		COPY(r->cache, text);
	else if (!strcmp(key, "pid"))
		r->pid = (__u32)strtoul(text, NULL, 10);
	else if (!strcmp(key, "count"))
		r->count = strtoull(text, NULL, 10);
	else if (!strcmp(key, "sum"))
		r->sum = strtoll(text, NULL, 10);
}

static void in_event(struct reading *a, const struct json_place *at, const char *text)
{
	if (at->depth == 4 && !strcmp(at->keys[2], "lost"))
		a->to->lost += strtoull(text, NULL, 10);
	else if (at->depth != 3)
		return;
	else if (!strcmp(at->keys[2], "name"))
		COPY(a->name, text);
	else if (!strcmp(at->keys[2], "unit"))
		COPY(a->unit, text);
	else if (!strcmp(at->keys[2], "counted"))
		a->to->events += strtoull(text, NULL, 10);
}

static void in_total(struct reading *a, const char *key, const char *text)
{
	if (!strcmp(key, "event"))
		COPY(a->name, text);
	else if (!strcmp(key, "count"))
		a->count = strtoull(text, NULL, 10);
	else if (!strcmp(key, "sum"))
		a->sum = strtoll(text, NULL, 10);
}

static bool is_frame(const struct json_place *at, size_t depth)
{
	return at->depth == depth && (!strcmp(at->keys[2], "user") ||
				      !strcmp(at->keys[2], "kernel"));
}

static int take(void *ctx, const struct json_place *at, enum json_event event, const char *text)
{
	struct reading *a = ctx;
	const char *list = at->keys[0];

	if (event == JSON_END) {
		if (!strcmp(list, "rows") && is_frame(at, 4)) {
			end_frame(a, !strcmp(at->keys[2], "kernel"));
			memset(&a->frame, 0, sizeof(a->frame));
		} else if (at->depth == 2 && !strcmp(list, "rows")) {
			end_row(a);
		} else if (at->depth == 2 && !strcmp(list, "events")) {
			end_event(a);
		} else if (at->depth == 2 && !strcmp(list, "totals")) {
			end_total(a);
		}
		return 0;
	}
	if (at->depth == 1 && !strcmp(list, "document"))
		a->to->has = !strcmp(text, "report");
	else if (!strcmp(list, "session") && !strcmp(at->keys[1], "start_ns"))
		a->to->from_ns = strtoull(text, NULL, 10);
	else if (!strcmp(list, "session") && !strcmp(at->keys[1], "now_ns"))
		a->to->until_ns = strtoull(text, NULL, 10);
	else if (!strcmp(list, "rows") && is_frame(at, 5))
		in_frame(&a->frame, at->keys[4], text);
	else if (!strcmp(list, "rows") && at->depth == 4 && !strcmp(at->keys[2], "trend") &&
		 !strcmp(at->keys[3], "verdict"))
		COPY(a->row.verdict, text);
	else if (!strcmp(list, "rows") && at->depth == 3)
		in_row(&a->row, at->keys[2], text);
	else if (!strcmp(list, "events"))
		in_event(a, at, text);
	else if (!strcmp(list, "totals") && at->depth == 3)
		in_total(a, at->keys[2], text);
	return 0;
}

/* What says most is judged: bytes, then time, then pages, then how often. */
static void choose(const struct reading *r, struct answer *a)
{
	static const char *const units[] = { "bytes", "ns", "pages", "" };

	for (size_t k = 0; k < sizeof(units) / sizeof(units[0]) && !a->total; k++) {
		COPY(a->unit, units[k]);
		for (size_t i = 0; i < r->nr; i++) {
			if (strcmp(r->events[i].unit, units[k]))
				continue;
			a->total += r->events[i].weight;
			if (r->events[i].largest > a->part) {
				a->part = r->events[i].largest;
				a->largest = r->events[i].best;
			}
		}
	}
}

int answer_read(const char *text, size_t len, struct answer *a)
{
	struct reading *r = calloc(1, sizeof(*r));
	int err = r ? 0 : -ENOMEM;

	memset(a, 0, sizeof(*a));
	if (r) {
		r->to = a;
		err = json_read(text, len, take, r);
	}
	if (!err && !a->has)
		err = -EINVAL;
	a->has = !err;
	if (!err)
		choose(r, a);
	free(r);
	return err;
}
