// SPDX-License-Identifier: GPL-2.0-or-later
/* Find where variables are declared; see variable.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/path.h"
#include "sym/int.h"
#include "sym/variable.h"

#define DEBUG_DIR	"/usr/lib/debug"

void sym_variables(int fd, const char *path, struct sym_variable *v, size_t nr)
{
	struct sym_dwarf_variable *found = calloc(nr + 1, sizeof(*found));
	const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct sym_elf *e = own >= 0 && found ? sym_elf_open(own, path, DEBUG_DIR) : NULL;

	for (size_t i = 0; found && i < nr; i++)
		found[i].addr = v[i].addr;
	if (e)
		sym_dwarf_variables(e, found, nr);
	for (size_t i = 0; e && i < nr; i++)
		if (found[i].file && asprintf(&v[i].source, "%s:%d", base_name(found[i].file),
					      found[i].line) < 0)
			v[i].source = NULL;
	sym_elf_close(e);
	free(found);
}
