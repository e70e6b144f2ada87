// SPDX-License-Identifier: GPL-2.0-or-later
/* A `.memtap` file, and what it says of itself. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/file.h"

int file_read(const char *path, struct snap **s)
{
	char why[256];
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(ERR_PLAIN, errno, "%s", path);
	err = snap_from_fd(fd, s, why);
	close(fd);
	return err ? fail_text("%s: %s", path, why) : 0;
}

const char *file_next_note(const struct snap *s, const char *key, size_t *at)
{
	const size_t len = strlen(key);

	while (*at < s->nr_notes) {
		const char *note = s->notes[(*at)++];

		if (!strncmp(note, key, len) && note[len] == '=')
			return note + len + 1;
	}
	return NULL;
}

const char *file_note(const struct snap *s, const char *key)
{
	size_t at = 0;

	return file_next_note(s, key, &at);
}
