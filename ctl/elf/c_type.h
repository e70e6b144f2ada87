/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _C_TYPE_H
#define _C_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Types of C, as the kernel's BTF or a program's DWARF describes them. */
enum ctype_kind { CTYPE_OTHER, CTYPE_NUMBER, CTYPE_POINTER, CTYPE_RECORD, CTYPE_ARRAY };

/* A type without const and typedefs; 0 is void. */
struct ctype {
	__u32 id;
	enum ctype_kind kind;
	__u32 size;			/* bytes of a number, pointer or record */
	bool is_signed;			/* of a number */
	bool is_bool;
	bool is_char;			/* one of text */
	bool is_reference;		/* of pointers: '.' follows it */
	__u32 to;			/* of pointers and arrays */
	__u32 count;			/* of arrays; 0: not known */
};

struct cmember {
	__u64 offset;			/* bits */
	__u32 bits;			/* of a bit field, or 0 */
	struct ctype type;
};

/* Who knows them. */
struct ctypes {
	void *from;
	bool text;			/* a pointer to characters is a string */
	bool bits32;			/* addresses have 32 bits */
	struct ctype (*type)(void *from, __u32 id);
	/* Also those of anonymous structures in it. */
	bool (*member)(void *from, const struct ctype *record, const char *name, size_t len,
		       struct cmember *m);
};

#endif
