// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/host.h"
#include "session/module.h"

/* What is wrong is told by errno; libkmod shall not add words of its own. */
static void silent(void *data, int priority, const char *file, int line,
		   const char *fn, const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn;
	(void)format, (void)args;
}

static struct kmod_ctx *new_ctx(void)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);

	if (ctx)
		kmod_set_log_fn(ctx, silent, NULL);
	return ctx;
}

static int load_file(struct kmod_ctx *ctx, const char *path, const char *params)
{
	struct kmod_module *mod;
	int err;

	if (access(path, R_OK))
		return -errno;
	err = kmod_module_new_from_path(ctx, path, &mod);
	if (err < 0)
		return err;
	err = kmod_module_insert_module(mod, 0, params);
	kmod_module_unref(mod);
	return err;
}

bool module_is_file(const char *arg)
{
	return !strchr(arg, '=') && (strstr(arg, ".ko") || strchr(arg, '/'));
}

/* With what it depends on, and in spite of a blacklist: somebody asked. */
static int load_by_name(struct kmod_ctx *ctx, const char *params)
{
	struct kmod_list *list = NULL, *item;
	int err;

	err = kmod_module_new_from_lookup(ctx, MODULE_NAME, &list);
	if (err < 0)
		return err;
	err = -ENOENT;
	kmod_list_foreach(item, list) {
		struct kmod_module *mod = kmod_module_get_module(item);

		err = kmod_module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED,
						      params, NULL, NULL, NULL);
		kmod_module_unref(mod);
		if (err < 0)
			break;
	}
	kmod_module_unref_list(list);
	return err;
}

int module_load(const char *path, const char *params)
{
	struct kmod_ctx *ctx = new_ctx();
	int err;

	if (!ctx)
		return -ENOMEM;
	err = path ? load_file(ctx, path, params) : load_by_name(ctx, params);
	kmod_unref(ctx);
	return err;
}

bool module_loaded(void)
{
	return !access("/sys/module/" MODULE_NAME "/initstate", F_OK);
}

int module_unload(void)
{
	struct kmod_ctx *ctx;
	struct kmod_module *mod;
	int err;

	if (!module_loaded())
		return -ENOENT;
	ctx = new_ctx();
	if (!ctx)
		return -ENOMEM;
	err = kmod_module_new_from_name(ctx, MODULE_NAME, &mod);
	if (!err) {
		err = kmod_module_remove_module(mod, O_NONBLOCK);
		kmod_module_unref(mod);
	}
	kmod_unref(ctx);
	return err;
}

bool module_lockdown(char *word, size_t len)
{
	const struct machine_at at = machine_here();

	return host_lockdown(&at, word, len) && strcmp(word, "none");
}
