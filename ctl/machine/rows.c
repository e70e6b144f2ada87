// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine as tables of rows with named numbers, and the way back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"
#include "machine/rows.h"

#define MOST_ROWS	1000000

/* @real: a double; it is kept in millionths. */
struct number {
	const char *name;
	unsigned short offset;
	unsigned char size;
	bool real;
};

#define NUMBER(type, name, member) \
	{ name, offsetof(type, member), sizeof(((type *)0)->member), false }
#define REAL(type, name, member) { name, offsetof(type, member), sizeof(double), true }
#define H(name)			NUMBER(struct machine_holder, #name, name)
#define M(name)			NUMBER(struct machine, #name, name)
#define L(list)			M(list.has)

/* What tells rows apart comes first: see keys. */
static const struct number holder[] = {
	H(pid), H(start), H(bytes), H(size), H(anon), H(file), H(shmem), H(swap), H(tables),
	H(kernel), H(minor), H(major), H(objects), H(all_objects), H(hits), H(highs),
	H(oom_kills), H(dying), H(reclaimable), H(inside), H(data), H(locked), H(pinned),
	H(parent), H(state), H(has_pss), H(pss), H(uss), H(space), H(hugetlb), H(uid),
};

#define Z(name)			NUMBER(struct machine_zone, #name, name)
#define B(order)		NUMBER(struct machine_zone, "free" #order, blocks[order])

static const struct number zone[] = {
	Z(node), Z(free), Z(min), Z(low), Z(high), Z(managed), Z(lists), Z(start), Z(spanned),
	B(0), B(1), B(2), B(3), B(4), B(5), B(6), B(7), B(8), B(9), B(10), B(11), B(12), B(13),
	B(14), B(15),
};

static const struct number kill[] = {
	REAL(struct machine_kill, "at", at), NUMBER(struct machine_kill, "pid", pid),
	NUMBER(struct machine_kill, "rss", rss), NUMBER(struct machine_kill, "short", what),
};

/* Behind these stand those of meminfo and vmstat, and whether each is there. */
static const struct number sums[] = {
	M(ns), REAL(struct machine, "uptime", uptime), M(cpus), M(page), M(psi.has),
	M(psi.some_us), M(psi.full_us), REAL(struct machine, "psi.some_avg10", psi.some_avg10),
	REAL(struct machine, "psi.full_avg10", psi.full_avg10),
	L(processes), L(cgroups), L(slabs), L(callers), L(sites), L(tmpfs), L(swaps), L(nodes),
	L(deleted), L(zombies), M(processes.late), M(cgroups.late),
	REAL(struct machine, "processes.uptime", processes.uptime), M(processes_seen),
	M(cgroups_seen), M(kernel_threads), M(socket_pages), M(socket_frags), M(shm_bytes),
	M(shm_segments), M(dentries.has), M(dentries.has_negative), M(dentries.nr),
	M(dentries.unused), M(dentries.negative), M(inodes.has), M(inodes.nr), M(inodes.unused),
	M(strict_commit), M(zram_bytes), M(hugetlb), M(dying), M(dead_kernel), M(dead_bytes),
	M(cgroup2),
	M(log.has), M(log.nr), M(log.failures), REAL(struct machine, "log.failed_at",
						     log.failed_at), M(log.failed_order),
};

#define NR(table)	(sizeof(table) / sizeof((table)[0]))
#define NR_SUMS		(NR(sums) + 2 * NR_MACHINE_MEM + 2 * NR_MACHINE_VM)

_Static_assert(NR_SUMS <= ROWS_NUMBERS, "a row has no room for the sums");

