// SPDX-License-Identifier: GPL-2.0-or-later
/* Read numbers in the encodings of .eh_frame, with bounds checks. */
#include <dwarf.h>
#include <string.h>

#include "unwind/int.h"

static bool bad(struct unwind_bytes *b)
{
	b->p = b->end;
	return false;
}

bool unwind_read_uint(struct unwind_bytes *b, size_t len, __u64 *v)
{
	if ((size_t)(b->end - b->p) < len)
		return bad(b);
	*v = 0;
	memcpy(v, b->p, len);		/* little-endian: there are no rows for others */
	b->p += len;
	return true;
}

bool unwind_read_uleb(struct unwind_bytes *b, __u64 *v)
{
	unsigned int shift = 0;

	for (*v = 0; b->p < b->end; shift += 7) {
		const unsigned char byte = *b->p++;

		if (shift < 64)
			*v |= (__u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return bad(b);
}

bool unwind_read_sleb(struct unwind_bytes *b, __s64 *v)
{
	unsigned int shift = 0;
	__u64 u = 0;

	while (b->p < b->end) {
		const unsigned char byte = *b->p++;

		if (shift < 64)
			u |= (__u64)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift < 64)
			u |= ~0ULL << shift;
		*v = (__s64)u;
		return true;
	}
	return bad(b);
}

static bool read_signed(struct unwind_bytes *b, size_t len, __u64 *v)
{
	const unsigned int shift = 64 - 8 * (unsigned int)len;

	if (!unwind_read_uint(b, len, v))
		return false;
	*v = (__u64)((__s64)(*v << shift) >> shift);
	return true;
}

bool unwind_read_encoded(struct unwind_bytes *b, __u8 encoding, __u64 at, __u64 *v)
{
	__s64 s;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		if (!unwind_read_uint(b, 8, v))
			return false;
		break;
	case DW_EH_PE_uleb128:
		if (!unwind_read_uleb(b, v))
			return false;
		break;
	case DW_EH_PE_sleb128:
		if (!unwind_read_sleb(b, &s))
			return false;
		*v = (__u64)s;
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_udata4:
		if (!unwind_read_uint(b, encoding & 1 ? 4 : 2, v))
			return false;
		break;
	case DW_EH_PE_sdata2:
	case DW_EH_PE_sdata4:
		if (!read_signed(b, encoding & 1 ? 4 : 2, v))
			return false;
		break;
	default:
		return bad(b);
	}
	switch (encoding & 0xf0) {
	case 0:
		return true;
	case DW_EH_PE_pcrel:
		*v += at;
		return true;
	default:			/* indirect, or relative to what no code is */
		return bad(b);
	}
}
