/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRACEFS_H
#define _TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* perf's id of a tracepoint; -ENOENT: no such, -ENXIO: tracefs is not there. */
int tracefs_id(const char *subsystem, const char *name, __u64 *id);

/* The format of a tracepoint's record; as tracefs_id(). */
struct format;
int tracefs_format(const char *subsystem, const char *name, struct format *f);

/* What the kernel calls the values of a field; false: it does not tell. */
struct symbols;
bool tracefs_symbols(const char *event, const char *field, struct symbols *s);

/*
 * Call @fn(name) for each tracepoint ("subsystem:name", sorted) or kernel
 * function that can be probed and matches @pattern (NULL: all), until it
 * returns other than 0, and return that.
 */
int tracefs_for_each_event(const char *pattern,
			   int (*fn)(const char *name, void *ctx), void *ctx);
int tracefs_for_each_function(const char *pattern,
			      int (*fn)(const char *name, void *ctx), void *ctx);

/* Names, sorted. */
struct tracefs_names {
	char *text;
	char **at;
	size_t nr;
};

/*
 * The functions whose name matches @pattern, as often as there are functions of a name: all of
 * the kernel's code, or of it what ftrace can trace (-ENXIO: the kernel does not list that).
 */
int tracefs_read_code(const char *pattern, struct tracefs_names *l);
int tracefs_read_traceable(const char *pattern, struct tracefs_names *l);

/*
 * The kernel functions on which probes are not allowed.  Where the kernel does not tell
 * them there are none: who attaches to one is refused.  -ENOMEM.
 */
int tracefs_read_blacklist(struct tracefs_names *l);
void tracefs_free_names(struct tracefs_names *l);
bool tracefs_is_listed(const struct tracefs_names *l, const char *function);

/* The text of debugfs's memtap directory, or a negative errno. */
int tracefs_debugfs(const char *file, char **text, size_t *len);

#endif
