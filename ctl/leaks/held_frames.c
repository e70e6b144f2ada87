// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the frames of a stopped thread's stack, by call frame information. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "leaks/held_int.h"

#define MOST_FRAMES	256
#define RED_ZONE	128		/* below the stack pointer, and in use */
#define REG_SP		7
#define REG_IP		16
#define RETURN		8		/* bytes of a return address */

/* What was found for an address: most threads wait at the same few places. */
struct rule {
	__u64 ip;
	int err;
	struct unwind_saved saved;
};

struct frame_rules {
	struct ids ids;
	struct rule *at;
	size_t room;
};

static bool same_ip(const void *things, __u32 id, const void *key)
{
	return ((const struct rule *)things)[id].ip == *(const __u64 *)key;
}

static int find(struct objects *o, __u64 ip, struct unwind_saved *saved)
{
	const struct area *a = layout_find(o->l, ip);
	const struct object *object;
	__u64 vaddr;

	if (!a || !a->executable || !a->is_file)
		return -ENOENT;
	object = objects_find(o, ip, &vaddr);
	if (!object || object->fd < 0)
		return -ENOENT;
	return unwind_saved_at(object->fd, ip - a->start + a->offset, saved);
}

static const struct rule *rule_at(struct frame_rules *r, struct objects *o, __u64 ip)
{
	const __u64 hash = ids_mix(0, ip);
	__u32 id = ids_find(&r->ids, hash, same_ip, r->at, &ip);
	struct rule *more;

	if (id != IDS_NONE)
		return &r->at[id];
	more = ids_grow(r->at, r->ids.nr, &r->room, sizeof(*more));
	if (!more)
		return NULL;
	r->at = more;
	id = ids_add(&r->ids, hash);
	if (id == IDS_NONE)
		return NULL;
	r->at[id] = (struct rule){ .ip = ip };
	r->at[id].err = find(o, ip, &r->at[id].saved);
	return &r->at[id];
}

static bool read_word(const struct graph *g, __u64 addr, __u64 *v)
{
	return graph_read(g, addr, v, sizeof(*v));
}

/* From @regs to those of the caller.  False: no further. */
static bool step(const struct unwind_saved *s, const struct graph *g, __u64 *regs, __u64 *cfa)
{
	__u64 next[MEMTAP_HELD_REGS];

	*cfa = regs[s->cfa_reg] + (__u64)s->cfa_offset;
	if (*cfa <= regs[REG_SP] || *cfa % sizeof(__u64)) {
		*cfa = 0;
		return false;
	}
	memcpy(next, regs, sizeof(next));
	for (__u32 i = 0; i < s->nr; i++)
		if (!read_word(g, *cfa + (__u64)s->saved[i].at, &next[s->saved[i].reg]))
			return false;
	if (!read_word(g, *cfa - RETURN, &next[REG_IP]))
		return false;
	next[REG_SP] = *cfa;
	memcpy(regs, next, sizeof(next));
	return true;
}

int frames_read(struct frames *f, struct frame_rules **rules, struct objects *o,
		const struct thread *t, const struct graph *g)
{
	__u64 regs[MEMTAP_HELD_REGS], ip;
	const struct rule *rule;

	if (f->tried)
		return 0;
	f->tried = true;
	if (!*rules)
		*rules = calloc(1, sizeof(**rules));
	f->at = malloc(MOST_FRAMES * sizeof(*f->at));
	if (!*rules || !f->at)
		return -ENOMEM;
	if (t->nr_regs < MEMTAP_HELD_REGS)
		return 0;
	memcpy(regs, t->regs, sizeof(regs));
	while (f->nr < MOST_FRAMES) {
		struct frame_at *frame = &f->at[f->nr];

		/* a call may be the last thing that a function does */
		ip = regs[REG_IP] - (f->nr != 0);
		*frame = (struct frame_at){ .low = regs[REG_SP], .ip = ip };
		if (!f->nr)
			frame->low -= RED_ZONE;
		f->nr++;
		rule = rule_at(*rules, o, ip);
		if (!rule)
			return -ENOMEM;
		f->whole = !rule->err && rule->saved.outermost;
		if (rule->err || rule->saved.outermost ||
		    !step(&rule->saved, g, regs, &frame->cfa))
			break;
	}
	return 0;
}

void frame_rules_free(struct frame_rules *r)
{
	if (r) {
		free(r->at);
		ids_free(&r->ids);
	}
	free(r);
}
