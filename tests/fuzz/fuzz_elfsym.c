// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/constant.c ctl/elf/func.c ctl/elf/names.c ctl/elf/symbols.c ctl/elf/usdt.c */
/* LINK: -ldw -lelf */
/* FUZZ: -max_len=65536 */
/* An ELF file that somebody made up: symbols, versions, USDT notes. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/symbols.h"

static int see_func(const struct elfsym_func *f, void *ctx)
{
	size_t *sum = ctx;

	*sum += strlen(f->name) + (f->version ? strlen(f->version) : 0);
	elfsym_mangled_matches(f->name, "a::b");
	return 0;
}

static int see_probe(const struct elfsym_probe *p, void *ctx)
{
	size_t *sum = ctx;

	*sum += strlen(p->provider) + strlen(p->name) + strlen(p->args);
	return 0;
}

static void find(struct elfsym *e)
{
	struct elfsym_probe *probes;
	struct elfsym_func *funcs;
	char *text;
	size_t nr;

	if (!elfsym_find(e, "main", &funcs, &nr))
		free(funcs);
	if (!elfsym_find(e, "m*@V", &funcs, &nr))
		free(funcs);
	if (!elfsym_find_probe(e, NULL, "*", &probes, &nr)) {
		if (!nr)
			abort();
		free(probes);
	}
	if (!elfsym_constant_text(e, "main", true, &text))
		free(text);
	elfsym_is_entry(e, 4096);
	elfsym_is_code(e, 4096);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct elfsym *e;
	size_t sum = 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !elfsym_open(fd, &e)) {
		elfsym_for_each_func(e, see_func, &sum);
		elfsym_for_each_probe(e, see_probe, &sum);
		find(e);
		elfsym_close(e);
	}
	close(fd);
	return 0;
}
