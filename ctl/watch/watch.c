// SPDX-License-Identifier: GPL-2.0-or-later
/* A session from its beginning to its end; see watch/watch.h. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limit.h"
#include "session/seccomp.h"
#include "watch/watch.h"

#define BIG	(128 << 10)

const struct watch_ask watch_ask_leaks = {
	.events = { "mmap", "mremap", "munmap", "mprotect" },
	.stacks = MEMTAP_CFG_USTACK,
	.leaks = true,
};

void watch_init(struct watch *w)
{
	*w = (struct watch){ .session.fd = -1 };
	pthread_mutex_init(&w->reading, NULL);
}

int watch_begin_leaks(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		      const char *cmd)
{
	if (ask->objects || (!ask->leaks && !o->leaks))
		return 0;
	w->leaks = malloc(sizeof(*w->leaks));
	if (!w->leaks)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	/* what is freed is given back: snapshots are large, and seldom */
	mallopt(M_MMAP_THRESHOLD, BIG);
	mallopt(M_ARENA_MAX, 1);
	return leaks_begin(w->leaks, cmd, o);
}

static int add_events(struct plan *plan, const struct plan_env *env,
		      const char *const *names)
{
	int ret = 0;

	for (int i = 0; !ret && i < WATCH_EVENTS && names[i]; i++)
		ret = plan_add(plan, env, names[i]);
	return ret;
}

static int add_objects(struct plan *plan, const struct plan_env *env, const struct opts *o)
{
	const char *events[WATCH_EVENTS] = { NULL };

	watch_objects_events(o, events);
	return add_events(plan, env, events);
}

/* Of the kernel's own memory; the tool knows which those are. */
static bool is_kernels(const char *group)
{
	static const char *const groups[] = { "slab", "pages", "percpu", "vmalloc" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(group, groups[i]))
			return true;
	return false;
}

/*
 * What is meant by everything: what something grows by, but not the kernel's own objects,
 * which are by far more; calls that are only counted are asked for.
 */
static __u64 usual_events(const struct session *s)
{
	__u64 mask = 0;

	for (__u32 i = 0; i < s->nr_events && i < 64; i++)
		if (s->events[i].unit != MEMTAP_UNIT_NONE &&
		    !is_kernels(s->events[i].group))
			mask |= 1ULL << i;
	return mask;
}

static __u64 event_mask(const struct session *s, const char *name)
{
	for (__u32 i = 0; i < s->nr_events && i < 64; i++)
		if (!strcmp(s->events[i].name, name))
			return 1ULL << i;
	return 0;
}

/* What: the events that are to be attached. */
static struct plan_env plan_env(const struct watch *w, const struct watch_ask *ask,
				const struct opts *o, const struct targets *targets)
{
	return (struct plan_env){
		.events = w->session.events,
		.nr_events = w->session.nr_events,
		.dev = w->session.fd,
		.pids = targets->pids,
		.tids = targets->tids,
		.program = targets_program(targets),
		.argv = targets->argv,
		.force = o->force,
		.ask = {
			.filter = o->filter,
			.value = o->value ? o->value : ask->value,
			.by = o->by_arg,
			.hist = ask->hist,
			.linear = o->linear,
			.string_size = o->string_size,
			.all = ask->each,
			.latency = o->latency,
		},
	};
}

/* Has the kernel a symbol of this name, or with a suffix of the compiler's?  Unknown: yes. */
static bool kernel_has(const char *name)
{
	const size_t len = strlen(name);
	bool found = false, any = false;
	char line[640], symbol[512];
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*c %511s", symbol) == 1) {
			any = true;
			found = !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '.');
		}
	if (f)
		fclose(f);
	return found || !any;
}

static int event_exists(const struct plan_env *env, struct plan *plan, const char *text)
{
	struct event_spec spec;

	if (!event_parse(text, &spec) && spec.kind == EVENT_BUILTIN)
		return 0;
	if (!event_parse(text, &spec) && spec.kind == EVENT_KERNEL && !strpbrk(text, "*?[(") &&
	    !kernel_has(spec.name))
		return fail(ERR_FUNCTION, ENOENT, "%s", spec.name);
	return plan_add(plan, env, text);
}

/*
 * Without the module: events of the command line that are not there are said to be missing
 * before the module is.  The built-in ones are known to the module alone.
 */
static int events_exist(const struct watch *w, const struct watch_ask *ask, const struct opts *o,
			const struct targets *targets)
{
	const struct plan_env env = plan_env(w, ask, o, targets);
	struct plan plan = { .nr = 0 };
	int ret = 0;

	for (size_t i = 0; !ret && i < o->args.nr; i++)
		ret = event_exists(&env, &plan, o->args.at[i]);
	plan_free(&plan);
	return ret;
}

