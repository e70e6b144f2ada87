// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the kernel objects that the flight recorder tracks (watch=slab,pages) in debugfs: slab (by
 * cache) and pages (by order, per-CPU memory, vmalloc areas), and the stacks that hold most.
 *
 * The sums are made when a file is opened, and do not change while it is open.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "core/names.h"
#include "live/objects.h"
#include "recorder/debugfs.h"
#include "recorder/watch.h"
#include "session/session.h"

#include "compat/valloc.h"

#define SWITCH		"echo slab,pages > /sys/module/memtap/parameters/watch"
#define SETTLED_S	10		/* older objects count as settled */
#define MOST_STACKS	20		/* shown */
#define MOST_CACHES	40
#define LEAST_ROWS	1024		/* summed up */
#define MOST_ROWS	(1U << 17)

/* The live objects of one cache and one stack. */
struct row {
	u32 cache, stack;
	u32 count, settled;		/* count 0: a free slot */
	u64 bytes, settled_bytes;
	u32 birth;			/* allocation time of the oldest */
};

/* A cache and its live objects. */
struct of_cache {
	u32 id;
	struct memtap_object_sums sums;
	s64 growth, growth_bytes;
	u64 live, live_bytes;
};

/*
 * @slab: slab caches; false: pages, per-CPU memory and vmalloc
 * @session: its number; 0: these were not tracked when the file was opened
 */
struct shown {
	bool slab;
	u32 session;
	u32 now;			/* in the unit of live.birth */
	u32 nr_caches;
	struct of_cache caches[CACHETAB_MAX];
	u32 nr_top, smaller;		/* stacks: shown, not shown */
	struct row top[MOST_STACKS];
	u64 settled_bytes;
	u64 rest, rest_bytes;		/* objects of stacks beyond MOST_ROWS */
	/* only while summing up */
	u32 mask, used;
	struct row *rows;
	struct live chain[LIVETAB_CHAIN];
};

static bool is_slab(u32 id)
{
	return id == CACHETAB_LARGE || id == CACHETAB_OTHER || id >= CACHETAB_FIRST;
}

static bool follows(const struct memtap_session *s, bool slab)
{
	u32 i;

	for (i = 0; s && i < s->nr_events; i++)
		if (!strcmp(s->events[i]->builtin->group, "slab") == slab)
			return true;
	return false;
}

bool memtap_is_followed(const struct memtap_session *s, const struct memtap_builtin *b)
{
	u32 i;

	for (i = 0; s && i < s->nr_events; i++)
		if (s->events[i]->builtin == b)
			return true;
	return false;
}

/* --- stacks ------------------------------------------------------------- */

/* The row of this cache and stack, perhaps a free one; NULL: the table is full. */
static struct row *row_of(struct shown *h, u32 cache, u32 stack)
{
	u32 at = (stack * 0x9e3779b1U ^ cache * 0x85ebca6bU) >> 8;
	struct row *r;

	for (;; at++) {
		r = &h->rows[at & h->mask];
		if (r->count && (r->cache != cache || r->stack != stack))
			continue;
		if (r->count)
			return r;
		/* keep a quarter free, so that searches are short */
		return h->used < h->mask - h->mask / 4 ? r : NULL;
	}
}

static void add_object(struct shown *h, const struct live *b)
{
	const bool settled = h->now - b->birth >= SETTLED_S * HZ;
	struct row *r = row_of(h, b->event, b->ustack);

	if (!r) {
		h->rest++;
		h->rest_bytes += b->size;
		return;
	}
	if (!r->count) {
		h->used++;
		r->cache = b->event;
		r->stack = b->ustack;
		r->birth = b->birth;
	}
	r->count++;
	r->bytes += b->size;
	r->birth = min(r->birth, b->birth);
	if (!settled)
		return;
	r->settled++;
	r->settled_bytes += b->size;
	h->settled_bytes += b->size;
}

/* Order by settled bytes, then by all bytes. */
static bool is_larger(const struct row *a, const struct row *b)
{
	return a->settled_bytes != b->settled_bytes ? a->settled_bytes > b->settled_bytes :
	       a->bytes > b->bytes;
}

static void choose_top(struct shown *h)
{
	u32 i, at;

	for (i = 0; i <= h->mask; i++) {
		if (!(i % 1024))
			cond_resched();
		if (!h->rows[i].count)
			continue;
		if (h->nr_top == MOST_STACKS) {
			h->smaller++;
			if (!is_larger(&h->rows[i], &h->top[MOST_STACKS - 1]))
				continue;
		} else {
			h->nr_top++;
		}
		for (at = h->nr_top - 1; at && is_larger(&h->rows[i], &h->top[at - 1]); at--)
			h->top[at] = h->top[at - 1];
		h->top[at] = h->rows[i];
	}
}

