// SPDX-License-Identifier: GPL-2.0-or-later
/* Begin and end the actions of rules; see history/act.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/text.h"
#include "history/act.h"

#define SECOND		1000000000ULL
#define GRACE_NS	(60 * SECOND)	/* to attach, and to write the report */
#define ARGS		24
#define ACT_WHY		512
#define TEXT		1600
#define ERROR_PATH	(sizeof(((struct act *)0)->file) + 8)

static void say(const struct act *a, const char *line)
{
	a->say(a->ctx, line);
}

int act_begin(struct act *a)
{
	struct stat st;

	if (mkdir(a->dir, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(a->dir, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	/* what is recorded has names and paths of everybody's programs */
	return st.st_uid != geteuid() || (st.st_mode & 0022) ? -EPERM : 0;
}

/* --- the disk ----------------------------------------------------------------------- */

/* The oldest file (names begin with the time), and what all of them take. */
static __u64 sum_files(const struct act *a, char oldest[256])
{
	DIR *d = opendir(a->dir);
	struct dirent *e;
	struct stat st;
	__u64 sum = 0;

	*oldest = '\0';
	while (d && (e = readdir(d))) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		sum += (__u64)st.st_blocks * 512;
		if (!*oldest || strcmp(e->d_name, oldest) < 0)
			snprintf(oldest, 256, "%s", e->d_name);
	}
	if (d)
		closedir(d);
	return sum;
}

/* A quarter of the budget is kept free for the next file: the oldest ones go. */
static __u64 make_room(const struct act *a)
{
	char oldest[256], path[1024];
	__u64 sum;

	for (;;) {
		sum = sum_files(a, oldest);
		if (sum <= a->budget * 3 / 4 || !*oldest)
			break;
		snprintf(path, sizeof(path), "%s/%s", a->dir, oldest);
		if (unlink(path))
			break;
	}
	return sum < a->budget ? a->budget - sum : 0;
}

/* --- what is run -------------------------------------------------------------------- */

struct command {
	const char *argv[ARGS];
	size_t nr;
	char pid[16], seconds[32], file[600];
	bool to_file;			/* -o FILE; else its output is the file */
};

static void put(struct command *c, const char *word)
{
	c->argv[c->nr++] = word;
	c->argv[c->nr] = NULL;
}

static bool is_recording(enum rule_action action)
{
	return action <= ACT_SWAP;
}

/* Of whom the condition was true. */
static void put_target(struct command *c, const struct rule *r, const struct rule_hit *hit)
{
	const bool cgroup = r->what == RULE_CGROUP || r->what == RULE_CGROUP_GROWS ||
			    (r->what == RULE_PRESSURE && *r->pattern);

	if (r->action == ACT_LEAKS_K) {
		put(c, "-k");
	} else if (r->what == RULE_PROCESS_GROWS) {
		snprintf(c->pid, sizeof(c->pid), "%u", hit->pid);
		put(c, "-p");
		put(c, c->pid);
	} else if (cgroup) {
		put(c, "--cgroup");
		put(c, *hit->name ? hit->name : r->pattern);
	}
}

static void put_time(struct command *c, const struct rule *r)
{
	snprintf(c->seconds, sizeof(c->seconds), "%.3f", r->seconds);
	put(c, "-d");
	put(c, c->seconds);
}

static void make_command(struct command *c, const struct rule *r, const struct rule_hit *hit)
{
	static const char *const events[NR_RULE_ACTIONS] = {
		[ACT_FAULTS] = "fault", [ACT_RSS] = "rss", [ACT_RECLAIM] = "reclaim",
		[ACT_SWAP] = "swap",
	};

	if (r->action == ACT_RUN) {
		put(c, r->program);
		return;
	}
	put(c, "memtap");
	if (r->action == ACT_TRIAGE) {
		put(c, "triage");
		return;
	}
	if (r->action == ACT_HEAP) {
		snprintf(c->pid, sizeof(c->pid), "%u", hit->pid);
		put(c, "heap");
		put(c, c->pid);
		return;
	}
	if (r->action == ACT_DIAGNOSE) {
		put(c, "diagnose");
		put_time(c, r);
		put_target(c, r, hit);
		return;
	}
	put(c, "record");
	put(c, events[r->action] ? events[r->action] : "--leaks");
	put(c, "-o");
	put(c, c->file);
	put_time(c, r);
	put_target(c, r, hit);
	c->to_file = true;
}

/* A letter of a name that a path or a shell would read otherwise is left out of a file's name. */
static void make_file(const struct act *a, const struct rule *r, const struct history_now *now,
		      char *path, size_t len)
{
	const time_t s = (time_t)(now->real_ns / SECOND);
	char when[32], name[RULE_NAME];
	struct tm tm;

	snprintf(name, sizeof(name), "%s", r->name);
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *p))
			*p = '_';
	localtime_r(&s, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H-%M-%S", &tm);
	snprintf(path, len, "%s/%s-%s.%s", a->dir, when, name,
		 is_recording(r->action) ? "memtap" : "txt");
}

/* --- begin, end --------------------------------------------------------------------- */

/* Where what memtap says of an error is kept until the action has ended. */
static const char *error_file(const struct act *a, char path[ERROR_PATH])
{
	snprintf(path, ERROR_PATH, "%s.err", a->file);
	return path;
}

static int open_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

static void run_child(const struct act *a, const struct rule *r, const struct command *c,
		      const char *why, pid_t parent, __u64 room)
{
	const struct rlimit size = { room, room };
	char err[ERROR_PATH];
	int out;

	/* nothing is open then: files get the numbers of the standard ones */
	child_detach(-1, parent);
	setpgid(0, 0);
	if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
		_exit(126);
	out = c->to_file ? open("/dev/null", O_WRONLY) : open_new(a->file);
	if (out != STDOUT_FILENO)
		_exit(126);
	if ((r->action == ACT_RUN ? dup(out) : open_new(error_file(a, err))) != STDERR_FILENO)
		_exit(126);
	setrlimit(RLIMIT_FSIZE, &size);
	if (r->action == ACT_RUN) {
		setenv("MEMTAP_RULE", r->name, 1);
		setenv("MEMTAP_WHY", why, 1);
	}
	execv(r->action == ACT_RUN ? r->program : "/proc/self/exe",
	      (char *const *)(unsigned long)c->argv);
	_exit(127);
}

static void begin(struct act *a, struct rule *r, const struct rule_hit *hit, const char *why,
		  const struct history_now *now)
{
	struct command c = { .nr = 0 };
	const struct machine_at here = { .root = "" };
	const pid_t parent = getpid();
	char line[TEXT];
	__u64 room;

	room = make_room(a);
	make_file(a, r, now, a->file, sizeof(a->file));
	snprintf(c.file, sizeof(c.file), "%s", a->file);
	make_command(&c, r, hit);
	/* its number may be another one's by now */
	if (hit->pid && !machine_has_process(&here, hit->pid, hit->start)) {
		snprintf(line, sizeof(line), "rule %s: %s; nothing is recorded: the process has "
			 "ended", r->name, why);
		say(a, line);
		return;
	}
	if (room < a->budget / 8) {
		snprintf(line, sizeof(line), "rule %s: %s; nothing is recorded: %s is full, and "
			 "its files cannot be removed", r->name, why, a->dir);
		say(a, line);
		return;
	}
	a->pid = fork();
	if (!a->pid)
		run_child(a, r, &c, why, parent, room);
	if (a->pid < 0) {
		a->pid = 0;
		snprintf(line, sizeof(line), "rule %s: %s; nothing is recorded: no process can be "
			 "started: %s", r->name, why, strerror(errno));
		say(a, line);
		return;
	}
	setpgid(a->pid, a->pid);	/* whoever of us is first */
	snprintf(a->rule, sizeof(a->rule), "%s", r->name);
	a->end_ns = now->boot_ns + (__u64)(r->seconds * 1e9) + GRACE_NS;
	a->signals = 0;
	rule_acted(r, now->boot_ns);
	snprintf(line, sizeof(line), "rule %s: %s; %s%s%s into %s", r->name, why,
		 r->action == ACT_RUN ? "" : "memtap ", r->action == ACT_RUN ? r->program :
		 rule_actions[r->action], r->action == ACT_RUN ? ", its output" : "", a->file);
	say(a, line);
}

bool act_on(struct act *a, struct rules *rules, const struct machine *was,
	    const struct machine *m, const struct history_now *now)
{
	bool near = false, soon;
	char why[ACT_WHY], line[TEXT];
	struct rule_hit hit;

	for (size_t i = 0; i < rules->nr; i++) {
		struct rule *r = &rules->at[i];

		if (rule_holds(r, was, m, &hit, &soon)) {
			const char *but = a->pid ? "another action runs" :
				!rule_may(r, now->boot_ns) ? "its limit is reached" : NULL;

			rule_hit_text(r, &hit, m, why, sizeof(why));
			if (but) {
				r->left_out++;
				snprintf(line, sizeof(line), "rule %s: %s; nothing is recorded: %s",
					 r->name, why, but);
				say(a, line);
			} else {
				begin(a, r, &hit, why, now);
			}
		}
		near |= soon;
	}
	return near;
}

/* The last line that memtap said, ": cannot ..."; "": none.  Its file goes. */
static void last_words(const struct act *a, char *buf, size_t len)
{
	char path[ERROR_PATH], line[256];
	FILE *f = fopen(error_file(a, path), "re");

	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		const char *from = strncmp(line, "memtap: ", 8) ? line : line + 8;

		line[strcspn(line, "\n")] = '\0';
		for (char *p = line; *p; p++)
			*p = (unsigned char)*p < ' ' || *p == 127 ? '?' : *p;
		if (*from)
			snprintf(buf, len, ": %s", from);
	}
	if (f)
		fclose(f);
	unlink(path);
}

