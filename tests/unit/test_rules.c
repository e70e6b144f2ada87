// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/history/rules.c ctl/history/act.c ctl/base/opt_value.c ctl/base/text.c */
/* LINK: ctl/base/child.c ctl/machine/process.c ctl/machine/text.c */
/* Rules: what is a rule, when its condition holds, and what begins then. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "history/act.h"
#include "scratch.h"
#include "tap.h"

#define SECOND	1000000000ULL
#define MIB	(1ULL << 20)

__u64 machine_available(const struct machine *m)
{
	return m->f.mem[MEM_AVAILABLE];
}

/* --- the language --------------------------------------------------------------------- */

static const char *const good[] = {
	"available < 5% for 20s do faults 30s most 4/h 20/d",
	"available < 500M do triage",
	"pressure some > 20% do reclaim",
	"pressure full in /web > 5% for 10s do faults 10s most 1/d",
	"swap-in > 10M/s for 30s do swap 1m",
	"cgroup /web > 90% do rss 20s",
	"cgroup * > 95% do run /bin/true",
	"process java grows > 1M/s do leaks 60s",
	"process * grows > 100K/s for 10m do heap",
	"cgroup /web* grows > 1M/s for 5m do faults",
	"cache dentry grows > 1M/s do leaks -k 30s",
	"available < 3% for 1m do diagnose 30s", "oom-kill do triage",
	"allocation-failure do run /bin/true",
};

static const struct {
	const char *text, *why;
} bad[] = {
	{ "", "a condition begins with" },
	{ "load > 5 do faults", "a condition begins with" },
	{ "available > 5% do faults", "< is wanted here" },
	{ "available < 0% do faults", "from 0% to 100%" },
	{ "available < 101% do faults", "from 0% to 100%" },
	{ "available < nan% do faults", "from 0% to 100%" },
	{ "available < many do faults", "a size or a share" },
	{ "available < 5%", "`do ACTION` is missing" },
	{ "available < 5% do", "an action is" },
	{ "available < 5% do dance", "an action is" },
	{ "available < 5% for do faults", "a time is wanted here" },
	{ "available < 5% do faults 30s 40s", "nothing is wanted here" },
	{ "available < 5% do faults most", "a limit is" },
	{ "available < 5% do faults most 0/h", "a limit is" },
	{ "available < 5% do faults most 4/m", "a limit is" },
	{ "available < 5% do run true", "the whole path" },
	{ "available < 5% do leaks", "the condition must be process" },
	{ "cgroup * > 90% do heap", "the condition must be process" },
	{ "cgroup * > 90M do faults", "from 0% to 100%" },
	{ "process web grows > 10M do leaks", "a rate is wanted here" },
	{ "process web do leaks", "process NAME grows" },
	{ "process", "a name or a pattern is missing" },
	{ "cache x grows > 1M/s do faults", "leaks -k, triage, diagnose or run" },
	{ "process x grows > 1M/s do leaks -k", "the whole kernel" },
	{ "pressure most > 5% do faults", "pressure some" },
	{ "pressure some in /a* > 5% do faults", "one cgroup" },
	{ "oom-kill for 5s do triage", "there is no `for`" },
};

static void check_language(void)
{
	static char longer[RULE_TEXT + 40] = "process ";
	struct rules r = { .nr = 0 };
	char err[RULES_ERR];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(rules_add(&r, "x", good[i], NULL, err), "%s%s%s", good[i], *err ? ": " : "",
		   err);
	is(r.nr, sizeof(good) / sizeof(good[0]), "all of them");
	ok(r.at[0].hold == 20 && r.at[0].value == 5 && r.at[0].percent && r.at[0].seconds == 30 &&
	   r.at[0].per_hour == 4 && r.at[0].per_day == 20 && r.at[0].action == ACT_FAULTS,
	   "the words of the first");
	ok(r.at[3].full && !strcmp(r.at[3].pattern, "/web") && r.at[3].per_day == 1,
	   "pressure in a cgroup");
	ok(rules_add(&r, "by hand", "swap-in > 1M/s", "swap 5s", err) &&
	   !strcmp(r.at[r.nr - 1].text, "swap-in > 1M/s do swap 5s"), "--when and --do");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!rules_add(&r, "x", bad[i].text, NULL, err) && strstr(err, bad[i].why),
		   "'%s': %s", bad[i].text, err);
	memset(longer + 8, 'a', RULE_TEXT);
	ok(!rules_add(&r, "x", longer, NULL, err) && strstr(err, "longer"), "too long: %s", err);
	while (rules_add(&r, "x", "oom-kill", "triage", err))
		;
	ok(r.nr == RULES_MOST && strstr(err, "more than"), "too many: %s", err);
}

