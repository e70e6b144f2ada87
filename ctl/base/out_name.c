// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of output files with %p, %n and %q{VAR}. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out_name.h"

#define VAR_LEN	256

/* The variable of "q{VAR}" at @at; how long that is; 0: it is not closed, or empty, or too long. */
static size_t variable(const char *at, char var[VAR_LEN])
{
	const char *end = at[1] == '{' ? strchr(at, '}') : NULL;
	const size_t len = end ? (size_t)(end - at) - 2 : 0;

	if (!len || len >= VAR_LEN)
		return 0;
	snprintf(var, VAR_LEN, "%.*s", (int)len, at + 2);
	return len + 3;
}

static int bad(char why[256], const char *what, const char *name)
{
	snprintf(why, 256, "%s in the file name '%.120s'", what, name);
	return -EINVAL;
}

static int check_variable(const char *name, const char *at, char why[256])
{
	char var[VAR_LEN];

	if (!variable(at, var))
		return bad(why, "%q needs a variable, as %q{HOSTNAME},", name);
	if (getenv(var))
		return 0;
	snprintf(why, 256, "the environment variable %.60s is not set, and the file name '%.120s' "
		 "needs it", var, name);
	return -EINVAL;
}

int out_name_parts(const char *name, char why[256])
{
	int parts = 0;

	for (const char *p = name; (p = strchr(p, '%')); p += 2) {
		if (p[1] == 'p')
			parts |= OUT_NAME_PID;
		else if (p[1] == 'n')
			parts |= OUT_NAME_NUMBER;
		else if (p[1] == 'q' && check_variable(name, p + 1, why))
			return -EINVAL;
		else if (!p[1] || !strchr("q%", p[1]))
			return bad(why, "use %p (PID), %n (number), %q{VAR} or %% (a percent sign)",
				   name);
	}
	return parts;
}

char *out_name_make(const char *name, pid_t pid, unsigned int number)
{
	char *text = NULL, var[VAR_LEN];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	while (*name) {
		const char *value;

		if (*name != '%') {
			fputc(*name++, f);
			continue;
		}
		name++;
		if (*name == 'p') {
			fprintf(f, "%d", (int)pid);
		} else if (*name == 'n') {
			fprintf(f, "%u", number);
		} else if (*name == 'q') {
			len = variable(name, var);
			value = len ? getenv(var) : NULL;
			fputs(value ? value : "", f);
			name += len ? len - 1 : 0;
		} else {
			fputc('%', f);
		}
		name += !!*name;
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
