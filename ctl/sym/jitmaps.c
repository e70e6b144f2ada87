// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the symbol files of JIT compilers while they exist. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/openreg.h"
#include "base/thread.h"
#include "sym/jitmaps.h"
#include "target/maps.h"
#include "target/procs.h"
#include "target/target.h"

#define MAP_MAX		(256u << 20)	/* bytes of text of a file, */
#define ALL_MAX		(1024u << 20)	/* and of all that are kept */
#define FEW		64		/* programs: these are looked at each time */
#define LOOK_MS		100
#define LOOK_MANY_MS	250
#define AGAIN		8		/* looks, until one of many without a file is tried again */
#define PATIENCE_S	1		/* file systems that do not answer are not waited for */
#define PATIENCE_ASK_S	20
#define MAX_PROGRAMS	65536
#define NS		1000000000ULL

/* A program of a process, from one execve() to the next. */
struct program {
	struct jvm_process proc;
	__u64 start;			/* of the process, in clock ticks */
	dev_t exe_dev;
	ino_t exe_ino;
	int fd;				/* of its file; -1: none is open */
	char *text;			/* once it was read */
	size_t len;
	uid_t owner;			/* of a file that is not believed */
	bool refused, wanted, ended;
	unsigned int seen;		/* in which look */
};

struct jitmaps {
	pthread_mutex_t lock;		/* all that is below */
	pthread_t thread;
	int wake;
	bool stop, stopped;		/* stop: may be read without the lock */
	bool ask;
	bool stuck;			/* the thread, for good: it has the lock */
	struct memtap_filter_item *items;
	size_t nr_items;
	bool children;
	struct program *at;
	size_t nr, room, kept;		/* kept: bytes of text */
	size_t cursor;			/* where the one after the last that was met may be */
	unsigned int look;
	char asked[512];		/* what a JVM that was asked in vain said */
};

char *jitmaps_slurp(int fd, size_t *len)
{
	char *text = NULL, *more;
	size_t room = 0;
	ssize_t n = 1;

	*len = 0;
	while (n > 0) {
		if (room - *len < 65536) {
			room = 2 * room + 131072;
			more = room > MAP_MAX ? NULL : realloc(text, room);
			if (!more) {
				free(text);
				return NULL;
			}
			text = more;
		}
		n = pread(fd, text + *len, room - *len - 1, (off_t)*len);
		*len += n > 0 ? (size_t)n : 0;
	}
	text[*len] = '\0';
	return text;
}

/* ---- one program ---- */

static bool slurp(pid_t pid, const char *name, char **text)
{
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return !maps_slurp(AT_FDCWD, path, text, &len);
}

/* Of the last PID namespace, which is its own.  Before Linux 4.1 there is no NSpid. */
static pid_t last_number(const char *p)
{
	pid_t pid = 0;
	char *end;
	long n;

	for (; *p && *p != '\n'; p = end) {
		n = strtol(p, &end, 10);
		if (end == p)
			break;
		pid = (pid_t)n;
	}
	return pid;
}

/* The @nr'th number of the line that begins with @name, from 0 on. */
static bool number_of(const char *text, const char *name, int nr, int base, __u64 *value)
{
	const char *p = strstr(text, name);
	char *end;

	if (!p || (p != text && p[-1] != '\n'))
		return false;
	for (p += strlen(name); nr >= 0; nr--, p = end) {
		*value = strtoull(p, &end, base);
		if (end == p)
			return false;
	}
	return true;
}

bool jvm_parse_status(const char *text, struct jvm_process *p)
{
	const char *ns = strstr(text, "\nNSpid:");
	__u64 uid, gid, caught = 0, ignored = 0;

	if (!number_of(text, "Uid:", 1, 10, &uid) || !number_of(text, "Gid:", 1, 10, &gid))
		return false;
	number_of(text, "SigCgt:", 0, 16, &caught);
	number_of(text, "SigIgn:", 0, 16, &ignored);
	p->uid = (uid_t)uid;
	p->gid = (gid_t)gid;
	p->quits = !((caught | ignored) >> 2 & 1);	/* SIGQUIT is 3 */
	p->ns_pid = ns ? last_number(ns + 7) : 0;
	if (p->ns_pid <= 0)
		p->ns_pid = p->pid;
	return true;
}

