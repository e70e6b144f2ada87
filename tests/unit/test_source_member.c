// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/dwarf_text.c */
/* LINK: ctl/elf/source.c ctl/elf/source_type.c ctl/elf/source_var.c ctl/base/limit.c */
/* LINK: ctl/elf/build_id.c ctl/elf/debug.c ctl/elf/func.c ctl/elf/kind.c ctl/elf/names.c */
/* LINK: ctl/elf/symbols.c ctl/elf/usdt.c ctl/elf/btf.c ctl/base/openreg.c ctl/base/opt_value.c */
/* LINK: ctl/session/args.c ctl/session/args_term.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_member.c ctl/session/symbols.c ctl/base/constants.c ctl/base/text.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c ctl/session/format.c */
/* LINK: kmod/core/names.c kmod/core/steps.c -ldw -lelf */
/*
 * Members of structures by DWARF.  member_cases.c says what each expression is in C; what memtap
 * makes of the same text must give the same, where the function begins.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/source.h"
#include "elf/symbols.h"
#include "member_cases.h"
#include "session/args_int.h"
#include "steps_world.h"
#include "tap.h"

#define DIR		"../build/tests"

static struct elfsym *e;
static struct source *source;
static __u64 vaddr;

static int variable(void *ctx, const char *name, struct args_var *to, char why[ARGS_ERR])
{
	struct source_var v;

	source_var(source, vaddr, name, &v);
	if (v.how != SOURCE_READ)
		return -ENOENT;
	*to = (struct args_var){ v.reg, v.offset, v.load, v.of };
	return 0;
}

static bool argument(void *ctx, int n, struct ctype *type)
{
	return source_argument(source, vaddr, n, type);
}

static const struct member_memory *memory;
static struct args a;
static struct steps_values values;
static char err[ARGS_ERR];

/* What the expression gives, or what is wrong. */
static const char *gives(const char *expression, bool is_return)
{
	const struct args_program program = {
		.types = source_types(source), .variable = variable, .argument = argument,
	};
	const struct args_source src = {
		.can = STEPS_FUNCTION | (is_return ? STEPS_RETURN | STEPS_LATE : 0),
		.event = "u:f", .program = &program,
	};
	static char list[256], text[512];
	const struct args_ask ask = { .list = list };
	struct steps_world w = {
		.args = { 7, (__u64)memory->first, (__u64)memory->second },
		.ret = (__u64)memory->second,
		.base = (__u64)memory->at, .memory = { NULL, memory->at },
		.memory_len = memory->len,
	};

	/* what DWARF calls rdi, rsi, rdx */
	w.regs[5] = w.args[0];
	w.regs[4] = w.args[1];
	w.regs[1] = w.args[2];
	snprintf(list, sizeof(list), "x=%s", expression);
	if (args_compile(&src, &ask, &a, err))
		return err;
	steps_clear(&values);
	steps_run(&a.steps, 0, a.steps.nr, &values, &w);
	args_print(&a, &values, NULL, text, sizeof(text));
	return text;
}

static void same(const char *form, const struct member_case *c)
{
	const char *got = gives(c->expression, false);
	char want[128];

	if (c->text)
		snprintf(want, sizeof(want), "x=\"%s\"", c->text);
	else if (a.shown[0].show == ARGS_BOOL)
		snprintf(want, sizeof(want), "x=%s", c->number ? "true" : "false");
	else
		snprintf(want, sizeof(want), "x=%ld", c->number);
	ok(!strcmp(got, want), "%s: %s is %s: %s", form, c->expression, want, got);
}

static void wrong(const char *form, const char *expression, const char *sentence)
{
	const char *got = gives(expression, false);

	ok(strstr(got, sentence), "%s: %s: %s", form, expression, got);
}

static void test_form(const char *form, const char *flags, bool old)
{
	const struct member_memory *(*made)(void);
	struct elfsym_func *found = NULL;
	char path[128], command[512];
	const char *got;
	size_t nr, i;
	void *lib;
	int fd;

	snprintf(path, sizeof(path), "%s/member_cases_%s.%d.so", DIR, form, (int)getpid());
	snprintf(command, sizeof(command), "${CC:-cc} -std=gnu11 -g %s -shared -fPIC -o %s "
		 "unit/member_cases.c", flags, path);
	if (system(command)) {
		ok(old, "%s: built", form);	/* a compiler may know old DWARF no more */
		return;
	}
	fd = open(path, O_RDONLY);
	lib = dlopen(path[0] == '.' ? path : "", RTLD_NOW);
	made = lib ? (const struct member_memory *(*)(void))dlsym(lib, "member_memory") : NULL;
	ok(fd >= 0 && made && !elfsym_open(fd, &e) && !source_open(e, &source) &&
	   !elfsym_find(e, "work", &found, &nr) && nr == 1, "%s: opened", form);
	if (!made || !found)
		return;
	memory = made();
	vaddr = found->vaddr;
	for (i = 0; i < MEMBER_CASES && memory->cases[i].expression; i++)
		same(form, &memory->cases[i]);
	ok(i > 25, "%s: %zu expressions", form, i);
	wrong(form, "first->in", "this is a structure: name a member of it");
	wrong(form, "first->nope", "the structure has no member nope");
	wrong(form, "first->real", "memtap reads numbers, pointers and strings");
	wrong(form, "first->square[1]", "no array of one dimension");
	wrong(form, "first->row[2].s", "the array has 2 elements, the first is [0]");
	wrong(form, "first->hidden->x", "the structure has no member x");
	wrong(form, "first->hidden[1]", "the size of such an element is not known");
	wrong(form, "first->nothing->x", "this is no pointer to a structure");
	wrong(form, "first.next", "this is a pointer: its members are behind ->");
	wrong(form, "arg1->x", "this is no pointer to a structure");
	wrong(form, "arg4->x", "the type of this is not known");
	wrong(form, "first->row[1", "a ] is missing");
	wrong(form, "first->row[n]", "the number of an element is expected");
	wrong(form, "first->row[4000000000].s", "the array has 2 elements");
	wrong(form, "first->end[4000000000]", "too far");
	wrong(form, "first->", "a member's name is expected here");
	free(found);
	found = NULL;
	if (!elfsym_find(e, "made", &found, &nr) && nr == 1) {
		vaddr = found->vaddr;
		got = gives("ret->color", true);
		ok(!strncmp(got, "x=-3 ", 5), "%s: what a function returns: %s", form, got);
	}
	free(found);
	source_close(source);
	elfsym_close(e);
	close(fd);
	dlclose(lib);
	unlink(path);
}

int main(void)
{
	test_form("O0", "-O0", false);
	test_form("O2", "-O2", false);
	test_form("dwarf4", "-O2 -gdwarf-4", false);
	test_form("dwarf3", "-O1 -gdwarf-3 -gstrict-dwarf", true);
	return tap_done();
}
