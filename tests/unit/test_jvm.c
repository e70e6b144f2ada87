// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/sym/jvm.c ctl/sym/jitmaps.c ctl/target/cgroup.c ctl/target/procs.c */
/* LINK: ctl/target/maps.c ctl/target/target.c ctl/target/ldcache.c ctl/base/openreg.c */
/* LINK: ctl/base/limit.c ctl/base/opt_value.c */
/* What a process says of itself, and a JVM when it is asked. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/jitmaps.h"
#include "tap.h"

#define STATUS(ns, caught, ignored)					\
	"Name:\tjava\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\n"	\
	"Gid:\t2000\t2001\t2002\t2003\n" ns				\
	"SigIgn:\t" ignored "\nSigCgt:\t" caught "\n"

static void test_status(void)
{
	struct jvm_process p = { .pid = 4000 };

	ok(jvm_parse_status(STATUS("NSpid:\t4000\t300\t7\n", "0000000000000004",
				   "0000000000000000"), &p) &&
	   p.ns_pid == 7, "in its own namespace it has the last of its numbers");
	ok(p.uid == 1001 && p.gid == 2001, "who it acts as is the effective user");
	ok(!p.quits, "who catches SIGQUIT is not ended by it");
	ok(jvm_parse_status(STATUS("", "0000000180000000", "0000000000000000"), &p) &&
	   p.ns_pid == 4000, "old kernels do not tell of namespaces");
	ok(p.quits, "who does not catch it is");
	ok(jvm_parse_status(STATUS("", "0000000000000000", "0000000000000004"), &p) && !p.quits,
	   "nor is who ignores it");
	ok(!jvm_parse_status("", &p) && !jvm_parse_status("Uid:\t1\n", &p) &&
	   !jvm_parse_status("Name:\tUid:\n", &p), "what says nothing is refused");
}

static void test_answers(void)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "0\n", NULL },
		{ "0\nwritten\n", NULL },
		{ "", "no answer" },
		{ "0\njava.lang.IllegalArgumentException: Unknown diagnostic command\n", "17" },
		{ "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n", "17" },
		{ "101\nProtocol mismatch\n", "answered \"101" },
	};
	char why[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(why, "");
		ok(jvm_answer(cases[i].text, why, sizeof(why)) == !cases[i].why &&
		   (!cases[i].why || strstr(why, cases[i].why)), "answer %zu is understood", i);
	}
}

static void test_no_jvm(void)
{
	struct jvm_process p = { .pid = fork(), .quits = true };
	char why[256] = "";

	if (!p.pid) {
		pause();
		_exit(0);
	}
	p.ns_pid = p.pid;
	p.uid = getuid();
	ok(!jvm_is(p.pid), "this is no JVM");
	ok(!jvm_ask(&p, why, sizeof(why)) && strstr(why, "end it"),
	   "whom it would end gets no SIGQUIT");
	ok(!kill(p.pid, 0) && !waitpid(p.pid, NULL, WNOHANG), "and lives");
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
}

int main(void)
{
	test_status();
	test_answers();
	test_no_jvm();
	return tap_done();
}
