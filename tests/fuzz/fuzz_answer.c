// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/json_read.c ctl/triage/diagnose_answer.c */
/* FUZZ: -max_len=4096 */
/* Any text as a report: what is kept of it lies within it, and the largest is part of all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "triage/diagnose.h"

#define ENDS(text)	(memchr(text, '\0', sizeof(text)) != NULL)

static void check_frame(const struct answer_frame *f)
{
	if (!ENDS(f->name) || !ENDS(f->object) || !ENDS(f->file))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct answer a;
	const struct answer_row *r = &a.largest;
	const int err = answer_read((const char *)bytes, len, &a);

	if (!err != a.has || r->nr_user > ANSWER_CALLERS || r->nr_kernel > ANSWER_CALLERS)
		abort();
	if (!ENDS(r->event) || !ENDS(r->comm) || !ENDS(r->path) || !ENDS(r->verdict) ||
	    !ENDS(r->cache) || !ENDS(a.unit))
		abort();
	for (size_t i = 0; i < ANSWER_CALLERS; i++) {
		check_frame(&r->user[i]);
		check_frame(&r->kernel[i]);
	}
	return 0;
}
