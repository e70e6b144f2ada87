// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find code of the compiler's start files, which every program and library contains and which is
 * built without CFI.  It is recognized by its instructions; its stack operations show where the
 * return address is.
 */
#include <string.h>

#include "unwind/int.h"

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

static int scan_stubs(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len)
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

/* ---- __do_global_dtors_aux() ---- */

#define ANY	-1

/* Of crtbegin.o: calls are made, and a page written to, behind push %rbp. */
static const short dtors_shared[] = {
	0x80, 0x3d, ANY, ANY, ANY, ANY, 0x00,		/* cmpb $0, completed */
	0x75, ANY,					/* jne */
	0x55,						/* push %rbp */
	0x48, 0x83, 0x3d, ANY, ANY, ANY, ANY, 0x00,	/* cmpq $0, __cxa_finalize */
	0x48, 0x89, 0xe5,				/* mov %rsp, %rbp */
	0x74, 0x0c,					/* je */
	0x48, 0x8b, 0x3d, ANY, ANY, ANY, ANY,		/* mov __dso_handle, %rdi */
	0xe8, ANY, ANY, ANY, ANY,			/* call __cxa_finalize */
	0xe8, ANY, ANY, ANY, ANY,			/* call deregister_tm_clones */
	0xc6, 0x05, ANY, ANY, ANY, ANY, 0x01,		/* movb $1, completed */
	0x5d,						/* pop %rbp */
	0xc3,						/* ret */
};

static const short dtors_fixed[] = {
	0x80, 0x3d, ANY, ANY, ANY, ANY, 0x00,
	0x75, ANY,
	0x55,
	0x48, 0x89, 0xe5,
	0xe8, ANY, ANY, ANY, ANY,
	0xc6, 0x05, ANY, ANY, ANY, ANY, 0x01,
	0x5d,
	0xc3,
};

#define DTORS_PUSHED	10			/* behind push, in both */

static const struct {
	const short *code;
	size_t len;
} dtors[] = {
	{ dtors_shared, sizeof(dtors_shared) / sizeof(dtors_shared[0]) },
	{ dtors_fixed, sizeof(dtors_fixed) / sizeof(dtors_fixed[0]) },
};

static bool is_code(const unsigned char *p, size_t len, const short *code, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (i >= len || (code[i] != ANY && code[i] != p[i]))
			return false;
	return true;
}

static int add_dtors(struct unwind_maker *m, __u32 start, __u32 body, size_t len)
{
	struct memtap_rule rule = { .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8, .ra = -8 };
	const struct memtap_rule pushed = {
		.kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 16, .ra = -8,
		.flags = MEMTAP_RULE_FP_SAVED, .fp = -16,
	};
	const __u32 ret = body + (__u32)len - 1;
	int err = unwind_rows_begin(&m->rows, start, ret + 1, UNWIND_CODE);

	if (!err)
		err = unwind_rows_add(&m->rows, start, &rule);
	if (!err)
		err = unwind_rows_add(&m->rows, body + DTORS_PUSHED, &pushed);
	return err ? err : unwind_rows_add(&m->rows, ret, &rule);
}

static int scan_dtors(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len)
{
	static const unsigned char begin[] = { 0x80, 0x3d };
	const unsigned char *p = buf;
	int err = 0;

	for (; !err && (p = memmem(p, len - (size_t)(p - buf), begin, sizeof(begin))); p++) {
		const size_t before = (size_t)(p - buf);
		const bool marked = before >= sizeof(crt_mark) &&
				    !memcmp(p - sizeof(crt_mark), crt_mark, sizeof(crt_mark));

		for (size_t i = 0; !err && i < sizeof(dtors) / sizeof(dtors[0]); i++)
			if (is_code(p, len - before, dtors[i].code, dtors[i].len))
				err = add_dtors(m, at + (__u32)before -
						(marked ? (__u32)sizeof(crt_mark) : 0),
						at + (__u32)before, dtors[i].len);
	}
	return err;
}

int unwind_crt_scan(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len)
{
	int err = scan_stubs(m, at, buf, len);

	return err ? err : scan_dtors(m, at, buf, len);
}
