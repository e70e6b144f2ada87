// SPDX-License-Identifier: GPL-2.0-or-later
/* wl_unwind_threads N: N threads, one after the other, from wl_starts_all() through wl_starts(). */
#include <pthread.h>
#include <stdlib.h>

#include "wl_unwind.h"

static void *nothing(void *arg)
{
	return arg;
}

WL_FN int wl_starts(void)
{
	pthread_t id;

	return pthread_create(&id, NULL, nothing, NULL) || pthread_join(id, NULL);
}

WL_FN int wl_starts_all(int nr)
{
	int bad = 0;

	while (nr--)
		bad += wl_starts();
	WL_STAY();
	return bad;
}

int main(int argc, char **argv)
{
	return wl_starts_all(argc > 1 ? atoi(argv[1]) : 1);
}
