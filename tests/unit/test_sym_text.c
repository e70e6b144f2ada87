// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/opt_value.c ctl/sym/jitmaps.c */
/* LINK: ctl/sym/jvm.c ctl/target/cgroup.c ctl/target/procs.c */
/* LINK: ctl/base/arena.c ctl/base/child.c ctl/base/limit.c ctl/base/openreg.c */
/* LINK: ctl/elf/build_id.c ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c */
/* LINK: ctl/snap/snap.c ctl/sym/alt.c ctl/sym/cache.c ctl/sym/cgroup.c ctl/sym/cxx.c */
/* LINK: ctl/elf/dwarf_text.c */
/* LINK: ctl/sym/debug.c ctl/sym/demangle.c ctl/sym/dwarf.c ctl/sym/elf.c ctl/sym/find.c */
/* LINK: ctl/base/ids.c */
/* LINK: ctl/sym/kernel.c ctl/sym/perfmap.c ctl/sym/rust.c ctl/sym/sym.c ctl/sym/user.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/target.c kmod/core/wire.c -lz -ldw */
/* LINK: -lelf -lstdc++ */
/* Names out of text: kallsyms, perf maps, mangled names. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sym/int.h"
#include "tap.h"

static bool is_name(const char *got, const char *want)
{
	if (got && want ? !strcmp(got, want) : got == want)
		return true;
	printf("# got %s, not %s\n", got ? got : "(none)", want ? want : "(none)");
	return false;
}

static void test_kallsyms(void)
{
	static const char text[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81000000 T startup_64\n"
		"ffffffff81000100 t brk_helper.isra.0\n"
		"ffffffff81000180 D some_data\n"
		"ffffffff81000200 W weak_one\n"
		"ffffffff810001f0 T __pfx_weak_one\n"
		"ffffffffc0000000 t mod_fn\t[some_module]\n"
		"ffffffffc0000100 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
		"garbage\n\n0000 T\nzz T bad\n";
	const char *module;
	__u64 start;
	struct kallsyms *k = kallsyms_parse(strdup(text), sizeof(text) - 1);

	ok(k && !kallsyms_hidden(k), "a list of symbols is read");
	ok(is_name(kallsyms_lookup(k, 0xffffffff81000010, &start, &module), "_stext"),
	   "of two names for one address, the first is taken, as the kernel does");
	is(start, 0xffffffff81000000, "with its start");
	ok(is_name(module, "kernel"), "in the kernel");
	ok(is_name(kallsyms_lookup(k, 0xffffffff810001f8, &start, &module),
		   "brk_helper.isra.0"), "data and padding are no functions");
	ok(is_name(kallsyms_lookup(k, 0xffffffffc00000ff, &start, &module), "mod_fn") &&
	   is_name(module, "some_module"), "modules are named");
	ok(!kallsyms_lookup(k, 0xffffffff80ffffff, &start, &module),
	   "before the first symbol is nothing");
	ok(!kallsyms_lookup(k, 0xffffffffb0000000, &start, &module),
	   "a gap is not named after what is before it");
	kallsyms_free(k);
	k = kallsyms_parse(strdup("0000000000000000 T a\n0000000000000000 t b\n"), 42);
	ok(k && kallsyms_hidden(k), "hidden addresses are noticed");
	ok(!kallsyms_lookup(k, 0, &start, &module), "and name nothing");
	kallsyms_free(k);
	k = kallsyms_parse(strdup(""), 0);
	ok(k && !kallsyms_lookup(k, 1, &start, &module), "an empty list names nothing");
	kallsyms_free(k);
}

/* A list of which @nr bytes are read at once. */
static struct kallsyms *list_of(char *text, size_t nr, FILE **f)
{
	*f = fmemopen(text, strlen(text), "r");
	return kallsyms_open(*f, nr);
}

