// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Variables of programs, and members of structures by their names: arg1->f_path.dentry->d_parent,
 * request->headers[2].len.
 */
#include <errno.h>
#include <string.h>

#include "elf/btf.h"
#include "session/args_int.h"

/* Where a value is: @offset bits behind the address on the stack. */
struct place {
	struct ctypes types;
	struct ctype type;
	__s64 offset;
	__u32 bits;			/* of a bit field, or 0 */
	bool in_memory;			/* else the value itself is on the stack */
};

static int emit(struct args_parser *p, __u8 op, __u8 type, __u16 index, __u64 number)
{
	args_emit(p->code, op, type, index, number);
	return p->code->depth > MEMTAP_STEPS_DEPTH ?
	       args_wrong(p, p->pos, "this expression is nested too deeply") : 0;
}

static int emit_load(struct args_parser *p, __u8 type)
{
	return emit(p, MEMTAP_STEP_LOAD, type, args_in_user(p), 0);
}

static int go_to(struct args_parser *p, __s64 bytes)
{
	int err = bytes ? emit(p, MEMTAP_STEP_NUMBER, 0, 0, (__u64)bytes) : 0;

	return err || !bytes ? err : emit(p, MEMTAP_STEP_ADD, 0, 0, 0);
}

/* ---- the way ---- */

/* The pointer's value becomes the address. */
static int dereference(struct args_parser *p, struct place *at)
{
	int err = 0;

	if (at->in_memory) {
		err = go_to(p, at->offset / 8);
		if (!err)
			err = emit_load(p, (__u8)at->type.size);
	}
	at->type = at->types.type(at->types.from, at->type.to);
	at->offset = 0;
	at->in_memory = true;
	return err;
}

static int no_record(struct args_parser *p, const char *where)
{
	return args_wrong(p, where, "this is no pointer to a structure");
}

/* Behind "->": what the pointer points to. */
static int follow(struct args_parser *p, struct place *at, const char *where)
{
	int err;

	if (at->type.kind != CTYPE_POINTER)
		return no_record(p, where);
	err = dereference(p, at);
	return err || at->type.kind == CTYPE_RECORD ? err : no_record(p, where);
}

/* Behind ".": it is there already, or a reference leads to it. */
static int within(struct args_parser *p, struct place *at, const char *where)
{
	if (at->type.kind == CTYPE_POINTER && at->type.is_reference)
		return follow(p, at, where);
	if (at->type.kind == CTYPE_POINTER)
		return args_wrong(p, where, "this is a pointer: its members are behind ->");
	if (at->type.kind != CTYPE_RECORD)
		return args_wrong(p, where, "this is no structure");
	return at->in_memory ? 0 :
	       args_wrong(p, where, "this structure is in registers: memtap reads no members "
			  "there");
}

static int member(struct args_parser *p, struct place *at)
{
	struct cmember m;
	const char *name;
	size_t len;

	args_blanks(p);
	name = p->pos;
	len = args_word_len(name);
	if (!len)
		return args_wrong(p, name, "a member's name is expected here");
	if (!at->types.member(at->types.from, &at->type, name, len, &m))
		return args_wrong(p, name, "the structure has no member %.*s",
				  len < 40 ? (int)len : 40, name);
	p->pos += len;
	at->offset += (__s64)m.offset;
	at->bits = m.bits;
	at->type = m.type;
	return 0;
}

/* Behind "[": one of an array, or of what a pointer points to. */
static int element(struct args_parser *p, struct place *at, const char *where)
{
	const struct ctype of = at->type;
	__u64 n;
	int err = 0;

	args_blanks(p);
	if (!args_take_u64(p, &n))
		return args_wrong(p, p->pos, "the number of an element is expected here");
	if (!args_take(p, "]"))
		return args_wrong(p, p->pos, "a ] is missing");
	if (of.kind == CTYPE_POINTER)
		err = dereference(p, at);
	else if (of.kind == CTYPE_ARRAY && at->in_memory)
		at->type = at->types.type(at->types.from, of.to);
	else
		return args_wrong(p, where, "this is no pointer, and no array of one dimension "
				  "in memory");
	if (err)
		return err;
	if (!at->type.size)
		return args_wrong(p, where, "the size of such an element is not known");
	if (of.kind == CTYPE_ARRAY && of.count && n >= of.count)
		return args_wrong(p, where, "the array has %u elements, the first is [0]",
				  of.count);
	if (n >= (1U << 30) / at->type.size)
		return args_wrong(p, where, "this element is too far from the first one");
	at->offset += (__s64)(n * at->type.size * 8);
	return 0;
}

/* All that comes of "->NAME", ".NAME" and "[NUMBER]". */
static int walk(struct args_parser *p, struct place *at, bool *walked)
{
	const char *where;
	int err = 0;

	while (!err) {
		args_blanks(p);
		where = p->pos;
		if (args_take(p, "->"))
			err = follow(p, at, where);
		else if (args_take(p, "."))
			err = within(p, at, where);
		else if (args_take(p, "["))
			err = element(p, at, where);
		else
			return 0;
		*walked = true;
		if (!err && *where != '[')
			err = member(p, at);
	}
	return err;
}

/* ---- the value there ---- */

static void set(struct args_value *v, __u8 type, enum args_show show)
{
	v->type = (struct args_type){ NULL, type, show, false, CONST_NONE };
	v->words = CONST_NONE;
	v->symbols = NULL;
}

