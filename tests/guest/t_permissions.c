// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Permissions: each set of capabilities tries each call of the device, on its own session and on
 * inherited and passed descriptors.  Calls that the capabilities allow succeed; others fail with
 * EPERM.
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
#ifndef CAP_BPF
#define CAP_BPF		39
#endif
#define CAP(nr)		(1ULL << (nr))
#define ALL_CAPS	(~0ULL)
/* what containers leave to their root, as Docker has it */
#define CONTAINER_CAPS	(CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_FOWNER) |	\
			 CAP(CAP_FSETID) | CAP(CAP_KILL) | CAP(CAP_SETGID) |		\
			 CAP(CAP_SETUID) | CAP(CAP_SETPCAP) | CAP(CAP_NET_BIND_SERVICE) |\
			 CAP(CAP_NET_RAW) | CAP(CAP_SYS_CHROOT) | CAP(CAP_MKNOD) |	\
			 CAP(CAP_AUDIT_WRITE) | CAP(CAP_SETFCAP))

static char dir[] = "/tmp/t_permissions.XXXXXX";
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

static void nobody_with_bpf(void)
{
	nobody_with(CAP(CAP_BPF));
}

static void nobody_with_both(void)
{
	nobody_with(CAP(CAP_PERFMON) | CAP(CAP_BPF));
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

/* As the module has it: each includes the one before it. */
enum right { NOTHING, COUNT, READ };

static const struct who {
	const char *name;
	void (*become)(void);
	int device, node;	/* errno of opening them */
	enum right right;
	unsigned int cap;	/* that the kernel must know */
} people[] = {
	{ "nobody", nobody, EACCES, EPERM, NOTHING, 0 },
	{ "nobody, root in its own namespace", nobody_in_namespace, EACCES, EPERM, NOTHING, 0 },
	{ "root in a namespace of its own", root_in_namespace, EPERM, EPERM, NOTHING, 0 },
	{ "root without capabilities", root_without, EPERM, EPERM, NOTHING, 0 },
	{ "root with all but the two capabilities", root_with_others, EPERM, EPERM, NOTHING, 0 },
	{ "nobody with all but the two", nobody_with_others, EPERM, EPERM, NOTHING, 0 },
	{ "root of a container", container, EPERM, EPERM, NOTHING, 0 },
	{ "root of a container's namespace", container_in_namespace, EPERM, EPERM, NOTHING, 0 },
	{ "nobody with CAP_BPF", nobody_with_bpf, EACCES, EPERM, NOTHING, CAP_BPF },
	{ "nobody with CAP_PERFMON", nobody_with_perfmon, EACCES, 0, COUNT, CAP_PERFMON },
	{ "nobody with CAP_PERFMON and CAP_BPF", nobody_with_both, EACCES, 0, READ, CAP_BPF },
	{ "nobody with CAP_SYS_ADMIN", nobody_with_admin, EACCES, 0, READ, 0 },
};

/* ---- what they try ---- */

#define NR_COMMANDS	23
#define NO_COMMAND	18

/* Those that need more than the right to count, whatever their arguments. */
static bool command_reads(unsigned int nr)
{
	const unsigned int cmd = _IO(MEMTAP_IOC_TYPE, nr);

	return cmd == MEMTAP_TABLE || cmd == MEMTAP_HELD || cmd == MEMTAP_SIMILAR ||
	       cmd == MEMTAP_SYMBOL || cmd == MEMTAP_AGES;
}

struct used {
	int ioctl[NR_COMMANDS], reading, poll;	/* errnos; poll(): what it says */
};

#define MOST_ASKS	40

struct tried {
	int device, node, made;		/* errnos: opening, mknod() there */
	int fd_write;
	struct used fd, passed, secret;
	int asked[MOST_ASKS];
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
static void try_fd(int fd, struct used *u)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };
	union {
		uint32_t size;
		char bytes[512];
	} arg;
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++) {
		memset(&arg, 0, sizeof(arg));
		arg.size = i == 5 || i == 6 ? 8 : 16;
		u->ioctl[i] = ioctl(fd, _IO(MEMTAP_IOC_TYPE, i), &arg) < 0 ? errno : 0;
	}
	u->reading = read(fd, &arg, sizeof(arg)) < 0 ? errno : 0;
	u->poll = poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

