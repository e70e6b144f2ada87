// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of kernel addresses: /proc/kallsyms, or what a file brings along. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

/* The last symbol before a gap does not name everything in the gap. */
#define KSYM_MAX_SIZE	(4u << 20)

struct kallsyms_entry {
	__u64 addr;
	const char *name, *module;
	size_t line;
};

struct kallsyms {
	char *text;
	struct kallsyms_entry *entries;
	size_t nr;
	bool hidden;
};

/* "ADDR TYPE NAME[\t[MODULE]]", NUL-terminated; text symbols only. */
static bool parse_line(char *p, struct kallsyms_entry *e)
{
	char *end, *tab;

	e->addr = strtoull(p, &end, 16);
	if (end == p || !isxdigit((unsigned char)*p) || end - p > 18 ||
	    end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	if (!strchr("tTwWi", end[1]))
		return false;
	e->name = p = end + 3;
	e->module = "kernel";
	tab = strchr(p, '\t');
	if (tab) {
		*tab = 0;
		if (tab[1] == '[' && (end = strchr(tab + 2, ']')) && end > tab + 2) {
			*end = 0;
			e->module = tab + 2;
		}
	}
	return *p && *p != '$' && strncmp(p, "__pfx_", 6) && strncmp(p, ".L", 2);
}

/* Of several names for one address, the kernel itself takes the first. */
static int cmp_entry(const void *a, const void *b)
{
	const struct kallsyms_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct kallsyms *kallsyms_parse(char *text, size_t len)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	size_t lines = 1, line = 0;
	char *p, *end;
	__u64 any = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	p = realloc(text, len + 1);
	if (p)
		text = p;
	if (k)
		k->entries = calloc(lines, sizeof(*k->entries));
	if (!p || !k || !k->entries) {
		free(text);
		free(k);
		return NULL;
	}
	text[len] = 0;
	k->text = text;
	for (p = text; p < text + len; p = end + 1) {
		struct kallsyms_entry *e = &k->entries[k->nr];

		end = memchr(p, '\n', text + len - p);
		if (!end)
			end = text + len;
		*end = 0;
		e->line = line++;
		if (!parse_line(p, e))
			continue;
		any |= e->addr;
		k->nr += e->addr != 0;
	}
	k->hidden = line && !any;
	qsort(k->entries, k->nr, sizeof(*k->entries), cmp_entry);
	return k;
}

bool kallsyms_hidden(const struct kallsyms *k)
{
	return k->hidden;
}

const char *kallsyms_lookup(const struct kallsyms *k, __u64 addr, __u64 *start,
			    const char **module)
{
	const struct kallsyms_entry *e;
	size_t lo = 0, hi = k->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->entries[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - k->entries[lo - 1].addr >= KSYM_MAX_SIZE)
		return NULL;
	e = &k->entries[lo - 1];
	while (e > k->entries && e[-1].addr == e->addr)
		e--;
	*start = e->addr;
	*module = e->module;
	return e->name;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->entries);
	free(k->text);
	free(k);
}

/* It is longer than what stat() says: read until the end. */
static char *read_text(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *text = NULL, *p;
	size_t room = 0, n;

	*len = 0;
	while (f) {
		if (room - *len < 65536) {
			p = realloc(text, room = 2 * room + (1 << 20));
			if (!p)
				break;
			text = p;
		}
		n = fread(text + *len, 1, room - *len, f);
		if (!n)
			break;
		*len += n;
	}
	if (f)
		fclose(f);
	return text;
}

static void load_kallsyms(struct sym *s)
{
	char *text;
	size_t len;

	s->kallsyms_tried = true;
	text = read_text("/proc/kallsyms", &len);
	if (text)
		s->kallsyms = kallsyms_parse(text, len);
	if (!s->kallsyms)
		sym_note(s, "kernel functions have no names: /proc/kallsyms cannot be read");
	else if (kallsyms_hidden(s->kallsyms))
		sym_note(s, "kernel functions have no names: addresses are hidden "
			 "(see /proc/sys/kernel/kptr_restrict)");
}

