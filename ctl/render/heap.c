// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the heap of a process: by arena, by size, and its unreachable blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "render/heap.h"

#define EXACT		1032		/* up to here each size is a row */
#define WIDE		11

static const struct {
	const char *name, *word;	/* for people; for programs */
} allocators[NR_HEAP_ALLOCATORS] = {
	[HEAP_GLIBC] = { "glibc's malloc", "glibc" },
	[HEAP_MALLOCNG] = { "musl's mallocng", "mallocng" },
	[HEAP_JEMALLOC] = { "jemalloc", "jemalloc" },
	[HEAP_TCMALLOC] = { "tcmalloc", "tcmalloc" },
	[HEAP_MIMALLOC] = { "mimalloc", "mimalloc" },
	[HEAP_OLDMALLOC] = { "musl's malloc before 1.2.1", "oldmalloc" },
};

/* ---- by size ---- */

struct class {
	__u64 from, to;			/* usable bytes */
	__u64 used, used_bytes, cached, cached_bytes, free, free_bytes;
};

struct classes {
	struct class *at;
	size_t nr;
};

static void bounds(__u64 size, __u64 *from, __u64 *to)
{
	*from = *to = size;
	if (size <= EXACT)
		return;
	for (*to = 2048; *to < size; *to *= 2)
		;
	*from = *to / 2 + 1;
	if (*from <= EXACT)
		*from = EXACT + 1;
}

static int by_from(const void *x, const void *y)
{
	const struct class *a = x, *b = y;

	return (a->from > b->from) - (a->from < b->from);
}

static __u64 all_bytes(const struct class *c)
{
	return c->used_bytes + c->cached_bytes + c->free_bytes;
}

static int by_bytes(const void *x, const void *y)
{
	const __u64 a = all_bytes(x), b = all_bytes(y);

	return a != b ? a < b ? 1 : -1 : by_from(x, y);
}

static void count(struct class *c, const struct heap_chunk *chunk)
{
	if (chunk->state == HEAP_USED) {
		c->used++;
		c->used_bytes += chunk->size;
	} else if (chunk->state == HEAP_FREE) {
		c->free++;
		c->free_bytes += chunk->size;
	} else {
		c->cached++;
		c->cached_bytes += chunk->size;
	}
}

#define MAX_CLASSES	2048		/* exact ones, and powers of two; mapped ones end 8 bytes
					 * before others */

static int classify(struct classes *all, const struct heap *h)
{
	all->nr = 0;
	all->at = calloc(MAX_CLASSES, sizeof(*all->at));
	if (!all->at)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk *c = &h->chunks[i];
		struct class key = { 0 }, *found;

		if (c->state == HEAP_OWN || c->pooled)
			continue;
		bounds(heap_usable(c), &key.from, &key.to);
		found = all->nr ? bsearch(&key, all->at, all->nr, sizeof(key), by_from) : NULL;
		if (!found) {
			if (all->nr == MAX_CLASSES)
				continue;
			all->at[all->nr++] = key;
			qsort(all->at, all->nr, sizeof(key), by_from);
			found = bsearch(&key, all->at, all->nr, sizeof(key), by_from);
		}
		if (found)
			count(found, c);
	}
	if (all->nr)
		qsort(all->at, all->nr, sizeof(*all->at), by_bytes);
	return 0;
}

/* ---- as a table ---- */

static void put_bytes(FILE *out, __u64 bytes)
{
	char text[TEXT_LEN];

	fprintf(out, " %*s", WIDE, bytes ? text_bytes(text, (__s64)bytes, false) : "-");
}

static __u64 cached(const struct heap_sums *s)
{
	return s->bytes[HEAP_CACHED] + s->bytes[HEAP_FAST];
}

