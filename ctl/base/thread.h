/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BASE_THREAD_H
#define _BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* A thread that gets no signals: they are for the one that waits for them.  -errno */
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

#endif