static void test_kallsyms_in_parts(void)
{
	/* (modules lie where there was room) */
	char text[] = "0000000000000000 A percpu\n"
		"ffffffff81000000 T first\n"
		"ffffffff81000100 T second\n"
		"ffffffff81000100 t same_place\n"
		"ffffffff81000200 T third\n"
		"ffffffff81000300 T fourth\n"
		"ffffffffc0500000 t high\t[one]\n"
		"ffffffffc0500100 t higher\t[one]\n"
		"ffffffffc0400000 t low\t[two]\n";
	char unsorted[] = "ffffffff81000000 T a\nffffffff81000800 T c\nffffffff81000400 T b";
	const char *module;
	struct kallsyms *k;
	__u64 start;
	FILE *f;

	for (size_t nr = 1; nr < 60; nr += 7) {
		k = list_of(text, nr, &f);
		if (!is_name(kallsyms_lookup(k, 0xffffffff81000010, &start, &module), "first") ||
		    (size_t)ftell(f) > 32 + 2 * 27 + 2 * nr)
			ok(0, "%zu bytes at once: read as far as the next function", nr);
		if (!is_name(kallsyms_lookup(k, 0xffffffff810001ff, &start, &module), "second") ||
		    !is_name(kallsyms_lookup(k, 0xffffffff81000200, &start, &module), "third") ||
		    !is_name(kallsyms_lookup(k, 0xffffffff81000001, &start, &module), "first"))
			ok(0, "%zu bytes at once: names of the kernel's own", nr);
		if (!is_name(kallsyms_lookup(k, 0xffffffffc0400008, &start, &module), "low") ||
		    !is_name(module, "two") ||
		    !is_name(kallsyms_lookup(k, 0xffffffffc0500101, &start, &module), "higher") ||
		    !is_name(kallsyms_lookup(k, 0xffffffff81000301, &start, &module), "fourth"))
			ok(0, "%zu bytes at once: names of modules'", nr);
		kallsyms_free(k);
	}
	k = list_of(unsorted, 64, &f);
	ok(is_name(kallsyms_lookup(k, 0xffffffff81000801, &start, &module), "c") &&
	   is_name(kallsyms_lookup(k, 0xffffffff81000401, &start, &module), "b"),
	   "a list that is not by address is read whole");
	kallsyms_free(k);
	ok(1, "a list is read as far as it is wanted");
}

/* The name at @addr of a map, or NULL. */
static const char *at(const struct perfmap *m, __u64 addr, __u64 *start)
{
	static char name[256];

	return perfmap_lookup(m, addr, start, name, sizeof(name)) ? name : NULL;
}

/* What Linux 5.10 lists: the init code of a module, in front of others that came before it. */
static void test_module_range(void)
{
	static const char text[] =
		"ffffffffc0112000 T a_init\t[a]\n"
		"ffffffffc0128000 t ext_fn\t[ext4]\n"
		"ffffffffc02c8000 t a_first\t[a]\n"
		"ffffffffc02c8070 t a_last\t[a]\n"
		"ffffffffc02cb000 t b_first\t[b]\n"
		"ffffffffc02e0000 t b_last\t[b]\n"
		"ffffffffc02f0000 t b_init\t[b]\n";
	struct kallsyms *k = kallsyms_parse(strdup(text), sizeof(text) - 1);
	__u64 start = 0, end = 0;

	ok(kallsyms_module_range(k, "a", 0xffffffffc02c8000, 0x4000, &start, &end),
	   "a module's code is found");
	is(start, 0xffffffffc02c8000ULL, "it begins behind what its init code was");
	is(end, 0xffffffffc02cb000ULL, "and ends where another one's begins");
	ok(kallsyms_module_range(k, "b", 0xffffffffc02cb000, 0x18000, &start, &end) &&
	   end == 0xffffffffc02e3000ULL, "or where its core ends, in front of its init code");
	ok(kallsyms_module_range(k, "b", 0xffffffffc02cb000, 0x200000, &start, &end) &&
	   end == 0xffffffffc0300000ULL, "or some way behind its last function");
	ok(!kallsyms_module_range(k, "c", 0xffffffffc02cb000, 0x4000, &start, &end),
	   "one without functions has none");
	ok(!kallsyms_module_range(k, "b", 0xffffffffd0000000, 0x4000, &start, &end),
	   "nor has one behind all others");
	kallsyms_free(k);
}

