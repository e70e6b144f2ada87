// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a program's dynamic linker and needed libraries; see needed.h. */
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <linux/types.h>

#include "base/arena.h"
#include "target/needed.h"

#define MAX_NAMES	4096
#define MAX_CHUNK	(64 << 20)	/* of strings; hostile sizes are refused */

struct reader {
	Elf *elf;
	size_t nr_phdr;
	struct needed_elf *e;
	struct arena *arena;
	Elf_Data *dynamic, *strings;
};

static Elf_Data *chunk(struct reader *r, __u64 offset, __u64 size, Elf_Type type)
{
	if (!size || size > MAX_CHUNK || offset > (__u64)INT64_MAX - size)
		return NULL;
	return elf_getdata_rawchunk(r->elf, (int64_t)offset, size, type);
}

/* Where the file has what is mapped at an address; 0: nowhere. */
static __u64 offset_of(struct reader *r, __u64 addr)
{
	GElf_Phdr ph;

	for (size_t i = 0; i < r->nr_phdr; i++)
		if (gelf_getphdr(r->elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			return addr - ph.p_vaddr + ph.p_offset;
	return 0;
}

static size_t nr_dynamic(const struct reader *r)
{
	return r->dynamic ? r->dynamic->d_size / sizeof(GElf_Dyn) : 0;
}

static __u64 dynamic_value(struct reader *r, __s64 tag)
{
	GElf_Dyn dyn;

	for (size_t i = 0; i < nr_dynamic(r) && gelf_getdyn(r->dynamic, (int)i, &dyn); i++) {
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == tag)
			return dyn.d_un.d_val;
	}
	return 0;
}

static const char *keep(struct reader *r, const Elf_Data *data, __u64 at)
{
	const char *text;

	if (!data || at >= data->d_size)
		return NULL;
	text = (const char *)data->d_buf + at;
	if (!*text || !memchr(text, 0, data->d_size - at))
		return NULL;
	return arena_strdup(r->arena, text);
}

static int read_dynamic(struct reader *r)
{
	struct needed_elf *e = r->e;
	const char *name;
	GElf_Dyn dyn;
	size_t room = 0;

	r->strings = chunk(r, offset_of(r, dynamic_value(r, DT_STRTAB)),
			   dynamic_value(r, DT_STRSZ), ELF_T_BYTE);
	for (size_t i = 0; i < nr_dynamic(r) && gelf_getdyn(r->dynamic, (int)i, &dyn); i++)
		room += dyn.d_tag == DT_NEEDED;
	if (room > MAX_NAMES)
		room = MAX_NAMES;
	e->names = arena_alloc(r->arena, (room + 1) * sizeof(*e->names));
	if (!e->names)
		return -ENOMEM;
	for (size_t i = 0; i < nr_dynamic(r) && gelf_getdyn(r->dynamic, (int)i, &dyn); i++) {
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_RPATH)
			e->rpath = keep(r, r->strings, dyn.d_un.d_val);
		if (dyn.d_tag == DT_RUNPATH)
			e->runpath = keep(r, r->strings, dyn.d_un.d_val);
		if (dyn.d_tag != DT_NEEDED || e->nr == room)
			continue;
		name = keep(r, r->strings, dyn.d_un.d_val);
		if (name)
			e->names[e->nr++] = name;
	}
	return 0;
}

static int read_elf(struct reader *r)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;

	if (elf_kind(r->elf) != ELF_K_ELF || gelf_getclass(r->elf) != ELFCLASS64 ||
	    !gelf_getehdr(r->elf, &eh) || eh.e_machine != EM_X86_64)
		return -ENOEXEC;
	if (elf_getphdrnum(r->elf, &r->nr_phdr))
		return -ENOEXEC;
	for (size_t i = 0; i < r->nr_phdr && gelf_getphdr(r->elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_INTERP)
			r->e->interpreter = keep(r, chunk(r, ph.p_offset, ph.p_filesz,
							  ELF_T_BYTE), 0);
		if (ph.p_type == PT_DYNAMIC)
			r->dynamic = chunk(r, ph.p_offset, ph.p_filesz, ELF_T_DYN);
	}
	return read_dynamic(r);
}

int needed_elf_read(int fd, struct needed_elf *e, struct arena *arena)
{
	struct reader r = { .e = e, .arena = arena };
	int err;

	memset(e, 0, sizeof(*e));
	elf_version(EV_CURRENT);
	r.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r.elf)
		return -ENOEXEC;
	err = read_elf(&r);
	elf_end(r.elf);
	return err;
}
