// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An arena of malloc() in a thread, and a reservation of the program's own: address space,
 * of which little is made writable.  Prints what of each may be written to, as
 * /proc/self/maps has it.  With "before" the arena is there when it says "ready"; at SIGUSR1 it
 * grows, and by how much is printed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define ARENA	(64 * MIB)
#define RESERVE	(64 * MIB)

static void *blocks[20];

static void *thread(void *arg)
{
	for (int i = 0; i < 20; i++)
		memset(blocks[i] = malloc(50000), 1, 50000);
	return arg;
}

/* Of @len bytes from @from on. */
static unsigned long writable(unsigned long from, unsigned long len)
{
	static char text[1 << 20];
	int fd = open("/proc/self/maps", O_RDONLY);
	unsigned long start, end, sum = 0;
	size_t got = 0;
	char *p = text, write;
	ssize_t n;

	while ((n = read(fd, text + got, sizeof(text) - 1 - got)) > 0)
		got += (size_t)n;
	close(fd);
	text[got] = '\0';
	while (*p) {
		if (sscanf(p, "%lx-%lx %*c%c", &start, &end, &write) == 3 && write == 'w' &&
		    start >= from && end <= from + len)
			sum += end - start;
		while (*p && *p++ != '\n')
			;
	}
	return sum;
}

static void *grows(void *arg)
{
	sigset_t *set = arg;
	unsigned long base, was;
	int sig;

	base = (unsigned long)(blocks[0] = malloc(100)) & ~(ARENA - 1);
	was = writable(base, ARENA);
	puts("ready");
	sigwait(set, &sig);
	thread(NULL);
	printf("grew %lu\n", writable(base, ARENA) - was);
	sigwait(set, &sig);
	return NULL;
}

static int grow_before(void)
{
	pthread_t id;
	sigset_t set;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&id, NULL, grows, &set))
		return 1;
	return pthread_join(id, NULL) ? 1 : 0;
}

int main(int argc, char **argv)
{
	pthread_t id;
	char *p;

	if (argc > 1 && !strcmp(argv[1], "before"))
		return grow_before();
	p = mmap(NULL, RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED || mprotect(p + MIB, 3 * MIB, PROT_READ | PROT_WRITE) ||
	    mprotect(p + MIB, MIB, PROT_NONE))
		return 1;
	if (pthread_create(&id, NULL, thread, NULL))
		return 1;
	pthread_join(id, NULL);
	/* page by page */
	madvise(p, RESERVE, MADV_NOHUGEPAGE);
	memset(p + 2 * MIB, 1, MIB);
	printf("arena %lu own %lu of %lu\n",
	       writable((unsigned long)blocks[0] & ~(ARENA - 1), ARENA),
	       writable((unsigned long)p, RESERVE), RESERVE);
	return 0;
}
