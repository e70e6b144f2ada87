// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find memory use that is no growth of a program: shrinkable caches, unreclaimable files,
 * overcommitted memory, zombies, removed cgroups, reserved huge pages; and the largest users if
 * little memory is left and nothing grows.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"

/* --- reclaimable ----------------------------------------------------------------- */

static bool is_dentry(const char *name)
{
	return !strcmp(name, "dentry");
}

/*
 * To read /proc of each process makes a dentry and an inode of each file: what that took is
 * not what grows here.
 */
static __s64 own_part(const struct triage *t, const struct machine_holder *cache)
{
	for (size_t i = 0; i < t->now->slabs.nr; i++) {
		const struct machine_growth *g = &t->slabs[i];
		const __s64 more = g->before ? (__s64)(g->now->objects - g->before->objects) : 0;

		if (strcmp(g->now->name, "proc_inode_cache"))
			continue;
		return g->now == cache ? g->grew : is_dentry(cache->name) && more > 0 ?
		       more * (__s64)cache->size : 0;
	}
	return 0;
}

static __s64 shrinkable_grew(const struct triage *t, const struct machine_growth *g)
{
	return g->before && g->now->reclaimable ? g->grew - own_part(t, g->now) : 0;
}

static void say_dentries(const struct triage *t, char *buf, size_t room)
{
	const struct machine_names *n = &t->now->dentries;
	char unused[TEXT_LEN], all[TEXT_LEN], negative[TEXT_LEN];

	buf[0] = '\0';
	if (!n->has)
		return;
	if (n->has_negative)
		snprintf(buf, room, "; of %s %s are unused and can go at once, %s of them names "
			 "that were looked up and not found", text_count(all, n->nr),
			 text_count(unused, n->unused), text_count(negative, n->negative));
	else
		snprintf(buf, room, "; of %s %s are unused and can go at once",
			 text_count(all, n->nr), text_count(unused, n->unused));
}

/*
 * Each object costs some bytes of unreclaimable memory, which say to whom it is charged: where that
 * may be all that the kernel's own memory grew by, the cache comes first.
 */
static int reclaimable_score(const struct triage *t, __s64 grew)
{
	int score = 30;

	for (size_t i = 0; i < t->nr_found; i++)
		if (t->found[i].what == FOUND_KERNEL && grew >= 8 * t->found[i].grew)
			score = t->found[i].score + 1;
	return score;
}

void find_reclaimable(struct triage *t)
{
	const __s64 sum = t->is.bytes[KIND_SLAB_RECLAIM] - t->was.bytes[KIND_SLAB_RECLAIM];
	const struct machine_growth *best = NULL;
	char grew[TEXT_LEN], has[TEXT_LEN], more[256] = "";
	struct triage_finding *f;
	__s64 most = 0;

	for (size_t i = 0; i < t->now->slabs.nr; i++)
		if (shrinkable_grew(t, &t->slabs[i]) > most) {
			best = &t->slabs[i];
			most = shrinkable_grew(t, best);
		}
	if (!best && !t->now->slabs.nr)
		most = sum;
	if (most < triage_floor(t))
		return;
	f = found_new(t, FOUND_RECLAIMABLE, reclaimable_score(t, most));
	f->grew = most;
	if (best) {
		snprintf(f->name, sizeof(f->name), "%s", best->now->name);
		if (is_dentry(best->now->name))
			say_dentries(t, more, sizeof(more));
	}
	found_seen(f, "%s%.200s grew by %s in %.1f s, to %s: the kernel reclaims its unused "
		      "objects, but only when memory is short, and allocations then wait for "
		      "that%s", best ? "the slab cache " : "reclaimable slab", f->name,
		   text_bytes(grew, most, false), t->seconds,
		   text_bytes(has, (__s64)(best ? best->now->bytes :
					   t->now->f.mem[MEM_SRECLAIMABLE]), false), more);
}

/* --- pages of files that cannot be dropped ----------------------------------------- */

