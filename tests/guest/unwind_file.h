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
	nr_stacks = 0;
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

/* Records whose first field is their id, by type; sorted when first asked for. */
static struct by_id {
	const struct memtap_rec **at;
	size_t nr;
} ids[MEMTAP_REC_END];

static inline uint32_t id_of(const struct memtap_rec *rec)
{
	return *(const uint32_t *)(rec + 1);
}

static inline int cmp_ids(const void *a, const void *b)
{
	const uint32_t x = id_of(*(const struct memtap_rec *const *)a);
	const uint32_t y = id_of(*(const struct memtap_rec *const *)b);

	return (x > y) - (x < y);
}

static inline void sort_ids(struct by_id *l, uint32_t type)
{
	const struct memtap_rec *rec;
	size_t pos = 0;

	l->at = calloc(file.len / sizeof(*rec) + 1, sizeof(*l->at));
	if (!l->at)
		bail_out("memory");
	while ((rec = next_record(&file, &pos)))
		if (rec->type == type)
			l->at[l->nr++] = rec;
	qsort(l->at, l->nr, sizeof(*l->at), cmp_ids);
}

/* TASK, FILE, STACK, EVENT; NULL: there is none with this id. */
static inline const void *find_id(uint32_t type, uint32_t id)
{
	const uint32_t key[3] = { type, 0, id };
	const struct memtap_rec *rec = (const void *)key, **found;
	struct by_id *l = &ids[type];

	if (!l->at)
		sort_ids(l, type);
	found = bsearch(&rec, l->at, l->nr, sizeof(*l->at), cmp_ids);
	return found ? *found : NULL;
}

#endif
