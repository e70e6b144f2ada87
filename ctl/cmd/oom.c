// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap oom`: explain OOM kills: victim, trigger, cause. */
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cmd/before.h"
#include "cmd/cmd.h"
#include "cmd/oom.h"
#include "cmd/past.h"
#include "cmd/until.h"
#include "cmd/targets.h"
#include "history/past.h"
#include "render/oom.h"
#include "render/oom_log.h"
#include "session/session.h"
#include "sym/sym.h"

#define MOMENT		5	/* s, after which the machine's state no longer explains the kill */
#define ROWS		10
#define V1_MOUNT	"/sys/fs/cgroup/memory"

/* --- reading --------------------------------------------------------------- */

static int next_record(int fd, __u64 nr, struct memtap_oom_record *r,
		       struct memtap_oom_stack *copied, __u64 *lost)
{
	struct memtap_oom a = {
		.nr = nr,
		.record_ptr = (__u64)(unsigned long)r,
		.record_len = sizeof(*r),
		.stack_ptr = (__u64)(unsigned long)copied,
		.stack_len = copied ? sizeof(*copied) : 0,
	};
	int err;

	memset(r, 0, sizeof(*r));
	err = dev_oom(fd, &a);
	if (err)
		return err;
	oom_clean(r, a.record_len < sizeof(*r) ? a.record_len : sizeof(*r));
	*lost = a.lost;
	return 0;
}

int oom_next(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost)
{
	return next_record(fd, nr, r, NULL, lost);
}

int oom_next_stack(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost)
{
	struct memtap_oom_stack *copied = NULL;
	struct memtap_info info;
	int err;

	/* an older module has none, and with CAP_PERFMON alone none is given */
	if (!dev_info(fd, &info) && info.features & MEMTAP_FEATURE_OOM_STACK &&
	    !(info.features & MEMTAP_FEATURE_ONLY_COUNT))
		copied = calloc(1, sizeof(*copied));
	err = next_record(fd, nr, r, copied, lost);
	if (!err && copied)
		oom_unwind(r, copied);
	free(copied);
	return err;
}

/* --- reading all records --------------------------------------------------------- */

int oom_since(int fd, __u64 ns, __u64 until, const struct opts *o, struct oom_list *l)
{
	const struct timespec moment = { 0, OOM_COMPLETE_NS };
	struct memtap_oom_record *all;
	__u64 nr = 0, lost;
	int err;

	memset(l, 0, sizeof(*l));
	if (until == OOM_NOW)
		nanosleep(&moment, NULL);
	all = calloc(MEMTAP_OOM_KEPT, sizeof(*all));
	if (!all)
		return -ENOMEM;
	while (l->nr < MEMTAP_OOM_KEPT && !(err = oom_next_stack(fd, nr, &all[l->nr], &lost))) {
		nr = all[l->nr].nr;
		if (all[l->nr].ns < ns || all[l->nr].ns >= until)
			continue;
		l->lost += lost;
		l->nr += targets_named(o, &all[l->nr]);
	}
	if (l->nr) {
		l->at = all;
		return 0;
	}
	free(all);
	return 0;
}

/* --- kills for triage, instead of the kernel log ------------------------------------------ */

static void to_kill(const struct memtap_oom_record *r, double uptime, __u64 real_ns,
		    struct machine_kill *k)
{
	static const enum machine_short kinds[] = {
		[MEMTAP_CONSTRAINT_NONE] = SHORT_MACHINE,
		[MEMTAP_CONSTRAINT_CPUSET] = SHORT_CPUSET,
		[MEMTAP_CONSTRAINT_POLICY] = SHORT_POLICY,
		[MEMTAP_CONSTRAINT_MEMCG] = SHORT_CGROUP,
	};
	const struct memtap_oom_task *t = r->flags & MEMTAP_OOM_CHILD ? &r->members[0] :
					  &r->victim;

	memset(k, 0, sizeof(*k));
	k->at = uptime - (real_ns > r->real_ns ? (double)(real_ns - r->real_ns) / 1e9 : 0);
	snprintf(k->comm, sizeof(k->comm), "%s", t->comm);
	k->pid = (__u32)t->pid;
	k->rss = t->anon + t->file + t->shmem;
	k->what = r->constraint < MEMTAP_NR_CONSTRAINT ? kinds[r->constraint] : SHORT_UNKNOWN;
	if (k->what == SHORT_CGROUP)
		snprintf(k->cgroup, sizeof(k->cgroup), "%s", oom_limit_path(r));
}

