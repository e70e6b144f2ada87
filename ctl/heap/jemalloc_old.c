// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find jemalloc 3.6 to 4.5.  The table of its classes of small blocks is among the zeros of the
 * library or program.  It says sizes and runs, and its form tells 3.6, 4.0 and later ones apart.
 *
 * Memory consists of chunks of 2 or 4 MiB, at multiples of that.  Each multiple in memory that the
 * kernel gave is tried.  It is a chunk if the runs that the map in its header has follow each other
 * exactly to its end, and if the bitmaps of small runs have as many free blocks as they say.  The
 * arenas that chunks name are believed if they have as many pages in use as their chunks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/jemalloc_old_int.h"

#define LEAST_CLASSES	28U
#define MOST_RUN	(1U << 20)	/* bytes */
#define MOST_ARENAS	4096U
#define MOST_TRIES	(1U << 16)	/* places of a table of arenas */
#define FEW_PAGES	8U		/* that a thread may be just changing */
#define MOST_NUMBER	65536U		/* of an arena */
#define LEAST_CHUNK	20U		/* as log2 of its bytes, and the largest one */
#define MOST_CHUNK	25U

static const struct jo_chunk_layout chunk_layouts[] = {
	{ 104, 100, 3584, 22, 4, 48, 24, 16, 0, 0, 12, 16, 0 },		/* 3.6 */
	{ 104, 100, 3584, 22, 4, 48, 32, 24, 0, 0, 12, 16, 0 },		/* with --enable-prof */
	{ 96, 88, 14336, 21, 5, 104, 8, 0, 96, 16, 4, 8, 24 },		/* 4.0 */
	{ 64, 56, 14336, 21, 5, 104, 8, 0, 88, 16, 4, 8, 24 },		/* 4.1 */
	{ 64, 56, 14336, 21, 5, 104, 8, 0, 96, 24, 4, 8, 24 },		/* 4.2, 4.3 */
	{ 64, 56, 14336, 21, 5, 120, 8, 0, 96, 24, 4, 8, 32 },		/* 4.4, 4.5 */
};

static const struct jo_layout layouts[] = {
	{ 0, false, 288, 152, 120, 232, 0, 0, 0, 0, 0, 40 },		/* 3.6 */
	{ 1, false, 304, 160, 120, 240, 0, 0, 0, 0, 0, 40 },
	{ 2, false, 0, 0, 168, 224, 96, 464, 360, 72, 56, 32 },		/* 4.0 */
	{ 3, true, 0, 0, 168, 224, 96, 2016, 256, 72, 56, 40 },		/* 4.1 */
	{ 4, true, 0, 0, 224, 288, 152, 2080, 320, 72, 56, 40 },	/* 4.2 */
	{ 4, true, 0, 0, 224, 288, 152, 2072, 320, 72, 56, 40 },	/* 4.3 */
	{ 5, true, 0, 0, 224, 296, 152, 2088, 328, 80, 64, 40 },	/* 4.4, 4.5 */
};

#define NR_LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

static const char bad_sum[] = "an arena's pages in use do not match its chunks";
static const char no_arenas[] = "its table of arenas was not found";

/* ---- the table of classes ---- */

static bool class_at(struct jo *j, __u64 at, const struct jo_chunk_layout *l, struct jo_class *c)
{
	__u64 words[16];

	if (!words_at(j->w, at, words, l->stride))
		return false;
	/* size; bytes before and behind a block; from one to the next; bytes of a run; blocks */
	if (!words[0] || words[0] > l->last_size || words[1] > PAGE || words[3] % PAGE ||
	    words[2] != words[0] + 2 * words[1] || !words[3] || words[3] > MOST_RUN)
		return false;
	*c = (struct jo_class){ words[0], words[2], (__u32)(words[l->first / WORD] >>
				l->first % WORD * 8), (__u32)words[4],
				(__u32)(words[3] / PAGE) };
	return c->nr && c->nr <= JO_REGIONS && words[5] == c->nr &&
	       c->first + c->nr * c->step <= words[3] + words[1];
}

static bool is_table(struct jo *j, __u64 at, const struct jo_chunk_layout *l)
{
	size_t n = 0;

	while (n < JO_CLASSES && class_at(j, at + n * l->stride, l, &j->classes[n]) &&
	       (!n || j->classes[n].size > j->classes[n - 1].size))
		if (j->classes[n++].size == l->last_size)
			break;
	j->nr_classes = n;
	return n >= LEAST_CLASSES && j->classes[n - 1].size == l->last_size;
}

/* Which layout it has, or NULL. */
static const struct jo_chunk_layout *find_table(struct jo *j)
{
	const struct jo_chunk_layout *l;
	__u64 words[PAGE / WORD];

	for (__u64 page = words_page(j->w, j->data.start, j->data.end); page < j->data.end;
	     page = words_page(j->w, page + PAGE, j->data.end)) {
		if (!words_at(j->w, page, words, sizeof(words)))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++) {
			if (words[i] != WORD)
				continue;
			for (size_t k = 0; k < NR_LAYOUTS; k++) {
				l = &chunk_layouts[layouts[k].chunk];
				if (is_table(j, page + i * WORD, l))
					return l;
			}
		}
	}
	return NULL;
}

