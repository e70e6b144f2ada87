/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FLEET_ROBUST_H
#define _FLEET_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

/* Statistics of few numbers of which some may be far off. */

/* How many spreads two values are apart that differ: see robust.c. */
#define ROBUST_APART	3.5

/* Sorts @v, and returns its median; of none 0. */
double robust_middle(double *v, size_t nr);

/*
 * An estimate of the standard deviation that does not depend on a few odd values.  @v is sorted;
 * @tmp has room for @nr.
 */
double robust_spread(const double *v, size_t nr, double middle, double *tmp);

/*
 * Do two groups differ?  Their medians are more than ROBUST_APART spreads apart (the larger one of
 * both), and more than @least; and three quarters of each group's values lie on its own side of
 * the middle between both medians.  Both are sorted.
 */
struct robust {
	const double *v;
	size_t nr;
	double middle, spread;
};

bool robust_differ(const struct robust *a, const struct robust *b, double least);

#endif
