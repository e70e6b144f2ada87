// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/account.c ctl/machine/cgroup.c ctl/machine/fields.c ctl/machine/room.c */
/* LINK: ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/pinned.c ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/shared.c ctl/machine/text.c */
/* LINK: ctl/machine/zones.c */
/* LINK: ctl/base/text.c */
/* How much more memory somebody can have, on machines that are made here. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine.h"
#include "tap.h"

#define MIB	(1ULL << 20)

static char root[] = "/tmp/test_room.XXXXXX";

/* A file below the root, with the directories that lead to it. */
static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0)
		perror(full);
	if (f)
		fclose(f);
}

static struct machine_room room_of(int pid)
{
	const struct machine_at at = { .root = root, .page = 4096 };
	struct machine_room room = { 0 };

	ok(machine_room(&at, pid, &room), "process %d: it is known", pid);
	return room;
}

int main(void)
{
	const struct machine_at none = { .root = "/nonexistent", .page = 4096 };
	const struct machine_at at = { .root = root, .page = 4096 };
	char command[64], path[64];
	struct machine_room room;

	if (!mkdtemp(root))
		return 1;
	ok(!machine_room(&none, 0, &room), "a machine that says nothing");
	put("/proc/meminfo", "MemTotal: 2048000 kB\nMemFree: 10 kB\nMemAvailable: 1024000 kB\n");
	put("/proc/self/mountinfo",
	    "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	    "31 25 0:27 / /v1/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	    "32 25 0:28 / /v1/memory rw - cgroup cgroup rw,memory\n");
	room = room_of(0);
	is(room.bytes, 1000 * MIB, "the kernel: what is available");
	is(strcmp(room.what, "the end of available memory"), 0, "which is said");

	put("/proc/7/cgroup", "0::/web/one\n");
	put("/sys/fs/cgroup/web/one/memory.max", "max\n");
	put("/sys/fs/cgroup/web/one/memory.current", "1048576\n");
	is(room_of(7).bytes, 1000 * MIB, "a cgroup without a limit: the machine's");
	put("/sys/fs/cgroup/web/memory.max", "67108864\n");
	put("/sys/fs/cgroup/web/memory.current", "50331648\n");
	put("/sys/fs/cgroup/web/memory.stat", "anon 1\ninactive_file 8388608\nactive_file 1\n");
	room = room_of(7);
	is(room.bytes, 24 * MIB, "the limit of the cgroup above, and its cache is given up");
	is(strcmp(room.what, "the limit of its cgroup (64.0 MiB)"), 0, "it is named");
	put("/sys/fs/cgroup/web/one/memory.max", "2097152\n");
	is(room_of(7).bytes, 1 * MIB, "the nearest limit counts");
	put("/sys/fs/cgroup/web/one/memory.current", "4194304\n");
	is(room_of(7).bytes, 0, "who is above it has none");

	put("/proc/8/cgroup", "12:cpu,cpuacct:/other\n4:memory:/job\n0::/web/one\n");
	put("/v1/memory/job/memory.limit_in_bytes", "33554432\n");
	put("/v1/memory/job/memory.usage_in_bytes", "16777216\n");
	put("/v1/memory/job/memory.stat", "inactive_file 16777216\ntotal_inactive_file 1048576\n");
	put("/v1/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/v1/memory/memory.usage_in_bytes", "1\n");
	is(room_of(8).bytes, 17 * MIB, "of both versions, the one that has the controller");
	ok(machine_cgroup(&at, 8, path, sizeof(path)) && !strcmp(path, "/job"),
	   "which cgroup it is in: that of the controller");
	ok(machine_cgroup(&at, 7, path, sizeof(path)) && !strcmp(path, "/web/one"), "of version 2");
	ok(!machine_cgroup(&at, 10, path, sizeof(path)), "who is gone is in none");
	put("/proc/9/cgroup", "nonsense\n4:memory\n:::\n");
	is(room_of(9).bytes, 1000 * MIB, "nonsense: the machine's");
	is(room_of(10).bytes, 1000 * MIB, "who is gone: the machine's");

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		return 1;
	return tap_done();
}