/* What an event's values are. */
struct value_kind {
	const char *event;
	__u32 unit;
	bool log2;
};

static int same_kind(struct value_kind *first, const struct value_kind *k)
{
	if (!first->event)
		*first = *k;
	if (first->unit == k->unit && first->log2 == k->log2)
		return 0;
	fail_text("--joint: the values of %s and %s are not of one kind", first->event, k->event);
	return EXIT_USAGE;
}

/* One histogram has values of one unit, with or without a sign. */
static int check_joint(const struct plan *plan, const struct plan_env *env)
{
	struct value_kind first = { .event = NULL };
	int ret = 0;

	for (__u32 i = 0; !ret && i < env->nr_events && i < 64; i++)
		if (plan->builtins >> i & 1)
			ret = same_kind(&first, &(struct value_kind){
				.event = env->events[i].name, .unit = env->events[i].unit });
	for (size_t i = 0; !ret && i < plan->nr; i++) {
		const struct plan_item *item = &plan->items[i];

		ret = same_kind(&first, &(struct value_kind){
			.event = item->text, .unit = item->attach.value_unit,
			.log2 = item->args && item->args->log2 });
	}
	return ret;
}

static int choose_events(const struct watch *w, const struct watch_ask *ask,
			 const struct opts *o, const struct targets *targets, struct plan *plan)
{
	const struct plan_env env = plan_env(w, ask, o, targets);
	int ret = 0;

	for (size_t i = 0; !ret && i < o->marks.nr; i++)
		ret = plan_mark(plan, &env, o->marks.at[i]);
	if (ret)
		return ret;
	if (w->leaks)
		return o->no_mappings ? 0 : add_events(plan, &env, watch_ask_leaks.events);
	for (size_t i = 0; !ret && i < o->args.nr; i++)
		ret = plan_add(plan, &env, o->args.at[i]);
	if (!ret && !o->args.nr) {
		if (ask->all_events && !ask->objects)
			plan->builtins = usual_events(&w->session);
		else if (ask->picks)
			ret = plan_picks(plan, &env, ask->picks);
		else if (ask->objects && !ask->rates)
			ret = add_objects(plan, &env, o);
		else
			ret = add_events(plan, &env, ask->events);
	}
	if (!ret)
		ret = plan_args_builtins(plan, &env);
	return !ret && o->joint ? check_joint(plan, &env) : ret;
}

static int check_returns(const struct watch *w, const struct targets *targets,
			 const struct plan *plan)
{
	if (!plan_has_user_returns(plan))
		return 0;
	return seccomp_check(targets->items, targets->nr_items, w->session.info.features,
			     targets->target.pid, "u: is safe, and ur: for others (-p PID)");
}

static int attach_leaks(struct watch *w, const struct targets *targets)
{
	struct leaks_run *r = w->leaks;
	int ret;

	if (!r)
		return 0;
	if (!(w->session.info.features & MEMTAP_FEATURE_LIVE))
		return fail_text("the loaded module does not record live blocks; load the module "
				 "of this version");
	r->dev = w->session.fd;
	r->features = w->session.info.features;
	r->items = targets->items;
	r->nr_items = targets->nr_items;
	r->program = targets_program(targets);
	r->rows = w->rows.wanted;
	r->tables = &w->rows.tables;
	r->reading = &w->reading;
	ret = leaks_look_begin(r, targets->target.pid);
	return ret ? ret : leaks_prepare(r);
}

int watch_start(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		struct targets *targets, struct plan *plan, const char *cmd)
{
	__u64 droppable = w->leaks || (ask->all_events && !o->args.nr) ? ~0ULL : 0;
	int ret;

	watch_name_begin(w, targets);
	ret = targets_exist(targets);
	if (!ret && access(MEMTAP_DEVICE, F_OK))
		ret = events_exist(w, ask, o, targets);
	if (ret)
		return ret;
	ret = ask->objects ? watch_objects_find(w, o, ask->rates, cmd) : 0;
	if (!ret)
		ret = session_open(&w->session);
	if (!ret)
		ret = choose_events(w, ask, o, targets, plan);
	if (!ret)
		ret = targets_filter(targets, w->session.info.features, cmd);
	if (!ret)
		ret = check_returns(w, targets, plan);
	if (!ret)
		ret = watch_configure(w, ask, o, targets, plan, cmd);
	if (!ret && ask->objects)
		ret = watch_objects_choose(w);
	if (!ret)
		ret = session_attach(&w->session, plan);
	if (!ret)
		watch_rows_prepare(w, targets);
	if (!ret)
		ret = attach_leaks(w, targets);
	if (!ret && ask->rss)
		ret = watch_rss_attach(w, targets);
	/* what calls bring in is then said to have come without a fault */
	if (ask->rss)
		droppable |= event_mask(&w->session, "populate");
	/* of group reclaim: older kernels have no such sleep */
	droppable |= event_mask(&w->session, "memcg-high");
	if (!ret)
		ret = session_start(&w->session, &w->config, droppable);
	if (!ret)
		watch_shmem_begin(w);
	if (!ret && ask->objects)
		watch_objects_begin(w);
	if (!ret && ask->huge)
		watch_huge_begin(w);
	if (!ret && ask->rss)
		ret = watch_rss_begin(w, targets, o);
	if (!ret)
		ret = watch_stale_begin(w, targets, o);
	return ret;
}

