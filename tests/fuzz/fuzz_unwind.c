// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cfa.c */
/* LINK: ctl/unwind/crt.c ctl/unwind/elf.c ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c */
/* LINK: ctl/unwind/go.c ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c */
/* LINK: ctl/unwind/start.c ctl/unwind/text.c ctl/unwind/unwind.c kmod/core/unwindtab.c -ldw */
/* LINK: -lelf */
/* FUZZ: -max_len=65536 -timeout=20 */
/* An ELF file that somebody made up: frames, segments, symbols. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/unwind.h"

static void check(const struct unwind_table *t)
{
	const struct memtap_rule *r;
	char text[64];
	__u32 row;

	if (!unwind_is_sound(t) ||
	    t->rules[t->kinds[t->nr_rows - 1]].kind != MEMTAP_RULE_GAP)
		abort();
	for (__u32 i = 0; i < t->nr_rows; i++) {
		r = unwind_find(t, t->rows[i], &row);
		if (row != i || (r && r != &t->rules[t->kinds[i]]))
			abort();
		unwind_rule_text(&t->rules[t->kinds[i]], text, sizeof(text));
		if (!*text || strlen(text) >= sizeof(text))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct unwind_table t;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !unwind_compile(fd, &t)) {
		check(&t);
		unwind_free(&t);
	}
	close(fd);
	return 0;
}
