// SPDX-License-Identifier: GPL-2.0-or-later
/* Live blocks: estimates of sampled ones, suppression, and the verdict. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/path.h"
#include "leaks/leaks.h"

/* ---- estimates ---- */

double leaks_weight(const struct snap *s, const struct memtap_block *b)
{
	const __u64 interval = s->header.sample_bytes;

	if (b->flags & MEMTAP_BLOCK_MAPPING)
		return 1;
	if (interval)	/* a block of no bytes is kept as one of one byte would be */
		return -1 / expm1(-(double)(b->size ? b->size : 1) / (double)interval);
	return s->header.sample_rate > 1 ? s->header.sample_rate : 1;
}

/*
 * Horvitz and Thompson: each kept block counts 1/p times.  The variance of such a
 * sum is estimated by the sum of (1 - p) / p^2 * value^2.
 */
void leaks_add(struct leaks_sum *sum, const struct memtap_block *b, double weight)
{
	const double var = weight * (weight - 1), size = (double)b->size;

	sum->kept++;
	sum->kept_bytes += b->size;
	sum->blocks += weight;
	sum->bytes += weight * size;
	sum->var_blocks += var;
	sum->var_bytes += var * size * size;
}

void leaks_add_sum(struct leaks_sum *sum, const struct leaks_sum *other)
{
	sum->kept += other->kept;
	sum->kept_bytes += other->kept_bytes;
	sum->blocks += other->blocks;
	sum->bytes += other->bytes;
	sum->var_blocks += other->var_blocks;
	sum->var_bytes += other->var_bytes;
}

__s64 leaks_round(double n)
{
	return n < 9e18 ? llround(n) : INT64_MAX;
}

double leaks_error(double variance)
{
	return 1.96 * sqrt(variance);
}

/* ---- suppressions ---- */

struct known_key {
	__u32 stack, task, kind;	/* kind: 0 where it makes no difference */
};

struct leaks_known {
	const struct snap *snap;
	struct sym *sym;
	const struct suppress *suppress;
	struct ids ids;
	struct known_key *keys;
	int *patterns;
	size_t room;
	bool has_kinds;
	struct suppress_frame *frames;	/* of the stack that is looked at */
	size_t room_frames;
};

struct leaks_known *leaks_known_new(const struct snap *s, struct sym *sym,
				    const struct suppress *suppress)
{
	struct leaks_known *k = calloc(1, sizeof(*k));

	if (k)
		*k = (struct leaks_known){
			.snap = s, .sym = sym, .suppress = suppress,
			.has_kinds = suppress_has_kinds(suppress),
		};
	return k;
}

void leaks_known_free(struct leaks_known *k)
{
	if (!k)
		return;
	ids_free(&k->ids);
	free(k->keys);
	free(k->patterns);
	free(k->frames);
	free(k);
}

static bool same_key(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct known_key *)things + id, key, sizeof(struct known_key));
}

static int add_frame(struct leaks_known *k, size_t *nr, const struct suppress_frame *f)
{
	if (*nr == k->room_frames) {
		const size_t room = k->room_frames ? 2 * k->room_frames : 128;
		struct suppress_frame *more = reallocarray(k->frames, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		k->frames = more;
		k->room_frames = room;
	}
	k->frames[(*nr)++] = *f;
	return 0;
}

static int add_address(struct leaks_known *k, size_t *nr, const struct memtap_rec_task *task,
		       __u32 era, __u64 ip, bool call)
{
	const struct snap_map *map = snap_map(k->snap, task ? task->space : 0, era,
					      ip - call);
	const char *path = task && map && map->file ? snap_file(k->snap, map->file)->path : NULL;
	const struct sym_frame *f;
	size_t n = sym_user(k->sym, k->snap, task, era, ip, call, &f);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		const struct suppress_frame one = {
			f[i].name, f[i].linkage, f[i].file, f[i].line, f[i].object, path,
		};

		err = add_frame(k, nr, &one);
	}
	return err;
}