static void add_kill(struct machine_log *log, const struct machine_kill *k)
{
	if (log->nr >= MACHINE_KILLS)
		memmove(log->kills, log->kills + 1, (MACHINE_KILLS - 1) * sizeof(log->kills[0]));
	log->kills[log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS - 1] = *k;
	log->nr++;
}

/* Keep only the log's kills from before the first record. */
static void before_first(struct machine_log *log, double at, __u32 pid)
{
	const __u64 kept = log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS;
	__u64 stay = 0;

	/* the log and the records use different clocks */
	while (stay < kept && log->kills[stay].at < at - 1 && log->kills[stay].pid != pid)
		stay++;
	log->nr = stay;
}

void oom_kills(struct machine *m)
{
	struct memtap_oom_record *r = malloc(sizeof(*r));
	struct machine_kill k;
	struct timespec ts;
	__u64 nr = 0, lost, now;
	bool first = true;
	int fd;

	if (!r || dev_open(&fd)) {
		free(r);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	now = (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
	while (!oom_next(fd, nr, r, &lost)) {
		nr = r->nr;
		if (!(r->flags & (MEMTAP_OOM_KILLED | MEMTAP_OOM_UNSEEN)))
			continue;
		to_kill(r, m->uptime, now, &k);
		if (first)
			before_first(&m->log, k.at, k.pid);
		first = false;
		add_kill(&m->log, &k);
		m->log.has = true;
	}
	close(fd);
	free(r);
}

/* --- showing --------------------------------------------------------------- */

static void show(const struct memtap_oom_record *r, const struct opts *o, struct sym *sym,
		 const struct machine *now, bool first)
{
	const struct oom_opts oo = { .out = stdout, .sym = sym, .rows = ROWS, .line = true,
				     .now = now };

	if (!o->json && !first)
		putchar('\n');
	before_show(r, &oo, o);
	fflush(stdout);
}

/* Slab caches and cgroups are not in the record: read them now, if the kill is recent. */
static void show_now(const struct memtap_oom_record *r, const struct opts *o, struct sym *sym,
		     bool first)
{
	struct machine_at here = machine_here();
	struct machine *m = calloc(1, sizeof(*m));
	struct timespec ts;
	bool soon;

	clock_gettime(CLOCK_REALTIME, &ts);
	soon = (__u64)ts.tv_sec < r->real_ns / 1000000000 + MOMENT;
	here.budget_ns = 200000000;
	if (m && soon)
		soon = !machine_read(&here, MACHINE_SLAB, m);
	show(r, o, sym, m && soon ? m : NULL, first);
	if (m)
		machine_free(m);
	free(m);
}

static void print_lost(__u64 lost)
{
	if (lost)
		note("%llu earlier OOM kill%s %s dropped: the module keeps the last %d",
		     (unsigned long long)lost, text_s(lost), lost == 1 ? "was" : "were",
		     MEMTAP_OOM_KEPT);
}

static int show_last(int fd, const struct targets *w)
{
	const struct opts *o = w->o;
	struct memtap_oom_record *all = calloc(MEMTAP_OOM_KEPT, sizeof(*all));
	const struct sym_opts so = { .kernel_name = dev_symbol, .device = fd };
	struct sym *sym;
	__u64 nr = 0, lost, first_lost = 0;
	size_t n = 0, from;
	int err = 0;

	if (!all)
		return fail_text("no memory");
	while (n < MEMTAP_OOM_KEPT) {
		err = oom_next_stack(fd, nr, &all[n], &lost);
		if (err)
			break;
		if (!nr)
			first_lost = lost;
		nr = all[n].nr;
		n += match_kill(w, &all[n]);
	}
	if (err && err != -ENOENT) {
		free(all);
		return fail(ERR_READ, err, "records of OOM kills");
	}
	from = n > o->last ? n - o->last : 0;
	if (!from)
		print_lost(first_lost);
	if (!n)
		note("no OOM kill%s since the module was loaded",
		     o->pids.nr || o->comms.nr || o->cgroups.nr ||
		     o->containers.nr || o->pods.nr || o->filter ?
		     " that matches" : "");
	sym = n ? sym_new(&so) : NULL;
	for (size_t i = from; i < n; i++)
		show(&all[i], o, sym, NULL, i == from);
	sym_free(sym);
	free(all);
	return 0;
}

/* --- configurations without OOM kills ------------------------------------------ */

static int read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	int v = 0;

	if (f && fscanf(f, "%d", &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

/* nftw() has no context argument. */
static struct {
	unsigned int disabled;
	char waits[256];		/* a cgroup whose tasks are waiting now */
} v1;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char name[4200], line[64];
	int disabled = 0, under = 0, n;
	FILE *f;

	(void)st;
	(void)ftw;
	if (type != FTW_D)
		return 0;
	snprintf(name, sizeof(name), "%s/memory.oom_control", path);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "oom_kill_disable %d", &n) == 1)
			disabled = n;
		else if (sscanf(line, "under_oom %d", &n) == 1)
			under = n;
	}
	fclose(f);
	v1.disabled += disabled;
	if (disabled && under)
		snprintf(v1.waits, sizeof(v1.waits), "%.255s", path + strlen(V1_MOUNT));
	return 0;
}

