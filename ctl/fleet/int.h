/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FLEET_INT_H
#define _FLEET_INT_H

/* Shared by the files of this directory only. */
#include "base/arena.h"
#include "base/ids.h"
#include "core/wire.h"
#include "fleet/fleet.h"

/* What an address is, by names: one frame, or with those that were inlined there several. */
struct fplace {
	const char *at;			/* packed frames: see names.c */
	__u32 len;
};

/* Numbers below MEMTAP_STACK_FIRST mean what they do in a COUNTER. */
struct fstack {
	const __u32 *places;
	__u32 nr, flags;		/* MEMTAP_STACK_* */
};

struct ftask {
	__u32 host;
	__u32 flags;			/* MEMTAP_TASK_KTHREAD */
	__u32 cgroup;			/* its path: number of a text + 1; 0: not known */
	char comm[MEMTAP_COMM_LEN];
};

struct frow {
	__u32 event, flags, task, kstack, ustack;
	__u32 file;			/* number of a text + 1, or MEMTAP_FILE_* of FILE_KIND */
	__u32 allowed;
	__u32 ranged;			/* .least and .greatest are known */
	__u64 count;
	__s64 sum;
	double blocks, bytes;		/* of live memory: estimates, in place of these */
	__u64 max;
	__s64 least, greatest;
	__u64 *hist;			/* MEMTAP_HIST_BUCKETS, or NULL */
};

#define FILE_KIND	(1U << 31)

/* Where all that can become too much is. */
struct tables {
	struct arena arena;
	struct ids place_ids, stack_ids, task_ids, row_ids, text_ids;
	struct fplace *places;
	struct fstack *stacks;
	struct ftask *tasks;
	struct frow *rows;
	const char **texts;
	size_t room_places, room_stacks, room_tasks, room_rows, room_texts;
	size_t bytes;
};

/* What recordings are of. */
enum fkind { KIND_EVENTS, KIND_LIVE, KIND_OBJECTS, KIND_RESIDENT, NR_KINDS };


struct fnote {
	const char *text;		/* "foot=..." or "note=..." */
	__u64 files;
	bool counted;			/* it said in how many recordings */
};

struct fleet {
	struct fleet_opts o;
	struct tables t;
	struct arena arena;		/* what stays: names of hosts, notes */
	struct fleet_host *hosts;
	struct ids host_ids;
	struct snap_event *events;
	struct memtap_rec_hook *hooks;
	struct fnote *notes;
	struct known *known;		/* recordings that were added */
	struct ids known_ids;
	size_t room_hosts, nr_events, room_events, nr_hooks, room_hooks, nr_notes, room_notes,
	       room_known;
	struct memtap_rec_header header;
	struct memtap_rec_memory memory;
	const char *first;		/* path of the first recording, NULL: none yet */
	const char *title;		/* that all have; "": they differ */
	enum fkind kind;
	bool sampled;
	size_t folded;
	size_t peak;			/* bytes */
	__u64 kills, marks, lost_calls;	/* that the recordings have, and this has not */
	size_t more_notes;
};

/* names.c: numbers, or -ENOMEM */
__s64 fleet_place(struct tables *t, const char *at, __u32 len);
__s64 fleet_stack(struct tables *t, const __u32 *places, __u32 nr, __u32 flags);
__s64 fleet_task(struct tables *t, const struct ftask *task);
__s64 fleet_text(struct tables *t, const char *text);
/* NULL: no memory.  The row's numbers are those of @key if it is new. */
struct frow *fleet_row_of(struct tables *t, const struct frow *key);
__u64 *fleet_hist(struct tables *t, struct frow *row);
void fleet_tables_free(struct tables *t);
/* Pack @nr frames; @names: as they are compared.  The length, or -ENOMEM; @buf grows. */
struct packed {
	char *at;
	size_t len, room;
};
int fleet_pack(struct packed *p, const struct sym_frame *f, size_t nr, bool names);
/* The frame at *@pos of a place; *@pos becomes that of the next one, or the place's length. */
struct sym_frame fleet_unpack(const struct fplace *p, __u32 *pos);

/* fold.c: as little as max_mem allows; 0, -ENOMEM or -ENOSPC with a sentence */
int fleet_fit(struct fleet *f, char *why);
/* Add what @from has to @to, a row of the same key or another one. */
int fleet_row_add(struct tables *t, struct frow *to, const struct frow *from);

/* accounts.c: hosts, events, hooks, notes; -ENOMEM, -EINVAL with a sentence */
int fleet_check(struct fleet *f, const struct snap *s, const char *path, char *why);
int fleet_accounts(struct fleet *f, const struct snap *s, const __u32 *event_of);
__s64 fleet_host_of(struct fleet *f, const struct fleet_host *h);
__s64 fleet_event_of(struct fleet *f, const struct snap_event *e);
int fleet_notes_add(struct fleet *f, const struct snap *s);
int fleet_known(struct fleet *f, const struct snap *s);

extern const char *const fleet_kinds[NR_KINDS];
enum fkind fleet_kind_of(const struct snap *s);
/* The value of the first note "key=value", or NULL. */
const char *fleet_note(const struct snap *s, const char *key);

#endif
