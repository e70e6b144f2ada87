// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code where other code was before.  With each step it stops (wl_stop(), for a probe)
 * and leaks a block:
 *
 *	wl_names plugins ROUNDS FILE BYTES [FILE BYTES]...	loaded one after the other
 *	wl_names exec PROGRAM	another program, at the same addresses
 *	wl_names jit [keep]	code that is made, and made anew in its place; keep: its
 *				names stay in /tmp
 *	wl_names after FILE	code that is made where a library was
 *
 * With WL_WAIT in the environment, plugins have time to be met.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef OVER
#define before_exec after_exec
#define by_program by_other_program
#endif

#define STEPS		10
#define MOST_PLUGINS	3

typedef int (*step_fn)(int bytes, void (*stop)(int));

static volatile int stopped;
void *volatile kept;

__attribute__((noinline)) void wl_stop(int n)
{
	stopped += n;
}

__attribute__((noinline)) static void take(int bytes)
{
	kept = malloc(bytes);
	kept = NULL;
}

/* What the last call left on the stack is no pointer to anything. */
__attribute__((noinline)) static void clean(void)
{
	char stack[16384];

	memset(stack, 0, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
}

static void *plugin(const char *file, const char *bytes)
{
	void *lib = dlopen(file, RTLD_NOW), *at;
	static int waited;
	step_fn run;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	run = (step_fn)dlsym(lib, "plugin_run");
	at = (void *)run;
	/* until its rows are there; the first time is enough */
	if (getenv("WL_WAIT") && waited++ < MOST_PLUGINS)
		usleep(700000);
	for (int i = 0; i < STEPS; i++)
		run(atoi(bytes), wl_stop);
	dlclose(lib);
	clean();
	return at;
}

static int plugins(int argc, char **argv)
{
	void *first = NULL, *at;
	int moved = 0;

	for (int round = atoi(argv[0]); round--;) {
		for (int i = 1; i + 1 < argc; i += 2) {
			at = plugin(argv[i], argv[i + 1]);
			at = (void *)((unsigned long)at & ~4095UL);
		moved += first && at != first;
			first = at;
		}
	}
	printf("moved %d\n", moved);
	return 0;
}

__attribute__((noinline)) static int before_exec(int bytes)
{
	wl_stop(1);
	take(bytes);
	return bytes + 1;
}

__attribute__((noinline)) static int by_program(int bytes)
{
	for (int i = 0; i < STEPS; i++)
		bytes = before_exec(bytes);
	return bytes;
}

#ifdef __x86_64__
/* push rbp; mov rbp,rsp; push rdi; push rsi; mov edi,1; call rsi; pop rsi; pop rdi;
 * mov rax,TAKE; call rax; pop rbp; ret
 */
static const unsigned char code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x57, 0x56, 0xbf, 1, 0, 0, 0, 0xff, 0xd6, 0x5e, 0x5f,
	0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3,
};
#define TAKE_AT	17

__attribute__((noinline)) static int by_jit(step_fn run, int bytes)
{
	for (int i = 0; i < STEPS; i++)
		run(bytes, wl_stop);
	return bytes + 1;
}

static void *make(void *at, const char *name, FILE *names)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
	void (*to)(int) = take;
	unsigned char *p = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, how, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p, code, sizeof(code));
	memcpy(p + TAKE_AT, &to, sizeof(to));
	if (names) {
		fprintf(names, "%lx %zx %s\n", (unsigned long)p, sizeof(code), name);
		fflush(names);
	}
	return p;
}

static FILE *names_file(char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", getpid());
	return fopen(path, "w");
}

static int jit(int keep)
{
	char path[64];
	FILE *names = names_file(path);
	void *p = make(NULL, "jit_old", names);

	by_jit((step_fn)p, 100);
	munmap(p, 4096);
	p = make(p, "jit_new", names);
	by_jit((step_fn)p, 200);
	p = make(NULL, "jit_only", names);
	by_jit((step_fn)p, 300);
	usleep(2000000);	/* others have seen it by now */
	if (!keep)
		unlink(path);
	return 0;
}

static int after(const char *file)
{
	void *at = plugin(file, "100");

	at = make((void *)((unsigned long)at & ~4095UL), "none", NULL);
	for (int i = 0; i < 2; i++) {
		by_jit((step_fn)at, 200);
		usleep(300000);
	}
	return 0;
}
#else
static int jit(int keep)
{
	return !keep + 1;
}

static int after(const char *file)
{
	return !file + 1;
}
#endif

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "plugins"))
		return plugins(argc - 2, argv + 2);
	if (argc > 2 && !strcmp(argv[1], "exec")) {
		by_program(100);
		execl(argv[2], argv[2], "done", NULL);
		return 1;
	}
	if (argc > 1 && !strcmp(argv[1], "done"))
		return by_program(200) == 0;
	if (argc > 1 && !strcmp(argv[1], "jit"))
		return jit(argc > 2);
	if (argc > 2 && !strcmp(argv[1], "after"))
		return after(argv[2]);
	return 2;
}
