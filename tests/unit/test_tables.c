// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/base/limit.c ctl/base/openreg.c ctl/snap/common.c */
/* LINK: ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c ctl/target/ldcache.c */
/* LINK: ctl/target/maps.c ctl/target/wrapper.c ctl/target/needed.c ctl/target/needed_elf.c */
/* LINK: ctl/target/needed_libs.c */
/* LINK: ctl/target/target.c ctl/unwind/serve.c ctl/unwind/tables.c ctl/unwind/tables_prepare.c */
/* LINK: kmod/core/wire.c -lelf */
/* VARIANTS: asan tsan */
/*
 * Which files are handed to the module, before and while a session runs; the
 * module and the compiler of tables are invented here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/dev.h"
#include "scratch.h"
#include "target/maps.h"
#include "unwind/tables.h"
#include "tap.h"
#include "unwind/unwind.h"

/* ---- the module ---- */

#define MAX_FILES	16384
#define TABLE_BYTES	1000
#define BUDGET		(1000 * TABLE_BYTES)

static struct {
	__u32 id;
	ino_t inode;
	char path[128];
	__u64 cut;
	bool has;
} mapped[MAX_FILES];
static size_t nr_mapped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t had;			/* a table was handed in, or refused */
static ino_t order[MAX_FILES];		/* files that have tables, as they came */
static size_t nr_order;
static int room = MAX_FILES, vdsos;
static __u32 last_kind;

static void reset(void)
{
	nr_mapped = nr_order = 0;
	room = MAX_FILES;
	vdsos = 0;
}

int dev_table(int fd, struct memtap_table *t)
{
	struct stat st;
	int err = 0;

	(void)fd;
	if (t->flags & MEMTAP_TABLE_VDSO) {
		vdsos += t->fd == -1;
		return 0;
	}
	if (fstat(t->fd, &st))
		return -EBADF;
	pthread_mutex_lock(&lock);
	last_kind = ((const struct memtap_rule *)(unsigned long)t->rules_ptr)->kind;
	for (size_t i = 0; i < nr_order; i++)
		if (order[i] == st.st_ino)
			err = -EEXIST;
	if (!err && !room)
		err = -EDQUOT;
	t->file = 1000;
	for (size_t i = 0; !err && i < nr_mapped; i++)
		if (mapped[i].inode == st.st_ino) {
			mapped[i].has = true;
			t->file = mapped[i].id;
		}
	if (!err) {
		t->bytes = TABLE_BYTES;
		order[nr_order++] = st.st_ino;
		room--;
	}
	pthread_mutex_unlock(&lock);
	sem_post(&had);
	return err;
}

