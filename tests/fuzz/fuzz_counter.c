// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/counter.c ctl/base/opt_value.c */
/* FUZZ: -max_len=96 */
/* The name of a counter, and what stands behind it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/counter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), err[COUNTER_ERR];
	struct counter c;

	memcpy(text, data, size);
	text[size] = '\0';
	err[0] = '\0';
	if (counter_parse(text, &c, err) ? !*err : !c.every)
		abort();
	free(text);
	return 0;
}
