// SPDX-License-Identifier: GPL-2.0-or-later
/* Find variables, tables and functions of an ELF file by address, many times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/int.h"

struct elfsym_objects {
	struct elfsym_object *at;	/* by kind, address, then the largest first */
	size_t nr, room;
};

static int add(struct elfsym_objects *o, const struct elfsym_object *object)
{
	struct elfsym_object *more;

	if (o->nr == o->room) {
		more = reallocarray(o->at, 2 * o->room + 256, sizeof(*more));
		if (!more)
			return -ENOMEM;
		o->at = more;
		o->room = 2 * o->room + 256;
	}
	o->at[o->nr++] = *object;
	return 0;
}

static int add_symbol(struct elfsym_objects *o, Elf *elf, const GElf_Shdr *shdr,
		      const GElf_Sym *sym)
{
	const int type = GELF_ST_TYPE(sym->st_info);
	struct elfsym_object object = { .vaddr = sym->st_value, .size = sym->st_size };

	if (sym->st_shndx == SHN_UNDEF || !sym->st_size)
		return 0;
	switch (type) {
	case STT_OBJECT:
	case STT_COMMON:
		object.kind = ELFSYM_DATA;
		break;
	case STT_TLS:
		object.kind = ELFSYM_THREAD_LOCAL;
		break;
	case STT_FUNC:
	case STT_GNU_IFUNC:
		object.kind = ELFSYM_FUNCTION;
		break;
	default:
		return 0;
	}
	object.name = elf_strptr(elf, shdr->sh_link, sym->st_name);
	return object.name && *object.name ? add(o, &object) : 0;
}

static int add_tables(struct elfsym_objects *o, Elf *elf)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	GElf_Sym sym;
	int err = 0;

	while (elf && !err && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && !err && gelf_getsym(data, i, &sym); i++)
			err = add_symbol(o, elf, &shdr, &sym);
	}
	return err;
}

static int by_address(const void *x, const void *y)
{
	const struct elfsym_object *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

int elfsym_objects_load(struct elfsym *e, struct elfsym_objects **out)
{
	struct elfsym_objects *o = calloc(1, sizeof(*o));
	GElf_Shdr shdr;
	int err = o ? add_tables(o, e->elf) : -ENOMEM;

	if (!err && !elfsym_section(e->elf, ".symtab", &shdr)) {
		elfsym_open_debug(e);
		elfsym_open_mini(e);
		err = add_tables(o, e->debug);
		if (!err)
			err = add_tables(o, e->mini);
	}
	if (err) {
		elfsym_objects_free(o);
		return err;
	}
	if (o->nr)
		qsort(o->at, o->nr, sizeof(*o->at), by_address);
	*out = o;
	return 0;
}

void elfsym_objects_free(struct elfsym_objects *o)
{
	if (o)
		free(o->at);
	free(o);
}

/* How far before an address one may begin that has it: not all of them are looked at. */
#define MOST_BEFORE	64

const struct elfsym_object *elfsym_objects_find(const struct elfsym_objects *o,
						enum elfsym_object_kind kind, __u64 vaddr)
{
	size_t low = 0, high = o->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (o->at[middle].kind < kind ||
		    (o->at[middle].kind == kind && o->at[middle].vaddr <= vaddr))
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i && low - i < MOST_BEFORE && o->at[i - 1].kind == kind; i--) {
		const struct elfsym_object *at = &o->at[i - 1];

		if (vaddr - at->vaddr >= at->size)
			continue;
		/* of several names, the first in order */
		while (at > o->at && at[-1].kind == kind && at[-1].vaddr == at->vaddr &&
		       vaddr - at[-1].vaddr < at[-1].size)
			at--;
		return at;
	}
	return NULL;
}

const struct elfsym_object *elfsym_objects_named(const struct elfsym_objects *o,
						 enum elfsym_object_kind kind, const char *name)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->at[i].kind == kind && !strcmp(o->at[i].name, name))
			return &o->at[i];
	return NULL;
}

bool elfsym_thread_local(struct elfsym *e, __u64 *size, __u64 *align)
{
	GElf_Phdr ph;
	size_t nr;

	if (elf_getphdrnum(e->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == PT_TLS) {
			*size = ph.p_memsz;
			*align = ph.p_align ? ph.p_align : 1;
			return true;
		}
	return false;
}

bool elfsym_is_mapped(struct elfsym *e, __u64 vaddr)
{
	for (size_t i = 0; i < e->nr_segments; i++)
		if (vaddr - e->segments[i].vaddr < e->segments[i].memsz)
			return true;
	return false;
}

bool elfsym_address(struct elfsym *e, __u64 offset, __u64 *vaddr)
{
	return elfsym_vaddr(e, offset, vaddr);
}
