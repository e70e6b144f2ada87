// SPDX-License-Identifier: GPL-2.0-or-later
/* Find where a variable is at an address, from its location in DWARF. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_text.h"
#include "elf/int.h"
#include "elf/source_int.h"

#define FAR		(1LL << 30)	/* offsets that arguments can have */
#define TYPES		32		/* of each other */

/* x86-64 psABI, figure 3.36 */
static const char *const registers[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
	"r13", "r14", "r15",
};

/* i386 psABI, table 2.14, as a 64-bit kernel calls them */
static const char *const registers32[] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
};

/* ---- types ---- */

static const char *number_type(const struct ctype *t)
{
	static const char *const names[2][4] = {
		{ "u8", "u16", "u32", "u64" }, { "s8", "s16", "s32", "s64" },
	};

	return t->is_bool ? "bool" : names[t->is_signed][__builtin_ctz(t->size)];
}

/* As arguments have it, or NULL. */
static const char *type_name(struct source *s, const struct ctype *t)
{
	switch (t->kind) {
	case CTYPE_NUMBER:
		return number_type(t);
	case CTYPE_POINTER:
		return source_type(s, t->to).is_char ? "ustr" : "ptr";
	case CTYPE_ARRAY:
		return source_type(s, t->to).is_char ? "ustr" : NULL;
	default:
		return NULL;
	}
}

static void words_of(Dwarf_Die *type, const char *kind, struct source_var *v)
{
	const char *name = dwarf_text(DW_AT_name, type);

	snprintf(v->words, sizeof(v->words), "%s%s%.40s", kind, *kind && name ? " " : "",
		 name ? name : *kind ? "" : "type without a name");
}

static void find_words(struct source *s, Dwarf_Die *die, struct source_var *v)
{
	Dwarf_Die type;

	if (!source_type_die(die, &type)) {
		snprintf(v->words, sizeof(v->words), "type that is not told");
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_enumeration_type:
		words_of(&type, "enum", v);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		snprintf(v->words, sizeof(v->words), "%s",
			 source_type(s, v->of.to).is_char ? "char pointer" : "pointer");
		break;
	case DW_TAG_array_type:
		snprintf(v->words, sizeof(v->words), v->array ? "char array" : "array");
		break;
	case DW_TAG_structure_type:
		words_of(&type, "struct", v);
		break;
	case DW_TAG_class_type:
		words_of(&type, "class", v);
		break;
	case DW_TAG_union_type:
		words_of(&type, "union", v);
		break;
	default:
		words_of(&type, "", v);
		break;
	}
}

static void find_type(struct source *s, Dwarf_Die *die, struct source_var *v)
{
	v->of = source_type_of(s, die);
	v->type = type_name(s, &v->of);
	v->array = v->of.kind == CTYPE_ARRAY && v->type;
	find_words(s, die, v);
}

/* ---- places ---- */

static bool set(const struct source *s, struct source_var *v, unsigned int reg, __s64 offset,
		bool load)
{
	const size_t nr = s->i386 ? sizeof(registers32) / sizeof(registers32[0]) :
			  sizeof(registers) / sizeof(registers[0]);

	if (reg >= nr || offset > FAR || offset < -FAR)
		return false;
	v->reg = s->i386 ? registers32[reg] : registers[reg];
	v->offset = offset;
	v->load = load;
	return true;
}

/* A register's number, and what is added to it; false: it is no such operation. */
static bool base_register(const Dwarf_Op *op, unsigned int *reg, __s64 *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (__s64)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx && op->number < 32) {
		*reg = (unsigned int)op->number;
		*offset = (__s64)op->number2;
		return true;
	}
	return false;
}

static bool in_register(const Dwarf_Op *op, unsigned int *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		*reg = op->atom - DW_OP_reg0;
		return true;
	}
	if (op->atom == DW_OP_regx && op->number < 32) {
		*reg = (unsigned int)op->number;
		return true;
	}
	return false;
}

/* Call frame information: of the debug file, or else of the file itself. */
static bool frame_at(struct source *s, Dwarf_Addr pc, Dwarf_Frame **frame)
{
	if (!s->frames_tried) {
		s->debug_frame = dwarf_getcfi(s->dw);
		s->eh_frame = dwarf_getcfi_elf(s->e->elf);
		s->frames_tried = true;
	}
	return (s->eh_frame && !dwarf_cfi_addrframe(s->eh_frame, pc, frame)) ||
	       (s->debug_frame && !dwarf_cfi_addrframe(s->debug_frame, pc, frame));
}

