// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw loads libdebuginfod when the program starts, if it is there: curl, TLS and Kerberos,
 * 8 MiB and as much work as all the rest of a start.  memtap asks no server, and what runs as
 * root in an incident has no use for them: libdw finds that there is none.  (Newer elfutils
 * load it only where DEBUGINFOD_URLS is set.)
 */
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
#ifdef MEMTAP_STATIC
	(void)name, (void)flags;
	return NULL;
#else
	void *(*real)(const char *, int);

	if (name && !strncmp(name, "libdebuginfod.so", 16))
		return NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	return real ? real(name, flags) : NULL;
#endif
}
