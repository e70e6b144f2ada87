// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choose the next command for each finding.  Another command is another line.  Of the commands for
 * one finding, the first one that can run here is chosen.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "triage/int.h"

/*
 * @command: {pid} and {name} are filled in, the name as a shell takes it.  A line with one of
 * them is for findings that have it.
 * @needs: what must be so; NULL: nothing.  A file that is there; "name=": what the name
 * begins with; "sized": it ends like one of kmalloc's caches (msg_msg-4k: since v6.11 some
 * have such of their own, which may also be a cache of objects, biovec-64).
 */
static const struct {
	enum triage_what what;
	const char *command, *needs, *tells;
} table[] = {
	{ FOUND_OOM_CGROUP, "memtap oom --last 1", "/dev/memtap",
	  "who was killed, who wanted more, and what the memory was used for" },
	{ FOUND_OOM_CGROUP, "memtap faults --cgroup {name} -d 10", NULL,
	  "where in its programs memory is touched for the first time, by stack" },
	{ FOUND_OOM_LEAK, "memtap leaks -p {pid} -d 10", NULL,
	  "what it allocates and does not free, by stack" },
	{ FOUND_OOM_PROGRAM, "memtap oom --last 1", "/dev/memtap",
	  "who was killed, who wanted more, and what the memory was used for" },
	{ FOUND_OOM_PROGRAM, "memtap leaks --comm {name} -d 10", NULL,
	  "what it allocates and does not free, by stack" },
	{ FOUND_OOM, "memtap oom --last 1", "/dev/memtap",
	  "who was killed, who wanted more, and what the memory was used for" },
	{ FOUND_OOM, "memtap faults --by program -d 10", NULL,
	  "which programs touch new memory, and where" },
	{ FOUND_LEAK, "memtap leaks -p {pid} -d 10", NULL,
	  "what it allocates and does not free, by stack; where that is little, memtap heap with "
	  "its PID shows what malloc keeps free" },
	{ FOUND_PROGRAM, "memtap faults --comm {name} --by program -d 10", NULL,
	  "where they touch new memory, all of them together" },
	{ FOUND_TMPFS, "memtap shmem -d 10", NULL,
	  "which programs write to it, by stack and file" },
	{ FOUND_SHMEM, "memtap faults -p {pid} -d 10", NULL,
	  "where it touches new memory, by stack" },
	{ FOUND_SHMEM, "memtap shmem -d 10", NULL,
	  "which programs fill shared memory, by stack and file" },
	{ FOUND_KERNEL, "memtap leaks -k --census 10 1", NULL,
	  "which kind of kernel memory it is: cache, vmalloc, page tables and so on" },
	{ FOUND_KERNEL_HOLDS, "memtap leaks -k --census 10 1", NULL,
	  "which kind of kernel memory it is: cache, vmalloc, page tables and so on" },
	{ FOUND_SLAB, "memtap leaks -k --cache {name} -d 10", NULL,
	  "who asks for its objects and does not free them, by kernel stack" },
	{ FOUND_SLAB, "memtap leaks -k -d 10", NULL,
	  "who asks for objects and does not free them, by kernel stack" },
	{ FOUND_VMALLOC, "memtap leaks -k -d 10", NULL,
	  "who asks for areas and does not give them back, by kernel stack" },
	{ FOUND_SITE, "memtap stacks k:{name} -K -d 10", NULL,
	  "who calls it, by kernel stack" },
	{ FOUND_PAGE_TABLES, "memtap faults -p {pid} -d 10", NULL,
	  "where it touches new memory, and needs tables for it" },
	{ FOUND_PAGE_TABLES, "memtap faults --by program -d 10", NULL,
	  "which programs touch new memory, and need tables for it" },
	{ FOUND_STACKS, "memtap stacks t:sched:sched_process_fork --by program -d 10", NULL,
	  "who starts threads and processes, by stack" },
	{ FOUND_PERCPU, "memtap leaks -k --percpu -d 10", NULL,
	  "who asks for it and does not give it back, by kernel stack" },
	{ FOUND_PAGES, "memtap leaks -k -d 10", NULL,
	  "who asks for pages and does not give them back, by kernel stack" },
	{ FOUND_SOCKETS, "memtap leaks -k -d 10", NULL,
	  "what fills buffers of sockets that nobody reads, by kernel stack" },
	{ FOUND_SWAPPING, "memtap swap -p {pid} -d 10", NULL,
	  "how often it needs what was swapped out, and waits for it" },
	{ FOUND_SWAPPING, "memtap swap -d 10", NULL,
	  "which programs need what was swapped out, and wait for it" },
	{ FOUND_THRASHING, "memtap stacks major-fault --by program -d 10", NULL,
	  "which programs need the pages that were taken from them, and where" },
	{ FOUND_FRAGMENTED, "memtap compact --stacks -d 10", NULL,
	  "who asks for large blocks and waits for compaction, by stack" },
	{ FOUND_LIMIT, "memtap faults --cgroup {name} -d 10", NULL,
	  "where in its programs memory is touched for the first time, by stack" },
	{ FOUND_RECLAIM, "memtap reclaim --stacks -d 10", NULL,
	  "who has to reclaim memory before getting any, and how long it takes" },
	{ FOUND_RECLAIM_CGROUP, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "who has to reclaim memory before getting any, and how long it takes" },
	{ FOUND_RECLAIM_CGROUP, "memtap reclaim --stacks -d 10", NULL,
	  "who has to reclaim memory before getting any, and how long it takes" },
	{ FOUND_LIMIT_FILES, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "who has to reclaim memory there before getting any, and how long it takes" },
	{ FOUND_HIGH, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "who waits there, for what and how long, by stack" },
	{ FOUND_WAITS, "memtap reclaim --stacks -d 10", NULL,
	  "who waits for memory, for what and how long, by stack" },
	{ FOUND_RECLAIMABLE, "memtap leaks -k --cache {name} -d 10", NULL,
	  "who asks for its objects, by kernel stack" },
	{ FOUND_RECLAIMABLE, "memtap leaks -k -d 10", NULL,
	  "who asks for objects, by kernel stack" },
	{ FOUND_UNEVICTABLE, "memtap stacks t:filemap:mm_filemap_add_to_page_cache -d 10",
	  "/sys/kernel/tracing/events/filemap", "who adds pages to files, by stack" },
	{ FOUND_UNEVICTABLE, "memtap stacks t:filemap:mm_filemap_add_to_page_cache -d 10",
	  "/sys/kernel/debug/tracing/events/filemap", "who adds pages to files, by stack" },
	{ FOUND_UNEVICTABLE, "memtap stacks k:add_to_page_cache_lru -d 10", NULL,
	  "who adds pages to files, by stack" },
	{ FOUND_COMMIT, "memtap mmap --snoop -p {pid} -d 10", NULL,
	  "each of its calls that asks for memory, and which of them fail" },
	{ FOUND_COMMIT, "memtap mmap --snoop -d 10", NULL,
	  "each call that asks for memory, and which of them fail" },
	{ FOUND_ZOMBIES, "memtap stacks t:sched:sched_process_fork -p {pid} -d 10", NULL,
	  "where it starts them, by stack" },
	{ FOUND_UNDEAD, "cat /proc/{pid}/stack", NULL, "in which kernel function it waits" },
	{ FOUND_HOLDS_PROCESS, "memtap heap {pid}", NULL,
	  "what malloc holds of it: in use, lost, or free and not given back (fragmentation)" },
	{ FOUND_HOLDS_SHARED, "memtap shmem -d 10", NULL,
	  "which programs fill shared memory from now on, by stack and file" },
	{ FOUND_HOLDS, "memtap triage 60 10", NULL,
	  "the same over ten minutes: whether it stays as it is" },
	{ FOUND_NOTHING, "memtap triage 60 10", NULL,
	  "the same over ten minutes: a slow leak needs longer to be seen" },
	{ FOUND_NO_KERNEL, "memtap leaks -k --census 60 10", NULL,
	  "the same over ten minutes: a slow leak needs longer to be seen" },
};