static bool read_status(struct jvm_process *p)
{
	char *text;
	bool ok;

	if (!slurp(p->pid, "status", &text))
		return false;
	ok = jvm_parse_status(text, p);
	free(text);
	return ok;
}

static void exe_of(pid_t pid, dev_t *dev, ino_t *ino)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	*dev = 0;
	*ino = 0;
	if (!stat(path, &st)) {
		*dev = st.st_dev;
		*ino = st.st_ino;
	}
}

static int open_map(const struct program *p)
{
	char path[64];
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%d/root", p->proc.pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	snprintf(path, sizeof(path), "tmp/perf-%d.map", p->proc.ns_pid);
	fd = open_regular_at(root, path, O_NOFOLLOW);
	close(root);
	return fd;
}

/* One that somebody left there for a process of the same number is older than it. */
static bool is_older(const struct program *p, const struct stat *st)
{
	const __u64 tick = NS / (__u64)sysconf(_SC_CLK_TCK);
	struct timespec real, boot;
	__s64 age;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	age = boot.tv_sec - (__s64)(p->start * tick / NS);
	return st->st_mtim.tv_sec + age + 2 < real.tv_sec;
}

static void find_map(struct program *p)
{
	struct stat st;
	int fd;

	if (!read_status(&p->proc))
		return;
	fd = open_map(p);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || is_older(p, &st)) {
		close(fd);
		return;
	}
	p->refused = st.st_uid && st.st_uid != p->proc.uid;
	p->owner = st.st_uid;
	if (p->refused)
		close(fd);
	else
		p->fd = fd;
}

/* Made anew under its name, as who begins again does: that one is meant. */
static void follow_map(struct program *p)
{
	struct stat was, now;
	int fd = open_map(p);

	if (fd < 0)
		return;
	if (!fstat(p->fd, &was) && !fstat(fd, &now) && was.st_ino != now.st_ino &&
	    (!now.st_uid || now.st_uid == p->proc.uid)) {
		close(p->fd);
		p->fd = fd;
		return;
	}
	close(fd);
}

static void read_map(struct jitmaps *j, struct program *p)
{
	if (p->fd < 0)
		return;
	if (j->kept < ALL_MAX)
		p->text = jitmaps_slurp(p->fd, &p->len);
	j->kept += p->text ? p->len : 0;
	close(p->fd);
	p->fd = -1;
}

static void end_program(struct jitmaps *j, struct program *p)
{
	p->ended = true;
	read_map(j, p);
}

/* ---- all of them ---- */

static bool add_program(struct jitmaps *j, pid_t pid, __u64 start)
{
	struct program *more, *p;

	if (j->nr == j->room) {
		more = j->nr < MAX_PROGRAMS ?
			reallocarray(j->at, 2 * j->room + 64, sizeof(*more)) : NULL;
		if (!more)
			return false;
		j->at = more;
		j->room = 2 * j->room + 64;
	}
	p = &j->at[j->nr++];
	*p = (struct program){ .proc = { .pid = pid }, .start = start, .fd = -1,
			       .seen = j->look };
	p->wanted = j->children || !j->nr_items || procs_passes(pid, j->items, j->nr_items);
	exe_of(pid, &p->exe_dev, &p->exe_ino);
	if (p->wanted)
		find_map(p);
	return true;
}

/* What it executes is another program now? */
static bool has_execed(const struct program *p)
{
	dev_t dev;
	ino_t ino;

	exe_of(p->proc.pid, &dev, &ino);
	return ino && (dev != p->exe_dev || ino != p->exe_ino);
}

