// SPDX-License-Identifier: GPL-2.0-only
/* Track allocated pages, which may be freed in parts, in a table of live blocks. */
#include "pagetab.h"

#define MIX	0x9e3779b97f4a7c15ULL

void pagetab_init(struct pagetab *p, struct livetab *t, u32 space, u32 shift, u32 first_event)
{
	u32 i;

	p->table = t;
	p->space = space;
	p->shift = shift;
	p->first_event = first_event;
	p->cuttable = 0;
	port_lock_init(&p->adds);
	for (i = 0; i < PAGETAB_LOCKS; i++)
		port_lock_init(&p->locks[i].lock);
}

void pagetab_may_cut(struct pagetab *p, u32 order)
{
	/* its parts can be cut again */
	const u32 orders = (2U << order) - 2;

	if (likely(!(orders & ~READ_ONCE(p->cuttable))))
		return;
	port_lock(&p->adds);
	WRITE_ONCE(p->cuttable, p->cuttable | orders);
	port_unlock(&p->adds);
}

static u32 order_of(const struct pagetab *p, u64 size)
{
	return port_fls64(size >> p->shift) - 1;
}

static void put_part(struct pagetab *p, const struct live *b, u64 addr, u64 size,
		     struct pagetab_cut *cut)
{
	struct live part = *b, was;

	part.addr = addr;
	part.size = size;
	part.event = p->first_event + order_of(p, size);
	cut->parts++;
	if (livetab_put(p->table, &part, &was) == LIVETAB_FULL) {
		cut->lost++;
		cut->lost_bytes += size;
	}
}

/* @out, which has left the table, becomes its part at @addr; the rest goes back, by halves. */
static void cut_up(struct pagetab *p, u64 addr, u64 size, struct live *out,
		   struct pagetab_cut *cut)
{
	u64 half;

	cut->was = *out;
	cut->parts = 1;
	cut->lost = 0;
	cut->lost_bytes = 0;
	while (out->size > size) {
		half = out->size / 2;
		out->size = half;
		if (addr < out->addr + half) {
			put_part(p, out, out->addr + half, half, cut);
		} else {
			put_part(p, out, out->addr, half, cut);
			out->addr += half;
		}
	}
	out->event = p->first_event + order_of(p, out->size);
}

/* The block that has @addr and is larger than that; under the lock of the place. */
static int take_larger(struct pagetab *p, u64 addr, u32 order, struct live *out)
{
	u32 orders = READ_ONCE(p->cuttable) & ~((2U << order) - 1);
	u64 head;

	for (; orders; orders &= orders - 1) {
		order = port_fls64(orders & -orders) - 1;
		head = addr & ~((1ULL << (p->shift + order)) - 1);
		if (livetab_take_sized(p->table, p->space, head, 1ULL << (p->shift + order), out))
			return 1;
	}
	return 0;
}

static port_lock_t *lock_of(struct pagetab *p, u64 addr)
{
	const u64 place = addr >> (p->shift + PAGETAB_ORDERS - 1);

	return &p->locks[(place * MIX >> 40) & (PAGETAB_LOCKS - 1)].lock;
}

int pagetab_take(struct pagetab *p, u64 addr, u32 order, struct live *out,
		 struct pagetab_cut *cut)
{
	const u64 size = 1ULL << (p->shift + order);
	port_lock_t *lock;
	int how;

	if (livetab_take_sized(p->table, p->space, addr, size, out))
		return PAGETAB_WHOLE;
	if (!(READ_ONCE(p->cuttable) >> order >> 1))
		return PAGETAB_UNKNOWN;
	lock = lock_of(p, addr);
	port_lock(lock);
	/* it may have been a part that was just on its way back */
	if (livetab_take_sized(p->table, p->space, addr, size, out)) {
		how = PAGETAB_WHOLE;
	} else if (take_larger(p, addr, order, out)) {
		cut_up(p, addr, size, out, cut);
		how = PAGETAB_CUT;
	} else {
		/* less was known of there than is given back */
		how = livetab_take(p->table, p->space, addr, out) ? PAGETAB_WHOLE :
								   PAGETAB_UNKNOWN;
	}
	port_unlock(lock);
	return how;
}
