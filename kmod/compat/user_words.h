/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_USER_WORDS_H
#define _COMPAT_USER_WORDS_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/**
 * memtap_user_bytes() - copy @len bytes of current's memory at @from, in any context
 *
 * Never faults, never sleeps.  x86's own is for NMIs; copy_from_user_nofault() is not for
 * interrupts everywhere (as of v5.10 it asks access_ok(), which warns there with
 * CONFIG_DEBUG_ATOMIC_SLEEP; as of v6.1.192 it does not), and on hardened kernels it
 * checks the destination, which for per-CPU memory searches all of vmalloc: two thirds
 * of a stack's cost.  Return: 1; 0 if they cannot be read.
 */
static inline int memtap_user_bytes(void *to, u64 from, u32 len)
{
	const void __user *at = (void __user *)(unsigned long)from;

#ifdef CONFIG_X86
	return !copy_from_user_nmi(to, at, len);
#else
	return !copy_from_user_nofault(to, at, len);
#endif
}

/*
 * Words of a user's memory, and what they were: pairs that lie side by side, each an
 * offset and two values, then single ones, an offset and a value.  Offsets are multiples
 * of 8; what is in use lies in the first @len bytes.
 */
struct memtap_user_words {
	u16 pairs, singles;
	u32 len;
	const u64 *at;			/* 3 * pairs + 2 * singles */
};

#define MEMTAP_WORDS_ARE	(~0U)
#define MEMTAP_WORDS_AWAY	(~0U - 1)

/**
 * memtap_user_words_differ() - are these words of current's memory what they were?
 * @base:	multiple of 8
 *
 * Never faults, never sleeps.  Return: MEMTAP_WORDS_ARE; MEMTAP_WORDS_AWAY if one cannot
 * be read; else the offset of one that differs.
 */
static inline u32 memtap_user_words_differ(u64 base, const struct memtap_user_words *w);

/* Like it: the word at @addr.  Return: 1; 0 if it cannot be read. */
static inline int memtap_user_word(u64 addr, u64 *v);

/**
 * memtap_user_words_same() - how many words of current's memory are what they were?
 * @word:	addresses, multiples of 8 below TASK_SIZE, each followed by a value
 * @nr:		how many of them, at least 1
 *
 * Never faults, never sleeps.  Return: those before the first that differs or is away.
 */
static inline u32 memtap_user_words_same(const u64 *word, u32 nr);

#if defined(HAVE_UNSAFE_GET_USER) && defined(CONFIG_X86_64)	/* since v5.0 */
/*
 * Words one by one: between begin and end nothing is called, and @addr is a multiple of 8
 * below TASK_SIZE.  Where one cannot be read it goes to @away, and is still between them.
 */
#define MEMTAP_USER_WORD_BY_WORD

static __always_inline bool memtap_user_begin(void)
{
	pagefault_disable();
	if (user_access_begin((void __user *)PAGE_SIZE, sizeof(u64)))
		return true;
	pagefault_enable();
	return false;
}

/* gcc before 11.5, 12.4, 13.3 loses what asm goto has put out, but for this (its bug 113921). */
#define memtap_user_get(v, addr, away)	\
do {	\
	u64 __word;	\
	\
	unsafe_get_user(__word, (u64 __user *)(unsigned long)(addr), away);	\
	asm volatile("");	\
	(v) = __word;	\
} while (0)

static __always_inline void memtap_user_end(void)
{
	user_access_end();
	pagefault_enable();
}

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

static inline u32 memtap_user_words_same(const u64 *word, u32 nr)
{
	const u64 *p = word, *end = word + 2 * nr;
	u64 v;

	pagefault_disable();
	if (user_access_begin((void __user *)p[0], sizeof(v))) {
		for (; p != end; p += 2) {
			unsafe_get_user(v, (u64 __user *)p[0], out);
			if (v != p[1])
				break;
		}
out:
		user_access_end();
	}
	pagefault_enable();
	return (u32)(p - word) / 2;
}

static inline u32 memtap_user_words_differ(u64 base, const struct memtap_user_words *w)
{
	const u64 *p = w->at, *end = p + 3 * w->pairs;
	u32 at = MEMTAP_WORDS_AWAY;
	u64 v;

	pagefault_disable();
	if (!user_access_begin((void __user *)base, w->len)) {
		pagefault_enable();
		return at;
	}
	for (; p != end; p += 3) {
		unsafe_get_user(v, (u64 __user *)(base + p[0]), out);
		if (v != p[1])
			goto differs;
		unsafe_get_user(v, (u64 __user *)(base + p[0] + 8), out);
		if (v != p[2])
			goto differs_behind;
	}
	for (end += 2 * w->singles; p != end; p += 2) {
		unsafe_get_user(v, (u64 __user *)(base + p[0]), out);
		if (v != p[1])
			goto differs;
	}
	at = MEMTAP_WORDS_ARE;
	goto out;
differs_behind:
	at = p[0] + 8;
	goto out;
differs:
	at = p[0];
out:
	user_access_end();
	pagefault_enable();
	return at;
}
#else
static inline int memtap_user_word(u64 addr, u64 *v)
{
	return !copy_from_user_nofault(v, (void __user *)(unsigned long)addr, sizeof(*v));
}

#define MEMTAP_WORDS_PIECE	128

/* A piece of memory that was read. */
struct memtap_user_piece {
	u64 from;
	u32 len;
	u8 bytes[MEMTAP_WORDS_PIECE];
};

static inline u32 memtap_user_words_in(struct memtap_user_piece *in, u64 base, u64 off,
				       u32 max, const u64 *value, u32 nr)
{
	const void __user *from = (void __user *)(unsigned long)(base + off);
	const u8 *is;

	if (off < in->from || off + 8 * nr > in->from + in->len) {
		in->from = off;
		in->len = min_t(u32, max - (u32)off, sizeof(in->bytes));
		if (copy_from_user_nofault(in->bytes, from, in->len)) {
			in->len = 0;
			return MEMTAP_WORDS_AWAY;
		}
	}
	is = in->bytes + (off - in->from);
	if (memcmp(is, value, 8))
		return off;
	return nr == 1 || !memcmp(is + 8, value + 1, 8) ? MEMTAP_WORDS_ARE : off + 8;
}

static inline u32 memtap_user_words_differ(u64 base, const struct memtap_user_words *w)
{
	const u64 *p = w->at, *end = p + 3 * w->pairs;
	struct memtap_user_piece in;
	u32 at = MEMTAP_WORDS_ARE;

	in.from = 0;
	in.len = 0;
	for (; p != end && at == MEMTAP_WORDS_ARE; p += 3)
		at = memtap_user_words_in(&in, base, p[0], w->len, p + 1, 2);
	for (end += 2 * w->singles; p != end && at == MEMTAP_WORDS_ARE; p += 2)
		at = memtap_user_words_in(&in, base, p[0], w->len, p + 1, 1);
	return at;
}

/* Not further than the page's end: what lies beyond may be away. */
static inline u32 memtap_user_words_same(const u64 *word, u32 nr)
{
	u8 bytes[MEMTAP_WORDS_PIECE];
	u64 from = 0, len = 0;
	u32 i;

	for (i = 0; i < nr; i++, word += 2) {
		if (word[0] < from || word[0] + 8 > from + len) {
			from = word[0];
			len = min_t(u64, PAGE_SIZE - (from & (PAGE_SIZE - 1)), sizeof(bytes));
			if (!memtap_user_bytes(bytes, from, len))
				return i;
		}
		if (memcmp(bytes + (word[0] - from), word + 1, 8))
			return i;
	}
	return nr;
}
#endif

#endif
