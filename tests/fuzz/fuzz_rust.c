// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/sym/rust.c */
/* FUZZ: -max_len=512 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 3), out[300];

	memcpy(name, "_R", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = 0;
	if (!rust_demangle(name, out, sizeof(out)) &&
	    (!*out || strlen(out) >= sizeof(out)))
		abort();
	free(name);
	return 0;
}
