// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap monitor`: print each notification of the module as a line of JSON, or run a program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/oom.h"
#include "cmd/until.h"
#include "cmd/targets.h"
#include "render/oom.h"
#include "session/dev.h"
#include "session/listen.h"
#include "sym/sym.h"
#include "target/target.h"

#define MOST_PROGRAMS	4		/* at once */

struct monitor {
	const struct opts *o;
	struct targets targets;
	struct until until;
	struct notices *notices;
	int fd;				/* the device; -1: may not be opened */
	struct memtap_oom_record *record;
	pid_t programs[MOST_PROGRAMS];
	__u64 not_run;			/* since the last message about it */
};

/* --- programs -------------------------------------------------------------- */

static void reap(struct monitor *m)
{
	for (int i = 0; i < MOST_PROGRAMS; i++)
		if (m->programs[i] > 0 && waitpid(m->programs[i], NULL, WNOHANG))
			m->programs[i] = 0;
}

/* An unnamed file, not a pipe: a program that does not read must not block us. */
static int input_of(const char *line, size_t len)
{
	FILE *f = tmpfile();
	int fd = -1;

	if (!f)
		return -1;
	if (fwrite(line, 1, len, f) == len && !fflush(f) && !fseek(f, 0, SEEK_SET))
		fd = dup(fileno(f));
	fclose(f);
	return fd;
}

static void run_program(struct monitor *m, int slot, const char *line, size_t len)
{
	char *const argv[] = { (char *)(unsigned long)m->o->exec, NULL };
	const int in = input_of(line, len);
	pid_t pid;

	if (in < 0) {
		note("cannot run %s: cannot create a file for its input: %s", m->o->exec,
		     strerror(errno));
		return;
	}
	lseek(in, 0, SEEK_SET);
	pid = fork();
	if (!pid) {
		until_forget(&m->until);
		if (dup2(in, STDIN_FILENO) < 0)
			_exit(126);
		close(in);
		execvp(argv[0], argv);
		fprintf(stderr, "memtap: %s: %s\n", m->o->exec, strerror(errno));
		_exit(127);
	}
	close(in);
	if (pid < 0)
		note("cannot run %s: %s", m->o->exec, strerror(errno));
	else
		m->programs[slot] = pid;
}

static void exec_for(struct monitor *m, const char *line, size_t len)
{
	reap(m);
	for (int i = 0; i < MOST_PROGRAMS; i++)
		if (!m->programs[i]) {
			run_program(m, i, line, len);
			return;
		}
	if (!m->not_run++)
		note("%s is not run for every event: %d instances are still running", m->o->exec,
		     MOST_PROGRAMS);
}

/* --- lines ------------------------------------------------------------------ */

