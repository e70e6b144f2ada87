/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_CXX_H
#define _SYM_CXX_H

/* Demangle a C++ name, for free(); NULL: no C++ name, or too long. */
char *cxx_demangle(const char *mangled);

#endif
