// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/unwindtab.c */
/* FUZZ: -max_len=2048 */
/*
 * Hostile tables: what unwindtab_check() takes is what the contract allows, and
 * whatever it takes can be searched, in the room that the module has for it.
 */
#include <stdlib.h>

#include "../unit/unwindtab_ref.h"

struct head {
	u16 nr_rows, nr_rules;		/* that there are, if there are so many */
	u8 claim;			/* 1: more rows, 2: more rules than that */
	u8 shape;			/* 1: rows are distances, of 2: 16 bits, and
					 * 4: kinds are in range */
	u8 top;				/* the last row is at the last position */
	u8 reserved;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* @n things of @len bytes out of the input, or as many as there are. */
static void *take(const uint8_t **data, size_t *size, u16 *n, size_t len)
{
	void *out;

	if (*n > *size / len)
		*n = *size / len;
	out = malloc(*n * len + !*n);
	memcpy(out, *data, *n * len);
	*data += *n * len;
	*size -= *n * len;
	return out;
}

static void shape_rows(const struct head *h, u32 *rows, u16 *kinds)
{
	u32 up;

	for (u32 i = 0; i < h->nr_rows; i++) {
		if (h->shape & 2)
			rows[i] &= 0xffff;
		if (h->shape & 1 && i)
			rows[i] += rows[i - 1] + 1;
		if (h->shape & 4)
			kinds[i] %= h->nr_rules + !h->nr_rules;
	}
	up = h->nr_rows ? -1U - rows[h->nr_rows - 1] : 0;
	for (u32 i = 0; h->top & 1 && i < h->nr_rows; i++)
		rows[i] += up;
}

static void search(const struct unwindtab *t, u64 pos)
{
	for (u64 p = pos - 1; p != pos + 2; p++)
		if (unwindtab_find(t, p) != ref_find(t, p))
			abort();
}

static void index_and_search(struct unwindtab *t)
{
	size_t bytes = unwindtab_layout(t);
	u32 *blocks = malloc(bytes);

	if (bytes > ((size_t)t->nr_rows / 4 + 2) * sizeof(u32))
		abort();
	unwindtab_index(t, blocks);
	for (u32 i = 0; i < t->nr_rows; i++)
		search(t, t->rows[i]);
	for (u64 i = 0; i <= t->nr_blocks; i++)
		search(t, t->rows[0] + (i << t->shift));
	search(t, 1);
	search(t, -2U);
	search(t, 1ULL << 32);
	search(t, -3ULL);
	free(blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwindtab t = { 0 };
	struct memtap_rule *rules;
	struct head h;
	u32 *rows;
	u16 *kinds;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	data += sizeof(h);
	size -= sizeof(h);
	h.nr_rules %= 16;
	rules = take(&data, &size, &h.nr_rules, sizeof(*rules));
	if (h.nr_rows > size / (sizeof(*rows) + sizeof(*kinds)))
		h.nr_rows = size / (sizeof(*rows) + sizeof(*kinds));
	rows = take(&data, &size, &h.nr_rows, sizeof(*rows));
	kinds = take(&data, &size, &h.nr_rows, sizeof(*kinds));
	shape_rows(&h, rows, kinds);
	t.nr_rows = h.claim & 1 ? MEMTAP_MAX_ROWS + 1 + h.claim : h.nr_rows;
	t.nr_rules = h.claim & 2 ? MEMTAP_MAX_RULES + 1 + h.claim : h.nr_rules;
	t.rows = rows;
	t.kinds = kinds;
	t.rules = rules;
	if ((unwindtab_check(&t) == 0) != ref_good_table(&t))
		abort();
	if (ref_good_table(&t))
		index_and_search(&t);
	free(rules);
	free(rows);
	free(kinds);
	return 0;
}
