// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/limit.c ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c */
/* LINK: ctl/elf/dwarf_text.c */
/* LINK: ctl/elf/debug.c ctl/elf/func.c ctl/elf/kind.c ctl/elf/object.c ctl/elf/source.c */
/* LINK: ctl/elf/source_type.c ctl/elf/source_var.c ctl/elf/symbols.c ctl/elf/usdt.c -ldw -lelf */
/* FUZZ: -max_len=65536 */
/* An ELF file that somebody made up: the places of its lines, and the variables there. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/source.h"
#include "elf/symbols.h"

static size_t sum;

/* Into what it points to, or has: types may lead in circles. */
static void walk(struct source *s, struct ctype type)
{
	const struct ctypes types = source_types(s);
	struct cmember m;

	for (int i = 0; i < 8; i++) {
		if (type.kind == CTYPE_NUMBER && (!type.size || type.size > 8))
			abort();
		if (type.kind == CTYPE_RECORD && types.member(types.from, &type, "n", 1, &m)) {
			if (m.offset > 1ULL << 40 || m.bits > 64)
				abort();
			type = m.type;
		} else {
			type = types.type(types.from, type.to);
		}
	}
}

static void see_var(const char *name, const struct source_var *v, void *ctx)
{
	if (ctx)
		walk(ctx, v->of);
	sum += strlen(name) + strlen(v->words);
	if (v->how == SOURCE_READ && (!v->reg || !v->type))
		abort();
	if (v->offset > 1LL << 30 || v->offset < -(1LL << 30))
		abort();
}

static void ask(struct source *s, int line)
{
	struct source_lines l;
	struct source_var v;

	if (!source_find(s, "t.c", line, &l)) {
		for (size_t i = 0; i < l.nr && i < 8; i++) {
			source_for_each_var(s, l.at[i].vaddr, see_var, s);
			source_var(s, l.at[i].vaddr, "n", &v);
			see_var("n", &v, s);
			for (int n = -1; n < 6; n++) {
				struct ctype type;

				if (source_argument(s, l.at[i].vaddr, n, &type))
					walk(s, type);
			}
			sum += strlen(l.at[i].function);
		}
		if (!l.nr)
			abort();
	}
	source_free_lines(&l);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct source *s;
	struct elfsym *e;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !elfsym_open(fd, &e)) {
		if (!source_open(e, &s)) {
			for (int line = 1; line < 12; line++)
				ask(s, line);
			source_close(s);
		}
		elfsym_close(e);
	}
	close(fd);
	return 0;
}
