// SPDX-License-Identifier: GPL-2.0-or-later
/* Detect the type of an ELF file. */
#include <stdio.h>
#include <string.h>

#include "elf/int.h"

#ifndef DF_1_PIE
#define DF_1_PIE	0x08000000
#endif

static bool has_interpreter(Elf *elf)
{
	GElf_Phdr ph;
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_INTERP)
			return true;
	return false;
}

static void read_dynamic(Elf *elf, const char **soname, bool *pie)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;
	GElf_Dyn dyn;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_DYNAMIC)
			break;
	data = scn ? elf_getdata(scn, NULL) : NULL;
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_SONAME)
			*soname = elf_strptr(elf, shdr.sh_link, dyn.d_un.d_val);
		if (dyn.d_tag == DT_FLAGS_1)
			*pie = dyn.d_un.d_val & DF_1_PIE;
	}
}

/* A library defines the versions of its symbols; glibc's last one is its own. */
static unsigned int glibc_version(Elf *elf)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elfsym_section(elf, ".gnu.version_d", &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	unsigned int minor, last = 0;
	GElf_Verdaux aux;
	const char *name;
	GElf_Verdef def;
	int at = 0;

	for (size_t i = 0; data && i < shdr.sh_info; i++) {
		if (!gelf_getverdef(data, at, &def) ||
		    !gelf_getverdaux(data, at + (int)def.vd_aux, &aux))
			break;
		name = elf_strptr(elf, shdr.sh_link, aux.vda_name);
		if (name && sscanf(name, "GLIBC_2.%u", &minor) == 1 && minor > last)
			last = minor;
		if (!def.vd_next || def.vd_next > data->d_size)
			break;
		at += (int)def.vd_next;
	}
	return last;
}

void elfsym_get_kind(struct elfsym *e, struct elfsym_kind *kind)
{
	const char *soname = NULL;
	bool pie = false;
	GElf_Shdr shdr;
	GElf_Ehdr eh;

	memset(kind, 0, sizeof(*kind));
	kind->code = ELFSYM_OTHER;
	kind->soname = "";
	if (!gelf_getehdr(e->elf, &eh))
		return;
	read_dynamic(e->elf, &soname, &pie);
	kind->code = eh.e_machine == EM_386 ? ELFSYM_I386 :
		     eh.e_machine != EM_X86_64 ? ELFSYM_OTHER :
		     e->class == ELFCLASS64 ? ELFSYM_X86_64 : ELFSYM_X32;
	/* libc.so.6 has an interpreter, too: it can say its version */
	kind->program = eh.e_type == ET_EXEC || pie ||
			(!soname && has_interpreter(e->elf));
	kind->alone = kind->program && !has_interpreter(e->elf);
	kind->go = elfsym_section(e->elf, ".gopclntab", &shdr) ||
		   elfsym_section(e->elf, ".data.rel.ro.gopclntab", &shdr);
	kind->soname = soname ? soname : "";
	kind->glibc = !strncmp(kind->soname, "libc.so.", 8) ? glibc_version(e->elf) : 0;
}