void find_unevictable(struct triage *t)
{
	const __s64 stays = triage_mem_grew(t, MEM_UNEVICTABLE) - triage_mem_grew(t, MEM_MLOCKED);
	const __s64 shmem = triage_mem_grew(t, MEM_SHMEM);
	const __s64 grew = stays - (shmem > 0 ? shmem : 0);
	char text[TEXT_LEN], end[64];
	struct triage_finding *f;

	if (!t->now->f.has_mem[MEM_UNEVICTABLE] || grew < triage_floor(t) ||
	    t->is.bytes[KIND_FILE] - t->was.bytes[KIND_FILE] < grew / 2)
		return;
	f = found_new(t, FOUND_UNEVICTABLE, growth_score(t, grew));
	f->grew = grew;
	found_seen(f, "file pages that the kernel cannot drop (ramfs, for example) grew by %s in "
		      "%.1f s%s", text_bytes(text, grew, false), t->seconds,
		   growth_end(t, grew, end, sizeof(end)));
}

/* --- promises ------------------------------------------------------------------------ */

void find_commit(struct triage *t)
{
	const __u64 limit = t->now->f.mem[MEM_COMMIT_LIMIT];
	const __u64 promised = t->now->f.mem[MEM_COMMITTED];
	const struct machine_holder *most = NULL;
	char a[TEXT_LEN], b[TEXT_LEN], who[128] = "", data[TEXT_LEN];
	struct triage_finding *f;

	/* in the other modes the limit is not one; one large mapping may need a third of it */
	if (!t->now->strict_commit || !limit || promised < limit / 3 * 2)
		return;
	for (size_t i = 0; i < t->now->processes.nr; i++)
		if (!most || t->now->processes.at[i].data > most->data)
			most = &t->now->processes.at[i];
	f = found_new(t, FOUND_COMMIT, promised >= limit / 100 * 95 ? 70 :
		      promised >= limit / 10 * 8 ? 56 : 40);
	if (most && most->data) {
		f->pid = most->pid;
		snprintf(who, sizeof(who), "; %s (%u) has most, %s", most->name, most->pid,
			 text_bytes(data, (__s64)most->data, false));
	}
	found_seen(f, "%s of the commit limit of %s are committed (%.0f %%; vm.overcommit_memory "
		      "is 2): mmap(), brk() and fork() fail beyond that, however much is free%s",
		   text_bytes(a, (__s64)promised, false), text_bytes(b, (__s64)limit, false),
		   (double)promised * 100 / (double)limit, who);
}

/* --- the dead ------------------------------------------------------------------------ */

#define MANY_ZOMBIES	100

void find_zombies(struct triage *t)
{
	const struct machine_holder *most = NULL;
	struct triage_finding *f;

	for (size_t i = 0; i < t->now->zombies.nr; i++)
		if (!most || t->now->zombies.at[i].objects > most->objects)
			most = &t->now->zombies.at[i];
	if (!most || most->objects < MANY_ZOMBIES)
		return;
	f = found_new(t, FOUND_ZOMBIES, 44);
	f->pid = most->pid;
	found_seen(f, "%llu processes are dead, and their parent%s%s (%u) does not wait for them: "
		   "each keeps some KiB of the kernel's memory and a process number",
		   (unsigned long long)most->objects, *most->name ? " " : "", most->name,
		   most->pid);
}

/* --- cgroups that are gone --------------------------------------------------------------- */

#define MANY_CGROUPS	50		/* and they hold some memory */
#define MOST_CGROUPS	1000		/* each costs the kernel some KiB for each processor */

/* Where most of them were: v2 says it, and counts for those above, too. */
static const struct machine_holder *most_removed(const struct machine *m)
{
	const struct machine_holder *best = NULL;

	for (size_t i = 0; i < m->cgroups.nr; i++) {
		const struct machine_holder *h = &m->cgroups.at[i];

		if (h->dying * 2 > m->dying &&
		    (!best || strlen(h->name) > strlen(best->name)))
			best = h;
	}
	return best;
}

void find_dead_cgroups(struct triage *t)
{
	const struct machine *m = t->now;
	const struct machine_holder *below = most_removed(m);
	const __s64 more = (__s64)(m->dying - t->before->dying);
	char where[300] = "", change[48] = "", held[TEXT_LEN];
	struct triage_finding *f;

	if (m->dying < MOST_CGROUPS &&
	    (m->dying < MANY_CGROUPS || m->dead_bytes * 50 < m->f.mem[MEM_TOTAL]))
		return;
	f = found_new(t, FOUND_DEAD_CGROUPS, 43);
	if (below) {
		snprintf(f->name, sizeof(f->name), "%s", below->name);
		snprintf(where, sizeof(where), ", most of them below %.250s", below->name);
	}
	if (more)
		snprintf(change, sizeof(change), " (%+lld in %.1f s)", (long long)more,
			 t->seconds);
	found_seen(f, "%llu cgroups were removed%s, and the kernel keeps them%s, as it does while "
		   "memory is charged to them; %s are charged to cgroups that are gone or have no "
		   "process", (unsigned long long)m->dying, where, change,
		   text_bytes(held, (__s64)m->dead_bytes, false));
}

