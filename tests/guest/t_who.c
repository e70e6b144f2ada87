// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may: by whatever way somebody without the right comes to the device's
 * file, or to a descriptor of it, he is told nothing and changes nothing.
 */
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include "session.h"

#define NOBODY		65534
#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif
#define CAP(nr)		(1ULL << (nr))
#define ALL_CAPS	(~0ULL)
/* what containers leave to their root, as Docker has it */
#define CONTAINER_CAPS	(CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_FOWNER) |	\
			 CAP(CAP_FSETID) | CAP(CAP_KILL) | CAP(CAP_SETGID) |		\
			 CAP(CAP_SETUID) | CAP(CAP_SETPCAP) | CAP(CAP_NET_BIND_SERVICE) |\
			 CAP(CAP_NET_RAW) | CAP(CAP_SYS_CHROOT) | CAP(CAP_MKNOD) |	\
			 CAP(CAP_AUDIT_WRITE) | CAP(CAP_SETFCAP))

static char dir[] = "/tmp/t_who.XXXXXX";
static char node[64];		/* the device again, for everybody */
static char root[64];		/* of a container, with the device in it */
static unsigned int last_cap;

/* ---- those who try ---- */

static void must(long ret, const char *what)
{
	if (ret < 0) {
		perror(what);
		_exit(99);
	}
}

static void set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	unsigned int i;

	if (last_cap < 63)
		caps &= CAP(last_cap + 1) - 1;
	for (i = 0; i <= last_cap; i++)
		if (!(caps >> i & 1))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	for (i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = data[i].inheritable =
			caps >> (32 * i) & 0xffffffff;
	must(syscall(SYS_capset, &head, data), "capset");
}

static void become_uid(uid_t uid)
{
	must(setgroups(0, NULL), "setgroups");
	must(setresgid(uid, uid, uid), "setresgid");
	must(setresuid(uid, uid, uid), "setresuid");
}

static void write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

/* root there, with every capability: there, and not here */
static void own_namespace(void)
{
	char map[64];
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	must(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_file("/proc/self/gid_map", map);
}

static void nobody(void)
{
	become_uid(NOBODY);
}

static void nobody_with(uint64_t caps)
{
	must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keepcaps");
	become_uid(NOBODY);
	set_caps(caps);
}

static void nobody_with_perfmon(void)
{
	nobody_with(CAP(CAP_PERFMON));
}

static void nobody_with_admin(void)
{
	nobody_with(CAP(CAP_SYS_ADMIN));
}

static void nobody_with_others(void)
{
	nobody_with(ALL_CAPS & ~CAP(CAP_SYS_ADMIN) & ~CAP(CAP_PERFMON));
}

static void nobody_in_namespace(void)
{
	become_uid(NOBODY);
	/* what it had before does not let it write its own maps */
	must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable");
	own_namespace();
}

static void root_in_namespace(void)
{
	own_namespace();
}

static void root_without(void)
{
	set_caps(0);
}

static void root_with_others(void)
{
	set_caps(ALL_CAPS & ~CAP(CAP_SYS_ADMIN) & ~CAP(CAP_PERFMON));
}

static void container(void)
{
	must(chroot(root), "chroot");
	must(chdir("/"), "chdir");
	set_caps(CONTAINER_CAPS);
}

static void container_in_namespace(void)
{
	own_namespace();
	must(chroot(root), "chroot");
	must(chdir("/"), "chdir");
}

static const struct who {
	const char *name;
	void (*become)(void);
	int device, node;	/* errno of opening them */
	bool may;
	unsigned int cap;	/* that the kernel must know */
} people[] = {
	{ "nobody", nobody, EACCES, EPERM, false, 0 },
	{ "nobody, root in a namespace of its own", nobody_in_namespace, EACCES, EPERM, false, 0 },
	{ "root in a namespace of its own", root_in_namespace, EPERM, EPERM, false, 0 },
	{ "root without capabilities", root_without, EPERM, EPERM, false, 0 },
	{ "root with all but the two capabilities", root_with_others, EPERM, EPERM, false, 0 },
	{ "nobody with all but the two", nobody_with_others, EPERM, EPERM, false, 0 },
	{ "root of a container", container, EPERM, EPERM, false, 0 },
	{ "root of a container with a namespace", container_in_namespace, EPERM, EPERM, false, 0 },
	{ "nobody with CAP_PERFMON", nobody_with_perfmon, EACCES, 0, true, CAP_PERFMON },
	{ "nobody with CAP_SYS_ADMIN", nobody_with_admin, EACCES, 0, true, 0 },
};

/* ---- what they try ---- */

#define NR_COMMANDS	12

struct tried {
	int device, node, made;		/* errnos: opening, mknod() there */
	int fd_ioctl[NR_COMMANDS], fd_read, fd_poll, fd_write;
	int passed_ioctl[NR_COMMANDS], passed_read;
};

static int try_open(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Whatever it says of the arguments, EPERM it says of the caller. */
static void try_fd(int fd, int *ioctls, int *reading)
{
	union {
		uint32_t size;
		char bytes[512];
	} arg;
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++) {
		memset(&arg, 0, sizeof(arg));
		arg.size = i == 5 || i == 6 ? 8 : 16;
		ioctls[i] = ioctl(fd, _IO(MEMTAP_IOC_TYPE, i), &arg) < 0 ? errno : 0;
	}
	*reading = read(fd, &arg, sizeof(arg)) < 0 ? errno : 0;
}

static int receive_fd(int sock)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	must(recvmsg(sock, &msg, 0), "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void send_fd(int sock, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
	} };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	session_must(sendmsg(sock, &msg, 0), "sendmsg");
}

