// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the rows of one process for `memtap top`, the largest first. */
#include <errno.h>

#include "render/int.h"
#include "render/live.h"

static void put_frame(const struct report *r, const struct rframe *f, __u32 times, FILE *out)
{
	(void)r;
	fputs("    ", out);
	text_put(out, f->text, NULL);
	render_source(f, out);
	render_times(times, out);
	fputc('\n', out);
}

static void put_stack(const struct report *r, const struct rrow *row, FILE *out)
{
	render_frames(r, row->kstack, put_frame, "    ", out);
	render_frames(r, row->ustack, put_frame, "    ", out);
	if (!r->stacks[row->kstack].nr && !r->stacks[row->ustack].nr)
		fputs("    [no stack]\n", out);
}

/* Of all rows of its kind, in percent; nothing where some shrink. */
static void put_share(const struct rrow *row, const struct rsection *s, FILE *out)
{
	const double all = s->sum ? (double)s->sum : (double)s->count;
	const double part = s->sum ? (double)row->sum : (double)row->count;

	if (all > 0 && part >= 0 && !s->has_negative)
		fprintf(out, "%5.1f %%  ", part * 100 / all);
}

static void put_row(const struct report *r, const struct rsection *s, const struct rrow *row,
		    FILE *out)
{
	char count[TEXT_LEN], value[TEXT_LEN], grew[TEXT_LEN];
	const __u32 unit = s->event->unit, page = r->snap->header.page_size;

	put_share(row, s, out);
	if (row->leak) {
		fprintf(out, "%s in %s block%s", text_bytes(value, row->sum, false),
			text_count(count, row->count), text_s(row->count));
		if (report_grew_bytes(row))
			fprintf(out, "  %s", text_bytes(grew, report_grew_bytes(row), true));
	} else if (unit == MEMTAP_UNIT_PAGES) {
		text_bytes(value, (__s64)((__u64)row->sum * page), false);
		fprintf(out, "%s  %s page%s", value, text_count(count, (__u64)row->sum),
			text_s((__u64)row->sum));
	} else {
		text_value(value, row->sum, unit, s->has_negative);
		fprintf(out, "%s in %s call%s", value, text_count(count, row->count),
			text_s(row->count));
	}
	if (r->nr_sections > 1) {
		fputs("  ", out);
		text_put(out, s->event->name, NULL);
	}
	fputc('\n', out);
	put_stack(r, row, out);
}

static void put_section(const struct report *r, const struct rsection *s, FILE *out)
{
	const size_t last = s->first + s->nr - 1;

	/* ascending: the last one is the largest, or grew most */
	for (size_t i = 0; i < s->shown; i++)
		put_row(r, s, &r->rows[last - i], out);
}

int render_live(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		FILE *out)
{
	struct report_opts rows = o->rows;
	struct view v = { .o = o };
	struct report *r;

	rows.detail = DETAIL_LINES;
	r = report_make(snap, sym, &rows);
	if (!r)
		return -ENOMEM;
	v.r = r;
	errno = 0;
	for (size_t i = 0; i < r->nr_sections; i++)
		put_section(r, &r->sections[i], out);
	render_footer(&v, FOOT_LINE, out);
	report_free(r);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
