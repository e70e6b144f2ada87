// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what blocks are, and what holds them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/held.h"

#define WIDE		11
#define LEAST_PART	20		/* of a holder's bytes: the 20th part is shown */
#define DEEPEST		12

static void put_numbers(__u64 bytes, __u64 blocks, FILE *out)
{
	char text[TEXT_LEN], nr[TEXT_LEN];

	fprintf(out, "%*s %*s  ", WIDE, text_bytes(text, (__s64)bytes, false), WIDE,
		text_count(nr, blocks));
}

/* ---- kinds ---- */

static int by_blocks(const void *x, const void *y)
{
	const struct held_kind *const *a = x, *const *b = y;

	if ((*a)->blocks != (*b)->blocks)
		return (*a)->blocks < (*b)->blocks ? 1 : -1;
	return (*a > *b) - (*a < *b);
}

/* NULL: no memory. */
static const struct held_kind **sorted_kinds(const struct held *h, const struct held_show *s)
{
	const struct held_kind **rows = calloc(h->nr_kinds + 1, sizeof(const struct held_kind *));

	for (size_t i = 0; rows && i < h->nr_kinds; i++)
		rows[i] = &h->kinds[i];
	if (rows && s->by_blocks && h->nr_kinds)
		qsort(rows, h->nr_kinds, sizeof(const struct held_kind *), by_blocks);
	return rows;
}

static void put_addresses(const __u64 *example, FILE *out)
{
	for (int i = 0; i < 2; i++)
		if (example[i])
			fprintf(out, "%s0x%llx", i ? " " : "  ", (unsigned long long)example[i]);
}

void render_held_kinds(const struct held *h, const struct held_show *s, FILE *out)
{
	const struct held_kind **rows = sorted_kinds(h, s);
	const size_t shown = s->top && h->nr_kinds > s->top ? s->top : h->nr_kinds;
	__u64 bytes = 0, blocks = 0;

	if (!rows)
		return;
	fprintf(out, "\n%*s %*s  %s\n", WIDE, "BYTES", WIDE, "BLOCKS", "KIND");
	for (size_t i = 0; i < h->nr_kinds; i++) {
		if (i >= shown) {
			bytes += rows[i]->bytes;
			blocks += rows[i]->blocks;
			continue;
		}
		put_numbers(rows[i]->bytes, rows[i]->blocks, out);
		text_put(out, rows[i]->name, NULL);
		if (s->addresses)
			put_addresses(rows[i]->example, out);
		fputc('\n', out);
	}
	if (shown < h->nr_kinds) {
		put_numbers(bytes, blocks, out);
		fprintf(out, "%zu more kinds; --top 0 shows all\n", h->nr_kinds - shown);
	}
	put_numbers(h->bytes, h->blocks, out);
	fputs("all blocks in use\n", out);
	if (h->many_kinds)
		fputs("there are more kinds than are told apart: others are by size\n", out);
	free(rows);
}

/* ---- holders ---- */

static void put_kinds_below(const struct held *h, __u32 node, __u64 least, unsigned int deep,
			    FILE *out)
{
	for (__u32 c = h->nodes[node].child; c; c = h->nodes[c].sibling) {
		const struct held_node *n = &h->nodes[c];

		/* (the others have less) */
		if (n->all_bytes < least || deep > DEEPEST)
			break;
		put_numbers(n->all_bytes, n->all_blocks, out);
		fprintf(out, "%*s", 2 * (int)deep, "");
		held_put_node(h, n, out);
		fputc('\n', out);
		put_kinds_below(h, c, least, deep + 1, out);
	}
}

static bool put_holder(const struct held *h, __u32 node, FILE *out)
{
	const struct held_node *n = &h->nodes[node];
	char *text = held_holder_text(&h->holders[n->holder]);

	if (!text)
		return false;
	put_numbers(n->all_bytes, n->all_blocks, out);
	text_put(out, text, NULL);
	fputc('\n', out);
	free(text);
	put_kinds_below(h, node, n->all_bytes / LEAST_PART + 1, 1, out);
	return true;
}

struct holder_row {
	__u64 blocks;
	__u32 node;
};

