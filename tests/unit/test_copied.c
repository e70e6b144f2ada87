// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cache.c */
/* LINK: ctl/unwind/cfa.c ctl/unwind/companion.c ctl/unwind/copied.c ctl/unwind/crt.c */
/* LINK: ctl/unwind/elf.c ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c ctl/unwind/go.c */
/* LINK: ctl/unwind/id.c ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c */
/* LINK: ctl/unwind/start.c ctl/unwind/store.c ctl/unwind/text.c ctl/unwind/unwind.c */
/* LINK: kmod/core/rowwalk.c kmod/core/stacktail.c kmod/core/unwindtab.c */
/* LINK: kmod/core/userstack.c -ldw -lelf */
/*
 * Stacks of a child, copied as the module copies them, unwound when it is dead: against what
 * libgcc's unwinder found in the child.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/unwind.h"

#define DEEP	12
#define MOST	64

static int to_parent;

__attribute__((noinline)) static void tell(void)
{
	void *ips[MOST];
	int nr = backtrace(ips, MOST);

	if (write(to_parent, &nr, sizeof(nr)) != sizeof(nr) ||
	    write(to_parent, ips, sizeof(ips)) != sizeof(ips))
		_exit(1);
}

__attribute__((noinline)) static int leaf(volatile char *p)
{
	tell();
	kill(getpid(), SIGSTOP);
	return *p;
}

__attribute__((noinline)) static int deep(int n)
{
	volatile char pad[1024];

	pad[0] = (char)n;
	return (n ? deep(n - 1) : leaf(pad)) + pad[0];
}

/* --- as the module does ---------------------------------------------------------- */

static struct memtap_oom_stack copy;
static char paths[MEMTAP_OOM_MAP_FILES][512];

static void add_map(unsigned long start, unsigned long end, unsigned long offset, const char *path)
{
	struct memtap_oom_map *m = &copy.maps[copy.nr_maps];

	if (copy.nr_maps == MEMTAP_OOM_MAPS || copy.nr_files == MEMTAP_OOM_MAP_FILES)
		return;
	copy.nr_maps++;
	m->start = start;
	m->end = end;
	m->offset = offset;
	if (!strcmp(path, "[vdso]")) {
		m->file = MEMTAP_OOM_MAP_VDSO;
	} else if (*path == '/') {
		snprintf(paths[copy.nr_files], sizeof(paths[0]), "%s", path);
		m->file = ++copy.nr_files;
	}
}

static void copy_maps(pid_t pid)
{
	unsigned long start, end, offset;
	char name[64], line[1024], path[512], rights[8];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &start, &end, rights, &offset,
			   path) >= 4 && strchr(rights, 'x'))
			add_map(start, end, offset, path);
	}
	if (f)
		fclose(f);
}

static void copy_regs(const struct user_regs_struct *r)
{
	const __u64 regs[17] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
				 r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
				 r->rip };

	copy.ip = r->rip;
	copy.sp = r->rsp;
	copy.fp = r->rbp;
	copy.bx = r->rbx;
	copy.known = MEMTAP_OOM_KNOWN_FP | MEMTAP_OOM_KNOWN_BX | MEMTAP_OOM_KNOWN_ALL;
	copy.nr_regs = 17;
	memcpy(copy.regs, regs, sizeof(regs));
}

