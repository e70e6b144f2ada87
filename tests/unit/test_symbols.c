// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/symbols.c */
/* What the kernel calls the values of a field, in the forms that its versions write. */
#include <string.h>

#include "session/symbols.h"
#include "tap.h"

static struct symbols s;

static const char *text(__u64 v)
{
	static char buf[200];

	symbols_text(&s, v, buf, sizeof(buf));
	return buf;
}

#define is_str(got, want, name) ok(!strcmp(got, want), "%s: %s", name, got)

/* v5.10: gfp_t in parentheses, casts, complements */
static const char gfp[] =
	"name: mm_vmscan_direct_reclaim_begin\nformat:\n"
	"print fmt: \"order=%d gfp_flags=%s\", REC->order, (REC->gfp_flags) ? "
	"__print_flags(REC->gfp_flags, \"|\", "
	"{(unsigned long)((((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x100000u)) "
	"& ~(( gfp_t)(0x400u|0x800u)))), \"GFP_LIGHT\"}, "
	"{(unsigned long)((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u)), "
	"\"GFP_KERNEL\"}, {(unsigned long)(( gfp_t)0x02u), \"__GFP_HIGHMEM\"}, "
	"{( unsigned long)(((( gfp_t)((((1UL))) << (8))))), \"__GFP_ZERO\"}, "
	"{ 0, \"nothing\" }, {(unsigned long)SOMETHING, \"unknown\"} ) : \"none\"\n";

static const char status[] =
	"print fmt: \"x=%lu status=%s reason=%s\", REC->status_of, "
	"__print_symbolic(REC->status, {1, \"skipped\"}, {2, \"deferred\"}, { -3, \"minus\"}), "
	"__print_symbolic(REC->reason, { 0, \"compaction\"}, {5+1,\"numa\"})\n";

/* Values of enum compact_result, which are others in each kernel: v4.2, v4.4, v4.9. */
static const char *const compaction[] = {
	"print fmt: \"mode=%s status=%s\", REC->sync ? \"sync\" : \"async\", "
	"compaction_status_string[REC->status]\n",
	"print fmt: \"mode=%s status=%s\", REC->sync ? \"sync\" : \"async\", "
	"__print_symbolic(REC->status, { 0, \"deferred\" }, { 1, \"skipped\" }, "
	"{ 2, \"continue\" }, { 3, \"partial\" }, { 4, \"complete\" })\n",
	"print fmt: \"mode=%s status=%s\", REC->sync ? \"sync\" : \"async\", "
	"__print_symbolic(REC->status, { 1, \"skipped\" }, { 2, \"deferred\" }, "
	"{ 4, \"continue\" }, { 8, \"success\" }, { 6, \"partial_skipped\" })\n",
};

static void test_compaction(void)
{
	ok(!symbols_parse(compaction[0], "status", &s), "compaction: names in an array are none");
	ok(symbols_parse(compaction[1], "status", &s), "compaction: names of numbers");
	is_str(text(1), "skipped", "compaction: as that kernel counts");
	ok(symbols_parse(compaction[2], "status", &s), "compaction: names of a later kernel");
	is_str(text(2), "deferred", "compaction: of another number");
	is_str(text(8), "success", "compaction: and one that it did not have");
}

int main(void)
{
	char small[8];

	ok(symbols_parse(gfp, "gfp_flags", &s) && s.flags, "flags are found");
	is_str(text(0x400 | 0x800 | 0x40 | 0x80), "GFP_KERNEL", "several bits of one name");
	is_str(text(0xcc2), "GFP_KERNEL|__GFP_HIGHMEM", "and one more");
	is_str(text(0x100), "__GFP_ZERO", "a shift");
	is_str(text(0x100040), "GFP_LIGHT", "a complement");
	is_str(text(0x8100), "__GFP_ZERO|0x8000", "what has no name is a number");
	is_str(text(0), "0x0", "nothing is 0");
	is(symbols_text(&s, 0xcc2, small, sizeof(small)), 24, "what is cut tells its length");
	is_str(small, "GFP_KER", "and ends");
	ok(!symbols_parse(gfp, "order", &s), "a field without names has none");
	ok(!symbols_parse("print fmt: \"\"", "gfp_flags", &s), "nor has what is not there");
	ok(!symbols_parse("", "gfp_flags", &s), "nor an empty text");

	ok(symbols_parse(status, "status", &s) && !s.flags && s.nr == 3, "values are found");
	is_str(text(2), "deferred", "one of them");
	is_str(text(9), "9", "one without a name");
	is_str(text((__u64)-3), "minus", "one below 0");
	ok(symbols_parse(status, "reason", &s), "those of another field");
	is_str(text(6), "numa", "a sum");
	ok(!symbols_parse(status, "status_of", &s), "no field whose name only begins like it");
	test_compaction();
	return tap_done();
}
