// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwind a user stack from the copy that the module made of it, when the process may be gone.  The
 * walk is the module's (kmod/core/rowwalk); memory is read from the copy, code from the files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rowwalk.h"
#include "core/unwindtab.h"
#include "unwind/unwind.h"

#define TASK_LIMIT	0x7ffffffff000ULL	/* as the module has it: four levels of tables */

enum state { NEW, READY, NONE };

/* A file of the copy; the last one is the vdso. */
struct file {
	enum state state;
	int fd;
	struct unwind_table t;
	struct unwindtab tab;
	u32 *blocks;
};

struct walk {
	struct unwind_copy *c;
	struct file files[MEMTAP_OOM_MAP_FILES + 1];
	struct rowwalk w;
	u8 buf[USERSTACK_CHUNK] __attribute__((aligned(8)));
};

/* --- code ------------------------------------------------------------------ */

static const struct memtap_oom_map *map_at(const struct memtap_oom_stack *s, u64 ip)
{
	for (u32 i = 0; i < s->nr_maps && i < MEMTAP_OOM_MAPS; i++)
		if (ip >= s->maps[i].start && ip < s->maps[i].end)
			return &s->maps[i];
	return NULL;
}

static struct file *file_of(struct walk *k, const struct memtap_oom_map *m)
{
	if (m->file == MEMTAP_OOM_MAP_VDSO)
		return &k->files[MEMTAP_OOM_MAP_FILES];
	return m->file && m->file <= MEMTAP_OOM_MAP_FILES ? &k->files[m->file - 1] : NULL;
}

static int get_table(struct walk *k, const struct memtap_oom_map *m, struct file *f)
{
	if (m->file == MEMTAP_OOM_MAP_VDSO)
		return unwind_vdso(&f->t);
	f->fd = k->c->open(k->c->ctx, m);
	return f->fd < 0 ? f->fd : unwind_get(f->fd, &f->t);
}

static int make_ready(struct walk *k, const struct memtap_oom_map *m, struct file *f)
{
	size_t len;

	f->state = NONE;
	if (get_table(k, m, f) || !f->t.nr_rows || !unwind_is_sound(&f->t))
		return -1;
	f->tab = (struct unwindtab){
		.nr_rows = f->t.nr_rows, .nr_rules = f->t.nr_rules, .rows = f->t.rows,
		.kinds = f->t.kinds, .rules = f->t.rules,
	};
	len = unwindtab_layout(&f->tab);
	f->blocks = malloc(len);
	if (!f->blocks)
		return -1;
	unwindtab_index(&f->tab, f->blocks);
	f->state = READY;
	return 0;
}

static u32 find_code(void *ctx, u64 ip, struct rowwalk_code *code)
{
	struct walk *k = ctx;
	const struct memtap_oom_map *m = map_at(k->c->stack, ip);
	struct file *f;

	if (!m)
		return MEMTAP_STACK_NOMAP;
	code->start = m->start;
	code->len = m->end - m->start;
	code->pos = m->offset;
	code->table = NULL;
	f = file_of(k, m);
	/* made at run time: such code keeps frame pointers, if anything */
	if (!f)
		return k->c->stack->flags & MEMTAP_OOM_COPY_MORE ? MEMTAP_STACK_NOTABLE : 0;
	if (f->state == NEW)
		make_ready(k, m, f);
	if (f->state == NONE)
		return MEMTAP_STACK_NOTABLE;
	code->table = &f->tab;
	return 0;
}

/* @nr bytes of code before @ip; false: not to be had. */
static bool code_before(struct walk *k, u64 ip, u8 *to, u32 nr)
{
	const struct memtap_oom_map *m = map_at(k->c->stack, ip - nr);
	struct file *f = m ? file_of(k, m) : NULL;

	return f && f->state == READY && f->fd >= 0 &&
	       pread(f->fd, to, nr, (off_t)(ip - nr - m->start + m->offset)) == (ssize_t)nr;
}

static int is_call(void *ctx, u64 ip)
{
	u8 code[ROWWALK_CALL];

	return code_before(ctx, ip, code, sizeof(code)) &&
	       rowwalk_ends_in_call(code + sizeof(code), sizeof(code));
}

static u32 enters_kernel(void *ctx, u64 ip)
{
	u8 code[ROWWALK_ENTERS];

	return code_before(ctx, ip, code, sizeof(code)) && rowwalk_is_enter(code) ?
	       sizeof(code) : 0;
}

/* --- registers and memory --------------------------------------------------- */

static int any_reg(void *ctx, u32 reg, u64 *v)
{
	const struct memtap_oom_stack *s = ((const struct walk *)ctx)->c->stack;

	/* what is no address of user mode is 0 there */
	if (reg >= s->nr_regs || reg >= MEMTAP_OOM_REGS || !s->regs[reg])
		return -1;
	*v = s->regs[reg];
	return 0;
}

