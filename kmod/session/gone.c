// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the symbols of modules that are unloaded while a session has their code in its stacks: the
 * kernel forgets them.
 */
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/stackstore.h"
#include "core/wire.h"
#include "session/int.h"

#include "compat/kernel_walk.h"
#include "compat/valloc.h"

#define MOST_NAMES	8192	/* of one session */

struct gone {
	struct list_head node;
	u64 addr, offset;
	char name[];		/* "symbol [module]" */
};

/* The lists of all sessions; a leaf. */
static DEFINE_MUTEX(gone_lock);

static bool is_known(const struct memtap_session *s, u64 addr)
{
	const struct gone *g;

	list_for_each_entry(g, &s->gone, node)
		if (g->addr == addr)
			return true;
	return false;
}

/* "symbol+0xOFFSET/0xSIZE [module]", as the kernel prints it; @call: @addr is behind it. */
static void add(struct memtap_session *s, u64 addr, bool call)
{
	char text[KSYM_SYMBOL_LEN], *plus, *module;
	unsigned long offset;
	struct gone *g;
	size_t len;

	if (is_known(s, addr))
		return;
	sprint_symbol(text, addr - call);
	plus = strrchr(text, '+');
	module = strstr(text, " [");
	if (!plus || !module)
		return;
	*plus = 0;
	offset = simple_strtoul(plus + 1, NULL, 16);
	len = strlen(text) + strlen(module) + 1;
	g = s->nr_gone < MOST_NAMES ? kmalloc(sizeof(*g) + len, MEMTAP_GFP) : NULL;
	if (!g) {
		s->gone_lost++;
		return;
	}
	g->addr = addr;
	g->offset = offset + call;
	snprintf(g->name, len, "%s%s", text, module);
	list_add_tail(&g->node, &s->gone);
	s->nr_gone++;
}

static void keep_names(struct memtap_session *s, void *module)
{
	const struct stackstore_entry *e;
	struct stackstore_iter it = { 0 };
	bool call;
	u32 id, i;

	if (smp_load_acquire(&s->state) < MEMTAP_RUNNING)
		return;
	mutex_lock(&gone_lock);
	while ((id = stackstore_next(&s->stacks, &it)) != 0) {
		e = stackstore_get(&s->stacks, id);
		if (e->flags & (MEMTAP_STACK_USER | MEMTAP_STACK_TEXT | MEMTAP_STACK_KEYS))
			continue;
		for (i = 0; i < e->nr; i++) {
			call = i || !(e->flags & MEMTAP_STACK_ENTRY);
			if (within_module(e->ip[i] - call, module))
				add(s, e->ip[i], call);
		}
		cond_resched();
	}
	mutex_unlock(&gone_lock);
}

static int on_module(struct notifier_block *nb, unsigned long what, void *module)
{
	if (what == MODULE_STATE_GOING)
		memtap_for_each_session(keep_names, module);
	/* other code may be where its was */
	memtap_kernel_code_changed();
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = on_module,
};

int memtap_gone_init(void)
{
	int err = register_module_notifier(&notifier);

	/* what came before was not seen */
	memtap_kernel_code_changed();
	return err;
}

void memtap_gone_exit(void)
{
	unregister_module_notifier(&notifier);
}

void memtap_gone_free(struct memtap_session *s)
{
	struct gone *g, *next;

	list_for_each_entry_safe(g, next, &s->gone, node)
		kfree(g);
	INIT_LIST_HEAD(&s->gone);
}

bool memtap_gone_name(struct memtap_session *s, u64 addr, char *to, size_t len)
{
	const struct gone *g;
	const char *module;
	bool found = false;

	mutex_lock(&gone_lock);
	list_for_each_entry(g, &s->gone, node) {
		found = g->addr == addr;
		if (!found)
			continue;
		module = strchr(g->name, ' ');
		snprintf(to, len, "%.*s+0x%llx%s", (int)(module - g->name), g->name, g->offset,
			 module);
		break;
	}
	mutex_unlock(&gone_lock);
	return found;
}

/* @pos: how many were written. */
void *memtap_gone_put(struct memtap_session *s, u32 *pos, void *buf, u32 room)
{
	struct memtap_rec_gone *r = NULL;
	const struct gone *g;
	u32 i = 0;

	mutex_lock(&gone_lock);
	list_for_each_entry(g, &s->gone, node) {
		if (i++ != *pos)
			continue;
		r = wire_begin(buf, room, MEMTAP_REC_GONE, sizeof(*r) + strlen(g->name) + 1);
		r->addr = g->addr;
		r->offset = g->offset;
		strcpy(r->name, g->name);
		(*pos)++;
		break;
	}
	mutex_unlock(&gone_lock);
	return r;
}
