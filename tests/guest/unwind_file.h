/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UNWIND_FILE_H
#define _UNWIND_FILE_H

/* The stacks in a .memtap file, as the module wrote them. */
#include "session.h"

static const struct reason {
	uint32_t flag;
	const char *name;
} reasons[] = {
	{ MEMTAP_STACK_DEPTH, "depth" },
	{ MEMTAP_STACK_FAULT, "fault" },
	{ MEMTAP_STACK_CHAIN, "chain" },
	{ MEMTAP_STACK_TRAMPOLINE, "trampoline" },
	{ MEMTAP_STACK_NOMAP, "nomap" },
	{ MEMTAP_STACK_NOTABLE, "notable" },
	{ MEMTAP_STACK_NOROW, "norow" },
};
#define NR_REASONS	(sizeof(reasons) / sizeof(reasons[0]))

static const struct memtap_rec_stack **stacks;
static size_t nr_stacks;
static struct bytes file;

static inline void read_file(const char *path)
{
	const struct memtap_rec *rec;
	size_t pos = 0;
	FILE *f = fopen(path, "r");

	if (!f || fseek(f, 0, SEEK_END))
		bail_out(path);
	file.len = ftell(f);
	file.at = malloc(file.len + 1);
	stacks = calloc(file.len / sizeof(**stacks) + 1, sizeof(*stacks));
	rewind(f);
	if (!file.at || !stacks || fread(file.at, 1, file.len, f) != file.len)
		bail_out(path);
	fclose(f);
	while ((rec = next_record(&file, &pos)))
		if (rec->type == MEMTAP_REC_STACK)
			stacks[nr_stacks++] = (const void *)rec;
}

static inline const char *why_cut(const struct memtap_rec_stack *st)
{
	size_t i;

	for (i = 0; i < NR_REASONS; i++)
		if (st->flags & reasons[i].flag)
			return reasons[i].name;
	return st->flags & MEMTAP_STACK_ROWS ? NULL : "no-rows";
}

#endif
