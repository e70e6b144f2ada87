// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/target/wrapper.c ctl/base/openreg.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/wrapper.h"
#include "target/target.h"
#include "tap.h"

/* All programs are there, but what has a capital letter. */
int target_find(const char *name, char *path, size_t len)
{
	if (strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		return -2;
	snprintf(path, len, "%s", name);
	return 0;
}

static char found[1024];

static int take(const char *path, const char *preload, void *ctx)
{
	char word[256];

	snprintf(word, sizeof(word), "%s%s%s%s", *found ? " " : "", path, preload ? "@" : "",
		 preload ? preload : "");
	strcat(found, word);
	return ctx != NULL;
}

/* Words are separated by one blank, a last one may be anything in brackets. */
static char **split(const char *line)
{
	static char copy[512], *argv[32];
	size_t nr = 0;
	char *p = copy, *end;

	snprintf(copy, sizeof(copy), "%s", line);
	while (p && *p) {
		if (*p == '[') {
			argv[nr++] = p + 1;
			end = strrchr(p, ']');
			*end = '\0';
			break;
		}
		argv[nr++] = p;
		p = strchr(p, ' ');
		if (p)
			*p++ = '\0';
	}
	argv[nr] = NULL;
	return argv;
}

static const struct { const char *line, *want; } cases[] = {
	{ "./prog -c x", "" }, { "env", "" }, { "env ./prog a b", "./prog" },
	{ "/usr/bin/env -i -u X A=1 LD_PRELOAD=/x.so ./prog", "./prog@/x.so" },
	{ "env -uX -C /tmp -- B=2 ./prog", "./prog" },
	{ "nice ./prog", "./prog" },
	{ "nice -n 5 ./prog", "./prog" }, { "nice -n5 ./prog", "./prog" },
	{ "nice -10 ./prog", "./prog" },
	{ "timeout 5 ./prog", "./prog" }, { "timeout -k 1 -s KILL 5 ./prog", "./prog" },
	{ "timeout --signal=KILL 5 env X=1 nice ./prog", "env nice ./prog" },
	{ "sudo -u root A=1 ./prog", "./prog" }, { "taskset -c 0 ./prog", "./prog" },
	{ "stdbuf -oL ./prog", "./prog" }, { "timeout 5", "" }, { "nice -n", "" },
	{ "sh -c [./prog]", "./prog" }, { "bash -ec [exec ./prog 1 2]", "./prog" },
	{ "sh -c [LD_PRELOAD=/j.so ./prog; LD_PRELOAD=\"/k.so\" ./other; true]",
	  "./prog@/j.so ./other@/k.so true" },
	{ "sh -c [cd /; A=1 exec env B=2 ./prog > /dev/null]", "cd env ./prog" },
	{ "sh -c [if a && b; then ./prog | cat; fi # env ./no]", "a b ./prog cat fi" },
	{ "sh -c [$PROG a; './a prog' b; ./c\\ d; `e`]", "./a prog ./c d" },
	{ "sh -c ['unclosed]", "unclosed" }, { "sh -c", "" }, { "sh -c []", "" },
	{ "sh ./script a", "./script" }, { "sh -x ./script", "./script" },
	{ "Nowhere ./prog", "" }, { "env Nowhere ./prog", "" },
	{ "nice nice nice nice nice nice nice nice nice nice nice ./prog",
	  "nice nice nice nice nice nice nice nice" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		found[0] = '\0';
		is(wrapper_each(split(cases[i].line), take, NULL), 0, "(%s)", cases[i].line);
		ok(!strcmp(found, cases[i].want), "leads to '%s' ('%s')", cases[i].want, found);
	}
	found[0] = '\0';
	is(wrapper_each(split("sh -c [a; b]"), take, found), 1, "the function's result ends it");
	ok(!strcmp(found, "a"), "at once");
	is(wrapper_each(NULL, take, NULL), 0, "no command leads nowhere");
}

static void test_text(void)
{
	char text[4096] = "#!/bin/sh\n# env ./no\necho starting\n./prog &\necho $?\n";

	found[0] = '\0';
	wrapper_text(text, take, NULL);
	ok(!strcmp(found, "echo ./prog echo"), "a script's text: '%s'", found);
	for (int i = 0; i < 300; i++)
		strcat(text, "./p\n");
	found[0] = '\0';
	wrapper_text(text, take, NULL);
	ok(strlen(found) < 100, "not all of a long one");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	wrapper_text(text, take, NULL);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		static const char some[] = "ab'\"\\ \n;&|(){}<>$#=-/";
		const size_t len = rand() % 60;

		for (size_t k = 0; k < len; k++)
			text[k] = some[rand() % (sizeof(some) - 1)];
		text[len] = '\0';
		found[0] = '\0';
		wrapper_text(text, take, NULL);
	}
	ok(1, "no text is too odd");
}

static void test_forks(void)
{
	ok(!wrapper_forks(split("env nice ./prog")), "execve() all the way");
	ok(wrapper_forks(split("env timeout 5 ./prog")), "timeout is a process of its own");
	ok(!wrapper_forks(split("timeout")), "without a program it is itself what is meant");
	ok(!wrapper_forks(NULL), "nothing");
}

int main(void)
{
	test_cases();
	test_text();
	test_forks();
	return tap_done();
}
