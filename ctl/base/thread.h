/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BASE_THREAD_H
#define _BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Create a thread with all signals blocked: the main thread handles them.  Returns -errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/*
 * Plain variables that threads share: what C11's stdatomic.h has, which came with gcc 4.9.
 * shared_swap(): to @value, if it is *@was; else *@was is what it is, and false.
 */
#define shared_get(at)		__atomic_load_n((at), __ATOMIC_SEQ_CST)
#define shared_set(at, value)	__atomic_store_n((at), (value), __ATOMIC_SEQ_CST)
#define shared_swap(at, was, value)					\
	__atomic_compare_exchange_n((at), (was), (value), false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#endif
