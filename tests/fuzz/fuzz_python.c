// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/python_layout.c ctl/heap/python_pools.c ctl/heap/python_gc.c */
/* LINK: ctl/heap/python_type.c ctl/heap/python_objects.c */
/* LINK: ctl/heap/python_add.c ctl/heap/python_parts.c ctl/heap/python_modules.c */
/* LINK: ctl/heap/python_frames.c */
/* LINK: ctl/heap/python_slot.c ctl/heap/graph.c ctl/heap/path.c */
/* LINK: ctl/heap/kinds.c ctl/heap/looks.c ctl/heap/dominators.c ctl/heap/chunks.c */
/* LINK: ctl/base/addr_index.c ctl/base/ids.c ctl/base/text.c */
/* FUZZ: -max_len=1024 */
/*
 * An interpreter of Python whose memory is nearly right: the input says which words are others.
 * Whatever it is, no block is in another one, each has a kind and is held once.
 */
#include "../unit/python_image.h"

/* Words that are others: a region, a place in it, and what stands there. */
static void change(const uint8_t *bytes, size_t len)
{
	for (; len >= 5; bytes += 5, len -= 5) {
		const struct region *r = &regions[bytes[0] % NR_REGIONS];
		const struct region *to = &regions[bytes[0] / NR_REGIONS % NR_REGIONS];
		const uint64_t at = (bytes[1] | (uint64_t)bytes[2] << 8) % (r->len / 8) * 8;
		const uint64_t value = bytes[3] | (uint64_t)bytes[4] << 8;

		switch (bytes[0] / 16 % 4) {
		case 0:
			put(r->at + at, to->at + value * 8 % to->len);
			break;
		case 1:
			put(r->at + at, value);
			break;
		case 2:
			r->bytes[at + bytes[4] % 8] = bytes[3];
			break;
		default:
			put(r->at + at, value * 0x0101010101010101ULL);
		}
	}
}

static int add_edge(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct graph *g = ctx;
	const __u32 root = graph_add_root(g, (enum graph_tier)(word % NR_GRAPH_TIERS));

	return root == GRAPH_NONE ? -ENOMEM : graph_add_edge(g, root, at, block);
}

static void check_apart(const struct heap *h)
{
	for (size_t i = 1; i < h->nr_chunks; i++)
		if (h->chunks[i].at < h->chunks[i - 1].at + h->chunks[i - 1].size)
			abort();
}

static int name_slot(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct python *py = ctx;
	const __u32 in = graph_at(py->g, at);
	char text[64];

	(void)word;
	if (in == GRAPH_NONE)
		return 0;
	memset(text, 'x', sizeof(text));
	if (python_slot(py, in, at, text, sizeof(text)) != PYTHON_NO_SLOT &&
	    !memchr(text, '\0', sizeof(text)))
		abort();
	python_attribute(py, in, block, text, sizeof(text));
	return 0;
}

/* Whatever they are, no two frames have a word in common. */
static void check_frames(struct python *py)
{
	char name[64], source[64];

	for (size_t i = 0; i < py->nr_frames; i++) {
		const struct python_frame *frame, *f = &py->frames[i];

		if (f->end <= f->start || (i && f->start < py->frames[i - 1].end) ||
		    python_stack_at(py, f->start, &frame) != PYTHON_LIVE || frame != f)
			abort();
		memset(name, 'x', sizeof(name));
		memset(source, 'x', sizeof(source));
		if (python_function(py, f->code, name, source, sizeof(name)) &&
		    (!memchr(name, '\0', sizeof(name)) || !memchr(source, '\0', sizeof(source))))
			abort();
		for (__u32 k = 0; k < 8; k++)
			if (python_variable(py, f->code, k, name, sizeof(name)) &&
			    !memchr(name, '\0', sizeof(name)))
				abort();
	}
}

static void look_at(struct python *py, struct graph *g)
{
	const struct kind_names names = image_names(py);
	struct kinds k;
	char text[512];
	__u64 blocks = 0;

	if (python_find_objects(py, g) || kinds_find(&k, g, &names))
		abort();
	for (__u32 i = 0; i < kinds_nr(&k); i++) {
		blocks += k.at[i].blocks;
		if (!kind_name(&k, i, text, sizeof(text)))
			abort();
	}
	if (blocks != g->nr_blocks)
		abort();
	check_frames(py);
	for (__u32 i = 0; py->of && i < g->nr_chunks; i++)
		if (graph_is_block(g, i))
			graph_scan_block(g, i, name_slot, py);
	if (graph_search(g) || graph_dominate(g))
		abort();
	kinds_free(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct python_place place;
	struct python py;
	struct heap h;
	struct graph g;

	if (!len)
		return 0;
	make_image(&image_forms[bytes[0] % NR_IMAGE_FORMS]);
	place = image_place();
	/* (a version that it is not) */
	if (bytes[0] & 128)
		place.version = 0x0300 + bytes[0] % 16;
	change(bytes + 1, len - 1);
	python_begin(&py, &place, &memory);
	if (make_heap(&h) || python_find_pools(&py, &h))
		abort();
	check_apart(&h);
	python_find_tracked(&py, &h);
	if (python_find_frames(&py, &h))
		abort();
	if (graph_begin(&g, &h, &view) ||
	    graph_scan(&g, FILE_AT, FILE_AT + FILE_LEN, false, add_edge, &g))
		abort();
	look_at(&py, &g);
	graph_free(&g);
	python_free(&py);
	heap_free(&h);
	return 0;
}
