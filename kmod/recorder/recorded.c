// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the flight recorder's counts in debugfs: the largest stacks of one event (stacks/EVENT)
 * or of every event (summary).
 *
 * Rows are sorted once, when a file is read from its beginning, and shown one by one, because
 * seq_file repeats an item that did not fit into its buffer.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sort.h>

#include "core/names.h"
#include "record/record.h"
#include "recorder/debugfs.h"
#include "session/session.h"
#include "recorder/watch.h"

#include "compat/task.h"
#include "compat/valloc.h"

#define WATCH_PARAM	"/sys/module/memtap/parameters/watch"
#define SWITCHED_OFF	\
	"flight recorder: off; to turn it on: echo fault,brk,mmap > " WATCH_PARAM "\n"
#define SUMMARY_ROWS	5
#define STACKS_ROWS	100

/* --- rows --------------------------------------------------------------- */

/* Counters of all CPUs with the same key. */
struct row {
	struct counter_key key;
	u64 count;
	s64 sum;
};

/* For sort(), which takes long with tens of thousands of rows. */
static int by_key(const void *a, const void *b)
{
	cond_resched();
	return memcmp(&((const struct row *)a)->key,
		      &((const struct row *)b)->key, sizeof(struct counter_key));
}

static u32 collect(struct memtap_session *s, u32 event, struct row *rows, u32 max)
{
	struct counters_iter it;
	const struct counter *c;
	u32 cpu, n = 0;

	for_each_possible_cpu(cpu) {
		memset(&it, 0, sizeof(it));
		while (n < max &&
		       (c = counters_next(&s->cpus[cpu]->counters, &it)) != NULL) {
			cond_resched();
			if (c->key.event != event)
				continue;
			rows[n].key = c->key;
			rows[n].count = READ_ONCE(c->count);
			rows[n++].sum = READ_ONCE(c->sum);
		}
		cond_resched();
	}
	return n;
}

static u32 merge(struct row *rows, u32 nr)
{
	u32 i, n = 0;

	sort(rows, nr, sizeof(*rows), by_key, NULL);
	for (i = 0; i < nr; i++) {
		if (n && !by_key(&rows[n - 1], &rows[i])) {
			rows[n - 1].count += rows[i].count;
			rows[n - 1].sum += rows[i].sum;
		} else {
			rows[n++] = rows[i];
		}
	}
	return n;
}

/*
 * Stores the rows of @event with the largest counts in @top, at most @most, largest first.
 * Returns their number; *@smaller: the number of other rows.  -ENOMEM: no memory to sort them.
 * May sleep.
 */
static int largest(struct memtap_session *s, u32 event, struct row *top, u32 most,
		   u32 *smaller)
{
	u32 max = min(READ_ONCE(s->pool.used), s->pool.nr);
	struct row *rows = memtap_vzalloc(max * sizeof(*rows));
	u32 i, at, all, n = 0;

	if (!rows)
		return -ENOMEM;
	all = merge(rows, collect(s, event, rows, max));
	for (i = 0; i < all; i++) {
		cond_resched();
		if (n == most && top[n - 1].count >= rows[i].count)
			continue;
		if (n < most)
			n++;
		for (at = n - 1; at && top[at - 1].count < rows[i].count; at--)
			top[at] = top[at - 1];
		top[at] = rows[i];
	}
	memtap_vfree(rows);
	*smaller = all - n;
	return n;
}

static void show_row(struct seq_file *m, struct memtap_session *s, u32 event,
		     const struct row *r)
{
	const struct memtap_session_event *e = s->events[event];
	const struct memtap_task *t = &s->tasks.slots[r->key.task];
	bool known = r->key.task >= MEMTAP_TASK_FIRST;
	u32 bit;

	seq_printf(m, "  %llu x ", r->count);
	memtap_show_name(m, e->name);
	if (e->builtin && *unit_name(e->builtin->unit))
		seq_printf(m, ", %lld %s", r->sum, unit_name(e->builtin->unit));
	if (known) {
		seq_puts(m, ", ");
		memtap_show_name(m, t->comm);
		seq_printf(m, " [%d]", t->pid);
	}
	for (bit = 0; bit < MEMTAP_NR_KEY; bit++)
		if (r->key.flags >> bit & 1)
			seq_printf(m, ", %s", key_sentence(bit));
	seq_putc(m, '\n');
	memtap_show_stack(m, s, r->key.kstack, 0);
	memtap_show_stack(m, s, r->key.ustack, known ? t->space : 0);
}

