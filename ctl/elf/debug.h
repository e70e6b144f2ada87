/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_DEBUG_H
#define _ELF_DEBUG_H

#include <gelf.h>

/*
 * The separate debug file of @elf, found below /usr/lib/debug by its build id; *fd is
 * open as long as it is used.  NULL: there is none that can be read.  *fd may be open
 * all the same: elf_debug_close() takes both back.
 */
struct Elf *elf_debug_open(struct Elf *elf, int *fd);
void elf_debug_close(struct Elf *debug, int fd);

#endif
