// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees of two levels; see tree.h. */
#include "heap/tree.h"

#define MAX_TRIES	4096U		/* leaves that are read in search of a tree */

static const char no_page[] = "a part of its tree was not read";

static bool is_given(const struct heap_area *a)
{
	return a && (a->anonymous || a->brk);
}

void tree_begin(struct heap_tree *t)
{
	t->nr_spans = 0;
	t->tries = 0;
	for (size_t i = 0; i < t->nr_areas; i++) {
		const struct heap_area *a = &t->areas[i];

		if (!is_given(a))
			continue;
		for (__u64 k = a->start / t->span; k <= (a->end - 1) / t->span; k++) {
			if (t->nr_spans && t->spans[t->nr_spans - 1] == k)
				continue;
			if (t->nr_spans == TREE_SPANS || k >= t->root_len / WORD)
				return;
			t->spans[t->nr_spans++] = (__u32)k;
		}
	}
}

/* Is @leaf at @at an entry of a root?  Where that begins, or 0. */
static __u64 root_of(struct heap_tree *t, const struct heap_area *data, __u64 at, __u64 leaf)
{
	const struct heap_area *a;

	for (size_t i = 0; i < t->nr_spans; i++) {
		const __u64 back = (__u64)t->spans[i] * WORD;

		if (at - data->start < back || at - back + t->root_len > data->end)
			continue;
		a = heap_area_of(t->areas, t->nr_areas, leaf);
		if (!is_given(a) || a->end - leaf < t->leaf_len || ++t->tries > MAX_TRIES)
			return 0;
		if (t->is_leaf(t->ctx, leaf, t->spans[i]))
			return at - back;
	}
	return 0;
}

__u64 tree_find(struct heap_tree *t, const struct heap_area *data, __u64 from)
{
	__u64 words[PAGE / WORD], root;

	if (data->end - data->start < t->root_len)
		return 0;
	for (__u64 page = words_next(t->w, from, data->end) & ~(PAGE - 1); page < data->end;
	     page = words_page(t->w, page + PAGE, data->end)) {
		if (!words_at(t->w, page, words, PAGE))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++) {
			const __u64 v = words[i], at = page + i * WORD;

			if (!v || v % t->align || v >> 47 || at < from || t->tries > MAX_TRIES)
				continue;
			root = root_of(t, data, at, v);
			if (root)
				return root;
		}
	}
	return 0;
}

int tree_each(struct heap *h, struct heap_words *w, __u64 table, __u64 len, tree_entry_fn fn,
	      void *ctx)
{
	const __u64 end = table + len;
	__u64 words[PAGE / WORD];
	__u64 page = h ? table & ~(PAGE - 1) : words_page(w, table, end);
	int ret = 0;

	/* (tables begin at lines of the cache, and so between pages) */
	while (page < end && !ret) {
		const int is = words_page_at(w, page, words);

		if (is < 0 && h)
			heap_miss(h, no_page, page);
		for (size_t i = 0; i < PAGE / WORD && is > 0 && !ret; i++) {
			const __u64 at = page + i * WORD;

			if (words[i] && at >= table && at < end)
				ret = fn(ctx, words[i], (at - table) / WORD, at);
		}
		page = h ? page + PAGE : words_page(w, page + PAGE, end);
	}
	return ret;
}
