// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/graph.c ctl/heap/path.c ctl/heap/kinds.c ctl/heap/looks.c */
/* LINK: ctl/heap/dominators.c ctl/heap/shared.c ctl/heap/chunks.c */
/* LINK: ctl/base/addr_index.c ctl/base/ids.c ctl/base/text.c */
/*
 * Heaps of random blocks that point to each other: what roots retain is what cannot be reached
 * without them; and blocks of each kind, one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "heap/graph.h"
#include "heap/kinds.h"
#include "tap.h"

#define BASE	0x555555560000ULL
#define LEN	(64UL << 10)
#define DATA	0x7f0000000000ULL	/* where roots are, */
#define FILE_AT	0x7e0000000000ULL	/* and a file */
#define WORDS	512
#define MOST	40

static __u64 memory[LEN / 8], data[WORDS];
static struct heap_chunk chunks[MOST];
static struct heap_arena arena;
static struct heap heap = { .arenas = &arena, .nr_arenas = 1, .chunks = chunks };
static __u64 used;

static const void *at(void *ctx, __u64 addr, size_t *len)
{
	const __u64 base = addr - BASE < LEN ? BASE : DATA;
	const __u64 room = base == BASE ? LEN : sizeof(data);

	if (addr - base >= room)
		return NULL;
	if (*len > room - (addr - base))
		*len = (size_t)(room - (addr - base));
	return (const char *)(base == BASE ? memory : data) + (addr - base);
}

static const struct graph_view view = { at, NULL };

static void clear(void)
{
	memset(memory, 0, sizeof(memory));
	memset(data, 0, sizeof(data));
	heap.nr_chunks = 0;
	used = 0;
}

/* A block of so many bytes that can be used; its words. */
static __u64 *block(__u64 size, __u64 *addr)
{
	const __u64 len = (size + 8 + 15) & ~15ULL;

	chunks[heap.nr_chunks++] = (struct heap_chunk){ .at = BASE + used, .size = len,
							.state = HEAP_USED };
	*addr = BASE + used + 16;
	used += len;
	return &memory[(*addr - BASE) / 8];
}

/* ---- random graphs ---- */

struct made {
	int nr, roots;
	bool edge[MOST][MOST], root[MOST][MOST];	/* root: of a root to a block */
	enum graph_tier tier[MOST];
};

static void make(struct made *m)
{
	__u64 addr[MOST], *words[MOST];

	clear();
	memset(m, 0, sizeof(*m));
	m->nr = 1 + rand() % (MOST - 1);
	m->roots = 1 + rand() % 6;
	for (int i = 0; i < m->nr; i++)
		words[i] = block(64 + 8 * (__u64)(rand() % 8), &addr[i]);
	for (int i = 0; i < m->nr; i++)
		for (int k = 0; k < 7; k++) {
			const int to = rand() % m->nr;

			if (rand() % 3)
				continue;
			/* of the beginning, into it, or tagged */
			words[i][k] = addr[to] + (rand() % 4 ? 0 : 12);
			if (rand() % 8 == 0)
				words[i][k] = addr[to] | 3ULL << 60;
			m->edge[i][to] = true;
		}
	for (int r = 0; r < m->roots; r++)
		m->tier[r] = (enum graph_tier)(rand() % NR_GRAPH_TIERS);
	for (int i = 0; i < 8; i++) {
		const int r = rand() % m->roots, to = rand() % m->nr;

		m->root[r][to] = true;
		data[8 * r + i] = addr[to];
	}
}

static void reach(const struct made *m, int v, bool *seen)
{
	if (seen[v])
		return;
	seen[v] = true;
	for (int w = 0; w < m->nr; w++)
		if (m->edge[v][w])
			reach(m, w, seen);
}

/* From roots of tiers up to @tier, without one of them. */
static void reach_without(const struct made *m, int without, int tier, bool *seen)
{
	for (int r = 0; r < m->roots; r++)
		for (int w = 0; w < m->nr; w++)
			if (r != without && (int)m->tier[r] <= tier && m->root[r][w])
				reach(m, w, seen);
}

