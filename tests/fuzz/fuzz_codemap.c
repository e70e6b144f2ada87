// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/codemap.c */
/* FUZZ: -max_len=2048 */
/* Whatever is mapped where, and when: no address is in code that it was not in. */
#include <stdlib.h>

#include "../unit/codemap_ref.h"

struct op {
	u8 what, from, len, file;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(struct ref_mm *r, const struct op *op)
{
	u32 from = op->from % REF_PAGES, to = from + 1 + op->len % (REF_PAGES - from);
	const u32 pages[] = { op->from % REF_PAGES, op->len % REF_PAGES, op->file % REF_PAGES };

	switch (op->what % 6) {
	case 0:
		ref_unmap(r, from, to);
		break;
	case 1:
		ref_read(r);
		break;
	case 2:
		ref_map(r, from, to, ~0U, 0);
		break;
	case 3:
		ref_take(r, pages, 3);
		break;
	default:
		ref_map(r, from, to, 8 + op->file % 5 * 8, op->what / 6 % 3);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ref_mm *r;
	size_t i;

	if (!size)
		return 0;
	r = ref_new(data[0] & 1 ? 2048 : 2 + data[0]);
	for (i = 1; i + sizeof(struct op) <= size; i += sizeof(struct op))
		one(r, (const struct op *)(data + i));
	ref_read(r);
	if (ref_wrong(r))
		abort();
	ref_free(r);
	return 0;
}
