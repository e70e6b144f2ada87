// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse --alloc 'PATH:fn(size=arg1,ptr=ret)' and --free 'PATH:fn(ptr=arg1)'. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc/alloc.h"

#define NONE	MEMTAP_ARG_NONE

/* Where the reader of the text is, and how to say what is wrong. */
struct reader {
	const char *text;	/* all of it */
	const char *at;
	bool frees;
	char *err;
};

__attribute__((format(printf, 2, 3)))
static int wrong(const struct reader *r, const char *format, ...)
{
	char why[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	snprintf(r->err, 256, "'%.60s': %s", r->text, why);
	return -EINVAL;
}

static const char *example(const struct reader *r)
{
	return r->frees ? "PATH:FUNCTION(ptr=arg1)" : "PATH:FUNCTION(size=arg1,ptr=ret)";
}

/* The first colon that is not part of a C++ name's "::" */
static const char *find_colon(const char *s, const char *end)
{
	for (; s < end; s++) {
		if (*s != ':')
			continue;
		if (s + 1 < end && s[1] == ':')
			s++;
		else
			return s;
	}
	return NULL;
}

static int copy(const struct reader *r, char *to, size_t room, const char *from,
		const char *end, const char *what)
{
	const size_t len = (size_t)(end - from);

	if (len >= room)
		return wrong(r, "the %s is longer than %zu bytes", what, room - 1);
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

static int read_names(struct reader *r, struct alloc_spec *spec)
{
	const char *open = strchr(r->text, '(');
	const char *colon, *function;
	int err;

	if (!open)
		return wrong(r, "the arguments are missing; example: %s", example(r));
	colon = find_colon(r->text, open);
	function = colon ? colon + 1 : r->text;
	if (function == open)
		return wrong(r, "no function name before the '('; example: %s", example(r));
	err = copy(r, spec->path, sizeof(spec->path), r->text,
		   colon ? colon : r->text, "path");
	if (!err)
		err = copy(r, spec->function, sizeof(spec->function), function, open,
			   "function's name");
	r->at = open + 1;
	return err;
}

/* "arg1" .. "arg6" */
static int read_arg(struct reader *r, __u8 *arg)
{
	if (strncmp(r->at, "arg", 3) || r->at[3] < '1' || r->at[3] > '6' ||
	    (r->at[4] >= '0' && r->at[4] <= '9'))
		return wrong(r, "'%.20s' is not one of arg1 to arg6", r->at);
	*arg = (__u8)(r->at[3] - '1');
	r->at += 4;
	return 0;
}

static int read_size(struct reader *r, struct alloc_spec *spec)
{
	int err;

	if (r->frees)
		return wrong(r, "size= is for --alloc; --free takes ptr=argN");
	if (spec->size_arg != NONE)
		return wrong(r, "size= is given twice; for a product, use size=arg1*arg2");
	err = read_arg(r, &spec->size_arg);
	if (err || *r->at != '*')
		return err;
	r->at++;
	return read_arg(r, &spec->size2_arg);
}

static int read_ptr(struct reader *r, struct alloc_spec *spec)
{
	if (spec->result_arg != NONE || (r->frees && spec->ptr_arg != NONE))
		return wrong(r, "ptr= is given twice");
	if (r->frees)
		return read_arg(r, &spec->ptr_arg);
	if (!strncmp(r->at, "ret", 3)) {
		spec->result_arg = MEMTAP_ARG_RETURN;
		r->at += 3;
		return 0;
	}
	if (*r->at != '*')
		return wrong(r, "ptr= takes ret, or *argN if the function stores the block's "
			     "address through argument N");
	r->at++;
	return read_arg(r, &spec->result_arg);
}

static int read_old(struct reader *r, struct alloc_spec *spec)
{
	if (r->frees)
		return wrong(r, "old= is for --alloc; --free takes ptr=argN");
	if (spec->ptr_arg != NONE)
		return wrong(r, "old= is given twice");
	return read_arg(r, &spec->ptr_arg);
}

static int read_item(struct reader *r, struct alloc_spec *spec)
{
	static const struct {
		const char *key;
		int (*read)(struct reader *r, struct alloc_spec *spec);
	} keys[] = { { "size=", read_size }, { "ptr=", read_ptr }, { "old=", read_old } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const size_t len = strlen(keys[i].key);

		if (strncmp(r->at, keys[i].key, len))
			continue;
		r->at += len;
		return keys[i].read(r, spec);
	}
	return wrong(r, "'%.20s' is not %s", r->at,
		     r->frees ? "ptr=argN" : "one of size=argN, ptr=ret, old=argN");
}

static int read_items(struct reader *r, struct alloc_spec *spec)
{
	int err;

	for (;;) {
		err = read_item(r, spec);
		if (err)
			return err;
		if (*r->at == ')')
			break;
		if (*r->at != ',')
			return wrong(r, *r->at ? "'%.20s' should be ',' or ')'" :
						 "the ')' at the end is missing", r->at);
		r->at++;
	}
	if (r->at[1])
		return wrong(r, "unexpected '%.20s' after the ')'", r->at + 1);
	return 0;
}

int alloc_spec_parse(const char *text, bool frees, struct alloc_spec *spec, char err[256])
{
	struct reader r = { .text = text, .at = text, .frees = frees, .err = err };
	int ret;

	memset(spec, 0, sizeof(*spec));
	spec->size_arg = NONE;
	spec->size2_arg = NONE;
	spec->ptr_arg = NONE;
	spec->result_arg = NONE;
	spec->family = MEMTAP_FAMILY_OWN;
	ret = read_names(&r, spec);
	if (!ret)
		ret = read_items(&r, spec);
	if (ret)
		return ret;
	if (frees) {
		spec->op = MEMTAP_HEAP_FREE;
		return 0;	/* there was an item, and only ptr= is one */
	}
	if (spec->size_arg == NONE)
		return wrong(&r, "the size is missing: add size=argN");
	if (spec->result_arg == NONE)
		return wrong(&r, "the block's address is missing: add ptr=ret or ptr=*argN");
	spec->op = spec->ptr_arg == NONE ? MEMTAP_HEAP_ALLOC : MEMTAP_HEAP_REALLOC;
	return 0;
}
