// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol tables that are not in the file itself. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/int.h"

static int write_all(int fd, const char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, buf, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A nameless file; elfutils unpacks only what it reads from a descriptor. */
static int scratch_file(void)
{
	FILE *f = tmpfile();
	int fd;

	if (!f)
		return -errno;
	fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 0);
	fclose(f);
	return fd;
}

void elfsym_open_mini(struct elfsym *e)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elfsym_section(e->elf, ".gnu_debugdata", &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	if (e->mini_fd >= 0 || !data || !data->d_buf || !data->d_size)
		return;
	e->mini_fd = scratch_file();
	if (e->mini_fd < 0)
		return;
	if (write_all(e->mini_fd, data->d_buf, data->d_size) ||
	    lseek(e->mini_fd, 0, SEEK_SET))
		return;
	e->mini = dwelf_elf_begin(e->mini_fd);
}

void elfsym_open_debug(struct elfsym *e)
{
	const unsigned char *id;
	const void *note;
	char path[128];
	ssize_t len;
	int n;

	if (e->debug_fd >= 0)
		return;
	len = dwelf_elf_gnu_build_id(e->elf, &note);
	if (len < 2 || len > 32)
		return;
	id = note;
	n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (ssize_t i = 1; i < len; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	e->debug_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (e->debug_fd >= 0)
		e->debug = elf_begin(e->debug_fd, ELF_C_READ, NULL);
}
