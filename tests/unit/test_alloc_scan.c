// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/effect.c ctl/elf/insn.c ctl/alloc/place.c ctl/alloc/probe.c */
/* LINK: ctl/alloc/scan.c ctl/alloc/table.c ctl/alloc/wanted.c ctl/base/openreg.c */
/* LINK: ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c ctl/elf/func.c ctl/elf/kind.c */
/* LINK: ctl/elf/names.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/target/ldcache.c */
/* LINK: ctl/target/maps.c -ldw -lelf -ldl */
/*
 * Allocators that are found in this program and in this machine's libc; and then
 * libc's functions are called, with breakpoints where the probes would stand.
 * With arguments: those of other libraries, to be seen by hand.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/alloc.h"
#include "elf/symbols.h"
#include "target/maps.h"
#include "tap.h"

#define KEEP __attribute__((noinline, used))
#define NONE MEMTAP_ARG_NONE

/* --- fixtures: this program's own allocators -------------------------------- */

KEEP void *zz_malloc(unsigned long n) { __asm__ volatile("" : "+r"(n)); return (void *)n; }
KEEP static void *zz_realloc(void *p, unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return p;
}
KEEP void *zz_xallocx(void *p) { __asm__ volatile("" : "+r"(p)); return p; }
KEEP void mi_free(void *p) { __asm__ volatile("" : : "r"(p)); }
void _ZdlPvSt11align_val_t(void *p) __attribute__((alias("mi_free")));
KEEP void _ZdaPvRKSt9nothrow_t(void *p) { __asm__ volatile("" : : "r"(p)); }
KEEP void *own_get(void *pool, unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return pool;
}
KEEP void own_put(void *pool, void *p) { __asm__ volatile("" : : "r"(p), "r"(pool)); }

/* names that count where the usual ones are missing */
KEEP static void *__libc_memalign(unsigned long align, unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return (void *)align;
}
KEEP static void __libc_free(void *p) { __asm__ volatile("" : : "r"(p)); }

/* --- files ------------------------------------------------------------------- */

/* Where the file that has @p mapped has it; *path: which. */
static __u64 offset_of(const void *p, char path[512])
{
	unsigned long start, end, offset;
	char line[1024], name[512];
	FILE *f = fopen("/proc/self/maps", "re");
	__u64 at = 0;

	while (f && fgets(line, sizeof(line), f)) {
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511s", &start, &end, &offset,
			   name) >= 3 &&
		    (unsigned long)p >= start && (unsigned long)p < end) {
			at = (unsigned long)p - start + offset;
			strcpy(path, name);
		}
	}
	if (f)
		fclose(f);
	return at;
}

static int scan(const char *path, struct alloc_opts *o, struct alloc_probes *p)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	memset(p, 0, sizeof(*p));
	err = fd < 0 ? -errno : alloc_scan(p, fd, path, o);
	if (fd >= 0)
		close(fd);
	alloc_opts_free(o);
	return err;
}

static const struct alloc_probe *find(const struct alloc_probes *p, const char *function)
{
	const struct alloc_probe *found = NULL;

	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->at[i].function, function))
			found = &p->at[i];
	return found;
}

static bool is_at(const struct alloc_probe *p, const void *function)
{
	char path[512];
	const __u64 entry = offset_of(function, path);

	return p && p->attach.offset >= entry && p->attach.offset < entry + 64;
}

