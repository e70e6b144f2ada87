// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "machine/host.h"
#include "session/insert.h"
#include "session/module.h"

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

bool module_lockdown(char *word, size_t len)
{
	const struct machine_at at = machine_here();

	return host_lockdown(&at, word, len) && strcmp(word, "none");
}
