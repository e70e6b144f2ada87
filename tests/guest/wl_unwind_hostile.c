// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_unwind_hostile rewrite: a stack is written to by another thread, at random,
 * while page faults happen on it.
 *
 * wl_unwind_hostile remap TRUTH ROUNDS: code of two files, whose frames have other
 * sizes, is mapped, moved and replaced at the same addresses, and called wherever
 * it is; each stack that there can be is in TRUTH.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wl_unwind.h"

#define PAGE		4096
#define FAULTS		20000
#define DEEP		30

/* ---- rewrite ---- */

static unsigned long *volatile first_word;	/* of the stack that is written to */
static char *volatile below;			/* which ends here */

WL_FN void wl_fault_again(char *page, long times)
{
	while (times--) {
		*(volatile char *)page = 1;
		if (madvise(page, PAGE, MADV_DONTNEED))
			abort();
	}
	/* nobody returns: there is nothing left to return to */
	_exit(0);
}

WL_FN void wl_down(char *page, int left)
{
	volatile unsigned long room[8] = { left };

	if (left)
		wl_down(page, left - 1);
	below = (char *)room;
	wl_fault_again(page, FAULTS);
	__asm__ volatile("" : : "r" (room));
}

WL_FN void *wl_victim(void *page)
{
	volatile unsigned long word = 0;

	first_word = (unsigned long *)&word;
	wl_down(page, DEEP);
	return NULL;
}

static unsigned long random_word(unsigned long *state)
{
	unsigned long r = *state = *state * 6364136223846793005UL + 1442695040888963407UL;

	r ^= r >> 29;
	switch (r & 7) {
	case 0:		/* into the stack itself: a loop */
		return (unsigned long)below + (r >> 8) % 2048 * 8;
	case 1:		/* of this program's code */
		return (unsigned long)wl_victim + (r >> 8) % 512;
	case 2:
		return 0;
	case 3:		/* the kernel's, and addresses that are none */
		return r | 1UL << 63;
	case 4:
		return (unsigned long)first_word + (r >> 8) % 65536;
	default:
		return r;
	}
}

static int rewrite(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long state = 1;
	unsigned long *word;
	pthread_t t;

	if (page == MAP_FAILED || pthread_create(&t, NULL, wl_victim, page))
		abort();
	while (!below)
		usleep(1000);
	for (;;)
		for (word = (unsigned long *)below; word < first_word; word++)
			*(volatile unsigned long *)word = random_word(&state);
}

/* ---- remap ---- */

#define PAGES		4	/* of code, at each place */

typedef void (*relay_fn)(void (*fn)(void));

struct code {
	int fd;
	off_t page;		/* where it begins in the file */
	size_t in_page;		/* and the function, in it */
	char *loaded;		/* where the dynamic linker has it */
};

/* Where wl_relay() is in a library's file; the library stays. */
static struct code code_of(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);
	struct code c = { .fd = -1 };
	const Elf64_Phdr *ph;
	const Elf64_Ehdr *eh;
	uintptr_t at, offset;
	Dl_info info;
	int i;

	if (!lib || !dladdr(dlsym(lib, "wl_relay"), &info) || !info.dli_saddr)
		abort();
	eh = info.dli_fbase;
	ph = (const void *)((const char *)eh + eh->e_phoff);
	at = offset = (uintptr_t)info.dli_saddr - (uintptr_t)eh;
	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && at - ph[i].p_vaddr < ph[i].p_memsz)
			offset = at - ph[i].p_vaddr + ph[i].p_offset;
	c.fd = open(info.dli_fname, O_RDONLY);
	c.page = offset & -PAGE;
	c.in_page = offset % PAGE;
	c.loaded = (char *)info.dli_saddr - c.in_page;
	if (c.fd < 0)
		abort();
	return c;
}

/*
 * The unwinder knows nothing of what is mapped here.  But what is behind it is the
 * same as when the function was called where the dynamic linker has it.
 */
static unsigned long behind[WL_FRAMES];
static unsigned int nr_behind;
static char *page_to_touch;

WL_FN void wl_learn(void)
{
	unsigned long ip[WL_FRAMES];

	nr_behind = wl_callers(ip, 1);
	memcpy(behind, ip, nr_behind * sizeof(*ip));
}

WL_ALONE void wl_touch_again(void)
{
	static unsigned long known[64];
	static unsigned int nr;
	unsigned long *cfa = __builtin_dwarf_cfa(), ip[WL_FRAMES];
	unsigned int i;

	ip[0] = cfa[-1];
	memcpy(ip + 1, behind, nr_behind * sizeof(*ip));
	for (i = 0; i < nr && known[i] != ip[0]; i++)
		;
	if (i == nr) {
		known[nr++ % 64] = ip[0];
		wl_expect_list("remapped", WL_FAULT | WL_EXACT, (const void *)wl_touch_again,
			       nr_behind + 1, ip);
	}
	*(volatile char *)page_to_touch = 1;
	madvise(page_to_touch, PAGE, MADV_DONTNEED);
}

static char *map_code(const struct code *c, char *at, int prot)
{
	char *p = mmap(at, PAGES * PAGE, prot, MAP_PRIVATE | (at ? MAP_FIXED : 0), c->fd, c->page);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* What there is to call in each step, where, and with what; NULL: nothing any more. */
WL_FN const struct code *wl_step(int nr, const struct code *one, const struct code *two,
				 char *base, char **at, void (**fn)(void))
{
	char *other = base + PAGES * PAGE;

	*at = nr == 4 || nr == 6 ? other : base;
	*fn = wl_touch_again;
	switch (nr) {
	case 0:
		*at = one->loaded;
		*fn = wl_learn;
		return one;
	case 1:		/* nobody else is there */
		map_code(one, base, PROT_READ | PROT_EXEC);
		return one;
	case 2:		/* over the other one */
		map_code(two, base, PROT_READ | PROT_EXEC);
		return two;
	case 3:		/* made executable only later */
		map_code(one, base, PROT_READ);
		mprotect(base, PAGES * PAGE, PROT_READ | PROT_EXEC);
		return one;
	case 4:		/* moved */
		if (mremap(base, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   other) == MAP_FAILED)
			abort();
		return one;
	case 5:		/* in its place, another */
		map_code(two, base, PROT_READ | PROT_EXEC);
		return two;
	case 6:		/* the moved one, once more, without its end */
		munmap(other + PAGE, (PAGES - 1) * PAGE);
		return one;
	default:
		munmap(base, 2 * PAGES * PAGE);
		return NULL;
	}
}

/* All calls of such code are made here, by one instruction. */
WL_FN void wl_calls(int rounds, const struct code *one, const struct code *two, char *base)
{
	const struct code *c;
	void (*fn)(void);
	char *at;
	int nr = 0;

	while (rounds) {
		c = wl_step(nr, one, two, base, &at, &fn);
		rounds -= !c;
		nr = c ? nr + 1 : 1;
		if (c)
			((relay_fn)(at + c->in_page))(fn);
	}
}

static void remap(const char *truth, int rounds)
{
	struct code one, two;
	char *base = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	wl_begin(truth);
	page_to_touch = wl_fresh();
	one = code_of("wl_unwind_one.so");
	two = code_of("wl_unwind_two.so");
	if (base == MAP_FAILED)
		abort();
	wl_calls(rounds, &one, &two, base);
	wl_end();
	/* no destructors: what they cause would be told by nobody */
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "rewrite"))
		return rewrite();
	if (argc == 4 && !strcmp(argv[1], "remap"))
		remap(argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: wl_unwind_hostile rewrite | remap TRUTH ROUNDS\n");
	return 2;
}
