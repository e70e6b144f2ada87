// SPDX-License-Identifier: GPL-2.0-or-later
/* Make rows for known code without CFI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/int.h"

#define ENTRY_MAX	128		/* bytes of a program's first function */
#define SCAN_MAX	(16U << 20)	/* bytes of gaps that are looked through */
#define BUFFER		4096

int unwind_gap_each(struct unwind_maker *m,
		    int (*fn)(struct unwind_maker *m, __u32 start, __u32 end, void *ctx),
		    void *ctx)
{
	const struct unwind_rows *r = &m->rows;
	size_t p = 0;
	int ret;

	for (size_t i = 0; i < m->elf.nr_segments; i++) {
		const struct unwind_segment *s = &m->elf.segments[i];
		__u32 pos = s->start;

		while (pos < s->end) {
			while (p < r->nr_pieces && r->pieces[p].end <= pos)
				p++;
			if (p < r->nr_pieces && r->pieces[p].start <= pos) {
				pos = r->pieces[p].end;
				continue;
			}
			const __u32 end = p < r->nr_pieces && r->pieces[p].start < s->end ?
					  r->pieces[p].start : s->end;

			ret = fn(m, pos, end, ctx);
			if (ret)
				return ret;
			pos = end;
		}
	}
	return 0;
}

int unwind_gap_add(struct unwind_maker *m, __u32 start, __u32 end, enum unwind_layer layer,
		   __u8 kind)
{
	const struct memtap_rule rule = { .kind = kind, .ra = -8 };
	int err = unwind_rows_begin(&m->rows, start, end, layer);

	return err ? err : unwind_rows_add(&m->rows, start, &rule);
}

static int see_entry(struct unwind_maker *m, __u32 start, __u32 end, void *ctx)
{
	const __u32 entry = *(const __u32 *)ctx;

	if (entry < start || entry >= end)
		return 0;
	return unwind_gap_add(m, entry, end - entry > ENTRY_MAX ? entry + ENTRY_MAX : end,
			      UNWIND_CODE, MEMTAP_RULE_END);
}

/* Nobody has called the code where a program, or its dynamic linker, begins. */
int unwind_gap_entry(struct unwind_maker *m)
{
	__u32 entry, end;

	if (!m->elf.entry || !unwind_elf_range(&m->elf, m->elf.entry, 1, &entry, &end))
		return 0;
	return unwind_gap_each(m, see_entry, &entry);
}

/* mov $15, %rax or %eax; syscall: rt_sigreturn() */
static const struct {
	unsigned char code[9];
	__u32 len;
} trampolines[] = {
	{ { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 9 },
	{ { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 7 },
};

#define PATTERN_MAX	64		/* longer than anything that is looked for */

struct scan {
	__u32 left;
	unsigned char buf[BUFFER];
};

static int scan_trampolines(struct unwind_maker *m, __u32 at, const unsigned char *buf,
			    size_t len)
{
	int err = 0;

	for (size_t t = 0; t < sizeof(trampolines) / sizeof(trampolines[0]); t++) {
		const unsigned char *p = buf;

		while (!err && (p = memmem(p, len - (size_t)(p - buf), trampolines[t].code,
					   trampolines[t].len))) {
			const __u32 found = at + (__u32)(p - buf);

			/* from one byte before: that is where a handler, returning
			 * to its first instruction, is looked up */
			err = unwind_gap_add(m, found ? found - 1 : 0,
					     found + trampolines[t].len, UNWIND_CODE,
					     MEMTAP_RULE_SIGNAL);
			p++;
		}
	}
	return err;
}

static int scan_gap(struct unwind_maker *m, __u32 start, __u32 end, void *ctx)
{
	struct scan *s = ctx;
	__u32 want;
	size_t len;
	int err;

	while (s->left) {
		want = end - start < sizeof(s->buf) ? end - start : sizeof(s->buf);
		len = unwind_elf_read(&m->elf, start, s->buf, want);
		err = scan_trampolines(m, start, s->buf, len);
		if (!err)
			err = unwind_crt_scan(m, start, s->buf, len);
		if (!err)
			err = unwind_plt_scan(m, start, s->buf, len);
		if (err || len < sizeof(s->buf))
			return err;
		/* what lies across is found in the next */
		start += want - (PATTERN_MAX - 1);
		s->left -= s->left < want ? s->left : want;
	}
	return 0;
}

int unwind_gap_patterns(struct unwind_maker *m)
{
	struct scan *s = malloc(sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->left = SCAN_MAX;
	err = unwind_gap_each(m, scan_gap, s);
	free(s);
	return err;
}
