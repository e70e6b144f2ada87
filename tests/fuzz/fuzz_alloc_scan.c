// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/effect.c ctl/elf/insn.c ctl/alloc/place.c ctl/alloc/probe.c */
/* LINK: ctl/alloc/scan.c ctl/alloc/table.c ctl/alloc/wanted.c ctl/base/openreg.c */
/* LINK: ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c ctl/elf/func.c ctl/elf/kind.c */
/* LINK: ctl/elf/names.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/target/ldcache.c */
/* LINK: ctl/target/maps.c -ldw -lelf */
/* FUZZ: -max_len=65536 */
/* A file that a target maps, and that somebody made up: hash tables, names, code. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc/alloc.h"

static void scan(int fd, const char *path)
{
	static const struct alloc_spec specs[] = {
		{ "", "main", MEMTAP_HEAP_ALLOC, 16, 0, 255, 255, 254 },
		{ "c", "m*", MEMTAP_HEAP_FREE, 16, 255, 255, 0, 255 },
	};
	struct alloc_opts o = {
		.push = true, .moved = true, .prefix = "x_", .specs = specs, .nr_specs = 2,
	};
	struct alloc_probes p = { 0 };

	if (!alloc_scan(&p, fd, path, &o)) {
		for (size_t i = 0; i < p.nr; i++)
			if (!*p.at[i].attach.name || p.at[i].attach.fd != -1 ||
			    !p.at[i].attach.op)
				abort();
	} else if (p.nr) {
		abort();
	}
	alloc_probes_free(&p);
	alloc_opts_free(&o);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	__u64 offset;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		scan(fd, "/lib/libc.so.6");
		scan(fd, "/lib/libstdc++.so.6");
		alloc_hold_place(fd, "_dl_debug_state", &offset);
	}
	close(fd);
	return 0;
}