static void test_perfmap(void)
{
	static const char text[] =
		"7f0000001000 20 first\n"
		"0x7f0000002000 0x10 with prefix\n"
		"7f0000001000 10 replaced it\n"
		"7f0000003000 0 empty\n"
		"fffffffffffffff0 20 wraps\n"
		"x y z\n"
		"7f0000005000 10 again\n"
		"7f0000005000 10 again\n"
		"7f0000006000 10 one\n"
		"7f0000005ff8 10 two\n"
		"7f0000006000 8 three\n"
		"7f0000006004 8 three\n"
		"7f0000004000 10 last without newline";
	struct perfmap *m = perfmap_parse(strdup(text), sizeof(text) - 1);
	char small[8];
	__u64 start;

	ok(is_name(at(m, 0x7f0000001005, &start), "replaced it or first"),
	   "code that was replaced may have been the later or the earlier one");
	ok(is_name(at(m, 0x7f0000001018, &start), "first"),
	   "what is left of the earlier one has its name alone");
	ok(is_name(at(m, 0x7f000000200f, &start), "with prefix") &&
	   start == 0x7f0000002000, "names have blanks, numbers may have 0x");
	ok(!at(m, 0x7f0000002010, &start), "the end is not in it");
	ok(!at(m, 0x7f0000003000, &start) &&
	   !at(m, ~0ULL, &start), "empty and endless entries are ignored");
	ok(is_name(at(m, 0x7f0000005008, &start), "again"),
	   "what was made anew under its own name is certain");
	ok(is_name(at(m, 0x7f0000006005, &start), "three or two"),
	   "of three, the last two are named");
	ok(is_name(at(m, 0x7f000000600d, &start), "one"), "where only one is, that");
	ok(perfmap_lookup(m, 0x7f0000004000, &start, small, sizeof(small)) &&
	   is_name(small, "last wi"), "what does not fit is cut");
	ok(is_name(at(m, 0x7f0000004000, &start), "last without newline"),
	   "the last line needs no end");
	perfmap_free(m);
}

static void test_demangle(void)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "_Z5chunki", "chunk(int)" },
		{ "_ZN3foo3barERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
		  "foo::bar(std::string const&)" },
		{ "_Znwm", "operator new(unsigned long)" },
		{ "_Zbroken", "_Zbroken" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
		  "4drop17h0123456789abcdefE",
		  "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RNCNvCs1234_7mycrate4main0B3_", "mycrate::main::{closure#0}" },
		{ "_RINvCs1234_1x3genStEB2_", "x::gen::<[u16]>" },
		{ "_RNvMCs1234_7mycrateNtB2_3Foo3new", "<mycrate::Foo>::new" },
		{ "_RNvXCs1234_7mycrateNtB2_3FooNtB2_5Trait2go",
		  "<mycrate::Foo as mycrate::Trait>::go" },
		{ "_RINvC1a1bKj1f_E", "a::b::<31>" },
		{ "_RINvC1a1bFUKCPhEuE", "a::b::<unsafe extern \"C\" fn(*const u8)>" },
		{ "_RNvC6_123foo3bar.llvm.4711", "123foo::bar" },
		{ "_RNvC6_123foo", "_RNvC6_123foo" },
		{ "_R", "_R" },
		{ "_RB_", "_RB_" },
	};
	struct sym *s = sym_new(NULL);
	char longer[9000] = "_Z";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(is_name(sym_demangle(s, names[i][0]), names[i][1]), "%s", names[i][0]);
	memset(longer + 2, 'P', sizeof(longer) - 3);
	ok(sym_demangle(s, longer) == longer, "a name that is too long stays as it is");
	memset(longer, 'R', sizeof(longer) - 1);
	longer[0] = '_';
	longer[3000] = 0;
	ok(!strcmp(sym_demangle(s, longer), longer), "a name nested without end too");
	sym_free(s);
}

/* A pair of pairs of pairs: each part stands twice for the one before. */
static char *doubling(int function, int levels)
{
	char *name;
	size_t len;
	FILE *f = open_memstream(&name, &len);

	fprintf(f, "_Z4f%03dSt4pairIiiES_IS0_S0_E", function);
	for (int i = 1; i < levels; i++) {
		const char c = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];

		fprintf(f, "S_IS%c_S%c_E", c, c);
	}
	fclose(f);
	return name;
}

