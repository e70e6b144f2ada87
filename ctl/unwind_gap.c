// SPDX-License-Identifier: GPL-2.0-or-later
/* Code that no CFI describes, and that is known all the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind_int.h"

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

/*
 * _init() and _fini(), as crti.o and crtn.o have them: in each library, on a page
 * of its own, of which the first fault tells.  Between what they take from the
 * stack and give back are calls at most: of __gmon_start__(), and others.
 */
static const unsigned char crt_take[] = { 0x48, 0x83, 0xec, 0x08 };	  /* sub $8, %rsp */
static const unsigned char crt_give[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 }; /* add; ret */
static const unsigned char crt_mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };	  /* endbr64 */

static bool is_gmon_call(const unsigned char *p)
{
	static const unsigned char load[] = { 0x48, 0x8b, 0x05 };
	static const unsigned char call[] = { 0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0 };

	return !memcmp(p, load, sizeof(load)) && !memcmp(p + 7, call, sizeof(call));
}

#define GMON_CALL	14		/* bytes */

#define NEAR_CALL	5
#define MAX_CALLS	4		/* that others had put into .init */

/* How many bytes before @give such a function begins; 0: it is none. */
static size_t crt_begins(const unsigned char *buf, const unsigned char *give)
{
	const size_t before = (size_t)(give - buf);
	size_t body = 0, n;

	for (int calls = 0; calls <= MAX_CALLS; calls++, body += NEAR_CALL) {
		if (calls && (before < body || give[-(ptrdiff_t)body] != 0xe8))
			return 0;
		n = body;
		if (before >= n + GMON_CALL && is_gmon_call(give - n - GMON_CALL))
			n += GMON_CALL;
		n += sizeof(crt_take);
		if (before < n || memcmp(give - n, crt_take, sizeof(crt_take)))
			continue;
		if (before >= n + sizeof(crt_mark) &&
		    !memcmp(give - n - sizeof(crt_mark), crt_mark, sizeof(crt_mark)))
			n += sizeof(crt_mark);
		return n;
	}
	return 0;
}

static int add_crt(struct unwind_maker *m, __u32 start, __u32 give, bool marked)
{
	const __u32 taken = start + sizeof(crt_take) + (marked ? sizeof(crt_mark) : 0);
	const __u32 ret = give + sizeof(crt_give) - 1;
	struct memtap_rule rule = { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8, .ra = -8 };
	int err = unwind_rows_begin(&m->rows, start, ret + 1, UNWIND_CODE);

	if (!err)
		err = unwind_rows_add(&m->rows, start, &rule);
	rule.cfa = 16;
	if (!err)
		err = unwind_rows_add(&m->rows, taken, &rule);
	rule.cfa = 8;
	return err ? err : unwind_rows_add(&m->rows, ret, &rule);
}

static int scan_crt(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len)
{
	const unsigned char *p = buf;
	int err = 0;

	while (!err && (p = memmem(p, len - (size_t)(p - buf), crt_give, sizeof(crt_give)))) {
		const size_t n = crt_begins(buf, p);
		const __u32 give = at + (__u32)(p - buf);

		if (n)
			err = add_crt(m, give - (__u32)n, give,
				      !memcmp(p - n, crt_mark, sizeof(crt_mark)));
		p++;
	}
	return err;
}

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
			err = scan_crt(m, start, s->buf, len);
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
