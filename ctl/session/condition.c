// SPDX-License-Identifier: GPL-2.0-or-later
/* Apply --filter to whole records: OOM kills, stalls, full tables. */
#include <string.h>

#include "session/condition.h"

/* There is a record, and nothing else: what the module asks its machine is not known here. */
struct steps_world {
	const void *record;
	__u64 record_len;
};

#include "core/steps_run.h"

static int steps_world_arg(struct steps_world *w, u32 n, u64 *v)
{
	(void)w;
	(void)n;
	(void)v;
	return 0;
}

static int steps_world_reg(struct steps_world *w, u32 n, u64 *v)
{
	return steps_world_arg(w, n, v);
}

static int steps_world_ret(struct steps_world *w, u64 *v)
{
	return steps_world_arg(w, 0, v);
}

static int steps_world_fact(struct steps_world *w, u32 n, u64 *v)
{
	return steps_world_arg(w, n, v);
}

static int steps_world_read(struct steps_world *w, u32 user, u64 addr, void *buf, u32 len)
{
	(void)w;
	(void)user;
	(void)addr;
	(void)buf;
	(void)len;
	return 0;
}

static void steps_world_comm(struct steps_world *w, char *buf)
{
	(void)w;
	memset(buf, 0, MEMTAP_COMM_LEN);
}

int condition_make(struct condition *c, const char *text, const struct format *f,
		   const char *what, char err[ARGS_ERR])
{
	const struct args_source src = { .can = STEPS_RECORD, .format = f, .event = what };
	const struct args_ask ask = { .filter = text };

	return args_compile(&src, &ask, &c->args, err);
}

bool condition_holds(const struct condition *c, const void *record, size_t len)
{
	struct steps_world w = { .record = record, .record_len = len };
	const struct steps *st = &c->args.steps;
	struct steps_values v;

	steps_clear(&v);
	return steps_run(st, 0, st->nr, &v, &w);
}
