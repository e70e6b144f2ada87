// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep and print the stacks of single calls. */
#include <stdlib.h>

#include "cmd/call_stack.h"
#include "render/each.h"

struct call_stack {
	struct watch *watch;
	struct snap *snap;		/* as of the last stack that was not known */
	struct sym *sym;
};

struct call_stack *call_stack_new(struct watch *w)
{
	const struct sym_opts so = { 0 };
	struct call_stack *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->watch = w;
	c->sym = sym_new(&so);
	if (c->sym)
		return c;
	free(c);
	return NULL;
}

void call_stack_free(struct call_stack *c)
{
	if (!c)
		return;
	sym_free(c->sym);
	snap_free(c->snap);
	free(c);
}

/* What the process is now, or was last. */
static const struct memtap_rec_task *find_task(const struct snap *s, __s32 pid)
{
	const struct memtap_rec_task *found = NULL;

	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].pid == pid && (!found || s->tasks[i].exec >= found->exec))
			found = &s->tasks[i];
	return found;
}

static bool is_known(const struct call_stack *c, const struct memtap_one *one)
{
	if (!c->snap)
		return false;
	if (one->kstack >= MEMTAP_STACK_FIRST)
		return snap_stack(c->snap, one->kstack);
	return snap_stack(c->snap, one->ustack) && find_task(c->snap, one->pid);
}

static void learn(struct call_stack *c, const struct memtap_one *one)
{
	if ((one->ustack < MEMTAP_STACK_FIRST && one->kstack < MEMTAP_STACK_FIRST) ||
	    is_known(c, one))
		return;
	snap_free(c->snap);
	c->snap = NULL;
	if (watch_snapshot(c->watch, &c->snap))
		c->snap = NULL;
}

void call_stack_print(void *ctx, const struct memtap_one *call, FILE *out)
{
	struct call_stack *c = ctx;
	const struct memtap_rec_task *task;
	struct memtap_one one = { .ustack = call->ustack, .kstack = call->kstack };

	if (!out) {
		learn(c, call);
		return;
	}
	if (!c->snap)
		return;
	task = find_task(c->snap, call->pid);
	if (task)
		one.task = task->id;
	else if (call->kstack < MEMTAP_STACK_FIRST)
		return;
	each_stacks(c->snap, c->sym, &one, false, out);
}
