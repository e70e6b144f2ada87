// SPDX-License-Identifier: GPL-2.0-or-later
/* Ways to wl_here() that C++ takes: through its library, with exceptions under way. */
#include <algorithm>
#include <functional>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include "wl_unwind.h"

namespace {

constexpr size_t big = 512 * 1024;	/* malloc() maps it: see main() */

struct Guard {
	const char *name;

	WL_FN ~Guard()
	{
		WL_SCRATCH();
		wl_here(name);
	}
};

struct Problem {
	const char *name;

	WL_FN ~Problem() { wl_here(name); }
};

struct Large {
	char bytes[big];
};

WL_FN void wl_throw(int what)
{
	WL_SCRATCH();
	throw what;
}

WL_FN void wl_guarded(const char *name)
{
	Guard guard{name};

	wl_throw(1);
}

/* The destructor runs while the exception is on its way. */
WL_FN void wl_destructor(const char *name)
{
	try {
		wl_guarded(name);
	} catch (int) {
		WL_STAY();
	}
}

WL_FN void wl_catch(const char *name)
{
	try {
		wl_throw(2);
	} catch (int) {
		wl_here(name);
	}
}

/* The exception itself is destroyed, by the library. */
WL_FN void wl_exception_ends(const char *name)
{
	try {
		throw std::unique_ptr<Problem>(new Problem{name});
	} catch (const std::unique_ptr<Problem> &) {
		WL_STAY();
	}
	WL_STAY();
}

WL_FN void wl_throw_large(const char *name)
{
	wl_expect(name, WL_MMAP, reinterpret_cast<const void *>(wl_throw_large));
	throw Large();
}

WL_FN void wl_allocates_exception(const char *name)
{
	try {
		wl_throw_large(name);
	} catch (const Large &) {
		WL_STAY();
	}
}

WL_FN void wl_new(const char *name)
{
	wl_expect(name, WL_MMAP, reinterpret_cast<const void *>(wl_new));
	char *p = new char[big];

	__asm__ volatile("" : : "r" (p) : "memory");
	delete[] p;
}

WL_FN void wl_grow(std::vector<std::string> &v, const char *name)
{
	wl_expect(name, WL_MMAP, reinterpret_cast<const void *>(wl_grow));
	v.resize(big / sizeof(std::string));
	WL_STAY();
}

WL_FN void wl_vector(const char *name)
{
	std::vector<std::string> v;

	wl_grow(v, name);
}

/* The library's stream asks for bytes. */
class Source : public std::streambuf {
public:
	explicit Source(const char *name) : name(name) {}

protected:
	WL_FN int underflow() override
	{
		wl_here(name);
		name = "again";
		return traits_type::eof();
	}

private:
	const char *name;
};

WL_FN void wl_stream(const char *name)
{
	Source source(name);
	std::istream in(&source);
	std::string word;

	in >> word;
	WL_STAY();
}

WL_FN void wl_sort(const char *name)
{
	std::vector<int> v{3, 1, 2};
	const char *once = name;
	std::function<bool(int, int)> less = [&once](int a, int b) {
		if (once)
			wl_here(once);
		once = nullptr;
		return a < b;
	};

	std::sort(v.begin(), v.end(), less);
	WL_STAY();
}

WL_FN void wl_thread(const char *name)
{
	std::thread t([name] {
		wl_here(name);
		WL_STAY();
	});

	t.join();
}

}

int main(int argc, char **argv)
{
	wl_begin(argc > 1 ? argv[1] : nullptr);
	mallopt(M_MMAP_THRESHOLD, big / 4);
	wl_destructor("cxx-destructor");
	wl_catch("cxx-catch");
	wl_exception_ends("cxx-exception-ends");
	wl_allocates_exception("cxx-exception-begins");
	wl_new("cxx-new");
	wl_vector("cxx-vector");
	wl_stream("cxx-stream");
	wl_sort("cxx-sort");
	wl_thread("cxx-thread");
	wl_end();
	return 0;
}
