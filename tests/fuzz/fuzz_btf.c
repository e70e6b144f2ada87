// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/btf.c */
/* FUZZ: -max_len=4096 */
/* Anything as the kernel's types: reading stays within the bytes, and ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A header, whose numbers are right more often than by chance, is put in front. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	__u32 h[6] = { 0xeb9f | 1U << 16, 24, 0, 0, 0, 0 };
	unsigned char *bytes = malloc(size + sizeof(h) + 1);
	struct cmember m;
	struct ctype t;
	struct btf *b;
	int n = 0;

	if (!bytes)
		return 0;
	h[3] = size > 16 ? (__u32)(size - 16) & ~3U : 0;
	h[4] = h[3];
	h[5] = (__u32)size + 1 - h[4];
	memcpy(bytes, h, sizeof(h));
	memcpy(bytes + sizeof(h), data, size);
	bytes[size + sizeof(h)] = 0;
	b = btf_new(bytes, size + sizeof(h) + 1);
	free(bytes);
	if (b) {
		for (__u32 id = 0; id < 64; id++) {
			t = btf_type(b, id);
			btf_member(b, &t, "a", 1, &m);
		}
		btf_param(b, "", NULL, 0, &n, &t);
		btf_param(b, "a", "b", 1, &n, &t);
		btf_free(b);
	}
	btf_free(btf_new(data, size));
	return 0;
}
