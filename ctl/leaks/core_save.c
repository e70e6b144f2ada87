// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a copy of a process as a core file, compressed by gzip.  It is what gdb reads, too, once it
 * is unpacked; what no core file says is in notes of our own (core_int.h).  Pages that were never
 * touched are in no segment.  The constants of programs and libraries are written as well, so that
 * classes have their names also where these files are others.
 */
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "leaks/core_int.h"
#include "target/maps.h"

#define PIECE		(1U << 20)
#define MOST_CONSTANTS	(64UL << 20)	/* bytes of all files */
#define MANY		PN_XNUM		/* segments, whose number has no room in the header */
#define MODE		"wb1"		/* fast: a GiB in some seconds */

/* One after the other in the file, by address. */
struct piece {
	__u64 start, len;
	const unsigned char *bytes;
	bool readable, writable, executable;
};

struct save {
	const struct core_from *from;
	struct piece *at;
	size_t nr, room;
	unsigned char *constants;	/* of all files */
	size_t nr_constants;
	char *notes;
	size_t notes_len;
	gzFile gz;
};

/* ---- what is written ---- */

static int add_piece(struct save *s, const struct area *a, __u64 start, __u64 len,
		     const unsigned char *bytes)
{
	struct piece *more = ids_grow(s->at, s->nr, &s->room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->at = more;
	s->at[s->nr++] = (struct piece){ start, len, bytes, a->readable, a->writable,
					 a->executable };
	return 0;
}

/* Pages that are there, as long as they follow each other. */
static int add_pages(struct save *s, const struct area *a)
{
	__u64 at = pages_next(s->from->pages, a->start, a->end);
	int err = 0;

	while (at < a->end && !err) {
		size_t len = (size_t)(a->end - at);
		const void *bytes = pages_at(s->from->pages, at, &len);

		if (bytes)
			err = add_piece(s, a, at, len, bytes);
		at = pages_next(s->from->pages, at + len, a->end);
	}
	return err;
}

/* Of a program or library: a mapping of its code is there, too. */
static bool is_constants(const struct layout *l, const struct area *a)
{
	if (!a->is_file || !a->inode || !a->readable || a->writable || a->executable ||
	    a->skipped || a->shared || a->device)
		return false;
	for (size_t i = 0; i < l->nr; i++)
		if (l->areas[i].executable && l->areas[i].inode == a->inode &&
		    l->areas[i].dev_major == a->dev_major && l->areas[i].dev_minor == a->dev_minor)
			return true;
	return false;
}

/* The file of a mapping, if it is the one that is mapped; or a negative errno. */
static int open_file(const struct save *s, const struct area *a)
{
	const char *path = s->from->layout->paths[a->path];
	struct maps_file *m = malloc(sizeof(*m) + strlen(path) + 1);
	int fd;

	if (!m)
		return -ENOMEM;
	*m = (struct maps_file){ .start = a->start, .end = a->end, .inode = a->inode,
				 .dev_major = a->dev_major, .dev_minor = a->dev_minor };
	strcpy(m->path, path);
	fd = s->from->image->open(s->from->image, m);
	free(m);
	return fd;
}

/*
 * From the file: the process goes on, and something else may be mapped there by now.  If it cannot
 * be read, its contents are not there; the file may be, later.
 */
static int add_constants(struct save *s, const struct area *a)
{
	const size_t len = (size_t)(a->end - a->start);
	unsigned char *to = s->constants + s->nr_constants;
	size_t got = 0;
	ssize_t n = 1;
	int fd;

	if (len > MOST_CONSTANTS - s->nr_constants)
		return 0;
	fd = open_file(s, a);
	if (fd < 0)
		return 0;
	while (got < len && n > 0) {
		n = pread(fd, to + got, len - got, (off_t)(a->offset + got));
		got += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (!got)
		return 0;
	/* behind the end of a file there are zeros, up to the end of a page */
	memset(to + got, 0, -got & (PAGES_SIZE - 1));
	got += -got & (PAGES_SIZE - 1);
	s->nr_constants += got;
	return add_piece(s, a, a->start, got, to);
}

static int find_pieces(struct save *s)
{
	const struct layout *l = s->from->layout;
	int err = 0;

	s->constants = malloc(MOST_CONSTANTS);
	if (!s->constants)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr && !err; i++) {
		const struct area *a = &l->areas[i];
		const bool kept = pages_next(s->from->pages, a->start, a->end) < a->end;

		err = kept ? add_pages(s, a) : is_constants(l, a) ? add_constants(s, a) : 0;
	}
	return err;
}

/* ---- notes ---- */

static void put_note(FILE *f, const char *owner, __u32 type, const void *bytes, size_t len)
{
	static const char zeros[4];
	const Elf64_Nhdr n = { (Elf64_Word)strlen(owner) + 1, (Elf64_Word)len, type };

	fwrite(&n, sizeof(n), 1, f);
	fwrite(owner, n.n_namesz, 1, f);
	fwrite(zeros, -n.n_namesz & 3, 1, f);
	fwrite(bytes, len, 1, f);
	fwrite(zeros, -len & 3, 1, f);
}

/* A first thread that ended before the others has no registers any more, and no stack. */
static bool is_there(const struct thread *t)
{
	return t->nr_regs == MEMTAP_HELD_REGS;
}

static void put_threads(FILE *f, const struct layout *l)
{
	unsigned char note[CORE_PRSTATUS_LEN];

	for (size_t i = 0; i < l->nr_threads; i++) {
		const struct thread *t = &l->threads[i];
		const __u32 tid = (__u32)t->tid;
		__u64 regs[CORE_REGS] = { 0 };

		if (!is_there(t))
			continue;
		for (size_t k = 0; k < t->nr_regs; k++)
			regs[core_regs[k]] = t->regs[k];
		regs[core_regs[7]] = t->sp;
		regs[CORE_REG_FS] = t->base;
		memset(note, 0, sizeof(note));
		memcpy(note + CORE_PRSTATUS_PID, &tid, sizeof(tid));
		memcpy(note + CORE_PRSTATUS_REGS, regs, sizeof(regs));
		put_note(f, "CORE", NT_PRSTATUS, note, sizeof(note));
	}
}

static void put_proc(FILE *f, pid_t pid, const char *name, __u32 type)
{
	unsigned char note[CORE_PRPSINFO_LEN] = { 0 };
	const __u32 id = (__u32)pid;
	char path[48], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	if (maps_slurp(AT_FDCWD, path, &text, &len)) {
		text = NULL;
		len = 0;
	}
	if (type == NT_AUXV) {
		put_note(f, "CORE", type, text ? text : "", len & ~(size_t)15);
	} else {
		memcpy(note + CORE_PRPSINFO_PID, &id, sizeof(id));
		len = text ? strcspn(text, "\n") : 0;
		memcpy(note + CORE_PRPSINFO_NAME, text ? text : "?",
		       len < CORE_NAME_LEN ? len : CORE_NAME_LEN - 1);
		put_note(f, "CORE", type, note, sizeof(note));
	}
	free(text);
}

/* As gdb needs it. */
static void put_files(FILE *out, const struct layout *l)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	__u64 words[3] = { 0, PAGES_SIZE };

	if (!f)
		return;
	for (size_t i = 0; i < l->nr; i++)
		words[0] += l->areas[i].is_file;
	fwrite(words, sizeof(words[0]), 2, f);
	for (size_t i = 0; i < l->nr; i++) {
		words[0] = l->areas[i].start;
		words[1] = l->areas[i].end;
		words[2] = l->areas[i].offset / PAGES_SIZE;
		if (l->areas[i].is_file)
			fwrite(words, sizeof(words[0]), 3, f);
	}
	for (size_t i = 0; i < l->nr; i++)
		if (l->areas[i].is_file)
			fwrite(l->paths[l->areas[i].path],
			       strlen(l->paths[l->areas[i].path]) + 1, 1, f);
	if (!fclose(f))
		put_note(out, "CORE", NT_FILE, text, len);
	free(text);
}