/* @keys: so many numbers at the beginning tell rows apart, and texts. */
static const struct table {
	const char *name;
	const struct number *numbers;
	size_t nr, keys;
	size_t list;			/* a struct machine_list, in struct machine */
} tables[NR_ROWS_TABLES] = {
	[ROWS_SUMS] = { "sums", sums, NR_SUMS, 0, 0 },
#define LIST(index, member) \
	[index] = { #member, holder, NR(holder), 2, offsetof(struct machine, member) }
	LIST(ROWS_PROCESSES, processes),
	LIST(ROWS_CGROUPS, cgroups),
	LIST(ROWS_SLABS, slabs),
	LIST(ROWS_CALLERS, callers),
	LIST(ROWS_TMPFS, tmpfs),
	LIST(ROWS_SWAPS, swaps),
	LIST(ROWS_NODES, nodes),
	LIST(ROWS_DELETED, deleted),
	LIST(ROWS_ZOMBIES, zombies),
	[ROWS_ZONES] = { "zones", zone, NR(zone), 1, 0 },
	[ROWS_KILLS] = { "kills", kill, NR(kill), 2, 0 },
	[ROWS_GAPS] = { "gaps", NULL, 0, 0, 0 },
};

static const struct machine_list *list_of(const struct machine *m, enum rows_table t)
{
	return (const void *)((const char *)m + tables[t].list);
}

const char *rows_table_name(enum rows_table t)
{
	return tables[t].name;
}

size_t rows_numbers(enum rows_table t)
{
	return tables[t].nr;
}

/* Number @i of the sums that are no number of their own. */
static struct number field(size_t i)
{
	static const struct {
		size_t nr, offset;
		unsigned char size;
		bool vm;
	} parts[] = {
		{ NR_MACHINE_MEM, offsetof(struct machine, f.mem), 8, false },
		{ NR_MACHINE_MEM, offsetof(struct machine, f.has_mem), sizeof(bool), false },
		{ NR_MACHINE_VM, offsetof(struct machine, f.vm), 8, true },
		{ NR_MACHINE_VM, offsetof(struct machine, f.has_vm), sizeof(bool), true },
	};
	struct number n = { 0 };

	for (size_t k = 0; k < NR(parts); k++) {
		if (i >= parts[k].nr) {
			i -= parts[k].nr;
			continue;
		}
		n.name = parts[k].vm ? fields_vm_name((enum machine_vm)i) :
				       fields_mem_name((enum machine_mem)i);
		n.size = parts[k].size;
		n.offset = (unsigned short)(parts[k].offset + i * n.size);
		return n;
	}
	return n;
}

static struct number number_of(enum rows_table t, size_t i)
{
	return t == ROWS_SUMS && i >= NR(sums) ? field(i - NR(sums)) : tables[t].numbers[i];
}

const char *rows_number_name(enum rows_table t, size_t i)
{
	return i < tables[t].nr ? number_of(t, i).name : NULL;
}

size_t rows_nr(const struct machine *m, enum rows_table t)
{
	switch (t) {
	case ROWS_SUMS: return 1;
	case ROWS_ZONES: return m->nr_zones;
	case ROWS_KILLS: return m->log.nr < MACHINE_KILLS ? (size_t)m->log.nr : MACHINE_KILLS;
	case ROWS_GAPS: return m->nr_gaps;
	default: return list_of(m, t)->nr;
	}
}

static const void *row_at(const struct machine *m, enum rows_table t, size_t i)
{
	return t == ROWS_SUMS ? (const void *)m : t == ROWS_ZONES ? (const void *)&m->zones[i] :
	       t == ROWS_KILLS ? (const void *)&m->log.kills[i] :
	       t == ROWS_GAPS ? (const void *)&m->gaps[i] : (const void *)&list_of(m, t)->at[i];
}

static void texts_of(const struct machine *m, enum rows_table t, size_t i, const char *text[2])
{
	const struct machine_holder *h;

	text[0] = text[1] = "";
	switch (t) {
	case ROWS_SUMS:
		text[0] = m->log.failed_comm;
		break;
	case ROWS_ZONES:
		text[0] = m->zones[i].name;
		break;
	case ROWS_KILLS:
		text[0] = m->log.kills[i].comm;
		text[1] = m->log.kills[i].cgroup;
		break;
	case ROWS_GAPS:
		text[0] = m->gaps[i].text;
		break;
	default:
		h = &list_of(m, t)->at[i];
		text[0] = h->name;
		text[1] = t == ROWS_PROCESSES ? h->cgroup ? h->cgroup : "" : h->also ? h->also : "";
	}
}

static __u64 get(const void *at, const struct number *n)
{
	const char *p = (const char *)at + n->offset;
	double d;
	__u32 v4;
	__u64 v8;

	switch (n->size) {
	case 1:
		return *(const __u8 *)p;
	case 4:
		memcpy(&v4, p, sizeof(v4));
		return v4;
	default:
		if (!n->real) {
			memcpy(&v8, p, sizeof(v8));
			return v8;
		}
		memcpy(&d, p, sizeof(d));
		return d > 0 && d < 1e12 ? (__u64)(d * 1e6 + 0.5) : 0;
	}
}

/* A bool takes 0 and 1 alone. */
static void set(void *at, const struct number *n, __u64 v, bool flag)
{
	char *p = (char *)at + n->offset;
	const double d = v < (__u64)1e18 ? (double)v / 1e6 : 0;
	const __u32 v4 = (__u32)v;

	switch (n->size) {
	case 1:
		*(__u8 *)p = (__u8)(flag ? v != 0 : v & 0x7f);
		break;
	case 4:
		memcpy(p, &v4, sizeof(v4));
		break;
	default:
		if (n->real)
			memcpy(p, &d, sizeof(d));
		else
			memcpy(p, &v, sizeof(v));
	}
}

void rows_get(const struct machine *m, enum rows_table t, size_t i, struct rows_row *r)
{
	const void *at = row_at(m, t, i);

	texts_of(m, t, i, r->text);
	for (size_t k = 0; k < tables[t].nr; k++) {
		const struct number n = number_of(t, k);

		r->v[k] = get(at, &n);
	}
}

bool rows_same(const struct machine *m, enum rows_table t, size_t i, const struct rows_row *r)
{
	const void *at = row_at(m, t, i);
	const char *text[2];

	for (size_t k = 0; k < tables[t].keys; k++)
		if (get(at, &tables[t].numbers[k]) != r->v[k])
			return false;
	texts_of(m, t, i, text);
	return !strcmp(text[0], r->text[0]) && !strcmp(text[1], r->text[1]);
}

/* The only letter of a row is a process's state. */
static void set_all(void *at, enum rows_table t, const struct rows_row *r)
{
	for (size_t k = 0; k < tables[t].nr; k++) {
		const struct number n = number_of(t, k);

		set(at, &n, r->v[k], n.size == 1 && strcmp(n.name, "state"));
	}
}

static int add_holder(struct machine *m, enum rows_table t, const struct rows_row *r)
{
	struct machine_list *list = (struct machine_list *)((char *)m + tables[t].list);
	struct machine_holder *h = list->nr < MOST_ROWS ? machine_add(list) : NULL;
	const char *also = NULL;

	if (!h)
		return list->nr < MOST_ROWS ? -ENOMEM : -E2BIG;
	set_all(h, t, r);
	h->name = machine_name(m, r->text[0], strlen(r->text[0]));
	if (*r->text[1])
		also = machine_name(m, r->text[1], strlen(r->text[1]));
	if (!h->name || (*r->text[1] && !also)) {
		list->nr--;
		return -ENOMEM;
	}
	*(t == ROWS_PROCESSES ? &h->cgroup : &h->also) = also;
	return 0;
}

static int add_zone(struct machine *m, const struct rows_row *r)
{
	struct machine_zone *z;

	if (m->nr_zones >= 4096)
		return -E2BIG;
	z = realloc(m->zones, (m->nr_zones + 1) * sizeof(*z));
	if (!z)
		return -ENOMEM;
	m->zones = z;
	z = &m->zones[m->nr_zones++];
	memset(z, 0, sizeof(*z));
	set_all(z, ROWS_ZONES, r);
	snprintf(z->name, sizeof(z->name), "%s", r->text[0]);
	return 0;
}

/* How many kills there were is one of the sums; there are no more rows than that. */
static int add_kill(struct machine *m, const struct rows_row *r)
{
	struct machine_kill *k = NULL;
	size_t i = 0;

	while (i < rows_nr(m, ROWS_KILLS) && *m->log.kills[i].comm)
		i++;
	if (i == rows_nr(m, ROWS_KILLS))
		return -E2BIG;
	k = &m->log.kills[i];
	set_all(k, ROWS_KILLS, r);
	if (k->what > SHORT_POLICY)
		k->what = SHORT_UNKNOWN;
	snprintf(k->comm, sizeof(k->comm), "%s", *r->text[0] ? r->text[0] : "?");
	snprintf(k->cgroup, sizeof(k->cgroup), "%s", r->text[1]);
	return 0;
}

int rows_add(struct machine *m, enum rows_table t, const struct rows_row *r)
{
	switch (t) {
	case ROWS_SUMS:
		set_all(m, t, r);
		snprintf(m->log.failed_comm, sizeof(m->log.failed_comm), "%s", r->text[0]);
		return 0;
	case ROWS_ZONES:
		return add_zone(m, r);
	case ROWS_KILLS:
		return add_kill(m, r);
	case ROWS_GAPS:
		if (m->nr_gaps == MACHINE_GAPS)
			return -E2BIG;
		machine_gap(m, "%s", r->text[0]);
		return 0;
	default:
		return add_holder(m, t, r);
	}
}
