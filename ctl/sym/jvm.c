// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ask a HotSpot JVM for the names of compiled code, through the socket that the JVM's own tools
 * use.  (OpenJ9 has another protocol.)  The JVM creates the socket when it receives SIGQUIT and
 * its .attach_pid file exists.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sym/jitmaps.h"
#include "target/maps.h"

#define WAIT_MS		5000	/* for the socket, */
#define STEP_MS		20
#define ANSWER_S	10	/* and for the answer */

bool jvm_is(pid_t pid)
{
	struct maps m;
	bool found = false;

	if (maps_read(pid, &m))
		return false;
	for (size_t i = 0; i < m.nr && !found; i++) {
		const char *name = strrchr(m.files[i]->path, '/');

		found = name && !strcmp(name, "/libjvm.so");
	}
	maps_free(&m);
	return found;
}

/* A directory of the process as it sees it; a link there would lead out of its root. */
static int open_dir(const struct jvm_process *p, const char *link, const char *name)
{
	char path[64];
	int at, dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", p->pid, link);
	at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || !name)
		return at;
	dir = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(at);
	return dir;
}

/* The socket, if it is there and the JVM's own.  1: it is, 0: not, -1: another's */
static int has_socket(const struct jvm_process *p, int tmp)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), ".java_pid%d", p->ns_pid);
	if (fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return S_ISSOCK(st.st_mode) && (st.st_uid == p->uid || !st.st_uid) ? 1 : -1;
}

/* Tells the JVM that a SIGQUIT is about this.  The directory, or -1. */
static int put_sign(const struct jvm_process *p, const char *name)
{
	for (int way = 0; way < 2; way++) {
		int dir = open_dir(p, way ? "root" : "cwd", way ? "tmp" : NULL), fd = -1;

		if (dir >= 0)
			fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
				    0600);
		if (fd >= 0 && !fchown(fd, p->uid, p->gid)) {
			close(fd);
			return dir;
		}
		if (fd >= 0) {
			unlinkat(dir, name, 0);
			close(fd);
		}
		if (dir >= 0)
			close(dir);
	}
	return -1;
}

static int wait_socket(const struct jvm_process *p, int tmp)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	int there = has_socket(p, tmp);

	for (int ms = 0; !there && ms < WAIT_MS; ms += STEP_MS) {
		nanosleep(&step, NULL);
		there = has_socket(p, tmp);
	}
	return there;
}

/* -1 and a reason: there is none */
static int make_listen(const struct jvm_process *p, int tmp, char *why, size_t len)
{
	char name[64];
	int there = has_socket(p, tmp), dir;

	if (!there && p->quits) {
		snprintf(why, len, "--jvm-maps: JVM %d does not listen yet, and SIGQUIT, which "
			 "makes it listen, would end it (is it still starting?)", p->pid);
		return -1;
	}
	if (!there) {
		snprintf(name, sizeof(name), ".attach_pid%d", p->ns_pid);
		dir = put_sign(p, name);
		if (dir < 0) {
			snprintf(why, len, "--jvm-maps: cannot create the attach file of JVM %d, "
				 "neither in its working directory nor in its /tmp", p->pid);
			return -1;
		}
		there = kill(p->pid, SIGQUIT) ? 0 : wait_socket(p, tmp);
		unlinkat(dir, name, 0);
		close(dir);
	}
	if (there > 0)
		return 0;
	snprintf(why, len, there ? "--jvm-maps: the socket of JVM %d belongs to another user" :
		 "--jvm-maps: JVM %d does not respond (-XX:+DisableAttachMechanism?)", p->pid);
	return -1;
}

static int connect_to(const struct jvm_process *p, int tmp)
{
	const struct timeval patience = { .tv_sec = ANSWER_S };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return -1;
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/.java_pid%d", tmp, p->ns_pid);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid == p->pid)
		return fd;
	close(fd);
	return -1;
}

bool jvm_answer(const char *text, char *why, size_t len)
{
	if (!strncmp(text, "0\n", 2) && !strstr(text, "Unknown diagnostic command"))
		return true;
	if (strstr(text, "Unknown diagnostic command") || strstr(text, "IllegalArgument"))
		snprintf(why, len, "it has no Compiler.perfmap, which needs JDK 17 or later");
	else if (!*text)
		snprintf(why, len, "no answer");
	else
		snprintf(why, len, "it answered \"%.60s\"", text);
	return false;
}

static bool talk(int fd, char *why, size_t len)
{
	static const char ask[] = "1\0jcmd\0Compiler.perfmap\0\0";
	char text[4096];
	size_t got = 0;
	ssize_t n = 1;

	if (send(fd, ask, sizeof(ask), MSG_NOSIGNAL) != sizeof(ask)) {
		snprintf(why, len, "it does not accept commands");
		return false;
	}
	while (n > 0 && got < sizeof(text) - 1) {
		n = read(fd, text + got, sizeof(text) - 1 - got);
		got += n > 0 ? (size_t)n : 0;
	}
	text[got] = '\0';
	return jvm_answer(text, why, len);
}

bool jvm_ask(const struct jvm_process *p, char *why, size_t len)
{
	int tmp = open_dir(p, "root", "tmp"), fd = -1;
	char reason[128];
	bool ok = false;

	if (tmp < 0) {
		snprintf(why, len, "--jvm-maps: JVM %d has no /tmp", p->pid);
		return false;
	}
	if (!make_listen(p, tmp, why, len)) {
		fd = connect_to(p, tmp);
		if (fd < 0)
			snprintf(why, len, "--jvm-maps: cannot connect to JVM %d: another process, "
				 "or none, listens on its socket", p->pid);
	}
	if (fd >= 0) {
		ok = talk(fd, reason, sizeof(reason));
		if (!ok)
			snprintf(why, len, "--jvm-maps: JVM %d: %s", p->pid, reason);
		close(fd);
	}
	close(tmp);
	return ok;
}
