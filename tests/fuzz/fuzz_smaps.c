// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/smaps.c ctl/machine/text.c */
/* FUZZ: -max_len=2048 */
/*
 * Lines of smaps and numa_maps, whatever they are: what is added up never gets less, a head is a
 * range, and its path is in the line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/int.h"
#include "machine/smaps.h"

#define NODES	8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void head(const char *line)
{
	struct smaps_head h;

	if (!smaps_parse_head(line, &h))
		return;
	if (h.start >= h.end || strlen(h.perms) > 4 || h.path < line ||
	    h.path > line + strlen(line))
		abort();
}

static void value(const char *line, __u64 v[NR_PS_SUMS], bool has[NR_PS_SUMS])
{
	__u64 before[NR_PS_SUMS];

	memcpy(before, v, sizeof(before));
	smaps_parse_value(line, v, has);
	for (int i = 0; i < NR_PS_SUMS; i++)
		if (v[i] < before[i] || (v[i] && !has[i]))
			abort();
}

static void flags(const char *line)
{
	const char *text = smaps_parse_flags(line);

	if (text && smaps_flags_len(text) > strlen(text))
		abort();
}

static void on_nodes(const char *line, __u64 nodes[NODES])
{
	__u64 before[NODES];
	char *copy = strdup(line);

	memcpy(before, nodes, sizeof(before));
	smaps_parse_nodes(copy, nodes, NODES);
	for (int i = 0; i < NODES; i++)
		if (nodes[i] < before[i])
			abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	__u64 v[NR_PS_SUMS] = { 0 }, nodes[NODES] = { 0 };
	bool has[NR_PS_SUMS] = { false };
	char *text = malloc(size + 1), *rest = text, *line;

	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = machine_line(&rest))) {
		head(line);
		value(line, v, has);
		flags(line);
		on_nodes(line, nodes);
	}
	free(text);
	return 0;
}
