// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the accounts of all sessions, and the live blocks that they keep, by process. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/dev.h"
#include "session/module.h"
#include "session/others.h"

#define ROWS	256			/* that are asked for at first */

/* @rows grows until all fit; -ENOENT: there is no other session. */
static int next(int fd, struct memtap_other *other, struct memtap_other_row **rows, __u32 *room)
{
	const __u32 after = other->nr;

	for (;;) {
		struct memtap_other_row *more;
		int err;

		*other = (struct memtap_other){ .nr = after, .nr_rows = *room,
						.rows_ptr = (uintptr_t)*rows };
		err = dev_other(fd, other);
		if (err || other->nr_rows <= *room || *room == MEMTAP_MAX_OTHER_ROWS)
			return err;
		/* (there may be more of them the next time) */
		*room = other->nr_rows > MEMTAP_MAX_OTHER_ROWS / 2 ? MEMTAP_MAX_OTHER_ROWS :
			2 * other->nr_rows;
		more = reallocarray(*rows, *room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		*rows = more;
	}
}

static int add(struct others *o, const struct memtap_other *other,
	       const struct memtap_other_row *rows, __u32 room)
{
	const size_t nr = other->nr_rows < room ? other->nr_rows : room;
	struct memtap_other *at = reallocarray(o->at, o->nr + 1, sizeof(*at));
	struct memtap_other_row *all;

	if (!at)
		return -ENOMEM;
	o->at = at;
	at[o->nr++] = *other;
	at[o->nr - 1].comm[MEMTAP_COMM_LEN - 1] = '\0';
	o->unread += !!(other->flags & (MEMTAP_OTHER_HIDDEN | MEMTAP_OTHER_BUSY));
	if (!(other->flags & MEMTAP_OTHER_LIVE))
		return 0;
	o->following++;
	o->sampling += other->sample_bytes || other->sample_rate > 1;
	all = reallocarray(o->rows, o->nr_rows + nr + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	o->rows = all;
	for (size_t i = 0; i < nr; i++) {
		all[o->nr_rows] = rows[i];
		all[o->nr_rows++].comm[MEMTAP_COMM_LEN - 1] = '\0';
	}
	return 0;
}

/* By process, and of each the one first that knows most. */
static int by_pid(const void *a, const void *b)
{
	const struct memtap_other_row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

static void merge(struct others *o)
{
	size_t kept = 0;

	if (o->nr_rows)
		qsort(o->rows, o->nr_rows, sizeof(*o->rows), by_pid);
	for (size_t i = 0; i < o->nr_rows; i++)
		if (!kept || o->rows[kept - 1].pid != o->rows[i].pid)
			o->rows[kept++] = o->rows[i];
	o->nr_rows = kept;
}

int others_read(struct others *o)
{
	struct memtap_other_row *rows = calloc(ROWS, sizeof(*rows));
	struct memtap_other other = { 0 };
	__u32 room = ROWS;
	int fd, err;

	memset(o, 0, sizeof(*o));
	if (!rows)
		return -ENOMEM;
	err = dev_open(&fd);
	if (err) {
		free(rows);
		o->loaded = module_loaded();
		return o->loaded ? err : 0;
	}
	o->loaded = true;
	while (!err) {
		err = next(fd, &other, &rows, &room);
		if (!err)
			err = add(o, &other, rows, room);
	}
	close(fd);
	free(rows);
	merge(o);
	return err == -ENOENT ? 0 : err;
}

void others_free(struct others *o)
{
	free(o->at);
	free(o->rows);
	memset(o, 0, sizeof(*o));
}
