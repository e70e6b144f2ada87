// SPDX-License-Identifier: GPL-2.0-or-later
/* Add arguments, filters and values to attachments. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "elf/btf.h"
#include "session/dev.h"
#include "session/plan.h"
#include "session/tracefs.h"

#define BTF_ROOM	(64UL << 20)

static int read_format(const char *event, struct format *f)
{
	char subsystem[MEMTAP_NAME_LEN];
	const char *colon = strchr(event, ':');
	int err;

	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - event), event);
	err = tracefs_format(subsystem, colon + 1, f);
	return err ? fail_text("cannot read the fields of %s from tracefs: %s", event,
			       strerror(-err)) : 0;
}

/* Of the tracepoint, or of both of a pair. */
static int read_formats(const char *event, struct format *f, struct format *end)
{
	const char *dots = strstr(event, "..");
	char begin[MEMTAP_NAME_LEN];
	int ret;

	if (!dots)
		return read_format(event, f);
	snprintf(begin, sizeof(begin), "%.*s", (int)(dots - event), event);
	ret = read_format(begin, f);
	return ret ? ret : read_format(dots + 2, end);
}

/* Steps of the module, as it gets them. */
static void set_steps(struct plan_item *item)
{
	struct memtap_attach *a = &item->attach;
	const struct steps *s = &item->args->steps;

	a->nr_steps = s->nr;
	a->steps_ptr = (__u64)(unsigned long)s->at;
	a->texts_ptr = (__u64)(unsigned long)s->texts;
	a->texts_len = s->nr ? s->texts_len : 0;
	a->nr_entry = s->nr_entry;
	a->nr_shown = s->nr_shown;
	a->value_slot = (__u16)s->value_slot;
	a->by_slot = (__u16)s->by_slot;
	a->by_mask = (__u16)s->by_mask;
	a->text_max = (__u16)s->text_max;
	a->value_unit = s->value_unit;
}

void plan_fields(int dev, __u32 event, const char *name, struct format *f)
{
	struct memtap_field field;

	f->nr = 0;
	for (__u32 i = 0; dev >= 0 && i < FORMAT_FIELDS; i++) {
		struct format_field *at = &f->at[f->nr];

		memset(&field, 0, sizeof(field));
		field.event = event;
		field.index = i;
		if (dev_field(dev, &field))
			break;
		memset(at, 0, sizeof(*at));
		snprintf(at->name, sizeof(at->name), "%.*s", (int)sizeof(field.name), field.name);
		at->words = constants_of(name, at->name);
		at->kind = field.type & MEMTAP_TYPE_TEXT ? FORMAT_TEXT :
			   field.flags & MEMTAP_FIELD_ADDRESS && !at->words ? FORMAT_POINTER :
			   FORMAT_NUMBER;
		at->offset = field.offset;
		at->size = field.len;
		at->is_signed = field.type & MEMTAP_TYPE_SIGNED;
		f->nr++;
	}
}

/* What this kernel calls the bits of GFP_KERNEL: a tracepoint that all kernels have tells. */
static const struct symbols *gfp_symbols(void)
{
	static const struct symbols *symbols;
	static bool asked;
	struct format *f;

	if (asked)
		return symbols;
	asked = true;
	f = calloc(1, sizeof(*f));
	if (f && !tracefs_format("kmem", "mm_page_alloc", f)) {
		const struct format_field *gfp = format_find(f, "gfp_flags", 9);

		symbols = gfp ? gfp->symbols : NULL;
	}
	free(f);
	return symbols;
}

/* What the kernel tells of its types, read where it is asked for. */
static const struct btf *kernel_btf(void)
{
	static struct btf *types;
	static bool asked;
	FILE *f;
	char *bytes = NULL;
	size_t len = 0;

	if (asked)
		return types;
	asked = true;
	f = fopen("/sys/kernel/btf/vmlinux", "re");
	if (f)
		bytes = malloc(BTF_ROOM);
	if (bytes)
		len = fread(bytes, 1, BTF_ROOM, f);
	if (len && len < BTF_ROOM)
		types = btf_new(bytes, len);
	free(bytes);
	if (f)
		fclose(f);
	return types;
}

