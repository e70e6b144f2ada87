// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detect whether code without CFI keeps frame pointers.  Chromium's code does, musl's does not;
 * neither has CFI.  The called functions are checked: those that keep frame pointers begin with
 * push %rbp; mov %rsp, %rbp.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/int.h"

#define SAMPLE		(8U << 20)	/* bytes of code that are looked at */
#define GAP_LEAST	32		/* bytes; below are holes between functions */
#define CALLED_LEAST	2		/* where there is no CFI at all */
#define CALLED_AMONG	32		/* where there is some */
#define PERCENT		80

struct sample {
	unsigned char *code;		/* of a gap */
	__u32 start, len;
	unsigned long called, framed;
	__u32 done;			/* bytes, of all gaps */
};

/* The target of a direct call, if it looks like a function that is in the sample. */
static const unsigned char *called_at(const struct sample *s, __u32 at)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const unsigned char *p;
	__s32 rel;
	__s64 to;

	memcpy(&rel, s->code + at + 1, sizeof(rel));
	to = (__s64)at + 5 + rel;
	if (to < 0 || to + 16 > (__s64)s->len || (s->start + to) % 16)
		return NULL;
	p = s->code + to;
	return memcmp(p, endbr64, 4) ? p : p + 4;
}

static void look(struct sample *s)
{
	static const unsigned char frame[2][4] = {
		{ 0x55, 0x48, 0x89, 0xe5 }, { 0x55, 0x48, 0x8b, 0xec }
	};
	const unsigned char *p;

	for (__u32 at = 0; at + 5 <= s->len; at++) {
		if (s->code[at] != 0xe8)
			continue;
		p = called_at(s, at);
		/* a PLT's entries (jmp *, bnd jmp *) are no functions */
		if (!p || p[0] == 0xff || p[0] == 0xf2)
			continue;
		s->called++;
		s->framed += !memcmp(p, frame[0], 4) || !memcmp(p, frame[1], 4);
	}
}

static int look_at_gap(struct unwind_maker *m, __u32 start, __u32 end, void *ctx)
{
	struct sample *s = ctx;
	__u32 len = end - start;

	if (len < GAP_LEAST || s->done >= SAMPLE)
		return 0;
	if (len > SAMPLE - s->done)
		len = SAMPLE - s->done;
	s->code = malloc(len);
	if (!s->code)
		return -ENOMEM;
	s->start = start;
	s->len = (__u32)unwind_elf_read(&m->elf, start, s->code, len);
	s->done += len;
	look(s);
	free(s->code);
	return 0;
}

static int add_gap(struct unwind_maker *m, __u32 start, __u32 end, void *ctx)
{
	(void)ctx;
	return end - start < GAP_LEAST ? 0 :
	       unwind_gap_add(m, start, end, UNWIND_FRAMES, MEMTAP_RULE_FP);
}

static int sample(struct unwind_maker *m, bool *framed)
{
	const unsigned long least = m->coverage.functions ? CALLED_AMONG : CALLED_LEAST;
	struct sample s = { 0 };
	int err = unwind_gap_each(m, look_at_gap, &s);

	*framed = s.called >= least && s.framed * 100 >= s.called * PERCENT;
	return err;
}

int unwind_fp_gaps(struct unwind_maker *m)
{
	const bool no_cfi = !m->coverage.functions;
	bool framed = m->go && !m->go_cfi;	/* stripped: Go always keeps them */
	int err = framed ? 0 : sample(m, &framed);

	if (err || !framed)
		return err;
	m->coverage.frame_pointers = no_cfi;
	return unwind_gap_each(m, add_gap, NULL);
}
