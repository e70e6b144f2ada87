// SPDX-License-Identifier: GPL-2.0-or-later
/* Print how many user stacks are complete, and why others are truncated. */
#include "core/names.h"
#include "render/int.h"

/* Never 100 % where something is missing. */
static void put_share(FILE *out, __u64 part, __u64 all)
{
	const double share = (double)part / (double)all;

	if (part == all)
		fputs("100 %", out);
	else
		fprintf(out, "%.1f %%", (double)(unsigned int)(share * 1000) / 10);
}

static void put_hints(const struct report *r, const struct rsums *s, FILE *out)
{
	for (size_t i = 0; i < NR_CUTS; i++) {
		const __u32 flag = report_cuts[i].flag;

		if (!s->cut[i])
			continue;
		if (flag == MEMTAP_STACK_DEPTH && r->snap->header.depth < MEMTAP_MAX_DEPTH)
			fprintf(out, "  too deep: --depth %u records more "
				     "frames\n", MEMTAP_MAX_DEPTH);
		if (flag == MEMTAP_STACK_CHAIN && !s->most[i])
			fputs("  no frame pointer: in code of a JIT compiler; stacks are complete "
			      "if the program keeps frame pointers (java "
			      "-XX:+PreserveFramePointer)\n", out);
		if ((flag != MEMTAP_STACK_NOTABLE && flag != MEMTAP_STACK_NOROW) || !s->most[i])
			continue;
		fputs(flag == MEMTAP_STACK_NOROW ? "  no unwind entry: most in " :
		      "  no table yet: most in ", out);
		text_put(out, s->most[i], NULL);
		fputs(flag == MEMTAP_STACK_NOROW ?
		      "; its debug information (a package -dbg, -dbgsym, -debuginfo) has unwind "
		      "entries, `memtap unwind` with this file shows more\n" :
		      "; run the command again, the tables are ready now\n", out);
	}
}

/* "; cut: 12 in code without an unwind entry, 3 ..." */
static void put_cuts(const struct report *r, const struct rsums *s, FILE *out)
{
	const char *before = "; truncated: ";
	char a[TEXT_LEN];

	for (size_t i = 0; i < NR_CUTS; i++) {
		if (!s->cut[i])
			continue;
		fprintf(out, "%s%s %s", before, text_count(a, s->cut[i]),
			s->cut[i] == 1 && report_cuts[i].flag == MEMTAP_STACK_CHAIN ?
			"that leads nowhere" : part_sentence(report_cuts[i].part));
		if (report_cuts[i].flag == MEMTAP_STACK_DEPTH)
			fprintf(out, " (%u)", r->snap->header.depth);
		before = ", ";
	}
	if (s->others)
		fprintf(out, "; %s of 32-bit programs, by frame pointers",
			text_count(a, s->others));
}

static void put_rows(const struct report *r, const struct rsums *s, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	fputs("user stacks: ", out);
	put_share(out, s->whole, s->all);
	fprintf(out, " complete (%s of %s)", text_count(a, s->whole), text_count(b, s->all));
	put_cuts(r, s, out);
	fputc('\n', out);
	put_hints(r, s, out);
}

void render_stacks(const struct report *r, FILE *out)
{
	const struct rsums *s = r->sums;
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!s || !s->all)
		return;
	if (s->rows) {
		put_rows(r, s, out);
		return;
	}
	fputs("user stacks: by frame pointers; ", out);
	put_share(out, s->whole, s->all);
	fprintf(out, " (%s of %s) reach a function in which programs or threads begin\n",
		text_count(a, s->whole), text_count(b, s->all));
}

bool render_stacks_whole(const struct report *r)
{
	return !r->sums || r->sums->whole == r->sums->all;
}

void render_stacks_line(const struct report *r, FILE *out)
{
	const struct rsums *s = r->sums;
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!s || !s->all)
		return;
	fprintf(out, "; %s of %s stack%s ", text_count(a, s->whole), text_count(b, s->all),
		text_s(s->all));
	if (!s->rows) {
		fputs("reach where programs or threads begin, by frame pointers", out);
		return;
	}
	fputs("complete", out);
	put_cuts(r, s, out);
}
