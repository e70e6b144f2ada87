// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/alloc_scan.c ctl/alloc_wanted.c ctl/alloc_table.c ctl/alloc_probe.c */
/* LINK: ctl/alloc_place.c ctl/alloc_insn.c ctl/alloc_effect.c */
/* LINK: ctl/elfsym.c ctl/elfsym_func.c ctl/elfsym_usdt.c ctl/elfsym_debug.c */
/* LINK: ctl/elfsym_names.c ctl/elfsym_kind.c ctl/event.c ctl/opt_value.c */
/* LINK: ctl/maps.c ctl/ldcache.c ctl/openreg.c -ldw -lelf */
/* FUZZ: -max_len=65536 */
/* A file that a target maps, and that somebody made up: hash tables, names, code. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"

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