/* --- summary ------------------------------------------------------------ */

static void show_summary(struct seq_file *m, struct memtap_session *s)
{
	u32 i;

	seq_printf(m, "flight recorder: on for %llu s, tables use %llu KiB\n",
		   div_u64(ktime_get_ns() - s->start_ns, NSEC_PER_SEC),
		   s->mem_total >> 10);
	seq_printf(m, "stacks %llu of %llu KiB, counters %u of %u, ",
		   stackstore_used(&s->stacks) >> 10,
		   (u64)s->stacks.nr_words * sizeof(u64) >> 10,
		   min(READ_ONCE(s->pool.used), s->pool.nr) - 1, s->pool.nr - 1);
	seq_printf(m, "tasks %u of %u, mappings lost %llu, address spaces missed %llu\n",
		   s->tasks.used - MEMTAP_TASK_FIRST, s->tasks.nr - MEMTAP_TASK_FIRST,
		   s->tasks.maps.lost + s->tasks.files_lost, s->tasks.spaces_missed);
	for (i = 0; i < s->nr_events; i++)
		memtap_show_account(m, s, i);
}

/* --- lists of rows ----------------------------------------------------- */

/* The items of an open file; each is shown by itself, so that none is built twice. */
enum listed_kind { LISTED_TITLE, LISTED_ROW, LISTED_SMALLER, LISTED_NO_MEMORY };

struct listed {
	enum listed_kind kind;
	u32 event;
	u32 smaller;
	struct row row;
};

/*
 * @only: the event of this file; NULL: the summary of all events
 * @recorder: valid between start() and stop(), which hold its lock; NULL: off
 * @session: the recorder's number when the list was built
 */
struct listing {
	const struct memtap_builtin *only;
	struct memtap_session *recorder;
	u32 session;
	u32 nr;
	struct listed *items;
};

static u32 session_now(const struct listing *l)
{
	return l->recorder ? l->recorder->nr : 0;
}

static struct listed *add_listed(struct listing *l, enum listed_kind kind, u32 event)
{
	struct listed *item = &l->items[l->nr++];

	item->kind = kind;
	item->event = event;
	return item;
}

static void list_event(struct listing *l, u32 event, struct row *top, u32 most)
{
	u32 smaller = 0;
	int i, n;

	if (!l->only)
		add_listed(l, LISTED_TITLE, event);
	n = largest(l->recorder, event, top, most, &smaller);
	if (n < 0)
		add_listed(l, LISTED_NO_MEMORY, event);
	for (i = 0; i < n; i++)
		add_listed(l, LISTED_ROW, event)->row = top[i];
	if (smaller)
		add_listed(l, LISTED_SMALLER, event)->smaller = smaller;
}

static bool is_listed(const struct listing *l, u32 event)
{
	return !l->only || l->recorder->events[event]->builtin == l->only;
}

/* Builds the list.  -ENOMEM: there is none. */
static int make_list(struct listing *l)
{
	u32 most = l->only ? STACKS_ROWS : SUMMARY_ROWS;
	u32 i, events = 0;
	struct row *top;

	memtap_vfree(l->items);
	l->items = NULL;
	l->nr = 0;
	l->session = session_now(l);
	for (i = 0; l->recorder && i < l->recorder->nr_events; i++)
		events += is_listed(l, i);
	if (!events)
		return 0;
	top = memtap_vzalloc(most * sizeof(*top));
	l->items = memtap_vzalloc(events * (most + 2) * sizeof(*l->items));
	if (!top || !l->items) {
		memtap_vfree(top);
		return -ENOMEM;
	}
	for (i = 0; i < l->recorder->nr_events; i++) {
		if (is_listed(l, i))
			list_event(l, i, top, most);
	}
	memtap_vfree(top);
	return 0;
}