static double time_of_day(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void begin_line(struct json *j, const char *event)
{
	j->line = true;
	json_document(j, "monitor");
	json_str(j, "event", event);
	json_seconds(j, "time", time_of_day());
}

static void end_line(struct json *j)
{
	json_close(j, '}');
	fputc('\n', j->out);
}

/* Without the device the process is unknown. */
static void put_number(struct monitor *m, const char *event, const struct notice *n, FILE *out)
{
	struct json j = { .out = out };

	if (m->o->pids.nr || m->o->comms.nr || m->o->cgroups.nr ||
	    m->o->containers.nr || m->o->pods.nr || m->o->filter)
		return;
	begin_line(&j, event);
	json_u64(&j, "number", n->nr);
	end_line(&j);
}

static void put_oom(struct monitor *m, const struct notice *n, FILE *out)
{
	/* like a waiting `memtap oom`: report quickly and cheaply, without source lines */
	const struct sym_opts so = { .no_lines = true, .kernel_name = dev_symbol,
				     .device = m->fd };
	struct oom_opts oo = { .out = out, .line = true };
	__u64 lost;

	if (m->fd >= 0 && n->nr && !oom_next_stack(m->fd, n->nr - 1, m->record, &lost) &&
	    !lost) {
		if (!match_kill(&m->targets, m->record))
			return;
		oo.sym = sym_new(&so);
		render_oom_json(m->record, &oo);
		sym_free(oo.sym);
		return;
	}
	put_number(m, "oom-kill", n, out);
}

static void put_full(const struct notice *n, FILE *out)
{
	struct json j = { .out = out };

	begin_line(&j, "full");
	json_u64(&j, "session", n->session);
	json_u64(&j, "pid", n->pid);
	json_str(&j, "comm", n->comm);
	json_str(&j, "source", n->event);
	json_str(&j, "reason", n->reason);
	json_u64(&j, "events", n->value);
	end_line(&j);
}

static void put_stall(const struct notice *n, FILE *out)
{
	struct json j = { .out = out };

	begin_line(&j, "stall");
	json_str(&j, "source", n->event);
	json_u64(&j, "pid", n->pid);
	json_str(&j, "comm", n->comm);
	json_u64(&j, "ns", n->value);
	json_u64(&j, "dropped", n->dropped);
	end_line(&j);
}

static void put_missed(FILE *out)
{
	struct json j = { .out = out };

	begin_line(&j, "missed");
	json_str(&j, "reason", "events came faster than they were read");
	end_line(&j);
}

static void put_other(struct monitor *m, const struct notice *n, FILE *out)
{
	const bool full = n->kind == MEMTAP_NOTICE_FULL;
	struct notice filled = *n;
	const int err = m->fd >= 0 ? notice_fill(m->fd, &filled) : -EPERM;

	if (err == -ENOENT)
		put_missed(out);
	else if (err)
		put_number(m, full ? "full" : "stall", n, out);
	else if (!match_notice(&m->targets, &filled))
		return;
	else if (full)
		put_full(&filled, out);
	else
		put_stall(&filled, out);
}

static void tell(struct monitor *m, const struct notice *n)
{
	char *line = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&line, &len);

	if (!out)
		return;
	if (!n)
		put_missed(out);
	else if (n->kind == MEMTAP_NOTICE_OOM)
		put_oom(m, n, out);
	else if (n->kind == MEMTAP_NOTICE_FULL || n->kind == MEMTAP_NOTICE_STALL)
		put_other(m, n, out);
	if (fclose(out)) {
		free(line);
		return;
	}
	fwrite(line, 1, len, stdout);
	fflush(stdout);
	if (len && m->o->exec)
		exec_for(m, line, len);
	free(line);
}

static void on_notice(const struct notice *n, void *ctx)
{
	tell(ctx, n);
}

/* ---------------------------------------------------------------------------- */

static int fail_open(int err)
{
	switch (err) {
	case -ENOSYS:
		return fail_text("this memtap was built without libnl: install the headers of "
				 "libnl-genl-3 and build it again");
	case -ENOENT:
		return fail_text("the module sends no notifications: it is not loaded, or older "
				 "than this memtap; run `memtap load`");
	default:
		return fail(ERR_PLAIN, err, "listening to the module");
	}
}

static int listen_to(struct monitor *m)
{
	int err;

	until_begin(&m->until, m->o->duration);
	note("listening; stop with ^C");
	while (until_wait(&m->until, notices_fd(m->notices), POLLIN) && !ferror(stdout)) {
		err = notices_read(m->notices, on_notice, m);
		if (err == -ENOBUFS)
			tell(m, NULL);
		else if (err < 0)
			return fail(ERR_PLAIN, err, "listening to the module");
		reap(m);
	}
	return 0;
}

int cmd_monitor(const struct cmd *cmd, struct opts *o)
{
	struct monitor m = { .o = o, .fd = -1 };
	char path[4096];
	int err, ret;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much: it takes options only",
				   o->args.at[0]);
	ret = targets_parse_notices(&m.targets, cmd->name, o);
	if (ret)
		return ret;
	err = o->exec ? target_find(o->exec, path, sizeof(path)) : 0;
	if (err)
		return fail(ERR_PLAIN, -err, "--exec %s", o->exec);
	m.record = malloc(sizeof(*m.record));
	if (!m.record)
		return fail_text("no memory");
	err = notices_open(&m.notices);
	if (err) {
		free(m.record);
		return fail_open(err);
	}
	if (dev_open(&m.fd)) {
		m.fd = -1;
		note("%s cannot be opened (it needs CAP_PERFMON or CAP_SYS_ADMIN): events are "
		     "printed with their number only, without processes", MEMTAP_DEVICE);
	}
	ret = listen_to(&m);
	if (m.fd >= 0)
		close(m.fd);
	notices_close(m.notices);
	free(m.record);
	return ret;
}
