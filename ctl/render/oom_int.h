/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_OOM_INT_H
#define _RENDER_OOM_INT_H

#include "render/oom.h"
#include "sym/sym.h"

/*
 * oom_stack.c: symbolizes the trigger's stacks.  The record is converted to a snapshot, because
 * the symbolizer reads snapshots.
 */
struct oom_stack {
	struct snap snap;
	struct memtap_rec_task task;
	struct snap_map maps[MEMTAP_OOM_FRAMES];
	struct snap_file files[MEMTAP_OOM_FILES];
	struct sym *sym;
	const struct memtap_oom_record *r;
	struct sym_frame bare;		/* without a symbolizer */
};

void oom_stack_init(struct oom_stack *s, const struct memtap_oom_record *r,
		    const struct oom_opts *o);
/* Frame @i, innermost first: its names, as from sym_kernel() and sym_user(). */
size_t oom_stack_kernel(struct oom_stack *s, __u32 i, const struct sym_frame **frames);
size_t oom_stack_user(struct oom_stack *s, __u32 i, const struct sym_frame **frames);

/* oom.c: parts of a report, which oom_log.c prints, too */
void oom_put_size(FILE *out, const char *before, __u64 bytes, const char *behind);
void oom_put_name(FILE *out, const struct memtap_oom_task *t);
/* Appends one item; begins a new line where this one is full. */
void oom_put_item(FILE *out, size_t *column, const char *name, __u64 bytes);
void oom_put_members(const struct memtap_oom_record *r, FILE *out);
void oom_put_why(const struct memtap_oom_record *r, FILE *out);
void oom_put_counters(const struct memtap_oom_record *r, size_t *column, FILE *out);
void oom_put_zones(const struct memtap_oom_record *r, FILE *out);

struct oom_log_kill;
/* oom_log.c: has the log sizes by which a cause can be named? */
bool oom_log_known(const struct oom_log_kill *k);

/* Is the trigger's user stack incomplete? */
bool oom_is_cut(const struct memtap_oom_record *r);
/* Why, by r->urest: "swapped-out", and as a sentence. */
const char *oom_rest_name(const struct memtap_oom_record *r);
const char *oom_rest_sentence(const struct memtap_oom_record *r);

struct json;

/* oom_json.c: writes the members of the object, which is open */
void oom_json(struct json *j, const struct memtap_oom_record *r, const struct oom_opts *o);
/* parts of it, of saved logs, too: a size if it is known; zones; charges of the cgroup */
void oom_json_known(struct json *j, const char *key, __u64 v);
void oom_json_zones(struct json *j, const struct memtap_oom_record *r);
void oom_json_charged(struct json *j, const struct memtap_oom_record *r);

#define OOM_HOLDERS	5

/* The largest, at most OOM_HOLDERS. */
size_t oom_holders(const struct machine_list *l, const struct machine_holder *to[OOM_HOLDERS]);

/* "killed", "chosen", "not killed" */
const char *oom_fate(const struct memtap_oom_record *r);

#endif
