// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_mem_cxx CASE: as wl_leak_mem, in C++.  "clean" frees everything, each
 * block as it was asked for.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#define FN __attribute__((noipa))

void *volatile keep[16];

struct alignas(64) wide {
	char c[64];
};

struct thrower {
	std::string *text;
	explicit thrower(bool now) : text(new std::string(100, 'x'))
	{
		if (now)
			throw std::runtime_error("text is lost");
	}
	~thrower() { delete text; }
};

struct base {
	virtual ~base() {}
	int n;
};
struct derived : base {
	long more[4];
};

FN static void forms()
{
	keep[0] = new char;
	keep[1] = new int[10];
	keep[2] = new (std::nothrow) double[3];
	keep[3] = new wide;
	keep[4] = new wide[2];
	keep[5] = ::operator new(33);
	keep[6] = new std::string[3];
	delete new int;
	delete[] new long[5];
	delete new wide;
	*new volatile int = 1;
}

FN static void exceptions()
{
	for (int i = 0; i < 3; i++) {
		try {
			keep[i] = new thrower(i);
		} catch (const std::exception &e) {
			keep[10] = const_cast<char *>(e.what()) ? keep[10] : nullptr;
		}
	}
	try {
		(void)std::vector<int>().at(3);
	} catch (...) {
		/* never released */
		keep[4] = new std::exception_ptr(std::current_exception());
	}
}

FN static void containers()
{
	auto *m = new std::map<int, std::string>;
	auto *v = new std::vector<std::unique_ptr<base>>;

	for (int i = 0; i < 20; i++) {
		(*m)[i * 7 % 20] = std::string(i * 5, 'y');
		v->push_back(std::unique_ptr<base>(i % 2 ? new derived : new base));
	}
	m->erase(3);
	v->erase(v->begin() + 2, v->begin() + 5);
	keep[0] = m;
	keep[1] = v;
	std::ostringstream out;
	out << "a text that is longer than what fits " << 42 << ' ' << 1.5;
	keep[2] = strdup(out.str().c_str());
}

FN static void clean()
{
	std::map<int, std::vector<std::string>> m;

	for (int i = 0; i < 50; i++)
		m[i % 11].push_back(std::string(i, 'z'));
	for (int i = 0; i < 2; i++) {
		try {
			thrower t(false);
			std::unique_ptr<char[]> p(new char[100]);
			std::shared_ptr<base> b = std::make_shared<derived>();

			delete new wide;
			delete[] new wide[3];
			delete static_cast<base *>(new derived);
			delete[] new (std::nothrow) int[4];
			free(malloc(9));
			throw std::runtime_error(std::string(100, 'w'));
		} catch (const std::exception &e) {
			printf("%zu\n", strlen(e.what()));
		}
	}
}

int main(int argc, char **argv)
{
	const std::map<std::string, void (*)()> cases = {
		{ "forms", forms }, { "exceptions", exceptions },
		{ "containers", containers }, { "clean", clean },
	};
	auto it = argc == 2 ? cases.find(argv[1]) : cases.end();

	if (it == cases.end())
		return 2;
	it->second();
	return 0;
}
