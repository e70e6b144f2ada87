// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read a chunk of jemalloc 3.6 to 4.5; see jemalloc_old.c.  It has a header, and behind it runs of
 * whole pages.  A map in the header has an entry for each page behind it:
 *
 *	small	class, and how many pages of its run are before it
 *	large	no class, and the pages of the run (in its first entry)
 *	free	the same, in the first entry and the last one
 *
 * The head of a small run has a bitmap of its free blocks, and how many they are.  Up to 3.6 it is
 * where the run begins; since 4.0 it is in the chunk's header, in a record for each page.
 */
#include "heap/jemalloc_old_int.h"

#define IS_USED		1U
#define IS_LARGE	2U

void jo_set_chunk(struct jo *j, const struct jo_chunk_layout *c, __u64 bytes)
{
	const __u64 each = c->record ? WORD + c->record : c->step;

	j->c = c;
	j->chunk = bytes;
	j->pages = (size_t)(bytes / PAGE);
	j->bias = 0;
	/* (the header has no entries for its own pages) */
	for (int i = 0; i < 3; i++)
		j->bias = (size_t)((c->map + each * (j->pages - j->bias) + PAGE - 1) / PAGE);
}

bool jo_word(struct jo *j, __u64 addr, __u64 *to)
{
	const __u64 page = addr & ~(PAGE - 1);

	if (j->page_at != page) {
		j->page_is = words_page_at(j->w, page, j->page);
		j->page_at = page;
	}
	*to = j->page[addr % PAGE / WORD];
	return j->page_is >= 0;
}

bool jo_is_head(struct jo *j, __u64 at, __u64 *arena)
{
	__u64 words[6];

	if (!words_at(j->w, at, words, sizeof(words)))
		return false;
	*arena = words[0];
	if (!words[0] || words[0] % 64 || words[0] >> 47)
		return false;
	return !j->c->flags || (words[1] == at && words[2] == j->chunk &&
				(words[j->c->flags / WORD] >> 16 & 0xff) == 1);
}

static bool entry_at(struct jo *j, __u64 chunk, size_t page, __u64 *to)
{
	return jo_word(j, chunk + j->c->map + (page - j->bias) * j->c->step + j->c->bits, to);
}

/* Each page of a small run says which one it is. */
static bool small_run(struct jo *j, __u64 chunk, struct jo_run *r)
{
	const unsigned int shift = j->c->shift;
	__u64 entry;

	if (r->class >= j->nr_classes || j->classes[r->class].pages > j->pages - r->page)
		return false;
	r->pages = j->classes[r->class].pages;
	for (size_t i = 0; i < r->pages; i++)
		if (!entry_at(j, chunk, r->page + i, &entry) || !(entry & IS_USED) ||
		    entry & IS_LARGE || entry >> shift != ((__u64)i << 8 | r->class))
			return false;
	return true;
}

bool jo_run_at(struct jo *j, __u64 chunk, size_t page, struct jo_run *r)
{
	const unsigned int shift = j->c->shift;
	__u64 entry, last;

	if (!entry_at(j, chunk, page, &entry))
		return false;
	*r = (struct jo_run){
		.at = chunk + page * PAGE, .page = page, .pages = (size_t)(entry >> (shift + 8)),
		.class = entry >> shift & 0xff, .used = entry & IS_USED,
		.large = entry & IS_LARGE, .dirty = entry >> (shift - 1) & 1,
	};
	if (r->used && !r->large)
		return small_run(j, chunk, r);
	if (!r->pages || r->pages > j->pages - page)
		return false;
	/* (a large one with a class is a small block that the heap profiler samples) */
	if (r->used)
		return r->class == JO_NONE || r->class < j->nr_classes;
	return !r->large && r->class == JO_NONE &&
	       entry_at(j, chunk, page + r->pages - 1, &last) &&
	       !(last & (IS_USED | IS_LARGE)) && last >> shift == entry >> shift;
}

bool jo_bitmap(struct jo *j, const struct jo_chunk *c, const struct jo_run *r,
	       __u64 bits[JO_REGIONS / 64])
{
	const struct jo_chunk_layout *l = j->c;
	const struct jo_class *class = &j->classes[r->class];
	const __u64 head = l->record ? c->at + l->map + (j->pages - j->bias) * WORD +
				       (r->page - j->bias) * l->record + l->run : r->at;
	__u64 words[2];
	__u32 nr_free = 0;

	if (!words_at(j->w, head, words, sizeof(words)) ||
	    !words_at(j->w, head + l->bitmap, bits, (class->nr + 63) / 64 * WORD))
		return false;
	/* it names its class */
	if (l->record ? (__u32)words[0] != r->class :
	    words[0] != c->arena + j->l->bins + r->class * j->l->bin)
		return false;
	for (__u32 i = 0; i < class->nr; i++)
		nr_free += bits[i / 64] >> i % 64 & 1;
	return nr_free == (__u32)(words[l->nr_free / WORD] >> l->nr_free % WORD * 8);
}

bool jo_check_chunk(struct jo *j, struct jo_chunk *c, bool deep)
{
	__u64 bits[JO_REGIONS / 64];
	struct jo_run r;
	size_t page = j->bias;

	c->active = 0;
	for (; page < j->pages; page += r.pages) {
		if (!jo_run_at(j, c->at, page, &r) ||
		    (deep && r.used && !r.large && !jo_bitmap(j, c, &r, bits)))
			return false;
		if (r.used)
			c->active += (__u32)r.pages;
	}
	return page == j->pages;
}
