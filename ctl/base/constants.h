/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CONSTANTS_H
#define _CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Names of system call arguments and results, as in the C library's headers: PROT_READ|PROT_WRITE,
 * IPC_RMID, -ENOMEM.  One table for all printers.
 */
enum constants {
	CONST_NONE,			/* a number */
	CONST_RESULT,			/* a number, or -ERRNO */
	CONST_ADDRESS,			/* an address, or -ERRNO */
	CONST_PROT,
	CONST_MAP,
	CONST_MREMAP,
	CONST_ADVICE,
	CONST_KEY,
	CONST_SHMGET,
	CONST_SHMAT,
	CONST_SHMCTL,
	CONST_MEMFD,
	CONST_SEAL_CMD,
	CONST_SEALS,
	CONST_MODE,
	CONST_HUGE,
	CONST_VM,			/* flags of a mapping, as the kernel has them */
	NR_CONSTANTS
};

/* What the field @field of the built-in event @event is. */
enum constants constants_of(const char *event, const char *field);

/* Returns bytes as snprintf() does.  What has no name is there as a number. */
int constants_text(enum constants what, __u64 v, char *buf, size_t len);

/* "PROT_WRITE", "ENOMEM": its number, or false. */
bool constants_value(const char *name, size_t len, __u64 *v);

/* "ENOMEM"; NULL: this number has no name.  @err: positive */
const char *constants_errno(int err);

#endif
