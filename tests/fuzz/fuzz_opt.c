// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/opt.c ctl/base/opt_table.c ctl/base/opt_value.c ctl/base/out_name.c */
/* LINK: ctl/base/text.c ctl/session/event.c */
/* FUZZ: -max_len=2048 */
/*
 * Command lines: the first bytes choose which options there are, the rest are
 * the arguments, each ended by 0; each is read as an event and as a command of
 * -c as well.
 */
#include <stdlib.h>
#include <string.h>

#include "session/event.h"
#include "base/opt.h"

#define MAX_ARGS 64

static void try_event(const char *text)
{
	struct event_spec spec;
	const char *end = spec.text + sizeof(spec.text);
	const char *parts[] = { NULL, NULL, NULL };

	if (event_parse(text, &spec))
		return;
	parts[0] = spec.file;
	parts[1] = spec.group;
	parts[2] = spec.name;
	for (int i = 0; i < 3; i++)
		if (parts[i] && (parts[i] < spec.text || parts[i] >= end ||
				 strlen(parts[i]) >= sizeof(spec.text)))
			abort();
	if (spec.guessed)
		event_reread(&spec);
}

static void try_split(const char *text)
{
	char err[OPT_ERR], **argv;
	size_t len = 0;

	if (opt_split(text, &argv, err))
		return;
	for (int i = 0; argv[i]; i++)
		len += strlen(argv[i]) + 1;
	if (!argv[0] || len > strlen(text) + 1)
		abort();
	free(argv);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *copy, *argv[MAX_ARGS + 1], err[OPT_ERR] = "";
	static struct opts o;
	unsigned int half;
	__u64 groups;
	int argc = 0;

	if (size < sizeof(half))
		return 0;
	memcpy(&half, data, sizeof(half));
	groups = (__u64)half << 32 | half;
	data += sizeof(half);
	size -= sizeof(half);
	copy = malloc(size + 1);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	argv[argc++] = copy + size;		/* the command's name: "" */
	for (char *p = copy; p < copy + size && argc < MAX_ARGS; p += strlen(p) + 1) {
		try_event(p);
		try_split(p);
		argv[argc++] = p;
	}
	argv[argc] = NULL;
	opt_init(&o);
	if (opt_parse(groups, argc, argv, &o, err) && !err[0])
		abort();			/* refused without a word */
	opt_free(&o);
	free(copy);
	return 0;
}
