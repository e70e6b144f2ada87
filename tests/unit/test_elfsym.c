// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/target/ldcache.c ctl/target/maps.c */
/* LINK: -ldw -lelf */
/*
 * This program is its own fixture: it knows where its functions are.  Stripped
 * copies of it are made with objcopy and xz, where there are any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "target/maps.h"
#include "scratch.h"
#include "tap.h"

#define KEEP __attribute__((noinline, used))

KEEP static int fixture_static(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

KEEP int fixture_global(int x)
{
	return fixture_static(x) * 2;
}

int fixture_alias(int x) __attribute__((alias("fixture_global")));
/* as a C++ compiler names ns::inner::f(int) and ns::g() */
KEEP int _ZN2ns5inner1fEi(int x) { return x; }
KEEP int _Z7outside(void) { return 0; }

static int chosen(void)
{
	return 7;
}

KEEP static int (*resolve_indirect(void))(void)
{
	return chosen;
}

int fixture_indirect(void) __attribute__((ifunc("resolve_indirect")));

/*
 * What <sys/sdt.h> makes for a probe with a semaphore, in two places; written
 * out, so that the test needs nothing installed.
 */
#define STR_(x) #x
#define STR(x) STR_(x)
#define WORD ".8byte"
#define PROBE(label)							\
	__asm__ volatile(						\
		#label ": nop\n"					\
		".globl " #label "\n"					\
		".pushsection .note.stapsdt,\"\",%note\n"		\
		".balign 4\n"						\
		".4byte 8, 2f-1f, 3\n"					\
		".asciz \"stapsdt\"\n"					\
		"1: " WORD " " #label "\n"				\
		WORD " _.stapsdt.base\n"				\
		WORD " fixture_semaphore\n"				\
		".asciz \"memtap_test\"\n"				\
		".asciz \"twice\"\n"					\
		".asciz \"4@$1\"\n"					\
		"2: .balign 4\n"					\
		".popsection\n")

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");

unsigned short fixture_semaphore __attribute__((section(".probes"), used)) = 0;
extern const char fixture_place1[], fixture_place2[];

KEEP static void passes_probes(void)
{
	PROBE(fixture_place1);
	PROBE(fixture_place2);
}

/* Where this program's file has what is at @p: by its own mappings. */
static __u64 offset_of(const void *p)
{
	unsigned long start, end, offset;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");
	__u64 at = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (unsigned long)p >= start && (unsigned long)p < end)
			at = (unsigned long)p - start + offset;
	if (f)
		fclose(f);
	return at;
}

static struct elfsym *open_elf(const char *path, int *fd)
{
	struct elfsym *e = NULL;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || elfsym_open(*fd, &e))
		return NULL;
	return e;
}

static __u64 one(struct elfsym *e, const char *name, int *err)
{
	struct elfsym_func *found;
	__u64 offset = 0;
	size_t nr;

	*err = elfsym_find(e, name, &found, &nr);
	if (*err)
		return 0;
	if (nr == 1)
		offset = found[0].offset;
	free(found);
	return offset;
}

static void test_functions(struct elfsym *e)
{
	struct elfsym_func *found;
	size_t nr = 0;
	int err;

	is(one(e, "fixture_global", &err), offset_of(fixture_global),
	   "a global function is where the loader put it");
	is(one(e, "fixture_static", &err), offset_of(fixture_static),
	   "and so is a static one");
	is(one(e, "fixture_alias", &err), offset_of(fixture_global),
	   "an alias is the same place");
	is(elfsym_find(e, "fixture_[ag]l*", &found, &nr), 0, "a pattern finds");
	is(nr, 1, "and counts a place once, whatever its names");
	if (nr)
		free(found);
	is(one(e, "ns::inner::f", &err), offset_of(_ZN2ns5inner1fEi),
	   "a C++ function is found by its name without parameters");
	is(one(e, "outside", &err), offset_of(_Z7outside),
	   "outside of namespaces too");
	one(e, "fixture_none", &err);
	is(err, -ENOENT, "a function that is not there is ENOENT");
	one(e, "fixture_indirect", &err);
	is(err, -ENOTSUP, "an indirect function is told apart");
	one(e, "fixture_semaphore", &err);
	is(err, -ENOENT, "a variable is no function");
	ok(elfsym_is_entry(e, offset_of(fixture_global)),
	   "the first instruction is one");
	ok(!elfsym_is_entry(e, offset_of(fixture_global) + 1), "the next is not");
	ok(elfsym_is_code(e, offset_of(fixture_global)), "functions are code");
	ok(!elfsym_is_code(e, offset_of(&fixture_semaphore)), "variables are not");
	ok(!elfsym_is_code(e, ~0ULL), "nor is what is not in the file");
}