/* As long as real ones get, with as many references. */
static void test_long_names(struct sym *s)
{
	static const char *const names[][2] = {
		{ "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_"
		  "S5_ESt10_Select1stIS8_ESt4lessIS5_ESaIS8_EE29_M_get_insert_hint_unique_posESt23"
		  "_Rb_tree_const_iteratorIS8_ERS7_",
		  "std::_Rb_tree<std::string, std::pair<std::string const, std::string >, "
		  "std::_Select1st<std::pair<std::string const, std::string > >, "
		  "std::less<std::string >, std::allocator<std::pair<std::string const, "
		  "std::string > > >::_M_get_insert_hint_unique_pos(std::_Rb_tree_const_iterator"
		  "<std::pair<std::string const, std::string > >, std::string const&)" },
		{ "_ZNSt7__cxx1110moneypunctIcLb0EE24_M_initialize_moneypunctEP15__locale_struct"
		  "PKc",
		  "std::moneypunct<char, false>::_M_initialize_moneypunct(__locale_struct*, "
		  "char const*)" },
		{ "_Z1fIJiiiiEEvDpT_DpRT_DpPT_DpOT_", "void f<int, int, int, int>(int, int, int, "
		  "int, int&, int&, int&, int&, int*, int*, int*, int*, int&&, int&&, int&&, "
		  "int&&)" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(is_name(sym_demangle(s, names[i][0]), names[i][1]), "%.60s", names[i][0]);
}

/* So many references could be a long name. */
#define HEAVY "_Z1%cRKSt6vectorIiSaIiEES3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_"

static bool is_heavy_name(struct sym *s, char c)
{
	char name[256];

	snprintf(name, sizeof(name), HEAVY, c);
	return sym_demangle(s, name) != name;
}

/* Our children; *@pid: the last one. */
static int children(pid_t *pid)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	int nr = 0, id, parent;
	char path[300], state;

	while ((e = readdir(dir)) != NULL) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d (%*[^)]) %c %d", &id, &state, &parent) == 3 &&
		    parent == getpid() && state != 'Z') {
			*pid = id;
			nr++;
		}
		if (f)
			fclose(f);
	}
	closedir(dir);
	return nr;
}

