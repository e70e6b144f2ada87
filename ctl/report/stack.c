// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks of addresses into stacks of names, each distinct one kept once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"

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

struct report_memo {
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

void *report_grow(void *p, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 512;
	void *q;

	if (nr < *room)
		return p;
	q = realloc(p, more * size);
	if (q)
		*room = more;
	return q;
}

/* ---- frames ---- */

/* Where in a function it called: places that allocate are told apart. */
static bool places_count(const struct report *r)
{
	return r->o->format == FORMAT_JSON || (r->leaks && !r->graph);
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
	if (r->graph)
		return true;
	if (r->o->addresses && a->ip != b->ip)
		return false;
	if (places_count(r) && a->sym->addr != b->sym->addr)
		return false;
	return a->sym->line == b->sym->line &&
	       !strcmp(a->sym->file ? a->sym->file : "", b->sym->file ? b->sym->file : "");
}

/* Of what same_frame() compares: many addresses have the same text. */
static __u64 frame_hash(const struct report *r, const struct rframe *f)
{
	__u64 hash = ids_hash_string(1, f->text);

	if (!f->sym || r->graph)
		return hash;
	hash = ids_mix(hash, f->sym->line);
	if (r->o->addresses)
		hash = ids_mix(hash, f->ip);
	return places_count(r) ? ids_mix(hash, f->sym->addr) : hash;
}

static __s64 frame_id(struct report *r, const struct rframe *f)
{
	__u64 hash = frame_hash(r, f);
	struct rframe *frames;
	__u32 id;

	id = ids_find(&r->frame_ids, hash, same_frame, r, f);
	if (id != IDS_NONE)
		return id;
	frames = report_grow(r->frames, r->frame_ids.nr, &r->room_frames, sizeof(*f));
	if (!frames)
		return -ENOMEM;
	r->frames = frames;
	id = ids_add(&r->frame_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	r->frames[id] = *f;
	if (f->text[0] == '[' || !f->sym || f->text != f->sym->name) {
		r->frames[id].text = arena_strdup(&r->arena, f->text);
		if (!r->frames[id].text)
			return -ENOMEM;
	}
	return id;
}

/*
 * What stands for a name that is not known.  Where the kernel keeps is a secret, and
 * reports go to files that others may read: only who asks for addresses gets them.
 */
static const char *no_name(const struct sym_frame *f, char buf[512])
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

static int put_mark(struct report *r, __u32 *nr, const char *text)
{
	struct rframe f = { .text = text };
	__s64 id = frame_id(r, &f);

	if (id < 0)
		return id;
	if (*nr < MAX_FRAMES)
		r->memo->buf[(*nr)++] = id;
	return 0;
}

static bool same_known(const void *things, __u32 id, const void *key)
{
	const struct known_frames *a = (const struct known_frames *)things + id, *b = key;

	return a->sym == b->sym && a->ip == b->ip;
}

static int number_frames(struct report *r, const struct sym_frame *frames, size_t n,
			 __u64 ip, __u32 *ids)
{
	char buf[512];

	for (size_t i = 0; i < n; i++) {
		struct rframe f = { .sym = &frames[i], .ip = ip };
		__s64 id;

		f.text = frames[i].name ? frames[i].name : no_name(&frames[i], buf);
		id = frame_id(r, &f);
		if (id < 0)
			return id;
		ids[i] = id;
	}
	return 0;
}

/* The numbers of the @n frames of an address, or NULL: no memory. */
static const __u32 *known_frames(struct report *r, const struct sym_frame *frames,
				 size_t n, __u64 ip)
{
	struct known_frames key = { frames, r->o->addresses ? ip : 0, NULL }, *known;
	__u64 hash = ids_mix((uintptr_t)frames, key.ip);
	struct report_memo *m = r->memo;
	__u32 *ids, id;

	id = ids_find(&m->known_ids, hash, same_known, m->known, &key);
	if (id != IDS_NONE)
		return m->known[id].ids;
	ids = arena_alloc(&r->arena, n * sizeof(*ids));
	known = report_grow(m->known, m->known_ids.nr, &m->room_known, sizeof(*known));
	if (known)
		m->known = known;
	if (!ids || !known || number_frames(r, frames, n, ip, ids))
		return NULL;
	id = ids_add(&m->known_ids, hash);
	if (id == IDS_NONE)
		return NULL;
	key.ids = ids;
	m->known[id] = key;
	return ids;
}

static int put_address(struct report *r, __u32 *nr, const struct snap_stack *st,
		       const struct memtap_rec_task *task, __u64 ip, bool call)
{
	const struct sym_frame *frames;
	const __u32 *ids;
	size_t n;

	if (st->flags & MEMTAP_STACK_USER)
		n = sym_user(r->sym, r->snap, task, ip, call, &frames);
	else
		n = sym_kernel(r->sym, r->snap, ip, call, &frames);
	ids = known_frames(r, frames, n, ip);
	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < n && *nr < MAX_FRAMES; i++)
		r->memo->buf[(*nr)++] = ids[i];
	return 0;
}

static bool begins_program(const struct report *r, __u32 nr)
{
	for (__u32 i = nr; i-- && i + 3 > nr;)
		for (size_t k = 0; k < sizeof(beginnings) / sizeof(beginnings[0]); k++)
			if (!strcmp(r->frames[r->memo->buf[i]].text, beginnings[k]))
				return true;
	return false;
}

/* Why it ends where it does: what of @flags remains to be said. */
static int put_marks(struct report *r, __u32 *nr, __u32 *flags)
{
	int err = 0;

	if ((*flags & MEMTAP_STACK_CHAIN) && !(*flags & MEMTAP_STACK_ROWS) &&
	    begins_program(r, *nr))
		*flags &= ~MEMTAP_STACK_CHAIN;
	for (size_t i = 0; !err && i < NR_CUTS; i++)
		if (*flags & report_cuts[i].flag)
			err = put_mark(r, nr, report_cut_mark(&report_cuts[i], *flags));
	return err;
}

/* ---- stacks ---- */

static bool same_stack(const void *things, __u32 id, const void *key)
{
	const struct rstack *a = &((const struct report *)things)->stacks[id], *b = key;

	return a->nr == b->nr && a->flags == b->flags &&
	       !memcmp(a->frames, b->frames, a->nr * sizeof(__u32));
}

static __s64 stack_id(struct report *r, const __u32 *frames, __u32 nr, __u32 flags)
{
	struct rstack key = { frames, nr, flags }, *stacks;
	__u64 hash = ids_mix(nr, flags);
	__u32 *copy, id;

	for (__u32 i = 0; i < nr; i++)
		hash = ids_mix(hash, frames[i]);
	id = ids_find(&r->stack_ids, hash, same_stack, r, &key);
	if (id != IDS_NONE)
		return id;
	stacks = report_grow(r->stacks, r->stack_ids.nr, &r->room_stacks, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	r->stacks = stacks;
	copy = arena_alloc(&r->arena, nr * sizeof(*copy) + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, frames, nr * sizeof(*copy));
	id = ids_add(&r->stack_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	r->stacks[id] = (struct rstack){ copy, nr, flags };
	return id;
}

/*
 * What lies between a tracepoint and us on a kernel stack that has no registers
 * to begin at.
 */
static bool is_plumbing(const char *name)
{
	static const char *const prefixes[] = { "__traceiter_", "perf_", "__perf_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void drop_plumbing(const struct report *r, const struct snap_stack *st, __u32 *nr)
{
	if (st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER))
		return;
	if (*nr == 1 && is_plumbing(r->frames[r->memo->buf[0]].text))
		*nr = 0;
}

/* What is left of a stack's flags: equal rows of a table are one. */
static __u32 told_apart(const struct report *r)
{
	const __u32 flags = MEMTAP_STACK_USER | STACK_CUTS;

	return r->o->format == FORMAT_JSON ? flags | MEMTAP_STACK_ROWS | MEMTAP_STACK_FP :
					     flags;
}

static __s64 name_stack(struct report *r, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(r->snap, id);
	__u32 nr = 0, flags;
	int err = 0;

	if (!st) {
		err = put_mark(r, &nr, "[stack not kept]");
		return err ? err : stack_id(r, r->memo->buf, nr, 0);
	}
	for (__u32 i = 0; !err && i < st->nr; i++) {
		err = put_address(r, &nr, st, task, st->ip[i],
				  i || !(st->flags & (MEMTAP_STACK_ENTRY | MEMTAP_STACK_USER)));
		if (i + 1 < st->nr)
			drop_plumbing(r, st, &nr);
	}
	flags = st->flags;
	if (!err)
		err = put_marks(r, &nr, &flags);
	return err ? err : stack_id(r, r->memo->buf, nr, flags & told_apart(r));
}

static bool same_memo(const void *things, __u32 id, const void *key)
{
	return !memcmp(&((const struct report_memo *)things)->keys[id], key,
		       sizeof(struct memo_key));
}

__s64 report_stack(struct report *r, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(r->snap, id);
	bool user = st && (st->flags & MEMTAP_STACK_USER);
	struct memo_key key = { id, user && task ? task->space : 0,
				user && task ? task->pid : 0 };
	struct report_memo *m = r->memo;
	__u64 hash = ids_mix(ids_mix(id, key.space), key.pid);
	struct memo_key *keys;
	__u32 *stacks, at;
	__s64 named;

	if (id == MEMTAP_STACK_NONE)
		return RSTACK_NONE;
	at = ids_find(&m->ids, hash, same_memo, m, &key);
	if (at != IDS_NONE)
		return m->stacks[at];
	named = name_stack(r, id, task);
	if (named < 0)
		return named;
	keys = report_grow(m->keys, m->ids.nr, &m->room_keys, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	m->keys = keys;
	stacks = report_grow(m->stacks, m->ids.nr, &m->room_stacks, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	m->stacks = stacks;
	at = ids_add(&m->ids, hash);
	if (at == IDS_NONE)
		return -ENOMEM;
	m->keys[at] = key;
	m->stacks[at] = named;
	return named;
}

int report_stack_init(struct report *r)
{
	r->memo = calloc(1, sizeof(*r->memo));
	if (!r->memo || stack_id(r, r->memo->buf, 0, 0) != RSTACK_NONE)
		return -ENOMEM;
	return 0;
}

void report_stack_free(struct report *r)
{
	if (r->memo) {
		ids_free(&r->memo->ids);
		ids_free(&r->memo->known_ids);
		free(r->memo->known);
		free(r->memo->keys);
		free(r->memo->stacks);
	}
	free(r->memo);
	ids_free(&r->frame_ids);
	ids_free(&r->stack_ids);
	free(r->frames);
	free(r->stacks);
}
