// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the summary below a report: events seen, counted, filtered and lost.  If nothing was lost
 * or truncated, the summary is one line; otherwise it lists all numbers.
 */
#include <string.h>

#include "core/names.h"
#include "render/int.h"

static void put_hooks(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_hooks; i++) {
		const struct memtap_rec_hook *h = &s->hooks[i];
		const struct snap_event *e = snap_event(s, h->event);

		/* (a note says what is left out) */
		if ((!h->error && h->state != MEMTAP_HOOK_FAILED) || snap_hook_leaves_out(h))
			continue;
		fputs("hook of ", out);
		text_put(out, e ? e->name : "?", NULL);
		fprintf(out, " failed: %s ", way_name(h->way));
		text_put(out, h->target, NULL);
		fprintf(out, ": %s\n", strerror(h->error & 0xfff));
	}
}

static void put_unread(const struct report *r, FILE *out)
{
	char buf[RENDER_UNREAD_LEN];
	const char *text = render_unread(r, buf);

	if (text)
		fprintf(out, "%s\n", text);
}

/* What a compiler made at run time, and did not say. */
static void put_unnamed(const struct report *r, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	if (r->sums && r->sums->unnamed)
		fprintf(out, "[jit]: %s of %s stack%s ha%s code without a name, made at run time: "
			"no perf-PID.map has it (JVMs: --jvm-maps)\n",
			text_count(a, r->sums->unnamed), text_count(b, r->sums->all),
			text_s(r->sums->all), r->sums->unnamed == 1 ? "s" : "ve");
}

static void put_notes(const char *const *notes, FILE *out)
{
	for (size_t i = 0; notes && notes[i]; i++) {
		text_put(out, notes[i], NULL);
		fputc('\n', out);
	}
}

/* What could not be named when the file was made. */
static void put_saved_notes(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_notes; i++) {
		if (strncmp(s->notes[i], "note=", 5))
			continue;
		text_put(out, s->notes[i] + 5, NULL);
		fputc('\n', out);
	}
}

static void put_all_notes(const struct view *v, FILE *out)
{
	put_notes(v->r->notes, out);
	put_saved_notes(v->r->snap, out);
	put_notes(v->o->notes, out);
}

/* Nothing lost, no stack truncated. */
static bool is_lossless(const struct report *r)
{
	return render_events_whole(r) && render_stacks_whole(r) && render_memory_whole(r) &&
	       (!r->leaks || render_calls_whole(r));
}

/* Nothing estimated either. */
static bool is_whole(const struct report *r)
{
	return is_lossless(r) && !leaks_sampled(r->snap);
}

static void put_line(const struct report *r, FILE *out)
{
	render_events_line(r, out);
	render_stacks_line(r, out);
	render_parts_line(r, out);
	render_memory_line(r, out);
	fputc('\n', out);
}

static void put_accounts(const struct report *r, FILE *out)
{
	if (r->leaks)
		render_calls(r, out);
	render_events(r, out);
	render_stacks(r, out);
	render_parts(r, out);
	render_memory(r, out);
}

/* The verdict, and what is there; how it came to be known is told afterwards. */
static void put_leaks(const struct view *v, FILE *out)
{
	if (v->o->summary) {
		render_summary(v, out);
		fputc('\n', out);
	}
	render_leaks_totals(v, out);
	if (!v->o->quiet) {
		/* of a part of the blocks, what processes have in all is not known */
		if (!v->r->snap->selected)
			render_leaks_spaces(v->r, out);
		render_suppressions(v->r, out);
	}
}

/* Who wants results only, hears of losses nevertheless. */
static void put_losses(const struct report *r, FILE *out)
{
	if (is_lossless(r))
		return;
	fputc('\n', out);
	put_line(r, out);
	render_warnings(r, out);
	if (r->leaks)
		render_calls_warning(r, out);
}

void render_footer(const struct view *v, enum render_footer foot, FILE *out)
{
	const struct report *r = v->r;
	const bool line = foot == FOOT_LINE || (foot == FOOT_FITTING && is_whole(r));

	if (r->leaks)
		put_leaks(v, out);
	if (v->o->quiet) {
		put_losses(r, out);
	} else {
		if (r->leaks)
			fputc('\n', out);
		if (line)
			put_line(r, out);
		else
			put_accounts(r, out);
	}
	put_unread(r, out);
	if (!v->o->quiet)
		put_unnamed(r, out);
	/* an interval is not the last word */
	if (foot == FOOT_LINE)
		return;
	put_hooks(r->snap, out);
	put_all_notes(v, out);
}
