/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HOOKS_H
#define _MEMTAP_HOOKS_H

#include <linux/list.h>
#include <linux/rcupdate.h>

#include "port/uapi.h"
#include "record/listen.h"
#include "record/recording.h"

struct file;
struct memtap_hook;
struct memtap_session;

/**
 * struct memtap_hook_ops - one way of hooking
 * @attach:	called under the hooks' lock; may sleep
 * @detach:	on return no handler of this hook runs and none will
 * @detach_many: the same of up to MEMTAP_HOOKS_AT_ONCE hooks, which wait for handlers once; or
 *		NULL
 * @missed:	times the kernel did not run our handler, or NULL
 * @destroy:	frees a hook that was made for a session, or NULL
 * @heed:	@more: somebody wants to know more than counts (see struct memtap_source);
 *		under the hooks' lock, of a hook that is attached; or NULL
 */
/* attach(): this kernel does without what the hook is for; that is no failure */
#define MEMTAP_NEEDS_NONE	(-ENODATA)

struct memtap_hook_ops {
	int (*attach)(struct memtap_hook *h);
	void (*detach)(struct memtap_hook *h);
	void (*detach_many)(struct memtap_hook *const *hs, u32 nr);
	u64 (*missed)(struct memtap_hook *h);
	void (*destroy)(struct memtap_hook *h);
	void (*heed)(struct memtap_hook *h, bool more);
};

/*
 * One attach point.  Attached while it has users; @state, @error and @target
 * say what became of it.  Everything but @source is under the hooks' lock.
 */
struct memtap_hook {
	struct list_head node;
	const struct memtap_hook_ops *ops;
	struct memtap_source source;
	u32 way;
	u32 state;
	u32 error;
	u32 left_out;			/* where it is attached: why not everywhere */
	u32 users;
	bool held;			/* one of them is the module, see memtap_hook_hold() */
	char event[MEMTAP_NAME_LEN];
	char target[MEMTAP_NAME_LEN];
};

/* What a built-in event has in its record. */
struct memtap_builtin_field {
	const char *name;
	u32 offset;
	u32 len;
	u32 type;			/* MEMTAP_TYPE_* */
	u32 flags;			/* MEMTAP_FIELD_* */
};

/* A built-in event and the hooks that serve it. */
struct memtap_builtin {
	const char *name;
	const char *group;
	const char *summary;
	u32 unit;
	u32 maps;			/* MEMTAP_HEAP_*: what it does to mappings, or 0 */
	bool follows;			/* who keeps live mappings wants to know of it */
	const struct memtap_builtin_field *fields;	/* the last one has no name; or NULL */
	u32 objects;			/* MEMTAP_HEAP_*: what it does to objects of the
					 * kernel, or 0 */
	u32 nr_hooks;
	struct memtap_hook *hooks[MEMTAP_EVENT_HOOKS];
};

extern const struct memtap_builtin *const memtap_builtins[];
extern const u32 memtap_nr_builtins;

int memtap_hooks_init(void);
void memtap_hooks_exit(void);

/*
 * Let @session's event @event hear of @h; attaches it if nobody did yet.
 * Returns 0 or why it cannot be attached.  After memtap_hook_leave() and a grace
 * period of RCU, no handler knows the session.
 */
int memtap_hook_join(struct memtap_hook *h, struct memtap_session *session,
		     u32 event, u32 depth, enum memtap_listens how);
void memtap_hook_leave(struct memtap_hook *h, struct memtap_session *session);
/* The same for up to MEMTAP_HOOKS_AT_ONCE joins; @hs is scratch afterwards. */
#define MEMTAP_HOOKS_AT_ONCE	64
void memtap_hooks_leave(struct memtap_hook **hs, u32 nr, struct memtap_session *session);

/* Attached from now on, also where no session wants it; 0 or why it cannot be. */
int memtap_hook_hold(struct memtap_hook *h);
void memtap_hook_release(struct memtap_hook *h);

/* Names a hook, gives it counters, and adds it to the list. */
int memtap_hook_add(struct memtap_hook *h, const char *event);
void memtap_hook_remove(struct memtap_hook *h);

u64 memtap_hook_missed(struct memtap_hook *h);

/* What is known of it now, in @out (its index is left alone). */
void memtap_hook_describe(struct memtap_hook *h, struct memtap_hook_state *out);

u32 memtap_nr_hooks(void);
/* Fills in @out from its index; -ENOENT past the end. */
int memtap_hook_info(struct memtap_hook_state *out);

