// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolve source lines and inlined calls from DWARF.
 *
 * The first address in a compilation unit collects and sorts the ranges of the unit's functions
 * and inlined calls.  Each address then takes a binary search and a walk outwards.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "elf/dwarf_text.h"
#include "sym/alt.h"
#include "sym/dwarf.h"
#include "sym/int.h"

#define DIE_DEPTH	128	/* nesting that is followed */
#define NO_SCOPE	((size_t)-1)

struct scope {
	const char *name;
	bool inlined;
	const char *call_file;
	int call_line;
};

struct range {
	__u64 lo, hi;
	size_t scope;
	size_t outer;		/* index of the range around it, or NO_SCOPE */
};

struct unit {
	Dwarf_Die die;
	Dwarf_Off off;
	struct scope *scopes;
	struct range *ranges;
	size_t nr_scopes, room_scopes, nr_ranges, room_ranges;
	Dwarf_Files *files;
	size_t nr_files;
};

/* For units that .debug_aranges leaves out (clang writes none). */
struct unit_range {
	__u64 lo, hi;
	Dwarf_Off off;
};

struct sym_dwarf {
	Dwarf *dw;		/* NULL: there is none */
	struct sym_alt *alt;	/* what it refers to */
	Dwarf_Addr bias;	/* to dwfl's addresses */
	struct unit **units;	/* sorted by off */
	struct unit *loading;	/* not yet one of them */
	size_t nr_units;
	struct unit_range *all;
	size_t nr_all;
	bool all_tried;
	bool gave_up;		/* and nobody was told */
};

static void *grow(void *p, size_t nr, size_t *room, size_t size)
{
	void *q;

	if (nr < *room)
		return p;
	q = reallocarray(p, *room ? 2 * *room : 64, size);
	if (q)
		*room = *room ? 2 * *room : 64;
	return q;
}

static const char *die_name(Dwarf_Die *die)
{
	static const unsigned int attrs[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name,
	};
	const char *name = NULL;

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]) && !name; i++)
		name = dwarf_text(attrs[i], die);
	return name;
}

static size_t add_scope(struct unit *u, Dwarf_Die *die, bool inlined)
{
	struct scope *s = grow(u->scopes, u->nr_scopes, &u->room_scopes, sizeof(*s));
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!s)
		return NO_SCOPE;
	u->scopes = s;
	s += u->nr_scopes;
	memset(s, 0, sizeof(*s));
	s->name = die_name(die);
	s->inlined = inlined;
	if (inlined && dwarf_attr(die, DW_AT_call_line, &attr) &&
	    !dwarf_formudata(&attr, &v))
		s->call_line = v;
	if (inlined && u->files && dwarf_attr(die, DW_AT_call_file, &attr) &&
	    !dwarf_formudata(&attr, &v) && v < u->nr_files)
		s->call_file = dwarf_filesrc(u->files, v, NULL, NULL);
	return u->nr_scopes++;
}

static void add_ranges(struct unit *u, Dwarf_Die *die, bool inlined)
{
	Dwarf_Addr base, lo, hi;
	size_t scope = NO_SCOPE;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		struct range *r;

		if (lo >= hi || !lo)	/* 0: the linker threw the function away */
			continue;
		if (scope == NO_SCOPE)
			scope = add_scope(u, die, inlined);
		if (scope == NO_SCOPE)
			return;
		r = grow(u->ranges, u->nr_ranges, &u->room_ranges, sizeof(*r));
		if (!r)
			return;
		u->ranges = r;
		r[u->nr_ranges++] = (struct range){ lo, hi, scope, NO_SCOPE };
	}
}

