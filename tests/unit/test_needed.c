// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/base/limit.c ctl/base/openreg.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/wrapper.c ctl/target/needed.c */
/* LINK: ctl/target/needed_elf.c ctl/target/needed_libs.c ctl/target/target.c -lelf */
/* Which files a program will map, on invented programs, scripts and libraries. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "target/needed.h"
#include "scratch.h"
#include "tap.h"

/* A shared object that has nothing but program headers and a dynamic section. */
struct object {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	Elf64_Dyn dyn[16];
	char strings[512];
};

static struct object *new_object(void)
{
	struct object *o = calloc(1, sizeof(*o));

	memcpy(o->eh.e_ident, ELFMAG "\x02\x01\x01", 7);
	o->eh.e_type = ET_DYN;
	o->eh.e_machine = EM_X86_64;
	o->eh.e_version = 1;
	o->eh.e_phoff = offsetof(struct object, ph);
	o->eh.e_ehsize = sizeof(o->eh);
	o->eh.e_phentsize = sizeof(o->ph[0]);
	o->eh.e_phnum = 2;
	o->ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R, 0, 0x10000, 0, sizeof(*o), sizeof(*o), 1 };
	o->ph[1] = (Elf64_Phdr){ PT_DYNAMIC, PF_R, offsetof(struct object, dyn), 0, 0,
				 sizeof(o->dyn), sizeof(o->dyn), 8 };
	o->dyn[0] = (Elf64_Dyn){ DT_STRTAB, { 0x10000 + offsetof(struct object, strings) } };
	o->dyn[1] = (Elf64_Dyn){ DT_STRSZ, { sizeof(o->strings) } };
	return o;
}

static size_t add_text(struct object *o, const char *text)
{
	size_t at = 1;

	while (o->strings[at])
		at += strlen(o->strings + at) + 1;
	strcpy(o->strings + at, text);
	return at;
}

static void add(struct object *o, Elf64_Sxword tag, const char *text)
{
	int i = 2;

	while (o->dyn[i].d_tag)
		i++;
	o->dyn[i] = (Elf64_Dyn){ tag, { add_text(o, text) } };
}

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static int i;

	snprintf(path[++i % 4], sizeof(path[0]), "%s/%s", scratch_dir, name);
	return path[i % 4];
}

static void write_file(const char *name, const void *bytes, size_t len)
{
	const int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd))
		abort();
}

/* "tag text" pairs, ended by NULL */
static void make(const char *name, const char *const *needed, Elf64_Sxword tag,
		 const char *path)
{
	struct object *o = new_object();

	for (; needed && *needed; needed++)
		add(o, DT_NEEDED, *needed);
	if (path)
		add(o, tag, path);
	write_file(name, o, sizeof(*o));
	free(o);
}

#define NAMES(...)	((const char *const[]){ __VA_ARGS__, NULL })

/* ---- what is visited, as "a b c" ---- */

static char visits[1024];
static const char *stop_at;

static int visit(const char *path, int fd, void *ctx)
{
	struct stat st;
	const char *base = strrchr(path, '/') + 1;

	(void)ctx;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		strcat(visits, "BAD");
	snprintf(visits + strlen(visits), sizeof(visits) - strlen(visits), "%s%s",
		 visits[0] ? " " : "", base);
	return stop_at && !strcmp(stop_at, base) ? 7 : 0;
}

static const char *walk(const char *name)
{
	visits[0] = '\0';
	needed_walk(in_dir(name), visit, NULL);
	return visits;
}

static void visits_are(const char *name, const char *want, const char *claim)
{
	const char *got = walk(name);

	if (!ok(!strcmp(got, want), "%s", claim))
		fprintf(stderr, "# visited '%s', not '%s'\n", got, want);
}

static void test_libraries(void)
{
	mkdir(in_dir("lib"), 0755);
	mkdir(in_dir("other"), 0755);
	make("lib/liba.so", NAMES("libc1.so"), 0, NULL);
	make("lib/libb.so", NAMES("libc1.so", "liba.so"), 0, NULL);
	make("lib/libc1.so", NULL, 0, NULL);
	make("other/libd.so", NAMES("libb.so"), DT_RUNPATH, "$ORIGIN/../lib");

	make("prog", NAMES("liba.so", "libb.so", "libnone.so"), DT_RPATH, "$ORIGIN/lib");
	visits_are("prog", "prog liba.so libb.so libc1.so",
		   "libraries come once each, the program first; RPATH holds for theirs");
	make("run", NAMES("liba.so"), DT_RUNPATH, "/nowhere:${ORIGIN}/lib");
	visits_are("run", "run liba.so", "RUNPATH holds for the program alone");
	make("mixed", NAMES("libd.so", "liba.so"), DT_RPATH, "$ORIGIN/other:$LIB/x");
	visits_are("mixed", "mixed libd.so libb.so",
		   "a library's own RUNPATH is found from where it is");
	setenv("LD_LIBRARY_PATH", in_dir("lib"), 1);
	visits_are("run", "run liba.so libc1.so", "LD_LIBRARY_PATH holds for all");
	unsetenv("LD_LIBRARY_PATH");
	make("path", NAMES(in_dir("lib/libc1.so")), 0, NULL);
	visits_are("path", "path libc1.so", "a name with a slash is a path");
	setenv("LD_PRELOAD", in_dir("other/libd.so"), 1);
	visits_are("path", "path libd.so libc1.so libb.so", "LD_PRELOAD comes with its own");
	unsetenv("LD_PRELOAD");
	symlink("prog", in_dir("link"));
	visits_are("link", "prog liba.so libb.so libc1.so",
		   "$ORIGIN is where the program really is");
	stop_at = "liba.so";
	visits[0] = '\0';
	is(needed_walk(in_dir("prog"), visit, NULL), 7, "what the visitor returns ends it");
	ok(!strcmp(visits, "prog liba.so"), "and nothing comes after it");
	stop_at = NULL;
}