/* What the steps of an event need from its hook. */
enum memtap_steps_read {
	MEMTAP_STEPS_NONE,		/* there are none */
	MEMTAP_STEPS_FACTS,		/* of a tracepoint: nothing */
	MEMTAP_STEPS_RECORD,		/* its arguments */
};

/*
 * generic.c: hooks made for a session's ATTACH; file: UPROBE's, HEAP's.
 * @a->event: which event of the session it will be.
 */
struct memtap_hook *memtap_generic_get(struct memtap_session *s,
				       const struct memtap_attach *a,
				       struct file *file, enum memtap_steps_read args);
/*
 * Gives back one; frees it when nobody has it any more.  That waits for handlers
 * of user probes, each time, unless all that go together were withdrawn, and then
 * waited for once.
 */
void memtap_generic_put(struct memtap_hook *h);
void memtap_generic_withdraw(struct memtap_hook *h);
void memtap_generic_sync(void);

/* perf.c: one counter of perf per online CPU, kept so across hotplug */
struct perf_event;
struct perf_event_attr;
struct memtap_perf {
	struct list_head node;
	struct perf_event **events;	/* nr_cpu_ids */
	void *handler;			/* perf_overflow_handler_t */
	struct memtap_hook *hook;
	u32 type;
	u64 config;
	bool raw;			/* with the tracepoint's record */
	u64 period;			/* events to an overflow; 0: each is one */
	bool freq;			/* it is how many overflows a second */
};

int memtap_perf_init(void);
void memtap_perf_exit(void);
int memtap_perf_attach(struct memtap_perf *p);
void memtap_perf_detach(struct memtap_perf *p);
/* CPUs that came online so far */
u64 memtap_perf_came(void);

/* fault.c, heap.c, shmem.c, shm.c, slab.c */
extern const struct memtap_builtin memtap_minor_fault, memtap_major_fault;
extern const struct memtap_builtin memtap_brk, memtap_mmap, memtap_mremap,
				   memtap_munmap, memtap_mprotect, memtap_madvise;
extern const struct memtap_builtin memtap_shmem;
/* populate.c */
extern const struct memtap_builtin memtap_populate;
/* reclaim.c */
extern const struct memtap_builtin memtap_direct_reclaim, memtap_memcg_reclaim,
				   memtap_compaction;
/* high.c */
extern const struct memtap_builtin memtap_memcg_high;
/* swap.c */
extern const struct memtap_builtin memtap_swap_wait;
/* oom.c */
extern const struct memtap_builtin memtap_oom_kill;
extern const struct memtap_builtin memtap_shmget, memtap_shmat, memtap_shmdt, memtap_shmctl,
				   memtap_memfd, memtap_seal, memtap_shm_create, memtap_shm_size;
extern const struct memtap_builtin memtap_kmalloc, memtap_kmem_cache_alloc, memtap_kfree,
				   memtap_kmem_cache_free;
/* pages.c, percpu.c, vmalloc.c */
extern const struct memtap_builtin memtap_page_alloc, memtap_page_free,
				   memtap_percpu_alloc, memtap_percpu_free,
				   memtap_vmalloc_alloc, memtap_vmalloc_free;

/* Running sessions; walk under rcu_read_lock().  session/ adds them. */
extern struct list_head memtap_running;

/* task.c: forks and ends of address spaces, while sessions run */
/*
 * *@maps: in, and changes of mappings are wanted; out, they are told.  @rows: there is
 * no doing without them.
 */
int memtap_task_hooks_get(bool rows, bool *maps);
void memtap_task_hooks_put(bool maps);

/*
 * death.c: MEMTAP_CFG_DEATHS, from START on, and at STOP when nobody is held any more.
 * Both sleep.  The last one: before the module goes.
 */
int memtap_death_hook_begin(struct memtap_session *s);
void memtap_death_hook_end(struct memtap_session *s);
void memtap_death_hook_exit(void);

/*
 * kprobes.c: take a probe away, for certain: where the kernel has not the memory to do so
 * it is tried for ten seconds.  False: it is still there, and must not be freed.  May sleep.
 * _disarm() is the part that may fail: after it the kernel's own unregister_kprobes() will not.
 */
struct kprobe;
struct kretprobe;
bool memtap_kprobe_disarm(struct kprobe *kp);
bool memtap_kprobe_unregister(struct kprobe *kp);
bool memtap_kretprobe_unregister(struct kretprobe *rp);

/* task.c: can this kernel unwind user stacks by rows?  0, or an errno.  May sleep. */
int memtap_rows_supported(void);

#endif