/* The page of the copy that @addr is in; -1: outside. */
static int page_of(const struct memtap_oom_stack *s, u64 addr)
{
	if (addr < s->start || addr - s->start >= s->len)
		return -1;
	return (int)(addr / MEMTAP_OOM_COPY_PAGE - s->start / MEMTAP_OOM_COPY_PAGE);
}

static bool is_away(const struct memtap_oom_stack *s, u64 addr)
{
	const int page = page_of(s, addr);

	return page >= 0 && page < 32 && s->missing >> page & 1;
}

static int read_copy(void *ctx, u64 addr, void *buf, u32 len)
{
	const struct memtap_oom_stack *s = ((const struct walk *)ctx)->c->stack;

	if (page_of(s, addr) < 0 || is_away(s, addr) || s->len - (addr - s->start) < len)
		return -1;
	memcpy(buf, s->bytes + (addr - s->start), len);
	return 0;
}

/* --- all of it --------------------------------------------------------------- */

static u32 why_no_memory(const struct memtap_oom_stack *s, u64 addr)
{
	const u64 end = s->start + s->len;

	if (is_away(s, addr))
		return MEMTAP_OOM_REST_AWAY;
	return !(s->flags & MEMTAP_OOM_COPY_ALL) && addr >= end &&
	       addr - end < USERSTACK_MAX_FRAME ? MEMTAP_OOM_REST_BEYOND :
						  MEMTAP_OOM_REST_ELSEWHERE;
}

static u32 why(const struct walk *k)
{
	const u32 flags = k->w.flags;

	if (flags & MEMTAP_STACK_FAULT)
		return why_no_memory(k->c->stack, k->w.us.fault);
	return flags & MEMTAP_STACK_DEPTH ? MEMTAP_OOM_REST_DEPTH :
	       flags & MEMTAP_STACK_NOMAP ? MEMTAP_OOM_REST_NO_MAP :
	       flags & MEMTAP_STACK_NOTABLE ? MEMTAP_OOM_REST_NO_FILE :
	       flags & MEMTAP_STACK_NOROW ? MEMTAP_OOM_REST_NO_ROW :
	       flags & (MEMTAP_STACK_CHAIN | MEMTAP_STACK_TRAMPOLINE) ? MEMTAP_OOM_REST_CHAIN :
	       MEMTAP_OOM_REST_KNOWN;
}

static void set_up(struct walk *k)
{
	const struct memtap_oom_stack *s = k->c->stack;

	k->w = (struct rowwalk){
		.ip = s->ip, .sp = s->sp, .fp = s->fp, .bx = s->bx,
		.known = (s->known & MEMTAP_OOM_KNOWN_FP ? ROWWALK_KNOWN_FP : 0) |
			 (s->known & MEMTAP_OOM_KNOWN_BX ? ROWWALK_KNOWN_BX : 0),
		.max = k->c->max,
		.ips = (u64 *)k->c->ips,
		.find = find_code,
		.reg = s->known & MEMTAP_OOM_KNOWN_ALL ? any_reg : NULL,
		.calls = is_call,
		.enters = enters_kernel,
		.us = { .read = read_copy, .ctx = k, .limit = TASK_LIMIT, .buf = k->buf,
			.end = s->start + s->len },
	};
	for (u32 i = 0; i <= MEMTAP_OOM_MAP_FILES; i++)
		k->files[i].fd = -1;
}

static void clean_up(struct walk *k)
{
	for (u32 i = 0; i <= MEMTAP_OOM_MAP_FILES; i++) {
		struct file *f = &k->files[i];

		unwind_free(&f->t);
		free(f->blocks);
		if (f->fd >= 0)
			close(f->fd);
	}
	free(k);
}

__u32 unwind_copied(struct unwind_copy *c)
{
	const struct memtap_oom_stack *s = c->stack;
	struct walk *k;
	u32 rest;

	c->nr = 0;
	c->flags = 0;
	if (s->flags & MEMTAP_OOM_COPY_NO_MAPS)
		return MEMTAP_OOM_REST_NO_MAPS;
	if (s->flags & MEMTAP_OOM_COPY_COMPAT)
		return MEMTAP_OOM_REST_COMPAT;
	if (!s->ip || !s->len || s->len > MEMTAP_OOM_COPIED || s->start > TASK_LIMIT)
		return MEMTAP_OOM_REST_ELSEWHERE;
	k = calloc(1, sizeof(*k));
	if (!k)
		return MEMTAP_OOM_REST_NO_FILE;
	k->c = c;
	set_up(k);
	rowwalk(&k->w);
	c->nr = k->w.nr;
	c->flags = k->w.flags;
	rest = why(k);
	clean_up(k);
	return rest;
}
