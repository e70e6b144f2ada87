// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve functions and symbols of an ELF file to file offsets. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/int.h"

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

static int load_segments(struct elfsym *e)
{
	GElf_Phdr ph;
	size_t nr;

	if (elf_getphdrnum(e->elf, &nr))
		return -EBADMSG;
	e->segments = calloc(nr + 1, sizeof(*e->segments));
	if (!e->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type != PT_LOAD)
			continue;
		e->segments[e->nr_segments++] = (struct elfsym_segment) {
			.vaddr = ph.p_vaddr,
			.offset = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.exec = ph.p_flags & PF_X,
			.write = ph.p_flags & PF_W,
		};
	}
	return 0;
}

int elfsym_open(int fd, struct elfsym **out)
{
	struct elfsym *e;
	const char *ident;
	size_t len;
	int err;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->mini_fd = -1;
	e->debug_fd = -1;
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	ident = e->elf ? elf_getident(e->elf, &len) : NULL;
	err = -ENOEXEC;
	if (!ident || elf_kind(e->elf) != ELF_K_ELF || len < EI_NIDENT ||
	    ident[EI_DATA] != NATIVE_DATA)
		goto err_close;
	e->class = ident[EI_CLASS];
	err = load_segments(e);
	if (err)
		goto err_close;
	*out = e;
	return 0;

err_close:
	elfsym_close(e);
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void elfsym_close(struct elfsym *e)
{
	if (!e)
		return;
	elf_end(e->mini);
	elf_end(e->debug);
	elf_end(e->elf);
	close_fd(e->mini_fd);
	close_fd(e->debug_fd);
	free(e->segments);
	free(e->funcs);
	free(e->probes);
	free(e);
}

bool elfsym_offset(const struct elfsym *e, __u64 vaddr, __u64 *offset)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*offset = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool elfsym_vaddr(const struct elfsym *e, __u64 offset, __u64 *vaddr)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];

		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*vaddr = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

bool elfsym_is_code(struct elfsym *e, __u64 offset)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];

		if (s->exec && offset >= s->offset && offset - s->offset < s->filesz)
			return true;
	}
	return false;
}

Elf_Scn *elfsym_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *its;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, shdr))
			continue;
		its = elf_strptr(elf, strings, shdr->sh_name);
		if (its && !strcmp(its, name))
			return scn;
	}
	return NULL;
}
