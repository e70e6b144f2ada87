// SPDX-License-Identifier: GPL-2.0-or-later
/* Add one recording: its stacks by names, its tasks by host and program, its rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"
#include "leaks/leaks.h"

#define MAX_PLACES	16384		/* of one stack: frames, with those that are inlined */

/* An address or a stack of this recording, and what it became. */
struct memo_key {
	__u64 ip;
	__u32 id;			/* of a stack; of an address: is it a return address? */
	__u32 space, era;
	__s32 pid;			/* JIT names differ by process */
};

struct memo {
	struct ids ids;
	struct memo_key *keys;
	__u64 *values;
	size_t room_keys, room_values;
};

struct adder {
	struct fleet *f;
	const struct snap *s;
	struct sym *sym;
	const char *host;		/* for what no other host can have */
	unsigned int side;
	struct memo addresses, stacks, mains;
	__u32 *runs;			/* places of addresses: a number of them, and they */
	size_t nr_runs, room_runs;
	__u32 *hosts;			/* by number in s->hosts */
	__u32 *event_of;		/* by number in s->events */
	struct packed packed;
	__u32 places[MAX_PLACES];
};

/* ---- what is known already ---- */

static bool same_memo(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct memo_key *)things + id, key, sizeof(struct memo_key));
}

static __u64 memo_hash(const struct memo_key *k)
{
	return ids_mix(ids_mix(ids_mix(k->ip, (__u64)k->id << 32 | k->space), k->era),
		       (__u32)k->pid);
}

static bool memo_get(const struct memo *m, const struct memo_key *key, __u64 *value)
{
	const __u32 id = ids_find(&m->ids, memo_hash(key), same_memo, m->keys, key);

	if (id != IDS_NONE)
		*value = m->values[id];
	return id != IDS_NONE;
}

static int memo_put(struct memo *m, const struct memo_key *key, __u64 value)
{
	struct memo_key *keys = ids_grow(m->keys, m->ids.nr, &m->room_keys, sizeof(*keys));
	__u64 *values;
	__u32 id;

	if (!keys)
		return -ENOMEM;
	m->keys = keys;
	values = ids_grow(m->values, m->ids.nr, &m->room_values, sizeof(*values));
	if (!values)
		return -ENOMEM;
	m->values = values;
	id = ids_add(&m->ids, memo_hash(key));
	if (id == IDS_NONE)
		return -ENOMEM;
	keys[id] = *key;
	values[id] = value;
	return 0;
}

static void memo_free(struct memo *m)
{
	ids_free(&m->ids);
	free(m->keys);
	free(m->values);
}

/* ---- frames ---- */

/*
 * A frame without a name is known by its file, and by the place in it.  So that two builds of a
 * file are told apart, the file has the beginning of its build ID behind its name, or the host
 * if it has none.  What was merged before has it there.
 */
static void name_object(const struct adder *a, const struct snap_map *map, struct sym_frame *f,
			char buf[512])
{
	const struct snap_file *file = map && map->file ? snap_file(a->s, map->file) : NULL;

	if (f->name || f->kernel || !f->object || !*f->object || *f->object == '[') {
		if (!f->name)
			f->addr = 0;
		return;
	}
	if (a->s->nr_hosts)
		return;
	if (file && file->build_id_len >= 4)
		snprintf(buf, 512, "%.400s:%02x%02x%02x%02x", f->object, file->build_id[0],
			 file->build_id[1], file->build_id[2], file->build_id[3]);
	else
		snprintf(buf, 512, "%.400s of %.64s", f->object, a->host);
	f->object = buf;
}

