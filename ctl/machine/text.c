// SPDX-License-Identifier: GPL-2.0-or-later
/* Read files below a root directory, split lines and words, and store names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/int.h"

struct machine_text {
	struct machine_text *next;
	size_t used, room;
	char at[];
};

__u64 machine_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

static char *read_all(int fd, size_t most, int *err)
{
	size_t room = 4096, len = 0;
	char *text = malloc(room), *more;
	ssize_t n;

	while (text) {
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			/* ENODEV and the like: a process that went meanwhile */
			*err = -errno;
			free(text);
			return NULL;
		}
		if (!n)
			break;
		len += (size_t)n;
		if (len + 1 < room)
			continue;
		if (room >= most) {
			while (len && text[len - 1] != '\n')
				len--;
			break;
		}
		room *= 4;
		more = realloc(text, room);
		if (!more)
			free(text);
		text = more;
	}
	if (text)
		text[len] = '\0';
	else
		*err = -ENOMEM;
	return text;
}

char *machine_file(const struct machine_at *at, const char *path, size_t most, int *err)
{
	char full[PATH_MAX];
	char *text;
	int fd;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", at->root, path) >= sizeof(full)) {
		*err = -ENAMETOOLONG;
		return NULL;
	}
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		*err = -errno;
		return NULL;
	}
	text = read_all(fd, most, err);
	close(fd);
	return text;
}

int machine_each_fd(const struct machine_at *at, __u32 pid,
		    int (*see)(void *ctx, const char *fd, const char *target), void *ctx)
{
	char path[PATH_MAX];
	struct dirent *d;
	ssize_t len;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/%u/fd", at->root, pid);
	dir = opendir(path);
	while (dir && !ret && (d = readdir(dir))) {
		len = readlinkat(dirfd(dir), d->d_name, path, sizeof(path) - 1);
		if (len <= 0)
			continue;
		path[len] = '\0';
		ret = see(ctx, d->d_name, path);
	}
	if (dir)
		closedir(dir);
	return ret;
}

void machine_gap(struct machine *m, const char *fmt, ...)
{
	va_list ap;

	if (m->nr_gaps == MACHINE_GAPS)
		return;
	va_start(ap, fmt);
	vsnprintf(m->gaps[m->nr_gaps++].text, sizeof(m->gaps[0].text), fmt, ap);
	va_end(ap);
}

const char *machine_name(struct machine *m, const char *text, size_t len)
{
	struct machine_text *t = m->texts;
	char *at;

	if (!t || t->room - t->used <= len) {
		const size_t room = len + 1 > 8192 ? len + 1 : 8192;

		t = malloc(sizeof(*t) + room);
		if (!t)
			return NULL;
		t->next = m->texts;
		t->used = 0;
		t->room = room;
		m->texts = t;
	}
	at = t->at + t->used;
	memcpy(at, text, len);
	at[len] = '\0';
	t->used += len + 1;
	return at;
}

struct machine_holder *machine_add(struct machine_list *list)
{
	const size_t room = list->room ? list->room * 2 : 64;
	struct machine_holder *more;

	if (list->nr == list->room) {
		more = realloc(list->at, room * sizeof(*more));
		if (!more)
			return NULL;
		list->at = more;
		list->room = room;
	}
	memset(&list->at[list->nr], 0, sizeof(list->at[0]));
	return &list->at[list->nr++];
}

char *machine_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	*text = end;
	return line;
}

char *machine_word(char **line)
{
	static const char blanks[] = " \t\r";
	char *word = *line;

	if (!word)
		return NULL;
	word += strspn(word, blanks);
	if (!*word) {
		*line = NULL;
		return NULL;
	}
	*line = word + strcspn(word, blanks);
	if (**line)
		*(*line)++ = '\0';
	else
		*line = NULL;
	return word;
}

bool machine_number(const char *word, __u64 *v)
{
	__u64 n = 0;

	if (!word || !*word)
		return false;
	for (; *word >= '0' && *word <= '9'; word++) {
		const unsigned int digit = (unsigned int)(*word - '0');

		n = n > (~0ULL - digit) / 10 ? ~0ULL : n * 10 + digit;
	}
	*v = n;
	return !*word;
}

__u64 machine_times(__u64 n, __u64 unit)
{
	return unit && n > ~0ULL / unit ? ~0ULL : n * unit;
}

static void free_texts(struct machine_text *t)
{
	struct machine_text *next;

	for (; t; t = next) {
		next = t->next;
		free(t);
	}
}

void machine_free(struct machine *m)
{
	struct machine_list *const lists[] = {
		&m->processes, &m->cgroups, &m->slabs, &m->callers, &m->sites, &m->tmpfs,
		&m->swaps, &m->nodes, &m->deleted, &m->zombies,
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]->at);
	free(m->zones);
	free_texts(m->texts);
	memset(m, 0, sizeof(*m));
}
