// SPDX-License-Identifier: GPL-2.0-or-later
/* What grew between two looks at a heap: kinds, and what holds them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/text.h"
#include "render/held.h"

#define WIDE	11

#define SEVERAL		"several "
#define NAMES_END	"), of which "
#define SAME		" more with the same value"

/* A holder has the same name in each look: which of several are named may differ. */
static void make_lasting(char *name)
{
	char *from = strstr(name, " ("), *to = strstr(name, NAMES_END);
	const size_t len = strlen(name);

	if (!strncmp(name, SEVERAL, strlen(SEVERAL)) && from && to > from)
		memmove(from, to + 1, strlen(to + 1) + 1);
	if (len <= strlen(SAME) || strcmp(name + len - strlen(SAME), SAME))
		return;
	to = strrchr(name, ',');
	if (to)
		*to = '\0';
}

int held_rows_add(struct held_rows *r, const char *name, bool is_holder, __u64 blocks,
		  __u64 bytes)
{
	struct held_row *more = ids_grow(r->at, r->nr, &r->room, sizeof(*more));
	char *copy = strdup(name);

	if (more)
		r->at = more;
	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	if (is_holder)
		make_lasting(copy);
	r->at[r->nr++] = (struct held_row){ copy, is_holder, blocks, bytes };
	r->has_holders |= is_holder;
	return 0;
}

static int by_name(const void *x, const void *y)
{
	const struct held_row *a = x, *b = y;

	if (a->is_holder != b->is_holder)
		return a->is_holder - b->is_holder;
	return strcmp(a->name, b->name);
}

void held_rows_sort(struct held_rows *r)
{
	size_t nr = 0;

	if (r->nr)
		qsort(r->at, r->nr, sizeof(*r->at), by_name);
	for (size_t i = 0; i < r->nr; i++) {
		struct held_row *last = nr ? &r->at[nr - 1] : NULL;

		if (!last || by_name(last, &r->at[i])) {
			r->at[nr++] = r->at[i];
			continue;
		}
		last->blocks += r->at[i].blocks;
		last->bytes += r->at[i].bytes;
		free(r->at[i].name);
	}
	r->nr = nr;
}

static int add_holders(struct held_rows *r, const struct held *h)
{
	int err = 0;

	for (__u32 c = h->nodes[0].child; !err && c; c = h->nodes[c].sibling) {
		const struct held_node *n = &h->nodes[c];
		char *text = held_holder_text(&h->holders[n->holder]);

		err = text ? held_rows_add(r, text, true, n->all_blocks, n->all_bytes) : -ENOMEM;
		free(text);
	}
	return err;
}

int held_rows_of(struct held_rows *r, const struct held *h)
{
	int err = 0;

	*r = (struct held_rows){ .at = NULL };
	for (size_t i = 0; !err && i < h->nr_kinds; i++)
		err = held_rows_add(r, h->kinds[i].name, false, h->kinds[i].blocks,
				    h->kinds[i].bytes);
	if (!err && h->has_holders)
		err = add_holders(r, h);
	if (err)
		held_rows_free(r);
	else
		held_rows_sort(r);
	return err;
}

void held_rows_free(struct held_rows *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->at[i].name);
	free(r->at);
	*r = (struct held_rows){ .at = NULL };
}

/* ---- two of them ---- */

struct change {
	const char *name;
	bool is_holder;
	__s64 blocks, bytes;
	__u64 now_blocks, now_bytes;
};

struct changes {
	struct change *at;
	size_t nr;
	bool by_blocks;
};

