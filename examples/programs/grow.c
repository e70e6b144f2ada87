/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every connection that ends leaves its buffer behind. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) char *new_buffer(void)
{
	char *p = malloc(5000);

	return p ? memset(p, 1, 5000) : NULL;
}

static __attribute__((noinline)) void serve(void)
{
	char *volatile buffer = new_buffer();

	(void)buffer;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 100;

	while (nr--) {
		serve();
		usleep(20000);
	}
	return 0;
}