#define NR_ADVICE	(sizeof(table) / sizeof(table[0]))

const char *triage_advice(size_t nr)
{
	return nr < NR_ADVICE ? table[nr].command : NULL;
}

/* Means nothing to a shell, or to an option. */
static bool is_plain(const char *name)
{
	const char *p = name;

	while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
	       (*p && strchr("_./:@%+=,-", *p)))
		p++;
	return *name && *name != '-' && !*p;
}

void triage_quote(const char *name, char *to, size_t room)
{
	size_t n = 0;

	if (is_plain(name)) {
		snprintf(to, room, "%s", name);
		return;
	}
	to[n++] = '\'';
	for (; *name && n + 6 < room; name++) {
		if (*name == '\'') {
			memcpy(to + n, "'\\''", 4);
			n += 4;
		} else {
			to[n++] = *name;
		}
	}
	to[n++] = '\'';
	to[n] = '\0';
}

static void fill_in(struct triage_finding *f, const char *pattern)
{
	const size_t room = sizeof(f->command);
	char name[sizeof(f->name) + 16];
	size_t n = 0;

	f->command[0] = '\0';
	while (*pattern && n < room) {
		int used;

		if (!strncmp(pattern, "{pid}", 5)) {
			used = snprintf(f->command + n, room - n, "%u", f->pid);
			pattern += 5;
		} else if (!strncmp(pattern, "{name}", 6)) {
			triage_quote(f->name, name, sizeof(name));
			used = snprintf(f->command + n, room - n, "%s", name);
			pattern += 6;
		} else {
			used = snprintf(f->command + n, room - n, "%c", *pattern++);
		}
		n += used > 0 ? (size_t)used : 0;
	}
}

static bool is_sized(const char *name)
{
	static const char *const sizes[] = {
		"8", "16", "32", "64", "96", "128", "192", "256", "512", "1k", "2k", "4k", "8k",
	};
	const char *dash = strrchr(name, '-');

	for (size_t i = 0; dash && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(dash + 1, sizes[i]))
			return true;
	return false;
}

static bool fits(const struct triage_finding *f, const struct machine_at *at, const char *needs)
{
	char path[PATH_MAX];

	if (!needs)
		return true;
	if (!strcmp(needs, "sized"))
		return is_sized(f->name);
	if (!strncmp(needs, "name=", 5))
		return !strncmp(f->name, needs + 5, strlen(needs + 5));
	snprintf(path, sizeof(path), "%s%s", at->root, needs);
	return !access(path, F_OK);
}

static void advise_one(struct triage_finding *f, const struct machine_at *at)
{
	for (size_t i = 0; i < NR_ADVICE; i++) {
		if (table[i].what != f->what ||
		    (strstr(table[i].command, "{pid}") && !f->pid) ||
		    (strstr(table[i].command, "{name}") && !*f->name) ||
		    !fits(f, at, table[i].needs))
			continue;
		fill_in(f, table[i].command);
		f->tells = table[i].tells;
		return;
	}
}

void advise(struct triage *t, const struct machine_at *at)
{
	for (size_t i = 0; i < t->nr_found; i++)
		advise_one(&t->found[i], at);
}
