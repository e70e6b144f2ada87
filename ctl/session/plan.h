/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PLAN_H
#define _PLAN_H

#include "uapi/memtap.h"
#include "elf/symbols.h"
#include "base/err.h"
#include "session/args.h"
#include "session/event.h"
#include "session/omitted.h"
#include "base/opt.h"

/*
 * Resolve what the user asked for to attachments.  Nothing is attached here, so that all errors in
 * names are reported before the first probe.  Functions that say so return an exit status, and
 * have printed the error.
 */
#define PLAN_WAYS	4

/*
 * What a command of ours asks for: the first of @ways that this kernel has.  The arguments
 * of each may be ?NAME: where that is not there, it is left out.
 */
struct plan_pick {
	const char *what;		/* for sentences: "direct reclaim" */
	const char *label;		/* for columns: "direct"; or NULL */
	const char *ways[PLAN_WAYS];	/* as on the command line */
	const char *value, *by, *filter;	/* or NULL */
	const char *needs[PLAN_WAYS];	/* functions, of which the kernel must have one, for an
					 * event of memtap's own; or none */
	__u32 unit;			/* of @value, MEMTAP_UNIT_*, where it is not told; or 0 */
	bool some;			/* of some kernels: others tell it by another pick */
};

struct plan_item {
	struct memtap_attach attach;
	bool optional;			/* one of many that a pattern matched */
	bool at_line;			/* of a source line, whose variables it has, */
	bool at_entry;			/* or where a function begins, whose arguments it has; */
	__u64 vaddr;			/* at this address of its file, */
	char in[96];			/* "in main" */
	bool borrowed;			/* its descriptor is that of an item before it */
	char text[256];			/* for messages */
	char *operands;			/* of a USDT probe, or NULL */
	struct args *args;		/* its arguments, or NULL */
	const struct plan_pick *pick;	/* what it is for, or NULL */
	char mark[MEMTAP_MARK_LEN];	/* that it sets, or "" */
};

struct plan {
	__u64 builtins;
	struct plan_item *items;	/* they move when one comes */
	size_t nr, room;
	struct omitted omitted;		/* of patterns: what cannot be probed */
	bool doubles;			/* what is asked for twice has different arguments */
};

/* Where names are looked up. */
struct plan_env {
	const struct memtap_event_info *events;
	__u32 nr_events;
	int dev;			/* that has them; -1: not open */
	const struct opt_nums *pids, *tids;
	char *const *argv;		/* of the program that is run */
	const char *program;		/* that will be launched, or NULL */
	bool force;			/* probe also where no boundary can be checked */
	struct args_ask ask;		/* of each event; its list is the event's own */
	char *lacks;			/* ARGS_ERR: where what the filter asks for is not there
					 * or wrong, why, and -ENODATA; or NULL: printed */
};

/* plan_add.c: add the events that @text names; returns an exit status, or -ENODATA. */
int plan_add(struct plan *p, const struct plan_env *env, const char *text);
/* The events of NAME=EVENT set a mark; @cmd has been told that NAME is good.  Exit status. */
int plan_mark(struct plan *p, const struct plan_env *env, const char *text);
void plan_free(struct plan *p);
/* Without the items from @first on. */
void plan_cut(struct plan *p, size_t first);

/*
 * plan_args.c: what the items from @first on have as arguments: @list, or what @env asks for.
 * Returns an exit status, or -ENODATA.
 */
int plan_args(struct plan *p, const struct plan_env *env, const char *list, size_t first);
/*
 * plan_pick.c: what this kernel has of @picks, which end with what is NULL.  What it has
 * not is told; an exit status where that is all of it.  Those that have not what the
 * command line's filter asks for are left out, which is told, too.
 */
int plan_picks(struct plan *p, const struct plan_env *env, const struct plan_pick *picks);

/*
 * plan_source.c: variables where @item is, from its file's debug information; *@s may be NULL: it
 * has no such place.  @p and @item stay where they are meanwhile.  Exit status.
 */
struct plan_source;
int plan_source_open(const struct plan *p, const struct plan_item *item, struct plan_source **s);
const struct args_program *plan_source_program(const struct plan_source *s);
void plan_source_close(struct plan_source *s);

/* Built-in events of which more is asked than counts become items. */
int plan_args_builtins(struct plan *p, const struct plan_env *env);
/* Those of @mask at once, with the arguments that @list names. */
int plan_args_builtin_list(struct plan *p, const struct plan_env *env, __u64 mask,
			   const char *list);
/* What the built-in event with the number @event tells; without an error: nothing. */
void plan_fields(int dev, __u32 event, const char *name, struct format *f);

/* Events in the session. */
size_t plan_nr(const struct plan *p);
/* Have events addresses of programs that are to be named? */
bool plan_names_users(const struct plan *p);
/* Are returns of functions in user space among them? */
bool plan_has_user_returns(const struct plan *p);

/* A built-in event's name, or a group's: a mask, 0 if there is none. */
__u64 plan_builtins(const struct plan_env *env, const char *name);

/*
 * plan_like.c: @name, or "NAME (did you mean OTHER?)" in @text: of built-in events, and of what
 * tracefs lists.
 */
#define PLAN_LIKE	300
const char *plan_like_builtin(const struct plan_env *env, const char *name, char text[PLAN_LIKE]);
const char *plan_like_known(enum err_op op, const char *name, char text[PLAN_LIKE]);

/* plan_user.c: kinds USER and USDT; -errno after printing, but silent -ENXIO:
 * nothing answers to this name of a file */
int plan_user(struct plan *p, const struct plan_env *env,
	      const struct event_spec *spec);

/* How many more events the session has room for. */
size_t plan_left(const struct plan *p);

/* @pattern matches @nr of @what, which are too many: a sentence; -E2BIG */
int plan_too_many(const struct plan *p, const char *pattern, size_t nr, const char *what);

/* A new item, until the next one comes; NULL when there are too many. */
struct plan_item *plan_new(struct plan *p, __u32 kind);

#endif
