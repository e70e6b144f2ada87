// SPDX-License-Identifier: GPL-2.0-or-later
/* Read, compare and look up build IDs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <string.h>

#include "elf/build_id.h"

#define LONGEST		64

int build_id_path(char **path, const char *dir, const void *id, size_t len,
		  const char *suffix)
{
	char hex[2 * LONGEST + 1];

	*path = NULL;
	if (len < 2 || len > LONGEST)
		return -1;
	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", ((const unsigned char *)id)[i]);
	return asprintf(path, "%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, suffix);
}

static const void *own_id(Elf *elf, size_t *len)
{
	const void *own;
	const ssize_t its = dwelf_elf_gnu_build_id(elf, &own);

	*len = its > 0 ? (size_t)its : 0;
	return own;
}

bool build_id_is(Elf *elf, const void *id, size_t len)
{
	size_t its;
	const void *own = own_id(elf, &its);

	return its && its == len && !memcmp(own, id, len);
}

bool build_id_begins(Elf *elf, const void *id, size_t len)
{
	size_t its;
	const void *own = own_id(elf, &its);

	return its && its >= len && !memcmp(own, id, len);
}
