// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c ctl/machine/text.c */
/* LINK: ctl/triage/oom.c ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c ctl/triage/oom_made.c */
/* LINK: ctl/triage/advice.c ctl/base/text.c */
/* LINK: ctl/base/json.c ctl/render/oom.c ctl/render/oom_json.c ctl/render/oom_stack.c */
/* LINK: kmod/core/names.c */
/* FUZZ: -max_len=12000 */
/* A record of an OOM kill, as any module might hand it out: cleaned, diagnosed, shown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "render/oom.h"
#include "sym/sym.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nobody is asked for names. */
size_t sym_kernel(struct sym *s, const struct snap *snap, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	abort();
}

size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memtap_oom_record r;
	static FILE *null;
	struct oom_opts o = { .rows = 10, .line = true };
	struct oom_why w;

	if (!null)
		null = fopen("/dev/null", "w");
	if (size > sizeof(r))
		size = sizeof(r);
	/* nearly all inputs are short: the rest is a record that makes sense */
	oom_make(&r, 1);
	memcpy(&r, data, size);
	oom_clean(&r, sizeof(r));
	o.out = null;
	oom_diagnose(&r, &w);
	if (strlen(w.sentence) >= sizeof(w.sentence) || !*w.sentence || !w.tells)
		abort();
	render_oom(&r, &o);
	render_oom_json(&r, &o);
	return 0;
}
