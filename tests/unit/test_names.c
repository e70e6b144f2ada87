// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/names.c */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "tap.h"
#include "uapi/memtap_names.h"

#define LONGEST	24

static bool is_name(const char *name)
{
	return *name && strlen(name) < LONGEST &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name);
}

/* @from .. @from + @nr - 1 have names, no two the same; behind the last one there is none. */
static void test_list(const char *what, const char *(*name)(u32), u32 from, u32 nr,
		      const char *none)
{
	bool good = true;

	for (u32 i = from; i < from + nr; i++) {
		good = good && name(i) && is_name(name(i));
		for (u32 k = from; k < i; k++)
			good = good && strcmp(name(i), name(k));
	}
	ok(good, "%s: each has a name of its own", what);
	ok(!strcmp(name(from + nr), none), "%s: a number that is not known says so", what);
	ok(!strcmp(name(~0U), none), "%s: so does the largest one", what);
}

static void test_sentences_read_behind_a_number(void)
{
	static const char *const all[] = {
		MEMTAP_LOST_NAMES(MEMTAP_SENTENCE_ENTRY)
	};

	for (u32 i = 0; i < MEMTAP_NR_LOST; i++)
		ok(strlen(all[i]) > 8 && all[i][strlen(all[i]) - 1] != '.',
		   "lost, %s: %s", lost_name(i), all[i]);
	for (u32 i = 0; i < MEMTAP_NR_PART; i++)
		ok(strlen(part_sentence(i)) > 8, "part, %s: %s", part_name(i),
		   part_sentence(i));
}

/* Who reads about a reason in a report looks for it here. */
static void test_the_manual_has_each_reason(void)
{
	char text[1 << 17];
	FILE *f = fopen("../ctl/man/memtap.man", "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[len] = '\0';
	ok(len > 1000, "the manual is there");
	for (u32 i = 0; i < MEMTAP_NR_LOST + MEMTAP_NR_PART; i++) {
		const char *name = i < MEMTAP_NR_LOST ? lost_name(i) :
				   part_name(i - MEMTAP_NR_LOST);
		char entry[64], *p = entry;

		/* as troff has it: hyphens are escaped */
		p += sprintf(p, "\n.B ");
		for (const char *c = name; *c; c++)
			p += sprintf(p, "%s%c", *c == '-' ? "\\" : "", *c);
		strcpy(p, "\n");
		ok(strstr(text, entry) != NULL, "the manual tells what %s is", name);
	}
}

int main(void)
{
	test_list("losses", lost_name, 0, MEMTAP_NR_LOST, NAME_UNKNOWN);
	test_list("what is not whole", part_name, 0, MEMTAP_NR_PART, NAME_UNKNOWN);
	test_list("units", unit_name, 1, MEMTAP_NR_UNIT - 1, "");
	test_list("states of hooks", hook_name, 0, MEMTAP_NR_HOOK, "unknown");
	test_list("ways of hooks", way_name, 1, MEMTAP_NR_WAY - 1, "unknown");
	test_list("constraints", constraint_name, 0, MEMTAP_NR_CONSTRAINT, "unknown");
	test_list("counters of memory", vm_name, 0, MEMTAP_NR_VM, "unknown");
	test_list("counters of reclaim", reclaim_name, 0, MEMTAP_NR_RECLAIM, "unknown");
	test_list("frees that cannot be right", mismatch_name, 1, MEMTAP_NR_MISMATCH, "other");
	test_list("kinds of lost blocks", reach_name, 1, MEMTAP_NR_REACH, "unknown");
	for (u32 bit = 0; bit < MEMTAP_NR_SPACE; bit++)
		ok(space_name(bit) && is_name(space_name(bit)), "space flags: %u", bit);
	ok(!space_name(MEMTAP_NR_SPACE) && !space_name(31) && !space_name(32),
	   "space flags: there are no others");
	for (u32 bit = 0; bit < MEMTAP_NR_KEY; bit++)
		ok(key_name(bit) && is_name(key_name(bit)) && key_sentence(bit),
		   "flags of counters: %u", bit);
	ok(!key_name(MEMTAP_NR_KEY) && !key_sentence(MEMTAP_NR_KEY),
	   "flags of counters: there are no others");
	test_sentences_read_behind_a_number();
	test_the_manual_has_each_reason();
	return tap_done();
}
