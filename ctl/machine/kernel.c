// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's memory use: slab caches, vmalloc areas, allocinfo, sockets, shm. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/caches.h"
#include "machine/int.h"

#define LIST_MOST	200000		/* of each kind, whatever a file says */

static struct machine_holder *named(struct machine *m, struct machine_list *list,
				    const char *name)
{
	struct machine_holder *h;

	if (list->nr >= LIST_MOST)
		return NULL;
	h = machine_add(list);
	if (!h)
		return NULL;
	h->name = machine_name(m, name, strlen(name));
	if (!h->name) {
		list->nr--;
		return NULL;
	}
	return h;
}

/*
 * name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables ... :
 * slabdata <active_slabs> <num_slabs> <sharedavail>
 */
int slabs_parse(char *text, struct machine *m)
{
	struct machine_holder *h;
	char *line, *name, *word;
	__u64 v[5], slabs;
	int i;

	m->slabs.has = true;
	while ((line = machine_line(&text))) {
		char *data = strstr(line, ": slabdata ");

		if (!data || line[0] == '#')
			continue;
		*data = '\0';
		data += strlen(": slabdata ");
		name = machine_word(&line);
		for (i = 0; i < 5; i++)
			if (!machine_number(machine_word(&line), &v[i]))
				break;
		machine_word(&data);
		word = machine_word(&data);
		if (i < 5 || !name || !machine_number(word, &slabs))
			continue;
		h = named(m, &m->slabs, name);
		if (!h)
			return -ENOMEM;
		h->objects = v[0];
		h->all_objects = v[1];
		h->size = v[2];
		h->bytes = machine_times(machine_times(slabs, v[4]), m->page);
	}
	return 0;
}

/* A file with one number, perhaps more words behind it. */
static bool number_in(const struct machine_at *at, const char *dir, const char *name,
		      __u64 *v)
{
	char path[PATH_MAX], *text, *rest;
	bool ok;
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return false;
	text = machine_file(at, path, FILE_SMALL, &err);
	if (!text)
		return false;
	rest = text;
	text[strcspn(text, "\n")] = '\0';
	ok = machine_number(machine_word(&rest), v);
	free(text);
	return ok;
}

/* What a cache says of itself, where /proc/slabinfo is not to be read. */
static int slab_of(const struct machine_at *at, struct machine *m, const char *name)
{
	__u64 slabs, order, objects, size;
	struct machine_holder *h;
	char dir[300];

	snprintf(dir, sizeof(dir), "/sys/kernel/slab/%s", name);
	if (name[0] == ':' || !number_in(at, dir, "slabs", &slabs) ||
	    !number_in(at, dir, "order", &order) || order > 20)
		return 0;
	h = named(m, &m->slabs, name);
	if (!h)
		return -ENOMEM;
	if (number_in(at, dir, "objects", &objects))
		h->objects = h->all_objects = objects;
	if (number_in(at, dir, "object_size", &size))
		h->size = size;
	h->bytes = machine_times(slabs, (__u64)m->page << order);
	return 0;
}

static int slabs_of_sysfs(const struct machine_at *at, struct machine *m)
{
	char path[PATH_MAX];
	struct dirent *d;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/kernel/slab", at->root);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			ret = slab_of(at, m, d->d_name);
	closedir(dir);
	if (!ret)
		m->slabs.has = m->slabs.nr > 0;
	return ret;
}

/* Only caches that hold something are asked; files there cost a call each. */
static int ask_caches(const struct machine_at *at, struct machine *m)
{
	struct machine_caches *c = machine_caches_read(at);
	char also[CACHE_ALSO];
	int ret = c ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < m->slabs.nr; i++) {
		struct machine_holder *h = &m->slabs.at[i];

		if (h->bytes < 1 << 20)
			continue;
		h->reclaimable = machine_caches_reclaimable(c, h->name);
		machine_caches_also(c, h->name, also);
		h->also = *also ? machine_name(m, also, strlen(also)) : NULL;
		ret = *also && !h->also ? -ENOMEM : 0;
	}
	machine_caches_free(c);
	return ret;
}

