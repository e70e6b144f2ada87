// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/graph.c ctl/heap/path.c ctl/heap/kinds.c ctl/heap/looks.c */
/* LINK: ctl/heap/dominators.c ctl/heap/shared.c ctl/heap/chunks.c ctl/base/addr_index.c */
/* LINK: ctl/base/ids.c ctl/base/text.c ctl/leaks/held_names.c ctl/leaks/reach_ranges.c */
/* LINK: ctl/sym/cxx_class.c */
/* FUZZ: -max_len=4096 */
/*
 * A process whose memory is anything: blocks, a variable, and a file with what may be tables of
 * classes.  Whatever it is, each block has a kind, is held once, and nothing outside is read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/held_int.h"
#include "sym/cxx.h"

#define BASE	0x555555560000ULL
#define DATA	0x7f0000000000ULL
#define FILE_AT	0x7e0000000000ULL
#define LEN	0x2000UL
#define NR	64

static uint64_t image[3][LEN / 8];
static const uint64_t bases[3] = { BASE, DATA, FILE_AT };
static struct area areas[3];
static const struct layout layout = { .areas = areas, .nr = 3 };
static struct memory memory;
static struct heap_arena arena;
static struct heap_chunk chunks[NR];
static struct heap heap = { .arenas = &arena, .nr_arenas = 1, .chunks = chunks };

/* One page is not there. */
static const void *at(void *ctx, __u64 addr, size_t *len)
{
	(void)ctx;
	for (size_t i = 0; i < 3; i++) {
		const uint64_t where = addr - bases[i];
		uint64_t room = 4096 - where % 4096;

		if (where >= LEN)
			continue;
		if (*len > room)
			*len = room;
		return i == 1 && where / 4096 ? NULL : (char *)image[i] + where;
	}
	return NULL;
}

size_t memory_read(void *ctx, __u64 addr, void *buf, size_t len)
{
	const void *from = at(NULL, addr, &len);

	(void)ctx;
	if (from)
		memcpy(buf, from, len);
	return from ? len : 0;
}

char *cxx_demangle(const char *mangled)
{
	return strlen(mangled) % 2 ? strdup(mangled) : NULL;
}

struct object *objects_find(struct objects *o, __u64 addr, __u64 *vaddr)
{
	static struct object object;

	*vaddr = addr - FILE_AT;
	return addr % 3 ? &object : NULL;
}

const char *object_name(const struct object *o)
{
	return "file";
}

const struct elfsym_object *elfsym_objects_find(const struct elfsym_objects *o,
						enum elfsym_object_kind kind, __u64 vaddr)
{
	return NULL;
}

static int add_edge(void *ctx, __u64 where, __u64 word, __u32 block)
{
	struct graph *g = ctx;
	const uint32_t root = graph_add_root(g, (enum graph_tier)(word % NR_GRAPH_TIERS));

	if (root == GRAPH_NONE || graph_at(g, graph_addr(g, block)) != block)
		abort();
	return graph_add_edge(g, root, where, block);
}

static bool want(void *ctx, __u32 block)
{
	return block == *(uint32_t *)ctx;
}

static void check_path(struct graph *g, uint32_t block)
{
	struct graph_step *steps;
	size_t nr;

	if (graph_path(g, want, &block, &steps, &nr))
		abort();
	for (size_t i = 0; i + 1 < nr; i++)
		if (graph_target(g, steps[i].word) != steps[i + 1].node)
			abort();
	if (nr && (steps[0].node < g->nr_chunks || steps[nr - 1].node != block))
		abort();
	free(steps);
}

static void check_tree(const struct graph *g)
{
	uint8_t seen[NR] = { 0 };

	for (uint32_t v = 1; v < g->nr; v++) {
		if (g->dom[v] >= v)
			abort();
		if (g->node[v] < g->nr_chunks && seen[g->node[v]]++)
			abort();
	}
}

static void check_shared(struct graph *g)
{
	uint32_t *top = calloc(g->nr + 1, sizeof(*top)), *of, nr;
	struct graph_shared *shared;

	for (uint32_t v = 1; v < g->nr; v++)
		top[v] = g->dom[v] ? top[g->dom[v]] : v;
	if (graph_find_shared(g, top, 100, &shared, &nr, &of))
		abort();
	for (uint32_t i = 0; i < nr; i++)
		if (!shared[i].nr || shared[i].nr > GRAPH_SHARERS || shared[i].bytes < 100 ||
		    (!shared[i].more && shared[i].nr < 2))
			abort();
	for (uint32_t v = 1; v < g->nr; v++)
		if (of[v] != GRAPH_NONE &&
		    (of[v] >= nr || g->dom[v] || g->node[v] >= g->nr_chunks))
			abort();
	free(shared);
	free(of);
	free(top);
}

static void check_kinds(const struct kinds *k, const struct graph *g)
{
	uint64_t blocks = 0;
	char text[512];

	for (uint32_t i = 0; i < kinds_nr(k); i++) {
		blocks += k->at[i].blocks;
		if (!kind_name(k, i, text, sizeof(text)))
			abort();
	}
	if (blocks != g->nr_blocks)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct held_names held;
	const struct kind_names names = { held_is_file, held_look, &held };
	const struct graph_view view = { at, NULL };
	uint64_t from = BASE;
	struct kinds kinds;
	struct graph g;

	if (len < 8)
		return 0;
	areas[0] = (struct area){ .start = BASE, .end = BASE + LEN, .readable = true };
	areas[1] = (struct area){ .start = FILE_AT, .end = FILE_AT + LEN, .readable = true,
				  .is_file = true, .executable = bytes[0] & 1 };
	areas[2] = (struct area){ .start = DATA, .end = DATA + LEN, .readable = true };
	arena.at = FILE_AT + 0x1800;
	held_names_open(&held, NULL, &layout, &memory, &heap);
	heap.nr_chunks = 0;
	for (size_t i = 0; i < NR && from < BASE + LEN - 1024; i++) {
		const uint64_t size = 32 + 16 * (uint64_t)(bytes[i % len] % 40);

		chunks[heap.nr_chunks++] = (struct heap_chunk){
			.at = from, .size = size, .state = bytes[(i + 1) % len] % 5 ? HEAP_USED :
			HEAP_FREE };
		from += size;
	}
	/* words are bytes, or near an address that leads somewhere */
	for (size_t i = 0; i < 3 * LEN / 8; i++) {
		const uint8_t b = bytes[i % len], c = bytes[(3 * i + 1) % len];

		image[i * 8 / LEN][i % (LEN / 8)] = c % 8 == 7 ? b * 0x0101010101ULL :
			bases[c % 3] + (c & 64 ? (uint64_t)b * 8 : (uint64_t)b * 31);
	}
	memcpy(image[2], bytes, len < LEN ? len : LEN);
	if (graph_begin(&g, &heap, &view) ||
	    graph_scan(&g, DATA, DATA + 1024, bytes[1] & 1, add_edge, &g) ||
	    kinds_find(&kinds, &g, &names))
		abort();
	check_kinds(&kinds, &g);
	check_path(&g, bytes[2] % (uint32_t)(heap.nr_chunks + 1));
	if (graph_search(&g) || graph_dominate(&g))
		abort();
	check_tree(&g);
	check_shared(&g);
	kinds_free(&kinds);
	graph_free(&g);
	return 0;
}
