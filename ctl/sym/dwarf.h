/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_DWARF_H
#define _SYM_DWARF_H

#include <stdbool.h>

struct sym_elf;

/* Is there DWARF that there was no memory for?  Says so once. */
bool sym_dwarf_gave_up(struct sym_elf *e);

#endif
