// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdlib.h>

#include "session/insert.h"

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

int insert_file(const char *path, const char *params)
{
	struct kmod_ctx *ctx = new_ctx();
	struct kmod_module *mod;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = kmod_module_new_from_path(ctx, path, &mod);
	if (err >= 0) {
		err = kmod_module_insert_module(mod, 0, params);
		kmod_module_unref(mod);
	}
	kmod_unref(ctx);
	return err;
}

/* With what it depends on, and in spite of a blacklist: somebody asked. */
static int probe_all(struct kmod_ctx *ctx, const char *name, const char *params)
{
	struct kmod_list *list = NULL, *item;
	int err;

	err = kmod_module_new_from_lookup(ctx, name, &list);
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

int insert_by_name(const char *name, const char *params)
{
	struct kmod_ctx *ctx = new_ctx();
	int err;

	if (!ctx)
		return -ENOMEM;
	err = probe_all(ctx, name, params);
	kmod_unref(ctx);
	return err;
}

int insert_remove(const char *name)
{
	struct kmod_ctx *ctx = new_ctx();
	struct kmod_module *mod;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = kmod_module_new_from_name(ctx, name, &mod);
	if (!err) {
		err = kmod_module_remove_module(mod, O_NONBLOCK);
		kmod_module_unref(mod);
	}
	kmod_unref(ctx);
	return err;
}
