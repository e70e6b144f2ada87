// SPDX-License-Identifier: GPL-2.0-or-later
/* A file's allocator functions, as probes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "alloc_table.h"
#include "elfsym.h"
#include "maps.h"

#define CODE_MAX	16384	/* of a function */

/* A place of the file, and all that is known to begin there. */
struct place {
	__u64 offset, size;
	size_t name;		/* the best: index of alloc_names */
	__u32 events;		/* mask: index in event_names */
	const char *symbol;
	int spec;
};

struct places {
	struct place *at;
	size_t nr, room;
	bool malloc;		/* one of them is malloc, by whatever name */
	int err;
};

struct scan {
	struct elfsym *e;
	int fd;
	const char *path;
	const struct alloc_opts *opts;
	struct elfsym_kind kind;
	struct places places;
	__u64 go_from, go_to;
};

/* In the order in which they are joined: "free/delete". */
static const char *const event_names[] = {
	"malloc", "calloc", "realloc", "memalign", "free",
	"new", "new[]", "delete", "delete[]",
};

#define NR_EVENTS	(sizeof(event_names) / sizeof(event_names[0]))
#define EVENT_NEW	5
#define GO_FROM		"runtime.text"
#define GO_TO		"runtime.etext"

static __u32 event_bit(const char *event)
{
	for (size_t i = 0; i < NR_EVENTS; i++)
		if (!strcmp(event_names[i], event))
			return 1u << i;
	return 0;
}

/* --- names ----------------------------------------------------------------- */

/* The table's names, those with prefixes, and what else is worth to know. */
struct wanted {
	struct elfsym_names *set;
	const char **names;
	size_t *rows;		/* index of alloc_names, or one of Go's two */
	char *text;		/* names that were put together */
	size_t nr;
};

static size_t nr_prefixes(const struct alloc_opts *o)
{
	size_t nr = o->prefix ? 1 : 0;

	for (size_t i = 0; alloc_prefixes[i]; i++)
		nr++;
	return nr;
}

static const char *prefix_nr(const struct alloc_opts *o, size_t i)
{
	if (!o->prefix)
		return alloc_prefixes[i];
	return i ? alloc_prefixes[i - 1] : o->prefix;
}

static void want(struct wanted *w, const char *name, size_t row)
{
	w->names[w->nr] = name;
	w->rows[w->nr++] = row;
}

static void want_prefixed(struct wanted *w, const struct alloc_opts *o)
{
	char *text = w->text;

	for (size_t p = 0; p < nr_prefixes(o); p++)
		for (size_t i = 0; i < alloc_nr_names; i++) {
			if (!(alloc_names[i].flags & ALLOC_C))
				continue;
			want(w, text, i);
			text += sprintf(text, "%s%s", prefix_nr(o, p),
					alloc_names[i].name) + 1;
		}
}

static void wanted_free(struct wanted *w)
{
	elfsym_names_free(w->set);
	free(w->names);
	free(w->rows);
	free(w->text);
}

static int wanted_make(struct wanted *w, const struct alloc_opts *o)
{
	const size_t room = alloc_nr_names * (nr_prefixes(o) + 1) + 2;
	size_t len = 64;

	for (size_t i = 0; i < nr_prefixes(o); i++)
		len += alloc_nr_names * (strlen(prefix_nr(o, i)) + 40);
	memset(w, 0, sizeof(*w));
	w->names = calloc(room, sizeof(*w->names));
	w->rows = calloc(room, sizeof(*w->rows));
	w->text = malloc(len);
	if (!w->names || !w->rows || !w->text)
		return -ENOMEM;
	for (size_t i = 0; i < alloc_nr_names; i++)
		want(w, alloc_names[i].name, i);
	want_prefixed(w, o);
	want(w, GO_FROM, alloc_nr_names);
	want(w, GO_TO, alloc_nr_names + 1);
	w->set = elfsym_names_new(w->names, w->nr);
	return w->set ? 0 : -ENOMEM;
}

/* --- places ---------------------------------------------------------------- */

static struct place *find_place(struct places *p, __u64 offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->at[i].offset == offset)
			return &p->at[i];
	return NULL;
}

static struct place *add_place(struct places *p, __u64 offset)
{
	struct place *at = find_place(p, offset);
	size_t room;