static const char *name_of(const struct layout *l, const struct area *a)
{
	return a->is_file ? l->paths[a->path] : a->is_heap ? "[heap]" :
	       a->is_stack ? "[stack]" : a->is_trampoline ? "[uprobes]" :
	       a->skipped ? "[v]" : "";
}

static void put_maps(FILE *f, const struct layout *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct area *a = &l->areas[i];

		fprintf(f, "%llx-%llx %c%c%c%c %llx %x:%x %llu %s\n",
			(unsigned long long)a->start, (unsigned long long)a->end,
			a->readable ? 'r' : '-', a->writable ? 'w' : '-',
			a->executable ? 'x' : '-', a->shared ? 's' : 'p',
			(unsigned long long)a->offset, a->dev_major, a->dev_minor,
			(unsigned long long)a->inode, name_of(l, a));
	}
}

static void put_file(FILE *f, const struct save *s, const struct area *a)
{
	const int fd = open_file(s, a);
	const unsigned char *id = NULL;
	struct stat st;
	ssize_t len = -1;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		len = dwelf_elf_gnu_build_id(elf, (const void **)&id);
	if (!fstat(fd, &st)) {
		fprintf(f, "%llu ", (unsigned long long)st.st_size);
		for (ssize_t i = 0; i < len; i++)
			fprintf(f, "%02x", id[i]);
		fprintf(f, "%s %s\n", len > 0 ? "" : "-", s->from->layout->paths[a->path]);
	}
	elf_end(elf);
	close(fd);
}

