// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_jvm HOW [SECONDS]: imitate a JVM that memtap asks for symbols.  It generates code and calls
 * it.  When it receives SIGQUIT and finds its .attach_pid file, it listens on a socket, as HotSpot
 * does.  It must map a file with the name libjvm.so.
 *
 *	good	writes its perf-PID.map when asked
 *	old	does not know Compiler.perfmap
 *	deaf	dies of SIGQUIT, as a JVM does at start
 *	mute	never listens
 *	slow	listens and never answers
 *	owner	its map belongs to another user
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <dlfcn.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

typedef int (*code_fn)(void (*stop)(int));

static volatile int stopped;
static volatile sig_atomic_t asked;
static const char *how;
static void *code;
static char map[64];

__attribute__((noinline)) void wl_stop(int n)
{
	stopped += n;
}

static void on_quit(int sig)
{
	asked += sig;
}

/* push rbp; mov rbp,rsp; mov rax,rdi; mov edi,1; call rax; pop rbp; ret */
static const unsigned char bytes[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0xbf, 1, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3,
};

static void make(void)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, bytes, sizeof(bytes));
}

static void write_map(void)
{
	FILE *f = fopen(map, "w");

	fprintf(f, "%lx %zx Lcompiled;::method\n", (unsigned long)code, sizeof(bytes));
	fclose(f);
}

/* As HotSpot does: it listens before the socket has its name, so that nobody meets it deaf. */
static int listen_to(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s.tmp", path);
	unlink(at.sun_path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || chmod(at.sun_path, 0600) ||
	    listen(fd, 5) || rename(at.sun_path, path))
		exit(1);
	return fd;
}

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		exit(1);
}

/* "1", a command, three arguments: each ends with 0. */
static void answer(int listener)
{
	static const char wanted[] = "1\0jcmd\0Compiler.perfmap\0\0";
	int fd = accept(listener, NULL, NULL), got = 0, n = 1;
	char text[256];

	while (n > 0 && got < (int)sizeof(wanted)) {
		n = read(fd, text + got, sizeof(text) - got);
		got += n;
	}
	if (!strcmp(how, "slow"))
		sleep(60);
	if (got != sizeof(wanted) || memcmp(text, wanted, sizeof(wanted))) {
		say(fd, "101\nwhat?\n");
	} else if (!strcmp(how, "old")) {
		say(fd, "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n");
	} else {
		write_map();
		say(fd, "0\n");
	}
	close(fd);
}

static int sign_is_there(void)
{
	char path[64];

	snprintf(path, sizeof(path), ".attach_pid%d", getpid());
	if (!access(path, F_OK))
		return 1;
	snprintf(path, sizeof(path), "/tmp/.attach_pid%d", getpid());
	return !access(path, F_OK);
}

__attribute__((noinline)) static void by_code(void)
{
	((code_fn)code)(wl_stop);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const double seconds = argc > 2 ? atof(argv[2]) : 30;
	struct pollfd p = { .fd = -1, .events = POLLIN };
	const time_t until = time(NULL) + (time_t)seconds;
	char path[64];

	how = argc > 1 ? argv[1] : "good";
	if (!dlopen("./libjvm.so", RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	/* a shell has it ignored in the background */
	signal(SIGQUIT, strcmp(how, "deaf") ? on_quit : SIG_DFL);
	snprintf(path, sizeof(path), "/tmp/.java_pid%d", getpid());
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	make();
	if (!strcmp(how, "owner")) {
		write_map();
		if (chown(map, 12345, 12345))
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (time(NULL) < until) {
		by_code();
		/* taken back before it is looked at: the next may come in between */
		if (asked) {
			asked = 0;
			if (p.fd < 0 && sign_is_there() && strcmp(how, "mute"))
				p.fd = listen_to(path);
		}
		if (poll(&p, 1, 20) > 0)
			answer(p.fd);
	}
	unlink(path);
	unlink(map);
	return 0;
}