/* --- huge pages ----------------------------------------------------------------------------- */

/* Of the default size: set aside, neither mapped nor promised to a mapping. */
static __u64 idle_huge(const struct machine *m)
{
	const __u64 *mem = m->f.mem;

	return mem[MEM_HUGE_FREE] > mem[MEM_HUGE_RSVD] ?
	       (mem[MEM_HUGE_FREE] - mem[MEM_HUGE_RSVD]) * mem[MEM_HUGE_SIZE] : 0;
}

void find_huge(struct triage *t)
{
	const __u64 total = t->now->f.mem[MEM_TOTAL], idle = idle_huge(t->now);
	char set[TEXT_LEN], size[TEXT_LEN], left[TEXT_LEN];
	struct triage_finding *f;

	if (!t->level[LINE_MEMORY] || idle * 10 < total)
		return;
	f = found_new(t, FOUND_HUGE, idle * 5 >= total ? 78 : 58);
	found_seen(f, "%s are reserved for huge pages and not used (%.0f %% of all memory, pages "
		   "of %s), and nothing else can use them, while little other memory is left (%s)",
		   text_bytes(set, (__s64)idle, false), (double)idle * 100 / (double)total,
		   text_bytes(size, (__s64)t->now->f.mem[MEM_HUGE_SIZE], false),
		   text_bytes(left, (__s64)machine_available(t->now), false));
}

/* A victim gives its memory back within some seconds, or hangs. */
#define DIES_WITHIN	5

void find_undead(struct triage *t)
{
	const struct machine_log *log = &t->now->log;
	const __u64 nr = log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS;
	char has[TEXT_LEN];

	for (__u64 i = nr; i > 0; i--) {
		const struct machine_kill *k = &log->kills[i - 1];
		const double ago = t->now->uptime - k->at;

		for (size_t p = 0; p < t->now->processes.nr && ago > DIES_WITHIN; p++) {
			const struct machine_holder *h = &t->now->processes.at[p];
			struct triage_finding *f;

			/* clock ticks since boot, of which user space sees 100 a second */
			if (h->pid != k->pid || strcmp(h->name, k->comm) ||
			    (double)h->start / 100 > k->at)
				continue;
			f = found_new(t, FOUND_UNDEAD, 90);
			f->pid = h->pid;
			found_seen(f, "process %s (%u) was killed for lack of memory %.0f s ago "
				   "and is still there, in state %c, with %s", h->name, h->pid, ago,
				   h->state ? h->state : '?',
				   text_bytes(has, (__s64)h->bytes, false));
			return;
		}
	}
}

/* --- who holds it ---------------------------------------------------------------------- */

struct held {
	enum triage_what what;
	__u64 bytes;
	__u32 pid;
	char words[256];
};

#define HELD	8

static void hold(struct held *list, size_t *nr, enum triage_what what, __u64 bytes, __u32 pid,
		 const char *before, const char *name)
{
	struct held *h = &list[*nr];

	if (!bytes || *nr == HELD)
		return;
	h->what = what;
	h->bytes = bytes;
	h->pid = pid;
	snprintf(h->words, sizeof(h->words), "%s%s", before, name);
	(*nr)++;
}

static const struct machine_holder *largest(const struct machine_list *l)
{
	const struct machine_holder *best = NULL;

	for (size_t i = 0; i < l->nr; i++)
		if (!best || l->at[i].bytes > best->bytes)
			best = &l->at[i];
	return best;
}

static const struct machine_holder *most_locked(const struct machine_list *l)
{
	const struct machine_holder *best = NULL;

	for (size_t i = 0; i < l->nr; i++)
		if (l->at[i].locked > (best ? best->locked : 0))
			best = &l->at[i];
	return best;
}

