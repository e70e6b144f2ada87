// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples as bytes: what changed since the sample before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/int.h"
#include "history/leb.h"

enum op { OP_SAME, OP_GONE, OP_CHANGED, OP_NEW, OP_LEFT };

/* --- writing ---------------------------------------------------------------------- */

/* Did any number change? */
static bool put_numbers(struct to *to, const __u64 *was, const __u64 *is, size_t nr)
{
	size_t last = 0;

	for (size_t i = 0; i < nr; i++) {
		if (is[i] == (was ? was[i] : 0))
			continue;
		put(to, i + 1 - last);
		put(to, zigzag(is[i] - (was ? was[i] : 0)));
		last = i + 1;
	}
	return last;
}

struct table {
	const struct machine *before, *now;
	enum rows_table t;
	struct to *to;
	size_t same;			/* rows that are to be told */
	struct rows_row was, is;
};

static void end_same(struct table *w)
{
	if (w->same)
		put(w->to, w->same << 3 | OP_SAME);
	w->same = 0;
}

/* A row that was there before. */
static void put_old(struct table *w, size_t i)
{
	const size_t nr = rows_numbers(w->t);

	rows_get(w->before, w->t, i, &w->was);
	if (!memcmp(w->was.v, w->is.v, nr * sizeof(w->is.v[0]))) {
		w->same++;
		return;
	}
	end_same(w);
	put(w->to, 1 << 3 | OP_CHANGED);
	put_numbers(w->to, w->was.v, w->is.v, nr);
	put(w->to, 0);
}

static void put_new(struct table *w)
{
	end_same(w);
	put(w->to, 1 << 3 | OP_NEW);
	put_text(w->to, w->is.text[0]);
	put_text(w->to, w->is.text[1]);
	put_numbers(w->to, NULL, w->is.v, rows_numbers(w->t));
	put(w->to, 0);
}

/* Rows that are not there any more, or are not kept. */
static void put_rest(struct table *w, size_t nr, enum op op)
{
	if (!nr)
		return;
	end_same(w);
	put(w->to, nr << 3 | op);
}

static void put_table(struct table *w)
{
	const size_t nr_was = w->before ? rows_nr(w->before, w->t) : 0;
	const size_t nr_is = rows_nr(w->now, w->t);
	size_t at = 0, found;
	bool left;

	for (size_t i = 0; i < nr_is; i++) {
		left = w->t == ROWS_PROCESSES && w->now->processes.at[i].left_out;
		rows_get(w->now, w->t, i, &w->is);
		for (found = at; found < nr_was; found++)
			if (rows_same(w->before, w->t, found, &w->is))
				break;
		if (found == nr_was) {
			if (!left)
				put_new(w);
			continue;
		}
		put_rest(w, found - at, OP_GONE);
		if (left)
			put_rest(w, 1, OP_LEFT);
		else
			put_old(w, found);
		at = found + 1;
	}
	put_rest(w, nr_was - at, OP_GONE);
	end_same(w);
	put(w->to, 0);
}

size_t code_put(const struct machine *before, const struct machine *now, __u8 *at, size_t room)
{
	struct to to = { .at = at, .room = room };
	struct table w = { .before = before, .now = now, .to = &to };

	for (int t = 0; t < NR_ROWS_TABLES && !to.full; t++) {
		w.t = (enum rows_table)t;
		w.same = 0;
		put_table(&w);
	}
	return to.full ? 0 : to.len;
}

static void put_name(struct to *to, const char *name)
{
	do
		put_byte(to, (__u8)*name);
	while (*name++);
}

size_t code_fields(char *at, size_t room)
{
	struct to to = { .at = (__u8 *)at, .room = room };
	const char *name;

	for (int t = 0; t < NR_ROWS_TABLES; t++) {
		put_name(&to, rows_table_name((enum rows_table)t));
		for (size_t i = 0; (name = rows_number_name((enum rows_table)t, i)); i++)
			put_name(&to, name);
		put_name(&to, "");
	}
	put_name(&to, "");
	return to.full ? 0 : to.len;
}

/* --- reading ---------------------------------------------------------------------- */

static int table_named(const char *name)
{
	for (int t = 0; t < NR_ROWS_TABLES; t++)
		if (!strcmp(rows_table_name((enum rows_table)t), name))
			return t;
	return -1;
}

/* Our number of this name that none before it is. */
static short number_named(int table, const char *name, const short *taken, size_t nr)
{
	const char *ours;
	size_t k;

	for (size_t i = 0; (ours = rows_number_name((enum rows_table)table, i)); i++) {
		if (strcmp(ours, name))
			continue;
		for (k = 0; k < nr && taken[k] != (short)i; k++)
			;
		if (k == nr)
			return (short)i;
	}
	return -1;
}

