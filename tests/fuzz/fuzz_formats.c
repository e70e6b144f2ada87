// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c */
/* LINK: ctl/machine/container.c ctl/base/json_read.c */
/* LINK: ctl/machine/caches.c ctl/machine/text.c */
/* LINK: ctl/report/block.c ctl/report/diff.c ctl/report/pages.c */
/* LINK: ctl/render/oom.c ctl/render/oom_json.c ctl/render/oom_stack.c ctl/triage/oom.c */
/* LINK: ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c ctl/triage/advice.c */
/* LINK: ctl/render/flame_page.c ctl/base/openreg.c */
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/base/json.c ctl/base/text.c ctl/leaks/leaks.c */
/* LINK: ctl/leaks/look_way.c ctl/base/err.c */
/* LINK: ctl/render/suppression.c ctl/render/xml.c */
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* LINK: ctl/render/accounts.c ctl/render/annotate.c */
/* LINK: ctl/render/callgrind.c ctl/render/chain.c */
/* LINK: ctl/render/columns.c ctl/render/diff.c */
/* LINK: ctl/render/events.c ctl/render/flame.c ctl/render/flame_data.c */
/* LINK: ctl/render/folded.c ctl/render/footer.c ctl/render/frames.c ctl/render/json.c */
/* LINK: ctl/render/json_stack.c ctl/render/leaks.c ctl/render/leaks_calls.c ctl/render/verdict.c */
/* LINK: ctl/render/leaks_footer.c ctl/render/leaks_json.c ctl/render/losses.c */
/* LINK: ctl/render/heaptrack.c ctl/render/perf_data.c */
/* LINK: ctl/render/massif.c ctl/render/memory.c ctl/render/perf.c ctl/render/pprof.c */
/* LINK: ctl/render/render.c ctl/render/speedscope.c ctl/render/stacks.c ctl/render/summary.c */
/* LINK: ctl/render/table.c ctl/render/words.c ctl/report/cut.c ctl/report/group.c */
/* LINK: ctl/report/held.c ctl/report/leaks.c ctl/report/live_series.c ctl/report/mapped.c */
/* LINK: ctl/report/merge.c */
/* LINK: ctl/report/order.c ctl/report/select.c ctl/render/functions.c ctl/base/opt_value.c */
/* LINK: ctl/report/peak.c */
/* LINK: ctl/report/past.c ctl/report/report.c ctl/report/row.c ctl/report/stack.c */
/* LINK: ctl/report/sums.c ctl/report/trend.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/io.c ctl/snap/live.c */
/* LINK: ctl/snap/merge.c ctl/snap/snap.c kmod/core/names.c kmod/core/wire.c -lm -lz */
/* FUZZ: -max_len=8192 */
/*
 * Hostile recordings in each format: see fuzz_snap.c.  Names come from the recording alone, and
 * some from here, so that nothing is opened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/annotate.h"
#include "render/int.h"
#include "render/render.h"
#include "snap_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST	4

/* A function may have what was inlined into it, and come again. */
static const struct sym_frame kernel_frame = {
	.name = "do;it (\n1) x", .object = "kernel", .kernel = true, .offset = 3,
};

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	*frames = &kernel_frame;
	return 1;
}

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	static const struct sym_frame all[MOST] = {
		{ .name = "inl", .object = "a.out", .file = "a b.c", .line = 7, .addr = 9,
		  .inlined = true },
		{ .name = "f()", .object = "a.out", .file = "/x/a b.c", .line = -1, .addr = 9 },
		{ .object = "", .addr = ~0ULL },
		{ .name = "\"\\</script>", .object = "[jit]", .addr = 1ULL << 63 },
	};
	const size_t at = ip % MOST;

	*frames = &all[at];
	return at ? 1 : 2;
}

const char *sym_cgroup(struct sym *s, const struct snap *snap, __u64 inode)
{
	return inode & 1 ? "/a/b" : NULL;
}

const char *const *sym_notes(struct sym *s)
{
	static const char *const none[] = { NULL };

	return none;
}

/* Against itself, and against another one that was taken apart in the same way. */
static void render_changes(const struct snap *s, struct render_opts *o, FILE *out)
{
	static const enum report_format formats[] = {
		FORMAT_TABLE, FORMAT_FOLDED, FORMAT_FLAME, FORMAT_JSON,
	};
	struct snap former = *s;
	const struct render_side sides[2] = { { &former, NULL, "a" }, { s, NULL, "b", "t" } };

	/* of leaks the counters are no rows, and the other way round */
	former.nr_counters /= 2;
	former.nr_blocks /= 2;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		o->format = formats[i];
		if (render_diff(sides, o, out))
			abort();
	}
}

static void render_all(const struct snap *s, const uint8_t *data)
{
	static FILE *nowhere;
	static const struct opt_strs nowhere_else;
	const struct annotate_opts a = { data[3] & 2 ? "a b.c" : NULL, &nowhere_else, 1 };
	struct render_opts o = { .title = "t", .command = "c" };
	int err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	o.rows.by_given = data[1] & 1;
	o.calls = o.blocks = data[1] & 2;
	o.rows.addresses = data[1] & 4;
	o.rows.lines = data[1] & 8;
	o.rows.top = data[1] >> 4;
	o.rows.suppressions = data[3] & 4;
	o.rows.by = data[2] % (BY_PROGRAM + 1);
	o.number = data[3] & 1;
	for (int i = 0; i < NR_FORMATS; i++) {
		o.format = (enum report_format)i;
		err = render_missing(o.format) ? 0 : render_report(s, NULL, &o, nowhere);
		if (err && err != -EOPNOTSUPP)
			abort();
	}
	render_changes(s, &o, nowhere);
	o.format = FORMAT_TABLE;
	err = render_annotate(s, NULL, &o, &a, nowhere);
	if (err && err != -ENODATA && err != -ENOENT)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap *s;
	char err[256];
	size_t len;
	char *bytes = snap_bytes(data, size, &len);

	if (!bytes || snap_decode(bytes, len, &s, err))
		return 0;
	heaptrack_most_calls = 20000;
	render_all(s, data);
	snap_free(s);
	return 0;
}
