// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the symbol, also of data, at an address of a file. */
#include <errno.h>

#include "elf/int.h"

static bool take_best(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, __u64 vaddr,
		      struct elfsym_func *best)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	bool found = false;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const int type = GELF_ST_TYPE(sym.st_info);
		const char *name;

		if ((type != STT_OBJECT && type != STT_FUNC) || sym.st_shndx == SHN_UNDEF ||
		    vaddr < sym.st_value || vaddr - sym.st_value >= sym.st_size)
			continue;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		*best = (struct elfsym_func){ .name = name, .vaddr = sym.st_value,
					      .size = sym.st_size };
		found = true;
	}
	return found;
}

static bool look_into(Elf *elf, __u64 vaddr, struct elfsym_func *best)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM) &&
		    take_best(elf, scn, &shdr, vaddr, best))
			return true;
	return false;
}

int elfsym_find_object(struct elfsym *e, __u64 offset, struct elfsym_func *found, __u64 *vaddr)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];

		if (offset < s->offset || offset - s->offset >= s->filesz)
			continue;
		*vaddr = s->vaddr + (offset - s->offset);
		if (look_into(e->elf, *vaddr, found))
			return 0;
		elfsym_open_debug(e);
		if (look_into(e->debug, *vaddr, found))
			return 0;
	}
	return -ENOENT;
}
