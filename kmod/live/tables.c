// SPDX-License-Identifier: GPL-2.0-only
/* Divide, allocate and free the memory of a session's live-block tables. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "live/live.h"
#include "record/recording.h"

#include "compat/valloc.h"

/* How mem_live is divided. */
struct shares {
	u64 blocks, maps;		/* bytes */
	u32 threads, spaces, recents;	/* how many: powers of two */
};

static void divide(u64 bytes, struct shares *sh)
{
	u64 n;

	sh->maps = bytes / 16;
	n = div_u64(bytes / 16, sizeof(struct memtap_heap_thread));
	sh->threads = 1U << clamp_t(int, fls64(n) - 1, 8, 16);
	n = div_u64(bytes / 32, sizeof(struct memtap_heap_space));
	sh->spaces = 1U << clamp_t(int, fls64(n) - 1, 6, 16);
	n = div_u64(bytes / 16, sizeof(struct recent));
	sh->recents = 1U << clamp_t(int, fls64(n) - 1, 6, 14);
	sh->blocks = bytes - bytes / 32 * 7;
}

static u64 cpu_bytes(void)
{
	return sizeof(struct memtap_heap_cpu);
}

u64 memtap_heap_layout(u64 bytes)
{
	u32 nr, heads, shards;
	struct shares sh;

	divide(bytes, &sh);
	return livetab_layout(sh.blocks, num_possible_cpus(), &nr, &heads, &shards) +
	       sh.maps + sh.threads * sizeof(struct memtap_heap_thread) +
	       sh.spaces * sizeof(struct memtap_heap_space) +
	       sh.recents * sizeof(struct recent) +
	       HEAP_MISMATCHES * sizeof(struct memtap_heap_mismatch) +
	       num_possible_cpus() * cpu_bytes() + sizeof(struct memtap_heap);
}

static int make_table(struct memtap_heap *h, u64 bytes, u32 seed)
{
	u32 nr, nr_heads, nr_shards;
	struct livetab_shard *shards;
	struct live *slots;
	u32 *heads;

	livetab_layout(bytes, num_possible_cpus(), &nr, &nr_heads, &nr_shards);
	slots = memtap_vzalloc(nr * sizeof(*slots));
	heads = memtap_vzalloc(nr_heads * sizeof(*heads));
	shards = memtap_vzalloc(nr_shards * sizeof(*shards));
	h->table.slots = slots;
	h->table.heads = heads;
	h->table.shards = shards;
	if (!slots || !heads || !shards)
		return -ENOMEM;
	livetab_init(&h->table, slots, nr, heads, nr_heads, shards, nr_shards, seed);
	return 0;
}

static int make_cpus(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	int cpu;

	h->cpus = kcalloc(nr_cpu_ids, sizeof(*h->cpus), MEMTAP_GFP_CHARGED);
	if (!h->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		h->cpus[cpu] = memtap_vzalloc_node(cpu_bytes(), cpu_to_node(cpu));
		if (!h->cpus[cpu])
			return -ENOMEM;
		h->cpus[cpu]->s = s;
		h->cpus[cpu]->h = h;
		h->cpus[cpu]->events = s->cpus[cpu]->events;
	}
	return 0;
}

static int make_rest(struct memtap_heap *h, const struct shares *sh, u32 seed)
{
	u32 nr_maps = div_u64(sh->maps, sizeof(struct mapping));
	struct mapping *nodes = memtap_vzalloc(nr_maps * sizeof(*nodes));
	struct recent *recents = memtap_vzalloc(sh->recents * sizeof(*recents));

	h->maps.nodes = nodes;
	h->recents.slots = recents;
	h->threads[0].at = memtap_vzalloc(sh->threads * sizeof(struct memtap_heap_thread));
	h->spaces = memtap_vzalloc(sh->spaces * sizeof(*h->spaces));
	h->mismatches = memtap_vzalloc(HEAP_MISMATCHES * sizeof(*h->mismatches));
	if (!nodes || !recents || !h->threads[0].at || !h->spaces || !h->mismatches)
		return -ENOMEM;
	mapset_init(&h->maps, nodes, nr_maps, seed);
	recents_init(&h->recents, recents, sh->recents, seed);
	h->threads[0].nr = h->nr_threads = sh->threads;
	h->nr_tables = 1;
	h->nr_spaces = sh->spaces;
	h->used_spaces = 1;
	return 0;
}

int memtap_heap_init(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct shares sh;
	u32 seed;
	int err;

	get_random_bytes(&seed, sizeof(seed));
	get_random_bytes(&h->seed, sizeof(h->seed));
	h->exact = true;
	divide(s->mem_live, &sh);
	err = make_table(h, sh.blocks, seed);
	if (!err)
		err = make_cpus(s);
	if (!err)
		err = make_rest(h, &sh, seed);
	if (!err)
		err = memtap_heap_peak_init(s, seed);
	return err;
}

/* What memtap_heap_init() made: START may be tried again. */
void memtap_heap_empty(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	u32 i;

	for (i = 1; h->spaces && i < h->used_spaces; i++)
		if (h->spaces[i].mm)
			mmdrop(h->spaces[i].mm);
	for (i = 0; h->cpus && i < nr_cpu_ids; i++)
		memtap_vfree(h->cpus[i]);
	kfree(h->cpus);
	memtap_vfree(h->table.slots);
	memtap_vfree(h->table.heads);
	memtap_vfree(h->table.shards);
	memtap_vfree(h->maps.nodes);
	memtap_vfree(h->recents.slots);
	for (i = 0; i < HEAP_THREAD_TABLES; i++) {
		memtap_vfree(h->threads[i].at);
		h->threads[i].at = NULL;
	}
	memtap_vfree(h->spaces);
	memtap_vfree(h->mismatches);
	memtap_heap_peak_free(h);
	h->cpus = NULL;
	h->table.slots = NULL;
	h->table.heads = NULL;
	h->table.shards = NULL;
	h->maps.nodes = NULL;
	h->recents.slots = NULL;
	h->spaces = NULL;
	h->mismatches = NULL;
	h->nr_tables = h->used_threads = 0;
	h->free_spaces = h->done_spaces = 0;
	h->grown = 0;
	memset(h->heads, 0, sizeof(h->heads));
}

/* --- what grows -------------------------------------------------------------- */

void memtap_heap_may_grow(struct memtap_session *s, u64 bytes)
{
	s->heap->room = bytes;
}

u64 memtap_heap_grown(const struct memtap_session *s)
{
	return s->heap ? READ_ONCE(s->heap->grown) : 0;
}

void memtap_heap_more_threads(struct memtap_heap *h)
{
	const u32 n = h->nr_tables;
	struct memtap_heap_threads *t = &h->threads[n];
	u64 bytes;

	if (!n || n >= HEAP_THREAD_TABLES || !READ_ONCE(h->want_threads))
		return;
	t->nr = 2 * h->threads[n - 1].nr;
	bytes = (u64)t->nr * sizeof(*t->at);
	while (t->nr > 64 && h->grown + bytes > h->room) {
		t->nr /= 2;
		bytes /= 2;
	}
	/* it stays wanted where there is no room: nobody asks again */
	if (h->grown + bytes > h->room)
		return;
	t->at = memtap_vzalloc(bytes);
	if (!t->at)
		return;
	WRITE_ONCE(h->grown, h->grown + bytes);
	WRITE_ONCE(h->nr_threads, h->nr_threads + t->nr);
	smp_store_release(&h->nr_tables, n + 1);
	WRITE_ONCE(h->want_threads, false);
}