/* --- caches ------------------------------------------------------------- */

/* For sort(): largest growth first. */
static int by_growth(const void *a, const void *b)
{
	const struct of_cache *x = a, *y = b;

	if (x->growth_bytes != y->growth_bytes)
		return x->growth_bytes < y->growth_bytes ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* h->caches is indexed by cache number first, and then packed. */
static void sum_caches(struct shown *h, const struct memtap_objects_table *t)
{
	struct of_cache *c;
	u32 id, n = 0;

	for (id = CACHETAB_LARGE; id < CACHETAB_MAX; id++) {
		c = &h->caches[id];
		c->id = id;
		if (is_slab(id) != h->slab)
			continue;
		memtap_objects_sum_cache(t, id, &c->sums);
		/* frees of objects from before the start count, too */
		c->growth = (s64)(c->sums.allocs - c->sums.frees - c->sums.unknown);
		c->growth_bytes = (s64)(c->sums.bytes - c->sums.freed_bytes -
					c->sums.unknown_bytes);
		if (c->sums.allocs || c->sums.unknown || c->live)
			h->caches[n++] = *c;
	}
	h->nr_caches = n;
	sort(h->caches, n, sizeof(*h->caches), by_growth, NULL);
}

/* --- summing up --------------------------------------------------------- */

static void walk(struct shown *h, struct memtap_objects_table *t)
{
	struct of_cache *c;
	u32 head, i, nr;

	for (head = 0; head <= t->table.head_mask; head++) {
		nr = memtap_objects_read(t, head, h->chain);
		for (i = 0; i < nr; i++) {
			if (is_slab(h->chain[i].event) != h->slab)
				continue;
			c = &h->caches[h->chain[i].event];
			c->live++;
			c->live_bytes += h->chain[i].size;
			add_object(h, &h->chain[i]);
		}
		cond_resched();
	}
}

static int sum_up(struct shown *h, struct memtap_session *s)
{
	struct memtap_objects_table *t = s->objects;
	u32 nr = clamp_t(u32, 2 * livetab_used(&t->table), LEAST_ROWS, MOST_ROWS);

	nr = roundup_pow_of_two(nr);
	h->mask = nr - 1;
	h->rows = memtap_vzalloc(nr * sizeof(*h->rows));
	if (!h->rows)
		return -ENOMEM;
	h->now = memtap_alloc_time_now(s);
	walk(h, t);
	choose_top(h);
	memtap_vfree(h->rows);
	h->rows = NULL;
	sum_caches(h, t);
	h->session = s->nr;
	return 0;
}

/* --- printing ----------------------------------------------------------- */

static void show_failed(struct seq_file *m, const struct memtap_session_event *e,
			const struct memtap_hook_state *hook)
{
	seq_puts(m, "not recorded: ");
	memtap_show_name(m, hook->target);
	seq_puts(m, " of ");
	memtap_show_name(m, e->name);
	seq_printf(m, " (errno %u)\n", hook->error);
}

/* Name the hooks that could not be attached: their events are missing. */
static void show_missing(struct seq_file *m, struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		memtap_session_hooks(s, i);
		for (j = 0; j < e->nr_kept; j++)
			if (e->kept[j].state == MEMTAP_HOOK_FAILED)
				show_failed(m, e, &e->kept[j]);
	}
}

static void show_followed(struct seq_file *m, struct memtap_session *s)
{
	struct memtap_rec_memory r;

	memset(&r, 0, sizeof(r));
	memtap_objects_memory(s->objects, &r);
	seq_printf(m, "objects tracked for %llu s, tables use %llu KiB\n",
		   div_u64(ktime_get_ns() - s->start_ns, NSEC_PER_SEC), s->mem_total >> 10);
	seq_printf(m, "objects %u of %llu, at most %llu; table full for %llu bytes; ",
		   livetab_used(&s->objects->table), r.live_size, r.live_used, r.live_lost_bytes);
	seq_printf(m, "frees missed %llu; stacks %llu of %llu KiB\n", r.replaced,
		   stackstore_used(&s->stacks) >> 10,
		   (u64)s->stacks.nr_words * sizeof(u64) >> 10);
}