static bool load(const char *text, struct rules *r, char *err)
{
	FILE *f = fopen("conf", "w");

	memset(r, 0, sizeof(*r));
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	return rules_load(r, "conf", err);
}

static void check_file(void)
{
	struct rules r;
	char err[RULES_ERR];

	ok(load("# a comment\nWATCH=reclaim\n\nRULE_low=\"available < 5% do triage\"\n"
		"  RULE_grows='process * grows > 1M/s do leaks'  \nRULE=oom-kill do triage\n", &r,
		err), "a file with other settings");
	ok(r.nr == 3 && !strcmp(r.at[0].name, "low") && !strcmp(r.at[1].name, "grows") &&
	   !strcmp(r.at[2].name, "rule"), "its rules have their names");
	ok(!load("RULE_a=oom-kill do triage\nRULE_a=oom-kill do triage\n", &r, err) &&
	   strstr(err, "conf:2: there is a rule a already"), "two of one name: %s", err);
	ok(!load("\nRULE_a=oom-kill do\n", &r, err) && strstr(err, "conf:2: rule a: at the end: "),
	   "a wrong one has its line: %s", err);
	ok(!load("RULEa=oom-kill do triage\n", &r, err), "a name without _: %s", err);
	ok(!rules_load(&r, "none", err), "no file: %s", err);
}

/* --- conditions ----------------------------------------------------------------------- */

static struct machine was, m;
static struct machine_holder holders[2][4];

/* A sample @seconds later. */
static void later(double seconds)
{
	was = m;
	memcpy(holders[0], holders[1], sizeof(holders[0]));
	was.processes.at = was.cgroups.at = was.slabs.at = holders[0];
	m.ns += (__u64)(seconds * 1e9);
}

static void make(void)
{
	memset(&m, 0, sizeof(m));
	memset(holders, 0, sizeof(holders));
	m.ns = 1000 * SECOND;
	m.page = 4096;
	m.f.mem[MEM_TOTAL] = 1000 * MIB;
	m.f.mem[MEM_AVAILABLE] = 500 * MIB;
	m.f.has_vm[VM_OOM_KILLS] = m.psi.has = m.log.has = true;
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "web", "db", "java", "java" };

		holders[1][i].name = names[i];
		holders[1][i].pid = 100 + (__u32)i;
		holders[1][i].start = 7 + i;
		holders[1][i].bytes = 100 * MIB;
		holders[1][i].size = 200 * MIB;
	}
	m.processes = m.cgroups = m.slabs = (struct machine_list) {
		.at = holders[1], .nr = 4, .has = true,
	};
	was = m;
}

static struct rules rules;
static struct rule_hit hit;
static char refused[RULES_ERR];
static bool near;

static void on_refused(void *ctx, const char *why)
{
	(void)ctx;
	snprintf(refused, sizeof(refused), "%s", why);
}

static struct rule *rule(const char *text)
{
	char err[RULES_ERR];

	rules_end(&rules);
	make();
	if (!rules_add(&rules, "x", text, NULL, err) ||
	    !rules_begin(&rules, &m, true, on_refused, NULL))
		fprintf(stderr, "# %s: %s %s\n", text, err, refused);
	return &rules.at[0];
}

static bool holds(struct rule *r)
{
	return rule_holds(r, &was, &m, &hit, &near);
}

