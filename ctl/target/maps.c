// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the executable mappings of processes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/maps.h"
#include "base/openreg.h"
#include "base/path.h"

int maps_slurp(int dirfd, const char *path, char **text, size_t *len)
{
	size_t size = 4096;
	char *buf = NULL, *more;
	ssize_t n;
	int fd, err;

	*len = 0;
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		more = realloc(buf, size + 1);
		if (!more) {
			err = -ENOMEM;
			break;
		}
		buf = more;
		n = read(fd, buf + *len, size - *len);
		err = n < 0 ? -errno : 0;
		if (n <= 0)
			break;
		*len += (size_t)n;
		if (*len == size)
			size *= 2;
	}
	close(fd);
	if (err) {
		free(buf);
		return err;
	}
	buf[*len] = '\0';
	*text = buf;
	return 0;
}

static bool known(const struct maps *m, const struct maps_file *f)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->files[i]->inode == f->inode &&
		    m->files[i]->dev_major == f->dev_major &&
		    m->files[i]->dev_minor == f->dev_minor &&
		    !strcmp(m->files[i]->path, f->path))
			return true;
	return false;
}

static int add(struct maps *m, struct maps_file *f)
{
	struct maps_file **more;

	if (known(m, f)) {
		free(f);
		return 0;
	}
	more = realloc(m->files, (m->nr + 1) * sizeof(*more));
	if (!more) {
		free(f);
		return -ENOMEM;
	}
	m->files = more;
	m->files[m->nr++] = f;
	return 0;
}

/* start-end rwxp offset major:minor inode   path */
static int parse_line(const char *line, struct maps *m)
{
	static const char gone[] = " (deleted)";
	const size_t gone_len = sizeof(gone) - 1;
	unsigned int dev_major, dev_minor;
	uint64_t start, end, inode;
	struct maps_file *f;
	char prot[5];
	size_t len;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n",
		   &start, &end, prot, &dev_major, &dev_minor, &inode, &at) < 6)
		return 0;
	if (!at || line[at] != '/' || !strchr(prot, 'x') || start >= end)
		return 0;
	line += at;
	len = strlen(line);
	f = calloc(1, sizeof(*f) + len + 1);
	if (!f)
		return -ENOMEM;
	f->start = start;
	f->end = end;
	f->inode = inode;
	f->dev_major = dev_major;
	f->dev_minor = dev_minor;
	memcpy(f->path, line, len);
	if (len > gone_len && !strcmp(f->path + len - gone_len, gone)) {
		f->path[len - gone_len] = '\0';
		f->deleted = true;
	}
	return add(m, f);
}

int maps_parse(const char *text, size_t len, struct maps *m)
{
	const char *end = text + len, *eol;
	char *line;
	int err = 0;

	memset(m, 0, sizeof(*m));
	while (!err && text < end) {
		eol = memchr(text, '\n', (size_t)(end - text));
		if (!eol)
			eol = end;
		line = strndup(text, (size_t)(eol - text));
		err = line ? parse_line(line, m) : -ENOMEM;
		free(line);
		text = eol + 1;
	}
	if (err)
		maps_free(m);
	return err;
}

static bool has_maps(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool any;
	char c;

	if (fd < 0)
		return false;
	any = read(fd, &c, sizeof(c)) > 0;
	close(fd);
	return any;
}

pid_t maps_thread(pid_t pid)
{
	const struct dirent *e;
	pid_t found = pid;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (has_maps(path))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && found == pid && (e = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, tid);
		if (tid && tid != pid && has_maps(path))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

int maps_read(pid_t pid, struct maps *m)
{
	char path[32], *text = NULL;
	size_t len = 0;
	int err;

	memset(m, 0, sizeof(*m));
	snprintf(path, sizeof(path), "/proc/%d/maps", maps_thread(pid));
	err = maps_slurp(AT_FDCWD, path, &text, &len);
	if (err)
		return err;
	err = maps_parse(text, len, m);
	free(text);
	return err;
}

void maps_free(struct maps *m)
{
	for (size_t i = 0; i < m->nr; i++)
		free(m->files[i]);
	free(m->files);
	memset(m, 0, sizeof(*m));
}

static int open_of(pid_t pid, const char *name)
{
	char *path;
	int fd;

	if (asprintf(&path, "/proc/%d/%s", pid, name) < 0)
		return -ENOMEM;
	fd = open_regular(path);
	free(path);
	return fd;
}

/*
 * /proc/PID/maps says paths as its reader sees them, where he sees them, which another root
 * does not: there the inode tells.  (Not its device, which some file systems have another
 * one of here.)
 */
static bool is_mapped_file(const struct maps_file *f, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == f->inode;
}

int maps_open(pid_t pid, const struct maps_file *f)
{
	char name[PATH_MAX + 8];
	int fd = -ENOENT, mapped;

	if (!f->deleted) {
		snprintf(name, sizeof(name), "root%s", f->path);
		fd = open_of(pid, name);
	}
	if (fd >= 0 && is_mapped_file(f, fd))
		return fd;
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, (uint64_t)f->start,
		 (uint64_t)f->end);
	mapped = open_of(pid, name);
	if (mapped < 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return mapped;
}

/* What may follow a library's name: ".so", ".so.6", "-2.31.so" */
static bool is_suffix(const char *s)
{
	if (!strncmp(s, ".so", 3))
		return !s[3] || s[3] == '.';
	return s[0] == '-' && isdigit((unsigned char)s[1]) && strstr(s, ".so");
}

bool maps_version_matches(const char *path, const char *name)
{
	const char *base = base_name(path), *rest;
	const size_t len = strlen(name);

	if (!len || strncmp(base, name, len) || strstr(base, ".so"))
		return false;
	rest = base + len;
	/* python3.1 is not python3.11 */
	if (isdigit((unsigned char)base[len - 1]) && *rest != '.' && *rest != '-')
		return false;
	if (*rest == '.' || *rest == '-')
		rest++;
	return isdigit((unsigned char)*rest) && !rest[strspn(rest, "0123456789.")];
}

bool maps_name_matches(const char *path, const char *name)
{
	const char *base = base_name(path);
	const size_t len = strlen(name);

	if (!len)
		return false;
	if (!strcmp(base, name))
		return true;
	if (!strncmp(base, name, len) &&
	    (is_suffix(base + len) || (strstr(name, ".so") && base[len] == '.')))
		return true;
	return !strncmp(base, "lib", 3) && !strncmp(base + 3, name, len) &&
	       is_suffix(base + 3 + len);
}
