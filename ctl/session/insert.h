/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _INSERT_H
#define _INSERT_H

/*
 * Load and unload a module, by libkmod or, in the tool without shared libraries, by system
 * calls.  Returns 0 or -errno.
 */

/* @params: "name=value name=value" or "" */
int insert_file(const char *path, const char *params);
/* From the tree that depmod knows; -ENOENT: there is none for this kernel. */
int insert_by_name(const char *name, const char *params);
/* It does not wait until nobody uses it: -EAGAIN or -EBUSY. */
int insert_remove(const char *name);

#endif
