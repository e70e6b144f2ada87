// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/args.c ctl/session/args_term.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_member.c ctl/elf/btf.c */
/* LINK: ctl/session/symbols.c */
/* LINK: ctl/base/constants.c ctl/base/text.c kmod/core/names.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c ctl/session/format.c */
/* LINK: kmod/core/steps.c */
/* FUZZ: -max_len=1024 */
/*
 * Texts of arguments, filters, operands and formats: whatever they become passes the
 * module's check, and can be done.
 */
#include <stdlib.h>
#include <string.h>

#include "session/args_int.h"
#include "steps_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char memory[64] = "some text in the memory";
static const char record[96];

/* The text up to the next zero byte; NULL where it is empty. */
static const char *next(char **pos, const char *end)
{
	char *s = *pos;

	if (s >= end)
		return NULL;
	*pos += strlen(s) + 1;
	return *s ? s : NULL;
}

/* Input: a byte of what there is, then list, filter, value, by, operands, format. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct format format;
	static struct args a;
	struct steps_values v = { 0 };
	struct steps_world w = { .record = record, .record_len = 80, .base = 0,
				 .memory = { memory, memory }, .memory_len = sizeof(memory) };
	struct args_source src = { .event = "event" };
	struct args_ask ask = { 0 };
	char err[ARGS_ERR], text[64], *copy, *pos, *end, *list;

	if (!size)
		return 0;
	copy = malloc(size + 1);
	memcpy(copy, data, size);
	copy[size] = '\0';
	pos = copy + 1;
	end = copy + size;
	src.can = data[0] & 0x1f;
	ask.all = data[0] & 0x20;
	ask.latency = data[0] & 0x40;
	ask.hist = data[0] & 0x80;
	ask.linear = (data[0] & 0xc0) == 0xc0 ? 10 : 0;
	ask.list = next(&pos, end);
	ask.filter = next(&pos, end);
	ask.value = next(&pos, end);
	ask.by = next(&pos, end);
	src.operands = next(&pos, end);
	format_parse(pos < end ? pos : "", &format);
	if (src.can & STEPS_RECORD)
		src.format = &format;
	/* what is no pair has nothing of one; the same fields at both ends will do */
	if (data[0] == (STEPS_RECORD | 0x40)) {
		src.can |= STEPS_PAIR;
		src.end = &format;
	}
	if (!args_compile(&src, &ask, &a, err)) {
		struct steps checked = a.steps;

		if (*err || !steps_check(&checked, src.can))
			abort();
		if (steps_run(&a.steps, 0, a.steps.nr, &v, &w))
			args_print(&a, &v, NULL, text, sizeof(text));
	} else if (!*err) {
		abort();
	}
	list = args_split(copy + 1);
	if (list && strlen(list) > size)
		abort();
	free(copy);
	return 0;
}
