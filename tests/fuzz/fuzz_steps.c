// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/steps.c */
/* FUZZ: -max_len=1800 */
/*
 * Anybody's steps: what passes the check does nothing out of bounds, ends with an empty
 * stack, and keeps what the check said; what is packed comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "steps_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char memory[64] = "some text in the memory";

static void check_packed(const struct steps *s, const struct steps_values *v)
{
	unsigned char *packed = malloc(steps_packed_max(s, s->kept) + 1);
	static struct steps_values back;
	const u32 len = steps_pack(s, v, s->kept, packed);

	if (len > steps_packed_max(s, s->kept) || len % 8 ||
	    !steps_unpack(s, &back, s->kept, v->known, packed, len) ||
	    back.known != (v->known & s->kept))
		abort();
	for (u32 i = 0; i < MEMTAP_MAX_SLOTS; i++) {
		if (!(back.known >> i & 1))
			continue;
		if (s->text >> i & 1 ? strcmp(steps_text(&back, i), steps_text(v, i)) :
		    back.number[i] != v->number[i])
			abort();
	}
	free(packed);
}

/* Input: eight bytes of settings, steps of 8 bytes each, and then strings and a record. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct steps s;
	static struct steps_values v;
	struct steps_world w = { .base = 16, .memory = { memory, memory },
				 .memory_len = sizeof(memory) };
	u32 can;
	size_t n;

	if (size < 8)
		return 0;
	memset(&s, 0, sizeof(s));
	memset(&v, 0, sizeof(v));
	can = data[0] & 0x3f;
	s.nr = data[1];
	s.nr_entry = data[2];
	s.nr_shown = data[3];
	s.value_slot = data[4];
	s.by_slot = data[5];
	s.texts_len = data[6];
	s.by_mask = data[5] & 0x80 ? data[7] : 0;
	s.by_slot &= 0x7f;
	s.text_max = data[7] & 0x80 ? MEMTAP_SHORT_TEXT - 1 + (data[7] & 0x7f) * 8U : 0;
	data += 8;
	size -= 8;
	for (u32 i = 0; i < MEMTAP_MAX_STEPS && size >= 8; i++, data += 8, size -= 8) {
		struct memtap_step *st = &s.at[i];

		st->op = data[0];
		st->type = data[1];
		st->index = (u16)(data[2] | (data[3] & 1) << 8);
		st->reserved = data[3] >> 7;
		st->number = data[4] | data[5] << 8;
		/* the length of a string in the record */
		st->number |= (u64)data[6] << 32 | (u64)(data[7] == 255) << 63;
		if (i + 1 == s.nr) {
			data += 8, size -= 8;
			break;
		}
	}
	n = size < sizeof(s.texts) ? size : sizeof(s.texts);
	memcpy(s.texts, data, n);
	w.record = malloc(size + 1);
	memcpy((char *)w.record, data, size);
	w.record_len = size;
	if (!steps_check(&s, can)) {
		free((void *)w.record);
		return 0;
	}
	if (s.kept >> MEMTAP_MAX_SLOTS || (s.text | s.is_signed | s.kept_entry) & ~s.kept)
		abort();
	if (steps_run(&s, 0, s.nr_entry, &v, &w) && v.known & ~s.kept_entry)
		abort();
	steps_run(&s, s.nr_entry, s.nr, &v, &w);
	if (v.known & ~s.kept || v.used > sizeof(v.texts))
		abort();
	check_packed(&s, &v);
	free((void *)w.record);
	return 0;
}
