// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `memtap diagnose`: read the machine's memory twice, record what the findings of triage ask for,
 * one after the other, and say what follows.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/diagnose.h"
#include "cmd/oom.h"
#include "machine/smaps.h"
#include "render/diagnose.h"
#include "render/triage.h"
#include "session/dev.h"
#include "target/maps.h"

#define DURATION	60.0		/* seconds, unless -d says it */
#define SHORTEST	5.0
#define LOOKS		6.0		/* a part of the time, for the first look */
#define LOOK_MOST	10.0		/* seconds, if something is found then */
#define ASK_LEAST	2.0		/* seconds that are worth a recording */
#define REPORT		120.0		/* seconds to read a recording */
#define SAMPLES		40		/* in the whole time, about */
#define SAMPLE_LEAST	0.25		/* seconds between two */
#define ASKED		3

#define READ	(MACHINE_SLAB | MACHINE_VMALLOC | MACHINE_SITES | MACHINE_LOG | MACHINE_SHARED)

/* Resident bytes of a process's private memory that is in no file. */
struct kinds {
	bool has;
	__u64 heap, anon;
	bool in_heap, in_anon;		/* while it is read */
};

struct work {
	const struct opts *o;
	struct diagnose_scope scope;
	struct machine_at at;
	struct runner runner;
	double duration;
	__u64 start, next_sample;
	struct machine first, second, last;
	struct triage triage;		/* of first and second, then of first and last */
	struct ask asks[DIAGNOSE_ASKS];
	struct kinds kinds[DIAGNOSE_ASKS];
	size_t nr;
	struct conclusion conclusions[DIAGNOSE_ASKS];
	size_t nr_conclusions;
	char dir[PATH_MAX - 64];	/* where recordings are */
	bool kept;			/* -o */
	char no_module[512];		/* why it cannot be asked; "": it can */
	struct memtap_info info;
};

static double passed(const struct work *w)
{
	return (double)(clock_ns() - w->start) / 1e9;
}

static double left(const struct work *w)
{
	return w->duration - passed(w);
}

/* --- reading ------------------------------------------------------------------------ */

static int read_machine(struct work *w, struct machine *m)
{
	const int err = machine_read(&w->at, READ, m);

	if (!err)
		oom_kills(m);
	return err;
}

static void sample_all(struct work *w, const struct machine *m)
{
	for (size_t i = 0; i < w->nr; i++)
		diagnose_sample(&w->asks[i].pace, m->ns,
				diagnose_bytes(&w->asks[i].found, m));
}

/* In between only what is followed is read. */
static void tick(void *ctx)
{
	struct work *w = ctx;
	const double step = w->duration / SAMPLES;
	struct machine_at at = w->at;
	unsigned int what = MACHINE_NO_CGROUPS;
	struct machine m;
	bool all = false;

	if (!w->nr || clock_ns() < w->next_sample)
		return;
	w->next_sample = clock_ns() + (__u64)((step > SAMPLE_LEAST ? step : SAMPLE_LEAST) * 1e9);
	for (size_t i = 0; i < w->nr; i++) {
		const struct triage_finding *f = &w->asks[i].found;

		if (f->what == FOUND_SLAB || f->what == FOUND_RECLAIMABLE)
			what |= MACHINE_SLAB;
		/* kinds are told apart as in the first and the last reading */
		if (f->what > FOUND_SLAB && f->what <= FOUND_SOCKETS)
			what |= MACHINE_VMALLOC;
		if (*f->name == '/')
			what &= ~MACHINE_NO_CGROUPS;
		all |= f->what == FOUND_PROGRAM || (at.only && f->pid && f->pid != at.only);
		at.only = f->pid ? f->pid : at.only;
	}
	at.only = all ? 0 : at.only ? at.only : 1;
	if (!machine_read(&at, what, &m))
		sample_all(w, &m);
	machine_free(&m);
}

static int see_smaps(void *ctx, char *line)
{
	__u64 v[NR_PS_SUMS] = { 0 };
	bool has[NR_PS_SUMS];
	struct kinds *k = ctx;
	struct smaps_head h;

	if (smaps_parse_head(line, &h)) {
		k->in_heap = !strcmp(h.path, "[heap]");
		k->in_anon = !*h.path || !strncmp(h.path, "[anon", 5);
	} else if (smaps_parse_value(line, v, has)) {
		k->heap += k->in_heap ? v[PS_ANON] : 0;
		k->anon += k->in_anon ? v[PS_ANON] : 0;
	}
	return 0;
}