/* Where a number of places begins in a->runs: of the address itself first, how many. */
static int keep_run(struct adder *a, const __u32 *places, __u32 nr, __u64 *at)
{
	if (a->room_runs - a->nr_runs < nr + 1) {
		const size_t room = 2 * a->room_runs + nr + 1024;
		__u32 *runs = reallocarray(a->runs, room, sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		a->runs = runs;
		a->room_runs = room;
	}
	*at = a->nr_runs;
	a->runs[a->nr_runs++] = nr;
	memcpy(a->runs + a->nr_runs, places, nr * sizeof(*places));
	a->nr_runs += nr;
	return 0;
}

#define MAX_INLINE	64

/* To be compared, each frame is a place: another compiler may have inlined others. */
static int make_places(struct adder *a, const struct snap_map *map,
		       const struct sym_frame *frames, size_t nr, __u64 *at)
{
	const bool names = a->f->o.names;
	struct sym_frame mine[MAX_INLINE];
	__u32 places[MAX_INLINE], n = 0;
	char buf[512];

	if (nr > MAX_INLINE)
		nr = MAX_INLINE;
	memcpy(mine, frames, nr * sizeof(*mine));
	for (size_t i = 0; i < nr; i++)
		name_object(a, map, &mine[i], buf);
	for (size_t i = 0; i < (names ? nr : 1); i++) {
		const int err = fleet_pack(&a->packed, mine + i, names ? 1 : nr, names);
		const __s64 place = err ? err : fleet_place(&a->f->t, a->packed.at,
							    (__u32)a->packed.len);

		if (place < 0)
			return (int)place;
		places[n++] = (__u32)place;
	}
	return keep_run(a, places, n, at);
}

static int places_of(struct adder *a, const struct snap_stack *st,
		     const struct memtap_rec_task *task, __u64 ip, bool call, __u64 *at)
{
	const bool user = st->flags & MEMTAP_STACK_USER;
	const struct memo_key key = { ip, call, user && task ? task->space : 0,
				      user ? st->era : ~0U, user && task ? task->pid : 0 };
	const struct snap_map *map = NULL;
	const struct sym_frame *frames;
	size_t nr;
	int err;

	if (memo_get(&a->addresses, &key, at))
		return 0;
	if (user && task)
		map = snap_map(a->s, task->space, st->era, ip - call);
	nr = user ? sym_user(a->sym, a->s, task, st->era, ip, call, &frames) :
		    sym_kernel(a->sym, a->s, ip, call, &frames);
	err = make_places(a, map, frames, nr, at);
	return err ? err : memo_put(&a->addresses, &key, *at);
}

/* ---- stacks ---- */

#define FLAGS_KEPT	(MEMTAP_STACK_USER | MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT | \
			 MEMTAP_STACK_CHAIN | MEMTAP_STACK_TRAMPOLINE | MEMTAP_STACK_NOMAP | \
			 MEMTAP_STACK_NOTABLE | MEMTAP_STACK_NOROW)

/* What is not about the frames is the same of equal stacks that are compared. */
static __u32 flags_of(const struct adder *a, const struct snap_stack *st)
{
	return st->flags & (a->f->o.names ? FLAGS_KEPT : FLAGS_KEPT | MEMTAP_STACK_COMPAT |
			    MEMTAP_STACK_ENTRY | MEMTAP_STACK_ROWS | MEMTAP_STACK_FP);
}

static __s64 make_stack(struct adder *a, const struct snap_stack *st,
			const struct memtap_rec_task *task)
{
	const __u32 first_calls = !(st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER));
	__u32 nr = 0, run;
	__u64 at;
	int err;

	for (__u32 i = 0; i < st->nr; i++) {
		err = places_of(a, st, task, st->ip[i], i || first_calls, &at);
		if (err)
			return err;
		run = a->runs[at];
		if (nr + run > MAX_PLACES)
			break;
		memcpy(a->places + nr, a->runs + at + 1, run * sizeof(*a->places));
		nr += run;
	}
	return fleet_stack(&a->f->t, a->places, nr, flags_of(a, st));
}

