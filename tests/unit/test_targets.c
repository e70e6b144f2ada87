// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/container.c ctl/machine/text.c ctl/base/json_read.c */
/* LINK: ctl/cmd/targets.c ctl/session/condition.c ctl/session/args.c ctl/session/args_term.c */
/* LINK: ctl/session/symbols.c */
/* LINK: ctl/session/args_member.c ctl/elf/btf.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c */
/* LINK: ctl/session/format.c ctl/base/constants.c ctl/base/text.c ctl/base/err.c */
/* LINK: kmod/core/names.c kmod/core/steps.c ctl/base/opt_value.c */
/* Of which OOM kills, waits and full tables somebody is told. */
#include <string.h>
#include <unistd.h>

#include "cmd/targets.h"
#include "tap.h"

#define is_str(got, want, ...) ok(!strcmp(got, want), __VA_ARGS__)

static struct opts o;
static struct targets w;
static struct memtap_oom_record kill_;
static struct notice stall, full;

static void make(void)
{
	memset(&o, 0, sizeof(o));
	memset(&kill_, 0, sizeof(kill_));
	kill_.victim.pid = 7;
	strcpy(kill_.victim.comm, "hog");
	strcpy(kill_.victim_path, "/web/one");
	kill_.victim.anon = 3 << 20;
	kill_.victim.score_adj = -5;
	kill_.trigger.pid = 8;
	strcpy(kill_.trigger.comm, "asks");
	kill_.order = 3;
	stall = (struct notice){ .kind = MEMTAP_NOTICE_STALL, .pid = (__u32)getpid(),
				 .comm = "waits", .event = "memcg-reclaim", .value = 5000 };
	full = (struct notice){ .kind = MEMTAP_NOTICE_FULL, .pid = 9, .comm = "memtap",
				.event = "minor-fault", .reason = "table-full", .value = 40 };
}

/* "kill", "stall", "full": of which there is a letter in what is told; "2": a wrong filter. */
static const char *told(const char *filter)
{
	static char s[8];

	o.filter = filter;
	if (targets_parse_notices(&w, "monitor", &o) == 2)
		return "2";
	snprintf(s, sizeof(s), "%s%s%s", match_kill(&w, &kill_) ? "k" : "",
		 match_notice(&w, &stall) ? "s" : "", match_notice(&w, &full) ? "f" : "");
	return s;
}

int main(void)
{
	static const struct {
		const char *filter, *told;
	} filters[] = {
		{ NULL, "ksf" }, { "pid == 7", "k" }, { "pid == 9", "f" },
		{ "anon > 3000000", "k" }, { "anon > 4000000", "" },
		{ "order == 3 && adjustment < 0 && trigger_comm == \"asks\"", "k" },
		{ "order == 3 && adjustment > 0", "" },
		{ "comm == \"hog\" || comm == \"waits\"", "ks" },
		{ "cgroup == \"/web/one\"", "k" }, { "ns > 4999", "s" }, { "ns > 5000", "" },
		{ "events == 40 && reason == \"table-full\"", "f" },
		{ "source == \"memcg-reclaim\"", "s" }, { "nosuch > 1", "2" }, { "pid >", "2" },
	};
	char dir[4096] = "";

	/* what is left out is said: not here */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	make();
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		is_str(told(filters[i].filter), filters[i].told, "--filter %s",
		       filters[i].filter ? filters[i].filter : "(none)");
	o.pids = (struct opt_nums){ .nr = 2, .at = { 8, 9 } };
	is_str(told(NULL), "kf", "-p: who could get no memory, and whose session it is");
	is_str(told("pid == 7"), "k", "and what the filter says");
	make();
	o.comms = (struct opt_strs){ .nr = 1, .at = { "waits" } };
	is_str(told(NULL), "s", "--comm: who waited");
	make();
	o.cgroups = (struct opt_strs){ .nr = 1, .at = { "/web" } };
	is_str(told(NULL), "k", "--cgroup: and those below it");
	o.cgroups.at[0] = "/sys/fs/cgroup/memory/web/one/";
	is_str(told(NULL), "k", "as people type it");
	o.cgroups.at[0] = "/we";
	is_str(told(NULL), "", "but not those that begin alike");
	o.cgroups.at[0] = dir;
	strcpy(dir, "/");
	is_str(told(NULL), "ks", "of somebody who is gone the cgroup is not known");
	make();
	o.filter = "ns > 1";
	is(targets_parse_kills(&w, "oom", &o), 2, "a kill has no such thing");
	o.filter = "processes == 0";
	is(targets_parse_kills(&w, "oom", &o), 0, "but that");
	ok(match_kill(&w, &kill_), "which it meets");
	return tap_done();
}
