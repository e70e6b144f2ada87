// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the executable segments and frame sections of an ELF file.  The file is read, not mapped,
 * because its owner may truncate it at any time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "unwind/int.h"

#define SECTION_MAX	(1ULL << 30)	/* of a frame section; the largest are 50 MiB */

static int by_start(const void *a, const void *b)
{
	const struct unwind_segment *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_segment(struct unwind_elf *e, const GElf_Phdr *ph)
{
	if (!ph->p_filesz)
		return 0;
	if (ph->p_offset > UINT32_MAX || ph->p_filesz > UINT32_MAX - ph->p_offset)
		return -EFBIG;
	e->segments[e->nr_segments++] = (struct unwind_segment) {
		.vaddr = ph->p_vaddr,
		.start = (__u32)ph->p_offset,
		.end = (__u32)(ph->p_offset + ph->p_filesz),
	};
	return 0;
}

static int load_segments(struct unwind_elf *e)
{
	GElf_Phdr ph;
	size_t nr;
	int err = 0;

	if (elf_getphdrnum(e->elf, &nr))
		return -EBADMSG;
	e->segments = calloc(nr + 1, sizeof(*e->segments));
	if (!e->segments)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			err = add_segment(e, &ph);
	}
	qsort(e->segments, e->nr_segments, sizeof(*e->segments), by_start);
	return err;
}

static int load(struct unwind_elf *e)
{
	GElf_Ehdr eh;
	int err;

	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &eh) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh.e_machine != EM_X86_64)
		err = -ENOEXEC;
	else
		err = load_segments(e);
	if (err) {
		unwind_elf_close(e);
		return err;
	}
	e->entry = eh.e_entry;
	return 0;
}

int unwind_elf_open(int fd, struct unwind_elf *e)
{
	*e = (struct unwind_elf) { .fd = fd };
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	return load(e);
}

int unwind_elf_open_vdso(struct unwind_elf *e)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Phdr *ph;
	size_t size;

	*e = (struct unwind_elf) { .fd = -1 };
	if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return -ENOENT;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	ph = (const Elf64_Phdr *)((const char *)eh + eh->e_phoff);
	size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_offset + ph[i].p_filesz > size)
			size = ph[i].p_offset + ph[i].p_filesz;
	e->image = (const unsigned char *)eh;
	e->size = size;
	/* what is opened so is never written to */
	e->elf = elf_memory((char *)(uintptr_t)eh, size);
	return load(e);
}

void unwind_elf_close(struct unwind_elf *e)
{
	elf_end(e->elf);
	free(e->segments);
	e->elf = NULL;
	e->segments = NULL;
	e->nr_segments = 0;
}

bool unwind_elf_range(const struct unwind_elf *e, __u64 vaddr, __u64 len, __u32 *start,
		      __u32 *end)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct unwind_segment *s = &e->segments[i];
		const __u64 at = vaddr - s->vaddr, size = s->end - s->start;

		if (vaddr < s->vaddr || at >= size)
			continue;
		*start = s->start + (__u32)at;
		*end = len > size - at ? s->end : *start + (__u32)len;
		return *start < *end;
	}
	return false;
}

size_t unwind_elf_read(const struct unwind_elf *e, __u64 offset, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	if (e->image) {
		if (offset >= e->size)
			return 0;
		if (len > e->size - offset)
			len = e->size - offset;
		memcpy(buf, e->image + offset, len);
		return len;
	}
	while (done < len) {
		n = pread(e->fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

Elf_Scn *unwind_elf_section(Elf *elf, const char *name, GElf_Shdr *sh)
{
	GElf_Shdr own;
	Elf_Scn *scn = NULL;
	const char *its;
	size_t strings;

	if (!sh)
		sh = &own;
	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, sh) || sh->sh_type == SHT_NOBITS ||
		    sh->sh_size > SECTION_MAX)
			continue;
		its = elf_strptr(elf, strings, sh->sh_name);
		if (its && !strcmp(its, name))
			return scn;
	}
	return NULL;
}

static bool has_data(const struct unwind_section *s)
{
	return s->data && s->data->d_buf && s->data->d_size;
}

/* A file without section headers: as the C++ runtime finds it. */
static bool by_header(Elf *elf, struct unwind_section *s)
{
	struct unwind_bytes b;
	Elf_Data *header;
	__u64 start, offset;
	GElf_Phdr ph;
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		header = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, 16, ELF_T_BYTE);
		if (!header || header->d_size < 16)
			return false;
		b = (struct unwind_bytes) {
			(unsigned char *)header->d_buf + 4,
			(unsigned char *)header->d_buf + header->d_size
		};
		if (!unwind_read_encoded(&b, ((__u8 *)header->d_buf)[1], ph.p_vaddr + 4,
					 &start))
			return false;
		for (i = 0; i < nr; i++) {
			if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
			    start < ph.p_vaddr || start - ph.p_vaddr >= ph.p_filesz ||
			    ph.p_filesz > SECTION_MAX)
				continue;
			offset = start - ph.p_vaddr;
			s->vaddr = start;
			s->data = elf_getdata_rawchunk(elf, (int64_t)(ph.p_offset + offset),
						       ph.p_filesz - offset, ELF_T_BYTE);
			return has_data(s);
		}
		return false;
	}
	return false;
}

bool unwind_elf_eh_frame(Elf *elf, struct unwind_section *s)
{
	GElf_Shdr sh;
	Elf_Scn *scn = unwind_elf_section(elf, ".eh_frame", &sh);

	*s = (struct unwind_section) { .eh_frame = true };
	if (!scn)
		return by_header(elf, s);
	s->vaddr = sh.sh_addr;
	s->data = elf_rawdata(scn, NULL);
	return has_data(s);
}

bool unwind_elf_debug_frame(Elf *elf, struct unwind_section *s)
{
	GElf_Shdr sh;
	GElf_Chdr ch;
	Elf_Scn *scn = unwind_elf_section(elf, ".debug_frame", &sh);

	*s = (struct unwind_section) { 0 };
	if (scn && sh.sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &ch) || ch.ch_size > SECTION_MAX ||
		    elf_compress(scn, 0, 0) < 0)
			return false;
	} else if (!scn) {
		scn = unwind_elf_section(elf, ".zdebug_frame", &sh);
		if (scn && elf_compress_gnu(scn, 0, 0) < 0)
			return false;
	}
	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_size > SECTION_MAX)
		return false;
	s->data = elf_rawdata(scn, NULL);
	return has_data(s);
}