/* What is not known by an address stays as it is; texts and keys of arguments are no stacks. */
static __s64 stack_of(struct adder *a, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(a->s, id);
	const bool user = st && st->flags & MEMTAP_STACK_USER;
	const struct memo_key key = { 0, id, user && task ? task->space : 0, 0,
				      user && task ? task->pid : 0 };
	__u64 known;
	__s64 made;

	if (!st)
		return id < MEMTAP_STACK_FIRST ? id : MEMTAP_STACK_LOST;
	if (st->flags & (MEMTAP_STACK_TEXT | MEMTAP_STACK_KEYS))
		return MEMTAP_STACK_NONE;
	if (memo_get(&a->stacks, &key, &known))
		return (__s64)known;
	made = make_stack(a, st, task);
	if (made >= 0 && memo_put(&a->stacks, &key, (__u64)made))
		return -ENOMEM;
	return made;
}

/* ---- tasks ---- */

/* Threads are their process: its main thread has its name. */
static int find_mains(struct adder *a)
{
	const struct snap *s = a->s;
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_tasks; i++) {
		const struct memtap_rec_task *t = &s->tasks[i];
		const struct memo_key key = { 0, 0, t->space, 0, t->pid };
		__u64 known;

		if (t->tid == t->pid && t->pid && !memo_get(&a->mains, &key, &known))
			err = memo_put(&a->mains, &key, i);
	}
	return err;
}

static const char *comm_of(const struct adder *a, const struct memtap_rec_task *t)
{
	const struct memo_key key = { 0, 0, t->space, 0, t->pid };
	__u64 main;

	return t->tid != t->pid && memo_get(&a->mains, &key, &main) ? a->s->tasks[main].comm :
								      t->comm;
}

static __s64 task_of(struct adder *a, __u32 id, const struct memtap_rec_task *t)
{
	const struct memtap_rec_host *h = snap_host(a->s, t);
	struct ftask task = { .host = a->hosts[0] };
	const char *path;
	__s64 text;

	if (h)
		task.host = a->hosts[a->s->task_hosts[t - a->s->tasks]];
	/* these have no task in the file, but a host */
	strcpy(task.comm, id == MEMTAP_TASK_NONE ? "[no task]" : "[not recorded]");
	if (t) {
		strcpy(task.comm, comm_of(a, t));
		task.flags = t->flags & MEMTAP_TASK_KTHREAD;
	}
	path = t && !a->f->o.names ? sym_cgroup(a->sym, a->s, snap_cgroup(t)) : NULL;
	if (path) {
		text = fleet_text(&a->f->t, path);
		if (text < 0)
			return text;
		task.cgroup = (__u32)text + 1;
	}
	return fleet_task(&a->f->t, &task);
}

/* ---- rows ---- */

/* The file that an event is about. */
static __s64 file_of(struct adder *a, __u64 addr)
{
	const bool kinds = a->s->header.flags & MEMTAP_CFG_MAPPINGS;
	const __u64 id = kinds ? (__u32)addr : addr;
	const struct snap_file *file;
	__s64 text;

	if (!(a->s->header.flags & MEMTAP_CFG_FILES))
		return FILE_KIND | MEMTAP_FILE_NONE;
	if (kinds && id < MEMTAP_FILE_FIRST)
		return FILE_KIND | (__u32)id;
	file = id <= ~0U ? snap_file(a->s, (__u32)id) : NULL;
	if (!file)
		return FILE_KIND | (id ? MEMTAP_FILE_LOST : MEMTAP_FILE_NONE);
	text = fleet_text(&a->f->t, file->path);
	return text < 0 ? text : text + 1;
}

