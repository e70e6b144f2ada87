/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WATCH_H
#define _WATCH_H

#include <pthread.h>

#include "base/opt.h"
#include "leaks/run.h"
#include "machine/machine.h"
#include "session/plan.h"
#include "leaks/similar.h"
#include "session/session.h"
#include "snap/snap.h"
#include "sym/jitmaps.h"
#include "target/targets.h"
#include "unwind/tables.h"

/*
 * Run a recording from the user's question to its snapshots.  The question becomes targets (struct
 * whom), events (struct plan) and settings (struct memtap_config), then a running session, which
 * keeps only what it needs.  Functions return an exit status, and have printed the error, unless
 * they say otherwise.
 */
#define WATCH_EVENTS	8

/* What a command asks of the module. */
struct watch_ask {
	const char *events[WATCH_EVENTS];	/* none: the command line has them */
	__u32 stacks;				/* MEMTAP_CFG_[UK]STACK */
	bool files;				/* tell apart the files that events are about */
	bool all_events;			/* every built-in one by default */
	bool leaks;				/* live blocks instead of counts */
	bool each;				/* single events, with all that they have */
	bool hist;				/* of values */
	bool keep_hists;			/* of those events that have a value */
	const struct plan_pick *picks;		/* events by the kernel's names, or NULL */
	const char *value;			/* unless --value says it */
	bool huge;				/* beside the kernel's own counts of them */
	bool fields;				/* what built-in events tell of themselves */
	bool objects;				/* of the kernel, instead of counts */
	bool rates;				/* of them: only how many come and go */
	bool rss;				/* what is resident, instead of counts */
};

extern const struct watch_ask watch_ask_leaks;

/* Tables of rows: those that the session has, and who hands in more. */
struct watch_rows {
	bool wanted;			/* MEMTAP_CFG_ROWS */
	struct tables tables;
	struct serve *serve;		/* or NULL */
};

/* Where a file that an event is about is found; of the session's id. */
struct watch_path {
	struct watch_path *next;
	__u32 id;
	char *path;
};

/* A session that runs. */
struct watch {
	struct session session;
	struct memtap_config config;	/* as it runs */
	struct watch_rows rows;
	struct leaks_run *leaks;	/* or NULL: live blocks are kept */
	struct jitmaps *jitmaps;	/* or NULL: there are no user stacks, or no thread */
	bool jvm_maps;			/* JVMs are asked for theirs */
	pthread_mutex_t reading;	/* snapshots: one stream for all threads */
	char *real_path, *started_path;	/* of the program's file; NULL: they are the same */
	struct watch_path *paths;
	struct machine_fields *huge_then;	/* or NULL */
	__u64 shmem_then;		/* of the machine, bytes; 0: not known */
	struct memtap_objects objects;	/* which of the kernel's are kept */
	const char *module;		/* those of its code; or NULL */
	__u64 module_base;		/* where it was found */
	struct machine *machine_then;	/* of the kernel's objects; or NULL */
	struct watch_rss *rss;		/* what is resident; or NULL */
	struct similar similar;		/* --similar */
	struct watch_stale *stale;	/* --stale; or NULL */
};

/* Before the first of what follows: nothing is open. */
void watch_init(struct watch *w);
/* Where @ask is about live blocks (or @o, of a recording): what that needs. */
int watch_begin_leaks(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		      const char *cmd);
/* From opening the device to MEMTAP_START; fills in @plan and the filter of @whom. */
int watch_start(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		struct targets *targets, struct plan *plan, const char *cmd);
/* A thread that hands in tables of what is mapped from now on. */
void watch_serve(struct watch *w);
/* One that keeps the names which JIT compilers leave of their code. */
void watch_jitmaps(struct watch *w, const struct targets *targets, const struct opts *o);
/* --unreachable: what can be reached now, for the next snapshot. */
void watch_look(struct watch *w, const struct target *launched);
/* What the session has by now. */
int watch_snapshot(struct watch *w, struct snap **s);
/* Paths and names as people know them, in what was made of a snapshot (snap_part()). */
void watch_known(struct watch *w, struct snap *s);
/* What the module has and nothing else; says nothing. */
int watch_peek(struct watch *w, struct snap **s);
/*
 * Which event of the session an item that has arguments is; MEMTAP_MAX_EVENTS: none, it was
 * left out.
 */
__u32 watch_event(const struct snap *s, const struct plan_item *item);
/* MEMTAP_STOP. */
int watch_stop(struct watch *w);
/*
 * All probes are gone afterwards.  @last: what was seen, for the next time, or NULL.
 * What w->leaks has stays until watch_end_leaks().
 */
void watch_close(struct watch *w, const struct targets *targets, const struct snap *last);
void watch_end_leaks(struct watch *w, const struct snap *last);

/* config.c: how: the configuration.  @plan and the filter are made. */
int watch_configure(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		    const struct targets *targets, const struct plan *plan, const char *cmd);

/* rows.c: how user stacks are followed */
void watch_rows_prepare(struct watch *w, const struct targets *targets);
void watch_rows_end(struct watch_rows *r, const struct targets *targets, const struct snap *last);