static void look_at(struct jitmaps *j, struct program *p, __u64 start)
{
	const pid_t pid = p->proc.pid;

	if (start != p->start || has_execed(p)) {
		end_program(j, p);
		add_program(j, pid, start);
		return;
	}
	p->seen = j->look;
	if (p->fd >= 0)
		follow_map(p);
	else if (p->wanted)
		find_map(p);
}

static struct program *living(struct jitmaps *j, pid_t pid)
{
	for (size_t n = 0; n < j->nr; n++) {
		const size_t i = (j->cursor + n) % j->nr;

		if (j->at[i].proc.pid != pid || j->at[i].ended)
			continue;
		j->cursor = i + 1;
		return &j->at[i];
	}
	return NULL;
}

/* Who has a file is looked at each time, to be there before it is gone. */
static unsigned int pause_of(const struct jitmaps *j, const struct program *p)
{
	return p->fd >= 0 || (p->wanted && j->nr <= FEW) ? 1 : AGAIN;
}

static int visit(pid_t pid, void *ctx)
{
	struct jitmaps *j = ctx;
	struct program *p = living(j, pid);
	struct target_stat st;

	if (p && j->look - p->seen < pause_of(j, p))
		return 0;
	if (target_stat(pid, &st))
		return 0;
	if (p)
		look_at(j, p, st.start);
	else
		add_program(j, pid, st.start);
	return 0;
}

/* Those that were not met any more have ended; who had no file is forgotten. */
static void drop_ended(struct jitmaps *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct program *p = &j->at[i];

		if (!p->ended && j->look - p->seen >= pause_of(j, p))
			end_program(j, p);
		if (!p->ended || p->text || p->refused)
			j->at[kept++] = *p;
	}
	j->nr = kept;
}

static void look(struct jitmaps *j)
{
	bool pids = j->nr_items && !j->children;

	j->look++;
	for (size_t i = 0; i < j->nr_items; i++)
		pids = pids && j->items[i].kind == MEMTAP_FILTER_PID;
	for (size_t i = 0; pids && i < j->nr_items; i++)
		visit((pid_t)j->items[i].value, j);
	if (!pids)
		procs_each(visit, j);
	drop_ended(j);
}

static void ask_jvms(struct jitmaps *j)
{
	size_t asked = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct program *p = &j->at[i];

		if (p->ended || !p->wanted || !jvm_is(p->proc.pid) || !read_status(&p->proc))
			continue;
		asked++;
		jvm_ask(&p->proc, j->asked, sizeof(j->asked));
	}
	if (!asked)
		snprintf(j->asked, sizeof(j->asked),
			 "--jvm-maps: no JVM was running at the end");
}

static void read_all(struct jitmaps *j)
{
	look(j);
	if (j->ask)
		ask_jvms(j);
	for (size_t i = 0; i < j->nr; i++) {
		struct program *p = &j->at[i];

		if (p->fd >= 0)
			follow_map(p);
		else if (!p->ended && p->wanted)
			find_map(p);
		read_map(j, p);
	}
}

static void *look_all(void *arg)
{
	struct jitmaps *j = arg;
	struct pollfd wake = { .fd = j->wake, .events = POLLIN };
	bool stop = false;

	while (!stop) {
		stop = __atomic_load_n(&j->stop, __ATOMIC_ACQUIRE);
		pthread_mutex_lock(&j->lock);
		if (stop)
			read_all(j);
		else
			look(j);
		pthread_mutex_unlock(&j->lock);
		if (!stop)
			poll(&wake, 1, j->nr > FEW ? LOOK_MANY_MS : LOOK_MS);
	}
	return NULL;
}

/* ---- its life ---- */

