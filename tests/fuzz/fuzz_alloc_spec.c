// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/alloc/spec.c */
/* FUZZ: -max_len=600 */
/* What somebody writes behind --alloc and --free. */
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"

static void check(const struct alloc_spec *s, bool frees)
{
	const bool has_old = s->ptr_arg <= MEMTAP_ARG_MAX;

	if (!*s->function || memchr(s->path, 0, sizeof(s->path)) == NULL ||
	    memchr(s->function, 0, sizeof(s->function)) == NULL)
		abort();
	if (frees ? s->op != MEMTAP_HEAP_FREE || !has_old :
		    s->size_arg > MEMTAP_ARG_MAX ||
		    s->op != (has_old ? MEMTAP_HEAP_REALLOC : MEMTAP_HEAP_ALLOC))
		abort();
	if (!frees && s->result_arg != MEMTAP_ARG_RETURN && s->result_arg > MEMTAP_ARG_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1), err[256];
	struct alloc_spec spec;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (int frees = 0; frees < 2; frees++) {
		memset(err, 0, sizeof(err));
		if (!alloc_spec_parse(text, frees, &spec, err))
			check(&spec, frees);
		else if (!*err || !memchr(err, 0, sizeof(err)))
			abort();
	}
	free(text);
	return 0;
}