static void test_probes(struct elfsym *e)
{
	struct elfsym_probe *found;
	size_t nr;

	if (sizeof(long) != 8)
		return;
	is(elfsym_find_probe(e, "memtap_test", "twice", &found, &nr), 0,
	   "a USDT probe is found");
	is(nr, 2, "in both of its places");
	if (nr == 2) {
		is(found[0].offset, offset_of(fixture_place1), "its first place");
		is(found[1].offset, offset_of(fixture_place2), "its second place");
		is(found[0].ref_ctr, offset_of(&fixture_semaphore), "its semaphore");
		ok(!strcmp(found[0].args, "4@$1"), "its arguments");
		free(found);
	}
	is(elfsym_find_probe(e, NULL, "twi*", &found, &nr), 0,
	   "it is found without a provider, and by a pattern");
	free(found);
	is(elfsym_find_probe(e, "other", "twice", &found, &nr), -ENOENT,
	   "another provider's is not");
}

static void test_versions(void)
{
	__u64 plain, versioned;
	struct elfsym *e;
	Dl_info info;
	int fd, err;

	if (!dladdr((void *)(unsigned long)getpid, &info))
		return;
	e = open_elf(info.dli_fname, &fd);
	if (!ok(e, "libc can be opened: %s", info.dli_fname))
		return;
	plain = one(e, "getpid", &err);
	ok(plain, "it has getpid");
	versioned = one(e, "getpid@GLIBC_2.2.5", &err);
	if (err)
		versioned = one(e, "getpid@GLIBC_2.0", &err);
	is(versioned, plain, "with its version it is the same");
	one(e, "getpid@GLIBC_99", &err);
	is(err, -ENOENT, "with another version there is none");
#ifdef __x86_64__
	/* the default is indirect, the one of old programs is not */
	one(e, "memcpy", &err);
	is(err, -ENOTSUP, "without a version the default is meant");
	ok(one(e, "memcpy@GLIBC_2.2.5", &err), "an old one can be named");
	ok(one(e, "pthread_create@GLIBC_2.2.5", &err) ==
	   one(e, "pthread_create@GLIBC_2.34", &err),
	   "one place may have two versions");
#endif
	elfsym_close(e);
	close(fd);
}

/* Symbols that only .gnu_debugdata has, and none at all. */
static void test_stripped(void)
{
	char cmd[2048], exe[512];
	struct elfsym *e;
	ssize_t len;
	int fd, err;

	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len < 0)
		return;
	exe[len] = '\0';
	snprintf(cmd, sizeof(cmd), "exec 2>/dev/null;"
		 " objcopy -S --keep-symbol=fixture_static '%s' syms &&"
		 " objcopy -S --remove-section .gnu.build-id '%s' bare &&"
		 " cp bare mini && xz -9 syms &&"
		 " objcopy --add-section .gnu_debugdata=syms.xz mini", exe, exe);
	if (system(cmd)) {
		ok(1, "stripped files # SKIP no objcopy or xz");
		return;
	}
	e = open_elf("mini", &fd);
	ok(e, "a file with .gnu_debugdata opens");
	is(one(e, "fixture_static", &err), offset_of(fixture_static),
	   ".gnu_debugdata names static functions");
	elfsym_close(e);
	close(fd);
	e = open_elf("bare", &fd);
	one(e, "fixture_static", &err);
	ok(err == -ENODATA || err == -ENOENT, "without it they have no names");
	elfsym_close(e);
	close(fd);
}

static void test_mangled(void)
{
	ok(elfsym_mangled_matches("_Z14read_in_chunksPKc", "read_in_chunks"),
	   "f(char const *) is f");
	ok(elfsym_mangled_matches("_ZL7privatev", "private"), "static functions too");
	ok(elfsym_mangled_matches("_ZNK1a1bEv", "a::b"), "const methods too");
	ok(elfsym_mangled_matches("_ZN1a1bIiEEvv", "a::b"), "templates too");
	ok(!elfsym_mangled_matches("_Z3foov", "fo"), "fo is not foo");
	ok(!elfsym_mangled_matches("_ZN1a1b1cEv", "a::b"), "a::b is not a::b::c");
	ok(!elfsym_mangled_matches("_Z1fv.cold", "f"), "the cold half is not f");
	ok(!elfsym_mangled_matches("f", "f"), "plain names are not mangled");
	ok(!elfsym_mangled_matches("_Z", "f") && !elfsym_mangled_matches("_ZN", "a::b"),
	   "half a name is none");
}

static void test_no_elf(void)
{
	struct elfsym *e;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	is(elfsym_open(fd, &e), -ENOEXEC, "text is no ELF file");
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	is(elfsym_open(fd, &e), -ENOEXEC, "an empty file is none");
	close(fd);
}

static int count_func(const struct elfsym_func *f, void *ctx)
{
	++*(size_t *)ctx;
	return 0;
}

static int count_probe(const struct elfsym_probe *p, void *ctx)
{
	++*(size_t *)ctx;
	return 0;
}

