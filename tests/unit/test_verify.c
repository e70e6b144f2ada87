// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/leaks/verify.c ctl/target/cgroup.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/procmaps.c ctl/target/procs.c */
/* Whose code is as in its file, and who passes a filter. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/procs.h"
#include "tap.h"
#include "leaks/verify.h"

#define FILE_LEN	16384
#define PLACE		5000		/* in the second page */
#define OTHER		12000		/* in one that is not mapped */

static char path[] = "/tmp/memtap-verify.XXXXXX";
static int fd;
static volatile int *ready;

static void make_file(void)
{
	char bytes[FILE_LEN];

	fd = mkstemp(path);
	for (int i = 0; i < FILE_LEN; i++)
		bytes[i] = (char)(i * 7);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		ok(0, "a file can be made");
	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* A process that has the file's second and third page, perhaps with a breakpoint. */
static pid_t start(bool map, bool change)
{
	const int before = *ready;
	const pid_t child = fork();
	unsigned char *text;

	if (child) {
		while (*ready == before)
			usleep(1000);
		return child;
	}
	if (map) {
		text = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 4096);
		if (change)
			text[PLACE - 4096] = 0xcc;
	}
	prctl(PR_SET_NAME, "verified");
	++*ready;
	for (;;)
		pause();
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static pid_t only;
static enum verify_who how;

static enum verify_who who(pid_t pid, void *ctx)
{
	return pid == only ? how : VERIFY_NOT;
}

static struct verify_result look_at(pid_t pid, enum verify_who as)
{
	__u64 offsets[] = { OTHER, PLACE };
	struct verify_file file = { .fd = fd, .path = path, .offsets = offsets, .nr = 2 };
	struct verify_result r;
	struct stat st;

	fstat(fd, &st);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	only = pid;
	how = as;
	verify_text(&file, 1, who, NULL, &r);
	return r;
}

static void test_text(void)
{
	const pid_t good = start(true, false), bad = start(true, true), none = start(false, false);
	struct verify_result r;

	r = look_at(good, VERIFY);
	ok(r.processes == 1 && !r.changed, "code that is as in its file is");
	r = look_at(bad, VERIFY);
	ok(r.processes == 1 && r.changed == 1, "a breakpoint is found");
	ok(r.pid == bad && r.offset == PLACE && !strcmp(r.path, path), "with its place");
	r = look_at(none, VERIFY);
	ok(!r.processes && !r.changed, "who does not have the file is not counted");
	r = look_at(good, VERIFY_SILENTLY);
	ok(!r.processes && !r.changed, "nor who is only looked at");
	r = look_at(bad, VERIFY_SILENTLY);
	ok(r.processes == 1 && r.changed == 1, "unless something is wrong there");
	r = look_at(bad, VERIFY_NOT);
	ok(!r.processes && !r.changed, "who is not meant is not looked at");
	end(good);
	end(bad);
	end(none);
}

static void test_filter(void)
{
	const pid_t child = start(false, false);
	struct memtap_filter_item items[] = {
		{ .kind = MEMTAP_FILTER_PID, .value = (__u64)child },
		{ .kind = MEMTAP_FILTER_COMM, .comm = "verified" },
	};

	ok(procs_passes(child, NULL, 0), "without a filter everybody passes");
	ok(procs_passes(child, items, 2), "who fits in all kinds passes");
	ok(!procs_passes(getpid(), items, 1), "another process does not");
	strcpy(items[1].comm, "verifier");
	ok(!procs_passes(child, items, 2), "nor one of another name");
	items[0].kind = MEMTAP_FILTER_TID;
	ok(procs_passes(child, items, 1), "a process passes by its thread");
	items[0].kind = MEMTAP_FILTER_CGROUP2;
	ok(!procs_passes(child, items, 1), "who is not in a cgroup does not pass");
	is(procs_status(child, child, "Threads"), 1, "numbers of a thread can be read");
	is(procs_status(child, child, "Nonsense"), -1, "where there are such");
	end(child);
}

int main(void)
{
	make_file();
	test_text();
	test_filter();
	unlink(path);
	return tap_done();
}
