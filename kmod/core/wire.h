/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_WIRE_H
#define _CORE_WIRE_H

#include "port.h"
#include "uapi.h"

/*
 * Stream records, written to and read from bounded memory.  The layouts are the
 * structs of include/uapi/memtap.h.
 */

#define WIRE_FNV_BASIS	0xcbf29ce484222325ULL
#define WIRE_FNV_PRIME	0x100000001b3ULL

/* Running totals for the END record. */
struct wire_sum {
	u64 records;
	u64 count;
	u64 checksum;
};

void wire_sum_init(struct wire_sum *s);
/* Account a complete record (not END). */
void wire_sum_add(struct wire_sum *s, const struct memtap_rec *rec);
/* Make the END record for what was accounted. */
void wire_end(const struct wire_sum *s, struct memtap_rec_end *end);

/*
 * Start a record of @type with @len bytes in all (rounded up to 8) in @buf,
 * zeroed.  NULL if it does not fit into @room.
 */
void *wire_begin(void *buf, u64 room, u32 type, u64 len);

/*
 * The record at @pos of @len bytes of stream: NULL at the end or if what is
 * there is not a whole record (*bad is then 1).
 */
const struct memtap_rec *wire_next(const void *buf, u64 len, u64 *pos, u32 *bad);

/* Smallest len of a record of this type; 0 for unknown types. */
u32 wire_min_len(u32 type);

#endif
