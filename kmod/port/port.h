/* SPDX-License-Identifier: GPL-2.0-only */
/* What core/ may use, kernel side; tests/port/port.h is its twin. */
#ifndef _PORT_H
#define _PORT_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/compiler.h>
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <asm/barrier.h>
#include <asm/local.h>

/* Atomic add of a u32 that is shared between CPUs: the value before. */
static inline u32 port_fetch_add(u32 *p, u32 n)
{
	return (u32)atomic_add_return((int)n, (atomic_t *)p) - n;
}

/* Compare and exchange, fully ordered: the value before. */
#define port_cmpxchg(p, old, new)	cmpxchg(p, old, new)

/*
 * A u64 counter with one writer: readers never see half of it.  x86 adds to memory in one
 * instruction, of which a compiler makes three where it is told not to write twice.
 */
#if defined(CONFIG_X86_64) && !defined(CONFIG_KASAN) && !defined(CONFIG_KCSAN)
#define port_add64(p, n)						\
do {									\
	BUILD_BUG_ON(sizeof(*(p)) != sizeof(local_t));			\
	local_add((long)(n), (local_t *)(p));				\
} while (0)
#else
#define port_add64(p, n)	WRITE_ONCE(*(p), *(p) + (n))
#endif

/* Interrupts are off already: see memtap_enter(). */
typedef raw_spinlock_t port_lock_t;
#define port_lock_init(l)		raw_spin_lock_init(l)
#define port_lock(l)			raw_spin_lock(l)
#define port_trylock(l)			raw_spin_trylock(l)
#define port_unlock(l)			raw_spin_unlock(l)

/*
 * The same without a count of preemption, which cannot happen, and without a call.  lockdep does
 * not see it: only for a lock under which no other is taken, that is always taken like this.
 */
#define port_lock_quick(l)		arch_spin_lock(&(l)->raw_lock)
#define port_unlock_quick(l)		arch_spin_unlock(&(l)->raw_lock)

static __always_inline int port_trylock_quick(port_lock_t *l)
{
#if defined(CONFIG_QUEUED_SPINLOCKS) && defined(try_cmpxchg)
	int was = 0;	/* as arch_spin_lock() does: arch_spin_trylock() would look before */

	return likely(try_cmpxchg(&l->raw_lock.val.counter, &was, _Q_LOCKED_VAL));
#else
	return arch_spin_trylock(&l->raw_lock);
#endif
}

/* Position of the highest set bit, 1 .. 64; 0 for 0. */
#define port_fls64(v)		fls64(v)

/* Of the lowest bit that is set, 0 .. 31; not of 0. */
#define port_ctz(v)		((u32)__builtin_ctz(v))

#define port_div64(a, b)	div64_u64(a, b)

/* A word of the stack that is in use; other functions' frames may be poisoned (KASAN). */
#define port_stack_word(addr)	READ_ONCE_NOCHECK(*(const unsigned long *)(addr))

/* In a loop that takes long, where one may sleep. */
#define port_resched()		cond_resched()

#endif
