// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/boundary.c ctl/elf/build_id.c */
/* LINK: ctl/elf/debug.c ctl/elf/effect.c ctl/elf/func.c ctl/elf/insn.c ctl/elf/symbols.c */
/* LINK: ctl/elf/usdt.c ctl/target/ldcache.c ctl/target/maps.c -ldw -lelf */
/* Where a probe may be put: each byte of libc's code, compared with objdump. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "tap.h"

static const char *find_libc(void)
{
	static const char *const names[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6", NULL,
	};
	size_t n = 0;

	while (names[n] && access(names[n], R_OK))
		n++;
	return names[n];
}

struct sums {
	unsigned long boundaries, inside, refused, planted, unknown, wrong_near;
};

/* Each byte from @addr to @next, where objdump's next instruction begins. */
static void look(struct elfsym *e, unsigned long addr, unsigned long next, struct sums *s)
{
	struct elfsym_boundary b;

	for (unsigned long at = addr; at < next; at++) {
		const enum elfsym_place place = elfsym_check_boundary(e, at, &b);

		if (place == ELFSYM_NO_FUNCTION || place == ELFSYM_UNDECODED) {
			s->unknown++;
		} else if (at == addr) {
			s->boundaries++;
			s->refused += place != ELFSYM_BOUNDARY;
		} else {
			s->inside++;
			s->planted += place == ELFSYM_BOUNDARY;
			s->wrong_near += place == ELFSYM_INSIDE &&
					 (b.before != addr || b.after != next);
		}
	}
}

/* (libc's .text has the same offsets in the file as addresses) */
static void test_libc(void)
{
	const char *path = find_libc();
	unsigned long addr, last = 0;
	struct sums s = { 0 };
	char cmd[256], line[1024];
	struct elfsym *e;
	char *end;
	FILE *f;
	int fd;

	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || elfsym_open(fd, &e)) {
		ok(1, "a libc # SKIP not here");
		return;
	}
	snprintf(cmd, sizeof(cmd), "objdump -d --insn-width=16 -j .text %s 2>/dev/null | "
		 "sed -n '20000,28000p'", path);
	f = popen(cmd, "re");
	while (f && fgets(line, sizeof(line), f)) {
		addr = strtoul(line, &end, 16);
		if (end == line || *end != ':' || strstr(line, "(bad)")) {
			last = 0;
			continue;
		}
		if (last && addr > last && addr - last <= 15)
			look(e, last, addr, &s);
		last = addr;
	}
	if (f)
		pclose(f);
	elfsym_close(e);
	close(fd);
	if (s.boundaries < 1000) {
		ok(1, "objdump # SKIP not here");
		return;
	}
	is(s.refused, 0, "none of %lu instructions is refused", s.boundaries);
	is(s.planted, 0, "none of %lu bytes inside an instruction is taken for one", s.inside);
	is(s.wrong_near, 0, "the nearest boundaries are those of objdump");
	/* (most of these are between functions) */
	ok(s.unknown < s.inside / 20, "%lu bytes are in no function that is known", s.unknown);
}

/* A program with functions, without its symbols, and data between its instructions. */
static int build(const char *dir, const char *name, const char *source, const char *options)
{
	char path[256], cmd[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.s", dir, name);
	f = fopen(path, "we");
	if (!f)
		return -1;
	fputs(source, f);
	fclose(f);
	snprintf(cmd, sizeof(cmd), "${CC:-cc} %s -nostdlib -shared -o %s/%s %s", options, dir, name,
		 path);
	if (system(cmd))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static __u64 offset_of(struct elfsym *e, const char *name)
{
	struct elfsym_func *found;
	__u64 at = 0;
	size_t nr;

	if (!elfsym_find(e, name, &found, &nr)) {
		at = found[0].offset;
		free(found);
	}
	return at;
}

static void test_made(const char *dir)
{
	/* island: jmp over four bytes that begin as a long instruction does */
	static const char source[] =
		".text\n.globl plain,island\n.type plain,@function\n.type island,@function\n"
		"plain: push %rax\nmovabs $0x1122334455667788,%rax\npop %rax\nret\n"
		".size plain,.-plain\n"
		"island: jmp 1f\n.byte 0x06,0x06,0x48,0xb8\n1: nop\nret\n.size island,.-island\n"
		"nameless: .cfi_startproc\nsub $8,%rsp\n.cfi_adjust_cfa_offset 8\n"
		"movl $1,%eax\nadd $8,%rsp\nret\n.cfi_endproc\n"
		".globl bare\n.type bare,@function\nbare: nop\n";
	const int fd = build(dir, "made", source, "");
	struct elfsym_boundary b;
	struct elfsym *e;
	__u64 at;

	if (fd < 0 || elfsym_open(fd, &e)) {
		ok(0, "a library is made");
		return;
	}
	at = offset_of(e, "plain");
	is(elfsym_check_boundary(e, at, &b), ELFSYM_BOUNDARY, "a function's first instruction");
	is(elfsym_check_boundary(e, at + 1, &b), ELFSYM_BOUNDARY, "its second");
	is(elfsym_check_boundary(e, at + 4, &b), ELFSYM_INSIDE, "the inside of its second");
	ok(b.before == at + 1 && b.after == at + 11 && b.func && !strcmp(b.func->name, "plain"),
	   "between which and which");
	at = offset_of(e, "island");
	is(elfsym_check_boundary(e, at + 6, &b), ELFSYM_UNDECODED,
	   "behind what is no instruction nothing is known");
	at = offset_of(e, "bare");
	is(elfsym_check_boundary(e, at - 5, &b), ELFSYM_BOUNDARY,
	   "without a symbol: call frame information");
	is(elfsym_check_boundary(e, at - 7, &b), ELFSYM_INSIDE, "and the inside there");
	is(elfsym_check_boundary(e, at + 1, &b), ELFSYM_NO_FUNCTION, "behind all functions");
	ok(elfsym_is_nop(e, at) && !elfsym_is_nop(e, at - 1), "a nop, and what is none");
	is(elfsym_check_boundary(e, 1ULL << 40, &b), ELFSYM_NO_FUNCTION, "outside of the file");
	ok(!elfsym_is_nop(e, 1ULL << 40), "where no nop is");
	elfsym_close(e);
	close(fd);
}

int main(void)
{
	char dir[] = "/tmp/boundary.XXXXXX", cmd[64];

	test_libc();
	if (mkdtemp(dir)) {
		test_made(dir);
		snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
		if (system(cmd))
			return 1;
	}
	return tap_done();
}
