// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the thread-local variables of libraries are: glibc's dynamic linker gives each library
 * that is loaded with the program a place before a thread's own block, and keeps its distance in
 * the library's entry of the list that debuggers read (<link.h>).  What follows the public part of
 * an entry differs by version, so it is searched for what the library's file says.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/held_int.h"

#define MOST_ENTRIES	4096U
#define MOST_STATIC	(64UL << 10)
#define MOST_HEADERS	64U
#define ENTRY_WORDS	256U		/* of an entry: as far as is looked */

enum { ADDR, NAME, DYNAMIC, NEXT, BEFORE, NR_PUBLIC };	/* words of it that all versions have */

/* In it, in this order: as glibc 2.17 to 2.43 have it. */
enum { IMAGE, IMAGE_SIZE, SIZE, ALIGN, FIRST, OFFSET, MODULE, NR_TLS };

static bool read_all(const struct roots *r, __u64 addr, void *to, size_t len)
{
	return addr && memory_read(r->memory, addr, to, len) == len;
}

static __u64 find_list(struct roots *r)
{
	const struct elfsym_object *s;
	struct object *o = objects_named(&r->objects, "ld-");
	struct { __u64 version, first; } list;

	if (!o || !o->symbols)
		return 0;
	s = elfsym_objects_named(o->symbols, ELFSYM_DATA, "_r_debug");
	if (!s || !read_all(r, s->vaddr - o->first + o->base, &list, sizeof(list)))
		return 0;
	return list.first;
}

/* What the file says that each thread has of it, from where it is mapped; false: nothing. */
static bool read_header(const struct roots *r, __u64 base, Elf64_Phdr *tls)
{
	Elf64_Phdr headers[MOST_HEADERS];
	Elf64_Ehdr e;

	if (!read_all(r, base, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(headers[0]) ||
	    !e.e_phnum || e.e_phnum > MOST_HEADERS || e.e_phoff > MOST_STATIC ||
	    !read_all(r, base + e.e_phoff, headers, e.e_phnum * sizeof(headers[0])))
		return false;
	for (unsigned int i = 0; i < e.e_phnum; i++)
		if (headers[i].p_type == PT_TLS) {
			*tls = headers[i];
			return true;
		}
	return false;
}

/* How far before a thread's own block its part begins; 0: not there, or not known. */
static __u64 find_offset(const struct roots *r, __u64 entry, __u64 base, const Elf64_Phdr *tls)
{
	__u64 words[ENTRY_WORDS];
	const size_t got = memory_read(r->memory, entry, words, sizeof(words)) / sizeof(words[0]);

	for (size_t i = NR_PUBLIC; i + NR_TLS <= got; i++) {
		const __u64 *w = words + i;

		if (w[IMAGE] != base + tls->p_vaddr || w[IMAGE_SIZE] != tls->p_filesz ||
		    w[SIZE] != tls->p_memsz || w[ALIGN] != tls->p_align)
			continue;
		if (!w[MODULE] || w[MODULE] > MOST_ENTRIES || w[OFFSET] < w[SIZE] ||
		    w[OFFSET] > MOST_STATIC)
			return 0;
		return w[OFFSET];
	}
	return 0;
}

static int add(struct roots *r, const struct tls_part *part)
{
	struct tls_part *more;

	/* two cannot have one place: then it is none of this */
	for (size_t i = 0; i < r->nr_tls; i++)
		if (part->offset > r->tls[i].offset - r->tls[i].size &&
		    r->tls[i].offset > part->offset - part->size)
			return -EBADMSG;
	more = ids_grow(r->tls, r->nr_tls, &r->room_tls, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->tls = more;
	more[r->nr_tls++] = *part;
	return 0;
}

int roots_find_tls(struct roots *r)
{
	__u64 at = find_list(r), before = 0, w[NR_PUBLIC];
	int err = 0;

	for (unsigned int i = 0; at && i < MOST_ENTRIES; i++) {
		struct tls_part part = { 0 };
		Elf64_Phdr tls;

		if (!read_all(r, at, w, sizeof(w)) || w[BEFORE] != before)
			break;
		/* (the program, the first one, is known without this) */
		if (i && read_header(r, w[ADDR], &tls)) {
			part.offset = find_offset(r, at, w[ADDR], &tls);
			part.size = tls.p_memsz;
			part.inside = w[DYNAMIC];
		}
		if (part.offset)
			err = add(r, &part);
		if (err)
			break;
		before = at;
		at = w[NEXT];
	}
	if (err == -EBADMSG)
		r->nr_tls = 0;
	return err == -ENOMEM ? err : 0;
}

const struct tls_part *roots_tls_part(const struct roots *r, __u64 before)
{
	for (size_t i = 0; i < r->nr_tls; i++)
		if (before <= r->tls[i].offset && before > r->tls[i].offset - r->tls[i].size)
			return &r->tls[i];
	return NULL;
}