static void collect(struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_ranges(u, &die, false);
			collect(u, &die, depth + 1);
			break;
		case DW_TAG_inlined_subroutine:
			add_ranges(u, &die, true);
			collect(u, &die, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			collect(u, &die, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* Outer ranges first; scopes are numbered outside in. */
static int cmp_range(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->hi != y->hi)
		return x->hi > y->hi ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void nest_ranges(struct unit *u)
{
	size_t open = NO_SCOPE;

	qsort(u->ranges, u->nr_ranges, sizeof(*u->ranges), cmp_range);
	for (size_t i = 0; i < u->nr_ranges; i++) {
		while (open != NO_SCOPE && u->ranges[open].hi <= u->ranges[i].lo)
			open = u->ranges[open].outer;
		u->ranges[i].outer = open;
		open = i;
	}
}

static struct unit *load_unit(struct sym_dwarf *d, Dwarf_Die *cu)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	d->loading = u;
	u->die = *cu;
	u->off = dwarf_dieoffset(cu);
	if (dwarf_getsrcfiles(cu, &u->files, &u->nr_files))
		u->files = NULL;
	collect(u, cu, 0);
	if (u->nr_ranges)
		nest_ranges(u);
	d->loading = NULL;
	return u;
}

static struct unit *find_unit(struct sym_dwarf *d, Dwarf_Die *cu)
{
	Dwarf_Off off = dwarf_dieoffset(cu);
	size_t lo = 0, hi = d->nr_units;
	struct unit **units, *u;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->units[mid]->off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < d->nr_units && d->units[lo]->off == off)
		return d->units[lo];
	units = reallocarray(d->units, d->nr_units + 1, sizeof(*units));
	if (!units)
		return NULL;
	d->units = units;
	u = load_unit(d, cu);
	if (!u)
		return NULL;
	memmove(&units[lo + 1], &units[lo], (d->nr_units - lo) * sizeof(*units));
	units[lo] = u;
	d->nr_units++;
	return u;
}

static int cmp_unit_range(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void load_all(struct sym_dwarf *d)
{
	Dwarf_Off off = 0, next;
	size_t head, room = 0;

	d->all_tried = true;
	for (; !dwarf_nextcu(d->dw, off, &next, &head, NULL, NULL, NULL); off = next) {
		Dwarf_Addr base, lo, hi;
		ptrdiff_t at = 0;
		Dwarf_Die cu;

		if (!dwarf_offdie(d->dw, off + head, &cu))
			continue;
		while ((at = dwarf_ranges(&cu, at, &base, &lo, &hi)) > 0) {
			struct unit_range *r = grow(d->all, d->nr_all, &room, sizeof(*r));

			if (!r)
				return;
			d->all = r;
			r[d->nr_all++] = (struct unit_range){ lo, hi, off + head };
		}
	}
	if (d->nr_all)
		qsort(d->all, d->nr_all, sizeof(*d->all), cmp_unit_range);
}

static Dwarf_Die *unit_die(struct sym_dwarf *d, Dwarf_Addr addr, Dwarf_Die *cu)
{
	size_t lo = 0, hi;

	if (dwarf_addrdie(d->dw, addr, cu))
		return cu;
	if (!d->all_tried)
		load_all(d);
	hi = d->nr_all;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->all[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= d->all[lo - 1].hi)
		return NULL;
	return dwarf_offdie(d->dw, d->all[lo - 1].off, cu);
}

/* Ranges around @addr, from the innermost outwards, up to the function. */
static size_t walk_out(const struct unit *u, Dwarf_Addr addr,
		       struct sym_dwarf_frame *frames)
{
	size_t lo = 0, hi = u->nr_ranges, at, nr = 0;
	const char *file = NULL;
	int line = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->ranges[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (at = lo ? lo - 1 : NO_SCOPE; at != NO_SCOPE; at = u->ranges[at].outer) {
		const struct scope *s = &u->scopes[u->ranges[at].scope];

		if (addr >= u->ranges[at].hi)
			continue;
		frames[nr].name = s->name;
		frames[nr].file = file;
		frames[nr++].line = line;
		if (!s->inlined || nr == SYM_MAX_INLINE)
			break;
		file = s->call_file;
		line = s->call_line;
	}
	return nr;
}

/* ---- when libdw has no memory ---- */

/*
 * Of itself libdw ends the program then, and with it a report that is about much
 * more than one file.  What it had begun is lost.
 */
struct way_out {
	jmp_buf to;
};

static __thread struct way_out *way_out;

static __attribute__((noreturn)) void no_memory(void)
{
	longjmp(way_out->to, 1);
}

static void free_unit(struct unit *u)
{
	if (!u)
		return;
	free(u->scopes);
	free(u->ranges);
	free(u);
}

static void free_units(struct sym_dwarf *d)
{
	for (size_t i = 0; i < d->nr_units; i++)
		free_unit(d->units[i]);
	free_unit(d->loading);
	free(d->units);
	free(d->all);
	d->units = NULL;
	d->loading = NULL;
	d->all = NULL;
	d->nr_units = d->nr_all = 0;
}

/* As if there were no DWARF: what libdw has of it may be half made. */
static void give_up(struct sym_dwarf *d)
{
	free_units(d);
	d->dw = NULL;
	d->gave_up = true;
}

/* ---- all of it ---- */

static struct sym_dwarf *load(struct sym_elf *e)
{
	struct sym_dwarf *d = calloc(1, sizeof(*d));
	Dwfl_Module *mod;
	__u64 bias;

	if (!d)
		return NULL;
	mod = sym_elf_module(e, &bias);
	d->dw = dwfl_module_getdwarf(mod, &d->bias);
	if (d->dw && (!dwarf_text_ends(dwarf_getelf(d->dw)) ||
		      sym_alt_set(mod, d->dw, sym_elf_debug_dir(e), &d->alt)))
		give_up(d);
	if (d->dw)
		dwarf_new_oom_handler(d->dw, no_memory);
	sym_alt_oom(d->alt, no_memory);
	return d;
}

static size_t find_frames(struct sym_dwarf *d, struct sym_elf *e, __u64 addr, bool no_inline,
			  struct sym_dwarf_frame frames[SYM_MAX_INLINE])
{
	struct unit *u;
	Dwarf_Line *line;
	Dwarf_Die cu;
	__u64 bias;
	size_t nr;

	sym_elf_module(e, &bias);
	addr += bias - d->bias;
	if (!unit_die(d, addr, &cu))
		return 0;
	u = find_unit(d, &cu);
	if (!u)
		return 0;
	nr = walk_out(u, addr, frames);
	if (!nr) {
		frames[0].name = frames[0].file = NULL;
		nr = 1;
	}
	if (no_inline) {
		frames[0].name = frames[nr - 1].name;
		nr = 1;
	}
	frames[0].line = 0;
	line = dwarf_getsrc_die(&u->die, addr);
	if (line) {
		frames[0].file = dwarf_linesrc(line, NULL, NULL);
		dwarf_lineno(line, &frames[0].line);
	}
	return nr;
}

static size_t frames_or_none(struct sym_dwarf *d, struct sym_elf *e, __u64 addr,
			     bool no_inline, struct sym_dwarf_frame frames[SYM_MAX_INLINE])
{
	struct way_out here;
	size_t nr = 0;

	way_out = &here;
	if (setjmp(here.to))
		give_up(d);
	else
		nr = find_frames(d, e, addr, no_inline, frames);
	way_out = NULL;
	return d->dw ? nr : 0;
}

static void drop(struct sym_dwarf *d)
{
	free_units(d);
	sym_alt_free(d->alt);
	free(d);
}

size_t sym_dwarf_frames(struct sym_elf *e, __u64 addr, bool no_inline,
			struct sym_dwarf_frame frames[SYM_MAX_INLINE])
{
	struct sym_dwarf **d = sym_elf_dwarf(e, drop);
	size_t nr = 0;

	limit_narrow(true);
	if (!*d)
		*d = load(e);
	if (*d && (*d)->dw)
		nr = frames_or_none(*d, e, addr, no_inline, frames);
	limit_narrow(false);
	return nr;
}

bool sym_dwarf_gave_up(struct sym_elf *e)
{
	struct sym_dwarf *d = *sym_elf_dwarf(e, drop);
	const bool gave_up = d && d->gave_up;

	if (gave_up)
		d->gave_up = false;
	return gave_up;
}

/* ---- variables ---- */

#define MOST_NS		3000000000ULL	/* that is spent on the variables of a file */

struct search {
	struct sym_dwarf_variable *v;
	size_t nr, found;
	__u64 bias;			/* from the file's addresses to DWARF's */
};

/* One that lies at an address, always. */
static void see_variable(struct search *s, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &nr) || nr != 1 || ops[0].atom != DW_OP_addr)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		struct sym_dwarf_variable *v = &s->v[i];

		if (v->file || v->addr + s->bias != ops[0].number)
			continue;
		v->file = dwarf_decl_file(die);
		if (v->file && dwarf_decl_line(die, &v->line))
			v->file = NULL;
		s->found += v->file != NULL;
	}
}

