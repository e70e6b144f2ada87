// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap triage --at` and --between: show the triage of a moment of the history. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/past.h"
#include "history/recorded.h"
#include "triage/diagnose.h"

/* How each finding developed between the two samples: two moments say nothing of a wave. */
static int add_paces(const struct past *p, size_t first, size_t last, struct triage *t)
{
	const size_t step = (last - first) / PACE_MOST + 1;
	struct pace paces[TRIAGE_FINDINGS] = { 0 };
	const struct machine *m;
	int err = 0;

	for (size_t i = first; !err && last - first > 1 && i <= last;
	     i += i == last || last - i >= step ? step : last - i) {
		err = history_read(p->c, i, &m, NULL);
		for (size_t k = 0; !err && k < t->nr_found; k++)
			diagnose_sample(&paces[k], m->ns, diagnose_bytes(&t->found[k], m));
	}
	for (size_t k = 0; !err && k < t->nr_found; k++) {
		diagnose_pace(&paces[k]);
		if (t->found[k].grew > 0)
			diagnose_add_pace(&t->found[k], &paces[k]);
	}
	return err;
}

int past_show(const struct past *p, size_t first, size_t last, struct triage_opts *o)
{
	const struct machine_at at = past_at(p, last);
	struct machine before = { 0 }, now = { 0 };
	struct recorded recorded = { 0 };
	struct triage t;
	int err;

	err = history_copy(p->c, first, &before);
	if (!err)
		err = history_copy(p->c, last, &now);
	if (!err)
		err = recorded_between(p->h, first, last, &recorded);
	if (!err)
		err = triage_look(&t, &at, &before, &now, false);
	if (!err) {
		err = add_paces(p, first, last, &t);
		o->real_ns = p->h->samples[last].real_ns;
		o->past = true;
		o->recorded = &recorded;
		if (!err)
			render_triage(&t, o);
		triage_free(&t);
	}
	o->recorded = NULL;
	recorded_free(&recorded);
	machine_free(&before);
	machine_free(&now);
	return err;
}

int past_triage(const struct cmd *cmd, const struct opts *o)
{
	struct triage_opts to = {
		.out = stdout, .color = cmd_wants_color(o), .json = o->json, .line = o->json,
	};
	char text[HISTORY_TEXT];
	struct past p;
	size_t first;
	int ret;

	if (o->interval > 0)
		return usage_error(cmd->name, "an interval is not for --at and --between: the "
				   "history has its own");
	ret = past_open(cmd->name, o, &p);
	if (ret)
		return ret;
	first = p.first;
	for (size_t i = p.first + 1; !ret && i <= p.last; i++) {
		const enum history_gap gap = history_gap(p.h, i);

		if (gap != GAP_NONE)
			note("%s", history_gap_text(p.h, i, text));
		if (gap != GAP_BOOT)
			continue;
		/* counters begin anew */
		if (i > first + 1)
			ret = past_show(&p, first, i - 1, &to);
		first = i;
	}
	if (!ret && p.last > first)
		ret = past_show(&p, first, p.last, &to);
	past_close(&p);
	return ret ? fail(ERR_PLAIN, ret, "the history") : 0;
}