/* ---- calls whose arguments decide ---- */

struct ask {
	const char *name;
	enum right right;
	bool works;		/* for all that have the right */
	struct memtap_attach attach;
	struct memtap_step steps[3];
	uint32_t config;	/* flags */
	bool oom_stack;		/* MEMTAP_OOM with a copy of a user stack */
};

#define FUNCTION(...)	{ .kind = MEMTAP_ATTACH_KPROBE, .name = "vfs_read", __VA_ARGS__ }
#define TRACEPOINT(...)	\
	{ .kind = MEMTAP_ATTACH_TRACEPOINT, .name = "sched:sched_switch", __VA_ARGS__ }
#define USER(...)	\
	{ .kind = MEMTAP_ATTACH_UPROBE, .name = "user", .offset = 0x1000, __VA_ARGS__ }
#define STEPS(n)	.nr_steps = n, .nr_shown = 1
#define DO(_op, ...)	{ .op = MEMTAP_STEP_##_op, __VA_ARGS__ }
#define KEEP		DO(KEEP, .type = 8)

#define MAY(r)		.right = r, .works = true
#define TRY(r)		.right = r		/* it may fail for other reasons */
#define STEP(...)	.steps = { __VA_ARGS__ }

static const struct ask asks[] = {
	{ .name = "a kernel function", MAY(COUNT),
	  .attach = FUNCTION() },
	{ .name = "its return", MAY(COUNT),
	  .attach = FUNCTION(.flags = MEMTAP_ATTACH_RETURN) },
	{ .name = "a tracepoint", MAY(COUNT),
	  .attach = TRACEPOINT() },
	{ .name = "a user function", TRY(COUNT),
	  .attach = USER() },
	{ .name = "a counter of perf", MAY(COUNT),
	  .attach = { .kind = MEMTAP_ATTACH_PERF, .name = "clock", .offset = 1,
		      .ref_ctr = 1000000 } },
	{ .name = "step FACT", MAY(COUNT),
	  .attach = FUNCTION(STEPS(2)),
	  STEP(DO(FACT, .index = MEMTAP_FACT_UID), KEEP) },
	{ .name = "step COMM", MAY(COUNT),
	  .attach = FUNCTION(STEPS(1)),
	  STEP(DO(COMM)) },
	{ .name = "step FIELD of brk", MAY(COUNT),
	  .attach = { .kind = MEMTAP_ATTACH_BUILTIN, .name = "brk", STEPS(2) },
	  STEP(DO(FIELD, .type = 8), KEEP) },
	{ .name = "step ARG", MAY(READ),
	  .attach = FUNCTION(STEPS(2)),
	  STEP(DO(ARG), KEEP) },
	{ .name = "step REG", MAY(READ),
	  .attach = FUNCTION(STEPS(2)),
	  STEP(DO(REG), KEEP) },
	{ .name = "step RET", MAY(READ),
	  .attach = FUNCTION(STEPS(2), .flags = MEMTAP_ATTACH_RETURN),
	  STEP(DO(RET), KEEP) },
	{ .name = "step LOAD of the kernel's memory", MAY(READ),
	  .attach = FUNCTION(STEPS(3)),
	  STEP(DO(NUMBER, .number = 0xffffffff81000000ULL), DO(LOAD, .type = 8), KEEP) },
	{ .name = "step LOAD of user memory", MAY(READ),
	  .attach = FUNCTION(STEPS(3)),
	  STEP(DO(NUMBER, .number = 4096), DO(LOAD, .type = 8, .index = 1), KEEP) },
	{ .name = "step TEXT of user memory", MAY(READ),
	  .attach = FUNCTION(STEPS(2)),
	  STEP(DO(NUMBER, .number = 4096), DO(TEXT, .number = 1)) },
	{ .name = "step TEXT of the kernel's memory", MAY(READ),
	  .attach = FUNCTION(STEPS(2)),
	  STEP(DO(NUMBER, .number = 4096), DO(TEXT)) },
	{ .name = "step LOAD at a user function", TRY(READ),
	  .attach = USER(STEPS(3)),
	  STEP(DO(NUMBER, .number = 4096), DO(LOAD, .type = 8, .index = 1), KEEP) },
	{ .name = "step FIELD of a tracepoint", MAY(READ),
	  .attach = TRACEPOINT(STEPS(2)),
	  STEP(DO(FIELD, .type = 4, .number = 8), KEEP) },
	{ .name = "step FIELD_TEXT of a tracepoint", MAY(READ),
	  .attach = TRACEPOINT(STEPS(1)),
	  STEP(DO(FIELD_TEXT, .number = 16ULL << 32 | 8)) },
	{ .name = "step FIELD_LOC of a tracepoint", MAY(READ),
	  .attach = TRACEPOINT(STEPS(1)),
	  STEP(DO(FIELD_LOC, .number = 8)) },
	{ .name = "HEAP", TRY(READ),
	  .attach = { .kind = MEMTAP_ATTACH_HEAP, .name = "free", .op = MEMTAP_HEAP_FREE,
	    .offset = 0x1000,
	    .size_arg = MEMTAP_ARG_NONE, .size2_arg = MEMTAP_ARG_NONE,
	    .result_arg = MEMTAP_ARG_NONE },
	  .config = MEMTAP_CFG_LIVE },
	{ .name = "HOLD", TRY(READ),
	  .attach = USER(.flags = MEMTAP_ATTACH_HOLD, .hold_ms = 1) },
	{ .name = "a semaphore", TRY(READ),
	  .attach = USER(.ref_ctr = 0x1000) },
	{ .name = "MEMTAP_CFG_DEATHS", TRY(READ),
	  .config = MEMTAP_CFG_DEATHS },
	{ .name = "MEMTAP_CFG_EXECS", TRY(READ),
	  .config = MEMTAP_CFG_EXECS | MEMTAP_CFG_LIVE },
	{ .name = "an OOM kill's user stack", TRY(READ), .oom_stack = true },
};

