// SPDX-License-Identifier: GPL-2.0-or-later
/* Open the shared DWARF file (dwz) of a program's debug information. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "base/openreg.h"
#include "base/path.h"
#include "sym/alt.h"

#define NR_WAYS		4

struct sym_alt {
	Dwarf *of;
	Dwarf *found;		/* or NULL */
	int fd;			/* its file */
	Dwarf *empty;
	Elf *empty_elf;
};

struct link {
	const char *name;	/* as the file has it */
	const void *id;
	ssize_t id_len;
	const char *debug_dir;
	const char *file;	/* that has the link */
};

/* ---- DWARF without contents ---- */

/* A byte of .debug_line: without a section that tells something there is no DWARF. */
static struct {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[3];
	char names[24];
} nothing = {
	.eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
			     ELFDATA2MSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = sizeof(Elf64_Ehdr), .e_shnum = 3, .e_shstrndx = 1,
	},
	.sh = {
		[1] = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1,
			.sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr),
			.sh_size = 24 },
		[2] = { .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_addralign = 1,
			.sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr),
			.sh_size = 1 },
	},
	.names = "\0.shstrtab\0.debug_line",
};

static int make_empty(struct sym_alt *a)
{
	a->empty_elf = elf_memory((char *)&nothing, sizeof(nothing));
	if (a->empty_elf)
		a->empty = dwarf_begin_elf(a->empty_elf, DWARF_C_READ, NULL);
	return a->empty ? 0 : -ENOMEM;
}

/* ---- the file that is meant ---- */

/* Where elfutils and gdb look, too. */
static int path_to(const struct link *l, int way, char **path)
{
	const char *slash = l->file ? strrchr(l->file, '/') : NULL;
	const char *base = base_name(l->name);
	const char *dir = slash ? l->file : ".";
	const int len = slash ? (int)(slash - l->file) : 1;

	switch (way) {
	case 0:
		return build_id_path(path, l->debug_dir, l->id, (size_t)l->id_len, ".debug");
	case 1:
		return l->name[0] == '/' ? asprintf(path, "%s", l->name) :
		       asprintf(path, "%.*s/%s", len, dir, l->name);
	case 2:
		return asprintf(path, "%.*s/.dwz/%s", len, dir, base);
	default:
		return asprintf(path, "%s/.dwz/%s", l->debug_dir, base);
	}
}

static bool try_way(struct sym_alt *a, const struct link *l, int way)
{
	char *path;

	if (path_to(l, way, &path) < 0)
		return false;
	a->fd = open_regular(path);
	free(path);
	if (a->fd < 0)
		return false;
	a->found = dwarf_begin(a->fd, DWARF_C_READ);
	if (a->found && build_id_is(dwarf_getelf(a->found), l->id, (size_t)l->id_len))
		return true;
	dwarf_end(a->found);
	a->found = NULL;
	close(a->fd);
	return false;
}

static void find(struct sym_alt *a, const struct link *l)
{
	for (int way = 0; way < NR_WAYS; way++)
		if (try_way(a, l, way))
			return;
}

int sym_alt_set(Dwfl_Module *mod, Dwarf *dw, const char *debug_dir, struct sym_alt **alt)
{
	const char *main_file = NULL, *debug_file = NULL;
	struct link l = { .debug_dir = debug_dir };
	struct sym_alt *a;

	*alt = NULL;
	l.id_len = dwelf_dwarf_gnu_debugaltlink(dw, &l.name, &l.id);
	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	l.file = debug_file ? debug_file : main_file;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	if (make_empty(a)) {
		sym_alt_free(a);
		return -ENOMEM;
	}
	/* without such a link libdw goes by another one (.debug_sup), and opens it */
	if (l.id_len > 0)
		find(a, &l);
	/* which may name another one in its turn */
	if (a->found)
		dwarf_setalt(a->found, a->empty);
	a->of = dw;
	dwarf_setalt(dw, a->found ? a->found : a->empty);
	*alt = a;
	return 0;
}

void sym_alt_oom(struct sym_alt *a, Dwarf_OOM handler)
{
	if (a && a->found)
		dwarf_new_oom_handler(a->found, handler);
	if (a)
		dwarf_new_oom_handler(a->empty, handler);
}

void sym_alt_free(struct sym_alt *a)
{
	if (!a)
		return;
	if (a->of)
		dwarf_setalt(a->of, NULL);
	if (a->found) {
		dwarf_end(a->found);
		close(a->fd);
	}
	dwarf_end(a->empty);
	elf_end(a->empty_elf);
	free(a);
}
