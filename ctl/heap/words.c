// SPDX-License-Identifier: GPL-2.0-or-later
/* Read words of memory through a window. */
#include <string.h>

#include "heap/int.h"

#define NEAR	(64UL << 10)

/* What lies in two mappings is read of each. */
static size_t read_on(struct heap_words *w, __u64 addr, size_t want, size_t least)
{
	size_t got = w->m->read(w->m->ctx, addr, w->buf, want), more;

	/* what follows may not be there */
	if (!got && want > least)
		got = w->m->read(w->m->ctx, addr, w->buf, least);
	while (got && got < least) {
		more = w->m->read(w->m->ctx, addr + got, (char *)w->buf + got, least - got);
		if (!more)
			break;
		got += more;
	}
	return got;
}

/* One after the other a window each; of what lies apart a page is enough. */
static bool load(struct heap_words *w, __u64 addr, size_t len)
{
	const bool goes_on = addr >= w->start && addr - w->start < w->got + NEAR;
	size_t want = goes_on ? sizeof(w->buf) : (size_t)(PAGE - addr % PAGE);

	if (want < len)
		want = len;
	w->start = addr;
	w->got = read_on(w, addr, want, len);
	return w->got >= len;
}

bool words_at(struct heap_words *w, __u64 addr, void *to, size_t len)
{
	if (addr + len < addr || len > sizeof(w->buf))
		return false;
	if ((addr < w->start || addr - w->start > w->got || w->got - (addr - w->start) < len) &&
	    !load(w, addr, len))
		return false;
	memcpy(to, (const char *)w->buf + (addr - w->start), len);
	return true;
}

bool word_at(struct heap_words *w, __u64 addr, __u64 *to)
{
	return words_at(w, addr, to, WORD);
}

__u64 words_next(struct heap_words *w, __u64 addr, __u64 end)
{
	if (addr >= end)
		return end;
	return w->m->next ? w->m->next(w->m->ctx, addr, end) : addr;
}

__u64 words_page(struct heap_words *w, __u64 addr, __u64 end)
{
	const __u64 next = words_next(w, addr, end);

	return next < end ? next & ~(PAGE - 1) : end;
}

const char *words_why(struct heap_words *w, __u64 addr, const char *other)
{
	const char *why = w->m->why ? w->m->why(w->m->ctx, addr) : NULL;

	return why ? why : other;
}

int words_page_at(struct heap_words *w, __u64 addr, __u64 page[PAGE / WORD])
{
	if (words_at(w, addr, page, PAGE))
		return 1;
	memset(page, 0, PAGE);
	return words_why(w, addr, NULL) ? -1 : 0;
}
