// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/fleet/robust.c -lm */
/* Medians and spreads are those of the definitions, and one odd value makes no difference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/robust.h"
#include "tap.h"

#define MOST	41

static unsigned int state = 1;

static double some(void)
{
	state = state * 1103515245 + 12345;
	return (double)(state >> 16 & 1023) / 64 - 4;
}

/* By counting: half of the values are not above it, and half not below. */
static bool is_median(const double *v, size_t nr, double m)
{
	size_t below = 0, above = 0;

	for (size_t i = 0; i < nr; i++) {
		below += v[i] <= m;
		above += v[i] >= m;
	}
	return 2 * below >= nr && 2 * above >= nr;
}

static void test_definitions(void)
{
	double v[MOST], sorted[MOST], tmp[MOST], away[MOST];
	bool medians = true, spreads = true;

	for (size_t nr = 2; nr < MOST; nr++) {
		double middle, spread, factor = nr < 10 ? 0 : 1.4826 * nr / (nr - 0.8);

		for (size_t i = 0; i < nr; i++)
			v[i] = some();
		memcpy(sorted, v, sizeof(v));
		middle = robust_middle(sorted, nr);
		medians &= is_median(v, nr, middle);
		spread = robust_spread(sorted, nr, middle, tmp);
		for (size_t i = 0; i < nr; i++)
			away[i] = fabs(v[i] - middle);
		/* (the factors of few values stand in a table) */
		spreads &= spread > 0 && (!factor || is_median(away, nr, spread / factor) ||
					  fabs(robust_middle(away, nr) * factor - spread) < 1e-9);
	}
	ok(medians, "medians are medians");
	ok(spreads, "spreads are 1.4826 median deviations");
}

static void test_equal(void)
{
	double v[] = { 5, 5, 5, 5, 5, 5, 5, 12 }, tmp[8];
	const double middle = robust_middle(v, 8);

	ok(middle == 5, "the median of equal values is one of them");
	ok(fabs(robust_spread(v, 8, middle, tmp) - 1.2533 * 7 / 8) < 1e-9,
	   "their spread is by the mean deviation");
	ok(robust_spread(v, 7, middle, tmp) == 0, "and 0 if all are equal");
	ok(robust_middle(v, 0) == 0 && robust_spread(v, 0, 0, tmp) == 0, "no values have none");
}

static struct robust group(double *v, size_t nr)
{
	static double tmp[MOST];
	struct robust g = { v, nr, robust_middle(v, nr), 0 };

	g.spread = robust_spread(v, nr, g.middle, tmp);
	return g;
}

static bool differ(double *a, size_t na, double *b, size_t nb, double least)
{
	const struct robust x = group(a, na), y = group(b, nb);

	return robust_differ(&x, &y, least) && robust_differ(&y, &x, least);
}

static void test_groups(void)
{
	double old[] = { 100, 102, 98, 101, 99 }, new[] = { 150, 148, 151, 149, 152 };
	double odd[] = { 100, 99, 101, 98, 900 }, one[] = { 100, 101, 99, 98, 150 };
	double wide[] = { 50, 100, 150, 200, 400 }, two[] = { 100, 900 }, low[] = { 100, 101 };
	double same[] = { 7, 7, 7 }, less[] = { 6, 6, 6 }, split[] = { 100, 100, 150, 150, 150 };

	ok(differ(old, 5, new, 5, 0), "groups that do not overlap differ");
	ok(!differ(old, 5, new, 5, 60), "not by less than is asked for");
	ok(!differ(old, 5, odd, 5, 0), "one odd value makes no difference");
	ok(!differ(old, 5, one, 5, 0), "nor one of the other group's size");
	ok(!differ(old, 5, wide, 5, 0), "values that vary widely say nothing");
	ok(!differ(low, 2, two, 2, 0), "of two, one odd one says nothing");
	ok(differ(same, 3, less, 3, 0), "where nothing varies, any difference is one");
	ok(!differ(same, 3, same, 3, 0), "and equal values are none");
	ok(!differ(old, 5, split, 5, 0), "three quarters have to be on their side");
	ok(!differ(old, 5, new, 0, 0), "nothing is not compared");
}

int main(void)
{
	test_definitions();
	test_equal();
	test_groups();
	return tap_done();
}
