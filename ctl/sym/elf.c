// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the symbols of one ELF file into a sorted array, and convert file offsets (in the module's
 * MAP records) to addresses by the program headers.  elfutils joins the symbol table,
 * .gnu_debugdata and separate debug files, but would search its tables again for each address.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/alt.h"
#include "sym/debug.h"
#include "sym/int.h"

#define SYM_BACK	16	/* symbols that may lie inside another one */

struct elf_sym {
	__u64 addr, size;
	const char *name;
	int rank;
};

struct segment {
	__u64 offset, filesz, addr, memsz;
	bool exec;
};

struct sym_elf {
	Dwfl_Callbacks callbacks;
	char *debug_dir;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	GElf_Addr bias;		/* of dwfl's addresses against the file's */
	struct segment *segments;
	size_t nr_segments;
	struct elf_sym *syms;
	size_t nr_syms;
	bool syms_tried;
	struct sym_dwarf *dwarf;
	void (*drop_dwarf)(struct sym_dwarf *d);
};

static bool read_segments(struct sym_elf *e, Elf *elf)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr) || !nr)
		return false;
	e->segments = calloc(nr, sizeof(*e->segments));
	if (!e->segments)
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct segment *s = &e->segments[e->nr_segments];
		GElf_Phdr p;

		if (!gelf_getphdr(elf, i, &p) || p.p_type != PT_LOAD || !p.p_memsz)
			continue;
		s->offset = p.p_offset;
		s->filesz = p.p_filesz;		/* (0: in a debug file) */
		s->addr = p.p_vaddr;
		s->memsz = p.p_memsz;
		s->exec = p.p_flags & PF_X;
		e->nr_segments++;
	}
	return e->nr_segments;
}

/* For sym_debug_find(). */
static void set_debug_dir(struct sym_elf *e)
{
	void **userdata;

	dwfl_module_info(e->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = e->debug_dir;
}

struct sym_elf *sym_elf_open(int fd, const char *path, const char *debug_dir)
{
	struct sym_elf *e = calloc(1, sizeof(*e));
	Elf *elf;

	if (!e) {
		close(fd);
		return NULL;
	}
	elf_version(EV_CURRENT);
	e->debug_dir = strdup(debug_dir);
	e->callbacks.find_elf = dwfl_build_id_find_elf;
	e->callbacks.find_debuginfo = sym_debug_find;
	e->callbacks.section_address = dwfl_offline_section_address;
	e->dwfl = dwfl_begin(&e->callbacks);
	if (!e->debug_dir || !e->dwfl) {
		close(fd);
		sym_elf_close(e);
		return NULL;
	}
	dwfl_report_begin(e->dwfl);
	e->mod = dwfl_report_elf(e->dwfl, path, path, fd, 0, true);
	if (!e->mod)
		close(fd);
	else
		set_debug_dir(e);
	dwfl_report_end(e->dwfl, NULL, NULL);
	elf = e->mod ? dwfl_module_getelf(e->mod, &e->bias) : NULL;
	if (!elf || !read_segments(e, elf)) {
		sym_elf_close(e);
		return NULL;
	}
	return e;
}

void sym_elf_close(struct sym_elf *e)
{
	if (!e)
		return;
	if (e->dwarf)
		e->drop_dwarf(e->dwarf);
	if (e->dwfl)
		dwfl_end(e->dwfl);
	free(e->debug_dir);
	free(e->segments);
	free(e->syms);
	free(e);
}

/* Mappings are whole pages: they reach a little beyond the segment. */
static bool in_segment(const struct segment *s, __u64 offset, __u64 slack)
{
	return offset + slack >= s->offset && offset < s->offset + s->filesz + slack;
}

bool sym_elf_address(const struct sym_elf *e, __u64 offset, __u64 *addr)
{
	static const __u64 slacks[] = { 0, 4096 };

	for (int exec = 1; exec >= 0; exec--) {
		for (int i = 0; i < 2; i++) {
			for (size_t k = 0; k < e->nr_segments; k++) {
				const struct segment *s = &e->segments[k];

				if (s->exec != exec || !s->filesz ||
				    !in_segment(s, offset, slacks[i]))
					continue;
				*addr = offset - s->offset + s->addr;
				return true;
			}
		}
	}
	return false;
}

#define PAGE_MASK	4095ULL		/* of the machines that memtap runs on */

bool sym_elf_debug_address(const struct sym_elf *e, __u64 offset, __u64 map_offset,
			   __u64 map_len, __u64 *addr)
{
	const struct segment *code = NULL;
	__u64 start, end;

	for (size_t i = 0; i < e->nr_segments; i++) {
		if (!e->segments[i].exec)
			continue;
		if (code)
			return false;
		code = &e->segments[i];
	}
	if (!code || code->addr + code->memsz < code->addr)
		return false;
	start = code->addr & ~PAGE_MASK;
	end = (code->addr + code->memsz + PAGE_MASK) & ~PAGE_MASK;
	if (end - start != map_len || offset - map_offset >= map_len)
		return false;
	*addr = offset - map_offset + start;
	return true;
}

/*
 * Among names of one address, the one that people know: global or weak, which
 * libc's calloc is, and __libc_calloc is not.
 */
static int sym_rank(const GElf_Sym *sym)
{
	static const int by_bind[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 0 };
	unsigned int bind = GELF_ST_BIND(sym->st_info);
	int rank = bind <= STB_WEAK ? by_bind[bind] : 3;

	return rank + (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE ? 4 : 0);
}

static bool is_code(const GElf_Sym *sym, Elf *elf, const char *name)
{
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (!name || !*name || *name == '$' || sym->st_shndx == SHN_UNDEF)
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		if (sym->st_shndx >= SHN_LORESERVE)
			return false;
		scn = elf_getscn(elf, sym->st_shndx);
		return scn && gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR);
	}
	return false;
}

