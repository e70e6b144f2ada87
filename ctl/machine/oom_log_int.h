/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_OOM_LOG_INT_H
#define _MACHINE_OOM_LOG_INT_H

#include "machine/oom_log.h"

/* A row of the kernel's list of processes; sizes in pages but for @tables. */
struct oom_log_row {
	__s32 pid, adj;
	__u32 uid;
	bool split;
	__u64 virt, rss, anon, file, shmem, swap;
	__u64 tables;			/* bytes, or pages where @table_pages */
	bool table_pages;
	char name[16];
};

#define ANON_LISTS	3

/* A kill while it is read. */
struct oom_log_part {
	struct oom_log_kill k;
	bool open;			/* there is one */
	bool tentative;			/* its first line is lost, or it is no OOM report at all */
	bool failure;			/* it is of an allocation that failed */
	bool in_table, in_caches, in_stack, other_stack, in_stat, group;
	char columns[16][16];		/* of the list of processes */
	size_t nr_columns;
	struct oom_log_row *rows;
	size_t nr_rows, room_rows;
	__u64 pages[MEMTAP_NR_VM];	/* counters in pages; MEMTAP_OOM_UNKNOWN */
	__u64 swap_cached, mapped;
	__u32 anon_lists;		/* of ANON_LISTS, those that were read */
	__u64 ram_pages, reserved_pages;
	bool has_ram, has_reserved;
	__u64 stat_mapped;		/* of the cgroup, bytes; MEMTAP_OOM_UNKNOWN */
	__u64 victim_virt_kb;
};

/* oom_log_prefix.c: the kernel's text of a line, NULL: it is another program's.  @when: its time,
 * as text, if it says it.
 */
char *oom_log_text(char *line, char when[40]);

/* oom_log_lines.c: takes a line of a report that is open. */
void oom_log_line(struct oom_log_part *p, char *text);
/* "process 12 (name) ...": PID and name; false: it is no such text. */
bool oom_log_victim(const char *text, __s32 *pid, char name[16]);
/* The number that stands behind @key; false: there is none. */
bool oom_log_number(const char *text, const char *key, __u64 *v);

/* oom_log_memtap.c: takes a line that memtap printed at a panic, without its name before it.
 * @earlier: the last kill before it.
 */
void oom_log_memtap(struct oom_log_kill *k, struct oom_log_kill *earlier, char *text);

/* oom_log_sums.c: what follows from all that was read. */
void oom_log_finish(struct oom_log_part *p);
/* Has the list this process? */
bool oom_log_lists(const struct oom_log_part *p, __s32 pid);

#endif