/* ---- chunks ---- */

/* Each multiple of a chunk in memory that the kernel gave, until @fn returns other than 0. */
static int each_place(struct jo *j, int (*fn)(struct jo *j, __u64 at))
{
	int ret = 0;

	for (size_t i = 0; i < j->nr_areas && !ret; i++) {
		const struct heap_area *a = &j->areas[i];
		__u64 at = (a->start + j->chunk - 1) & ~(j->chunk - 1), next;

		while ((a->anonymous || a->brk) && at >= a->start && at < a->end && !ret) {
			next = words_next(j->w, at, a->end);
			if (next >= at + j->chunk) {
				at = next & ~(j->chunk - 1);
				continue;
			}
			ret = fn(j, at);
			at += j->chunk;
		}
	}
	return ret;
}

static bool is_given(const struct jo *j, __u64 addr)
{
	const struct heap_area *a = heap_area_of(j->areas, j->nr_areas, addr);

	return a && (a->anonymous || a->brk);
}

static int is_chunk(struct jo *j, __u64 at)
{
	struct jo_chunk c = { .at = at };

	return jo_is_head(j, at, &c.arena) && is_given(j, c.arena) && jo_check_chunk(j, &c, true);
}

static struct jo_arena *arena_at(struct jo *j, __u64 at, bool add)
{
	struct jo_arena *more;
	__u64 word;

	for (size_t i = j->nr_arenas; i; i--)
		if (j->arenas[i - 1].at == at)
			return &j->arenas[i - 1];
	if (!add || j->nr_arenas == MOST_ARENAS || !word_at(j->w, at, &word) ||
	    (__u32)word >= MOST_NUMBER)
		return NULL;
	more = ids_grow(j->arenas, j->nr_arenas, &j->room_arenas, sizeof(*more));
	if (!more)
		return NULL;
	j->arenas = more;
	j->arenas[j->nr_arenas] = (struct jo_arena){ .at = at, .number = (__u32)word };
	return &j->arenas[j->nr_arenas++];
}

