// SPDX-License-Identifier: GPL-2.0-or-later
/* Read all of a machine's description in order, with the user's rights and namespaces. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/host_int.h"

/* Of the first ones, since v3.8: they are part of the kernel's contract. */
#define FIRST_USER_NS	"[4026531837]"
#define FIRST_PID_NS	"[4026531836]"

/* A link to "pid:[4026531836]"; a recorded machine has a file that says so. */
static enum host_answer is_first(const struct machine_at *at, const char *path,
				 const char *first)
{
	char full[PATH_MAX], text[64], *read;
	enum host_answer is;
	ssize_t n;
	int err;

	snprintf(full, sizeof(full), "%s%s", at->root, path);
	n = readlink(full, text, sizeof(text) - 1);
	if (n >= 0) {
		text[n] = '\0';
		return strstr(text, first) ? HOST_YES : HOST_NO;
	}
	if (errno != EINVAL)
		return HOST_UNKNOWN;
	read = machine_file(at, path, FILE_SMALL, &err);
	if (!read)
		return HOST_UNKNOWN;
	is = strstr(read, first) ? HOST_YES : HOST_NO;
	free(read);
	return is;
}

#define CAP_MODULE_BIT	16
#define CAP_ADMIN_BIT	21
#define CAP_PERFMON_BIT	38
#define CAP_BPF_BIT	39

/* "Uid: real effective saved files", "CapEff: mask" */
void host_parse_status(char *text, struct host *h)
{
	char *line, *name, *word;
	unsigned long long caps;
	__u64 uid;

	while ((line = machine_line(&text))) {
		name = machine_word(&line);
		word = name ? machine_word(&line) : NULL;
		if (!word)
			continue;
		if (!strcmp(name, "Uid:")) {
			word = machine_word(&line);
			if (machine_number(word, &uid))
				h->root = uid ? HOST_NO : HOST_YES;
		} else if (!strcmp(name, "CapEff:")) {
			caps = strtoull(word, NULL, 16);
			h->cap_module = caps >> CAP_MODULE_BIT & 1 ? HOST_YES : HOST_NO;
			h->cap_admin = caps >> CAP_ADMIN_BIT & 1 ? HOST_YES : HOST_NO;
			h->cap_perfmon = caps >> CAP_PERFMON_BIT & 1 ? HOST_YES : HOST_NO;
			h->cap_bpf = caps >> CAP_BPF_BIT & 1 ? HOST_YES : HOST_NO;
		}
	}
}

static void read_rights(const struct machine_at *at, struct host *h)
{
	int err;
	char *text = machine_file(at, "/proc/self/status", FILE_SMALL, &err);

	if (text)
		host_parse_status(text, h);
	else
		host_gap(h, "/proc/self/status: %s; memtap's user ID and capabilities are unknown",
			 strerror(-err));
	free(text);
	h->first_user_ns = is_first(at, "/proc/self/ns/user", FIRST_USER_NS);
	h->first_pid_ns = is_first(at, "/proc/self/ns/pid", FIRST_PID_NS);
}

static void first_line(const struct machine_at *at, const char *path, char *to, size_t room)
{
	int err;
	char *text = machine_file(at, path, FILE_SMALL, &err);

	if (text)
		snprintf(to, room, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

static void read_memory(const struct machine_at *at, struct host *h)
{
	struct machine m = { 0 };
	int err;
	char *text = machine_file(at, "/proc/meminfo", FILE_SMALL, &err);

	if (!text) {
		host_gap(h, "/proc/meminfo: %s; available memory is unknown", strerror(-err));
		return;
	}
	fields_parse_mem(text, &m.f);
	h->available = m.f.has_mem[MEM_AVAILABLE] ? m.f.mem[MEM_AVAILABLE] :
		       m.f.mem[MEM_FREE] + m.f.mem[MEM_CACHED];
	free(text);
}

void host_read(const struct machine_at *at, struct host *h)
{
	memset(h, 0, sizeof(*h));
	first_line(at, "/proc/sys/kernel/osrelease", h->release, sizeof(h->release));
	first_line(at, "/proc/sys/kernel/hostname", h->name, sizeof(h->name));
	read_rights(at, h);
	read_memory(at, h);
	host_read_kernel(at, h);
	host_read_build(at, h);
}
