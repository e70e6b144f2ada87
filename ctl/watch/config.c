// SPDX-License-Identifier: GPL-2.0-or-later
/* Build the module's configuration from the command's settings. */
#include <unistd.h>

#include "base/err.h"
#include "watch/watch.h"

#define OBJECT_STACKS	(12ULL << 20)	/* 50 000 stacks of 28 frames */
#define OBJECT_COUNTERS	(64ULL << 10)	/* nothing is counted there */
#define RATE_TABLES	(64ULL << 10)	/* nothing is kept, but for one in four thousand million */

static bool by_file(const struct opts *o)
{
	return o->by == BY_FILE || o->by == BY_MAPPING;
}

static __u32 config_flags(const struct watch_ask *ask, const struct opts *o,
			  const struct targets *targets, bool leaks)
{
	__u32 flags = leaks ? MEMTAP_CFG_USTACK : by_file(o) && !ask->rss ? 0 : ask->stacks;

	if (ask->objects)	/* how they are shown is the report's matter */
		return flags | (o->by == BY_THREAD ? MEMTAP_CFG_THREADS : 0);
	if (o->user || o->kernel)
		flags = (o->user ? MEMTAP_CFG_USTACK : 0) |
			(o->kernel ? MEMTAP_CFG_KSTACK : 0);
	if (o->stacks && !o->user && !o->kernel)
		flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK;
	if (o->by == BY_THREAD)
		flags |= MEMTAP_CFG_THREADS;
	if (o->hist || (ask->hist && !o->linear) || ask->keep_hists)
		flags |= MEMTAP_CFG_HIST;
	if (o->addresses && !leaks && !ask->rss && !ask->each)
		flags |= MEMTAP_CFG_ADDR;
	if (targets->children)
		flags |= MEMTAP_CFG_CHILDREN;
	if (o->only_user)
		flags |= MEMTAP_CFG_ONLY_USER;
	if (o->only_kernel)
		flags |= MEMTAP_CFG_ONLY_KERNEL;
	return flags;
}

#define TABLES_READ	"tables define which words of other processes' memory are read"

/* MEMTAP_CFG_ROWS in @flags, where it is wanted and possible. */
static int choose_unwind(const struct session *s, enum opt_unwind unwind, __u32 *flags)
{
	const __u64 features = s->info.features;

	if (!(*flags & MEMTAP_CFG_USTACK) || unwind == UNWIND_FP)
		return 0;
	if (unwind == UNWIND_ROWS && session_may_read(s, "--unwind dwarf", TABLES_READ))
		return 1;
	if (features & MEMTAP_FEATURE_ONLY_COUNT)
		note("user stacks are unwound by frame pointers only, code without them truncates "
		     "a stack: tables need " SESSION_MISSING);
	else if (features & MEMTAP_FEATURE_ROWS)
		*flags |= MEMTAP_CFG_ROWS;
	else if (unwind == UNWIND_ROWS)
		return fail_text("the loaded module cannot unwind stacks by tables; load the "
				 "module of this version, or leave --unwind out");
	else
		note("the loaded module unwinds user stacks by frame pointers only: code without "
		     "them truncates a stack");
	return 0;
}

/* Of everything, what is done by who looks is no answer. */
static __u32 not_self(const struct targets *targets, bool self, __u64 features)
{
	if (targets->nr_items || self)
		return 0;
	if (features & MEMTAP_FEATURE_NOT_SELF)
		return MEMTAP_CFG_NOT_SELF;
	note("the loaded module cannot leave out memtap itself: its own events are counted, too");
	return 0;
}

static __u32 file_config(__u64 features, bool mappings)
{
	const bool can = features & MEMTAP_FEATURE_MAPPINGS;

	if (!(features & MEMTAP_FEATURE_FILES)) {
		note("the loaded module cannot count by file");
		return 0;
	}
	if (mappings && !can)
		note("the loaded module cannot count by mapping, only by file");
	return MEMTAP_CFG_FILES | (mappings && can ? MEMTAP_CFG_MAPPINGS : 0);
}