static int open_files(pid_t pid)
{
	char path[64];
	DIR *dir;
	int nr = -2;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

static void *demangle_one(void *s)
{
	return is_heavy_name(s, 'z') ? s : NULL;
}

/* What may be long is left to one child, whatever becomes of it. */
static void test_child(void)
{
	struct sym *s = sym_new(NULL);
	void *done = NULL;
	pthread_t thread;
	pid_t pid = 0;
	int nr = 0;

	for (char c = 'a'; c < 'k'; c++)
		nr += is_heavy_name(s, c);
	is(nr, 10, "ten long names");
	is(children(&pid), 1, "are written by one child");
	if (pid <= 0)
		abort();
	/* may we look?  what leaves no core is root's */
	is(geteuid() ? 1 : open_files(pid), 1, "which has none of our files");
	kill(pid, SIGKILL);
	for (nr = 0; nr < 10; nr++)
		if (!is_heavy_name(s, (char)('a' + nr)))
			break;
	is(nr, 10, "another one goes on when it is killed");
	children(&pid);
	kill(pid, SIGKILL);
	if (pthread_create(&thread, NULL, demangle_one, s) || pthread_join(thread, &done))
		abort();
	ok(done == s && is_heavy_name(s, 'a'), "and when the thread that asked has ended");
	sym_free(s);
}

static void test_endless_names(void)
{
	struct sym *s = sym_new(NULL);
	char *name = doubling(0, 4);

	alarm(120);
	test_long_names(s);
	ok(strlen(sym_demangle(s, name)) > 300, "a name that doubles a few times is written out");
	free(name);
	for (int levels = 12; levels <= 32; levels += 5) {
		name = doubling(0, levels);
		ok(sym_demangle(s, name) == name, "%d times: it stays as it is", levels);
		free(name);
	}
	/* the first that were found are remembered, then nobody looks any more */
	for (int i = 0; i < 200; i++) {
		name = doubling(i % 100, 33);
		if (sym_demangle(s, name) != name)
			break;
		free(name);
		name = NULL;
	}
	ok(!name, "many of them take no longer than some");
	ok(is_name(sym_demangle(s, "_Z5chunki"), "chunk(int)"), "others have their names");
	sym_free(s);
}

/* What a module says of addresses. */
static int module_name(int device, __u64 addr, char text[MEMTAP_SYMBOL_LEN])
{
	static const char *const texts[] = {
		"vfs_read+0x1f/0x300", "ext4_read+0x10/0x20 [ext4]", "", "cut_name_without_offset",
	};

	strcpy(text, texts[addr & 3]);
	return device == 7 && addr < 8 ? 0 : -ENOTTY;
}

static void test_named_by_module(void)
{
	const struct sym_opts so = { .kernel_name = module_name, .device = 7 };
	struct sym *s = sym_new(&so);
	struct snap snap = { .header = { .real_ns = ~0ULL } };
	const struct sym_frame *f;
	struct utsname u;

	uname(&u);
	snprintf(snap.header.host, sizeof(snap.header.host), "%.63s", u.nodename);
	snprintf(snap.header.release, sizeof(snap.header.release), "%.63s", u.release);
	sym_kernel(s, &snap, 4, false, &f);
	ok(is_name(f->name, "vfs_read") && is_name(f->object, "kernel") && f->offset == 0x1f,
	   "the module names a function");
	sym_kernel(s, &snap, 6, true, &f);
	ok(is_name(f->name, "ext4_read") && is_name(f->object, "ext4") && f->offset == 0x11,
	   "of a module, by a return address");
	sym_kernel(s, &snap, 2, false, &f);
	ok(!f->name, "what has no name");
	sym_kernel(s, &snap, 3, false, &f);
	ok(!f->name, "what was cut");
	sym_free(s);
}

/* Kernel code: a function that ends in a call which never returns, and what lies behind it. */
static const char *behind;

static int name_at_end(int device, __u64 addr, char text[MEMTAP_SYMBOL_LEN])
{
	(void)device;
	if (addr < 0x40)
		snprintf(text, MEMTAP_SYMBOL_LEN, "crash_shutdown+0x%llx/0x40", addr);
	else
		snprintf(text, MEMTAP_SYMBOL_LEN, "%s+0x%llx/0x80", behind, addr - 0x40);
	return 0;
}

static void test_trampolines(void)
{
	static const struct { const char *behind; __u64 ip; bool call; const char *is; } cases[] = {
		{ "kretprobe_trampoline", 0x40, true, "kretprobe_trampoline" },
		{ "__kretprobe_trampoline", 0x40, true, "__kretprobe_trampoline" },
		{ "arch_rethook_trampoline", 0x40, true, "arch_rethook_trampoline" },
		{ "return_to_handler", 0x40, true, "return_to_handler" },
		{ "vfs_read", 0x40, true, "crash_shutdown" },
		{ "vfs_read", 0x40, false, "vfs_read" },
		{ "return_to_handler", 0x44, true, "return_to_handler" },
	};
	struct sym_opts so = { .kernel_name = name_at_end };
	struct snap snap = { .header = { .real_ns = ~0ULL } };
	const struct sym_frame *f;
	struct utsname u;

	uname(&u);
	snprintf(snap.header.host, sizeof(snap.header.host), "%.63s", u.nodename);
	snprintf(snap.header.release, sizeof(snap.header.release), "%.63s", u.release);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sym *s = sym_new(&so);

		behind = cases[i].behind;
		sym_kernel(s, &snap, cases[i].ip, cases[i].call, &f);
		ok(is_name(f->name, cases[i].is), "%s at %#llx, by %s", cases[i].is,
		   (unsigned long long)cases[i].ip, cases[i].call ? "a call" : "itself");
		sym_free(s);
	}
}

int main(void)
{
	test_named_by_module();
	test_trampolines();
	test_kallsyms();
	test_kallsyms_in_parts();
	test_module_range();
	test_perfmap();
	test_demangle();
	test_child();
	test_endless_names();
	return tap_done();
}