#define NR_ASKS	(sizeof(asks) / sizeof(asks[0]))

static unsigned long tracepoint_id;	/* of sched:sched_switch */

/* Nobody is called so: nothing is recorded, and no user function is touched. */
static int configure_for(int fd, uint32_t flags)
{
	struct memtap_filter_item none = { .kind = MEMTAP_FILTER_COMM, .comm = "no-such-name" };
	struct memtap_config config = {
		.size = sizeof(config), .flags = flags,
		.filter_ptr = (uintptr_t)&none, .filter_nr = 1,
	};

	return ioctl(fd, MEMTAP_CONFIGURE, &config) ? errno : 0;
}

static int attach_to(int fd, const struct ask *a, int file)
{
	struct memtap_attach attach = a->attach;
	const bool user = attach.kind == MEMTAP_ATTACH_UPROBE || attach.kind == MEMTAP_ATTACH_HEAP;

	attach.size = sizeof(attach);
	attach.steps_ptr = (uintptr_t)a->steps;
	attach.fd = user ? file : 0;
	if (attach.kind == MEMTAP_ATTACH_TRACEPOINT)
		attach.config = tracepoint_id;
	return ioctl(fd, MEMTAP_ATTACH, &attach) ? errno : 0;
}

/* There may be no kill; who may not have its stack is told so. */
static int ask_oom(int fd)
{
	static char record[8], stack[8];
	struct memtap_oom o = {
		.size = sizeof(o), .record_ptr = (uintptr_t)record, .record_len = sizeof(record),
		.stack_ptr = (uintptr_t)stack, .stack_len = sizeof(stack),
	};

	return ioctl(fd, MEMTAP_OOM, &o) ? errno : 0;
}