/* Blocks that only this root holds, of those that no better tier leads to. */
static int retains(const struct made *m, int root)
{
	bool before[MOST] = { false }, all[MOST] = { false }, others[MOST] = { false };
	const int tier = (int)m->tier[root];
	int nr = 0;

	reach_without(m, -1, tier - 1, before);
	reach_without(m, -1, tier, all);
	reach_without(m, root, tier, others);
	for (int i = 0; i < m->nr; i++)
		nr += all[i] && !others[i] && !before[i];
	return nr;
}

/*
 * Which roots of this tier lead to a block, by the definition: not through what a better one leads
 * to.
 */
static __u32 sharers(const struct made *m, int tier, int to)
{
	bool before[MOST] = { false }, seen[MOST];
	__u32 roots = 0;

	reach_without(m, -1, tier - 1, before);
	for (int r = 0; r < m->roots; r++) {
		if ((int)m->tier[r] != tier)
			continue;
		memcpy(seen, before, sizeof(seen));
		for (int w = 0; w < m->nr; w++)
			if (m->root[r][w])
				reach(m, w, seen);
		roots |= (__u32)(seen[to] && !before[to]) << r;
	}
	return roots;
}

static int all_shared;

static bool is_shared_right(const struct made *m, struct graph *g, const __u32 *top)
{
	struct graph_shared *shared;
	__u32 nr, *of, got;
	__u64 bytes[MOST] = { 0 };
	bool good = !graph_find_shared(g, top, 0, &shared, &nr, &of);

	for (__u32 v = 1; good && v < g->nr; v++) {
		if (g->node[v] >= g->nr_chunks || g->node[top[v]] >= g->nr_chunks)
			continue;
		good = of[top[v]] < nr;
		if (good)
			bytes[of[top[v]]] += g->chunks[g->node[v]].size;
		if (!good || top[v] != v)
			continue;
		got = 0;
		for (__u32 k = 0; k < shared[of[v]].nr; k++)
			got |= 1U << shared[of[v]].roots[k];
		good = got == sharers(m, (int)graph_tier_of(g, v), (int)g->node[v]) &&
		       !shared[of[v]].more;
		all_shared++;
	}
	for (__u32 i = 0; good && i < nr; i++)
		good = bytes[i] == shared[i].bytes &&
		       (!i || shared[i].bytes <= shared[i - 1].bytes);
	free(shared);
	free(of);
	return good;
}

static int add_edge(void *ctx, __u64 where, __u64 word, __u32 to)
{
	(void)word;
	return graph_add_edge(ctx, (__u32)((where - DATA) / 64), where, to);
}

static int all_held;

static bool is_right(const struct made *m)
{
	int held[MOST] = { 0 };
	bool good = true;
	struct graph g;
	__u32 *top;

	if (graph_begin(&g, &heap, &view))
		return false;
	for (int r = 0; r < m->roots; r++)
		if (graph_add_root(&g, m->tier[r]) != (__u32)r)
			return false;
	if (graph_scan(&g, DATA, DATA + 64 * (__u64)m->roots, false, add_edge, &g) ||
	    graph_search(&g) || graph_dominate(&g))
		return false;
	top = calloc(g.nr, sizeof(*top));
	for (__u32 v = 1; v < g.nr; v++) {
		top[v] = g.dom[v] ? top[g.dom[v]] : v;
		if (g.node[v] < g.nr_chunks && g.node[top[v]] >= g.nr_chunks)
			held[g.node[top[v]] - g.nr_chunks]++;
	}
	for (int r = 0; r < m->roots; r++) {
		good &= held[r] == retains(m, r);
		all_held += held[r];
	}
	good &= is_shared_right(m, &g, top);
	free(top);
	graph_free(&g);
	return good;
}

static void test_retained(void)
{
	enum { ROUNDS = 3000 };
	struct made *m = malloc(sizeof(*m));
	int wrong = 0;

	srand(7);
	for (int i = 0; i < ROUNDS; i++) {
		make(m);
		wrong += !is_right(m);
	}
	is(wrong, 0, "what each root retains, and which share a block, by the definition, in all "
	   "of %d heaps", ROUNDS);
	ok(all_held > 2 * ROUNDS && all_shared > ROUNDS, "which is something (%d, %d)", all_held,
	   all_shared);
	free(m);
}