static const struct snap_ksym *find_ksym(const struct snap_ksym *at, size_t nr, __u64 addr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (at[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && at[lo].addr == addr ? &at[lo] : NULL;
}

/* "symbol" or "symbol [module]" */
static void from_ksym(struct sym *s, const struct snap_ksym *k, struct sym_frame *f)
{
	char name[512];
	char *module, *end;

	snprintf(name, sizeof(name), "%s", k->name);
	module = strstr(name, " [");
	if (module && (end = strchr(module, ']'))) {
		*module = *end = 0;
		f->object = sym_intern(s, module + 2);
	}
	f->name = sym_intern(s, sym_demangle(s, name));
	f->offset = k->offset;
}

static void from_kallsyms(struct sym *s, __u64 addr, __u64 ip, struct sym_frame *f)
{
	const char *name, *module;
	__u64 start;

	if (!s->kallsyms_tried)
		load_kallsyms(s);
	if (!s->kallsyms)
		return;
	name = kallsyms_lookup(s->kallsyms, addr, &start, &module);
	if (!name)
		return;
	f->name = sym_demangle(s, name);
	f->object = module;
	f->offset = ip - start;
}

size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	struct sym_frame f = { .object = "kernel", .addr = ip, .kernel = true };
	const struct snap_ksym *k = NULL;
	bool local = !snap->has_tool && sym_is_local(snap);
	const void *owner = local ? "kernel" : "foreign";
	size_t nr;

	if (snap->has_tool)
		k = find_ksym(snap->ksyms, snap->nr_ksyms, ip);
	else if (snap->nr_gones)	/* a module's that went: the kernel knows it no more */
		k = find_ksym(snap->gones, snap->nr_gones, ip);
	if (k)	/* by name: other files have other names for this address */
		owner = sym_intern(s, k->name);
	nr = sym_cache_get(s, owner, ip << 1 | call, frames);
	if (nr)
		return nr;
	if (k)
		from_ksym(s, k, &f);
	else if (local)
		from_kallsyms(s, ip - call, ip, &f);
	return sym_cache_put(s, owner, ip << 1 | call, &f, 1, frames);
}

/*
 * From its first function to the end of the page that the last one begins in, and more.
 * Its functions may be listed where its init code was, too, which is somebody else's memory
 * by now (kernels with CONFIG_KALLSYMS_ALL): only those of its core count.
 */
#define BEHIND_LAST	(64u << 10)

bool kallsyms_module_range(const struct kallsyms *k, const char *name, __u64 base, __u64 size,
			   __u64 *start, __u64 *end)
{
	__u64 next = base + size;

	*start = ~0ULL;
	*end = 0;
	/* sorted by address */
	for (size_t i = 0; i < k->nr && k->entries[i].addr < next; i++) {
		const struct kallsyms_entry *e = &k->entries[i];

		if (e->addr < base)
			continue;
		if (strcmp(e->module, name)) {
			next = e->addr;		/* another one's begins */
		} else {
			*start = e->addr < *start ? e->addr : *start;
			*end = e->addr;
		}
	}
	if (*start > *end)
		return false;
	*end = next - *end < BEHIND_LAST ? next : *end + BEHIND_LAST;
	return true;
}

/* Where a module's core begins, and its size with all that it has.  0: no such module. */
static __u64 module_core(const char *name, __u64 *size)
{
	char line[4096], found[64], path[128];
	unsigned long long base = 0, bytes;
	FILE *f = fopen("/proc/modules", "re");

	while (f && !base && fgets(line, sizeof(line), f)) {
		const char *at = strrchr(line, ' ');

		/* "NAME SIZE REFS USERS STATE 0xADDRESS", and flags in parentheses */
		if (sscanf(line, "%63s %llu", found, &bytes) != 2 || strcmp(found, name))
			continue;
		if (at && at[1] == '(')
			for (at--; at > line && *at != ' '; at--)
				;
		*size = bytes;
		base = at ? strtoull(at, NULL, 16) : 0;
		if (!base)
			base = ~0ULL;
	}
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/sys/module/%s/coresize", name);
	f = base ? fopen(path, "re") : NULL;
	if (f && fscanf(f, "%llu", &bytes) == 1 && bytes)
		*size = bytes;
	if (f)
		fclose(f);
	return base;
}

int sym_module_range(const char *name, __u64 *start, __u64 *end)
{
	struct kallsyms *k = NULL;
	__u64 size = 0;
	const __u64 base = module_core(name, &size);
	size_t len;
	char *text;
	int err = -EACCES;

	if (!base)
		return -ENOENT;
	text = read_text("/proc/kallsyms", &len);
	if (text)
		k = kallsyms_parse(text, len);
	if (k && base != ~0ULL && kallsyms_module_range(k, name, base, size, start, end))
		err = 0;
	kallsyms_free(k);
	return err;
}
