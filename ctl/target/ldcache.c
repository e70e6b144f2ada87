// SPDX-License-Identifier: GPL-2.0-or-later
/* Find libraries by name before a process maps them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/maps.h"
#include "base/openreg.h"

#define LDCACHE		"/etc/ld.so.cache"
#define MAGIC_OLD	"ld.so-1.7.0"
#define MAGIC_NEW	"glibc-ld.so.cache1.1"

/* The format since glibc 2.2, in the machine's byte order. */
struct cache_head {
	char magic[20];
	uint32_t nr;
	uint32_t strings_len;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name;			/* offsets from the head */
	uint32_t path;
	uint32_t os;
	uint64_t hwcap;
};

/* The new format may follow a copy in the old one. */
static const char *find_head(const char *bytes, size_t len)
{
	const size_t old_head = 16, old_entry = 12;
	uint32_t nr;
	size_t skip;

	if (len < old_head)
		return NULL;
	if (!memcmp(bytes, MAGIC_OLD, sizeof(MAGIC_OLD) - 1)) {
		memcpy(&nr, bytes + 12, sizeof(nr));
		if (nr > (len - old_head) / old_entry)
			return NULL;
		skip = (old_head + nr * old_entry + 7) & ~(size_t)7;
		if (skip > len)
			return NULL;
		bytes += skip;
		len -= skip;
	}
	if (len < sizeof(struct cache_head) ||
	    memcmp(bytes, MAGIC_NEW, sizeof(MAGIC_NEW) - 1))
		return NULL;
	return bytes;
}

bool maps_ldcache(const void *bytes, size_t len,
		  bool (*fn)(const char *path, void *ctx), void *ctx)
{
	const char *start = find_head(bytes, len);
	struct cache_entry entry;
	struct cache_head head;
	size_t left;

	if (!start)
		return false;
	left = len - (size_t)(start - (const char *)bytes);
	memcpy(&head, start, sizeof(head));
	if (head.nr > (left - sizeof(head)) / sizeof(entry))
		return false;
	for (uint32_t i = 0; i < head.nr; i++) {
		memcpy(&entry, start + sizeof(head) + i * sizeof(entry),
		       sizeof(entry));
		if (entry.path < left &&
		    memchr(start + entry.path, 0, left - entry.path) &&
		    fn(start + entry.path, ctx))
			return true;
	}
	return false;
}

struct want {
	const char *name;
	char *path;
	size_t len;
};

/* A library of this tool's own kind: 64 bits and machine. */
static bool same_kind(const char *path)
{
	unsigned char mine[20] = { 0 }, its[20] = { 0 };
	bool same = false;
	int fd;

	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		same = read(fd, mine, sizeof(mine)) == sizeof(mine);
		close(fd);
	}
	fd = open_regular(path);
	if (fd < 0)
		return false;
	same = same && read(fd, its, sizeof(its)) == sizeof(its) &&
	       !memcmp(its, ELFMAG, SELFMAG) &&
	       mine[EI_CLASS] == its[EI_CLASS] && mine[18] == its[18] &&
	       mine[19] == its[19];
	close(fd);
	return same;
}

static bool take(const char *path, void *ctx)
{
	struct want *want = ctx;

	if (path[0] != '/' || !maps_name_matches(path, want->name) ||
	    !same_kind(path))
		return false;
	return snprintf(want->path, want->len, "%s", path) < (int)want->len;
}

/* Systems without a cache, as those with musl. */
static bool find_in_dirs(struct want *want)
{
	static const char *const patterns[] = {
		"/lib*/%s*", "/usr/lib*/%s*", "/usr/local/lib*/%s*",
		"/lib/*-linux-*/%s*", "/usr/lib/*-linux-*/%s*",
	};
	static const char *const starts[] = { "", "lib" };
	bool found = false;
	char file[256], pattern[320];
	glob_t g;

	for (size_t i = 0; !found && i < 2 * sizeof(patterns) / sizeof(*patterns);
	     i++) {
		snprintf(file, sizeof(file), "%s%s", starts[i % 2], want->name);
		snprintf(pattern, sizeof(pattern), "%.*s%s*",
			 (int)strlen(patterns[i / 2]) - 3, patterns[i / 2], file);
		if (glob(pattern, 0, NULL, &g))
			continue;
		for (size_t p = 0; !found && p < g.gl_pathc; p++)
			found = take(g.gl_pathv[p], want);
		globfree(&g);
	}
	return found;
}

int maps_find_library(const char *name, char *path, size_t len)
{
	struct want want = { name, path, len };
	bool found = false;
	size_t size;
	char *bytes;

	if (!maps_slurp(AT_FDCWD, LDCACHE, &bytes, &size)) {
		found = maps_ldcache(bytes, size, take, &want);
		free(bytes);
	}
	return found || find_in_dirs(&want) ? 0 : -ENOENT;
}
