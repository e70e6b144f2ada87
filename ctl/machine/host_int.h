/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_HOST_INT_H
#define _MACHINE_HOST_INT_H

#include "machine/host.h"
#include "machine/int.h"

void host_gap(struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Is there such a file or directory? */
enum host_answer host_there(const struct machine_at *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* host_kernel.c, host_build.c: their parts of host_read() */
void host_read_kernel(const struct machine_at *at, struct host *h);
void host_read_build(const struct machine_at *at, struct host *h);

/* Parsers of texts that they cut into pieces */
void host_parse_config(char *text, struct host *h);
void host_parse_version(const char *text, struct host *h);
void host_parse_status(char *text, struct host *h);
void host_parse_mounts(char *text, struct host *h);

#endif