/* ---- paths ---- */

static bool is_last(void *ctx, __u32 chunk)
{
	return chunk == *(const __u32 *)ctx;
}

static void test_path(void)
{
	__u64 addr[5], *words[5];
	struct graph_step *steps = NULL;
	struct graph g;
	size_t nr = 0;
	__u32 last = 4;

	clear();
	for (int i = 0; i < 5; i++)
		words[i] = block(40, &addr[i]);
	/* 0 -> 1 -> 2 -> 4, and 0 -> 3 -> 4 into the middle */
	words[0][1] = addr[1];
	words[1][0] = addr[2];
	words[2][0] = addr[4];
	words[0][4] = addr[3];
	words[3][2] = addr[4] + 8;
	data[2] = addr[0];
	ok(!graph_begin(&g, &heap, &view) && graph_add_root(&g, GRAPH_LASTING) == 0 &&
	   !graph_scan(&g, DATA, DATA + 64, false, add_edge, &g) &&
	   !graph_path(&g, is_last, &last, &steps, &nr), "a path is searched");
	is(nr, 4, "the shorter one of two");
	ok(steps[0].node == g.nr_chunks && steps[0].at == DATA + 16, "from the root");
	ok(steps[1].node == 0 && steps[1].at == addr[0] + 32 && steps[1].word == addr[3],
	   "by the pointer that leads on");
	ok(steps[2].node == 3 && steps[2].word == addr[4] + 8 && steps[3].node == 4,
	   "also into the middle");
	free(steps);
	data[2] = 0;
	g.nr_edges = 0;
	ok(!graph_path(&g, is_last, &last, &steps, &nr) && !nr, "none where nothing leads there");
	free(steps);
	graph_free(&g);
}

/* ---- kinds ---- */

static bool is_file(void *ctx, __u64 word)
{
	return word - FILE_AT < 0x1000;
}

static enum kind_word look(void *ctx, __u64 word, char **name)
{
	*name = strdup(word < FILE_AT + 0x800 ? "Class" : "operations");
	return word < FILE_AT + 0x800 ? KIND_WORD_CLASS : KIND_WORD_SYMBOL;
}

static const struct kind_names names = { is_file, look, NULL };

static struct graph kinds_graph;
static struct kinds kinds;

static void find_kinds(void)
{
	if (graph_begin(&kinds_graph, &heap, &view) ||
	    graph_add_root(&kinds_graph, GRAPH_LASTING) ||
	    graph_scan(&kinds_graph, DATA, DATA + 64, false, add_edge, &kinds_graph) ||
	    kinds_find(&kinds, &kinds_graph, &names))
		abort();
}

static const char *kind_of(__u64 addr)
{
	static char text[256];

	return kind_name(&kinds, kinds.of[graph_at(&kinds_graph, addr)], text, sizeof(text));
}

#define is_kind(addr, want, name) do {					\
	const char *got_ = kind_of(addr);				\
	if (!ok(!strcmp(got_, want), name))				\
		diag_kind(got_);					\
} while (0)

static void diag_kind(const char *got)
{
	printf("# %s\n", got);
}

