// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_heap_musl.sh: a program of musl that says what it holds: "kind", "holder" and "lost",
 * each with a number of blocks; "sizes" with how many blocks of which size.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR	500

struct operations {
	void (*run)(void);
};

struct session {
	struct session *next;
	char *name;
	const struct operations *operations;
	long number;
};

struct session *session_list;
void *sizes_of_mine[64];
char *moved_block;

static void run(void)
{
}

const struct operations session_operations = { run };

static void add_session(int i)
{
	struct session *s = malloc(sizeof(*s));
	char *name = malloc(40);

	memset(name, 0, 40);
	snprintf(name, 40, "a text of many words, number %d", i);
	*s = (struct session){ session_list, name, &session_operations, i };
	session_list = s;
}

/* Blocks of all classes, again and again, so that they begin elsewhere in their slots. */
static void make_sizes(void)
{
	for (int round = 0; round < 7; round++)
		for (int i = 0; i < 64; i++) {
			free(sizes_of_mine[i]);
			sizes_of_mine[i] = malloc((size_t)(i + 1) * (i + 1) * 50);
			memset(sizes_of_mine[i], 0, (size_t)(i + 1) * (i + 1) * 50);
		}
}

__attribute__((noinline)) static void lose(void)
{
	for (int i = 0; i < 20; i++) {
		char *volatile lost = malloc(72);

		memset(lost, 'x', 72);
	}
}

/* What was left on the stack, and in registers. */
__attribute__((noinline)) static void wipe(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static void *thread(void *ctx)
{
	volatile char *mine = malloc(777);

	mine[0] = 1;
	printf("ready\n");
	fflush(stdout);
	pause();
	return (void *)mine;
}

int main(void)
{
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 512);
	for (int i = 0; i < NR; i++)
		add_session(i);
	make_sizes();
	lose();
	wipe();
	moved_block = realloc(malloc(10), 1000000);
	memset(moved_block, 0, 1000000);
	printf("kind\tpoints to session_operations at +16\t%d\n", NR);
	printf("holder\t`session_list`\t%d\n", 2 * NR);
	printf("holder\t`sizes_of_mine`\t64\n");
	printf("holder\t`moved_block`\t1\n");
	printf("size\t72\t20\n");
	printf("size\t%zu\t%d\n", sizeof(struct session), NR);
	printf("size\t40\t%d\n", NR);
	printf("size\t777\t1\n");
	printf("lost\t20\n");
	pthread_create(&t, NULL, thread, NULL);
	pause();
	return 0;
}
