// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the accessed bits of page tables.  Writing 1 to /proc/PID/clear_refs clears them; the
 * module reads them.  This works with every kernel configuration and does not disturb other
 * users.  Few kernels have /sys/kernel/mm/page_idle, which also looks at other users of a page.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rss/ages.h"
#include "session/dev.h"

static int read_bits(void *ctx, pid_t pid, ages_fn fn, void *to)
{
	const int *dev = ctx;
	struct memtap_ages_region regions[MEMTAP_MAX_AGES];
	struct memtap_ages a = { .pid = pid };
	int err;

	do {
		a.nr = MEMTAP_MAX_AGES;
		a.regions_ptr = (__u64)(unsigned long)regions;
		err = dev_ages(*dev, &a);
		for (__u32 i = 0; !err && i < a.nr; i++) {
			const struct memtap_ages_region *r = &regions[i];
			__u64 present[8], touched[8];

			memcpy(present, (const void *)&r->present, sizeof(present));
			memcpy(touched, (const void *)&r->touched, sizeof(touched));
			fn(to, r->page, present, touched);
		}
	} while (!err && a.page);
	return err;
}

static int forget_bits(void *ctx, pid_t pid)
{
	char path[64];
	int fd, err = 0;

	(void)ctx;
	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		/* a kernel without such files has no process that has one */
		return errno == ENOENT && access("/proc/self/clear_refs", F_OK) ? -ENOTSUP :
		       errno == ENOENT ? -ESRCH : -errno;
	if (write(fd, "1", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

static int empty_caches(void *ctx)
{
	struct memtap_ages a = { .flags = MEMTAP_AGES_FLUSH };

	return dev_ages(*(const int *)ctx, &a);
}

struct ages_way ages_way_bits(int *dev)
{
	return (struct ages_way){ read_bits, forget_bits, empty_caches, dev };
}

__u64 ages_reclaimed(void)
{
	static const char *const names[] = { "pgscan_kswapd", "pgscan_direct", "pgrefill" };
	unsigned long long n;
	__u64 sum = 0;
	char line[128];
	FILE *f = fopen("/proc/vmstat", "re");

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			/* before 4.8 there is one for each zone */
			if (!strncmp(line, names[i], strlen(names[i])) &&
			    sscanf(line, "%*s %llu", &n) == 1 && !strstr(line, "throttle"))
				sum += n;
	if (f)
		fclose(f);
	return sum;
}
