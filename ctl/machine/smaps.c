// SPDX-License-Identifier: GPL-2.0-or-later
/* Read and parse smaps, smaps_rollup and numa_maps of processes, for a bounded time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/int.h"
#include "machine/smaps.h"

#define PIECE		(64U << 10)

static const struct {
	const char *name;
	enum ps_sum sum;
} values[] = {
	{ "Size", PS_SIZE },
	{ "Rss", PS_RSS },
	{ "Pss", PS_PSS },
	{ "Private_Clean", PS_USS },
	{ "Private_Dirty", PS_USS },
	{ "Private_Dirty", PS_DIRTY },
	{ "Shared_Dirty", PS_DIRTY },
	{ "Referenced", PS_REFERENCED },
	{ "Anonymous", PS_ANON },
	{ "KSM", PS_KSM },
	{ "LazyFree", PS_LAZY },
	{ "AnonHugePages", PS_HUGE },
	{ "ShmemPmdMapped", PS_HUGE },
	{ "FilePmdMapped", PS_HUGE },
	{ "Shared_Hugetlb", PS_HUGETLB },
	{ "Private_Hugetlb", PS_HUGETLB },
	{ "Swap", PS_SWAP },
	{ "SwapPss", PS_SWAP_PSS },
	{ "Locked", PS_LOCKED },
};

bool smaps_parse_value(const char *line, __u64 v[NR_PS_SUMS], bool has[NR_PS_SUMS])
{
	const size_t len = strcspn(line, ":");
	bool found = false;
	__u64 n;

	for (size_t i = 0; line[len] && i < sizeof(values) / sizeof(values[0]); i++) {
		__u64 *to = &v[values[i].sum];

		if (strlen(values[i].name) != len || memcmp(values[i].name, line, len))
			continue;
		n = machine_times(strtoull(line + len + 1, NULL, 10), 1024);
		*to = n > ~0ULL - *to ? ~0ULL : *to + n;
		has[values[i].sum] = true;
		found = true;
	}
	return found;
}

bool smaps_parse_head(const char *line, struct smaps_head *h)
{
	uint64_t start, end, offset, inode;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &start, &end, h->perms, &offset, &h->dev_major, &h->dev_minor, &inode,
		   &at) < 7 || !at || start >= end)
		return false;
	h->start = start;
	h->end = end;
	h->offset = offset;
	h->inode = inode;
	h->path = line + at;
	return true;
}

const char *smaps_parse_flags(const char *line)
{
	static const char name[] = "VmFlags:";

	if (strncmp(line, name, strlen(name)))
		return NULL;
	line += strlen(name);
	return line + strspn(line, " ");
}

size_t smaps_flags_len(const char *flags)
{
	size_t len = strlen(flags);

	while (len && flags[len - 1] == ' ')
		len--;
	return len;
}

/* "7f00 default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4" */
void smaps_parse_nodes(char *line, __u64 *nodes, __u32 nr)
{
	char *rest = line, *word;
	__u64 kib = 4, node, n;

	while ((word = machine_word(&rest))) {
		if (rest)
			rest[-1] = ' ';
		if (!strncmp(word, "kernelpagesize_kB=", 18))
			kib = strtoull(word + 18, NULL, 10);
	}
	machine_word(&line);
	machine_word(&line);
	while ((word = machine_word(&line))) {
		char *equal = strchr(word, '=');

		if (word[0] != 'N' || !equal)
			continue;
		*equal = '\0';
		if (!machine_number(word + 1, &node) || !machine_number(equal + 1, &n))
			continue;
		n = machine_times(n, machine_times(kib, 1024));
		if (node >= nr)
			node = nr - 1;
		nodes[node] = n > ~0ULL - nodes[node] ? ~0ULL : nodes[node] + n;
	}
}

/* Whole lines of @buf; *len: what is left, which moves to its beginning. */
static int take_lines(char *buf, size_t *len, int (*see)(void *ctx, char *line), void *ctx)
{
	char *line = buf, *end;
	int ret = 0;

	while (!ret && (end = memchr(line, '\n', *len - (size_t)(line - buf)))) {
		*end = '\0';
		ret = see(ctx, line);
		line = end + 1;
	}
	*len -= (size_t)(line - buf);
	memmove(buf, line, *len);
	/* no line is so long */
	if (*len >= PIECE / 2)
		*len = 0;
	return ret;
}

static int read_lines(int fd, __u64 end, int (*see)(void *ctx, char *line), void *ctx)
{
	char *buf = malloc(PIECE);
	size_t len = 0;
	ssize_t n = 0;
	int ret = buf ? 0 : -ENOMEM;

	while (!ret) {
		n = read(fd, buf + len, PIECE - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
		ret = take_lines(buf, &len, see, ctx);
		if (!ret && machine_now() > end)
			ret = -ETIME;
	}
	if (!ret && n < 0)
		ret = -errno;
	free(buf);
	return ret;
}

int smaps_each_line(const struct machine_at *at, __u32 pid, const char *name, __u64 end,
		    int (*see)(void *ctx, char *line), void *ctx)
{
	char path[PATH_MAX];
	int fd, ret;

	snprintf(path, sizeof(path), "%.4000s/proc/%u/%s", at->root, pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read_lines(fd, end, see, ctx);
	close(fd);
	return ret;
}
