// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert stacks of addresses to stacks of names, and store each distinct one once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

/* Frames of one stack, with all that was inlined and the marks. */
#define MAX_FRAMES	8192

struct memo_key {
	__u32 id;
	__u32 space;
	__s32 pid;		/* JIT names differ by process */
};

/* The symbolizer has one array of frames for an address: known by its pointer. */
struct known_frames {
	const struct sym_frame *sym;
	__u64 ip;		/* only where addresses tell frames apart */
	const __u32 *ids;
};

struct memo {
	struct ids ids;
	struct memo_key *keys;
	__u32 *stacks;
	struct ids known_ids;
	struct known_frames *known;
	size_t room_keys, room_stacks, room_known;
	__u32 buf[MAX_FRAMES];
};

/*
 * Programs and threads begin in functions of the C library that keep no frame
 * pointer: a chain that ends there or right above is whole.
 */
static const char *const beginnings[] = {
	"main", "_start", "__libc_start_call_main", "__libc_start_main",
	"__libc_start_main_impl", "generic_start_main", "start_thread", "clone",
	"clone3", "__clone", "__clone3", "_dl_start_user",
};

/* ---- frames ---- */

/* Where in a function it called: places that allocate are told apart. */
static bool places_count(const struct report *r)
{
	return r->o->detail == DETAIL_PLACES || (r->leaks && r->o->detail != DETAIL_NAMES);
}