static void test_interpreter(void)
{
	struct object *o = new_object();
	const size_t at = offsetof(struct object, strings);

	make("ld.so", NULL, 0, NULL);
	o->eh.e_phnum = 3;
	add_text(o, in_dir("ld.so"));
	o->ph[2] = (Elf64_Phdr){ PT_INTERP, PF_R, at + 1, 0, 0, 300, 300, 1 };
	write_file("dynamic", o, sizeof(*o));
	visits_are("dynamic", "dynamic ld.so", "the dynamic linker is a file of the program");
	o->ph[2].p_filesz = 3;
	write_file("dynamic", o, sizeof(*o));
	visits_are("dynamic", "dynamic", "a name that does not end is none");
	free(o);
}

static bool script_is(const char *text, const char *interpreter, const char *program)
{
	char i[64] = "?", p[64] = "?";

	if (!needed_script(text, strlen(text), i, p, sizeof(i)))
		return !interpreter;
	return interpreter && !strcmp(i, interpreter) && !strcmp(p, program);
}

static void test_scripts(void)
{
	char text[512];

	ok(script_is("#!/bin/sh\necho", "/bin/sh", ""), "#!/bin/sh");
	ok(script_is("#! /bin/sh -e", "/bin/sh", ""), "a blank may come first, options last");
	ok(script_is("#!/usr/bin/env python3\n", "/usr/bin/env", "python3"),
	   "env says which program it will look for");
	ok(script_is("#!/usr/bin/env -S A=1 -i perl -w\n", "/usr/bin/env", "perl"),
	   "also behind options and variables");
	ok(script_is("#!/usr/bin/env\n", "/usr/bin/env", ""), "or none");
	ok(script_is("#!/opt/myenv python3\n", "/opt/myenv", ""), "myenv is not env");
	ok(script_is("#!\n", NULL, NULL), "no interpreter, no script");
	ok(script_is("#", NULL, NULL) && script_is("", NULL, NULL) &&
	   script_is("echo #!/bin/sh", NULL, NULL), "other text is no script");
	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	ok(!needed_script(text, sizeof(text), text + 100, text + 200, 64),
	   "a name without end is none");

	snprintf(text, sizeof(text), "#!%s/run x\n", scratch_dir);
	write_file("script", text, strlen(text));
	visits_are("script", "run liba.so", "a script brings its interpreter in");
	snprintf(text, sizeof(text), "#!%s/script\n", scratch_dir);
	write_file("twice", text, strlen(text));
	visits_are("twice", "run liba.so", "whose interpreter may be a script");
	snprintf(text, sizeof(text), "#!%s/loop\n", scratch_dir);
	write_file("loop", text, strlen(text));
	visits_are("loop", "", "a script that names itself ends");
	mkdir(in_dir("bin"), 0755);
	make("bin/env", NULL, 0, NULL);
	setenv("PATH", scratch_dir, 1);
	snprintf(text, sizeof(text), "#!%s/bin/env prog\n", scratch_dir);
	write_file("byenv", text, strlen(text));
	visits_are("byenv", "env prog liba.so libb.so libc1.so",
		   "env's program is looked for in PATH");
}

static void test_hostile(void)
{
	struct object *o = new_object();

	visits_are("nowhere", "", "a file that is not there brings nothing");
	write_file("empty", "", 0);
	visits_are("empty", "", "nor does an empty one");
	write_file("short", o, 70);
	visits_are("short", "short", "one that is cut after its header needs nothing");
	o->eh.e_machine = EM_386;
	write_file("other-machine", o, sizeof(*o));
	visits_are("other-machine", "", "one of another machine is none");
	o->eh.e_machine = EM_X86_64;
	add(o, DT_NEEDED, "liba.so");
	add(o, DT_RPATH, "$ORIGIN/lib");
	o->dyn[2].d_un.d_val = ~0ULL;
	o->dyn[3].d_un.d_val = sizeof(o->strings);
	write_file("bad-names", o, sizeof(*o));
	visits_are("bad-names", "bad-names", "names outside of their table are none");
	o->dyn[0].d_un.d_val = ~0ULL - 5;
	write_file("bad-table", o, sizeof(*o));
	visits_are("bad-table", "bad-table", "a table that is nowhere has no names");
	o->ph[1].p_filesz = ~0ULL;
	write_file("bad-dynamic", o, sizeof(*o));
	visits_are("bad-dynamic", "bad-dynamic", "nor has a dynamic section without end");
	o->ph[1].p_offset = ~0ULL;
	o->eh.e_phnum = 0xfffe;
	write_file("bad-headers", o, sizeof(*o));
	walk("bad-headers");
	ok(strstr(visits, "liba") == NULL, "program headers without end are read to the end");
	free(o);
}

/* This program itself, against what it really maps. */
static void test_real(void)
{
	visits[0] = '\0';
	setenv("PATH", "/usr/bin:/bin", 1);
	needed_walk("/proc/self/exe", visit, NULL);
	ok(!strncmp(visits, "test_needed", 11), "a real program comes first");
	ok(strstr(visits, " libc.so") || strstr(visits, "musl"), "its C library comes, too");
	ok(strstr(visits, " ld-") != NULL, "and the dynamic linker");
}

int main(void)
{
	scratch_begin();
	unsetenv("LD_PRELOAD");
	unsetenv("LD_LIBRARY_PATH");
	test_libraries();
	test_interpreter();
	test_scripts();
	test_hostile();
	test_real();
	return scratch_end() ? 1 : tap_done();
}
