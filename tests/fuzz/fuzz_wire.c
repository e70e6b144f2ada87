// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/wire.c */
/* FUZZ: -max_len=4096 */
/*
 * Hostile streams: every record that wire_next() hands out lies within the
 * input and is as long as its type demands; the walk ends, at the end or with
 * a complaint.
 */
#include <stdlib.h>

#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memtap_rec *rec;
	struct memtap_rec_end end;
	u64 pos = 0, before = 0;
	struct wire_sum sum;
	u8 *buf = malloc(size + !size);
	u32 bad = 7;

	memcpy(buf, data, size);
	wire_sum_init(&sum);
	while ((rec = wire_next(buf, size, &pos, &bad))) {
		if (bad || (const u8 *)rec != buf + before || pos > size ||
		    pos != before + rec->len || rec->len < wire_min_len(rec->type))
			abort();
		wire_sum_add(&sum, rec);
		before = pos;
	}
	if (bad != (pos != size))
		abort();
	wire_end(&sum, &end);
	if (end.records > size / sizeof(*rec) + 1)
		abort();
	free(buf);
	return 0;
}
