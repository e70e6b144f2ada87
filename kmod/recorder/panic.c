// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print what is known of the machine's memory when the kernel panics for want of it, so that it
 * is on the console, in pstore and in the log of a dump.  `memtap oom --log` reads it back.
 *
 * No other CPU runs any more, and may have been stopped with any lock: nothing is allocated, no
 * lock is waited for, no user memory is read, and there are at most 60 lines.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time.h>

#include "core/names.h"
#include "hooks/oom.h"
#include "live/objects.h"
#include "recorder/debugfs.h"
#include "recorder/watch.h"
#include "session/session.h"

#include "compat/clock.h"
#include "compat/panic.h"

#define LATELY_S	60		/* a kill explains a panic that comes so soon after it */
#define MOST_ZONES	12		/* printed */
#define MOST_CACHES	8

/* One line, put together piece by piece; a longer one is cut. */
static char line[320];

static const char *plain(const char *name, char *to, size_t room)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < room; i++)
		to[i] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
	to[i] = 0;
	return to;
}

/* Both clocks are the same, read in two ways. */
static u64 since(u64 then, u64 now)
{
	return now > then ? now - then : 0;
}

static void say_size(const char *name, u64 bytes)
{
	const size_t at = strlen(line);

	if (bytes != MEMTAP_OOM_UNKNOWN)
		scnprintf(line + at, sizeof(line) - at, ", %s %llu kB", name, bytes >> 10);
}

static void print_line(void)
{
	pr_emerg("%s\n", line);
}

static void say_task(const char *what, const struct memtap_oom_task *t)
{
	scnprintf(line, sizeof(line), "%s: pid %d, oom_score_adj %d, uid %u", what, t->pid,
		  t->score_adj, t->uid);
	if (!(t->flags & MEMTAP_OOM_TASK_SIZED))
		return;
	say_size("anon", t->anon);
	say_size("file", t->file);
	say_size("shmem", t->shmem);
	say_size("swap", t->swap);
	say_size("tables", t->tables);
}

/* A name may have anything in it, so it is the last on its line. */
static void print_named(const char *key, const char *name, size_t room)
{
	char text[MEMTAP_OOM_PATH];
	const size_t at = strlen(line);

	scnprintf(line + at, sizeof(line) - at, ", %s %s", key,
		  plain(name, text, min(room, sizeof(text))));
	print_line();
}

static void print_task(const char *what, const struct memtap_oom_task *t)
{
	say_task(what, t);
	print_named("name", t->comm, sizeof(t->comm));
}

static void print_kill(const struct memtap_oom_record *r, u64 now)
{
	scnprintf(line, sizeof(line), "last OOM kill: %llu s before, %s, order %d, %s",
		  div_u64(since(r->ns, now), NSEC_PER_SEC), constraint_name(r->constraint),
		  r->order,
		  r->flags & MEMTAP_OOM_KILLED ? "killed" :
		  r->flags & MEMTAP_OOM_UNSEEN ? "chosen" : "not killed");
	print_line();
	print_task("its victim", &r->victim);
	print_task("its trigger", &r->trigger);
	if (r->constraint != MEMTAP_CONSTRAINT_MEMCG)
		return;
	scnprintf(line, sizeof(line), "its limit: order %d", r->order);
	say_size("limit", r->limit);
	say_size("charged", r->usage);
	print_named("cgroup", r->limit_path, sizeof(r->limit_path));
}

static void print_machine(const struct memtap_oom_record *r)
{
	const struct memtap_oom_zone *z;
	u32 i;

	scnprintf(line, sizeof(line), "machine: page %u kB", r->page_size >> 10);
	say_size("total", r->total);
	for (i = 0; i < r->nr_counters; i++)
		say_size(vm_name(i), r->counters[i]);
	print_line();
	for (i = 0; i < r->nr_zones && i < MOST_ZONES; i++) {
		z = &r->zones[i];
		scnprintf(line, sizeof(line), "zone: node %u", z->node);
		say_size("free", z->free);
		say_size("min", z->min);
		say_size("low", z->low);
		say_size("high", z->high);
		say_size("managed", z->managed);
		print_named("name", z->name, sizeof(z->name));
	}
}