#define SMAPS_NS	1000000000ULL	/* of the kernel's time for a process, at most */

static struct kinds read_kinds(const struct work *w, const struct triage_finding *f)
{
	struct kinds k = { 0 };

	if (f->what == FOUND_LEAK || f->what == FOUND_OOM_LEAK)
		k.has = !smaps_each_line(&w->at, f->pid, "smaps", clock_ns() + SMAPS_NS,
					 see_smaps, &k);
	return k;
}

/* --- what is kept --------------------------------------------------------------------- */

static const char *in_dir(const struct work *w, const char *name, char path[PATH_MAX])
{
	/* (too long: it is not there) */
	if (snprintf(path, PATH_MAX, "%s/%s", w->dir, name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

static int make_dir(struct work *w)
{
	const char *tmp = getenv("TMPDIR");

	w->kept = w->o->out;
	if (w->kept) {
		snprintf(w->dir, sizeof(w->dir), "%s", w->o->out);
		if (!mkdir(w->dir, 0700))
			return 0;
		return errno == EEXIST ?
		       fail_text("%s is there already; name a new directory with -o", w->dir) :
		       fail(ERR_WRITE, errno, "%s", w->dir);
	}
	snprintf(w->dir, sizeof(w->dir), "%s/memtap-diagnose.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(w->dir))
		return fail(ERR_WRITE, errno, "%s", w->dir);
	return 0;
}

/* What was not asked to be kept. */
static void remove_dir(const struct work *w)
{
	DIR *dir = w->kept ? NULL : opendir(w->dir);
	const struct dirent *e;
	char path[PATH_MAX];

	if (!dir)
		return;
	while ((e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			unlink(in_dir(w, e->d_name, path));
	closedir(dir);
	rmdir(w->dir);
}

static void keep_triage(const struct work *w, const char *when)
{
	struct triage_opts o = { 0 };
	char name[64], path[PATH_MAX];

	for (int json = 0; json < 2 && w->kept; json++) {
		snprintf(name, sizeof(name), "triage-%s.%s", when, json ? "json" : "txt");
		o.json = json;
		o.out = fopen(in_dir(w, name, path), "we");
		if (!o.out)
			continue;
		render_triage(&w->triage, &o);
		if (fclose(o.out))
			note("%s could not be written: %s", path, strerror(errno));
	}
}

/* --args: what the processes that were found are called with */
static void keep_args(const struct work *w)
{
	char path[PATH_MAX], name[32], *text;
	FILE *f = w->kept && w->o->keep_args ? fopen(in_dir(w, "args.txt", path), "we") : NULL;
	size_t len;

	for (size_t i = 0; f && i < w->nr; i++) {
		snprintf(name, sizeof(name), "/proc/%u/cmdline", w->asks[i].found.pid);
		if (!w->asks[i].found.pid || maps_slurp(AT_FDCWD, name, &text, &len))
			continue;
		for (size_t k = 0; k + 1 < len; k++)
			text[k] = text[k] ? text[k] : ' ';
		fprintf(f, "%u: ", w->asks[i].found.pid);
		text_put(f, text, NULL);
		fputc('\n', f);
		free(text);
	}
	if (f)
		fclose(f);
}

static void pack(struct work *w)
{
	char dir[PATH_MAX], file[PATH_MAX], *base;
	const char *argv[] = { "tar", "-C", dir, "-czf", file, NULL, NULL };

	snprintf(dir, sizeof(dir), "%s", w->dir);
	while (strlen(dir) > 1 && dir[strlen(dir) - 1] == '/')
		dir[strlen(dir) - 1] = '\0';
	snprintf(file, sizeof(file), "%.*s.tar.gz", PATH_MAX - 16, dir);
	base = strrchr(dir, '/');
	if (base)
		*base++ = '\0';
	argv[5] = base ? base : dir;
	argv[2] = base ? *dir ? dir : "/" : ".";
	if (runner_run(&w->runner, argv, NULL, NULL, REPORT))
		note("%s was not made: tar failed or is not installed; the directory has all",
		     file);
}

/* --- questions ------------------------------------------------------------------------- */

static void add_ask(struct work *w, const struct triage_finding *f, bool follows)
{
	struct ask *a = &w->asks[w->nr++];

	a->found = *f;
	a->follows = follows;
	a->cpu = -1;
}

/* The last line that it printed, without its name. */
static void read_error(const char *path, struct ask *a)
{
	char *text, *at, *last = NULL;
	size_t len;

	if (maps_slurp(AT_FDCWD, path, &text, &len)) {
		snprintf(a->error, sizeof(a->error), "memtap record failed");
		return;
	}
	for (char *rest = text; (at = strsep(&rest, "\n"));)
		if (*at)
			last = at;
	if (last && !strncmp(last, "memtap: ", 8))
		last += 8;
	snprintf(a->error, sizeof(a->error), "%.500s", last ? last : "memtap record failed");
	free(text);
}

static void read_report(struct work *w, struct ask *a, size_t nr)
{
	char file[PATH_MAX], json[PATH_MAX], page[PATH_MAX], name[32], *text;
	const char *argv[] = { "memtap", "report", file, "--json", "--top", "20", NULL, NULL, NULL,
			       NULL, NULL };
	size_t len, nr_args = 6;

	in_dir(w, a->file, file);
	snprintf(name, sizeof(name), "%zu.json", nr);
	in_dir(w, name, json);
	snprintf(name, sizeof(name), "%zu.html", nr);
	in_dir(w, name, page);
	if (a->found.what == FOUND_PROGRAM) {	/* each of many processes has little of it */
		argv[nr_args++] = "--by";
		argv[nr_args++] = "program";
	}
	if (w->kept) {
		argv[nr_args++] = "--flame";
		argv[nr_args] = page;
	}
	if (runner_run(&w->runner, argv, json, NULL, REPORT) ||
	    maps_slurp(AT_FDCWD, json, &text, &len)) {
		a->end = a->end == ASK_STOPPED ? ASK_STOPPED : ASK_FAILED;
		snprintf(a->error, sizeof(a->error), "`memtap report` could not read what was "
			 "recorded");
		a->seconds = 0;
		return;
	}
	if (!answer_read(text, len, &a->answer)) {
		const __u64 from = a->answer.from_ns, until = a->answer.until_ns;

		a->seconds = until > from ? (double)(until - from) / 1e9 : 0;
		a->grew = diagnose_bytes_at(&a->pace, until) - diagnose_bytes_at(&a->pace, from);
	}
	free(text);
}

/* "memtap record -o 1.memtap -d 20.0 --leaks -p 812" */
static void record(struct work *w, struct ask *a, size_t nr, double seconds)
{
	char words[1400], file[PATH_MAX], err[PATH_MAX], name[32], why[OPT_ERR], time[32];
	const char *argv[64] = { "memtap", "record", "-o", file, "-d", time };
	char **split = NULL;
	size_t n = 6;

	if (!triage_recording(&a->found, words, sizeof(words)) ||
	    opt_split(words, &split, why)) {
		a->end = ASK_NONE;
		return;
	}
	if (!w->o->keep_args)
		argv[n++] = "--no-args";
	for (char **word = split; *word && n < 63; word++)
		argv[n++] = *word;
	argv[n] = NULL;
	snprintf(a->file, sizeof(a->file), "%zu.memtap", nr);
	in_dir(w, a->file, file);
	snprintf(name, sizeof(name), "%zu.err", nr);
	in_dir(w, name, err);
	snprintf(time, sizeof(time), "%.1f", seconds);
	snprintf(a->record, sizeof(a->record), "memtap record -d %s %s", time, words);
	a->seconds = seconds;
	if (!w->o->quiet)
		note("recording for %s s: %s", time, words);
	runner_record(&w->runner, argv, err, a);
	if (a->end == ASK_FAILED && !*a->error)
		read_error(err, a);
	if (access(file, F_OK))
		a->file[0] = '\0';
	else
		read_report(w, a, nr);
	free(split);
}

static bool is_recorded(const struct triage_finding *found, size_t nr)
{
	char words[1500];

	for (size_t i = 0; i < nr; i++)
		if (triage_recording(&found[i], words, sizeof(words)))
			return true;
	return false;
}

/* The rest of the time is shared; one alone leaves some for what its answer asks. */
static void ask_all(struct work *w)
{
	const size_t planned = w->nr;
	struct triage_finding more;

	for (size_t i = 0; i < w->nr; i++) {
		const double share = i >= planned ? left(w) : planned == 1 ? left(w) * 2 / 3 :
				     left(w) / (double)(planned - i);

		if (!is_recorded(&w->asks[i].found, 1)) {
			w->asks[i].end = ASK_NONE;
		} else if (*w->no_module) {
			w->asks[i].end = ASK_NO_MODULE;
			snprintf(w->asks[i].error, sizeof(w->asks[i].error), "%s", w->no_module);
		} else if (w->runner.interrupted || (share < ASK_LEAST && i)) {
			w->asks[i].end = w->runner.interrupted ? ASK_STOPPED : ASK_NO_TIME;
			w->asks[i].seconds = 0;
		} else {
			record(w, &w->asks[i], i + 1, share < ASK_LEAST ? ASK_LEAST : share);
		}
		if (i + 1 == planned && planned == 1 && left(w) >= ASK_LEAST &&
		    diagnose_follow(&w->asks[i], &w->at, &more)) {
			add_ask(w, &more, true);
			w->asks[i + 1].pace = w->asks[i].pace;
		}
	}
}

/* --- looking ----------------------------------------------------------------------------- */

static int look(struct work *w, struct machine *m, const struct machine *before)
{
	int err = read_machine(w, m);

	if (err)
		return err;
	diagnose_narrow(&w->at, &w->scope, m);
	if (!before)
		return 0;
	triage_free(&w->triage);
	return triage_look(&w->triage, &w->at, before, m, false);
}

/* Fast growth is seen soon; what is slow, at half of the time, or at its end. */
static int find(struct work *w)
{
	static const double parts[] = { LOOKS, 2, 1 };
	struct triage_finding found[ASKED];
	struct triage census;
	int err = 0;
	size_t nr;

	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++) {
		const double at = w->duration / parts[i];

		runner_sleep(&w->runner, (i || at < LOOK_MOST ? at : LOOK_MOST) - passed(w));
		machine_free(&w->second);
		err = look(w, &w->second, &w->first);
		if (err || triage_look(&census, &w->at, &w->first, &w->second, true))
			return err ? err : -ENOMEM;
		nr = diagnose_pick(&w->triage, &census, &w->scope, found, ASKED);
		triage_free(&census);
		if (is_recorded(found, nr) || w->runner.interrupted || at >= w->duration) {
			for (size_t k = 0; k < nr; k++)
				add_ask(w, &found[k], false);
			break;
		}
	}
	sample_all(w, &w->first);
	sample_all(w, &w->second);
	return err;
}

static bool has_process(const struct machine *m, __u32 pid)
{
	for (size_t i = 0; i < m->processes.nr; i++)
		if (m->processes.at[i].pid == pid)
			return true;
	return false;
}

static void judge(struct work *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		struct ask *a = &w->asks[i];
		const struct ask *more = i + 1 < w->nr && a[1].follows ? &a[1] : NULL;
		const struct kinds now = read_kinds(w, &a->found);

		if (a->follows)
			continue;
		a->has_kinds = now.has && w->kinds[i].has;
		a->heap_grew = (__s64)(now.heap - w->kinds[i].heap);
		a->anon_grew = (__s64)(now.anon - w->kinds[i].anon);
		a->gone = a->found.pid && !has_process(&w->last, a->found.pid);
		diagnose_pace(&a->pace);
		diagnose_judge(a, more, &w->triage, &w->at, &w->scope,
			       &w->conclusions[w->nr_conclusions++]);
	}
	diagnose_order(w->conclusions, w->nr_conclusions);
}

static void put(const struct work *w, const struct diagnosis *d, bool json, const char *name)
{
	char path[PATH_MAX];
	FILE *f = name ? fopen(in_dir(w, name, path), "we") : stdout;

	if (!f)
		return;
	(json ? render_diagnosis_json : render_diagnosis)(d, f);
	if (name && fclose(f))
		note("%s could not be written: %s", path, strerror(errno));
}

static void show(struct work *w)
{
	const struct diagnosis d = {
		.t = &w->triage, .asks = w->asks, .nr_asks = w->nr,
		.conclusions = w->conclusions, .nr_conclusions = w->nr_conclusions,
		.tool = cmd_tool_version(), .module = *w->no_module ? NULL : w->info.version,
		.planned = w->duration, .interrupted = w->runner.interrupted,
		.deep = w->o->deep, .dir = w->kept ? w->dir : NULL,
	};

	if (w->kept) {
		put(w, &d, false, "conclusion.txt");
		put(w, &d, true, "conclusion.json");
		keep_args(w);
		pack(w);
	}
	put(w, &d, w->o->json, NULL);
}

static int all(struct work *w)
{
	int err = look(w, &w->first, NULL);

	if (!err && w->scope.cgroup && !w->first.cgroups.nr)
		return fail_text("there is no memory cgroup %s; give its path below the "
				 "hierarchy's root, as /system.slice/x.service", w->scope.cgroup);
	if (!err)
		err = find(w);
	if (!err)
		keep_triage(w, "before");
	for (size_t i = 0; !err && i < w->nr; i++)
		w->kinds[i] = read_kinds(w, &w->asks[i].found);
	if (!err) {
		ask_all(w);
		/* the longer it is watched, the more is known of how it goes on */
		runner_sleep(&w->runner, left(w));
		err = look(w, &w->last, &w->first);
	}
	if (err)
		return err == -ENOMEM ? fail_text("no memory") :
		       fail_text("/proc/meminfo cannot be read: %s; is /proc mounted?",
				 strerror(-err));
	sample_all(w, &w->last);
	keep_triage(w, "after");
	judge(w);
	show(w);
	return 0;
}

static void ask_module(struct work *w)
{
	int fd, err = dev_open(&fd);

	if (err) {
		err_words(ERR_DEVICE, err, MEMTAP_DEVICE, w->no_module, sizeof(w->no_module));
		return;
	}
	err = dev_info(fd, &w->info);
	if (err)
		err_words(ERR_INFO, err, MEMTAP_DEVICE, w->no_module, sizeof(w->no_module));
	close(fd);
}

static int check(const struct cmd *cmd, const struct opts *o)
{
	char path[32];

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is too much: -p PID and --cgroup PATH select "
				   "what is diagnosed", o->args.at[0]);
	if (o->pids.nr > 1 || o->cgroups.nr > 1 || (o->pids.nr && o->cgroups.nr))
		return usage_error(cmd->name, "one process or one cgroup only");
	if (o->duration > 0 && o->duration < SHORTEST)
		return usage_error(cmd->name, "-d is at least %g seconds", SHORTEST);
	if (o->keep_args && !o->out)
		return usage_error(cmd->name, "--args needs -o DIR: it is about what is kept");
	if (!o->pids.nr)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u", o->pids.at[0]);
	return access(path, F_OK) ? fail(ERR_PID, ESRCH, "%u", o->pids.at[0]) : 0;
}

static void say_budget(const struct work *w)
{
	char max[TEXT_LEN];

	if (w->o->quiet)
		return;
	if (*w->no_module)
		note("this takes about %.0f s, and Ctrl-C concludes at once; nothing can be "
		     "recorded: %s", w->duration, w->no_module);
	else
		note("this takes about %.0f s, and Ctrl-C concludes at once; a recording takes at "
		     "most %s of memory%s", w->duration,
		     text_bytes(max, (__s64)w->info.max_mem, false),
		     w->o->deep ? "" : " and 5 % of a CPU");
}

int cmd_diagnose(const struct cmd *cmd, struct opts *o)
{
	struct work *w;
	int ret = check(cmd, o);

	if (ret)
		return ret;
	w = calloc(1, sizeof(*w));
	if (!w)
		return fail_text("no memory");
	umask(077);
	w->o = o;
	w->at = machine_here();
	w->duration = o->duration > 0 ? o->duration : DURATION;
	w->scope.pid = o->pids.nr ? o->pids.at[0] : 0;
	w->scope.cgroup = o->cgroups.nr ? o->cgroups.at[0] : NULL;
	w->runner.deep = o->deep;
	w->runner.tick = tick;
	w->runner.ctx = w;
	ask_module(w);
	ret = make_dir(w);
	if (!ret) {
		runner_begin(&w->runner);
		w->start = clock_ns();
		say_budget(w);
		ret = all(w);
		runner_end(&w->runner);
		remove_dir(w);
	}
	triage_free(&w->triage);
	machine_free(&w->first);
	machine_free(&w->second);
	machine_free(&w->last);
	free(w);
	return ret;
}
