// SPDX-License-Identifier: GPL-2.0-only
/*
 * MEMTAP_SIMILAR: find older objects of a cache that resemble recorded ones, by the words that
 * they have in common.
 *
 * Runs in process context of the caller.  All object memory is read by copies that cannot fault,
 * because slabs may be freed meanwhile.
 */
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "live/objects.h"
#include "record/guard.h"

#include "compat/kernel_read.h"
#include "compat/slab.h"
#include "compat/valloc.h"

#define SURVIVORS	64		/* that are compared */
#define LEAST_SURVIVORS	4
#define WORDS		64		/* of an object, from its beginning */
#define WINDOW		512		/* pages side by side */
#define DEFAULT_PAGES	(1U << 20)
#define MOST_PAGES	(1U << 24)
#define MOST_SLAB	(1U << 20)	/* bytes */
#define SMALL		65536		/* a number that is no address and no secret */

/* A word that most of the survivors have. */
struct common {
	u32 at;				/* which */
	u64 value;
};

struct search {
	struct memtap_objects_table *t;
	struct memtap_similar *a;
	const void *cache;
	u32 stride, first;		/* between objects, and before the first of a slab */
	u32 words;
	u32 nr, nr_common;
	struct common common[WORDS];
	u64 object[WORDS];
	u64 survivors[SURVIVORS][WORDS];
	struct live chain[LIVETAB_CHAIN];
	char name[KSYM_SYMBOL_LEN];
};

/* --- what survivors have in common ---------------------------------------------------- */

static bool is_cache_of(const struct search *h, const void *cache)
{
	unsigned long name;

	return cache && memtap_kernel_bytes(&name, (unsigned long)cache + memtap_slab_places.name,
					    sizeof(name)) &&
	       cachetab_find(&h->t->caches, cache, (const void *)name) == h->a->cache;
}

/* Of the first survivor: what is the same for all of its cache. */
static bool learn(struct search *h, u64 addr)
{
	const void *ptr = (const void *)(unsigned long)addr;
	const void *cache = memtap_slab_cache(ptr);
	u64 base;

	if (h->cache)
		return cache == h->cache;
	if (!is_cache_of(h, cache))
		return false;
	if (!memtap_kernel_bytes(&h->stride, (unsigned long)cache + memtap_slab_places.size,
				 sizeof(h->stride)) ||
	    h->stride < sizeof(u64) || h->stride > MOST_SLAB)
		return false;
	base = (unsigned long)page_address(virt_to_head_page(ptr));
	h->first = (u32)((addr - base) % h->stride);
	h->words = min_t(u32, h->stride / sizeof(u64), WORDS);
	h->cache = cache;
	return true;
}

static void add_survivor(struct search *h, const struct live *b)
{
	if (h->nr == SURVIVORS || b->event != h->a->cache ||
	    (h->a->stack && b->ustack != h->a->stack) || !learn(h, b->addr))
		return;
	if (memtap_kernel_bytes(h->survivors[h->nr], b->addr, h->words * sizeof(u64)))
		h->nr++;
}

/* Chains are in no order of age or place. */
static void take_survivors(struct search *h)
{
	u32 head, i, n;

	for (head = 0; head <= h->t->table.head_mask && h->nr < SURVIVORS; head++) {
		n = memtap_objects_read(h->t, head, h->chain);
		for (i = 0; i < n; i++)
			add_survivor(h, &h->chain[i]);
		cond_resched();
	}
}

/* Three quarters of them: some of what is alike differs. */
static u32 most_of(u32 nr)
{
	return nr - nr / 4;
}

/* The value that most have at @word, how often. */
static u32 count_most(const struct search *h, u32 word, u64 *value)
{
	u32 i, k, n, most = 0;

	for (i = 0; i < h->nr; i++) {
		for (k = 0, n = 0; k < h->nr; k++)
			n += h->survivors[k][word] == h->survivors[i][word];
		if (n <= most)
			continue;
		most = n;
		*value = h->survivors[i][word];
	}
	return most;
}

/*
 * "symbol+0xOFFSET/0xSIZE [module]", as the kernel prints it, becomes "symbol+0xOFFSET [module]".
 * What is beyond its symbol (of a kernel that has no names of data) is none.
 */
static bool name_of(struct search *h, u64 value, char *to, size_t len)
{
	unsigned long offset, size;
	char *plus, *slash, *end;

	if ((s64)value >= 0)
		return false;
	sprint_symbol(h->name, (unsigned long)value);
	plus = strrchr(h->name, '+');
	slash = plus ? strchr(plus, '/') : NULL;
	if (!slash)
		return false;
	offset = simple_strtoul(plus + 1, NULL, 16);
	size = simple_strtoul(slash + 1, &end, 16);
	if (offset >= size)
		return false;
	*(offset ? slash : plus) = 0;
	/* (a name that is too long ends early) */
	return snprintf(to, len, "%s%s", h->name, end) > 0;
}

static void copy_word(struct search *h, const struct common *c, struct memtap_similar_word *to)
{
	memset(to, 0, sizeof(*to));
	to->offset = c->at * sizeof(u64);
	to->kind = MEMTAP_SIMILAR_OTHER;
	if (c->value < SMALL) {
		to->kind = MEMTAP_SIMILAR_NUMBER;
		to->value = c->value;
	} else if (name_of(h, c->value, to->name, sizeof(to->name))) {
		to->kind = MEMTAP_SIMILAR_SYMBOL;
	}
}