struct jitmaps *jitmaps_start(const struct memtap_filter_item *items, size_t nr, bool children)
{
	struct jitmaps *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	pthread_mutex_init(&j->lock, NULL);
	j->items = calloc(nr + 1, sizeof(*items));
	if (j->items && nr)
		memcpy(j->items, items, nr * sizeof(*items));
	j->nr_items = nr;
	j->children = children;
	j->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (j->items && j->wake >= 0 && !thread_start(&j->thread, look_all, j))
		return j;
	if (j->wake >= 0)
		close(j->wake);
	free(j->items);
	free(j);
	return NULL;
}

const char *jitmaps_stop(struct jitmaps *j, bool ask)
{
	struct timespec until;

	if (!j)
		return NULL;
	if (!j->stopped) {
		j->stopped = true;
		j->ask = ask;
		__atomic_store_n(&j->stop, true, __ATOMIC_RELEASE);
		eventfd_write(j->wake, 1);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += ask ? PATIENCE_ASK_S : PATIENCE_S;
		j->stuck = pthread_timedjoin_np(j->thread, NULL, &until);
	}
	if (j->stuck)
		return "JIT-compiled code has no names: a file system does not respond";
	return j->asked[0] ? j->asked : NULL;
}

void jitmaps_free(struct jitmaps *j)
{
	if (!j)
		return;
	jitmaps_stop(j, false);
	if (j->stuck)
		return;		/* the thread has it */
	for (size_t i = 0; i < j->nr; i++)
		free(j->at[i].text);
	close(j->wake);
	free(j->items);
	free(j->at);
	free(j);
}

/* ---- what there is ---- */

/* The thread has it while it looks; one that waits for a file system is not waited for. */
static bool take_lock(struct jitmaps *j)
{
	struct timespec until;

	if (!j || j->stuck)
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	j->stuck = pthread_mutex_timedlock(&j->lock, &until);
	return !j->stuck;
}

/* /proc has the time of birth in ticks, and with the time the machine slept. */
static bool is_of(const struct program *p, const struct memtap_rec_task *task)
{
	const __u64 tick = NS / (__u64)sysconf(_SC_CLK_TCK);
	const __u64 start = p->start * tick;
	struct timespec boot, mono;
	__u64 slept;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	slept = (__u64)(boot.tv_sec - mono.tv_sec + 1) * NS;
	return p->proc.pid == task->pid && start + 2 * tick >= task->start_ns &&
	       start <= task->start_ns + slept + 2 * tick;
}

/*
 * Of a process's programs the last one, if that is meant.  Another one is known only by
 * what there was to read when it ended, and by being the only one.
 */
static struct program *program_of(struct jitmaps *j, const struct memtap_rec_task *task,
				  bool last)
{
	struct program *found = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct program *p = &j->at[i];

		if (!is_of(p, task))
			continue;
		if (last) {
			found = p;
		} else if (p->ended && p->text) {
			found = p;
			nr++;
		}
	}
	return nr > 1 ? NULL : found;
}

char *jitmaps_text(struct jitmaps *j, const struct memtap_rec_task *task, bool last,
		   size_t *len)
{
	struct program *p;
	char *text = NULL;

	*len = 0;
	if (!take_lock(j))
		return NULL;
	p = program_of(j, task, last);
	if (p && p->text) {
		text = malloc(p->len + 1);
		if (text) {
			memcpy(text, p->text, p->len + 1);
			*len = p->len;
		}
	} else if (p && p->fd >= 0) {
		text = jitmaps_slurp(p->fd, len);
	}
	pthread_mutex_unlock(&j->lock);
	return text;
}

bool jitmaps_why(struct jitmaps *j, const struct memtap_rec_task *task, char *why, size_t len)
{
	struct program *p;

	*why = '\0';
	if (!take_lock(j))
		return false;
	p = program_of(j, task, true);
	if (p && p->refused)
		snprintf(why, len, "/tmp/perf-%d.map belongs to user %u, process %d to user %u: "
			 "the map is ignored, its code is shown as [jit]", p->proc.ns_pid, p->owner,
			 p->proc.pid, p->proc.uid);
	pthread_mutex_unlock(&j->lock);
	return *why;
}
