// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind_share FILE.memtap
 *
 * Compute the share of complete user stacks, weighted by events: lines "all N", "whole N", "none
 * N" (not part of "all"), and one line for each reason of a truncated stack.  Also checks, as TAP,
 * that the file is complete and its accounts add up; else the exit status is 1.
 */
#include "unwind_file.h"

/* The tool's part follows the module's: their ends are two. */
static bool adds_up_at_all(void)
{
	const struct memtap_rec *rec;
	struct bytes session = file;
	size_t pos = 0;

	while ((rec = next_record(&file, &pos)) && rec->type != MEMTAP_REC_END)
		;
	session.len = pos;
	is_whole(&session, "the session is whole");
	adds_up(&session, "seen is counted, filtered and lost; the counters are what was counted");
	return !tap_failed;
}

/* One counter's stack goes to "whole", or to the reason why it does not. */
int main(int argc, char **argv)
{
	static const char *const others[] = { "no-rows", "not-kept" };
	uint64_t all = 0, whole = 0, none = 0, by[NR_REASONS + 2] = { 0 };
	const struct memtap_rec_counter *c;
	const struct memtap_rec_stack *st;
	const struct memtap_rec *rec;
	size_t pos = 0, i;

	if (argc != 2) {
		fprintf(stderr, "usage: unwind_share FILE.memtap\n");
		return 2;
	}
	read_file(argv[1]);
	while ((rec = next_record(&file, &pos))) {
		c = (const void *)rec;
		if (rec->type != MEMTAP_REC_COUNTER)
			continue;
		st = find_id(MEMTAP_REC_STACK, c->ustack);
		if (c->ustack == MEMTAP_STACK_NONE) {
			none += c->count;
			continue;
		}
		all += c->count;
		for (i = 0; st && i < NR_REASONS && !(st->flags & reasons[i].flag); i++)
			;
		if (st && i == NR_REASONS && st->flags & MEMTAP_STACK_ROWS)
			whole += c->count;
		else
			by[st ? i : NR_REASONS + 1] += c->count;
	}
	printf("all %llu\nwhole %llu\nnone %llu\n", (unsigned long long)all,
	       (unsigned long long)whole, (unsigned long long)none);
	for (i = 0; i < NR_REASONS + 2; i++)
		if (by[i])
			printf("%s %llu\n",
			       i < NR_REASONS ? reasons[i].name : others[i - NR_REASONS],
			       (unsigned long long)by[i]);
	return adds_up_at_all() ? 0 : 1;
}
