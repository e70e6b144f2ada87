// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_fuzz [-s SEED] [-n CALLS] [-t SECONDS] [-p PROCESSES]: call the device's operations at random,
 * from several threads of several processes at once, in rounds.  After each round the remaining
 * sessions must be consistent, and nothing may be attached once they are closed.  The same seed
 * repeats a round's calls; the scheduler chooses their order among threads.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "t_fuzz.h"

#define THREADS		2
#define MAX_PROCESSES	8
#define SHARED		2		/* slots that all processes begin with */
#define A_ROUND		5000		/* calls of each thread */

enum kind { IOCTLS, ATTACHES, STARTS, READS, OTHERS, OPENS, NR_KINDS };

/* In memory that all processes share. */
static struct totals {
	_Atomic unsigned int calls[NR_KINDS], worked[NR_KINDS];
	_Atomic unsigned int sessions, bad;
	_Atomic unsigned int ended, turn;	/* processes of this round */
} *totals;

static uint64_t round_seed;
static unsigned int processes = 2, a_round = A_ROUND;

static void *memory(size_t len, int prot)
{
	char *at = mmap(NULL, len + 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		bail_out("mmap");
	mprotect(at, len, prot);
	mprotect(at + len, 4096, PROT_NONE);
	return at;
}

static void count(enum kind k, long ret)
{
	totals->calls[k]++;
	totals->worked[k] += ret >= 0;
}

static int some_fd(struct fuzzer *f)
{
	return slots[below(f, SLOTS)];
}

static void put_slot(struct fuzzer *f, int fd)
{
	int was = atomic_exchange(&slots[below(f, SLOTS)], fd);

	if (was >= 0)
		close(was);
}

/* --- what is done ---------------------------------------------------------- */

static void call(struct fuzzer *f, int fd, unsigned long cmd)
{
	count(cmd == MEMTAP_ATTACH ? ATTACHES : cmd == MEMTAP_START ? STARTS : IOCTLS,
	      ioctl(fd, cmd, make_arg(f, cmd)));
}

static void do_ioctl(struct fuzzer *f)
{
	static const unsigned long cheap[] = {
		MEMTAP_INFO, MEMTAP_EVENT, MEMTAP_HOOK, MEMTAP_STATS, MEMTAP_STATS, MEMTAP_WANTED,
		MEMTAP_TRACE, MEMTAP_HELD, MEMTAP_TABLE, MEMTAP_EVENTS, MEMTAP_FIELD,
		MEMTAP_SIMILAR, MEMTAP_SYMBOL, MEMTAP_AGES, MEMTAP_MARK, MEMTAP_OTHER,
		MEMTAP_RECORDED,
	};
	static const unsigned long dear[] = {
		MEMTAP_CONFIGURE, MEMTAP_CONFIGURE, MEMTAP_ATTACH, MEMTAP_ATTACH, MEMTAP_START,
		MEMTAP_START, MEMTAP_STOP,
	};
	unsigned long cmd = cheap[below(f, 16)];

	if (one_in(f, 12))
		cmd = dear[below(f, 7)];
	if (one_in(f, 30))
		cmd = one_in(f, 2) ? _IO(MEMTAP_IOC_TYPE, below(f, 256)) : any(f);
	/* the kernel's own, which would hang on who asked for signals */
	if ((cmd & 0xff00) == 0x5400)
		return;
	call(f, some_fd(f), cmd);
}

static void do_read(struct fuzzer *f)
{
	static const size_t odd[] = { 0, 1, 3, 7, 8, 13, 100, 511, 4095, ROOM };
	size_t len = odd[below(f, 10)];
	char *at = f->page + ROOM - len;
	struct iovec v[2] = { { at, len / 2 }, { at + len / 2, len - len / 2 } };
	long ret;

	if (one_in(f, 20))
		at += below(f, 64);
	if (one_in(f, 40))
		at = f->fixed;
	if (one_in(f, 60))
		len = odd_value(f);
	ret = one_in(f, 6) ? readv(some_fd(f), v, 2) : read(some_fd(f), at, len);
	count(READS, ret);
}

static void do_poll(struct fuzzer *f)
{
	struct pollfd p[2] = { { some_fd(f), any(f), 0 }, { some_fd(f), POLLIN | POLLPRI, 0 } };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLPRI };
	int e;

	if (!one_in(f, 8)) {
		count(OTHERS, poll(p, 2, one_in(f, 50)));
		return;
	}
	e = epoll_create1(EPOLL_CLOEXEC);
	count(OTHERS, epoll_ctl(e, EPOLL_CTL_ADD, p[0].fd, &ev));
	epoll_wait(e, &ev, 1, 0);
	close(e);
}