static void put_arena(FILE *out, const char *name, const struct heap_arena *a)
{
	char text[TEXT_LEN];

	fprintf(out, "%-10s", name);
	put_bytes(out, a->system);
	if (a->why) {
		fprintf(out, "  not known: %s\n", a->why);
		return;
	}
	put_bytes(out, a->sums.bytes[HEAP_USED]);
	put_bytes(out, cached(&a->sums));
	put_bytes(out, a->sums.bytes[HEAP_FREE]);
	put_bytes(out, a->top);
	put_bytes(out, a->heads + a->sums.bytes[HEAP_OWN] + a->foreign);
	put_bytes(out, a->largest);
	if (a->sums.bytes[HEAP_FREE])
		fprintf(out, " %5.1f %%", 100.0 - 100.0 * (double)a->largest /
			(double)a->sums.bytes[HEAP_FREE]);
	if (a->unknown)
		fprintf(out, "  and %s not known", text_bytes(text, (__s64)a->unknown, false));
	fputc('\n', out);
}

static void add_sums(struct heap_arena *to, const struct heap_arena *a)
{
	to->system += a->system;
	to->top += a->top;
	to->heads += a->heads;
	to->foreign += a->foreign;
	to->pages += a->pages;
	to->unknown += a->unknown;
	if (a->largest > to->largest)
		to->largest = a->largest;
	for (int i = 0; i < NR_HEAP_STATES; i++) {
		to->sums.bytes[i] += a->sums.bytes[i];
		to->sums.blocks[i] += a->sums.blocks[i];
	}
}

static struct heap_arena total(const struct heap *h, size_t from)
{
	struct heap_arena all = { 0 };

	for (size_t i = from; i < h->nr_arenas; i++)
		add_sums(&all, &h->arenas[i]);
	return all;
}

static void put_mapped(FILE *out, const struct heap *h)
{
	char text[TEXT_LEN];

	if (!h->mapped_why && !h->mapped_says)
		return;
	fprintf(out, "%-10s", "mapped");
	put_bytes(out, h->mapped_says);
	if (h->mapped_why)
		fprintf(out, "  not known: %s", h->mapped_why);
	else
		put_bytes(out, h->mapped.bytes[HEAP_USED]);
	if (h->mapped_unknown)
		fprintf(out, "  and %s not found",
			text_bytes(text, (__s64)h->mapped_unknown, false));
	fputc('\n', out);
}

/* musl's have one arena only. */
static bool is_single(const struct heap_arena *a)
{
	return a->allocator == HEAP_MALLOCNG || a->allocator == HEAP_OLDMALLOC;
}

/*
 * "main", "1"; of further libcs (dlmopen()): "main/2", "1/2"; of other allocators: "jemalloc 0"
 */
static void name_arena(char *to, size_t len, const struct heap_arena *a)
{
	const char *of = allocators[a->allocator].word;
	int n;

	if (a->allocator != HEAP_GLIBC && !is_single(a))
		n = snprintf(to, len, "%s %u", of, a->number);
	else
		n = a->number ? snprintf(to, len, "%u", a->number) : snprintf(to, len, "main");
	if (a->libc)
		snprintf(to + n, len - (size_t)n, "/%u", a->libc + 1);
}

static void put_arenas(const struct heap_page *p, FILE *out)
{
	const struct heap *h = &p->look->heap;
	const size_t shown = p->top && h->nr_arenas > p->top ? p->top : h->nr_arenas;
	struct heap_arena all;
	char name[32];

	fprintf(out, "%-10s %*s %*s %*s %*s %*s %*s %*s %s\n", "ARENA", WIDE, "SYSTEM", WIDE,
		"IN USE", WIDE, "CACHED", WIDE, "FREE", WIDE, "TOP", WIDE, "OTHER", WIDE,
		"LARGEST", "FRAGM.");
	for (size_t i = 0; i < shown; i++) {
		name_arena(name, sizeof(name), &h->arenas[i]);
		put_arena(out, name, &h->arenas[i]);
	}
	if (shown < h->nr_arenas) {
		all = total(h, shown);
		snprintf(name, sizeof(name), "%zu more", h->nr_arenas - shown);
		put_arena(out, name, &all);
	}
	put_mapped(out, h);
	if (h->nr_arenas > 1 || h->mapped_says) {
		all = total(h, 0);
		all.system += h->mapped_says;
		all.unknown = heap_unknown(h);
		all.sums.bytes[HEAP_USED] += h->mapped.bytes[HEAP_USED];
		put_arena(out, "all", &all);
	}
}