/* A file that is written anew while it is read: no signal, and nothing invented. */
static void test_cut_short(void)
{
	char cmd[64];
	int fd = open("cut", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	struct elfsym *e;
	size_t nr = 0;

	snprintf(cmd, sizeof(cmd), "cp /proc/%d/exe cut", getpid());
	if (ok(fd >= 0 && !system(cmd), "(a copy of this program)")) {
		is(elfsym_open(fd, &e), 0, "which can be opened");
		ok(!ftruncate(fd, 4096), "(and is cut)");
		elfsym_for_each_func(e, count_func, &nr);
		elfsym_for_each_probe(e, count_probe, &nr);
		is(nr, 0, "has no functions and no probes any more");
		elfsym_close(e);
	}
	close(fd);
}

/* --- which file ------------------------------------------------------------ */

static void test_library_names(void)
{
	static const struct { const char *path, *name; bool want; } cases[] = {
		{ "/lib/libc.so.6", "c", true }, { "/lib/libc.so.6", "libc", true },
		{ "/lib/libc.so.6", "libc.so", true },
		{ "/lib/libc.so.6", "libc.so.6", true },
		{ "/lib/libc-2.31.so", "c", true }, { "/lib/libc-2.31.so", "libc", true },
		{ "/lib/libcap.so.2", "c", false }, { "/lib/libcap.so.2", "libc", false },
		{ "/lib/libc++.so.1", "c", false }, { "/usr/bin/nginx", "nginx", true },
		{ "/usr/bin/nginx", "ngin", false }, { "/usr/bin/nginx", "", false },
		{ "/lib/libc-client.so.2007", "c", false },
		{ "/lib/libc.conf", "c", false },
	};
	static const struct { const char *path, *name; bool want; } versions[] = {
		{ "/usr/bin/python3.11", "python3", true },
		{ "/usr/bin/python3.11", "python", true },
		{ "/usr/bin/perl5.36.0", "perl", true },
		{ "/usr/bin/lua-5.4", "lua", true },
		{ "/usr/bin/python3.11", "python3.1", false },
		{ "/usr/bin/python3", "python3", false },
		{ "/usr/bin/python3.11-dbg", "python3", false },
		{ "/usr/bin/python3x", "python", false },
		{ "/lib/libpython3.11.so.1.0", "libpython3", false },
		{ "/usr/bin/x2", "", false },
	};
	char path[4096];

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		is(maps_version_matches(versions[i].path, versions[i].name), versions[i].want,
		   "'%s' is %sa version: %s", versions[i].name, versions[i].want ? "" : "not ",
		   versions[i].path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(maps_name_matches(cases[i].path, cases[i].name), cases[i].want,
		   "'%s' is %s%s", cases[i].name, cases[i].want ? "" : "not ",
		   cases[i].path);
	is(maps_find_library("c", path, sizeof(path)), 0, "libc is known here");
	is(access(path, R_OK), 0, "and is a file: %s", path);
	is(maps_find_library("no_such_library", path, sizeof(path)), -ENOENT,
	   "a library that is not there is ENOENT");
}

static void test_maps(void)
{
	static const char text[] =
		"00400000-00401000 r--p 00000000 fe:01 11   /bin/a\n"
		"00401000-00402000 r-xp 00001000 fe:01 11   /bin/a\n"
		"00402000-00403000 r-xp 00002000 fe:01 11   /bin/a\n"
		"7f0000000000-7f0000001000 r-xp 00000000 00:10 12   /a b (deleted)\n"
		"7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n"
		"7f0000002000-7f0000003000 r-xp 00000000 00:00 0   [vdso]\n"
		"rubbish\n\n"
		"00403000-00402000 r-xp 00002000 fe:01 13   /backwards\n"
		"00500000-00501000 r-xp 00000000 fe:01 14   /no/newline";
	struct maps m;

	is(maps_parse(text, sizeof(text) - 1, &m), 0, "mappings are read");
	if (!is(m.nr, 3, "files that are mapped executable, each once"))
		return;
	is(m.files[0]->start, 0x401000, "the executable mapping counts");
	ok(m.files[1]->deleted && !strcmp(m.files[1]->path, "/a b"),
	   "a deleted file is told apart from its name");
	ok(!strcmp(m.files[2]->path, "/no/newline"), "the last line may lack its end");
	maps_free(&m);
	is(maps_read(getpid(), &m), 0, "this process's own are read");
	ok(m.nr >= 2, "it has a program and libraries");
	maps_free(&m);
}

int main(void)
{
	struct elfsym *e;
	int fd;

	scratch_begin();
	passes_probes();
	e = open_elf("/proc/self/exe", &fd);
	if (ok(e, "this program can be opened")) {
		test_functions(e);
		test_probes(e);
		elfsym_close(e);
		close(fd);
	}
	test_versions();
	test_stripped();
	test_mangled();
	test_no_elf();
	test_cut_short();
	test_library_names();
	test_maps();
	is(fixture_indirect(), 7, "(the indirect function works)");
	return scratch_end() ? 1 : tap_done();
}
