// SPDX-License-Identifier: GPL-2.0-or-later
/* Write frames and stacks as JSON: see json.c. */
#include "render/int.h"

static void put_frame(struct json *j, const struct report *r, const struct rframe *f)
{
	json_open(j, NULL, '{');
	if (!f->sym) {
		json_str(j, "mark", f->text);
		json_close(j, '}');
		return;
	}
	json_str(j, "name", f->sym->name);
	json_str(j, "object", f->sym->object);
	if (!f->sym->kernel || r->o->addresses)
		json_hex(j, "addr", f->sym->addr);
	if (f->sym->name)
		json_u64(j, "offset", f->sym->offset);
	if (f->sym->file)
		json_str(j, "file", f->sym->file);
	if (f->sym->line)
		json_s64(j, "line", f->sym->line);
	if (f->sym->inlined)
		json_bool(j, "inlined", true);
	json_close(j, '}');
}

void json_stack(struct json *j, const struct report *r, const char *key, __u32 id)
{
	const struct rstack *st = &r->stacks[id];

	json_open(j, key, '[');
	for (__u32 i = 0; i < st->nr; i++)
		put_frame(j, r, &r->frames[st->frames[i]]);
	json_close(j, ']');
}
