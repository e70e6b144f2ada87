// SPDX-License-Identifier: GPL-2.0-or-later
/* Types in DWARF: of variables, and of members of structures. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_text.h"
#include "elf/source_int.h"

#define TYPES		32		/* of each other */
#define NESTED		16		/* structures in each other that have no name */
#define MOST_TYPES	65536		/* that one source is asked for */

bool source_type_die(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, type))
		return false;
	for (int i = 0; i < TYPES; i++) {
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!dwarf_attr_integrate(type, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, type))
			return false;
	}
	return false;
}

/* A number for what has this type; 0: none, or no memory. */
static __u32 keep(struct source *s, Dwarf_Die *die)
{
	if (s->nr_types == s->room_types) {
		const size_t room = s->room_types ? 2 * s->room_types : 64;
		Dwarf_Die *more = room > MOST_TYPES ? NULL :
				  reallocarray(s->types, room, sizeof(*more));

		if (!more)
			return 0;
		s->types = more;
		s->room_types = room;
	}
	s->types[s->nr_types++] = *die;
	return (__u32)s->nr_types;
}

static bool is_number(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void set_base(Dwarf_Die *type, struct ctype *t)
{
	const int size = dwarf_bytesize(type);
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	if (!is_number(size) || !dwarf_attr(type, DW_AT_encoding, &attr) ||
	    dwarf_formudata(&attr, &encoding))
		return;
	t->size = (__u32)size;
	switch (encoding) {
	case DW_ATE_boolean:
		t->is_bool = size == 1;
		break;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		t->is_signed = true;
		t->is_char = size == 1 && encoding == DW_ATE_signed_char;
		break;
	case DW_ATE_unsigned_char:
		t->is_char = size == 1;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		break;
	default:
		return;
	}
	t->kind = CTYPE_NUMBER;
}

/* One dimension alone: how many elements; false: there are several. */
static bool dimension(struct source *s, Dwarf_Die *array, __u32 *count)
{
	Dwarf_Attribute attr;
	size_t nr = 0;
	Dwarf_Die die;
	Dwarf_Word n;

	*count = 0;
	if (dwarf_child(array, &die))
		return true;
	do {
		if (!source_spend(s))
			return false;
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (nr++)
			return false;
		if (dwarf_attr(&die, DW_AT_count, &attr) && !dwarf_formudata(&attr, &n) &&
		    n < 1U << 30)
			*count = (__u32)n;
		else if (dwarf_attr(&die, DW_AT_upper_bound, &attr) &&
			 !dwarf_formudata(&attr, &n) && n < 1U << 30)
			*count = (__u32)n + 1;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

struct ctype source_type_of(struct source *s, Dwarf_Die *die)
{
	struct ctype t = { .id = 0 };
	Dwarf_Die type;
	int size;

	if (!source_type_die(die, &type))
		return t;
	size = dwarf_bytesize(&type);
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		set_base(&type, &t);
		break;
	case DW_TAG_enumeration_type:
		t.kind = is_number(size) ? CTYPE_NUMBER : CTYPE_OTHER;
		t.size = t.kind == CTYPE_NUMBER ? (__u32)size : 0;
		t.is_signed = true;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t.is_reference = true;
		__attribute__((fallthrough));
	case DW_TAG_pointer_type:
		t.kind = CTYPE_POINTER;
		t.size = s->i386 ? 4 : 8;
		t.to = keep(s, &type);
		break;
	case DW_TAG_array_type:
		t.kind = dimension(s, &type, &t.count) ? CTYPE_ARRAY : CTYPE_OTHER;
		t.to = keep(s, &type);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		t.kind = CTYPE_RECORD;
		t.size = size > 0 ? (__u32)size : 0;
		t.id = keep(s, die);
		break;
	default:
		break;
	}
	return t;
}

struct ctype source_type(struct source *s, __u32 id)
{
	Dwarf_Die die;

	if (!id || id > s->nr_types)
		return (struct ctype){ .id = 0 };
	die = s->types[id - 1];
	return source_type_of(s, &die);
}

/* ---- members ---- */

static bool number(Dwarf_Die *die, unsigned int name, Dwarf_Word *n)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, n);
}

