// SPDX-License-Identifier: GPL-2.0-or-later
/* Run all checks of `memtap doctor`, in order. */
#include <string.h>

#include "doctor/int.h"

void doctor_look(struct doctor *d, const struct host *host, const char *version)
{
	memset(d, 0, sizeof(*d));
	d->host = host;
	d->version = version;
	look_rights(d);
	look_container(d);
	look_config(d);
	look_module(d);
	look_signing(d);
	look_headers(d);
	look_compiler(d);
	look_dkms(d);
	look_kprobes(d);
	look_tracefs(d);
	look_perf(d);
	look_tracers(d);
	look_names(d);
	look_memory(d);
	look_debuginfo(d);
}