/* In the smallest aligned number that has all of it: no more need be readable. */
static int load_bits(struct args_parser *p, const struct place *at, struct args_value *v)
{
	const __u8 sign = at->type.is_signed ? MEMTAP_TYPE_SIGNED : 0;
	__u32 size = 1, first, left;
	int err;

	while (size < 8 && (at->offset & (8 * size - 1)) + at->bits > 8 * size)
		size *= 2;
	first = (__u32)(at->offset & (8 * size - 1));
	if (first + at->bits > 8 * size)
		return args_wrong(p, v->begin, "memtap cannot read this bit field");
	left = 64 - at->bits - first;
	err = go_to(p, (at->offset - first) / 8);
	if (!err)
		err = emit_load(p, (__u8)size);
	if (!err)
		err = emit(p, MEMTAP_STEP_NUMBER, 0, 0, left);
	if (!err)
		err = emit(p, MEMTAP_STEP_SHL, 0, 0, 0);
	if (!err)
		err = emit(p, MEMTAP_STEP_NUMBER, 0, 0, left + first);
	if (!err)
		err = emit(p, MEMTAP_STEP_SHR, sign, 0, 0);
	set(v, 8 | MEMTAP_TYPE_SIGNED, ARGS_NUMBER);
	return err;
}

static int keep_text(struct args_parser *p, struct args_value *v)
{
	int err = args_slot(p, v->begin, &v->slot);

	v->text = true;
	set(v, MEMTAP_TYPE_TEXT, ARGS_TEXT);
	return err ? err : emit(p, MEMTAP_STEP_TEXT, 0, v->slot, args_in_user(p));
}

/* Is the address of a string asked for: to compute with it, to follow it, or for a type? */
static bool wants_address(struct args_parser *p)
{
	args_blanks(p);
	return p->addresses || (*p->pos && strchr(":+-&", *p->pos) && p->pos[1] != '&');
}

static int load(struct args_parser *p, const struct place *at, struct args_value *v)
{
	const struct ctype *t = &at->type;
	const __u8 type = (__u8)(t->size | (t->is_signed ? MEMTAP_TYPE_SIGNED : 0));
	int err = 0;

	if (t->kind == CTYPE_RECORD)
		return args_wrong(p, p->pos, "this is a structure: name a member of it");
	if (t->kind == CTYPE_OTHER)
		return args_wrong(p, v->begin, "memtap reads numbers, pointers and strings, and "
				  "this is something else");
	if (at->bits)
		return load_bits(p, at, v);
	if (at->in_memory)
		err = go_to(p, at->offset / 8);
	set(v, 8, ARGS_HEX);
	if (err)
		return err;
	if (t->kind == CTYPE_ARRAY) {
		return !at->types.type(at->types.from, t->to).is_char || wants_address(p) ? 0 :
		       keep_text(p, v);
	}
	if (t->kind == CTYPE_NUMBER) {
		set(v, type, t->is_bool ? ARGS_BOOL : ARGS_NUMBER);
		return at->in_memory ? emit_load(p, type) :
		       t->size == 8 ? 0 : emit(p, MEMTAP_STEP_CAST, type, 0, 0);
	}
	err = at->in_memory ? emit_load(p, (__u8)t->size) : 0;
	if (err || !at->types.text || !at->types.type(at->types.from, t->to).is_char ||
	    wants_address(p))
		return err;
	return keep_text(p, v);
}

/* ---- where it begins ---- */

static bool type_of(struct args_parser *p, int n, struct place *at)
{
	const struct args_source *src = p->src;
	const struct btf *b = src->btf && src->function ? src->btf() : NULL;

	if (n == ARGS_NO_PARAM)
		return false;
	if (src->program) {
		if (!src->program->argument(src->program->ctx, n, &at->type))
			return false;
		at->types = src->program->types;
		return true;
	}
	if (!b || !btf_param(b, src->function, NULL, 0, &n, &at->type))
		return false;
	at->types = btf_types(b);
	return true;
}

int args_members(struct args_parser *p, struct args_value *v)
{
	struct place at = { .in_memory = false };
	bool walked = false;
	int err;

	args_blanks(p);
	if (strncmp(p->pos, "->", 2) && *p->pos != '[')
		return 0;
	if (!type_of(p, v->param, &at))
		return args_wrong(p, p->pos, "the type of this is not known: members have names "
				  "where a kernel function's argument points to them, and the "
				  "kernel has BTF, or a program's does, and it has debug "
				  "information; use *(NAME+OFFSET):TYPE");
	err = walk(p, &at, &walked);
	if (err)
		return err;
	v->plain = v->shown = false;
	v->param = ARGS_NO_PARAM;
	return load(p, &at, v);
}

int args_variable(struct args_parser *p, const struct args_term *t, struct args_value *v)
{
	const struct args_var *var = &t->var;
	struct place at = { .types = p->src->program->types, .type = var->type,
			    .in_memory = var->load };
	bool walked = false;
	int err = emit(p, MEMTAP_STEP_REG, 0, t->index, 0);

	/* what the upper half has there is not known */
	if (!err && at.types.bits32)
		err = emit(p, MEMTAP_STEP_CAST, 4, 0, 0);
	if (var->load)
		at.offset = 8 * var->offset;
	else if (!err)
		err = go_to(p, var->offset);
	if (!err)
		err = walk(p, &at, &walked);
	v->plain = !walked;
	return err ? err : load(p, &at, v);
}