static unsigned int page_shift(void)
{
	return (unsigned int)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

/* What the question asks of the module, which an older one may not have. */
static int check_features(const struct watch *w, const struct watch_ask *ask,
			  const struct opts *o)
{
	const struct {
		bool asked;
		__u64 feature;
		const char *what;
	} needs[] = {
		{ ask->each, MEMTAP_FEATURE_STEPS, "report single events" },
		{ ask->fields, MEMTAP_FEATURE_FIELDS, "record arguments of calls" },
		{ w->leaks && leaks_totals(o), MEMTAP_FEATURE_PEAK, "keep totals of stacks" },
		{ ask->objects, MEMTAP_FEATURE_OBJECTS, "record kernel objects" },
		{ ask->objects && ask->rates, MEMTAP_FEATURE_PAGES, "record kernel objects" },
		{ ask->objects && o->waste, MEMTAP_FEATURE_WASTE, "record wasted bytes" },
		{ ask->objects && o->trace, MEMTAP_FEATURE_OBJECT_CALLS,
		  "report single kernel calls" },
		{ ask->rss, MEMTAP_FEATURE_TOUCHED, "record which stack mapped a page" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (needs[i].asked && !(w->session.info.features & needs[i].feature))
			return fail_text("the loaded module does not %s; load the module of this "
					 "version", needs[i].what);
	}
	return 0;
}

static void ask_objects(struct memtap_config *c, const struct opts *o)
{
	c->flags |= MEMTAP_CFG_OBJECTS | (o->call_site ? MEMTAP_CFG_CALL_SITE : 0) |
		    (o->trace ? MEMTAP_CFG_TRACE : 0);
	c->mem_stacks = OBJECT_STACKS;
	c->mem_counters = OBJECT_COUNTERS;
	c->sample_bytes = o->sample_bytes;
	c->sample_rate = o->sample_rate;
}

static void ask_rates(struct memtap_config *c, const struct opts *o)
{
	c->mem_stacks = RATE_TABLES;
	if (o->waste) {		/* each is kept until it is freed, without a stack */
		c->flags &= ~MEMTAP_CFG_KSTACK;
	} else {
		c->mem_live = RATE_TABLES;
		c->sample_rate = ~0U;
	}
}

/* Stacks, how they are unwound, and how many frames of them. */
static int ask_stacks(struct watch *w, const struct opts *o, const struct plan *plan)
{
	struct memtap_config *c = &w->config;
	const bool where = !(c->flags & MEMTAP_CFG_USTACK) && plan_names_users(plan);

	if (where)	/* which program's mappings name an address is known with its stacks */
		c->flags |= MEMTAP_CFG_USTACK;
	c->depth = where && !(c->flags & MEMTAP_CFG_KSTACK) ? 1 : o->depth;
	return choose_unwind(&w->session, where ? UNWIND_FP : (enum opt_unwind)o->unwind,
			     &c->flags);
}

static void ask_key(struct watch *w, const struct watch_ask *ask, const struct opts *o)
{
	struct memtap_config *c = &w->config;

	if (ask->rss)
		c->flags |= MEMTAP_CFG_TOUCHED;
	else if ((ask->files || o->files || by_file(o)) && !o->addresses && !w->leaks)
		c->flags |= file_config(w->session.info.features, o->by == BY_MAPPING);
	c->addr_shift = o->addresses && !ask->each ? page_shift() : 0;
}

int watch_configure(struct watch *w, const struct watch_ask *ask, const struct opts *o,
		    const struct targets *targets, const struct plan *plan, const char *cmd)
{
	const struct memtap_info *info = &w->session.info;
	struct memtap_config *c = &w->config;
	const size_t nr = plan_nr(plan);
	int ret;

	if (o->depth > info->max_depth)
		return usage_error(cmd, "--depth: this module records at most %u frames",
				   info->max_depth);
	if (w->leaks && session_may_read(&w->session, "memtap leaks", "it reads arguments and "
					 "results of other processes' functions"))
		return 1;
	ret = check_features(w, ask, o);
	if (ret)
		return ret;
	c->flags = config_flags(ask, o, targets, w->leaks);
	if (w->leaks)
		c->flags |= leaks_config(c, o, info->features);
	else if (!ask->rates)	/* what comes and goes of all, is what there is more of */
		c->flags |= not_self(targets, o->self, info->features);
	if (ask->each)
		c->flags |= MEMTAP_CFG_RING;
	if (ask->objects)
		ask_objects(c, o);
	if (ask->rates)
		ask_rates(c, o);
	ret = ask_stacks(w, o, plan);
	if (ret)
		return ret;
	ask_key(w, ask, o);
	c->events = plan->builtins;
	c->filter_ptr = (__u64)(unsigned long)targets->items;
	c->filter_nr = targets->nr_items;
	c->min_size = o->min_size;
	c->max_size = o->max_size;
	ret = session_configure(&w->session, c, o->max_mem);
	if (ret)
		return ret;
	note(w->leaks ? "tables take %s%s (limit %s)" :
	     "tables take %s%s (limit %s); attaching %zu event%s",
	     session_size(c->mem_total).text, c->flags & MEMTAP_CFG_ROWS ? " at most" : "",
	     session_size(info->max_mem).text, nr, nr == 1 ? "" : "s");
	return 0;
}
