// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the places of a source line in a file's DWARF. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "elf/dwarf_text.h"
#include "elf/int.h"
#include "elf/source_int.h"

#define BUDGET		(8U << 20)	/* entries and lines: a browser's unit has some 100 000 */

/* ---- when libdw has no memory ---- */

static __thread struct source_way_out *way_out;

static __attribute__((noreturn)) void no_memory(void)
{
	longjmp(way_out->to, 1);
}

/* NULL ends it.  What libdw had begun when it jumped is never touched again. */
void source_guard(struct source *s, struct source_way_out *out)
{
	way_out = out;
	limit_narrow(out != NULL);
	s->budget = BUDGET;
}

bool source_spend(struct source *s)
{
	if (!s->budget)
		return false;
	s->budget--;
	return true;
}

/* ---- open and close ---- */

static Dwarf *open_dwarf(Elf *elf)
{
	GElf_Shdr shdr;

	if (!elf || !dwarf_text_ends(elf))
		return NULL;
	if (!elfsym_section(elf, ".debug_info", &shdr) &&
	    !elfsym_section(elf, ".zdebug_info", &shdr))
		return NULL;
	return dwarf_begin_elf(elf, DWARF_C_READ, NULL);
}

int source_open(struct elfsym *e, struct source **out)
{
	struct source *s = calloc(1, sizeof(*s));
	struct source_way_out here;
	struct elfsym_kind kind;

	if (!s)
		return -ENOMEM;
	s->e = e;
	elfsym_get_kind(e, &kind);
	s->x86_64 = kind.code == ELFSYM_X86_64;
	s->i386 = kind.code == ELFSYM_I386;
	source_guard(s, &here);
	s->dw = open_dwarf(e->elf);
	if (!s->dw) {
		elfsym_open_debug(e);
		s->dw = open_dwarf(e->debug);
	}
	source_guard(s, NULL);
	if (!s->dw) {
		free(s);
		return -ENODATA;
	}
	dwarf_new_oom_handler(s->dw, no_memory);
	*out = s;
	return 0;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->eh_frame && !s->gave_up)
		dwarf_cfi_end(s->eh_frame);
	if (!s->gave_up)
		dwarf_end(s->dw);
	free(s->types);
	free(s);
}

/* ---- blocks at an address ---- */

static bool has_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

static bool has_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_subprogram;
}

