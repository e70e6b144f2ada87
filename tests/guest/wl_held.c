// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_held: "ready"; with SIGUSR1 each function below takes its blocks, and it says "taken"; with
 * SIGUSR2 it ends.  What holds the blocks of each, and what they are, is plain.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN	__attribute__((noinline, noclone))
#define NO_POINTER	0x81		/* and no text */

#define TABLE	40
#define TABLE_SIZE	200
#define NAMES	30
#define NAME_SIZE	80
#define LIST	25
#define LOST	10
#define LOST_SIZE	152
#define LOCAL	20
#define LOCAL_SIZE	104
#define CACHE	4000
#define CACHE_SIZE	1000

struct node {
	struct node *next;
	unsigned char rest[56];
};

struct operations {
	void (*run)(void);
};

struct session {
	const struct operations *operations;
	unsigned char rest[88];
};

void *session_table[TABLE];
char *names[NAMES];
struct node *list_head;
void *cache[CACHE];
struct session *typed[LIST];
static void *volatile sink;

FN static void run_session(void)
{
}

const struct operations session_operations = { run_session };

static void *take(size_t size)
{
	return memset(malloc(size), NO_POINTER, size);
}

FN static void take_table(void)
{
	for (int i = 0; i < TABLE; i++)
		session_table[i] = take(TABLE_SIZE);
}

FN static void take_names(void)
{
	for (int i = 0; i < NAMES; i++) {
		names[i] = malloc(NAME_SIZE);
		memset(names[i], 'n', NAME_SIZE);
		names[i][NAME_SIZE - 1] = '\0';
	}
}

FN static void take_list(void)
{
	for (int i = 0; i < LIST; i++) {
		struct node *n = take(sizeof(*n));

		n->next = list_head;
		list_head = n;
	}
}

FN static void take_typed(void)
{
	for (int i = 0; i < LIST; i++) {
		typed[i] = take(sizeof(*typed[i]));
		typed[i]->operations = &session_operations;
	}
}

FN static void take_lost(void)
{
	for (int i = 0; i < LOST; i++)
		sink = take(LOST_SIZE);
	sink = NULL;
}

FN static void take_local(void *volatile *of)
{
	for (int i = 0; i < LOCAL; i++)
		of[i] = take(LOCAL_SIZE);
}

FN static void take_cache(void)
{
	for (int i = 0; i < CACHE; i++)
		cache[i] = take(CACHE_SIZE);
}

FN static void wait_for(int signal)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigwait(&set, &got);
}

/* What was on the stack of a call is not there any more. */
FN static void clear_stack(void)
{
	volatile unsigned char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	void *volatile local[LOCAL];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	wait_for(SIGUSR1);
	take_table();
	take_names();
	take_list();
	take_typed();
	take_lost();
	take_local(local);
	take_cache();
	clear_stack();
	puts("taken");
	fflush(stdout);
	wait_for(SIGUSR2);
	return local[0] == NULL;
}
