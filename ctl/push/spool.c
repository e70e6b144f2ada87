// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages that wait to be sent, in a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "push/spool.h"

#define BLOCK		4096ULL		/* what the smallest file takes on a disk */
#define NAME		"%016llx.push"
#define NAME_LEN	32
#define TEMP		"message.new"
#define LOCK		"lock"
#define MAGIC		"memtap-push 1"
#define HEAD		"%s %zu %08lx %llu %llu\n"
#define HEAD_LEN	128

/* ---- what a file has ---- */

/* The line that begins at *@at, which moves behind it; NULL: there is none. */
static char *next_line(char **at, size_t *len)
{
	char *line = *at, *end = memchr(line, '\n', *len);

	if (!end || memchr(line, '\0', (size_t)(end - line)))
		return NULL;
	*end = '\0';
	*len -= (size_t)(end + 1 - line);
	*at = end + 1;
	return line;
}

static unsigned long sum_of(const struct spool_message *m)
{
	unsigned long sum = crc32(0, (const Bytef *)m->name, (uInt)strlen(m->name));

	sum = crc32(sum, (const Bytef *)m->types, (uInt)strlen(m->types));
	return crc32(sum, m->body, (uInt)m->len);
}

int spool_parse(char *bytes, size_t len, struct spool_message *m)
{
	unsigned long long from, until;
	unsigned long sum;
	size_t body;
	char *head;
	int end = 0;

	memset(m, 0, sizeof(*m));
	head = next_line(&bytes, &len);
	if (!head || strlen(head) >= HEAD_LEN || strncmp(head, MAGIC " ", sizeof(MAGIC)) ||
	    sscanf(head + sizeof(MAGIC), "%zu %lx %llu %llu%n", &body, &sum, &from, &until,
		   &end) != 4 || head[sizeof(MAGIC) + (size_t)end])
		return -EBADMSG;
	m->name = next_line(&bytes, &len);
	m->types = m->name ? next_line(&bytes, &len) : NULL;
	if (!m->types || len != body)
		return -EBADMSG;
	m->body = bytes;
	m->len = len;
	m->from_s = from;
	m->until_s = until;
	return sum_of(m) == sum ? 0 : -EBADMSG;
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		const ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_message(int fd, const struct spool_message *m)
{
	char head[HEAD_LEN];
	int err;

	snprintf(head, sizeof(head), HEAD, MAGIC, m->len, sum_of(m),
		 (unsigned long long)m->from_s, (unsigned long long)m->until_s);
	err = write_all(fd, head, strlen(head));
	if (!err)
		err = write_all(fd, m->name, strlen(m->name));
	if (!err)
		err = write_all(fd, "\n", 1);
	if (!err)
		err = write_all(fd, m->types, strlen(m->types));
	if (!err)
		err = write_all(fd, "\n", 1);
	return err ? err : write_all(fd, m->body, m->len);
}

static void file_name(char name[NAME_LEN], __u64 number)
{
	snprintf(name, NAME_LEN, NAME, (unsigned long long)number);
}

static int write_file(const struct spool *s, __u64 number, const struct spool_message *m)
{
	const int fd = openat(s->dir, TEMP, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			      0600);
	char name[NAME_LEN];
	int err;

	if (fd < 0)
		return -errno;
	err = write_message(fd, m);
	if (close(fd) && !err)
		err = -errno;
	file_name(name, number);
	if (!err && renameat(s->dir, TEMP, s->dir, name))
		err = -errno;
	if (err)
		unlinkat(s->dir, TEMP, 0);
	return err;
}

int spool_read(const struct spool *s, const struct spool_entry *e, struct spool_message *m)
{
	char name[NAME_LEN], *bytes;
	struct stat st;
	size_t len = 0;
	ssize_t n;
	int fd, err;

	memset(m, 0, sizeof(*m));
	file_name(name, e->number);
	fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SPOOL_MESSAGE) {
		close(fd);
		return -EBADMSG;
	}
	bytes = malloc((size_t)st.st_size + 1);
	while (bytes && len < (size_t)st.st_size &&
	       (n = read(fd, bytes + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	close(fd);
	if (!bytes)
		return -ENOMEM;
	err = len == (size_t)st.st_size ? spool_parse(bytes, len, m) : -EBADMSG;
	m->bytes = bytes;
	if (err)
		spool_message_free(m);
	return err;
}

void spool_message_free(struct spool_message *m)
{
	free(m->bytes);
	memset(m, 0, sizeof(*m));
}

/* ---- which there are ---- */

static struct spool_entry *entry(const struct spool *s, size_t i)
{
	return &s->at[(s->first + i) % s->room];
}

const struct spool_entry *spool_first(const struct spool *s)
{
	return s->nr ? entry(s, 0) : NULL;
}

static int append(struct spool *s, const struct spool_entry *e)
{
	const size_t room = s->room ? 2 * s->room : 64;
	struct spool_entry *more;

	if (s->nr == s->room) {
		more = calloc(room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		for (size_t i = 0; i < s->nr; i++)
			more[i] = *entry(s, i);
		free(s->at);
		s->at = more;
		s->first = 0;
		s->room = room;
	}
	s->nr++;
	*entry(s, s->nr - 1) = *e;
	s->used += e->bytes;
	return 0;
}

static void unlink_entry(const struct spool *s, const struct spool_entry *e)
{
	char name[NAME_LEN];

	file_name(name, e->number);
	if (s->dir >= 0)
		unlinkat(s->dir, name, 0);
}

void spool_remove(struct spool *s)
{
	if (!s->nr)
		return;
	unlink_entry(s, entry(s, 0));
	s->used -= entry(s, 0)->bytes;
	s->first = (s->first + 1) % s->room;
	s->nr--;
	s->busy = false;
}

/* The oldest that is not being sent. */
static void drop_oldest(struct spool *s)
{
	const bool busy = s->busy;
	struct spool_entry kept = *entry(s, 0);

	if (busy)
		kept = *entry(s, 1);
	s->dropped++;
	s->dropped_bytes += kept.bytes;
	if (!busy) {
		spool_remove(s);
		return;
	}
	/* the one that is being sent takes the place of the next */
	unlink_entry(s, &kept);
	s->used -= kept.bytes;
	*entry(s, 1) = *entry(s, 0);
	s->first = (s->first + 1) % s->room;
	s->nr--;
}

static __u64 on_disk(__u64 bytes)
{
	return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

int spool_add(struct spool *s, const struct spool_message *m, __u64 now_ns)
{
	const struct spool_entry e = {
		.number = s->last + 1,
		.bytes = on_disk(HEAD_LEN + strlen(m->name) + strlen(m->types) + m->len),
		.written_ns = now_ns,
	};
	int err = 0;

	if (e.bytes > s->most)
		return -E2BIG;
	if (e.bytes > SPOOL_MESSAGE)
		return -EMSGSIZE;
	if (s->busy && entry(s, 0)->bytes + e.bytes > s->most)
		return -EBUSY;
	while (s->used + e.bytes > s->most)
		drop_oldest(s);
	if (s->dir >= 0)
		err = write_file(s, e.number, m);
	if (err)
		return err;
	s->last++;
	err = append(s, &e);
	if (err)
		unlink_entry(s, &e);
	return err;
}

/* ---- the directory ---- */

static int cmp_number(const void *a, const void *b)
{
	const struct spool_entry *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* What an earlier run left: its messages, and nothing that is half. */
static int scan(struct spool *s)
{
	const int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct spool_entry entry = { 0 };
	unsigned long long number;
	char name[NAME_LEN];
	struct dirent *de;
	struct stat st;
	int err = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	unlinkat(s->dir, TEMP, 0);
	while (!err && (de = readdir(d))) {
		if (sscanf(de->d_name, "%16llx.push", &number) != 1)
			continue;
		file_name(name, number);
		if (strcmp(name, de->d_name) || number > LLONG_MAX ||
		    fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		entry.number = number;
		entry.bytes = on_disk((__u64)st.st_size);
		err = append(s, &entry);
		if (number > s->last)
			s->last = number;
	}
	closedir(d);
	if (s->nr)
		qsort(s->at, s->nr, sizeof(*s->at), cmp_number);
	while (s->nr && s->used > s->most)
		drop_oldest(s);
	return err;
}

/* Only its owner may write there: else a link could stand where a file is to be. */
static int check_dir(const struct spool *s, const char *path, char why[SPOOL_WHY])
{
	struct stat st;

	if (fstat(s->dir, &st)) {
		snprintf(why, SPOOL_WHY, "%.160s: %s", path, strerror(errno));
		return -EINVAL;
	}
	if (!(st.st_mode & 022) && (st.st_uid == geteuid() || !st.st_uid))
		return 0;
	snprintf(why, SPOOL_WHY, "%.120s: other users may write there; 'chmod go-w' it, or name a "
		 "directory that is yours alone", path);
	return -EINVAL;
}

static void make_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];

	if (!mkdir(path, 0700) || errno != ENOENT || !slash || slash == path)
		return;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	make_dir(parent);
	mkdir(path, 0700);
}

static int take_lock(struct spool *s, const char *path, char why[SPOOL_WHY])
{
	s->lock = openat(s->dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->lock >= 0 && !flock(s->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		snprintf(why, SPOOL_WHY, "%.120s: another `memtap push` uses it; name another one "
			 "with --spool DIR", path);
	else
		snprintf(why, SPOOL_WHY, "%.160s: %s", path, strerror(errno));
	return -EBUSY;
}

int spool_open(struct spool *s, const char *path, __u64 most, char why[SPOOL_WHY])
{
	int err;

	*s = (struct spool){ .dir = -1, .lock = -1, .most = most };
	why[0] = '\0';
	if (!path)
		return 0;
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0 && errno == ENOENT) {
		make_dir(path);
		s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (s->dir < 0) {
		snprintf(why, SPOOL_WHY, "%.160s: %s", path, strerror(errno));
		return -EINVAL;
	}
	err = check_dir(s, path, why);
	if (!err)
		err = take_lock(s, path, why);
	if (!err) {
		err = scan(s);
		if (err)
			snprintf(why, SPOOL_WHY, "%.160s: %s", path, strerror(-err));
	}
	if (err)
		spool_close(s);
	return err;
}

void spool_close(struct spool *s)
{
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	free(s->at);
	s->at = NULL;
	s->nr = s->room = 0;
	s->dir = s->lock = -1;
}
