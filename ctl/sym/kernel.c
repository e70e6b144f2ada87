// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve kernel addresses by /proc/kallsyms or a recording's symbols. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "sym/int.h"

/* The last symbol before a gap does not name everything in the gap. */
#define KSYM_MAX_SIZE	(4u << 20)
#define AT_ONCE		(128u << 10)	/* bytes of the list that are read at once */

struct kallsyms_entry {
	__u64 addr;
	const char *name, *module;
	size_t line;
};

/*
 * The list is long: 200 000 lines, each of which the kernel has to put together.  Its own
 * functions come first, by address (the kernel searches among them by halves), so that
 * for an address it is read as far as a function behind it.  Modules' come in any order:
 * for their addresses, and as soon as an address is smaller than the one before, all is.
 */
struct kallsyms {
	FILE *f;			/* NULL: everything was read */
	size_t at_once;			/* bytes */
	char **texts;			/* what names lie in */
	size_t nr_texts;
	char *rest;			/* the beginning of a line that is cut */
	size_t rest_len;
	struct kallsyms_entry *entries;
	size_t nr, room, line;
	__u64 own_end;			/* the last of the kernel's own functions that was read */
	bool unsorted, any;		/* any: an address that is not 0 */
};

static const char own[] = "kernel";

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
	e->module = own;
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

static bool add_line(struct kallsyms *k, char *line)
{
	struct kallsyms_entry e = { .line = k->line++ }, *more;

	if (!parse_line(line, &e) || !e.addr)
		return true;
	k->any = true;
	more = ids_grow(k->entries, k->nr, &k->room, sizeof(*more));
	if (!more)
		return false;
	k->entries = more;
	k->unsorted |= k->nr && e.addr < k->entries[k->nr - 1].addr;
	k->entries[k->nr++] = e;
	if (e.module == own && e.addr > k->own_end)
		k->own_end = e.addr;
	return true;
}

/* The lines of @text, which has room for a NUL behind @len; takes it. */
static bool add_text(struct kallsyms *k, char *text, size_t len)
{
	char **more = reallocarray(k->texts, k->nr_texts + 1, sizeof(*more));
	char *p, *end;
	bool ok = more;

	if (more)
		k->texts = more;
	else
		free(text);
	if (more)
		k->texts[k->nr_texts++] = text;
	for (p = text; ok && p < text + len; p = end + 1) {
		end = memchr(p, '\n', text + len - p);
		if (!end)
			end = text + len;
		*end = 0;
		ok = add_line(k, p);
	}
	return ok;
}

static void read_no_more(struct kallsyms *k)
{
	if (k->f)
		fclose(k->f);
	k->f = NULL;
	free(k->rest);
	k->rest = NULL;
}

static void all_read(struct kallsyms *k)
{
	read_no_more(k);
	if (k->unsorted)
		qsort(k->entries, k->nr, sizeof(*k->entries), cmp_entry);
}

/* The next lines. */
static void read_more(struct kallsyms *k)
{
	const size_t rest = k->rest_len;
	char *text = realloc(k->rest, rest + k->at_once + 1), *last;
	size_t n = text ? fread(text + rest, 1, k->at_once, k->f) : 0, len = rest + n;

	if (text)
		k->rest = NULL;		/* it is @text now */
	k->rest_len = 0;
	last = n ? memrchr(text, '\n', len) : NULL;
	if (n && !last) {		/* no line has an end yet */
		k->rest = text;
		k->rest_len = len;
		return;
	}
	if (last && last + 1 < text + len) {
		k->rest_len = text + len - last - 1;
		k->rest = malloc(k->rest_len);
		if (k->rest)
			memcpy(k->rest, last + 1, k->rest_len);
		n = k->rest ? n : 0;
		len = last + 1 - text;
	}
	if ((text && !add_text(k, text, len)) || !n)
		all_read(k);
}

static void read_all(struct kallsyms *k)
{
	while (k->f)
		read_more(k);
}

struct kallsyms *kallsyms_open(FILE *f, size_t at_once)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k) {
		fclose(f);
		return NULL;
	}
	k->f = f;
	k->at_once = at_once;
	while (k->f && !k->any)
		read_more(k);
	return k;
}