/* name.c: the program goes by the name it was started by, as long as @w is there */
void watch_name_begin(struct watch *w, const struct targets *targets);
void watch_name(const struct watch *w, struct snap *s);
void watch_name_end(struct watch *w);

/* files.c: paths as people know them, in a snapshot that does not outlive them */
void watch_files(struct watch *w, struct snap *s);
void watch_paths(struct watch *w, struct snap *s);
void watch_files_end(struct watch *w);

/*
 * reconcile.c: compare with what the launched program's own counters say: a line for the
 * foot; false: there is nothing to compare, or with @quiet no difference.
 */
bool watch_reconcile(const struct watch *w, const struct targets *targets, const struct snap *s,
		     bool quiet, char *line, size_t len);
/*
 * objects.c: of the kernel's objects: which are kept (@all_pages: as --all-pages says), found
 * out before anything is open, and
 * told to the module (exit status); what /proc says when the session starts; and what it says
 * now, in lines for the foot: how many.
 */
int watch_objects_find(struct watch *w, const struct opts *o, bool all_pages, const char *cmd);
int watch_objects_choose(struct watch *w);
/* Is there such an order of pages?  The mask of it alone, where @orders is not NULL. */
int watch_objects_order(const char *cmd, __u32 order, __u32 *orders);
/* Groups of events that are followed, and how many. */
int watch_objects_events(const struct opts *o, const char *events[WATCH_EVENTS]);
void watch_objects_begin(struct watch *w);
#define WATCH_OBJECTS_LINES	20
#define WATCH_OBJECTS_TEXT	512
size_t watch_objects_footer(const struct watch *w, const struct snap *s,
			    char (*lines)[WATCH_OBJECTS_TEXT]);
void watch_objects_end(struct watch *w);

/* similar.c: --similar, while the session runs; of objects that are so old. */
void watch_similar(struct watch *w, __u64 older_ms);

/* huge.c: what the kernel counts of huge pages, in lines for the foot: how many. */
void watch_huge_begin(struct watch *w);
#define WATCH_HUGE_LINES	4
size_t watch_huge(const struct watch *w, char (*lines)[WATCH_OBJECTS_TEXT]);
void watch_huge_end(struct watch *w);

/*
 * rss.c: what is resident of whom, when the session starts (exit status) and now, for the next
 * snapshot, which is then what there is instead of what was counted; and lines for the foot.
 */
int watch_rss_attach(struct watch *w, const struct targets *targets);	/* before it starts */
struct serve_hooks watch_rss_hooks(struct watch *w);
int watch_rss_begin(struct watch *w, const struct targets *targets, const struct opts *o);
void watch_rss_look(struct watch *w);
int watch_rss_join(struct watch *w, struct snap **s);
/* rss_heap.c: what of the memory that is there malloc of glibc holds, and nobody uses */
struct watch_rss_heap {
	size_t arenas, unknown;		/* found; processes where they were not */
	__u64 used, free;			/* bytes that are there */
	size_t with_free;			/* arenas that have some */
	__u64 most;				/* of one */
	bool changed;				/* some were used meanwhile: about so much, and */
	__u64 missing;				/* so many bytes in neither */
	bool unmapped;				/* without blocks that have their own mappings */
	const char *why;			/* of one of @unknown */
};

struct rss_process;
/* Adds what @p has. */
void watch_rss_heap(struct watch_rss_heap *to, const struct rss_process *p, unsigned int page);
/*
 * rss_held.c: --retained: what its pages have, into .named; it is stopped meanwhile.  Into @why a
 * line for the foot: that, or why it is not known.
 */
void watch_rss_held(struct rss_process *p, const struct opts *o, unsigned int page, char *why,
		    size_t len);
size_t watch_rss_footer(const struct watch *w, char (*lines)[WATCH_OBJECTS_TEXT]);
void watch_rss_end(struct watch *w);

/*
 * stale.c: --stale, from the session's start (exit status): when pages are to be asked again
 * (0: never), that, and before a report; is this page stale; how long blocks have not been
 * used, in a snapshot (-ENOMEM); and lines for the foot.
 */
int watch_stale_begin(struct watch *w, const struct targets *targets, const struct opts *o);
__u64 watch_stale_next(const struct watch *w);
void watch_stale_tick(struct watch *w, const struct targets *targets);
void watch_stale_look(struct watch *w);
bool watch_stale_is(const struct watch *w, pid_t pid, __u64 page);
int watch_stale_blocks(const struct watch *w, struct snap *s);
#define WATCH_STALE_LINES	2
size_t watch_stale_footer(const struct watch *w, char (*lines)[WATCH_OBJECTS_TEXT]);
void watch_stale_end(struct watch *w);

/* Shmem of /proc/meminfo: once when the session starts, and for a line of the foot. */
void watch_shmem_begin(struct watch *w);
bool watch_shmem(const struct watch *w, const struct snap *s, char *line, size_t len);

#endif
