// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/csv.c ctl/base/ids.c ctl/base/out.c ctl/base/out_name.c */
/* Files that results go to: whose rights they have, and what stays. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/out_name.h"
#include "scratch.h"
#include "tap.h"

static const char path[] = "out";

/* A file of these rights is replaced; the new one's. */
static mode_t replaced(mode_t mode, uid_t owner)
{
	struct stat st = { 0 };
	struct out o;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || fchown(fd, owner, (gid_t)-1) || fchmod(fd, mode))
		return 0;
	close(fd);
	if (out_open(&o, path))
		return 0;
	fputs("new", o.f);
	if (out_commit(&o) || stat(path, &st))
		return 0;
	ok(st.st_size == 3 && st.st_uid == geteuid(), "mode %o: a new file, and ours",
	   (unsigned int)mode);
	return st.st_mode & 07777;
}

static void test_rights(void)
{
	is(replaced(0640, geteuid()), 0640, "rights stay");
	is(replaced(0666, geteuid()), 0666, "all of them, where the file was ours");
	is(replaced(06755, geteuid()), 0755, "but nobody becomes us by it");
	is(replaced(01700, geteuid()), 0700, "nor is it sticky");
	if (geteuid())
		return;
	is(replaced(06777, 65534), 0755, "nobody writes what replaced a file of his");
	is(replaced(0664, 65534), 0644, "nor does his group");
}

static size_t nr_files(void)
{
	DIR *d = opendir(".");
	size_t nr = 0;

	while (d && readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

static void test_nothing_stays(void)
{
	struct stat st;
	struct out o;

	unlink(path);
	ok(!out_open(&o, path) && nr_files() == 1, "what is written has another name first");
	fputs("half", o.f);
	out_abort(&o);
	ok(!nr_files(), "which goes with it");
	ok(!out_check(path) && !nr_files(), "a check leaves nothing");
	umask(027);
	ok(!out_open(&o, path) && !out_commit(&o) && !stat(path, &st), "a file that was not there");
	is(st.st_mode & 07777, 0640, "has the rights that we give files");
}

static void named(const char *name, int parts, const char *want)
{
	char why[256], *text;

	is(out_name_parts(name, why), parts, "%s is taken", name);
	text = out_name_make(name, 4711, 12);
	ok(text && !strcmp(text, want), "it becomes %s", text ? text : "nothing");
	free(text);
}

static void unnamed(const char *name, const char *want)
{
	char why[256] = "";

	ok(out_name_parts(name, why) < 0 && strstr(why, want), "%s is refused: %s", name, why);
}

static void test_names(void)
{
	setenv("OUT_NAME_VAR", "a b", 1);
	setenv("OUT_NAME_PART", "%p", 1);
	named("plain.txt", 0, "plain.txt");
	named("leak.%p.txt", OUT_NAME_PID, "leak.4711.txt");
	named("%n", OUT_NAME_NUMBER, "12");
	named("%p%n%p", OUT_NAME_PID | OUT_NAME_NUMBER, "4711124711");
	named("100%%.%%p", 0, "100%.%p");
	named("%q{OUT_NAME_VAR}/x", 0, "a b/x");
	named("%q{OUT_NAME_PART}", 0, "%p");
	unnamed("%", "%p (PID)");
	unnamed("x%", "'x%'");
	unnamed("%d.txt", "%q{VAR}");
	unnamed("%P", "%p (PID)");
	unnamed("%q", "needs a variable");
	unnamed("%q{}", "needs a variable");
	unnamed("%q{OUT_NAME_VAR", "needs a variable");
	unnamed("%q{OUT_NAME_UNSET}", "OUT_NAME_UNSET is not set");
	unnamed("%p%q{OUT_NAME_UNSET}", "is not set");
}

int main(void)
{
	scratch_begin();
	test_rights();
	test_nothing_stays();
	test_names();
	return scratch_end() ? 1 : tap_done();
}
