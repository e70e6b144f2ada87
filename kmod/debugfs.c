// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same numbers for people without the tool.  Read-only and 0444: where the
 * kernel is locked down nothing else is allowed.  debugfs itself is 0700, but may
 * be mounted for everybody, or in a container: who may not open the device may
 * not open these.
 */
#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "debugfs.h"
#include "session.h"
#include "version.h"
#include "watch.h"

#include "compat/task.h"

#define WATCH_PARAM	"/sys/module/memtap/parameters/watch"
#define SUMMARY_ROWS	5
#define STACKS_ROWS	100

static struct dentry *root;

static const char *const lost_names[MEMTAP_NR_LOST] = {
	[MEMTAP_LOST_RECURSION] = "recursion",
	[MEMTAP_LOST_NMI] = "nmi",
	[MEMTAP_LOST_TABLE] = "table-full",
	[MEMTAP_LOST_MISSED] = "probe-missed",
	[MEMTAP_LOST_RETURN] = "not-returned",
	[MEMTAP_LOST_PAIR] = "entry-not-kept",
};

static const char *const part_names[MEMTAP_NR_PART] = {
	[MEMTAP_PART_STACKS_FULL] = "stack-not-kept",
	[MEMTAP_PART_DEPTH] = "cut-by-depth",
	[MEMTAP_PART_FAULT] = "cut-not-present",
	[MEMTAP_PART_CHAIN] = "cut-no-frame-pointer",
	[MEMTAP_PART_TASKS_FULL] = "task-not-kept",
	[MEMTAP_PART_TRAMPOLINE] = "trampoline",
};

static const char *const way_names[] = {
	[MEMTAP_WAY_NONE] = "-",
	[MEMTAP_WAY_KPROBE] = "kprobe",
	[MEMTAP_WAY_KRETPROBE] = "kretprobe",
	[MEMTAP_WAY_UPROBE] = "uprobe",
	[MEMTAP_WAY_URETPROBE] = "uretprobe",
	[MEMTAP_WAY_TRACEPOINT] = "tracepoint",
	[MEMTAP_WAY_PERF_TP] = "perf-tracepoint",
	[MEMTAP_WAY_PERF_SW] = "perf-software",
};

static void banner(struct seq_file *m)
{
	seq_printf(m, "# memtap %s, for people: no ABI (the tool reads %s)\n",
		   MEMTAP_VERSION, MEMTAP_DEVICE);
}

/* --- rows --------------------------------------------------------------- */

/* Counters of all CPUs with the same key. */
struct row {
	struct counter_key key;
	u64 count;
	s64 sum;
};

static int by_key(const void *a, const void *b)
{
	return memcmp(&((const struct row *)a)->key,
		      &((const struct row *)b)->key, sizeof(struct counter_key));
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
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
	sort(rows, n, sizeof(*rows), by_count, NULL);
	return n;
}

/* Frees with vfree(); NULL when there is none (*nr 0) or no memory. */
static struct row *make_rows(struct memtap_session *s, u32 event, u32 *nr)
{
	u32 max = min(READ_ONCE(s->pool.used), s->pool.nr);
	struct row *rows = vmalloc(max * sizeof(*rows));

	*nr = 0;
	if (rows)
		*nr = merge(rows, collect(s, event, rows, max));
	return rows;
}

static void show_user_frame(struct seq_file *m, const struct memtap_tasks *t,
			    u32 space, u64 ip)
{
	const struct memtap_map *map = memtap_tasks_map(t, space, ip);
	u64 off;

	if (!map) {
		seq_printf(m, "    0x%llx\n", ip);
		return;
	}
	off = ip - map->start + map->offset;
	if (map->file)
		seq_printf(m, "    %s+0x%llx\n",
			   memtap_tasks_file(t, map->file)->path, off);
	else
		seq_printf(m, "    %s+0x%llx\n",
			   map->flags & MEMTAP_MAP_VDSO ? "[vdso]" : "[anon]", off);
}

/* Code without a name would be printed as an address, which is nobody's. */
static void show_kernel_frame(struct seq_file *m, u64 ip)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%pS", (void *)(unsigned long)ip);
	seq_printf(m, "    %s\n", strncmp(name, "0x", 2) ? name : "[kernel]");
}

