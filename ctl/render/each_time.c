// SPDX-License-Identifier: GPL-2.0-or-later
/* When a single event was. */
#include <time.h>

#include "render/each_int.h"

void each_put_time_header(const struct each_opts *o, FILE *out)
{
	fprintf(out, "%-*s", o->real_ns ? 15 : 13, "TIME");
}

void each_put_time(const struct each_opts *o, __u64 ns, FILE *out)
{
	const __u64 since = ns > o->start_ns ? ns - o->start_ns : 0;
	const __u64 real = o->real_ns + since;
	const time_t t = (time_t)(real / 1000000000);
	struct tm tm;

	if (!o->real_ns)
		fprintf(out, "%6llu.%06llu", (unsigned long long)(since / 1000000000),
			(unsigned long long)(since % 1000000000 / 1000));
	else if (localtime_r(&t, &tm))
		fprintf(out, "%02d:%02d:%02d.%06llu", tm.tm_hour, tm.tm_min, tm.tm_sec,
			(unsigned long long)(real % 1000000000 / 1000));
}
