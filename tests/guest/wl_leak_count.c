// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A preloaded library (LD_PRELOAD) that counts the calls of glibc's allocator, in the file that
 * LEAK_COUNT names: one struct books, consistent at any moment, also after _exit().  It is an
 * independent reference beside Memcheck and memtap.  Forked children are not counted; execve()
 * resets the counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wl_leak_count.h"

#define SLOTS	(1UL << 22)

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t a, size_t b);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

struct slot {
	void *at;
	size_t size;
};

static struct books early, *books = &early;
static struct slot *slots;
static pid_t owner;
static int lock;

static void take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void leave_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* The first call comes from the dynamic linker, before anything of ours runs. */
static bool ours(void)
{
	if (!slots) {
		owner = getpid();
		slots = mmap(NULL, SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (slots == MAP_FAILED)
			abort();
	}
	return getpid() == owner;
}

/* Where p is, or the empty slot where it belongs. */
static struct slot *find(void *p)
{
	size_t i = ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15UL >> 42;

	while (slots[i].at && slots[i].at != p)
		i = (i + 1) % SLOTS;
	return &slots[i];
}

static void *handed_out(void *p, size_t n)
{
	struct slot *s;

	if (!p)
		return p;
	take_lock();
	if (ours()) {
		s = find(p);
		s->at = p;
		s->size = n;
		books->allocs++;
		books->bytes += n;
		books->live_blocks++;
		books->live_bytes += n;
	}
	leave_lock();
	return p;
}

/* An emptied slot would hide those behind it: its size says that it is free. */
#define FREE_SLOT	SIZE_MAX

static void taken_back(void *p)
{
	struct slot *s;

	take_lock();
	if (p && ours()) {
		s = find(p);
		if (s->at && s->size != FREE_SLOT) {
			books->frees++;
			books->live_blocks--;
			books->live_bytes -= s->size;
			s->size = FREE_SLOT;
		}
	}
	leave_lock();
}

void *malloc(size_t n)
{
	return handed_out(__libc_malloc(n), n);
}

void *calloc(size_t a, size_t b)
{
	return handed_out(__libc_calloc(a, b), a * b);
}

void free(void *p)
{
	taken_back(p);
	__libc_free(p);
}

/* Nobody may get the address before the books know that it is free. */
void *realloc(void *p, size_t n)
{
	struct slot was = { 0 }, *s;
	void *q;

	if (!p)
		return malloc(n);
	take_lock();
	if (ours()) {
		s = find(p);
		was = *s;
	}
	leave_lock();
	taken_back(p);
	q = __libc_realloc(p, n);
	if (q || !n)
		return handed_out(q, n);
	/* it failed: what was there stays */
	if (was.at) {
		handed_out(p, was.size);
		books->allocs--;
		books->bytes -= was.size;
		books->frees--;
	}
	return q;
}

void *reallocarray(void *p, size_t a, size_t b)
{
	size_t n;

	if (__builtin_mul_overflow(a, b, &n)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, n);
}

void *memalign(size_t align, size_t n)
{
	return handed_out(__libc_memalign(align, n), n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	void *q;

	if (!align || align % sizeof(void *) || align & (align - 1))
		return EINVAL;
	q = memalign(align, n);
	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

void *valloc(size_t n)
{
	return memalign(sysconf(_SC_PAGESIZE), n);
}

void *pvalloc(size_t n)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	return handed_out(__libc_memalign(page, (n + page - 1) & ~(page - 1)), n);
}

static __attribute__((constructor)) void begin(void)
{
	const char *file = getenv("LEAK_COUNT");
	struct books *shared;
	int fd;

	if (!file)
		return;
	fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		return;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		return;
	take_lock();
	*shared = early;
	books = shared;
	leave_lock();
}