static bool cfa(struct source *s, Dwarf_Addr pc, unsigned int *reg, __s64 *offset)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	bool known;
	size_t nr;

	if (!frame_at(s, pc, &frame))
		return false;
	known = !dwarf_frame_cfa(frame, &ops, &nr) && nr == 1 &&
		base_register(&ops[0], reg, offset);
	free(frame);
	return known;
}

/* What DW_OP_fbreg counts from. */
static bool frame_base(struct source *s, const struct source_chain *c, Dwarf_Addr pc,
		       unsigned int *reg, __s64 *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;
	Dwarf_Op *ops;
	size_t nr, i = c->nr;

	while (i-- > 1 && dwarf_tag((Dwarf_Die *)&c->at[i]) != DW_TAG_subprogram)
		;
	die = c->at[i];
	if (!i || !dwarf_attr_integrate(&die, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &nr, 1) != 1 || nr != 1)
		return false;
	*offset = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return cfa(s, pc, reg, offset);
	return in_register(&ops[0], reg) || base_register(&ops[0], reg, offset);
}

/* A place that one register and one number tell. */
static bool simple_place(struct source *s, const struct source_chain *c, Dwarf_Addr pc,
			 const Dwarf_Op *ops, size_t nr, struct source_var *v)
{
	const bool value = nr == 2 && ops[1].atom == DW_OP_stack_value;
	unsigned int reg = 0;
	__s64 offset;

	if (nr != 1 && !value)
		return false;
	if (!value && in_register(&ops[0], &reg))
		return set(s, v, reg, 0, false);
	if (base_register(&ops[0], &reg, &offset))
		return set(s, v, reg, offset, !value);
	if (ops[0].atom == DW_OP_fbreg) {
		if (!frame_base(s, c, pc, &reg, &offset) ||
		    __builtin_add_overflow(offset, (__s64)ops[0].number, &offset))
			return false;
		return set(s, v, reg, offset, !value);
	}
	/* as far from here in each process, wherever the file is mapped */
	if (ops[0].atom == DW_OP_addr) {
		offset = (__s64)(ops[0].number - pc);
		if (offset > FAR || offset < -FAR)
			return false;
		v->reg = "rip";
		v->offset = offset;
		v->load = !value;
		return true;
	}
	return false;
}

static bool is_constant(const Dwarf_Op *ops, size_t nr)
{
	if (nr == 1 && ops[0].atom == DW_OP_implicit_value)
		return true;
	if (nr != 2 || ops[1].atom != DW_OP_stack_value)
		return false;
	return (ops[0].atom >= DW_OP_lit0 && ops[0].atom <= DW_OP_lit31) ||
	       (ops[0].atom >= DW_OP_const1u && ops[0].atom <= DW_OP_consts);
}

/*
 * Code that is not optimized stores arguments first, and its DWARF says of the whole function that
 * they are there.
 */
static bool is_early(const struct source_chain *c, Dwarf_Addr pc, Dwarf_Die *die,
		     Dwarf_Attribute *attr)
{
	const unsigned int form = dwarf_whatform(attr);
	Dwarf_Die function = c->at[c->nr - 1];
	Dwarf_Addr *begins = NULL, entry;
	bool early;

	if (dwarf_tag(die) != DW_TAG_formal_parameter || form == DW_FORM_sec_offset ||
	    form == DW_FORM_loclistx || form == DW_FORM_data4 || form == DW_FORM_data8 ||
	    dwarf_tag(&function) != DW_TAG_subprogram || dwarf_entrypc(&function, &entry))
		return false;
	early = pc >= entry && dwarf_entry_breakpoints(&function, &begins) > 0 && pc < begins[0];
	free(begins);
	return early;
}

/* ---- arguments where a function begins ---- */

enum passed { IN_REGISTER, OTHER_PLACE, UNKNOWN };

/* How the x86-64 psABI passes an argument of this type. */
static enum passed passed_in(struct source *s, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;
	Dwarf_Die type;

	if (!source_type_die(die, &type))
		return UNKNOWN;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_enumeration_type:
		return IN_REGISTER;
	case DW_TAG_base_type:
		break;
	default:
		return UNKNOWN;		/* structures: by what they have */
	}
	if (!dwarf_attr(&type, DW_AT_encoding, &attr) || dwarf_formudata(&attr, &encoding))
		return UNKNOWN;
	if (encoding == DW_ATE_float)
		return OTHER_PLACE;	/* in registers of their own, or on the stack */
	return source_type_of(s, die).kind == CTYPE_NUMBER ? IN_REGISTER : UNKNOWN;
}

