/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_ALT_H
#define _SYM_ALT_H

#include <elfutils/libdwfl.h>

/*
 * What several programs' DWARF has in common lies in a file of its own (dwz), which
 * .gnu_debugaltlink names.  libdw would open that name, whatever it stands for, as
 * soon as it meets a reference: it is given the file here, or one without contents.
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
