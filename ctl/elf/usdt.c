// SPDX-License-Identifier: GPL-2.0-or-later
/* Read USDT probes: the notes of <sys/sdt.h> in .note.stapsdt. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "elf/int.h"

#define STAPSDT_TYPE	3

struct place {
	__u64 pc, base, semaphore;
};

/* The note begins with three addresses of the file's class. */
static bool read_place(const struct elfsym *e, const char *desc, size_t len,
		       struct place *p, size_t *used)
{
	__u32 narrow[3];
	__u64 wide[3];

	*used = e->class == ELFCLASS32 ? sizeof(narrow) : sizeof(wide);
	if (len < *used)
		return false;
	if (e->class == ELFCLASS32) {
		memcpy(narrow, desc, sizeof(narrow));
		for (int i = 0; i < 3; i++)
			wide[i] = narrow[i];
	} else {
		memcpy(wide, desc, sizeof(wide));
	}
	*p = (struct place) { wide[0], wide[1], wide[2] };
	return true;
}

static const char *next_string(const char **pos, const char *end)
{
	const char *s = *pos;
	const char *stop = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;

	if (!stop)
		return NULL;
	*pos = stop + 1;
	return s;
}

static int add_probe(struct elfsym *e, const struct elfsym_probe *p)
{
	struct elfsym_probe *more;

	more = realloc(e->probes, (e->nr_probes + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	e->probes = more;
	e->probes[e->nr_probes++] = *p;
	return 0;
}

static int add_note(struct elfsym *e, const char *desc, size_t len,
		    bool has_base, __u64 base)
{
	const char *end = desc + len, *pos;
	struct elfsym_probe p = { 0 };
	struct place at;
	size_t used;

	if (!read_place(e, desc, len, &at, &used))
		return 0;
	pos = desc + used;
	p.provider = next_string(&pos, end);
	p.name = p.provider ? next_string(&pos, end) : NULL;
	if (!p.name || !*p.name)
		return 0;
	p.args = next_string(&pos, end);
	if (!p.args)
		p.args = "";
	/* prelink moves code, but does not know these notes */
	if (has_base && base != at.base) {
		at.pc += base - at.base;
		if (at.semaphore)
			at.semaphore += base - at.base;
	}
	if (!elfsym_offset(e, at.pc, &p.offset))
		return 0;
	if (at.semaphore && !elfsym_offset(e, at.semaphore, &p.ref_ctr))
		return 0;
	return add_probe(e, &p);
}

static int by_offset(const void *va, const void *vb)
{
	const struct elfsym_probe *a = va, *b = vb;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

int elfsym_load_probes(struct elfsym *e)
{
	size_t at = 0, next, name, desc;
	bool has_base;
	GElf_Shdr shdr;
	Elf_Data *data;
	GElf_Nhdr nhdr;
	Elf_Scn *scn;
	__u64 base;
	int err = 0;

	if (e->probes_loaded)
		return 0;
	has_base = elfsym_section(e->elf, ".stapsdt.base", &shdr);
	base = has_base ? shdr.sh_addr : 0;
	scn = elfsym_section(e->elf, ".note.stapsdt", &shdr);
	data = scn ? elf_getdata(scn, NULL) : NULL;
	while (data && !err &&
	       (next = gelf_getnote(data, at, &nhdr, &name, &desc)) > at) {
		const char *buf = data->d_buf;

		if (nhdr.n_type == STAPSDT_TYPE && nhdr.n_namesz == sizeof("stapsdt") &&
		    !memcmp(buf + name, "stapsdt", sizeof("stapsdt")))
			err = add_note(e, buf + desc, nhdr.n_descsz, has_base, base);
		at = next;
	}
	if (err)
		return err;
	if (e->nr_probes)
		qsort(e->probes, e->nr_probes, sizeof(*e->probes), by_offset);
	e->probes_loaded = true;
	return 0;
}

int elfsym_for_each_probe(struct elfsym *e,
			  int (*fn)(const struct elfsym_probe *p, void *ctx),
			  void *ctx)
{
	int ret = elfsym_load_probes(e);

	for (size_t i = 0; !ret && i < e->nr_probes; i++)
		ret = fn(&e->probes[i], ctx);
	return ret;
}

static bool name_matches(const char *its, const char *wanted)
{
	return is_pattern(wanted) ? !fnmatch(wanted, its, 0) :
					  !strcmp(wanted, its);
}

int elfsym_find_probe(struct elfsym *e, const char *provider, const char *name,
		      struct elfsym_probe **found, size_t *nr)
{
	int err = elfsym_load_probes(e);

	if (err)
		return err;
	*nr = 0;
	*found = calloc(e->nr_probes + 1, sizeof(**found));
	if (!*found)
		return -ENOMEM;
	for (size_t i = 0; i < e->nr_probes; i++) {
		const struct elfsym_probe *p = &e->probes[i];

		if (name_matches(p->name, name) &&
		    (!provider || name_matches(p->provider, provider)))
			(*found)[(*nr)++] = *p;
	}
	if (*nr)
		return 0;
	free(*found);
	*found = NULL;
	return -ENOENT;
}
