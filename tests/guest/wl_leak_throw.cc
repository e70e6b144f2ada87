// SPDX-License-Identifier: GPL-2.0-or-later
/* An allocator that throws. */
#include <cstddef>
#include <stdexcept>

extern "C" __attribute__((noipa)) void *own_throw(size_t n)
{
	if (n)
		throw std::runtime_error("no memory of that kind");
	return nullptr;
}

extern "C" __attribute__((noipa)) void own_catch(size_t n)
{
	try {
		own_throw(n);
	} catch (const std::runtime_error &) {
	}
}