/* What of a flag does not matter to who compares. */
static int key_of(struct adder *a, const struct snap_counter *c, struct frow *key)
{
	const struct memtap_rec_task *t = snap_task(a->s, c->task);
	const __s64 task = task_of(a, c->task, t);
	const __s64 kstack = stack_of(a, c->kstack, t), ustack = stack_of(a, c->ustack, t);
	const __s64 file = file_of(a, c->addr);

	if (task < 0 || kstack < 0 || ustack < 0 || file < 0)
		return -ENOMEM;
	*key = (struct frow){
		.flags = c->flags, .task = (__u32)task, .kstack = (__u32)kstack,
		.ustack = (__u32)ustack, .file = (__u32)file,
	};
	if (a->s->header.flags & MEMTAP_CFG_MAPPINGS)
		key->allowed = (__u32)(c->addr >> 32);
	return 0;
}

static int add_counter(struct adder *a, const struct snap_counter *c)
{
	struct frow key, from = {
		.count = c->count, .sum = c->sum, .max = c->max, .hist = c->hist,
		.ranged = c->ranged, .least = c->least, .greatest = c->greatest,
	};
	struct frow *row;

	if (key_of(a, c, &key))
		return -ENOMEM;
	key.event = a->event_of[snap_event(a->s, c->event) - a->s->events];
	row = fleet_row_of(&a->f->t, &key);
	return row ? fleet_row_add(&a->f->t, row, &from) : -ENOMEM;
}

/* ---- live memory ---- */

/* What blocks are called, as events. */
static const char *live_name(const struct snap *s, const struct memtap_block *b)
{
	static const char *const kinds[] = {
		[MEMTAP_CACHE_SLAB] = "live slab objects",
		[MEMTAP_CACHE_LARGE] = "live slab objects",
		[MEMTAP_CACHE_OTHER] = "live slab objects",
		[MEMTAP_CACHE_PAGES] = "live pages",
		[MEMTAP_CACHE_PERCPU] = "live per-CPU memory",
		[MEMTAP_CACHE_VMALLOC] = "live vmalloc memory",
		[MEMTAP_CACHE_VMAP] = "live vmap areas",
	};
	const struct memtap_rec_cache *c = snap_cache(s, b->space);

	if (!(b->flags & MEMTAP_BLOCK_KERNEL))
		return b->flags & MEMTAP_BLOCK_MAPPING ? "live mappings" : "live heap blocks";
	return c && c->kind >= MEMTAP_CACHE_SLAB && c->kind <= MEMTAP_CACHE_VMAP ?
	       kinds[c->kind] : kinds[MEMTAP_CACHE_SLAB];
}

static int add_block(struct adder *a, const struct memtap_block *b)
{
	const bool kernel = b->flags & MEMTAP_BLOCK_KERNEL;
	const struct snap_counter c = { .task = b->task, .kstack = kernel ? b->ustack : 0,
					.ustack = kernel ? 0 : b->ustack };
	const double weight = leaks_weight(a->s, b);
	struct snap_event e = { .unit = MEMTAP_UNIT_BYTES };
	struct frow key, from = { .blocks = weight, .bytes = weight * (double)b->size,
				  .max = b->size };
	struct frow *row;
	__s64 event;

	strcpy(e.group, "live");
	strcpy(e.name, live_name(a->s, b));
	event = fleet_event_of(a->f, &e);
	if (event < 0 || key_of(a, &c, &key))
		return -ENOMEM;
	key.event = (__u32)event;
	row = fleet_row_of(&a->f->t, &key);
	return row ? fleet_row_add(&a->f->t, row, &from) : -ENOMEM;
}

static int add_rows(struct adder *a)
{
	struct snap_walk w = { .snap = a->s };
	int err = 0;

	for (size_t i = 0; !err && !leaks_kept(a->s) && i < a->s->nr_counters; i++)
		err = add_counter(a, &a->s->counters[i]);
	while (!err && snap_next_block(&w))
		/* what allocators map, or make of pages, is there as blocks */
		if (!(w.block->flags & MEMTAP_BLOCK_INNER) &&
		    !a->f->o.is_owned(a->s, a->sym, w.block))
			err = add_block(a, w.block);
	return err;
}

/* ---- all of it ---- */

