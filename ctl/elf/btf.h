/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BTF_H
#define _BTF_H

#include "elf/c_type.h"

/*
 * The kernel's types, as /sys/kernel/btf/vmlinux describes them (since 5.2, where configured): the
 * parameters of functions, and where the members of structures are.
 */
struct btf;

/* A copy of @bytes is kept; NULL: they are none, or there is no memory. */
struct btf *btf_new(const void *bytes, size_t len);
void btf_free(struct btf *b);

struct ctype btf_type(const struct btf *b, __u32 id);
/*
 * Parameter @n of the function, or with @name the one of that name, whose number becomes *n.
 * @n: -1: what it returns.  False: there is no such.
 */
bool btf_param(const struct btf *b, const char *function, const char *name, size_t len, int *n,
	       struct ctype *type);
/* Also those of anonymous structures in it. */
bool btf_member(const struct btf *b, const struct ctype *record, const char *name, size_t len,
		struct cmember *m);

/* The same for who takes types of anywhere. */
struct ctypes btf_types(const struct btf *b);

#endif
