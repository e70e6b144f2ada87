// SPDX-License-Identifier: GPL-2.0-or-later
/* Make a probe for an allocator function that was found in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/int.h"

#define CODE_MAX	16384	/* of a function */
#define CODE_GUESS	1024	/* where its size is not known */
#define FAMILIES	(256 - MEMTAP_FAMILY_OWN)

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

	for (size_t i = 0; i < ALLOC_EVENTS; i++)
		if (events & (1u << i) && at < len)
			at += (size_t)snprintf(name + at, len - at, "%s%s",
					       at ? "/" : "", alloc_events[i]);
}

/* jemalloc's and others' in a program, under names of their own. */
static bool has_name_of_last(const char *symbol)
{
	static const char *const prefixes[] = { "je_", "_rjem_", "tc_", "mi_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(symbol, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* May it give something else to another function that takes back? */
static bool may_wrap(const struct alloc_file *f, const struct alloc_found *at)
{
	/* what is free() and operator delete in one is an allocator's own */
	if (at->events & alloc_event_bit("free") && at->events >> ALLOC_EVENT_NEW)
		return false;
	if (alloc_names[at->row].flags & ALLOC_CXX)
		return f->cxx_over_others;
	return f->over_others && !has_name_of_last(at->symbol);
}

static void fill_from_table(const struct alloc_file *f, const struct alloc_found *at,
			    struct memtap_attach *a)
{
	const struct alloc_name *n = &alloc_names[at->row];
	const bool several = at->events & (at->events - 1);

	set_args(a, n);
	snprintf(a->name, sizeof(a->name), "%s", n->event);
	/* whether it is new or malloc that was called cannot be told by where it is */
	if (several && at->events >> ALLOC_EVENT_NEW) {
		join_events(a->name, sizeof(a->name), at->events);
		a->family = MEMTAP_FAMILY_ANY;
	}
	if (f->cxx_runtime && n->flags & ALLOC_CXX) {
		a->op = MEMTAP_HEAP_ENTER;
		a->result_arg = MEMTAP_ARG_NONE;
		if (n->op == MEMTAP_HEAP_ALLOC && strstr(n->name, ALLOC_ALIGN))
			a->size2_arg = 1;
	} else if (a->op == MEMTAP_HEAP_FREE && may_wrap(f, at)) {
		a->op = MEMTAP_HEAP_GIVE;
	}
}

/* Functions of one path belong together: each path is a family. */
static __u32 spec_family(const struct alloc_opts *o, size_t index)
{
	size_t first = 0;

	while (strcmp(o->specs[first].path, o->specs[index].path))
		first++;
	return MEMTAP_FAMILY_OWN + (__u32)(first % FAMILIES);
}

static void fill_from_spec(const struct alloc_file *f, const struct alloc_found *at,
			   struct memtap_attach *a)
{
	const struct alloc_opts *o = f->opts;
	const struct alloc_spec *spec = &o->specs[at->spec];
	bool taken = alloc_event_bit(spec->function) != 0;

	a->op = spec->op;
	a->family = spec_family(o, (size_t)at->spec);
	a->size_arg = spec->size_arg;
	a->size2_arg = spec->size2_arg;
	a->ptr_arg = spec->ptr_arg;
	a->result_arg = spec->result_arg;
	/* what has one name is one event, and of one family */
	for (size_t i = 0; i < o->nr_specs; i++)
		taken |= strcmp(o->specs[i].path, spec->path) &&
			 !strcmp(o->specs[i].function, spec->function);
	if (taken)
		snprintf(a->name, sizeof(a->name), "%.60s:%.60s", spec->path,
			 spec->function);
	else
		snprintf(a->name, sizeof(a->name), "%.127s", spec->function);
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

static void choose_place(const struct alloc_file *f, const struct alloc_found *at,
			 struct alloc_probe *out)
{
	const bool gives = out->attach.op == MEMTAP_HEAP_GIVE;
	const bool frees = out->attach.op == MEMTAP_HEAP_FREE || gives;
	const struct alloc_place_opts o = {
		.push = f->opts->push,
		.frees = frees,
		.narrow = f->kind.code == ELFSYM_I386,
		.moved = frees && !gives && f->opts->moved,
		.args = args_mask(&out->attach),
		.ptr_arg = out->attach.ptr_arg,
	};
	unsigned char code[CODE_MAX];
	struct alloc_place place;
	size_t len = at->size < sizeof(code) ? at->size : sizeof(code);
	ssize_t got;

	out->attach.offset = at->offset;
	if (f->kind.code == ELFSYM_OTHER)
		return;
	got = pread(f->fd, code, len ? len : CODE_GUESS, (off_t)at->offset);
	alloc_place(&place, code, got > 0 ? (size_t)got : 0, at->offset, &o);
	out->attach.offset = place.offset;
	out->one_trap = place.one_trap;
	out->moved = place.moved;
	memcpy(out->insn, place.insn, sizeof(out->insn));
}

static bool is_go(const struct alloc_file *f, const struct alloc_found *at)
{
	if (!f->kind.go)
		return false;
	if (f->go_to > f->go_from)
		return at->offset >= f->go_from && at->offset < f->go_to;
	return strpbrk(at->symbol, "./") != NULL;
}

/* glibc's free() begins again since 2.43; of others it is not known. */
static bool passes_once(const struct alloc_file *f)
{
	return f->kind.glibc && f->kind.glibc < 43;
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

int alloc_make_probe(const struct alloc_file *f, const struct alloc_found *at,
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
	out->spec = at->spec;
	if (at->spec >= 0)
		fill_from_spec(f, at, a);
	else
		fill_from_table(f, at, a);
	if (f->opts->free_stacks && a->ptr_arg != MEMTAP_ARG_NONE)
		a->flags |= MEMTAP_ATTACH_FREE_STACK;
	if (f->opts->once && a->op == MEMTAP_HEAP_FREE && passes_once(f))
		a->flags |= MEMTAP_ATTACH_ONCE;
	out->is_go = is_go(f, at);
	snprintf(out->function, sizeof(out->function), "%.*s",
		 (int)strcspn(at->symbol, "@"), at->symbol);
	snprintf(out->text, sizeof(out->text), "%.180s:%s", f->path, out->function);
	choose_place(f, at, out);
	return 0;
}
