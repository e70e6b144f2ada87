// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Thread-local variables that hold blocks, of a program and, with -DLIBRARY, of a library that is
 * loaded with it.  Two threads; "ready", until it is killed.
 */
#include <stdlib.h>
#include <string.h>

#define BLOCKS	10
#define SIZE	3000

void take_of_library(void);

static inline void take(void **to)
{
	for (int i = 0; i < BLOCKS; i++)
		to[i] = memset(malloc(SIZE), 0x81, SIZE);
}

#ifdef LIBRARY
__thread void *of_library[BLOCKS];
__thread char before_it[100] = "is not zero";

void take_of_library(void)
{
	take(of_library);
}
#else
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static __thread void *of_program[BLOCKS];
static sem_t taken;

static void *run(void *arg)
{
	take_of_library();
	take(of_program);
	sem_post(&taken);
	pause();
	return arg;
}

int main(void)
{
	pthread_t other;

	sem_init(&taken, 0, 0);
	pthread_create(&other, NULL, run, NULL);
	sem_wait(&taken);
	take_of_library();
	take(of_program);
	puts("ready");
	fflush(stdout);
	pause();
	return of_program[0] == NULL;
}
#endif
