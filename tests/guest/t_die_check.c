// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks after each round of t_die; addresses of functions. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "t_die.h"

#define PIECE	4096UL
#define PIECES	2048

ssize_t slurp(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = -1;

	buf[0] = 0;
	if (fd < 0)
		return -1;
	while (have < len - 1 && (n = read(fd, buf + have, len - 1 - have)) > 0)
		have += n;
	close(fd);
	buf[have] = 0;
	return n < 0 ? -1 : (ssize_t)have;
}

static void show(const char *title, const char *text)
{
	printf("# %s: %.*s\n", title, (int)strcspn(text, "\n"), text);
}

long module_users(void)
{
	char line[256];
	long users = -1;
	FILE *f = fopen("/proc/modules", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "memtap ", 7))
			sscanf(line, "memtap %*u %ld", &users);
	if (f)
		fclose(f);
	return users;
}

/* Is there a probe that does not stand from insmod to rmmod? */
static bool a_kprobe_is_left(const char *list)
{
	for (; *list; list += strcspn(list, "\n"), list += *list == '\n') {
		const char *oom = strstr(list, "oom_kill_process+0x0");

		if (!oom || memchr(list, '\n', (size_t)(oom - list)))
			return true;
	}
	return false;
}

bool nothing_attached(void)
{
	char buf[4096], *line;
	bool clean = true;

	if (slurp("/sys/kernel/debug/memtap/sessions", buf, sizeof(buf)) < 0)
		return module_users() < 0;
	line = strchr(buf, '\n');
	if (line && line[1]) {
		show("a session is left", line + 1);
		clean = false;
	}
	if (slurp("/sys/kernel/debug/kprobes/list", buf, sizeof(buf)) < 0 ||
	    a_kprobe_is_left(buf)) {
		show("a kprobe is left", buf);
		clean = false;
	}
	if (module_users()) {
		printf("# the module has %ld users\n", module_users());
		clean = false;
	}
	return clean;
}

unsigned long leaking_uprobes(void)
{
	FILE *f = popen("dmesg | grep -c 'leaking uprobe'", "re");
	unsigned long n = 0;

	if (f && fscanf(f, "%lu", &n) != 1)
		n = ~0UL;
	if (f)
		pclose(f);
	return n;
}

/* --- text ---------------------------------------------------------------- */

struct text_map {
	unsigned long from, to, offset, inode;
	char path[256];
};

/* False at the end, or where the line is no mapping of a file. */
static bool parse_map(const char *line, struct text_map *m, bool *exec)
{
	char prot[8];

	m->path[0] = 0;
	if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %255s", &m->from, &m->to, prot, &m->offset,
		   &m->inode, m->path) < 5)
		return false;
	*exec = prot[2] == 'x';
	return m->inode != 0;
}

/* From @at on, which is in @m; @file is what the file has there. */
static bool same(pid_t pid, const struct text_map *m, unsigned long at, size_t len,
		 const char *file)
{
	static char mem[PIECE];
	struct iovec to = { mem, len }, from = { (void *)at, len };
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0), i;
	int bad = 0;

	if (n <= 0 || !memcmp(file, mem, n))
		return true;		/* it may be gone */
	for (i = 0; i < n; i++)
		if (file[i] != mem[i] && ++bad <= 4)
			printf("# process %d: %s+0x%lx: %02x, the file has %02x\n", pid, m->path,
			       at - m->from + m->offset + i, mem[i] & 0xff, file[i] & 0xff);
	return false;
}

/*
 * The pages that are not the file's own, but copies, and that is what a breakpoint makes
 * of one; all pages where the kernel does not tell.
 */
static bool copies_clean(pid_t pid, const struct text_map *m, const char *file)
{
	static uint64_t flags[PIECES];
	const size_t nr = (m->to - m->from) / PIECE;
	char path[32];
	bool clean = true;
	size_t i, known = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && nr <= PIECES &&
	    pread(fd, flags, nr * 8, m->from / PIECE * 8) == (ssize_t)(nr * 8))
		known = nr;
	if (fd >= 0)
		close(fd);
	for (i = 0; i < nr; i++)
		if (i >= known || ((flags[i] >> 62) && !(flags[i] >> 61 & 1)))
			clean &= same(pid, m, m->from + i * PIECE, PIECE, file + i * PIECE);
	return clean;
}

static bool map_clean(pid_t pid, const struct text_map *m)
{
	char path[64];
	bool clean = false;
	void *file;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, m->from, m->to);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;		/* unmapped meanwhile */
	file = mmap(NULL, m->to - m->from, PROT_READ, MAP_PRIVATE, fd, m->offset);
	if (file != MAP_FAILED) {
		clean = copies_clean(pid, m, file);
		munmap(file, m->to - m->from);
	}
	close(fd);
	return clean;
}

bool text_clean(pid_t pid)
{
	char path[32], line[512];
	struct text_map m;
	bool clean = true, exec;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (parse_map(line, &m, &exec) && exec)
			clean &= map_clean(pid, &m);
	if (f)
		fclose(f);
	return clean;
}

/* --- where things are ---------------------------------------------------- */

long file_offset(pid_t pid, uintptr_t addr, char *file, size_t len)
{
	char path[32], line[512];
	struct text_map m;
	long found = -1;
	bool exec;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!parse_map(line, &m, &exec) || addr < m.from || addr >= m.to)
			continue;
		found = addr - m.from + m.offset;
		snprintf(file, len, "%s", m.path);
	}
	if (f)
		fclose(f);
	return found;
}

/* A function of the kernel, also one that has the name of a system call of this ABI. */
bool kernel_function(const char *name, char *buf, size_t len)
{
	char line[512], sym[256], type;
	FILE *f = fopen("/proc/kallsyms", "re");

	buf[0] = 0;
	while (f && !buf[0] && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*x %c %255s", &type, sym) == 2 && (type | 32) == 't' &&
		    (!strcmp(sym, name) || (!strncmp(sym, "__x64_", 6) && !strcmp(sym + 6, name))))
			snprintf(buf, len, "%s", sym);
	if (f)
		fclose(f);
	return buf[0];
}