/* Position 0 is the head; position n is item n - 1. */
static void *recorded_at(struct seq_file *m, loff_t *pos)
{
	const struct listing *l = m->private;

	return *pos <= l->nr ? pos : NULL;
}

static void *recorded_start(struct seq_file *m, loff_t *pos)
{
	struct listing *l = m->private;
	int err;

	l->recorder = memtap_watch_get();
	if (!*pos) {
		err = make_list(l);
		if (err)
			return ERR_PTR(err);
	} else if (l->session != session_now(l)) {
		/* the rest is of a session that ended: show one line that says so */
		l->nr = min_t(loff_t, l->nr, *pos);
	}
	return recorded_at(m, pos);
}

static void *recorded_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return recorded_at(m, pos);
}

static void recorded_stop(struct seq_file *m, void *v)
{
	memtap_watch_put();
}

static void show_head(struct seq_file *m, const struct listing *l)
{
	struct memtap_session *s = l->recorder;
	u32 i, found = 0;

	memtap_debugfs_banner(m);
	if (!l->only) {
		if (s)
			show_summary(m, s);
		if (memtap_watch_objects())
			memtap_show_followed(m, memtap_watch_objects());
		if (!s && !memtap_watch_objects())
			seq_puts(m, SWITCHED_OFF);
		return;
	}
	for (i = 0; s && i < s->nr_events; i++) {
		if (!is_listed(l, i))
			continue;
		memtap_show_account(m, s, i);
		found = 1;
	}
	if (!found && memtap_is_followed(memtap_watch_objects(), l->only))
		seq_printf(m, "objects are tracked instead of counting calls; see the %s file\n",
			   strcmp(l->only->group, "slab") ? "pages" : "slab");
	else if (!found)
		seq_printf(m, "the flight recorder does not record %s; see " WATCH_PARAM "\n",
			   l->only->name);
}

static int recorded_show(struct seq_file *m, void *v)
{
	const struct listing *l = m->private;
	loff_t pos = *(loff_t *)v;
	const struct listed *item;

	if (!pos) {
		show_head(m, l);
		return 0;
	}
	if (l->session != session_now(l)) {
		seq_puts(m, "(the flight recorder's settings changed; read this file again)\n");
		return 0;
	}
	item = &l->items[pos - 1];
	switch (item->kind) {
	case LISTED_TITLE:
		seq_puts(m, "largest stacks of ");
		memtap_show_name(m, l->recorder->events[item->event]->name);
		seq_puts(m, ":\n");
		break;
	case LISTED_ROW:
		show_row(m, l->recorder, item->event, &item->row);
		break;
	case LISTED_SMALLER:
		seq_printf(m, "  and %u smaller ones\n", item->smaller);
		break;
	case LISTED_NO_MEMORY:
		seq_puts(m, "  (no memory to sort the stacks)\n");
		break;
	}
	return 0;
}

static const struct seq_operations recorded_ops = {
	.start = recorded_start,
	.next = recorded_next,
	.stop = recorded_stop,
	.show = recorded_show,
};

static int recorded_open(struct inode *inode, struct file *file)
{
	struct listing *l;

	if (!memtap_may(MEMTAP_MAY_COUNT))
		return -EPERM;
	l = __seq_open_private(file, &recorded_ops, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->only = inode->i_private;
	return 0;
}

static int recorded_release(struct inode *inode, struct file *file)
{
	struct listing *l = ((struct seq_file *)file->private_data)->private;

	memtap_vfree(l->items);
	return seq_release_private(inode, file);
}

const struct file_operations memtap_recorded_fops = {
	.owner = THIS_MODULE,
	.open = recorded_open,
	.read = memtap_debugfs_read,
	.llseek = seq_lseek,
	.release = recorded_release,
};
