/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BUILD_ID_H
#define _BUILD_ID_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The name in @dir of the file with a build id: DIR/.build-id/ab/cdef...SUFFIX, allocated.
 * Returns its length, or -1: no memory, or that is no id.
 */
int build_id_path(char **path, const char *dir, const void *id, size_t len,
		  const char *suffix);

/* Is this the build id of an ELF file? */
bool build_id_is(Elf *elf, const void *id, size_t len);
/* Does it begin with these bytes? */
bool build_id_begins(Elf *elf, const void *id, size_t len);

#endif