/* @format: what its record has, or NULL: a tracepoint's is read. */
static int compile_list(struct plan_item *item, const struct plan_env *env, const char *list,
			const struct format *format, const struct args_program *program)
{
	struct args_source src = {
		.can = steps_can(&item->attach),
		.operands = item->operands,
		.event = item->text,
		.format = format,
		.gfp = gfp_symbols,
		.btf = kernel_btf,
		.function = item->attach.kind == MEMTAP_ATTACH_KPROBE ? item->attach.name : NULL,
		.program = program,
	};
	struct args_ask ask = env->ask;
	struct format read, end;
	char err[ARGS_ERR];
	int ret;

	ask.list = list;
	if ((src.can & STEPS_RECORD) && !format) {
		ret = read_formats(item->attach.name, &read, &end);
		if (ret)
			return ret;
		src.format = &read;
		src.end = src.can & STEPS_PAIR ? &end : NULL;
	}
	item->args = calloc(1, sizeof(*item->args));
	if (!item->args)
		return fail(ERR_PLAIN, ENOMEM, "%s", item->text);
	if (args_compile(&src, &ask, item->args, err)) {
		ask.filter = NULL;
		if (env->lacks && env->ask.filter &&
		    !args_compile(&src, &ask, item->args, env->lacks)) {
			memcpy(env->lacks, err, sizeof(err));
			return -ENODATA;
		}
		fail_text("%s", err);
		return EXIT_USAGE;
	}
	set_steps(item);
	return 0;
}

static int compile(const struct plan *p, struct plan_item *item, const struct plan_env *env,
		   const char *list)
{
	struct plan_source *s;
	int ret = plan_source_open(p, item, &s);

	if (ret)
		return ret;
	ret = compile_list(item, env, list, NULL, plan_source_program(s));
	plan_source_close(s);
	return ret;
}

int plan_args(struct plan *p, const struct plan_env *env, const char *list, size_t first)
{
	const struct args_ask *a = &env->ask;
	const bool wanted = list || a->filter || a->value || a->by || a->all || a->hist;
	int ret = 0;

	for (size_t i = first; !ret && i < p->nr; i++)
		if (p->items[i].attach.kind != MEMTAP_ATTACH_BUILTIN &&
		    (wanted || p->items[i].attach.kind == MEMTAP_ATTACH_PAIR))
			ret = compile(p, &p->items[i], env, list);
	return ret;
}

static int make_item(struct plan *p, const struct plan_env *env, __u32 event, const char *list,
		     const struct format *f)
{
	const char *name = env->events[event].name;
	struct plan_item *item = plan_new(p, MEMTAP_ATTACH_BUILTIN);

	if (!item)
		return fail(ERR_EVENT, E2BIG, "%s", name);
	snprintf(item->attach.name, sizeof(item->attach.name), "%s", name);
	snprintf(item->text, sizeof(item->text), "%s", name);
	return compile_list(item, env, list, f, NULL);
}

/* Something else than a name? */
static bool is_computed(const char *value)
{
	for (; *value; value++)
		if (!isalnum((unsigned char)*value) && *value != '_')
			return true;
	return false;
}

/* What has no fields is counted, with its own value, as cheaply as it can. */
static bool needs_steps(const struct args_ask *a, const struct format *f)
{
	if (a->filter || a->by || a->linear || (a->value && is_computed(a->value)))
		return true;
	return f->nr && (a->all || (a->value && format_find(f, a->value, strlen(a->value))));
}

int plan_args_builtins(struct plan *p, const struct plan_env *env)
{
	struct format f;
	int ret = 0;

	for (__u32 i = 0; !ret && i < env->nr_events && i < 64; i++) {
		if (!(p->builtins >> i & 1))
			continue;
		plan_fields(env->dev, i, env->events[i].name, &f);
		if (!needs_steps(&env->ask, &f))
			continue;
		p->builtins &= ~(1ULL << i);
		ret = make_item(p, env, i, NULL, &f);
	}
	return ret;
}

int plan_args_builtin_list(struct plan *p, const struct plan_env *env, __u64 mask,
			   const char *list)
{
	struct format f;
	int ret = 0;

	for (__u32 i = 0; !ret && i < env->nr_events && i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		plan_fields(env->dev, i, env->events[i].name, &f);
		p->builtins &= ~(1ULL << i);
		ret = make_item(p, env, i, list, &f);
	}
	return ret;
}
