// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which processes pin memory with buffers of io_uring.  VmPin of /proc/PID/status has them on
 * some kernels only: on newer ones it leaves out those of processes that may lock memory without
 * a limit.  The rings themselves list their buffers, in /proc/PID/fdinfo.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/int.h"

/* With less pinned on the machine, or in a process, rings are not searched for. */
#define WORTH	(16ULL << 20)

__u64 machine_pinned(const struct machine *m)
{
	const __u64 *vm = m->f.vm;

	return m->f.has_vm[VM_PIN_RELEASED] && vm[VM_PIN_ACQUIRED] > vm[VM_PIN_RELEASED] ?
	       machine_times(vm[VM_PIN_ACQUIRED] - vm[VM_PIN_RELEASED], m->page) : 0;
}

/* "UserBufs: N", then N lines "I: 0xADDRESS/LENGTH" (or "<none>"), which these alone have. */
__u64 pinned_parse(char *text)
{
	char *line, *word, *length;
	bool buffers = false;
	__u64 v, sum = 0;

	while ((line = machine_line(&text))) {
		word = machine_word(&line);
		if (!word)
			continue;
		if (!strcmp(word, "UserBufs:")) {
			buffers = true;
			continue;
		}
		if (!buffers)
			continue;
		word[strcspn(word, ":")] = '\0';
		if (!machine_number(word, &v))
			break;
		word = machine_word(&line);
		length = word && !strncmp(word, "0x", 2) ? strchr(word, '/') : NULL;
		if (length && machine_number(length + 1, &v))
			sum = sum + v < sum ? ~0ULL : sum + v;
	}
	return sum;
}

/* 0: none, or it is not known. */
static __u64 of_process(const struct machine_at *at, __u32 pid)
{
	char path[PATH_MAX], target[64], *text;
	struct dirent *d;
	__u64 sum = 0;
	ssize_t len;
	DIR *dir;
	int err;

	snprintf(path, sizeof(path), "%s/proc/%u/fd", at->root, pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		len = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		if (strcmp(target, "anon_inode:[io_uring]"))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/fdinfo/%.16s", pid, d->d_name);
		text = machine_file(at, path, 1 << 20, &err);
		if (text)
			sum += pinned_parse(text);
		free(text);
	}
	if (dir)
		closedir(dir);
	return sum;
}

void pinned_read(const struct machine_at *at, struct machine *m)
{
	const __u64 end = machine_now() + at->budget_ns;
	struct machine_holder *h;
	__u64 v;

	if (machine_pinned(m) < WORTH)
		return;
	for (size_t i = 0; i < m->processes.nr; i++) {
		h = &m->processes.at[i];
		if (h->bytes < WORTH || h->pinned >= WORTH)
			continue;
		if (machine_now() >= end) {
			machine_gap(m, "rings of io_uring: no time to read those of all "
				    "processes; the owner of pinned memory may be missing");
			return;
		}
		/* children have the ring, but not its buffers' memory */
		v = of_process(at, h->pid);
		v = v < h->bytes ? v : h->bytes;
		h->pinned = v > h->pinned ? v : h->pinned;
	}
}