/* An errno, 0, or -1: it may not open the device. */
static int try_ask(const struct ask *a, int file)
{
	const int fd = open(access(node, F_OK) ? "/node" : node, O_RDWR | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -1;
	err = configure_for(fd, a->config);
	if (!err && a->attach.kind)
		err = attach_to(fd, a, file);
	if (!err && a->oom_stack)
		err = ask_oom(fd);
	close(fd);
	return err;
}

/* A session that reads the kernel's memory, and runs. */
static int start_secret(int fd)
{
	unsigned int i;

	for (i = 0; strcmp(asks[i].name, "step LOAD of the kernel's memory"); i++)
		;
	if (configure_for(fd, MEMTAP_CFG_RING) || attach_to(fd, &asks[i], -1))
		return -1;
	return session_run(fd, MEMTAP_START);
}

static void read_tracepoint_id(void)
{
	FILE *f;

	mkdir("/tmp/t_permissions.trace", 0700);
	if (mount("trace", "/tmp/t_permissions.trace", "tracefs", 0, NULL))
		mount("debug", "/tmp/t_permissions.trace", "debugfs", 0, NULL);
	f = fopen("/tmp/t_permissions.trace/events/sched/sched_switch/id", "r");
	if (!f)
		f = fopen("/tmp/t_permissions.trace/tracing/events/sched/sched_switch/id", "r");
	if (!f || fscanf(f, "%lu", &tracepoint_id) != 1)
		bail_out("the id of sched:sched_switch");
	fclose(f);
	umount("/tmp/t_permissions.trace");
	rmdir("/tmp/t_permissions.trace");
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
static void attempt(const struct who *w, int fd, int secret, int sock)
{
	const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct tried t;
	unsigned int i;
	char own[96];

	memset(&t, 0, sizeof(t));
	session_must(stat(node, &st), node);
	w->become();
	t.device = try_open(MEMTAP_DEVICE);
	t.node = try_open(access(node, F_OK) ? "/node" : node);
	snprintf(own, sizeof(own), "%s/own", access(node, F_OK) ? "" : dir);
	t.made = mknod(own, S_IFCHR | 0666, st.st_rdev) ? errno : try_open(own);
	unlink(own);
	for (i = 0; i < NR_ASKS; i++)
		t.asked[i] = try_ask(&asks[i], file);
	try_fd(fd, &t.fd);
	t.fd_write = write(fd, &t, sizeof(t)) < 0 ? errno : 0;
	if (w->right < READ)
		try_fd(secret, &t.secret);
	must(write(sock, "", 1), "ready");
	try_fd(receive_fd(sock), &t.passed);
	must(write(sock, &t, sizeof(t)), "result");
	_exit(0);
}

static bool run_attempt(const struct who *w, int fd, int secret, struct tried *t)
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
		attempt(w, fd, secret, pair[1]);
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

static bool refused_all(const struct used *u)
{
	int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (i != NO_COMMAND && u->ioctl[i] != EPERM) {
			diag("command %d: %s", i, strerror(u->ioctl[i]));
			return false;
		}
	return u->reading == EPERM && u->poll == POLLERR;
}

/* Of a session that only counts: what @right gives, and nothing beyond it. */
static bool has_its_right(const struct used *u, enum right right)
{
	bool fine = u->reading != EPERM && u->poll >= 0 && !(u->poll & POLLERR);
	int i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if ((u->ioctl[i] == EPERM) == (right < READ && command_reads(i)))
			continue;
		diag("command %d: %s", i, strerror(u->ioctl[i]));
		fine = false;
	}
	return fine;
}

static bool asks_are_right(const struct who *w, const int *asked)
{
	bool fine = true, good;
	unsigned int i;

	for (i = 0; i < NR_ASKS; i++) {
		if (w->right < COUNT)
			good = asked[i] == -1;
		else if (w->right < asks[i].right)
			good = asked[i] == EPERM;
		else
			good = asks[i].works ? !asked[i] : asked[i] != EPERM;
		if (good)
			continue;
		diag("%s: %s", asks[i].name, asked[i] < 0 ? "not opened" : strerror(asked[i]));
		fine = false;
	}
	return fine;
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

static void one_who(const struct who *w, int fd, int secret)
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
	if (!ok(run_attempt(w, fd, secret, &t), "%s: tried it all", w->name))
		return;
	opens(w, "the device", t.device, w->device);
	opens(w, "a node of it for everybody", t.node, w->node);
	ok(t.made == EPERM || t.made == EACCES, "%s: gets no node of its own", w->name);
	ok(asks_are_right(w, t.asked), "%s: each kind of CONFIGURE and ATTACH", w->name);
	if (w->right < READ)
		ok(refused_all(&t.secret), "%s: nothing of a session that reads memory", w->name);
	ok(t.fd_write == EINVAL || t.fd_write == EBADF, "%s: nothing can be written", w->name);
	if (w->right) {
		ok(has_its_right(&t.fd, w->right), "%s: commands to an inherited descriptor",
		   w->name);
		ok(has_its_right(&t.passed, w->right), "%s: commands to a passed one", w->name);
		return;
	}
	ok(refused_all(&t.fd), "%s: no command, nothing to read, of an inherited descriptor",
	   w->name);
	ok(refused_all(&t.passed), "%s: the same of one passed on", w->name);
}

/* A process that opened the device and dropped its rights since. */
static void dropped_rights(void)
{
	struct used u;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	session_must(pid, "fork");
	if (!pid) {
		const int fd = session_open();

		nobody();
		try_fd(fd, &u);
		_exit(refused_all(&u) ? 0 : 1);
	}
	session_must(waitpid(pid, &status, 0), "waitpid");
	ok(!status, "a process that opened it and became nobody: no command, nothing to read");
}

/*
 * The other direction: one that may only count opens a session and passes it to root, who makes
 * it read memory.  From then on the one that opened it has nothing of it.
 */
static void passed_up(void)
{
	struct used u;
	int pair[2], status, fd;
	char byte;
	pid_t pid;

	if (last_cap < CAP_BPF) {
		skip("a session that root made read memory", "this kernel has no such capability");
		return;
	}
	session_must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	fflush(stdout);
	pid = fork();
	session_must(pid, "fork");
	if (!pid) {
		nobody_with_perfmon();
		fd = open(node, O_RDWR | O_CLOEXEC);
		must(fd, node);
		if (configure_for(fd, 0))
			_exit(2);
		send_fd(pair[1], fd);
		must(read(pair[1], &byte, 1), "ready");
		try_fd(fd, &u);
		_exit(refused_all(&u) ? 0 : 1);
	}
	fd = receive_fd(pair[0]);
	ok(!start_secret(fd), "root makes a session of another process read memory");
	session_must(write(pair[0], "", 1), "ready");
	session_must(waitpid(pid, &status, 0), "waitpid");
	ok(!status, "its opener, with CAP_PERFMON: no command, nothing to read any more");
	close(fd);
	close(pair[0]);
	close(pair[1]);
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
	int fd, other, secret;

	while (prctl(PR_CAPBSET_READ, last_cap + 1, 0, 0, 0) >= 0)
		last_cap++;
	make_nodes();
	read_tracepoint_id();
	fd = session_open();
	brk_event = event_id(fd, "brk");
	close(fd);
	fd = session_start_self(1ULL << brk_event);
	other = session_open();
	for (i = 0; i < 8; i++)
		syscall(SYS_brk, 0);
	secret = session_open();
	ok(!start_secret(secret), "(a session that reads memory)");
	for (i = 0; i < sizeof(people) / sizeof(people[0]); i++)
		/* those who may, do */
		one_who(&people[i], people[i].right ? other : fd, secret);
	close(other);
	close(secret);
	dropped_rights();
	passed_up();
	no_pointers_in_answers(fd);
	no_pointers_in_stream(fd);
	works(session_run(fd, MEMTAP_STOP), "the session outlived it all");
	close(fd);
	remove_nodes();
	return done_testing();
}
