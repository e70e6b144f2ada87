// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_fill KIB: allocate memory until KIB are available on this machine, print "ready", and
 * sleep.  It is then the largest process, which the OOM killer would choose.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long v, found = 0;
	char line[200];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &v) == 1)
			found = v;
	if (f)
		fclose(f);
	return found;
}

static void take(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memset(p, 1, bytes);
}

int main(int argc, char **argv)
{
	const long left = argc == 2 ? atol(argv[1]) : 0;

	if (left <= 0)
		return 2;
	while (available() > left + 4096)
		take(2 << 20);
	while (available() > left)
		take(64 << 10);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
