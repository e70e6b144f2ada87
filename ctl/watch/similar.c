// SPDX-License-Identifier: GPL-2.0-or-later
/* --similar: what was there before the session, asked about while it runs. */
#include "session/dev.h"
#include "watch/watch.h"

void watch_similar(struct watch *w, __u64 older_ms)
{
	struct similar *r = &w->similar;
	struct snap *s;

	r->asked = true;
	if (watch_snapshot(w, &s))
		return;
	if (similar_suspect(s, older_ms * 1000000, r))
		r->err = dev_similar(w->session.fd, &r->arg);
	snap_free(s);
}
