// SPDX-License-Identifier: GPL-2.0-or-later
/* --similar: compare older kernel objects with the leaking ones, while the session runs. */
#include <errno.h>

#include "session/dev.h"
#include "watch/watch.h"

void watch_similar(struct watch *w, __u64 older_ms)
{
	struct similar *r = &w->similar;
	struct snap *s;

	r->asked = true;
	if (watch_snapshot(w, &s))
		return;
	if (w->session.info.features & MEMTAP_FEATURE_ONLY_COUNT)
		r->err = -EACCES;
	else if (similar_suspect(s, older_ms * 1000000, r))
		r->err = dev_similar(w->session.fd, &r->arg);
	snap_free(s);
}