int slabs_read(const struct machine_at *at, struct machine *m)
{
	int err = 0, ret;
	char *text = machine_file(at, "/proc/slabinfo", FILE_LARGE, &err);

	if (text) {
		ret = slabs_parse(text, m);
		free(text);
	} else {
		ret = slabs_of_sysfs(at, m);
		if (ret != -ENOMEM && !m->slabs.has) {
			machine_gap(m, "/proc/slabinfo: %s; growth of slab caches is unknown",
				    strerror(-err));
			ret = 0;
		}
	}
	return ret ? ret : ask_caches(at, m);
}

/* By name; the same name's amounts become one. */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct machine_holder *)a)->name,
		      ((const struct machine_holder *)b)->name);
}

static void merge_names(struct machine_list *list)
{
	size_t kept = 0;

	if (!list->nr)
		return;
	qsort(list->at, list->nr, sizeof(list->at[0]), by_name);
	for (size_t i = 1; i < list->nr; i++) {
		struct machine_holder *into = &list->at[kept], *h = &list->at[i];

		if (strcmp(into->name, h->name)) {
			list->at[++kept] = *h;
			continue;
		}
		into->bytes += h->bytes;
		into->objects += h->objects;
	}
	list->nr = kept + 1;
}

/*
 * 0xffffc90000000000-0xffffc90000002000    8192 caller+0x1/0x2 [module] pages=1 vmalloc ...
 * What only maps something else (ioremap, vmap of pages of others) has no pages=.
 */
int vmalloc_parse(char *text, struct machine *m)
{
	struct machine_holder *h;
	char *line, *word, *caller, *module;
	__u64 pages;

	m->callers.has = true;
	while ((line = machine_line(&text))) {
		word = machine_word(&line);
		if (!word || !strchr(word, '-'))
			continue;
		machine_word(&line);
		caller = machine_word(&line);
		if (!caller || strchr(caller, '='))
			continue;
		caller[strcspn(caller, "+")] = '\0';
		pages = 0;
		module = NULL;
		while ((word = machine_word(&line))) {
			if (word[0] == '[' && !module)
				module = word;
			else if (!strncmp(word, "pages=", 6))
				machine_number(word + 6, &pages);
		}
		if (!pages)
			continue;
		if (module) {
			char both[256];

			snprintf(both, sizeof(both), "%.180s %.60s", caller, module);
			h = named(m, &m->callers, both);
		} else {
			h = named(m, &m->callers, caller);
		}
		if (!h)
			return -ENOMEM;
		h->bytes = machine_times(pages, m->page);
		h->objects = 1;
	}
	merge_names(&m->callers);
	return 0;
}

/* <bytes> <calls> file:line [module] func:name */
int sites_parse(char *text, struct machine *m)
{
	struct machine_holder *h;
	char *line, *word;
	__u64 bytes, calls;

	m->sites.has = true;
	while ((line = machine_line(&text))) {
		if (!machine_number(machine_word(&line), &bytes) ||
		    !machine_number(machine_word(&line), &calls) || !bytes || !line)
			continue;
		word = line + strspn(line, " ");
		for (size_t len = strlen(word); len && word[len - 1] == ' '; len--)
			word[len - 1] = '\0';
		if (!*word)
			continue;
		h = named(m, &m->sites, word);
		if (!h)
			return -ENOMEM;
		h->bytes = bytes;
		h->objects = calls;
	}
	merge_names(&m->sites);
	return 0;
}

/* "TCP: inuse 5 orphan 0 tw 0 alloc 7 mem 1", "FRAG: inuse 0 memory 0" */
void sockets_parse(char *text, struct machine *m)
{
	char *line, *word;
	__u64 v;

	while ((line = machine_line(&text))) {
		machine_word(&line);
		while ((word = machine_word(&line))) {
			const bool pages = !strcmp(word, "mem");

			if (!pages && strcmp(word, "memory"))
				continue;
			if (!machine_number(machine_word(&line), &v))
				break;
			*(pages ? &m->socket_pages : &m->socket_frags) += v;
		}
	}
}

/* nr unused ..., and the fifth of dentries: negative ones, since v5.0; 0 before */
void names_parse(char *text, struct machine_names *n, bool dentries)
{
	char *line = machine_line(&text), *word;
	__u64 v[5] = { 0 };
	size_t nr = 0;

	while (nr < 5 && (word = machine_word(&line)) && machine_number(word, &v[nr]))
		nr++;
	if (nr < 2)
		return;
	n->has = true;
	n->nr = v[0];
	n->unused = v[1];
	n->negative = dentries && nr > 4 ? v[4] : 0;
	n->has_negative = n->negative != 0;
}