	if (at)
		return at;
	if (p->nr == p->room) {
		room = p->room ? 2 * p->room : 64;
		at = realloc(p->at, room * sizeof(*at));
		if (!at) {
			p->err = -ENOMEM;
			return NULL;
		}
		p->at = at;
		p->room = room;
	}
	at = &p->at[p->nr++];
	*at = (struct place) { .offset = offset, .name = alloc_nr_names, .spec = -1 };
	return at;
}

struct seen {
	struct scan *scan;
	const struct wanted *wanted;
};

static int see_function(const struct elfsym_func *f, size_t index, void *ctx)
{
	const struct seen *seen = ctx;
	const size_t row = seen->wanted->rows[index];
	struct scan *s = seen->scan;
	struct place *p;

	if (row == alloc_nr_names)
		s->go_from = f->offset;
	else if (row > alloc_nr_names)
		s->go_to = f->offset;
	if (row >= alloc_nr_names || f->ifunc || !elfsym_is_code(s->e, f->offset))
		return 0;
	p = add_place(&s->places, f->offset);
	if (!p)
		return -ENOMEM;
	if (f->size > p->size)
		p->size = f->size;
	if (row < p->name) {
		p->name = row;
		p->symbol = f->name;
	}
	/* spare names count where nothing else has done so */
	if (!(alloc_names[row].flags & ALLOC_SPARE))
		p->events |= event_bit(alloc_names[row].event);
	s->places.malloc |= !strcmp(alloc_names[row].name, "malloc");
	return 0;
}

/* Where a libc function has two names, its usual one may be missing. */
static void drop_spares(struct places *p)
{
	__u32 events = 0;
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++)
		events |= p->at[i].events;
	for (size_t i = 0; i < p->nr; i++) {
		const struct place *at = &p->at[i];

		if (!at->events && at->spec < 0) {
			const __u32 bit = event_bit(alloc_names[at->name].event);

			if (events & bit)
				continue;
			p->at[i].events = bit;
		}
		p->at[kept++] = p->at[i];
	}
	p->nr = kept;
}

/*
 * Symbols that only debuggers need cost time to read.  A library that exports
 * what it has, or takes memory from others, has nothing more to say there.
 */
static bool needs_static(const struct scan *s, const struct wanted *w)
{
	if (s->kind.program)
		return true;
	return !s->places.nr && !elfsym_imports(s->e, w->set);
}

static int find_places(struct scan *s)
{
	struct wanted wanted;
	struct seen seen = { s, &wanted };
	int err = wanted_make(&wanted, s->opts);

	if (!err)
		err = elfsym_find_names(s->e, ELFSYM_DYNAMIC, wanted.set,
					see_function, &seen);
	if (!err && needs_static(s, &wanted))
		err = elfsym_find_names(s->e, ELFSYM_STATIC, wanted.set,
					see_function, &seen);
	wanted_free(&wanted);
	drop_spares(&s->places);
	return err;
}

/* --- one's own functions --------------------------------------------------- */

static bool file_matches(const struct scan *s, const char *name)
{
	if (!*name)
		return s->kind.program;
	return strchr(name, '/') ? !strcmp(s->path, name) :
				   maps_name_matches(s->path, name);
}

static int find_specs(struct scan *s)
{
	const struct alloc_opts *o = s->opts;
	struct elfsym_func *found;
	struct place *p;
	size_t nr;
	int err;

	for (size_t i = 0; i < o->nr_specs; i++) {
		if (!file_matches(s, o->specs[i].path))
			continue;
		err = elfsym_find(s->e, o->specs[i].function, &found, &nr);
		if (err == -ENOMEM)
			return err;
		for (size_t k = 0; !err && k < nr; k++) {
			p = add_place(&s->places, found[k].offset);
			if (!p)
				break;
			p->spec = (int)i;
			p->symbol = found[k].name;
			p->size = found[k].size;
		}
		if (!err)
			free(found);
	}
	return s->places.err;
}

/* --- probes ---------------------------------------------------------------- */

