// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print a report as text: each row like stackcount, innermost frame first, the largest row last,
 * right above the prompt.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/hist.h"
#include "render/int.h"
#include "render/oom.h"

#define BAR	40

static void put_frame(const struct report *r, const struct rframe *f, __u32 times, FILE *out)
{
	fputs("  ", out);
	if (r->o->addresses && f->sym)
		fprintf(out, "%016llx ", (unsigned long long)f->ip);
	text_put(out, f->text, NULL);
	if (r->o->addresses && f->sym && f->sym->name)
		fprintf(out, "+0x%llx", (unsigned long long)f->sym->offset);
	if (f->sym && f->sym->kernel && f->sym->name && strcmp(f->sym->object, "kernel")) {
		fputs(" [", out);
		text_put(out, f->sym->object, NULL);
		fputc(']', out);
	}
	render_source(f, out);
	render_times(times, out);
	fputc('\n', out);
}

static void put_stack(const struct report *r, __u32 id, FILE *out)
{
	render_frames(r, id, put_frame, "  ", out);
}

static void put_bar(__u64 n, __u64 max, FILE *out)
{
	int len = max ? (int)((double)n * BAR / max) : 0;

	for (int i = 0; i < BAR; i++)
		fputc(i < len ? '*' : ' ', out);
}

static void put_hist(const __u64 *hist, __u32 unit, FILE *out)
{
	char low[TEXT_LEN], high[TEXT_LEN], range[2 * TEXT_LEN + 8], count[TEXT_LEN];
	int first = 0, last = MEMTAP_HIST_BUCKETS - 1;
	__u64 max = 0;

	while (last > 0 && !hist[last])
		last--;
	while (first < last && !hist[first])
		first++;
	for (int i = first; i <= last; i++)
		if (hist[i] > max)
			max = hist[i];
	fprintf(out, "    %23s : %-10s distribution\n",
		unit == MEMTAP_UNIT_NONE ? "value" : unit_name(unit), "count");
	for (int i = first; i <= last; i++) {
		__u64 lo = hist_low(i), hi = i ? lo * 2 - 1 : 0;

		if (i)
			snprintf(range, sizeof(range), "%s -> %s",
				 text_count(low, lo), text_count(high, hi));
		else
			snprintf(range, sizeof(range), "<= 0");
		fprintf(out, "    %23s : %-10s |", range, text_count(count, hist[i]));
		put_bar(hist[i], max, out);
		fputs("|\n", out);
	}
}

/* What brought pages: their size says more than their number twice. */
static void put_pages(const struct report *r, const struct rsection *s, __u64 count,
		      __s64 sum, bool size, FILE *out)
{
	char pages[TEXT_LEN], events[TEXT_LEN], bytes[TEXT_LEN];
	const __u32 page = r->snap->header.page_size;

	fprintf(out, "%s page%s", text_count(pages, (__u64)sum), text_s((__u64)sum));
	if (size && page)
		fprintf(out, "  %s", text_bytes(bytes, (__s64)((__u64)sum * page), false));
	if ((__u64)sum != count)
		fprintf(out, " in %s %s%s", text_count(events, count),
			strcmp(s->event->group, "fault") ? "event" : "fault",
			text_s(count));
}

static void put_value(const struct report *r, const struct rrow *row,
		      const struct rsection *s, FILE *out)
{
	char count[TEXT_LEN], value[TEXT_LEN];
	__u32 unit = s->event->unit;

	fputs("    ", out);
	if (unit == MEMTAP_UNIT_PAGES) {
		put_pages(r, s, row->count, row->sum, true, out);
		fputc('\n', out);
		return;
	}
	fputs(text_count(count, row->count), out);
	if (*unit_name(unit))
		fprintf(out, " %s%s  %s%s", render_thing(s->event), text_s(row->count),
			unit == MEMTAP_UNIT_NUMBER ? "sum " : "",
			text_value(value, row->sum, unit, s->has_negative));
	if (*unit_name(unit) && row->count > 1 && row->max)
		fprintf(out, "  (largest %s)",
			text_value(value, row->max, unit, false));
	fputc('\n', out);
}

