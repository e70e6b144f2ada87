// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the known work in a snapshot. */
#include <string.h>

#include "core/names.h"
#include "report/cut.h"
#include "selftest/selftest.h"

#define MAX_NAMES	512	/* of one stack, with what was inlined */

static const struct snap_event *find_event(const struct snap *s, const char *name)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (!strcmp(s->events[i].name, name))
			return &s->events[i];
	return NULL;
}

/* ---- user stacks ---- */

/* @function, and @caller (unless it is NULL) anywhere above it. */
static bool has_functions(const struct snap *s, struct sym *sym, __u32 stack, __u32 task_id,
			  const char *function, const char *caller)
{
	const struct memtap_rec_task *task = snap_task(s, task_id);
	const struct snap_stack *st = snap_stack(s, stack);
	const struct sym_frame *f;
	size_t n;

	for (__u32 i = 0; st && task && i < st->nr; i++) {
		n = sym_user(sym, s, task, st->era, st->ip[i],
			     i || !(st->flags & MEMTAP_STACK_ENTRY), &f);
		for (size_t k = 0; k < n; k++) {
			if (!f[k].name || strcmp(f[k].name, function))
				continue;
			if (!caller)
				return true;
			function = caller;
			caller = NULL;
		}
	}
	return false;
}

struct st_sum st_sum_user(const struct snap *s, struct sym *sym, const char *event,
			  const char *function, const char *caller)
{
	const struct snap_event *e = find_event(s, event);
	struct st_sum sum = { 0 };

	for (size_t i = 0; e && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		if (c->event != e->id)
			continue;
		if (function &&
		    !has_functions(s, sym, c->ustack, c->task, function, caller))
			continue;
		sum.count += c->count;
		sum.value += c->sum;
	}
	return sum;
}

/* ---- kernel stacks ---- */

static bool begins_with_one_of(const char *name, const char *const *beginnings, size_t nr)
{
	for (size_t i = 0; name && i < nr && beginnings[i]; i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

/* The allocators' own functions. */
static const char *const allocators[] = {
	"kmalloc", "__kmalloc", "kfree", "kmem_cache_", "__kmem_cache_", "alloc_pages",
	"__alloc_pages", "__alloc_frozen_pages", "free_unref_", "__free_frozen_pages",
	"free_pages", "__free_pages", "free_hot_cold_page", "kvfree",
	"pcpu_alloc", "__alloc_percpu", "free_percpu",
};

/* What allocates on the way for purposes of its own. */
static const char *const others[] = {
	"security_", "lsm_", "selinux_", "apparmor_", "smack_", "locks_get_lock_context",
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Where an allocator needs memory for itself, it is on the stack twice, with
 * something else in between: for its caches, for accounts by group, in reclaim.
 */
bool st_called_by(const char *const *names, size_t nr, const char *const *callers)
{
	bool in = false, left = false;

	for (size_t i = 0; i < nr; i++) {
		const bool allocator = begins_with_one_of(names[i], allocators, NR(allocators));

		if (begins_with_one_of(names[i], callers, ST_CALLERS))
			return true;
		if (begins_with_one_of(names[i], others, NR(others)) || (allocator && left))
			return false;
		left = in && !allocator;
		in |= allocator;
	}
	return false;
}

static bool counts(const struct snap *s, struct sym *sym, __u32 stack,
		   const char *const *callers)
{
	const struct snap_stack *st = snap_stack(s, stack);
	const char *names[MAX_NAMES];
	const struct sym_frame *f;
	size_t nr = 0, n;

	for (__u32 i = 0; st && i < st->nr; i++) {
		n = sym_kernel(sym, s, st->ip[i], i || !(st->flags & MEMTAP_STACK_ENTRY), &f);
		for (size_t k = 0; k < n && nr < MAX_NAMES; k++)
			names[nr++] = f[k].name;
	}
	return st_called_by(names, nr, callers);
}

__u64 st_sum_kernel(const struct snap *s, struct sym *sym, const char *event,
		    const char *const *callers)
{
	const struct snap_event *e = find_event(s, event);
	__u64 sum = 0;

	for (size_t i = 0; e && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		if (c->event == e->id && !(c->flags & MEMTAP_KEY_IRQ) &&
		    counts(s, sym, c->kstack, callers))
			sum += c->count;
	}
	return sum;
}

/* ---- accounts ---- */

static void report_losses(const struct snap *s, struct st_check *c)
{
	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++) {
		const size_t used = strlen(c->text);
		char buf[TEXT_LEN];
		__s64 sum = 0;

		for (size_t e = 0; e < s->nr_events; e++)
			sum += (__s64)s->events[e].lost[i];
		if (sum)
			snprintf(c->text + used, sizeof(c->text) - used, ", %s %s",
				 text_signed(buf, sum), lost_name(i));
	}
}

void st_account(const struct snap *s, struct st_check *c)
{
	__u64 seen = 0, counted = 0, filtered = 0, all_lost = 0;
	const char *wrong = NULL;
	char buf[4][TEXT_LEN];

	for (size_t i = 0; i < s->nr_events; i++) {
		const struct snap_event *e = &s->events[i];
		__u64 lost = 0;

		for (int k = 0; k < MEMTAP_LOST_SLOTS; k++)
			lost += e->lost[k];
		if (e->seen != e->counted + e->filtered + lost && !wrong)
			wrong = e->name;
		seen += e->seen;
		counted += e->counted;
		filtered += e->filtered;
		all_lost += lost;
	}
	c->verdict = wrong ? ST_FAILED : ST_OK;
	snprintf(c->text, sizeof(c->text), "%s%s%zu events: seen %s %s counted %s + filtered "
		 "%s + lost %s", wrong ? wrong : "", wrong ? " does not add up; " : "",
		 s->nr_events, text_count(buf[0], seen), wrong ? "!=" : "=",
		 text_count(buf[1], counted), text_count(buf[2], filtered),
		 text_count(buf[3], all_lost));
	report_losses(s, c);
}
