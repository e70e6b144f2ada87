/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_DWARF_TEXT_H
#define _ELF_DWARF_TEXT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/*
 * Text of DWARF that ends where its section does.  libdw (0.188) hands out names that run behind
 * the section that they are in, where a file is damaged: whoever reads them reads other memory.
 */

/* The string of @attr; NULL: it has none, or none that ends. */
const char *dwarf_text(const Dwarf_Attribute *attr);

/* The name of @die, or of what it is a copy of; NULL as above. */
const char *dwarf_text_name(Dwarf_Die *die);

/*
 * False: a section of @elf that has nothing but strings does not end with a 0: dwarf_linesrc()
 * would read behind it.  Sections that are compressed are decompressed.
 */
bool dwarf_text_ends(Elf *elf);

#endif