static void check_levels(void)
{
	struct rule *r = rule("available < 10% for 20s do triage");
	char text[256];

	ok(!holds(r) && !near, "available: half of it is enough");
	later(10);
	m.f.mem[MEM_AVAILABLE] = 120 * MIB;
	ok(!holds(r) && near, "near its value: it is looked at sooner");
	later(10);
	m.f.mem[MEM_AVAILABLE] = 90 * MIB;
	ok(!holds(r), "below: not yet for 20 s");
	later(10);
	ok(!holds(r), "for 10 s");
	later(10);
	ok(holds(r) && hit.seconds == 20, "for 20 s");
	rule_hit_text(r, &hit, &m, text, sizeof(text));
	ok(strstr(text, "available memory is 90.0 MiB of 1000 MiB for 20 s"), "%s", text);
	later(10);
	ok(!holds(r) && !near, "once");
	m.f.mem[MEM_AVAILABLE] = 105 * MIB;
	later(10);
	ok(!holds(r), "a little better");
	m.f.mem[MEM_AVAILABLE] = 90 * MIB;
	for (int i = 0; i < 5; i++) {
		later(10);
		ok(!holds(r), "and worse again: that is the same time");
	}
	m.f.mem[MEM_AVAILABLE] = 111 * MIB;
	later(10);
	ok(!holds(r), "over");
	m.f.mem[MEM_AVAILABLE] = 90 * MIB;
	for (int i = 0; i < 2; i++) {
		later(10);
		ok(!holds(r), "another time: %d", i);
	}
	later(10);
	ok(holds(r), "it holds again");

	r = rule("cgroup d* > 90% for 10s do triage");
	holders[1][1].bytes = 185 * MIB;
	holders[1][0].bytes = 199 * MIB;
	ok(!holds(r), "a cgroup: the first time");
	later(10);
	ok(holds(r) && !strcmp(hit.name, "db") && hit.value == 92.5, "the one that is meant");
	r = rule("cgroup * > 90% for 10s do triage");
	holders[1][1].bytes = 185 * MIB;
	ok(!holds(r), "any cgroup");
	later(10);
	holders[1][1].bytes = 10;
	holders[1][0].bytes = 199 * MIB;
	ok(!holds(r), "another one is above it now: not for 10 s");
	later(10);
	ok(holds(r) && !strcmp(hit.name, "web"), "now it is");
	r = rule("cgroup * > 90% do triage");
	holders[1][1].bytes = 199 * MIB;
	holders[1][1].size = ~0ULL;
	ok(!holds(r), "a cgroup without a limit has no share of it");

	r = rule("swap-in > 4K/s do swap");
	later(10);
	m.f.vm[VM_SWAP_IN] += 10;
	ok(!holds(r), "a page a second");
	later(10);
	m.f.vm[VM_SWAP_IN] += 11;
	ok(holds(r) && hit.value > 4505 && hit.value < 4506, "and more");
	r = rule("pressure full > 20% for 1s do reclaim");
	later(10);
	m.psi.full_us += 1900000;
	ok(!holds(r), "19 %% of the time");
	later(10);
	m.psi.full_us += 2100000;
	ok(!holds(r), "21 %%");
	later(10);
	m.psi.full_us += 2100000;
	ok(holds(r), "21 %% for a second at least");
	r = rule("pressure some > 20% for 1s do reclaim");
	later(10);
	m.psi.some_us = 0;
	was.psi.some_us = 5;
	ok(!holds(r), "a counter that went back says nothing");
	r->tripped = true;
	r->hold = 0;
	ok(holds(r), "the kernel's trigger says so itself");
}

static void check_growth(void)
{
	struct rule *r = rule("process java grows > 1M/s for 20s do leaks");
	char text[256];

	ok(!holds(r), "growth: nothing before");
	later(10);
	holders[1][0].bytes += 500 * MIB;
	holders[1][3].bytes += 500 * MIB;
	ok(!holds(r), "not after 10 s");
	later(10);
	holders[1][3].bytes -= 479 * MIB;
	ok(holds(r) && hit.pid == 103 && hit.start == 10 && hit.seconds == 20,
	   "after 20 s: the one that grew, of those of that name");
	rule_hit_text(r, &hit, &m, text, sizeof(text));
	ok(!strcmp(text, "process java (103) grew 1.0 MiB/s in 20 s"), "%s", text);
	later(20);
	holders[1][3].bytes += 100 * MIB;
	ok(!holds(r), "it goes on: once");
	later(20);
	ok(!holds(r), "it has stopped");
	later(20);
	holders[1][2].bytes += 100 * MIB;
	ok(holds(r) && hit.pid == 102, "another time, another one");
	/* a sawtooth is no growth */
	r = rule("process * grows > 1M/s for 20s do leaks");
	holds(r);
	for (int i = 0; i < 10; i++) {
		later(10);
		holders[1][0].bytes = i & 1 ? 100 * MIB : 300 * MIB;
		ok(!holds(r), "a sawtooth: %d", i);
	}
	r = rule("process * grows > 1M/s for 20s do leaks");
	holds(r);
	later(20);
	holders[1][0].start = 999;
	holders[1][0].bytes = 900 * MIB;
	ok(!holds(r), "another process of that number did not grow: it is new");
	r = rule("cache we* grows > 1M/s for 20s do leaks -k");
	holds(r);
	later(20);
	holders[1][0].bytes = 900 * MIB;
	ok(holds(r) && !strcmp(hit.name, "web"), "a cache");
}

