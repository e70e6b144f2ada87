// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report losses beside other tools' formats: what the format leaves out, and what was lost, one
 * per line.  The text is part of the file if the format has comments, else it goes to stderr.
 */
#include "render/accounts.h"
#include "render/int.h"
#include "report/select.h"

struct losses {
	const struct view *v;
	const char *prefix, *where;
	FILE *out;
};

static void put_event(const struct losses *l, const struct snap_event *e)
{
	fputs(l->prefix, l->out);
	text_put(l->out, e->name, NULL);
}

static void put_section(const struct losses *l, const struct rsection *s)
{
	const __s64 fixed = l->v->calls ? 0 : s->read_only + s->reserved;
	const struct report *r = l->v->r;
	char value[TEXT_LEN], other[TEXT_LEN];
	__u64 excluded = 0, rows = 0;

	for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++) {
		const __s64 weight = render_weight(l->v, &r->rows[k]);

		if (weight >= 0)
			continue;
		excluded -= (__u64)weight;
		rows++;
	}
	if (fixed && s->shown) {
		put_event(l, s->event);
		fprintf(l->out, ": %s of memory without write permission (%s of it only reserved) "
				"are not in %s\n", text_value(value, fixed, s->event->unit, false),
			text_value(other, s->reserved, s->event->unit, false), l->where);
	}
	if (!excluded)
		return;
	put_event(l, s->event);
	fprintf(l->out, ": %llu stack%s that shrank by %s %s not in %s\n",
		(unsigned long long)rows, text_s(rows),
		text_value(value, excluded, s->event->unit, false), rows == 1 ? "is" : "are",
		l->where);
}

static void put_lost(const struct losses *l, const struct snap_event *e)
{
	const struct account a = account_of(e);
	char lost[TEXT_LEN], seen[TEXT_LEN];

	if (!account_lost(&a))
		return;
	put_event(l, e);
	fprintf(l->out, ": %s of %s were lost: ", text_signed(lost, account_lost(&a)),
		text_signed(seen, e->seen));
	account_put_lost(&a, l->out);
	fputc('\n', l->out);
}

void render_losses(const struct view *v, const char *prefix, const char *where, FILE *out)
{
	const struct losses l = { v, prefix, where, out };
	const struct report *r = v->r;
	char buf[RENDER_UNREAD_LEN], left[SELECT_WHY];
	const char *unread = render_unread(r, buf);

	for (size_t i = 0; i < r->nr_sections; i++)
		put_section(&l, &r->sections[i]);
	for (size_t i = 0; report_left_out(r->snap, i, left); i++)
		fprintf(out, "%s%s\n", prefix, left);
	for (size_t i = 0; i < r->snap->nr_events; i++)
		put_lost(&l, &r->snap->events[i]);
	if (unread)
		fprintf(out, "%s%s\n", prefix, unread);
}
