// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/target/maps.c ctl/target/ldcache.c */
/* Regular files are opened, whatever became of their names; nothing else is touched. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/maps.h"
#include "base/openreg.h"
#include "scratch.h"
#include "tap.h"

static bool same(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void test_regular(void)
{
	char byte, link[64];
	int fd = open_regular("file"), again;

	ok(fd >= 0 && same(fd, "file"), "a regular file is opened");
	is(fcntl(fd, F_GETFD), FD_CLOEXEC, "and closed by execve()");
	ok(read(fd, &byte, 1) == 1 && write(fd, &byte, 1) < 0, "for reading");
	is(symlink("file", "link"), 0, "a link to it");
	again = open_regular("link");
	ok(same(again, "file"), "is followed");
	close(again);
	is(open_regular_at(AT_FDCWD, "link", O_NOFOLLOW), -ENOEXEC, "or not, as is asked");
	unlink("file");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = open_regular(link);
	ok(again >= 0 && same(again, link), "a file whose name is gone, too");
	close(again);
	close(fd);
	is(open_regular("file"), -ENOENT, "what is not there is not there");
}

static void test_map_files(void)
{
	struct maps_file f = { .deleted = true };
	const int fd = open("mapped", O_RDWR | O_CREAT, 0600);
	void *at;

	if (ftruncate(fd, 4096))
		abort();
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	f.start = (uintptr_t)at;
	f.end = f.start + 4096;
	unlink("mapped");
	if (geteuid()) {
		ok(true, "what is mapped # SKIP not root");
	} else {
		const int own = maps_open(getpid(), &f);
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", own);
		ok(same(fd, link), "what is mapped, though its name be gone");
		close(own);
	}
	munmap(at, 4096);
	close(fd);
}

/* open() would wait, or say ENXIO: that nobody is there was asked of whom it stands for. */
static void test_others(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "socket" };
	const int s = socket(AF_UNIX, SOCK_STREAM, 0);

	if (mkfifo("fifo", 0600) || bind(s, (struct sockaddr *)&name, sizeof(name)))
		abort();
	is(open_regular("fifo"), -ENOEXEC, "a fifo is none");
	is(open_regular("socket"), -ENOEXEC, "a socket is not asked");
	is(open_regular("."), -ENOEXEC, "a directory is none");
	close(s);
	/* of a minor that no driver has: open() says so */
	if (mknod("device", S_IFCHR | 0600, makedev(0xfff, 0xfffff)))
		ok(true, "a device # SKIP may not make one");
	else
		is(open_regular("device"), -ENOEXEC, "a device's driver is not asked");
	setsid();
	is(open_regular("/dev/tty"), -ENOEXEC, "nor that of the terminal");
}

static int in_chroot(void)
{
	char byte;
	int fd;

	if (chroot("."))
		return 1;
	fd = open_regular("/file");
	if (fd < 0 || read(fd, &byte, 1) != 1 || byte != 'x')
		return 2;
	if (open_regular("/fifo") != -ENOEXEC || open_regular("/missing") != -ENOENT)
		return 3;
	return open_regular_at(AT_FDCWD, "/link", O_NOFOLLOW) != -ENOEXEC ? 4 : 0;
}

static void test_no_proc(void)
{
	int status = 0;
	pid_t child;

	if (geteuid()) {
		ok(true, "without /proc # SKIP not root");
		return;
	}
	if (symlink("file", "link"))
		abort();
	child = fork();
	if (!child)
		_exit(in_chroot());
	waitpid(child, &status, 0);
	is(status, 0, "without /proc it is opened by its name");
}

static void make_file(void)
{
	const int fd = open("file", O_WRONLY | O_CREAT, 0600);

	if (write(fd, "x", 1) != 1 || close(fd))
		abort();
}

int main(void)
{
	scratch_begin();
	alarm(60);
	make_file();
	test_regular();
	test_map_files();
	test_others();
	unlink("link");
	make_file();
	test_no_proc();
	return scratch_end() ? 1 : tap_done();
}
