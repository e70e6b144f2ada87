// SPDX-License-Identifier: GPL-2.0-or-later
/* Add findings to a doctor's report. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor/int.h"

static void put(char *to, size_t room, const char *fmt, va_list ap)
{
	vsnprintf(to, room, fmt, ap);
}

struct doctor_finding *found(struct doctor *d, const char *name, enum doctor_level level,
			     const char *fmt, ...)
{
	struct doctor_finding *f = &d->found[d->nr_found];
	va_list ap;

	if (d->nr_found < DOCTOR_FINDINGS - 1)
		d->nr_found++;
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->level = level;
	d->problems += level == DOCTOR_PROBLEM;
	d->notes += level == DOCTOR_NOTE;
	va_start(ap, fmt);
	put(f->seen, sizeof(f->seen), fmt, ap);
	va_end(ap);
	return f;
}

void mend(struct doctor_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(f->mend, sizeof(f->mend), fmt, ap);
	va_end(ap);
}

void command(struct doctor_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(f->commands[f->nr_commands], sizeof(f->commands[0]), fmt, ap);
	va_end(ap);
	if (f->nr_commands < DOCTOR_COMMANDS)
		f->nr_commands++;
}

struct doctor_finding *found_err(struct doctor *d, const char *name, enum doctor_level level,
				 enum err_op op, int err, const char *subject)
{
	char words[512], *end;
	struct doctor_finding *f;

	err_words(op, err, subject, words, sizeof(words));
	end = strstr(words, "; ");
	if (end)
		*end = '\0';
	f = found(d, name, level, "%s", words);
	if (end)
		mend(f, "%s", end + 2);
	return f;
}