/* Those of files and namespaces, and static ones of functions. */
static void see_variables(struct search *s, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			see_variable(s, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			see_variables(s, &die, depth + 1);
			break;
		}
	} while (s->found < s->nr && !dwarf_siblingof(&die, &die));
}

static void search_variables(struct sym_dwarf *d, struct search *s)
{
	const __u64 until = clock_ns() + MOST_NS;
	Dwarf_Off off = 0, next;
	size_t head;

	for (; s->found < s->nr && clock_ns() < until; off = next) {
		Dwarf_Die cu;

		if (dwarf_nextcu(d->dw, off, &next, &head, NULL, NULL, NULL))
			break;
		if (dwarf_offdie(d->dw, off + head, &cu))
			see_variables(s, &cu, 0);
	}
}

static void search_or_give_up(struct sym_dwarf *d, struct search *s)
{
	struct way_out here;

	way_out = &here;
	if (setjmp(here.to)) {
		give_up(d);
		for (size_t i = 0; i < s->nr; i++)
			s->v[i].file = NULL;
	} else {
		search_variables(d, s);
	}
	way_out = NULL;
}

void sym_dwarf_variables(struct sym_elf *e, struct sym_dwarf_variable *v, size_t nr)
{
	struct sym_dwarf **d = sym_elf_dwarf(e, drop);
	struct search s = { .v = v, .nr = nr };
	__u64 bias;

	limit_narrow(true);
	if (!*d)
		*d = load(e);
	sym_elf_module(e, &bias);
	if (*d && (*d)->dw) {
		s.bias = bias - (*d)->bias;
		search_or_give_up(*d, &s);
	}
	limit_narrow(false);
}
