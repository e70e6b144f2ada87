// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find processes that pin memory with io_uring buffers.  VmPin of /proc/PID/status shows these
 * buffers on some kernels only: newer kernels leave out processes without a limit of locked
 * memory.  The rings list their buffers in /proc/PID/fdinfo.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct rings {
	const struct machine_at *at;
	__u32 pid;
	__u64 end, bytes;
};

/* 1: there is no time for more */
static int see_ring(void *ctx, const char *fd, const char *target)
{
	struct rings *r = ctx;
	char path[64], *text;
	int err;

	if (machine_now() >= r->end)
		return 1;
	if (strcmp(target, "anon_inode:[io_uring]"))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%.16s", r->pid, fd);
	text = machine_file(r->at, path, 1 << 20, &err);
	if (text)
		r->bytes += pinned_parse(text);
	free(text);
	return 0;
}

void pinned_read(const struct machine_at *at, struct machine *m)
{
	struct rings r = { .at = at, .end = machine_now() + at->budget_ns };
	struct machine_holder *h;

	if (machine_pinned(m) < WORTH)
		return;
	for (size_t i = 0; i < m->processes.nr; i++) {
		h = &m->processes.at[i];
		if (h->bytes < WORTH || h->pinned >= WORTH)
			continue;
		r.pid = h->pid;
		r.bytes = 0;
		if (machine_each_fd(at, h->pid, see_ring, &r)) {
			machine_gap(m, "the io_uring rings of some processes were not read for "
				    "lack of time; the owner of pinned memory may be missing");
			return;
		}
		/* children have the ring, but not its buffers' memory */
		if (r.bytes > h->bytes)
			r.bytes = h->bytes;
		if (r.bytes > h->pinned)
			h->pinned = r.bytes;
	}
}
