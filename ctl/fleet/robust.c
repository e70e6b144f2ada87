// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Median, spread, and the rule by which two groups of hosts differ.
 *
 * The spread is 1.4826 times the median absolute deviation (F. R. Hampel, "The influence curve and
 * its role in robust estimation", JASA 69, 1974), with the factors of C. Croux and P. J. Rousseeuw
 * ("Time-efficient algorithms for two highly robust estimators of scale", COMPSTAT 1992) for few
 * values.  Where more than half of the values are equal it would be 0: then it is 1.2533 times the
 * mean absolute deviation, and the limit is 3.5 spreads (B. Iglewicz and D. C. Hoaglin, "How to
 * detect and handle outliers", ASQC 1993).
 */
#include <math.h>
#include <stdlib.h>

#include "fleet/robust.h"

static int cmp_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double middle_of(const double *v, size_t nr)
{
	return !nr ? 0 : nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
}

double robust_middle(double *v, size_t nr)
{
	if (nr)
		qsort(v, nr, sizeof(*v), cmp_double);
	return middle_of(v, nr);
}

/* What the median deviation of @nr normal values is too small by. */
static double small_sample(size_t nr)
{
	static const double factor[] = { 1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129,
					 1.107 };

	return nr < sizeof(factor) / sizeof(factor[0]) ? factor[nr] : nr / (nr - 0.8);
}

double robust_spread(const double *v, size_t nr, double middle, double *tmp)
{
	double sum = 0, deviation;

	for (size_t i = 0; i < nr; i++) {
		tmp[i] = fabs(v[i] - middle);
		sum += tmp[i];
	}
	deviation = robust_middle(tmp, nr);
	if (deviation > 0)
		return 1.4826 * small_sample(nr) * deviation;
	return nr ? 1.2533 * sum / (double)nr : 0;
}

/* How many lie on the side of their own median. */
static size_t on_side(const struct robust *g, double between)
{
	size_t nr = 0;

	for (size_t i = 0; i < g->nr; i++)
		nr += g->middle > between ? g->v[i] > between : g->v[i] < between;
	return nr;
}

bool robust_differ(const struct robust *a, const struct robust *b, double least)
{
	const double apart = fabs(a->middle - b->middle);
	const double spread = a->spread > b->spread ? a->spread : b->spread;
	const double between = a->middle / 2 + b->middle / 2;

	if (!a->nr || !b->nr || apart <= 0 || apart < least || apart <= ROBUST_APART * spread)
		return false;
	return 4 * on_side(a, between) >= 3 * a->nr && 4 * on_side(b, between) >= 3 * b->nr;
}
