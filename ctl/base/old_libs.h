/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declare what the libraries of old distributions lack (RHEL 7: glibc 2.17, elfutils 0.176).  The
 * compiler includes this file first in each source file.  With OLD_LIBS defined, newer libraries
 * are treated as old ones (tests/unit/test_old_libs.c).
 */
#ifndef _OLD_LIBS_H
#define _OLD_LIBS_H

#include <elfutils/libdwelf.h>
#include <elfutils/version.h>
#include <errno.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(OLD_LIBS) && (!defined(__GLIBC__) || __GLIBC_PREREQ(2, 25))
#include <sys/random.h>
#else
#ifndef SYS_getrandom
#define SYS_getrandom	318		/* x86-64 */
#endif
#define GRND_NONBLOCK	1

/* Of a kernel that has none: ENOSYS. */
static inline ssize_t old_getrandom(void *to, size_t len, unsigned int flags)
{
	return syscall(SYS_getrandom, to, len, flags);
}

#define getrandom	old_getrandom
#endif

#if defined(OLD_LIBS) || (defined(__GLIBC__) && !__GLIBC_PREREQ(2, 26))
static inline void *old_reallocarray(void *p, size_t nr, size_t size)
{
	if (size && nr > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, nr * size);
}

#define reallocarray	old_reallocarray
#endif

#if defined(OLD_LIBS) || !_ELFUTILS_PREREQ(0, 177)
/* It unpacks nothing: of a file that has only .gnu_debugdata, functions have no names. */
#define dwelf_elf_begin(fd)	elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL)
#endif

#endif
