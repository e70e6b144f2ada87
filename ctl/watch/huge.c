// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the kernel's machine-wide huge page counters, beside the recorded events of the
 * targets.  Nothing else says why a fault got small pages.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/text.h"
#include "target/maps.h"
#include "watch/watch.h"

static struct machine_fields *read_vm(void)
{
	struct machine_fields *f = calloc(1, sizeof(*f));
	char *text;
	size_t len;

	if (!f || maps_slurp(AT_FDCWD, "/proc/vmstat", &text, &len)) {
		free(f);
		return NULL;
	}
	fields_parse_vm(text, f);
	free(text);
	return f;
}

void watch_huge_begin(struct watch *w)
{
	w->huge_then = read_vm();
}

void watch_huge_end(struct watch *w)
{
	free(w->huge_then);
	w->huge_then = NULL;
}

struct line {
	const char *what;
	struct { enum machine_vm vm; const char *text; } part[3];
};

static const struct line lines[WATCH_HUGE_LINES] = {
	{ "faults of anonymous memory", {
		{ VM_THP_FAULT, "huge pages" },
		{ VM_THP_FALLBACK, "small pages instead (none free)" },
		{ VM_THP_CHARGE, "of these at a cgroup's limit" } } },
	{ "faults of files and shared memory", {
		{ VM_THP_FILE_MAPPED, "huge pages mapped" },
		{ VM_THP_FILE, "made" },
		{ VM_THP_FILE_FALLBACK, "small pages instead (none free)" } } },
	{ "collapsing", {
		{ VM_THP_COLLAPSE, "huge pages taken for it" },
		{ VM_THP_COLLAPSE_FAILED, "requested but not available" },
		{ NR_MACHINE_VM, NULL } } },
	{ "splitting", {
		{ VM_THP_SPLIT, "pages" },
		{ VM_THP_SPLIT_FAILED, "failed" },
		{ VM_THP_SPLIT_PMD, "mappings" } } },
};

/* False: this kernel counts nothing of it. */
static bool put_line(const struct line *l, const struct machine_fields *then,
		     const struct machine_fields *now, char *line, size_t len)
{
	size_t used = (size_t)snprintf(line, len, "the whole machine's %s (/proc/vmstat):",
				       l->what);
	const char *sep = " ";
	char n[TEXT_LEN];

	for (size_t i = 0; i < 3 && l->part[i].text; i++) {
		const enum machine_vm vm = l->part[i].vm;

		if (!now->has_vm[vm] || !then->has_vm[vm] || used >= len)
			continue;
		used += (size_t)snprintf(line + used, len - used, "%s%s %s", sep,
					 l->part[i].text,
					 text_count(n, now->vm[vm] - then->vm[vm]));
		sep = ", ";
	}
	return *sep == ',';
}

size_t watch_huge(const struct watch *w, char (*out)[WATCH_OBJECTS_TEXT])
{
	struct machine_fields *now = w->huge_then ? read_vm() : NULL;
	size_t nr = 0;

	for (size_t i = 0; now && i < WATCH_HUGE_LINES; i++)
		nr += put_line(&lines[i], w->huge_then, now, out[nr], WATCH_OBJECTS_TEXT);
	free(now);
	return nr;
}