void watch_jitmaps(struct watch *w, const struct targets *targets, const struct opts *o)
{
	if (!(w->config.flags & MEMTAP_CFG_USTACK))
		return;
	w->jvm_maps = o->jvm_maps;
	w->jitmaps = jitmaps_start(targets->items, targets->nr_items, targets->children);
	if (!w->jitmaps)
		note("names of JIT-compiled code are not read: cannot create a thread");
}

void watch_serve(struct watch *w)
{
	const struct serve_hooks hooks = w->rss ? watch_rss_hooks(w) :
		(struct serve_hooks){ leaks_see_file, leaks_look, w->leaks };
	const bool hooked = w->leaks || w->rss;
	struct watch_rows *r = &w->rows;

	if (!r->wanted && !hooked)
		return;
	r->serve = serve_start(&r->tables, r->wanted, hooked ? &hooks : NULL);
	if (!r->serve)
		note("cannot follow new mappings: cannot create a thread");
}

void watch_look(struct watch *w, const struct target *launched)
{
	if (w->leaks)			/* rss looks when it does */
		watch_stale_look(w);
	if (w->leaks && launched->ended)	/* its end said more */
		leaks_look_forget(w->leaks);
	else if (w->leaks)
		leaks_look_live(w->leaks, launched->pid);
	watch_rss_look(w);
}

/* A snapshot may be as large as the session's tables. */
static int read_snapshot(struct watch *w, struct snap **s, char why[256])
{
	int err;

	pthread_mutex_lock(&w->reading);
	limit_oom_first(true);
	err = snap_from_fd(w->session.fd, s, why);
	limit_oom_first(false);
	pthread_mutex_unlock(&w->reading);
	return err;
}

int watch_peek(struct watch *w, struct snap **s)
{
	char why[256];
	int err;

	err = read_snapshot(w, s, why);
	return err;
}

void watch_known(struct watch *w, struct snap *s)
{
	watch_paths(w, s);
	watch_name(w, s);
	watch_files(w, s);
}

int watch_snapshot(struct watch *w, struct snap **s)
{
	char why[256];
	int err;

	err = read_snapshot(w, s, why);
	if (!err && w->rss && watch_rss_join(w, s))
		return EXIT_FAILURE;
	if (!err)
		watch_known(w, *s);
	if (!err && w->leaks)
		err = leaks_set_kinds(w->leaks, *s);
	if (!err && w->leaks)
		err = leaks_set_followed(w->leaks, *s);
	if (!err && w->leaks)
		err = leaks_set_resident(w->leaks, *s);
	if (!err && w->leaks)
		err = watch_stale_blocks(w, *s);
	return err ? fail_text("reading the counters: %s", why) : 0;
}

__u32 watch_event(const struct snap *s, const struct plan_item *item)
{
	const struct snap_event *e;

	if (!item->args)
		return MEMTAP_MAX_EVENTS;
	if (item->attach.kind != MEMTAP_ATTACH_BUILTIN)
		return item->attach.way && item->attach.event < MEMTAP_MAX_EVENTS ?
		       item->attach.event : MEMTAP_MAX_EVENTS;
	e = snap_builtin(s, item->attach.name);
	return e && e->id < MEMTAP_MAX_EVENTS ? e->id : MEMTAP_MAX_EVENTS;
}

int watch_stop(struct watch *w)
{
	const char *why;
	int err;

	serve_stop(w->rows.serve);
	err = dev_stop(w->session.fd);
	why = jitmaps_stop(w->jitmaps, w->jvm_maps);
	if (why)
		note("%s", why);
	return err ? fail(ERR_READ, err, "%s", "stopping") : 0;
}

void watch_close(struct watch *w, const struct targets *targets, const struct snap *last)
{
	jitmaps_stop(w->jitmaps, false);
	watch_rows_end(&w->rows, targets, last);
	session_close(&w->session);
}

void watch_end_leaks(struct watch *w, const struct snap *last)
{
	if (!w->leaks)
		return;
	leaks_verify(w->leaks, last);
	leaks_free(w->leaks);
	free(w->leaks);
	w->leaks = NULL;
}
