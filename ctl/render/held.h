/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_HELD_H
#define _RENDER_HELD_H

#include "base/json.h"
#include "leaks/held.h"

/* What blocks are and what holds them, as text, JSON and a flame graph. */
struct held_show {
	size_t top;			/* rows; 0: all */
	bool by_blocks;			/* most blocks first, not most bytes */
	bool addresses;
	bool kinds_known;		/* whether all blocks are known: the heap is complete */
};

void render_held_kinds(const struct held *h, const struct held_show *s, FILE *out);
void render_held_holders(const struct held *h, const struct held_show *s, FILE *out);
void render_held_path(const struct held *h, const char *wanted, FILE *out);
void json_held(struct json *j, const struct held *h, const struct held_show *s);

/* held_flame.c: -ENOMEM */
int render_held_flame(const struct held *h, const char *title, const char *subtitle,
		      const char *command, FILE *out);

/* ---- held_grow.c: between two looks ---- */

struct held_row {
	char *name;
	bool is_holder;
	__u64 blocks, bytes;
};

struct held_rows {
	struct held_row *at;		/* sorted: kinds first, by name */
	size_t nr, room;
	bool has_holders;
};

int held_rows_add(struct held_rows *r, const char *name, bool is_holder, __u64 blocks,
		  __u64 bytes);
/* Rows of one name become one. */
void held_rows_sort(struct held_rows *r);
int held_rows_of(struct held_rows *r, const struct held *h);
void held_rows_free(struct held_rows *r);
/* Kinds and holders that changed, which grew most first. */
int render_held_growth(const struct held_rows *was, const struct held_rows *now,
		       const struct held_show *s, FILE *out);
int json_held_growth(struct json *j, const struct held_rows *was, const struct held_rows *now,
		     const struct held_show *s);

#endif
