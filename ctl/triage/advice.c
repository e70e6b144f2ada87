// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choose the next command for each finding.  Another command is another line.  Of the commands for
 * one finding, the first one that can run here is chosen.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "triage/diagnose.h"
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
	  "the victim, the process that triggered the kill, and what used the memory" },
	{ FOUND_OOM_CGROUP, "memtap faults --cgroup {name} -d 10", NULL,
	  "where its programs touch new memory, by stack" },
	{ FOUND_OOM_LEAK, "memtap leaks -p {pid} -d 10", NULL,
	  "what it allocates and does not free, by stack" },
	{ FOUND_OOM_PROGRAM, "memtap oom --last 1", "/dev/memtap",
	  "the victim, the process that triggered the kill, and what used the memory" },
	{ FOUND_OOM_PROGRAM, "memtap leaks --comm {name} -d 10", NULL,
	  "what it allocates and does not free, by stack" },
	{ FOUND_OOM, "memtap oom --last 1", "/dev/memtap",
	  "the victim, the process that triggered the kill, and what used the memory" },
	{ FOUND_OOM, "memtap faults --by program -d 10", NULL,
	  "which programs touch new memory, and where" },
	{ FOUND_LEAK, "memtap leaks -p {pid} -d 10", NULL,
	  "what it allocates and does not free, by stack; where that is little, memtap heap with "
	  "its PID shows what malloc keeps free" },
	{ FOUND_LEAK_TOUCHED, "memtap faults -p {pid} -d 10", NULL,
	  "where it touches new memory, by stack" },
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
	  "which kernel stacks allocate its objects and do not free them" },
	{ FOUND_SLAB, "memtap leaks -k -d 10", NULL,
	  "which kernel stacks allocate objects and do not free them" },
	{ FOUND_VMALLOC, "memtap leaks -k -d 10", NULL,
	  "which kernel stacks allocate areas and do not free them" },
	{ FOUND_SITE, "memtap stacks k:{name} -K -d 10", NULL,
	  "which kernel stacks call it" },
	{ FOUND_PAGE_TABLES, "memtap faults -p {pid} -d 10", NULL,
	  "where it touches new memory, and needs tables for it" },
	{ FOUND_PAGE_TABLES, "memtap faults --by program -d 10", NULL,
	  "which programs touch new memory, and need tables for it" },
	{ FOUND_STACKS, "memtap stacks t:sched:sched_process_fork --by program -d 10", NULL,
	  "which stacks start threads and processes" },
	{ FOUND_PERCPU, "memtap leaks -k --percpu -d 10", NULL,
	  "which kernel stacks allocate it and do not free it" },
	{ FOUND_PAGES, "memtap leaks -k -d 10", NULL,
	  "which kernel stacks allocate pages and do not free them" },
	{ FOUND_SOCKETS, "memtap leaks -k -d 10", NULL,
	  "which kernel stacks fill socket buffers that are not read" },
	{ FOUND_SWAPPING, "memtap swap -p {pid} -d 10", NULL,
	  "how often it waits for swapped-out pages" },
	{ FOUND_SWAPPING, "memtap swap -d 10", NULL,
	  "which programs wait for swapped-out pages" },
	{ FOUND_THRASHING, "memtap stacks major-fault --by program -d 10", NULL,
	  "which programs need reclaimed pages again, and where" },
	{ FOUND_FRAGMENTED, "memtap compact --stacks -d 10", NULL,
	  "which stacks request large blocks and wait for compaction" },
	{ FOUND_LIMIT, "memtap faults --cgroup {name} -d 10", NULL,
	  "where its programs touch new memory, by stack" },
	{ FOUND_RECLAIM, "memtap reclaim --stacks -d 10", NULL,
	  "which stacks enter direct reclaim, and for how long" },
	{ FOUND_RECLAIM_CGROUP, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "which stacks enter direct reclaim, and for how long" },
	{ FOUND_RECLAIM_CGROUP, "memtap reclaim --stacks -d 10", NULL,
	  "which stacks enter direct reclaim, and for how long" },
	{ FOUND_LIMIT_FILES, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "which stacks enter direct reclaim there, and for how long" },
	{ FOUND_HIGH, "memtap reclaim --stacks --cgroup {name} -d 10", NULL,
	  "which stacks wait there, for what and how long" },
	{ FOUND_WAITS, "memtap reclaim --stacks -d 10", NULL,
	  "which stacks wait for memory, for what and how long" },
	{ FOUND_RECLAIMABLE, "memtap leaks -k --cache {name} -d 10", NULL,
	  "which kernel stacks allocate its objects" },
	{ FOUND_RECLAIMABLE, "memtap leaks -k -d 10", NULL,
	  "which kernel stacks allocate objects" },
	{ FOUND_UNEVICTABLE, "memtap stacks t:filemap:mm_filemap_add_to_page_cache -d 10",
	  "/sys/kernel/tracing/events/filemap", "which stacks add pages to the page cache" },
	{ FOUND_UNEVICTABLE, "memtap stacks t:filemap:mm_filemap_add_to_page_cache -d 10",
	  "/sys/kernel/debug/tracing/events/filemap", "which stacks add pages to the page cache" },
	{ FOUND_UNEVICTABLE, "memtap stacks k:add_to_page_cache_lru -d 10", NULL,
	  "which stacks add pages to the page cache" },
	{ FOUND_COMMIT, "memtap mmap --snoop -p {pid} -d 10", NULL,
	  "each of its calls that requests memory, and which of them fail" },
	{ FOUND_COMMIT, "memtap mmap --snoop -d 10", NULL,
	  "each call that requests memory, and which of them fail" },
	{ FOUND_ZOMBIES, "memtap stacks t:sched:sched_process_fork -p {pid} -d 10", NULL,
	  "where it starts them, by stack" },
	{ FOUND_DEAD_CGROUPS, "memtap leaks -k --census 10 1", NULL,
	  "whether they get more, and how much kernel memory is charged to them" },
	{ FOUND_HUGE, "sysctl vm.nr_hugepages", NULL,
	  "how many are reserved; a smaller number gives their memory back" },
	{ FOUND_UNDEAD, "cat /proc/{pid}/stack", NULL, "in which kernel function it waits" },
	{ FOUND_HOLDS_PROCESS, "memtap heap {pid}", NULL,
	  "its malloc heap: in use, lost, or free and not returned to the kernel" },
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