static void put_size(FILE *out, const struct class *c)
{
	char from[TEXT_LEN], to[TEXT_LEN], text[2 * TEXT_LEN + 4];

	if (c->from == c->to) {
		fprintf(out, "%-22llu", (unsigned long long)c->to);
	} else {
		snprintf(text, sizeof(text), "%s - %s", text_bytes(from, (__s64)c->from - 1, false),
			 text_bytes(to, (__s64)c->to, false));
		fprintf(out, "%-22s", text);
	}
}

static void put_number(FILE *out, __u64 n)
{
	char text[TEXT_LEN];

	fprintf(out, " %*s", WIDE, n ? text_count(text, n) : "-");
}

static void put_classes(const struct heap_page *p, FILE *out)
{
	const struct heap *h = &p->look->heap;
	struct classes all;
	size_t shown;

	if (classify(&all, h))
		return;
	shown = p->top && all.nr > p->top ? p->top : all.nr;
	fprintf(out, "\n%-22s %*s %*s %*s %*s %*s %*s\n", "BLOCK SIZE", WIDE, "IN USE", WIDE,
		"BYTES", WIDE, "CACHED", WIDE, "BYTES", WIDE, "FREE", WIDE, "BYTES");
	for (size_t i = 0; i < shown; i++) {
		const struct class *c = &all.at[i];

		put_size(out, c);
		put_number(out, c->used);
		put_bytes(out, c->used_bytes);
		put_number(out, c->cached);
		put_bytes(out, c->cached_bytes);
		put_number(out, c->free);
		put_bytes(out, c->free_bytes);
		fputc('\n', out);
	}
	if (shown < all.nr)
		fprintf(out, "... and %zu more sizes; --top 0 shows all\n", all.nr - shown);
	free(all.at);
}

static void sum_lost(const struct heap_look *l, __u64 *blocks, __u64 *bytes, __u64 *definite)
{
	*blocks = *bytes = *definite = 0;
	for (size_t i = 0; i < l->nr_lost; i++) {
		*blocks += l->lost[i].blocks;
		*bytes += l->lost[i].bytes;
		*definite += l->lost[i].definite;
	}
}

/* All of malloc's, and all that may lead to it. */
static bool is_all(const struct heap_look *l)
{
	return l->heap.complete && !l->left_out;
}

static void put_lost(const struct heap_page *p, FILE *out)
{
	const struct heap_look *l = p->look;
	const size_t shown = p->top && l->nr_lost > p->top ? p->top : l->nr_lost;
	__u64 blocks, bytes, definite;
	char text[TEXT_LEN], nr[TEXT_LEN];

	if (!l->marked)
		return;
	sum_lost(l, &blocks, &bytes, &definite);
	if (!blocks && !is_all(l)) {
		fprintf(out, "\nit is not known whether blocks are lost: not all memory was "
			     "read\n");
		return;
	}
	fprintf(out, "\nno pointer%s leads to %s block%s, %s",
		is_all(l) ? "" : " in the memory that was read", text_count(nr, blocks),
		text_s(blocks),
		text_bytes(text, (__s64)bytes, false));
	if (definite < blocks)
		fprintf(out, " (%s of them have pointers only from each other)",
			text_count(nr, blocks - definite));
	fprintf(out, "; only pointers into the middle lead to %s block%s, %s\n",
		text_count(nr, l->possible_blocks), text_s(l->possible_blocks),
		text_bytes(text, (__s64)l->possible_bytes, false));
	if (l->cached_blocks)
		fprintf(out,
			"not included above: %s block%s, %s, possibly in a thread's cache (%s)\n",
			text_count(nr, l->cached_blocks), text_s(l->cached_blocks),
			text_bytes(text, (__s64)l->cached_bytes, false),
			l->heap.caches + l->heap.empty_caches + l->heap.other_caches ?
			"not all thread caches could be read" : "no thread cache was recognised");
	if (!shown)
		return;
	fprintf(out, "\n%*s %*s %*s  %s\n", WIDE, "BYTES", WIDE, "UNREACHABLE", WIDE, "SIZE",
		"FIRST WORD");
	for (size_t i = 0; i < shown; i++) {
		const struct heap_lost *row = &l->lost[i];

		fprintf(out, "%*s %*s", WIDE, text_bytes(text, (__s64)row->bytes, false), WIDE,
			text_count(nr, row->blocks));
		fprintf(out, " %*s  ", WIDE, text_count(nr, row->size));
		text_put(out, row->what ? row->what : "-", NULL);
		fputc('\n', out);
	}
	if (shown < l->nr_lost)
		fprintf(out, "... and %zu more rows; --top 0 shows all\n", l->nr_lost - shown);
}

