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
/*
 * Addresses of this very process, named from its own mappings, as the module
 * would record them; then the same when files were replaced, the process is
 * gone, or the snapshot comes from elsewhere.
 */
#include <errno.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/int.h"
#include "sym/jitmaps.h"
#include "tap.h"

#define MAX_MAPS	256

static struct snap snap;
static struct snap_map maps[MAX_MAPS];
static struct snap_file files[MAX_MAPS];
static char paths[MAX_MAPS][4096];
static struct memtap_rec_task task;

static __u64 now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* When this process was forked, on the monotonic clock. */
static __u64 born(void)
{
	char text[1024] = "", *p;
	FILE *f = fopen("/proc/self/stat", "r");

	if (!fread(text, 1, sizeof(text) - 1, f))
		return 0;
	fclose(f);
	p = strrchr(text, ')');
	for (int field = 2; field < 22; field++)
		p = strchr(p + 1, ' ');
	return strtoull(p, NULL, 10) * (1000000000ULL / sysconf(_SC_CLK_TCK)) -
	       (now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC));
}

static void record_file(const char *path, bool with_id)
{
	struct snap_file *f = &files[snap.nr_files++];
	const void *id;
	struct stat st;
	ssize_t len;
	Elf *elf;
	int fd;

	memset(f, 0, sizeof(*f));
	f->id = snap.nr_files;
	f->path = strcpy(paths[snap.nr_files - 1], path);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return;
	f->inode = st.st_ino;
	f->dev_major = major(st.st_dev);
	f->dev_minor = minor(st.st_dev);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	len = elf && with_id ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	if (len > 0 && len <= (ssize_t)sizeof(f->build_id)) {
		f->build_id_len = len;
		memcpy(f->build_id, id, len);
	}
	elf_end(elf);
	close(fd);
}

static void record_process(bool with_id)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], perms[8], path[4096];
	unsigned long long start, end, offset;
	struct utsname u;

	snap.nr_maps = snap.nr_files = 0;
	snap.maps = maps;
	snap.files = files;
	uname(&u);
	strcpy(snap.header.host, u.nodename);
	strcpy(snap.header.release, u.release);
	snap.header.real_ns = now(CLOCK_REALTIME);
	snap.header.now_ns = now(CLOCK_MONOTONIC);
	while (fgets(line, sizeof(line), f) && snap.nr_maps < MAX_MAPS) {
		struct snap_map *m = &maps[snap.nr_maps];

		*path = 0;
		sscanf(line, "%llx-%llx %7s %llx %*s %*s %4000[^\n]", &start, &end,
		       perms, &offset, path);
		if (!strchr(perms, 'x'))
			continue;
		*m = (struct snap_map){ .space = 1, .start = start, .end = end,
					.offset = offset };
		if (!strcmp(path, "[vdso]")) {
			m->flags = MEMTAP_MAP_VDSO;
			m->offset = 0;
		} else if (*path == '/') {
			record_file(path, with_id);
			m->file = snap.nr_files;
		}
		snap.nr_maps++;
	}
	fclose(f);
	task = (struct memtap_rec_task){ .id = 8, .space = 1, .pid = getpid(),
		.tid = getpid(), .ns_pid = getpid(), .uid = getuid(),
		.start_ns = born() };
}

/* The place inside of it is asked for; its body must not be merged away. */
static void *place;

static inline __attribute__((always_inline)) void inner(void)
{
	/* (clang does not inline what has a label whose address is taken) */
#ifdef __aarch64__
	__asm__ volatile("adr %0, ." : "=r"(place)); const int inner_line = __LINE__;
#else
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(place)); const int inner_line = __LINE__;
#endif

	__asm__ volatile("nop; nop" :: "r"(inner_line));
}

static __attribute__((noinline)) int outer(void)
{
	inner(); return __LINE__;
}

static bool named(const struct sym_frame *f, const char *name)
{
	if (f->name && !strcmp(f->name, name))
		return true;
	printf("# %s, not %s\n", f->name ? f->name : "(none)", name);
	return false;
}

static void test_own_function(void)
{
	const struct sym_frame *f = NULL, *again;
	struct sym *s = sym_new(NULL);
	size_t n;

	record_process(true);
	n = sym_user(s, &snap, &task, 0, (uintptr_t)outer, false, &f);
	ok(n && named(&f[n - 1], "outer"), "the first byte of a function is named");
	is(f[n - 1].offset, 0, "at offset 0");
	ok(!strcmp(f->object, program_invocation_short_name), "in its object");
	ok(f->file && strstr(f->file, "test_sym_user.c") && f->line > 0, "with its line");
	n = sym_user(s, &snap, &task, 0, (uintptr_t)outer, true, &again);
	ok(!again->name || strcmp(again->name, "outer"),
	   "as a return address it belongs to the call before it");
	sym_user(s, &snap, &task, 0, (uintptr_t)outer, false, &again);
	ok(again == f, "a second time, the same frames come back");
	sym_free(s);
}

