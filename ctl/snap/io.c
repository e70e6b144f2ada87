// SPDX-License-Identifier: GPL-2.0-or-later
/* Read snapshots from file descriptors. */
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

int snap_room(struct snap_bytes *b, size_t room)
{
	char *p = realloc(b->at, room);

	if (!p)
		return -ENOMEM;
	memset(p, 0, room);
	*b = (struct snap_bytes){ p, 0, room };
	return 0;
}

/* What cannot be a snapshot is not read to its end: it may have none. */
int snap_read(int fd, struct snap_bytes *b)
{
	ssize_t n;

	b->len = 0;
	for (;;) {
		if (b->room - b->len < READ_STEP) {
			char *p = realloc(b->at, 2 * b->room + READ_STEP);

			if (!p)
				return -ENOMEM;
			b->at = p;
			b->room = 2 * b->room + READ_STEP;
		}
		n = read(fd, b->at + b->len, b->room - b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		b->len += n;
		if (b->len >= 16 && !has_magic(b->at))
			return 0;
	}
}

int snap_from_fd(int fd, struct snap **out, char err[256])
{
	struct snap_bytes b = { NULL, 0, 0 };
	int ret;

	*out = NULL;
	ret = snap_read(fd, &b);
	if (ret) {
		free(b.at);
		return snap_bad(err, ret, "it cannot be read: %s", strerror(-ret));
	}
	return snap_decode(b.at, b.len, out, err);
}