static void check_moments(void)
{
	struct rule *r = rule("oom-kill do triage");

	ok(!holds(r), "no kill");
	later(10);
	m.f.vm[VM_OOM_KILLS]++;
	ok(holds(r), "a kill");
	later(10);
	ok(!holds(r), "no further one");
	m.f.vm[VM_OOM_KILLS] += 2;
	ok(holds(r) && hit.value == 2, "two more");
	r = rule("oom-kill do triage");
	m.f.has_vm[VM_OOM_KILLS] = was.f.has_vm[VM_OOM_KILLS] = false;
	later(10);
	m.log.nr++;
	ok(holds(r), "by the log, where the kernel does not count");
	r = rule("allocation-failure do triage");
	later(10);
	m.log.failures++;
	ok(holds(r), "an allocation failure");
}

static const char *refuses(const char *text, bool module)
{
	static char err[RULES_ERR];

	rules_end(&rules);
	*refused = '\0';
	if (!rules_add(&rules, "x", text, NULL, err))
		return err;
	return rules_begin(&rules, &m, module, on_refused, NULL) ? "" : refused;
}

static void check_refused(void)
{
	make();
	m.psi.has = m.cgroups.has = m.slabs.has = m.log.has = false;
	m.f.has_vm[VM_OOM_KILLS] = false;
	ok(strstr(refuses("available < 5% do faults", false), "needs the module"), "%s", refused);
	ok(!*refuses("available < 5% do triage", false), "triage needs no module");
	ok(!*refuses("process x grows > 1M/s do heap", false), "heap needs none");
	ok(strstr(refuses("pressure some > 5% do faults", true), "CONFIG_PSI"), "%s", refused);
	ok(strstr(refuses("pressure some in /nonexistent/x > 5% do faults", true),
		  "memory.pressure"), "%s", refused);
	ok(strstr(refuses("cgroup * > 5% do faults", true), "no memory cgroups"), "%s", refused);
	ok(strstr(refuses("cache * grows > 5M/s do leaks -k", true), "slabinfo"), "%s", refused);
	ok(strstr(refuses("oom-kill do triage", true), "OOM kills"), "%s", refused);
	ok(strstr(refuses("allocation-failure do triage", true), "log"), "%s", refused);
	ok(strstr(refuses("available < 5% do run /nonexistent/no/program", true),
		  "cannot be run"), "%s", refused);
	ok(!rules.nr, "a rule that cannot work is left out");
}

/* --- actions -------------------------------------------------------------------------- */

static char said[4096];

static void on_said(void *ctx, const char *line)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static __u64 boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (__u64)ts.tv_sec * SECOND + (__u64)ts.tv_nsec;
}

/* A sample; with @kills more OOM kills than the one before. */
static bool on(struct act *a, __u64 ns, unsigned int kills)
{
	const struct history_now now = { .real_ns = 1800000000 * SECOND + ns, .boot_ns = ns };

	*said = '\0';
	later(10);
	m.f.vm[VM_OOM_KILLS] += kills;
	return act_on(a, &rules, &was, &m, &now);
}

static void script(const char *text)
{
	FILE *f = fopen("script", "w");

	if (!f || fprintf(f, "#!/bin/sh\n%s\n", text) < 0 || fclose(f) || chmod("script", 0700))
		abort();
}

/* Until the action has ended; false: it did not. */
static bool ends(struct act *a)
{
	for (int i = 0; i < 3000 && a->pid; i++) {
		usleep(10000);
		act_look(a, boot_ns());
	}
	return !a->pid;
}

static void one_rule(const char *limits)
{
	char text[RULE_TEXT], dir[200];

	if (!getcwd(dir, sizeof(dir)))
		abort();
	snprintf(text, sizeof(text), "oom-kill do run %s/script%s", dir, limits);
	rule(text);
}

