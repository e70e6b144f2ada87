// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read PSS of processes, which counts shared memory once.  For PSS the kernel walks all page
 * tables of a process under its mapping lock.  So only some processes are read, for a bounded
 * time.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/int.h"

#define PIECE		(64U << 10)
/* Until a process was read: so many nanoseconds a mebibyte, of a slow machine. */
#define FIRST_NS	20000ULL
#define GROWING		8
#define LARGEST		8

/* A line of smaps, or of its sum, without its end. */
void pss_parse(const char *line, struct machine_holder *h)
{
	static const char *const own[] = { "Private_Clean:", "Private_Dirty:" };

	if (!strncmp(line, "Pss:", 4))
		h->pss += machine_times(strtoull(line + 4, NULL, 10), 1024);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(line, own[i], strlen(own[i])))
			h->uss += machine_times(strtoull(line + strlen(own[i]), NULL, 10), 1024);
}

/* Whole lines of @buf; what is left moves to its beginning. */
static size_t take_lines(char *buf, size_t len, struct machine_holder *h)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
		*end = '\0';
		pss_parse(line, h);
		line = end + 1;
	}
	len -= (size_t)(line - buf);
	memmove(buf, line, len);
	return len < PIECE / 2 ? len : 0;
}

/* 0, or -errno: -ETIME, if there is no time left. */
static int read_lines(int fd, __u64 end, struct machine_holder *h)
{
	char *buf = malloc(PIECE);
	size_t len = 0;
	ssize_t n = 0;
	int err = buf ? 0 : -ENOMEM;

	while (!err) {
		n = read(fd, buf + len, PIECE - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len = take_lines(buf, len + (size_t)n, h);
		err = machine_now() > end ? -ETIME : 0;
	}
	if (!err && n < 0)
		err = -errno;
	free(buf);
	return err;
}

static int open_of(const struct machine_at *at, __u32 pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/proc/%u/%s", at->root, pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Is there time for it, as far as those before tell? */
static bool has_time(const struct machine_pss *p, const struct machine_holder *h, __u64 now)
{
	const __u64 mib = (h->bytes - h->swap) >> 20;
	const __u64 each = p->mib ? p->ns / p->mib : FIRST_NS;

	return now < p->end && mib * each < p->end - now;
}

void machine_pss_begin(const struct machine_at *at, struct machine_pss *p)
{
	p->end = machine_now() + at->budget_ns / 2;
}

void machine_pss(const struct machine_at *at, struct machine_pss *p, struct machine_holder *h)
{
	const __u64 begun = machine_now();
	int fd, err;

	if (h->has_pss || !has_time(p, h, begun))
		return;
	/* since v4.14; before, the mappings one by one */
	fd = open_of(at, h->pid, "smaps_rollup");
	if (fd < 0 && errno == ENOENT)
		fd = open_of(at, h->pid, "smaps");
	if (fd < 0)
		return;
	h->pss = 0;
	h->uss = 0;
	err = read_lines(fd, p->end, h);
	close(fd);
	/* of the kernel, or gone: nothing */
	h->has_pss = !err && h->pss;
	p->ns += machine_now() - begun;
	p->mib += (h->bytes - h->swap) >> 20;
}

/* The largest whose PSS was not asked for. */
static struct machine_holder *largest(struct machine *m, const bool *asked)
{
	struct machine_holder *best = NULL;

	for (size_t i = 0; i < m->processes.nr; i++)
		if (!asked[i] && (!best || m->processes.at[i].bytes > best->bytes))
			best = &m->processes.at[i];
	return best;
}

int machine_read_pss(const struct machine_at *at, struct machine *m,
		     const struct machine_growth *growth)
{
	struct machine_pss p = { 0 };
	bool *asked = calloc(m->processes.nr + 1, sizeof(*asked));
	struct machine_holder *h;

	if (!asked)
		return -ENOMEM;
	machine_pss_begin(at, &p);
	for (size_t i = 0; i < GROWING + LARGEST; i++) {
		if (i < GROWING && (i >= m->processes.nr || growth[i].grew <= 0))
			continue;
		h = i < GROWING ? &m->processes.at[growth[i].now - m->processes.at] :
				  largest(m, asked);
		if (!h)
			break;
		asked[h - m->processes.at] = true;
		machine_pss(at, &p, h);
	}
	free(asked);
	return 0;
}
