// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c */
/* LINK: ctl/triage/oom.c ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c */
/* LINK: ctl/triage/advice.c ctl/base/text.c */
/* LINK: ctl/base/json.c ctl/render/oom.c ctl/render/oom_json.c ctl/render/oom_stack.c */
/* LINK: ctl/machine/log.c ctl/machine/text.c ctl/machine/oom_log.c ctl/machine/oom_log_lines.c */
/* LINK: ctl/machine/oom_log_prefix.c ctl/machine/oom_log_sums.c ctl/machine/oom_log_memtap.c */
/* LINK: ctl/render/oom_log.c ctl/render/oom_log_json.c kmod/core/names.c */
/* FUZZ: -max_len=16000 */
/* A saved kernel log: any text gives kills that can be shown, or none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "render/oom_log.h"
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

static void one(const struct oom_log_kill *k)
{
	const struct memtap_oom_record *r = &k->r;
	struct oom_why w;

	if (!memchr(r->victim.comm, 0, sizeof(r->victim.comm)) || !memchr(k->when, 0, 40) ||
	    r->nr_zones > MEMTAP_OOM_ZONES || r->nr_top > MEMTAP_OOM_TOP ||
	    !(r->flags & MEMTAP_OOM_LOGGED))
		abort();
	oom_diagnose(r, &w);
	if (strlen(w.sentence) >= sizeof(w.sentence) || !*w.sentence || !w.tells)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct oom_opts o = { .rows = 10, .line = true };
	struct oom_log log;
	FILE *f;

	if (!null)
		null = fopen("/dev/null", "w");
	o.out = null;
	if (!size)
		return 0;
	f = fmemopen((void *)(uintptr_t)data, size, "r");
	if (!f || oom_log_read(f, &log))
		abort();
	fclose(f);
	for (size_t i = 0; i < log.nr; i++) {
		one(&log.at[i]);
		render_oom_log(&log.at[i], &o);
		render_oom_log_json(&log.at[i], &o);
	}
	oom_log_free(&log);
	return 0;
}