static int add_chunk(struct jo *j, __u64 at)
{
	struct jo_chunk c = { .at = at }, *more;

	if (!jo_is_head(j, at, &c.arena) || !is_given(j, c.arena))
		return 0;
	c.good = jo_check_chunk(j, &c, false);
	more = ids_grow(j->chunks, j->nr_chunks, &j->room_chunks, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->chunks = more;
	j->chunks[j->nr_chunks++] = c;
	if (c.good)
		arena_at(j, c.arena, true);
	return 0;
}

/* ---- arenas ---- */

/* An array of all arenas, each at its number, has @a. */
static bool is_array(struct jo *j, __u64 at, const struct jo_arena *a)
{
	__u64 arena, word;

	if (!word_at(j->w, at + a->number * WORD, &arena) || arena != a->at)
		return false;
	for (size_t i = 0; i < MOST_NUMBER; i++) {
		if (!word_at(j->w, at + i * WORD, &arena) || arena % 64 || arena >> 47)
			break;
		if (!arena)
			continue;
		if (!is_given(j, arena) || !word_at(j->w, arena, &word) || (__u32)word != i)
			break;
		arena_at(j, arena, true);
	}
	return true;
}

static bool is_near(const struct jo *j, __u64 at)
{
	for (size_t i = 0; i < j->nr_own; i++)
		if (at - j->own[i] < j->chunk)
			return true;
	return j->nr_chunks && at >= j->chunks[0].at &&
	       at < j->chunks[j->nr_chunks - 1].at + j->chunk;
}

/* Some arenas have no chunk, but caches: a variable has the address of the array of all. */
static void find_arenas(struct jo *j)
{
	const struct jo_arena first = j->arenas[0];
	__u64 words[PAGE / WORD];
	unsigned int tries = 0;

	for (__u64 page = words_page(j->w, j->data.start, j->data.end); page < j->data.end;
	     page = words_page(j->w, page + PAGE, j->data.end)) {
		if (!words_at(j->w, page, words, sizeof(words)))
			continue;
		for (size_t i = 0; i < PAGE / WORD && tries < MOST_TRIES; i++)
			if (words[i] && words[i] % WORD == 0 && is_near(j, words[i]) &&
			    ++tries && is_array(j, words[i], &first))
				return;
	}
	heap_miss(j->h, no_arenas, first.at);
}

/* How many pages in use are too many or too few by this layout. */
static __u64 differs(struct jo *j, const struct jo_layout *l, const struct jo_arena *a)
{
	const __u64 has = a->active + jo_huge_pages(j, l, a);
	__u64 says;

	if (!word_at(j->w, a->at + l->active, &says))
		return ~0ULL;
	return says > has ? says - has : has - says;
}

/* That of the arenas; false: none fits. */
static bool find_arena_layout(struct jo *j)
{
	const struct jo_layout *best = NULL;
	__u64 least = 0, all = 0;

	for (size_t i = 0; i < j->nr_arenas; i++)
		all += j->arenas[i].active;
	for (size_t k = 0; k < NR_LAYOUTS; k++) {
		__u64 sum = 0, one;

		if (&chunk_layouts[layouts[k].chunk] != j->c)
			continue;
		for (size_t i = 0; i < j->nr_arenas && sum != ~0ULL; i++) {
			one = differs(j, &layouts[k], &j->arenas[i]);
			sum = one < ~0ULL - sum ? sum + one : ~0ULL;
		}
		if (!best || sum < least) {
			best = &layouts[k];
			least = sum;
		}
	}
	if (!best || !all || (least > all / 16 && least > FEW_PAGES))
		return false;
	j->l = best;
	for (size_t i = 0; i < j->nr_arenas; i++)
		if (differs(j, best, &j->arenas[i]))
			heap_miss(j->h, bad_sum, j->arenas[i].at);
	return true;
}

/* By one layout.  0; -ENOENT: it does not fit */
static int find_by(struct jo *j)
{
	struct jo_arena *a;
	int err;

	j->nr_chunks = j->nr_arenas = j->nr_own = 0;
	err = each_place(j, add_chunk);
	for (size_t i = 0; i < j->nr_arenas && !err; i++)
		err = jo_add_own(j, j->arenas[i].at);
	if (err || !j->nr_arenas)
		return err ? err : -ENOENT;
	find_arenas(j);
	for (size_t i = 0; i < j->nr_arenas && !err; i++)
		err = jo_add_own(j, j->arenas[i].at);
	for (size_t i = 0; i < j->nr_chunks; i++) {
		a = j->chunks[i].good ? arena_at(j, j->chunks[i].arena, false) : NULL;
		if (a)
			a->active += j->chunks[i].active;
	}
	if (err)
		return err;
	return find_arena_layout(j) ? 0 : -ENOENT;
}

/* The same, if a chunk fits; what does not fit misses nothing. */
static int try_layout(struct jo *j, const struct jo_layout *l, unsigned int lg)
{
	const char *missing = j->h->others_missing;
	const __u64 missing_at = j->h->others_missing_at;
	int err;

	j->l = l;
	jo_set_chunk(j, &chunk_layouts[l->chunk], 1ULL << lg);
	if (!each_place(j, is_chunk))
		return -ENOENT;
	err = find_by(j);
	if (err) {
		j->h->others_missing = missing;
		j->h->others_missing_at = missing_at;
	}
	return err;
}

/* Chunks of another length than usual are configured rarely. */
static int find(struct jo *j)
{
	const struct jo_chunk_layout *table = find_table(j), *l;
	int err = -ENOENT;

	if (!table)
		return err;
	for (unsigned int lg = 0; lg <= MOST_CHUNK; lg = lg ? lg + 1 : LEAST_CHUNK)
		for (size_t k = 0; k < NR_LAYOUTS; k++) {
			l = &chunk_layouts[layouts[k].chunk];
			if (l->stride != table->stride || (k && layouts[k - 1].chunk ==
							   layouts[k].chunk))
				continue;
			err = try_layout(j, &layouts[k], lg ? lg : l->lg_chunk);
			if (err != -ENOENT)
				return err;
		}
	return err;
}

/* Two of one version have the same chunks for each other. */
static bool is_known(const struct jo *j, __u64 chunk)
{
	for (size_t i = 0; i < j->h->nr_pieces; i++)
		if (chunk >= j->h->pieces[i].start && chunk < j->h->pieces[i].end)
			return true;
	return false;
}

static int walk_one(struct jo *j)
{
	int err;

	j->nr_classes = j->nr_extents = 0;
	j->page_at = 1;			/* none */
	j->steps = 0;
	err = find(j);
	if (err || is_known(j, j->chunks[0].at))
		return err == -ENOENT ? 0 : err;
	err = jo_walk(j);
	heap_sort(j->h);
	if (!err)
		jo_caches(j);
	j->number++;
	return err;
}

int jemalloc_old_walk(struct heap *h, const struct heap_area *areas, size_t nr,
		      struct heap_words *w)
{
	struct jo *j = calloc(1, sizeof(*j));
	int err = 0;

	if (!j)
		return -ENOMEM;
	*j = (struct jo){ .h = h, .w = w, .areas = areas, .nr_areas = nr };
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (h->arenas[i].allocator == HEAP_JEMALLOC && j->number <= h->arenas[i].libc)
			j->number = h->arenas[i].libc + 1;
	for (size_t i = 0; i < nr && !err; i++) {
		if (!areas[i].data)
			continue;
		j->data = heap_data_at(areas, nr, &i);
		err = walk_one(j);
	}
	if (!err && !h->nr_arenas)
		err = -ENOENT;
	free(j->chunks);
	free(j->arenas);
	free(j->extents);
	free(j->own);
	free(j);
	return err;
}
