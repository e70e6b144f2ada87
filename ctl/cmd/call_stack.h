/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CALL_STACK_H
#define _CALL_STACK_H

#include <stdio.h>

#include "watch/watch.h"

/* Stacks of single calls, for `memtap leaks --trace --stacks`. */
struct call_stack;

struct call_stack *call_stack_new(struct watch *w);	/* NULL: no memory */
void call_stack_free(struct call_stack *c);
/* As leaks_stack_fn; @ctx: a struct call_stack. */
void call_stack_print(void *ctx, const struct memtap_one *call, FILE *out);

#endif
