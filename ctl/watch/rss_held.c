// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rss --retained: which blocks of malloc resident pages have, and what holds these.  A page with
 * several kinds of blocks counts for those that have the most bytes in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/text.h"
#include "leaks/heap.h"
#include "rss/rss.h"
#include "watch/watch.h"

#define MAX_PAUSE_MS	1000U
#define MS		1000000ULL
#define MOST_NAMES	65536U

/* What a chunk is; beside kinds and holders there are these. */
#define NO_HOLDER	(HELD_HOLDER - 1)

enum other { FREE, OWN, UNKNOWN };

static const char *const others[] = {
	[FREE] = "free memory of malloc",
	[OWN] = "malloc's own data",
	[UNKNOWN] = "blocks of which it is not known what they are",
};

static const struct held_of not_known = { UNKNOWN, NO_HOLDER };

struct part {
	__u32 name;
	__u64 bytes;
};

struct namer {
	struct rss_process *p;
	const struct held *held;
	__u64 page;			/* bytes */
	struct held_pairs pairs;	/* their numbers are those of the names */
	size_t room_names, room_named;
	/* of the page where the last chunk ended */
	__u64 at;
	struct part *parts;
	size_t nr_parts, room_parts;
};

static char *text_of(const struct namer *n, const struct held_of *of)
{
	char *holder, *text = NULL;

	if (of->holder == NO_HOLDER)
		return strdup(others[of->kind]);
	holder = held_holder_text(&n->held->holders[of->holder]);
	if (holder && asprintf(&text, "%s, held by %s", held_kind_name(n->held, of->kind),
			       holder) < 0)
		text = NULL;
	free(holder);
	return text;
}

/* The number of its name; where there are too many, of those that are not known. */
static int get_name(struct namer *n, const struct held_of *of, __u32 *name)
{
	const size_t before = n->pairs.ids.nr;
	const bool room = before < MOST_NAMES || of->holder == NO_HOLDER;
	const __u32 id = held_pairs_get(&n->pairs, of, room ? SIZE_MAX : MOST_NAMES);
	char **names;

	if (id == IDS_NONE)
		return room ? -ENOMEM : get_name(n, &not_known, name);
	*name = id;
	if (id < before)
		return 0;
	names = ids_grow(n->p->names, id, &n->room_names, sizeof(*names));
	if (!names)
		return -ENOMEM;
	n->p->names = names;
	names[id] = text_of(n, of);
	if (!names[id])
		return -ENOMEM;
	n->p->nr_names = id + 1UL;
	return 0;
}

static struct held_of what_of(const struct held *h, const struct heap *heap, size_t i)
{
	const struct heap_chunk *c = &heap->chunks[i];

	if (c->state == HEAP_OWN)
		return (struct held_of){ OWN, NO_HOLDER };
	if (c->state != HEAP_USED)
		return (struct held_of){ FREE, NO_HOLDER };
	if (h->of[i].kind == HELD_HOLDER || h->of[i].holder == HELD_HOLDER)
		return not_known;
	return h->of[i];
}

