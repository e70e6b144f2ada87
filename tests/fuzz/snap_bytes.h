/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SNAP_BYTES_H
#define _SNAP_BYTES_H

/* Streams from what a fuzzer makes up. */
#include <stdlib.h>
#include <string.h>

#include "uapi/memtap.h"
#include "wire.h"

/* A copy with true END records: where one is due, and at the end. */
static char *seal(const uint8_t *data, size_t size, size_t *len)
{
	char *out = calloc(1, size + 512);
	const struct memtap_rec *rec;
	struct memtap_rec_end end;
	struct wire_sum sum;
	u64 pos = 0, before = 0;
	u32 bad;

	*len = 0;
	memcpy(out, data, size);
	wire_sum_init(&sum);
	while ((rec = wire_next(out, size, &pos, &bad))) {
		struct memtap_rec *r = (struct memtap_rec *)(out + before);

		if (r->type == MEMTAP_REC_HEADER && r->len >= 16 && !before)
			((struct memtap_rec_header *)r)->magic = MEMTAP_MAGIC;
		if (r->type == MEMTAP_REC_END && r->len == sizeof(end)) {
			wire_end(&sum, &end);
			memcpy(r, &end, sizeof(end));
			wire_sum_init(&sum);
		} else {
			wire_sum_add(&sum, r);
		}
		before = pos;
	}
	wire_end(&sum, &end);
	memcpy(out + before, &end, sizeof(end));
	*len = before + sizeof(end);
	return out;
}

/* The first byte says whether the rest is sealed, or taken as it is.  NULL: too short. */
static char *snap_bytes(const uint8_t *data, size_t size, size_t *len)
{
	char *bytes;

	if (size < 8)
		return NULL;
	if (data[0] & 1)
		return seal(data + 8, size - 8, len);
	*len = size - 8;
	bytes = malloc(*len + 1);
	memcpy(bytes, data + 8, *len);
	return bytes;
}

#endif