static int by_growth(const void *x, const void *y, void *ctx)
{
	const struct change *a = x, *b = y;
	const struct changes *c = ctx;
	const __s64 p = c->by_blocks ? a->blocks : a->bytes;
	const __s64 q = c->by_blocks ? b->blocks : b->bytes;

	if (a->is_holder != b->is_holder)
		return a->is_holder - b->is_holder;
	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void add_change(struct changes *c, const struct held_row *was, const struct held_row *now)
{
	const struct held_row none = { NULL, false, 0, 0 }, *any = now ? now : was;

	was = was ? was : &none;
	now = now ? now : &none;
	if (was->blocks == now->blocks && was->bytes == now->bytes)
		return;
	c->at[c->nr++] = (struct change){
		any->name, any->is_holder, (__s64)(now->blocks - was->blocks),
		(__s64)(now->bytes - was->bytes), now->blocks, now->bytes,
	};
}

static int compare(struct changes *c, const struct held_rows *was, const struct held_rows *now,
		   const struct held_show *s)
{
	size_t i = 0, k = 0;

	*c = (struct changes){ .by_blocks = s->by_blocks };
	c->at = calloc(was->nr + now->nr + 1, sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	while (i < was->nr || k < now->nr) {
		const int order = i == was->nr ? 1 : k == now->nr ? -1 :
				  by_name(&was->at[i], &now->at[k]);

		add_change(c, order <= 0 ? &was->at[i] : NULL, order >= 0 ? &now->at[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	qsort_r(c->at, c->nr, sizeof(*c->at), by_growth, c);
	return 0;
}

static void put_changes(const struct changes *c, bool holders, const struct held_show *s,
			FILE *out)
{
	char grown[TEXT_LEN], more[TEXT_LEN + 1], bytes[TEXT_LEN], blocks[TEXT_LEN];
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct change *row = &c->at[i];

		if (row->is_holder != holders || (s->top && nr++ >= s->top))
			continue;
		more[0] = '+';
		text_signed(more + (row->blocks > 0), row->blocks);
		fprintf(out, "%*s %*s %*s %*s  ", WIDE, text_bytes(grown, row->bytes, true), WIDE,
			more, WIDE, text_bytes(bytes, (__s64)row->now_bytes, false), WIDE,
			text_count(blocks, row->now_blocks));
		text_put(out, row->name, NULL);
		fputc('\n', out);
	}
	if (s->top && nr > s->top)
		fprintf(out, "... and %zu more rows that changed; --top 0 shows all\n",
			nr - s->top);
}

static bool any_change(const struct changes *c, bool holders)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->at[i].is_holder == holders)
			return true;
	return false;
}

int render_held_growth(const struct held_rows *was, const struct held_rows *now,
		       const struct held_show *s, FILE *out)
{
	struct changes c;
	int err = compare(&c, was, now, s);

	for (int holders = 0; !err && holders < 2; holders++) {
		if (holders && (!was->has_holders || !now->has_holders))
			break;
		if (!any_change(&c, holders)) {
			fprintf(out, "\nno %s changed\n", holders ? "holder" : "kind");
			continue;
		}
		fprintf(out, "\n%*s %*s %*s %*s  %s\n", WIDE, "GROWTH", WIDE, "BLOCKS", WIDE,
			holders ? "RETAINED" : "NOW", WIDE, "BLOCKS", holders ? "HOLDER" : "KIND");
		put_changes(&c, holders, s, out);
	}
	free(c.at);
	return err;
}

int json_held_growth(struct json *j, const struct held_rows *was, const struct held_rows *now,
		     const struct held_show *s)
{
	struct changes c;
	const int err = compare(&c, was, now, s);
	size_t nr[2] = { 0, 0 };

	if (err)
		return err;
	json_open(j, "changes", '[');
	for (size_t i = 0; i < c.nr; i++) {
		const struct change *row = &c.at[i];

		if (row->is_holder && (!was->has_holders || !now->has_holders))
			continue;
		if (s->top && nr[row->is_holder]++ >= s->top)
			continue;
		json_open(j, NULL, '{');
		json_str(j, row->is_holder ? "holder" : "kind", row->name);
		json_s64(j, "grown_blocks", row->blocks);
		json_s64(j, "grown_bytes", row->bytes);
		json_u64(j, "blocks", row->now_blocks);
		json_u64(j, "bytes", row->now_bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(c.at);
	return 0;
}