static bool returns_simply(struct source *s, Dwarf_Die *function)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr_integrate(function, DW_AT_type, &attr))
		return true;	/* nothing */
	/* a structure's place is an argument that has no name */
	return passed_in(s, function) != UNKNOWN;
}

/*
 * What is not stored yet, at the first instruction: it is where the caller has put it.  Only of
 * code that is not optimized: else arguments may be passed in ways of their own.
 */
static bool passed_register(struct source *s, const struct source_chain *c, Dwarf_Addr pc,
			    Dwarf_Die *wanted, struct source_var *v)
{
	static const unsigned int order[] = { 5, 4, 1, 2, 8, 9 };	/* rdi, rsi ... */
	Dwarf_Die function = c->at[c->nr - 1], die;
	Dwarf_Attribute attr;
	size_t nr = 0;
	Dwarf_Addr entry;

	/* behind endbr64 all is as before it; a clone may have other arguments */
	if (dwarf_attr(&function, DW_AT_abstract_origin, &attr) ||
	    dwarf_entrypc(&function, &entry) || (pc != entry && pc != entry + 4) ||
	    !returns_simply(s, &function) || dwarf_child(&function, &die))
		return false;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		if (!source_spend(s) || nr == sizeof(order) / sizeof(order[0]))
			return false;
		switch (passed_in(s, &die)) {
		case IN_REGISTER:
			if (dwarf_dieoffset(&die) == dwarf_dieoffset(wanted))
				return set(s, v, order[nr], 0, false);
			nr++;
			break;
		case UNKNOWN:
			return false;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* i386: it stays where the caller has put it, above the return address. */
static bool passed_on_stack(const Dwarf_Op *ops, const struct source_var *v)
{
	return ops[0].atom == DW_OP_fbreg && (__s64)ops[0].number >= 0 && !strcmp(v->reg, "rsp");
}

static enum source_how find_place(struct source *s, const struct source_chain *c,
				  Dwarf_Addr pc, Dwarf_Die *die, struct source_var *v)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return SOURCE_CONSTANT;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attr))
		return SOURCE_GONE;
	if (dwarf_getlocation_addr(&attr, pc, &ops, &nr, 1) != 1 || !nr)
		return SOURCE_GONE;
	if (is_constant(ops, nr))
		return SOURCE_CONSTANT;
	if ((!s->x86_64 && !s->i386) || !simple_place(s, c, pc, ops, nr, v))
		return SOURCE_FORM;
	if (!v->load || !is_early(c, pc, die, &attr))
		return SOURCE_READ;
	if (s->i386)
		return passed_on_stack(ops, v) ? SOURCE_READ : SOURCE_EARLY;
	return passed_register(s, c, pc, die, v) ? SOURCE_READ : SOURCE_EARLY;
}

static void describe(struct source *s, const struct source_chain *c, Dwarf_Addr pc,
		     Dwarf_Die *die, struct source_var *v)
{
	memset(v, 0, sizeof(*v));
	find_type(s, die, v);
	v->how = find_place(s, c, pc, die, v);
	if (v->how != SOURCE_READ)
		return;
	if (!v->type || (v->array && !v->load))
		v->how = SOURCE_TYPE;
}

/* ---- names ---- */