static bool descend(struct source *s, Dwarf_Die *parent, Dwarf_Addr pc, struct source_chain *c,
		    int depth)
{
	Dwarf_Die die;

	if (depth == SOURCE_CHAIN || dwarf_child(parent, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);

		if (!source_spend(s))
			return false;
		if (has_code(tag) && dwarf_haspc(&die, pc) == 1) {
			if (c->nr < SOURCE_CHAIN)
				c->at[c->nr++] = die;
			descend(s, &die, pc, c, depth + 1);
			return true;
		}
		/* functions in functions have code of their own */
		if (has_functions(tag) && descend(s, &die, pc, c, depth + 1))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* clang writes no .debug_aranges: then each unit is asked. */
static bool unit_at(struct source *s, Dwarf_Addr pc, Dwarf_Die *cu)
{
	Dwarf_Off off = 0, next;
	size_t head;

	if (dwarf_addrdie(s->dw, pc, cu))
		return true;
	for (; source_spend(s) && !dwarf_nextcu(s->dw, off, &next, &head, NULL, NULL, NULL);
	     off = next)
		if (dwarf_offdie(s->dw, off + head, cu) && dwarf_haspc(cu, pc) == 1)
			return true;
	return false;
}

bool source_chain(struct source *s, Dwarf_Addr pc, struct source_chain *c)
{
	c->nr = 0;
	if (!unit_at(s, pc, &c->at[0]))
		return false;
	c->nr = 1;
	return descend(s, &c->at[0], pc, c, 0) && c->nr > 1;
}

/* ---- lines ---- */

/* Is @path called @name, in whole parts? */
static bool path_ends(const char *path, const char *name)
{
	const size_t len = strlen(path), n = strlen(name);

	return n && len >= n && !strcmp(path + len - n, name) &&
	       (len == n || path[len - n - 1] == '/' || *name == '/');
}

struct finder {
	struct source *s;
	const char *name;
	int line;
	struct source_lines *to;
	size_t room;
	int err;
};

static int add_place(struct finder *f, __u64 vaddr)
{
	struct source_lines *l = f->to;
	struct source_place *at;
	__u64 offset;

	/* what the linker threw away is at 0, or nowhere */
	if (!elfsym_offset(f->s->e, vaddr, &offset) || !elfsym_is_code(f->s->e, offset))
		return 0;
	if (l->nr == f->room) {
		f->room = f->room ? 2 * f->room : 16;
		at = reallocarray(l->at, f->room, sizeof(*at));
		if (!at)
			return -ENOMEM;
		l->at = at;
	}
	l->at[l->nr++] = (struct source_place){ .vaddr = vaddr, .offset = offset };
	return 0;
}

static void note_near(struct source_lines *l, int line, int wanted)
{
	if (line < wanted && line > l->before)
		l->before = line;
	if (line > wanted && (!l->after || line < l->after))
		l->after = line;
}

static int same_file(struct finder *f, const char *path)
{
	struct source_lines *l = f->to;

	if (!*l->file)
		snprintf(l->file, sizeof(l->file), "%s", path);
	if (!strncmp(l->file, path, sizeof(l->file) - 1))
		return 0;
	snprintf(l->other, sizeof(l->other), "%s", path);
	return -ENOTUNIQ;
}

static int see_line(struct finder *f, Dwarf_Line *line)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	bool begins, ends;
	Dwarf_Addr addr;
	int nr, err;

	if (!path || !path_ends(path, f->name) || dwarf_lineno(line, &nr) || !nr ||
	    dwarf_linebeginstatement(line, &begins) || dwarf_lineendsequence(line, &ends) ||
	    dwarf_lineaddr(line, &addr) || !begins || ends)
		return 0;
	err = same_file(f, path);
	if (err || nr != f->line) {
		note_near(f->to, nr, f->line);
		return err;
	}
	return add_place(f, addr);
}

static bool has_file(Dwarf_Die *cu, const char *name)
{
	Dwarf_Files *files;
	size_t nr;

	if (dwarf_getsrcfiles(cu, &files, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);

		if (path && path_ends(path, name))
			return true;
	}
	return false;
}

static int see_unit(struct finder *f, Dwarf_Die *cu)
{
	Dwarf_Lines *lines;
	size_t nr;
	int err = 0;

	if (!has_file(cu, f->name) || dwarf_getsrclines(cu, &lines, &nr))
		return 0;
	for (size_t i = 0; !err && i < nr; i++)
		err = source_spend(f->s) ? see_line(f, dwarf_onesrcline(lines, i)) : -E2BIG;
	return err;
}

static void find(struct finder *f)
{
	Dwarf_Off off = 0, next;
	size_t head;
	Dwarf_Die cu;

	for (; !f->err && !dwarf_nextcu(f->s->dw, off, &next, &head, NULL, NULL, NULL);
	     off = next) {
		if (!source_spend(f->s))
			f->err = -E2BIG;
		else if (dwarf_offdie(f->s->dw, off + head, &cu))
			f->err = see_unit(f, &cu);
	}
}

static int by_address(const void *va, const void *vb)
{
	const struct source_place *a = va, *b = vb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static void drop_doubles(struct source_lines *l)
{
	size_t nr = 0;

	qsort(l->at, l->nr, sizeof(*l->at), by_address);
	for (size_t i = 0; i < l->nr; i++)
		if (!nr || l->at[nr - 1].vaddr != l->at[i].vaddr)
			l->at[nr++] = l->at[i];
	l->nr = nr;
}

static void name_place(struct source *s, struct source_place *p)
{
	struct source_chain c;

	if (!source_chain(s, p->vaddr, &c))
		return;
	for (size_t i = c.nr; i-- > 1;) {
		const int tag = dwarf_tag(&c.at[i]);
		const char *name = dwarf_text(DW_AT_name, &c.at[i]);

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		snprintf(p->function, sizeof(p->function), "%s", name ? name : "");
		p->inlined = tag == DW_TAG_inlined_subroutine;
		return;
	}
}

static void find_all(struct finder *f)
{
	find(f);
	if (f->err || !f->to->nr)
		return;
	drop_doubles(f->to);
	for (size_t i = 0; i < f->to->nr; i++) {
		f->s->budget = BUDGET;
		name_place(f->s, &f->to->at[i]);
	}
}

int source_find(struct source *s, const char *file, int line, struct source_lines *l)
{
	struct finder f = { s, file, line, l, 0, 0 };
	struct source_way_out here;

	memset(l, 0, sizeof(*l));
	if (s->gave_up)
		return -ENOMEM;
	source_guard(s, &here);
	if (setjmp(here.to))
		s->gave_up = true;
	else
		find_all(&f);
	source_guard(s, NULL);
	if (s->gave_up)
		return -ENOMEM;
	if (f.err)
		return f.err;
	if (!*l->file && !l->before && !l->after)
		return -ENOENT;
	return l->nr ? 0 : -ENODATA;
}

void source_free_lines(struct source_lines *l)
{
	free(l->at);
	l->at = NULL;
	l->nr = 0;
}
