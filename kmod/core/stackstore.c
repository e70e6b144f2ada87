// SPDX-License-Identifier: GPL-2.0-only
/* Store each distinct stack once, under a number. */
#include "stackstore.h"

#define ENTRY_WORDS	(sizeof(struct stackstore_entry) / sizeof(u64))
#define MAX_WORDS	(1U << 31)	/* pos stays far from wrapping */
#define BYTES_PER_HEAD	128		/* less than most stacks take */

/* Odd, with bits all over: products spread what they are fed upwards. */
#define MIX		0x9e3779b97f4a7c15ULL
#define FINAL		0xd6e8feb86659fd93ULL

u64 stackstore_layout(u64 bytes, u32 *nr_words, u32 *nr_heads)
{
	u32 heads = 1;
	u64 words;

	while (heads < MAX_WORDS / 2 &&
	       (u64)heads * 2 * BYTES_PER_HEAD <= bytes)
		heads *= 2;
	*nr_heads = heads;
	words = bytes / sizeof(u64);
	words -= words > (heads + 1) / 2 ? (heads + 1) / 2 : words;
	*nr_words = words > MAX_WORDS ? MAX_WORDS : (u32)words;
	return (u64)*nr_words * sizeof(u64) + (u64)heads * sizeof(u32);
}

void stackstore_init(struct stackstore *s, u64 *words, u32 nr_words,
		     u32 *heads, u32 nr_heads, u32 seed)
{
	s->words = words;
	s->heads = heads;
	s->nr_words = nr_words > MAX_WORDS ? MAX_WORDS : nr_words;
	s->mask = nr_heads - 1;
	s->seed = seed;
	s->pos = STACKSTORE_FIRST;
	s->wasted = 0;
}

/*
 * Each step is a bijection of the state, so that nothing a frame brought in is
 * lost before the end; less than three instructions for a frame.
 */
static inline u32 hash_of(const struct stackstore *s, const u64 *ip, u32 nr, u32 flags,
			  u32 era)
{
	u64 h = ((u64)s->seed << 32 | nr << 16) ^ flags ^ (u64)era << 32;
	const u64 *p = ip + nr, *rest = ip + (nr & 3);

	for (; p != rest; p -= 4) {
		h = (h ^ p[-1]) * MIX;
		h = (h ^ p[-2]) * MIX;
		h = (h ^ p[-3]) * MIX;
		h = (h ^ p[-4]) * MIX;
	}
	while (p != ip)
		h = (h ^ *--p) * MIX;
	h ^= h >> 32;
	h *= FINAL;
	return (u32)(h >> 32);
}

u32 stackstore_hash(const struct stackstore *s, const u64 *ip, u32 nr, u32 flags,
		    u32 era)
{
	return hash_of(s, ip, nr, flags, era);
}

static inline int same_frames(const u64 *a, const u64 *b, u32 nr)
{
	unsigned long i = nr;

	for (; i >= 4; i -= 4)
		if ((a[i - 1] ^ b[i - 1]) | (a[i - 2] ^ b[i - 2]) |
		    (a[i - 3] ^ b[i - 3]) | (a[i - 4] ^ b[i - 4]))
			return 0;
	while (i--)
		if (a[i] != b[i])
			return 0;
	return 1;
}

static inline int same(const struct stackstore_entry *e, const u64 *ip, u32 hash, u32 nr,
		       u32 flags, u32 era)
{
	return e->hash == hash && e->nr == nr && e->flags == flags && e->era == era &&
	       same_frames(e->ip, ip, nr);
}

/* What is looked for, and how much of its chain may still be followed. */
struct search {
	const u64 *ip;
	u32 hash;
	u32 nr;
	u32 flags;
	u32 era;
	u32 links;
};

/*
 * Follow a chain from @id up to, not including, @until.  An entry does not
 * change once it is linked, and whoever reads a head with acquire sees all
 * that hangs on it: plain reads will do.
 */
static u32 find(const struct stackstore *s, struct search *q, u32 id, u32 until)
{
	const struct stackstore_entry *e;

	for (; id != until && q->links; id = e->next, q->links--) {
		e = stackstore_get(s, id);
		if (same(e, q->ip, q->hash, q->nr, q->flags, q->era))
			return id;
	}
	return 0;
}

/* Looking first keeps pos from running away where every stack is refused. */
static u32 reserve(struct stackstore *s, u32 words)
{
	u32 id = READ_ONCE(s->pos);

	if (id > s->nr_words || s->nr_words - id < words)
		return 0;
	id = port_fetch_add(&s->pos, words);
	if (id > s->nr_words || s->nr_words - id < words)
		return 0;
	return id;
}

static struct stackstore_entry *write_entry(struct stackstore *s, u32 id,
					    const struct search *q)
{
	struct stackstore_entry *e = (struct stackstore_entry *)&s->words[id];

	e->hash = q->hash;
	e->nr = (u16)q->nr;
	e->flags = (u16)q->flags;
	e->era = q->era;
	memcpy(e->ip, q->ip, q->nr * sizeof(*q->ip));
	return e;
}

/*
 * Link a stack that the chain from @first on does not have.  Where another
 * writer was faster, only what it added needs to be looked at.
 */
static u32 insert(struct stackstore *s, struct search *q, u32 *head, u32 first, u32 *is_new)
{
	u32 words = ENTRY_WORDS + q->nr;
	struct stackstore_entry *e;
	u32 id, now, tries, found = 0;

	if (!q->links || q->nr > 0xffff || q->flags > 0xffff)
		return 0;
	id = reserve(s, words);
	if (!id)
		return 0;
	e = write_entry(s, id, q);
	for (tries = 0; tries < STACKSTORE_RETRY; tries++) {
		e->next = first;
		now = port_cmpxchg(head, first, id);
		if (now == first) {
			*is_new = 1;
			return id;
		}
		found = find(s, q, now, first);
		if (found || !q->links)
			break;
		first = now;
	}
	port_fetch_add(&s->wasted, words);
	return found;
}

/* Of a stack that is not the first of its chain. */
static __attribute__((__noinline__)) u32
find_or_insert(struct stackstore *s, const u64 *ip, u32 nr, u32 flags, u32 era, u32 hash,
	       u32 *is_new)
{
	u32 *head = &s->heads[hash & s->mask];
	u32 id, first = smp_load_acquire(head);
	struct search q;

	q.ip = ip;
	q.hash = hash;
	q.nr = nr;
	q.flags = flags;
	q.era = era;
	q.links = STACKSTORE_CHAIN;
	id = find(s, &q, first, 0);
	return id ? id : insert(s, &q, head, first, is_new);
}

u32 stackstore_add(struct stackstore *s, const u64 *ip, u32 nr, u32 flags, u32 era,
		   u32 *is_new)
{
	u32 hash = hash_of(s, ip, nr, flags, era);
	u32 first = smp_load_acquire(&s->heads[hash & s->mask]);

	*is_new = 0;
	if (likely(first) && likely(same(stackstore_get(s, first), ip, hash, nr, flags, era)))
		return first;
	return find_or_insert(s, ip, nr, flags, era, hash, is_new);
}

u32 stackstore_next(const struct stackstore *s, struct stackstore_iter *it)
{
	if (it->id)
		it->id = stackstore_get(s, it->id)->next;
	while (!it->id && it->head <= s->mask)
		it->id = smp_load_acquire(&s->heads[it->head++]);
	return it->id;
}

u64 stackstore_used(const struct stackstore *s)
{
	u32 pos = READ_ONCE(s->pos);

	return (u64)(pos < s->nr_words ? pos : s->nr_words) * sizeof(u64);
}