/* What `memtap record` calls the events that a command of the table shows. */
static const struct {
	const char *command, *events;
} recordings[] = {
	{ "leaks ", "--leaks" }, { "stacks ", "" }, { "faults ", "fault" }, { "shmem ", "shmem" },
	{ "swap ", "swap" }, { "reclaim ", "reclaim" }, { "compact ", "compact" },
	{ "mmap ", "mmap" },
};

/* How it is shown, and for how long, is not for a recording. */
static const char *const not_recorded[] = {
	" --stacks", " --snoop", " --by program", " -K", " -d 10",
};

static void cut_word(char *text, const char *word)
{
	const size_t len = strlen(word);
	char *last = NULL;

	/* names may be in front of it */
	for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if (!at[len] || at[len] == ' ')
			last = at;
	if (last)
		memmove(last, last + len, strlen(last + len) + 1);
}

bool triage_recording(const struct triage_finding *f, char *words, size_t len)
{
	const char *command = f->command + strlen("memtap ");

	/* the census is taken at once */
	if (strncmp(f->command, "memtap ", strlen("memtap ")) || strstr(command, "--census"))
		return false;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		const size_t skip = strlen(recordings[i].command);

		if (strncmp(command, recordings[i].command, skip))
			continue;
		snprintf(words, len, "%s%s%s", recordings[i].events,
			 *recordings[i].events ? " " : "", command + skip);
		for (size_t k = 0; k < sizeof(not_recorded) / sizeof(not_recorded[0]); k++)
			cut_word(words, not_recorded[k]);
		return true;
	}
	return false;
}

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

void triage_advise(struct triage_finding *f, const struct machine_at *at)
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

/* The process of a finding, if it is one that can be asked still. */
static bool lives(const struct triage *t, const struct triage_finding *f,
		  const struct machine_at *at)
{
	const struct machine_list *all = &t->now->processes;

	for (size_t i = 0; at->lives && i < all->nr; i++)
		if (all->at[i].pid == f->pid)
			return at->lives(at, f->pid, all->at[i].start);
	return false;
}

/*
 * Of a moment that is over: what memtap can attach to is what there is now.  A command is given
 * only where that is the process that was seen.
 */
static void advise_past(const struct triage *t, struct triage_finding *f,
			const struct machine_at *at)
{
	f->command[0] = '\0';
	if (f->pid && lives(t, f, at))
		triage_advise(f, at);
	if (!strstr(f->command, " -p ") && !strstr(f->command, "heap "))
		f->command[0] = '\0';
}

void advise(struct triage *t, const struct machine_at *at)
{
	for (size_t i = 0; i < t->nr_found; i++)
		if (at->past_ns)
			advise_past(t, &t->found[i], at);
		else
			triage_advise(&t->found[i], at);
}
