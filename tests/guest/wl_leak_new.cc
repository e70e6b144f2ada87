// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_new CASE: a program's own operator new and delete, with a header before what
 * they hand out, or of a pool: nothing is wrong, and nothing lost.
 */
#include <cstdlib>
#include <cstring>
#include <new>

struct head { std::size_t size, magic; };
struct cell { cell *next; };

static bool pooled;
static char *room;
static std::size_t used;
static cell *cells;

#define FN	__attribute__((noinline))
#define POOL	65536
#define CELL	64

static void *of_pool()
{
	cell *c = cells;

	if (c) {
		cells = c->next;
		return c;
	}
	if (!room)
		room = static_cast<char *>(std::malloc(POOL));
	used += CELL;
	return room + used - CELL;
}

FN void *operator new(std::size_t n)
{
	head *h;

	if (pooled)
		return of_pool();
	h = static_cast<head *>(std::malloc(n + sizeof(head)));
	h->size = n;
	h->magic = 0x600d;
	return h + 1;
}

FN void operator delete(void *p) noexcept
{
	if (!p)
		return;
	if (pooled) {
		static_cast<cell *>(p)->next = cells;
		cells = static_cast<cell *>(p);
		return;
	}
	std::free(static_cast<head *>(p) - 1);
}

FN void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
FN void *operator new[](std::size_t n) { return operator new(n); }
FN void operator delete[](void *p) noexcept { operator delete(p); }
FN void operator delete[](void *p, std::size_t) noexcept { operator delete(p); }

int main(int argc, char **argv)
{
	pooled = argc == 2 && !std::strcmp(argv[1], "pool");
	for (int i = 0; i < 3; i++) {
		int *volatile v = new int(i);
		char *volatile a = new char[20];

		/* what malloc hands out in between lies where a header was */
		std::free(std::malloc(24));
		delete v;
		delete[] a;
	}
	return 0;
}