static int by_all_blocks(const void *x, const void *y)
{
	const struct holder_row *a = x, *b = y;

	if (a->blocks != b->blocks)
		return a->blocks < b->blocks ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

/* NULL: no memory. */
static struct holder_row *sorted_holders(const struct held *h, const struct held_show *s,
					 size_t *nr)
{
	struct holder_row *rows = calloc(h->nr_holders + 1, sizeof(*rows));

	*nr = 0;
	if (!rows)
		return NULL;
	for (__u32 c = h->nodes[0].child; c; c = h->nodes[c].sibling)
		rows[(*nr)++] = (struct holder_row){ h->nodes[c].all_blocks, c };
	if (s->by_blocks && *nr)
		qsort(rows, *nr, sizeof(*rows), by_all_blocks);
	return rows;
}

void render_held_holders(const struct held *h, const struct held_show *s, FILE *out)
{
	size_t nr, shown;
	struct holder_row *rows;
	__u64 bytes = 0, blocks = 0;

	if (!h->has_holders)
		return;
	rows = sorted_holders(h, s, &nr);
	if (!rows)
		return;
	shown = s->top && nr > s->top ? s->top : nr;
	fprintf(out, "\n%*s %*s  %s\n", WIDE, "RETAINED", WIDE, "BLOCKS",
		"HOLDER, AND KINDS BELOW IT");
	for (size_t i = 0; i < nr; i++) {
		if (i < shown && put_holder(h, rows[i].node, out))
			continue;
		bytes += h->nodes[rows[i].node].all_bytes;
		blocks += h->nodes[rows[i].node].all_blocks;
	}
	if (shown < nr) {
		put_numbers(bytes, blocks, out);
		fprintf(out, "%zu more rows; --top 0 shows all\n", nr - shown);
	}
	put_numbers(h->nodes[0].all_bytes, h->nodes[0].all_blocks, out);
	fputs("all blocks in use\n\n"
	      "RETAINED is what would be free without the holder. Each word that is a block's\n"
	      "address counts as a pointer. Kinds with less than 5 % of their holder are not\n"
	      "shown.\n", out);
	free(rows);
}

/* ---- a path ---- */

static void put_step(const struct held *h, const struct held_step *s, FILE *out)
{
	char size[TEXT_LEN], *text;

	if (s->kind != HELD_HOLDER) {
		fprintf(out, "0x%llx  ", (unsigned long long)s->addr);
		text_put(out, held_kind_name(h, s->kind), NULL);
		fprintf(out, ", %s bytes\n", text_count(size, s->size));
		return;
	}
	text = held_holder_text(&s->holder);
	text_put(out, text ? text : "?", NULL);
	fputc('\n', out);
	free(text);
}

/* Where the pointer stands, and where it points to. */
static void put_pointer(const struct held_step *s, const struct held_step *to, FILE *out)
{
	const __u64 into = s->word - to->addr;

	if (s->kind == HELD_HOLDER && s->holder.what == HOLDER_PYTHON) {
		fputs("  -> ", out);
		return;
	}
	if (s->slot) {
		fputs(s->is_attribute ? "  attribute `" : s->is_variable ? "  variable `" : "  ",
		      out);
		text_put(out, s->slot, NULL);
		fputs(s->is_attribute || s->is_variable ? "` -> " : " -> ", out);
	} else if (s->kind == HELD_HOLDER) {
		fprintf(out, "  word at 0x%llx -> ", (unsigned long long)s->at);
	} else {
		fprintf(out, "  word at +%llu -> ", (unsigned long long)(s->at - s->addr));
	}
	/* (an address of an object of Python is behind gc's words of it) */
	if (s->slot)
		return;
	if (into && into < to->size)
		fprintf(out, "%llu bytes into ", (unsigned long long)into);
	else if (into)
		fprintf(out, "(upper bits 0x%llx) ", (unsigned long long)s->word >> 48);
}

void render_held_path(const struct held *h, const char *wanted, FILE *out)
{
	fputs("\na shortest path to ", out);
	text_put(out, wanted, NULL);
	fputs(":\n", out);
	if (h->no_path)
		fprintf(out, "none: %s\n", h->no_path);
	for (size_t i = 0; i < h->nr_steps; i++) {
		if (i)
			put_pointer(&h->steps[i - 1], &h->steps[i], out);
		put_step(h, &h->steps[i], out);
	}
}

/* ---- JSON ---- */

static void json_kinds(struct json *j, const struct held *h, const struct held_show *s)
{
	const struct held_kind **rows = sorted_kinds(h, s);

	json_open(j, "kinds", '[');
	for (size_t i = 0; rows && i < h->nr_kinds && (!s->top || i < s->top); i++) {
		json_open(j, NULL, '{');
		json_str(j, "kind", rows[i]->name);
		json_str(j, "what", rows[i]->what);
		json_u64(j, "blocks", rows[i]->blocks);
		json_u64(j, "bytes", rows[i]->bytes);
		json_open(j, "addresses", '[');
		for (int k = 0; s->addresses && k < 2; k++)
			if (rows[i]->example[k])
				json_hex(j, NULL, rows[i]->example[k]);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	free(rows);
}

static void json_below(struct json *j, const struct held *h, __u32 node)
{
	json_open(j, "keeps", '[');
	for (__u32 c = h->nodes[node].child; c; c = h->nodes[c].sibling) {
		const struct held_node *n = &h->nodes[c];

		json_open(j, NULL, '{');
		json_str(j, "kind", held_kind_name(h, n->kind));
		if (n->attribute)
			json_str(j, h->names[n->attribute - 1].is_variable ? "variable" :
				 "attribute", h->names[n->attribute - 1].text);
		json_u64(j, "blocks", n->blocks);
		json_u64(j, "bytes", n->bytes);
		json_u64(j, "retained_blocks", n->all_blocks);
		json_u64(j, "retained_bytes", n->all_bytes);
		json_below(j, h, c);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_holder(struct json *j, const struct holder *h)
{
	char *text = held_holder_text(h);

	json_str(j, "holder", text ? text : "");
	json_str(j, "what", holder_what_name(h->what));
	if (h->name)
		json_str(j, "name", h->name);
	if (h->object)
		json_str(j, "object", h->object);
	if (h->source)
		json_str(j, "source", h->source);
	if (h->tid)
		json_s64(j, "tid", h->tid);
	else if (h->count && (h->what == HOLDER_STACK || h->what == HOLDER_THREAD_LOCAL ||
			      h->what == HOLDER_REGISTERS))
		json_u64(j, "threads", h->count);
	else if (h->what == HOLDER_PYTHON)
		json_u64(j, "attributes", h->count);
	if (h->addr)
		json_hex(j, "address", h->addr);
	free(text);
}

static void json_holders(struct json *j, const struct held *h, const struct held_show *s)
{
	size_t nr;
	struct holder_row *rows = sorted_holders(h, s, &nr);

	json_open(j, "holders", '[');
	for (size_t i = 0; rows && i < nr && (!s->top || i < s->top); i++) {
		const struct held_node *n = &h->nodes[rows[i].node];

		json_open(j, NULL, '{');
		json_holder(j, &h->holders[n->holder]);
		json_u64(j, "retained_blocks", n->all_blocks);
		json_u64(j, "retained_bytes", n->all_bytes);
		json_below(j, h, rows[i].node);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(rows);
}

static void json_path(struct json *j, const struct held *h)
{
	json_open(j, "path", '[');
	for (size_t i = 0; i < h->nr_steps; i++) {
		const struct held_step *s = &h->steps[i];

		json_open(j, NULL, '{');
		if (s->kind == HELD_HOLDER) {
			json_holder(j, &s->holder);
		} else {
			json_hex(j, "address", s->addr);
			json_str(j, "kind", held_kind_name(h, s->kind));
			json_u64(j, "size", s->size);
		}
		if (i + 1 < h->nr_steps) {
			json_hex(j, "word_at", s->at);
			json_hex(j, "word", s->word);
			if (s->slot)
				json_str(j, s->is_attribute ? "attribute" : s->is_variable ?
					 "variable" : "item", s->slot);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_held(struct json *j, const struct held *h, const struct held_show *s)
{
	json_u64(j, "known_blocks", h->blocks);
	json_u64(j, "known_bytes", h->bytes);
	json_kinds(j, h, s);
	if (h->has_holders)
		json_holders(j, h, s);
	if (h->has_path)
		json_path(j, h);
	if (h->no_path)
		json_str(j, "no_path", h->no_path);
}
