// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create the debugfs files, which show the module's data without the tool.  They are read-only
 * with mode 0444, because lockdown allows no other mode.  debugfs itself is 0700, but may be
 * mounted with other modes or in a container; hence each open checks the same rights as the
 * device does.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "core/names.h"
#include "recorder/debugfs.h"
#include "session/session.h"

static struct dentry *root;

static int hooks_show(struct seq_file *m, void *v)
{
	struct memtap_hook_state h;
	u32 i;

	memtap_debugfs_banner(m);
	seq_printf(m, "%-20s %-16s %-9s %5s %5s %12s %8s  %s\n", "event", "way",
		   "state", "errno", "users", "hits", "missed", "target");
	for (i = 0;; i++) {
		memset(&h, 0, sizeof(h));
		h.index = i;
		if (memtap_hook_info(&h))
			break;
		memtap_show_padded(m, h.event, 20);
		seq_printf(m, " %-16s %-9s %5u %5u %12llu %8llu  ", way_name(h.way),
			   hook_name(h.state), h.error, h.users, h.hits, h.missed);
		memtap_show_name(m, h.target);
		seq_putc(m, '\n');
	}
	return 0;
}

/* "running" lasts until STOP completes; a session that START still prepares is "configured". */
static const char *state_of(const struct memtap_session *s)
{
	static const char *const states[] = { "new", "configured", "running", "stopped" };
	enum memtap_state state = READ_ONCE(s->state);

	if (state == MEMTAP_RUNNING && !smp_load_acquire(&s->running) &&
	    !READ_ONCE(s->stop_ns))
		state = MEMTAP_CONFIGURED;
	return states[state];
}

static void show_session(struct memtap_session *s, void *ctx)
{
	struct seq_file *m = ctx;
	u64 counted, lost;
	u32 i;

	memtap_session_totals(s, &counted, &lost);
	seq_printf(m, "%5u %7d ", s->nr, s->opener);
	memtap_show_padded(m, s->opener_comm, 16);
	seq_printf(m, " %-10s %8llu KiB counted %llu lost %llu:", state_of(s),
		   READ_ONCE(s->mem_total) >> 10, counted, lost);
	for (i = 0; i < smp_load_acquire(&s->nr_events); i++) {
		seq_putc(m, ' ');
		memtap_show_name(m, s->events[i]->name);
	}
	seq_putc(m, '\n');
}

static int sessions_show(struct seq_file *m, void *v)
{
	memtap_debugfs_banner(m);
	memtap_for_each_session(show_session, m);
	return 0;
}

MEMTAP_SHOW_FOPS(memtap_hooks, hooks_show);
MEMTAP_SHOW_FOPS(memtap_sessions, sessions_show);

/* Without debugfs (or where it is forbidden) everything else works. */
void memtap_debugfs_init(void)
{
	struct dentry *stacks;
	u32 i;

	root = debugfs_create_dir("memtap", NULL);
	if (IS_ERR_OR_NULL(root))
		return;
	debugfs_create_file("summary", 0444, root, NULL, &memtap_recorded_fops);
	debugfs_create_file("hooks", 0444, root, NULL, &memtap_hooks_fops);
	debugfs_create_file("sessions", 0444, root, NULL, &memtap_sessions_fops);
	debugfs_create_file("oom", 0444, root, NULL, &memtap_oom_fops);
	debugfs_create_file("slab", 0444, root, NULL, &memtap_slab_fops);
	debugfs_create_file("pages", 0444, root, NULL, &memtap_pages_fops);
	debugfs_create_file("reclaim", 0444, root, NULL, &memtap_reclaim_fops);
	debugfs_create_file("compact", 0444, root, NULL, &memtap_compact_fops);
	debugfs_create_file("swap", 0444, root, NULL, &memtap_swap_fops);
	debugfs_create_file("pressure", 0444, root, NULL, &memtap_pressure_fops);
	stacks = debugfs_create_dir("stacks", root);
	if (IS_ERR_OR_NULL(stacks))
		return;
	for (i = 0; i < memtap_nr_builtins; i++)
		debugfs_create_file(memtap_builtins[i]->name, 0444, stacks,
				    (void *)memtap_builtins[i], &memtap_recorded_fops);
}

void memtap_debugfs_exit(void)
{
	if (!IS_ERR_OR_NULL(root))
		debugfs_remove_recursive(root);
}