/* Bytes from where the structure begins; false: in no such place, as a base that is virtual. */
static bool byte_offset(Dwarf_Die *die, __u64 *bytes)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	Dwarf_Op *ops;
	size_t nr;

	*bytes = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &attr))
		return true;
	if (!dwarf_formudata(&attr, &n)) {
		*bytes = n;
		return n < 1U << 30;
	}
	if (dwarf_getlocation(&attr, &ops, &nr) || nr != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*bytes = ops[0].number;
	return *bytes < 1U << 30;
}

/* Old DWARF counts a bit field's bits from the high end of a number that has it. */
static bool place_bits(Dwarf_Die *die, struct cmember *m)
{
	Dwarf_Word bits, at, size = m->type.size;

	if (!number(die, DW_AT_bit_size, &bits))
		return true;
	if (m->type.kind != CTYPE_NUMBER || !bits || bits > 64)
		return false;
	m->bits = (__u32)bits;
	if (number(die, DW_AT_data_bit_offset, &at)) {
		m->offset += at;
		return at < 1ULL << 33;
	}
	if (!number(die, DW_AT_bit_offset, &at))
		return false;
	number(die, DW_AT_byte_size, &size);
	if (size > 8 || at + bits > 8 * size)
		return false;
	m->offset += 8 * size - at - bits;
	return true;
}

static bool has_name(Dwarf_Die *die, const char *name, size_t len)
{
	const char *is = dwarf_text(DW_AT_name, die);

	return is && strlen(is) == len && !memcmp(is, name, len);
}

static bool search(struct source *s, Dwarf_Die *record, const char *name, size_t len,
		   struct cmember *m, int nested);

/* One without a name, or a base. */
static bool search_in(struct source *s, Dwarf_Die *die, __u64 bytes, const char *name, size_t len,
		      struct cmember *m, int nested)
{
	Dwarf_Die type;

	if (!source_type_die(die, &type) || !search(s, &type, name, len, m, nested + 1))
		return false;
	m->offset += 8 * bytes;
	return true;
}

static bool search(struct source *s, Dwarf_Die *record, const char *name, size_t len,
		   struct cmember *m, int nested)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;
	__u64 bytes;

	if (nested > NESTED || dwarf_child(record, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);
		const bool base = tag == DW_TAG_inheritance;

		if (!source_spend(s))
			return false;
		/* static members are elsewhere */
		if ((tag != DW_TAG_member && !base) || dwarf_attr(&die, DW_AT_external, &attr) ||
		    !byte_offset(&die, &bytes))
			continue;
		if (!base && has_name(&die, name, len)) {
			m->offset = 8 * bytes;
			m->type = source_type_of(s, &die);
			return place_bits(&die, m);
		}
		if ((base || !dwarf_text(DW_AT_name, &die)) &&
		    search_in(s, &die, bytes, name, len, m, nested))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

static bool member(struct source *s, __u32 id, const char *name, size_t len, struct cmember *m)
{
	Dwarf_Die die, type;

	if (!id || id > s->nr_types)
		return false;
	die = s->types[id - 1];
	return source_type_die(&die, &type) && search(s, &type, name, len, m, 0);
}

/* ---- for who takes types of anywhere ---- */

static struct ctype guarded_type(void *from, __u32 id)
{
	struct ctype t = { .id = 0 };
	struct source *s = from;
	struct source_way_out here;

	if (s->gave_up)
		return t;
	source_guard(s, &here);
	if (setjmp(here.to))
		s->gave_up = true;
	else
		t = source_type(s, id);
	source_guard(s, NULL);
	return s->gave_up ? (struct ctype){ .id = 0 } : t;
}

static bool guarded_member(void *from, const struct ctype *record, const char *name, size_t len,
			   struct cmember *m)
{
	struct source_way_out here;
	struct source *s = from;
	volatile bool found = false;

	memset(m, 0, sizeof(*m));
	if (s->gave_up)
		return false;
	source_guard(s, &here);
	if (setjmp(here.to))
		s->gave_up = true;
	else
		found = member(s, record->id, name, len, m);
	source_guard(s, NULL);
	return found && !s->gave_up;
}

struct ctypes source_types(struct source *s)
{
	return (struct ctypes){ s, true, s->i386, guarded_type, guarded_member };
}