static void test_inlined_call(void)
{
	struct sym_opts no_inline = { .no_inline = true }, no_lines = { .no_lines = true };
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);
	int line = outer();
	size_t n;

	n = sym_user(s, &snap, &task, 0, (uintptr_t)place + 1, false, &f);
	if (ok(n == 2, "an address in an inlined call has two frames")) {
		ok(named(&f[0], "inner") && f[0].inlined, "the inlined function");
		ok(named(&f[1], "outer") && !f[1].inlined, "in the one that it is in");
		is(f[1].line, line, "with the line of the call");
	}
	sym_free(s);
	s = sym_new(&no_inline);
	n = sym_user(s, &snap, &task, 0, (uintptr_t)place + 1, false, &f);
	ok(n == 1 && named(&f[0], "outer"), "inlined calls can be left out");
	sym_free(s);
	s = sym_new(&no_lines);
	n = sym_user(s, &snap, &task, 0, (uintptr_t)place + 1, false, &f);
	ok(n == 1 && named(&f[0], "outer") && !f[0].file, "and lines");
	sym_free(s);
}

static void test_library_and_vdso(void)
{
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);
	const struct snap_map *vdso = NULL;

	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(named(f, "elf_begin") && !strncmp(f->object, "libelf", 6),
	   "a function of a library is named");
	for (size_t i = 0; i < snap.nr_maps; i++)
		if (maps[i].flags & MEMTAP_MAP_VDSO)
			vdso = &maps[i];
	if (vdso) {
		int found = 0;

		for (__u64 ip = vdso->start; ip < vdso->end; ip += 16) {
			sym_user(s, &snap, &task, 0, ip, false, &f);
			found += f->name && strstr(f->name, "clock_gettime");
		}
		ok(found, "functions of the vdso are named");
	}
	sym_user(s, &snap, &task, 0, 0x1234, false, &f);
	ok(!f->name && !*f->object && f->addr == 0x1234,
	   "an address in no mapping has no name");
	sym_user(s, &snap, NULL, 0, 0x1234, false, &f);
	ok(!f->name, "nor has any address of a task that was not kept");
	sym_free(s);
}

static void test_other_machine(void)
{
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);

	strcpy(snap.header.host, "elsewhere.example");
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(named(f, "elf_begin"), "a file of the same build-id will do from elsewhere");
	sym_free(s);
	record_process(false);
	s = sym_new(NULL);
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(named(f, "elf_begin"), "without build-id, the same inode will do here");
	strcpy(snap.header.host, "elsewhere.example");
	sym_free(s);
	s = sym_new(NULL);
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(!f->name && f->addr, "but not from elsewhere: an offset is shown");
	ok(sym_notes(s)[0] && strstr(sym_notes(s)[0], "libelf"), "and a note says so");
	sym_free(s);
	s = sym_new(NULL);
	record_process(false);
	snap.header.real_ns = 1000000000;
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(!f->name, "nor from a boot before this one");
	sym_free(s);
}

static void test_replaced_file(void)
{
	char path[] = "/tmp/memtap-test-XXXXXX", command[4200];
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);
	int fd = mkstemp(path);

	record_process(true);
	for (size_t i = 0; i < snap.nr_files; i++) {
		if (!strstr(files[i].path, "libelf"))
			continue;
		/* another library lies there now */
		snprintf(command, sizeof(command), "cp /proc/self/exe %s", path);
		ok(!system(command), "a file is replaced");
		files[i].path = path;
		task.flags = MEMTAP_TASK_EXITED;
	}
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	ok(!f->name && f->object && strstr(f->object, "memtap-test"),
	   "a file that was replaced gives no names");
	ok(sym_notes(s)[0] && strstr(sym_notes(s)[0], "replaced"), "and a note says so");
	sym_free(s);
	close(fd);
	unlink(path);
}

