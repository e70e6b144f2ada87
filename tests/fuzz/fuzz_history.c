// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c ctl/machine/account.c ctl/machine/cgroup.c */
/* LINK: ctl/machine/fields.c ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/pinned.c ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/shared.c ctl/machine/text.c ctl/machine/zones.c ctl/machine/rows.c */
/* LINK: ctl/history/recorded.c */
/* LINK: ctl/history/code.c ctl/base/text.c ctl/triage/advice.c ctl/triage/grow.c */
/* LINK: ctl/triage/kernel_most.c */
/* LINK: ctl/triage/holds.c ctl/triage/kernel.c ctl/triage/kills.c ctl/triage/look.c */
/* LINK: ctl/triage/rates.c ctl/triage/pressure.c */
/* FUZZ: -max_len=4096 */
/*
 * Samples of a history, as any file might have them: rebuilt one from the other, and judged.  What
 * comes out is written and read again, and is the same.  Input: 1 byte, whether names of numbers
 * are ours or the input's; the length of the first sample; two samples.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/int.h"
#include "history/recorded.h"
#include "triage/triage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct code_map *map, const struct machine *before,
		  const struct machine *now)
{
	static __u8 bytes[SAMPLE_MOST];
	const size_t len = code_put(before, now, bytes, sizeof(bytes));
	struct machine back;

	if (len && code_get(map, before, bytes, len, &back, NULL))
		abort();
	if (len && (back.processes.nr != now->processes.nr || back.nr_zones != now->nr_zones ||
		    back.ns != now->ns))
		abort();
	if (len)
		machine_free(&back);
}

static void judge(const struct machine *before, const struct machine *now)
{
	const struct machine_at at = { .root = "/nonexistent", .past_ns = 1 };
	struct triage t;

	if (triage_look(&t, &at, before, now, false))
		return;
	triage_events(before, now);
	triage_free(&t);
}

/* What the module recorded: read, and told again as what came from nothing to that. */
static void recorded(const uint8_t *data, size_t size)
{
	static struct memtap_recorded_row rows[MEMTAP_MAX_RECORDED], scratch[MEMTAP_MAX_RECORDED];
	static __u64 room[32768];
	struct memtap_rec_recorded *rec = (void *)room;
	struct recorded_look was = { .ns = 1 }, is = { .ns = 2, .rows = rows };
	struct recorded r = { 0 }, again = { 0 };

	rec->rec.type = MEMTAP_REC_RECORDED;
	rec->rec.len = (__u32)((sizeof(*rec) + size + 7) & ~7UL);
	rec->nr = data[0];
	rec->used = (__u32)size;
	memcpy(rec->data, data, size);
	recorded_get(rec, &r);
	for (size_t i = 0; i < r.nr; i++) {
		recorded_is_own(&r, i);
		rows[is.nr] = r.at[i];
		rows[is.nr++].since_ns = 2;
	}
	if (recorded_put(&was, &is, scratch, rec, sizeof(room)) &&
	    (recorded_get(rec, &again) || again.nr > r.nr))
		abort();
	recorded_free(&again);
	recorded_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct code_map ours, map;
	static char names[65536];
	struct machine before, now;
	struct machine_list ended = { 0 };
	size_t first;

	if (!ours.nr_tables)
		code_map_make(&ours, names, code_fields(names, sizeof(names)));
	if (size < 3)
		return 0;
	recorded(data, size);
	map = ours;
	first = data[1] * 16;
	if (first > size - 2)
		first = size - 2;
	if (data[0] & 1) {
		code_map_make(&map, (const char *)data + 2, first);
		first = 0;
	}
	code_get(&map, NULL, data + 2, first, &before, NULL);
	code_get(&map, &before, data + 2 + first, size - 2 - first, &now, &ended);
	if (!(data[0] & 1)) {
		again(&ours, NULL, &before);
		again(&ours, &before, &now);
	}
	judge(&before, &now);
	machine_free(&now);
	machine_free(&before);
	free(ended.at);
	return 0;
}
