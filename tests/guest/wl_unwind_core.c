// SPDX-License-Identifier: GPL-2.0-or-later
/* The common part of the wl_unwind programs; see wl_unwind.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "wl_unwind.h"

#define MAX_TRUTHS	128
#define PAGE		4096
#define ARENA		(1024 * PAGE)

struct truth {
	char name[32];
	unsigned int events;
	unsigned long here, len;
	unsigned int nr;
	unsigned long ip[WL_FRAMES];
};

#define FUNCTION_MAX	1024

/* Of WL_ALONE functions, by the linker. */
extern const char __start_wl_alone[], __stop_wl_alone[];

/* Shared by children, and so is the parent's file. */
static struct truths {
	unsigned int nr;
	struct truth at[MAX_TRUTHS];
} *truths;
static const char *truth_file;
static char *arena;

static void *must_map(size_t len, int flags)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

void wl_begin(const char *file)
{
	truth_file = file;
	truths = must_map(sizeof(*truths), MAP_SHARED);
	arena = must_map(ARENA, MAP_PRIVATE);
	/* one fault for each page, and not one for all */
	madvise(arena, ARENA, MADV_NOHUGEPAGE);
}

void wl_end(void)
{
	FILE *f = truth_file ? fopen(truth_file, "w") : stdout;
	unsigned int i, k;

	if (!f) {
		perror(truth_file);
		exit(1);
	}
	for (i = 0; i < truths->nr; i++) {
		const struct truth *t = &truths->at[i];

		fprintf(f, "expect %s %u %lx %lx", t->name, t->events, t->here, t->len);
		for (k = 0; k < t->nr; k++)
			fprintf(f, " %lx", t->ip[k]);
		fputc('\n', f);
	}
	if (truth_file ? fclose(f) : fflush(f)) {
		perror("the truth");
		exit(1);
	}
}

struct callers {
	unsigned int skip, nr;
	unsigned long *ip;
};

static _Unwind_Reason_Code keep(struct _Unwind_Context *context, void *arg)
{
	struct callers *c = arg;
	int before = 0;
	unsigned long ip = _Unwind_GetIPInfo(context, &before);

	if (c->skip) {
		c->skip--;
		return _URC_NO_REASON;
	}
	/* libgcc ends with a frame at 0 where the last one says that it is that */
	if (!ip || c->nr == WL_FRAMES)
		return _URC_END_OF_STACK;
	c->ip[c->nr++] = ip + !!before;
	return _URC_NO_REASON;
}

WL_FN unsigned int wl_callers(unsigned long *ip, unsigned int skip)
{
	struct callers c = { skip + 2, 0, ip };

	_Unwind_Backtrace(keep, &c);
	return c.nr;
}

WL_FN void wl_expect_list(const char *name, unsigned int events, const void *here,
			  unsigned int nr, const unsigned long *ip)
{
	struct truth *t = &truths->at[__atomic_fetch_add(&truths->nr, 1, __ATOMIC_RELAXED)];

	if (t >= truths->at + MAX_TRUTHS || nr > WL_FRAMES)
		abort();
	strncpy(t->name, name, sizeof(t->name) - 1);
	t->events = events;
	t->here = (unsigned long)here;
	t->len = FUNCTION_MAX;
	if ((const char *)here >= __start_wl_alone && (const char *)here < __stop_wl_alone)
		t->len = __stop_wl_alone - (const char *)here;
	memcpy(t->ip, ip, nr * sizeof(*ip));
	t->nr = nr;
}

WL_FN void wl_expect(const char *name, unsigned int events, const void *here)
{
	unsigned long ip[WL_FRAMES];

	wl_expect_list(name, events, here, wl_callers(ip, 1), ip);
	WL_STAY();
}

WL_FN char *wl_fresh(void)
{
	return __atomic_fetch_add(&arena, PAGE, __ATOMIC_RELAXED);
}

WL_FN void wl_stop(void)
{
	WL_STAY();
}

WL_FN void wl_touch(volatile char *page)
{
	*page = 1;
}

WL_ALONE void wl_here(const char *name)
{
	char *fresh = wl_fresh();

	wl_expect(name, WL_ALL, (const void *)wl_here);
	wl_stop();
	wl_touch(fresh);
	if (mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		abort();
	if (WL_ALL & WL_BRK && sbrk(PAGE) == (void *)-1)
		abort();
	WL_STAY();
}
