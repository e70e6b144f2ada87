// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into `memtap history start` by test_history_kill.sh: a line in the file WRITE_LOG
 * before each pwrite() of a sample, and one when it is over.  So whoever kills the service knows
 * which samples it had written, and which one it was writing.
 *
 * WRITE_CUT=N,BYTES: of the Nth sample so many bytes are written (of its length, modulo), and then
 * the process kills itself: a kill in the middle of a write, which by chance is seldom met.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uapi/memtap.h"

/* CLOCK_REALTIME of the sample that @buf has; 0: none. */
static unsigned long long sample_of(const char *buf, size_t len)
{
	struct memtap_rec rec;
	struct memtap_rec_sample s;

	for (size_t at = 0; at + sizeof(rec) <= len; at += rec.len) {
		memcpy(&rec, buf + at, sizeof(rec));
		if (rec.type == MEMTAP_REC_SAMPLE && at + sizeof(s) <= len) {
			memcpy(&s, buf + at, sizeof(s));
			return s.real_ns;
		}
		if (rec.len < sizeof(rec))
			break;
	}
	return 0;
}

static void say(char what, unsigned long long sample)
{
	static int fd = -1;
	char line[64];
	int len;

	if (fd < 0 && getenv("WRITE_LOG"))
		fd = open(getenv("WRITE_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	len = snprintf(line, sizeof(line), "%c %llu\n", what, sample);
	if (fd < 0 || write(fd, line, (size_t)len) != len)
		abort();
}

/* Is it the sample that is cut?  *@bytes: how many of it are written. */
static int is_cut(size_t len, size_t *bytes)
{
	static unsigned long nr, seen;
	unsigned long of;
	const char *text = getenv("WRITE_CUT");

	if (!text || sscanf(text, "%lu,%lu", &nr, &of) != 2 || ++seen != nr)
		return 0;
	*bytes = of % (len + 1);
	return 1;
}

static ssize_t logged(const char *name, int fd, const void *buf, size_t len, off_t at)
{
	ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
	const unsigned long long sample = sample_of(buf, len);
	ssize_t n;

	if (sample) {
		size_t bytes;

		say('<', sample);
		if (is_cut(len, &bytes)) {
			next(fd, buf, bytes, at);
			kill(getpid(), SIGKILL);
		}
	}
	n = next(fd, buf, len, at);
	if (sample && n == (ssize_t)len)
		say('>', sample);
	return n;
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	return logged("pwrite", fd, buf, len, at);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off_t at)
{
	return logged("pwrite64", fd, buf, len, at);
}