static void put_stopped(const struct heap_look *l, FILE *out)
{
	char time[TEXT_LEN], bytes[TEXT_LEN], way[160];

	look_way_text(way, sizeof(way), l->way, l->copied, l->why);
	fprintf(out, "\nstopped for %s (%zu thread%s), %s of its memory read%s\n",
		text_ns(time, (__s64)l->took_ns), l->threads, text_s(l->threads),
		text_bytes(bytes, (__s64)l->bytes, false), way);
}

static const char *because(const struct heap *h, const struct heap_gap *g)
{
	return h->arenas[g->arena].busy ? "; a thread is in malloc" : "";
}

static void put_gap(const struct heap *h, const struct heap_gap *g, FILE *out)
{
	char bytes[TEXT_LEN], name[32];

	name_arena(name, sizeof(name), &h->arenas[g->arena]);
	fprintf(out, "not walked: %s of arena %s at 0x%llx: %s%s\n",
		text_bytes(bytes, (__s64)(g->end - g->start), false), name,
		(unsigned long long)g->start, g->why, because(h, g));
}

/* An arena that has nothing in @gaps. */
static bool has_gap(const struct heap *h, size_t arena)
{
	for (size_t i = 0; i < h->nr_gaps; i++)
		if (h->gaps[i].arena == arena)
			return true;
	return false;
}

/* What was not looked at. */
static void put_gaps(const struct heap_page *p, FILE *out)
{
	const struct heap_look *l = p->look;
	const struct heap *h = &l->heap;
	const size_t shown = p->top && h->nr_gaps > p->top ? p->top : h->nr_gaps;
	char bytes[TEXT_LEN], name[32];

	for (size_t i = 0; i < shown; i++)
		put_gap(h, &h->gaps[i], out);
	if (shown < h->nr_gaps)
		fprintf(out, "... and %zu more places; --top 0 shows all\n", h->nr_gaps - shown);
	for (size_t i = 0; i < h->nr_arenas; i++) {
		const struct heap_arena *a = &h->arenas[i];

		name_arena(name, sizeof(name), a);
		if (a->unknown && !has_gap(h, i))
			fprintf(out, "not walked: %s of arena %s, whose structure is at 0x%llx: "
				"%s%s\n", text_bytes(bytes, (__s64)a->unknown, false), name,
				(unsigned long long)a->at,
				a->why ? a->why : "its chunks are less than its recorded size",
				a->busy ? "; a thread is in malloc" : "");
	}
	if (h->arenas_missing)
		fprintf(out, "%s\n", h->allocator == HEAP_MALLOCNG ?
			"some areas are missing: what describes them is inconsistent" :
			"there may be more arenas: the address of the next one was overwritten");
	if (h->others_missing)
		fprintf(out, "some blocks of %s are not known: %s, at 0x%llx\n",
			allocators[h->arenas[h->nr_arenas - 1].allocator].name,
			h->others_missing, (unsigned long long)h->others_missing_at);
	if (l->left_out && !l->core)
		fprintf(out, "%s are swapped out and were not read; --swapped reads them\n",
			text_bytes(bytes, (__s64)l->left_out, false));
	if (!h->complete && l->core)
		fprintf(out, "not complete; memory that was not walked counts as in use\n");
	else if (!h->complete)
		fprintf(out, "not complete after %u tries; memory that was not walked counts as in "
			"use\n",
			l->tries);
}

