// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep libdw from loading libdebuginfod.  libdw loads it at program start if it is installed, with
 * curl, TLS and Kerberos: 8 MiB, and as much work as the rest of the start.  memtap asks no
 * server, and a tool that runs as root in an incident should not load them.  (Newer elfutils load
 * it only if DEBUGINFOD_URLS is set.)
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
