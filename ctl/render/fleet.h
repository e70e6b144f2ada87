/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_FLEET_H
#define _RENDER_FLEET_H

#include <stdio.h>

#include "fleet/fleet.h"

/* What hosts have in common, and what not. */
struct fleet_view {
	const struct fleet *f;
	const struct fleet_result *result;
	const char *names[2];		/* of the groups; NULL: there is one */
	size_t files, skipped;		/* recordings, and those of them that could not be read */
	unsigned int top;		/* rows and hosts shown; 0: all */
	bool json;
};

/* 0 or -ENOMEM; whether all is written is for the caller to find out. */
int render_fleet_diff(const struct fleet_view *v, FILE *out);
int render_fleet_outliers(const struct fleet_view *v, FILE *out);

#endif