static void test_own_names(void)
{
	struct alloc_opts o = { .push = true };
	const struct alloc_probe *probe;
	struct alloc_probes p;

	is(scan("/proc/self/exe", &o, &p), 0, "this program is read");
	ok(!find(&p, "zz_malloc"), "what nobody knows is no allocator");
	probe = find(&p, "_ZdlPvSt11align_val_t");
	if (ok(probe, "operator delete is one, whoever has it")) {
		ok(is_at(probe, mi_free), "and is where it is");
		ok(!strcmp(probe->attach.name, "free/delete"),
		   "it is mimalloc's free as well: %s", probe->attach.name);
		is(probe->attach.family, MEMTAP_FAMILY_ANY, "so it goes with all");
		ok(probe->attach.op == MEMTAP_HEAP_FREE && !probe->attach.ptr_arg &&
		   probe->attach.size_arg == NONE && probe->attach.result_arg == NONE,
		   "it takes its first argument back");
		ok(probe->attach.fd == -1 && probe->spec == -1 && !probe->is_go,
		   "the caller opens the file");
	}
	probe = find(&p, "_ZdaPvRKSt9nothrow_t");
	ok(probe && probe->attach.op == MEMTAP_HEAP_GIVE && !probe->attach.ptr_arg,
	   "a program's own delete[] may give back what it was not given");
	ok(!find(&p, "mi_free"), "a place is one probe");
#ifndef __clang__	/* (whose ASan makes this program export the other one) */
	ok(is_at(find(&p, "__libc_memalign"), __libc_memalign),
	   "libc's inner name counts where there is no other");
#endif
	ok(!find(&p, "__libc_free"), "and not where there is");
	alloc_probes_free(&p);

	o.prefix = "zz_";
	o.free_stacks = true;
	is(scan("/proc/self/exe", &o, &p), 0, "with a prefix");
	ok(is_at(find(&p, "zz_malloc"), zz_malloc), "functions with it are found");
	ok(is_at(find(&p, "zz_realloc"), zz_realloc), "also those that only .symtab has");
	ok(!find(&p, "zz_xallocx"), "what cannot be right is not");
	probe = find(&p, "_ZdlPvSt11align_val_t");
	ok(probe && probe->attach.flags == MEMTAP_ATTACH_FREE_STACK,
	   "stacks of frees are asked for");
	probe = find(&p, "zz_malloc");
	ok(probe && !probe->attach.flags, "others are taken anyway");
	alloc_probes_free(&p);
	o.obj = "libc";
	is(scan("/proc/self/exe", &o, &p), 0, "with the name of another file");
	is(p.nr, 0, "nothing is found here");
	alloc_probes_free(&p);
}

static void test_own_functions(void)
{
	static const struct alloc_spec specs[] = {
		{ "/no/file", "own_get", MEMTAP_HEAP_ALLOC, 16, 0, NONE, NONE, 254 },
		{ "", "own_get", MEMTAP_HEAP_ALLOC, 16, 1, NONE, NONE, 254 },
		{ "", "own_put", MEMTAP_HEAP_FREE, 16, NONE, NONE, 1, NONE },
		{ "", "mi_free", MEMTAP_HEAP_FREE, 16, NONE, NONE, 0, NONE },
	};
	struct alloc_opts o = { .push = true, .specs = specs, .nr_specs = 4 };
	const struct alloc_probe *get, *put;
	struct alloc_probes p;

	is(scan("/proc/self/exe", &o, &p), 0, "with functions of one's own");
	get = find(&p, "own_get");
	put = find(&p, "own_put");
	if (ok(get && put, "they are found")) {
		ok(is_at(get, own_get) && is_at(put, own_put), "where they are");
		ok(get->spec == 1 && put->spec == 2, "and it is said which they were");
		ok(get->attach.size_arg == 1 && put->attach.ptr_arg == 1,
		   "with the arguments that were named");
		ok(get->attach.family == put->attach.family &&
		   get->attach.family >= MEMTAP_FAMILY_OWN,
		   "those of one file belong together");
		ok(!strcmp(get->attach.name, ":own_get") &&
		   !strcmp(put->attach.name, "own_put"),
		   "their names are told apart: %s, %s", get->attach.name,
		   put->attach.name);
	}
	get = find(&p, "mi_free");
	ok(get && get->spec == 3 && !strcmp(get->attach.name, "mi_free"),
	   "what was named by hand is not the table's");
	alloc_probes_free(&p);
}

/* Relative, or through a symbolic link: the same file all the same. */
static void test_paths(void)
{
	struct alloc_spec specs[2] = {
		{ "", "own_get", MEMTAP_HEAP_ALLOC, 16, 1, NONE, NONE, 254 },
		{ "/proc/self/maps", "own_put", MEMTAP_HEAP_FREE, 16, NONE, NONE, 1, NONE },
	};
	struct alloc_opts o = { .push = true, .specs = specs, .nr_specs = 2 };
	struct alloc_probes p;

	snprintf(specs[0].path, sizeof(specs[0].path), "/proc/%d/../self/exe", getpid());
	is(scan("/proc/self/exe", &o, &p), 0, "a file by another path");
	ok(find(&p, "own_get") != NULL, "is the same file");
	ok(find(&p, "own_put") == NULL, "and another file is another");
	alloc_probes_free(&p);
}