/* The columns have names; rss is bytes, of what is in memory. */
void shm_parse(char *text, struct machine *m)
{
	char *line = machine_line(&text), *word;
	int column = -1;
	__u64 v;

	for (int i = 0; (word = machine_word(&line)); i++)
		if (!strcmp(word, "rss"))
			column = i;
	if (column < 0)
		return;
	while ((line = machine_line(&text))) {
		for (int i = 0; (word = machine_word(&line)); i++)
			if (i == column && machine_number(word, &v)) {
				m->shm_bytes += v;
				m->shm_segments++;
			}
	}
}

/* Filename Type Size Used Priority; kB */
int swaps_parse(char *text, struct machine *m)
{
	struct machine_holder *h;
	char *line, *name;
	__u64 size, used;

	m->swaps.has = true;
	machine_line(&text);
	while ((line = machine_line(&text))) {
		name = machine_word(&line);
		machine_word(&line);
		if (!name || !machine_number(machine_word(&line), &size) ||
		    !machine_number(machine_word(&line), &used))
			continue;
		h = named(m, &m->swaps, name);
		if (!h)
			return -ENOMEM;
		h->size = machine_times(size, 1024);
		h->bytes = machine_times(used, 1024);
	}
	return 0;
}

/* zram: what it takes, not what it holds; the third number of mm_stat (since v4.2). */
static void zram_of(const struct machine_at *at, struct machine *m, const char *name)
{
	char path[300], *text, *rest;
	__u64 v;
	int err;

	snprintf(path, sizeof(path), "/sys/block/%.200s/mm_stat", name);
	text = machine_file(at, path, FILE_SMALL, &err);
	if (text) {
		rest = text;
		text[strcspn(text, "\n")] = '\0';
		machine_word(&rest);
		machine_word(&rest);
		if (machine_number(machine_word(&rest), &v))
			m->zram_bytes += v;
		free(text);
		return;
	}
	snprintf(path, sizeof(path), "/sys/block/%.200s", name);
	if (number_in(at, path, "mem_used_total", &v))
		m->zram_bytes += v;
}

static void node_of(const struct machine_at *at, struct machine *m, const char *name)
{
	struct machine_holder *h;
	char path[300], *text;
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/node/%.200s/meminfo", name);
	text = machine_file(at, path, FILE_SMALL, &err);
	if (!text)
		return;
	h = named(m, &m->nodes, name);
	if (h) {
		node_parse(text, h);
		m->nodes.has = true;
	}
	free(text);
}

/* hugepages-2048kB: kB in its name */
static void huge_of(const struct machine_at *at, struct machine *m, const char *name)
{
	char dir[300], size[24];
	__u64 kb, nr;

	snprintf(size, sizeof(size), "%.20s", name + strlen("hugepages-"));
	size[strcspn(size, "k")] = '\0';
	snprintf(dir, sizeof(dir), "/sys/kernel/mm/hugepages/%.200s", name);
	if (machine_number(size, &kb) && number_in(at, dir, "nr_hugepages", &nr))
		m->hugetlb += machine_times(nr, machine_times(kb, 1024));
}

static void each(const struct machine_at *at, struct machine *m, const char *in,
		 const char *prefix,
		 void (*one)(const struct machine_at *at, struct machine *m, const char *name))
{
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s%s", at->root, in);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)))
		if (!strncmp(d->d_name, prefix, strlen(prefix)))
			one(at, m, d->d_name);
	closedir(dir);
}

int blocks_read(const struct machine_at *at, struct machine *m)
{
	each(at, m, "/sys/block", "zram", zram_of);
	each(at, m, "/sys/devices/system/node", "node", node_of);
	each(at, m, "/sys/kernel/mm/hugepages", "hugepages-", huge_of);
	if (m->f.has_mem[MEM_HUGETLB] && m->f.mem[MEM_HUGETLB] > m->hugetlb)
		m->hugetlb = m->f.mem[MEM_HUGETLB];
	if (!m->hugetlb)
		m->hugetlb = machine_times(m->f.mem[MEM_HUGE_TOTAL],
					   m->f.mem[MEM_HUGE_SIZE]);
	return 0;
}
