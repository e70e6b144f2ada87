// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/alloc/place.c ctl/elf/insn.c ctl/elf/effect.c */
/* FUZZ: -max_len=512 */
/* Code of a function that somebody made up. */
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct alloc_place_opts o;
	struct alloc_place place;
	unsigned char *code;

	if (size < 2)
		return 0;
	o = (struct alloc_place_opts) {
		.push = data[0] & 1, .frees = data[0] & 2, .narrow = data[0] & 4,
		.moved = data[0] & 8, .ptr_arg = data[0] >> 4, .args = data[1],
	};
	/* exactly as long as it is, for ASan to see who reads behind it */
	code = malloc(size - 2 + !(size - 2));
	if (!code)
		return 0;
	memcpy(code, data + 2, size - 2);
	alloc_place(&place, code, size - 2, 4096, &o);
	if (place.offset < 4096 || place.offset > 4096 + size ||
	    !memchr(place.insn, 0, sizeof(place.insn)) ||
	    (place.one_trap && place.offset >= 4096 + size - 2) ||
	    (place.moved && !o.moved))
		abort();
	free(code);
	return 0;
}
