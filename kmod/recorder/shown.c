// SPDX-License-Identifier: GPL-2.0-only
/* Print stacks, names and event accounts for the debugfs files. */
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "core/names.h"
#include "port/utf8.h"
#include "record/record.h"
#include "recorder/debugfs.h"
#include "session/session.h"

ssize_t memtap_debugfs_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	return memtap_may(MEMTAP_MAY_COUNT) ? seq_read(file, buf, size, pos) : -EPERM;
}

void memtap_show_padded(struct seq_file *m, const char *name, u32 width)
{
	u32 written = 0;
	int shown, len, i;

	for (; *name; name += len) {
		len = utf8_shown(name, &shown);
		for (i = 0; shown && i < len; i++)
			seq_putc(m, name[i]);
		if (!shown)
			seq_putc(m, '?');
		written += shown ? len : 1;
	}
	for (; written < width; written++)
		seq_putc(m, ' ');
}

void memtap_show_name(struct seq_file *m, const char *name)
{
	memtap_show_padded(m, name, 0);
}

void memtap_show_offset(struct seq_file *m, const char *path, u64 offset)
{
	seq_puts(m, "    ");
	memtap_show_name(m, path);
	seq_printf(m, "+0x%llx\n", offset);
}

static void show_user_frame(struct seq_file *m, const struct memtap_tasks *t,
			    u32 space, u32 era, u64 ip)
{
	const struct codemap *map = memtap_tasks_map(t, space, era, ip);
	u64 off;

	if (!map) {
		seq_printf(m, "    0x%llx\n", ip);
		return;
	}
	off = ip - map->start + map->offset;
	memtap_show_offset(m, map->file ? memtap_tasks_file(t, map->file)->path :
		    map->flags & MEMTAP_MAP_VDSO ? "[vdso]" : "[jit]", off);
}

static void show_line(struct seq_file *m, const char *name)
{
	seq_puts(m, "    ");
	memtap_show_name(m, name);
	seq_putc(m, '\n');
}

/* A frame may be in a module that was unloaded: the session kept its symbols. */
static void show_session_frame(struct seq_file *m, struct memtap_session *s, u64 ip)
{
	char name[KSYM_SYMBOL_LEN];

	if (s->nr_gone && memtap_gone_name(s, ip, name, sizeof(name)))
		show_line(m, name);
	else
		memtap_show_kernel_frame(m, ip);
}

/* %pS prints the address of code without a symbol: never show that. */
void memtap_show_kernel_frame(struct seq_file *m, u64 ip)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%pS", (void *)(unsigned long)ip);
	show_line(m, strncmp(name, "0x", 2) ? name : "[kernel]");
}

void memtap_show_stack(struct seq_file *m, struct memtap_session *s, u32 id, u32 space)
{
	const struct stackstore_entry *e;
	u32 i;

	if (id == MEMTAP_STACK_LOST)
		seq_puts(m, "    [stack not recorded: table full]\n");
	if (id < MEMTAP_STACK_FIRST)
		return;
	e = stackstore_get(&s->stacks, id);
	for (i = 0; i < e->nr; i++) {
		if (e->flags & MEMTAP_STACK_USER)
			show_user_frame(m, &s->tasks, space, e->era, e->ip[i]);
		else
			show_session_frame(m, s, e->ip[i]);
	}
	if (e->flags & MEMTAP_STACK_CUTS)
		seq_puts(m, "    [stack truncated]\n");
}

static void show_reasons(struct seq_file *m, const char *what, const u64 *n,
			 const char *(*name)(u32 reason), u32 nr)
{
	u32 i;

	seq_printf(m, "    %s:", what);
	for (i = 0; i < nr; i++)
		seq_printf(m, " %s %llu", name(i), n[i]);
	seq_putc(m, '\n');
}

void memtap_show_account(struct seq_file *m, struct memtap_session *s, u32 event)
{
	u64 end = s->state == MEMTAP_RUNNING ? ktime_get_ns() : s->stop_ns;
	u64 ms = max_t(u64, div_u64(end - s->start_ns, 1000000), 1);
	struct memtap_stats st = { .size = sizeof(st), .event = event };

	memtap_session_stats(s, &st);
	seq_puts(m, "  ");
	memtap_show_padded(m, s->events[event]->name, 16);
	seq_printf(m, " seen %llu (%llu/s), counted %llu, filtered %llu\n",
		   st.seen, div64_u64(st.seen * 1000, ms), st.counted, st.filtered);
	show_reasons(m, "lost", st.lost, lost_name, MEMTAP_NR_LOST);
	show_reasons(m, "incomplete", st.part, part_name, MEMTAP_NR_PART);
}
