// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compute the numbers of a stack: count and sum for each event.  For live blocks they have the
 * names of Memcheck's execution trees.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "render/int.h"

static const struct {
	__u32 event;
	__s32 kind;
	bool value;
	const char *name, *about;
} blocks[] = {
	{ RLEAKS_HEAP, -1, true, "curB", "currently allocated Bytes" },
	{ RLEAKS_HEAP, -1, false, "curBk", "currently allocated Blocks" },
	{ RLEAKS_HEAP, LEAK_REACHABLE, true, "RB", "Reachable Bytes" },
	{ RLEAKS_HEAP, LEAK_POSSIBLE, true, "PB", "Possibly lost Bytes" },
	{ RLEAKS_HEAP, LEAK_INDIRECT, true, "IB", "Indirectly lost Bytes" },
	{ RLEAKS_HEAP, LEAK_DEFINITE, true, "DB", "Definitely lost Bytes (direct alone)" },
	{ RLEAKS_HEAP, LEAK_REACHABLE, false, "RBk", "Reachable Blocks" },
	{ RLEAKS_HEAP, LEAK_POSSIBLE, false, "PBk", "Possibly lost Blocks" },
	{ RLEAKS_HEAP, LEAK_INDIRECT, false, "IBk", "Indirectly lost Blocks" },
	{ RLEAKS_HEAP, LEAK_DEFINITE, false, "DBk", "Definitely lost Blocks (direct alone)" },
	{ RLEAKS_MAPPINGS, -1, true, "mapB", "mapped Bytes" },
	{ RLEAKS_MAPPINGS, -1, false, "maps", "Mappings" },
	{ RLEAKS_PAGES, -1, true, "pagesB", "Bytes of pages" },
	{ RLEAKS_PAGES, -1, false, "pages", "Blocks of pages" },
	{ RLEAKS_PERCPU, -1, true, "percpuB", "Bytes for each processor, of all" },
	{ RLEAKS_PERCPU, -1, false, "percpu", "Objects for each processor" },
	{ RLEAKS_VMALLOC, -1, true, "vmallocB", "Bytes of vmalloc and vmap" },
	{ RLEAKS_VMALLOC, -1, false, "vmallocs", "Areas of vmalloc and vmap" },
	{ RLEAKS_PEAK, -1, true, "peakB", "Bytes at the peak" },
	{ RLEAKS_PEAK, -1, false, "peakBk", "Blocks at the peak" },
	{ RLEAKS_ALLOCATED, -1, true, "totB", "total allocated Bytes" },
	{ RLEAKS_ALLOCATED, -1, false, "totBk", "total allocated Blocks" },
	{ RLEAKS_TEMPORARY, -1, true, "tempB", "temporarily allocated Bytes" },
	{ RLEAKS_TEMPORARY, -1, false, "tempBk", "temporarily allocated Blocks" },
};

#define NR_BLOCKS	(sizeof(blocks) / sizeof(blocks[0]))

/* Columns of kinds are there where one is known, those of mappings where there is one. */
static bool block_column_shown(const struct report *r, size_t i)
{
	if (blocks[i].event == RLEAKS_HEAP && blocks[i].kind < 0)
		return true;
	for (size_t k = 0; k < r->nr_rows; k++)
		if (r->rows[k].event == blocks[i].event &&
		    (blocks[i].kind < 0 || r->rows[k].flags != LEAK_UNKNOWN))
			return true;
	return false;
}

static void block_columns(const struct report *r, struct column *out, size_t *nr)
{
	for (size_t i = 0; i < NR_BLOCKS; i++) {
		struct column *c = &out[*nr];

		if (!block_column_shown(r, i))
			continue;
		c->event = blocks[i].event;
		c->kind = blocks[i].kind;
		c->value = blocks[i].value;
		c->unit = c->value ? "bytes" : "count";
		snprintf(c->name, sizeof(c->name), "%s", blocks[i].name);
		snprintf(c->about, sizeof(c->about), "%s", blocks[i].about);
		(*nr)++;
	}
}

/* Readers split names at blanks, and take some signs for their own. */
static void set_name(struct column *all, __u32 nr, const char *event, const char *what)
{
	struct column *c = &all[nr];
	char number[16] = "";

again:
	snprintf(c->name, sizeof(c->name), "%.*s%s%s%s", MEMTAP_NAME_LEN, event,
		 *what ? "_" : "", what, number);
	for (char *p = c->name; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	for (__u32 i = 0; !*number && i < nr; i++)
		if (!strcmp(all[i].name, c->name)) {
			snprintf(number, sizeof(number), "_%u", nr + 1);
			goto again;
		}
}

static void add_column(const struct report *r, struct column *all, size_t *nr, __u32 event,
		       const char *value)
{
	const struct snap_event *e = &r->events[event];
	struct column *c = &all[*nr];

	c->event = event;
	c->kind = -1;
	c->value = *value;
	c->unit = *value ? value : "count";
	set_name(all, (__u32)*nr, e->name, value);
	snprintf(c->about, sizeof(c->about), "%s%s%s", e->name, *value ? ", " : "", value);
	(*nr)++;
}

/* Of what is resident, the events by which that came have no rows. */
bool render_event_shown(const struct report *r, const struct snap_event *e)
{
	return !report_sums_only(r, e) && (!report_is_rss(r) || report_is_pages(e));
}

/* What has a value is ordered by it. */
static void event_columns(const struct report *r, struct column *out, size_t *nr)
{
	for (__u32 i = 0; i < r->nr_events; i++) {
		const char *unit = unit_name(r->events[i].unit);

		if (!render_event_shown(r, &r->events[i]))
			continue;
		if (*unit)
			add_column(r, out, nr, i, unit);
		add_column(r, out, nr, i, "");
	}
}

static bool has_any(const struct report *r, const struct column *c)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (render_column(c, &r->rows[i]))
			return true;
	return false;
}

/* Readers open a file with its first column: those in which there is nothing are the last. */
static bool empty_last(const struct report *r, struct column *all, size_t nr)
{
	struct column *empty = calloc(nr + 1, sizeof(*empty));
	size_t kept = 0, nr_empty = 0;

	if (!empty)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (has_any(r, &all[i]))
			all[kept++] = all[i];
		else
			empty[nr_empty++] = all[i];
	}
	memcpy(all + kept, empty, nr_empty * sizeof(*empty));
	free(empty);
	return true;
}

struct column *render_columns(const struct view *v, size_t *nr)
{
	const struct report *r = v->r;
	struct column *out = calloc(2 * r->nr_events + NR_BLOCKS, sizeof(*out));

	*nr = 0;
	if (out && r->leaks)
		block_columns(r, out, nr);
	else if (out)
		event_columns(r, out, nr);
	if (!out || empty_last(r, out, *nr))
		return out;
	free(out);
	return NULL;
}

__u64 render_column(const struct column *c, const struct rrow *row)
{
	__s64 value;

	if (row->event != c->event || (c->kind >= 0 && row->flags != (__u32)c->kind))
		return 0;
	value = c->value ? report_growth(row) : (__s64)row->count;
	return value > 0 ? (__u64)value : 0;
}
