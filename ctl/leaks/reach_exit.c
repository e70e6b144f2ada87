// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Limit the stack of a thread that ends the program to its live part.  exit() and its callees have
 * frames too, which are larger than what they write; the rest holds stale data of earlier
 * calls.  So the stack begins at the frame that called exit().  Below it, two things count:
 * registers saved for the callers, and frames of the program's own exit handlers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "leaks/reach_int.h"
#include "target/maps.h"
#include "unwind/unwind.h"

#define MAX_FRAMES	16		/* of handlers, from one that ends the program itself */
#define MAX_EXITS	16
#define REG_SP		7
#define REG_IP		16
#define RETURN		8		/* bytes of a return address */

/* By which a program ends, and what they are in glibc and musl. */
static const char *const exits[] = {
	"exit", "quick_exit",
	"_exit", "_Exit", "__run_exit_handlers", "__libc_exit_fini", "__funcs_on_exit",
	"__funcs_on_quick_exit",
};

#define NR_ENDS	2			/* of these: what a program calls */

struct file {
	const struct maps_file *mapped;
	int fd;
	bool program;
	size_t nr;
	struct {
		__u64 start, end;	/* in the file */
		bool ends;
	} exits[MAX_EXITS];
};

struct frame {
	const struct file *file;
	__u64 low, cfa;
	bool exits, ends;		/* code of exit()'s, exit() itself */
	struct unwind_saved saved;
};

struct chain {
	pid_t pid;
	const struct layout *l;
	const struct reach_memory *m;
	struct maps maps;
	struct file *files;
	size_t nr_files;
	struct elfsym_names *names;
	__u64 regs[MEMTAP_HELD_REGS];
	struct frame frames[MAX_FRAMES];
	size_t nr;
};

/* ---- files ---- */

static int take_exit(const struct elfsym_func *f, size_t index, void *ctx)
{
	struct file *file = ctx;

	if (file->nr == MAX_EXITS)
		return 1;
	file->exits[file->nr].start = f->offset;
	file->exits[file->nr].end = f->offset + (f->size ? f->size : 1);
	file->exits[file->nr++].ends = index < NR_ENDS;
	return 0;
}

static void read_names(struct chain *c, struct file *f)
{
	struct elfsym_kind kind;
	struct elfsym *e;

	if (elfsym_open(f->fd, &e))
		return;
	elfsym_get_kind(e, &kind);
	f->program = kind.program;
	elfsym_find_names(e, ELFSYM_DYNAMIC, c->names, take_exit, f);
	if (!f->nr && f->program)
		elfsym_find_names(e, ELFSYM_STATIC, c->names, take_exit, f);
	elfsym_close(e);
}

static struct file *file_at(struct chain *c, __u64 ip)
{
	for (size_t i = 0; i < c->maps.nr; i++) {
		struct file *f = &c->files[i];

		if (ip < c->maps.files[i]->start || ip >= c->maps.files[i]->end)
			continue;
		if (!f->mapped) {
			f->mapped = c->maps.files[i];
			f->fd = maps_open(c->pid, f->mapped);
			if (f->fd >= 0)
				read_names(c, f);
		}
		return f->fd >= 0 ? f : NULL;
	}
	return NULL;
}

/* A library that has exit() calls nothing but its own from there, but for handlers. */
static void name_frame(struct frame *f, __u64 offset)
{
	const struct file *file = f->file;

	for (size_t i = 0; i < file->nr; i++) {
		f->exits |= !file->program && file->exits[i].ends;
		if (offset < file->exits[i].start || offset >= file->exits[i].end)
			continue;
		f->exits = true;
		f->ends |= file->exits[i].ends;
	}
}

/* ---- frames ---- */

static bool read_word(const struct chain *c, __u64 addr, __u64 *v)
{
	return c->m->read(c->m->ctx, addr, v, sizeof(*v)) == sizeof(*v);
}

/* From c->regs to those of the caller.  False: this is as far as can be seen. */
static bool step(struct chain *c)
{
	struct frame *f = &c->frames[c->nr];
	__u64 regs[MEMTAP_HELD_REGS], ip = c->regs[REG_IP], offset;
	const struct area *a;

	ip -= c->nr != 0;		/* a call may be the last thing that a function does */
	a = layout_find(c->l, ip);
	*f = (struct frame){ .file = a && a->executable ? file_at(c, ip) : NULL };
	if (!f->file)
		return false;
	offset = ip - a->start + a->offset;
	if (unwind_saved_at(f->file->fd, offset, &f->saved) || f->saved.outermost)
		return false;
	name_frame(f, offset);
	f->low = c->regs[REG_SP];
	f->cfa = c->regs[f->saved.cfa_reg] + (__u64)f->saved.cfa_offset;
	if (f->cfa <= f->low || f->cfa % sizeof(__u64))
		return false;
	memcpy(regs, c->regs, sizeof(regs));
	for (__u32 i = 0; i < f->saved.nr; i++)
		if (!read_word(c, f->cfa + (__u64)f->saved.saved[i].at,
			       &regs[f->saved.saved[i].reg]))
			return false;
	if (!read_word(c, f->cfa - RETURN, &regs[REG_IP]))
		return false;
	regs[REG_SP] = f->cfa;
	memcpy(c->regs, regs, sizeof(regs));
	c->nr++;
	return true;
}

/* exit() itself, or NULL: the program ends by other means. */
static const struct frame *find_exit(struct chain *c)
{
	while (c->nr < MAX_FRAMES && step(c))
		if (c->frames[c->nr - 1].ends)
			return &c->frames[c->nr - 1];
	return NULL;
}

static int keep_frame(struct layout *l, const struct frame *f, const struct chain *c)
{
	__u64 v;
	int err = 0;

	if (!f->exits)
		return ranges_add(&l->frames, f->low, f->cfa, false);
	for (__u32 i = 0; !err && i < f->saved.nr; i++)
		if (read_word(c, f->cfa + (__u64)f->saved.saved[i].at, &v))
			err = words_add(&l->words, &v, 1);
	return err;
}

static int look(struct layout *l, struct chain *c, struct thread *t)
{
	const struct frame *last;
	int err = 0;

	memcpy(c->regs, t->regs, sizeof(c->regs));
	last = find_exit(c);
	for (const struct frame *f = c->frames; !err && last && f <= last; f++)
		err = keep_frame(l, f, c);
	if (!err && last)
		t->sp = last->cfa;
	return err;
}

int exit_look(struct layout *l, pid_t pid, struct thread *t, const struct reach_memory *m)
{
	struct chain *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->pid = pid;
	c->l = l;
	c->m = m;
	c->names = elfsym_names_new(exits, sizeof(exits) / sizeof(exits[0]));
	err = c->names ? maps_read(pid, &c->maps) : -ENOMEM;
	c->files = !err ? calloc(c->maps.nr + 1, sizeof(*c->files)) : NULL;
	if (c->files)
		err = look(l, c, t);
	for (size_t i = 0; c->files && i < c->maps.nr; i++)
		if (c->files[i].mapped && c->files[i].fd >= 0)
			close(c->files[i].fd);
	free(c->files);
	maps_free(&c->maps);
	elfsym_names_free(c->names);
	free(c);
	return err == -ENOMEM ? err : 0;	/* anything else: nothing is known */
}