static void put_footer(const struct heap_page *p, FILE *out)
{
	const struct heap_look *l = p->look;
	const struct heap *h = &l->heap;
	const struct heap_arena all = total(h, 0);
	char time[TEXT_LEN], bytes[TEXT_LEN];

	if (l->core)
		render_core_footer(l->core, l->threads, out);
	else
		put_stopped(l, out);
	if (h->allocator == HEAP_GLIBC && (all.pages || h->complete))
		fprintf(out, "%s of free blocks are whole pages: malloc_trim() would return them "
			     "to the kernel\n", text_bytes(bytes, (__s64)all.pages, false));
	if (h->knows_top_pad)
		fprintf(out, "when the heap grows, malloc requests %s extra (M_TOP_PAD)\n",
			h->top_pad ? text_bytes(bytes, (__s64)h->top_pad, false) : "nothing");
	if (all.foreign)
		fprintf(out, "%s of [heap] do not belong to malloc: other code allocated them "
			     "with sbrk()\n",
			text_bytes(bytes, (__s64)all.foreign, false));
	if (p->other)
		fprintf(out, "%s is loaded, too, and its heap is not walked; all anonymous "
			     "memory: %s %s, %s mapped\n", p->other,
			text_bytes(time, (__s64)p->there, false),
			l->core ? "in the file" : "resident",
			text_bytes(bytes, (__s64)p->mapped, false));
	put_gaps(p, out);
}

/* Why a part of the answer is missing. */
static void put_missing(const struct heap_look *l, FILE *out)
{
	if (l->no_held)
		fprintf(out, "\nwhat blocks are and what holds them is not known: %s\n",
			l->no_held);
	if (l->held && l->held->why[0])
		fprintf(out, "\n%s\n", l->held->why);
}

static void put_held(const struct heap_page *p, FILE *out)
{
	const struct held *h = p->look->held;

	if (h && p->retained)
		render_held_holders(h, &p->show, out);
	if (h && !p->path)
		render_held_kinds(h, &p->show, out);
	if (h && !p->path && !p->retained)
		fputs("--retained shows what holds them\n", out);
	if (h && p->path)
		render_held_path(h, p->path, out);
}

/* "glibc's malloc, 2 arenas, caches of 3 threads; jemalloc, 8 arenas, 3 caches" */
static void put_allocators(const struct heap *h, FILE *out)
{
	size_t arenas[NR_HEAP_ALLOCATORS] = { 0 };
	const char *between = "";

	for (size_t i = 0; i < h->nr_arenas; i++)
		arenas[h->arenas[i].allocator]++;
	for (size_t k = 0; k < NR_HEAP_ALLOCATORS; k++) {
		if (!arenas[k])
			continue;
		fprintf(out, "%s%s, ", between, allocators[k].name);
		if (k == HEAP_MALLOCNG || k == HEAP_OLDMALLOC)
			fprintf(out, "%u area%s of memory", h->arenas[0].pieces,
				text_s(h->arenas[0].pieces));
		else
			fprintf(out, "%zu arena%s", arenas[k], text_s(arenas[k]));
		if (k == HEAP_GLIBC)
			fprintf(out, ", caches of %zu thread%s", h->caches, text_s(h->caches));
		else if (k == HEAP_JEMALLOC || k == HEAP_TCMALLOC)
			fprintf(out, ", %zu cache%s of threads", h->other_caches,
				text_s(h->other_caches));
		between = "; ";
	}
	fputc('\n', out);
}

