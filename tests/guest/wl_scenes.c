// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_scenes WHAT: memory is short or grows in one way, until this is killed or two minutes are
 * over; says "ready" when it is so.
 *
 *	names DIR	looks for names that are not there
 *	file PATH	writes to a file
 *	deleted PATH MIB	has a file open that is deleted
 *	lock		locks memory, until little is left
 *	fill		takes memory, until little is left
 *	promise MIB	asks for MIB more again and again, after it has as much
 *	dead NR		has children that are dead, and makes more
 *	tables		touches a page of each 2 MiB
 *	read PATH MIB	reads a file again and again
 *	grow MIB	takes memory step by step, and then touches it again and again
 *	bomb		has more and more children, of which each takes some memory
 *	pin		registers buffers with io_uring, until little is left; says "refused"
 *			where there is none
 *	unread		sends what nobody receives, by UNIX sockets
 *	tcp		the same, by TCP
 *	threads		starts threads that wait
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define PAGE	4096UL
#define APART	__attribute__((noipa))

static time_t end;

static void pause_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static char *take(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static void rest(void)
{
	ready();
	while (time(NULL) < end)
		pause_ms(100);
}

APART static void look_for_names(const char *dir)
{
	struct stat st;
	char path[512];

	for (unsigned int i = 0; time(NULL) < end; i++) {
		snprintf(path, sizeof(path), "%s/no-such-name-%u", dir, i);
		stat(path, &st);
		if (i == 1000)
			ready();
	}
}

APART static void write_file(const char *path)
{
	static char block[MIB];
	const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	ready();
	for (int i = 0; i < 250 && time(NULL) < end; i++) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die(path);
		pause_ms(150);
	}
	rest();
}

static void keep_deleted(const char *path, size_t mib)
{
	static char block[MIB];
	const int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);

	if (fd < 0 || unlink(path))
		die(path);
	while (mib--)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write");
	rest();
}

/* MiB that are available, and that are a fifteenth of all: what is left by who takes most. */
static size_t available(size_t *little)
{
	FILE *f = fopen("/proc/meminfo", "r");
	size_t kb, all = 0, left = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemTotal: %zu", &kb) == 1)
			all = kb;
		else if (sscanf(line, "MemAvailable: %zu", &kb) == 1)
			left = kb;
	if (f)
		fclose(f);
	*little = all / 15 / 1024;
	return left / 1024;
}

/* 8 MiB more, touched; NULL: little is left. */
static char *take_more(void)
{
	size_t little;
	char *p;

	if (available(&little) < little + 8)
		return NULL;
	p = take(8 * MIB);
	for (size_t i = 0; i < 8 * MIB; i += PAGE)
		p[i] = 1;
	return p;
}

/* The kernel may have found more meanwhile. */
static void keep_little(void)
{
	for (int i = 0; i < 10; i++) {
		while (take_more())
			;
		pause_ms(100);
	}
}

static void lock_most(void)
{
	char *p;

	while ((p = take_more()))
		if (mlock(p, 8 * MIB))
			die("mlock");
	keep_little();
	rest();
}

static void fill_most(void)
{
	keep_little();
	rest();
}

APART static void ask_for_more(size_t mib)
{
	if (mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	    MAP_FAILED)
		die("mmap");
	ready();
	while (time(NULL) < end) {
		char *p = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p != MAP_FAILED)
			munmap(p, mib * MIB);
		pause_ms(20);
	}
}

APART static void leave_dead(int nr)
{
	while (time(NULL) < end) {
		const pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0)
			die("fork");
		if (!--nr)
			ready();
		if (nr < 0)
			pause_ms(100);
	}
}

APART static void bomb_child(void)
{
	char *p = take(MIB / 2);

	for (size_t i = 0; i < MIB / 2; i += PAGE)
		p[i] = 1;
}

APART static void bomb(void)
{
	for (int nr = 0; nr < 500 && time(NULL) < end; nr++) {
		const pid_t pid = fork();

		if (!pid) {
			bomb_child();
			while (time(NULL) < end)
				pause_ms(1000);
			_exit(0);
		}
		if (nr == 1)
			ready();
		pause_ms(50);
	}
	rest();
}

