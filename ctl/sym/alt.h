/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_ALT_H
#define _SYM_ALT_H

#include <elfutils/libdwfl.h>

/*
 * DWARF that several programs share is in a separate file (dwz), which .gnu_debugaltlink names.
 * libdw would open that name unchecked at the first reference.  Here memtap opens the file itself
 * and gives libdw the file, or an empty one.
 */
struct sym_alt;

/* To be called before anything is read of @dw, the DWARF of @mod. */
int sym_alt_set(Dwfl_Module *mod, Dwarf *dw, const char *debug_dir, struct sym_alt **alt);
/* When libdw has no memory for it: as dwarf_new_oom_handler(). */
void sym_alt_oom(struct sym_alt *alt, Dwarf_OOM handler);
/* Before dwfl_end(); NULL is nothing. */
void sym_alt_free(struct sym_alt *alt);

/* elf.c: where debug files are */
struct sym_elf;
const char *sym_elf_debug_dir(const struct sym_elf *e);

#endif