/* Those of which something may be needed, once. */
static void put_mapped(FILE *f, const struct save *s)
{
	const struct layout *l = s->from->layout;

	for (size_t i = 0; i < l->nr; i++)
		if (l->areas[i].is_file && l->areas[i].inode && !l->areas[i].offset &&
		    !l->areas[i].device)
			put_file(f, s, &l->areas[i]);
}

static void put_text(FILE *out, __u32 type, void (*put)(FILE *f, const struct save *s),
		     const struct save *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	put(f, s);
	if (!fclose(f))
		put_note(out, CORE_OWNER, type, text, len);
	free(text);
}

static void put_areas(FILE *f, const struct save *s)
{
	put_maps(f, s->from->layout);
}

static void put_info(FILE *f, const struct save *s)
{
	fprintf(f, "time %lld\nswapped %llu\n", (long long)time(NULL),
		(unsigned long long)s->from->swapped);
}

static void put_ids(FILE *f, const struct save *s)
{
	const struct layout *l = s->from->layout;

	for (size_t i = 0; i < l->nr_threads; i++)
		if (is_there(&l->threads[i]))
			fwrite(&l->threads[i].ns_tid, sizeof(l->threads[i].ns_tid), 1, f);
}

/* Behind the registers of the last thread. */
static void put_words(FILE *f, const struct save *s)
{
	const struct layout *l = s->from->layout;
	const struct thread *last = l->nr_threads ? &l->threads[l->nr_threads - 1] : NULL;
	const size_t from = last ? last->first_word + last->nr_regs : 0;

	if (from < l->words.nr)
		fwrite(l->words.at + from, sizeof(*l->words.at), l->words.nr - from, f);
}

static int make_notes(struct save *s)
{
	FILE *f = open_memstream(&s->notes, &s->notes_len);
	bool bad;

	if (!f)
		return -ENOMEM;
	put_proc(f, s->from->pid, "comm", NT_PRPSINFO);
	put_threads(f, s->from->layout);
	put_proc(f, s->from->pid, "auxv", NT_AUXV);
	put_files(f, s->from->layout);
	put_text(f, CORE_SAVED_MAPS, put_areas, s);
	put_text(f, CORE_SAVED_FILES, put_mapped, s);
	put_text(f, CORE_SAVED_INFO, put_info, s);
	put_text(f, CORE_SAVED_IDS, put_ids, s);
	put_text(f, CORE_SAVED_WORDS, put_words, s);
	bad = ferror(f);
	return fclose(f) || bad ? -ENOMEM : 0;
}

