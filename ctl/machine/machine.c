// SPDX-License-Identifier: GPL-2.0-or-later
/* Read all memory information of the machine, in order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/int.h"

struct machine_at machine_here(void)
{
	return (struct machine_at){
		.root = "",
		.page = (unsigned int)sysconf(_SC_PAGESIZE),
		.self = (__u32)getpid(),
		.budget_ns = 1000000000,
	};
}

/* The first line, without its end. */
static void line_of(const struct machine_at *at, const char *path, char *to, size_t room)
{
	int err;
	char *text = machine_file(at, path, FILE_SMALL, &err);

	if (text)
		snprintf(to, room, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

/* "0-3,8" */
static unsigned int count_cpus(const char *list)
{
	unsigned int first, last, nr = 0;
	int used;

	while (sscanf(list, "%u%n", &first, &used) == 1) {
		last = first;
		list += used;
		if (*list == '-' && sscanf(list, "-%u%n", &last, &used) == 1)
			list += used;
		if (last >= first && last - first < 65536)
			nr += last - first + 1;
		if (*list != ',')
			break;
		list++;
	}
	return nr;
}

typedef void (*parse_fn)(char *text, struct machine *m);

static void parse_vm(char *text, struct machine *m)
{
	fields_parse_vm(text, &m->f);
}

static void parse_pressure(char *text, struct machine *m)
{
	pressure_parse(text, &m->psi);
}

static void parse_uptime(char *text, struct machine *m)
{
	m->uptime = strtod(text, NULL);
	if (!(m->uptime >= 0 && m->uptime < 1e12))
		m->uptime = 0;
}

static void parse_zones(char *text, struct machine *m)
{
	zones_parse(text, m);
}

static void parse_swaps(char *text, struct machine *m)
{
	swaps_parse(text, m);
}

static void parse_dentries(char *text, struct machine *m)
{
	names_parse(text, &m->dentries, true);
}

static void parse_inodes(char *text, struct machine *m)
{
	names_parse(text, &m->inodes, false);
}

static void parse_overcommit(char *text, struct machine *m)
{
	m->strict_commit = text[0] == '2';
}

/* Files of which one sentence says what is missing without; "": nothing to speak of. */
static const struct {
	const char *path, *weakens;
	parse_fn parse;
} small[] = {
	{ "/proc/uptime", "", parse_uptime },
	{ "/proc/vmstat", "faults, swapping, reclaim and OOM kills are unknown", parse_vm },
	{ "/proc/zoneinfo", "watermarks and per-CPU page lists are unknown", parse_zones },
	{ "/proc/buddyinfo", "fragmentation is unknown", zones_parse_free },
	{ "/proc/swaps", "", parse_swaps },
	{ "/proc/pressure/memory", "", parse_pressure },
	{ "/proc/net/sockstat", "", sockets_parse },
	{ "/proc/net/sockstat6", "", sockets_parse },
	{ "/proc/sysvipc/shm", "", shm_parse },
	{ "/proc/sys/fs/dentry-state", "", parse_dentries },
	{ "/proc/sys/fs/inode-state", "", parse_inodes },
	{ "/proc/sys/vm/overcommit_memory", "", parse_overcommit },
};

static void read_small(const struct machine_at *at, struct machine *m)
{
	char *text;
	int err = 0;

	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		text = machine_file(at, small[i].path, FILE_LARGE, &err);
		if (text)
			small[i].parse(text, m);
		else if (*small[i].weakens)
			machine_gap(m, "%s: %s; %s", small[i].path, strerror(-err),
				    small[i].weakens);
		free(text);
	}
}

void machine_read_types(const struct machine_at *at, struct machine *m)
{
	char path[4096], *text;
	struct stat st;
	int err;

	snprintf(path, sizeof(path), "%s/proc/pagetypeinfo", at->root);
	if (stat(path, &st) || (st.st_mode & 0004))
		return;
	text = machine_file(at, "/proc/pagetypeinfo", FILE_LARGE, &err);
	if (text)
		zones_parse_types(text, m);
	free(text);
}

static int read_vmalloc(const struct machine_at *at, struct machine *m)
{
	int err = 0, ret;
	char *text = machine_file(at, "/proc/vmallocinfo", FILE_LARGE, &err);

	if (!text) {
		machine_gap(m, "/proc/vmallocinfo: %s; the callers of vmalloc() are unknown",
			    strerror(-err));
		return 0;
	}
	ret = vmalloc_parse(text, m);
	free(text);
	return ret;
}

static int read_sites(const struct machine_at *at, struct machine *m)
{
	int err = 0, ret;
	char *text = machine_file(at, "/proc/allocinfo", FILE_LARGE, &err);

	if (!text) {
		/* most kernels have none, and nothing is missing then */
		if (err != -ENOENT)
			machine_gap(m, "/proc/allocinfo: %s; memory by source line of the kernel "
				    "is unknown", strerror(-err));
		return 0;
	}
	ret = sites_parse(text, m);
	free(text);
	return ret;
}

int machine_fields(const struct machine_at *at, struct machine_fields *f)
{
	int err = 0;
	char *text = machine_file(at, "/proc/meminfo", FILE_SMALL, &err);

	memset(f, 0, sizeof(*f));
	if (!text)
		return err;
	fields_parse_mem(text, f);
	free(text);
	return f->has_mem[MEM_TOTAL] && f->has_mem[MEM_FREE] ? 0 : -EPROTO;
}

int machine_read(const struct machine_at *at, unsigned int what, struct machine *m)
{
	char cpus[256] = "";
	int ret;

	memset(m, 0, sizeof(*m));
	m->ns = machine_now();
	m->page = at->page;
	ret = machine_fields(at, &m->f);
	if (ret)
		return ret;
	line_of(at, "/proc/sys/kernel/osrelease", m->release, sizeof(m->release));
	line_of(at, "/proc/sys/kernel/hostname", m->host, sizeof(m->host));
	line_of(at, "/sys/devices/system/cpu/online", cpus, sizeof(cpus));
	m->cpus = count_cpus(cpus);
	read_small(at, m);
	blocks_read(at, m);
	if (what & MACHINE_SLAB)
		ret = slabs_read(at, m);
	if (!ret && (what & MACHINE_VMALLOC ||
		     (m->f.mem[MEM_VMALLOC_USED] && !machine_vmalloc_known(m))))
		ret = read_vmalloc(at, m);
	if (!ret && what & MACHINE_SITES)
		ret = read_sites(at, m);
	if (!ret)
		ret = processes_read(at, m);
	if (!ret && !(what & MACHINE_NO_CGROUPS))
		ret = cgroups_read(at, m);
	if (!ret && what & MACHINE_SHARED) {
		pinned_read(at, m);
		ret = shmem_read(at, m);
	}
	if (!ret && what & MACHINE_LOG)
		log_read(at, m);
	return ret;
}
