// SPDX-License-Identifier: GPL-2.0-or-later
/* What sort of file it is. */
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
}
