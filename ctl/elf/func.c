// SPDX-License-Identifier: GPL-2.0-or-later
/* Look up functions of an ELF file by name. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "elf/int.h"

/* The tables that together give a symbol of .dynsym its version. */
struct versions {
	Elf *elf;
	Elf_Data *index;		/* of each symbol */
	Elf_Data *defs;
	size_t strings;
	size_t nr_defs;
};

static void find_versions(Elf *elf, struct versions *v)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;

	memset(v, 0, sizeof(*v));
	v->elf = elf;
	scn = elfsym_section(elf, ".gnu.version", &shdr);
	v->index = scn ? elf_getdata(scn, NULL) : NULL;
	scn = elfsym_section(elf, ".gnu.version_d", &shdr);
	v->defs = scn ? elf_getdata(scn, NULL) : NULL;
	if (v->defs) {
		v->strings = shdr.sh_link;
		v->nr_defs = shdr.sh_info;
	}
}

static const char *version_of(const struct versions *v, int symbol, bool *old)
{
	GElf_Verdaux aux;
	GElf_Verdef def;
	GElf_Versym sym;
	int at = 0;

	if (!v->index || !v->defs || !gelf_getversym(v->index, symbol, &sym))
		return NULL;
	*old = sym & 0x8000;
	sym &= 0x7fff;
	for (size_t i = 0; sym > 1 && i < v->nr_defs; i++) {
		if (!gelf_getverdef(v->defs, at, &def))
			return NULL;
		if (def.vd_ndx == sym)
			return gelf_getverdaux(v->defs, at + (int)def.vd_aux, &aux) ?
			       elf_strptr(v->elf, v->strings, aux.vda_name) : NULL;
		if (!def.vd_next || def.vd_next > v->defs->d_size)
			return NULL;
		at += (int)def.vd_next;
	}
	return NULL;
}

static int add_func(struct elfsym *e, const struct elfsym_func *f)
{
	struct elfsym_func *more;
	size_t room;

	if (e->nr_funcs == e->room_funcs) {
		room = e->room_funcs ? 2 * e->room_funcs : 256;
		more = realloc(e->funcs, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		e->funcs = more;
		e->room_funcs = room;
	}
	e->funcs[e->nr_funcs++] = *f;
	return 0;
}

static int add_symbol(struct elfsym *e, Elf *elf, const GElf_Shdr *shdr,
		      const GElf_Sym *sym, const struct versions *v, int index)
{
	const int type = GELF_ST_TYPE(sym->st_info);
	struct elfsym_func f = { 0 };

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return 0;
	f.name = elf_strptr(elf, shdr->sh_link, sym->st_name);
	if (!f.name || !*f.name)
		return 0;
	f.vaddr = sym->st_value;
	f.size = sym->st_size;
	f.ifunc = type == STT_GNU_IFUNC;
	f.old = strchr(f.name, '@') && !strstr(f.name, "@@");
	if (v)
		f.version = version_of(v, index, &f.old);
	if (!elfsym_offset(e, f.vaddr, &f.offset))
		f.offset = ~0ULL;	/* elfsym_find() says -ERANGE */
	return add_func(e, &f);
}

static int add_table(struct elfsym *e, Elf *elf, GElf_Word type)
{
	struct versions versions;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	GElf_Sym sym;
	int err = 0;

	if (type == SHT_DYNSYM)
		find_versions(elf, &versions);
	while (!err && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && !err && gelf_getsym(data, i, &sym); i++)
			err = add_symbol(e, elf, &shdr, &sym,
					 type == SHT_DYNSYM ? &versions : NULL, i);
	}
	return err;
}

static int by_offset(const void *va, const void *vb)
{
	const struct elfsym_func *a = va, *b = vb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (strcmp(a->name, b->name))
		return strcmp(a->name, b->name);
	if (!a->version || !b->version)
		return !a->version - !b->version;	/* the one that knows first */
	return strcmp(a->version, b->version);
}

static bool is_double(const struct elfsym_func *first, const struct elfsym_func *f)
{
	return first->offset == f->offset && !strcmp(first->name, f->name) &&
	       (!f->version || (first->version &&
				!strcmp(first->version, f->version)));
}

/* The same function is often in .dynsym and in .symtab. */
static void drop_doubles(struct elfsym *e)
{
	size_t kept = 0;

	if (e->nr_funcs)
		qsort(e->funcs, e->nr_funcs, sizeof(*e->funcs), by_offset);
	for (size_t i = 0; i < e->nr_funcs; i++)
		if (!kept || !is_double(&e->funcs[kept - 1], &e->funcs[i]))
			e->funcs[kept++] = e->funcs[i];
	e->nr_funcs = kept;
}

