// SPDX-License-Identifier: GPL-2.0-only
/* Read and write the records of the stream. */
#include "wire.h"

/* As first released: what grew later may be missing. */
static const u16 min_len[] = {
	[MEMTAP_REC_HEADER] = offsetof(struct memtap_rec_header, sample_bytes),
	[MEMTAP_REC_EVENT] = offsetof(struct memtap_rec_event, own),
	[MEMTAP_REC_HOOK] = sizeof(struct memtap_rec_hook),
	[MEMTAP_REC_COUNTER] = sizeof(struct memtap_rec_counter),
	[MEMTAP_REC_STACK] = sizeof(struct memtap_rec_stack),
	[MEMTAP_REC_TASK] = sizeof(struct memtap_rec_task),
	[MEMTAP_REC_MAP] = sizeof(struct memtap_rec_map),
	[MEMTAP_REC_FILE] = sizeof(struct memtap_rec_file),
	[MEMTAP_REC_MEMORY] = offsetof(struct memtap_rec_memory, unwind_size),
	[MEMTAP_REC_BLOCKS] = sizeof(struct memtap_rec_blocks),
	[MEMTAP_REC_HEAP] = sizeof(struct memtap_rec_heap),
	[MEMTAP_REC_SPACE] = offsetof(struct memtap_rec_space, maps_reserved),
	[MEMTAP_REC_MISMATCH] = sizeof(struct memtap_rec_mismatch),
	[MEMTAP_REC_CACHE] = offsetof(struct memtap_rec_cache, reclaimable),
	[MEMTAP_REC_GONE] = sizeof(struct memtap_rec_gone),
	[MEMTAP_REC_TOUCHED] = sizeof(struct memtap_rec_touched),
	[MEMTAP_REC_TOUCHED_SUM] = sizeof(struct memtap_rec_touched_sum),
	[MEMTAP_REC_MARK] = sizeof(struct memtap_rec_mark),
	[MEMTAP_REC_PEAKS] = sizeof(struct memtap_rec_peaks),
	[MEMTAP_REC_PEAK] = sizeof(struct memtap_rec_peak),
	[MEMTAP_REC_END] = sizeof(struct memtap_rec_end),
	[MEMTAP_REC_PENDING] = sizeof(struct memtap_rec_pending),
	[MEMTAP_REC_KSYM] = sizeof(struct memtap_rec_ksym),
	[MEMTAP_REC_NOTE] = sizeof(struct memtap_rec_note),
	[MEMTAP_REC_USYM] = sizeof(struct memtap_rec_usym),
	[MEMTAP_REC_REACH] = sizeof(struct memtap_rec_reach),
	[MEMTAP_REC_SPAN] = sizeof(struct memtap_rec_span),
	[MEMTAP_REC_LIVED] = sizeof(struct memtap_rec_lived),
	[MEMTAP_REC_FIELDS] = sizeof(struct memtap_rec_fields),
	[MEMTAP_REC_SAMPLE] = sizeof(struct memtap_rec_sample),
	[MEMTAP_REC_HOST] = sizeof(struct memtap_rec_host),
	[MEMTAP_REC_HELD] = sizeof(struct memtap_rec_held),
	[MEMTAP_REC_OOM] = offsetof(struct memtap_rec_oom, record.flags),
};

u32 wire_min_len(u32 type)
{
	return type < sizeof(min_len) / sizeof(min_len[0]) ? min_len[type] : 0;
}

void wire_sum_init(struct wire_sum *s)
{
	s->records = 0;
	s->count = 0;
	s->checksum = WIRE_FNV_BASIS;
}

/* By bytes, as the contract has it on any machine; one load where it fits. */
static inline u64 little_endian(const u8 *p)
{
	return (u64)p[0] | (u64)p[1] << 8 | (u64)p[2] << 16 | (u64)p[3] << 24 |
	       (u64)p[4] << 32 | (u64)p[5] << 40 | (u64)p[6] << 48 |
	       (u64)p[7] << 56;
}

void wire_sum_add(struct wire_sum *s, const struct memtap_rec *rec)
{
	const u8 *p = (const u8 *)rec;
	const u8 *end = p + (rec->len & ~7U);
	u64 h = s->checksum;

	for (; p != end; p += 8)
		h = (h ^ little_endian(p)) * WIRE_FNV_PRIME;
	s->checksum = h;
	s->records++;
	if (rec->type == MEMTAP_REC_COUNTER && rec->len >= wire_min_len(rec->type))
		s->count += ((const struct memtap_rec_counter *)rec)->count;
}

void wire_end(const struct wire_sum *s, struct memtap_rec_end *end)
{
	end->rec.type = MEMTAP_REC_END;
	end->rec.len = sizeof(*end);
	end->records = s->records + 1;
	end->count = s->count;
	end->checksum = s->checksum;
}

void *wire_begin(void *buf, u64 room, u32 type, u64 len)
{
	struct memtap_rec *rec = buf;

	if (len < sizeof(*rec) || len > 0xfffffff8U)
		return NULL;
	len = (len + 7) & ~7ULL;
	if (len > room)
		return NULL;
	memset(buf, 0, (size_t)len);
	rec->type = type;
	rec->len = (u32)len;
	return buf;
}

const struct memtap_rec *wire_next(const void *buf, u64 len, u64 *pos, u32 *bad)
{
	const struct memtap_rec *rec;
	u64 left;

	*bad = 0;
	if (*pos == len)
		return NULL;
	*bad = 1;
	if (*pos > len || (*pos & 7))
		return NULL;
	left = len - *pos;
	if (left < sizeof(*rec))
		return NULL;
	rec = (const struct memtap_rec *)((const u8 *)buf + *pos);
	if (rec->len < sizeof(*rec) || (rec->len & 7) || rec->len > left ||
	    rec->len < wire_min_len(rec->type))
		return NULL;
	*bad = 0;
	*pos += rec->len;
	return rec;
}