/* Files of one name, and the same place in them: are they the same build? */
static bool same_build(const struct sym_place *a, const struct sym_place *b)
{
	if (!a || !b)
		return a == b;
	return a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

/* How much of a frame tells it from others: graphs want names only. */
static bool same_frame(const void *things, __u32 id, const void *key)
{
	const struct report *r = things;
	const struct rframe *a = &r->frames[id], *b = key;

	if (!a->sym != !b->sym || strcmp(a->text, b->text))
		return false;
	if (!a->sym)
		return true;
	if (a->sym->kernel != b->sym->kernel || a->sym->inlined != b->sym->inlined)
		return false;
	if (r->o->detail == DETAIL_NAMES)
		return true;
	if (r->o->addresses && a->ip != b->ip)
		return false;
	if (!same_build(a->sym->place, b->sym->place))
		return false;
	if (a->any_line != b->any_line || a->any_place != b->any_place)
		return false;
	if (!a->any_place && places_count(r) && a->sym->addr != b->sym->addr)
		return false;
	/* of a function in two libraries, each is shown with its own */
	if (a->any_place && r->leaks && strcmp(a->sym->object, b->sym->object))
		return false;
	return (a->any_line || a->sym->line == b->sym->line) &&
	       !strcmp(a->sym->file ? a->sym->file : "", b->sym->file ? b->sym->file : "");
}

/* Of what same_frame() compares: many addresses have the same text. */
static __u64 frame_hash(const struct report *r, const struct rframe *f)
{
	__u64 hash = ids_hash_string(1, f->text);

	if (!f->sym || r->o->detail == DETAIL_NAMES)
		return hash;
	if (!f->any_line)
		hash = ids_mix(hash, f->sym->line);
	if (r->o->addresses)
		hash = ids_mix(hash, f->ip);
	return places_count(r) && !f->any_place ? ids_mix(hash, f->sym->addr) : hash;
}

__s64 report_frame(struct maker *m, const struct rframe *f)
{
	__u64 hash = frame_hash(&m->r, f);
	struct rframe *frames;
	__u32 id;

	id = ids_find(&m->frame_ids, hash, same_frame, &m->r, f);
	if (id != IDS_NONE)
		return id;
	frames = ids_grow(m->r.frames, m->frame_ids.nr, &m->room_frames, sizeof(*f));
	if (!frames)
		return -ENOMEM;
	m->r.frames = frames;
	id = ids_add(&m->frame_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	m->r.frames[id] = *f;
	if (f->text[0] == '[' || !f->sym || f->text != f->sym->name) {
		m->r.frames[id].text = arena_strdup(&m->arena, f->text);
		if (!m->r.frames[id].text)
			return -ENOMEM;
	}
	return id;
}

const char *report_no_name(const struct sym_frame *f, char buf[512])
{
	if (f->kernel)
		return "[kernel]";
	if (!f->object || !*f->object)
		return "[unknown]";
	if (*f->object == '[')
		return f->object;
	snprintf(buf, 512, "[%.400s+0x%llx]", f->object, (unsigned long long)f->addr);
	return buf;
}

static int put_mark(struct maker *m, __u32 *nr, const char *text)
{
	struct rframe f = { .text = text };
	__s64 id = report_frame(m, &f);

	if (id < 0)
		return id;
	if (*nr < MAX_FRAMES)
		m->memo->buf[(*nr)++] = id;
	return 0;
}

static bool same_known(const void *things, __u32 id, const void *key)
{
	const struct known_frames *a = (const struct known_frames *)things + id, *b = key;

	return a->sym == b->sym && a->ip == b->ip;
}

static int number_frames(struct maker *m, const struct sym_frame *frames, size_t n,
			 __u64 ip, __u32 *ids)
{
	char buf[512];

	for (size_t i = 0; i < n; i++) {
		struct rframe f = { .sym = &frames[i], .ip = ip };
		__s64 id;

		f.text = frames[i].name ? frames[i].name : report_no_name(&frames[i], buf);
		id = report_frame(m, &f);
		if (id < 0)
			return id;
		ids[i] = id;
	}
	return 0;
}

/* The numbers of the @n frames of an address, or NULL: no memory. */
static const __u32 *known_frames(struct maker *m, const struct sym_frame *frames,
				 size_t n, __u64 ip)
{
	struct known_frames key = { frames, m->r.o->addresses ? ip : 0, NULL }, *known;
	__u64 hash = ids_mix((uintptr_t)frames, key.ip);
	struct memo *memo = m->memo;
	__u32 *ids, id;

	id = ids_find(&memo->known_ids, hash, same_known, memo->known, &key);
	if (id != IDS_NONE)
		return memo->known[id].ids;
	ids = arena_alloc(&m->arena, n * sizeof(*ids));
	known = ids_grow(memo->known, memo->known_ids.nr, &memo->room_known, sizeof(*known));
	if (known)
		memo->known = known;
	if (!ids || !known || number_frames(m, frames, n, ip, ids))
		return NULL;
	id = ids_add(&memo->known_ids, hash);
	if (id == IDS_NONE)
		return NULL;
	key.ids = ids;
	memo->known[id] = key;
	return ids;
}

static int put_address(struct maker *m, __u32 *nr, const struct snap_stack *st,
		       const struct memtap_rec_task *task, __u64 ip, bool call)
{
	const struct sym_frame *frames;
	const __u32 *ids;
	size_t n;

	if (st->flags & MEMTAP_STACK_USER)
		n = sym_user(m->sym, m->r.snap, task, st->era, ip, call, &frames);
	else
		n = sym_kernel(m->sym, m->r.snap, ip, call, &frames);
	ids = known_frames(m, frames, n, ip);
	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < n && *nr < MAX_FRAMES; i++)
		m->memo->buf[(*nr)++] = ids[i];
	return 0;
}

static bool begins_program(const struct maker *m, __u32 nr)
{
	for (__u32 i = nr; i-- && i + 3 > nr;)
		for (size_t k = 0; k < sizeof(beginnings) / sizeof(beginnings[0]); k++)
			if (!strcmp(m->r.frames[m->memo->buf[i]].text, beginnings[k]))
				return true;
	return false;
}

/* Why it ends where it does: what of @flags remains to be said. */
static int put_marks(struct maker *m, __u32 *nr, __u32 *flags)
{
	int err = 0;

	if ((*flags & MEMTAP_STACK_CHAIN) && !(*flags & MEMTAP_STACK_ROWS) &&
	    begins_program(m, *nr))
		*flags &= ~MEMTAP_STACK_CHAIN;
	for (size_t i = 0; !err && i < NR_CUTS; i++)
		if (*flags & report_cuts[i].flag)
			err = put_mark(m, nr, report_cut_mark(&report_cuts[i], *flags));
	return err;
}

/* ---- stacks ---- */

static bool same_stack(const void *things, __u32 id, const void *key)
{
	const struct rstack *a = &((const struct report *)things)->stacks[id], *b = key;

	return a->nr == b->nr && a->flags == b->flags &&
	       !memcmp(a->frames, b->frames, a->nr * sizeof(__u32));
}

__s64 report_stack_of(struct maker *m, const __u32 *frames, __u32 nr, __u32 flags)
{
	struct rstack key = { frames, nr, flags }, *stacks;
	__u64 hash = ids_mix(nr, flags);
	__u32 *copy, id;

	for (__u32 i = 0; i < nr; i++)
		hash = ids_mix(hash, frames[i]);
	id = ids_find(&m->stack_ids, hash, same_stack, &m->r, &key);
	if (id != IDS_NONE)
		return id;
	stacks = ids_grow(m->r.stacks, m->stack_ids.nr, &m->room_stacks, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	m->r.stacks = stacks;
	copy = arena_alloc(&m->arena, nr * sizeof(*copy) + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, frames, nr * sizeof(*copy));
	id = ids_add(&m->stack_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	m->r.stacks[id] = (struct rstack){ copy, nr, flags };
	return id;
}

/*
 * What lies between a tracepoint and us on a kernel stack that has no registers
 * to begin at.
 */
static bool is_plumbing(const char *name)
{
	static const char *const prefixes[] = {
		"__traceiter_", "perf_", "__perf_", "kretprobe_", "__kretprobe_", "rethook_",
		"arch_rethook_", "trampoline_handler",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void drop_plumbing(const struct maker *m, const struct snap_stack *st, __u32 *nr)
{
	if (st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER))
		return;
	if (*nr == 1 && is_plumbing(m->r.frames[m->memo->buf[0]].text))
		*nr = 0;
}

/* What is left of a stack's flags: equal rows of a table are one. */
static __u32 told_apart(const struct maker *m)
{
	const __u32 flags = MEMTAP_STACK_USER | STACK_CUTS;

	return m->r.o->detail == DETAIL_PLACES ? flags | MEMTAP_STACK_ROWS | MEMTAP_STACK_FP :
					     flags;
}

static __s64 name_stack(struct maker *m, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(m->r.snap, id);
	__u32 nr = 0, flags;
	int err = 0;

	if (!st) {
		err = put_mark(m, &nr, id == MEMTAP_STACK_BEFORE ? "[there before memtap]" :
			       id == MEMTAP_STACK_UNSEEN ? "[came without a fault]" :
			       "[stack not recorded]");
		return err ? err : report_stack_of(m, m->memo->buf, nr, 0);
	}
	for (__u32 i = 0; !err && i < st->nr; i++) {
		err = put_address(m, &nr, st, task, st->ip[i],
				  i || !(st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER)));
		if (i + 1 < st->nr)
			drop_plumbing(m, st, &nr);
	}
	flags = st->flags;
	if (!err)
		err = put_marks(m, &nr, &flags);
	return err ? err : report_stack_of(m, m->memo->buf, nr, flags & told_apart(m));
}

static bool same_memo(const void *things, __u32 id, const void *key)
{
	return !memcmp(&((const struct memo *)things)->keys[id], key,
		       sizeof(struct memo_key));
}

__s64 report_stack(struct maker *m, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(m->r.snap, id);
	bool user = st && (st->flags & MEMTAP_STACK_USER);
	struct memo_key key = { id, user && task ? task->space : 0,
				user && task ? task->pid : 0 };
	struct memo *memo = m->memo;
	__u64 hash = ids_mix(ids_mix(id, key.space), key.pid);
	struct memo_key *keys;
	__u32 *stacks, at;
	__s64 named;

	if (id == MEMTAP_STACK_NONE)
		return RSTACK_NONE;
	at = ids_find(&memo->ids, hash, same_memo, memo, &key);
	if (at != IDS_NONE)
		return memo->stacks[at];
	named = name_stack(m, id, task);
	if (named < 0)
		return named;
	keys = ids_grow(memo->keys, memo->ids.nr, &memo->room_keys, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	memo->keys = keys;
	stacks = ids_grow(memo->stacks, memo->ids.nr, &memo->room_stacks, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	memo->stacks = stacks;
	at = ids_add(&memo->ids, hash);
	if (at == IDS_NONE)
		return -ENOMEM;
	memo->keys[at] = key;
	memo->stacks[at] = named;
	return named;
}

int report_stack_init(struct maker *m)
{
	m->memo = calloc(1, sizeof(*m->memo));
	if (!m->memo || report_stack_of(m, m->memo->buf, 0, 0) != RSTACK_NONE)
		return -ENOMEM;
	return 0;
}

void report_stack_forget(struct maker *m)
{
	ids_free(&m->memo->ids);
	memset(&m->memo->ids, 0, sizeof(m->memo->ids));
}

void report_stack_free(struct maker *m)
{
	if (m->memo) {
		ids_free(&m->memo->ids);
		ids_free(&m->memo->known_ids);
		free(m->memo->known);
		free(m->memo->keys);
		free(m->memo->stacks);
	}
	free(m->memo);
	ids_free(&m->frame_ids);
	ids_free(&m->stack_ids);
	free(m->r.frames);
	free(m->r.stacks);
}
