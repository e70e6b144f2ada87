// SPDX-License-Identifier: GPL-2.0-or-later
/* Read symbol tables that are not in the file itself: .gnu_debugdata, separate debug files. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/openreg.h"
#include "elf/build_id.h"
#include "elf/debug.h"
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

Elf *elf_debug_open(Elf *elf, int *fd)
{
	const void *id;
	const ssize_t len = dwelf_elf_gnu_build_id(elf, &id);
	char *path;

	*fd = -1;
	if (len < 0 || build_id_path(&path, "/usr/lib/debug", id, (size_t)len, ".debug") < 0)
		return NULL;
	*fd = open_regular(path);
	free(path);
	return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ, NULL);
}

void elf_debug_close(Elf *debug, int fd)
{
	elf_end(debug);
	if (fd >= 0)
		close(fd);
}

void elfsym_open_debug(struct elfsym *e)
{
	if (e->debug_fd < 0)
		e->debug = elf_debug_open(e->elf, &e->debug_fd);
}
