// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/text.c ctl/target/forks_tree.c */
#include <string.h>

#include "target/forks.h"
#include "tap.h"

#define is_str(got, want, name) ok(!strcmp(got, want), name)

static struct forks_sum sum;

static const char *text(const struct forks_tree *t, bool followed, const char *who)
{
	static char buf[256];

	forks_tree_sum(t, &sum);
	forks_text(&sum, followed, who, buf, sizeof(buf));
	return buf;
}

static void test_tree(void)
{
	const __u32 pids[] = { 10, 20 };
	struct forks_tree *t = forks_tree_new(pids, 2);

	is_str(text(t, false, "it"), "", "nobody was started: nothing is said");
	forks_tree_fork(t, 10, 11, 10);
	forks_tree_fork(t, 5, 6, 6);
	is_str(text(t, false, "it"), "", "a thread is no process, and others do not count");
	forks_tree_fork(t, 10, 12, 12);
	forks_tree_fork(t, 12, 13, 13);
	ok(forks_tree_exec(t, 12) && !forks_tree_exec(t, 10) && !forks_tree_exec(t, 6),
	   "names are asked of those that were started");
	forks_tree_sum(t, &sum);
	is(sum.started, 2, "what a child starts counts, too");
	is(sum.running, 2, "both run");
	forks_tree_exit(t, 14, 12);
	forks_tree_exit(t, 12, 12);
	forks_tree_fork(t, 12, 15, 15);
	forks_tree_sum(t, &sum);
	is(sum.running, 1, "one has ended, a thread's end is none");
	is(sum.running_pid, 13, "the other one is known");
	is(sum.started, 2, "whoever gets its number is another one");
	for (int i = 0; i < 1000; i++)
		forks_tree_fork(t, 20, 100 + i, 100 + i);
	forks_tree_sum(t, &sum);
	is(sum.started, 1002, "many are known");
	forks_tree_free(t);
}

static void test_text(void)
{
	const __u32 pid = 10;
	struct forks_tree *t = forks_tree_new(&pid, 1);

	forks_tree_fork(t, 10, 11, 11);
	forks_tree_exit(t, 11, 11);
	is_str(text(t, false, "it"),
	       "1 process that it started was not followed; --children follows it", "one");
	is_str(text(t, true, "it"), "", "it was followed, and has ended");
	forks_tree_name(t, "suid");
	forks_tree_name(t, "suid");
	is_str(text(t, false, "it"),
	       "1 process that it started was not followed; --children follows it (suid)",
	       "its name, once");
	forks_tree_fork(t, 10, 12, 12);
	forks_tree_name(t, "cat");
	is_str(text(t, false, "they"), "2 processes that they started were not followed; "
	       "--children follows them (suid, cat); 1 still runs: -p 12", "a daemon");
	is_str(text(t, true, "it"),
	       "1 process that it started still runs, but is no longer recorded: -p 12",
	       "a daemon that was followed");
	forks_tree_name(t, "sed");
	forks_tree_name(t, "awk");
	forks_tree_fork(t, 10, 13, 13);
	is_str(text(t, false, "it"), "3 processes that it started were not followed; "
	       "--children follows them (suid, cat, sed, ...); 2 still run: -p 13 and others",
	       "several");
	forks_tree_free(t);
}

int main(void)
{
	test_tree();
	test_text();
	return tap_done();
}