/* ---- the file ---- */

static int put(struct save *s, const void *bytes, __u64 len)
{
	const unsigned char *at = bytes;

	while (len) {
		const unsigned int piece = len < PIECE ? (unsigned int)len : PIECE;

		errno = 0;
		if (gzwrite(s->gz, at, piece) != (int)piece)
			return errno ? -errno : -EIO;
		at += piece;
		len -= piece;
	}
	return 0;
}

static __u64 round_up(__u64 at)
{
	return (at + PAGES_SIZE - 1) & ~(PAGES_SIZE - 1);
}

static int put_headers(struct save *s, __u64 notes, __u64 data)
{
	const size_t nr = s->nr + 1;
	const Elf64_Shdr count = { .sh_info = (Elf64_Word)nr };
	Elf64_Ehdr e = { .e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			 .e_phoff = sizeof(e), .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = nr < MANY ? (Elf64_Half)nr : MANY };
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = notes, .p_filesz = s->notes_len,
			 .p_align = 4 };
	int err;

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_ident[EI_VERSION] = EV_CURRENT;
	if (nr >= MANY) {
		e.e_shoff = sizeof(e) + nr * sizeof(p);
		e.e_shentsize = sizeof(count);
		e.e_shnum = 1;
	}
	err = put(s, &e, sizeof(e));
	if (!err)
		err = put(s, &p, sizeof(p));
	for (size_t i = 0; i < s->nr && !err; i++) {
		p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = data, .p_vaddr = s->at[i].start,
				  .p_filesz = s->at[i].len, .p_memsz = s->at[i].len,
				  .p_align = PAGES_SIZE,
				  .p_flags = (s->at[i].readable ? PF_R : 0U) |
					     (s->at[i].writable ? PF_W : 0U) |
					     (s->at[i].executable ? PF_X : 0U) };
		err = put(s, &p, sizeof(p));
		data += s->at[i].len;
	}
	return err || nr < MANY ? err : put(s, &count, sizeof(count));
}

static int put_all(struct save *s)
{
	static const unsigned char zeros[PAGES_SIZE];
	const size_t nr = s->nr + 1;
	const __u64 notes = sizeof(Elf64_Ehdr) + nr * sizeof(Elf64_Phdr) +
			    (nr < MANY ? 0 : sizeof(Elf64_Shdr));
	const __u64 data = round_up(notes + s->notes_len);
	int err = put_headers(s, notes, data);

	if (!err)
		err = put(s, s->notes, s->notes_len);
	if (!err)
		err = put(s, zeros, data - notes - s->notes_len);
	for (size_t i = 0; i < s->nr && !err; i++)
		err = put(s, s->at[i].bytes, s->at[i].len);
	return err;
}

/* The file is new, and its owner's alone: it has all that the process knows. */
static int write_file(struct save *s, const char *path, __u64 *bytes)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	int err = 0, keep, closed;

	if (fd < 0)
		return -errno;
	keep = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	s->gz = gzdopen(fd, MODE);
	if (!s->gz) {
		close(fd);
		err = -ENOMEM;
	} else {
		gzbuffer(s->gz, PIECE);
		err = put_all(s);
		errno = 0;
		closed = gzclose(s->gz);
		if (!err && closed != Z_OK)
			err = errno ? -errno : -EIO;
	}
	*bytes = !err && keep >= 0 && !fstat(keep, &st) ? (__u64)st.st_size : 0;
	if (keep >= 0)
		close(keep);
	if (err)
		unlink(path);
	return err;
}

int core_save(const struct core_from *from, const char *path, __u64 *bytes)
{
	struct save s = { .from = from };
	int err = find_pieces(&s);

	if (!err)
		err = make_notes(&s);
	if (!err)
		err = write_file(&s, path, bytes);
	free(s.at);
	free(s.constants);
	free(s.notes);
	return err;
}
