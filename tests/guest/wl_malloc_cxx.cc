// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects of classes that nothing leads to, and such that something does: "ready" is said then,
 * and until SIGTERM nobody does anything any more.
 */
#include <string>
#include <vector>

#include <unistd.h>

namespace shop {

struct Thing {
	virtual ~Thing() { }
	virtual int price() { return 1; }
	long id = 0;
};

struct Session : Thing {
	int price() override { return 2; }
	char state[64] = {};
	Thing *basket = nullptr;
};

struct Basket : Thing {
	int price() override { return 3; }
	char goods[200] = {};
};

}

static std::vector<shop::Thing *> kept;

static __attribute__((noinline)) void lose()
{
	for (int i = 0; i < 1400; i++) {
		auto *s = new shop::Session;

		if (i < 300)
			s->basket = new shop::Basket;
		asm volatile("" : : "r"(s) : "memory");		/* (it is really made) */
	}
}

static __attribute__((noinline)) void clear_stack()
{
	volatile char room[16384];

	for (auto &c : room)
		c = 0;
}

int main()
{
	for (int i = 0; i < 500; i++)
		kept.push_back(new shop::Session);
	lose();
	clear_stack();
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