static void say_ended(struct act *a, int status)
{
	char line[TEXT], size[TEXT_LEN], how[400], why[300];
	const bool good = WIFEXITED(status) && !WEXITSTATUS(status);
	struct stat st;

	last_words(a, why, sizeof(why));
	if (WIFEXITED(status))
		snprintf(how, sizeof(how), "exit status %d%s", WEXITSTATUS(status), why);
	else
		snprintf(how, sizeof(how), "signal %d", WTERMSIG(status));
	if (stat(a->file, &st))
		snprintf(line, sizeof(line), "rule %s: ended without a file (%s)", a->rule, how);
	else
		snprintf(line, sizeof(line), "rule %s: ended: %s, %s%s%s%s", a->rule, a->file,
			 text_bytes(size, st.st_size, false), good ? "" : " (",
			 good ? "" : how, good ? "" : ")");
	say(a, line);
	a->pid = 0;
}

void act_look(struct act *a, __u64 boot_ns)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGKILL };
	int status;

	if (!a->pid)
		return;
	if (waitpid(a->pid, &status, WNOHANG) == a->pid) {
		say_ended(a, status);
		return;
	}
	if (boot_ns < a->end_ns)
		return;
	/* first as with Ctrl-C: it writes what it has */
	kill(-a->pid, signals[a->signals < 2 ? a->signals : 2]);
	a->signals++;
	a->end_ns = boot_ns + 10 * SECOND;
}

void act_end(struct act *a)
{
	int status;

	if (!a->pid)
		return;
	kill(-a->pid, SIGINT);
	for (int i = 0; i < 100; i++) {
		if (waitpid(a->pid, &status, WNOHANG) == a->pid) {
			say_ended(a, status);
			return;
		}
		usleep(100000);
		/* just begun, it may still have ignored the first */
		if (i == 20)
			kill(-a->pid, SIGTERM);
	}
	kill(-a->pid, SIGKILL);
	if (waitpid(a->pid, &status, 0) == a->pid)
		say_ended(a, status);
}
