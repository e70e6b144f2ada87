// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_bad CASE: frees that cannot be right.  Prints a line for each that memtap
 * must tell: kind, who freed, who had asked for it, who had freed it before; each is
 * the function on top of the stack that is ours.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define FN __attribute__((noipa))

/* An allocator of our own that does not care. */
extern "C" FN void *own_take(size_t n)
{
	static char pool[1 << 16];
	static size_t used;

	return pool + (used += (n + 15) & ~15UL);
}

static void *volatile last;

extern "C" FN void own_give(void *p)
{
	last = p;
}

/* libc notices, and wants to end it */
static sigjmp_buf after;

static void aborted(int)
{
	siglongjmp(after, 1);
}

extern "C" {

FN void *bad_malloc(size_t n)
{
	void *volatile p = malloc(n);
	return p;
}

FN void bad_free(void *volatile p)
{
	free(p);
	last = p;
}

FN void bad_free_again(void *volatile p)
{
	signal(SIGABRT, aborted);
	if (!sigsetjmp(after, 1))
		free(p);
	signal(SIGABRT, SIG_DFL);
}

FN void bad_delete_again(void *volatile p)
{
	signal(SIGABRT, aborted);
	if (!sigsetjmp(after, 1))
		::operator delete(p);
	signal(SIGABRT, SIG_DFL);
}

FN void bad_realloc(void *volatile p)
{
	last = realloc(p, 200);
}

FN void bad_realloc_left(void *volatile p)
{
	signal(SIGABRT, aborted);
	if (!sigsetjmp(after, 1))
		bad_realloc(p);
	signal(SIGABRT, SIG_DFL);
}

FN void bad_free_other(void *volatile p)
{
	bad_free_again(p);
	last = p;
}

FN void *bad_take(size_t n)
{
	void *volatile p = own_take(n);
	return p;
}

FN void bad_give(void *p)
{
	own_give(p);
	last = p;
}

FN void bad_give_again(void *p)
{
	own_give(p);
	last = p;
}

FN void *bad_new(size_t n)
{
	void *volatile p = ::operator new(n);
	return p;
}

FN void *bad_new_array(size_t n)
{
	void *volatile p = ::operator new[](n);
	return p;
}

FN void bad_delete(void *volatile p)
{
	::operator delete(p);
	last = p;
}

FN void bad_delete_array(void *volatile p)
{
	::operator delete[](p);
	last = p;
}

}

static void doubled()
{
	void *p = bad_malloc(40);

	bad_free(p);
	bad_free_again(p);
	puts("double bad_free_again bad_malloc bad_free");
}

/* The first that is freed at all. */
static void first()
{
	void *p = bad_malloc(70);

	for (int i = 0; i < 2; i++)
		bad_free_again(p);
	puts("double bad_free_again bad_malloc bad_free_again");
}

/*
 * One wrapper, one call after the other: nothing in between.  (A thread's first free() may
 * jump to its own beginning, and looks like that.)
 */
static void wrapped()
{
	bad_free(bad_malloc(1));
	void *p = bad_malloc(70);

	for (int i = 0; i < 2; i++)
		bad_free_again(p);
	puts("double bad_free_again bad_malloc bad_free_again");
	p = bad_new(80);
	for (int i = 0; i < 2; i++)
		bad_delete_again(p);
	puts("double bad_delete_again bad_new bad_delete_again");
}

/* libc ends the program in there, or would */
static void moved()
{
	char *p = static_cast<char *>(bad_malloc(64));

	bad_realloc_left(p + 16);
	last = bad_malloc(16);
	puts("unknown bad_realloc bad_malloc -");
}

static void dies()
{
	char *p = static_cast<char *>(bad_malloc(64));

	puts("unknown bad_realloc bad_malloc -");
	fflush(stdout);
	bad_realloc(p + 16);
}

static void unknown()
{
	static char not_a_block[256];

	bad_free_other(not_a_block + 128);
	puts("unknown bad_free_again - -");
}

static void own()
{
	void *p = bad_take(50);

	bad_give(p);
	bad_give_again(p);
	puts("double bad_give_again bad_take bad_give");
	bad_give((char *)bad_take(60) + 16);
	puts("unknown bad_give bad_take -");	/* which lies inside that one */
}

static void family()
{
	bad_free(bad_new(10));
	puts("family bad_free bad_new -");
	bad_delete(bad_malloc(20));
	puts("family bad_delete bad_malloc -");
	bad_delete(bad_new_array(30));
	puts("family bad_delete bad_new_array -");
	bad_delete_array(bad_new(40));
	puts("family bad_delete_array bad_new -");
	bad_free(bad_new_array(50));
	puts("family bad_free bad_new_array -");
	/* these are right */
	bad_free(bad_malloc(1));
	bad_delete(bad_new(1));
	bad_delete_array(bad_new_array(1));
	free(nullptr);
	::operator delete(nullptr);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} cases[] = {
		{ "double", doubled }, { "unknown", unknown }, { "own", own },
		{ "family", family }, { "first", first }, { "wrapped", wrapped },
		{ "moved", moved }, { "dies", dies },
	};

	for (auto &c : cases) {
		if (argc == 2 && !strcmp(c.name, argv[1])) {
			c.run();
			return 0;
		}
	}
	return 2;
}
