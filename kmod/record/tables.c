// SPDX-License-Identifier: GPL-2.0-only
/* Store the unwind tables that the tool loads, shared by all sessions. */
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "record/tables.h"

#include "compat/valloc.h"

static LIST_HEAD(tables);
static DEFINE_MUTEX(tables_lock);

static size_t arrays_bytes(u32 nr_rows, u32 nr_rules)
{
	return nr_rules * sizeof(struct memtap_rule) +
	       ALIGN(nr_rows * (sizeof(u32) + sizeof(u16)), 8);
}

/* Blocks never take more than this, see unwindtab_layout(). */
static size_t blocks_bytes(u32 nr_rows)
{
	return ((size_t)nr_rows / 4 + 2) * sizeof(u32);
}

size_t memtap_shared_bytes(u32 nr_rows, u32 nr_rules)
{
	return sizeof(struct memtap_shared) + arrays_bytes(nr_rows, nr_rules) +
	       blocks_bytes(nr_rows);
}

struct memtap_shared *memtap_shared_new(u32 nr_rows, u32 nr_rules)
{
	size_t bytes = memtap_shared_bytes(nr_rows, nr_rules);
	struct memtap_shared *sh = memtap_vzalloc(bytes);

	if (!sh)
		return NULL;
	sh->refs = 1;
	sh->bytes = bytes;
	sh->tab.nr_rows = nr_rows;
	sh->tab.nr_rules = nr_rules;
	sh->tab.rules = memtap_shared_rules(sh);
	sh->tab.rows = memtap_shared_rows(sh);
	sh->tab.kinds = memtap_shared_kinds(sh);
	return sh;
}

void memtap_shared_free(struct memtap_shared *sh)
{
	memtap_vfree(sh);
}

struct memtap_rule *memtap_shared_rules(struct memtap_shared *sh)
{
	return (struct memtap_rule *)sh->content;
}

u32 *memtap_shared_rows(struct memtap_shared *sh)
{
	return (u32 *)(memtap_shared_rules(sh) + sh->tab.nr_rules);
}

u16 *memtap_shared_kinds(struct memtap_shared *sh)
{
	return (u16 *)(memtap_shared_rows(sh) + sh->tab.nr_rows);
}

static u32 *blocks_of(struct memtap_shared *sh)
{
	return (u32 *)(sh->content +
		       arrays_bytes(sh->tab.nr_rows, sh->tab.nr_rules));
}

static bool equal(const struct memtap_shared *a, const struct memtap_shared *b)
{
	return a->hash == b->hash && a->tab.nr_rows == b->tab.nr_rows &&
	       a->tab.nr_rules == b->tab.nr_rules &&
	       !memcmp(a->content, b->content,
		       arrays_bytes(a->tab.nr_rows, a->tab.nr_rules));
}

struct memtap_shared *memtap_shared_get(struct memtap_shared *sh)
{
	struct memtap_shared *other;

	if (unwindtab_check(&sh->tab) ||
	    unwindtab_layout(&sh->tab) > blocks_bytes(sh->tab.nr_rows)) {
		memtap_vfree(sh);
		return ERR_PTR(-EINVAL);
	}
	unwindtab_index(&sh->tab, blocks_of(sh));
	sh->hash = jhash(sh->content,
			 arrays_bytes(sh->tab.nr_rows, sh->tab.nr_rules), 0);
	mutex_lock(&tables_lock);
	list_for_each_entry(other, &tables, node) {
		if (equal(other, sh)) {
			other->refs++;
			mutex_unlock(&tables_lock);
			memtap_vfree(sh);
			return other;
		}
	}
	list_add(&sh->node, &tables);
	mutex_unlock(&tables_lock);
	return sh;
}

void memtap_shared_put(struct memtap_shared *sh)
{
	bool last;

	mutex_lock(&tables_lock);
	last = !--sh->refs;
	if (last)
		list_del(&sh->node);
	mutex_unlock(&tables_lock);
	if (last)
		memtap_vfree(sh);
}
