/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MODULE_H
#define _MODULE_H

#include <stdbool.h>
#include <stddef.h>

#define MODULE_NAME "memtap"

/* Is this a path to a module, and no parameter? */
bool module_is_file(const char *arg);

/*
 * Load the module: from the tree that depmod knows (@path NULL), or from a
 * file.  @params: "name=value name=value" or "".  The errno is the kernel's;
 * -ENOENT: there is none for this kernel.
 */
int module_load(const char *path, const char *params);
int module_unload(void);
/*
 * The same; while nothing holds it but sessions that end, because their process has ended or
 * was killed, it waits for them, at most a minute.  @waits is called once, first.
 */
int module_unload_ended(void (*waits)(void));
bool module_loaded(void);

/* The word in brackets of the kernel's lockdown file; false: not locked down. */
bool module_lockdown(char *word, size_t len);

#endif
