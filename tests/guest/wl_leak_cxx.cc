// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks in C++ as programs have them, with frame pointers of its own and through
 * libraries that have none.  Prints "function blocks bytes direct", direct: whether
 * it is that function itself that calls operator new.  Then runs out of memory, and
 * goes on; with a handler for it, too.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <sys/resource.h>

#define FN extern "C" __attribute__((noipa))

static void *volatile keep[16];

struct thing {
	long a[5];
	virtual ~thing() {}
};

FN void cxx_leak_new()
{
	keep[0] = new thing;
	puts("cxx_leak_new 1 48 direct");
}

FN void cxx_leak_array()
{
	keep[1] = new char[333];
	puts("cxx_leak_array 1 333 direct");
}

FN void cxx_leak_vector()
{
	std::vector<long> v(100, 7);

	keep[2] = new std::vector<long>(std::move(v));
	printf("cxx_leak_vector 2 %zu direct\n", 800 + sizeof(v));
}

/* In libstdc++, which asks for the memory. */
FN void cxx_leak_string(const char *text)
{
	alignas(std::string) static char room[sizeof(std::string)];
	auto *s = new (room) std::string;

	s->assign(text, 500);
	puts("cxx_leak_string 1 501 through");
}

FN void cxx_no_memory()
{
	static volatile size_t huge = SIZE_MAX / 4;

	for (int i = 0; i < 3; i++) {
		try {
			keep[15] = new char[huge];
			puts("it has that much");
		} catch (const std::bad_alloc &) {
		}
	}
}

/* One that allocates itself, before it makes room. */
static rlimit unlimited;

extern "C" __attribute__((noipa)) void cxx_handler()
{
	keep[4] = malloc(777);
	setrlimit(RLIMIT_AS, &unlimited);
}

FN void cxx_handled()
{
	const size_t much = size_t(256) << 20;
	rlimit low;

	getrlimit(RLIMIT_AS, &unlimited);
	low = unlimited;
	low.rlim_cur = much;
	std::set_new_handler(cxx_handler);
	setrlimit(RLIMIT_AS, &low);
	keep[5] = new char[much];
	delete[] static_cast<char *>(keep[5]);
	setrlimit(RLIMIT_AS, &unlimited);
	puts("cxx_handler 1 777 handler");
}

int main()
{
	static char text[501];

	memset(text, 'x', sizeof(text));
	setvbuf(stdout, nullptr, _IONBF, 0);
	cxx_leak_new();
	cxx_leak_array();
	cxx_leak_vector();
	cxx_leak_string(text);
	cxx_no_memory();
	cxx_handled();
	puts("done");
	return 0;
}
