// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write speedscope's format: numbered frames, and for each event a profile of its count and a
 * profile of its value.  https://www.speedscope.app/file-format-schema.json
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/int.h"

#define SCHEMA	"https://www.speedscope.app/file-format-schema.json"

/* What a frame of the file stands for: a frame of the report, whose a row is, no stack at all. */
enum what { FRAME, GROUP, NO_STACK, NR_WHAT };

struct thing {
	__u32 number;
	enum what what;
};

struct scope {
	const struct view *v;
	struct column *columns;
	size_t nr_columns;
	struct thing *things;		/* in the order of the file's frames */
	size_t nr_things, room_things;
	__u32 *numbers[NR_WHAT];	/* in the file + 1, by number in the report */
	size_t nr_numbers[NR_WHAT];
	struct chain chain;
	struct json j;
};

/* The number of a frame in the file; -ENOMEM. */
static __s64 number_of(struct scope *s, enum what what, __u32 number)
{
	const size_t room = 2 * (size_t)number + 64, nr = s->nr_numbers[what];
	struct thing *things;
	__u32 *more;

	if (number >= nr) {
		more = reallocarray(s->numbers[what], room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + nr, 0, (room - nr) * sizeof(*more));
		s->numbers[what] = more;
		s->nr_numbers[what] = room;
	}
	if (s->numbers[what][number])
		return s->numbers[what][number] - 1;
	if (s->nr_things == s->room_things) {
		things = reallocarray(s->things, 2 * s->nr_things + 64, sizeof(*things));
		if (!things)
			return -ENOMEM;
		s->things = things;
		s->room_things = 2 * s->nr_things + 64;
	}
	s->things[s->nr_things++] = (struct thing){ number, what };
	s->numbers[what][number] = (__u32)s->nr_things;
	return (__s64)s->nr_things - 1;
}

static int put_number(struct scope *s, __s64 n)
{
	if (n < 0)
		return (int)n;
	json_u64(&s->j, NULL, (__u64)n);
	return 0;
}

/* The outermost frame first. */
static int put_stack(struct scope *s, const struct rrow *row)
{
	int err = render_chain(s->v->r, row, &s->chain);

	json_open(&s->j, NULL, '[');
	if (!err && render_groups_shown(s->v->r) && *s->v->r->groups[row->group].label)
		err = put_number(s, number_of(s, GROUP, row->group));
	for (size_t i = s->chain.nr; !err && i--;)
		err = put_number(s, number_of(s, FRAME, s->chain.at[i]));
	if (!err && !s->chain.nr)
		err = put_number(s, number_of(s, NO_STACK, 0));
	json_close(&s->j, ']');
	return err;
}

static int put_profile(struct scope *s, const struct column *c, const struct rsection *section)
{
	const struct report *r = s->v->r;
	__u64 sum = 0;
	int err = 0;

	json_open(&s->j, NULL, '{');
	json_str(&s->j, "type", "sampled");
	json_str(&s->j, "name", c->about);
	json_str(&s->j, "unit", !strcmp(c->unit, "bytes") ? "bytes" :
		 !strcmp(c->unit, "ns") ? "nanoseconds" : "none");
	json_open(&s->j, "samples", '[');
	for (size_t k = 0; !err && k < section->shown; k++) {
		const struct rrow *row = report_shown(r, section, k);

		if (!render_column(c, row))
			continue;
		err = put_stack(s, row);
		sum = render_add(sum, render_column(c, row));
	}
	json_close(&s->j, ']');
	json_open(&s->j, "weights", '[');
	for (size_t k = 0; k < section->shown; k++)
		if (render_column(c, report_shown(r, section, k)))
			json_u64(&s->j, NULL, render_column(c, report_shown(r, section, k)));
	json_close(&s->j, ']');
	json_u64(&s->j, "startValue", 0);
	json_u64(&s->j, "endValue", sum);
	json_close(&s->j, '}');
	return err;
}

static int put_profiles(struct scope *s)
{
	static const struct rsection nothing;
	const struct report *r = s->v->r;
	int err = 0;

	json_open(&s->j, "profiles", '[');
	for (size_t i = 0; !err && i < s->nr_columns; i++) {
		const struct rsection *section = &nothing;

		for (size_t k = 0; k < r->nr_sections; k++)
			if (r->sections[k].event == &r->events[s->columns[i].event])
				section = &r->sections[k];
		if (s->columns[i].kind < 0)
			err = put_profile(s, &s->columns[i], section);
	}
	json_close(&s->j, ']');
	return err;
}

static void put_frame(struct scope *s, const struct thing *t)
{
	const struct report *r = s->v->r;
	const struct rframe *f = t->what == FRAME ? &r->frames[t->number] : NULL;

	json_open(&s->j, NULL, '{');
	json_str(&s->j, "name", f ? f->text : t->what == NO_STACK ? RENDER_NO_STACK :
		 r->groups[t->number].label);
	if (f && f->sym && f->sym->file && !f->any_line) {
		json_str(&s->j, "file", f->sym->file);
		if (f->sym->line > 0)
			json_s64(&s->j, "line", f->sym->line);
	} else if (f && f->sym && *f->sym->object) {
		json_str(&s->j, "file", f->sym->object);
	}
	json_close(&s->j, '}');
}

int render_speedscope(const struct view *v, FILE *out)
{
	struct scope s = { .v = v, .j = { .out = out } };
	int err = -ENOMEM;

	s.columns = render_columns(v, &s.nr_columns);
	json_open(&s.j, NULL, '{');
	json_str(&s.j, "$schema", SCHEMA);
	json_str(&s.j, "exporter", "memtap");
	json_str(&s.j, "name", v->o->title ? v->o->title : "memtap");
	json_u64(&s.j, "activeProfileIndex", 0);
	if (s.columns)
		err = put_profiles(&s);
	json_open(&s.j, "shared", '{');
	json_open(&s.j, "frames", '[');
	for (size_t i = 0; i < s.nr_things; i++)
		put_frame(&s, &s.things[i]);
	json_close(&s.j, ']');
	json_close(&s.j, '}');
	json_close(&s.j, '}');
	fputc('\n', out);
	render_losses(v, "memtap: ", "this file", stderr);
	free(s.columns);
	free(s.things);
	for (int i = 0; i < NR_WHAT; i++)
		free(s.numbers[i]);
	render_chain_free(&s.chain);
	return err;
}
