/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ALLOC_INT_H
#define _ALLOC_INT_H

#include "alloc/alloc.h"
#include "alloc/table.h"
#include "elf/symbols.h"

/*
 * wanted.c: the table's names, those with prefixes, and where Go's code
 * begins and ends.
 */
struct alloc_wanted {
	struct elfsym_names *set;
	const char **names;
	size_t *rows;			/* index of alloc_names, or these: */
	char *text;			/* names that were put together */
	size_t nr;
};

#define ROW_GO_FROM	(alloc_nr_names)
#define ROW_GO_TO	(alloc_nr_names + 1)

struct alloc_wanted *alloc_wanted_new(const struct alloc_opts *o);
void alloc_wanted_free(struct alloc_wanted *w);

/* A place of the file, and all that is known to begin there. */
struct alloc_found {
	__u64 offset, size;
	size_t row;			/* the best: index of alloc_names */
	__u32 events;			/* mask: index of alloc_events */
	const char *symbol;
	int spec;			/* index of alloc_opts.specs, or -1 */
};

/* A file while it is looked at. */
struct alloc_file {
	struct elfsym *e;
	int fd;
	const char *path;
	const struct alloc_opts *opts;
	const struct alloc_wanted *wanted;
	struct elfsym_kind kind;
	bool cxx_runtime;		/* its operator new calls malloc() */
	bool over_others;		/* what it takes back may be another's block, or a part */
	bool cxx_over_others;		/* so may what its operator delete does */
	struct alloc_found *at;
	size_t nr, room;
	__u64 go_from, go_to;
};

/* Events of the table, in the order in which they are joined: "free/delete". */
#define ALLOC_EVENTS	10
#define ALLOC_EVENT_NEW	5		/* the first of C++ */
extern const char *const alloc_events[ALLOC_EVENTS];

__u32 alloc_event_bit(const char *event);

/* probe.c */
int alloc_make_probe(const struct alloc_file *f, const struct alloc_found *at,
		     struct alloc_probes *probes);

#endif
