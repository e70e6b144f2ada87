// SPDX-License-Identifier: GPL-2.0-or-later
/* List tracepoints, functions and probes, from tracefs, debugfs and kallsyms. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/maps.h"
#include "base/opt.h"
#include "session/format.h"
#include "session/symbols.h"
#include "session/tracefs.h"

/* The second is where kernels before 4.1 have it. */
static const char *const roots[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing"
};

/* 0, -ENXIO: not mounted, or why it may not be read. */
static int find_root(const char **root)
{
	char path[64];
	int err = -ENXIO;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/events", roots[i]);
		if (!access(path, R_OK | X_OK)) {
			*root = roots[i];
			return 0;
		}
		if (errno != ENOENT)
			err = -errno;
	}
	return err;
}

/* A name that is one part of a path. */
static int is_plain(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

/* A file of a tracepoint's directory. */
static int slurp_event(const char *subsystem, const char *name, const char *file, char **text)
{
	const char *root = NULL;
	char path[512];
	size_t len;
	int err;

	err = find_root(&root);
	if (err)
		return err;
	if (!is_plain(subsystem) || !is_plain(name))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/%s/%s/%s", root, subsystem, name, file);
	return maps_slurp(AT_FDCWD, path, text, &len);
}

int tracefs_format(const char *subsystem, const char *name, struct format *f)
{
	char *text;
	int err;

	err = slurp_event(subsystem, name, "format", &text);
	if (err)
		return err;
	format_parse(text, f);
	for (size_t i = 0; i < f->nr; i++)
		if (f->at[i].kind == FORMAT_NUMBER)
			f->at[i].symbols = symbols_of(text, f->at[i].name);
	free(text);
	return 0;
}

bool tracefs_symbols(const char *event, const char *field, struct symbols *s)
{
	const char *colon = strchr(event, ':');
	char subsystem[96], *text;
	bool found;

	if (!colon)
		return false;
	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - event), event);
	if (slurp_event(subsystem, colon + 1, "format", &text))
		return false;
	found = symbols_parse(text, field, s);
	free(text);
	return found;
}

