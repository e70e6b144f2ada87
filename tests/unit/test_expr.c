// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/args.c ctl/session/args_term.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_member.c ctl/elf/btf.c */
/* LINK: ctl/session/symbols.c */
/* LINK: ctl/base/constants.c ctl/base/text.c kmod/core/names.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c ctl/session/format.c */
/* LINK: kmod/core/steps.c */
/* Expressions: what their steps compute is what C computes of the same text. */
#include <stdlib.h>
#include <string.h>

#include "session/args_int.h"
#include "steps_world.h"
#include "tap.h"

static const struct args_source source = {
	STEPS_FUNCTION | STEPS_KERNEL | STEPS_RETURN, NULL, NULL, "kr:f"
};

static struct steps_world world(void)
{
	struct steps_world w = {
		.args = { 4096, (__u64)-37, 4000000000, (__u64)-5, 200, 0xffff888000001000ULL },
		.ret = (__u64)-12, .comm = "worker",
	};

	w.facts[MEMTAP_FACT_LATENCY] = 777000;
	return w;
}

/* At the entry, and at the return with what was kept. */
static bool run(const struct steps *s, struct steps_values *kept)
{
	static unsigned char packed[STEPS_PACKED_MAX];
	static struct steps_values v;
	struct steps_world w = world();
	u32 len;

	steps_clear(&v);
	if (!steps_run(s, 0, s->nr_entry, &v, &w))
		return false;
	len = steps_pack(s, &v, s->kept_entry, packed);
	if (!steps_unpack(s, kept, s->kept_entry, v.known, packed, len))
		abort();
	return steps_run(s, s->nr_entry, s->nr, kept, &w);
}

static unsigned int compared, too_large, wrong;

static bool is_too_large(const char *err)
{
	return strstr(err, "nested too deeply") || strstr(err, "interim values") ||
	       strstr(err, "use fewer");
}

/* As an argument, and as a filter. */
static void compare(const char *text, __u64 want)
{
	static struct steps_values v;
	static struct args a;
	char list[128], err[ARGS_ERR];
	const struct args_ask ask = { .list = list }, filter = { .filter = text };
	bool same;

	snprintf(list, sizeof(list), "x=%s", text);
	if (args_compile(&source, &ask, &a, err)) {
		too_large++;
		if (!is_too_large(err)) {
			fprintf(stderr, "# %s: %s\n", text, err);
			wrong++;
		}
		return;
	}
	compared++;
	same = run(&a.steps, &v) && (v.known & 1) && v.number[0] == want;
	if (!same)
		fprintf(stderr, "# %s: %lld, but in C %lld\n", text, (long long)v.number[0],
			(long long)want);
	wrong += !same;
	if (args_compile(&source, &filter, &a, err) || run(&a.steps, &v) != !!want) {
		fprintf(stderr, "# filter %s: not %d\n", text, !!want);
		wrong++;
	}
}

int main(void)
{
	unsigned long long a1 = 4096, a6 = 0xffff888000001000ULL, latency = 777000;
	long long a2 = -37, a3 = 4000000000, a4 = -5, a5 = 200, ret = -12;

#define X(text, c)	compare(text, (__u64)(c));
#include "expressions.h"
	is(wrong, 0, "%u random expressions give what they give in C", compared);
	ok(compared > 9 * too_large && compared > 100, "and few of them are too large (%u)",
	   too_large);
	return tap_done();
}
