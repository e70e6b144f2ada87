// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_text PID: compare every executable file mapping of PID with its file, to find breakpoints that
 * a uprobe left behind.  Prints each difference.  Exit status: 1 for differences, 2 if PID cannot
 * be read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST	20		/* differences */

static const char *pid;
static int mem, bad;

static void unreadable(const char *what)
{
	fprintf(stderr, "t_text: %s: ", pid);
	perror(what);
	exit(2);
}

/* By the mapping, because the name may be deleted or in another root. */
static void compare(unsigned long from, unsigned long to, unsigned long off, const char *path)
{
	static unsigned char got[1 << 16], want[1 << 16];
	unsigned long at, i;
	char name[96];
	ssize_t n;
	int file;

	snprintf(name, sizeof(name), "/proc/%s/map_files/%lx-%lx", pid, from, to);
	file = open(name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		unreadable(name);
	for (at = from; at < to && bad < MOST; at += n) {
		n = to - at < sizeof(want) ? to - at : sizeof(want);
		n = pread(file, want, n, off + at - from);
		if (n <= 0)	/* the mapping is longer than the file */
			break;
		if (pread(mem, got, n, at) != n)
			unreadable("mem");
		if (!memcmp(got, want, n))
			continue;
		for (i = 0; i < (unsigned long)n && bad < MOST; i++)
			if (got[i] != want[i] && ++bad)
				printf("%s+0x%lx: %02x, the file has %02x\n", path,
				       off + at - from + i, got[i], want[i]);
	}
	close(file);
}

int main(int argc, char **argv)
{
	unsigned long from, to, off, inode, maps = 0;
	char name[64], line[8192], prot[8], path[4200];
	FILE *f;

	if (argc != 2) {
		fprintf(stderr, "usage: t_text PID\n");
		return 2;
	}
	pid = argv[1];
	snprintf(name, sizeof(name), "/proc/%s/maps", pid);
	f = fopen(name, "re");
	if (!f)
		unreadable("maps");
	snprintf(name, sizeof(name), "/proc/%s/mem", pid);
	mem = open(name, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		unreadable("mem");
	while (fgets(line, sizeof(line), f)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %4199[^\n]", &from, &to, prot, &off,
			   &inode, path) < 5 || !strchr(prot, 'x') || !inode)
			continue;
		maps++;
		compare(from, to, off, path);
	}
	if (!maps) {
		fprintf(stderr, "t_text: %s: no executable mapping\n", pid);
		return 2;
	}
	return bad != 0;
}