void render_heap(const struct heap_page *p, FILE *out)
{
	const bool whole = !p->retained && !p->path;

	text_put(out, p->comm, NULL);
	fprintf(out, "[%d]: ", p->look->pid);
	put_allocators(&p->look->heap, out);
	if (p->was && render_held_growth(p->was, p->now, &p->show, out))
		fprintf(out, "\nthere is not enough memory to compare\n");
	if (whole && !p->was) {
		fputc('\n', out);
		put_arenas(p, out);
	}
	if (!p->was)
		put_held(p, out);
	if (!p->was)
		render_heap_python(p->look, out);
	put_missing(p->look, out);
	if (whole && !p->was) {
		put_classes(p, out);
		put_lost(p, out);
	}
	put_footer(p, out);
}

/* ---- JSON ---- */

static void json_arena(struct json *j, const struct heap_arena *a)
{
	const struct heap_sums *s = &a->sums;

	json_open(j, NULL, '{');
	json_str(j, "allocator", allocators[a->allocator].word);
	json_hex(j, "address", a->at);
	json_u64(j, "system_bytes", a->system);
	json_u64(j, "segments", a->pieces);
	if (a->libc)
		json_u64(j, "libc", a->libc + 1);
	if (a->unknown)
		json_u64(j, "unknown_bytes", a->unknown);
	if (a->why) {
		json_str(j, "reason", a->why);
		json_close(j, '}');
		return;
	}
	json_u64(j, "used_blocks", s->blocks[HEAP_USED]);
	json_u64(j, "used_bytes", s->bytes[HEAP_USED]);
	json_u64(j, "cached_blocks", s->blocks[HEAP_CACHED]);
	json_u64(j, "cached_bytes", s->bytes[HEAP_CACHED]);
	json_u64(j, "fast_blocks", s->blocks[HEAP_FAST]);
	json_u64(j, "fast_bytes", s->bytes[HEAP_FAST]);
	json_u64(j, "free_blocks", s->blocks[HEAP_FREE]);
	json_u64(j, "free_bytes", s->bytes[HEAP_FREE]);
	json_u64(j, "free_page_bytes", a->pages);
	json_u64(j, "largest_free", a->largest);
	json_u64(j, "top_bytes", a->top);
	json_u64(j, "overhead_bytes", a->heads + s->bytes[HEAP_OWN]);
	json_u64(j, "internal_bytes", s->bytes[HEAP_OWN]);
	json_u64(j, "foreign_bytes", a->foreign);
	json_close(j, '}');
}

