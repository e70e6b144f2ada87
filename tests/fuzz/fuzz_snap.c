// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: ctl/snap/part.c kmod/core/wire.c */
/* FUZZ: -max_len=8192 */
/*
 * Hostile files.  To get past the checksum, the input is a list of records from
 * which END records are made; its first byte chooses whether they are, or the
 * input is taken as it is.  What decodes is consistent.
 */
#include <stdlib.h>
#include <string.h>

#include "snap/snap.h"
#include "snap_bytes.h"

/* What was counted is all in a part that has no beginning; of sessions without live blocks. */
static void check_part(const struct snap *s)
{
	struct snap *part;
	size_t nr = 0;

	if (s->nr_blocks || s->nr_spaces || s->nr_mismatches || s->nr_peaks)
		return;
	for (size_t i = 0; i < s->nr_counters; i++)
		nr += s->counters[i].count || s->counters[i].sum;
	if (snap_part(s, NULL, NULL, &part) || part->nr_counters != nr ||
	    part->nr_stacks > s->nr_stacks || part->nr_tasks > s->nr_tasks)
		abort();
	snap_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool stack_known(const struct snap *s, u32 id)
{
	return id < MEMTAP_STACK_FIRST || snap_stack(s, id);
}

static bool task_known(const struct snap *s, u32 id)
{
	return id < MEMTAP_TASK_FIRST || snap_task(s, id);
}

static void check_live(const struct snap *s)
{
	struct snap_walk w = { .snap = s };
	size_t nr = 0;

	for (; snap_next_block(&w); nr++)
		if (w.number != nr || w.kind >= NR_LEAK_KINDS ||
		    !snap_event(s, w.block->event) || !stack_known(s, w.block->ustack) ||
		    !task_known(s, w.block->task) ||
		    !(w.block->flags & MEMTAP_BLOCK_KERNEL ?
		      (const void *)snap_cache(s, w.block->space) :
		      (const void *)snap_space(s, w.block->space)))
			abort();
	if (nr != s->nr_blocks)
		abort();
	for (size_t i = 0; i < s->nr_heaps; i++)
		if (!snap_event(s, s->heaps[i].event) ||
		    snap_heap(s, s->heaps[i].event) != &s->heaps[i])
			abort();
	for (size_t i = 0; i < s->nr_spaces; i++)
		if (!task_known(s, s->spaces[i].task) ||
		    snap_space(s, s->spaces[i].id) != &s->spaces[i])
			abort();
	for (size_t i = 0; i < s->nr_caches; i++)
		if (snap_cache(s, s->caches[i].id) != &s->caches[i] ||
		    !memchr(s->caches[i].name, 0, sizeof(s->caches[i].name)))
			abort();
	for (size_t i = 0; i < s->nr_gones; i++)
		if (!s->gones[i].name || (i && s->gones[i].addr < s->gones[i - 1].addr))
			abort();
	for (size_t i = 0; i < s->nr_mismatches; i++) {
		const struct memtap_rec_mismatch *m = &s->mismatches[i];

		if (!snap_event(s, m->event) || !task_known(s, m->task) ||
		    (m->alloc_event != ~0U && !snap_event(s, m->alloc_event)) ||
		    !stack_known(s, m->stack) || !stack_known(s, m->alloc_stack) ||
		    !stack_known(s, m->free_stack))
			abort();
	}
}

static void check(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		if (!snap_event(s, c->event) ||
		    (c->task >= MEMTAP_TASK_FIRST && !snap_task(s, c->task)) ||
		    (c->kstack >= MEMTAP_STACK_FIRST && !snap_stack(s, c->kstack)) ||
		    (c->ustack >= MEMTAP_STACK_FIRST && !snap_stack(s, c->ustack)))
			abort();
	}
	for (size_t i = 0; i < s->nr_spans; i++)
		for (u32 k = 0; k < s->spans[i]->nr; k++) {
			const struct snap_counter c = snap_span_counter(&s->spans[i]->at[k]);

			if (!snap_event(s, c.event) || !task_known(s, c.task) ||
			    !stack_known(s, c.kstack) || !stack_known(s, c.ustack))
				abort();
		}
	for (size_t i = 0; i < s->nr_liveds; i++)
		for (u32 k = 0; k < s->liveds[i]->nr; k++)
			if (!task_known(s, s->liveds[i]->at[k].task) ||
			    !stack_known(s, s->liveds[i]->at[k].ustack))
				abort();
	check_live(s);
	for (size_t i = 0; i < s->nr_stacks; i++)
		for (u32 k = 0; k < s->stacks[i].nr; k++)
			snap_map(s, 1, s->stacks[i].era, s->stacks[i].ip[k]);
	for (size_t i = 0; i < s->nr_usyms; i++) {
		const struct snap_usym *u = &s->usyms[i], *first;

		if (strlen(u->name) + strlen(u->object) + strlen(u->file) > s->len ||
		    !snap_usyms(s, u->space, u->era, u->ip, u->flags & MEMTAP_USYM_CALL, &first) ||
		    first > u)
			abort();
	}
	for (size_t i = 0; i < s->nr_files; i++)
		if (strlen(s->files[i].path) > s->len)
			abort();
	for (size_t i = 0; i < s->nr_notes; i++)
		if (strlen(s->notes[i]) > s->len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap *s, *d;
	char err[256];
	char *bytes;
	size_t len;

	bytes = snap_bytes(data, size, &len);
	if (!bytes)
		return 0;
	if (snap_decode(bytes, len, &s, err)) {
		if (s || !*err)
			abort();
		return 0;
	}
	check(s);
	d = snap_diff(s, s);
	if (!d || d->nr_counters || d->nr_blocks != s->nr_blocks)
		abort();
	check_live(d);
	snap_free(d);
	check_part(s);
	snap_free(s);
	return 0;
}
