/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BTF_H
#define _BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * The kernel's types, as /sys/kernel/btf/vmlinux describes them (since 5.2, where configured): the
 * parameters of functions, and where the members of structures are.
 */
struct btf;

enum btf_kind { BTF_OTHER, BTF_NUMBER, BTF_POINTER, BTF_RECORD, BTF_ARRAY };

/* A type without const and typedefs; 0 is void. */
struct btf_type {
	__u32 id;
	enum btf_kind kind;
	__u32 size;			/* bytes of a number or record */
	bool is_signed;			/* of a number */
	bool is_char;			/* one of text */
	__u32 to;			/* of pointers and arrays */
};

struct btf_member {
	__u64 offset;			/* bits */
	__u32 bits;			/* of a bit field, or 0 */
	struct btf_type type;
};

/* A copy of @bytes is kept; NULL: they are none, or there is no memory. */
struct btf *btf_new(const void *bytes, size_t len);
void btf_free(struct btf *b);

struct btf_type btf_type(const struct btf *b, __u32 id);
/*
 * Parameter @n of the function, or with @name the one of that name, whose number becomes *n.
 * @n: -1: what it returns.  False: there is no such.
 */
bool btf_param(const struct btf *b, const char *function, const char *name, size_t len, int *n,
	       struct btf_type *type);
/* Also those of anonymous structures in it. */
bool btf_member(const struct btf *b, const struct btf_type *record, const char *name, size_t len,
		struct btf_member *m);

#endif
