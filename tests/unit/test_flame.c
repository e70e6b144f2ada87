// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/flame_page.c kmod/core/names.c */
/* LINK: ctl/render/flame.c ctl/base/ids.c ctl/base/json.c ctl/base/text.c */
/* The tree of a flame graph: what is drawn of it, and what no file can make of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render/flame_data.h"
#include "render/int.h"
#include "tap.h"

#define NR	252000		/* more than a page has room for */

const char flame_head[] = "", flame_library[] = "", flame_app[] = "", flame_licenses[] = "";

void render_footer(const struct view *v, enum render_footer foot, FILE *out)
{
	fputs("foot", out);
}

__s64 render_weight(const struct view *v, const struct rrow *row)
{
	return row->sum;
}

bool render_event_shown(const struct report *r, const struct snap_event *e)
{
	return true;
}

__s64 render_was_weight(const struct view *v, const struct rrow *row)
{
	return row->was_sum;
}

void render_diff_footer(const struct view *v, FILE *out)
{
	fputs("foot of both", out);
}

static struct rframe frames[NR];
static __u32 numbers[NR];
static struct rstack stacks[NR + 1];	/* the first has no frames */
static struct rrow rows[2 * NR];

/* A stack of one frame for each of @nr, and two rows for each stack. */
static char *draw(size_t nr, const __s64 *values, size_t nr_values)
{
	static struct rgroup group = { .label = "" };
	static struct snap snap;
	static const struct report_opts rows_opts;
	static const struct render_opts opts;
	static const struct snap_event event = { .unit = MEMTAP_UNIT_BYTES };
	struct report r = {
		.snap = &snap, .o = &rows_opts, .events = &event, .nr_events = 1, .groups = &group,
		.frames = frames, .stacks = stacks, .rows = rows, .nr_rows = 2 * nr,
	};
	const struct view v = { .r = &r, .o = &opts };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < nr; i++) {
		frames[i].text = "frame";
		numbers[i] = (__u32)i;
		stacks[i + 1] = (struct rstack){ .frames = &numbers[i], .nr = 1 };
		rows[2 * i] = rows[2 * i + 1] = (struct rrow){
			.ustack = (__u32)i + 1, .sum = values[i % nr_values],
		};
	}
	ok(!render_flame(&v, f), "it is written");
	fclose(f);
	return text;
}

static size_t nr_drawn(const char *text)
{
	size_t nr = 0;

	/* below the root; the one that stands for others has a name that is text */
	for (; *text; text++)
		nr += !strncmp(text, "\"n\":", 4) && text[4] != '0' && text[4] != '"';
	return nr;
}

static void test_small(void)
{
	static const __s64 values[] = { 3, 1, -2 };
	char *text = draw(3, values, 3);

	is(nr_drawn(text), 2, "what grew is drawn");
	ok(strstr(text, "\"v\":8") && strstr(text, "\"v\":6"), "with its sums");
	ok(strstr(text, "not drawn: stacks that shrank, by 4 B"), "what shrank is told");
	ok(strstr(text, "\"name\":\"bytes\",\"unit\":\"bytes\"") &&
	   strstr(text, "\"name\":\"calls\",\"unit\":\"calls\"") && strstr(text, "\"m\":["),
	   "calls are there, too");
	free(text);
}

static void test_narrow(void)
{
	static const __s64 values[] = { 1, 1000, 1000 };
	char *text = draw(NR, values, 3);

	is(nr_drawn(text), NR / 3 * 2, "the narrow ones of too many frames are left out");
	ok(strstr(text, "merged: 84,000 frames are narrow"), "and counted");
	ok(strstr(text, "\"n\":\"(84,000 narrower frames)\",\"l\":\"rest\",\"v\":168000"),
	   "one frame has what they have: it is not their caller's own");
	ok(strstr(text, "\"names\":["), "a name is written once");
	free(text);
}

/* Sums that do not fit: the search for what to leave out must end all the same. */
static void test_too_much(void)
{
	static const __s64 values[] = { INT64_MAX }, less[] = { INT64_MIN };
	char *text = draw(NR, values, 1);

	ok(strstr(text, "\"v\":9223372036854775807"), "a sum that is too large stays at its limit");
	free(text);
	text = draw(NR, less, 1);
	ok(strstr(text, "stacks that shrank, by 8.0 EiB"), "one below it, too");
	is(nr_drawn(text), 0, "and nothing is drawn");
	free(text);
}

int main(void)
{
	alarm(120);
	test_small();
	test_narrow();
	test_too_much();
	return tap_done();
}
