// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a core file: its segments and notes; see core.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/openreg.h"
#include "elf/core.h"

#define PAGE		4096ULL
#define MOST_SEGMENTS	(1UL << 22)	/* the kernel's limit of mappings is 65530 */
#define MOST_NOTES	(1UL << 30)	/* bytes; 3 KiB for each thread */
#define PIECE		(1UL << 20)	/* that is read before more memory is taken */
#define GZ_BUFFER	(256U << 10)

/* ---- bytes ---- */

struct core_input {
	int fd;
	gzFile gz;			/* or NULL */
	__u64 size;			/* of a file that is not compressed */
	unsigned char *notes;
	size_t notes_len;
};

static size_t read_plain(const struct core_input *in, __u64 offset, void *buf, size_t len)
{
	size_t got = 0;
	ssize_t n = 1;

	while (got < len && n > 0) {
		n = pread(in->fd, (char *)buf + got, len - got, (off_t)(offset + got));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			got += (size_t)n;
	}
	return got;
}

/* (z_off_t has 64 bits here: _FILE_OFFSET_BITS) */
static size_t read_compressed(struct core_file *f, __u64 offset, void *buf, size_t len)
{
	size_t got = 0;

	if (gztell(f->in->gz) != (z_off_t)offset &&
	    gzseek(f->in->gz, (z_off_t)offset, SEEK_SET) != (z_off_t)offset)
		return 0;
	while (got < len) {
		const unsigned int want = len - got < PIECE ? (unsigned int)(len - got) : PIECE;
		const int n = gzread(f->in->gz, (char *)buf + got, want);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (got < len) {
		f->damaged = true;
		gzclearerr(f->in->gz);
	}
	return got;
}

size_t core_file_read(struct core_file *f, __u64 offset, void *buf, size_t len)
{
	if (offset > (__u64)INT64_MAX - len)
		return 0;
	return f->in->gz ? read_compressed(f, offset, buf, len) :
			   read_plain(f->in, offset, buf, len);
}

__u64 core_file_data(struct core_file *f, __u64 offset, __u64 end)
{
	off_t next;

	if (f->in->gz || offset >= end)
		return offset;
	next = lseek(f->in->fd, (off_t)offset, SEEK_DATA);
	if (next < 0)			/* ENXIO: nothing follows; else it is not known */
		return errno == ENXIO ? end : offset;
	return (__u64)next < end ? (__u64)next : end;
}

/* ---- segments ---- */

static int fail(char why[CORE_WHY], const char *what)
{
	snprintf(why, CORE_WHY, "%s", what);
	return -EINVAL;
}

static int by_start(const void *x, const void *y)
{
	const struct core_segment *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

/* What is read later is known to be there only then, if the file is compressed. */
static __u64 there(const struct core_file *f, __u64 offset, __u64 bytes)
{
	if (f->in->gz)
		return bytes;
	if (offset >= f->in->size)
		return 0;
	return f->in->size - offset < bytes ? f->in->size - offset : bytes;
}

static int take_segment(struct core_file *f, const Elf64_Phdr *p, char why[CORE_WHY])
{
	/* what ends at the end of all addresses is the kernel's */
	if (p->p_vaddr > ~0ULL - p->p_memsz || p->p_vaddr >> 63)
		return 0;
	if (p->p_vaddr % PAGE || p->p_memsz % PAGE || p->p_filesz > p->p_memsz ||
	    p->p_offset > (__u64)INT64_MAX - p->p_filesz)
		return fail(why, "its segments are inconsistent");
	if (!p->p_memsz)
		return 0;
	f->segments[f->nr++] = (struct core_segment){
		.start = p->p_vaddr, .end = p->p_vaddr + p->p_memsz,
		.offset = p->p_offset, .bytes = p->p_filesz,
		.there = there(f, p->p_offset, p->p_filesz),
		.readable = p->p_flags & PF_R, .writable = p->p_flags & PF_W,
		.executable = p->p_flags & PF_X,
	};
	return 0;
}

/* @len bytes, for which no more memory is taken than the file has. */
static int read_growing(struct core_file *f, __u64 offset, size_t len, unsigned char **at,
			size_t *had)
{
	while (len) {
		const size_t piece = len < PIECE ? len : PIECE;
		unsigned char *more = realloc(*at, *had + piece);
		size_t n;

		if (!more)
			return -ENOMEM;
		*at = more;
		n = core_file_read(f, offset, more + *had, piece);
		*had += n;
		if (n < piece)
			return 0;
		offset += n;
		len -= n;
	}
	return 0;
}

static int take_notes(struct core_file *f, const Elf64_Phdr *p, char why[CORE_WHY])
{
	if (p->p_filesz > MOST_NOTES - f->in->notes_len)
		return fail(why, "its notes are too long");
	return read_growing(f, p->p_offset, (size_t)p->p_filesz, &f->in->notes,
			    &f->in->notes_len);
}

static int take_headers(struct core_file *f, const Elf64_Phdr *p, size_t nr, char why[CORE_WHY])
{
	struct core_segment *all = calloc(nr + 1, sizeof(*all));
	int err = 0;

	f->segments = all;
	if (!all || (nr && !p))
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		if (p[i].p_type == PT_LOAD)
			err = take_segment(f, &p[i], why);
		else if (p[i].p_type == PT_NOTE)
			err = take_notes(f, &p[i], why);
	if (f->nr)
		qsort(all, f->nr, sizeof(*all), by_start);
	for (size_t i = 1; i < f->nr && !err; i++)
		if (all[i].start < all[i - 1].end)
			err = fail(why, "its segments overlap");
	return err;
}

/* More than 65534 program headers: their number is in the first section header. */
static int count_headers(struct core_file *f, const Elf64_Ehdr *e, size_t *nr,
			 char why[CORE_WHY])
{
	Elf64_Shdr s;

	*nr = e->e_phnum;
	if (e->e_phnum == PN_XNUM) {
		if (!e->e_shoff || core_file_read(f, e->e_shoff, &s, sizeof(s)) != sizeof(s))
			return fail(why, "it is truncated: the number of its segments is missing");
		*nr = s.sh_info;
	}
	return *nr > MOST_SEGMENTS ? fail(why, "it has too many segments") : 0;
}

/* As systemd-coredump and others do. */
static const struct {
	const char *begins, *why;
} packed[] = {
	{ "\x28\xb5\x2f\xfd", "it is compressed by zstd: unpack it first, by zstd -d" },
	{ "\x04\x22\x4d\x18", "it is compressed by lz4: unpack it first, by lz4 -d" },
	{ "\xfd\x37zX", "it is compressed by xz: unpack it first, by xz -dk" },
	{ "BZh", "it is compressed by bzip2: unpack it first, by bzip2 -dk" },
};

static int check_header(const Elf64_Ehdr *e, size_t got, char why[CORE_WHY])
{
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (got >= SELFMAG && !memcmp(e->e_ident, packed[i].begins,
					      strlen(packed[i].begins)))
			return fail(why, packed[i].why);
	if (got < EI_NIDENT || memcmp(e->e_ident, ELFMAG, SELFMAG))
		return fail(why, got ? "it is no core file" : "it is empty");
	if (e->e_ident[EI_CLASS] == ELFCLASS32 && got >= sizeof(Elf32_Ehdr))
		return fail(why, e->e_type == ET_CORE ?
			    "it is of a 32-bit program, whose heap cannot be read" :
			    "it is a 32-bit program or library, no core file");
	if (got < sizeof(*e))
		return fail(why, "it is truncated: it ends in its first header");
	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(why, "it is no core file of this kind of machine");
	if (e->e_type != ET_CORE)
		return fail(why, "it is a program or library, no core file");
	if (e->e_machine != EM_X86_64)
		return fail(why, "it is of another kind of machine than x86-64");
	if (e->e_phentsize != sizeof(Elf64_Phdr))
		return fail(why, "its headers are inconsistent");
	return 0;
}

static int read_headers(struct core_file *f, char why[CORE_WHY])
{
	unsigned char *headers = NULL;
	size_t nr = 0, had = 0;
	Elf64_Ehdr e;
	int err;

	memset(&e, 0, sizeof(e));
	err = check_header(&e, core_file_read(f, 0, &e, sizeof(e)), why);
	if (!err)
		err = count_headers(f, &e, &nr, why);
	if (!err)
		err = read_growing(f, e.e_phoff, nr * sizeof(Elf64_Phdr), &headers, &had);
	if (!err && had < nr * sizeof(Elf64_Phdr))
		err = fail(why, "it is truncated: it ends in the list of its segments");
	if (!err && !nr)
		err = fail(why, "it has no segments");
	if (!err)
		err = take_headers(f, (const Elf64_Phdr *)headers, nr, why);
	free(headers);
	return err;
}

/* ---- the file ---- */

static int open_input(struct core_input *in, const char *path, bool *compressed,
		      char why[CORE_WHY])
{
	unsigned char magic[2] = { 0 };
	struct stat st;
	int fd;

	in->fd = open_regular(path);
	if (in->fd == -ENOEXEC)
		return fail(why, "it is no regular file");
	if (in->fd < 0)
		return in->fd;
	if (fstat(in->fd, &st))
		return -errno;
	in->size = (__u64)st.st_size;
	*compressed = read_plain(in, 0, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
	if (!*compressed)
		return 0;
	fd = dup(in->fd);
	if (fd < 0)
		return -errno;
	in->gz = gzdopen(fd, "rb");
	if (!in->gz) {
		close(fd);
		return -ENOMEM;
	}
	gzbuffer(in->gz, GZ_BUFFER);
	return 0;
}

int core_file_open(const char *path, struct core_file *f, char why[CORE_WHY])
{
	int err;

	*f = (struct core_file){ .in = calloc(1, sizeof(*f->in)) };
	if (!f->in)
		return -ENOMEM;
	f->in->fd = -1;
	err = open_input(f->in, path, &f->compressed, why);
	if (!err)
		err = read_headers(f, why);
	if (err)
		core_file_close(f);
	return err;
}

void core_file_close(struct core_file *f)
{
	if (f->in && f->in->gz)
		gzclose(f->in->gz);
	if (f->in && f->in->fd >= 0)
		close(f->in->fd);
	if (f->in)
		free(f->in->notes);
	free(f->in);
	free(f->segments);
	memset(f, 0, sizeof(*f));
}

const struct core_segment *core_file_find(const struct core_file *f, __u64 addr)
{
	size_t low = 0, high = f->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (f->segments[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->nr && f->segments[low].start <= addr ? &f->segments[low] : NULL;
}

/* ---- notes ---- */

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

int core_file_notes(const struct core_file *f,
		    int (*fn)(const struct core_note *n, void *ctx), void *ctx)
{
	const unsigned char *at = f->in->notes;
	size_t left = f->in->notes_len;
	struct core_note n;
	Elf64_Nhdr head;
	int ret = 0;

	while (!ret && left >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		left -= sizeof(head);
		if (head.n_namesz > left || padded(head.n_namesz) > left ||
		    head.n_descsz > left - padded(head.n_namesz))
			break;
		n = (struct core_note){ .name = "", .type = head.n_type,
					.at = at + padded(head.n_namesz), .len = head.n_descsz };
		if (head.n_namesz && !at[head.n_namesz - 1])
			n.name = (const char *)at;
		ret = fn(&n, ctx);
		at += padded(head.n_namesz);
		left -= padded(head.n_namesz);
		if (padded(head.n_descsz) >= left)
			break;
		at += padded(head.n_descsz);
		left -= padded(head.n_descsz);
	}
	return ret;
}
