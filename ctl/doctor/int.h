/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DOCTOR_INT_H
#define _DOCTOR_INT_H

#include "base/err.h"
#include "doctor/doctor.h"

/* Adds a finding; never NULL.  @fmt: its text. */
struct doctor_finding *found(struct doctor *d, const char *name, enum doctor_level level,
			     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void mend(struct doctor_finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void command(struct doctor_finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds the error message of @op and @err: its text, and behind "; " its fix. */
struct doctor_finding *found_err(struct doctor *d, const char *name, enum doctor_level level,
				 enum err_op op, int err, const char *subject);

/* kernel.c */
void look_rights(struct doctor *d);
void look_container(struct doctor *d);
void look_config(struct doctor *d);
void look_kprobes(struct doctor *d);
void look_names(struct doctor *d);
void look_perf(struct doctor *d);
void look_tracefs(struct doctor *d);
void look_tracers(struct doctor *d);
void look_memory(struct doctor *d);
/* module.c */
void look_module(struct doctor *d);
void look_signing(struct doctor *d);
void look_headers(struct doctor *d);
void look_compiler(struct doctor *d);
void look_dkms(struct doctor *d);
void look_debuginfo(struct doctor *d);

#endif
