// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots out of file descriptors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snap/int.h"

#define READ_STEP	(256 * 1024)

static bool has_magic(const void *bytes)
{
	__u64 magic;

	memcpy(&magic, (const char *)bytes + offsetof(struct memtap_rec_header, magic),
	       sizeof(magic));
	return magic == MEMTAP_MAGIC;
}

/* What cannot be a snapshot is not read to its end: it may have none. */
static int read_all(int fd, char **bytes, size_t *len)
{
	size_t room = 0;
	ssize_t n;

	*bytes = NULL;
	*len = 0;
	for (;;) {
		if (room - *len < READ_STEP) {
			char *p = realloc(*bytes, room = 2 * room + READ_STEP);

			if (!p)
				return -ENOMEM;
			*bytes = p;
		}
		n = read(fd, *bytes + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		*len += n;
		if (*len >= 16 && !has_magic(*bytes))
			return 0;
	}
}

int snap_from_fd(int fd, struct snap **out, char err[256])
{
	char *bytes;
	size_t len;
	int ret;

	*out = NULL;
	ret = read_all(fd, &bytes, &len);
	if (ret) {
		free(bytes);
		return snap_bad(err, ret, "it cannot be read: %s", strerror(-ret));
	}
	return snap_decode(bytes, len, out, err);
}