static void put_flags(__u32 flags, FILE *out)
{
	for (__u32 bit = 0; bit < MEMTAP_NR_KEY; bit++)
		if (flags >> bit & 1)
			fprintf(out, "  (%s)", key_sentence(bit));
}

void render_row_head(const struct report *r, const struct rrow *row, FILE *out)
{
	const char *label = r->groups[row->group].label;
	bool kernel = r->stacks[row->kstack].nr, user = r->stacks[row->ustack].nr;
	char allowed[ALLOWED_TEXT];

	put_stack(r, row->kstack, out);
	if (kernel && user)
		fputs("    --\n", out);
	put_stack(r, row->ustack, out);
	if (!kernel && !user && !(r->o->no_user && r->o->no_kernel) && r->o->by != BY_FILE &&
	    r->o->by != BY_MAPPING)
		fputs("  [no stack]\n", out);
	if (*label || row->flags) {
		fputs("    ", out);
		text_put(out, *label ? label : "all", NULL);
		put_flags(row->flags, out);
		fputc('\n', out);
	}
	if (!row->file && r->o->by == BY_FILE)
		fputs("    no file: anonymous memory\n", out);
	if (row->file) {
		fputs("    ", out);
		if (row->allowed)
			fprintf(out, "%s ", allowed_text(row->allowed, allowed));
		text_put(out, row->file, NULL);
		fputs(pages_text(row->allowed), out);
		fputc('\n', out);
	}
	if (r->snap->header.flags & MEMTAP_CFG_ADDR)
		fprintf(out, "    address 0x%llx\n", (unsigned long long)
			(row->addr << (r->snap->header.addr_shift & 63)));
}

static void put_row(const struct report *r, const struct rrow *row,
		    const struct rsection *s, FILE *out)
{
	render_row_head(r, row, out);
	put_value(r, row, s, out);
	if (row->hist)
		put_hist(row->hist, s->event->unit, out);
	fputc('\n', out);
}

/* Exact, so that what is shown and what is not add up to the total. */
static void put_sum(const struct report *r, const char *what, size_t nr, __u64 count,
		    __s64 sum, const struct rsection *s, FILE *out)
{
	char rows[TEXT_LEN], events[TEXT_LEN], exact[TEXT_LEN], value[TEXT_LEN];
	__u32 unit = s->event->unit;

	fprintf(out, "%s %s %s%s, ", what, text_count(rows, nr),
		r->o->rolled_up ? "row" : "stack", text_s(nr));
	if (unit == MEMTAP_UNIT_PAGES) {
		put_pages(r, s, count, sum, false, out);
		fputc('\n', out);
		return;
	}
	fprintf(out, "%s %s%s", text_count(events, count),
		render_thing(s->event), text_s(count));
	if (*unit_name(unit))
		fprintf(out, ", %s %s", text_signed(exact, sum), unit_name(unit));
	if (unit == MEMTAP_UNIT_BYTES && (sum >= 1024 || sum <= -1024))
		fprintf(out, " (%s)", text_bytes(value, sum, s->has_negative));
	fputc('\n', out);
}

/* Address space that is no growth, beside the sum of what is. */
static void put_fixed(const char *what, __s64 bytes, const struct rsection *s, FILE *out)
{
	char exact[TEXT_LEN], value[TEXT_LEN];

	if (!bytes)
		return;
	fprintf(out, "  %s: %s %s", what, text_signed(exact, bytes), unit_name(s->event->unit));
	if (bytes >= 1024 || bytes <= -1024)
		fprintf(out, " (%s)", text_bytes(value, bytes, s->has_negative));
	fputc('\n', out);
}

