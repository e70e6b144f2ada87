// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/account.c ctl/machine/cgroup.c ctl/machine/fields.c */
/* LINK: ctl/machine/kernel.c ctl/machine/log.c ctl/machine/pinned.c ctl/machine/process.c */
/* LINK: ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/text.c ctl/machine/zones.c */
/* FUZZ: -max_len=4096 */
/*
 * What the machine says of its memory, each kind of file by its parser; then the sums and
 * differences of whatever came out.  Input: which file, and its text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void one_process(char *text, struct machine *m, bool status)
{
	struct machine_holder h = { 0 }, *new;
	char comm[16] = "";

	if (status)
		process_parse_status(text, &h);
	else if (process_parse_stat(text, &h, comm) && strlen(comm) > 15)
		abort();
	new = machine_add(&m->processes);
	*new = h;
	new->name = machine_name(m, comm, strlen(comm));
}

static void each_mount(char *text)
{
	struct machine_mount mount;
	char *line;

	while ((line = machine_line(&text)))
		if (mount_parse(line, &mount) && (mount.point[0] != '/' || !mount.type))
			abort();
}

static void numbers(const char *text)
{
	__u64 v;

	pairs_value(text, "oom_kill", &v);
	if (limit_parse(text, &v) && v != ~0ULL && v >= 1ULL << 62)
		abort();
}

static void kills(char *text, struct machine *m)
{
	log_parse(text, &m->log);
	for (size_t i = 0; i < MACHINE_KILLS; i++)
		if (strnlen(m->log.kills[i].comm, 16) == 16 ||
		    strnlen(m->log.kills[i].cgroup, 256) == 256)
			abort();
	if (strnlen(m->log.failed_comm, 16) == 16)
		abort();
}

static void parse(unsigned int which, char *text, struct machine *m)
{
	struct machine_holder node = { 0 };
	char *second;

	switch (which) {
	case 0: fields_parse_mem(text, &m->f); break;
	case 1: fields_parse_vm(text, &m->f); break;
	case 2: pressure_parse(text, &m->psi); break;
	case 3:
		second = strdup(text);
		zones_parse(text, m);
		zones_parse_free(second, m);
		free(second);
		second = strdup(text);
		zones_parse_types(second, m);
		free(second);
		break;
	case 4: slabs_parse(text, m); break;
	case 5: vmalloc_parse(text, m); break;
	case 6: sites_parse(text, m); break;
	case 7: one_process(text, m, false); break;
	case 8: one_process(text, m, true); break;
	case 9: swaps_parse(text, m); break;
	case 10: sockets_parse(text, m); break;
	case 11: shm_parse(text, m); break;
	case 12: kills(text, m); break;
	case 13:
		second = strdup(text);
		node_parse(text, &node);
		pinned_parse(second);
		free(second);
		break;
	case 14: each_mount(text); break;
	default: numbers(text); break;
	}
}

/* A list compared with itself has not grown; names are in order where they are merged. */
static void compare(const struct machine_list *list)
{
	struct machine_growth *g;

	if (machine_compare(list, list, &g))
		return;
	for (size_t i = 0; i < list->nr; i++)
		if (!g[i].before)
			abort();
	free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = { .page = 4096 };
	struct machine_account a;
	char *text;

	if (!size)
		return 0;
	text = copy_of(data + 1, size - 1);
	parse(data[0] % 16, text, &m);
	free(text);
	machine_account(&m, &a);
	machine_available(&m);
	machine_shmem_unmounted(&m);
	compare(&m.processes);
	compare(&m.slabs);
	compare(&m.callers);
	compare(&m.sites);
	compare(&m.swaps);
	machine_free(&m);
	return 0;
}