struct kallsyms *kallsyms_parse(char *text, size_t len)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	char *p = realloc(text, len + 1);

	if (!p || !k || !add_text(k, p, len)) {
		if (!p || !k)
			free(p ? p : text);
		kallsyms_free(k);
		return NULL;
	}
	all_read(k);
	return k;
}

bool kallsyms_hidden(const struct kallsyms *k)
{
	return k->line && !k->any;
}

const char *kallsyms_lookup(struct kallsyms *k, __u64 addr, __u64 *start, const char **module)
{
	const struct kallsyms_entry *e;
	size_t lo = 0, hi;

	while (k->f && (k->unsorted || k->own_end <= addr))
		read_more(k);
	hi = k->nr;
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
	read_no_more(k);
	for (size_t i = 0; i < k->nr_texts; i++)
		free(k->texts[i]);
	free(k->texts);
	free(k->entries);
	free(k);
}

static void load_kallsyms(struct sym *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");

	s->kallsyms_tried = true;
	if (f)
		s->kallsyms = kallsyms_open(f, AT_ONCE);
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

/* "NAME+0xOFFSET/0xSIZE [MODULE]"; false: the module has no name for it, or is too old. */
static bool from_module(struct sym *s, __u64 addr, __u64 ip, struct sym_frame *f)
{
	char text[MEMTAP_SYMBOL_LEN], *plus, *module, *end;

	if (!s->opts.kernel_name || s->opts.kernel_name(s->opts.device, addr, text))
		return false;
	plus = strstr(text, "+0x");
	if (!plus || plus == text)
		return false;
	f->offset = strtoull(plus + 1, &end, 16) + (ip - addr);
	if (*end != '/')
		return false;
	module = strstr(end, " [");
	end = module ? strchr(module, ']') : NULL;
	if (end) {
		*end = 0;
		f->object = sym_intern(s, module + 2);
	}
	*plus = 0;
	f->name = sym_intern(s, sym_demangle(s, text));
	return true;
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

static void name_of(struct sym *s, __u64 addr, __u64 ip, struct sym_frame *f)
{
	if (!from_module(s, addr, ip, f))
		from_kallsyms(s, addr, ip, f);
}

/*
 * What stands in the place of a return address while a kretprobe or function_graph waits for
 * the return.  Nobody calls it, so it is no call's next instruction: what lies in front of it
 * is somebody else's.
 */
static bool is_trampoline(const struct sym_frame *f)
{
	return f->name && !f->offset && (strstr(f->name, "kretprobe_trampoline") ||
					 strstr(f->name, "rethook_trampoline") ||
					 !strcmp(f->name, "return_to_handler"));
}

/* @ip is where a call returns to. */
static void name_caller(struct sym *s, __u64 ip, struct sym_frame *f)
{
	struct sym_frame at = *f;

	name_of(s, ip, ip, &at);
	if (is_trampoline(&at))
		*f = at;
	else
		name_of(s, ip - 1, ip, f);
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
	else if (local && call)
		name_caller(s, ip, &f);
	else if (local)
		name_of(s, ip, ip, &f);
	return sym_cache_put(s, owner, ip << 1 | call, &f, 1, frames);
}

/*
 * From its first function to the end of the page that the last one begins in, and more.
 * Its functions may be listed where its init code was, too, which is somebody else's memory
 * by now (kernels with CONFIG_KALLSYMS_ALL): only those of its core count.
 */
#define BEHIND_LAST	(64u << 10)

bool kallsyms_module_range(struct kallsyms *k, const char *name, __u64 base, __u64 size,
			   __u64 *start, __u64 *end)
{
	__u64 next = base + size;

	*start = ~0ULL;
	*end = 0;
	read_all(k);
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

__u64 sym_module_base(const char *name)
{
	__u64 size = 0;

	return module_core(name, &size);
}

int sym_module_range(const char *name, __u64 *start, __u64 *end)
{
	struct kallsyms *k = NULL;
	__u64 size = 0;
	const __u64 base = module_core(name, &size);
	int err = -EACCES;
	FILE *f;

	if (!base)
		return -ENOENT;
	f = fopen("/proc/kallsyms", "re");
	if (f)
		k = kallsyms_open(f, AT_ONCE);
	if (k && base != ~0ULL && kallsyms_module_range(k, name, base, size, start, end))
		err = 0;
	kallsyms_free(k);
	return err;
}