static long to_pipe(struct fuzzer *f, int fd)
{
	int ends[2];
	long ret;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -1;
	ret = one_in(f, 2) ? splice(fd, NULL, ends[1], NULL, below(f, 5000), SPLICE_F_NONBLOCK) :
			     sendfile(ends[1], fd, NULL, below(f, 5000));
	close(ends[0]);
	close(ends[1]);
	return ret;
}

/* Calls that a device of this kind has no answer to, or the kernel's own. */
static void do_other(struct fuzzer *f)
{
	int fd = some_fd(f);
	struct stat st;
	void *at;

	switch (below(f, 12)) {
	case 0: count(OTHERS, lseek(fd, odd_value(f), below(f, 5))); break;
	case 1: count(OTHERS, pread(fd, f->page, below(f, 5000), odd_value(f))); break;
	case 2: count(OTHERS, pwrite(fd, f->page, below(f, 5000), odd_value(f))); break;
	case 3: count(OTHERS, write(fd, f->page, below(f, 5000))); break;
	case 4:
		at = mmap(NULL, 4096, PROT_READ, one_in(f, 2) ? MAP_SHARED : MAP_PRIVATE, fd, 0);
		count(OTHERS, at == MAP_FAILED ? -1 : munmap(at, 4096));
		break;
	case 5: count(OTHERS, to_pipe(f, fd)); break;
	case 6: count(OTHERS, fcntl(fd, F_SETFL, one_in(f, 2) ? O_NONBLOCK : 0)); break;
	case 7: count(OTHERS, flock(fd, LOCK_EX | LOCK_NB)); break;
	case 8: count(OTHERS, fstat(fd, &st)); break;
	case 9: count(OTHERS, ftruncate(fd, odd_value(f))); break;
	case 10: count(OTHERS, fsync(fd)); break;
	default: count(OTHERS, fcntl(fd, F_GETFL)); break;
	}
}

/* A session as it should be, more or less. */
static void do_session(struct fuzzer *f)
{
	static const unsigned long order[] = {
		MEMTAP_CONFIGURE, MEMTAP_ATTACH, MEMTAP_ATTACH, MEMTAP_ATTACH, MEMTAP_START,
	};
	int fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	unsigned int i;

	count(OPENS, fd);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		call(f, fd, order[i]);
	put_slot(f, fd);
}

static void do_open(struct fuzzer *f)
{
	static const int flags[] = { O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK };
	int fd = some_fd(f);

	switch (below(f, 6)) {
	case 0: fd = dup(fd); break;
	case 1: fd = -1; break;			/* close */
	case 2:
	case 3: do_session(f); return;
	default: fd = open(MEMTAP_DEVICE, flags[below(f, 4)] | O_CLOEXEC);
	}
	count(OPENS, fd);
	put_slot(f, fd);
}

/* Something for the sessions to count. */
static void cause(struct fuzzer *f)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i, half = below(f, 2);

	for (i = 0; i < 8; i++) {
		probed(i);
		handed_out(below(f, 100), any(f));
	}
	if (at != MAP_FAILED) {
		*at = 1;
		/* each once: the other thread may get what is free again */
		munmap(at + 4096 * half, 4096);
		munmap(at + 4096 * !half, 4096);
	}
	if (one_in(f, 8))
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, copy, 0), 4096);
}

