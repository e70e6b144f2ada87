// SPDX-License-Identifier: GPL-2.0-or-later
/* Check whether the module is loaded, and the kernel's lockdown mode. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/host.h"
#include "session/insert.h"
#include "session/module.h"
#include "target/procs.h"

bool module_is_file(const char *arg)
{
	return !strchr(arg, '=') && (strstr(arg, ".ko") || strchr(arg, '/'));
}

int module_load(const char *path, const char *params)
{
	if (!path)
		return insert_by_name(MODULE_NAME, params);
	return access(path, R_OK) ? -errno : insert_file(path, params);
}

bool module_loaded(void)
{
	return !access("/sys/module/" MODULE_NAME "/initstate", F_OK);
}

int module_unload(void)
{
	return module_loaded() ? insert_remove(MODULE_NAME) : -ENOENT;
}

#define STEP_MS		50
#define WAIT_MS		60000

static int is_ours(pid_t fd, void *ctx)
{
	char path[64], file[256];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", *(pid_t *)ctx, fd);
	len = readlink(path, file, sizeof(file) - 1);
	if (len < 0)
		return 0;
	file[len] = 0;
	return !strcmp(file, MEMTAP_DEVICE) || strstr(file, "/debug/memtap/");
}

/* A process that will not go away by itself. */
static int holds(pid_t pid, void *ctx)
{
	(void)ctx;
	return procs_fds(pid, is_ours, &pid) && !procs_killed(pid);
}

int module_unload_ended(void (*waits)(void))
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int err = module_unload();

	for (int ms = 0; ms < WAIT_MS && (err == -EWOULDBLOCK || err == -EBUSY); ms += STEP_MS) {
		if (procs_each(holds, NULL))
			return err;
		if (!ms)
			waits();
		nanosleep(&step, NULL);
		err = module_unload();
	}
	return err;
}

bool module_lockdown(char *word, size_t len)
{
	const struct machine_at at = machine_here();

	return host_lockdown(&at, word, len) && strcmp(word, "none");
}