int elfsym_load_funcs(struct elfsym *e)
{
	GElf_Shdr shdr;
	int err;

	if (e->loaded)
		return 0;
	err = add_table(e, e->elf, SHT_DYNSYM);
	if (!err)
		err = add_table(e, e->elf, SHT_SYMTAB);
	if (!err && !elfsym_section(e->elf, ".symtab", &shdr)) {
		elfsym_open_debug(e);
		elfsym_open_mini(e);
		if (e->debug)
			err = add_table(e, e->debug, SHT_SYMTAB);
		if (!err && e->mini)
			err = add_table(e, e->mini, SHT_SYMTAB);
	}
	if (err)
		return err;
	drop_doubles(e);
	e->loaded = true;
	return 0;
}

int elfsym_for_each_func(struct elfsym *e,
			 int (*fn)(const struct elfsym_func *f, void *ctx),
			 void *ctx)
{
	int ret = elfsym_load_funcs(e);

	for (size_t i = 0; !ret && i < e->nr_funcs; i++)
		ret = fn(&e->funcs[i], ctx);
	return ret;
}

/* Itanium ABI, as far as names without templates and parameters go. */
bool elfsym_mangled_matches(const char *mangled, const char *name)
{
	const bool nested = strstr(name, "::") != NULL;
	const char *end;
	char len[16];
	size_t n;

	if (strncmp(mangled, "_Z", 2))
		return false;
	mangled += 2;
	if (*mangled == 'L')			/* static */
		mangled++;
	if (nested) {
		if (*mangled++ != 'N')
			return false;
		mangled += strspn(mangled, "rVK");	/* of methods */
	}
	for (;;) {
		end = nested ? strstr(name, "::") : NULL;
		n = end ? (size_t)(end - name) : strlen(name);
		snprintf(len, sizeof(len), "%zu", n);
		if (!n || strncmp(mangled, len, strlen(len)))
			return false;
		mangled += strlen(len);
		if (strncmp(mangled, name, n))
			return false;
		mangled += n;
		if (!end)
			break;
		name = end + 2;
	}
	/* compilers' copies (.cold, .part.0) are not whole functions */
	return !strchr(mangled, '.') && (!nested || *mangled == 'E' || *mangled == 'I');
}

enum how { EXACTLY, PATTERN, UNMANGLED };

static bool func_matches(const struct elfsym_func *f, const char *name, enum how how)
{
	const size_t len = strcspn(name, "@");
	const char *version;

	if (how == PATTERN)
		return !fnmatch(name, f->name, 0);
	if (how == UNMANGLED)
		return elfsym_mangled_matches(f->name, name);
	if (!strcmp(f->name, name))
		return true;
	/* .symtab may have the version in the name */
	if (strncmp(f->name, name, len) || (f->name[len] && f->name[len] != '@'))
		return false;
	if (!name[len])
		return true;
	version = name + len + strspn(name + len, "@");
	if (f->name[len])
		return !strcmp(f->name + len + strspn(f->name + len, "@"), version);
	return f->version && !strcmp(f->version, version);
}

/* Without a version, that of newly linked programs is meant. */
static bool has_default(struct elfsym *e, const char *name)
{
	for (size_t i = 0; i < e->nr_funcs; i++)
		if (!e->funcs[i].old && func_matches(&e->funcs[i], name, EXACTLY))
			return true;
	return false;
}

static size_t collect(struct elfsym *e, const char *name, enum how how,
		      struct elfsym_func *found, size_t *ifuncs, size_t *outside)
{
	const bool no_old = how == EXACTLY && !strchr(name, '@') &&
			    has_default(e, name);
	size_t nr = 0;

	for (size_t i = 0; i < e->nr_funcs; i++) {
		const struct elfsym_func *f = &e->funcs[i];

		if (!func_matches(f, name, how) || (no_old && f->old))
			continue;
		if (f->ifunc)
			++*ifuncs;
		else if (f->offset == ~0ULL)
			++*outside;
		else if (!nr || found[nr - 1].offset != f->offset)
			found[nr++] = *f;	/* aliases are one place */
	}
	return nr;
}

int elfsym_find(struct elfsym *e, const char *name, struct elfsym_func **found,
		size_t *nr)
{
	size_t ifuncs = 0, outside = 0;
	int err = elfsym_load_funcs(e);

	if (err)
		return err;
	if (!e->nr_funcs)
		return -ENODATA;
	*found = calloc(e->nr_funcs, sizeof(**found));
	if (!*found)
		return -ENOMEM;
	if (is_pattern(name))
		*nr = collect(e, name, PATTERN, *found, &ifuncs, &outside);
	else
		*nr = collect(e, name, EXACTLY, *found, &ifuncs, &outside);
	if (!*nr && !ifuncs && !outside)
		*nr = collect(e, name, UNMANGLED, *found, &ifuncs, &outside);
	if (*nr)
		return 0;
	free(*found);
	*found = NULL;
	return ifuncs ? -ENOTSUP : outside ? -ERANGE : -ENOENT;
}

bool elfsym_is_entry(struct elfsym *e, __u64 offset)
{
	size_t low = 0, high;

	if (elfsym_load_funcs(e))
		return false;
	high = e->nr_funcs;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (e->funcs[mid].offset == offset)
			return true;
		if (e->funcs[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}
