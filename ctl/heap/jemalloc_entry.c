// SPDX-License-Identifier: GPL-2.0-or-later
/* Read an extent of jemalloc that an entry of its tree leads to; see jemalloc.c. */
#include "heap/jemalloc_int.h"

#define SLAB_BIT	12		/* of an extent's first word; the arena is before it */
#define BITMAP_AT	64		/* in its structure */
#define MAX_LEN		(1ULL << 43)

/* Below the quantum powers of two; then four classes for each doubling. */
__u64 je_class_size(const struct je_layout *l, unsigned int class)
{
	const unsigned int tiny = l->lg_quantum - 3;
	unsigned int group, shift;

	if (class < tiny)
		return 8ULL << class;
	class -= tiny;
	group = class / 4;
	shift = group ? group : 1;
	if (group > 40)
		return 0;
	return (group ? 1ULL << (l->lg_quantum + 1 + group) : 0) +
	       ((class % 4 + 1ULL) << (shift + l->lg_quantum - 1));
}

bool je_slab_adds_up(const struct je_layout *l, const struct je_extent *e)
{
	const __u64 size = je_class_size(l, e->class);
	unsigned int nr_free = 0;
	__u64 nr;

	if (!size || e->len % size)
		return false;
	nr = e->len / size;
	if (nr > JE_REGIONS)
		return false;
	for (__u64 i = 0; i < nr; i++)
		nr_free += e->bitmap[i / 64] >> i % 64 & 1;
	return nr_free == e->nr_free;
}

bool je_extent_at(struct heap_words *w, const struct je_layout *l, __u64 entry, __u64 key,
		  struct je_extent *e)
{
	__u64 words[3], size;
	const __u64 at = entry & ENTRY_MASK;

	if (!words_at(w, at, words, sizeof(words)))
		return false;
	*e = (struct je_extent){
		.base = words[1] & ~(PAGE - 1), .len = words[2] & ~(PAGE - 1), .addr = words[1],
		.arena = words[0] & (JE_ARENAS - 1), .slab = words[0] >> SLAB_BIT & 1,
		.state = words[0] >> l->state & ((1U << l->state_bits) - 1),
		.class = words[0] >> l->class & 255,
		.nr_free = words[0] >> l->free & (2 * JE_REGIONS - 1),
	};
	if (!e->len || e->len >= MAX_LEN || e->base >> 47 || key < e->base ||
	    key - e->base >= e->len || e->state >= JE_STATES)
		return false;
	/* 5.3: the state stands in the leaf, too */
	if (l->state_bits == 3 ? (entry >> 2 & 7) != e->state : entry & 62)
		return false;
	/* the rest of an entry is kept only while an extent is in use, and at its first page */
	if (e->state != JE_ACTIVE) {
		e->slab = false;
		return true;
	}
	if (!e->slab && key != e->base)
		return true;
	if (e->slab != (entry & 1) || e->class != entry >> CLASS_SHIFT)
		return false;
	if (e->slab)
		return e->addr == e->base &&
		       words_at(w, at + BITMAP_AT, e->bitmap, sizeof(e->bitmap));
	size = je_class_size(l, e->class);
	/* (since 5.3.1 a large one has the next class, and as many pages as it needs) */
	return size && e->addr % 16 == 0 && (size <= e->len - (e->addr - e->base) ||
	       (e->class >= JE_LARGE && size + PAGE > e->len));
}
