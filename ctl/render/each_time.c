// SPDX-License-Identifier: GPL-2.0-or-later
/* Format the time of a single event. */
#include <time.h>

#include "base/text.h"
#include "render/each_int.h"

void each_put_time_header(const struct each_opts *o, FILE *out)
{
	fprintf(out, "%-*s", o->unix_time ? 17 : o->real_ns ? 15 : 13, "TIME");
}

void each_put_time(const struct each_opts *o, __u64 ns, FILE *out)
{
	const __u64 since = ns > o->start_ns ? ns - o->start_ns : 0;
	const __u64 real = o->real_ns + since;
	const time_t t = (time_t)(real / 1000000000);
	char text[64];
	struct tm tm;
	size_t n = 0;

	if (o->unix_time)
		n = (size_t)text_number(text, sizeof(text), real / 1000000000, 10, 10, ' ');
	else if (!o->real_ns)
		n = (size_t)text_number(text, sizeof(text), since / 1000000000, 10, 6, ' ');
	else if (localtime_r(&t, &tm))
		n = (size_t)snprintf(text, sizeof(text), "%02d:%02d:%02d", tm.tm_hour, tm.tm_min,
				     tm.tm_sec);
	if (!n)
		return;
	text[n++] = '.';
	n += (size_t)text_number(text + n, sizeof(text) - n, real % 1000000000 / 1000, 10, 6, '0');
	fwrite(text, 1, n, out);
}