/* operator new of these calls malloc(), unless they have their own */
static bool is_cxx_runtime(const struct scan *s)
{
	static const char *const names[] = { "libstdc++.so", "libc++.so", "libc++abi.so" };
	const char *base = strrchr(s->path, '/');

	base = base ? base + 1 : s->path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])) ||
		    !strncmp(s->kind.soname, names[i], strlen(names[i])))
			return !s->places.malloc;
	return false;
}

static void set_args(struct memtap_attach *a, const struct alloc_name *n)
{
	a->op = n->op;
	a->family = n->family;
	a->size_arg = n->size;
	a->size2_arg = n->size2;
	a->ptr_arg = n->ptr;
	a->result_arg = n->result;
}

static void join_events(char *name, size_t len, __u32 events)
{
	size_t at = 0;

	for (size_t i = 0; i < NR_EVENTS; i++)
		if (events & (1u << i) && at < len)
			at += (size_t)snprintf(name + at, len - at, "%s%s",
					       at ? "/" : "", event_names[i]);
}

static void fill_from_table(const struct scan *s, const struct place *p,
			    struct memtap_attach *a)
{
	const struct alloc_name *n = &alloc_names[p->name];
	const bool several = p->events & (p->events - 1);

	set_args(a, n);
	snprintf(a->name, sizeof(a->name), "%s", n->event);
	/* who calls it, new or malloc, cannot be told by where it is */
	if (several && p->events >> EVENT_NEW) {
		join_events(a->name, sizeof(a->name), p->events);
		a->family = MEMTAP_FAMILY_ANY;
	}
	if (n->flags & ALLOC_CXX && is_cxx_runtime(s)) {
		const size_t len = strlen(a->name);

		snprintf(a->name + len, sizeof(a->name) - len, "%s",
			 n->ptr == MEMTAP_ARG_NONE ? ">malloc" : ">free");
		a->op = MEMTAP_HEAP_ENTER;
		a->size_arg = MEMTAP_ARG_NONE;
		a->result_arg = MEMTAP_ARG_NONE;
	}
}

/* Functions of one path belong together: each path is a family. */
static __u32 spec_family(const struct alloc_opts *o, size_t index)
{
	size_t first = 0;

	while (strcmp(o->specs[first].path, o->specs[index].path))
		first++;
	return MEMTAP_FAMILY_OWN + (first < 239 ? (__u32)first : 239);
}

static void fill_from_spec(const struct scan *s, const struct place *p,
			   struct memtap_attach *a)
{
	const struct alloc_spec *spec = &s->opts->specs[p->spec];
	bool taken = event_bit(spec->function) != 0;

	a->op = spec->op;
	a->family = spec_family(s->opts, (size_t)p->spec);
	a->size_arg = spec->size_arg;
	a->size2_arg = spec->size2_arg;
	a->ptr_arg = spec->ptr_arg;
	a->result_arg = spec->result_arg;
	for (size_t i = 0; i < s->opts->nr_specs; i++)
		taken |= (int)i != p->spec &&
			 !strcmp(s->opts->specs[i].function, spec->function);
	snprintf(a->name, sizeof(a->name), "%.60s%s%.60s", taken ? spec->path : "",
		 taken ? ":" : "", spec->function);
}

static unsigned int args_mask(const struct memtap_attach *a)
{
	const __u8 args[] = { a->size_arg, a->size2_arg, a->ptr_arg, a->result_arg };
	unsigned int mask = 0;

	for (size_t i = 0; i < sizeof(args); i++)
		if (args[i] <= MEMTAP_ARG_MAX)
			mask |= 1u << args[i];
	return mask;
}

static void choose(const struct scan *s, const struct place *p, struct alloc_probe *out)
{
	const bool frees = out->attach.op == MEMTAP_HEAP_FREE;
	const struct alloc_place_opts o = {
		.push = s->opts->push,
		.frees = frees,
		.moved = frees && s->opts->moved,
		.args = args_mask(&out->attach),
		.ptr_arg = out->attach.ptr_arg,
	};
	unsigned char code[CODE_MAX];
	struct alloc_place place;
	size_t len = p->size && p->size < sizeof(code) ? p->size : sizeof(code);
	ssize_t got;

	if (!p->size)
		len = 1024;
	got = pread(s->fd, code, len, (off_t)p->offset);
	alloc_place(&place, code, got > 0 ? (size_t)got : 0, p->offset, &o);
	out->attach.offset = place.offset;
	out->one_trap = place.one_trap;
	out->moved = place.moved;
	snprintf(out->insn, sizeof(out->insn), "%s", place.insn);
}

