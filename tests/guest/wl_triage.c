// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_triage WHAT: makes the machine suffer in one way, until it is killed or a minute is
 * over; says "ready" when it does.
 *
 *	leak MIB	takes 4 MiB each 0.1 s, up to MIB, and keeps them
 *	kernel MIB	the same in messages that nobody receives: slab of the kernel
 *	tmpfs DIR MIB	the same in a file there
 *	memfd MIB	the same in a file without a name
 *	cycle MIB [SECONDS]	touches MIB again and again
 *	churn MIB [SECONDS]	takes MIB, touches it, and gives it back, again and again
 *	fragment [SECONDS]	fills memory so that every other page is free and none can be moved,
 *			and asks for huge pages
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define STEP	(4 * MIB)
#define PAGE	4096UL
#define HUGE	(2 * MIB)

static int queue = -1;

static void pause_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void die(const char *what)
{
	perror(what);
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	exit(1);
}

/* a queue outlives its maker */
static void on_term(int sig)
{
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	_exit(128 + sig);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static char *take(size_t size, int advice)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, size, advice);
	return p;
}

static void touch(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		p[i]++;
}

static void more_memory(int fd)
{
	(void)fd;
	touch(take(STEP, MADV_NOHUGEPAGE), STEP);
}

static void more_file(int fd)
{
	static char block[MIB];

	for (size_t i = 0; i < STEP / MIB; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write");
}

static void more_messages(int fd)
{
	static struct {
		long type;
		char text[4000];
	} message = { .type = 1 };
	struct msqid_ds ds;

	(void)fd;
	if (queue < 0) {
		queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
		if (queue < 0 || msgctl(queue, IPC_STAT, &ds))
			die("msgget");
		ds.msg_qbytes = 1 << 30;
		if (msgctl(queue, IPC_SET, &ds))
			die("msgctl");
	}
	for (size_t i = 0; i < STEP / PAGE; i++)
		if (msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT))
			die("msgsnd");
}

static void steps(void (*more)(int fd), int fd, size_t mib)
{
	const time_t end = time(NULL) + 60;

	for (size_t had = 0; time(NULL) < end; had += STEP) {
		if (had < mib * MIB)
			more(fd);
		if (!had)
			ready();
		pause_ms(100);
	}
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
}

static void cycle(size_t mib, time_t seconds)
{
	const time_t end = time(NULL) + seconds;
	char *p = take(mib * MIB, MADV_NOHUGEPAGE);

	touch(p, mib * MIB);
	ready();
	while (time(NULL) < end)
		touch(p, mib * MIB);
}

static void churn(size_t mib, time_t seconds)
{
	const time_t end = time(NULL) + seconds;
	char *p;

	ready();
	while (time(NULL) < end) {
		p = take(mib * MIB, MADV_NOHUGEPAGE);
		touch(p, mib * MIB);
		munmap(p, mib * MIB);
	}
}

/* As often as is said, however long that takes. */
static void turns(size_t mib, size_t nr)
{
	char *p = take(mib * MIB, MADV_NOHUGEPAGE);

	while (nr--)
		touch(p, mib * MIB);
}

static size_t free_now(void)
{
	struct sysinfo s;

	sysinfo(&s);
	return s.freeram * s.mem_unit;
}

/* Pages in pipes are the kernel's, and stay where they are. */
static void make_pipe(int ends[2])
{
	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, MIB) < 0)
		die("pipe");
}

/* Two pipes, filled in turns, so that their pages lie beside each other; one is emptied. */
static size_t fill_pipes(int (*drain)[2], size_t most)
{
	static char page[PAGE];
	size_t nr = 0;
	int keep[2];

	for (; nr < most && free_now() > 24 * MIB; nr++) {
		make_pipe(drain[nr]);
		make_pipe(keep);
		for (size_t i = 0; i < MIB / PAGE; i++)
			if (write(drain[nr][1], page, PAGE) < 0 || write(keep[1], page, PAGE) < 0)
				die("write");
	}
	return nr;
}

static void fragment(time_t seconds)
{
	const struct rlimit many = { 8192, 8192 };
	static int drain[2000][2];
	time_t end;
	char *huge;
	size_t nr;

	setrlimit(RLIMIT_NOFILE, &many);
	nr = fill_pipes(drain, 2000);
	for (size_t i = 0; i < nr; i++) {
		close(drain[i][0]);
		close(drain[i][1]);
	}
	huge = take(18 * HUGE, MADV_HUGEPAGE);
	huge += HUGE - (size_t)huge % HUGE;
	/* what is left in large blocks */
	touch(huge, 16 * HUGE);
	ready();
	end = time(NULL) + seconds;
	while (time(NULL) < end) {
		touch(huge + 16 * HUGE, HUGE);
		madvise(huge + 16 * HUGE, HUGE, MADV_DONTNEED);
		pause_ms(5);
	}
}

static int in_dir(const char *dir)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/wl_triage", dir);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0)
		die(path);
	return fd;
}

static size_t number(const char *text)
{
	return text ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	signal(SIGTERM, on_term);
	alarm(600);	/* a machine that emulates this one may be slow */
	if (!strcmp(what, "leak"))
		steps(more_memory, -1, number(argv[2]));
	else if (!strcmp(what, "kernel"))
		steps(more_messages, -1, number(argv[2]));
	else if (!strcmp(what, "tmpfs") && argc > 3)
		steps(more_file, in_dir(argv[2]), number(argv[3]));
	else if (!strcmp(what, "memfd"))
		steps(more_file, memfd_create("wl_triage", 0), number(argv[2]));
	else if (!strcmp(what, "cycle"))
		cycle(number(argv[2]), argc > 3 ? (time_t)number(argv[3]) : 60);
	else if (!strcmp(what, "churn"))
		churn(number(argv[2]), argc > 3 ? (time_t)number(argv[3]) : 60);
	else if (!strcmp(what, "turns") && argc > 3)
		turns(number(argv[2]), number(argv[3]));
	else if (!strcmp(what, "fragment"))
		fragment(argc > 2 ? (time_t)number(argv[2]) : 60);
	else
		return 2;
	return 0;
}
