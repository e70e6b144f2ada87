/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PS_RENDER_INT_H
#define _PS_RENDER_INT_H

#include "render/ps.h"

/* Does a row have this sum?  status has some of those that smaps has. */
bool ps_known(const struct owners *w, const struct owner *row, int sum);

/* "swap_pss" */
const char *ps_key(int sum, char buf[32]);

/* A sum of all processes beside what the kernel counts of the whole machine. */
struct ps_check {
	const char *name, *key;
	__u64 sum, kernel;
};

#define PS_CHECKS	5

/* How many there are; none, where some processes alone were asked for. */
size_t ps_checks(const struct owners *w, const struct machine *m,
		 struct ps_check checks[PS_CHECKS]);

/* What MemTotal is: the sum of these; processes: by PSS. */
enum ps_part { PS_IN_ROWS, PS_IN_NO_ROW, PS_NOT_MAPPED, PS_KERNEL, PS_POOL, PS_UNACCOUNTED,
	       PS_FREE, NR_PS_PARTS };

void ps_parts(const struct owners *w, const struct machine *m, __s64 parts[NR_PS_PARTS]);

extern const char *const ps_by_words[];		/* of enum report_by; heads of columns */

#endif