static void pin_most(void)
{
	struct iovec buffers[200];
	struct io_uring_params params;
	unsigned int nr = 0;
	int fd;

	memset(&params, 0, sizeof(params));
	fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	while (nr < 200 && (buffers[nr].iov_base = take_more()))
		buffers[nr++].iov_len = 8 * MIB;
	if (fd < 0 || syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, buffers, nr)) {
		perror("io_uring");
		puts("refused");
	}
	keep_little();
	rest();
}

APART static void touch_sparse(void)
{
	const size_t all = 200UL << 30, step = 2 * MIB;
	char *p = take(all);

	for (size_t at = 0; at < all && time(NULL) < end; at += step) {
		p[at] = 1;
		if (at == step * 100)
			ready();
		if (!(at / step % 16))
			pause_ms(1);
	}
}

APART static void read_again(const char *path, size_t mib)
{
	static char block[MIB];
	const int fd = open(path, O_RDONLY);

	if (fd < 0)
		die(path);
	for (int turn = 0; time(NULL) < end; turn++) {
		for (size_t i = 0; i < mib; i++)
			if (pread(fd, block, sizeof(block), (off_t)(i * MIB)) < 0)
				die("pread");
		if (!turn)
			ready();
	}
}

APART static void grow(size_t mib)
{
	char *p = take(mib * MIB);

	ready();
	while (time(NULL) < end)
		for (size_t i = 0; i < mib * MIB && time(NULL) < end; i += PAGE)
			p[i]++;
}

APART static void send_unread(void)
{
	static char message[2048];
	const int size = 1 << 30;
	int ends[2];

	ready();
	for (int nr = 0; nr < 800 && time(NULL) < end; nr++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends))
			die("socketpair");
		setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		/* (how many a queue takes is a setting, and differs) */
		for (int i = 0; i < 10 && send(ends[0], message, sizeof(message), 0) > 0; i++)
			;
		pause_ms(20);
	}
	rest();
}

APART static void send_tcp(void)
{
	static char message[65536];
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	const int server = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&to, sizeof(to)) || listen(server, 1000) ||
	    getsockname(server, (struct sockaddr *)&to, &len))
		die("listen");
	ready();
	for (int nr = 0; nr < 900 && time(NULL) < end; nr++) {
		const int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
		    accept(server, NULL, NULL) < 0)
			die("connect");
		fcntl(fd, F_SETFL, O_NONBLOCK);
		while (send(fd, message, sizeof(message), 0) > 0)
			;
		pause_ms(30);
	}
	rest();
}

static void *wait_for_end(void *arg)
{
	rest();
	return arg;
}

APART static void start_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int nr = 0; nr < 6000 && time(NULL) < end; nr++) {
		if (pthread_create(&thread, &attr, wait_for_end, NULL))
			die("pthread_create");
		pause_ms(10);
	}
	rest();
}

static size_t number(const char *text)
{
	return text ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
	const struct rlimit many = { 100000, 100000 };

	end = time(NULL) + 120;
	alarm(600);	/* a machine that emulates this one may be slow */
	setrlimit(RLIMIT_NOFILE, &many);
	if (!strcmp(what, "names"))
		look_for_names(path);
	else if (!strcmp(what, "file"))
		write_file(path);
	else if (!strcmp(what, "deleted") && argc > 3)
		keep_deleted(path, number(argv[3]));
	else if (!strcmp(what, "lock"))
		lock_most();
	else if (!strcmp(what, "fill"))
		fill_most();
	else if (!strcmp(what, "promise"))
		ask_for_more(number(path));
	else if (!strcmp(what, "dead"))
		leave_dead((int)number(path));
	else if (!strcmp(what, "tables"))
		touch_sparse();
	else if (!strcmp(what, "read") && argc > 3)
		read_again(path, number(argv[3]));
	else if (!strcmp(what, "grow"))
		grow(number(path));
	else if (!strcmp(what, "bomb"))
		bomb();
	else if (!strcmp(what, "pin"))
		pin_most();
	else if (!strcmp(what, "unread"))
		send_unread();
	else if (!strcmp(what, "tcp"))
		send_tcp();
	else if (!strcmp(what, "threads"))
		start_threads();
	else
		return 2;
	return 0;
}