static void print_exceptions(void)
{
	const int panic = read_number("/proc/sys/vm/panic_on_oom");

	if (panic)
		note("vm.panic_on_oom is %d: the kernel panics %s, and kills no process", panic,
		     panic == 1 ? "when the whole machine is out of memory" : "at every OOM");
	if (read_number("/proc/sys/vm/oom_kill_allocating_task"))
		note("vm.oom_kill_allocating_task is set: the kernel kills the process that "
		     "allocates, not the largest one");
	memset(&v1, 0, sizeof(v1));
	nftw(V1_MOUNT, visit, 16, FTW_PHYS | FTW_MOUNT);
	if (*v1.waits)
		note("cgroup %s has oom_kill_disable set (memory.oom_control): its tasks are "
		     "waiting for memory; there is no kill to record", v1.waits);
	else if (v1.disabled)
		note("%u cgroup%s with oom_kill_disable set (memory.oom_control): tasks there "
		     "wait for memory instead of being killed", v1.disabled,
		     text_s(v1.disabled));
}

/* --- waiting --------------------------------------------------------------- */

/* The number of the newest record: wait for those after it. */
static __u64 skip_all(int fd, struct memtap_oom_record *r)
{
	__u64 nr = 0, lost;

	while (!oom_next(fd, nr, r, &lost))
		nr = r->nr;
	return nr;
}

/* Memory was just short: do not read the debug information of libraries. */
static int wait_for_kills(int fd, const struct targets *w, struct memtap_oom_record *r)
{
	const struct sym_opts so = { .no_lines = true, .kernel_name = dev_symbol, .device = fd };
	__u64 nr = skip_all(fd, r), lost;
	struct sym *sym = NULL;
	struct until until;
	bool first = true;
	int err = -ENOENT;

	until_begin(&until, w->o->duration);
	note("waiting for OOM kills; stop with ^C");
	while (until_wait(&until, fd, POLLPRI) && !ferror(stdout)) {
		while (!(err = oom_next_stack(fd, nr, r, &lost))) {
			nr = r->nr;
			print_lost(lost);
			if (!match_kill(w, r))
				continue;
			/* read symbols once for kills that come together */
			if (!sym)
				sym = sym_new(&so);
			show_now(r, w->o, sym, first);
			first = false;
		}
		sym_free(sym);
		sym = NULL;
		if (err != -ENOENT)
			return fail(ERR_READ, err, "records of OOM kills");
	}
	return 0;
}

static int wait_in_session(struct session *s, const struct targets *w)
{
	struct memtap_config config = { .flags = MEMTAP_CFG_OOM };
	struct memtap_oom_record *r = malloc(sizeof(*r));
	int ret;

	if (!r)
		return fail_text("no memory");
	ret = dev_configure(s->fd, &config);
	if (ret) {
		free(r);
		return fail(ERR_CONFIGURE, ret, "waiting for OOM kills");
	}
	print_exceptions();
	ret = wait_for_kills(s->fd, w, r);
	free(r);
	return ret;
}

static int fail_unsupported(struct session *s)
{
	struct memtap_hook_state h;

	for (__u32 i = 0; !dev_hook(s->fd, i, &h); i++)
		if (!strcmp(h.event, "oom-kill"))
			return fail_text("cannot record OOM kills on this kernel: cannot probe "
					 "%s: %s", h.target, strerror((int)h.error));
	return fail_text("the loaded module does not record OOM kills: it is older than this "
			 "memtap; load the module of this version");
}

