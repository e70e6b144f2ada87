// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Look up many names in a file at once.  Dynamic symbols are looked up in the file's own hash
 * table, which reads a few bytes per name.  Other symbol tables are read once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/int.h"

struct elfsym_names {
	const char **names;
	__u32 *hashes;			/* GNU's */
	size_t nr, longest;
	__u32 *slots;			/* 1 + index; 0: free */
	size_t mask;
};

static __u32 gnu_hash(const char *s, size_t len)
{
	__u32 h = 5381;

	while (len--)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

struct elfsym_names *elfsym_names_new(const char *const *names, size_t nr)
{
	struct elfsym_names *n = calloc(1, sizeof(*n));
	size_t size = 16, len, slot;

	while (size < 4 * nr)
		size *= 2;
	if (!n)
		return NULL;
	n->names = calloc(nr + 1, sizeof(*n->names));
	n->hashes = calloc(nr + 1, sizeof(*n->hashes));
	n->slots = calloc(size, sizeof(*n->slots));
	n->mask = size - 1;
	if (!n->names || !n->hashes || !n->slots) {
		elfsym_names_free(n);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++) {
		len = strlen(names[i]);
		n->longest = len > n->longest ? len : n->longest;
		n->names[i] = names[i];
		n->hashes[i] = gnu_hash(names[i], len);
		slot = n->hashes[i] & n->mask;
		while (n->slots[slot])
			slot = (slot + 1) & n->mask;
		n->slots[slot] = (__u32)i + 1;
	}
	n->nr = nr;
	return n;
}

void elfsym_names_free(struct elfsym_names *n)
{
	if (!n)
		return;
	free(n->names);
	free(n->hashes);
	free(n->slots);
	free(n);
}

/* A symbol's name may have its version behind it: malloc@@GLIBC_2.2.5 */
static bool find_name(const struct elfsym_names *n, const char *name, size_t *index)
{
	const size_t room = strnlen(name, n->longest + 1);
	const char *at = memchr(name, '@', room);
	const size_t len = at ? (size_t)(at - name) : room;
	__u32 hash;

	if (!len || len > n->longest)
		return false;
	hash = gnu_hash(name, len);
	for (size_t slot = hash & n->mask; n->slots[slot];
	     slot = (slot + 1) & n->mask) {
		const size_t i = n->slots[slot] - 1;

		if (n->hashes[i] == hash && !strncmp(n->names[i], name, len) &&
		    !n->names[i][len]) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* One symbol table and its strings, checked. */
struct table {
	const char *strings;
	size_t strings_len;
	Elf_Data *symbols;
	int nr;
};

static bool open_table(Elf *elf, GElf_Word type, struct table *t)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		t->symbols = elf_getdata(scn, NULL);
		scn = elf_getscn(elf, shdr.sh_link);
		data = scn ? elf_getdata(scn, NULL) : NULL;
		if (!t->symbols || !t->symbols->d_buf || !data || !data->d_buf ||
		    !data->d_size || ((char *)data->d_buf)[data->d_size - 1])
			return false;
		t->strings = data->d_buf;
		t->strings_len = data->d_size;
		t->nr = (int)(t->symbols->d_size / gelf_fsize(elf, ELF_T_SYM, 1,
							      EV_CURRENT));
		return true;
	}
	return false;
}

/* What a look at symbols is for. */
struct search {
	struct elfsym *e;
	const struct elfsym_names *names;
	int (*fn)(const struct elfsym_func *f, size_t index, void *ctx);
	void *ctx;
};

static const char *get_symbol(const struct table *t, int index, GElf_Sym *sym)
{
	if (!gelf_getsym(t->symbols, index, sym) || sym->st_name >= t->strings_len)
		return NULL;
	return t->strings + sym->st_name;
}

static int offer(const struct search *s, const GElf_Sym *sym, const char *name,
		 size_t index)
{
	const int type = GELF_ST_TYPE(sym->st_info);
	struct elfsym_func f = {
		.name = name, .vaddr = sym->st_value, .size = sym->st_size,
		.ifunc = type == STT_GNU_IFUNC,
	};

	/* runtime.text of Go has no type in some versions */
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    sym->st_shndx == SHN_UNDEF || !sym->st_value ||
	    !elfsym_offset(s->e, f.vaddr, &f.offset))
		return 0;
	return s->fn(&f, index, s->ctx);
}