static void test_others(const char *libc)
{
	const char *linker = "/lib64/ld-linux-x86-64.so.2";
	struct alloc_opts o = { .push = true };
	struct alloc_probes p;
	__u64 offset = 0;
	int fd;

	is(scan("/proc/self/maps", &o, &p), -ENOEXEC, "text is no ELF file");
	fd = open(libc, O_RDONLY | O_CLOEXEC);
	is(alloc_hold_place(fd, "_exit", &offset), 0, "libc has _exit");
	ok(offset, "somewhere");
	is(alloc_hold_place(fd, "no_such_function", &offset), -ENOENT,
	   "what it has not is ENOENT");
	close(fd);
	fd = open(linker, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	is(alloc_hold_place(fd, "_dl_debug_state", &offset), 0,
	   "the dynamic linker says when it has mapped something");
	is(scan(linker, &o, &p), 0, "and is read");
	is(p.nr, 0, "but its own malloc() is not for others");
	alloc_probes_free(&p);
	close(fd);
}

static int count_name(const struct elfsym_func *f, size_t index, void *ctx)
{
	unsigned int *counts = ctx;

	counts[index] += f->offset != 0;
	return 0;
}

/* The file's own hash table has to say it: other symbols may not be there. */
static void test_hashed(const char *libc)
{
	static const char *const names[] = { "malloc", "no_such_function", "free" };
	struct elfsym_names *set = elfsym_names_new(names, 3);
	unsigned int counts[3] = { 0 };
	struct elfsym *e;
	int fd = open(libc, O_RDONLY | O_CLOEXEC);

	if (ok(!elfsym_open(fd, &e), "libc opens")) {
		is(elfsym_find_names(e, ELFSYM_DYNAMIC, set, count_name, counts), 0,
		   "its exported symbols are asked for names");
		ok(counts[0] == 1 && !counts[1] && counts[2] == 1,
		   "what it has is there, what it has not is not");
		elfsym_close(e);
	}
	elfsym_names_free(set);
	close(fd);
}

static void test_runtime(void)
{
	struct alloc_opts o = { .push = true };
	const struct alloc_probe *probe;
	struct alloc_probes p;
	char path[4096];

	if (maps_find_library("stdc++", path, sizeof(path))) {
		ok(1, "libstdc++ # SKIP not here");
		return;
	}
	is(scan(path, &o, &p), 0, "libstdc++ is read: %s", path);
	probe = find(&p, sizeof(long) == 8 ? "_Znwm" : "_Znwj");
	ok(probe && probe->attach.op == MEMTAP_HEAP_ENTER &&
	   probe->attach.family == MEMTAP_FAMILY_NEW &&
	   probe->attach.ptr_arg == NONE && !probe->attach.size_arg &&
	   probe->attach.size2_arg == NONE && probe->attach.result_arg == NONE,
	   "its new lets malloc do it");
	probe = find(&p, sizeof(long) == 8 ? "_ZnwmSt11align_val_t" : "_ZnwjSt11align_val_t");
	ok(probe && probe->attach.op == MEMTAP_HEAP_ENTER && !probe->attach.size_arg &&
	   probe->attach.size2_arg == 1, "that with an alignment says so");
	probe = find(&p, "_ZdaPv");
	ok(probe && probe->attach.op == MEMTAP_HEAP_ENTER && !probe->attach.ptr_arg &&
	   probe->attach.family == MEMTAP_FAMILY_NEW_ARRAY, "its delete[] lets free");
	ok(find(&p, "_ZdlPv") && !find(&p, "_ZdlPvm") && !find(&p, "_ZdlPvj"),
	   "that with a size is only another way to the one without");
	alloc_probes_free(&p);
}

/* --- libc, watched ------------------------------------------------------------- */

static void test_libc_names(const char *path, void *handle)
{
	static const struct { const char *function, *event; } wanted[] = {
		{ "malloc", "malloc" }, { "calloc", "calloc" }, { "realloc", "realloc" },
		{ "free", "free" }, { "posix_memalign", "memalign" },
		{ "aligned_alloc", "memalign" },
	};
	struct alloc_opts o = { .push = true, .moved = true };
	const struct alloc_probe *probe;
	struct alloc_probes p;

	is(scan(path, &o, &p), 0, "%s is read", path);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		probe = find(&p, wanted[i].function);
		ok(is_at(probe, dlsym(handle, wanted[i].function)), "it has %s",
		   wanted[i].function);
		ok(probe && !strcmp(probe->attach.name, wanted[i].event),
		   "which is the event %s", wanted[i].event);
	}
	probe = find(&p, "free");
	ok(probe && probe->one_trap, "free() costs one trap, at '%s'",
	   probe ? probe->insn : "");
	for (size_t i = 0; i < p.nr; i++)
		for (size_t k = 0; k < i; k++)
			if (p.at[i].attach.offset == p.at[k].attach.offset)
				ok(0, "%s and %s are one place", p.at[i].function,
				   p.at[k].function);
	alloc_probes_free(&p);
}