static void show_kept_stack(struct seq_file *m, struct memtap_session *s,
			    u32 id, u32 space)
{
	const struct stackstore_entry *e;
	u32 i;

	if (id == MEMTAP_STACK_LOST)
		seq_puts(m, "    [stack not kept]\n");
	if (id < MEMTAP_STACK_FIRST)
		return;
	e = stackstore_get(&s->stacks, id);
	for (i = 0; i < e->nr; i++) {
		if (e->flags & MEMTAP_STACK_USER)
			show_user_frame(m, &s->tasks, space, e->ip[i]);
		else
			show_kernel_frame(m, e->ip[i]);
	}
	if (e->flags & (MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT |
			MEMTAP_STACK_CHAIN | MEMTAP_STACK_TRAMPOLINE))
		seq_puts(m, "    [stack is not complete]\n");
}

static void show_row(struct seq_file *m, struct memtap_session *s, u32 event,
		     const struct row *r)
{
	const struct memtap_session_event *e = &s->events[event];
	const struct memtap_task *t = &s->tasks.slots[r->key.task];
	bool known = r->key.task >= MEMTAP_TASK_FIRST;

	seq_printf(m, "  %llu x %s", r->count, e->name);
	if (e->builtin && e->builtin->unit == MEMTAP_UNIT_BYTES)
		seq_printf(m, ", %lld bytes", r->sum);
	if (known)
		seq_printf(m, ", %s [%d]", t->comm, t->pid);
	seq_printf(m, "%s%s\n",
		   r->key.flags & MEMTAP_KEY_KERNEL ? ", in the kernel" : "",
		   r->key.flags & MEMTAP_KEY_FAILED ? ", failed" : "");
	show_kept_stack(m, s, r->key.kstack, 0);
	show_kept_stack(m, s, r->key.ustack, known ? t->space : 0);
}

static void show_rows(struct seq_file *m, struct memtap_session *s, u32 event,
		      u32 most)
{
	struct row *rows;
	u32 nr, i;

	rows = make_rows(s, event, &nr);
	if (!rows) {
		seq_puts(m, "  (no memory to sort the stacks)\n");
		return;
	}
	for (i = 0; i < nr && i < most; i++)
		show_row(m, s, event, &rows[i]);
	if (nr > most)
		seq_printf(m, "  and %u smaller ones\n", nr - most);
	vfree(rows);
}

/* --- summary ------------------------------------------------------------ */

static void show_reasons(struct seq_file *m, const char *what, const u64 *n,
			 const char *const *names, u32 nr)
{
	u32 i;

	seq_printf(m, "    %s:", what);
	for (i = 0; i < nr; i++)
		seq_printf(m, " %s %llu", names[i], n[i]);
	seq_putc(m, '\n');
}

static void show_account(struct seq_file *m, struct memtap_session *s, u32 event)
{
	u64 end = s->state == MEMTAP_RUNNING ? ktime_get_ns() : s->stop_ns;
	u64 ms = max_t(u64, div_u64(end - s->start_ns, 1000000), 1);
	struct memtap_stats st = { .size = sizeof(st), .event = event };

	memtap_session_stats(s, &st);
	seq_printf(m, "  %-16s seen %llu (%llu/s), counted %llu, filtered %llu\n",
		   s->events[event].name, st.seen, div64_u64(st.seen * 1000, ms),
		   st.counted, st.filtered);
	show_reasons(m, "lost", st.lost, lost_names, MEMTAP_NR_LOST);
	show_reasons(m, "not whole", st.part, part_names, MEMTAP_NR_PART);
}

static void show_summary(struct seq_file *m, struct memtap_session *s)
{
	u32 i;

	seq_printf(m, "flight recorder: on for %llu s, tables take %llu KiB\n",
		   div_u64(ktime_get_ns() - s->start_ns, NSEC_PER_SEC),
		   s->mem_total >> 10);
	seq_printf(m, "stacks %llu of %llu KiB, counters %u of %u, ",
		   stackstore_used(&s->stacks) >> 10,
		   (u64)s->stacks.nr_words * sizeof(u64) >> 10,
		   min(READ_ONCE(s->pool.used), s->pool.nr) - 1, s->pool.nr - 1);
	seq_printf(m, "tasks %u of %u, mappings lost %llu, spaces missed %llu\n",
		   s->tasks.used - MEMTAP_TASK_FIRST, s->tasks.nr - MEMTAP_TASK_FIRST,
		   s->tasks.maps_lost, s->tasks.spaces_missed);
	for (i = 0; i < s->nr_events; i++)
		show_account(m, s, i);
	for (i = 0; i < s->nr_events; i++) {
		seq_printf(m, "largest of %s:\n", s->events[i].name);
		show_rows(m, s, i, SUMMARY_ROWS);
	}
}