static void put_section(const struct report *r, const struct rsection *s, FILE *out)
{
	for (size_t i = s->first + s->nr - s->shown; i < s->first + s->nr; i++)
		put_row(r, &r->rows[i], s, out);
	text_put(out, s->event->name, NULL);
	put_sum(r, ":", s->nr, s->count, s->sum, s, out);
	put_fixed("not among these bytes, not writable", s->read_only, s, out);
	put_fixed("not among these bytes, only reserved", s->reserved, s, out);
	if (report_sums_only(r, s->event)) {
		fputs("  not shown (--all shows them)\n", out);
		return;
	}
	if (s->shown == s->nr)
		return;
	put_sum(r, "  shown:", s->shown, s->shown_count, s->shown_sum, s, out);
	put_sum(r, "  not shown:", s->nr - s->shown, s->count - s->shown_count,
		(__s64)((__u64)s->sum - (__u64)s->shown_sum), s, out);
	if (s->nr_loader)
		put_sum(r, "    of these by the dynamic linker (--show-loader shows them):",
			s->nr_loader, s->loader_count, s->loader_sum, s, out);
}

static void put_part(const char *by, __s64 bytes, bool first, FILE *out)
{
	char n[TEXT_LEN];

	fprintf(out, "%s%s %s", first ? "" : ", ", by, text_bytes(n, bytes, true));
}

/* What all calls together did. */
static void put_mapped(const struct rmapped *m, FILE *out)
{
	char n[TEXT_LEN];

	fprintf(out, "\nmappings that can be written to %s by %s (",
		m->write < 0 ? "shrank" : "grew",
		text_bytes(n, m->write < 0 ? -m->write : m->write, false));
	put_part("mmap", m->by_mmap, true, out);
	put_part("mremap", m->by_mremap, false, out);
	put_part("mprotect", m->by_mprotect, false, out);
	put_part("munmap", -m->by_munmap, false, out);
	fputs(")\n", out);
	if (m->reserved)
		fprintf(out, "reserved beside: %s of address space, with what was made writable "
			"of it\n", text_bytes(n, m->reserved, true));
}

static void put_head(const struct view *v, FILE *out)
{
	char when[TEXT_LEN];

	if (v->o->timestamp)
		fprintf(out, "[%s] ", text_clock(when, v->r->snap->header.real_ns));
	render_title(v, out);
	fputs("\n\n", out);
}

static void put_rows(const struct view *v, FILE *out)
{
	const struct report *r = v->r;

	if (r->leaks) {
		render_leaks(r, out);
		render_mismatches(r, out);
		return;
	}
	put_head(v, out);
	if (!r->nr_rows)
		fputs("nothing was counted\n", out);
	for (size_t i = 0; i < r->nr_sections; i++) {
		if (i)
			fputc('\n', out);
		put_section(r, &r->sections[i], out);
	}
	if (r->mapped.known && r->nr_sections)
		put_mapped(&r->mapped, out);
}

/* Print the OOM kills that happened during a recording. */
static int put_kills(const struct view *v, FILE *out)
{
	const struct snap *s = v->r->snap;
	struct oom_opts o = { .out = out, .sym = v->sym, .rows = 10, .file = s };
	struct memtap_oom_record *r;

	if (!s->nr_ooms)
		return 0;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	fprintf(out, "\nOOM kills during the recording: %zu\n", s->nr_ooms);
	for (size_t i = 0; i < s->nr_ooms; i++) {
		o.number = (__u32)i;
		render_oom_of(s, o.number, r);
		fputc('\n', out);
		render_oom(r, &o);
	}
	free(r);
	return 0;
}

int render_table(const struct view *v, FILE *out)
{
	int err = 0;

	if (v->o->foot != FOOT_ALONE) {
		if (render_has_functions(v->r)) {
			put_head(v, out);
			err = render_functions(v, out);
		} else {
			put_rows(v, out);
		}
		if (v->r->leaks || !v->o->quiet)
			fputc('\n', out);
	} else if (!v->r->leaks && !v->o->quiet) {	/* whose foot has the title */
		fputs("all of it: ", out);
		put_head(v, out);
	}
	render_footer(v, v->o->foot, out);
	return err ? err : put_kills(v, out);
}
