/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_USER_WORDS_H
#define _COMPAT_USER_WORDS_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/**
 * memtap_user_words_are() - do these words of current's memory have these values?
 * @base:	multiple of 8
 * @off:	where, from @base: multiples of 8, none above the last
 * @value:	what is expected there
 * @nr:		how many, at least 1
 *
 * Never faults, never sleeps.  Return: 1; 0 if one differs or cannot be read.
 */
static inline int memtap_user_words_are(u64 base, const u32 *off, const u64 *value, u32 nr);

/* Like it: the word at @addr.  Return: 1; 0 if it cannot be read. */
static inline int memtap_user_word(u64 addr, u64 *v);

#if defined(HAVE_UNSAFE_GET_USER) && defined(CONFIG_X86_64)	/* since v5.0 */
static inline int memtap_user_word(u64 addr, u64 *v)
{
	u64 word;

	pagefault_disable();
	if (!user_access_begin((void __user *)addr, sizeof(word))) {
		pagefault_enable();
		return 0;
	}
	unsafe_get_user(word, (u64 __user *)addr, fault);
	user_access_end();
	pagefault_enable();
	*v = word;
	return 1;
fault:
	user_access_end();
	pagefault_enable();
	return 0;
}

static inline int memtap_user_words_are(u64 base, const u32 *off, const u64 *value, u32 nr)
{
	long i = nr - 1;
	u64 v;

	pagefault_disable();
	if (!user_access_begin((void __user *)base, off[i] + 8)) {
		pagefault_enable();
		return 0;
	}
	do {
		unsafe_get_user(v, (u64 __user *)(base + off[i]), fault);
		if (v != value[i])
			break;
	} while (--i >= 0);
	user_access_end();
	pagefault_enable();
	return i < 0;
fault:
	user_access_end();
	pagefault_enable();
	return 0;
}
#else
static inline int memtap_user_word(u64 addr, u64 *v)
{
	return !copy_from_user_nofault(v, (void __user *)(unsigned long)addr, sizeof(*v));
}

#define MEMTAP_WORDS_PIECE	128

static inline int memtap_user_words_are(u64 base, const u32 *off, const u64 *value, u32 nr)
{
	u8 piece[MEMTAP_WORDS_PIECE];
	u32 i, from = 0, len = 0;
	u64 v;

	for (i = 0; i < nr; i++) {
		if (off[i] - from >= len || off[i] < from) {
			from = off[i];
			len = min_t(u32, off[nr - 1] + 8 - from, sizeof(piece));
			if (copy_from_user_nofault(piece, (void __user *)(unsigned long)
						   (base + from), len))
				return 0;
		}
		memcpy(&v, piece + off[i] - from, 8);
		if (v != value[i])
			return 0;
	}
	return 1;
}
#endif

#endif