static void print_processes(const struct memtap_oom_record *r)
{
	u32 i;

	scnprintf(line, sizeof(line), "processes: %u, not read %u, not examined %u",
		  r->processes, r->unread, r->unlooked);
	say_size("anon and swap", r->held);
	print_line();
	for (i = 0; i < r->nr_top; i++)
		print_task("process", &r->top[i]);
}

/* --- kernel objects, if they were watched --------------------------------------------- */

struct grown {
	u32 id;
	s64 objects, bytes;
};

static void rank(struct grown *top, u32 *nr, const struct grown *g)
{
	u32 at = *nr;

	if (at == MOST_CACHES) {
		if (top[--at].bytes >= g->bytes)
			return;
	} else {
		++*nr;
	}
	for (; at && top[at - 1].bytes < g->bytes; at--)
		top[at] = top[at - 1];
	top[at] = *g;
}

static void print_objects(const struct memtap_session *s, u64 now)
{
	struct memtap_objects_table *t = s->objects;
	struct memtap_object_sums sums;
	struct grown top[MOST_CACHES], g;
	u32 id, i, nr = 0;

	for (id = CACHETAB_LARGE; id < READ_ONCE(t->caches.used) && id < CACHETAB_MAX; id++) {
		memtap_objects_sum_cache(t, id, &sums);
		g.id = id;
		g.objects = (s64)(sums.allocs - sums.frees - sums.unknown);
		g.bytes = (s64)(sums.bytes - sums.freed_bytes - sums.unknown_bytes);
		if (g.bytes > 0)
			rank(top, &nr, &g);
	}
	scnprintf(line, sizeof(line), "kernel objects watched: for %llu s, %u kinds shown",
		  div_u64(since(s->start_ns, now), NSEC_PER_SEC), nr);
	print_line();
	for (i = 0; i < nr; i++) {
		scnprintf(line, sizeof(line), "grown: objects %lld, bytes %lld kB",
			  top[i].objects, top[i].bytes >> 10);
		print_named("name", t->caches.entries[top[i].id].name, MEMTAP_OOM_PATH);
	}
}

/* --- was it memory? --------------------------------------------------------------- */

static bool said_so(const char *message)
{
	return message && (strstr(message, "Out of memory") ||
			   strstr(message, "deadlocked on memory"));
}

/* ZONE_DMA is of use to few, and kept free for them. */
static bool below_minimum(const struct memtap_oom_record *r)
{
	u64 free = 0, min = 0;
	u32 i;

	for (i = 0; i < r->nr_zones; i++) {
		if (!strcmp(r->zones[i].name, "DMA"))
			continue;
		free += r->zones[i].free;
		min += r->zones[i].min;
	}
	return min && free < min;
}

static const char *reason(const char *message, const struct memtap_oom_record *last,
			  const struct memtap_oom_record *r, u64 now)
{
	if (said_so(message))
		return "the kernel panicked because it was out of memory";
	if (last && since(last->ns, now) < LATELY_S * NSEC_PER_SEC)
		return "a process was OOM-killed less than a minute before";
	if (below_minimum(r))
		return "less memory is free than the kernel keeps for itself";
	return NULL;
}

static int on_panic(struct notifier_block *nb, unsigned long event, void *message)
{
	static unsigned long entered;
	const struct memtap_oom_record *last;
	struct memtap_oom_record *r;
	struct memtap_session *s;
	const char *why;
	u64 now;

	/* what panicked may have damaged what is read here: one try */
	if (test_and_set_bit(0, &entered))
		return NOTIFY_DONE;
	now = memtap_clock_ns();
	last = memtap_oom_newest();
	r = memtap_oom_survey();
	why = r ? reason(message, last, r, now) : NULL;
	if (!why)
		return NOTIFY_DONE;
	pr_emerg("memory at this panic: %s\n", why);
	print_machine(r);
	memtap_oom_survey_processes();
	print_task("panicked in", &r->trigger);
	print_processes(r);
	if (last)
		print_kill(last, now);
	s = memtap_watch_stopped();
	if (s && s->objects)
		print_objects(s, now);
	pr_emerg("end of memory at this panic\n");
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = on_panic,
};

void memtap_panic_init(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &notifier);
}

void memtap_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &notifier);
}