static void test_deleted_file(void)
{
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);

	record_process(true);
	for (size_t i = 0; i < snap.nr_files; i++)
		if (strstr(files[i].path, "libelf"))
			files[i].path = "/usr/lib/gone.so (deleted)";
	sym_user(s, &snap, &task, 0, (uintptr_t)elf_begin, false, &f);
	if (geteuid() == 0)
		ok(named(f, "elf_begin"), "a deleted file is read through its mapping");
	else
		ok(!f->name, "a deleted file needs root to be read");
	sym_free(s);
}

static void put_perf_map(const char *path, const void *code)
{
	FILE *m = fopen(path, "w");

	fprintf(m, "%lx 1000 jit_function\n", (unsigned long)code);
	fclose(m);
}

static void test_jit(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);
	char path[64];

	record_process(true);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	put_perf_map(path, code);
	sym_user(s, &snap, &task, 0, (uintptr_t)code + 8, false, &f);
	ok(named(f, "jit_function") && f->offset == 8, "code of a JIT compiler is named");
	sym_free(s);
	s = sym_new(NULL);
	task.start_ns = now(CLOCK_MONOTONIC) + 100000000000ULL;
	snap.header.now_ns = task.start_ns;
	snap.header.real_ns += 100000000000ULL;
	sym_user(s, &snap, &task, 0, (uintptr_t)code + 8, false, &f);
	ok(!f->name, "a map that is older than the process is of another one");
	ok(!strcmp(f->object, "[jit]"), "such code is said to be a compiler's");
	sym_free(s);
	if (geteuid() == 0) {
		s = sym_new(NULL);
		record_process(true);
		if (chown(path, 12345, 12345))
			perror(path);
		sym_user(s, &snap, &task, 0, (uintptr_t)code + 8, false, &f);
		ok(!f->name, "a map of another user is not believed");
		ok(sym_notes(s)[0] && strstr(sym_notes(s)[0], "belongs to user 12345") &&
		   !sym_notes(s)[1], "which is said, once");
		sym_free(s);
	}
	unlink(path);
	munmap(code, 4096);
}

/* The process is another program since: the map in its name is that one's. */
static void test_execed(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memtap_rec_task tasks[2];
	const struct sym_frame *f = NULL;
	struct sym *s = sym_new(NULL);
	char path[64];

	record_process(true);
	tasks[0] = task;
	tasks[1] = task;
	tasks[1].exec = 1;
	snap.tasks = tasks;
	snap.nr_tasks = 2;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	put_perf_map(path, code);
	sym_user(s, &snap, &tasks[0], 0, (uintptr_t)code + 8, false, &f);
	ok(!f->name, "code from before execve() has no name of what came after");
	sym_user(s, &snap, &tasks[1], 0, (uintptr_t)code + 8, false, &f);
	ok(named(f, "jit_function"), "which has its own");
	snap.tasks = NULL;
	snap.nr_tasks = 0;
	unlink(path);
	munmap(code, 4096);
	sym_free(s);
}

/* Names are read before their file goes. */
static void test_kept(void)
{
	struct memtap_filter_item self = { .kind = MEMTAP_FILTER_PID, .value = getpid() };
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct sym_frame *f = NULL;
	struct sym_opts opts = { 0 };
	struct sym *s;
	char path[64];

	record_process(true);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	put_perf_map(path, code);
	opts.jitmaps = jitmaps_start(&self, 1, false);
	usleep(500000);
	unlink(path);
	ok(!jitmaps_stop(opts.jitmaps, false), "the watching of names ends well");
	s = sym_new(&opts);
	sym_user(s, &snap, &task, 0, (uintptr_t)code + 8, false, &f);
	ok(named(f, "jit_function"), "a map that was there names code when it is gone");
	sym_free(s);
	jitmaps_free(opts.jitmaps);
	opts.jitmaps = jitmaps_start(&self, 1, false);
	ok(jitmaps_stop(opts.jitmaps, true) != NULL, "where there is no JVM, none is asked");
	jitmaps_free(opts.jitmaps);
	munmap(code, 4096);
}

static void test_life(void)
{
	pid_t pid;

	record_process(true);
	ok(sym_task_lives(&snap, &task), "this process lives");
	task.start_ns -= 5000000000ULL;
	ok(!sym_task_lives(&snap, &task), "an earlier one of its PID does not");
	record_process(true);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	task.pid = task.tid = pid;
	ok(!sym_task_lives(&snap, &task), "one that has exited does not");
}

int main(void)
{
	test_own_function();
	test_inlined_call();
	test_library_and_vdso();
	test_other_machine();
	test_replaced_file();
	test_deleted_file();
	test_jit();
	test_execed();
	test_kept();
	test_life();
	return tap_done();
}
