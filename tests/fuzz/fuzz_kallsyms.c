// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/fuzz/sym_stubs.c ctl/sym/kernel.c ctl/base/ids.c */
/* FUZZ: -max_len=2048 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What it names must lie before the address, and be a part of the text. */
static const char *look(struct kallsyms *k, __u64 addr, size_t size)
{
	const char *module, *name;
	__u64 start;

	name = kallsyms_lookup(k, addr, &start, &module);
	if (name && (start > addr || !*module || strlen(name) > size))
		abort();
	return name;
}

/* Read as far as it is wanted; in the end, as a whole, it says the same. */
static void in_parts(struct kallsyms *whole, const uint8_t *data, size_t size)
{
	FILE *f = fmemopen((void *)data, size, "r");
	struct kallsyms *k = kallsyms_open(f, 1 + data[0] % 64);
	const char *name, *same;
	__u64 addr = 0, start, end;

	if (!k)
		abort();
	for (size_t i = 0; i < size; i++) {
		addr = addr << 8 | data[i];
		look(k, addr, size);
	}
	kallsyms_module_range(k, "kernel", 1, 1, &start, &end);
	if (kallsyms_hidden(k) != kallsyms_hidden(whole))
		abort();
	for (size_t i = 0; i < size; i++) {
		addr = addr << 8 | data[i];
		name = look(k, addr, size);
		same = look(whole, addr, size);
		if (!name != !same || (name && strcmp(name, same)))
			abort();
	}
	kallsyms_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kallsyms *k;
	__u64 addr = 0;

	memcpy(text, data, size);
	k = kallsyms_parse(text, size);
	if (!k)
		abort();
	kallsyms_hidden(k);
	for (size_t i = 0; i < size; i++) {
		addr = addr << 8 | data[i];
		look(k, addr, size);
	}
	if (size)
		in_parts(k, data, size);
	kallsyms_free(k);
	return 0;
}
