/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_ROWS_H
#define _MACHINE_ROWS_H

#include "machine/machine.h"

/*
 * A machine as tables of rows, for code that stores it: a row is two texts and some numbers.
 * Tables and numbers have names that stay, so that another version of memtap can read them.
 */
enum rows_table {
	ROWS_SUMS,		/* one row: what is no list */
	ROWS_PROCESSES, ROWS_CGROUPS, ROWS_SLABS, ROWS_CALLERS, ROWS_TMPFS, ROWS_SWAPS,
	ROWS_NODES, ROWS_DELETED, ROWS_ZOMBIES, ROWS_ZONES, ROWS_KILLS, ROWS_GAPS,
	NR_ROWS_TABLES
};

#define ROWS_NUMBERS	256		/* in a row, at most */

struct rows_row {
	const char *text[2];		/* never NULL; they live as long as the machine */
	__u64 v[ROWS_NUMBERS];
};

const char *rows_table_name(enum rows_table t);
/* Number @i of a row: its name; NULL: there are no more. */
const char *rows_number_name(enum rows_table t, size_t i);
size_t rows_numbers(enum rows_table t);

size_t rows_nr(const struct machine *m, enum rows_table t);
void rows_get(const struct machine *m, enum rows_table t, size_t i, struct rows_row *r);
/* Is @i of @m the same process, cache ... as @r, whatever its numbers are? */
bool rows_same(const struct machine *m, enum rows_table t, size_t i, const struct rows_row *r);
/* One more at the end.  -ENOMEM, -E2BIG: there is no room for so many. */
int rows_add(struct machine *m, enum rows_table t, const struct rows_row *r);

#endif