static int open_map(void *ctx, const struct memtap_oom_map *map)
{
	int fd;

	(void)ctx;
	fd = open(paths[map->file - 1], O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Fills in @copy from a child at depth @n; @ips: what it found itself. */
static int make(int n, void **ips)
{
	struct user_regs_struct regs;
	int fds[2], nr = 0, mem;
	char name[64];
	ssize_t got = 0;
	pid_t pid;

	memset(&copy, 0, sizeof(copy));
	if (pipe(fds))
		return 0;
	pid = fork();
	if (!pid) {
		to_parent = fds[1];
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(deep(n) & 1);
	}
	if (read(fds[0], &nr, sizeof(nr)) != sizeof(nr) ||
	    read(fds[0], ips, MOST * sizeof(*ips)) != MOST * sizeof(*ips))
		nr = 0;
	waitpid(pid, NULL, 0);
	copy.size = sizeof(copy);
	copy.nr = 1;
	if (!ptrace(PTRACE_GETREGS, pid, 0, &regs)) {
		copy_regs(&regs);
		copy.start = (copy.sp & ~7ULL) - 128;
		snprintf(name, sizeof(name), "/proc/%d/mem", pid);
		mem = open(name, O_RDONLY | O_CLOEXEC);
		got = pread(mem, copy.bytes, sizeof(copy.bytes), (off_t)copy.start);
		close(mem);
		copy_maps(pid);
	}
	copy.len = got > 0 ? (__u32)got : 0;
	if (copy.len < sizeof(copy.bytes))
		copy.flags = MEMTAP_OOM_COPY_ALL;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	return nr;
}

static __u64 got[MOST];
static struct unwind_copy u = { .stack = &copy, .open = open_map, .max = MOST, .ips = got };

/* From the caller of leaf() on: how many frames of both are the same; -1: not up to an end. */
static int same_tail(void *const *ips, int nr)
{
	int i, j = 0, same = 0;

	/* tell() and leaf() went on; backtrace() may be a frame itself */
	for (i = 2; i < 5 && i < nr; i++) {
		for (j = 1; j < 4 && got[j] != (__u64)(unsigned long)ips[i]; j++)
			;
		if (j < 4)
			break;
	}
	for (; i < nr && j < (int)u.nr && got[j] == (__u64)(unsigned long)ips[i]; i++, j++)
		same++;
	/* one of both may end a frame earlier, at _start */
	return j == (int)u.nr || i == nr ? same : -1;
}

static void whole(void)
{
	void *ips[MOST];
	int nr = make(DEEP - 6, ips);
	__u32 rest = unwind_copied(&u);

	ok(nr > 6, "the child told %d frames", nr);
	is(rest, MEMTAP_OOM_REST_KNOWN, "a stack within 16 KiB is complete");
	ok(same_tail(ips, nr) >= nr - 4, "and is what the child found: %u frames of %d", u.nr, nr);
}

static void part(void)
{
	void *ips[MOST];
	int nr = make(40, ips);
	__u32 rest = unwind_copied(&u), page, all;

	is(rest, MEMTAP_OOM_REST_BEYOND, "a stack of 40 KiB goes beyond the copy");
	ok(u.nr > 10 && same_tail(ips, nr) > 10, "what is in it is what the child found: %u", u.nr);
	all = u.nr;
	page = (__u32)((copy.start / 4096 + 2) - copy.start / 4096);
	copy.missing = 1U << page;
	rest = unwind_copied(&u);
	is(rest, MEMTAP_OOM_REST_AWAY, "a page that was not in memory");
	ok(u.nr > 3 && u.nr < all, "ends it there: %u of %u", u.nr, all);
	copy.missing = 0;
	for (__u32 i = 0; i < copy.nr_maps; i++)
		if (copy.maps[i].file && copy.maps[i].file != MEMTAP_OOM_MAP_VDSO)
			snprintf(paths[copy.maps[i].file - 1], sizeof(paths[0]), "/nowhere");
	is(unwind_copied(&u), MEMTAP_OOM_REST_NO_FILE, "files that are gone");
	is(u.nr, 1, "leave the first frame");
	copy.nr_maps = 0;
	is(unwind_copied(&u), MEMTAP_OOM_REST_NO_MAP, "an address in no mapping");
}

/* Any bytes give an answer, and nothing outside of the copy is read. */
static void hostile(void)
{
	__u64 h = 88172645463325252ULL;
	__u32 worst = 0;

	for (int n = 0; n < 3000; n++) {
		unsigned char *p = (unsigned char *)&copy;

		memset(&copy, 0, sizeof(copy));
		for (size_t i = 0; i < sizeof(copy); i += 8) {
			h ^= h << 13;
			h ^= h >> 7;
			h ^= h << 17;
			if (h % 3)
				memcpy(p + i, &h, 8);
		}
		if (n & 1) {
			copy.flags = 0;
			copy.ip = 0x400000 + (h & 0xfff);
			copy.start = 0x7ffc00000000ULL;
			copy.sp = copy.start + (h >> 20 & 0xff8);
			copy.len = h & (MEMTAP_OOM_COPIED - 1);
			copy.nr_maps = 1;
			copy.maps[0].start = 0x400000;
			copy.maps[0].end = 0x600000;
			copy.maps[0].file = h & 3 ? 0 : MEMTAP_OOM_MAP_VDSO;
		}
		if (unwind_copied(&u) >= MEMTAP_NR_OOM_REST || u.nr > MOST)
			worst++;
	}
	is(worst, 0, "hostile copies: an answer each time");
}

int main(void)
{
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	whole();
	part();
	hostile();
	return tap_done();
}
