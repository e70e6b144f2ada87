// SPDX-License-Identifier: GPL-2.0-or-later
/* Load and unload the module, by libkmod or by system calls. */
#include "session/insert.h"
#include "session/insert_int.h"

static const struct inserter *way(void)
{
#ifdef MEMTAP_STATIC
	return &insert_plain;
#else
	const struct inserter *kmod = insert_kmod();

	return kmod ? kmod : &insert_plain;
#endif
}

int insert_file(const char *path, const char *params)
{
	return way()->file(path, params);
}

int insert_by_name(const char *name, const char *params)
{
	return way()->by_name(name, params);
}

int insert_remove(const char *name)
{
	return way()->remove(name);
}