static int match_stack(struct leaks_known *k, const struct known_key *key)
{
	const struct memtap_rec_task *task = snap_task(k->snap, key->task);
	const struct snap_stack *st = snap_stack(k->snap, key->stack);
	size_t nr = 0;
	int err = 0;

	for (__u32 i = 0; !err && st && i < st->nr; i++)
		err = add_address(k, &nr, task, st->era, st->ip[i], i);
	return err ? err : suppress_find(k->suppress, k->frames, nr, (enum leak_kind)key->kind);
}

static int grow(struct leaks_known *k)
{
	const size_t room = k->room ? 2 * k->room : 256;
	struct known_key *keys;
	int *patterns;

	keys = reallocarray(k->keys, room, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	k->keys = keys;
	patterns = reallocarray(k->patterns, room, sizeof(*patterns));
	if (!patterns)
		return -ENOMEM;
	k->patterns = patterns;
	k->room = room;
	return 0;
}

int leaks_known_by(struct leaks_known *k, __u32 ustack, __u32 task, enum leak_kind kind)
{
	const bool told = k->has_kinds || kind == SUPPRESS_FREE;
	const struct known_key key = { ustack, task, told ? kind : 0 };
	const __u64 hash = ids_mix(ids_mix(key.stack, key.task), key.kind);
	__u32 id;
	int by;

	if (!suppress_nr(k->suppress))
		return LEAKS_NOT_KNOWN;
	id = ids_find(&k->ids, hash, same_key, k->keys, &key);
	if (id != IDS_NONE)
		return k->patterns[id];
	if (k->ids.nr == k->room && grow(k))
		return -ENOMEM;
	by = match_stack(k, &key);
	if (by == -ENOMEM)
		return by;
	id = ids_add(&k->ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	k->keys[id] = key;
	k->patterns[id] = by;
	return by;
}

/* ---- frees that look wrong ---- */

/* Where glibc returns what its caches hold; static programs have them, too. */
static const char *const returning[] = {
	"tcache_thread_shutdown", "__malloc_arena_thread_freeres", "arena_thread_freeres",
	"__libc_thread_freeres", "__libc_freeres",
};

static bool is_returning(const char *name)
{
	for (size_t i = 0; name && i < sizeof(returning) / sizeof(returning[0]); i++)
		if (!strcmp(name, returning[i]))
			return true;
	return false;
}

bool leaks_is_libc(const char *path)
{
	const char *name = base_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2", 6) ||
	       !strncmp(name, "libc.musl", 9) || !strncmp(name, "ld-musl", 7);
}

static bool in_libc(const struct snap *s, const struct memtap_rec_task *task, __u32 era,
		    __u64 ip, bool call)
{
	const struct snap_map *map = snap_map(s, task->space, era, ip - call);

	return map && map->file && leaks_is_libc(snap_file(s, map->file)->path);
}

bool leaks_own_free(const struct snap *s, struct sym *sym,
		    const struct memtap_rec_mismatch *m)
{
	const __u32 whole = MEMTAP_STACK_ROWS, cut = MEMTAP_STACK_NOTABLE | MEMTAP_STACK_NOROW |
		MEMTAP_STACK_NOMAP | MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN | MEMTAP_STACK_DEPTH;
	const struct memtap_rec_task *task = snap_task(s, m->task);
	const struct snap_stack *st = snap_stack(s, m->stack);
	const struct sym_frame *f;
	bool libc_only;
	size_t n;

	if (!task || !st || m->kind == MEMTAP_MISMATCH_FAMILY)
		return false;
	/* nobody else is on the stack, down to where the thread began */
	libc_only = st->nr > 1 && (st->flags & (whole | cut)) == whole;
	for (__u32 i = 0; i < st->nr; i++) {
		n = sym_user(sym, s, task, st->era, st->ip[i], i, &f);
		for (size_t k = 0; k < n; k++)
			if (is_returning(f[k].name))
				return true;
		libc_only = libc_only && in_libc(s, task, st->era, st->ip[i], i);
	}
	return libc_only;
}

/* ---- the dynamic linker ---- */

/* glibc's, by whatever name it has; musl's is its libc, whose malloc maps, too. */
static bool is_loader(const char *path)
{
	static const char *const names[] = { "ld-linux", "ld-2.", "ld.so.", "ld64.so." };
	const char *name = base_name(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

bool leaks_in_loader(const struct snap *s, __u32 ustack, __u32 task_id)
{
	const struct memtap_rec_task *task = snap_task(s, task_id);
	const struct snap_stack *st = snap_stack(s, ustack);
	const struct snap_map *map;

	if (!task || !st || !st->nr)
		return false;
	map = snap_map(s, task->space, st->era, st->ip[0]);
	return map && map->file && is_loader(snap_file(s, map->file)->path);
}

bool leaks_by_loader(const struct snap *s, const struct memtap_block *b)
{
	return b->flags & MEMTAP_BLOCK_MAPPING && leaks_in_loader(s, b->ustack, b->task);
}

/* ---- the verdict ---- */

/*
 * The process that was launched is the first that there was, as a copy of the tool: an allocator
 * that was attached late leaves only later ones with MEMTAP_SPACE_START.
 */
const struct memtap_rec_space *leaks_main_space(const struct snap *s)
{
	const struct memtap_rec_space *first = NULL, *last;

	for (size_t i = 0; i < s->nr_spaces; i++)
		if (!first || s->spaces[i].begin_ns < first->begin_ns)
			first = &s->spaces[i];
	last = first;
	for (size_t i = 0; first && i < s->nr_spaces; i++) {
		const struct memtap_rec_space *x = &s->spaces[i];

		/* execve() gave it another one */
		if (x->pid == first->pid && x->begin_ns > last->begin_ns)
			last = x;
	}
	return last;
}

/* Somebody looked at its memory when it ended: then what its blocks are is known. */
static bool examined(const struct snap *s, const struct memtap_rec_space *space)
{
	struct snap_walk w = { .snap = s };

	while (space && s->kinds && snap_next_block(&w))
		if (w.block->space == space->id && w.kind != LEAK_UNKNOWN)
			return true;
	return false;
}

/* @unknown: the space of which all counts; or NULL */
static bool counts(const struct snap_walk *w, const struct memtap_rec_space *unknown)
{
	if (w->kind == LEAK_DEFINITE || w->kind == LEAK_POSSIBLE)
		return true;
	/* programs mostly leave their mappings to the kernel */
	return unknown && !(w->block->flags & MEMTAP_BLOCK_MAPPING) &&
	       w->block->space == unknown->id;
}

int leaks_verdict(const struct snap *s, struct sym *sym, const struct suppress *suppress,
		  struct leaks_verdict *v)
{
	const struct memtap_rec_space *space = leaks_main_space(s);
	const bool kinds = examined(s, space);
	struct leaks_known *known = leaks_known_new(s, sym, suppress);
	struct snap_walk w = { .snap = s };
	int by = known ? 0 : -ENOMEM;

	*v = (struct leaks_verdict){
		.kinds = kinds, .not_followed = space && !leaks_from_start(space),
	};
	while (by != -ENOMEM && snap_next_block(&w)) {
		if (!counts(&w, kinds ? NULL : space))
			continue;
		by = leaks_known_by(known, w.block->ustack, w.block->task, w.kind);
		if (by >= 0) {
			v->suppressed++;
			v->suppressed_bytes += w.block->size;
		} else if (by == LEAKS_NOT_KNOWN) {
			v->blocks++;
			v->bytes += w.block->size;
		}
	}
	for (size_t i = 0; by != -ENOMEM && i < s->nr_mismatches; i++) {
		const struct memtap_rec_mismatch *m = &s->mismatches[i];

		if (leaks_own_free(s, sym, m))
			continue;
		by = leaks_known_by(known, m->stack, m->task, SUPPRESS_FREE);
		if (by == LEAKS_NOT_KNOWN)
			v->mismatches += m->count;
	}
	leaks_known_free(known);
	return by == -ENOMEM ? by : 0;
}

unsigned int leaks_more_mib(const struct snap *s)
{
	__u64 lost = 0, mib = 8;

	for (size_t i = 0; i < s->nr_events; i++)
		lost += s->events[i].lost[MEMTAP_LOST_LIVE] +
			s->events[i].lost[MEMTAP_LOST_THREADS];
	if (!lost)
		return 0;
	while (mib < 1U << 20 && mib << 20 < s->memory.total + s->memory.total / 2)
		mib *= 2;
	return (unsigned int)mib;
}
