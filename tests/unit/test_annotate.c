// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/container.c ctl/base/json_read.c */
/* LINK: ctl/machine/caches.c ctl/machine/text.c */
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/base/json.c ctl/base/openreg.c ctl/base/text.c */
/* LINK: ctl/leaks/leaks.c */
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* LINK: ctl/render/accounts.c ctl/render/annotate.c ctl/render/chain.c */
/* LINK: ctl/render/columns.c ctl/render/events.c ctl/render/footer.c ctl/render/leaks_calls.c */
/* LINK: ctl/render/verdict.c */
/* LINK: ctl/render/leaks_footer.c ctl/render/memory.c ctl/render/stacks.c ctl/render/summary.c */
/* LINK: ctl/render/words.c ctl/report/block.c ctl/report/cut.c ctl/report/diff.c */
/* LINK: ctl/report/group.c ctl/report/held.c ctl/report/leaks.c ctl/report/live_series.c */
/* LINK: ctl/report/mapped.c */
/* LINK: ctl/report/merge.c */
/* LINK: ctl/report/pages.c ctl/report/order.c ctl/report/past.c ctl/report/report.c */
/* LINK: ctl/report/peak.c */
/* LINK: ctl/report/row.c */
/* LINK: ctl/report/stack.c ctl/report/sums.c ctl/report/trend.c ctl/snap/common.c */
/* LINK: ctl/snap/index.c ctl/snap/io.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/names.c kmod/core/wire.c -lm -lz */
/* Source lines with what they caused: how it adds up, and sources that are not as they were. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render/annotate.h"
#include "tap.h"

/* ---- a recording ---- */

/* By address: work() of line 3 calls itself and get() of line 7; main() is in another file. */
static const struct sym_frame frames[] = {
	{ .name = "malloc", .object = "libc.so.6" },
	{ .name = "get", .object = "a", .file = "/build/src/a.c", .line = 7, .addr = 7 },
	{ .name = "work", .object = "a", .file = "/build/src/a.c", .line = 3, .addr = 3 },
	{ .name = "main", .object = "a", .file = "/build/main.c", .line = 2, .addr = 2 },
	{ .name = "far", .object = "a", .file = "/build/src/a.c", .line = 900, .addr = 9 },
};

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **out)
{
	*out = &frames[ip];
	return 1;
}

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **out)
{
	return sym_user(s, snap, NULL, 0, ip, call, out);
}

const char *sym_cgroup(struct sym *s, const struct snap *snap, __u64 inode)
{
	return NULL;
}

const char *const *sym_notes(struct sym *s)
{
	static const char *const none[] = { NULL };

	return none;
}

static const __u64 recursive[] = { 0, 1, 2, 2, 2, 3 }, far[] = { 0, 4, 3 }, libc[] = { 0 };
static struct snap_stack stacks[] = {
	{ .id = 8, .flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, .nr = 6, .ip = recursive },
	{ .id = 9, .flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, .nr = 3, .ip = far },
	{ .id = 10, .flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, .nr = 1, .ip = libc },
};
static struct snap_event events[] = {
	{ .id = 1, .unit = MEMTAP_UNIT_BYTES, .group = "heap", .name = "brk", .seen = 8,
	  .counted = 8 },
};
static struct snap_counter counters[] = {
	{ .event = 1, .ustack = 8, .count = 5, .sum = 6000 },
	{ .event = 1, .ustack = 9, .count = 1, .sum = 3000 },
	{ .event = 1, .ustack = 10, .count = 2, .sum = 1000 },
};
static struct snap snap = {
	.header = { .real_ns = 4000000000ULL * 1000000000 },
	.events = events, .nr_events = 1, .counters = counters, .nr_counters = 3,
	.stacks = stacks, .nr_stacks = 3,
};

static char *text;

static int annotate(const char *source, const char *path, __u32 top, __u32 context)
{
	const struct opt_strs paths = { .nr = path != NULL, .at = { path } };
	const struct annotate_opts a = { source, &paths, context };
	const struct render_opts o = { .rows = { .by = BY_NONE, .top = top } };
	size_t len;
	FILE *f;
	int err;

	free(text);
	f = open_memstream(&text, &len);
	err = render_annotate(&snap, NULL, &o, &a, f);
	fclose(f);
	return err;
}

/* Is there a line that begins with these words, whatever the blanks between? */
static bool has(const char *words)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *p = line + (*line == '\n'), *w = words;

		line = p;
		while (*w && (*p == *w || *w == ' ' || *p == ' ')) {
			p += strspn(p, " ");
			w += strspn(w, " ");
			if (!*w || *p != *w)
				break;
			p++;
			w++;
		}
		if (!*w)
			return true;
	}
	printf("# not there: %s\n# in:\n%s", words, text);
	return false;
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	fputs(content, f);
	fclose(f);
}

int main(void)
{
	char dir[] = "/tmp/annotate.XXXXXX", path[64], map[96];

	if (!mkdtemp(dir))
		return 1;
	snprintf(map, sizeof(map), "/build/src=%s", dir);
	snprintf(path, sizeof(path), "%s/a.c", dir);
	write_file(path, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");

	is(annotate(NULL, map, 0, 1), 0, "all of it");
	ok(has("10,000 (100.0%) 8 total"), "the sum, of stacks without a source, too");
	ok(has("9,000 ( 90.0%) 6 /build/main.c:main"), "functions, with all they called");
	ok(has("6,000 ( 60.0%) 5 /build/src/a.c:work"), "a recursion counts once");
	ok(has("6,000 ( 60.0%) 5 3 three"), "so does its line");
	ok(has("6,000 ( 60.0%) 5 7 seven"), "the line that was innermost");
	ok(has(". . 4 four") && has(". . 6 six"), "lines around");
	ok(has("-- line 6 ---"), "what is left out between is marked");
	ok(has("3,000 ( 30.0%) 1 900 [after the end"), "a line that the file has not");
	ok(has("source file not found") && has("9,000 ( 90.0%) 6 2"),
	   "of a source that is not here the numbers are");
	ok(strstr(text, "src/a.c") < strstr(text, "-- /build/main.c"), "what can be read is first");

	is(annotate("a.c", map, 0, 0), 0, "one source");
	ok(!strstr(text, "main.c") && !strstr(text, "four"), "no other, and no line around");
	is(annotate("src/a.c", map, 0, 0), 0, "by the last parts of its path");
	is(annotate("c", map, 0, 0), -ENOENT, "by whole names");
	is(strlen(text), 0, "what is not there prints nothing");
	is(annotate(NULL, map, 1, 0), 0, "the first function");
	ok(has("(3 more functions: --top 0"), "others are counted");

	snap.header.real_ns = 1000;
	is(annotate("a.c", map, 0, 0), 0, "a source that was changed since");
	ok(has("this source file is newer than the recording"), "is told");
	unlink(path);
	ok(!mkfifo(path, 0600) && !annotate("a.c", map, 0, 0) && has("source file not found"),
	   "a pipe is no source, and nobody waits for it");
	counters[0].ustack = counters[1].ustack = 10;
	is(annotate(NULL, map, 0, 0), -ENODATA, "no source lines at all");

	unlink(path);
	rmdir(dir);
	free(text);
	return tap_done();
}
