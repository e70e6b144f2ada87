// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/mapset.c */
/* FUZZ: -max_len=2048 */
/* Any order of mapping and unmapping: mapset says what mapset_ref.h has written down. */
#include <stdlib.h>

#include "../unit/mapset_ref.h"

#define MAX_OPS		400

struct head {
	u8 room, base, seed;
};

struct op {
	u8 what, from, len, flags;
};

static struct mapping nodes[256];
static struct ref_range ranges[MAX_OPS * 2 + 2];
static const u64 bases[] = { 0, 0x7f0000000000ULL, -64ULL << 12, 1ULL << 63 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int claim)
{
	if (!claim)
		abort();
}

static void both_do(struct mapset *t, struct ref *r, const struct op *op, u32 i,
		    struct mapset_gone *gone)
{
	u32 space = (op->what >> 2) % REF_SPACES, from = op->from % 63;
	u32 to = from + 1 + op->len % (63 - from);
	struct ref_range range = { i, op->flags };
	struct mapping m = ref_mapping(r, space, from, to, range);

	switch (op->what & 3) {
	case 0:
		mapset_remove(t, m.space, m.start, m.end, r->mark, gone);
		ref_remove(r, space, from, to);
		break;
	case 1:
		must(mapset_purge(t, m.space, op->len % 8, r->mark, gone) ==
		     ref_purge(r, space, op->len % 8));
		break;
	default:
		must(mapset_add(t, &m, r->mark, gone) ==
		     ref_add(r, space, from, to, range));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapset_gone gone = { 0 };
	struct mapset t;
	struct ref r;
	struct head h;
	struct op op;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	memset(nodes, 0, sizeof(nodes));
	memset(&r, 0, sizeof(r));
	h.room = h.room < 2 ? 2 : h.room;
	mapset_init(&t, nodes, h.room, h.seed);
	r.range = ranges;
	r.nr_ranges = 1;
	r.room = h.room - 1;
	r.base = bases[h.base % 4];
	r.unit = h.base & 4 ? 1 : 4096;
	r.mark = h.base >> 3;
	data += sizeof(h);
	size -= sizeof(h);
	for (u32 i = 1; i <= MAX_OPS && size >= sizeof(op); i++) {
		memcpy(&op, data, sizeof(op));
		both_do(&t, &r, &op, i, &gone);
		must(ref_same(&r, &t) && ref_same_gone(&r, &gone));
		must(i % 8 || ref_same_at(&r, &t));
		data += sizeof(op);
		size -= sizeof(op);
	}
	return 0;
}
