/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_DEVICE_H
#define _T_DEVICE_H

/*
 * For tests that ill-treat the device: what must be as before, by what the device
 * tells of hooks and sessions, and functions of this program that may be probed.
 */
#include <sys/mman.h>

#include "session.h"

#define DEBUGFS			"/sys/kernel/debug/"
#define PARAMETER(_name)	"/sys/module/memtap/parameters/" _name

/* Any command's structure. */
union arg {
	uint32_t size;
	struct memtap_info info;
	struct memtap_event_info event;
	struct memtap_hook_state hook;
	struct memtap_config config;
	struct memtap_attach attach;
	struct memtap_run run;
	struct memtap_stats stats;
	struct memtap_table table;
	struct memtap_wanted wanted;
	struct memtap_trace trace;
	struct memtap_held held;
	struct memtap_events events;
	struct memtap_field field;
	struct memtap_similar similar;
	struct memtap_symbol symbol;
	struct memtap_ages ages;
	struct memtap_mark mark;
	struct memtap_other other;
	struct memtap_recorded recorded;
};

static inline bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* --- what must be as before ------------------------------------------------ */

struct state {
	unsigned int hooks, attached, users, sessions;
};

static int control = -1;		/* a session that only asks */

static inline struct state look(void)
{
	struct memtap_info info = { .size = sizeof(info) };
	struct memtap_hook_state h = { .size = sizeof(h) };
	struct state st = { 0 };

	session_must(ioctl(control, MEMTAP_INFO, &info), "INFO");
	st.hooks = info.nr_hooks;
	st.sessions = info.nr_sessions;
	for (h.index = 0; !ioctl(control, MEMTAP_HOOK, &h); h.index++) {
		st.attached += h.state == MEMTAP_HOOK_ATTACHED;
		st.users += h.users;
	}
	return st;
}

static inline bool same(const struct state *a, const struct state *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline unsigned int lines_with(const char *path, const char *what)
{
	FILE *f = fopen(path, "re");
	char line[512];
	unsigned int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, what);
	if (f)
		fclose(f);
	return n;
}

/* What the kernel holds for the module; some of it goes a little later. */
static inline unsigned int held_areas(void)
{
	return lines_with("/proc/vmallocinfo", "[memtap]");
}

/* Those that do not stand from insmod to rmmod. */
static inline unsigned int kprobes_left(void)
{
	return lines_with(DEBUGFS "kprobes/list", "") -
	       lines_with(DEBUGFS "kprobes/list", "oom_kill_process+0x0");
}

static inline bool kernel_forgot(unsigned int areas)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (held_areas() == areas && !kprobes_left())
			return true;
		usleep(100000);
	}
	diag("%u areas of vmalloc, %u before; %u kprobes", held_areas(), areas,
	     kprobes_left());
	return false;
}

/* --- functions to probe ---------------------------------------------------- */

#define PROBED	__attribute__((noipa, used))
#define CALLS	150			/* more than the module copies at once */

static char blocks[CALLS][16];

PROBED int probed(int x)
{
	return x + 1;
}

PROBED void *handed_out(size_t size, unsigned int i)
{
	return size ? blocks[i % CALLS] : NULL;
}

/* Where a function of this program is in its file. */
static inline uint64_t place_of(const void *fn)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long long start, end, offset;
	uint64_t at = 0;
	char line[512];

	while (f && !at && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		    (uintptr_t)fn >= start && (uintptr_t)fn < end)
			at = (uintptr_t)fn - start + offset;
	if (f)
		fclose(f);
	return at;
}

/* perf's number of a tracepoint, "subsystem/name"; 0: not known. */
static inline uint64_t perf_id(const char *event)
{
	unsigned long long id = 0;
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), DEBUGFS "tracing/events/%s/id", event);
	f = fopen(name, "re");
	if (f && fscanf(f, "%llu", &id) != 1)
		id = 0;
	if (f)
		fclose(f);
	return id;
}

#endif
