/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_VERIFY_H
#define _MEMTAP_VERIFY_H

#include <linux/types.h>

/*
 * For tests: each stack that is found again without a walk is walked all the same, and
 * compared; and each that is walked, once more and more slowly.  On with 1 in the parameter
 * verify_stacks, which reads as how many there were.
 */
enum memtap_verify {
	MEMTAP_VERIFY_KERNEL,
	MEMTAP_VERIFY_USER,
	MEMTAP_VERIFY_TAIL,		/* frames of a stack that was taken before */
	MEMTAP_VERIFY_WALK,		/* a user stack that was walked by what is remembered */
	MEMTAP_NR_VERIFY,
};

extern bool memtap_verifies;

/* One was found again; @same: and is what a walk says. */
void memtap_verified(enum memtap_verify what, bool same);

#endif
