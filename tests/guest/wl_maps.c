// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_maps [THREADS]: mappings that are made, replaced, moved, made writable, taken away.
 * Prints for each function by how many bytes what may be written to has grown, as
 * /proc/self/maps has it, and how much was reserved; THREADS then do some of it at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define MIB	(1UL << 20)
#define RW	(PROT_READ | PROT_WRITE)
#define PRIVATE	(MAP_PRIVATE | MAP_ANONYMOUS)
#define DONTUNMAP 4

/* Something behind the call: it shall not be a jump. */
#define END	__asm__ volatile("")

static char *heap_end;

static char *map(void *at, size_t len, int prot, int flags)
{
	char *p = mmap(at, len, prot, flags, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	END;
	return p;
}

static char *fixed(char *at, size_t len, int prot)
{
	return map(at, len, prot, PRIVATE | MAP_FIXED);
}

static void check(int err, const char *what)
{
	END;
	if (!err)
		return;
	perror(what);
	exit(1);
}

FN void m_new(void)
{
	map(NULL, MIB, RW, PRIVATE);
	END;
}

FN void m_noreserve(void)
{
	map(NULL, MIB, RW, PRIVATE | MAP_NORESERVE);
	END;
}

FN void m_shared(void)
{
	map(NULL, MIB, RW, MAP_SHARED | MAP_ANONYMOUS);
	END;
}

FN void m_read(void)
{
	map(NULL, MIB, PROT_READ, PRIVATE);
	END;
}

FN void m_reserve(void)
{
	map(NULL, 7 * MIB, PROT_NONE, PRIVATE | MAP_NORESERVE);
	END;
}

FN void m_fixed(void)
{
	fixed(map(NULL, 4 * MIB, RW, PRIVATE), 4 * MIB, RW);
	END;
}

/* beyond what is there */
FN void m_fixed_more(void)
{
	char *p = map(NULL, 4 * MIB, RW, PRIVATE);

	check(munmap(p + 2 * MIB, 2 * MIB), "munmap");
	fixed(p + MIB, 2 * MIB, RW);
	END;
}

FN void m_commit(void)
{
	fixed(map(NULL, 8 * MIB, PROT_NONE, PRIVATE) + MIB, 2 * MIB, RW);
	END;
}

FN void m_decommit(void)
{
	fixed(map(NULL, 4 * MIB, RW, PRIVATE), MIB, PROT_NONE);
	END;
}

FN void m_protect(void)
{
	check(mprotect(map(NULL, 8 * MIB, PROT_NONE, PRIVATE), MIB, RW), "mprotect");
	END;
}

/* what is writable already becomes nothing else */
FN void m_protect_again(void)
{
	char *p = map(NULL, 4 * MIB, PROT_NONE, PRIVATE);

	check(mprotect(p + MIB, MIB, RW), "mprotect");
	check(mprotect(p, 3 * MIB, RW), "mprotect");
	END;
}

FN void m_unprotect(void)
{
	check(mprotect(map(NULL, 2 * MIB, RW, PRIVATE), MIB, PROT_READ), "mprotect");
	END;
}

/* fails at the hole, and has changed what is before it */
FN void m_protect_half(void)
{
	char *p = map(NULL, 3 * MIB, PROT_NONE, PRIVATE);

	check(munmap(p + MIB, MIB), "munmap");
	check(!mprotect(p, 3 * MIB, RW), "mprotect");
	END;
}

FN void m_holes(void)
{
	char *p = map(NULL, 4 * MIB, RW, PRIVATE);

	check(munmap(p + MIB, MIB), "munmap");
	check(munmap(p, 3 * MIB), "munmap");
	END;
}

FN void m_arena(void)
{
	char *p = map(NULL, 128 * MIB, PROT_NONE, PRIVATE | MAP_NORESERVE);

	check(munmap(p, 10 * MIB), "munmap");
	p += 10 * MIB;
	check(mprotect(p, MIB, RW), "mprotect");
	check(mprotect(p + MIB, MIB / 2, RW), "mprotect");
	check(munmap(p, 118 * MIB), "munmap");
	END;
}

FN void m_grow(void)
{
	char *p = map(NULL, MIB, RW, PRIVATE);

	check(mremap(p, MIB, 5 * MIB, MREMAP_MAYMOVE) == MAP_FAILED, "mremap");
	END;
}

FN void m_shrink(void)
{
	char *p = map(NULL, 5 * MIB, RW, PRIVATE);

	check(mremap(p, 5 * MIB, MIB, 0) == MAP_FAILED, "mremap");
	END;
}

FN void m_onto(void)
{
	char *to = map(NULL, 4 * MIB, RW, PRIVATE), *from = map(NULL, 2 * MIB, RW, PRIVATE);

	check(mremap(from, 2 * MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED,
	      "mremap");
	END;
}

FN void m_grow_reserved(void)
{
	char *p = map(NULL, 2 * MIB, PROT_NONE, PRIVATE);

	check(mremap(p, 2 * MIB, 4 * MIB, MREMAP_MAYMOVE) == MAP_FAILED, "mremap");
	END;
}

FN void m_dontunmap(void)
{
	char *p = map(NULL, 2 * MIB, RW, PRIVATE);

	/* (before v5.7 there is no such flag, and nothing happens) */
	check(mremap(p, 2 * MIB, 2 * MIB, MREMAP_MAYMOVE | DONTUNMAP, NULL) == MAP_FAILED &&
	      errno != EINVAL, "mremap");
	END;
}

/* part of the heap is replaced */
FN void m_over_heap(void)
{
	fixed(heap_end - MIB, MIB, RW);
	END;
}

/* Four times: 1 MiB stays of what each round maps. */
FN void m_threads(void)
{
	for (int i = 0; i < 4; i++) {
		char *p = map(NULL, 4 * MIB, PROT_NONE, PRIVATE);

		fixed(p, MIB, RW);
		check(mprotect(p, 2 * MIB, RW), "mprotect");
		fixed(p, 2 * MIB, RW);
		check(mprotect(p, MIB, PROT_NONE), "mprotect");
		check(munmap(p + 2 * MIB, 2 * MIB), "munmap");
	}
	END;
}

static void *thread(void *arg)
{
	m_threads();
	return arg;
}

static const struct {
	const char *name;
	void (*fn)(void);
	long reserved, read_only;	/* by mmap() and mremap(), MiB */
} cases[] = {
	{ "m_new", m_new, 0, 0 }, { "m_noreserve", m_noreserve, 0, 0 },
	{ "m_shared", m_shared, 0, 0 }, { "m_read", m_read, 0, 1 },
	{ "m_reserve", m_reserve, 7, 0 }, { "m_fixed", m_fixed, 0, 0 },
	{ "m_fixed_more", m_fixed_more, 0, 0 }, { "m_commit", m_commit, 8, 0 },
	{ "m_decommit", m_decommit, 0, 0 }, { "m_protect", m_protect, 8, 0 },
	{ "m_protect_again", m_protect_again, 4, 0 }, { "m_unprotect", m_unprotect, 0, 0 },
	{ "m_protect_half", m_protect_half, 3, 0 }, { "m_holes", m_holes, 0, 0 },
	{ "m_arena", m_arena, 128, 0 }, { "m_grow", m_grow, 0, 0 },
	{ "m_shrink", m_shrink, 0, 0 }, { "m_onto", m_onto, 0, 0 },
	{ "m_grow_reserved", m_grow_reserved, 4, 0 }, { "m_dontunmap", m_dontunmap, 0, 0 },
	{ "m_over_heap", m_over_heap, 0, 0 },
};

#define NR_CASES	(sizeof(cases) / sizeof(cases[0]))

/* Bytes of mappings that may be written to; asks for no memory. */
static long writable(void)
{
	static char text[1 << 20];
	int fd = open("/proc/self/maps", O_RDONLY);
	unsigned long start, end;
	size_t len = 0;
	long sum = 0, n;
	char *p = text, write;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
	while (*p) {
		if (sscanf(p, "%lx-%lx %*c%c", &start, &end, &write) == 3 && write == 'w')
			sum += (long)(end - start);
		while (*p && *p++ != '\n')
			;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const int nr = argc > 1 ? atoi(argv[1]) : 0;
	long before[NR_CASES + 1];
	pthread_t ids[16];

	sbrk(2 * MIB);
	heap_end = sbrk(0);
	before[0] = writable();
	for (size_t i = 0; i < NR_CASES; i++) {
		cases[i].fn();
		before[i + 1] = writable();
	}
	for (int i = 0; i < nr && i < 16; i++)
		check(pthread_create(&ids[i], NULL, thread, NULL), "pthread_create");
	for (int i = 0; i < nr && i < 16; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < NR_CASES; i++)
		printf("%s %ld %ld %ld\n", cases[i].name, before[i + 1] - before[i],
		       cases[i].reserved * (long)MIB, cases[i].read_only * (long)MIB);
	printf("m_threads %ld %ld 0\n", 4 * nr * (long)MIB, 16 * nr * (long)MIB);
	return 0;
}
