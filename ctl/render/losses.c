// SPDX-License-Identifier: GPL-2.0-or-later
/* What was lost, for output that has no foot. */
#include "render/int.h"

static __u64 lost_sum(const struct snap_event *e)
{
	__u64 sum = 0;

	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += e->lost[i];
	return sum;
}

void render_losses(const struct report *r, FILE *out)
{
	char a[TEXT_LEN], b[TEXT_LEN], buf[RENDER_UNREAD_LEN];
	const char *unread = render_unread(r, buf);

	for (size_t i = 0; i < r->snap->nr_events; i++) {
		const struct snap_event *e = &r->snap->events[i];
		const char *sep = "";

		if (!lost_sum(e))
			continue;
		fputs("memtap: ", out);
		text_put(out, e->name, NULL);
		fprintf(out, ": %s of %s were lost:", text_signed(a, lost_sum(e)),
			text_signed(b, e->seen));
		for (unsigned int k = 0; k < MEMTAP_LOST_SLOTS; k++) {
			if (!e->lost[k])
				continue;
			fprintf(out, "%s %s %s", sep, text_signed(a, e->lost[k]),
				report_lost_name(k));
			sep = ",";
		}
		fputc('\n', out);
	}
	if (unread)
		fprintf(out, "memtap: %s\n", unread);
}