/* Before glibc 2.43 free() does not jump to its own beginning; of others nobody knows. */
static void test_once(const char *path)
{
	const int version = atoi(strchr(gnu_get_libc_version(), '.') + 1);
	struct alloc_opts o = { .push = true, .once = true };
	const struct alloc_probe *probe;
	struct alloc_probes p;

	is(scan(path, &o, &p), 0, "%s is read again", path);
	probe = find(&p, "free");
	is(probe ? probe->attach.flags : 0, version < 43 ? MEMTAP_ATTACH_ONCE : 0,
	   "glibc 2.%d: does a call of free() pass its beginning once?", version);
	probe = find(&p, "malloc");
	is(probe ? probe->attach.flags : 1, 0, "of malloc() that is not said");
	alloc_probes_free(&p);
	is(scan("/proc/self/exe", &o, &p), 0, "a program's own");
	for (size_t i = 0; i < p.nr; i++)
		if (p.at[i].attach.flags)
			ok(0, "%s is glibc's", p.at[i].function);
	alloc_probes_free(&p);
}

struct shared {
	unsigned long args[6];
	size_t index;		/* the probe whose function is called */
};

/* A breakpoint for each probe. */
struct watch {
	const struct alloc_probes *probes;
	unsigned long *at;	/* addresses, the same in the child */
	long *words;
	volatile struct shared *shared;
	unsigned int *good, *bad;
	pid_t pid;
};

typedef unsigned long (*any_function)(unsigned long, unsigned long, unsigned long);