static int search_all(const struct search *s, const struct table *t)
{
	const char *name;
	size_t index;
	GElf_Sym sym;
	int ret = 0;

	for (int i = 1; i < t->nr && !ret; i++) {
		name = get_symbol(t, i, &sym);
		if (name && sym.st_shndx != SHN_UNDEF && find_name(s->names, name, &index))
			ret = offer(s, &sym, name, index);
	}
	return ret;
}

/* .gnu.hash, of the 64-bit kind */
struct gnu_table {
	__u32 nr_buckets, first, nr_bloom, shift;
	const __u64 *bloom;
	const __u32 *buckets, *chains;
	size_t nr_chains;
};

static bool open_gnu_table(Elf *elf, struct gnu_table *g)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;
	size_t need;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_GNU_HASH)
			break;
	data = scn ? elf_getdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || data->d_size < 16 || (size_t)data->d_buf % 8)
		return false;
	memcpy(g, data->d_buf, 16);
	need = 16 + (size_t)g->nr_bloom * 8 + (size_t)g->nr_buckets * 4;
	if (!g->nr_buckets || !g->nr_bloom || need > data->d_size)
		return false;
	g->bloom = (const void *)((const char *)data->d_buf + 16);
	g->buckets = (const void *)(g->bloom + g->nr_bloom);
	g->chains = g->buckets + g->nr_buckets;
	g->nr_chains = (data->d_size - need) / 4;
	return true;
}

static int search_hashed(const struct search *s, const struct table *t,
			 const struct gnu_table *g, size_t index)
{
	const __u32 hash = s->names->hashes[index];
	const __u64 word = g->bloom[hash / 64 % g->nr_bloom];
	const char *name;
	GElf_Sym sym;
	__u32 i, its;
	int ret = 0;

	if (!(word >> hash % 64 & 1) || !(word >> (hash >> (g->shift & 31)) % 64 & 1))
		return 0;
	i = g->buckets[hash % g->nr_buckets];
	for (; i >= g->first && i - g->first < g->nr_chains && !ret; i++) {
		its = g->chains[i - g->first];
		if ((its | 1) == (hash | 1)) {
			name = get_symbol(t, (int)i, &sym);
			if (name && !strcmp(name, s->names->names[index]))
				ret = offer(s, &sym, name, index);
		}
		if (its & 1)
			break;
	}
	return ret;
}

static int search_dynamic(const struct search *s, const struct table *t)
{
	struct gnu_table g;
	int ret = 0;

	if (s->e->class != ELFCLASS64 || !open_gnu_table(s->e->elf, &g))
		return search_all(s, t);
	for (size_t i = 0; i < s->names->nr && !ret; i++)
		ret = search_hashed(s, t, &g, i);
	return ret;
}

static int search_static(const struct search *s)
{
	struct elfsym *e = s->e;
	struct table t;
	int ret = 0;

	if (open_table(e->elf, SHT_SYMTAB, &t))
		return search_all(s, &t);
	elfsym_open_debug(e);
	if (e->debug && open_table(e->debug, SHT_SYMTAB, &t))
		return search_all(s, &t);
	elfsym_open_mini(e);
	if (e->mini && open_table(e->mini, SHT_SYMTAB, &t))
		ret = search_all(s, &t);
	return ret;
}

int elfsym_find_names(struct elfsym *e, enum elfsym_where where,
		      const struct elfsym_names *names,
		      int (*fn)(const struct elfsym_func *f, size_t index, void *ctx),
		      void *ctx)
{
	const struct search s = { e, names, fn, ctx };
	struct table t;

	if (where == ELFSYM_STATIC)
		return search_static(&s);
	return open_table(e->elf, SHT_DYNSYM, &t) ? search_dynamic(&s, &t) : 0;
}

bool elfsym_imports(struct elfsym *e, const struct elfsym_names *names)
{
	const char *name;
	struct table t;
	size_t index;
	GElf_Sym sym;

	if (!open_table(e->elf, SHT_DYNSYM, &t))
		return false;
	for (int i = 1; i < t.nr; i++) {
		name = get_symbol(&t, i, &sym);
		if (name && sym.st_shndx == SHN_UNDEF && find_name(names, name, &index))
			return true;
	}
	return false;
}
