// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/fuzz/sym_stubs.c ctl/sym/perfmap.c ctl/base/openreg.c */
/* FUZZ: -max_len=2048 */
/* Anybody can write a /tmp/perf-PID.map. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct perfmap *m;
	__u64 addr = 0, start;
	char name[1024];

	memcpy(text, data, size);
	m = perfmap_parse(text, size);
	if (!m)
		abort();
	for (size_t i = 0; i < size; i++) {
		addr = addr << 8 | data[i];
		if (perfmap_lookup(m, addr, &start, name, sizeof(name)) &&
		    (start > addr || strlen(name) > 2 * size + 4))
			abort();
	}
	perfmap_free(m);
	return 0;
}
