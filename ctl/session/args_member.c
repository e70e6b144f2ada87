// SPDX-License-Identifier: GPL-2.0-or-later
/* Members of the kernel's structures by their names: arg1->f_path.dentry->d_parent. */
#include <errno.h>
#include <string.h>

#include "elf/btf.h"
#include "session/args_int.h"

/* Where a member is: @offset bits behind the address on the stack. */
struct place {
	struct btf_type type;
	__u64 offset;
	__u32 bits;			/* of a bit field, or 0 */
	bool in_memory;			/* else the value itself is on the stack */
};

static int emit(struct args_parser *p, __u8 op, __u8 type, __u16 index, __u64 number)
{
	args_emit(p->code, op, type, index, number);
	return p->code->depth > MEMTAP_STEPS_DEPTH ?
	       args_wrong(p, p->pos, "this expression is nested too deeply") : 0;
}

static int go_to(struct args_parser *p, __u64 bytes)
{
	int err = bytes ? emit(p, MEMTAP_STEP_NUMBER, 0, 0, bytes) : 0;

	return err || !bytes ? err : emit(p, MEMTAP_STEP_ADD, 0, 0, 0);
}

/* Behind "->": what the pointer points to. */
static int follow(struct args_parser *p, const struct btf *b, struct place *at, const char *where)
{
	int err = 0;

	if (at->type.kind != BTF_POINTER)
		return args_wrong(p, where, "this is no pointer to a structure");
	if (at->in_memory) {
		err = go_to(p, at->offset / 8);
		if (!err)
			err = emit(p, MEMTAP_STEP_LOAD, 8, 0, 0);
	}
	at->type = btf_type(b, at->type.to);
	at->offset = 0;
	at->in_memory = false;
	if (!err && at->type.kind != BTF_RECORD)
		err = args_wrong(p, where, "this is no pointer to a structure");
	return err;
}

static int step(struct args_parser *p, const struct btf *b, struct place *at)
{
	struct btf_member m;
	const char *name;
	size_t len;

	args_blanks(p);
	name = p->pos;
	len = args_word_len(name);
	if (!len)
		return args_wrong(p, name, "a member's name is expected here");
	if (!btf_member(b, &at->type, name, len, &m))
		return args_wrong(p, name, "the structure has no member %.*s",
				  len < 40 ? (int)len : 40, name);
	p->pos += len;
	at->offset += m.offset;
	at->bits = m.bits;
	at->type = m.type;
	at->in_memory = true;
	return 0;
}

static void set(struct args_value *v, __u8 type, enum args_show show)
{
	v->type = (struct args_type){ NULL, type, show, false, CONST_NONE };
	v->words = CONST_NONE;
	v->symbols = NULL;
}

static int load_bits(struct args_parser *p, const struct place *at, struct args_value *v)
{
	const __u32 first = (__u32)(at->offset % 64), left = 64 - at->bits - first;
	const __u8 sign = at->type.is_signed ? MEMTAP_TYPE_SIGNED : 0;
	int err;

	if (at->bits > 64 - first)
		return args_wrong(p, v->begin, "memtap cannot read this bit field");
	err = go_to(p, at->offset / 64 * 8);
	if (!err)
		err = emit(p, MEMTAP_STEP_LOAD, 8, 0, 0);
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

static int load(struct args_parser *p, const struct btf *b, const struct place *at,
		struct args_value *v)
{
	const struct btf_type *t = &at->type;
	const __u8 type = (__u8)(t->size | (t->is_signed ? MEMTAP_TYPE_SIGNED : 0));
	int err;

	if (t->kind != BTF_NUMBER && t->kind != BTF_POINTER && t->kind != BTF_ARRAY)
		return args_wrong(p, p->pos, "this is a structure: name a member of it");
	if (at->bits)
		return load_bits(p, at, v);
	err = go_to(p, at->offset / 8);
	set(v, 8, ARGS_HEX);
	if (err)
		return err;
	if (t->kind == BTF_POINTER)
		return emit(p, MEMTAP_STEP_LOAD, 8, 0, 0);
	if (t->kind == BTF_NUMBER) {
		set(v, type, ARGS_NUMBER);
		return emit(p, MEMTAP_STEP_LOAD, type, 0, 0);
	}
	if (!btf_type(b, t->to).is_char)
		return 0;
	v->text = true;
	set(v, MEMTAP_TYPE_TEXT, ARGS_TEXT);
	err = args_slot(p, v->begin, &v->slot);
	return err ? err : emit(p, MEMTAP_STEP_TEXT, 0, v->slot, 0);
}

int args_members(struct args_parser *p, struct args_value *v)
{
	const struct btf *b;
	struct place at = { .in_memory = false };
	const char *where;
	int n = v->param, err = 0;

	args_blanks(p);
	where = p->pos;
	if (strncmp(where, "->", 2))
		return 0;
	b = p->src->btf && p->src->function ? p->src->btf() : NULL;
	if (!b || n == ARGS_NO_PARAM || !btf_param(b, p->src->function, NULL, 0, &n, &at.type))
		return args_wrong(p, where, "the type of this is not known: members have names "
				  "where a kernel function's argument points to them, and the "
				  "kernel has BTF; use *(NAME+OFFSET):TYPE");
	for (;;) {
		args_blanks(p);
		where = p->pos;
		if (args_take(p, "->"))
			err = follow(p, b, &at, where);
		else if (at.in_memory && at.type.kind == BTF_RECORD && args_take(p, "."))
			err = 0;
		else
			break;
		if (!err)
			err = step(p, b, &at);
		if (err)
			return err;
	}
	v->plain = v->shown = false;
	v->param = ARGS_NO_PARAM;
	return load(p, b, &at, v);
}