static void test_kinds(void)
{
	__u64 object, several, array, table, text, letters, zero, size, string, vector, list[2];
	__u64 pointers, cookie, *w;

	clear();
	w = block(40, &object);
	w[0] = FILE_AT + 16;
	w[1] = 5;
	w = block(8 * 24, &several);
	for (int i = 0; i < 8; i++)
		w[3 * i] = FILE_AT + 16;
	w = block(56, &cookie);
	w[0] = 2;
	w[1] = w[4] = FILE_AT + 16;
	w = block(40, &table);
	w[0] = 7;
	w[2] = FILE_AT + 0x900;
	strcpy((char *)block(40, &text), "some words that can be read");
	/* (an address of six letters) */
	w = block(24, &letters);
	w[0] = object;
	w[1] = 0x80;
	block(104, &zero);
	w = block(72, &size);
	w[0] = 0x8180;
	strcpy((char *)block(40, &string), "a text that has an owner");
	w = block(104, &vector);
	for (int i = 0; i < 12; i++)
		w[i] = 0x8180 + (__u64)i;
	block(24, &list[0])[2] = 0x81;
	block(24, &list[1])[2] = 0x82;
	for (int i = 0; i < 2; i++)
		memory[(list[i] - BASE) / 8] = memory[(list[i] - BASE) / 8 + 1] = list[!i];
	w = block(72, &pointers);
	for (int i = 0; i < 8; i++)
		w[i] = object;
	w = block(56, &array);
	w[0] = string;
	w[1] = 24;
	w[2] = 39;
	w[3] = vector;
	w[4] = vector + 88;
	w[5] = vector + 104;
	w[6] = 0x8180;
	data[0] = array;
	find_kinds();
	is_kind(object, "Class", "an object by its class");
	is_kind(several, "looks like an array of Class", "several of them");
	is_kind(cookie, "looks like an array of Class", "also behind their number");
	is_kind(table, "points to operations at +16", "a struct by its table");
	is_kind(text, "looks like text", "text");
	is_kind(letters, "24 bytes", "no address is text");
	is_kind(zero, "only zeros", "zeros");
	is_kind(size, "72 bytes", "else by size");
	is_kind(string, "looks like a std::string's text", "a string by who has it");
	is_kind(vector, "looks like a std::vector's elements", "elements of a vector, too");
	is_kind(list[0], "looks like a node of a linked list, 24 bytes", "a node of a list");
	is_kind(pointers, "looks like pointers to: Class", "pointers to one kind");
	ok(graph_is_opaque(&kinds_graph, graph_at(&kinds_graph, text)) &&
	   !graph_is_opaque(&kinds_graph, graph_at(&kinds_graph, size)),
	   "what looks like text leads nowhere");
	kinds_free(&kinds);
	graph_free(&kinds_graph);
}

/* The first page has something else, or the last bytes of one that begins late. */
static void test_loose(void)
{
	const __u64 large = BASE + 16, size = 16384;
	__u64 object, small, *w = memory + 2;

	clear();
	chunks[heap.nr_chunks++] = (struct heap_chunk){ .at = BASE, .size = size,
							.state = HEAP_USED,
							.tail = HEAP_LOOSE_TAIL };
	used = size + 4096;
	block(40, &object)[0] = FILE_AT + 16;
	block(72, &small)[0] = 0x8180;
	w[0] = FILE_AT + 16;
	for (int i = 512; i < 1024; i++)
		w[i] = object;
	w[(640 + size) / 8 - 1] = small;
	data[0] = large + 640;
	find_kinds();
	is_kind(large, "looks like pointers to: Class", "what begins late by its second page");
	ok(graph_at(&kinds_graph, large + 640 + size - 1) == 0, "its last byte is its own");
	ok(graph_begins(&kinds_graph, 0, large + 640) &&
	   !graph_begins(&kinds_graph, 0, large + 641) &&
	   !graph_begins(&kinds_graph, 0, large + 4096), "where it may begin");
	ok(!graph_search(&kinds_graph) && kinds_graph.number[2], "its last word leads on");
	kinds_free(&kinds);
	graph_free(&kinds_graph);
	clear();
	chunks[heap.nr_chunks++] = (struct heap_chunk){ .at = BASE, .size = size,
							.state = HEAP_USED,
							.tail = HEAP_LOOSE_TAIL };
	w[0] = FILE_AT + 16;
	w[700] = 0x8180;
	data[0] = large + 640;
	find_kinds();
	is_kind(large, "8.0 KiB - 16.0 KiB", "else by its size");
	kinds_free(&kinds);
	graph_free(&kinds_graph);
}

static void test_none(void)
{
	struct graph g;

	clear();
	ok(!graph_begin(&g, &heap, &view) && !graph_search(&g) && !graph_dominate(&g),
	   "a heap without blocks");
	ok(!kinds_find(&kinds, &g, NULL) && !kinds_nr(&kinds), "has no kinds");
	kinds_free(&kinds);
	graph_free(&g);
}

int main(void)
{
	test_retained();
	test_path();
	test_kinds();
	test_loose();
	test_none();
	return tap_done();
}
