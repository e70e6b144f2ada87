// SPDX-License-Identifier: GPL-2.0-or-later
/* Print memory calls as lines of a table: mmap() and related calls, shared memory. */
#include <stdbool.h>
#include <string.h>

#include "base/constants.h"
#include "base/text.h"
#include "render/each_int.h"

/* One event, by the names of what it has. */
struct call {
	const char *name;
	const struct args *args;
	struct steps_values v;
};

static int slot_of(const struct call *c, const char *name)
{
	for (__u32 i = 0; i < c->args->steps.nr_shown; i++)
		if (!strcmp(c->args->shown[i].name, name))
			return c->v.known >> i & 1 ? (int)i : -1;
	return -1;
}

static bool number(const struct call *c, const char *name, __u64 *v)
{
	const int slot = slot_of(c, name);

	if (slot >= 0)
		*v = c->v.number[slot];
	return slot >= 0;
}

static const char *text(const struct call *c, const char *name)
{
	const int slot = slot_of(c, name);

	return slot >= 0 && c->v.known >> slot & 1 ? steps_text(&c->v, (__u32)slot) : "";
}

static const char *words(const struct call *c, const char *name, enum constants what, char *buf,
			 size_t len)
{
	__u64 v;

	if (!number(c, name, &v))
		snprintf(buf, len, "-");
	else
		constants_text(what, v, buf, len);
	return buf;
}

/* KiB, rounded up: what is asked for need not be whole pages. */
static const char *kib(const struct call *c, const char *name, char *buf, size_t len)
{
	__u64 v;

	if (!number(c, name, &v))
		snprintf(buf, len, "-");
	else
		snprintf(buf, len, "%llu",
			 (unsigned long long)(v / 1024 + (v % 1024 ? 1 : 0)));
	return buf;
}

/* RWE and SPFA, as mmapsnoop has them. */
static const char *prot(const struct call *c, char buf[8])
{
	__u64 v;

	if (!number(c, "prot", &v))
		return "-";
	snprintf(buf, 8, "%c%c%c", v & 1 ? 'R' : '-', v & 2 ? 'W' : '-', v & 4 ? 'E' : '-');
	return buf;
}

static const char *map(const struct call *c, char buf[8])
{
	__u64 v;

	if (strcmp(c->name, "mmap") || !number(c, "flags", &v))
		return "-";
	snprintf(buf, 8, "%c%c%c%c", v & 1 ? 'S' : '-', v & 2 && !(v & 1) ? 'P' : '-',
		 v & 0x100010 ? 'F' : '-', v & 0x20 ? 'A' : '-');
	return buf;
}

/* What the other calls have that is no column. */
static void put_rest(const struct call *c, FILE *out)
{
	char buf[96];
	__u64 addr, v;

	if (number(c, "addr", &addr))
		fprintf(out, "0x%llx", (unsigned long long)addr);
	if (number(c, "old_len", &v))
		fprintf(out, " of %s KB", kib(c, "old_len", buf, sizeof(buf)));
	if (slot_of(c, "old_len") >= 0)
		fprintf(out, " %s", words(c, "flags", CONST_MREMAP, buf, sizeof(buf)));
	if (number(c, "flags", &v) && v & 2 && number(c, "new_addr", &v))
		fprintf(out, " 0x%llx", (unsigned long long)v);
	if (number(c, "advice", &v))
		fprintf(out, " %s", words(c, "advice", CONST_ADVICE, buf, sizeof(buf)));
}

static void put_file(const struct call *c, FILE *out)
{
	__u64 flags;

	if (number(c, "flags", &flags) && flags & 0x20)
		fputs("[anonymous]", out);
	else if (*text(c, "file"))
		text_put(out, text(c, "file"), NULL);
	else
		fputs("?", out);
}

static void put_result(const struct call *c, FILE *out)
{
	char buf[32];

	words(c, "ret", constants_of(c->name, "ret"), buf, sizeof(buf));
	fprintf(out, "%-*s ", 18, buf);
}

static void mmap_line(const struct each_opts *o, const struct call *c, FILE *out)
{
	char p[8], m[8], offset[24], size[24];

	if (o->all)
		fprintf(out, "%-8s ", c->name);
	fprintf(out, "%-4s %-4s %10s %10s ", prot(c, p), map(c, m),
		kib(c, "offset", offset, sizeof(offset)), kib(c, "len", size, sizeof(size)));
	put_result(c, out);
	if (strcmp(c->name, "mmap"))
		put_rest(c, out);
	else
		put_file(c, out);
}

/* KEY: VALUE, ...; what a call returns has its own column. */
static void shm_line(const struct call *c, FILE *out)
{
	char buf[512];
	bool first = true;

	fprintf(out, "%-10s ", c->name);
	put_result(c, out);
	for (__u32 i = 0; i < c->args->steps.nr_shown; i++) {
		const struct args_shown *s = &c->args->shown[i];

		if (!strcmp(s->name, "ret"))
			continue;
		args_print_one(s, &c->v, i, NULL, buf, sizeof(buf));
		fprintf(out, "%s%s: ", first ? "" : ", ", s->name);
		text_put(out, buf, NULL);
		first = false;
	}
}

void each_snoop_header(const struct each_opts *o, FILE *out)
{
	each_put_time_header(o, out);
	fprintf(out, " %7s %-15s ", "PID", "COMM");
	if (o->form == EACH_SHM) {
		fprintf(out, "%-10s %-18s %s\n", "CALL", "RESULT", "ARGUMENTS");
		return;
	}
	if (o->all)
		fprintf(out, "%-8s ", "CALL");
	fprintf(out, "%-4s %-4s %10s %10s %-18s %s\n", "PROT", "MAP", "OFFS(KB)", "SIZE(KB)",
		"RESULT", o->all ? "FILE or ADDRESS" : "FILE");
}

void each_snoop_line(const struct each_opts *o, const struct each_event *e,
		     const struct memtap_one *one, FILE *out)
{
	char comm[MEMTAP_COMM_LEN + 1] = "";
	static struct call c;

	if (!e->args)
		return;
	c.name = e->name;
	c.args = e->args;
	if (!steps_unpack(&c.args->steps, &c.v, (1U << c.args->steps.nr_shown) - 1, one->known,
			  one + 1, one->len - (__u32)sizeof(*one)))
		steps_clear(&c.v);
	memcpy(comm, one->comm, MEMTAP_COMM_LEN);
	each_put_time(o, one->ns, out);
	fprintf(out, " %7d ", one->pid);
	text_put(out, comm, NULL);
	fprintf(out, "%*s ", 15 - (int)strlen(comm), "");
	if (o->form == EACH_SHM)
		shm_line(&c, out);
	else
		mmap_line(o, &c, out);
	fputc('\n', out);
}
