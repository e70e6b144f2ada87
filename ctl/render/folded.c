// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "comm;outermost;...;innermost VALUE", for flamegraph.pl and its relatives.
 * A graph cannot show what shrank: such rows are left out, and stderr says how
 * much that was.
 */
#include <string.h>

#include "render/accounts.h"
#include "render/int.h"

/* ';' separates frames, and the last blank the value. */
static void put_name(FILE *out, const char *name)
{
	text_put(out, name, ";");
}

static void put_stack(const struct report *r, __u32 id, bool *first, FILE *out)
{
	const struct rstack *st = &r->stacks[id];

	for (__u32 i = st->nr; i--;) {
		const struct rframe *f = &r->frames[st->frames[i]];

		if (!*first)
			fputc(';', out);
		*first = false;
		put_name(out, f->text);
		if (f->sym && f->sym->kernel)
			fputs("_[k]", out);
		else if (f->sym && f->sym->inlined)
			fputs("_[i]", out);
	}
}

static void put_row(const struct view *v, const struct rrow *row, FILE *out)
{
	const struct report *r = v->r;
	const char *label = r->groups[row->group].label;
	bool first = true;

	/* several events have a root each, whether or not they occurred */
	if (r->nr_events > 1) {
		put_name(out, r->events[row->event].name);
		first = false;
	}
	if (*label) {
		if (!first)
			fputc(';', out);
		put_name(out, label);
		first = false;
	}
	put_stack(r, row->ustack, &first, out);
	put_stack(r, row->kstack, &first, out);
	if (first)
		fputs("[no stack]", out);
	fprintf(out, " %lld\n", (long long)render_weight(v, row));
}

/* There is no foot: one line for each event of which something is missing. */
static void put_losses(const struct report *r, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN], buf[RENDER_UNREAD_LEN];
	const char *unread = render_unread(r, buf);

	for (size_t i = 0; i < r->snap->nr_events; i++) {
		const struct snap_event *e = &r->snap->events[i];
		const struct account acc = account_of(e);

		if (!account_lost(&acc))
			continue;
		fputs("memtap: ", out);
		text_put(out, e->name, NULL);
		fprintf(out, ": %s of %s were lost: ", text_signed(a, account_lost(&acc)),
			text_signed(b, e->seen));
		account_put_lost(&acc, out);
		fputc('\n', out);
	}
	if (unread)
		fprintf(out, "memtap: %s\n", unread);
}

int render_folded(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	char value[TEXT_LEN], other[TEXT_LEN];

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];
		const __s64 fixed = v->calls ? 0 : s->read_only + s->reserved;
		__u64 excluded = 0, rows = 0;

		for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++) {
			__s64 weight = render_weight(v, &r->rows[k]);

			if (weight > 0) {
				put_row(v, &r->rows[k], out);
			} else if (weight < 0) {
				excluded -= (__u64)weight;
				rows++;
			}
		}
		if (fixed && s->shown) {
			fputs("memtap: ", stderr);
			text_put(stderr, s->event->name, NULL);
			fprintf(stderr, ": %s that cannot be written to (%s of it only reserved) "
				"are not in the folded stacks\n",
				text_value(value, fixed, s->event->unit, false),
				text_value(other, s->reserved, s->event->unit, false));
		}
		if (!excluded)
			continue;
		fputs("memtap: ", stderr);
		text_put(stderr, s->event->name, NULL);
		fprintf(stderr, ": %llu stack%s that shrank by %s %s not in the folded stacks\n",
			(unsigned long long)rows, text_s(rows),
			text_value(value, excluded, s->event->unit, false),
			rows == 1 ? "is" : "are");
	}
	put_losses(r, stderr);
	return 0;
}