static void one_call(struct fuzzer *f);

/*
 * A process that has the sessions open, too, and may be killed with them.  It makes no
 * other: nobody would wait for that one.
 */
static void do_fork(struct fuzzer *f)
{
	static bool forked;
	unsigned int i;
	sigset_t alarm;
	pid_t pid;

	if (forked)
		return;
	/* one that is interrupted begins anew, on a slow machine for ever */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pid = fork();
	if (!pid) {
		forked = true;
		for (i = 0; i < 30; i++)
			one_call(f);
		_exit(0);
	}
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	if (pid < 0)
		return;
	if (one_in(f, 2)) {
		usleep(below(f, 3000));
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void one_call(struct fuzzer *f)
{
	unsigned int n = below(f, 1000);

	if (n < 620)
		do_ioctl(f);
	else if (n < 850)
		do_read(f);
	else if (n < 900)
		do_poll(f);
	else if (n < 975)
		do_other(f);
	else if (n < 990)
		do_open(f);
	else if (n < 999)
		cause(f);
	else if (one_in(f, 4))
		do_fork(f);
}

/* --- rounds ---------------------------------------------------------------- */

static void seed(struct fuzzer *f, uint64_t with)
{
	f->random = (with + 1) * 0x9e3779b97f4a7c15ULL | 1;
	any(f);
	any(f);
}

static void *thread(void *arg)
{
	struct fuzzer *f = arg;
	unsigned int i;

	for (i = 0; i < a_round; i++)
		one_call(f);
	return NULL;
}

static void wrong(const char *why, int fd)
{
	totals->bad++;
	diag("seed %llu, descriptor %d: %s", (unsigned long long)round_seed, fd, why);
}

/* Each session that is left and ever ran. */
static void check(int fd)
{
	static char end[ROOM];
	struct bytes b;
	const char *why;
	ssize_t n;

	if (fd < 0)
		return;
	session_run(fd, MEMTAP_STOP);
	/* what remains of a snapshot that somebody began */
	while ((n = read(fd, end, sizeof(end))) > 0)
		;
	if (n < 0) {
		if (errno != EBUSY && errno != EBADF)
			wrong(strerror(errno), fd);
		return;
	}
	b = session_read(fd, 1 << 16);
	why = whole(&b);
	if (why)
		wrong(why, fd);
	else if (!sums_hold(&b))
		wrong("it does not add up", fd);
	totals->sessions++;
	free(b.at);
}

static void wake(int sig)
{
	(void)sig;
}

/* Calls are interrupted now and then. */
static void interrupts(void)
{
	struct itimerval often = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction act = { .sa_handler = wake };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Sessions are shared: nobody reads while another still calls, or reads. */
static void wait_until(_Atomic unsigned int *n, unsigned int least)
{
	unsigned int i;

	for (i = 0; i < 60000 && *n < least; i++)
		usleep(2000);
}

static int process(unsigned int nr)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct fuzzer f[THREADS];
	pthread_t threads[THREADS];
	unsigned int i;

	interrupts();
	for (i = 0; i < THREADS; i++) {
		f[i] = (struct fuzzer){ .nr = nr * THREADS + i };
		seed(&f[i], round_seed * 64 + f[i].nr);
		f[i].page = memory(ROOM, PROT_READ | PROT_WRITE);
		f[i].fixed = memory(4096, PROT_READ);
		f[i].data = memory(1 << 16, PROT_READ | PROT_WRITE);
		if (pthread_create(&threads[i], NULL, thread, &f[i]))
			bail_out("pthread_create");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	totals->ended++;
	wait_until(&totals->ended, processes);
	wait_until(&totals->turn, nr);
	for (i = 0; i < SLOTS; i++)
		check(slots[i]);
	totals->turn++;
	return 0;
}

static void open_shared(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		slots[i] = i < SHARED ? session_open() : -1;
}

static void fuzz_round(const struct state *before)
{
	pid_t pids[MAX_PROCESSES];
	unsigned int i;
	struct state now;
	int status;

	open_shared();
	totals->ended = totals->turn = 0;
	for (i = 0; i < processes; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(process(i));
	}
	for (i = 0; i < processes; i++)
		if (waitpid(pids[i], &status, 0) == pids[i] && status)
			wrong(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it failed", -1);
	for (i = 0; i < SHARED; i++) {
		check(slots[i]);
		close(slots[i]);
	}
	now = look();
	if (same(&now, before))
		return;
	wrong("something is left", -1);
	diag("   %u hooks, %u attached, %u users, %u sessions", now.hooks, now.attached,
	     now.users, now.sessions);
}

static uint64_t sum(const _Atomic unsigned int *of)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++)
		n += of[i];
	return n;
}

/* A file with the same bytes, in which probes may stand anywhere. */
static void copy_self(void)
{
	char name[] = "/tmp/t_fuzz.XXXXXX";
	off_t len = lseek(exe, 0, SEEK_END), at = 0;

	copy = mkstemp(name);
	if (copy < 0 || sendfile(copy, exe, &at, len) != len)
		bail_out(name);
	close(copy);
	copy = open(name, O_RDONLY | O_CLOEXEC);
	unlink(name);
}

static void prepare(void)
{
	struct memtap_info info = { .size = sizeof(info) };

	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	plain = open("/dev/null", O_RDWR | O_CLOEXEC);
	copy_self();
	places[0] = place_of((void *)probed);
	places[1] = place_of((void *)handed_out);
	perf_ids[0] = perf_id("task/task_rename");
	perf_ids[1] = perf_id("syscalls/sys_enter_getppid");
	control = session_open();
	session_must(ioctl(control, MEMTAP_INFO, &info), "INFO");
	nr_builtins = info.nr_events;
	/* many sessions at once, on a small machine */
	put_text(PARAMETER("max_mem"), "8M");
}

static void tell(uint64_t first, unsigned int rounds, time_t seconds)
{
	static const char *const names[] = { "other ioctls", "ATTACH", "START", "read",
					     "other calls", "open, dup, close" };
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++)
		diag("%-16s %10u calls, %u worked", names[i],
		     totals->calls[i], totals->worked[i]);
	ok(!totals->bad, "%llu calls in %lld s: all %u sessions that were left add up",
	   (unsigned long long)sum(totals->calls), (long long)seconds, totals->sessions);
	diag("seeds %llu to %llu", (unsigned long long)first,
	     (unsigned long long)first + rounds - 1);
}

int main(int argc, char **argv)
{
	uint64_t first = time(NULL), calls = 0;
	time_t start = time(NULL), limit = 5;
	unsigned int rounds = 0, areas;
	struct state before;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:t:p:r:")) != -1) {
		switch (opt) {
		case 's': first = strtoull(optarg, NULL, 0); break;
		case 'n': calls = strtoull(optarg, NULL, 0); break;
		case 't': limit = strtoul(optarg, NULL, 0); break;
		case 'p': processes = strtoul(optarg, NULL, 0) % (MAX_PROCESSES + 1); break;
		case 'r': a_round = strtoul(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 4096);
	prepare();
	before = look();
	areas = held_areas();
	do {
		round_seed = first + rounds++;
		fuzz_round(&before);
	} while (!totals->bad && (calls ? sum(totals->calls) < calls : time(NULL) - start < limit));
	tell(first, rounds, time(NULL) - start);
	ok(kernel_forgot(areas), "nothing is left in the kernel");
	put_text(PARAMETER("max_mem"), "64M");
	return done_testing();
}
