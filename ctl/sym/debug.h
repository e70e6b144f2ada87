/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_DEBUG_H
#define _SYM_DEBUG_H

#include <elfutils/libdwfl.h>

/*
 * A Dwfl_Callbacks.find_debuginfo: the file with a program's separate symbols and DWARF, or
 * -1.  Only regular files are opened, and only a file with the program's build ID, or with the
 * checksum of its debug link, is accepted.  *@userdata is the directory of debug files, a string.
 */
int sym_debug_find(struct Dwfl_Module *mod, void **userdata, const char *modname,
		   Dwarf_Addr base, const char *file_name, const char *link,
		   GElf_Word crc, char **found);

#endif
