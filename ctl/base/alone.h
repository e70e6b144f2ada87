/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ALONE_H
#define BASE_ALONE_H

/* Mark a function that compilers neither inline nor clone. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

#endif