static int show_made(const struct opts *o)
{
	const struct sym_opts so = { 0 };
	struct sym *sym;
	struct memtap_oom_record *r = malloc(sizeof(*r));
	struct timespec ts;

	if (!r)
		return fail_text("no memory");
	clock_gettime(CLOCK_REALTIME, &ts);
	oom_make(r, (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec);
	sym = sym_new(&so);
	show(r, o, sym, NULL, true);
	sym_free(sym);
	free(r);
	return 0;
}

/* --- a saved log ------------------------------------------------------------------- */

/* What a packed file begins with: its program unpacks it. */
static const struct {
	const char *magic, *program;
} packed[] = {
	{ "\x1f\x8b", "zcat" }, { "\xfd\x37zXZ", "xzcat" }, { "\x28\xb5\x2f\xfd", "zstdcat" },
	{ "BZh", "bzcat" }, { "LPKSHHRH", "journalctl -k --file" },
};

/* NULL: said why. */
static FILE *open_log(const char *path)
{
	char first[8] = "";
	FILE *f;

	if (!strcmp(path, "-"))
		return stdin;
	f = fopen(path, "re");
	if (!f) {
		fail_text("cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fread(first, 1, sizeof(first), f) != sizeof(first) && ferror(f)) {
		fail_text("cannot read %s: %s", path, strerror(errno));
		fclose(f);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (!memcmp(first, packed[i].magic, strlen(packed[i].magic))) {
			fail_text("%s is not text: read it by '%s %s | memtap oom --log -'", path,
				  packed[i].program, path);
			fclose(f);
			return NULL;
		}
	rewind(f);
	return f;
}

static int show_kills(const struct oom_log *log, const struct targets *w)
{
	const struct opts *o = w->o;
	const struct oom_opts oo = { .out = stdout, .rows = ROWS, .line = true };
	size_t matching = 0, shown = 0, skip;

	for (size_t i = 0; i < log->nr; i++)
		matching += match_kill(w, &log->at[i].r);
	skip = o->last && matching > o->last ? matching - o->last : 0;
	for (size_t i = 0; i < log->nr && !ferror(stdout); i++) {
		if (!match_kill(w, &log->at[i].r))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		if (o->json) {
			render_oom_log_json(&log->at[i], &oo);
			continue;
		}
		if (shown++)
			putchar('\n');
		render_oom_log(&log->at[i], &oo);
	}
	if (!matching)
		note("no OOM kill%s in %llu line%s", log->nr ? " that matches" : "",
		     (unsigned long long)log->lines, text_s(log->lines));
	return 0;
}

static int show_log(const struct targets *w)
{
	FILE *f = open_log(w->o->log);
	struct oom_log log;
	int err;

	if (!f)
		return 1;
	err = oom_log_read(f, &log);
	if (!err && ferror(f))
		err = -EIO;
	if (f != stdin)
		fclose(f);
	if (!err)
		show_kills(&log, w);
	oom_log_free(&log);
	return err ? fail_text("cannot read %s: %s", w->o->log, strerror(-err)) : 0;
}

int cmd_oom(const struct cmd *cmd, struct opts *o)
{
	struct session s;
	struct targets w;
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much: it takes options only",
				   o->args.at[0]);
	if (o->last && o->duration > 0)
		return usage_error(cmd->name, "--last and -d exclude each other: --last shows "
				   "past kills, -d waits for new ones");
	if (o->log && (o->duration > 0 || o->test))
		return usage_error(cmd->name, "--log reads a file, and does not wait: it excludes "
				   "-d and --test");
	if (o->test)
		return show_made(o);
	if (past_asked(o))
		return past_oom(cmd, o);
	ret = targets_parse_kills(&w, cmd->name, o);
	if (ret)
		return ret;
	if (o->log)
		return show_log(&w);
	ret = session_open(&s);
	if (ret)
		return ret;
	if (!(s.info.features & MEMTAP_FEATURE_OOM))
		ret = fail_unsupported(&s);
	else if (o->last)
		ret = show_last(s.fd, &w);
	else
		ret = wait_in_session(&s, &w);
	session_close(&s);
	return ret;
}
