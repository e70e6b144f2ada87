// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge rows whose stacks differ in source lines only.  The merged row shows a line if all of its
 * rows have the same one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

static bool merges(const struct maker *m)
{
	const struct report_opts *o = m->r.o;

	return o->detail == DETAIL_LINES && !o->lines && !o->addresses;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* What @a and @b have in common; their functions are the same. */
static struct rframe common(const struct rframe *a, const struct rframe *b)
{
	struct rframe f = *a;

	f.any_line |= b->any_line || a->sym->line != b->sym->line ||
		      !same_text(a->sym->file, b->sym->file);
	f.any_place |= b->any_place || a->sym->addr != b->sym->addr;
	return f;
}

/* The frame that stands for its function, or -ENOMEM. */
static __s64 function_of(struct maker *m, __u32 id)
{
	struct rframe f = m->r.frames[id];

	if (!f.sym)
		return id;
	f.any_line = f.any_place = true;
	return report_frame(m, &f);
}

static __s64 make_stack(struct maker *m, __u32 id, const __u32 *other, bool functions)
{
	const struct rstack st = m->r.stacks[id];
	__u32 *frames = malloc((st.nr + 1) * sizeof(*frames));
	__s64 made = frames ? 0 : -ENOMEM;

	for (__u32 i = 0; made >= 0 && i < st.nr; i++) {
		if (functions) {
			made = function_of(m, st.frames[i]);
		} else if (st.frames[i] == other[i]) {
			made = st.frames[i];
		} else {
			const struct rframe f = common(&m->r.frames[st.frames[i]],
						       &m->r.frames[other[i]]);

			made = report_frame(m, &f);
		}
		if (made >= 0)
			frames[i] = (__u32)made;
	}
	if (made >= 0)
		made = report_stack_of(m, frames, st.nr, st.flags);
	free(frames);
	return made;
}

__s64 report_merged(struct maker *m, __u32 id)
{
	struct merged *memo = &m->merged;
	__s64 made;

	if (!merges(m))
		return id;
	if (id < memo->nr && memo->at[id])
		return memo->at[id] - 1;
	made = make_stack(m, id, NULL, true);
	if (made < 0)
		return made;
	if (id >= memo->nr) {
		const size_t nr = 2 * (size_t)id + 64;
		__u32 *more = reallocarray(memo->at, nr, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + memo->nr, 0, (nr - memo->nr) * sizeof(*more));
		memo->at = more;
		memo->nr = nr;
	}
	memo->at[id] = (__u32)made + 1;
	return made;
}

int report_blend(struct maker *m, __u32 *shown, __u32 id)
{
	__s64 made;

	if (*shown == id)
		return 0;
	made = make_stack(m, *shown, m->r.stacks[id].frames, false);
	if (made < 0)
		return -ENOMEM;
	*shown = (__u32)made;
	return 0;
}

void report_merge_free(struct maker *m)
{
	free(m->merged.at);
}
