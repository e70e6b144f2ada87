// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap selftest`: do a known amount of work, and check that all of it is counted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "session/module.h"
#include "selftest/selftest.h"
#include "session/session.h"

/* ---- the guard ---- */

/*
 * Who loads the module must unload it, whatever becomes of him: a process that
 * nothing but SIGKILL ends waits until the other end of a pipe is closed, by us or
 * by our death.
 */
static int unload_patiently(void)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	int err = -EBUSY;

	/* sessions are being closed; others may have begun one meanwhile */
	for (int i = 0; i < 400 && err; i++) {
		err = module_unload();
		if (err == -ENOENT)
			return 0;
		if (err)
			nanosleep(&pause, NULL);
	}
	return err;
}

static void guard(int end)
{
	const int null = open("/dev/null", O_RDWR);
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/* nobody shall wait for the end of our output but for its own */
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(unload_patiently() ? EXIT_FAILURE : 0);
}

/* Before the module is loaded.  0 or -errno. */
static pid_t start_guard(void)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		guard(ends[0]);
	}
	close(ends[0]);
	st_guard = ends[1];
	return pid < 0 ? -errno : pid;
}

static bool end_guard(pid_t pid)
{
	int status = -1;

	close(st_guard);
	st_guard = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

/* ---- all of it ---- */

static int ask(struct memtap_info *info)
{
	struct session s;
	int ret = session_open(&s);

	if (!ret)
		*info = s.info;
	session_close(&s);
	return ret;
}

static int check_all(struct st_run *r, bool loaded)
{
	static const struct sym_opts sym_opts = { .no_inline = true };
	struct memtap_info info;
	char about[256];
	struct utsname uts;
	int ret = ask(&info);

	if (ret)
		return ret;
	r->sym = sym_new(&sym_opts);
	if (!r->sym)
		return fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	uname(&uts);
	snprintf(about, sizeof(about), "memtap selftest: module %.31s on Linux %.64s, %u CPU%s",
		 info.version, uts.release, info.nr_cpus, info.nr_cpus == 1 ? "" : "s");
	st_begin(&r->out, stdout, r->o->json, about);
	st_say(&r->out, ST_OK, "module", loaded ? "loaded for this test" :
	       "was already loaded; stays loaded");
	st_features(r, &info);
	st_events(r);
	st_ways(r);
	st_leaks_launched(r);
	st_leaks_attached(r);
	st_kernel(r);
	sym_free(r->sym);
	return 0;
}

/* The sessions are closed: nobody but others, and the recorder of OOM kills, has a probe. */
static void put_left(struct st_run *r)
{
	struct memtap_hook_state h;
	unsigned int attached = 0;
	struct session s;

	if (session_open(&s)) {
		st_say(&r->out, ST_FAILED, "nothing is left", "the module does not answer");
		return;
	}
	for (__u32 i = 0; !dev_hook(s.fd, i, &h); i++)
		attached += h.state == MEMTAP_HOOK_ATTACHED && strcmp(h.event, "oom-kill") != 0;
	if (s.info.nr_sessions > 1)
		st_say(&r->out, ST_OK, "nothing is left", "by this test; other sessions are open");
	else
		st_say(&r->out, attached ? ST_FAILED : ST_OK, "nothing is left",
		       "%u hook%s attached", attached, attached == 1 ? "" : "s");
	session_close(&s);
}

int cmd_selftest(const struct cmd *cmd, struct opts *o)
{
	struct st_run r = { .o = o };
	const bool was_loaded = module_loaded();
	pid_t pid = 0;
	int ret;

	if (o->args.nr == 1 && !strcmp(o->args.at[0], "work"))
		return st_work_leak();
	if (o->args.nr > 1)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[1]);
	if (o->args.nr && !module_is_file(o->args.at[0]))
		return usage_error(cmd->name, "'%s' is not FILE.ko", o->args.at[0]);
	err_quiet = 1;
	if (!was_loaded) {
		pid = start_guard();
		if (pid < 0)
			return fail(ERR_PLAIN, pid, "%s", "starting");
		ret = session_load(o->args.nr ? o->args.at[0] : NULL, "");
		if (ret) {
			end_guard(pid);
			return ret;
		}
	}
	ret = check_all(&r, !was_loaded);
	if (!ret)
		put_left(&r);
	if (pid && !end_guard(pid) && !ret)
		st_say(&r.out, ST_FAILED, "module", "could not be unloaded: `memtap status` "
		       "shows its sessions");
	else if (pid && !ret)
		st_say(&r.out, ST_OK, "module", "unloaded again");
	return ret ? ret : st_end(&r.out);
}