/* "web-1" of "DIR/web-1.memtap" */
static void host_of_path(const char *path, char name[64])
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const size_t len = strlen(base), end = strlen(".memtap");

	snprintf(name, 64, "%.*s", (int)(len > end && !strcmp(base + len - end, ".memtap") ?
					 len - end : len), base);
}

/* The host that a recording itself is of. */
static int add_own_host(struct adder *a, const char *path)
{
	const struct memtap_rec_header *r = &a->s->header;
	const __u64 ns = r->now_ns > r->start_ns ? r->now_ns - r->start_ns : 0;
	struct fleet_host h = {
		.side = a->side, .files = 1, .running = !!r->running, .ns = ns, .least_ns = ns,
		.most_ns = ns, .first_ns = r->real_ns > ns ? r->real_ns - ns : 0,
		.last_ns = r->real_ns,
	};
	char name[64];
	__s64 id;

	snprintf(name, sizeof(name), "%s", r->host);
	if (!*name)
		host_of_path(path, name);
	h.name = name;
	memcpy(h.release, r->release, sizeof(h.release));
	id = fleet_host_of(a->f, &h);
	if (id < 0)
		return (int)id;
	a->hosts[0] = (__u32)id;
	a->host = a->f->hosts[id].name;
	return 0;
}

static int add_hosts(struct adder *a, const char *path)
{
	const struct snap *s = a->s;

	a->hosts = calloc(s->nr_hosts + 1, sizeof(*a->hosts));
	if (!a->hosts)
		return -ENOMEM;
	if (!s->nr_hosts)
		return add_own_host(a, path);
	for (size_t i = 0; i < s->nr_hosts; i++) {
		const struct memtap_rec_host *r = s->hosts[i];
		struct fleet_host h = {
			.name = r->name, .side = a->side, .files = r->files,
			.running = r->running, .ns = r->ns, .least_ns = r->least_ns,
			.most_ns = r->most_ns, .first_ns = r->first_ns, .last_ns = r->last_ns,
		};
		__s64 id;

		memcpy(h.release, r->release, sizeof(h.release));
		id = fleet_host_of(a->f, &h);
		if (id < 0)
			return (int)id;
		a->hosts[i] = (__u32)id;
	}
	a->host = s->hosts[0]->name;
	return 0;
}

static int add_events(struct adder *a)
{
	const struct snap *s = a->s;

	a->event_of = calloc(s->nr_events + 1, sizeof(*a->event_of));
	if (!a->event_of)
		return -ENOMEM;
	/* calls of allocators are no rows */
	for (size_t i = 0; !leaks_kept(s) && i < s->nr_events; i++) {
		const __s64 id = fleet_event_of(a->f, &s->events[i]);

		if (id < 0)
			return (int)id;
		a->event_of[i] = (__u32)id;
	}
	return 0;
}

int fleet_add(struct fleet *f, const struct snap *s, struct sym *sym, const char *path,
	      unsigned int side, char why[FLEET_WHY])
{
	struct adder *a = calloc(1, sizeof(*a));
	int err = a ? fleet_check(f, s, path, why) : -ENOMEM;

	if (!err)
		err = fleet_known(f, s);
	if (!err) {
		a->f = f;
		a->s = s;
		a->sym = sym;
		a->side = side;
		err = add_hosts(a, path);
	}
	if (!err)
		err = add_events(a);
	if (!err)
		err = find_mains(a);
	if (!err)
		err = add_rows(a);
	if (!err)
		err = fleet_accounts(f, s, a->event_of);
	if (!err)
		err = fleet_notes_add(f, s);
	if (!err)
		err = fleet_fit(f, why);
	if (a) {
		memo_free(&a->addresses);
		memo_free(&a->stacks);
		memo_free(&a->mains);
		free(a->runs);
		free(a->hosts);
		free(a->event_of);
		free(a->packed.at);
	}
	free(a);
	return err;
}
