// SPDX-License-Identifier: GPL-2.0-or-later
/* Text of DWARF that ends where its section does. */
#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "elf/dwarf_text.h"

/* Names stand among other data there; "z": compressed by an old linker. */
static bool has_entries(const char *section)
{
	return !strncmp(section, ".debug_info", 11) || !strncmp(section, ".zdebug_info", 12) ||
	       !strncmp(section, ".debug_types", 12) || !strncmp(section, ".zdebug_types", 13);
}

static const char *name_of(Elf *elf, Elf_Scn *scn, GElf_Shdr *shdr)
{
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) || !gelf_getshdr(scn, shdr))
		return NULL;
	return elf_strptr(elf, strings, shdr->sh_name);
}

/* Is @text, which stands between other data of DWARF, ended by a 0 in the same section? */
static bool ends(Elf *elf, const char *text)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = name_of(elf, scn, &shdr);
		Elf_Data *data = name && has_entries(name) ? elf_getdata(scn, NULL) : NULL;
		unsigned long at;

		if (!data || !data->d_buf)
			continue;
		at = (unsigned long)text - (unsigned long)data->d_buf;
		if (at < data->d_size)
			return memchr(text, '\0', data->d_size - at);
	}
	return false;
}

const char *dwarf_text(unsigned int attr, Dwarf_Die die[1])
{
	Dwarf_Attribute a;
	const char *text;
	Dwarf *dw;

	if (!dwarf_attr_integrate(die, attr, &a))
		return NULL;
	text = dwarf_formstring(&a);
	if (!text || dwarf_whatform(&a) != DW_FORM_string)
		return text;
	dw = dwarf_cu_getdwarf(a.cu);
	return dw && ends(dwarf_getelf(dw), text) ? text : NULL;
}

bool dwarf_text_ends(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = name_of(elf, scn, &shdr);
		Elf_Data *data;

		if (!name || (strcmp(name, ".debug_str") && strcmp(name, ".debug_line_str")))
			continue;
		if ((shdr.sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
			return false;
		data = elf_getdata(scn, NULL);
		if (!data || (data->d_size && ((const char *)data->d_buf)[data->d_size - 1]))
			return false;
	}
	return true;
}
