// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the module by libkmod.  libkmod is loaded only when needed: it pulls in libcrypto, which
 * costs as much start-up time as all other libraries, and few commands need it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "session/insert_int.h"

static struct {
	__typeof__(kmod_new) *new;
	__typeof__(kmod_unref) *unref;
	__typeof__(kmod_set_log_fn) *set_log_fn;
	__typeof__(kmod_list_next) *list_next;
	__typeof__(kmod_module_new_from_path) *module_new_from_path;
	__typeof__(kmod_module_new_from_lookup) *module_new_from_lookup;
	__typeof__(kmod_module_new_from_name) *module_new_from_name;
	__typeof__(kmod_module_insert_module) *module_insert_module;
	__typeof__(kmod_module_probe_insert_module) *module_probe_insert_module;
	__typeof__(kmod_module_remove_module) *module_remove_module;
	__typeof__(kmod_module_get_module) *module_get_module;
	__typeof__(kmod_module_unref) *module_unref;
	__typeof__(kmod_module_unref_list) *module_unref_list;
} kmod;

static const struct library_function functions[] = {
	{ "kmod_new", &kmod.new },
	{ "kmod_unref", &kmod.unref },
	{ "kmod_set_log_fn", &kmod.set_log_fn },
	{ "kmod_list_next", &kmod.list_next },
	{ "kmod_module_new_from_path", &kmod.module_new_from_path },
	{ "kmod_module_new_from_lookup", &kmod.module_new_from_lookup },
	{ "kmod_module_new_from_name", &kmod.module_new_from_name },
	{ "kmod_module_insert_module", &kmod.module_insert_module },
	{ "kmod_module_probe_insert_module", &kmod.module_probe_insert_module },
	{ "kmod_module_remove_module", &kmod.module_remove_module },
	{ "kmod_module_get_module", &kmod.module_get_module },
	{ "kmod_module_unref", &kmod.module_unref },
	{ "kmod_module_unref_list", &kmod.module_unref_list },
};

static bool load_functions(void)
{
	static const char *const names[] = { "libkmod.so.2", NULL };

	return library_load(names, functions, sizeof(functions) / sizeof(functions[0]));
}

/* What is wrong is told by errno; libkmod shall not add words of its own. */
static void silent(void *data, int priority, const char *file, int line,
		   const char *fn, const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn;
	(void)format, (void)args;
}

static struct kmod_ctx *new_ctx(void)
{
	struct kmod_ctx *ctx = kmod.new(NULL, NULL);

	if (ctx)
		kmod.set_log_fn(ctx, silent, NULL);
	return ctx;
}

static int by_file(const char *path, const char *params)
{
	struct kmod_ctx *ctx = new_ctx();
	struct kmod_module *mod;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = kmod.module_new_from_path(ctx, path, &mod);
	if (err >= 0) {
		err = kmod.module_insert_module(mod, 0, params);
		kmod.module_unref(mod);
	}
	kmod.unref(ctx);
	return err;
}

/* With what it depends on, and in spite of a blacklist: somebody asked. */
static int probe_all(struct kmod_ctx *ctx, const char *name, const char *params)
{
	struct kmod_list *list = NULL, *item;
	int err;

	err = kmod.module_new_from_lookup(ctx, name, &list);
	if (err < 0)
		return err;
	err = -ENOENT;
	for (item = list; item; item = kmod.list_next(list, item)) {
		struct kmod_module *mod = kmod.module_get_module(item);

		err = kmod.module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED,
						      params, NULL, NULL, NULL);
		kmod.module_unref(mod);
		if (err < 0)
			break;
	}
	kmod.module_unref_list(list);
	return err;
}

static int by_name(const char *name, const char *params)
{
	struct kmod_ctx *ctx = new_ctx();
	int err;

	if (!ctx)
		return -ENOMEM;
	err = probe_all(ctx, name, params);
	kmod.unref(ctx);
	return err;
}

static int by_remove(const char *name)
{
	struct kmod_ctx *ctx = new_ctx();
	struct kmod_module *mod;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = kmod.module_new_from_name(ctx, name, &mod);
	if (!err) {
		err = kmod.module_remove_module(mod, O_NONBLOCK);
		kmod.module_unref(mod);
	}
	kmod.unref(ctx);
	return err;
}

const struct inserter *insert_kmod(void)
{
	static const struct inserter by_kmod = { by_file, by_name, by_remove };
	static int here;	/* < 0: it is not */

	if (!here)
		here = load_functions() ? 1 : -1;
	return here > 0 ? &by_kmod : NULL;
}
