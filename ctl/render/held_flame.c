// SPDX-License-Identifier: GPL-2.0-or-later
/* A flame graph of what holds memory: holders at the bottom, kinds above. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/flame_page.h"
#include "render/held.h"

struct tree {
	const struct held *h;
	struct json *j;
	__u64 least;			/* bytes: what has less is drawn in one */
	bool failed;
};

/* Frames that nobody can see make a page slow: 1/20000 of the width is none of a pixel. */
#define PARTS	20000

static void put_values(struct tree *t, __u64 bytes, __u64 blocks)
{
	json_u64(t->j, "v", bytes);
	json_open(t->j, "m", '[');
	json_u64(t->j, NULL, blocks);
	json_close(t->j, ']');
}

static void put_kind(struct tree *t, const struct held_node *n)
{
	char *text = NULL;
	size_t len;
	FILE *f = n->attribute ? open_memstream(&text, &len) : NULL;

	if (f)
		held_put_node(t->h, n, f);
	if (f && !fclose(f))
		json_str(t->j, "n", text);
	else
		json_str(t->j, "n", held_kind_name(t->h, n->kind));
	free(text);
}

static void put_name(struct tree *t, const struct held_node *n, bool is_top)
{
	char *text;

	if (is_top) {
		json_str(t->j, "n", "all blocks in use");
	} else if (n->kind != HELD_HOLDER) {
		put_kind(t, n);
		return;
	} else {
		text = held_holder_text(&t->h->holders[n->holder]);
		json_str(t->j, "n", text ? text : "");
		t->failed |= !text;
		free(text);
	}
	json_str(t->j, "l", "group");
}

static void put_node(struct tree *t, __u32 node)
{
	const struct held_node *n = &t->h->nodes[node];
	__u64 bytes = 0, blocks = 0, nr = 0;
	char name[64];

	json_open(t->j, NULL, '{');
	put_name(t, n, !node);
	put_values(t, n->all_bytes, n->all_blocks);
	if (n->child)
		json_open(t->j, "c", '[');
	for (__u32 c = n->child; c; c = t->h->nodes[c].sibling) {
		if (t->h->nodes[c].all_bytes >= t->least) {
			put_node(t, c);
			continue;
		}
		nr++;
		bytes += t->h->nodes[c].all_bytes;
		blocks += t->h->nodes[c].all_blocks;
	}
	if (nr) {
		snprintf(name, sizeof(name), "(%llu narrower)", (unsigned long long)nr);
		json_open(t->j, NULL, '{');
		json_str(t->j, "n", name);
		json_str(t->j, "l", "rest");
		put_values(t, bytes, blocks);
		json_close(t->j, '}');
	}
	if (n->child)
		json_close(t->j, ']');
	json_close(t->j, '}');
}

static void put_tree(struct json *j, void *ctx)
{
	struct tree *t = ctx;

	t->j = j;
	put_node(t, 0);
}

/* The same as a table, below the graph. */
static char *make_foot(const struct held *h, const char *command)
{
	const struct held_show s = { .top = 20 };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	render_held_holders(h, &s, f);
	render_held_kinds(h, &s, f);
	if (command)
		fprintf(f, "\n%s\n", command);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

int render_held_flame(const struct held *h, const char *title, const char *subtitle,
		      const char *command, FILE *out)
{
	const struct flame_value values[] = {
		{ .name = "bytes", .unit = "bytes" }, { .name = "blocks", .unit = "blocks" },
	};
	struct tree t = { .h = h, .least = h->nodes[0].all_bytes / PARTS + 1 };
	char *foot = make_foot(h, command);
	const struct flame_page p = {
		.title = title, .subtitle = subtitle, .foot = foot, .values = values,
		.nr_values = 2, .bytes = 4096, .tree = put_tree, .ctx = &t,
	};

	if (!foot)
		return -ENOMEM;
	flame_page(&p, out);
	free(foot);
	return t.failed ? -ENOMEM : 0;
}
