/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_CXX_H
#define _SYM_CXX_H

/*
 * The C++ name of a mangled one, for free(); NULL where there is none, and where it has
 * no reasonable end.
 */
char *cxx_demangle(const char *mangled);

#endif
