// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find where stacks begin in a C library without CFI (musl): the calls exit(main(...)) and, for
 * threads, pthread_exit(start(...)).  The caller of that code is the library itself, which it
 * never returns to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/int.h"

#define BUFFER		4096
#define CALL_LEN	5		/* of e8 */
#define CALL_REACH	8		/* bytes before, in which the first call is */

/* A result that is passed on. */
static const struct {
	const char *name;		/* to whom, */
	unsigned char move[3];		/* and how */
	size_t len;
} starts[] = {
	{ "exit", { 0x89, 0xc7 }, 2 },			/* mov %eax, %edi */
	{ "pthread_exit", { 0x48, 0x89, 0xc7 }, 3 },	/* mov %rax, %rdi */
};

#define NR_STARTS	(sizeof(starts) / sizeof(starts[0]))

struct places {
	__u32 at[NR_STARTS];		/* of these functions in the file; 0: it has none */
	unsigned char buf[BUFFER];
};

static void see_symbols(const struct unwind_elf *e, const char *section, struct places *p)
{
	GElf_Shdr sh;
	Elf_Scn *scn = unwind_elf_section(e->elf, section, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const char *name;
	GElf_Sym sym;
	__u32 start, end;

	for (size_t i = 0; data && sh.sh_entsize && i < data->d_size / sh.sh_entsize; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(e->elf, sh.sh_link, sym.st_name);
		for (size_t k = 0; name && k < NR_STARTS; k++)
			if (!strcmp(name, starts[k].name) &&
			    unwind_elf_range(e, sym.st_value, 1, &start, &end))
				p->at[k] = start;
	}
}

/* Does an indirect call end at @end?  Of its forms those that compilers take. */
static bool is_call(const unsigned char *end)
{
	/* call *%reg; call *(%reg); call *N(%reg); call *N(%rsp); call *N32(%reg) */
	return (end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0) ||
	       (end[-2] == 0xff && (end[-1] & 0xf8) == 0x10) ||
	       (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50) ||
	       (end[-4] == 0xff && end[-3] == 0x54 && end[-2] == 0x24) ||
	       (end[-6] == 0xff && (end[-5] & 0xf8) == 0x90);
}

static int see(struct unwind_maker *m, const struct places *p, __u32 at, size_t i, size_t len)
{
	const unsigned char *code = p->buf + i;
	__s32 distance;

	for (size_t k = 0; k < NR_STARTS; k++) {
		const size_t n = starts[k].len;

		if (!p->at[k] || i + n + CALL_LEN > len || code[n] != 0xe8 ||
		    memcmp(code, starts[k].move, n) || !is_call(code))
			continue;
		memcpy(&distance, code + n + 1, sizeof(distance));
		/* both are in one segment, so that offsets are as far apart as addresses */
		if (at + (__u32)(i + n + CALL_LEN) + (__u32)distance == p->at[k])
			return unwind_gap_add(m, at + (__u32)i - 1,
					      at + (__u32)(i + n + CALL_LEN), UNWIND_CODE,
					      MEMTAP_RULE_END);
	}
	return 0;
}

static int scan(struct unwind_maker *m, __u32 start, __u32 end, void *ctx)
{
	struct places *p = ctx;
	int err = 0;

	while (!err && end - start > 2 * CALL_REACH) {
		const __u32 want = end - start < sizeof(p->buf) ? end - start : sizeof(p->buf);
		const size_t len = unwind_elf_read(&m->elf, start, p->buf, want);

		for (size_t i = CALL_REACH; !err && i < len; i++)
			err = see(m, p, start, i, len);
		if (len < sizeof(p->buf))
			break;
		/* what lies across is found in the next */
		start += want - 2 * CALL_REACH;
	}
	return err;
}

int unwind_start_scan(struct unwind_maker *m)
{
	struct places *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	see_symbols(&m->elf, ".symtab", p);
	see_symbols(&m->elf, ".dynsym", p);
	if (p->at[0] || p->at[1])
		err = unwind_gap_each(m, scan, p);
	free(p);
	return err;
}
