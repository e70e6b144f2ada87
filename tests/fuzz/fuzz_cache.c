// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cfa.c */
/* LINK: ctl/unwind/crt.c ctl/unwind/elf.c ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c */
/* LINK: ctl/unwind/go.c ctl/unwind/id.c ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c */
/* LINK: ctl/unwind/start.c ctl/unwind/store.c ctl/unwind/text.c ctl/unwind/unwind.c */
/* LINK: kmod/core/unwindtab.c -ldw -lelf */
/* FUZZ: -max_len=4096 */
/*
 * Files of the cache that somebody changed: tables of rows, and lists of what
 * programs map.  The checksum is made right, for what lies behind it.
 */
#include <stdint.h>

#include "unwind/cache.c"
#include "unwind/companion.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void companions(const uint8_t *data, size_t size)
{
	struct paths *p = calloc(1, sizeof(*p));
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	add_lines(p, text);
	for (size_t i = 0; i < p->nr; i++)
		if (p->at[i][0] != '/' || strchr(p->at[i], '\n'))
			abort();
	free(text);
	free(p);
}

/* The checksum as it should be, if there is as much as the header says. */
static void seal(char *buf, size_t len)
{
	const struct memtap_rule *rules;
	struct unwind_table t = { 0 };
	struct header h;

	memcpy(&h, buf, sizeof(h));
	if (!h.nr_rows || h.nr_rows > len || !h.nr_rules || h.nr_rules > len ||
	    len != sizeof(h) + h.nr_rules * sizeof(*rules) + h.nr_rows * 6ULL)
		return;
	if (!copy_arrays(&h, buf + sizeof(h), &t)) {
		h.checksum = checksum_of(&h, t.rules, t.rows, t.kinds);
		memcpy(buf, &h, sizeof(h));
	}
	unwind_free(&t);
}

/* Input: 'c' and lines; or 't' and a file, whose magic and identity are not looked at. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table t = { 0 };
	struct unwind_id id = { 0 };
	struct header h;
	char *buf;

	if (!size)
		return 0;
	if (data[0] != 't') {
		companions(data + 1, size - 1);
		return 0;
	}
	if (--size < sizeof(h))
		return 0;
	buf = malloc(size);
	memcpy(buf, data + 1, size);
	memcpy(&h, buf, sizeof(h));
	h.magic = 0x0a0d53574f52544dULL;
	h.version = VERSION;
	h.id = id;
	memcpy(buf, &h, sizeof(h));
	seal(buf, size);
	if (!parse(buf, size, &id, &t)) {
		if (!unwind_is_sound(&t))
			abort();
		unwind_free(&t);
	}
	free(buf);
	return 0;
}
