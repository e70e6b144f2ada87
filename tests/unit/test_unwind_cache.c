// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cache.c */
/* LINK: ctl/unwind/cfa.c ctl/unwind/companion.c ctl/unwind/crt.c ctl/unwind/elf.c */
/* LINK: ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c ctl/unwind/go.c ctl/unwind/id.c */
/* LINK: ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c ctl/unwind/start.c */
/* LINK: ctl/unwind/store.c ctl/unwind/text.c ctl/unwind/unwind.c kmod/core/unwindtab.c -ldw */
/* LINK: -lelf */
/* What the cache gives back is what was made, whatever became of its files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"
#include "tap.h"
#include "unwind/int.h"

#define HEADER	176		/* bytes of a table's header */

static char cache[64], file[128];
static int elf;
static struct unwind_table made;

static bool same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->nr_rows == b->nr_rows && a->nr_rules == b->nr_rules &&
	       !memcmp(a->rows, b->rows, a->nr_rows * sizeof(*a->rows)) &&
	       !memcmp(a->kinds, b->kinds, a->nr_rows * sizeof(*a->kinds)) &&
	       !memcmp(a->rules, b->rules, a->nr_rules * sizeof(*a->rules)) &&
	       a->coverage.functions == b->coverage.functions &&
	       a->coverage.bytes == b->coverage.bytes &&
	       a->coverage.covered == b->coverage.covered &&
	       a->coverage.none == b->coverage.none &&
	       a->coverage.none_rows == b->coverage.none_rows &&
	       a->coverage.damaged == b->coverage.damaged &&
	       a->coverage.frame_pointers == b->coverage.frame_pointers;
}

/* 1: from the cache, 0: made anew; -1: not the table that it should be */
static int get(int fd)
{
	struct unwind_table t;
	int ret;

	if (unwind_get(fd, &t))
		return -1;
	ret = same(&t, &made) ? t.cached : -1;
	unwind_free(&t);
	return ret;
}

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *buf = malloc(1 << 20);

	*len = f ? fread(buf, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return buf;
}

static void spill(const char *path, const char *buf, size_t len)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(buf, 1, len, f) != len)
		printf("Bail out! cannot write %s\n", path);
	if (f)
		fclose(f);
	chmod(path, 0600);
}

/* Where the table of @fd is kept. */
static void find_file(int fd)
{
	char name[UNWIND_NAME_MAX];
	struct unwind_id id;

	unwind_id_get(fd, &id);
	unwind_id_name(&id, name);
	snprintf(file, sizeof(file), "%.40s/unwind/%.70s", cache, name);
}

static void test_round_trip(void)
{
	struct stat st;

	is(get(elf), 0, "the first time, a table is made");
	is(get(elf), 1, "the second time, it comes from the cache");
	ok(!stat(file, &st) && (st.st_mode & 07777) == 0600, "nobody else reads its file");
	ok(!stat(cache, &st) && (st.st_mode & 07777) == 0700, "nor the directory");
}

static void test_damage(void)
{
	unsigned long wrong = 0, believed = 0, lost = 0;
	size_t len, tries = 0;
	char *good = slurp(file, &len), *bad = malloc(len + 1);

	ok(len > HEADER, "there is a file");
	for (size_t at = 0; at < len; at += at < HEADER ? 1 : 41) {
		memcpy(bad, good, len);
		bad[at] ^= (char)(1 << at % 8);
		spill(file, bad, len);
		const int how = get(elf);

		wrong += how < 0;
		believed += how == 1;
		lost += get(elf) != 1;
		tries++;
	}
	ok(tries > HEADER, "(each byte of the header, and %zu of the rest)", tries - HEADER);
	is(wrong, 0, "a flipped bit never changes the table");
	is(believed, 0, "it is noticed");
	is(lost, 0, "and the file is made anew");

	wrong = believed = 0;
	for (size_t cut = 0; cut < len; cut += cut < HEADER ? 1 : 97) {
		spill(file, good, cut);
		const int how = get(elf);

		wrong += how < 0;
		believed += how == 1;
	}
	is(wrong + believed, 0, "a file that was cut is noticed, wherever it ends");
	memcpy(bad, good, len);
	bad[len] = 0;
	spill(file, bad, len + 1);
	is(get(elf), 0, "so is one that goes on");
	free(good);
	free(bad);
}