static int summary_show(struct seq_file *m, void *v)
{
	struct memtap_session *s = memtap_watch_get();

	banner(m);
	if (s)
		show_summary(m, s);
	else
		seq_puts(m, "flight recorder: off; to switch it on: echo fault,brk,mmap > "
			 WATCH_PARAM "\n");
	memtap_watch_put();
	return 0;
}

static int hooks_show(struct seq_file *m, void *v)
{
	static const char *const states[] = { "idle", "attached", "failed" };
	struct memtap_hook_state h;
	u32 i;

	banner(m);
	seq_printf(m, "%-20s %-16s %-9s %5s %5s %12s %8s  %s\n", "event", "way",
		   "state", "errno", "users", "hits", "missed", "target");
	for (i = 0;; i++) {
		memset(&h, 0, sizeof(h));
		h.index = i;
		if (memtap_hook_info(&h))
			break;
		seq_printf(m, "%-20s %-16s %-9s %5u %5u %12llu %8llu  %s\n",
			   h.event, way_names[h.way], states[h.state], h.error,
			   h.users, h.hits, h.missed, h.target);
	}
	return 0;
}

static void show_session(struct memtap_session *s, void *ctx)
{
	static const char *const states[] = { "new", "configured", "running", "stopped" };
	struct seq_file *m = ctx;
	u64 counted, lost;
	u32 i;

	memtap_session_totals(s, &counted, &lost);
	seq_printf(m, "%5u %7d %-16s %-10s %8llu KiB counted %llu lost %llu:",
		   s->nr, s->opener, s->opener_comm, states[s->state],
		   s->mem_total >> 10, counted, lost);
	for (i = 0; i < s->nr_events; i++)
		seq_printf(m, " %s", s->events[i].name);
	seq_putc(m, '\n');
}

static int sessions_show(struct seq_file *m, void *v)
{
	banner(m);
	memtap_for_each_session(show_session, m);
	return 0;
}

static int stacks_show(struct seq_file *m, void *v)
{
	const struct memtap_builtin *b = m->private;
	struct memtap_session *s = memtap_watch_get();
	u32 i, found = 0;

	banner(m);
	for (i = 0; s && i < s->nr_events; i++) {
		if (s->events[i].builtin != b)
			continue;
		show_account(m, s, i);
		show_rows(m, s, i, STACKS_ROWS);
		found = 1;
	}
	if (!found)
		seq_printf(m, "the flight recorder does not watch %s; see " WATCH_PARAM "\n",
			   b->name);
	memtap_watch_put();
	return 0;
}

#define SHOW_FOPS(_name)						\
static int _name##_open(struct inode *inode, struct file *file)		\
{									\
	if (!memtap_may_open())						\
		return -EPERM;						\
	return single_open(file, _name##_show, inode->i_private);	\
}									\
									\
static const struct file_operations _name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = _name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

SHOW_FOPS(summary);
SHOW_FOPS(hooks);
SHOW_FOPS(sessions);
SHOW_FOPS(stacks);

/* Without debugfs (or where it is forbidden) everything else works. */
void memtap_debugfs_init(void)
{
	struct dentry *stacks;
	u32 i;

	root = debugfs_create_dir("memtap", NULL);
	if (IS_ERR_OR_NULL(root))
		return;
	debugfs_create_file("summary", 0444, root, NULL, &summary_fops);
	debugfs_create_file("hooks", 0444, root, NULL, &hooks_fops);
	debugfs_create_file("sessions", 0444, root, NULL, &sessions_fops);
	stacks = debugfs_create_dir("stacks", root);
	if (IS_ERR_OR_NULL(stacks))
		return;
	for (i = 0; i < memtap_nr_builtins; i++)
		debugfs_create_file(memtap_builtins[i]->name, 0444, stacks,
				    (void *)memtap_builtins[i], &stacks_fops);
}

void memtap_debugfs_exit(void)
{
	if (!IS_ERR_OR_NULL(root))
		debugfs_remove_recursive(root);
}
