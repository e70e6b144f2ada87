/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SESSION_H
#define _SESSION_H

#include "session/dev.h"
#include "base/opt.h"
#include "session/plan.h"

/*
 * A session with the module, for commands.  Functions print errors, and return an exit status (0:
 * success).
 */
struct session {
	int fd;				/* -1: none */
	struct memtap_info info;
	struct memtap_event_info *events;
	__u32 nr_events;
};

/* load.c: the module, from @path or where depmod knows it (NULL); with its device. */
int session_load(const char *path, const char *params);
int session_open(struct session *s);
void session_close(struct session *s);

/*
 * May this process have registers and memory of the kernel and of other processes, or only stacks
 * and counts?  Then it is told that @what, which @reads, is not for it: "it reads arguments".
 */
int session_may_read(const struct session *s, const char *what, const char *reads);
#define SESSION_MISSING	"CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN (root)"

/*
 * Configure with @config, whose table sizes become what fits into @max_mem
 * (0: the module's defaults).
 */
int session_configure(struct session *s, struct memtap_config *config,
		      __u64 max_mem);
int session_attach(struct session *s, struct plan *p);

/*
 * @droppable: built-in events that may be left out where the kernel lacks them;
 * what was is told.
 */
int session_start(struct session *s, struct memtap_config *config,
		  __u64 droppable);

/* "12.6 MiB" in a buffer of its own */
struct session_size {
	char text[24];
};

struct session_size session_size(__u64 bytes);

#endif