static void test_strangers(void)
{
	char other[160];

	is(get(elf), 1, "(it is there)");
	chmod(file, 0620);
	is(get(elf), 0, "a file that others may write is not read");
	chmod(cache, 0770);
	is(get(elf), 0, "nor anything from a directory that others may write");
	chmod(cache, 0700);
	is(get(elf), 1, "which did no harm");
	snprintf(other, sizeof(other), "%.40s/elsewhere", scratch_dir);
	rename(file, other);
	if (symlink(other, file))
		printf("Bail out! no symbolic links\n");
	is(get(elf), 0, "a symbolic link is not followed");
	is(get(elf), 1, "but replaced");
	if (geteuid()) {
		ok(1, "a file of somebody else's is not read # SKIP not root");
		return;
	}
	if (chown(file, 1, 1))
		printf("Bail out! cannot chown\n");
	is(get(elf), 0, "a file of somebody else's is not read");
}

static void test_no_cache(void)
{
	char path[160];

	snprintf(path, sizeof(path), "%.100s/below", file);
	setenv("MEMTAP_CACHE", path, 1);
	is(get(elf), 0, "without a cache directory there is a table too");
	is(get(elf), 0, "as often as it is asked for");
	setenv("MEMTAP_CACHE", cache, 1);
	is(get(elf), 1, "(the cache is back)");
}

/* A copy of this program that @uid could have made. */
static int copy_of(uid_t uid)
{
	char path[96];
	size_t len;
	char *buf = slurp("/bin/true", &len);
	int fd;

	snprintf(path, sizeof(path), "%.40s/copy", scratch_dir);
	unlink(path);
	spill(path, buf, len);
	free(buf);
	if (uid && chown(path, uid, uid))
		printf("Bail out! cannot chown\n");
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd;
}

static void test_identity(void)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	struct unwind_id id, theirs;
	int fd = copy_of(0);

	unwind_id_get(elf, &id);
	unwind_id_get(fd, &theirs);
	ok(id.build_id_len && !memcmp(&id, &theirs, sizeof(id)),
	   "a copy of ours is the same file");
	is(get(fd), 1, "and has its table");
	close(fd);
	if (geteuid()) {
		ok(1, "a build id of somebody else's is not believed # SKIP not root");
		return;
	}
	fd = copy_of(1);
	unwind_id_get(fd, &theirs);
	is(theirs.build_id_len, 0, "a build id in somebody else's file is not believed");
	is(get(fd), 0, "it gets a table of its own");
	is(get(fd), 1, "that is kept");
	futimens(fd, times);
	is(get(fd), 0, "until the file changes");
	close(fd);
}

