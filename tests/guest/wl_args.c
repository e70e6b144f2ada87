// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls with known arguments: args.t tells which events it traces; what memtap is to print of
 * each of them, in order, goes to the file that is named.
 *
 *	wl_args FILE [TIMES [exit]]	exit: ends within a function
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <unistd.h>

struct args_rec {
	long first;
	int value;
};

#define API __attribute__((noinline, noclone, visibility("default")))

API long args_call(long a, int b, const char *s, const struct args_rec *r, unsigned char c);
API long args_exit(int status);

static volatile unsigned int calls;
static FILE *out;
static const char *me;

API long args_call(long a, int b, const char *s, const struct args_rec *r, unsigned char c)
{
	/* not both probes in one place */
	calls++;
	DTRACE_PROBE3(memtap_wl, args, a, b, s);
	__asm__ volatile("" : : "r"(r), "r"((int)c) : "memory");
	return a - 1;
}

API long args_exit(int status)
{
	fflush(out);
	_exit(status);
}

/* As memtap writes a string. */
static const char *quoted(const char *s)
{
	static char buf[512];
	char *to = buf;

	if (!s)
		return "?";
	*to++ = '"';
	for (int i = 0; i < 127 && s[i]; i++) {
		if (s[i] == '"' || s[i] == '\\')
			*to++ = '\\';
		if (s[i] < 0x20)
			to += sprintf(to, "\\x%02x", s[i]);
		else
			*to++ = s[i];
	}
	strcpy(to, strlen(s) >= 127 ? "\"..." : "\"");
	return buf;
}

/* @text: what a reader of @s finds there, NULL: nothing */
static void call(long a, int b, const char *s, const char *text, const struct args_rec *r,
		 const char *value, unsigned char c)
{
	long ret = args_call(a, b, s, r, c);

	fprintf(out, "%s:args_call a=%ld b=%d s=%s v=%s c=%u\n", me, a, b, quoted(text), value, c);
	fprintf(out, "%s:memtap_wl:args a=%ld b=%d s=%s\n", me, a, b, quoted(text));
	fprintf(out, "%s:args_call (return) a=%ld s=%s ret=%ld\n", me, a, quoted(text), ret);
}

static void rename_self(int n)
{
	char before[16] = "", name[16];

	prctl(PR_GET_NAME, before);
	snprintf(name, sizeof(name), "wl_%d", n);
	prctl(PR_SET_NAME, name);
	if (sizeof(long) == 8) {
		fprintf(out, "__x64_sys_prctl op=16 name=\"\"\n");
		fprintf(out, "__x64_sys_prctl op=15 name=\"%s\"\n", name);
		fprintf(out, "__set_task_comm name=\"%s\"\n", name);
	}
	fprintf(out, "task:task_rename oldcomm=\"%s\" newcomm=\"%s\"\n", before, name);
}

/* A string that ends, without its 0, where nothing can be read. */
static char *at_the_edge(long page)
{
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (two == MAP_FAILED)
		abort();
	mprotect(two + page, page, PROT_NONE);
	memcpy(two + page - 4, "edge", 4);
	return two + page - 4;
}

int main(int argc, char **argv)
{
	static const struct args_rec rec = { 1, -77 };
	const long page = sysconf(_SC_PAGESIZE);
	int times = argc > 2 ? atoi(argv[2]) : 1;
	char longest[201], exact[128], *fresh, *edge;

	out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 2;
	me = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	memset(longest, 'x', 200);
	longest[200] = 0;
	memset(exact, 'y', 126);
	exact[126] = 0;
	edge = at_the_edge(page);
	for (int i = 0; i < times; i++) {
		rename_self(i);
		/* nobody has touched it: it comes when it is read */
		fresh = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		call(-1000 + i, -1, "a \"name\"\n", "a \"name\"\n", &rec, "-77", 255);
		call(i, 2147483647, longest, longest, &rec, "-77", 0);
		call(i, (int)(-2147483647 - 1), exact, exact, NULL, "?", 1);
		call(1 << 30, 0, (const char *)16, NULL, (const void *)fresh, "0", 2);
		call(5, 6, fresh, "", &rec, "-77", 3);
		call(6, 7, edge, NULL, (const void *)(edge + 4), "?", 4);
		call(7, 8, "", "", &rec, "-77", 5);
		munmap(fresh, page);
		if (sizeof(long) == 8) {
			fprintf(out, "__x64_sys_getppid (return) ret=%d\n", getppid());
		}
	}
	if (argc > 3)
		args_exit(3);
	fclose(out);
	return 0;
}
