// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/json_read.c */
/* FUZZ: -max_len=2048 */
/* Any text: what is told of it lies within it, and ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

static int see(void *ctx, const struct json_place *at, enum json_event event, const char *text)
{
	size_t *events = ctx;

	if (at->depth > JSON_DEEPEST || strlen(text) >= JSON_TEXT || event > JSON_END)
		abort();
	for (size_t i = 0; i < at->depth; i++)
		if (strlen(at->keys[i]) >= JSON_KEY)
			abort();
	++*events;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t events = 0;

	json_read((const char *)bytes, len, see, &events);
	if (events > len)
		abort();
	return 0;
}
