/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WRAPPER_H
#define _WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find the program that a command runs through wrappers: `env LD_PRELOAD=x nice -n 5 ./prog` runs
 * ./prog, and so does `sh -c 'cd /; exec ./prog'`.  A wrong guess only costs time: probes are
 * active in recorded processes only.
 */
#define MEANT_MAX	16		/* programs */

/*
 * @path: of a program, @preload: LD_PRELOAD as it will have it, or NULL: as we have it.
 * Ends when it returns other than 0.
 */
typedef int (*wrapper_fn)(const char *path, const char *preload, void *ctx);

/* Those behind the first one.  Returns what fn returned last. */
int wrapper_each(char *const *argv, wrapper_fn fn, void *ctx);
/* The same of the text of a shell script. */
int wrapper_text(const char *text, wrapper_fn fn, void *ctx);
/* Is this the name or path of a shell? */
bool wrapper_is_shell(const char *path);

/*
 * The wrapper among them that runs the program in a process of its own: timeout, sudo; NULL:
 * all become it by execve().
 */
const char *wrapper_forks(char *const *argv);

#endif