static bool is_variable(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool has_name(Dwarf_Die *die, const char *name)
{
	const char *is = dwarf_text(DW_AT_name, die);

	return is && !strcmp(is, name);
}

static bool child_variable(struct source *s, const Dwarf_Die *of, const char *name,
			   Dwarf_Die *found)
{
	Dwarf_Die parent = *of;

	if (dwarf_child(&parent, found))
		return false;
	do {
		if (!source_spend(s))
			return false;
		if (is_variable(found) && has_name(found, name))
			return true;
	} while (!dwarf_siblingof(found, found));
	return false;
}

/* Of a function that was inlined or cloned: has it such a variable, in any of its blocks? */
static bool had_variable(struct source *s, Dwarf_Die *of, const char *name, int depth)
{
	Dwarf_Die die;

	if (depth == SOURCE_CHAIN || dwarf_child(of, &die))
		return false;
	do {
		if (!source_spend(s))
			return false;
		if (is_variable(&die) && has_name(&die, name))
			return true;
		if (dwarf_tag(&die) == DW_TAG_lexical_block &&
		    had_variable(s, &die, name, depth + 1))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

static bool origin_had(struct source *s, const Dwarf_Die *of, const char *name)
{
	Dwarf_Die die = *of, origin;
	Dwarf_Attribute attr;

	return dwarf_attr(&die, DW_AT_abstract_origin, &attr) &&
	       dwarf_formref_die(&attr, &origin) && had_variable(s, &origin, name, 0);
}

static void find_var(struct source *s, Dwarf_Addr pc, const char *name, struct source_var *v)
{
	struct source_chain c;
	Dwarf_Die die;

	if (!source_chain(s, pc, &c))
		return;
	for (size_t i = c.nr; i-- > 1;) {
		const int tag = dwarf_tag(&c.at[i]);

		if (child_variable(s, &c.at[i], name, &die)) {
			describe(s, &c, pc, &die, v);
			return;
		}
		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		if (origin_had(s, &c.at[i], name)) {
			v->how = SOURCE_GONE;
			return;
		}
		break;		/* what the caller has is not visible */
	}
	if (child_variable(s, &c.at[0], name, &die))
		describe(s, &c, pc, &die, v);
}

void source_var(struct source *s, __u64 vaddr, const char *name, struct source_var *v)
{
	struct source_way_out here;

	memset(v, 0, sizeof(*v));
	v->how = SOURCE_NONE;
	if (s->gave_up)
		return;
	source_guard(s, &here);
	if (setjmp(here.to)) {
		s->gave_up = true;
		v->how = SOURCE_NONE;
	} else {
		find_var(s, vaddr, name, v);
	}
	source_guard(s, NULL);
}

/* ---- arguments by their numbers ---- */

/*
 * The parameter that is in the register of argument @n where the function begins.  Where a compiler
 * passes arguments in ways of its own, no parameter says that it is there.
 */
static bool find_argument(struct source *s, Dwarf_Addr pc, int n, struct ctype *type)
{
	static const unsigned int order[] = { 5, 4, 1, 2, 8, 9 };	/* rdi, rsi ... */
	struct source_chain c;
	struct source_var v;
	Dwarf_Die die;

	if (!source_chain(s, pc, &c) || (n >= 0 && !s->x86_64) ||
	    n >= (int)(sizeof(order) / sizeof(order[0])))
		return false;
	die = c.at[c.nr - 1];
	if (dwarf_tag(&die) != DW_TAG_subprogram)
		return false;
	if (n < 0) {
		*type = source_type_of(s, &die);
		return type->kind != CTYPE_OTHER;
	}
	if (dwarf_child(&die, &die))
		return false;
	do {
		if (!source_spend(s))
			return false;
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		describe(s, &c, pc, &die, &v);
		if (v.reg == registers[order[n]] && !v.load && !v.offset) {
			*type = v.of;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

bool source_argument(struct source *s, __u64 vaddr, int n, struct ctype *type)
{
	struct source_way_out here;
	volatile bool found = false;

	if (s->gave_up)
		return false;
	source_guard(s, &here);
	if (setjmp(here.to))
		s->gave_up = true;
	else
		found = find_argument(s, vaddr, n, type);
	source_guard(s, NULL);
	return found && !s->gave_up;
}

typedef void each_fn(const char *name, const struct source_var *v, void *ctx);

static void each_var(struct source *s, Dwarf_Addr pc, each_fn *fn, void *ctx)
{
	struct source_chain c;
	struct source_var v;
	Dwarf_Die die;

	if (!source_chain(s, pc, &c))
		return;
	for (size_t i = c.nr; i-- > 1;) {
		const int tag = dwarf_tag(&c.at[i]);

		if (!dwarf_child(&c.at[i], &die))
			do {
				const char *name = is_variable(&die) ?
						   dwarf_text(DW_AT_name, &die) : NULL;

				if (!source_spend(s))
					return;
				if (!name)
					continue;
				describe(s, &c, pc, &die, &v);
				fn(name, &v, ctx);
			} while (!dwarf_siblingof(&die, &die));
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			return;
	}
}

void source_for_each_var(struct source *s, __u64 vaddr, each_fn *fn, void *ctx)
{
	struct source_way_out here;

	if (s->gave_up)
		return;
	source_guard(s, &here);
	if (setjmp(here.to))
		s->gave_up = true;
	else
		each_var(s, vaddr, fn, ctx);
	source_guard(s, NULL);
}