int tracefs_id(const char *subsystem, const char *name, __u64 *id)
{
	char *text;
	int err;

	err = slurp_event(subsystem, name, "id", &text);
	if (err)
		return err;
	text[strcspn(text, "\n")] = '\0';
	if (!opt_u64(text, id))
		err = -ENOENT;
	free(text);
	return err;
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* One subsystem: what has a format is a tracepoint. */
static int each_in(const char *root, const char *subsystem, const char *pattern,
		   int (*fn)(const char *name, void *ctx), void *ctx)
{
	struct dirent **names;
	char path[512], full[300];
	int nr, ret = 0;

	snprintf(path, sizeof(path), "%s/events/%s", root, subsystem);
	nr = scandir(path, &names, visible, alphasort);
	for (int i = 0; i < nr; i++) {
		const char *name = names[i]->d_name;

		snprintf(path, sizeof(path), "%s/events/%s/%.200s/id", root,
			 subsystem, name);
		snprintf(full, sizeof(full), "%.90s:%.200s", subsystem, name);
		if (!ret && (!pattern || !fnmatch(pattern, full, 0)) &&
		    !access(path, F_OK))
			ret = fn(full, ctx);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return ret;
}

int tracefs_for_each_event(const char *pattern,
			   int (*fn)(const char *name, void *ctx), void *ctx)
{
	struct dirent **subsystems;
	const char *root = NULL;
	char path[64];
	int nr, ret;

	ret = find_root(&root);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/events", root);
	nr = scandir(path, &subsystems, visible, alphasort);
	if (nr < 0)
		return -errno;
	for (int i = 0; i < nr; i++) {
		if (!ret && strlen(subsystems[i]->d_name) < 90)
			ret = each_in(root, subsystems[i]->d_name, pattern, fn, ctx);
		free(subsystems[i]);
	}
	free(subsystems);
	return ret;
}

/* Calls fn for the first word of each line that it keeps. */
static int each_line(char *text, const char *pattern,
		     char *(*keep)(char *line),
		     int (*fn)(const char *name, void *ctx), void *ctx)
{
	char *line, *save, *name;
	int ret = 0;

	for (line = strtok_r(text, "\n", &save); line && !ret;
	     line = strtok_r(NULL, "\n", &save)) {
		name = keep(line);
		if (name && (!pattern || !fnmatch(pattern, name, 0)))
			ret = fn(name, ctx);
	}
	return ret;
}

/* "name" or "name [module]" */
static char *traceable_line(char *line)
{
	line[strcspn(line, " \t")] = '\0';
	return line;
}

/* "address type name"; only code */
static char *kallsyms_line(char *line)
{
	char *type = strchr(line, ' ');

	if (!type || !type[1] || !strchr("tTwW", type[1]) || type[2] != ' ')
		return NULL;
	return traceable_line(type + 3);
}

int tracefs_for_each_function(const char *pattern,
			      int (*fn)(const char *name, void *ctx), void *ctx)
{
	char path[96], *text;
	const char *root = NULL;
	size_t len;
	int err;

	err = find_root(&root);
	if (!err) {
		snprintf(path, sizeof(path), "%s/available_filter_functions", root);
		err = maps_slurp(AT_FDCWD, path, &text, &len);
	}
	if (!err) {
		err = each_line(text, pattern, traceable_line, fn, ctx);
		free(text);
		return err;
	}
	/* a kernel without ftrace still has kprobes */
	err = maps_slurp(AT_FDCWD, "/proc/kallsyms", &text, &len);
	if (err)
		return err;
	err = each_line(text, pattern, kallsyms_line, fn, ctx);
	free(text);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(const char *name, void *ctx)
{
	struct tracefs_names *l = ctx;

	l->at[l->nr++] = (char *)name;
	return 0;
}

/* The names that @keep finds in l->text. */
static int read_names(struct tracefs_names *l, const char *pattern, char *(*keep)(char *line))
{
	size_t room = 1;

	for (const char *at = l->text; (at = strchr(at, '\n')); at++)
		room++;
	l->at = malloc((room + 1) * sizeof(*l->at));
	if (!l->at) {
		tracefs_free_names(l);
		return -ENOMEM;
	}
	each_line(l->text, pattern, keep, add_name, l);
	qsort(l->at, l->nr, sizeof(*l->at), by_name);
	return 0;
}

/* Parts of functions and padding, which have names of their own, are no functions. */
static char *function_line(char *line)
{
	static const char *const padding[] = { "__pfx_", "__cfi_" };
	char *name = kallsyms_line(line);

	for (size_t i = 0; name && i < sizeof(padding) / sizeof(padding[0]); i++)
		if (!strncmp(name, padding[i], strlen(padding[i])))
			return NULL;
	return name && !strstr(name, ".cold") ? name : NULL;
}

int tracefs_read_code(const char *pattern, struct tracefs_names *l)
{
	size_t len;
	int err;

	memset(l, 0, sizeof(*l));
	err = maps_slurp(AT_FDCWD, "/proc/kallsyms", &l->text, &len);
	return err ? err : read_names(l, pattern, function_line);
}

int tracefs_read_traceable(const char *pattern, struct tracefs_names *l)
{
	const char *root = NULL;
	char path[96];
	size_t len;

	memset(l, 0, sizeof(*l));
	if (find_root(&root))
		return -ENXIO;
	snprintf(path, sizeof(path), "%s/available_filter_functions", root);
	if (maps_slurp(AT_FDCWD, path, &l->text, &len))
		return -ENXIO;
	return read_names(l, pattern, traceable_line);
}

/* Of l->text; lines: 0xstart-0xend<TAB>name, of modules with "[module]" behind it. */
static int split_blacklist(struct tracefs_names *l)
{
	char *line, *save, *name;
	size_t room = 1;

	for (name = l->text; (name = strchr(name, '\n')); name++)
		room++;
	l->at = malloc(room * sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (line = strtok_r(l->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		name = strchr(line, '\t');
		if (name)
			l->at[l->nr++] = traceable_line(name + 1);
	}
	qsort(l->at, l->nr, sizeof(*l->at), by_name);
	return 0;
}

int tracefs_read_blacklist(struct tracefs_names *l)
{
	size_t len;
	int err;

	memset(l, 0, sizeof(*l));
	err = maps_slurp(AT_FDCWD, "/sys/kernel/debug/kprobes/blacklist", &l->text, &len);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = split_blacklist(l);
	if (err)
		tracefs_free_names(l);
	return err;
}

bool tracefs_is_listed(const struct tracefs_names *l, const char *function)
{
	return l->nr && bsearch(&function, l->at, l->nr, sizeof(*l->at), by_name);
}

void tracefs_free_names(struct tracefs_names *l)
{
	free(l->at);
	free(l->text);
	memset(l, 0, sizeof(*l));
}

int tracefs_debugfs(const char *file, char **text, size_t *len)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/kernel/debug/memtap/%s", file);
	return maps_slurp(AT_FDCWD, path, text, len);
}
