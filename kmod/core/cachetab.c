// SPDX-License-Identifier: GPL-2.0-only
/* Give each name of a kernel cache a small number. */
#include "cachetab.h"

/* What follows the last * is tried at each place, so it ends after length times length. */
int cachetab_match(const char *pattern, const char *name)
{
	const char *star = NULL, *back = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			back = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++back;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static u32 passes(const struct cachetab *t, const char *name)
{
	return !*t->pattern || cachetab_match(t->pattern, name);
}

static void set_name(struct cachetab *t, u32 id, const char *text)
{
	struct cachetab_entry *e = &t->entries[id];
	u32 i;

	for (i = 0; i + 1 < CACHETAB_NAME && text[i] && (text[i] != '(' || !i); i++)
		e->name[i] = text[i];
	e->name[i] = 0;
	e->passes = passes(t, e->name);
}

/* "order-3 pages" */
static void set_order(struct cachetab *t, u32 order)
{
	char name[] = "order-00 pages";
	char *at = name + 6;

	if (order >= 10)
		*at++ = '0' + order / 10;
	*at++ = '0' + order % 10;
	memcpy(at, " pages", sizeof(" pages"));
	set_name(t, CACHETAB_PAGES + order, name);
	t->entries[CACHETAB_PAGES + order].passes = !t->orders || t->orders >> order & 1;
}

void cachetab_init(struct cachetab *t)
{
	u32 order;

	port_lock_init(&t->lock);
	set_name(t, CACHETAB_LARGE, "[large kmalloc]");
	set_name(t, CACHETAB_OTHER, "[other caches]");
	set_name(t, CACHETAB_PERCPU, "percpu memory");
	set_name(t, CACHETAB_VMALLOC, "vmalloc");
	set_name(t, CACHETAB_VMAP, "vmap");
	for (order = 0; order < CACHETAB_ORDERS; order++)
		set_order(t, order);
	t->used = CACHETAB_FIRST;
}

/* The slot of this cache, or a free one; NULL: neither is near. */
static const struct cachetab_slot *look(const struct cachetab *t, const void *cache,
					const void *name, const void **found)
{
	const u32 first = cachetab_first(cache, name);
	const struct cachetab_slot *s;
	u32 i;

	for (i = 0; i < CACHETAB_PROBES; i++) {
		s = &t->slots[(first + i) & (CACHETAB_SLOTS - 1)];
		/* who sees the cache sees the rest */
		*found = smp_load_acquire(&s->cache);
		if (!*found || (*found == cache && s->name == name))
			return s;
	}
	return NULL;
}

u32 cachetab_find_near(const struct cachetab *t, const void *cache, const void *name)
{
	const void *found;
	const struct cachetab_slot *s = look(t, cache, name, &found);

	return s && found ? s->id : 0;
}

static int is_called(const struct cachetab_entry *e, const char *text)
{
	u32 i;

	for (i = 0; i + 1 < CACHETAB_NAME && e->name[i] && e->name[i] == text[i]; i++)
		;
	return !e->name[i] && (!text[i] || (text[i] == '(' && i) || i + 1 == CACHETAB_NAME);
}

static u32 number_of(struct cachetab *t, const char *text)
{
	u32 id;

	for (id = CACHETAB_FIRST; id < t->used; id++)
		if (is_called(&t->entries[id], text))
			return id;
	if (id == CACHETAB_MAX || !*text)
		return CACHETAB_OTHER;
	set_name(t, id, text);
	smp_store_release(&t->used, id + 1);
	return id;
}

u32 cachetab_add(struct cachetab *t, const void *cache, const void *name, const char *text)
{
	struct cachetab_slot *s;
	const void *found;
	u32 id;

	port_lock(&t->lock);
	s = (struct cachetab_slot *)look(t, cache, name, &found);
	if (s && found) {
		id = s->id;
	} else {
		id = number_of(t, text);
		if (!s || id == CACHETAB_OTHER)
			WRITE_ONCE(t->lost, t->lost + 1);
		if (s) {
			s->name = name;
			s->id = id;
			smp_store_release(&s->cache, cache);
		}
	}
	port_unlock(&t->lock);
	return id;
}
