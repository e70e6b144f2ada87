// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with leaks, of which it says itself that some are known: 3 blocks of 100 bytes are
 * known; 5 blocks of 40 bytes and 1 of 64 bytes are not.  It prints its PID.  With an argument it
 * does not end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, used))

extern "C" KEEP const char *__lsan_default_suppressions()
{
	return "# known\nleak:known_leak\n";
}

KEEP void known_leak()
{
	for (volatile int i = 0; i < 3; i = i + 1)
		memset(malloc(100), 1, 100);
}

namespace shop {
struct Shelf {
	char *books;
	KEEP explicit Shelf(int n) : books(new char[n])
	{
		memset(books, 2, n);
	}
};
}

KEEP void leak_shelf()
{
	for (volatile int i = 0; i < 5; i = i + 1) {
		shop::Shelf s(40);

		s.books[0] = 3;
	}
}

KEEP void leak_one()
{
	memset(malloc(64), 4, 64);
}

/* Where addresses of blocks were, there are none afterwards. */
KEEP void wipe()
{
	char words[4096];

	memset(words, 0, sizeof(words));
	__asm__ volatile("" : : "r"(words) : "memory");
}

int main(int argc, char **)
{
	known_leak();
	leak_shelf();
	leak_one();
	wipe();
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (argc > 1)
		sleep(1000);
	return 0;
}
