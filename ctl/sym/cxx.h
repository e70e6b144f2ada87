/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_CXX_H
#define _SYM_CXX_H

/* Demangle a C++ name, for free(); NULL: no C++ name, or too long. */
char *cxx_demangle(const char *mangled);

/* @name without that at its start; NULL if it is. */
char *cxx_without(const char *prefix, char *name);

#define CXX_TYPE_LEN	1024		/* of a type's name, mangled */

/*
 * The class of an RTTI record's name (what std::type_info has), for free(); NULL: it is none, or
 * has CXX_TYPE_LEN bytes or more.
 */
char *cxx_class(const char *type);

#endif