/* The child: becomes somebody, tries everything, says how it went. */
static void attempt(const struct who *w, int fd, int sock)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };
	struct stat st;
	struct tried t;
	char own[96];

	memset(&t, 0, sizeof(t));
	session_must(stat(node, &st), node);
	w->become();
	t.device = try_open(MEMTAP_DEVICE);
	t.node = try_open(access(node, F_OK) ? "/node" : node);
	snprintf(own, sizeof(own), "%s/own", access(node, F_OK) ? "" : dir);
	t.made = mknod(own, S_IFCHR | 0666, st.st_rdev) ? errno : try_open(own);
	unlink(own);
	try_fd(fd, t.fd_ioctl, &t.fd_read);
	t.fd_poll = poll(&p, 1, 0) < 0 ? errno : 0;
	t.fd_write = write(fd, &t, sizeof(t)) < 0 ? errno : 0;
	must(write(sock, "", 1), "ready");
	try_fd(receive_fd(sock), t.passed_ioctl, &t.passed_read);
	must(write(sock, &t, sizeof(t)), "result");
	_exit(0);
}

static bool run_attempt(const struct who *w, int fd, struct tried *t)
{
	int pair[2], status, passed;
	pid_t pid;
	char byte;
	bool good;

	session_must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	fflush(stdout);
	pid = fork();
	session_must(pid, "fork");
	if (!pid) {
		close(pair[0]);
		attempt(w, fd, pair[1]);
	}
	close(pair[1]);
	good = read(pair[0], &byte, 1) == 1;
	if (good) {
		passed = session_open();
		send_fd(pair[0], passed);
		close(passed);
		good = read(pair[0], t, sizeof(*t)) == sizeof(*t);
	}
	close(pair[0]);
	session_must(waitpid(pid, &status, 0), "waitpid");
	return good && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- what must come of it ---- */

static bool all_are(const int *errs, int want)
{
	int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (errs[i] != want)
			return false;
	return true;
}

static bool none_is(const int *errs, int other)
{
	int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (errs[i] == other)
			return false;
	return true;
}

static void opens(const struct who *w, const char *what, int got, int want)
{
	if (!ok(got == want, "%s: %s: %s", w->name, what, want ? strerror(want) : "opens"))
		diag("got: %s", got ? strerror(got) : "success");
}

/* RHEL 7 has none unless it is told to, others are built without. */
static bool has_namespaces(void)
{
	const pid_t pid = fork();
	int status;

	session_must(pid, "fork");
	if (!pid)
		_exit(unshare(CLONE_NEWUSER) != 0);
	session_must(waitpid(pid, &status, 0), "waitpid");
	return !status;
}

static void one_who(const struct who *w, int fd)
{
	struct tried t;

	if ((w->become == nobody_in_namespace || w->become == root_in_namespace ||
	     w->become == container_in_namespace) && !has_namespaces()) {
		skip(w->name, "there are no user namespaces");
		return;
	}

	if (w->cap > last_cap) {
		skip(w->name, "this kernel has no such capability");
		return;
	}
	if (!ok(run_attempt(w, fd, &t), "%s: tried it all", w->name))
		return;
	opens(w, "the device", t.device, w->device);
	opens(w, "a node of it for everybody", t.node, w->node);
	ok(t.made == EPERM || t.made == EACCES, "%s: gets no node of its own", w->name);
	if (w->may) {
		ok(none_is(t.fd_ioctl, EPERM) && none_is(t.passed_ioctl, EPERM) &&
		   t.fd_read != EPERM && t.passed_read != EPERM,
		   "%s: may use descriptors of others", w->name);
		return;
	}
	ok(all_are(t.fd_ioctl, EPERM), "%s: no command to a descriptor inherited", w->name);
	ok(t.fd_read == EPERM, "%s: nothing to read from it", w->name);
	ok(all_are(t.passed_ioctl, EPERM), "%s: no command to one passed on", w->name);
	ok(t.passed_read == EPERM, "%s: nothing to read from it, either", w->name);
	ok(t.fd_write == EINVAL || t.fd_write == EBADF, "%s: nothing can be written", w->name);
}

/* Who opened it, and gave his rights away since: no better than others. */
static void dropped_rights(void)
{
	int status, errs[NR_COMMANDS], reading;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	session_must(pid, "fork");
	if (!pid) {
		const int fd = session_open();

		nobody();
		try_fd(fd, errs, &reading);
		_exit(all_are(errs, EPERM) && reading == EPERM ? 0 : 1);
	}
	session_must(waitpid(pid, &status, 0), "waitpid");
	ok(!status, "who opened it and became nobody: no command, nothing to read");
}

/* ---- no kernel pointer but in kernel stacks ---- */

/* Sums that are negative are nearer to the end. */
static bool is_pointer(uint64_t word)
{
	return word >= 0xffff800000000000ULL && word < 0xffffffffff000000ULL;
}

static bool has_pointer(const void *at, size_t len)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + 8 <= len; i += 4) {
		memcpy(&word, (const char *)at + i, 8);
		if (is_pointer(word))
			return true;
	}
	return false;
}