static void json_classes(struct json *j, const struct heap_page *p)
{
	struct classes all;

	if (classify(&all, &p->look->heap))
		return;
	json_open(j, "sizes", '[');
	for (size_t i = 0; i < all.nr && (!p->top || i < p->top); i++) {
		const struct class *c = &all.at[i];

		json_open(j, NULL, '{');
		json_u64(j, "from", c->from);
		json_u64(j, "to", c->to);
		json_u64(j, "used_blocks", c->used);
		json_u64(j, "used_bytes", c->used_bytes);
		json_u64(j, "cached_blocks", c->cached);
		json_u64(j, "cached_bytes", c->cached_bytes);
		json_u64(j, "free_blocks", c->free);
		json_u64(j, "free_bytes", c->free_bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(all.at);
}

static void json_lost(struct json *j, const struct heap_page *p)
{
	const struct heap_look *l = p->look;
	__u64 blocks, bytes, definite;

	sum_lost(l, &blocks, &bytes, &definite);
	json_u64(j, "reachable_blocks", l->reachable_blocks);
	json_u64(j, "reachable_bytes", l->reachable_bytes);
	json_u64(j, "possible_blocks", l->possible_blocks);
	json_u64(j, "possible_bytes", l->possible_bytes);
	json_u64(j, "maybe_cached_blocks", l->cached_blocks);
	json_u64(j, "maybe_cached_bytes", l->cached_bytes);
	if (blocks || is_all(l)) {
		json_u64(j, "unreachable_blocks", blocks);
		json_u64(j, "unreachable_bytes", bytes);
		json_u64(j, "definite_blocks", definite);
	}
	json_open(j, "unreachable", '[');
	for (size_t i = 0; i < l->nr_lost && (!p->top || i < p->top); i++) {
		json_open(j, NULL, '{');
		json_u64(j, "size", l->lost[i].size);
		json_u64(j, "blocks", l->lost[i].blocks);
		json_u64(j, "bytes", l->lost[i].bytes);
		json_u64(j, "definite_blocks", l->lost[i].definite);
		if (l->lost[i].word)
			json_hex(j, "word", l->lost[i].word);
		if (l->lost[i].what)
			json_str(j, "what", l->lost[i].what);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_gaps(struct json *j, const struct heap *h)
{
	json_open(j, "not_walked", '[');
	for (size_t i = 0; i < h->nr_gaps; i++) {
		json_open(j, NULL, '{');
		json_hex(j, "address", h->gaps[i].start);
		json_u64(j, "bytes", h->gaps[i].end - h->gaps[i].start);
		json_hex(j, "arena", h->arenas[h->gaps[i].arena].at);
		json_str(j, "reason", h->gaps[i].why);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void render_heap_json(const struct heap_page *p, FILE *out)
{
	const struct heap_look *l = p->look;
	const struct heap *h = &l->heap;
	struct json j = { .out = out, .line = p->line };

	json_document(&j, "malloc");
	json_s64(&j, "pid", l->pid);
	json_str(&j, "comm", p->comm);
	json_str(&j, "allocator", allocators[h->allocator].word);
	json_bool(&j, "complete", h->complete);
	json_u64(&j, "unknown_bytes", heap_unknown(h));
	json_u64(&j, "swapped_out_bytes", l->core ? core_told(l->core)->swapped : l->left_out);
	json_u64(&j, "threads", l->threads);
	json_u64(&j, "read_bytes", l->bytes);
	if (l->core) {
		json_core(&j, l->core, p->file);
	} else {
		json_u64(&j, "stopped_ns", l->took_ns);
		json_u64(&j, "tries", l->tries);
		json_u64(&j, "copied_bytes", l->copied);
		json_str(&j, "method", look_way_name(l->way));
	}
	json_u64(&j, "caches", h->caches + h->other_caches);
	if (h->knows_top_pad)
		json_u64(&j, "top_pad_bytes", h->top_pad);
	json_open(&j, "arenas", '[');
	for (size_t i = 0; i < h->nr_arenas; i++)
		json_arena(&j, &h->arenas[i]);
	json_close(&j, ']');
	json_u64(&j, "mapped_system_bytes", h->mapped_says);
	if (h->mapped_why)
		json_str(&j, "mapped_reason", h->mapped_why);
	if (h->mapped_unknown)
		json_u64(&j, "mapped_unknown_bytes", h->mapped_unknown);
	json_gaps(&j, h);
	if (h->others_missing) {
		json_str(&j, "missing", h->others_missing);
		json_hex(&j, "missing_at", h->others_missing_at);
	}
	json_u64(&j, "mapped_blocks", h->mapped.blocks[HEAP_USED]);
	json_u64(&j, "mapped_bytes", h->mapped.bytes[HEAP_USED]);
	json_classes(&j, p);
	if (l->marked)
		json_lost(&j, p);
	json_heap_python(&j, l);
	if (l->held)
		json_held(&j, l->held, &p->show);
	if (l->no_held || (l->held && l->held->why[0]))
		json_str(&j, "not_held", l->no_held ? l->no_held : l->held->why);
	if (p->was)
		json_held_growth(&j, p->was, p->now, &p->show);
	json_close(&j, '}');
	fputc('\n', out);
}
