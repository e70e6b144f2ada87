// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/host_text.c */
/* LINK: ctl/machine/cgroup.c ctl/machine/fields.c ctl/machine/host.c */
/* LINK: ctl/machine/host_build.c ctl/machine/host_kernel.c ctl/machine/text.c */
/* LINK: ctl/machine/zones.c ctl/machine/kernel.c -lz */
/* FUZZ: -max_len=1024 */
/* What a machine says of itself.  Input: which file, and its text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host h = { .release = "" };
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] % 4) {
	case 0: host_parse_version(text, &h); break;
	case 1: host_parse_config(text, &h); break;
	case 2: host_parse_status(text, &h); break;
	default: host_parse_mounts(text, &h); break;
	}
	if (strnlen(h.built_by, sizeof(h.built_by)) == sizeof(h.built_by) ||
	    strnlen(h.compiler, sizeof(h.compiler)) == sizeof(h.compiler) || h.compiler_major < 0)
		abort();
	free(text);
	return 0;
}
