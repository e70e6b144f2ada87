// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse zoneinfo, buddyinfo and the memory of NUMA nodes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"

static struct machine_zone *find_zone(struct machine *m, int node, const char *name)
{
	for (size_t i = 0; i < m->nr_zones; i++)
		if (m->zones[i].node == node && !strcmp(m->zones[i].name, name))
			return &m->zones[i];
	return NULL;
}

/* "Node 0, zone   Normal ..."; what is behind the name in @rest */
static bool zone_head(char *line, int *node, char **name, char **rest)
{
	char *word = machine_word(&line), *comma;
	__u64 v;

	if (!word || strcmp(word, "Node"))
		return false;
	word = machine_word(&line);
	comma = word ? strchr(word, ',') : NULL;
	if (!comma)
		return false;
	*comma = '\0';
	if (!machine_number(word, &v) || v > 65535)
		return false;
	*node = (int)v;
	word = machine_word(&line);
	if (!word || strcmp(word, "zone"))
		return false;
	*name = machine_word(&line);
	*rest = line;
	return *name != NULL;
}

static struct machine_zone *add_zone(struct machine *m, int node, const char *name)
{
	struct machine_zone *more, *z;

	if (m->nr_zones >= 4096)
		return NULL;
	more = realloc(m->zones, (m->nr_zones + 1) * sizeof(*more));
	if (!more)
		return NULL;
	m->zones = more;
	z = &more[m->nr_zones++];
	memset(z, 0, sizeof(*z));
	z->node = node;
	snprintf(z->name, sizeof(z->name), "%s", name);
	return z;
}

static void zone_line(struct machine_zone *z, char *line)
{
	char *name = machine_word(&line), *word = machine_word(&line);
	__u64 v;

	if (!name)
		return;
	/* "pages free 123" */
	if (!strcmp(name, "pages") && word && !strcmp(word, "free")) {
		if (machine_number(machine_word(&line), &v))
			z->free = v;
		return;
	}
	if (!machine_number(word, &v))
		return;
	if (!strcmp(name, "min"))
		z->min = v;
	else if (!strcmp(name, "low"))
		z->low = v;
	else if (!strcmp(name, "high"))
		z->high = v;
	else if (!strcmp(name, "managed") || (!strcmp(name, "present") && !z->managed))
		z->managed = v;
	else if (!strcmp(name, "count:"))
		z->lists += v;
	else if (!strcmp(name, "spanned"))
		z->spanned = v;
	else if (!strcmp(name, "start_pfn:"))
		z->start = v;
}

int zones_parse(char *text, struct machine *m)
{
	struct machine_zone *z = NULL;
	char *line, *name, *rest;
	int node;

	while ((line = machine_line(&text))) {
		if (!strncmp(line, "Node ", 5)) {
			z = NULL;
			if (!zone_head(line, &node, &name, &rest))
				continue;
			z = add_zone(m, node, name);
			if (!z)
				return -ENOMEM;
		} else if (z) {
			zone_line(z, line);
		}
	}
	return 0;
}

const struct machine_zone *machine_zone_of(const struct machine *m, __u64 pfn)
{
	for (size_t i = 0; i < m->nr_zones; i++)
		if (pfn >= m->zones[i].start && pfn - m->zones[i].start < m->zones[i].spanned)
			return &m->zones[i];
	return NULL;
}

void zones_parse_free(char *text, struct machine *m)
{
	struct machine_zone *z;
	char *line, *name, *rest;
	int node;

	while ((line = machine_line(&text))) {
		if (!zone_head(line, &node, &name, &rest))
			continue;
		z = find_zone(m, node, name);
		for (int i = 0; z && i < MACHINE_ORDERS; i++)
			if (!machine_number(machine_word(&rest), &z->blocks[i]))
				break;
	}
}

/* "12", or ">100000": the kernel did not count on */
static bool type_number(const char *word, struct machine_type *t, __u64 *v)
{
	if (word && *word == '>') {
		t->more = true;
		word++;
	}
	return machine_number(word, v);
}

/* "Node    0, zone   Normal, type    Unmovable      1      2 ..." */
static void type_line(char *line, struct machine *m)
{
	struct machine_zone *z;
	struct machine_type *t;
	char *name, *word;
	int node;

	if (!zone_head(line, &node, &name, &line) || !strchr(name, ','))
		return;
	*strchr(name, ',') = '\0';
	z = find_zone(m, node, name);
	word = machine_word(&line);
	name = machine_word(&line);
	if (!z || z->nr_types == MACHINE_TYPES || !word || strcmp(word, "type") || !name)
		return;
	t = &z->types[z->nr_types++];
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	for (int i = 0; i < MACHINE_ORDERS; i++)
		if (!type_number(machine_word(&line), t, &t->blocks[i]))
			break;
}

/* Behind it are whole blocks by type, whose lines have no comma behind the zone. */
void zones_parse_types(char *text, struct machine *m)
{
	char *line;

	while ((line = machine_line(&text)))
		type_line(line, m);
}

void node_parse(char *text, struct machine_holder *h)
{
	__u64 total = 0, available = 0, v;
	char *line, *name;

	while ((line = machine_line(&text))) {
		machine_word(&line);
		machine_word(&line);
		name = machine_word(&line);
		if (!name || !machine_number(machine_word(&line), &v))
			continue;
		v = machine_times(v, 1024);
		if (!strcmp(name, "MemTotal:"))
			total = v;
		else if (!strcmp(name, "MemFree:"))
			available = v;
	}
	h->size = total;
	h->bytes = total > available ? total - available : 0;
}
