// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers of this directory: error sentences, iteration over blocks, cleanup. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "snap/int.h"

int snap_bad(char *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, SNAP_ERR_LEN, fmt, ap);
	va_end(ap);
	return code;
}

bool snap_next_block(struct snap_walk *w)
{
	const struct snap *s = w->snap;
	const struct snap_run *run;

	if (w->run < s->nr_runs && w->next == s->runs[w->run].nr) {
		w->run++;
		w->next = 0;
	}
	if (w->run == s->nr_runs)
		return false;
	run = &s->runs[w->run];
	w->number = (size_t)run->first + w->next;
	w->block = &run->at[w->next++];
	w->kind = s->kinds ? s->kinds[w->number] : LEAK_UNKNOWN;
	w->held = s->held ? s->held[w->number] : 0;
	return true;
}

void snap_free(struct snap *s)
{
	if (!s)
		return;
	if (s->bytes) {
		free(s->hooks);
		free(s->stacks);
		free(s->tasks);
		free(s->maps);
		free(s->map_ends);
		free(s->files);
		free(s->ksyms);
		free(s->gones);
		free(s->marks);
		free(s->peaks);
		free(s->usyms);
		free(s->notes);
		free(s->runs);
		free(s->kinds);
		free(s->helds);
		free(s->held);
		free(s->held_recs);
		free(s->idle_ns);
		free(s->extents);
		free(s->spaces);
		free(s->reaches);
		free(s->pendings);
		free(s->ooms);
		free(s->spans);
		free(s->liveds);
		free(s->hosts);
		free(s->task_hosts);
		free(s->kept_spans);
		free(s->kept_liveds);
		free(s->bytes);
	}
	free(s->heaps);
	free(s->caches);
	free(s->mismatches);
	free(s->events);
	free(s->counters);
	free(s->hists);
	free(s);
}