static void no_pointers_in_stream(int fd)
{
	struct bytes b = session_read(fd, 65536);
	const struct memtap_rec_stack *st;
	const struct memtap_rec *rec;
	unsigned int kernel = 0, bad = 0;
	size_t pos = 0;

	while ((rec = next_record(&b, &pos))) {
		st = (const void *)rec;
		if (rec->type == MEMTAP_REC_STACK && !(st->flags & MEMTAP_STACK_USER)) {
			kernel++;
			continue;
		}
		/* a checksum may be any number */
		if (rec->type != MEMTAP_REC_END && has_pointer(rec, rec->len)) {
			bad++;
			diag("a record of type %u has one", rec->type);
		}
	}
	ok(kernel > 0, "(there are kernel stacks in the stream)");
	ok(!bad, "and no kernel pointer in any other record");
	free(b.at);
}

static void no_pointers_in_answers(int fd)
{
	struct memtap_info info = { .size = sizeof(info) };
	struct memtap_event_info ev = { .size = sizeof(ev) };
	struct memtap_hook_state h = { .size = sizeof(h) };
	struct memtap_stats stats = { .size = sizeof(stats) };
	unsigned int bad = 0, nr = 0;

	works(ioctl(fd, MEMTAP_INFO, &info), "MEMTAP_INFO");
	bad += has_pointer(&info, sizeof(info));
	for (; !ioctl(fd, MEMTAP_EVENT, &ev); ev.id++, nr++)
		bad += has_pointer(&ev, sizeof(ev));
	for (; !ioctl(fd, MEMTAP_HOOK, &h); h.index++, nr++)
		bad += has_pointer(&h, sizeof(h));
	for (; !ioctl(fd, MEMTAP_STATS, &stats); stats.event++, nr++)
		bad += has_pointer(&stats, sizeof(stats));
	ok(nr > 3 && !bad, "no kernel pointer in the answers of %u calls", nr + 1);
}

static void make_nodes(void)
{
	struct stat st;
	char path[96];

	if (!mkdtemp(dir))
		bail_out(dir);
	session_must(chmod(dir, 0777), dir);
	session_must(stat(MEMTAP_DEVICE, &st), MEMTAP_DEVICE);
	ok(S_ISCHR(st.st_mode) && (st.st_mode & 07777) == 0600 && !st.st_uid && !st.st_gid,
	   "the device is root's, 0600");
	snprintf(node, sizeof(node), "%s/node", dir);
	session_must(mknod(node, S_IFCHR | 0666, st.st_rdev), node);
	session_must(chmod(node, 0666), node);

	/* a container: a tree of its own, with the device bound into it */
	snprintf(root, sizeof(root), "%s/root", dir);
	session_must(mkdir(root, 0755), root);
	session_must(mount("root", root, "tmpfs", 0, "mode=0777"), root);
	snprintf(path, sizeof(path), "%s/dev", root);
	session_must(mkdir(path, 0755), path);
	snprintf(path, sizeof(path), "%s/dev/memtap", root);
	session_must(mknod(path, S_IFREG | 0600, 0), path);
	session_must(mount(MEMTAP_DEVICE, path, NULL, MS_BIND, NULL), path);
	snprintf(path, sizeof(path), "%s/node", root);
	session_must(mknod(path, S_IFREG | 0600, 0), path);
	session_must(mount(node, path, NULL, MS_BIND, NULL), path);
}

static void remove_nodes(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/dev/memtap", root);
	umount(path);
	snprintf(path, sizeof(path), "%s/node", root);
	umount(path);
	umount(root);
	rmdir(root);
	unlink(node);
	rmdir(dir);
}

int main(void)
{
	unsigned int i, brk_event;
	int fd, other;

	while (prctl(PR_CAPBSET_READ, last_cap + 1, 0, 0, 0) >= 0)
		last_cap++;
	make_nodes();
	fd = session_open();
	brk_event = event_id(fd, "brk");
	close(fd);
	fd = session_start_self(1ULL << brk_event);
	other = session_open();
	for (i = 0; i < 8; i++)
		syscall(SYS_brk, 0);
	for (i = 0; i < sizeof(people) / sizeof(people[0]); i++)
		/* those who may, do */
		one_who(&people[i], people[i].may ? other : fd);
	close(other);
	dropped_rights();
	no_pointers_in_answers(fd);
	no_pointers_in_stream(fd);
	works(session_run(fd, MEMTAP_STOP), "the session outlived it all");
	close(fd);
	remove_nodes();
	return done_testing();
}
