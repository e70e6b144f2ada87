// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text that a function of a file returns, if it does nothing else.  Nothing is run: the few
 * forms that compilers write for `return "text";` on x86-64 are decoded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/int.h"

#define MAX_CODE	64
#define MAX_TEXT	(1U << 20)

struct code {
	const __u8 *at;
	size_t len, pos;
};

/* Is this next?  Then it is skipped. */
static bool take(struct code *c, const char *bytes, size_t len)
{
	if (c->len - c->pos < len || memcmp(c->at + c->pos, bytes, len))
		return false;
	c->pos += len;
	return true;
}

#define TAKE(c, bytes)	take(c, bytes, sizeof(bytes) - 1)

static bool take_number(struct code *c, size_t bytes, __u64 *v)
{
	if (c->len - c->pos < bytes)
		return false;
	*v = 0;
	for (size_t i = 0; i < bytes; i++)
		*v |= (__u64)c->at[c->pos + i] << 8 * i;
	c->pos += bytes;
	return true;
}

/* What is put into rax: an address. */
static bool take_address(struct code *c, __u64 vaddr, bool absolute, __u64 *v)
{
	if (TAKE(c, "\x48\x8d\x05")) {			/* lea N(%rip), %rax */
		if (!take_number(c, 4, v))
			return false;
		*v = vaddr + c->pos + (__u64)(__s64)(__s32)*v;
		return true;
	}
	if (!absolute)
		return false;
	if (TAKE(c, "\x48\xb8"))			/* movabs $N, %rax */
		return take_number(c, 8, v);
	if (TAKE(c, "\xb8"))				/* mov $N, %eax */
		return take_number(c, 4, v);
	if (!TAKE(c, "\x48\xc7\xc0") || !take_number(c, 4, v))	/* mov $N, %rax */
		return false;
	*v = (__u64)(__s64)(__s32)*v;
	return true;
}

bool elfsym_returns_address(const __u8 *code, size_t len, __u64 vaddr, bool absolute, __u64 *v)
{
	struct code c = { code, len, 0 };
	bool frame;

	TAKE(&c, "\xf3\x0f\x1e\xfa");			/* endbr64 */
	while (TAKE(&c, "\x90"))			/* nop, room for a tracer */
		;
	frame = TAKE(&c, "\x55");			/* push %rbp */
	if (frame && !TAKE(&c, "\x48\x89\xe5"))		/* mov %rsp, %rbp */
		return false;
	if (!take_address(&c, vaddr, absolute, v))
		return false;
	if (frame && !TAKE(&c, "\x5d"))			/* pop %rbp */
		return false;
	return TAKE(&c, "\xc3") || TAKE(&c, "\xf3\xc3") || TAKE(&c, "\xf2\xc3");	/* ret */
}

/* Bytes of the file at an address, as far as they are in one segment. */
static Elf_Data *bytes_at(const struct elfsym *e, __u64 vaddr, __u64 most, bool code)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];
		__u64 left;

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz)
			continue;
		/* what the program can write to is no constant */
		if (code ? !s->exec : s->write)
			return NULL;
		left = s->filesz - (vaddr - s->vaddr);
		return elf_getdata_rawchunk(e->elf, (int64_t)(vaddr - s->vaddr + s->offset),
					    left < most ? left : most, ELF_T_BYTE);
	}
	return NULL;
}

static int text_of(const struct elfsym *e, __u64 func, char **text)
{
	const Elf_Data *data = bytes_at(e, func, MAX_CODE, true);
	GElf_Ehdr eh;
	__u64 at;

	if (!data || !gelf_getehdr(e->elf, &eh) || eh.e_machine != EM_X86_64 ||
	    e->class != ELFCLASS64 ||
	    !elfsym_returns_address(data->d_buf, data->d_size, func, eh.e_type == ET_EXEC, &at))
		return -EOPNOTSUPP;
	data = bytes_at(e, at, MAX_TEXT, false);
	if (!data || !memchr(data->d_buf, 0, data->d_size))
		return -EOPNOTSUPP;
	*text = strdup(data->d_buf);
	return *text ? 0 : -ENOMEM;
}

static int take_first(const struct elfsym_func *f, size_t index, void *ctx)
{
	(void)index;
	*(__u64 *)ctx = f->vaddr;
	return f->ifunc ? -EOPNOTSUPP : 1;
}

int elfsym_constant_text(struct elfsym *e, const char *func, bool all, char **text)
{
	struct elfsym_names *names = elfsym_names_new(&func, 1);
	__u64 vaddr = 0;
	int ret;

	if (!names)
		return -ENOMEM;
	ret = elfsym_find_names(e, ELFSYM_DYNAMIC, names, take_first, &vaddr);
	if (!ret && all)
		ret = elfsym_find_names(e, ELFSYM_STATIC, names, take_first, &vaddr);
	elfsym_names_free(names);
	return ret < 0 ? ret : !ret ? -ENOENT : text_of(e, vaddr, text);
}