/* A version that is not the default one. */
static int is_old(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at[1] != '@';
}

static int cmp_sym(const void *a, const void *b)
{
	const struct elf_sym *x = a, *y = b;
	int c;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	/* "free@@GLIBC_2.2.5" is what programs call, "cfree@GLIBC_2.2.5" what they did */
	c = is_old(x->name) - is_old(y->name);
	if (c)
		return c;
	/* fewer underscores: the name without decoration */
	c = (int)strspn(x->name, "_") - (int)strspn(y->name, "_");
	return c ? c : strcmp(x->name, y->name);
}

/* Keep the best of each address; sizes from it, or from an alias that has one. */
static void drop_aliases(struct sym_elf *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->nr_syms; i++) {
		struct elf_sym *last = kept ? &e->syms[kept - 1] : NULL;

		if (last && last->addr == e->syms[i].addr) {
			if (e->syms[i].size > last->size)
				last->size = e->syms[i].size;
			continue;
		}
		e->syms[kept++] = e->syms[i];
	}
	e->nr_syms = kept;
	/* Hand-written assembly gives no sizes: up to the next symbol. */
	for (size_t i = 0; i + 1 < kept; i++)
		if (!e->syms[i].size)
			e->syms[i].size = e->syms[i + 1].addr - e->syms[i].addr;
}

static void load_syms(struct sym_elf *e)
{
	int nr = dwfl_module_getsymtab(e->mod);

	e->syms_tried = true;
	if (nr <= 0)
		return;
	e->syms = calloc(nr, sizeof(*e->syms));
	if (!e->syms)
		return;
	for (int i = 1; i < nr; i++) {
		struct elf_sym *s = &e->syms[e->nr_syms];
		GElf_Addr addr, bias;
		GElf_Word shndx;
		GElf_Sym sym;
		Elf *elf;

		s->name = dwfl_module_getsym_info(e->mod, i, &sym, &addr, &shndx,
						  &elf, &bias);
		if (!is_code(&sym, elf, s->name))
			continue;
		s->addr = addr - e->bias;
		s->size = sym.st_size;
		s->rank = sym_rank(&sym);
		e->nr_syms++;
	}
	qsort(e->syms, e->nr_syms, sizeof(*e->syms), cmp_sym);
	drop_aliases(e);
}

const char *sym_elf_symbol(struct sym_elf *e, __u64 addr, __u64 *start)
{
	size_t lo = 0, hi;

	if (!e->syms_tried)
		load_syms(e);
	hi = e->nr_syms;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (int i = 0; i < SYM_BACK && lo--; i++) {
		if (addr - e->syms[lo].addr >= e->syms[lo].size)
			continue;
		*start = e->syms[lo].addr;
		return e->syms[lo].name;
	}
	return NULL;
}

void *sym_elf_module(struct sym_elf *e, __u64 *bias)
{
	*bias = e->bias;
	return e->mod;
}

const char *sym_elf_debug_dir(const struct sym_elf *e)
{
	return e->debug_dir;
}

struct sym_dwarf **sym_elf_dwarf(struct sym_elf *e, void (*drop)(struct sym_dwarf *d))
{
	e->drop_dwarf = drop;
	return &e->dwarf;
}
