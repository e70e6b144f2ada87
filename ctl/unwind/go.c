// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make rows for Go programs.  The .debug_frame of Go's linker has the return address, but not rbp,
 * which Go saves just below it in functions with a frame.  It also lacks where a goroutine's stack
 * ends, and where the runtime switches stacks.
 */
#include <string.h>

#include "unwind/int.h"

#define END		{ .kind = MEMTAP_RULE_END, .ra = -8 }
/* no frame of its own */
#define FRAMELESS	{ .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8, .ra = -8 }
/*
 * The caller is on another stack, at an address that the CPU has not; but rbp
 * is the caller's, and with it the caller's caller is found.
 */
#define SWITCH		{ .kind = MEMTAP_RULE_CFA, .reg = 6, .cfa = 16, .fp = -16, .ra = -8, \
			  .flags = MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_SWITCH }

/* What the runtime's own assembly does. */
static const struct {
	const char *name;		/* also with ".abi0" */
	struct memtap_rule rule;
	bool before;			/* it is returned to at its first byte */
} functions[] = {
	{ "runtime.goexit", END, false },
	{ "runtime.mstart", END, false },
	{ "runtime.rt0_go", END, false },
	{ "_rt0_amd64_linux", END, false },
	/* on a stack of the scheduler's, and they never return */
	{ "runtime.mcall", END, false },
	{ "runtime.morestack", END, false },
	{ "runtime.systemstack", SWITCH, false },
	{ "runtime.asmcgocall", SWITCH, false },
	/* the runtime writes its address where a call would */
	{ "runtime.systemstack_switch", FRAMELESS, true },
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

bool unwind_go_is(Elf *elf)
{
	static const char *const sections[] = {
		".gopclntab", ".data.rel.ro.gopclntab", ".note.go.buildid",
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (unwind_elf_section(elf, sections[i], NULL))
			return true;
	return false;
}

struct found {
	GElf_Sym plain[NR_FUNCTIONS], abi0[NR_FUNCTIONS];
};

static void see_symbol(struct found *found, const char *name, const GElf_Sym *sym)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		const size_t len = strlen(functions[i].name);

		if (strncmp(name, functions[i].name, len))
			continue;
		if (!name[len])
			found->plain[i] = *sym;
		else if (!strcmp(name + len, ".abi0"))
			found->abi0[i] = *sym;
	}
}

static int add_function(struct unwind_maker *m, const GElf_Sym *sym, size_t f)
{
	__u32 start, end;
	int err;

	if (!unwind_elf_range(&m->elf, sym->st_value, sym->st_size, &start, &end))
		return 0;
	if (functions[f].before && start)
		start--;
	err = unwind_rows_begin(&m->rows, start, end, UNWIND_KNOWN);
	return err ? err : unwind_rows_add(&m->rows, start, &functions[f].rule);
}

int unwind_go_known(struct unwind_maker *m)
{
	GElf_Shdr sh;
	Elf_Scn *scn = m->go ? unwind_elf_section(m->elf.elf, ".symtab", &sh) : NULL;
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	struct found found = { 0 };
	const char *name;
	int err = 0;
	GElf_Sym sym;

	if (!data || !sh.sh_entsize)
		return 0;
	for (size_t i = 0; i < data->d_size / sh.sh_entsize; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(m->elf.elf, sh.sh_link, sym.st_name);
		if (name)
			see_symbol(&found, name, &sym);
	}
	/* where there is one for ABI0, the other is a wrapper that calls it */
	for (size_t i = 0; !err && i < NR_FUNCTIONS; i++)
		err = add_function(m, found.abi0[i].st_size ? &found.abi0[i] :
				   &found.plain[i], i);
	return err;
}

void unwind_go_begin(struct unwind_go_frame *f)
{
	f->saved = false;
}

/*
 * A function that keeps a frame pointer makes its frame and then stores rbp at its
 * top, or since Go 1.21 pushes rbp first.  Assembly may do neither.
 */
void unwind_go_row(struct unwind_go_frame *f, const struct unwind_elf *e, __u32 start,
		   const struct unwind_where *cfa)
{
	static const unsigned char store8[] = { 0x48, 0x89, 0x6c, 0x24 };
	static const unsigned char store32[] = { 0x48, 0x89, 0xac, 0x24 };
	const __s64 slot = cfa->value - 16;
	unsigned char code[9] = { 0 };		/* from the byte before */
	__s32 off;

	if (f->saved || cfa->how != UNWIND_REG || cfa->reg != 7 || slot < 0 || !start ||
	    unwind_elf_read(e, start - 1, code, sizeof(code)) != sizeof(code))
		return;
	memcpy(&off, code + 5, sizeof(off));
	f->saved = true;
	if (!slot && code[0] == 0x55)				/* push %rbp */
		f->from = start;
	else if (!memcmp(code + 1, store8, 4) && code[5] == slot)	/* mov %rbp, N(%rsp) */
		f->from = start + 5;
	else if (!memcmp(code + 1, store32, 4) && off == slot)
		f->from = start + 8;
	else
		f->saved = false;
}