/* @rest: what is pinned by others, or by nobody that is known. */
static const struct machine_holder *most_pinned(const struct machine *m, __u64 *rest)
{
	const struct machine_list *l = &m->processes;
	const struct machine_holder *best = NULL;

	*rest = machine_pinned(m);
	for (size_t i = 0; i < l->nr; i++) {
		if (l->at[i].pinned > (best ? best->pinned : 0))
			best = &l->at[i];
		*rest -= l->at[i].pinned < *rest ? l->at[i].pinned : *rest;
	}
	return best;
}

static const struct machine_holder *largest_process_of(const struct machine_list *l)
{
	const struct machine_holder *best = NULL;

	for (size_t i = 0; i < l->nr; i++)
		if (!best || triage_own(&l->at[i]) > triage_own(best))
			best = &l->at[i];
	return best;
}

static size_t list_held(const struct triage *t, struct held list[HELD])
{
	const struct machine *m = t->now;
	const __u64 *mem = m->f.mem;
	const struct machine_holder *h = largest_process_of(&m->processes);
	const struct machine_holder *locked = most_locked(&m->processes);
	char who[64] = "";
	__u64 pinned;
	size_t nr = 0;

	if (h) {
		snprintf(who, sizeof(who), "%s (%u)", h->name, h->pid);
		hold(list, &nr, FOUND_HOLDS_PROCESS, (__u64)triage_own(h), h->pid, "process ", who);
	}
	h = largest(&m->tmpfs);
	if (h)
		hold(list, &nr, FOUND_HOLDS_SHARED, h->bytes, 0, "files in ", h->name);
	h = largest(&m->deleted);
	if (h) {
		snprintf(who, sizeof(who), " (%u)", h->pid);
		hold(list, &nr, FOUND_HOLDS_SHARED, h->bytes, 0, h->name, who);
	}
	who[0] = '\0';
	if (locked)
		snprintf(who, sizeof(who), ", most by %s (%u)", locked->name, locked->pid);
	hold(list, &nr, FOUND_HOLDS, mem[MEM_MLOCKED], 0, "locked memory (mlock)", who);
	h = most_pinned(m, &pinned);
	if (h) {
		snprintf(who, sizeof(who), "%s (%u)", h->name, h->pid);
		hold(list, &nr, FOUND_HOLDS_PROCESS, h->pinned, h->pid,
		     "pages that are pinned (io_uring, RDMA) by ", who);
	}
	hold(list, &nr, FOUND_HOLDS, pinned, 0,
	     "pages that are pinned (VFIO, RDMA, io_uring, direct I/O)", "");
	hold(list, &nr, FOUND_HUGE, idle_huge(m), 0, "huge pages that are set aside and unused",
	     "");
	hold(list, &nr, FOUND_HOLDS, m->zram_bytes, 0, "zram", "");
	return nr;
}

static bool is_found(const struct triage *t, enum triage_what what)
{
	for (size_t i = 0; i < t->nr_found; i++)
		if (t->found[i].what == what)
			return true;
	return false;
}

/* What others than processes hold is in no list of processes: it is said by name. */
void find_holders(struct triage *t)
{
	struct held list[HELD], swapped;
	const __u64 least = t->now->f.mem[MEM_TOTAL] / 20;
	char text[1024] = "", size[TEXT_LEN];
	struct triage_finding *f;
	size_t nr, used = 0;

	if (!t->level[LINE_MEMORY])
		return;
	for (size_t i = 0; i < t->nr_found; i++)
		if (t->found[i].grew > 0 && t->found[i].what != FOUND_RECLAIMABLE)
			return;
	nr = list_held(t, list);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = i + 1; k < nr; k++)
			if (list[k].bytes > list[i].bytes) {
				swapped = list[i];
				list[i] = list[k];
				list[k] = swapped;
			}
	for (size_t i = 0; i < nr && i < 3 && list[i].bytes >= least && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s",
					 i ? "; " : "", list[i].words,
					 text_bytes(size, (__s64)list[i].bytes, false));
	if (!*text || (list[0].what == FOUND_HUGE && is_found(t, FOUND_HUGE)))
		return;
	f = found_new(t, list[0].what, t->level[LINE_MEMORY] == LEVEL_BAD ? 54 : 42);
	f->pid = list[0].pid;
	found_seen(f, "little memory is left (%s) and nothing grows; the largest holders: %s",
		   text_bytes(size, (__s64)machine_available(t->now), false), text);
}