int dev_wanted(int fd, struct memtap_wanted *w)
{
	int err = -ENOENT;

	(void)fd;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; err && i < nr_mapped; i++) {
		if (mapped[i].id <= w->file || mapped[i].has)
			continue;
		w->file = mapped[i].id;
		w->pid = getpid();
		w->cut = mapped[i].cut;
		w->start = 0x1000;
		w->end = 0x2000;
		snprintf((char *)(unsigned long)w->path_ptr, w->path_len, "%s",
			 mapped[i].path);
		err = 0;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* ---- the compiler ---- */

static char slow[128];			/* the file that takes long */
static sem_t begun, go_on;
static unsigned int compiled;		/* atomic */
static struct memtap_rule rule = { .kind = MEMTAP_RULE_CFA, .ra = -8 };
static __u32 row;
static __u16 kind;

static ino_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

int unwind_get(int fd, struct unwind_table *t)
{
	struct stat st;
	char head[4] = "";

	__atomic_add_fetch(&compiled, 1, __ATOMIC_RELAXED);
	if (fstat(fd, &st) || pread(fd, head, 4, 0) < 4)
		return -EBADMSG;
	if (slow[0] && st.st_ino == inode_of(slow)) {
		sem_post(&begun);
		sem_wait(&go_on);
	}
	if (!memcmp(head, "none", 4))
		return -ENOEXEC;
	*t = (struct unwind_table){ .nr_rows = 1, .nr_rules = 1, .rows = &row,
				    .kinds = &kind, .rules = &rule };
	return 0;
}

int unwind_vdso(struct unwind_table *t)
{
	*t = (struct unwind_table){ .nr_rows = 1, .nr_rules = 1, .rows = &row,
				    .kinds = &kind, .rules = &rule };
	return 0;
}

void unwind_free(struct unwind_table *t)
{
	(void)t;
}

static const char *companions[4];
static char remembered[512];

int unwind_companions(int fd, int (*fn)(const char *path, void *ctx), void *ctx)
{
	int ret = 0;

	(void)fd;
	for (int i = 0; !ret && companions[i]; i++)
		ret = fn(companions[i], ctx);
	return ret;
}

void unwind_remember(int fd, const char *const *paths, size_t nr)
{
	(void)fd;
	for (size_t i = 0; i < nr; i++)
		snprintf(remembered + strlen(remembered),
			 sizeof(remembered) - strlen(remembered), "%s ", paths[i]);
}

/* ---- files ---- */

static const char *in_dir(const char *name)
{
	static char path[4][128];
	static int i;

	snprintf(path[++i % 4], sizeof(path[0]), "%s/%s", scratch_dir, name);
	return path[i % 4];
}

static const char *make(const char *name, const char *text)
{
	const char *path = in_dir(name);
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	return path;
}

static void map_file(__u32 id, const char *path, __u64 cut)
{
	pthread_mutex_lock(&lock);
	mapped[nr_mapped].id = id;
	mapped[nr_mapped].inode = inode_of(path);
	mapped[nr_mapped].cut = cut;
	mapped[nr_mapped].has = false;
	snprintf(mapped[nr_mapped].path, sizeof(mapped[0].path), "%s", path);
	nr_mapped++;
	pthread_mutex_unlock(&lock);
}

static bool handed_in(const char *path)
{
	const ino_t inode = inode_of(path);

	for (size_t i = 0; i < nr_order; i++)
		if (order[i] == inode)
			return true;
	return false;
}

/* ---- before START ---- */

static void test_program(void)
{
	struct tables_target who = { .program = "/proc/self/exe" };
	struct tables t;
	size_t nr;

	reset();
	tables_init(&t, -1, BUDGET);
	companions[0] = make("plugin", "ELF plugin");
	companions[1] = in_dir("gone");
	tables_prepare(&t, &who);
	is(vdsos, 1, "the code of the kernel is handed in");
	ok(handed_in("/proc/self/exe"), "so is the program");
	ok(handed_in("/lib64/ld-linux-x86-64.so.2") || handed_in("/lib/ld-musl-x86_64.so.1"),
	   "its dynamic linker");
	ok(handed_in(in_dir("plugin")), "and what it brought in the last times");
	nr = nr_order;
	is(t.files, nr + 1, "all of them count as having a table");
	is(__atomic_load_n(&compiled, __ATOMIC_RELAXED), nr,
	   "a file that comes by several ways is compiled once");
	ok(!tables_summary(&t, (char[64]){ 0 }, 64), "there is nothing to complain of");
	tables_free(&t);
	companions[0] = companions[1] = NULL;
}

static void test_processes(void)
{
	const __u32 self = (__u32)getpid(), nobody = 0x7fffffff;
	struct tables_target who = { .pids = &self, .nr_pids = 1 };
	struct tables t;
	size_t nr;

	reset();
	tables_init(&t, -1, BUDGET);
	tables_prepare(&t, &who);
	ok(handed_in("/proc/self/exe") && nr_order > 2, "all that a process maps is handed in");
	nr = nr_order;
	who = (struct tables_target){ .tids = &nobody, .nr_tids = 1 };
	tables_prepare(&t, &who);
	is(nr_order, nr, "a thread that is gone has nothing");
	tables_free(&t);

	reset();
	tables_init(&t, -1, BUDGET);
	who = (struct tables_target){ .everybody = true };
	tables_prepare(&t, &who);
	ok(handed_in("/proc/self/exe") && nr_order >= nr,
	   "of everybody's files this one's are some");
	tables_free(&t);
}

static void test_no_room(void)
{
	struct tables_target who = { .program = "/proc/self/exe" };
	struct tables t;
	char text[256];

	reset();
	room = 2;
	tables_init(&t, -1, BUDGET);
	tables_prepare(&t, &who);
	is(nr_order, 2, "as many as there is room for are handed in");
	is(t.no_room, 1, "then no more are tried");
	ok(tables_summary(&t, text, sizeof(text)) && strstr(text, "not enough memory for 1 more"),
	   "and it is told: %s", text);
	tables_free(&t);
}

/* What a program only may map shall not take the room of what it does map. */
static void test_half_full(void)
{
	struct tables_target who = { .program = make("nothing", "text") };
	struct tables t;

	reset();
	companions[0] = make("plugin1", "ELF p1");
	companions[1] = make("plugin2", "ELF p2");
	companions[2] = make("plugin3", "ELF p3");
	tables_init(&t, -1, BUDGET);
	tables_prepare(&t, &who);
	ok(handed_in(companions[2]), "companions are handed in where there is room");
	tables_free(&t);
	reset();
	/* half of it is just less than what all but the last took */
	tables_init(&t, -1, 2 * (t.files - 1) * TABLE_BYTES - 2 * TABLE_BYTES - 1);
	tables_prepare(&t, &who);
	ok(handed_in(companions[1]), "but not beyond the half of it:");
	ok(!handed_in(companions[2]), "the one that was mapped longest ago is left out");
	ok(!t.full && !t.no_room, "which is no lack of room");
	tables_free(&t);
	memset(companions, 0, sizeof(companions));
}

static void test_interrupted(void)
{
	struct tables_target who = { .program = "/proc/self/exe", .everybody = true };
	struct tables t;
	sigset_t set, before;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	kill(getpid(), SIGINT);
	reset();
	tables_init(&t, -1, BUDGET);
	tables_prepare(&t, &who);
	ok(nr_order < 5, "somebody who presses Ctrl-C does not wait for all files");
	sigwait(&set, &sig);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	tables_free(&t);
}

static void test_kinds(void)
{
	struct tables t;
	char text[256];
	__u32 id;
	int fd;

	reset();
	tables_init(&t, -1, BUDGET);
	fd = open(make("jit", "none of ELF"), O_RDONLY);
	is(tables_load(&t, fd, "jit", &id), 0, "code that is in no ELF file has a table, too");
	is(last_kind, MEMTAP_RULE_FP, "by which frame pointers are followed");
	is(tables_load(&t, fd, "jit", &id), -EEXIST, "a table that is there is no failure");
	close(fd);
	ok(!tables_summary(&t, text, sizeof(text)), "nor worth telling");
	fd = open(make("tiny", "E"), O_RDONLY);
	is(tables_load(&t, fd, "tiny", &id), -EBADMSG, "a damaged file has none");
	close(fd);
	ok(tables_summary(&t, text, sizeof(text)) && strstr(text, "none for 1 (tiny: damaged)"),
	   "which is told: %s", text);
	tables_free(&t);
}

/* ---- while it runs ---- */

static void wait_for(unsigned int nr)
{
	while (nr--)
		sem_wait(&had);
}

static void forget_had(void)
{
	while (!sem_trywait(&had))
		;
}

static void test_serve(void)
{
	struct tables t;
	struct serve *s;
	int fds[2];

	reset();
	forget_had();
	if (pipe(fds))
		abort();
	tables_init(&t, fds[0], BUDGET);
	map_file(10, make("seldom", "ELF1"), 1);
	map_file(12, make("often", "ELF2"), 500);
	map_file(14, in_dir("vanished"), 700);
	map_file(16, make("twice", "ELF3"), 20);
	s = serve_start(&t, true, NULL);
	ok(s != NULL, "a thread serves what is wanted");
	wait_for(3);
	map_file(18, make("later", "ELF4"), 0);
	wait_for(1);
	serve_stop(s);
	serve_end(s);
	is(nr_order, 4, "all that can be opened get their tables, also what comes later");
	is(order[0], inode_of(in_dir("often")), "what cuts most stacks first");
	is(order[1], inode_of(in_dir("twice")), "then the next");
	is(order[3], inode_of(in_dir("later")), "what is mapped later comes later");
	is(t.unreadable, 1, "a file that cannot be opened is tried once");
	is(t.files, 4, "the others have tables");
	tables_free(&t);
	close(fds[0]);
	close(fds[1]);
}

static void test_slow(void)
{
	struct tables t;
	struct serve *s;
	int fds[2];

	reset();
	forget_had();
	if (pipe(fds))
		abort();
	tables_init(&t, fds[0], BUDGET);
	snprintf(slow, sizeof(slow), "%s", make("huge", "ELF5"));
	map_file(10, slow, 9);
	map_file(12, make("next", "ELF6"), 1);
	s = serve_start(&t, true, NULL);
	sem_wait(&begun);
	serve_stop(s);
	ok(true, "the end of a session does not wait for a huge file");
	sem_post(&go_on);
	serve_end(s);
	is(nr_order, 1, "which is finished when all else is done");
	is(order[0], inode_of(slow), "but no other is begun");
	slow[0] = '\0';
	tables_free(&t);
	close(fds[0]);
	close(fds[1]);
}

/* What only a child before its execve() maps is not worth a table. */
static void test_own(void)
{
	struct tables_target who = { .program = make("nothing", "text") };
	struct tables t;
	struct serve *s;
	struct maps own;
	int fds[2];

	reset();
	if (pipe(fds))
		abort();
	tables_init(&t, fds[0], BUDGET);
	tables_prepare(&t, &who);
	forget_had();
	reset();
	if (maps_read(getpid(), &own))
		abort();
	for (size_t i = 0; i < own.nr; i++)
		map_file(10 + 2 * (__u32)i, own.files[i]->path, i == 1);
	map_file(1000, make("module", "ELF7"), 0);
	s = serve_start(&t, true, NULL);
	wait_for(2);
	serve_stop(s);
	serve_end(s);
	is(nr_order, 2, "files of memtap itself get no table,");
	is(order[0], inode_of(own.files[1]->path), "unless stacks end there");
	is(order[1], inode_of(in_dir("module")), "as all others do");
	maps_free(&own);
	tables_free(&t);
	close(fds[0]);
	close(fds[1]);
}

/* ---- for the next time ---- */

static void test_remember(void)
{
	static struct memtap_rec_task tasks[] = {
		{ .id = 8, .space = 1, .pid = 5 },
		{ .id = 9, .space = 2, .pid = 6 },
		{ .id = 10, .space = 3, .pid = 5 },
	};
	static char own[128];
	struct snap_file files[] = {
		{ .id = 1, .path = "/bin/app" }, { .id = 2, .path = "/lib/plugin.so" },
		{ .id = 3, .path = "/bin/other" }, { .id = 4, .path = own },
		{ .id = 5, .path = "/lib/of-memtap.so" }, { .id = 6, .path = "anon" },
	};
	struct snap_map maps[] = {
		{ .space = 1, .file = 1 }, { .space = 1, .file = 2 }, { .space = 1, .file = 6 },
		{ .space = 1 }, { .space = 2, .file = 3 }, { .space = 2, .file = 2 },
		{ .space = 3, .file = 5 }, { .space = 3, .file = 4 },
	};
	struct snap s = { .tasks = tasks, .nr_tasks = 3, .files = files, .nr_files = 6,
			  .maps = maps, .nr_maps = 8 };
	struct tables t;

	struct tables_target who = { .program = "/proc/self/exe", .program_pid = 5 };
	const __u32 self = (__u32)getpid();

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		abort();
	tables_init(&t, -1, 0);
	tables_remember(&t, &s, &who, true);
	ok(!strcmp(remembered, "/bin/app /lib/plugin.so /bin/other "),
	   "all processes' files are kept, but not those of a copy of memtap");
	remembered[0] = '\0';
	tables_remember(&t, &s, &who, false);
	ok(!strcmp(remembered, "/bin/app /lib/plugin.so "), "or those of one process");
	remembered[0] = '\0';
	who = (struct tables_target){ .everybody = true };
	tables_remember(&t, &s, &who, false);
	ok(!strcmp(remembered, "/bin/app /lib/plugin.so /bin/other "),
	   "of sessions with everybody, all");
	remembered[0] = '\0';
	who = (struct tables_target){ .pids = &self, .nr_pids = 1 };
	tasks[1].pid = getpid();
	tables_remember(&t, &s, &who, true);
	ok(!strcmp(remembered, "/lib/plugin.so /bin/other "),
	   "of a process, what it mapped: it is its program's");
	remembered[0] = '\0';
	who = (struct tables_target){ .program = "/proc/self/exe", .program_pid = 5 };
	files[0].path = make("gone", "ELF8");
	s.nr_maps = 0;
	s.nr_files = 2;
	tables_remember(&t, &s, &who, true);
	ok(!strncmp(remembered, files[0].path, strlen(files[0].path)) &&
	   !strcmp(remembered + strlen(files[0].path), " "), "what came and went is kept");
	remembered[0] = '\0';
	tables_remember(&t, &s, &who, true);
	ok(!remembered[0], "but not what was handed in beforehand");
	tables_free(&t);
}

int main(void)
{
	if (sem_init(&had, 0, 0) || sem_init(&begun, 0, 0) || sem_init(&go_on, 0, 0))
		return 1;
	scratch_begin();
	unsetenv("LD_PRELOAD");
	test_program();
	test_processes();
	test_no_room();
	test_half_full();
	test_interrupted();
	test_kinds();
	test_serve();
	test_slow();
	test_own();
	test_remember();
	return scratch_end() ? 1 : tap_done();
}