static bool is_go(const struct scan *s, const struct place *p)
{
	if (!s->kind.go)
		return false;
	if (s->go_to > s->go_from)
		return p->offset >= s->go_from && p->offset < s->go_to;
	return strpbrk(p->symbol, "./") != NULL;
}

static struct alloc_probe *add_probe(struct alloc_probes *p)
{
	struct alloc_probe *more;
	size_t room;

	if (p->nr == p->room) {
		room = p->room ? 2 * p->room : 64;
		more = realloc(p->at, room * sizeof(*more));
		if (!more)
			return NULL;
		p->at = more;
		p->room = room;
	}
	more = &p->at[p->nr++];
	memset(more, 0, sizeof(*more));
	return more;
}

static int make_probe(const struct scan *s, const struct place *p,
		      struct alloc_probes *probes)
{
	struct alloc_probe *out = add_probe(probes);
	struct memtap_attach *a;

	if (!out)
		return -ENOMEM;
	a = &out->attach;
	a->size = sizeof(*a);
	a->kind = MEMTAP_ATTACH_HEAP;
	a->fd = -1;
	out->spec = p->spec;
	if (p->spec >= 0)
		fill_from_spec(s, p, a);
	else
		fill_from_table(s, p, a);
	if (s->opts->free_stacks && a->ptr_arg != MEMTAP_ARG_NONE)
		a->flags |= MEMTAP_ATTACH_FREE_STACK;
	out->is_go = is_go(s, p);
	snprintf(out->function, sizeof(out->function), "%.*s",
		 (int)strcspn(p->symbol, "@"), p->symbol);
	snprintf(out->text, sizeof(out->text), "%.180s:%s", s->path, out->function);
	choose(s, p, out);
	return 0;
}

/*
 * The dynamic linker allocates for itself until there is a libc; old ones export
 * these functions, and then use libc's.
 */
static bool is_linker(const struct scan *s)
{
	return !strncmp(s->kind.soname, "ld-linux", 8) ||
	       !strncmp(s->kind.soname, "ld64.so", 7);
}

static int scan_file(struct scan *s, struct alloc_probes *probes)
{
	const char *obj = s->opts->obj;
	int err = 0;

	elfsym_get_kind(s->e, &s->kind);
	if (!s->kind.x86_64)
		return -ENOTSUP;
	if (!is_linker(s) && (!obj || file_matches(s, obj)))
		err = find_places(s);
	if (!err)
		err = find_specs(s);
	for (size_t i = 0; !err && i < s->places.nr; i++)
		err = make_probe(s, &s->places.at[i], probes);
	return err;
}

int alloc_scan(struct alloc_probes *p, int fd, const char *path,
	       const struct alloc_opts *o)
{
	struct scan s = { .fd = fd, .path = path, .opts = o };
	const size_t before = p->nr;
	int err = elfsym_open(fd, &s.e);

	if (err)
		return err;
	err = scan_file(&s, p);
	if (err)
		p->nr = before;
	free(s.places.at);
	elfsym_close(s.e);
	return err;
}

void alloc_probes_free(struct alloc_probes *p)
{
	free(p->at);
	memset(p, 0, sizeof(*p));
}

static int take_offset(const struct elfsym_func *f, size_t index, void *ctx)
{
	(void)index;
	if (f->ifunc)
		return 0;
	*(__u64 *)ctx = f->offset;
	return 1;
}

int alloc_hold_place(int fd, const char *function, __u64 *offset)
{
	struct elfsym_names *names;
	struct elfsym *e;
	int err = elfsym_open(fd, &e);

	if (err)
		return err;
	names = elfsym_names_new(&function, 1);
	err = -ENOMEM;
	if (names)
		err = elfsym_find_names(e, ELFSYM_DYNAMIC, names, take_offset, offset);
	if (!err)
		err = elfsym_find_names(e, ELFSYM_STATIC, names, take_offset, offset);
	elfsym_names_free(names);
	elfsym_close(e);
	return err > 0 ? 0 : err ? err : -ENOENT;
}
