/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OUT_NAME_H
#define _OUT_NAME_H

#include <sys/types.h>

/*
 * Names of output files, as Valgrind has them: %p is the PID of the process that is watched, %n the
 * number of the report, %q{VAR} an environment variable, and %% a '%'.
 */
#define OUT_NAME_PID	1
#define OUT_NAME_NUMBER	2

/* Which of the first two are in @name; or -EINVAL, and a sentence. */
int out_name_parts(const char *name, char why[256]);

/* For free(); NULL: no memory.  @name is right. */
char *out_name_make(const char *name, pid_t pid, unsigned int number);

#endif
