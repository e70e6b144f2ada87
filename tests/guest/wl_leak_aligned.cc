// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_aligned CASE: operator new with an alignment.  "sizes": it asks aligned_alloc()
 * for more than it was asked for; "throws": for an alignment that is none it throws, and
 * takes the exception's memory from malloc, as large as what was asked for, too.
 */
#include <cstring>
#include <new>

static void sizes()
{
	static void *volatile p;

	for (int i = 0; i < 10; i++)
		p = operator new(1, std::align_val_t(64));
	p = nullptr;
	(void)p;
}

static const std::size_t asked[] = { 1, 32, 128, 136, 144, 152 };

static int throws()
{
	volatile std::size_t huge = ~std::size_t(0) / 2 + 1;
	int n = 0;

	for (std::size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const std::size_t size = asked[i];
		void *volatile p = nullptr;

		try {
			p = operator new(size, std::align_val_t(3));
		} catch (const std::bad_alloc &) {
			n++;
		}
		p = operator new(size, std::align_val_t(3), std::nothrow);
		n += !p;
	}
	try {
		void *volatile p = operator new(huge);

		(void)p;
	} catch (const std::bad_alloc &) {
		n++;
	}
	return n != 13;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !std::strcmp(argv[1], "throws"))
		return throws();
	sizes();
	return 0;
}
