// SPDX-License-Identifier: GPL-2.0-or-later
/* Build a file's unwind table from its call frame information. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/debug.h"
#include "unwind/int.h"
#include "core/unwindtab.h"

#define BUDGET	(1ULL << 30)	/* instructions of CFI; the largest files have 2^25 */

static int add_section(struct unwind_maker *m, Elf *elf,
		       bool (*find)(Elf *elf, struct unwind_section *s))
{
	struct unwind_section s;

	return find(elf, &s) ? unwind_frame_section(m, &s) : 0;
}

/* A separate debug file, found by the file's build id. */
static int add_debug_file(struct unwind_maker *m)
{
	int fd, err = 0;
	Elf *debug = elf_debug_open(m->elf.elf, &fd);

	if (debug)
		err = add_section(m, debug, unwind_elf_debug_frame);
	elf_debug_close(debug, fd);
	return err;
}

static int add_cfi(struct unwind_maker *m)
{
	int err = add_section(m, m->elf.elf, unwind_elf_eh_frame);

	if (!err)
		err = add_section(m, m->elf.elf, unwind_elf_debug_frame);
	return err ? err : add_debug_file(m);
}

static int add_code(struct unwind_maker *m)
{
	int err = unwind_gap_patterns(m);

	if (!err)
		err = unwind_start_scan(m);
	return err ? err : unwind_gap_entry(m);
}

/* In the order in which they are believed: each sees the gaps that are left. */
static const struct {
	enum unwind_layer layer;
	int (*add)(struct unwind_maker *m);
} sources[] = {
	{ UNWIND_KNOWN, unwind_go_known },
	{ UNWIND_EH_FRAME, add_cfi },
	{ UNWIND_DEBUG_FRAME, NULL },
	{ UNWIND_CODE, add_code },
	{ UNWIND_FRAMES, unwind_fp_gaps },
};

static int add_all(struct unwind_maker *m)
{
	int err = 0;

	m->go = unwind_go_is(m->elf.elf);
	for (size_t i = 0; !err && i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (sources[i].add)
			err = sources[i].add(m);
		if (!err)
			err = unwind_rows_fill(&m->rows, sources[i].layer);
	}
	return err;
}

/* What of [start, end) lies in executable segments. */
static __u64 in_code(const struct unwind_elf *e, __u64 start, __u64 end)
{
	__u64 sum = 0;

	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct unwind_segment *s = &e->segments[i];
		const __u64 low = start > s->start ? start : s->start;
		const __u64 high = end < s->end ? end : s->end;

		sum += low < high ? high - low : 0;
	}
	return sum;
}

static void count_coverage(const struct unwind_elf *e, struct unwind_table *t)
{
	struct unwind_coverage *c = &t->coverage;

	c->bytes = in_code(e, 0, ~0ULL);
	for (__u32 i = 0; i < t->nr_rows; i++) {
		const __u8 kind = t->rules[t->kinds[i]].kind;
		const __u64 end = i + 1 < t->nr_rows ? t->rows[i + 1] : ~0ULL;

		if (kind == MEMTAP_RULE_GAP)
			continue;
		if (kind == MEMTAP_RULE_NONE) {
			c->none += in_code(e, t->rows[i], end);
			c->none_rows++;
		} else {
			c->covered += in_code(e, t->rows[i], end);
		}
	}
}

/* Takes over what m->elf is. */
static int make(struct unwind_maker *m, struct unwind_table *t)
{
	int err;

	memset(t, 0, sizeof(*t));
	m->budget = BUDGET;
	err = unwind_rows_init(&m->rows);
	if (!err)
		err = add_all(m);
	if (!err)
		err = unwind_rows_finish(&m->rows, t);
	t->coverage = m->coverage;
	if (!err)
		count_coverage(&m->elf, t);
	else
		unwind_free(t);
	unwind_rows_free(&m->rows);
	unwind_elf_close(&m->elf);
	return err;
}

int unwind_compile(int fd, struct unwind_table *t)
{
	struct unwind_maker m = { 0 };
	int err = unwind_elf_open(fd, &m.elf);

	return err ? err : make(&m, t);
}

int unwind_vdso(struct unwind_table *t)
{
	struct unwind_maker m = { 0 };
	int err = unwind_elf_open_vdso(&m.elf);

	return err ? err : make(&m, t);
}

bool unwind_is_sound(const struct unwind_table *t)
{
	const struct unwindtab tab = {
		.nr_rows = t->nr_rows,
		.nr_rules = t->nr_rules,
		.rows = t->rows,
		.kinds = t->kinds,
		.rules = t->rules,
	};

	return !unwindtab_check(&tab);
}

void unwind_free(struct unwind_table *t)
{
	free(t->rows);
	free(t->kinds);
	free(t->rules);
	t->rows = NULL;
	t->kinds = NULL;
	t->rules = NULL;
	t->nr_rows = 0;
	t->nr_rules = 0;
}

const struct memtap_rule *unwind_find(const struct unwind_table *t, __u64 offset, __u32 *row)
{
	const struct memtap_rule *rule;
	__u32 low = 0, high = t->nr_rows;

	while (low < high) {
		const __u32 middle = low + (high - low) / 2;

		if (t->rows[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	*row = low ? low - 1 : 0;
	if (!low)
		return NULL;
	rule = &t->rules[t->kinds[low - 1]];
	return rule->kind == MEMTAP_RULE_GAP ? NULL : rule;
}