static bool has_line(const char *path, const char *line)
{
	char text[256] = "";
	FILE *f = fopen(path, "r");
	bool found = false;

	while (f && !found && fgets(text, sizeof(text), f))
		found = strstr(text, line) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void check_actions(void)
{
	struct act a = { .dir = "actions", .budget = 1 << 20, .say = on_said };
	__u64 now = boot_ns();
	struct stat st;
	char first[512];

	ok(!act_begin(&a) && !act_begin(&a), "the directory is made, or there");
	script("echo rule $MEMTAP_RULE: $MEMTAP_WHY; exec sleep 0.2");
	one_rule(" most 3/h");
	on(&a, now, 0);
	ok(!a.pid, "nothing happened, and nothing begins");
	on(&a, now, 1);
	ok(a.pid && strstr(said, "rule x: 1 OOM kill; /"), "it begins: %s", said);
	strcpy(first, a.file);
	on(&a, now, 1);
	ok(strstr(said, "nothing is recorded: another action runs"), "one at a time: %s", said);
	*said = '\0';
	ok(ends(&a) && strstr(said, "rule x: ended: actions/"), "it ends: %s", said);
	ok(has_line(first, "rule x: 1 OOM kill"), "its output is in the file");
	ok(!stat(first, &st) && (st.st_mode & 0777) == 0600, "which is the owner's alone");
	for (int i = 0; i < 2; i++) {
		on(&a, now + (__u64)(i + 1) * 2 * SECOND, 1);
		ok(a.pid && ends(&a), "a further one: %d", i);
	}
	on(&a, now + 10 * SECOND, 1);
	ok(!a.pid && strstr(said, "its limit is reached"), "not the fourth in an hour: %s", said);
	on(&a, now + 3601 * SECOND, 1);
	ok(a.pid && ends(&a), "an hour later");

	/* it does not end */
	script("trap '' INT TERM; echo begun; while :; do sleep 1; done");
	one_rule("");
	on(&a, now + 5 * SECOND, 1);
	for (int i = 0; i < 3000 && !has_line(a.file, "begun"); i++)
		usleep(10000);
	act_look(&a, a.end_ns - 1);
	ok(a.pid && !a.signals, "an action has its time");
	for (int i = 0; i < 3; i++)
		act_look(&a, a.end_ns);
	ok(ends(&a) && strstr(said, "signal 9"), "and is killed after it: %s", said);
	script("exec sleep 1000");
	on(&a, now + 6 * SECOND, 1);
	act_end(&a);
	ok(!a.pid && (strstr(said, "signal 2") || strstr(said, "signal 15")),
	   "the end of memtap ends it: %s", said);

	/* a file can take no more than what is left */
	script("exec head -c 3000000 /dev/zero");
	one_rule("");
	on(&a, now + 7 * SECOND, 1);
	ends(&a);
	ok(!stat(a.file, &st) && st.st_size <= 1 << 20, "the budget is one");
	strcpy(first, a.file);
	script("exec true");
	on(&a, now + 8 * SECOND, 1);
	ends(&a);
	ok(stat(first, &st), "the oldest files make room");

	/* a process that has ended is not another one of its number */
	rule("process java grows > 1M/s for 5s do heap");
	on(&a, now, 0);
	holders[1][2].bytes += 100 * MIB;
	on(&a, now + 20 * SECOND, 0);
	ok(!a.pid && strstr(said, "the process has ended"), "of whom it is not there: %s", said);
	chmod("actions", 0777);
	ok(act_begin(&a) == -EPERM, "a directory that others may write is refused");
}

/* Run as memtap by an action. */
static int as_memtap(char **argv)
{
	static const char said[] = "memtap: reading\nmemtap: cannot make the session: no memory\n";

	return argv[1] && !strcmp(argv[1], "record") &&
	       write(STDERR_FILENO, said, sizeof(said) - 1) > 0;
}

/* Why there is nothing is said, and nothing else is left. */
static void check_failed(void)
{
	struct act a = { .dir = "actions", .budget = 1 << 20, .say = on_said };
	char err[600];
	struct stat st;

	chmod("actions", 0700);
	rule("oom-kill do faults 1s");
	on(&a, boot_ns(), 1);
	snprintf(err, sizeof(err), "%s.err", a.file);
	ok(a.pid && ends(&a), "an action that fails ends");
	ok(strstr(said, "rule x: ended without a file (exit status 1: cannot make the session: "
		  "no memory)"), "why: %s", said);
	ok(stat(a.file, &st) && stat(err, &st), "and it leaves no file");
}

int main(int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "memtap"))
		_exit(as_memtap(argv));
	scratch_begin();
	check_language();
	check_file();
	check_levels();
	check_growth();
	check_moments();
	check_refused();
	check_actions();
	check_failed();
	rules_end(&rules);
	if (chdir("/") || scratch_end())
		return 1;
	return tap_done();
}
