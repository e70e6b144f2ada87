// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/fuzz/sym_stubs.c ctl/sym/kernel.c */
/* FUZZ: -max_len=2048 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	__u64 addr = 0, start;
	const char *name, *module;
	struct kallsyms *k;

	memcpy(text, data, size);
	k = kallsyms_parse(text, size);
	if (!k)
		abort();
	kallsyms_hidden(k);
	for (size_t i = 0; i < size; i++) {
		addr = addr << 8 | data[i];
		name = kallsyms_lookup(k, addr, &start, &module);
		if (name && (start > addr || !*module || strlen(name) > size))
			abort();
	}
	kallsyms_free(k);
	return 0;
}