/* In a child that has its own mounts, a copy of this program's file; until it is killed. */
static pid_t begin_elsewhere(const char *where, int *fd)
{
	char path[128], byte = 0;
	size_t len;
	char *buf = slurp("/bin/true", &len);
	int said[2];
	pid_t pid;

	if (pipe(said) || mkdir(where, 0700))
		printf("Bail out! no pipe, or no directory\n");
	snprintf(path, sizeof(path), "%.60s/copy", where);
	spill(path, "of the same name", 16);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", where, "tmpfs", 0, NULL))
			_exit(1);
		spill(path, buf, len);
		if (write(said[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	free(buf);
	close(said[1]);
	*fd = -1;
	if (read(said[0], &byte, 1) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/root%.60s/copy", pid, where);
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	close(said[0]);
	return pid;
}

static void test_elsewhere(void)
{
	struct unwind_id id;
	char where[64];
	pid_t pid;
	int fd;

	fd = copy_of(0);
	snprintf(where, sizeof(where), "%.40s/copy", scratch_dir);
	unlink(where);
	unwind_id_get(fd, &id);
	is(id.build_id_len, 0, "a build id in a file without a name is not believed");
	close(fd);
	snprintf(where, sizeof(where), "%.40s/elsewhere-too", scratch_dir);
	pid = begin_elsewhere(where, &fd);
	if (fd < 0) {
		ok(1, "a build id from a container is not believed # SKIP may not make one");
	} else {
		unwind_id_get(fd, &id);
		is(id.build_id_len, 0, "a build id from a container is not believed");
		is(get(fd), 0, "it gets a table of its own");
		is(get(fd), 1, "that is kept");
		is(get(elf), 1, "ours stays as it is");
		close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void touch(int at, const char *name, size_t size, time_t when)
{
	const struct timespec times[2] = { { when, 0 }, { when, 0 } };
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)size) || futimens(fd, times))
		printf("Bail out! cannot make %s\n", name);
	close(fd);
}

static void test_prune(void)
{
	char path[64];
	int at;

	snprintf(path, sizeof(path), "%.40s/prune", scratch_dir);
	mkdir(path, 0700);
	at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	touch(at, "oldest", 1000, 100);
	touch(at, "middle", 1000, 200);
	touch(at, "newest", 1000, 300);
	touch(at, ".new-1-1", 9000, 100);
	unwind_store_prune(at, 3000);
	ok(!faccessat(at, "oldest", F_OK, 0), "what fits stays");
	ok(faccessat(at, ".new-1-1", F_OK, 0), "what a killed tool left does not");
	unwind_store_prune(at, 2500);
	ok(faccessat(at, "oldest", F_OK, 0), "the oldest goes first");
	ok(!faccessat(at, "middle", F_OK, 0), "and no more than must");
	unwind_store_prune(at, 0);
	ok(faccessat(at, "newest", F_OK, 0), "a limit is a limit");
	close(at);
}

/* Each child reads, and breaks what all others read. */
static int one_of_many(unsigned int seed)
{
	uint64_t state = seed;
	int bad = 0;

	for (int i = 0; i < 40; i++) {
		bad += get(elf) < 0;
		if (tap_random(&state) % 3 == 0)
			unlink(file);
		else if (truncate(file, (off_t)(tap_random(&state) % 4000)))
			bad += errno != ENOENT;
	}
	return bad;
}

static void test_at_once(void)
{
	int status, failed = 0;

	for (unsigned int i = 0; i < 6; i++)
		if (!fork())
			_exit(one_of_many(i) ? 1 : 0);
	while (wait(&status) > 0)
		failed += status != 0;
	is(failed, 0, "tools that run at the same time do not disturb each other");
	get(elf);
	is(get(elf), 1, "and leave a sound file");
}

struct seen {
	size_t nr, stop;
	char at[600][64];
};

static int see(const char *path, void *ctx)
{
	struct seen *s = ctx;

	snprintf(s->at[s->nr++ % 600], 64, "%s", path);
	return s->nr == s->stop ? 7 : 0;
}

static struct seen seen;

static int recall(size_t stop)
{
	memset(&seen, 0, sizeof(seen));
	seen.stop = stop;
	return unwind_companions(elf, see, &seen);
}

static void test_companions(void)
{
	static const char *const first[] = { "/lib/a", "/lib/b", "/lib/a", "relative", "/x\ny" };
	static const char *const second[] = { "/lib/c", "/lib/b" };
	const char *many[600];
	char names[600][16];

	is(recall(0), 0, "a program that is not known has no companions");
	is(seen.nr, 0, "none at all");
	unwind_remember(elf, first, 5);
	recall(0);
	is(seen.nr, 2, "each path is kept once, if it is one");
	unwind_remember(elf, second, 2);
	recall(0);
	ok(seen.nr == 3 && !strcmp(seen.at[0], "/lib/c") && !strcmp(seen.at[1], "/lib/b") &&
	   !strcmp(seen.at[2], "/lib/a"), "the latest come first");
	is(recall(2), 7, "the caller may stop");
	is(seen.nr, 2, "where it likes");
	for (int i = 0; i < 600; i++) {
		snprintf(names[i], sizeof(names[i]), "/n/%d", i);
		many[i] = names[i];
	}
	unwind_remember(elf, many, 600);
	recall(0);
	ok(seen.nr == 512 && !strcmp(seen.at[511], "/n/511"), "512 are kept");
}

int main(void)
{
	scratch_begin();
	snprintf(cache, sizeof(cache), "%.40s/cache", scratch_dir);
	setenv("MEMTAP_CACHE", cache, 1);
	elf = open("/bin/true", O_RDONLY | O_CLOEXEC);
	if (elf < 0 || unwind_compile(elf, &made)) {
		printf("1..0 # SKIP no /bin/true that has a table\n");
		return scratch_end();
	}
	find_file(elf);
	test_round_trip();
	test_damage();
	test_strangers();
	test_no_cache();
	test_identity();
	test_elsewhere();
	test_prune();
	test_at_once();
	test_companions();
	unwind_free(&made);
	close(elf);
	return scratch_end() ? 1 : tap_done();
}
