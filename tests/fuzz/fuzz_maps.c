// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/limit.c ctl/base/openreg.c ctl/base/opt_value.c ctl/target/cgroup.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/target.c */
/* FUZZ: -max_len=4096 */
/*
 * What is read from /proc and from the dynamic linker's cache: mappings,
 * mounts, a process's state.
 */
#include <stdlib.h>
#include <string.h>

#include "target/cgroup.h"
#include "target/maps.h"
#include "target/target.h"

static bool visit(const char *path, void *ctx)
{
	size_t *sum = ctx;

	*sum += strlen(path);
	maps_name_matches(path, "c");
	return *sum > 1 << 20;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct target_stat st;
	struct maps m;
	char mount[64], *text = malloc(size + 1);
	size_t sum = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!maps_parse(text, size, &m)) {
		for (size_t i = 0; i < m.nr; i++)
			if (m.files[i]->path[0] != '/' ||
			    m.files[i]->start >= m.files[i]->end)
				abort();
		maps_free(&m);
	}
	maps_ldcache(data, size, visit, &sum);
	if (cgroup_mount(text, true, mount, sizeof(mount)) &&
	    strlen(mount) >= sizeof(mount))
		abort();
	cgroup_mount(text, false, mount, sizeof(mount));
	target_parse_stat(text, &st);
	free(text);
	return 0;
}
