/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_DWARF_TEXT_H
#define _ELF_DWARF_TEXT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/*
 * Text of DWARF that ends where its section does.  libdw (0.188) hands out names that run behind
 * the section that they are in, where a file is damaged: whoever reads them reads other memory.
 */

/*
 * The string that @attr (DW_AT_name ...) of @die is, or of what it is a copy of; NULL: it has none,
 * or none that ends.
 */
const char *dwarf_text(unsigned int attr, Dwarf_Die die[1]);

/*
 * False: a section of @elf that has nothing but strings does not end with a 0: dwarf_linesrc()
 * would read behind it.  Sections that are compressed are decompressed.
 */
bool dwarf_text_ends(Elf *elf);

#endif
