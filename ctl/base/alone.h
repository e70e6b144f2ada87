/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ALONE_H
#define BASE_ALONE_H

/* A function that stays one: compilers neither put it into its callers nor copy it. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

#endif