void memtap_show_followed(struct seq_file *m, struct memtap_session *s)
{
	u32 i;

	show_followed(m, s);
	for (i = 0; i < s->nr_events; i++)
		memtap_show_account(m, s, i);
}

static const char *name_of(const struct memtap_session *s, u32 cache)
{
	return s->objects->caches.entries[cache].name;
}

static void show_caches(struct seq_file *m, const struct shown *h, const struct memtap_session *s)
{
	const struct of_cache *c;
	u32 i;

	seq_printf(m, "%12s %12s %10s %14s %10s %14s  %s\n", "allocations", "frees", "growth",
		   "bytes", "live", "bytes", h->slab ? "cache" : "kind");
	for (i = 0; i < h->nr_caches && i < MOST_CACHES; i++) {
		c = &h->caches[i];
		seq_printf(m, "%12llu %12llu %10lld %14lld %10llu %14llu  ", c->sums.allocs,
			   c->sums.frees + c->sums.unknown, c->growth, c->growth_bytes, c->live,
			   c->live_bytes);
		memtap_show_name(m, name_of(s, c->id));
		seq_putc(m, '\n');
	}
	if (i < h->nr_caches)
		seq_printf(m, "and %u with less growth\n", h->nr_caches - i);
	seq_puts(m, "growth: allocations minus frees, including frees of older objects; ");
	seq_puts(m, "live: allocated since, and not freed\n");
}

static void show_stacks(struct seq_file *m, const struct shown *h, struct memtap_session *s)
{
	const struct row *r;
	u32 i;

	seq_printf(m, "live for %u s or longer: %llu bytes; largest stacks:\n", SETTLED_S,
		   h->settled_bytes);
	for (i = 0; i < h->nr_top; i++) {
		r = &h->top[i];
		seq_printf(m, "  %llu bytes in %u of ", r->bytes, r->count);
		memtap_show_name(m, name_of(s, r->cache));
		seq_printf(m, ", %u of them for %u s or longer, the oldest for %u s\n", r->settled,
			   SETTLED_S, (h->now - r->birth) / HZ);
		memtap_show_stack(m, s, r->stack, 0);
	}
	if (h->smaller)
		seq_printf(m, "  and %u smaller ones\n", h->smaller);
	if (h->rest)
		seq_printf(m, "  and %llu bytes in %llu objects of stacks beyond this table\n",
			   h->rest_bytes, h->rest);
}

/* Under memtap_watch_get(). */
static void show(struct seq_file *m, const struct shown *h, struct memtap_session *s)
{
	if (!h->session) {
		seq_printf(m, "%s not tracked; to track slabs and pages: " SWITCH "\n",
			   h->slab ? "slab objects are" : "pages are");
		return;
	}
	if (!s || s->nr != h->session) {
		seq_puts(m, "(the flight recorder's settings changed; open this file again)\n");
		return;
	}
	show_followed(m, s);
	show_missing(m, s);
	show_caches(m, h, s);
	show_stacks(m, h, s);
}

static int objects_show(struct seq_file *m, void *v)
{
	memtap_debugfs_banner(m);
	memtap_watch_get();
	show(m, m->private, memtap_watch_objects());
	memtap_watch_put();
	return 0;
}

static int objects_open(struct file *file, bool slab)
{
	struct memtap_session *s;
	struct shown *h;
	int err = 0;

	if (!memtap_may(MEMTAP_MAY_COUNT))
		return -EPERM;
	h = memtap_vzalloc(sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->slab = slab;
	memtap_watch_get();
	s = memtap_watch_objects();
	if (follows(s, slab))
		err = sum_up(h, s);
	memtap_watch_put();
	if (!err)
		err = single_open(file, objects_show, h);
	if (err)
		memtap_vfree(h);
	return err;
}

static int slab_open(struct inode *inode, struct file *file)
{
	return objects_open(file, true);
}

static int pages_open(struct inode *inode, struct file *file)
{
	return objects_open(file, false);
}

static int objects_release(struct inode *inode, struct file *file)
{
	memtap_vfree(((struct seq_file *)file->private_data)->private);
	return single_release(inode, file);
}

#define OBJECTS_FOPS(_name, _open)					\
const struct file_operations _name##_fops = {				\
	.owner = THIS_MODULE,						\
	.open = _open,							\
	.read = memtap_debugfs_read,					\
	.llseek = seq_lseek,						\
	.release = objects_release,					\
}

OBJECTS_FOPS(memtap_slab, slab_open);
OBJECTS_FOPS(memtap_pages, pages_open);
