// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the module without libkmod, for tools without shared libraries and machines without
 * libkmod. memtap's module depends on no other one, so its line in modules.dep is sufficient.  The
 * kernel decompresses modules since v5.17; older kernels reject a compressed file as no module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "session/insert_int.h"

#define COMPRESSED	4	/* MODULE_INIT_COMPRESSED_FILE */

static int plain_file(const char *path, const char *params)
{
	const char *ending = strrchr(path, '.');
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params,
		    ending && strcmp(ending, ".ko") ? COMPRESSED : 0))
		err = -errno;
	close(fd);
	return err;
}

/* Is this line of modules.dep that of @name?  Then it ends behind the path. */
static int is_line_of(char *line, const char *name)
{
	const size_t len = strlen(name);
	char *colon = strchr(line, ':'), *file;

	if (!colon)
		return 0;
	*colon = '\0';
	file = strrchr(line, '/');
	file = file ? file + 1 : line;
	return !strncmp(file, name, len) && !strncmp(file + len, ".ko", 3);
}

static int insert_from(const char *dir, const char *name, const char *params)
{
	char path[4096], *line = NULL;
	int err = -ENOENT;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/modules.dep", dir);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0)
		if (is_line_of(line, name)) {
			snprintf(path, sizeof(path), "%s%s%s", line[0] == '/' ? "" : dir,
				 line[0] == '/' ? "" : "/", line);
			err = plain_file(path, params);
			break;
		}
	free(line);
	if (f)
		fclose(f);
	return err;
}

static int plain_by_name(const char *name, const char *params)
{
	char dir[256];
	struct utsname u;

	if (uname(&u))
		return -errno;
	snprintf(dir, sizeof(dir), "/lib/modules/%s", u.release);
	return insert_from(dir, name, params);
}

static int plain_remove(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

const struct inserter insert_plain = { plain_file, plain_by_name, plain_remove };