__attribute__((noinline, no_sanitize_address, no_sanitize("undefined")))
static unsigned long call_it(any_function f, volatile unsigned long *args)
{
	unsigned long ret = f(args[0], args[1], args[2]);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static void call_all(const struct watch *w, void *handle)
{
	any_function allocate = (any_function)dlsym(handle, "malloc");
	void *slot;

	for (size_t i = 0; i < w->probes->nr; i++) {
		const struct memtap_attach *a = &w->probes->at[i].attach;
		any_function f = (any_function)dlsym(handle, w->probes->at[i].function);

		w->shared->index = ~0UL;
		for (int k = 0; k < 6; k++)
			w->shared->args[k] = 64;	/* an alignment */
		if (a->size_arg < 6)
			w->shared->args[a->size_arg] = 640;
		if (a->size2_arg < 6)
			w->shared->args[a->size2_arg] = 3;
		if (a->result_arg < 6)
			w->shared->args[a->result_arg] = (unsigned long)&slot;
		if (a->ptr_arg < 6)
			w->shared->args[a->ptr_arg] = allocate(100, 0, 0);
		/* glibc's calls whatever realloc() there is: the sanitizer's */
		if (!strcmp(w->probes->at[i].function, "reallocarray"))
			w->shared->args[a->ptr_arg] = 0;
		if (!f)
			continue;
		w->shared->index = i;
		call_it(f, w->shared->args);
	}
}

static void plant(const struct watch *w, size_t i)
{
	ptrace(PTRACE_POKETEXT, w->pid, (void *)w->at[i],
	       (void *)((w->words[i] & ~0xffL) | 0xcc));
}

/* As the function got them from its caller, all that the probe is for? */
static bool is_right(const struct watch *w, size_t i, const struct user_regs_struct *r)
{
	const unsigned long long regs[] = { r->rdi, r->rsi, r->rdx };
	const struct memtap_attach *a = &w->probes->at[i].attach;
	const __u8 args[] = { a->size_arg, a->size2_arg, a->ptr_arg, a->result_arg };
	unsigned long caller;

	caller = (unsigned long)ptrace(PTRACE_PEEKTEXT, w->pid,
				       (void *)(r->rsp + w->probes->at[i].moved), NULL);
	if (caller < (unsigned long)call_it || caller > (unsigned long)call_it + 512)
		return false;
	for (size_t k = 0; k < sizeof(args); k++)
		if (args[k] < 3 && regs[args[k]] != w->shared->args[args[k]])
			return false;
	return true;
}

static void on_trap(const struct watch *w)
{
	struct user_regs_struct r;
	size_t i = 0;
	int status;

	ptrace(PTRACE_GETREGS, w->pid, NULL, &r);
	while (i < w->probes->nr && w->at[i] != r.rip - 1)
		i++;
	if (i == w->probes->nr)
		return;
	r.rip--;
	if (w->shared->index == i) {
		if (is_right(w, i, &r))
			w->good[i]++;
		else
			w->bad[i]++;
	}
	ptrace(PTRACE_POKETEXT, w->pid, (void *)w->at[i], (void *)w->words[i]);
	ptrace(PTRACE_SETREGS, w->pid, NULL, &r);
	ptrace(PTRACE_SINGLESTEP, w->pid, NULL, NULL);
	waitpid(w->pid, &status, 0);
	plant(w, i);
}

static bool run(struct watch *w, void *handle)
{
	int status;

	w->pid = fork();
	if (!w->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		call_all(w, handle);
		_exit(7);
	}
	if (w->pid < 0 || waitpid(w->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	for (size_t i = 0; i < w->probes->nr; i++)
		w->words[i] = ptrace(PTRACE_PEEKTEXT, w->pid, (void *)w->at[i], NULL);
	for (size_t i = 0; i < w->probes->nr; i++)
		plant(w, i);
	for (;;) {
		ptrace(PTRACE_CONT, w->pid, NULL, NULL);
		if (waitpid(w->pid, &status, 0) < 0 || !WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) != SIGTRAP) {
			kill(w->pid, SIGKILL);
			waitpid(w->pid, &status, 0);
			return false;
		}
		on_trap(w);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void test_truth(const char *path, void *handle, struct alloc_opts *o)
{
	struct watch w = { 0 };
	struct alloc_probes p;
	const char *anchor;
	char its[512];
	__u64 base;

	if (scan(path, o, &p) || !p.nr)
		return;
	anchor = dlsym(handle, p.at[0].function);
	base = offset_of(anchor, its);
	w.probes = &p;
	w.at = calloc(p.nr, sizeof(*w.at));
	w.words = calloc(p.nr, sizeof(*w.words));
	w.good = calloc(p.nr, sizeof(*w.good));
	w.bad = calloc(p.nr, sizeof(*w.bad));
	w.shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < p.nr; i++)
		w.at[i] = (unsigned long)anchor - base + p.at[i].attach.offset;
	if (ok(run(&w, handle), "the functions run with breakpoints"))
		for (size_t i = 0; i < p.nr; i++) {
			ok(w.good[i] >= 1, "%s: its call passes +%lld, %s", p.at[i].function,
			   (long long)w.at[i] -
			   (long long)(unsigned long)dlsym(handle, p.at[i].function),
			   p.at[i].insn);
			is(w.bad[i], 0, "with its arguments, and its caller on the stack");
		}
	munmap((void *)w.shared, 4096);
	free(w.at);
	free(w.words);
	free(w.good);
	free(w.bad);
	alloc_probes_free(&p);
}

static void test_libc(void)
{
	struct alloc_opts push = { .push = true, .moved = true }, no_push = { 0 };
	/* not what a sanitizer puts in its place */
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	char path[512] = "";

	if (!handle || !offset_of(dlsym(handle, "malloc"), path)) {
		ok(1, "glibc # SKIP not here");
		return;
	}
	test_others(path);
	test_hashed(path);
	test_libc_names(path, handle);
	test_once(path);
	test_truth(path, handle, &push);
	test_truth(path, handle, &no_push);
	dlclose(handle);
}

static void test_library(const char *path)
{
	struct alloc_opts push = { .push = true, .moved = true }, no_push = { 0 };
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!ok(handle, "%s is loaded: %s", path, handle ? "" : dlerror()))
		return;
	test_truth(path, handle, &push);
	test_truth(path, handle, &no_push);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		test_library(argv[i]);
	if (argc > 1)
		return tap_done();
	test_own_names();
	test_own_functions();
	test_paths();
	test_runtime();
	test_libc();
	return tap_done();
}
