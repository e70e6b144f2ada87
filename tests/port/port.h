/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What core/ may use, user-space side; kmod/port/port.h is its twin. */
#ifndef _PORT_H
#define _PORT_H

#include <sched.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

static inline u32 port_fetch_add(u32 *p, u32 n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}

static inline u32 port_cmpxchg(u32 *p, u32 old, u32 val)
{
	__atomic_compare_exchange_n(p, &old, val, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return old;
}

#define port_add64(p, n)	WRITE_ONCE(*(p), *(p) + (n))

typedef u32 port_lock_t;
#define port_lock_init(l)	__atomic_store_n(l, 0, __ATOMIC_RELAXED)
#define port_trylock(l)		(!__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
#define port_unlock(l)		__atomic_store_n(l, 0, __ATOMIC_RELEASE)

static inline void port_lock(port_lock_t *l)
{
	while (!port_trylock(l))
		sched_yield();		/* its holder may need this CPU */
}

#define port_lock_quick(l)	port_lock(l)
#define port_trylock_quick(l)	port_trylock(l)
#define port_unlock_quick(l)	port_unlock(l)

static inline u32 port_fls64(u64 v)
{
	return v ? 64 - (u32)__builtin_clzll(v) : 0;
}

#define port_stack_word(addr)	READ_ONCE(*(const unsigned long *)(addr))
#define port_ctz(v)		((u32)__builtin_ctz(v))
#define port_div64(a, b)	((a) / (b))
#define port_resched()		do { } while (0)

#endif