/* Symbols first: they say most. */
static void copy_common(struct search *h)
{
	struct memtap_similar_word word;
	u32 i, kind;

	for (kind = MEMTAP_SIMILAR_SYMBOL; kind <= MEMTAP_SIMILAR_OTHER; kind++)
		for (i = 0; i < h->nr_common && h->a->nr_words < MEMTAP_SIMILAR_WORDS; i++) {
			copy_word(h, &h->common[i], &word);
			if (word.kind == kind)
				h->a->at[h->a->nr_words++] = word;
		}
}

/* Of zeros most memory has many. */
static void find_common(struct search *h)
{
	u64 value = 0;
	u32 w;

	for (w = 0; w < h->words; w++) {
		if (count_most(h, w, &value) < most_of(h->nr) || !value)
			continue;
		h->common[h->nr_common].at = w;
		h->common[h->nr_common++].value = value;
	}
	h->a->common = h->nr_common;
	copy_common(h);
}

static bool is_alike(const struct search *h, const u64 *words)
{
	u32 i, n = 0;

	for (i = 0; i < h->nr_common; i++)
		n += words[h->common[i].at] == h->common[i].value;
	return n >= most_of(h->nr_common);
}

/* --- the others ----------------------------------------------------------------------- */

static bool is_kept(struct search *h, u64 addr)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct live b;
	bool is;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	is = livetab_get(&h->t->table, MEMTAP_OBJECT_SLAB + 1, addr, &b);
	memtap_leave(sc, irqflags);
	return is;
}

static void look_at(struct search *h, u64 addr)
{
	h->a->places++;
	if (is_kept(h, addr))
		h->a->kept++;
	else if (!memtap_kernel_bytes(h->object, addr, h->words * sizeof(u64)))
		h->a->unread++;
	else
		h->a->alike += is_alike(h, h->object);
}

static void look_at_slab(struct search *h, struct page *page)
{
	const u64 bytes = min_t(u64, (u64)PAGE_SIZE << compound_order(page), MOST_SLAB);
	const u64 base = (unsigned long)page_address(page);
	u64 at;

	h->a->slabs++;
	for (at = h->first; at + h->words * sizeof(u64) <= bytes; at += h->stride) {
		look_at(h, base + at);
		if (!(h->a->places % 256))
			cond_resched();
	}
}

/* What the kernel's struct page has where a slab has its cache. */
static bool is_slab_of(const struct search *h, const struct page *page)
{
	unsigned long word;

	return memtap_kernel_bytes(&word, (unsigned long)page + memtap_slab_places.page_cache,
				   sizeof(word)) && word == (unsigned long)h->cache;
}

static int look_at_pages(struct search *h, unsigned long from, unsigned long to)
{
	unsigned long pfn;

	for (pfn = from; pfn < to; pfn++) {
		if (!pfn_valid(pfn))
			continue;
		h->a->looked++;
		if (is_slab_of(h, pfn_to_page(pfn)) && PageSlab(pfn_to_page(pfn)))
			look_at_slab(h, pfn_to_page(pfn));
	}
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* Of a large machine some windows of pages, at equal distances. */
static int look_at_all(struct search *h, u32 budget)
{
	unsigned long from, to, pfn;
	u64 step;
	int nid, err = 0;

	for_each_online_node(nid)
		h->a->pages += node_end_pfn(nid) - node_start_pfn(nid);
	step = max_t(u64, div64_u64(h->a->pages + budget - 1, budget), 1) * WINDOW;
	for_each_online_node(nid) {
		from = node_start_pfn(nid);
		to = node_end_pfn(nid);
		for (pfn = from; !err && pfn < to; pfn += step)
			err = look_at_pages(h, pfn, min_t(unsigned long, pfn + WINDOW, to));
	}
	return err;
}

static int search(struct search *h, u32 budget)
{
	u32 i;

	take_survivors(h);
	h->a->survivors = h->nr;
	if (h->nr < LEAST_SURVIVORS)
		return -ENODATA;
	find_common(h);
	if (!h->nr_common)
		return -ENODATA;
	for (i = 0; i < h->nr; i++)
		h->a->survivors_alike += is_alike(h, h->survivors[i]);
	return look_at_all(h, budget);
}

int memtap_objects_similar(struct memtap_session *s, struct memtap_similar *a)
{
	const u32 budget = a->budget ? a->budget : DEFAULT_PAGES;
	struct search *h;
	int err;

	if (s->state != MEMTAP_RUNNING || !s->objects)
		return -EBUSY;
	if (a->flags)
		return -EOPNOTSUPP;
	if (a->cache < CACHETAB_FIRST || a->cache >= CACHETAB_MAX || budget > MOST_PAGES)
		return -EINVAL;
	if (!memtap_slab_places.page_cache || !memtap_slab_places.name || !memtap_slab_places.size)
		return -EOPNOTSUPP;
	h = memtap_vzalloc(sizeof(*h));
	if (!h)
		return -ENOMEM;
	/* all that is told */
	memset((u8 *)a + offsetof(struct memtap_similar, survivors), 0,
	       sizeof(*a) - offsetof(struct memtap_similar, survivors));
	h->t = s->objects;
	h->a = a;
	err = search(h, budget);
	memtap_vfree(h);
	return err;
}
