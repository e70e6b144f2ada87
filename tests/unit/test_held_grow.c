// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/held_grow.c ctl/leaks/held_words.c ctl/base/json.c ctl/base/ids.c */
/* LINK: ctl/base/text.c */
/* Rows of two looks at a heap: what is the same holder has the same name. */
#include <string.h>

#include "render/held.h"
#include "tap.h"

const char *held_kind_name(const struct held *h, __u32 kind)
{
	return h->kinds[kind].name;
}

static bool is_row(const struct held_rows *r, size_t nr, const char *name, __u64 bytes)
{
	return nr < r->nr && !strcmp(r->at[nr].name, name) && r->at[nr].bytes == bytes;
}

int main(void)
{
	struct held_rows r = { .at = NULL };

	ok(!held_rows_add(&r, "several variables or mappings (`a`, `b`), of which no single one "
			  "is needed", true, 1, 100) &&
	   !held_rows_add(&r, "several variables or mappings, of which no single one is needed",
			  true, 1, 10) &&
	   !held_rows_add(&r, "module a, attribute `b`, and 2 more with the same value", true, 1,
			  7) &&
	   !held_rows_add(&r, "global `several (x), of which ` in app (a.c:1)", true, 1, 5) &&
	   !held_rows_add(&r, "several (x), of which ", false, 1, 3), "rows are taken");
	held_rows_sort(&r);
	is(r.nr, 4, "what several hold is one row, whatever they are");
	ok(is_row(&r, 0, "several (x), of which ", 3), "a kind keeps its name");
	ok(is_row(&r, 1, "global `several (x), of which ` in app (a.c:1)", 5), "so does a holder");
	ok(is_row(&r, 2, "module a, attribute `b`", 7),
	   "how many attributes have a value is none of its name");
	ok(is_row(&r, 3, "several variables or mappings, of which no single one is needed", 110),
	   "their bytes are added up");
	held_rows_free(&r);
	return tap_done();
}
