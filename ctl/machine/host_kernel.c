// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's configuration, disabled features, and other tracers in use. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "machine/host_int.h"

#define CONFIG_MOST	(4UL << 20)

const char *const host_config_names[NR_HOST_CONFIG] = {
	[CFG_MODULES] = "CONFIG_MODULES",
	[CFG_KPROBES] = "CONFIG_KPROBES",
	[CFG_KRETPROBES] = "CONFIG_KRETPROBES",
	[CFG_UPROBES] = "CONFIG_UPROBES",
	[CFG_PERF_EVENTS] = "CONFIG_PERF_EVENTS",
	[CFG_TRACEPOINTS] = "CONFIG_TRACEPOINTS",
	[CFG_STACKTRACE] = "CONFIG_STACKTRACE",
	[CFG_X86_64] = "CONFIG_X86_64",
	[CFG_ARM64] = "CONFIG_ARM64",
	[CFG_MODULE_SIG_FORCE] = "CONFIG_MODULE_SIG_FORCE",
	[CFG_MEMCG] = "CONFIG_MEMCG",
};

/* "CONFIG_X=y"; what is switched off is a comment, and what is not asked is not there. */
void host_parse_config(char *text, struct host *h)
{
	char *line, *value;

	for (int i = 0; i < NR_HOST_CONFIG; i++)
		h->config[i] = HOST_NO;
	while ((line = machine_line(&text))) {
		value = strncmp(line, "CONFIG_", 7) ? NULL : strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		for (int i = 0; i < NR_HOST_CONFIG; i++)
			if (!strcmp(line, host_config_names[i]) && *value == 'y')
				h->config[i] = HOST_YES;
	}
}

/* Compressed or not: zlib reads both. */
static char *read_config(const struct machine_at *at, const char *path)
{
	char full[PATH_MAX], *text = malloc(CONFIG_MOST);
	gzFile f;
	int n;

	snprintf(full, sizeof(full), "%s%s", at->root, path);
	f = text ? gzopen(full, "re") : NULL;
	n = f ? gzread(f, text, CONFIG_MOST - 1) : -1;
	if (f)
		gzclose(f);
	if (n <= 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

static void find_config(const struct machine_at *at, struct host *h)
{
	static const char *const places[] = {
		"/boot/config-%s", "/lib/modules/%s/config", "/usr/lib/modules/%s/config",
		"/proc/config.gz", "/lib/modules/%s/build/.config",
	};
	char path[128], *text;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *hole = strstr(places[i], "%s");

		if (hole)
			snprintf(path, sizeof(path), "%.*s%s%s", (int)(hole - places[i]), places[i],
				 h->release, hole + 2);
		else
			snprintf(path, sizeof(path), "%s", places[i]);
		text = read_config(at, path);
		if (!text)
			continue;
		host_parse_config(text, h);
		snprintf(h->config_path, sizeof(h->config_path), "%s", path);
		free(text);
		return;
	}
}

/* A number, a switch: 0, N are off.  @seen: the errno if it cannot be read. */
static enum host_answer is_on(const struct machine_at *at, const char *path, int *seen)
{
	enum host_answer on = HOST_UNKNOWN;
	int err = 0;
	char *text = machine_file(at, path, FILE_SMALL, &err);

	if (text && *text)
		on = *text == '0' || *text == 'N' || *text == 'n' ? HOST_NO : HOST_YES;
	if (seen)
		*seen = err;
	free(text);
	return on;
}

static int number_of(const struct machine_at *at, const char *path)
{
	int err, v = -1;
	char *text = machine_file(at, path, FILE_SMALL, &err);

	if (text && *text)
		v = atoi(text);
	free(text);
	return v;
}

/* Four bytes of attributes, one of value. */
static enum host_answer read_secure_boot(const struct machine_at *at)
{
	char path[PATH_MAX];
	unsigned char v[8];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/firmware/efi/efivars/"
		 "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", at->root);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)	/* no EFI, or an old one: then there is no Secure Boot */
		return errno == ENOENT || errno == ENOTDIR ? HOST_NO : HOST_UNKNOWN;
	n = read(fd, v, sizeof(v));
	close(fd);
	return n == 5 ? v[4] == 1 ? HOST_YES : HOST_NO : HOST_UNKNOWN;
}

void host_parse_mounts(char *text, struct host *h)
{
	struct machine_mount mount;
	char *line;

	h->debugfs = h->tracefs = HOST_NO;
	while ((line = machine_line(&text))) {
		if (!mount_parse(line, &mount))
			continue;
		if (!strcmp(mount.type, "debugfs"))
			h->debugfs = HOST_YES;
		else if (!strcmp(mount.type, "tracefs"))
			h->tracefs = HOST_YES;
	}
}

/* Lines of a file of tracefs, wherever that is; -1: not known. */
static long lines_of(const struct machine_at *at, const char *name)
{
	static const char *const tops[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[128], *text;
	long nr = 0;
	int err;

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", tops[i], name);
		text = machine_file(at, path, FILE_LARGE, &err);
		if (!text)
			continue;
		for (char *p = text; *p; p++)
			nr += *p == '\n';
		free(text);
		return nr;
	}
	return -1;
}

static void read_tracers(const struct machine_at *at, struct host *h)
{
	char *text, *p;
	int err = 0;

	text = machine_file(at, "/sys/kernel/tracing/current_tracer", FILE_SMALL, &err);
	if (!text)
		text = machine_file(at, "/sys/kernel/debug/tracing/current_tracer", FILE_SMALL,
				    &err);
	if (text)
		snprintf(h->tracer, sizeof(h->tracer), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	if (err == -EACCES || err == -EPERM)
		host_gap(h, "/sys/kernel/tracing: %s; other tracers are unknown",
			 strerror(-err));
	h->kprobe_events = lines_of(at, "kprobe_events");
	h->uprobe_events = lines_of(at, "uprobe_events");
	h->kprobes = -1;
	text = machine_file(at, "/sys/kernel/debug/kprobes/list", FILE_LARGE, &err);
	if (text)
		for (h->kprobes = 0, p = text; *p; p++)
			h->kprobes += *p == '\n';
	free(text);
}

void host_read_kernel(const struct machine_at *at, struct host *h)
{
	char *text;
	int err = 0;

	find_config(at, h);
	h->kprobes_on = is_on(at, "/sys/kernel/debug/kprobes/enabled", &err);
	if (err == -EACCES || err == -EPERM)
		host_gap(h, "/sys/kernel/debug: %s; cannot check whether kprobes are disabled",
			 strerror(-err));
	h->ftrace_on = is_on(at, "/proc/sys/kernel/ftrace_enabled", NULL);
	h->modules_disabled = is_on(at, "/proc/sys/kernel/modules_disabled", NULL);
	h->sig_enforce = is_on(at, "/sys/module/module/parameters/sig_enforce", NULL);
	h->secure_boot = read_secure_boot(at);
	if (h->secure_boot == HOST_UNKNOWN)
		host_gap(h, "/sys/firmware/efi/efivars: cannot be read; cannot check whether "
			 "Secure Boot is on");
	host_lockdown(at, h->lockdown, sizeof(h->lockdown));
	h->kptr_restrict = number_of(at, "/proc/sys/kernel/kptr_restrict");
	h->perf_event_paranoid = number_of(at, "/proc/sys/kernel/perf_event_paranoid");
	text = machine_file(at, "/proc/self/mountinfo", FILE_LARGE, &err);
	if (text)
		host_parse_mounts(text, h);
	free(text);
	read_tracers(at, h);
}