static int add_pages(struct namer *n, __u64 page, __u64 nr, __u32 name)
{
	struct rss_process *p = n->p;
	struct rss_named *last = p->nr_named ? &p->named[p->nr_named - 1] : NULL, *more;

	if (last && last->name == name && last->end == page) {
		last->end += nr;
		return 0;
	}
	more = ids_grow(p->named, p->nr_named, &n->room_named, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->named = more;
	more[p->nr_named++] = (struct rss_named){ page, page + nr, name };
	return 0;
}

/* The page is complete: who has the most of it? */
static int end_page(struct namer *n)
{
	const struct part *most = n->parts;
	int err;

	if (!n->nr_parts)
		return 0;
	for (size_t i = 1; i < n->nr_parts; i++)
		if (n->parts[i].bytes > most->bytes)
			most = &n->parts[i];
	err = add_pages(n, n->at, 1, most->name);
	n->nr_parts = 0;
	return err;
}

static int add_part(struct namer *n, __u64 page, __u32 name, __u64 bytes)
{
	struct part *more;
	int err = page == n->at ? 0 : end_page(n);

	n->at = page;
	for (size_t i = 0; !err && i < n->nr_parts; i++)
		if (n->parts[i].name == name) {
			n->parts[i].bytes += bytes;
			return 0;
		}
	more = err ? NULL : ids_grow(n->parts, n->nr_parts, &n->room_parts, sizeof(*more));
	if (!more)
		return -ENOMEM;
	n->parts = more;
	more[n->nr_parts++] = (struct part){ name, bytes };
	return 0;
}

/* In the order of addresses. */
static int add_chunk(struct namer *n, __u64 start, __u64 end, __u32 name)
{
	const __u64 first = start / n->page, last = (end - 1) / n->page;
	int err;

	if (first == last)
		return add_part(n, first, name, end - start);
	err = add_part(n, first, name, (first + 1) * n->page - start);
	if (!err && last > first + 1) {
		err = end_page(n);
		if (!err)
			err = add_pages(n, first + 1, last - first - 1, name);
	}
	return err ? err : add_part(n, last, name, end - last * n->page);
}

static int name_pages(struct rss_process *p, const struct heap_look *l, unsigned int page)
{
	struct namer n = { .p = p, .held = l->held, .page = page };
	const struct heap *h = &l->heap;
	int err = 0;

	for (size_t i = 0; !err && i < h->nr_chunks; i++) {
		const struct held_of of = what_of(l->held, h, i);
		__u32 name;

		if (!h->chunks[i].size)
			continue;
		err = get_name(&n, &of, &name);
		if (!err)
			err = add_chunk(&n, h->chunks[i].at,
					h->chunks[i].at + h->chunks[i].size, name);
	}
	if (!err)
		err = end_page(&n);
	free(n.parts);
	held_pairs_free(&n.pairs);
	return err;
}

static void say_why(char *why, size_t len, pid_t pid, int err, const struct heap_look *l)
{
	snprintf(why, len, "what pages of process %d have is not known: %s", pid,
		 err == -ENOENT ? "no malloc that memtap heap reads was found in it" :
		 err == -ETIMEDOUT ? "it would have to be stopped for longer (--max-pause)" :
		 err == -EBUSY ? "it cannot be stopped" :
		 err != -ENODATA ? strerror(-err) : l->no_held ? l->no_held :
		 "there is not enough memory for it");
}

void watch_rss_held(struct rss_process *p, const struct opts *o, unsigned int page, char *why,
		    size_t len)
{
	const __u64 max_ns = (o->max_pause ? o->max_pause : MAX_PAUSE_MS) * MS;
	const struct held_ask ask = { .kinds = true, .holders = true, .each = true };
	struct heap_look l;
	char time[TEXT_LEN], size[TEXT_LEN], part[2 * TEXT_LEN] = "";
	__u64 took, bytes, unknown;
	int err = heap_look_begin(&l, (pid_t)p->pid, max_ns, false, false, &ask, &took, &bytes);

	if (!err)
		err = heap_look(&l, max_ns, false);
	if (!err && (!l.held || !l.held->has_holders || !l.held->of))
		err = -ENODATA;
	if (!err)
		err = name_pages(p, &l, page);
	unknown = heap_unknown(&l.heap);
	if (!err && !l.heap.complete)
		snprintf(part, sizeof(part), ", %s of its heap could not be walked", unknown ?
			 text_bytes(size, (__s64)unknown, false) : "a part");
	if (err)
		say_why(why, len, (pid_t)p->pid, err, &l);
	else
		snprintf(why, len, "process %u was stopped for %s%s; a page with several kinds of "
			 "blocks counts for those with the most bytes in it", p->pid,
			 text_ns(time, (__s64)l.took_ns), part);
	heap_look_free(&l);
}