int code_map_make(struct code_map *map, const char *text, size_t len)
{
	const char *end = text + len, *name;
	short *to;

	memset(map, 0, sizeof(*map));
	while (text < end && memchr(text, 0, (size_t)(end - text)) && *text) {
		if (map->nr_tables == sizeof(map->at) / sizeof(map->at[0]))
			return -EBADMSG;
		map->at[map->nr_tables].table = table_named(text);
		to = map->at[map->nr_tables].to;
		for (;;) {
			const size_t nr = map->at[map->nr_tables].nr;
			const int table = map->at[map->nr_tables].table;

			text += strlen(text) + 1;
			if (text >= end || !memchr(text, 0, (size_t)(end - text)))
				return -EBADMSG;
			name = text;
			if (!*name)
				break;
			if (nr == ROWS_NUMBERS)
				return -EBADMSG;
			to[nr] = table < 0 ? -1 : number_named(table, name, to, nr);
			map->at[map->nr_tables].nr++;
		}
		text++;
		map->nr_tables++;
	}
	return text < end && map->nr_tables ? 0 : -EBADMSG;
}

/* Changes of a row, which our numbers are changed by. */
static void get_numbers(struct from *f, const struct code_map *map, size_t table, __u64 *v)
{
	__u64 step, i = 0, delta;

	while (!f->bad && (step = get(f))) {
		delta = unzigzag(get(f));
		if (step > map->at[table].nr || i + step > map->at[table].nr) {
			f->bad = true;
			return;
		}
		i += step;
		if (map->at[table].to[i - 1] >= 0)
			v[map->at[table].to[i - 1]] += delta;
	}
}

#define TEXT_MOST	65536

/* A text, as a string in @buf. */
static void get_text(struct from *f, char *buf)
{
	const __u64 len = get(f);

	if (f->bad || len >= TEXT_MOST || len > (__u64)(f->end - f->at)) {
		f->bad = true;
		return;
	}
	memcpy(buf, f->at, len);
	buf[len] = '\0';
	f->at += len;
}

struct rebuild {
	const struct code_map *map;
	const struct machine *before;
	struct machine *now;
	struct machine_list *ended;
	struct from f;
	struct rows_row row;
	char text[2][TEXT_MOST];
	size_t table;			/* of the file */
	enum rows_table t;		/* ours */
	bool known;
	size_t nr_was, at;
};

/* What there is no room for here is not told. */
static int keep(struct rebuild *r)
{
	const int err = rows_add(r->now, r->t, &r->row);

	return err == -E2BIG ? 0 : err;
}

static int take_same(struct rebuild *r, __u64 nr)
{
	int err = 0;

	for (; !err && nr; nr--, r->at++) {
		rows_get(r->before, r->t, r->at, &r->row);
		err = keep(r);
	}
	return err;
}

/* Names are those of @before, which lives as long as it does. */
static int take_gone(struct rebuild *r, __u64 nr)
{
	for (; nr; nr--, r->at++) {
		struct machine_holder *more;

		if (!r->ended || r->t != ROWS_PROCESSES)
			continue;
		more = realloc(r->ended->at, (r->ended->nr + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->ended->at = more;
		more[r->ended->nr++] = r->before->processes.at[r->at];
	}
	return 0;
}

static int take_changed(struct rebuild *r)
{
	rows_get(r->before, r->t, r->at++, &r->row);
	get_numbers(&r->f, r->map, r->table, r->row.v);
	return r->f.bad ? -EBADMSG : keep(r);
}

static int take_new(struct rebuild *r)
{
	memset(r->row.v, 0, sizeof(r->row.v));
	for (int i = 0; i < 2; i++) {
		get_text(&r->f, r->text[i]);
		r->row.text[i] = r->text[i];
	}
	if (!r->f.bad)
		get_numbers(&r->f, r->map, r->table, r->row.v);
	return r->f.bad ? -EBADMSG : r->known ? keep(r) : 0;
}

static int take_table(struct rebuild *r)
{
	__u64 op, nr;
	int err = 0;

	while (!err && (op = get(&r->f))) {
		nr = op >> 3;
		op &= 7;
		/* rows of a table that is not known here were not kept */
		if (!nr || op > OP_LEFT || (r->known && op != OP_NEW && nr > r->nr_was - r->at))
			return -EBADMSG;
		if (op == OP_NEW) {
			err = take_new(r);
		} else if (!r->known) {
			if (op == OP_CHANGED)
				get_numbers(&r->f, r->map, r->table, r->row.v);
		} else if (op == OP_SAME) {
			err = take_same(r, nr);
		} else if (op == OP_CHANGED) {
			err = take_changed(r);
		} else if (op == OP_GONE) {
			err = take_gone(r, nr);
		} else {
			r->at += nr;
		}
	}
	return r->f.bad ? -EBADMSG : err;
}

int code_get(const struct code_map *map, const struct machine *before, const __u8 *data,
	     size_t len, struct machine *now, struct machine_list *ended)
{
	struct rebuild *r = calloc(1, sizeof(*r));
	int err = r ? 0 : -ENOMEM;

	memset(now, 0, sizeof(*now));
	if (!r)
		return err;
	r->map = map;
	r->before = before;
	r->now = now;
	r->ended = ended;
	r->f = (struct from){ .at = data, .end = data + len };
	for (r->table = 0; !err && r->table < map->nr_tables; r->table++) {
		const int t = map->at[r->table].table;

		r->known = t >= 0;
		r->t = t >= 0 ? (enum rows_table)t : ROWS_SUMS;
		r->nr_was = before && r->known ? rows_nr(before, r->t) : 0;
		r->at = 0;
		err = take_table(r);
	}
	free(r);
	return err;
}
